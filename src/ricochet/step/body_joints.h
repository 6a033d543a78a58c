#pragma once

#include <span>
#include <vector>

#include "ricochet/body/gains.h"
#include "ricochet/body/joints.h"
#include "ricochet/body/rows.h"
#include "ricochet/step/joint_matrix.h"

namespace ricochet::step {

/// The joints of a world in a step: equations J u + c = 0 that are taken out of the contact
/// problem,
///
///     u = u' + M^-1 (G^T r + J^T p),      K p = -(J u' + c) - J M^-1 G^T r,      K = J M^-1 J^T ,
///
/// and rows that have a law, which are put into it: limits as contacts without friction, dry
/// friction and motors as contacts whose normal impulse is known.
///
/// c is what the gap at the next middle differs by from the linear one, so that it is that of this
/// middle: SHAKE [Ryckaert 1977], in rounds. A damper is an equation with its own diagonal,
/// U+ + U + 2 (p/h + k (c - rest) - drive) / d = 0.
template <int D>
class BodyJoints {
 public:
  using Motions = std::vector<body::Motion<D>>;
  using Eases = std::vector<body::Ease<D>>;
  using Reactions = std::vector<body::Reaction<D>>;
  enum class Slot : char { Low, High, Friction, Motor };

  /// A row with a law.
  struct Lawful {
    int joint{0};
    Slot slot{Slot::Low};
    body::JointRow<D> row;  // limits: towards the inside; gap is the distance to it
    double shift{0.0};      // added to its velocity in the law
    double most{0.0};       // of friction and motors [N s]
    double bend{0.0};
    double impulse{0.0};
    double speed{0.0};  // of its bodies, by which what its velocity is off is measured [m/s]
    double noise{0.0};  // what rounding of places makes of its velocity [m/s]
    bool is_box() const { return slot == Slot::Friction || slot == Slot::Motor; }
  };

  explicit BodyJoints(const body::World<D>& world);
  bool any() const { return !world_.joints.empty(); }

  /// Rows at these places; joints of bodies that are not there do nothing.
  void look(const Motions& at, const std::vector<char>& exists);
  /// Whether gaps and limits hold as they are; else by how much they are off.
  bool fits() const;
  double misfit() const;

  /// Sets the equations of a projection: gaps go to 0, and nobody within reach goes beyond a
  /// limit.
  void begin_shift(double reach);
  /// Limits that were put back in this step act in it, with e > 0 too; `forget_put` before others.
  void note_put(const Reactions& weights);
  void forget_put() { put_.clear(); }
  double least_slack() const;  // of limits that take part, as ways of points of the bodies
  /// Those of a step, with what the last one did; `takes_all`: limits that are far
  /// too. Then what depends on velocities `before`, and on where bodies were before places were put
  /// back; empty: they were not.
  void begin_push(double h, double gh, const Motions& before, const Reactions& last,
                  bool takes_all);
  void set_before(double h, const Motions& before, const Motions& unshifted,
                  const body::Gains<D>& gains);
  /// What belongs to velocities `after`, whose next middle is `next`; whether it was known, or
  /// comes no nearer where it `may_stay` so.
  bool settle(double h, const Motions& after, const Motions& next, double enough, bool may_stay);

  void factor(const Eases& eases);
  /// Impulses that bring velocities to J u + c = 0, added to those there are.
  void hold(const Eases& eases, Motions& motions);
  /// What an impulse of a row does to its two bodies.
  void give(const body::Joint<D>& joint, const body::JointRow<D>& row, double p, const Eases& eases,
            Motions& motions) const;
  /// Adds the moments of all impulses, and sums of their sizes.
  void add_moments(std::vector<body::Spin<D>>& moments, std::vector<double>& levers) const;

  /// Limits that are apart at the middle: work(number of the joint, is_low, limit);
  /// and of those with e = 0 the ones that do not act before they touch.
  template <class Work>
  void each_open_limit(const Work& work) const;
  template <class Waits>
  void let_wait(const Waits& waits);

  std::vector<Lawful>& lawful() { return lawful_; }
  const std::vector<Lawful>& lawful() const { return lawful_; }
  void tell(Reactions& reactions) const;

  /// Mechanisms: bodies that joints tie together. -1: none, or not free.
  int mechanism(int body) const { return mechanism_[static_cast<std::size_t>(body)]; }
  int begin_of(int mechanism) const { return start_[static_cast<std::size_t>(mechanism)]; }
  int end_of(int mechanism) const { return start_[static_cast<std::size_t>(mechanism) + 1]; }
  int mechanisms() const { return static_cast<int>(start_.size()) - 1; }
  const JointMatrix& matrix() const { return matrix_; }
  /// Equations that a free body takes part in, and its direction in one of them.
  std::span<const int> equations_of(int body) const {
    const auto b = static_cast<std::size_t>(body);
    return std::span(by_body_).subspan(
        static_cast<std::size_t>(by_body_start_[b]),
        static_cast<std::size_t>(by_body_start_[b + 1] - by_body_start_[b]));
  }
  Eigen::Matrix<double, D + body::kSpins<D>, 1> direction(int equation, int body) const;

 private:
  struct Equation {
    int joint{0};
    int number{0};  // of its joint; kSpring: its damper
    body::JointRow<D> row;
    double offset{0.0};  // c
    double bend{0.0};
    double diagonal{0.0};  // of a damper
    double impulse{0.0};
    bool acts{false};
  };
  static constexpr int kSpring = 6;
  void order_joints();
  void list_equations(const std::vector<int>& order);
  void list_by_body();
  bool add_crossed(double h);
  double lift_of(const Lawful& limit, const Motions& unshifted) const;
  void measure_lawful(double h, double gh, const Motions& before);
  double needed(double h, double gh, const Motions& before) const;
  bool add_limit(const body::Joint<D>& joint, int number, bool is_low);
  static std::size_t side(int joint, bool is_low) {
    return 2 * static_cast<std::size_t>(joint) + (is_low ? 0 : 1);
  }
  bool is_put(int joint, bool is_low) const {
    return put_.size() > side(joint, is_low) && put_[side(joint, is_low)] != 0;
  }

  const body::World<D>& world_;
  std::vector<char> there_;               // by joint
  std::vector<char> put_;                 // by joint, its lower and its upper limit
  std::vector<char> waits_;               // the same: see let_wait
  std::vector<body::JointRows<D>> rows_;  // by joint, at the middle
  std::vector<body::JointRows<D>> then_;  // and at the next
  std::vector<Equation> equations_;       // in the order of the matrix
  std::vector<Lawful> lawful_;
  std::vector<double> forces_;  // by joint: of an undamped spring and drive [N s]
  std::vector<int> mechanism_;  // by body
  std::vector<int> start_;      // of mechanisms among the equations
  std::vector<int> by_body_start_;
  std::vector<int> by_body_;
  JointMatrix matrix_;
  std::vector<double> miss_;
  double last_change_{0.0};
  double gravity_step_{0.0};  // h |g| [m/s]
  bool are_forces_given_{false};
};

/// Angles count as ways of a point of the bodies, so that all impulses of a problem are forces.
template <int D>
double unit_of(const body::Joint<D>& joint) {
  return joint.kind == body::JointKind::Hinge && joint.size > 0.0 ? joint.size : 1.0;
}

template <int D>
template <class Work>
void BodyJoints<D>::each_open_limit(const Work& work) const {
  for (int j = 0; j < static_cast<int>(rows_.size()); ++j) {
    const auto at = static_cast<std::size_t>(j);
    const body::Joint<D>& joint = world_.joints[at];
    if (there_[at] == 0 || !joint.has_limits) continue;
    for (const bool is_low : {true, false}) {
      const body::JointRow<D> limit = body::limit_of(joint, rows_[at].free, is_low);
      const bool is_open = limit.gap > body::limit_slack(limit) && std::isfinite(limit.gap);
      if (is_open && !is_put(j, is_low)) work(j, is_low, limit);
    }
  }
}

template <int D>
template <class Waits>
void BodyJoints<D>::let_wait(const Waits& waits) {
  each_open_limit([&](int j, bool is_low, const body::JointRow<D>& limit) {
    const body::Joint<D>& joint = world_.joints[static_cast<std::size_t>(j)];
    if (joint.restitution == 0.0 && waits(joint, limit)) waits_[side(j, is_low)] = 1;
  });
  std::erase_if(lawful_, [&](const Lawful& one) {
    return !one.is_box() && waits_[side(one.joint, one.slot == Slot::Low)] != 0;
  });
}

extern template class BodyJoints<2>;
extern template class BodyJoints<3>;

}  // namespace ricochet::step
