#include "ricochet/step/round_sweeps.h"

#include <algorithm>
#include <cmath>

#include "ricochet/base/index.h"
#include "ricochet/solve/contact_measure.h"

namespace ricochet::step {

using base::index;
namespace {

/// Rows are taken from so many places in turn: those that follow each other then seldom share a
/// body, and a processor need not wait for one to begin the next.
constexpr std::size_t kStreams = 16;

/// Whether an arm lies along n, but for rounding.
template <int D>
bool is_central(const body::Vec<D>& arm, const body::Vec<D>& n) {
  constexpr double kAside = 1e-13;
  const double along = arm.dot(n);
  return (arm - along * n).squaredNorm() <= kAside * kAside * along * along;
}

/// Nearest point of { |z_T| <= mu z_N }, n the axis.
template <int D>
body::Vec<D> nearest_in_cone(double mu, const body::Vec<D>& n, const body::Vec<D>& z) {
  const double normal = n.dot(z);
  const body::Vec<D> across = z - normal * n;
  const double slip = across.norm();
  if (normal >= 0.0 && slip <= mu * normal) return z;
  if (mu * slip <= -normal) return body::Vec<D>::Zero();
  const double part = (normal + mu * slip) / (1.0 + mu * mu);
  return part * n + (slip > 0.0 ? mu * part / slip : 0.0) * across;
}

/// Velocity of what is at n from the centre of a body that turns.
[[gnu::always_inline]] inline body::Vec<2> turned(double spin, const body::Vec<2>& n) {
  return spin * body::Vec<2>(-n[1], n[0]);
}
[[gnu::always_inline]] inline body::Vec<3> turned(const body::Vec<3>& spin, const body::Vec<3>& n) {
  return spin.cross(n);
}
double inertia_of(const body::Body<2>& body) { return body.inertia; }
double inertia_of(const body::Body<3>& body) { return body.inertia(0, 0); }

}  // namespace

/// u = q + what impulses make of it.
template <int D>
[[gnu::always_inline]] inline body::Vec<D> RoundSweeps<D>::velocity(const Contact& one,
                                                                    const Speed& a,
                                                                    const Speed& b) {
  const Spin turning = one.arm_a * a.spin - one.arm_b * b.spin;
  return one.free + (a.v - b.v) + turned(turning, one.n);
}

/// v += r/m, spin += arm n x r / I, and the opposite of b.
template <int D>
[[gnu::always_inline]] inline void RoundSweeps<D>::give_both(const Contact& one, double normal,
                                                             const Vec& tangential, Speed& a,
                                                             Speed& b) {
  const Vec r = normal * one.n + tangential;
  const Spin turning = body::moment(one.n, tangential);
  a.v += a.per_mass * r;
  b.v -= b.per_mass * r;
  a.spin += (one.arm_a * a.per_inertia) * turning;
  b.spin -= (one.arm_b * b.per_inertia) * turning;
}

template <int D>
void RoundSweeps<D>::add(const Problem& problem, int k, const Vec& impulse) {
  const body::Row<D>& row = problem.rows[index(k)];
  const auto at = static_cast<Eigen::Index>(D * k);
  Vec across = impulse;
  across[0] = 0.0;
  Contact one;
  one.n = row.normal;
  one.a = row.body_a;
  one.b = row.body_b;
  one.arm_a = row.arm_a.dot(row.normal);
  one.arm_b = row.arm_b.dot(row.normal);
  one.free = body::in_space(row, Vec(problem.free.template segment<D>(at)));
  one.normal = impulse[0];
  one.tangential = body::in_space(row, across);
  one.mu = problem.friction[index(k)];
  Speed& a = speeds_[index(one.a)];
  Speed& b = speeds_[index(one.b)];
  const double normal = a.per_mass + b.per_mass;
  one.inverse_n = 1.0 / normal;
  one.inverse_t = 1.0 / (normal + one.arm_a * one.arm_a * a.per_inertia +
                         one.arm_b * one.arm_b * b.per_inertia);
  one.row = k;
  contacts_.push_back(one);
  noise_.push_back(problem.noise[index(k)]);
}

template <int D>
bool RoundSweeps<D>::take(const Problem& problem, const Eigen::VectorXd& impulses) {
  contacts_.clear();
  noise_.clear();
  speeds_.resize(problem.world.bodies.size());
  for (const int k : problem.members) {
    const body::Row<D>& row = problem.rows[index(k)];
    for (const bool of_a : {true, false}) {
      const int i = of_a ? row.body_a : row.body_b;
      const body::Body<D>& body = problem.world.body(i);
      Speed& speed = speeds_[index(i)];
      speed = {};
      if (!body.is_free()) continue;
      if (!body.is_even || !is_central<D>(of_a ? row.arm_a : row.arm_b, row.normal)) return false;
      speed.per_mass = 1.0 / body.mass;
      speed.per_inertia = 1.0 / inertia_of(body);
    }
  }
  const std::size_t length = (problem.members.size() + kStreams - 1) / kStreams;
  for (std::size_t i = 0; i < length; ++i) {
    for (std::size_t at = i; at < problem.members.size(); at += length) {
      const int k = problem.members[at];
      const Vec r = impulses.template segment<D>(static_cast<Eigen::Index>(D * k));
      add(problem, k, solve::projected<D>(problem.friction[index(k)], r));
    }
  }
  noted_.clear();
  noted_.reserve(contacts_.capacity());
  act();
  return true;
}

template <int D>
void RoundSweeps<D>::act() {
  for (const Contact& one : contacts_) {
    for (const int i : {one.a, one.b}) {
      speeds_[index(i)].v.setZero();
      speeds_[index(i)].spin = body::Motion<D>{}.spin;
    }
  }
  for (const Contact& one : contacts_) {
    give_both(one, one.normal, one.tangential, speeds_[index(one.a)], speeds_[index(one.b)]);
  }
}

/// The closed form of one row; by how much its impulse changes, squared. A row that would slip if
/// it went as far as those that stick goes as far as those that slip.
template <int D>
[[gnu::always_inline]] inline double RoundSweeps<D>::relax(Contact& one, const Pace& pace) {
  Speed& a = speeds_[index(one.a)];
  Speed& b = speeds_[index(one.b)];
  const Vec u = velocity(one, a, b);
  const double along = one.n.dot(u);
  const Vec across = u - along * one.n;
  double normal = std::max(0.0, one.normal - pace.stick * one.inverse_n * along);
  Vec next = one.tangential - (pace.stick * one.inverse_t) * across;
  double most = one.mu * normal;
  if (next.squaredNorm() > most * most) {
    normal = std::max(0.0, one.normal - pace.slip * one.inverse_n * along);
    next = one.tangential - (pace.slip * one.inverse_t) * across;
    most = one.mu * normal;
    const double slip = next.squaredNorm();
    if (slip > most * most) next *= most / std::sqrt(slip);
  }
  const double change = normal - one.normal;
  const Vec changed = next - one.tangential;
  one.normal = normal;
  one.tangential = next;
  give_both(one, change, changed, a, b);
  return change * change + changed.squaredNorm();
}

template <int D>
void RoundSweeps<D>::sweep(const Pace& pace, double quiet) {
  std::size_t count = 0;
  noted_.resize(contacts_.size());
  for (std::size_t k = 0; k < contacts_.size(); ++k) {
    const double least = quiet * contacts_[k].inverse_t;
    const double change = relax(contacts_[k], pace);
    noted_[count] = static_cast<int>(k);  // without a branch: nobody can foretell it
    count += change > least * least ? 1U : 0U;
  }
  noted_.resize(count);
}

template <int D>
void RoundSweeps<D>::sweep_noted(const Pace& pace) {
  for (const int k : noted_) relax(contacts_[index(k)], pace);
}

template <int D>
typename RoundSweeps<D>::Seen RoundSweeps<D>::seen(std::size_t contact) const {
  const Contact& one = contacts_[contact];
  const double rho = double(D) / (1.0 / one.inverse_n + (D - 1.0) / one.inverse_t);
  const Vec u = velocity(one, speeds_[index(one.a)], speeds_[index(one.b)]);
  const double normal = one.n.dot(u);
  const Vec lifted = u + one.mu * (u - normal * one.n).norm() * one.n;
  const Vec r = one.impulse();
  const Vec off = r - nearest_in_cone<D>(one.mu, one.n, r - rho * lifted);
  return {one.row, off.norm() / rho - noise_[contact], normal};
}

template <int D>
typename RoundSweeps<D>::Size RoundSweeps<D>::measure() const {
  Size size;
  for (std::size_t k = 0; k < contacts_.size(); ++k) {
    const Contact& one = contacts_[k];
    const double rho = double(D) / (1.0 / one.inverse_n + (D - 1.0) / one.inverse_t);
    const auto parts = [&](const Vec& u) {  // (N, |T|), lifted by mu |T|
      const double normal = one.n.dot(u);
      const double slip = (u - normal * one.n).norm();
      return std::pair(normal + one.mu * slip, slip);
    };
    const Vec u = velocity(one, speeds_[index(one.a)], speeds_[index(one.b)]);
    const Vec r = one.impulse();
    const Vec lifted = u + one.mu * (u - one.n.dot(u) * one.n).norm() * one.n;
    const Vec off = r - nearest_in_cone<D>(one.mu, one.n, r - rho * lifted);
    const double creep = off.norm() / rho - noise_[k];
    const auto [asked_n, asked_t] = parts(one.free);
    const double asked = asked_n * asked_n + asked_t * asked_t;
    size.free += asked;
    size.impulse = std::max({size.impulse, r.norm(), rho * std::sqrt(asked)});
    if (!(creep <= 0.0)) {
      size.creep = std::max(size.creep, creep);
      size.distance = std::max(size.distance, rho * creep);
      size.squares += creep * creep;
    }
  }
  return size;
}

template <int D>
void RoundSweeps<D>::give(const Problem& problem, Eigen::VectorXd& impulses) const {
  constexpr double kNothing = 1e-100;  // [N s]: below, squares underflow and no cone is kept
  for (const Contact& one : contacts_) {
    auto r = impulses.template segment<D>(static_cast<Eigen::Index>(D * one.row));
    r.setZero();
    if (!(one.normal > kNothing)) continue;
    r = body::in_frame(problem.rows[index(one.row)], one.tangential);
    r[0] = one.normal;  // as it is: without friction nothing is left along the tangents
  }
}

template class RoundSweeps<2>;
template class RoundSweeps<3>;

}  // namespace ricochet::step
