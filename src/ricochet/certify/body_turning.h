#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "ricochet/body/rows.h"
#include "ricochet/body/world.h"
#include "ricochet/convex/dense.h"

/// Rotations of bodies, by the judge: in the plane angles, in space matrices, where the step has
/// quaternions. Notation: R from the frame of the body to space, Ω its rates in that frame.
namespace ricochet::certify {

inline constexpr double kRoundoff = std::numeric_limits<double>::epsilon();

inline bool finite(const body::Motion<2>& m) {
  return m.x.allFinite() && std::isfinite(m.angle) && m.v.allFinite() && std::isfinite(m.spin);
}
inline bool finite(const body::Motion<3>& m) {
  const double sum = m.x.sum() + m.turn.coeffs().sum() + m.v.sum() + m.spin.sum();
  if (std::isfinite(sum)) return true;
  return m.x.allFinite() && m.turn.coeffs().allFinite() && m.v.allFinite() && m.spin.allFinite();
}

/// The judge's own rotations are matrices: by |a| about a, as Rodrigues wrote it,
/// 1 + sin|a|/|a| [a] + (1 - cos|a|)/|a|^2 [a]^2; where |a| is small by series, to rounding.
inline shape::Mat<3> rotation_by(const body::Vec<3>& a) {
  constexpr double kSmall = 1e-2;  // |a|^2; the next terms are below 3e-18
  const double s = a.squaredNorm();
  double one = 1.0 - s / 6.0 * (1.0 - s / 20.0 * (1.0 - s / 42.0 * (1.0 - s / 72.0)));
  double two = 0.5 - s / 24.0 * (1.0 - s / 30.0 * (1.0 - s / 56.0 * (1.0 - s / 90.0)));
  if (s > kSmall) {
    const double angle = std::sqrt(s);
    const double half = std::sin(0.5 * angle);
    one = std::sin(angle) / angle;
    two = 2.0 * half * half / s;
  }
  shape::Mat<3> cross;
  cross << 0.0, -a[2], a[1], a[2], 0.0, -a[0], -a[1], a[0], 0.0;
  shape::Mat<3> made = one * cross + two * a * a.transpose();
  made.diagonal().array() += 1.0 - two * s;
  return made;
}
inline shape::Mat<3> matrix_of(const body::Motion<3>& m) { return m.turn.toRotationMatrix(); }

inline void turn(body::Motion<2>& m, double by) { m.angle += by; }
inline void turn(body::Motion<3>& m, const body::Vec<3>& by) {
  if (by != body::Vec<3>::Zero()) {
    m.turn = Eigen::Quaterniond(rotation_by(by) * matrix_of(m)).normalized();
  }
}

/// Rates in the frame of the body: of the state where it keeps them.
inline body::Vec<3> rates_of(const body::Body<3>& body, const body::Motion<3>& m) {
  return body.is_even ? body::Vec<3>(matrix_of(m).transpose() * m.spin) : m.rates;
}

/// Moment of momentum about the mass centre, in space.
inline double turning_momentum(const body::Body<2>& body, const body::Motion<2>& m) {
  return body.inertia * m.spin;
}
inline body::Vec<3> turning_momentum(const body::Body<3>& body, const body::Motion<3>& m) {
  if (body.is_even) return body.inertia(0, 0) * m.spin;
  return matrix_of(m) * (body.inertia * rates_of(body, m));
}
inline double energy_of(const body::Body<2>& body, const body::Motion<2>& m) {
  return 0.5 * body.inertia * m.spin * m.spin;
}
inline double energy_of(const body::Body<3>& body, const body::Motion<3>& m) {
  if (body.is_even) return 0.5 * body.inertia(0, 0) * m.spin.squaredNorm();
  const body::Vec<3> rates = rates_of(body, m);
  return 0.5 * rates.dot(body.inertia * rates);
}

/// The spin that a moment gives to a body at rest.
inline double spin_by(const body::Body<2>& body, const body::Motion<2>&, double moment) {
  return moment / body.inertia;
}
inline body::Vec<3> spin_by(const body::Body<3>& body, const body::Motion<3>& m,
                            const body::Vec<3>& moment) {
  const shape::Mat<3> R = matrix_of(m);
  return R * convex::SmallCholesky<3>(body.inertia).solve(R.transpose() * moment);
}

/// Trace of what impulses at an arm do to its own velocity, without the part of the mass.
inline double turning_trace(const body::Body<2>& body, const body::Motion<2>&,
                            const body::Vec<2>& arm) {
  return arm.squaredNorm() / body.inertia;
}
inline double turning_trace(const body::Body<3>& body, const body::Motion<3>& m,
                            const body::Vec<3>& arm) {
  double trace = 0.0;
  for (int k = 0; k < 3; ++k) {
    const body::Vec<3> moment = arm.cross(body::Vec<3>::Unit(k));
    trace += moment.dot(spin_by(body, m, moment));
  }
  return trace;
}

/// Trace of what moments do to the spin.
inline double spin_trace(const body::Body<2>& body, const body::Motion<2>&) {
  return 1.0 / body.inertia;
}
inline double spin_trace(const body::Body<3>& body, const body::Motion<3>& m) {
  double trace = 0.0;
  for (int k = 0; k < 3; ++k) trace += spin_by(body, m, body::Vec<3>::Unit(k))[k];
  return trace;
}

/// Rates of a body in its own frame, and their mean.
struct BodyTurn {
  shape::Mat<3> from;
  body::Vec<3> before;
  body::Vec<3> after;
  body::Vec<3> mean;
};
inline BodyTurn turn_of(const body::Body<3>& body, const body::Motion<3>& from,
                        const body::Motion<3>& to) {
  BodyTurn turn{matrix_of(from), rates_of(body, from), rates_of(body, to), {}};
  turn.mean = 0.5 * (turn.before + turn.after);
  return turn;
}

/// Spins of rows before and after: in the plane those of the states, in space R̄Ω and R̄Ω⁺,
/// R̄ = R exp(½hΩ̄); where all moments of inertia are equal those of the states.
template <int D>
inline void set_spins(const body::Body<D>& body, const body::Motion<D>& from,
                      const body::Motion<D>& to, [[maybe_unused]] double h, body::Motion<D>& before,
                      body::Motion<D>& after) {
  before.spin = from.spin;
  after.spin = to.spin;
  if constexpr (D == 3) {
    if (body.is_even) return;
    const BodyTurn turn = turn_of(body, from, to);
    const shape::Mat<3> middle = turn.from * rotation_by(0.5 * h * turn.mean);
    before.spin = middle * turn.before;
    after.spin = middle * turn.after;
  }
}

/// That a state says of its spin the same in both frames.
inline bool spins_agree(const body::Body<2>&, const body::Motion<2>&) { return true; }
inline bool spins_agree(const body::Body<3>& body, const body::Motion<3>& m) {
  if (body.is_even) return true;  // it has one spin only
  return (matrix_of(m) * rates_of(body, m) - m.spin).norm() <= 32.0 * kRoundoff * m.spin.norm();
}
inline double angle_size(const body::Motion<2>& m) { return std::abs(m.angle); }
inline double angle_size(const body::Motion<3>&) { return 8.0; }  // of matrices made in two ways

/// How far a rotation is from where it should be: where it began, for a body that is not free.
inline double angle_off(const body::Motion<2>& is, double wanted) {
  return std::abs(is.angle - wanted);
}
inline double angle_off(const body::Motion<3>& is, const shape::Mat<3>& wanted) {
  return std::max(std::abs(is.turn.norm() - 1.0), (matrix_of(is) - wanted).norm());
}
inline double angle_of(const body::Motion<2>& m) { return m.angle; }
inline shape::Mat<3> angle_of(const body::Motion<3>& m) { return matrix_of(m); }

/// How far a free body's rotation in space ends from R⁺ = R exp(½h(Ω + Ω⁺)).
inline double turn_off(const body::Body<3>& body, const body::Motion<3>& from,
                       const body::Motion<3>& to, double h) {
  if (body.is_even) {
    const body::Vec<3> by = 0.5 * h * (from.spin + to.spin);
    return angle_off(to, rotation_by(by) * matrix_of(from));
  }
  const BodyTurn turn = turn_of(body, from, to);
  return angle_off(to, turn.from * rotation_by(h * turn.mean));
}

/// Whether a body that does not spin ends as it was turned, a unit quaternion to rounding.
inline bool is_turned_alike(const body::Motion<3>& from, const body::Motion<3>& to) {
  return to.turn.coeffs() == from.turn.coeffs() &&
         std::abs(to.turn.squaredNorm() - 1.0) <= 8.0 * kRoundoff;
}

/// |ω|² and m · ω.
inline double square_of(double spin) { return spin * spin; }
inline double square_of(const body::Vec<3>& spin) { return spin.squaredNorm(); }
inline double power_of(double moment, double spin) { return moment * spin; }
inline double power_of(const body::Vec<3>& moment, const body::Vec<3>& spin) {
  return moment.dot(spin);
}

}  // namespace ricochet::certify
