#include "ricochet/plot/trail.h"

#include <algorithm>
#include <cmath>

#include "ricochet/plot/svg.h"

namespace ricochet::plot {
namespace {

/// A cell of this size holds the value without losing digits of it.
double least_cell(double value) { return std::max(1e-12 * std::abs(value), 1e-300); }

std::size_t hash_of(std::uint64_t key) {
  key *= 0x9e3779b97f4a7c15ULL;
  return static_cast<std::size_t>(key ^ key >> 32U);
}

}  // namespace

Trail::Trail(std::size_t most)
    : most_(std::clamp(most, kLeastSteps, kMostSteps)), seen_(kSlots, kNone) {}

Trail::Cell Trail::cell_of(Point p) const {
  return {static_cast<std::int64_t>(std::floor((p.x - origin_.x) / cell_x_)),
          static_cast<std::int64_t>(std::floor((p.y - origin_.y) / cell_y_))};
}

void Trail::add(Point p) {
  if (!std::isfinite(p.x) || !std::isfinite(p.y)) {
    is_down_ = has_from_ = false;
    return;
  }
  if (count_ == 0) {
    first_ = origin_ = p;
    x_ = {p.x, p.x};
    y_ = {p.y, p.y};
    cell_x_ = least_cell(p.x);
    cell_y_ = least_cell(p.y);
  }
  ++count_;
  last_ = p;
  x_ = {std::min(x_.low, p.x), std::max(x_.high, p.x)};
  y_ = {std::min(y_.low, p.y), std::max(y_.high, p.y)};
  if (is_raster_) {
    while (!is_in_raster(p)) widen_raster();
    fill(has_from_ ? from_ : p, p);
    from_ = p;
    has_from_ = true;
    return;
  }
  if (x_.size() > kCells * cell_x_ || y_.size() > kCells * cell_y_) fit_cells();
  follow(p);
}

/// The range has outgrown its cells.
void Trail::fit_cells() {
  while (x_.size() > kCells * cell_x_) cell_x_ *= 2.0;
  while (y_.size() > kCells * cell_y_) cell_y_ *= 2.0;
  rebuild();
}

void Trail::make_room() {
  straighten();
  if (kept_ > most_ / 2 || seen_count_ > kMostSeen * most_) thin();
}

/// Drops points of the pieces that lines between others pass within a part of a cell.
void Trail::straighten() {
  constexpr double kOff = 0.4;  // of a cell
  kept_ = 0;
  for (std::vector<Point>& piece : pieces_) {
    for (Point& p : piece) p = {(p.x - origin_.x) / cell_x_, (p.y - origin_.y) / cell_y_};
    piece = simplified(piece, kOff);
    for (Point& p : piece) p = {origin_.x + p.x * cell_x_, origin_.y + p.y * cell_y_};
    kept_ += piece.size() - 1;
  }
}

/// Too much is kept: larger cells, or, where they would be seen, the area that is filled.
void Trail::thin() {
  // Cells over the range; fewer of one way among many.
  const double fewest = most_ < kMostSteps / 4 ? kCells / 8.0 : kCells / 4.0;
  if (x_.size() <= fewest * cell_x_ && y_.size() <= fewest * cell_y_) return begin_raster();
  cell_x_ *= 2.0;
  cell_y_ *= 2.0;
  rebuild();
}

/// The range takes the middle half of the raster, so that it can grow on both sides.
void Trail::begin_raster() {
  is_raster_ = true;
  raster_.assign(static_cast<std::size_t>(kSide * kSide), false);
  cell_x_ = std::max(2.0 * x_.size() / kSide, least_cell(last_.x));
  cell_y_ = std::max(2.0 * y_.size() / kSide, least_cell(last_.y));
  origin_ = {0.5 * (x_.low + x_.high) - 0.5 * kSide * cell_x_,
             0.5 * (y_.low + y_.high) - 0.5 * kSide * cell_y_};
  for (const std::vector<Point>& piece : pieces_) {
    for (std::size_t k = 1; k < piece.size(); ++k) fill(piece[k - 1], piece[k]);
  }
  pieces_.clear();
  std::vector<std::uint64_t>().swap(seen_);
}

void Trail::widen_raster() {
  const std::vector<bool> old = std::move(raster_);
  raster_.assign(static_cast<std::size_t>(kSide * kSide), false);
  origin_ = {origin_.x - 0.5 * kSide * cell_x_, origin_.y - 0.5 * kSide * cell_y_};
  cell_x_ *= 2.0;
  cell_y_ *= 2.0;
  for (std::int64_t row = 0; row < kSide; ++row) {
    for (std::int64_t column = 0; column < kSide; ++column) {
      if (!old[static_cast<std::size_t>(row * kSide + column)]) continue;
      const std::int64_t up = kSide / 4 + row / 2;
      raster_[static_cast<std::size_t>(up * kSide + kSide / 4 + column / 2)] = true;
    }
  }
}

bool Trail::is_in_raster(Point p) const {
  const Cell cell = cell_of(p);
  return cell.column >= 0 && cell.column < kSide && cell.row >= 0 && cell.row < kSide;
}

void Trail::fill(Point from, Point to) {
  const Cell a = cell_of(from);
  const Cell b = cell_of(to);
  const std::int64_t steps =
      std::max<std::int64_t>({std::abs(b.column - a.column), std::abs(b.row - a.row), 1});
  for (std::int64_t k = 0; k <= steps; ++k) {
    const auto part = static_cast<double>(k) / static_cast<double>(steps);
    const std::int64_t column =
        a.column + std::lround(part * static_cast<double>(b.column - a.column));
    const std::int64_t row = a.row + std::lround(part * static_cast<double>(b.row - a.row));
    raster_[static_cast<std::size_t>(row * kSide + column)] = true;
  }
}

/// The cells passed as strokes along the rows; gaps of up to so many cells are closed.
std::vector<std::vector<Point>> Trail::raster_rows(std::int64_t close_gaps) const {
  std::vector<std::vector<Point>> strokes;
  for (std::int64_t row = 0; row < kSide; ++row) {
    const double y = origin_.y + (static_cast<double>(row) + 0.5) * cell_y_;
    std::int64_t end = -1;  // of the stroke being made
    for (std::int64_t column = 0; column < kSide; ++column) {
      if (!raster_[static_cast<std::size_t>(row * kSide + column)]) continue;
      const Point right = {origin_.x + static_cast<double>(column + 1) * cell_x_, y};
      if (end < 0 || column - end > close_gaps) {
        strokes.push_back({{right.x - cell_x_, y}, right});
      } else {
        strokes.back()[1] = right;
      }
      end = column + 1;
    }
  }
  return strokes;
}

/// All kept pieces again, through the cells as they are now.
void Trail::rebuild() {
  const std::vector<std::vector<Point>> old = std::move(pieces_);
  const bool was_down = is_down_;
  const bool had_from = has_from_;
  const Point from = from_;
  pieces_.clear();
  kept_ = seen_count_ = 0;
  std::fill(seen_.begin(), seen_.end(), kNone);
  for (const std::vector<Point>& piece : old) {
    is_down_ = has_from_ = false;
    for (const Point& p : piece) follow(p);
    // The end of a piece is where something was seen; it is drawn even within its cell.
  }
  if (!was_down) {
    is_down_ = false;
    has_from_ = had_from;
    from_ = from;
  }
  if (has_from_ || is_down_) at_ = cell_of(from_);
}

bool Trail::is_new(Cell from, Cell to) {
  constexpr std::uint64_t kMask = 0xffff;
  const auto part = [](std::int64_t number) { return static_cast<std::uint64_t>(number) & kMask; };
  const std::uint64_t key =
      part(from.column) | part(from.row) << 16U | part(to.column) << 32U | part(to.row) << 48U;
  for (std::size_t slot = hash_of(key) % seen_.size();; slot = (slot + 1) % seen_.size()) {
    if (seen_[slot] == key) return false;
    if (seen_[slot] != kNone) continue;
    seen_[slot] = key;
    if (2 * ++seen_count_ > seen_.size()) grow_table();
    return true;
  }
}

void Trail::grow_table() {
  const std::vector<std::uint64_t> old = std::move(seen_);
  seen_.assign(2 * old.size(), kNone);
  for (const std::uint64_t key : old) {
    if (key == kNone) continue;
    std::size_t slot = hash_of(key) % seen_.size();
    while (seen_[slot] != kNone) slot = (slot + 1) % seen_.size();
    seen_[slot] = key;
  }
}

void Trail::follow(Point p) {
  const Cell cell = cell_of(p);
  if (!has_from_) {
    has_from_ = true;
    is_down_ = false;
    from_ = p;
    at_ = cell;
    return;
  }
  if (cell == at_) return;
  const bool draws = is_new(at_, cell);
  if (draws) {
    if (!is_down_) pieces_.push_back({from_});
    pieces_.back().push_back(p);
    ++kept_;
  }
  is_down_ = draws;
  from_ = p;
  at_ = cell;
  if (draws && (kept_ > most_ || seen_count_ > kMostSeen * most_)) make_room();
}

void Trail::close() {
  std::vector<std::uint64_t>().swap(seen_);
  if (is_raster_) {
    constexpr std::int64_t kWidest = 16;  // a wider gap is seen, and no part of an area
    std::int64_t gap = 0;
    do {
      pieces_ = raster_rows(gap);
      gap = 2 * gap + 1;
    } while (pieces_.size() > most_ && gap < kWidest);
    std::vector<bool>().swap(raster_);
    return;
  }
  if (pieces_.empty() && count_ > 0) pieces_.push_back({first_});
  if (!pieces_.empty() && is_down_) pieces_.back().push_back(last_);
}

}  // namespace ricochet::plot
