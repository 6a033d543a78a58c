#pragma once

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "ricochet/shape/shape.h"

namespace ricochet::find {

/// Finds the boxes that overlap, by grids of cells, one for each size of box (a factor 2 apart).
///
/// Boxes of infinite size (half-spaces) are tried with every other. All pairs are found, and no
/// other; what comes out depends on the boxes and their numbers alone. After a first search of its
/// kind the grid does not allocate.
template <int D>
class Grid {
 public:
  using Box = shape::Bounds<D>;
  using Pair = std::pair<int, int>;

  /// Pairs (i < j), sorted, of boxes that overlap when each is made larger by `skin` on all sides.
  const std::vector<Pair>& search(const std::vector<Box>& boxes, double skin);

 private:
  struct Entry {
    std::array<std::int64_t, D> cell{};
    int level{0};
    int box{0};
  };

  void choose_levels(const std::vector<Box>& boxes, double skin);
  void fill_cells(const std::vector<Box>& boxes);
  Entry entry_of(const Box& box, int number, int level) const;
  std::size_t bucket_of(const Entry& entry) const;
  void visit_level(const std::vector<Box>& boxes, int number, int level);
  void visit_cell(const std::vector<Box>& boxes, const Entry& cell, int number, bool is_own_cell);
  void try_pair(const std::vector<Box>& boxes, int i, int j);
  void sort_pairs(std::size_t count);

  double skin_{0.0};
  std::vector<Pair> pairs_;
  std::vector<Pair> unsorted_;
  std::vector<Entry> entries_;      // by bucket
  std::vector<std::size_t> begin_;  // of each bucket, one more than there are
  std::vector<std::size_t> place_;
  std::vector<int> level_of_;  // cells of size 2^level; kLarge without a cell
  std::vector<int> levels_;    // in use, ascending
  std::vector<int> large_;     // boxes without a cell
};

}  // namespace ricochet::find
