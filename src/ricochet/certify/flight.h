#pragma once

#include "ricochet/certify/arc_memory.h"

/// A flight is a long arc of free motion, of which the scheme tells its states at the points of
/// `FlightRule` too. With a at all of them both equations are checked up to each, and a at further
/// places against the polynomial through the others.
namespace ricochet::certify {

/// The states of a flight at all points of the rule, and accelerations there.
template <model::Model M>
bool take_flight(Context<M>& c, Trial<M>& s, ArcMemory<M>& arc) {
  const FlightRule& rule = flight_rule();
  constexpr std::size_t kEnd = FlightRule::kNodes - 1;
  const auto n = static_cast<Eigen::Index>(c.model.dofs());
  arc.q[kEnd] = s.after.q;
  arc.u[kEnd] = s.after.u;
  const double* next = s.claim.flight;
  for (std::size_t i = 1; i < kEnd; ++i) {
    for (Eigen::Index k = 0; k < n; ++k) arc.q[i][k] = *next++;
    for (Eigen::Index k = 0; k < n; ++k) arc.u[i][k] = *next++;
  }
  for (std::size_t i = 0; i <= kEnd; ++i) {
    if (!accelerate(c, s, arc, i, rule.points[i], rule.once[i][kEnd])) return false;
  }
  return true;
}

inline constexpr double kWorst = std::numeric_limits<double>::infinity();

/// The motion of coordinate k: both integrals of its acceleration up to each point, and its path.
template <model::Model M>
void check_flight_of(Context<M>& c, Trial<M>& s, ArcMemory<M>& arc, Eigen::Index k,
                     const FlightRule::Row& a) {
  const FlightRule& rule = flight_rule();
  const auto i = static_cast<std::size_t>(k);
  const double q0 = s.before.q[k], u0 = s.before.u[k], h = s.h;
  const double rounding = 8.0 * kEpsilon * s.work[k];
  const auto take = [](double error, double& worst) {
    if (!(error <= worst)) worst = std::isnan(error) ? kWorst : error;
  };
  double off_u = 0.0, off_q = 0.0;
  const FlightRule::Row once = rule.apply(rule.once, a), twice = rule.apply(rule.twice, a);
  for (std::size_t node = 1; node < FlightRule::kNodes; ++node) {
    const double du = arc.u[node][k] - u0 - h * once[node];
    const double dq = (arc.q[node][k] - q0) - h * (rule.points[node] * u0 + h * twice[node]);
    take(std::abs(du), off_u);
    take(std::abs(dq) - rounding, off_q);
  }
  off_u /= arc.known.u[i];
  off_q /= arc.known.q[i];
  if (!(off_u <= arc_limit(c, arc))) c.fail(Failure::Balance, s.before.t, -1, off_u);
  if (!(off_q <= arc_limit(c, arc))) c.fail(Failure::Kinematics, s.before.t, -1, off_q);
  s.arc = std::max({s.arc, off_u, off_q});
  const FlightRule::Row powers = rule.powers_of(a);
  arc.path.powers(k)[1] = h * u0;
  for (std::size_t power = 0; power < FlightRule::kNodes; ++power) {
    const auto order = static_cast<double>(power);
    arc.path.powers(k)[power + 2] = h * h * powers[power] / ((order + 1.0) * (order + 2.0));
  }
}

/// The same of a flight, at every point; and whether these points are enough.
template <model::Model M>
void check_flight(Context<M>& c, Trial<M>& s, ArcMemory<M>& arc) {
  if (!arc.flies || s.claim.reactions != nullptr) return c.fail(Failure::ActiveSet, s.before.t);
  if (!take_flight(c, s, arc)) return;
  constexpr std::size_t kNodes = FlightRule::kNodes;
  const FlightRule& rule = flight_rule();
  const auto n = static_cast<Eigen::Index>(c.model.dofs());
  arc.path.open(s.before.t, s.h, s.before.q, kNodes + 1);
  model::difference_size(c.model, s.before.q, s.work);
  s.arc = 0.0;
  FlightRule::Row a;
  const auto take = [&](Eigen::Index k) {
    for (std::size_t j = 0; j < kNodes; ++j) a[j] = arc.a[j][k];
  };
  for (Eigen::Index k = 0; k < n; ++k) {
    take(k);
    check_flight_of(c, s, arc, k, a);
  }
  if (!c.certificate.ok()) return;
  for (std::size_t b = 0; b < FlightRule::kBetween; ++b) {
    const std::size_t node = kNodes + b;
    arc.path.at(rule.tried[b], arc.q[node], arc.u[node]);
    if (!accelerate(c, s, arc, node, rule.tried[b], 0.0)) return;
    for (Eigen::Index k = 0; k < n; ++k) {
      take(k);
      double off = arc.a[node][k];
      for (std::size_t j = 0; j < kNodes; ++j) off -= rule.values[b][j] * a[j];
      const double part = s.h * std::abs(off) / arc.known.u[static_cast<std::size_t>(k)];
      if (!(part <= c.limits.arc * c.method.accuracy))
        c.fail(Failure::Balance, s.before.t, -1, part);
    }
  }
}

}  // namespace ricochet::certify
