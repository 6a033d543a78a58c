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
bool is_central(const body::Vec<3>& arm, const body::Vec<3>& n) {
  constexpr double kAside = 1e-13;
  const double along = arm.dot(n);
  return (arm - along * n).squaredNorm() <= kAside * kAside * along * along;
}

/// Nearest point of { |z_T| <= mu z_N }, n the axis.
body::Vec<3> nearest_in_cone(double mu, const body::Vec<3>& n, const body::Vec<3>& z) {
  const double normal = n.dot(z);
  const body::Vec<3> across = z - normal * n;
  const double slip = across.norm();
  if (normal >= 0.0 && slip <= mu * normal) return z;
  if (mu * slip <= -normal) return body::Vec<3>::Zero();
  const double part = (normal + mu * slip) / (1.0 + mu * mu);
  return part * n + (slip > 0.0 ? mu * part / slip : 0.0) * across;
}

}  // namespace

/// u = q + what impulses make of it.
[[gnu::always_inline]] inline RoundSweeps::Vec RoundSweeps::velocity(const Contact& one,
                                                                     const Speed& a,
                                                                     const Speed& b) {
  const Vec turning = one.arm_a * a.spin - one.arm_b * b.spin;
  return one.free + (a.v - b.v) + turning.cross(one.n);
}

/// v += r/m, spin += arm n x r / I, and the opposite of b.
[[gnu::always_inline]] inline void RoundSweeps::give_both(const Contact& one, double normal,
                                                          const Vec& tangential, Speed& a,
                                                          Speed& b) {
  const Vec r = normal * one.n + tangential;
  const Vec turning = one.n.cross(tangential);
  a.v += a.per_mass * r;
  b.v -= b.per_mass * r;
  a.spin += (one.arm_a * a.per_inertia) * turning;
  b.spin -= (one.arm_b * b.per_inertia) * turning;
}

void RoundSweeps::add(const Problem& problem, int k, const Vec& impulse) {
  const body::Row<3>& row = problem.rows[index(k)];
  const auto at = static_cast<Eigen::Index>(3 * k);
  const shape::Mat<3> frame = body::frame_of(row);
  Contact one;
  one.n = row.normal;
  one.a = row.body_a;
  one.b = row.body_b;
  one.arm_a = row.arm_a.dot(row.normal);
  one.arm_b = row.arm_b.dot(row.normal);
  one.free = frame * problem.free.segment<3>(at);
  one.normal = impulse[0];
  one.tangential = frame.rightCols<2>() * impulse.tail<2>();
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

bool RoundSweeps::take(const Problem& problem, const Eigen::VectorXd& impulses) {
  contacts_.clear();
  noise_.clear();
  speeds_.resize(problem.world.bodies.size());
  for (const int k : problem.members) {
    const body::Row<3>& row = problem.rows[index(k)];
    for (const bool of_a : {true, false}) {
      const int i = of_a ? row.body_a : row.body_b;
      const body::Body<3>& body = problem.world.body(i);
      Speed& speed = speeds_[index(i)];
      speed = {};
      if (!body.is_free()) continue;
      if (!body.is_even || !is_central(of_a ? row.arm_a : row.arm_b, row.normal)) return false;
      speed.per_mass = 1.0 / body.mass;
      speed.per_inertia = 1.0 / body.inertia(0, 0);
    }
  }
  const std::size_t length = (problem.members.size() + kStreams - 1) / kStreams;
  for (std::size_t i = 0; i < length; ++i) {
    for (std::size_t at = i; at < problem.members.size(); at += length) {
      const int k = problem.members[at];
      const body::Vec<3> r = impulses.segment<3>(static_cast<Eigen::Index>(3 * k));
      add(problem, k, solve::projected<3>(problem.friction[index(k)], r));
    }
  }
  noted_.clear();
  noted_.reserve(contacts_.capacity());
  act();
  return true;
}

void RoundSweeps::act() {
  for (const Contact& one : contacts_) {
    for (const int i : {one.a, one.b}) {
      speeds_[index(i)].v.setZero();
      speeds_[index(i)].spin.setZero();
    }
  }
  for (const Contact& one : contacts_) {
    give_both(one, one.normal, one.tangential, speeds_[index(one.a)], speeds_[index(one.b)]);
  }
}

/// The closed form of one row; by how much its impulse changes, squared. A row that would slip if
/// it went `part` of its way goes kSlips of it.
[[gnu::always_inline]] inline double RoundSweeps::relax(Contact& one, double part) {
  constexpr double kSlips = 1.1;
  Speed& a = speeds_[index(one.a)];
  Speed& b = speeds_[index(one.b)];
  const Vec u = velocity(one, a, b);
  const double along = one.n.dot(u);
  const Vec across = u - along * one.n;
  double normal = std::max(0.0, one.normal - part * one.inverse_n * along);
  Vec next = one.tangential - (part * one.inverse_t) * across;
  double most = one.mu * normal;
  if (next.squaredNorm() > most * most) {
    const double less = std::min(part, kSlips);
    normal = std::max(0.0, one.normal - less * one.inverse_n * along);
    next = one.tangential - (less * one.inverse_t) * across;
    most = one.mu * normal;
    const double slip = next.squaredNorm();
    if (slip > most * most) next *= most / std::sqrt(slip);
  }
  const double change = normal - one.normal;
  const Vec turned = next - one.tangential;
  one.normal = normal;
  one.tangential = next;
  give_both(one, change, turned, a, b);
  return change * change + turned.squaredNorm();
}

void RoundSweeps::sweep(double part, double quiet) {
  std::size_t count = 0;
  noted_.resize(contacts_.size());
  for (std::size_t k = 0; k < contacts_.size(); ++k) {
    const double least = quiet * contacts_[k].inverse_t;
    const double change = relax(contacts_[k], part);
    noted_[count] = static_cast<int>(k);  // without a branch: nobody can foretell it
    count += change > least * least ? 1U : 0U;
  }
  noted_.resize(count);
}

void RoundSweeps::sweep_noted(double part) {
  for (const int k : noted_) relax(contacts_[index(k)], part);
}

RoundSweeps::Size RoundSweeps::measure() const {
  Size size;
  for (std::size_t k = 0; k < contacts_.size(); ++k) {
    const Contact& one = contacts_[k];
    const double rho = 3.0 / (1.0 / one.inverse_n + 2.0 / one.inverse_t);
    const auto parts = [&](const Vec& u) {  // (N, |T|), lifted by mu |T|
      const double normal = one.n.dot(u);
      const double slip = (u - normal * one.n).norm();
      return std::pair(normal + one.mu * slip, slip);
    };
    const Vec u = velocity(one, speeds_[index(one.a)], speeds_[index(one.b)]);
    const Vec r = one.impulse();
    const Vec lifted = u + one.mu * (u - one.n.dot(u) * one.n).norm() * one.n;
    const Vec off = r - nearest_in_cone(one.mu, one.n, r - rho * lifted);
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

void RoundSweeps::give(const Problem& problem, Eigen::VectorXd& impulses) const {
  constexpr double kNothing = 1e-100;  // [N s]: below, squares underflow and no cone is kept
  for (const Contact& one : contacts_) {
    auto r = impulses.segment<3>(static_cast<Eigen::Index>(3 * one.row));
    r.setZero();
    if (one.normal > kNothing) r = body::in_frame(problem.rows[index(one.row)], one.impulse());
  }
}

}  // namespace ricochet::step
