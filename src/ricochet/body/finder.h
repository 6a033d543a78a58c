#pragma once

#include <utility>
#include <vector>

#include "ricochet/body/world.h"
#include "ricochet/find/grid.h"

namespace ricochet::body {

/// Finds the rows between bodies that are near each other. Storage is kept between calls.
template <int D>
class Finder {
 public:
  explicit Finder(const World<D>& world);

  /// Every row with gap <= reach[a] + reach[b] + slack, bodies being at `at`; sorted by key. Bodies
  /// with `exists` 0 are not there.
  void find(const std::vector<Motion<D>>& at, const std::vector<char>& exists,
            const std::vector<double>& reach, std::vector<Row<D>>& rows);

 private:
  void place(const std::vector<Motion<D>>& at, const std::vector<double>& reach);
  void add_rows(int a, int b, const std::vector<Motion<D>>& at, double reach,
                std::vector<Row<D>>& rows);

  const World<D>& world_;
  std::vector<shape::Pose<D>> poses_;    // by body
  std::vector<shape::Bounds<D>> boxes_;  // by solid
  find::Grid<D> grid_;
  std::vector<shape::Row<D>> found_;
};

extern template class Finder<2>;
extern template class Finder<3>;

/// A row of the world from one of two shapes. Between free bodies the impulse acts at one point of
/// space, in the middle of the gap, so that the pair keeps its moment of momentum; for features
/// that face each other this leaves the rate of the gap as it is. Else at the free body's particle.
template <int D>
Row<D> row_of(const World<D>& world, int a, int b, const shape::Row<D>& found,
              const std::vector<Motion<D>>& at);

}  // namespace ricochet::body
