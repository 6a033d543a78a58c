#pragma once

#include "ricochet/model/chord.h"
#include "ricochet/step/arc_base.h"

namespace ricochet::step {

/// A motion of affine velocity from impact to impact or to the end of a step, of length h, with the
/// mean velocity v and mean gradients J along its chord:
///
///   q+ = q + h v,   P+ - P = h F + J^T p,   0 <= p,  J v + dg/dt >= 0,  p (J v + dg/dt) = 0
///
/// for contacts that last (J v + dg/dt = 0 for joints), so that g+ = g where p > 0.
///
///   of forces:  v = (u + u+)/2,  P = M(q_M) u,  F = (Q - c)(t_M, q_M, v),  q_M = q + h/2 u
///   of energy:  v = (M(q)^-1 + M(q+)^-1)/2 (P + P+)/2,  P = M(q) u,  F of `model::Chord` at
///               q + h/2 v: the change of T + V is the work of all other forces, to rounding.
template <model::Model M, bool kConserves>
class SplitArc : public ArcBase<M> {
  using Base = ArcBase<M>;
  using Base::end_, Base::held_, Base::model_, Base::path_, Base::sizes_, Base::time_,
      Base::trial_sizes_, Base::w_;

 public:
  static constexpr bool kAdapts = false;
  using Vec = typename Base::Vec;
  using State = typename Base::State;
  using Reactions = certify::ArcReactions<M::kContacts>;

  SplitArc(const M& model, const State& start, Workspace<M>& w)
      : Base(model, start, w),
        chord_(model, start.q, start.u),
        acceleration_(start.u),
        mean_(start.u),
        momentum_(start.u),
        end_momentum_(start.u),
        change_(start.u),
        start_place_(model.make_place()),
        rows_(model.contacts()),
        impulses_(model::Vector<M::kContacts>::Zero(model.contacts())) {}

  /// The acceleration at the start, without contacts.
  problem::Report open(const State& s, double time) {
    time_ = time;
    if (!model_.load_mass(s.q, w_.place)) return {.status = problem::Status::SingularMass};
    model::applied_force(model_, s.t, s.q, s.u, w_.place, w_.force);
    model_.mass(w_.place).solve(w_.force, acceleration_);
    return {};
  }
  double closing(const State& s, int a) { return this->closing_by(s, a, acceleration_); }

  /// One arc of length h from `s`.
  problem::Report advance_by(const State& s, double h, double& error) {
    error = 0.0;
    if (!begin(s, h)) return {.status = problem::Status::SingularMass};
    const bool repeats = kConserves || depends_on_velocity(model_) || !rows_.empty();
    double size = 0.0;
    for (int i = 0; i < kMostRounds; ++i) {
      w_.last = mean_;
      const problem::Report report = repeat(s, h);
      if (report.status != problem::Status::Solved) return report;
      size = s.u.cwiseAbs().sum() + w_.free.cwiseAbs().sum();
      if (kConserves && chord_.noise() > 0.0) {
        model_.mass(w_.place).apply(w_.free, change_);
        size += chord_.noise() / kRound * w_.free.cwiseAbs().sum() / change_.cwiseAbs().sum();
      }
      for (const int a : rows_) {
        size += chord_.row_noise(a) / (kRound * w_.place.normals.norm(a));
      }
      if (!repeats || (i > 0 && is_settled(mean_, w_.last, size))) return finish(s, h);
    }
    const problem::Report report = is_close(mean_, w_.last, size);
    return report.status == problem::Status::Solved ? finish(s, h) : report;
  }

  /// Positions between the ends of the last arc.
  problem::Report complete(const State& s, double h, Reactions&, double& error, int& stray) {
    error = 0.0;
    stray = -1;
    change_ = (end_.u - s.u) / h;
    w_.response.setZero();
    if (varies()) w_.response = 6.0 / h * (mean_ - 0.5 * (s.u + end_.u));  // then q is cubic in t
    path_.set(s.t, h, s.q, s.u, change_ + w_.response, end_.q, end_.u, change_ - w_.response);
    return {};
  }

  void claim(bool) {
    for (int k = 0; k < rows_.size(); ++k) {
      w_.claim.active.push(rows_[k]);
      w_.claim.impulses[k] = impulses_[k];
    }
  }

  /// The last arc is made: contacts that push last.
  void keep() {
    Base::keep();
    held_.clear();
    for (int k = 0; k < rows_.size(); ++k) {
      if (!this->is_joint(rows_[k]) && impulses_[k] > 0.0) held_.push(rows_[k]);
    }
  }

 private:
  static constexpr double kRound = 8.0 * std::numeric_limits<double>::epsilon();

  bool varies() const { return kConserves && !model_.has_constant_mass(); }

  /// Contacts that last, and joints, in order; momentum and velocity of the start.
  bool begin(const State& s, double h) {
    time_ = h;
    rows_.clear();
    if (!held_.empty()) model_.gaps(s.t, s.q, w_.place);
    for (int a = 0; a < model_.contacts(); ++a) {
      const bool held = std::find(held_.begin(), held_.end(), a) != held_.end();
      if ((held && model_.exists(a, w_.place)) || this->is_joint(a)) rows_.push(a);
    }
    impulses_.setZero();
    mean_ = s.u;
    if constexpr (kConserves) {
      if (!varies()) return true;
      model_.momentum(s.q, s.u, w_.place, momentum_, w_.slope);
      end_momentum_ = momentum_;
      return model_.load_mass(s.q, start_place_);
    } else {
      model_.advance(s.q, s.u, 0.5 * h, w_.q_mid);
      return model_.load_mass(w_.q_mid, w_.place);
    }
  }

  /// One round of the fixed point for the mean velocity.
  problem::Report repeat(const State& s, double h) {
    chord_.set(s.t, h, s.q, mean_);
    if (varies()) return repeat_varying(s, h);
    if constexpr (kConserves) {
      chord_.take_force(mean_, mean_, mean_, 0.0, w_.place, w_.force);
    } else {
      model::applied_force(model_, chord_.time(), w_.q_mid, mean_, w_.place, w_.force);
    }
    model_.mass(w_.place).solve(w_.force, w_.free);
    w_.free = s.u + 0.5 * h * w_.free;
    if (!rows_.empty()) chord_.take_rows(rows_, w_.place);
    return push_rows();
  }

  /// The same by momenta. Impulses act through the mass at the middle, and what that is off by is
  /// taken from the round before.
  problem::Report repeat_varying(const State& s, double h) {
    if (!model_.load_mass(chord_.middle(), w_.place) ||
        !model_.load_mass(chord_.end(), w_.joint_place)) {
      return {.status = problem::Status::SingularMass};
    }
    model_.mass(w_.joint_place).solve(end_momentum_, w_.response);
    const double growth = 0.5 * (end_momentum_.dot(w_.response) - momentum_.dot(s.u));
    chord_.take_slope(momentum_, end_momentum_, w_.place, w_.slope);
    change_ = end_momentum_ - momentum_;
    chord_.take_force(mean_, w_.slope, change_, growth, w_.place, w_.force);
    gather_rows();
    change_ = momentum_ + 0.5 * h * w_.force + 0.5 * w_.gathered;
    model_.mass(start_place_).solve(change_, w_.free);
    model_.mass(w_.joint_place).solve(change_, w_.response);
    w_.free = 0.5 * (w_.free + w_.response);
    model_.mass(w_.place).solve(w_.gathered, w_.response);
    w_.free -= 0.5 * w_.response;
    const problem::Report report = push_rows();
    gather_rows();
    end_momentum_ = momentum_ + h * w_.force + w_.gathered;
    return report;
  }

  /// J^T p.
  void gather_rows() {
    w_.gathered.setZero();
    if (rows_.empty()) return;
    chord_.take_rows(rows_, w_.place);
    for (int k = 0; k < rows_.size(); ++k) {
      w_.place.normals.add_to(rows_[k], impulses_[k], w_.gathered);
    }
  }

  /// v = v' + M^-1 J^T p/2.
  problem::Report push_rows() {
    mean_ = w_.free;
    if (rows_.empty()) return {};
    w_.claim.active = rows_;
    assemble(model_, w_, [&](int k, double& noise) {
      noise = 0.5 * kRound * w_.place.normals.abs_dot(rows_[k], w_.free);
      return contact_velocity(w_, rows_[k], w_.free);
    });
    const problem::Report report = w_.solver.solve(w_.problem, *w_.warm);
    w_.unique = report.unique;
    for (int k = 0; k < rows_.size(); ++k) {
      w_.claim.impulses[k] = w_.solver.impulse(k);
      impulses_[k] = 2.0 * w_.solver.impulse(k);
    }
    apply_impulses(model_, mean_, w_);
    return report;
  }

  problem::Report finish(const State& s, double h) {
    end_.t = s.t + h;
    model_.advance(s.q, mean_, h, end_.q);
    end_.u = 2.0 * mean_ - s.u;
    if (varies()) {
      if (!model_.load_mass(end_.q, w_.joint_place)) {
        return {.status = problem::Status::SingularMass};
      }
      model_.mass(w_.joint_place).solve(end_momentum_, end_.u);
    }
    trial_sizes_ = sizes_;
    model::grow(trial_sizes_, model_, w_.place, h, end_.q, s.u, end_.u, w_.force, w_.gathered,
                w_.response);
    return {};
  }

  model::Chord<M> chord_;
  Vec acceleration_;  // at the start
  Vec mean_;          // v
  Vec momentum_;      // P
  Vec end_momentum_;  // P+
  Vec change_;        // scratch
  typename M::Place start_place_;
  model::IndexList<M::kContacts> rows_;
  model::Vector<M::kContacts> impulses_;  // in the order of rows_
};

}  // namespace ricochet::step
