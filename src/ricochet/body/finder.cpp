#include "ricochet/body/finder.h"

#include <algorithm>

#include "ricochet/base/index.h"
#include "ricochet/shape/gaps.h"

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
  const bool moves_a = world.body(row.body_a).is_free();
  const bool moves_b = world.body(row.body_b).is_free();
  const Vec<D> middle = !moves_b   ? found.on_a
                        : !moves_a ? found.on_b
                                   : Vec<D>(0.5 * (found.on_a + found.on_b));
  row.arm_a = middle - at[index(row.body_a)].x;
  row.arm_b = middle - at[index(row.body_b)].x;
  row.slack = slack_of(world.body(row.body_a), world.body(row.body_b), middle);
  return row;
}

template Row<2> row_of(const World<2>&, int, int, const shape::Row<2>&,
                       const std::vector<Motion<2>>&);
template Row<3> row_of(const World<3>&, int, int, const shape::Row<3>&,
                       const std::vector<Motion<3>>&);

template <int D>
Finder<D>::Finder(const World<D>& world)
    : world_(world), poses_(world.bodies.size()), boxes_(world.solids.size()) {}

/// Boxes around the shapes, larger by what each may come nearer.
template <int D>
void Finder<D>::place(const std::vector<Motion<D>>& at, const std::vector<double>& reach) {
  constexpr double kSlack = 1e-8;  // of the size: more than any slack
  for (std::size_t i = 0; i < poses_.size(); ++i) poses_[i] = pose_of(world_.bodies[i], at[i]);
  for (std::size_t k = 0; k < boxes_.size(); ++k) {
    const Solid<D>& solid = world_.solids[k];
    const shape::Pose<D>& pose = poses_[index(solid.body)];
    boxes_[k] = shape::bounds(solid.shape, pose);
    const double room =
        1.001 * reach[index(solid.body)] + kSlack * (world_.body(solid.body).size + pose.x.norm());
    boxes_[k].low.array() -= room;
    boxes_[k].high.array() += room;
  }
}

template <int D>
void Finder<D>::add_rows(int a, int b, const std::vector<Motion<D>>& at, double reach,
                         std::vector<Row<D>>& rows) {
  const Solid<D>& one = world_.solid(a);
  const Solid<D>& other = world_.solid(b);
  const Vec<D>& where =
      world_.body(one.body).is_free() ? at[index(one.body)].x : at[index(other.body)].x;
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
  place(at, reach);
  for (const auto& [a, b] : grid_.search(boxes_, 0.0)) {
    const int one = world_.solid(a).body;
    const int other = world_.solid(b).body;
    if (exists[index(one)] == 0 || exists[index(other)] == 0) continue;
    if (!world_.may_touch(one, other)) continue;
    add_rows(a, b, at, reach[index(one)] + reach[index(other)], rows);
  }
}

template class Finder<2>;
template class Finder<3>;

}  // namespace ricochet::body
