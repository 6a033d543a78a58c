#include "ricochet/body/finder.h"

#include <algorithm>

#include "ricochet/base/index.h"
#include "ricochet/shape/gap.h"

namespace ricochet::body {

using base::index;

template <int D>
Row<D> row_of(const World<D>& world, int a, int b, const shape::Row<D>& found,
              const std::vector<Motion<D>>& at) {
  Row<D> row;
  row.key = {a, b, found.feature};
  row.body_a = world.solid(a).body;
  row.body_b = world.solid(b).body;
  row.gap = found.gap;
  row.normal = found.normal;
  const Vec<D> middle = 0.5 * (found.on_a + found.on_b);
  row.arm_a = middle - at[index(row.body_a)].x;
  row.arm_b = middle - at[index(row.body_b)].x;
  row.slack = slack_of(world.body(row.body_a), world.body(row.body_b), middle);
  return row;
}

template Row<2> row_of(const World<2>&, int, int, const shape::Row<2>&,
                       const std::vector<Motion<2>>&);

template <int D>
Finder<D>::Finder(const World<D>& world)
    : world_(world), poses_(world.bodies.size()), middles_(world.solids.size()) {}

template <int D>
void Finder<D>::place(const std::vector<Motion<D>>& at) {
  for (std::size_t i = 0; i < poses_.size(); ++i) poses_[i] = pose_of(world_.bodies[i], at[i]);
  for (std::size_t k = 0; k < middles_.size(); ++k) {
    const Solid<D>& solid = world_.solids[k];
    const shape::Pose<D>& pose = poses_[index(solid.body)];
    middles_[k] = pose.x + pose.R * solid.middle;
  }
}

template <int D>
void Finder<D>::list_pairs(const std::vector<char>& exists, const std::vector<double>& reach) {
  pairs_.clear();
  const int count = static_cast<int>(world_.solids.size());
  for (int a = 0; a < count; ++a) {
    const Solid<D>& one = world_.solid(a);
    if (exists[index(one.body)] == 0) continue;
    for (int b = a + 1; b < count; ++b) {
      const Solid<D>& other = world_.solid(b);
      if (exists[index(other.body)] == 0 || !world_.may_touch(one.body, other.body)) continue;
      const double near =
          one.radius + other.radius + 1.001 * (reach[index(one.body)] + reach[index(other.body)]);
      const double room = 1.0 + 1e-6;  // for rounding and slack
      if (std::isfinite(near) &&
          (middles_[index(a)] - middles_[index(b)]).squaredNorm() > near * near * room * room) {
        continue;
      }
      pairs_.emplace_back(a, b);
    }
  }
}

template <int D>
void Finder<D>::add_rows(int a, int b, const std::vector<Motion<D>>& at, double reach,
                         std::vector<Row<D>>& rows) {
  const Solid<D>& one = world_.solid(a);
  const Solid<D>& other = world_.solid(b);
  const Vec<D>& where = world_.body(one.body).is_free() ? at[index(one.body)].x
                                                         : at[index(other.body)].x;
  const double slack = slack_of(world_.body(one.body), world_.body(other.body), where);
  found_.clear();
  shape::gaps(one.shape, poses_[index(one.body)], other.shape, poses_[index(other.body)],
              reach + 2.0 * slack, found_);
  for (const shape::Row<D>& found : found_) {
    rows.push_back(row_of(world_, a, b, found, at));
  }
}

template <int D>
void Finder<D>::find(const std::vector<Motion<D>>& at, const std::vector<char>& exists,
                     const std::vector<double>& reach, std::vector<Row<D>>& rows) {
  rows.clear();
  place(at);
  list_pairs(exists, reach);
  for (const auto& [a, b] : pairs_) {
    add_rows(a, b, at, reach[index(world_.solid(a).body)] + reach[index(world_.solid(b).body)],
             rows);
  }
}

template class Finder<2>;

}  // namespace ricochet::body
