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
  std::vector<Pair> pairs_;
};

}  // namespace ricochet::find
