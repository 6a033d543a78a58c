#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "ricochet/base/error.h"
#include "ricochet/base/quadrature.h"
#include "ricochet/certify/judge.h"

namespace ricochet::certify {

/// A percussion: at t the velocity jumps, J^T p being the momentum that contacts give.
template <int N, int K>
struct Atom {
  double t{0.0};
  Vector<N> before;    // u-
  Vector<N> after;     // u+
  Vector<K> impulses;  // p, by contact
};

/// A motion that no scheme made: q continuous, u of bounded variation, the reaction a measure, that
/// is a density and atoms. Between two instants q, u and the density are smooth.
template <int N, int K>
struct GivenMotion {
  std::vector<double> instants;  // increasing, from the begin of the motion to its end
  std::function<void(double t, Vector<N>& q, Vector<N>& u)> at{};
  std::function<void(double t, Vector<K>& r)> reaction{};  // by contact; empty: atoms alone
  std::vector<Atom<N, K>> atoms{};                         // in order, each at an instant
};

/// Judges a motion by the definition of the evolution problem:
///
///     q(b) - q(a) = int u dt,                                         for all a < b
///     [dT/du] from a+ to b- = int (dT/dq + Q + J^T r) dt,             between two atoms
///     M (u+ - u-) = J^T p,  p and u+ by the impact law of the model,  at an atom
///     g >= 0;   r >= 0 and p >= 0, and only where g = 0.
///
/// This is problem P1 of [Ballard 2013, par. 2] for a particle, problem P of [Paoli 2001, par. 1]
/// in general. Integrals are taken by Gauss-Legendre panels, halved until they settle; what they
/// are compared with is measured by the size of its own terms between the two instants, so that a
/// tiny piece of the motion is held to as many digits as a large one. Without friction and joints.
template <model::Model M>
class MotionJudge {
 public:
  static constexpr int N = M::kDofs;
  static constexpr int K = M::kContacts;
  using Vec = Vector<N>;
  using TheMotion = GivenMotion<N, K>;
  using TheAtom = Atom<N, K>;
  using TheClaim = Claim<N, K, M::kSlips>;

  /// `touching`: a gap within it is contact and no violation, in its unit.
  MotionJudge(const M& model, const TheMotion& motion, const Limits& limits, double touching)
      : model_(model),
        motion_(motion),
        limits_(limits),
        touching_(touching),
        place_(model.make_place()),
        all_(model.contacts()) {
    check_shape();
    certificate_.shock_counts.assign(static_cast<std::size_t>(model.contacts()), 0);
    for (int a = 0; a < model.contacts(); ++a) all_.push(a);
    for (Vec* v : {&q_, &u_, &work_, &slope_}) v->setZero(model.dofs());
    r_.setZero(model.contacts());
  }

  Certificate judge() {
    const std::vector<double>& instants = motion_.instants;
    for (std::size_t k = 0; k < instants.size() && certificate_.ok(); ++k) {
      check_instant(instants[k]);
      if (k + 1 < instants.size()) check_piece(instants[k], instants[k + 1]);
    }
    return certificate_;
  }

 private:
  /// Integrals over a piece of the motion, and the sizes of what they sum up.
  struct Integrals {
    Vec way;       // int u dt
    Vec momentum;  // int (dT/dq + Q + J^T r) dt
    double way_size{0.0};
    double momentum_size{0.0};
  };

  void check_shape() const {
    if (model_.joints() > 0 || has_friction()) {
      throw base::InputError("motion", "friction and joints cannot be judged here",
                             "leave them out");
    }
    const std::vector<double>& instants = motion_.instants;
    if (instants.size() < 2 || std::adjacent_find(instants.begin(), instants.end(),
                                                  std::greater_equal<>()) != instants.end()) {
      throw base::InputError("motion.instants", "are not two or more, one after the other",
                             "give the begin, every instant at which something changes, the end");
    }
    const auto earlier = [](const TheAtom& a, const TheAtom& b) { return a.t < b.t; };
    for (std::size_t k = 1; k < motion_.atoms.size(); ++k) {
      if (!earlier(motion_.atoms[k - 1], motion_.atoms[k])) {
        throw base::InputError("motion.atoms", "are not one after the other",
                               "sort them by time, and sum up those at one instant");
      }
    }
    for (const TheAtom& atom : motion_.atoms) {
      if (!std::binary_search(instants.begin(), instants.end(), atom.t)) {
        throw base::InputError("motion.atoms", "one is at no instant of the motion",
                               "add its time to the instants");
      }
    }
  }

  bool has_friction() const {
    if constexpr (M::kSlips > 0) {
      for (int a = 0; a < model_.contacts(); ++a) {
        if (model_.slips(a) > 0) return true;
      }
    }
    return false;
  }

  void fail(Failure failure, double t, int contact, double value) {
    if (!certificate_.ok()) return;  // the first one counts
    certificate_.failure = failure;
    certificate_.failure_time = t;
    certificate_.failure_contact = contact;
    certificate_.failure_value = value;
  }

  const TheAtom* atom_at(double t) const {
    const auto found = std::find_if(motion_.atoms.begin(), motion_.atoms.end(),
                                    [&](const TheAtom& atom) { return atom.t == t; });
    return found == motion_.atoms.end() ? nullptr : &*found;
  }

  /// The percussion there; or no approach of a contact, which would have to be answered by one.
  void check_instant(double t) {
    motion_.at(t, q_, u_);
    model_.gaps(t, q_, place_);
    model_.gradients(all_, place_);
    check_gaps(t);
    const TheAtom* atom = atom_at(t);
    if (atom != nullptr) return check_atom(*atom);
    for (int a = 0; a < model_.contacts(); ++a) {
      const double rounding = 1e-12 * place_.normals.norm(a) * u_.norm();
      const double U = place_.normals.dot(a, u_) + place_.rate[a];
      if (touches(a) && U < -rounding) fail(Failure::Residual, t, a, U);
    }
  }

  /// As the impact of a step that takes no time: everything is recomputed by the judge of steps.
  void check_atom(const TheAtom& atom) {
    TheClaim claim(model_.contacts());
    claim.piece = Piece::Impact;
    for (int a = 0; a < model_.contacts(); ++a) {
      const double p = atom.impulses[a];
      if (!touches(a)) {
        if (p != 0.0) return fail(Failure::ActiveSet, atom.t, a, place_.gap[a]);
        continue;
      }
      claim.impulses[claim.active.size()] = p;
      claim.active.push(a);
    }
    if constexpr (model::ImpactModel<M>) claim.lawful = claim.impulses;
    Limits limits = limits_;
    limits.touching_gap = touching_;
    const model::State<N> before{atom.t, q_, atom.before};
    const model::State<N> after{atom.t, q_, atom.after};
    // A motion has few atoms, far apart in energy: each has a judge of its own.
    Judge<M> judge(model_, {.integrator = Integrator::Arcs}, limits, before);
    (void)judge.template check<Integrator::Arcs>(before, after, 0.0, claim);
    enter_impact(judge.finish());
  }

  void enter_impact(const Certificate& impact) {
    Certificate& c = certificate_;
    fail(impact.failure, impact.failure_time, impact.failure_contact, impact.failure_value);
    c.residual_max = std::max(c.residual_max, impact.residual_max);
    c.balance_max = std::max(c.balance_max, impact.balance_max);
    c.ledger.contacts.add(impact.ledger.contacts.value());
    for (const Shock& shock : impact.shocks) {
      ++c.shock_counts[static_cast<std::size_t>(shock.contact)];
      if (c.shocks.size() < Certificate::kMostShocks) c.shocks.push_back(shock);
    }
  }

  bool touches(int a) {
    return model_.exists(a, place_) && (model_.touches(a, place_) || place_.gap[a] <= touching_);
  }

  /// q and dT/du at the ends, against the integrals between them.
  void check_piece(double a, double b) {
    take_end(a, true);
    const Vec q = q_;
    const Vec momentum = work_;
    take_end(b, false);
    const Vec way = q_ - q;
    const Vec jump = work_ - momentum;
    const double tiny = std::numeric_limits<double>::min();
    const double rounding = 4.0 * std::numeric_limits<double>::epsilon() * (q.norm() + q_.norm());
    const double size = momentum.norm() + work_.norm() + tiny;
    Integrals sums;
    if (!integrate(a, b, size, sums)) return;
    enter(((way - sums.way).norm() - rounding) / (sums.way_size + tiny), Failure::Kinematics, b);
    enter((jump - sums.momentum).norm() / (size + sums.momentum_size), Failure::Balance, b);
  }

  /// q and dT/du just after t, or just before, in q_ and work_.
  void take_end(double t, bool after) {
    motion_.at(t, q_, u_);
    if (const TheAtom* atom = atom_at(t)) u_ = after ? atom->after : atom->before;
    model_.momentum(q_, u_, place_, work_, slope_);
  }

  void enter(double relative, Failure kind, double t) {
    if (!(relative <= limits_.balance)) fail(kind, t, -1, relative);
    certificate_.balance_max = std::max(certificate_.balance_max, relative);
  }

  /// Twice as many panels until nothing changes, momenta being of that size.
  bool integrate(double a, double b, double size, Integrals& sums) {
    constexpr int kMostPanels = 4096;
    Integrals coarse;
    sum_panels(a, b, 1, coarse);
    for (int panels = 2; panels <= kMostPanels; panels *= 2) {
      sum_panels(a, b, panels, sums);
      if (!certificate_.ok()) return false;
      const double goal = 0.1 * limits_.balance;
      if ((sums.way - coarse.way).norm() <= goal * sums.way_size &&
          (sums.momentum - coarse.momentum).norm() <= goal * (size + sums.momentum_size)) {
        return true;
      }
      coarse = sums;
    }
    fail(Failure::NoConvergence, b, -1, 0.0);
    return false;
  }

  void sum_panels(double a, double b, int panels, Integrals& sums) {
    sums = {Vec::Zero(model_.dofs()), Vec::Zero(model_.dofs()), 0.0, 0.0};
    base::for_gauss_points(a, b, panels,
                           [&](double t, double weight) { add_point(t, weight, sums); });
  }

  void add_point(double t, double weight, Integrals& sums) {
    motion_.at(t, q_, u_);
    sums.way += weight * u_;
    sums.way_size += weight * u_.norm();
    model_.momentum(q_, u_, place_, work_, slope_);
    model_.force(t, q_, u_, place_, work_);
    sums.momentum_size += weight * (work_.norm() + slope_.norm());
    sums.momentum += weight * (work_ + slope_);
    model_.gaps(t, q_, place_);
    check_gaps(t);
    if (!motion_.reaction) return;
    motion_.reaction(t, r_);
    model_.gradients(all_, place_);
    for (int a = 0; a < model_.contacts(); ++a) {
      if (r_[a] < 0.0) fail(Failure::Residual, t, a, r_[a]);
      if (r_[a] > 0.0 && !touches(a)) fail(Failure::ActiveSet, t, a, place_.gap[a]);
      place_.normals.add_to(a, weight * r_[a], sums.momentum);
      sums.momentum_size += std::abs(weight * r_[a]) * place_.normals.norm(a);
    }
  }

  void check_gaps(double t) {
    Certificate& c = certificate_;
    for (int a = 0; a < model_.contacts(); ++a) {
      const double depth = model_.exists(a, place_) ? -place_.gap[a] : 0.0;
      if (std::isnan(depth)) fail(Failure::NotFinite, t, a, depth);
      if (depth > c.violation_max) {
        c.violation_max = depth;
        c.violation_time = t;
        c.violation_contact = a;
      }
      if (depth > touching_) fail(Failure::Violation, t, a, depth);
    }
  }

  const M& model_;
  const TheMotion& motion_;
  Limits limits_;
  double touching_;
  typename M::Place place_;
  model::IndexList<K> all_;
  Certificate certificate_;
  Vec q_;
  Vec u_;
  Vec work_;
  Vec slope_;
  Vector<K> r_;
};

/// The certificate of a motion: `ok`, or the first thing that is not as it has to be.
template <model::Model M>
Certificate certify_motion(const M& model, const GivenMotion<M::kDofs, M::kContacts>& motion,
                           const Limits& limits = {}, double touching = 0.0) {
  return MotionJudge<M>(model, motion, limits, touching).judge();
}

}  // namespace ricochet::certify
