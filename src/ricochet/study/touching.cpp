#include "ricochet/study/touching.h"

#include <algorithm>
#include <cmath>

#include "ricochet/base/index.h"
#include "ricochet/body/finder.h"
#include "ricochet/body/joints.h"
#include "ricochet/body/rows.h"
#include "ricochet/convex/dense.h"

namespace ricochet::study {
namespace {

using base::index;

/// Shifts and turns of free bodies as one vector, turns times a length of the body; what a unit
/// impulse or a gap does to it is a row.
template <int D>
class FreeBodies {
 public:
  static constexpr Eigen::Index kEach = D == 2 ? 3 : 6;
  explicit FreeBodies(const body::World<D>& world) : world_(world) {
    for (const body::Body<D>& body : world.bodies) {
      first_.push_back(body.is_free() ? size_ : -1);
      if (body.is_free()) size_ += kEach;
    }
  }
  Eigen::Index size() const { return size_; }

  void add(int body, const body::Vec<D>& along, const body::Spin<D>& turn, double sign,
           Eigen::Ref<Eigen::VectorXd> row) const {
    const Eigen::Index at = first_[index(body)];
    if (at < 0) return;
    for (Eigen::Index k = 0; k < D; ++k) row[at + k] += sign * along[k];
    const double length = length_of(body);
    if constexpr (D == 2) row[at + 2] += sign * turn / length;
    if constexpr (D == 3) {
      for (Eigen::Index k = 0; k < 3; ++k) row[at + 3 + k] += sign * turn[k] / length;
    }
  }
  /// A direction of space at a contact, on a, and the opposite on b.
  void add(const body::Row<D>& row, const body::Vec<D>& along,
           Eigen::Ref<Eigen::VectorXd> out) const {
    add(row.body_a, along, body::moment(row.arm_a, along), 1.0, out);
    add(row.body_b, along, body::moment(row.arm_b, along), -1.0, out);
  }
  void add(const body::Joint<D>& joint, const body::JointRow<D>& row,
           Eigen::Ref<Eigen::VectorXd> out) const {
    add(joint.b, row.along, row.turn_b, 1.0, out);
    add(joint.a, row.along, row.turn_a, -1.0, out);
  }

  body::Motion<D> motion(int body, const Eigen::VectorXd& x) const {
    body::Motion<D> found;
    const Eigen::Index at = first_[index(body)];
    if (at < 0) return found;
    const double length = length_of(body);
    for (Eigen::Index k = 0; k < D; ++k) found.v[k] = x[at + k];
    if constexpr (D == 2) found.spin = x[at + 2] / length;
    if constexpr (D == 3) found.spin = x.template segment<3>(at + 3) / length;
    return found;
  }

 private:
  double length_of(int body) const {
    const body::Body<D>& of = world_.body(body);
    return of.reach > 0.0 ? of.reach : std::max(of.size, 1e-300);
  }
  const body::World<D>& world_;
  std::vector<Eigen::Index> first_;
  Eigen::Index size_{0};
};

/// Equations or impulses, one after the other.
struct ImpulseColumns {
  explicit ImpulseColumns(Eigen::Index height) : zero(Eigen::VectorXd::Zero(height)) {}
  Eigen::Ref<Eigen::VectorXd> add() { return all.emplace_back(zero); }
  Eigen::Index count() const { return static_cast<Eigen::Index>(all.size()); }
  /// All as rows, and below them a small part of each unknown, asked to be 0: rows that differ by
  /// rounding alone, as those of flush faces, ask for nothing.
  Eigen::MatrixXd as_rows() const {
    constexpr double kSmall = 1e-6;
    Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(count() + zero.size(), zero.size());
    for (std::size_t k = 0; k < all.size(); ++k) {
      matrix.row(static_cast<Eigen::Index>(k)) = all[k].transpose();
    }
    matrix.bottomRows(zero.size()).diagonal().setConstant(kSmall);
    return matrix;
  }
  Eigen::VectorXd zero;
  std::vector<Eigen::VectorXd> all;
};

constexpr double kMostNumbers = 4e5;  // of a full matrix

template <int D>
bool is_there(const body::World<D>& world, const body::WorldState<D>& s, int body) {
  return world.body(body).born <= s.t && s.gone[index(body)] == 0;
}

/// work(joint, row) of all that joints hold, and of their limits that touch, with their gaps.
template <int D, class Work>
void each_joint_row(const body::World<D>& world, const body::WorldState<D>& s, const Work& work) {
  constexpr double kNear = 2.0;  // slacks
  for (const body::Joint<D>& joint : world.joints) {
    if (!is_there(world, s, joint.a) || !is_there(world, s, joint.b)) continue;
    const body::JointRows<D> rows =
        body::rows_of(joint, s.bodies[index(joint.a)], s.bodies[index(joint.b)]);
    for (int k = 0; k < joint.rows(); ++k) work(joint, rows.held[index(k)]);
    if (!joint.has_limits) continue;
    for (const bool is_low : {true, false}) {
      const body::JointRow<D> limit = body::limit_of(joint, rows.free, is_low);
      if (std::abs(limit.gap) <= kNear * body::limit_slack(limit)) work(joint, limit);
    }
  }
}

}  // namespace

template <int D>
std::vector<body::Motion<D>> shifts_to_touch(const body::World<D>& world,
                                             const body::WorldState<D>& s) {
  constexpr double kNear = 2.0;  // slacks
  const FreeBodies<D> bodies(world);
  ImpulseColumns equations(bodies.size());
  std::vector<double> gaps;
  double sum = 0.0;
  const auto ask = [&](double gap) {
    gaps.push_back(gap);
    sum += std::abs(gap);
  };
  for (const body::Row<D>& row : body::rows_within(world, s, 0.0)) {
    if (std::abs(row.gap) > kNear * row.slack) continue;
    bodies.add(row, row.normal, equations.add());
    ask(row.gap);
  }
  std::vector<body::Motion<D>> found(world.bodies.size());
  if (gaps.empty() && world.joints.empty()) return found;
  each_joint_row(world, s, [&](const body::Joint<D>& joint, const body::JointRow<D>& row) {
    bodies.add(joint, row, equations.add());
    ask(row.gap);
  });
  if (gaps.empty() || sum == 0.0) return found;
  if (static_cast<double>(gaps.size()) * static_cast<double>(bodies.size()) > kMostNumbers) {
    for (body::Motion<D>& one : found) one.v.setConstant(sum);  // no body is off by more
    return found;
  }
  Eigen::VectorXd wanted = Eigen::VectorXd::Zero(equations.count() + bodies.size());
  for (std::size_t k = 0; k < gaps.size(); ++k) wanted[static_cast<Eigen::Index>(k)] = -gaps[k];
  const Eigen::VectorXd x = convex::least_squares(equations.as_rows(), wanted);
  for (int i = 0; i < world.count(); ++i) found[index(i)] = bodies.motion(i, x);
  return found;
}

namespace {

/// The impulses that a step may share out otherwise, and what each gives to watches.
template <int D>
class Shares {
 public:
  Shares(const scene::WorldPart& part, const body::World<D>& world, const step::BodySample<D>& s)
      : part_(part), bodies_(world), given_(bodies_.size()) {
    std::size_t numbers = 0;
    for (const scene::Watch& watch : part.watches) numbers += index(watch.numbers);
    to_watches_.resize(numbers);
    double most = 0.0;
    s.each_push([&](const body::Row<D>&, const body::Push<D>& push) {
      most = std::max(most, push.impulse.norm());
    });
    s.each_push([&](const body::Row<D>& row, const body::Push<D>& push) {
      constexpr double kRounding = 1e-12;
      if (push.impulse[0] > kRounding * most) add(row, push, world);
    });
    if (s.claim.reactions.size() != world.joints.size()) return;
    for (std::size_t j = 0; j < world.joints.size(); ++j) add(j, world, s);
  }

  std::vector<char> find() const {
    std::vector<char> open(to_watches_.size(), 0);
    const auto count = static_cast<double>(given_.all.size());
    if (count == 0.0 || count * static_cast<double>(bodies_.size()) > kMostNumbers) return open;
    constexpr double kOff = 1e-6;
    const Eigen::MatrixXd rows = given_.as_rows();
    for (std::size_t k = 0; k < open.size(); ++k) {
      std::vector<double> to = to_watches_[k];
      to.resize(static_cast<std::size_t>(rows.rows()), 0.0);
      const Eigen::Map<const Eigen::VectorXd> wanted(to.data(), rows.rows());
      if (wanted.isZero(0.0)) continue;
      // A sum of momenta that has all impulses as the watch has them: then it is determined.
      const Eigen::VectorXd off =
          (rows * convex::least_squares(rows, wanted) - wanted).head(given_.count());
      open[k] = off.norm() > kOff * wanted.norm() ? 1 : 0;
    }
    return open;
  }

 private:
  bool is_in(const std::vector<int>& list, int body) const {
    return std::find(list.begin(), list.end(), body) != list.end();
  }
  /// The impulse that was added last, along a direction on b less that on a, to watches.
  void tell(int a, int b, int joint, const body::Vec<D>& on_b) {
    for (const scene::Watch& watch : part_.watches) {
      double times = 0.0;
      if (watch.kind == scene::Watch::Kind::ForceOn) {
        times = (is_in(watch.bodies, b) ? 1.0 : 0.0) - (is_in(watch.bodies, a) ? 1.0 : 0.0);
      }
      if (watch.kind == scene::Watch::Kind::Joint && watch.joint == joint) times = 1.0;
      for (int k = 0; k < D && times != 0.0; ++k) {
        std::vector<double>& to = to_watches_[index(watch.column + k)];
        to.resize(given_.all.size(), 0.0);
        to.back() += times * on_b[k];
      }
    }
  }

  /// A contact that sticks may push along all directions, one that slips along its impulse alone.
  void add(const body::Row<D>& row, const body::Push<D>& push, const body::World<D>& world) {
    constexpr double kSlips = 1.0 - 1e-6;
    const double most = world.law_between(row.body_a, row.body_b).friction * push.impulse[0];
    const bool sticks = push.impulse.template tail<D - 1>().norm() < kSlips * most;
    for (int k = 0; k < (sticks ? D : 1); ++k) {
      const body::Vec<D> along = body::in_space(
          row, sticks ? body::Vec<D>(body::Vec<D>::Unit(k)) : push.impulse.normalized());
      bodies_.add(row, along, given_.add());
      tell(row.body_a, row.body_b, -1, -along);
    }
  }

  void add(std::size_t j, const body::World<D>& world, const step::BodySample<D>& s) {
    const body::Joint<D>& joint = world.joints[j];
    const body::Reaction<D>& did = s.claim.reactions[j];
    const body::JointRows<D> rows =
        body::rows_of(joint, s.state.bodies[index(joint.a)], s.state.bodies[index(joint.b)]);
    const auto take = [&](const body::JointRow<D>& row) {
      bodies_.add(joint, row, given_.add());
      tell(joint.a, joint.b, static_cast<int>(j), row.along);
    };
    for (int k = 0; k < joint.rows(); ++k) take(rows.held[index(k)]);
    if (did.low > 0.0 || did.high > 0.0) take(rows.free);
  }

  const scene::WorldPart& part_;
  FreeBodies<D> bodies_;
  ImpulseColumns given_;                         // to the momentum of bodies, by impulse
  std::vector<std::vector<double>> to_watches_;  // by number of the watches, then by impulse
};

}  // namespace

template <int D>
std::vector<char> forces_left_open(const scene::WorldPart& part, const body::World<D>& world,
                                   const step::BodySample<D>& s) {
  return Shares<D>(part, world, s).find();
}

template std::vector<body::Motion<2>> shifts_to_touch(const body::World<2>&,
                                                      const body::WorldState<2>&);
template std::vector<body::Motion<3>> shifts_to_touch(const body::World<3>&,
                                                      const body::WorldState<3>&);
template std::vector<char> forces_left_open(const scene::WorldPart&, const body::World<2>&,
                                            const step::BodySample<2>&);
template std::vector<char> forces_left_open(const scene::WorldPart&, const body::World<3>&,
                                            const step::BodySample<3>&);

}  // namespace ricochet::study
