#include "ricochet/body/finder.h"

#include <algorithm>
#include <cassert>
#include <span>

#include "ricochet/base/index.h"
#include "ricochet/shape/gaps.h"

namespace ricochet::body {

using base::index;
namespace {
constexpr std::size_t kInPiece = 1024;  // pairs that one thread looks at
}

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

namespace {

/// Half-spaces of fixed bodies.
template <int D>
std::vector<typename find::NearList<D>::Plane> planes_of(const World<D>& world) {
  std::vector<typename find::NearList<D>::Plane> planes;
  for (std::size_t k = 0; k < world.solids.size(); ++k) {
    const Solid<D>& solid = world.solids[k];
    const Body<D>& body = world.body(solid.body);
    if (solid.shape.kind != shape::Kind::HalfSpace || body.kind != Kind::Fixed) continue;
    typename find::NearList<D>::Plane plane;
    plane.box = static_cast<int>(k);
    planes.push_back(plane);
  }
  return planes;
}

/// The radius of a body that is one ball about its mass centre, at the origin of its frame; else
/// -1.
template <int D>
double radius_of(const Body<D>& body, std::span<const Solid<D>> solids) {
  if (solids.size() != 1 || body.centre != Vec<D>::Zero()) return -1.0;
  const shape::Shape<D>& shape = solids[0].shape;
  const bool is_ball = shape.kind == shape::Kind::Core && shape.corners.size() == 1 &&
                       shape.corners[0] == Vec<D>::Zero();
  return is_ball ? shape.round : -1.0;
}

}  // namespace

template <int D>
Finder<D>::Finder(const World<D>& world)
    : world_(world),
      poses_(world.bodies.size()),
      boxes_(world.solids.size()),
      list_(planes_of(world)),
      is_near_(world.bodies.size(), 0) {
  std::size_t end = 0;
  for (std::size_t i = 0; i < world.bodies.size(); ++i) {
    const std::size_t begin = end;
    while (end < world.solids.size() && index(world.solids[end].body) == i) ++end;
    first_.push_back(begin);
    size_.push_back(world.bodies[i].size);
    radius_.push_back(
        radius_of<D>(world.bodies[i], std::span(world.solids).subspan(begin, end - begin)));
  }
  first_.push_back(end);
  for (const Solid<D>& solid : world.solids) owner_.push_back(solid.body);
  assert(end == world.solids.size());
}

template <int D>
void Finder<D>::place(std::size_t i, const Motion<D>& at, double reach) {
  if (is_round(i)) {
    place_round(i, at.x, reach);
    return;
  }
  const shape::Pose<D>& pose = poses_[i] = pose_of(world_.bodies[i], at);
  const double room = 1.001 * reach + kSlack * (size_[i] + pose.x.norm());
  for (std::size_t k = first_[i]; k < first_[i + 1]; ++k) {
    boxes_[k] = shape::bounds(world_.solids[k].shape, pose);
    boxes_[k].low.array() -= room;
    boxes_[k].high.array() += room;
  }
}

template <int D>
const std::vector<int>& Finder<D>::look(const std::vector<double>& reach) {
  constexpr double kRounding = 1e-12;  // of places of planes
  for (auto& plane : list_.planes()) {
    const Solid<D>& solid = world_.solid(plane.box);
    const shape::Pose<D>& pose = poses_[index(solid.body)];
    const Vec<D> point = pose.place(solid.shape.corners[0]);
    const Vec<D> normal = pose.R * solid.shape.faces[0].normal;
    if (normal != plane.normal) list_.forget_planes();
    plane.normal = normal;
    plane.level = normal.dot(point) + solid.shape.round + 1.001 * reach[index(solid.body)] +
                  kRounding * point.norm();
  }
  near_ = &list_.search(boxes_);
  if (!list_.is_new()) return who_;
  for (const int i : who_) is_near_[index(i)] = 0;
  who_.clear();
  for (const auto& [a, b] : *near_) {
    for (const int solid : {a, b}) is_near_[index(world_.solid(solid).body)] = 1;
  }
  for (int i = 0; i < world_.count(); ++i) {
    if (is_near_[index(i)] != 0) who_.push_back(i);
  }
  return who_;
}

/// Rows of a pair whose boxes meet.
template <int D>
void Finder<D>::add_rows(int a, int b, const Asked& asked, Piece& piece) const {
  if (asked.still != nullptr && (*asked.still)[index(owner_[index(a)])] != 0 &&
      (*asked.still)[index(owner_[index(b)])] != 0) {
    return;
  }
  const shape::Bounds<D>& box = boxes_[index(a)];
  const shape::Bounds<D>& other_box = boxes_[index(b)];
  if (!(box.low.array() <= other_box.high.array()).all() ||
      !(other_box.low.array() <= box.high.array()).all()) {
    return;
  }
  const Solid<D>& one = world_.solid(a);
  const Solid<D>& other = world_.solid(b);
  if (asked.exists[index(one.body)] == 0 || asked.exists[index(other.body)] == 0) return;
  if (!world_.may_touch(one.body, other.body)) return;
  const Vec<D>& where =
      world_.body(one.body).is_free() ? asked.at[index(one.body)].x : asked.at[index(other.body)].x;
  const double slack = slack_of(world_.body(one.body), world_.body(other.body), where);
  const double reach = asked.reach[index(one.body)] + asked.reach[index(other.body)];
  piece.found.clear();
  shape::gaps(one.shape, poses_[index(one.body)], other.shape, poses_[index(other.body)],
              reach + 2.0 * slack, piece.found);
  for (const shape::Row<D>& found : piece.found) {
    piece.rows.push_back(row_of(world_, a, b, found, asked.at));
  }
}

template <int D>
void Finder<D>::rows(const std::vector<Motion<D>>& at, const std::vector<char>& exists,
                     const std::vector<double>& reach, std::vector<Row<D>>& rows,
                     const std::vector<char>* still) {
  static const base::Executor kNone;
  const base::Pieces range{near_->size(), kInPiece};
  const Asked asked{at, exists, reach, still};
  if (pieces_.size() < range.count()) pieces_.resize(range.count());
  const base::Executor& executor = executor_ != nullptr ? *executor_ : kNone;
  base::each(executor, range.count(), [&](std::size_t p) {
    pieces_[p].rows.clear();
    for (std::size_t k = range.begin(p); k < range.end(p); ++k) {
      add_rows((*near_)[k].first, (*near_)[k].second, asked, pieces_[p]);
    }
  });
  std::size_t count = 0;
  for (std::size_t p = 0; p < range.count(); ++p) {
    pieces_[p].first = count;
    count += pieces_[p].rows.size();
  }
  rows.resize(count);
  base::each(executor, range.count(), [&](std::size_t p) {
    std::copy(pieces_[p].rows.begin(), pieces_[p].rows.end(),
              rows.begin() + static_cast<std::ptrdiff_t>(pieces_[p].first));
  });
}

template <int D>
void Finder<D>::find(const std::vector<Motion<D>>& at, const std::vector<char>& exists,
                     const std::vector<double>& reach, std::vector<Row<D>>& out) {
  for (std::size_t i = 0; i < poses_.size(); ++i) place(i, at[i], reach[i]);
  look(reach);
  rows(at, exists, reach, out);
}

template <int D>
double gap_at(const World<D>& world, const RowKey& key, const std::vector<Motion<D>>& at) {
  const Solid<D>& a = world.solid(key.a);
  const Solid<D>& b = world.solid(key.b);
  const auto pose = [&](int body) {
    return pose_of(world.body(body), at[static_cast<std::size_t>(body)]);
  };
  return shape::gap_of(a.shape, pose(a.body), b.shape, pose(b.body), key.feature);
}

template <int D>
std::vector<Row<D>> rows_within(const World<D>& world, const WorldState<D>& s, double time) {
  std::vector<char> exists(s.bodies.size());
  std::vector<double> reach(s.bodies.size());
  for (std::size_t i = 0; i < s.bodies.size(); ++i) {
    const Body<D>& body = world.bodies[i];
    exists[i] = body.born <= s.t && s.gone[i] == 0 ? 1 : 0;
    reach[i] = time * speed_bound(body, s.bodies[i]);
  }
  std::vector<Row<D>> rows;
  Finder<D>(world).find(s.bodies, exists, reach, rows);
  return rows;
}

template double gap_at(const World<2>&, const RowKey&, const std::vector<Motion<2>>&);
template double gap_at(const World<3>&, const RowKey&, const std::vector<Motion<3>>&);
template std::vector<Row<2>> rows_within(const World<2>&, const WorldState<2>&, double);
template std::vector<Row<3>> rows_within(const World<3>&, const WorldState<3>&, double);

template class Finder<2>;
template class Finder<3>;

}  // namespace ricochet::body
