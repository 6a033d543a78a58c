#include "ricochet/plot/trail.h"

#include <algorithm>
#include <cmath>

namespace ricochet::plot {
namespace {

/// A cell of this size holds the value without losing digits of it.
double least_cell(double value) { return std::max(1e-12 * std::abs(value), 1e-300); }

}  // namespace

Trail::Trail(std::size_t most)
    : most_(std::clamp(most, std::size_t{64}, kMostSteps)), seen_(kSlots, kNone) {}

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
  if (x_.size() > kCells * cell_x_ || y_.size() > kCells * cell_y_) fit_cells();
  follow(p);
}

/// The range has outgrown its cells.
void Trail::fit_cells() {
  while (x_.size() > kCells * cell_x_) cell_x_ *= 2.0;
  while (y_.size() > kCells * cell_y_) cell_y_ *= 2.0;
  rebuild();
}

void Trail::grow() {
  cell_x_ *= 2.0;
  cell_y_ *= 2.0;
  rebuild();
}

/// All kept pieces again, through the cells as they are now.
void Trail::rebuild() {
  const std::vector<std::vector<Point>> old = std::move(pieces_);
  const bool was_down = is_down_;
  const bool had_from = has_from_;
  const Point from = from_;
  pieces_.clear();
  kept_ = 0;
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
  std::uint64_t hash = key * 0x9e3779b97f4a7c15ULL;
  hash ^= hash >> 32U;
  for (std::size_t slot = hash % kSlots;; slot = (slot + 1) % kSlots) {
    if (seen_[slot] == key) return false;
    if (seen_[slot] != kNone) continue;
    seen_[slot] = key;
    return true;
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
  if (draws && kept_ > most_) grow();
}

void Trail::close() {
  std::vector<std::uint64_t>().swap(seen_);
  if (pieces_.empty() && count_ > 0) pieces_.push_back({first_});
  if (!pieces_.empty() && is_down_) pieces_.back().push_back(last_);
}

}  // namespace ricochet::plot
