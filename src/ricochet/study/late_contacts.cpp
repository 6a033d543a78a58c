#include "ricochet/study/late_contacts.h"

#include <algorithm>
#include <cmath>

#include "ricochet/base/index.h"
#include "ricochet/body/finder.h"
#include "ricochet/body/joints.h"
#include "ricochet/body/rows.h"

namespace ricochet::study {
namespace {

constexpr double kSoon = 2.5;        // steps: what closes so soon may do so before the end
constexpr double kMayClose = 100.0;  // steps: what closes so soon may do so where places are off
constexpr double kJustNow = 2.0;     // steps: what closed before has pushed, or is no such contact

/// What a moment does to the spin of a body, at most.
double most_per_inertia(const body::Body<2>& body) { return 1.0 / body.inertia; }
double most_per_inertia(const body::Body<3>& body) { return body.inertia.inverse().norm(); }

template <int D>
class Late {
 public:
  using Sample = step::BodySample<D>;
  Late(const body::World<D>& world, const Sample& s, double h)
      : world_(world), s_(s), h_(h), found_(world.bodies.size()) {}

  std::vector<LateContact> find() {
    look_at_contacts();
    for (std::size_t j = 0; j < world_.joints.size(); ++j) {
      if (world_.joints[j].has_limits) look_at_limits(world_.joints[j], j);
    }
    return found_;
  }

 private:
  const body::Motion<D>& motion(int i) const { return s_.state.bodies[base::index(i)]; }
  bool is_there(int i) const {
    return world_.body(i).born <= s_.state.t && s_.state.gone[base::index(i)] == 0;
  }

  /// Rows where bodies are, not where they were half a step before.
  void look_at_contacts() {
    for (const body::Row<D>& row : body::rows_within(world_, s_.state, kMayClose * h_))
      look_at(row);
  }

  /// Whether what comes together at a speed does so about the end; and how long ago.
  bool is_late(double gap, double closes, double& since) const {
    if (!(closes > 0.0) || gap > kSoon * h_ * closes) return false;
    since = std::max(0.0, -gap) / closes;
    return since <= kJustNow * h_;
  }

  /// The common impulse is at most that which both would have without turning.
  void look_at(const body::Row<D>& row) {
    const body::Body<D>& a = world_.body(row.body_a);
    const body::Body<D>& b = world_.body(row.body_b);
    const double closes = -body::relative(row, motion(row.body_a), motion(row.body_b))[0];
    double since = 0.0;
    const bool late = is_late(row.gap, closes, since);
    const bool near = !late && closes > 0.0 && row.gap > 0.0;
    if ((!late && !near) || has_pushed(row)) return;
    const body::PairLaw& law = world_.law_between(row.body_a, row.body_b);
    const double per_mass = (a.is_free() ? 1.0 / a.mass : 0.0) + (b.is_free() ? 1.0 / b.mass : 0.0);
    if (per_mass == 0.0) return;
    const double normal = (1.0 + law.restitution) * closes / per_mass;
    const double most = normal * std::hypot(1.0, law.friction);
    const auto take_from = [&](int i, const body::Vec<D>& arm) {
      const body::Body<D>& body = world_.body(i);
      const double moment =
          normal * (body::size_of(body::moment(arm, row.normal)) + law.friction * arm.norm());
      const double spin = moment > 0.0 ? moment * most_per_inertia(body) : 0.0;
      if (late) take(i, most / body.mass, spin, since);
      const int other = i == row.body_a ? row.body_b : row.body_a;
      LateContact& of = found_[base::index(i)];
      if (near) of.near.push_back({other, row.gap, closes, most / body.mass, spin});
    };
    if (a.is_free()) take_from(row.body_a, row.arm_a);
    if (b.is_free()) take_from(row.body_b, row.arm_b);
  }

  bool has_pushed(const body::Row<D>& row) const {
    const auto& pushes = s_.claim.pushes;
    return std::any_of(pushes.begin(), pushes.end(),
                       [&](const body::Push<D>& one) { return one.key == row.key; });
  }

  /// A limit changes the rate of its coordinate by (1 + e) times it, and that of no body that hangs
  /// together with it by more than if it alone made it.
  void look_at_limits(const body::Joint<D>& joint, std::size_t number) {
    if (!is_there(joint.a) || !is_there(joint.b)) return;
    const body::JointRow<D> free = body::rows_of(joint, motion(joint.a), motion(joint.b)).free;
    const body::Reaction<D>& last = s_.state.reactions[number];
    for (const bool is_low : {true, false}) {
      const body::JointRow<D> limit = body::limit_of(joint, free, is_low);
      const double closes = -body::rate_of(limit, motion(joint.a), motion(joint.b));
      double since = 0.0;
      if (!is_late(limit.gap, closes, since) || (is_low ? last.low : last.high) > 0.0) continue;
      const double change = (1.0 + joint.restitution) * closes;
      const bool is_angle = limit.along.isZero();
      for (const int i : hanging_with(joint.a, joint.b)) {
        const double reach = std::max(world_.body(i).reach, joint.size);
        if (is_angle) take(i, 2.0 * reach * change, change, since);
        if (!is_angle) take(i, change, reach > 0.0 ? change / reach : 0.0, since);
      }
    }
  }

  /// The free bodies that joints connect with a or b.
  std::vector<int> hanging_with(int a, int b) const {
    std::vector<int> found;
    const auto add = [&](int i) {
      const bool is_known = std::find(found.begin(), found.end(), i) != found.end();
      if (world_.body(i).is_free() && !is_known) found.push_back(i);
    };
    add(a);
    add(b);
    for (std::size_t k = 0; k < found.size(); ++k) {
      for (const body::Joint<D>& joint : world_.joints) {
        if (joint.a == found[k]) add(joint.b);
        if (joint.b == found[k]) add(joint.a);
      }
    }
    return found;
  }

  void take(int body, double speed, double spin, double since) {
    LateContact& late = found_[base::index(body)];
    late.speed = std::max(late.speed, speed);
    late.spin = std::max(late.spin, spin);
    late.way = std::max(late.way, since * speed);
    late.turn = std::max(late.turn, since * spin);
  }

  const body::World<D>& world_;
  const Sample& s_;
  double h_;
  std::vector<LateContact> found_;
};

}  // namespace

template <int D>
std::vector<LateContact> late_contacts(const body::World<D>& world, const step::BodySample<D>& s,
                                       double h) {
  return Late<D>(world, s, h).find();
}

template std::vector<LateContact> late_contacts(const body::World<2>&, const step::BodySample<2>&,
                                                double);
template std::vector<LateContact> late_contacts(const body::World<3>&, const step::BodySample<3>&,
                                                double);

}  // namespace ricochet::study
