#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "ricochet/body/gains.h"
#include "ricochet/body/world.h"
#include "ricochet/certify/body_joint_view.h"
#include "ricochet/certify/limits.h"

namespace ricochet::certify {

/// A row with e = 0 that is apart: it acts, may do so where rounding decides, or waits until it
/// touches.
enum class Word : char { Acts, May, Waits };

/// The judge of joints: own places, gaps and directions, by matrices and arms. Nothing here knows
/// how the step keeps them.
template <int D>
class JointCourt {
 public:
  using Vec = body::Vec<D>;
  using Motions = std::vector<body::Motion<D>>;
  using Reactions = std::vector<body::Reaction<D>>;

  using Row = SeenRow<D>;
  using View = SeenJoint<D>;

  /// Work of a step, by where it is booked.
  struct Works {
    double joints{0.0};    // what holds, and what driven bodies give through limits and friction
    double forces{0.0};    // motors, springs
    double contacts{0.0};  // limits and dry friction
    double friction{0.0};  // the latter alone
    double shocks{0.0};    // limits that are struck
    long long struck{0};
    double relative{0.0};   // of all impulses, as the two bodies move against each other
    double lent{0.0};       // what forces of the step, and the bend of the way, may give to it
    bool has_power{false};  // of a motor or a spring
  };
  /// How a step fared.
  struct Verdict {
    int joint{-1};       // the first that does not hold; -1: all do
    bool is_gap{false};  // its gap, else its law
    double value{0.0};
    double gap_max{0.0};   // of all, at the middle
    double residual{0.0};  // of all, relative
  };

  explicit JointCourt(const body::World<D>& world) : world_(world) {}
  bool any() const { return !world_.joints.empty(); }

  void look(const Motions& at, const std::vector<char>& exists);
  /// Whether a joint, or a limit, is off by more than its slack, at the places looked at.
  bool is_off(double times) const;
  /// Adds how weights move bodies, as velocities; false where they pull at limits.
  bool add_shifts(const Reactions& weights, const Motions& at, Motions& moved);
  bool ends_at_limits(const Reactions& weights, const Motions& moved) const;
  void forget_put() { put_.assign(2 * world_.joints.size(), 0); }  // who was, in a step
  /// A step as joints see it: velocities before and after at the middle, the next middle, and this
  /// one before places were put back, empty where they were not.
  struct Step {
    const Motions& before;
    const Motions& after;
    const Motions& next;
    const Motions& unshifted;
    const body::Gains<D>& gains;
    double h{0.0};
    double gravity{0.0};
    const Limits& limits;
    Level level{Level::Exact};
    double creep_limit{0.0};
  };
  /// Limits that are apart at the places looked at: work(number of the joint, is_low, time), when
  /// they are reached by velocities before and h g alone.
  template <class Work>
  void each_open_limit(const Motions& before, const Vec& given, const Work& work) const;
  /// Whether a limit with e = 0 that is apart acts; all do before any is told otherwise.
  void all_act() { words_.assign(2 * world_.joints.size(), Word::Acts); }
  void set_word(std::size_t joint, bool is_low, Word word) {
    words_[2 * joint + (is_low ? 0 : 1)] = word;
  }
  /// The laws of all joints, at the places looked at.
  Verdict judge(const Reactions& claimed, const Step& step) const;
  /// What the impulses give to a body: work(body, impulse, moment, size, lever).
  template <class Work>
  void each_impulse(const Reactions& claimed, Work&& work) const;
  Works works(const Reactions& claimed, const Motions& before, const Motions& after,
              const Reactions& last, double threshold, double gravity) const;
  double springs(const Motions& at, const std::vector<char>& gone) const;  // their energy
  /// The largest impulse of a joint, as a force.
  double size_of(const body::Reaction<D>& r, std::size_t joint) const;

 private:
  /// One joint of a step.
  struct Case {
    const Step& step;
    std::size_t number{0};
    double speed{0.0};  // what its velocities are measured by
    double unit{1.0};   // [m] of an angle, as the way of a point of the bodies
    Verdict& verdict;

    void refuse(bool is_gap, double value) {
      if (verdict.joint >= 0) return;
      verdict.joint = static_cast<int>(number);
      verdict.is_gap = is_gap;
      verdict.value = value;
    }
    void check(const Row& row, double off, double scale);
  };
  void judge_force(const View& seen, const body::Reaction<D>& r, Case& of) const;
  void judge_held(const View& seen, const View& then, Case& of) const;
  void judge_free(const View& seen, const View& then, const body::Reaction<D>& r, Case& of) const;
  double met_at(const body::Joint<D>& joint, bool is_low, double gap, double approach,
                double gained, const Step& step) const;
  double ease(const Row& row, const body::Joint<D>& joint, const Motions& at) const;
  double free_work(const Row& row, const body::Joint<D>& joint, const Motions& before,
                   const Motions& after) const;

  const body::World<D>& world_;
  std::vector<View> views_;
  std::vector<char> put_;    // by joint: at its lower and at its upper limit
  std::vector<Word> words_;  // the same
};

template <int D>
template <class Work>
void JointCourt<D>::each_open_limit(const Motions& before, const Vec& given,
                                    const Work& work) const {
  for (std::size_t j = 0; j < views_.size(); ++j) {
    const body::Joint<D>& joint = world_.joints[j];
    if (!views_[j].there || !joint.has_limits) continue;
    const Row& free = views_[j].free;
    double forward = rate(free, before[static_cast<std::size_t>(joint.a)],
                          before[static_cast<std::size_t>(joint.b)]);
    if (world_.body(joint.a).is_free()) forward -= free.along.dot(given);
    if (world_.body(joint.b).is_free()) forward += free.along.dot(given);
    for (const bool is_low : {true, false}) {
      const double way =
          (is_low ? free.value - joint.low : joint.high - free.value) - 1e-9 * free.size;
      if (!(way > 1e-15 * free.size) || !std::isfinite(way)) continue;
      if (put_[2 * j + (is_low ? 0 : 1)] != 0) continue;
      const double closes = is_low ? -forward : forward;
      work(j, is_low, closes > 0.0 ? way / closes : std::numeric_limits<double>::infinity());
    }
  }
}

template <int D>
template <class Work>
void JointCourt<D>::each_impulse(const Reactions& claimed, Work&& work) const {
  const auto arm_moment = [](const Vec& arm, const Vec& p) -> body::Spin<D> {
    if constexpr (D == 2) return arm[0] * p[1] - arm[1] * p[0];
    if constexpr (D == 3) return arm.cross(p);
  };
  for (std::size_t j = 0; j < claimed.size(); ++j) {
    const View& view = views_[j];
    if (!view.there) continue;
    const auto give = [&](const Row& row, double impulse) {
      const Vec p = impulse * row.along;
      const body::Spin<D> couple = impulse * row.couple;
      const double twist = body::size_of(couple);
      work(world_.joints[j].b, p, body::Spin<D>(arm_moment(row.arm_b, p) + couple), p.norm(),
           row.arm_b.norm() * p.norm() + twist);
      work(world_.joints[j].a, Vec(-p), body::Spin<D>(-arm_moment(row.arm_a, p) - couple), p.norm(),
           row.arm_a.norm() * p.norm() + twist);
    };
    for (std::size_t k = 0; k < view.held.size(); ++k) give(view.held[k], claimed[j].held[k]);
    const body::Reaction<D>& r = claimed[j];
    for (const double p : {r.low, -r.high, r.friction, r.motor, r.spring}) {
      if (p != 0.0) give(view.free, p);
    }
  }
}

extern template class JointCourt<2>;
extern template class JointCourt<3>;

}  // namespace ricochet::certify
