#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "ricochet/base/looks.h"
#include "ricochet/shape/gaps.h"

namespace ricochet::body {

template <int D>
using Vec = shape::Vec<D>;
template <int D>
inline constexpr int kSpins = D == 2 ? 1 : 3;
template <int D>  // rates of rotation, moments
using Spin = std::conditional_t<D == 2, double, Vec<3>>;
template <int D>  // about the mass centre, in space in the frame of the shapes
using Inertia = std::conditional_t<D == 2, double, shape::Mat<3>>;

/// The rotation by |a| about a.
Eigen::Quaterniond rotation(const Vec<3>& a);

/// Where a body is and how it moves: its mass centre, its angle or rotation, both velocities.
template <int D>
struct Motion;
template <>
struct Motion<2> {
  Vec<2> x = Vec<2>::Zero();  // [m]
  double angle{0.0};          // [rad]
  Vec<2> v = Vec<2>::Zero();  // [m/s]
  double spin{0.0};           // [rad/s]

  /// Position after a time h with these velocities.
  void advance(double h) {
    x += h * v;
    angle += h * spin;
  }
  void shift(const Vec<2>& by, double turn_by) {
    x += by;
    angle += turn_by;
  }
};
template <>
struct Motion<3> {
  Vec<3> x = Vec<3>::Zero();
  Eigen::Quaterniond turn{1.0, 0.0, 0.0, 0.0};  // from the frame of the body to space
  Vec<3> v = Vec<3>::Zero();
  Vec<3> spin = Vec<3>::Zero();   // in space
  Vec<3> rates = Vec<3>::Zero();  // the same in the frame of the body, kept: rounding of `turn`
                                  // would add up; not used where all moments of inertia are equal

  void advance(double h);
  void shift(const Vec<3>& by, const Vec<3>& turn_by);
};

enum class Kind : char {
  Free,    // moves by forces and impulses
  Fixed,   // never moves
  Driven,  // its place is a function of t
};

template <int D>
Inertia<D> no_inertia() {
  if constexpr (D == 2) return 0.0;
  if constexpr (D == 3) return shape::Mat<3>::Zero();
}

/// A rigid body: shapes that ride on one frame. `at` of scenes is that frame's origin.
template <int D>
struct Body {
  std::string name;
  Kind kind{Kind::Free};
  int material{0};
  double mass{0.0};                      // [kg]; per length in the plane
  Inertia<D> inertia = no_inertia<D>();  // about the mass centre [kg m^2]
  bool is_even{D == 2};                  // all its moments of inertia are equal
  Vec<D> centre = Vec<D>::Zero();        // the mass centre in the frame of the shapes [m]
  int first_shape{0};                    // in World::solids
  int shapes{0};
  double reach{0.0};  // from the mass centre to its farthest particle [m]
  double size{0.0};   // a length to measure rounding and slack by [m]
  double born{-std::numeric_limits<double>::infinity()};  // [s]
  Motion<D> start;
  std::function<void(double t, Motion<D>& place)> drive;  // of driven ones: where it is

  bool moves() const { return kind != Kind::Fixed; }
  bool is_free() const { return kind == Kind::Free; }
};

inline double size_of_inertia(const Body<2>& body) { return body.inertia; }
double size_of_inertia(const Body<3>& body);

/// Says of a body whether its moments of inertia are equal; in space they then are so exactly.
inline void settle_inertia(Body<2>&) {}
void settle_inertia(Body<3>& body);

/// A shape of a body.
template <int D>
struct Solid {
  int body{0};
  shape::Shape<D> shape;
};

/// What two materials do to each other where they touch.
struct PairLaw {
  bool touches{true};
  bool is_stated{false};
  double friction{0.0};
  double restitution{0.0};
  double rolling{0.0};   // |moment along the tangents| <= rolling p_N [m]
  double spinning{0.0};  // |moment about the normal| <= spinning p_N, in space [m]
  bool looks_ahead() const { return restitution == 0.0; }
  bool throws_partly() const { return restitution > 0.0 && restitution < 1.0; }
  /// e of bodies that come together at a speed, of which they gained a part in the last step, as by
  /// gravity: hops of so few steps are not resolved, and would go on for ever. What is elastic, or
  /// comes at a speed that it had for long, is thrown back as it is.
  double returned(double approach, double gained) const {
    constexpr double kSteps = 2.0;  // from there to one more it grows to the whole
    if (!throws_partly() || gained == 0.0) return restitution;
    return restitution * std::clamp(approach / gained - kSteps, 0.0, 1.0);
  }
  bool resists_turning() const { return rolling > 0.0 || spinning > 0.0; }
};

/// Names one row between two shapes from step to step.
struct RowKey {
  int a{0};  // the shapes, a < b
  int b{0};
  shape::Key feature{0};
  friend bool operator==(const RowKey&, const RowKey&) = default;
  friend auto operator<=>(const RowKey&, const RowKey&) = default;
};

enum class JointKind : char { Hinge, Ball, Slider, Weld, Distance };

/// An orientation: in space the matrix of its axes.
template <int D>
using Axes = std::conditional_t<D == 2, double, shape::Mat<3>>;
template <int D>
Axes<D> no_axes() {
  if constexpr (D == 2) return 0.0;
  if constexpr (D == 3) return shape::Mat<3>::Identity();
}

/// What keeps two bodies together. Its coordinate is the angle of a hinge, the way of a slider, the
/// length of a distance: of b as seen from a.
template <int D>
struct Joint {
  std::string name;
  JointKind kind{JointKind::Hinge};
  int a{0};
  int b{0};
  Vec<D> on_a = Vec<D>::Zero();  // from the mass centre of each, in the frame of the body [m]
  Vec<D> on_b = Vec<D>::Zero();
  Axes<D> frame_a = no_axes<D>();  // of the joint in the frame of each body; its axis is the first
  Axes<D> frame_b = no_axes<D>();
  double size{0.0};         // a length of the bodies, to measure rounding by [m]
  bool holds_length{true};  // of a distance: limits or a spring may stand in its place
  double length{0.0};       // of a distance [m]
  double start{0.0};        // what is added to angle and way, both 0 where the joint was made
  bool has_limits{false};
  double low{0.0};
  double high{0.0};
  double restitution{0.0};  // of the limits
  double friction{0.0};     // dry: the most that resists [N m] or [N]
  double motor_speed{0.0};  // that a motor aims at [rad/s] or [m/s]
  double motor_most{0.0};   // what it has for that [N m] or [N]; 0: there is none
  double drive{0.0};        // a constant torque or force on b
  double stiffness{0.0};    // of a spring [N m/rad] or [N/m]
  double damping{0.0};
  double rest{0.0};  // coordinate at which the spring is free

  /// PairLaw::returned of its limits, which are come to at a rate of the coordinate that was gained
  /// in part; of an angle gravity gains no more than for a point of the bodies.
  double returned(double approach, double gained, double gh) const {
    PairLaw law;
    law.restitution = restitution;
    const double unit = kind == JointKind::Hinge && size > 0.0 ? size : 1.0;
    const double most = approach > 0.0 ? std::clamp(unit * gained, 0.0, gh) : gh;
    return law.returned(unit * approach, most);
  }
  bool has_spring() const { return stiffness != 0.0 || damping != 0.0 || drive != 0.0; }
  /// Equations that hold it.
  int rows() const {
    switch (kind) {
      case JointKind::Hinge: return D == 2 ? 2 : 5;
      case JointKind::Ball: return D;
      case JointKind::Slider: return D == 2 ? 2 : 5;
      case JointKind::Weld: return D == 2 ? 3 : 6;
      case JointKind::Distance: return holds_length ? 1 : 0;
    }
    return 0;
  }
};

/// What a joint did in a step: impulses by row, those on b [N s] or [N m s].
template <int D>
struct Reaction {
  std::array<double, 6> held{};
  double low{0.0};  // of the limits, >= 0
  double high{0.0};
  double friction{0.0};
  double motor{0.0};
  double spring{0.0};             // with damping and a constant drive
  Vec<D> force = Vec<D>::Zero();  // all of it, in space
};

/// Bodies and the laws between them: const while a motion is made.
template <int D>
struct World {
  std::vector<Body<D>> bodies;
  std::vector<Solid<D>> solids;  // by body
  std::vector<Joint<D>> joints;
  std::vector<std::pair<int, int>> apart;  // bodies a < b that a joint keeps from touching, sorted
  std::vector<std::string> materials;
  std::vector<PairLaw> laws;  // of materials a and b at a * materials + b
  std::function<Vec<D>(double t)> gravity = [](double) -> Vec<D> { return Vec<D>::Zero(); };
  bool gravity_is_constant{true};
  bool sleeps{false};  // what is found at rest is not solved again until something changes
  // Free bodies whose mass centre leaves this box are taken out, at the end of the step.
  Vec<D> kept_low = Vec<D>::Constant(-std::numeric_limits<double>::infinity());
  Vec<D> kept_high = Vec<D>::Constant(std::numeric_limits<double>::infinity());

  bool keeps(const Vec<D>& x) const {
    return (x.array() >= kept_low.array()).all() && (x.array() <= kept_high.array()).all();
  }
  const PairLaw& law(int a, int b) const {
    return laws[static_cast<std::size_t>(a) * materials.size() + static_cast<std::size_t>(b)];
  }
  /// Of bodies a and b.
  const PairLaw& law_between(int a, int b) const { return law(body(a).material, body(b).material); }
  const Body<D>& body(int i) const { return bodies[static_cast<std::size_t>(i)]; }
  const Solid<D>& solid(int i) const { return solids[static_cast<std::size_t>(i)]; }
  int count() const { return static_cast<int>(bodies.size()); }
  int free_bodies() const {
    int free = 0;
    for (const Body<D>& one : bodies) free += one.is_free() ? 1 : 0;
    return free;
  }

  /// Whether two bodies may touch: one of them moves, one at least freely or both by drives never.
  bool may_touch(int a, int b) const {
    const Body<D>& one = body(a);
    const Body<D>& other = body(b);
    if (a == b || (!one.is_free() && !other.is_free())) return false;
    if (!apart.empty() &&
        std::binary_search(apart.begin(), apart.end(), std::pair(std::min(a, b), std::max(a, b)))) {
      return false;
    }
    return law_between(a, b).touches;
  }

  /// Whether some pairs or limits of joints are thrown back and others are not.
  bool mixes_restitution() const {
    bool any_back = false;
    bool any_ahead = false;
    const auto count = [&](bool looks_ahead) { (looks_ahead ? any_ahead : any_back) = true; };
    for (const PairLaw& law : laws) count(law.looks_ahead());
    for (const Joint<D>& joint : joints) {
      if (joint.has_limits) count(joint.restitution == 0.0);
    }
    return any_back && any_ahead;
  }

  /// A free body on a fixed half-space that does not throw it back: see step/moreau_bodies.h.
  bool rolls(const RowKey& key) const {
    const auto is_ground = [&](int i) {
      return solid(i).shape.kind == shape::Kind::HalfSpace &&
             body(solid(i).body).kind == Kind::Fixed;
    };
    if (D == 2 || (!is_ground(key.a) && !is_ground(key.b))) return false;
    return law_between(solid(key.a).body, solid(key.b).body).looks_ahead();
  }
};

/// How far a gap may be below zero, or above, and still count as touching: rounding of places and
/// of the larger shape, and a billionth of the smaller body.
template <int D>
double slack_of(double size_a, double size_b, const Vec<D>& where) {
  constexpr double kPart = 1e-9;
  constexpr double kRounding = 16.0 * std::numeric_limits<double>::epsilon();
  const double size = std::min(size_a, size_b);
  const double other = std::max(size_a, size_b);
  const double larger = std::isfinite(other) ? other : size;
  return std::max(kPart * size, kRounding * (where.norm() + larger));
}
template <int D>
double slack_of(const Body<D>& a, const Body<D>& b, const Vec<D>& where) {
  return slack_of<D>(a.size, b.size, where);
}

inline double size_of(double spin) { return std::abs(spin); }
inline double size_of(const Vec<3>& spin) { return spin.norm(); }

/// No particle of the body is faster.
template <int D>
double speed_bound(const Body<D>& body, const Motion<D>& m) {
  return body.kind == Kind::Fixed ? 0.0 : m.v.norm() + size_of(m.spin) * body.reach;
}

/// The mean rate of rotation between two places.
inline double spin_between(const Motion<2>& from, const Motion<2>& to, double h) {
  return (to.angle - from.angle) / h;
}
Vec<3> spin_between(const Motion<3>& from, const Motion<3>& to, double h);

/// A driven body at t, with the mean velocity of the time between t and t + h, h of either sign.
template <int D>
void drive(const Body<D>& body, double t, double h, Motion<D>& m) {
  Motion<D> there;
  body.drive(t, m);
  body.drive(t + h, there);
  m.v = (there.x - m.x) / h;
  m.spin = spin_between(m, there, h);
}

/// The frame of a body's shapes.
shape::Pose<2> pose_of(const Body<2>& body, const Motion<2>& m);
shape::Pose<3> pose_of(const Body<3>& body, const Motion<3>& m);

/// Moment of momentum about the mass centre, in space.
inline double momentum_of(const Body<2>& body, const Motion<2>& m) { return body.inertia * m.spin; }
Vec<3> momentum_of(const Body<3>& body, const Motion<3>& m);

/// What a row did in a step.
template <int D>
struct Push {
  RowKey key;
  Vec<D> impulse = Vec<D>::Zero();    // on the body of shape a, along (n, t): p_N first
  Spin<D> moment = Motion<D>{}.spin;  // on the same, of rolling friction; in space along (n, t)
};

/// How well the contacts of a run are solved from here on.
struct Effort {
  int level{0};     // that steps have fallen to: 0 exact, 1 tight, 2 bounded
  int patience{5};  // how often a step is still tried at length before a level is given up
};

/// A group of touching bodies that cannot rest, and when that is asked again.
struct RestTry {
  int body{0};        // its free body with the lowest number
  int wait{0};        // steps from the last time to the next
  long long next{0};  // the step of the next time
};

/// What velocity and spin of a body gained in a step, by time.
template <int D>
struct Gain {
  Vec<D> v = Vec<D>::Zero();        // [m/s^2]
  Spin<D> spin = Motion<D>{}.spin;  // [1/s^2]
};

/// A motion at an instant, with all that the steps after it need of those before.
template <int D>
struct WorldState {
  double t{0.0};
  long long steps{0};                  // since the start
  std::vector<Motion<D>> bodies;       // of fixed and unborn ones their start
  std::vector<char> gone;              // by body: it left, and stays as it was then
  std::vector<Push<D>> pushes;         // of the last step, by key: where the next solve begins
  std::vector<Reaction<D>> reactions;  // the same of joints
  std::vector<Gain<D>> gains;          // in the last step, by body: see needs_gains
  base::Looks looks;                   // for other ways to share a load
  Effort effort;
  std::vector<RestTry> tries;  // by body
  std::vector<char> asleep;    // by body, where the world sleeps: see World::sleeps
};

/// One row that can act in a step.
template <int D>
struct Row {
  RowKey key;
  int body_a{0};
  int body_b{0};
  double gap{0.0};
  Vec<D> normal = Vec<D>::Zero();  // from b towards a
  Vec<D> arm_a = Vec<D>::Zero();   // from the mass centre of a to its particle
  Vec<D> arm_b = Vec<D>::Zero();
  double slack{0.0};
};

}  // namespace ricochet::body
