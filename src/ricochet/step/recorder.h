#pragma once

#include <algorithm>
#include <span>
#include <type_traits>
#include <vector>

#include "ricochet/base/clock.h"
#include "ricochet/certify/judge.h"
#include "ricochet/model/model.h"
#include "ricochet/problem/report.h"
#include "ricochet/step/outcome.h"
#include "ricochet/step/settings.h"

namespace ricochet::step {
namespace detail {

inline certify::Failure failure_of(problem::Status status) {
  switch (status) {
    case problem::Status::Solved: return certify::Failure::None;
    case problem::Status::Infeasible: return certify::Failure::Infeasible;
    case problem::Status::IterationLimit: return certify::Failure::NoSolution;
    case problem::Status::Degenerate: return certify::Failure::Degenerate;
    case problem::Status::SingularMass: return certify::Failure::SingularMass;
    case problem::Status::NoConvergence: return certify::Failure::NoConvergence;
    case problem::Status::Jammed: return certify::Failure::Jammed;
    case problem::Status::BadFriction: return certify::Failure::BadFriction;
  }
  return certify::Failure::NoSolution;
}

template <class V>
std::span<const double> view(const V& v) {
  return {v.data(), static_cast<std::size_t>(v.size())};
}

/// Refers to a function that sees samples, whatever its type; it must outlive this.
class ObserverRef {
 public:
  template <class F>
  requires(!std::is_same_v<std::remove_cv_t<F>, ObserverRef>) explicit ObserverRef(F& f)
      : object_(const_cast<void*>(static_cast<const void*>(&f))),
        call_([](void* object, const Sample& sample) { (*static_cast<F*>(object))(sample); }) {}
  void operator()(const Sample& sample) const { call_(object_, sample); }

 private:
  void* object_;
  void (*call_)(void*, const Sample&);
};

/// What samples tell of friction; nothing where the model has none.
template <model::Model M, int T = M::kSlips>
class SlipSamples {
 public:
  explicit SlipSamples(const M& model) {
    const int contacts = model.contacts() - model.joints();
    bool exists = false;
    for (int a = 0; a < contacts; ++a) exists = exists || model.slips(a) > 0;
    if (!exists) return;
    const auto count = static_cast<std::size_t>(contacts);
    tangential_.assign(2 * count, 0.0);
    slips_.assign(2 * count, 0.0);
    states_.assign(count, 0.0);
  }

  template <class TheClaim>
  void add(const M& model, const TheClaim& claim) {
    if (states_.empty()) return;
    const int contacts = claim.active.size() - model.joints();
    for (int k = 0; k < contacts; ++k) {
      const int a = claim.active[k];
      for (int j = 0; j < model.slips(a); ++j) {
        tangential_[static_cast<std::size_t>(2 * a + j)] += claim.tangential[T * k + j];
      }
    }
  }

  void tell(certify::Judge<M>& judge, const model::StateOf<M>& now, Sample& sample) {
    judge.tell_friction(now, slips_, states_);
    sample.tangential = tangential_;
    sample.slips = slips_;
    sample.states = states_;
  }
  void clear() { std::fill(tangential_.begin(), tangential_.end(), 0.0); }

 private:
  std::vector<double> tangential_;
  std::vector<double> slips_;
  std::vector<double> states_;
};

template <model::Model M>
class SlipSamples<M, 0> {
 public:
  explicit SlipSamples(const M&) {}
  template <class TheClaim>
  void add(const M&, const TheClaim&) {}
  void tell(certify::Judge<M>&, const model::StateOf<M>&, Sample&) {}
  void clear() {}
};

}  // namespace detail

/// What a run keeps besides its motion: the judge, the rows, and the count of steps. Whoever makes
/// pieces of motion hands each to `accept`, and tells when a step is done. What is long is defined
/// below: it is compiled once for a model, see `shared.h`.
template <model::Model M>
class Recorder {
 public:
  using State = model::StateOf<M>;
  using TheClaim = certify::Claim<M::kDofs, M::kContacts, M::kSlips>;

  Recorder(const M& model, const certify::Method& method, const RunSettings& run,
           const State& start, detail::ObserverRef observe, Monitor* monitor = nullptr);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  certify::Judge<M>& judge() { return judge_; }
  bool ok() const { return judge_.certificate().ok(); }
  long long steps() const { return outcome_.steps; }

  /// A piece of motion from `before` to `after`, of that integrator; `unique` is false when other
  /// impulses give the same motion. False when it does not hold what it claims.
  template <certify::Integrator I>
  [[gnu::always_inline]] bool accept(const State& before, const State& after, double h,
                                     const TheClaim& claim, bool unique) {
    if (!certifies_) return true;
    if (!judge_.template check<I>(before, after, h, claim)) return false;
    if (!unique) [[unlikely]]
      judge_.note_ambiguity();
    add(claim);
    return true;
  }

  /// What contacts that last push over a piece that was accepted, by Simpson's rule.
  void add_reactions(const certify::ArcReactions<M::kContacts>& reactions, double h);

  /// Whether a solver found what it looked for; else the run has failed.
  bool is_solved(const problem::Report& report, double t) {
    if (report.status == problem::Status::Solved) [[likely]]
      return true;
    judge_.fail(detail::failure_of(report.status), t);
    return false;
  }

  /// A step of the run is done, and `now` is where it ended.
  [[gnu::always_inline]] void finish_step(const State& now) {
    ++outcome_.steps;
    if (every_ > 0 && --until_row_ == 0) {
      show(now);
      until_row_ = every_;
    }
  }
  /// Steps that were made and judged elsewhere.
  void skip_to(long long steps) { outcome_.steps = steps; }
  void count_solver(const problem::Report& report, double t) {
    if (!report.general && !report.several && !report.shared) [[likely]]
      return;
    if (report.shared && outcome_.shared_steps++ == 0) outcome_.shared_time = t;
    if (report.several && outcome_.several_steps++ == 0) outcome_.several_time = t;
    if (!report.general) return;
    ++outcome_.general_steps;
    if (report.unlooked) ++outcome_.unlooked_steps;
    if (report.fell_back) ++outcome_.fallback_steps;
  }

  /// Between two pieces: tells how far the run is, and hears whether it is to stop.
  bool is_stopped(long long progress) {
    if (monitor_ == nullptr) return false;
    monitor_->steps.store(progress, std::memory_order_relaxed);
    outcome_.interrupted = monitor_->stop.load(std::memory_order_relaxed);
    return outcome_.interrupted;
  }

  /// A row now, unless it is there already.
  void add_row(const State& now) {
    if (certifies_ && outcome_.steps != row_at_) show(now);
  }

  /// The last row, and what there is to say of the run. `end` is left ready to go on from.
  Outcome finish(State& end);
  Outcome& outcome() { return outcome_; }

 private:
  [[gnu::always_inline]] void add(const TheClaim& claim) {
    for (int k = 0; k < claim.active.size(); ++k) {
      impulses_[claim.active[k]] += claim.impulses[k];
      pushes_[claim.active[k]] += claim.impulses[k] > 0.0 ? 1.0 : 0.0;
    }
    slips_.add(model_, claim);
  }

  [[gnu::noinline]] void show(const State& state);

  const M& model_;
  Monitor* monitor_;
  base::Stopwatch clock_;
  certify::Judge<M> judge_;
  detail::SlipSamples<M> slips_;
  detail::ObserverRef observe_;
  bool certifies_;
  long long every_;
  long long until_row_;
  long long row_at_{0};                   // steps at the last row
  model::Vector<M::kContacts> impulses_;  // since the last row
  model::Vector<M::kContacts> pushes_;    // steps since then in which each contact pushed
  Outcome outcome_;
  Sample sample_;  // what the observer is shown
};

template <model::Model M>
Recorder<M>::Recorder(const M& model, const certify::Method& method, const RunSettings& run,
                      const State& start, detail::ObserverRef observe, Monitor* monitor)
    : model_(model),
      monitor_(monitor),
      judge_(model, method, run.limits, start),
      slips_(model),
      observe_(observe),
      certifies_(run.certify),
      every_(run.certify ? run.record_every : 0),
      until_row_(every_),
      impulses_(model::Vector<M::kContacts>::Zero(model.contacts())),
      pushes_(impulses_) {
  outcome_.certified = certifies_;
  sample_.impulses = detail::view(impulses_);
  if (monitor != nullptr && monitor->on_event) judge_.open_events(monitor->on_event);
  if (certifies_) show(start);
}

template <model::Model M>
Recorder<M>::~Recorder() = default;

template <model::Model M>
void Recorder<M>::add_reactions(const certify::ArcReactions<M::kContacts>& reactions, double h) {
  impulses_ += h * (1.0 / 6.0) * reactions[0];
  impulses_ += h * (4.0 / 6.0) * reactions[2];
  for (int a = 0; a < pushes_.size(); ++a) pushes_[a] += reactions[2][a] > 0.0 ? 1.0 : 0.0;
  impulses_ += h * (1.0 / 6.0) * reactions[4];
}

template <model::Model M>
Outcome Recorder<M>::finish(State& end) {
  add_row(end);
  judge_.close_events();
  end.memory.at = end.t;
  judge_.remember(end.memory);
  outcome_.certificate = judge_.finish();
  const std::span<const double> gaps = detail::view(judge_.gaps(end));
  outcome_.gaps.assign(gaps.begin(), gaps.end());
  outcome_.wall_seconds = clock_.seconds();
  return std::move(outcome_);
}

template <model::Model M>
void Recorder<M>::show(const State& state) {
  Sample& sample = sample_;
  sample.step = outcome_.steps;
  sample.t = state.t;
  sample.q = detail::view(state.q);
  sample.u = detail::view(state.u);
  sample.gaps = detail::view(judge_.gaps(state));
  sample.kinetic = judge_.kinetic();
  sample.potential = judge_.potential();
  const long long steps = outcome_.steps - row_at_;
  if (steps > 1) {
    pushes_ = (pushes_ / static_cast<double>(steps)).cwiseMin(1.0);
    sample.pushed = detail::view(pushes_);
  } else {
    sample.pushed = {};
  }
  slips_.tell(judge_, state, sample);
  observe_(sample);
  row_at_ = outcome_.steps;
  impulses_.setZero();
  pushes_.setZero();
  slips_.clear();
}

}  // namespace ricochet::step
