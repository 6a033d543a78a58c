#include "ricochet/find/grid.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ricochet::find {

namespace {

constexpr int kLarge = std::numeric_limits<int>::max();  // level of boxes without end
constexpr int kLevels = 40;  // boxes smaller than the largest by 2^40 share the last level

}  // namespace

/// The level of a box: the least with cells that it fits into, skin included.
template <int D>
void Grid<D>::choose_levels(const std::vector<Box>& boxes, double skin) {
  skin_ = skin;
  large_.clear();
  levels_.clear();
  level_of_.resize(boxes.size());
  int highest = std::numeric_limits<int>::min();
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const double size = (boxes[i].high - boxes[i].low).maxCoeff() + 2.0 * skin;
    const bool has_end =
        boxes[i].low.allFinite() && boxes[i].high.allFinite() && std::isfinite(size);
    level_of_[i] =
        has_end ? (size > 0.0 ? std::ilogb(size) + 1 : std::numeric_limits<int>::min()) : kLarge;
    if (has_end) highest = std::max(highest, level_of_[i]);
    if (!has_end) large_.push_back(static_cast<int>(i));
  }
  const int lowest = std::max(highest, -900) - kLevels;
  for (int& level : level_of_) {
    if (level == kLarge) continue;
    level = std::max(level, lowest);
    if (std::find(levels_.begin(), levels_.end(), level) == levels_.end()) levels_.push_back(level);
  }
  std::sort(levels_.begin(), levels_.end());
}

template <int D>
typename Grid<D>::Entry Grid<D>::entry_of(const Box& box, int number, int level) const {
  Entry entry{{}, level, number};
  for (int k = 0; k < D; ++k) {
    const double middle = 0.5 * box.low[k] + 0.5 * box.high[k];
    entry.cell[static_cast<std::size_t>(k)] =
        static_cast<std::int64_t>(std::floor(std::clamp(std::ldexp(middle, -level), -9e17, 9e17)));
  }
  return entry;
}

template <int D>
std::size_t Grid<D>::bucket_of(const Entry& entry) const {
  auto mixed = static_cast<std::uint64_t>(entry.level) * 0x9E3779B97F4A7C15ULL;
  for (const std::int64_t at : entry.cell) {
    mixed = (mixed ^ static_cast<std::uint64_t>(at)) * 0xBF58476D1CE4E5B9ULL;
    mixed ^= mixed >> 29U;
  }
  return static_cast<std::size_t>(mixed) & (begin_.size() - 2);
}

/// Sorts boxes by bucket, within a bucket by number.
template <int D>
void Grid<D>::fill_cells(const std::vector<Box>& boxes) {
  std::size_t buckets = 16;
  while (buckets < 2 * boxes.size()) buckets *= 2;
  begin_.assign(buckets + 1, 0);
  place_.resize(boxes.size());
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    if (level_of_[i] == kLarge) continue;
    place_[i] = bucket_of(entry_of(boxes[i], static_cast<int>(i), level_of_[i]));
    ++begin_[place_[i] + 1];
  }
  for (std::size_t k = 0; k < buckets; ++k) begin_[k + 1] += begin_[k];
  entries_.resize(begin_[buckets]);
  for (std::size_t i = boxes.size(); i-- > 0;) {
    if (level_of_[i] == kLarge) continue;
    entries_[--begin_[place_[i] + 1]] = entry_of(boxes[i], static_cast<int>(i), level_of_[i]);
  }
  // Each begin_[k + 1] is now the start of bucket k.
  begin_.erase(begin_.begin());
  begin_.push_back(entries_.size());
}

template <int D>
void Grid<D>::try_pair(const std::vector<Box>& boxes, int i, int j) {
  const Box& a = boxes[static_cast<std::size_t>(i)];
  const Box& b = boxes[static_cast<std::size_t>(j)];
  for (int k = 0; k < D; ++k) {
    if (!(a.low[k] - skin_ <= b.high[k] + skin_ && b.low[k] - skin_ <= a.high[k] + skin_)) return;
  }
  unsorted_.emplace_back(std::min(i, j), std::max(i, j));
}

template <int D>
void Grid<D>::visit_cell(const std::vector<Box>& boxes, const Entry& cell, int number,
                         bool is_own_cell) {
  const std::size_t bucket = bucket_of(cell);
  for (std::size_t e = begin_[bucket]; e < begin_[bucket + 1]; ++e) {
    const Entry& entry = entries_[e];
    if (is_own_cell && entry.box <= number) continue;
    bool is_same = entry.level == cell.level;
    for (std::size_t k = 0; k < D; ++k) is_same = is_same && entry.cell[k] == cell.cell[k];
    if (is_same) try_pair(boxes, number, entry.box);
  }
}

/// Boxes of this level, as large or larger: their middles are in the cell of this one's or beside
/// it. On its own level the cells on one side are enough: who lies on the other finds this one.
template <int D>
void Grid<D>::visit_level(const std::vector<Box>& boxes, int number, int level) {
  const Entry own = entry_of(boxes[static_cast<std::size_t>(number)], number, level);
  int total = 1;
  for (int k = 0; k < D; ++k) total *= 3;
  const bool is_own_level = level_of_[static_cast<std::size_t>(number)] == level;
  for (int code = is_own_level ? total / 2 : 0; code < total; ++code) {
    Entry cell = own;
    for (int k = 0, rest = code; k < D; ++k, rest /= 3) {
      cell.cell[static_cast<std::size_t>(k)] += rest % 3 - 1;
    }
    visit_cell(boxes, cell, number, is_own_level && code == total / 2);
  }
}

/// By the first number in one pass, then each first number's few by the second.
template <int D>
void Grid<D>::sort_pairs(std::size_t count) {
  begin_.assign(count + 1, 0);
  for (const Pair& pair : unsorted_) ++begin_[static_cast<std::size_t>(pair.first) + 1];
  for (std::size_t k = 0; k < count; ++k) begin_[k + 1] += begin_[k];
  place_.assign(begin_.begin(), begin_.end());
  pairs_.resize(unsorted_.size());
  for (const Pair& pair : unsorted_) pairs_[place_[static_cast<std::size_t>(pair.first)]++] = pair;
  for (std::size_t k = 0; k < count; ++k) {
    std::sort(pairs_.begin() + static_cast<std::ptrdiff_t>(begin_[k]),
              pairs_.begin() + static_cast<std::ptrdiff_t>(begin_[k + 1]));
  }
}

template <int D>
const std::vector<typename Grid<D>::Pair>& Grid<D>::search(const std::vector<Box>& boxes,
                                                           double skin) {
  const int count = static_cast<int>(boxes.size());
  choose_levels(boxes, skin);
  fill_cells(boxes);
  unsorted_.clear();
  for (int i = 0; i < count; ++i) {
    const int own = level_of_[static_cast<std::size_t>(i)];
    if (own == kLarge) continue;
    for (const int level : levels_) {
      if (level >= own) visit_level(boxes, i, level);
    }
    for (const int j : large_) try_pair(boxes, i, j);
  }
  for (const int i : large_) {
    for (const int j : large_) {
      if (i < j) try_pair(boxes, i, j);
    }
  }
  sort_pairs(boxes.size());
  return pairs_;
}

template class Grid<2>;
template class Grid<3>;

}  // namespace ricochet::find
