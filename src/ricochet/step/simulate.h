#pragma once

#include <atomic>
#include <cmath>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "ricochet/base/clock.h"
#include "ricochet/certify/judge.h"
#include "ricochet/model/inline_model.h"
#include "ricochet/model/model.h"
#include "ricochet/step/billiard.h"
#include "ricochet/step/control.h"
#include "ricochet/step/elast.h"
#include "ricochet/step/inel.h"
#include "ricochet/step/settings.h"

namespace ricochet::step {

/// One recorded instant: what a row of a trajectory holds. Views into the run, valid during the
/// call only.
struct Sample {
  long long step{0};
  double t{0.0};
  std::span<const double> q;
  std::span<const double> u;
  std::span<const double> gaps;
  std::span<const double> impulses;  // of each contact, summed since the last sample
  double kinetic{0.0};
  double potential{0.0};
};

/// How a run ended.
struct Outcome {
  certify::Certificate certificate;
  bool interrupted{false};
  long long steps{0};  // done, all of them certified
  double wall_seconds{0.0};
  long long forced{0};       // pairs of steps that step control took in spite of their error
  std::vector<double> gaps;  // at the end
};

/// A run seen from another thread: asked to stop between two steps, and how far it is.
struct Monitor {
  std::atomic<bool> stop{false};
  std::atomic<long long> steps{0};
};

/// Runs a scheme on a model from `state`, which is left at the last certified instant.
///
/// `observe(sample)` is called for the start, every `record_every` steps and the end; the monitor
/// is looked at before every step, so that an interrupted run ends between steps.
template <model::Model M, class S, class Observer>
Outcome simulate(const M& model, const S& scheme, const RunSettings& run,
                 model::State<M::kDofs>& state, Observer&& observe, Monitor* monitor = nullptr);

namespace detail {

inline certify::Failure failure_of(problem::Status status) {
  switch (status) {
    case problem::Status::Solved: return certify::Failure::None;
    case problem::Status::Infeasible: return certify::Failure::Infeasible;
    case problem::Status::IterationLimit: return certify::Failure::NoSolution;
    case problem::Status::Degenerate: return certify::Failure::Degenerate;
    case problem::Status::SingularMass: return certify::Failure::SingularMass;
    case problem::Status::NoConvergence: return certify::Failure::NoConvergence;
  }
  return certify::Failure::NoSolution;
}

template <class V>
std::span<const double> view(const V& v) {
  return {v.data(), static_cast<std::size_t>(v.size())};
}

template <class S>
certify::Limits limits_for(certify::Limits limits) {
  limits.energy_is_watched = limits.energy_is_watched && S::kBalancesEnergy;
  limits.restitution = S::kRestitution;
  return limits;
}

}  // namespace detail

namespace detail {

/// A run on its way: the books, the rows, and whether to go on.
template <model::Model M, class S, class Observer>
class Course {
 public:
  using State = model::State<M::kDofs>;
  using TheClaim = certify::Claim<M::kDofs, M::kContacts>;

  Course(const M& model, const RunSettings& run, const State& start, Observer& observe,
         Monitor* monitor)
      : run_(run),
        observe_(observe),
        monitor_(monitor),
        judge_(model, limits_for<S>(run.limits), start),
        impulses_(model::Vector<M::kContacts>::Zero(model.contacts())),
        keeps_rows_(run.certify && run.record_every > 0),
        until_row_(run.record_every) {
    if (run.certify) show(start);
  }

  /// Between two steps: tells how far the run is, and hears whether it is to stop.
  bool goes_on(long long progress) {
    if (monitor_ == nullptr) return true;
    monitor_->steps.store(progress, std::memory_order_relaxed);
    outcome_.interrupted = monitor_->stop.load(std::memory_order_relaxed);
    return !outcome_.interrupted;
  }

  /// False when the step was not made.
  bool was_made(const problem::Report& report, double t) {
    if (report.status == problem::Status::Solved) [[likely]]
      return true;
    judge_.fail(failure_of(report.status), t);
    return false;
  }

  /// Enters a step that was made. False when it does not hold.
  [[gnu::always_inline]] bool enter(const State& before, const State& after, double h,
                                    const TheClaim& claim) {
    if (run_.certify) {
      if (!judge_.check(before, after, h, claim)) return false;
      for (int k = 0; k < claim.active.size(); ++k) {
        impulses_[claim.active[k]] += claim.impulses[k];
      }
    }
    ++outcome_.steps;
    if (keeps_rows_ && --until_row_ == 0) {
      show(after);
      until_row_ = run_.record_every;
    }
    return true;
  }

  Outcome finish(const State& last, long long forced) {
    const bool last_is_due = run_.certify && outcome_.steps > 0 &&
                             (run_.record_every == 0 || until_row_ != run_.record_every);
    if (last_is_due) show(last);
    outcome_.certificate = judge_.finish();
    outcome_.forced = forced;
    const std::span<const double> gaps = view(judge_.gaps());
    outcome_.gaps.assign(gaps.begin(), gaps.end());
    outcome_.wall_seconds = clock_.seconds();
    return std::move(outcome_);
  }

 private:
  void show(const State& state) {
    observe_(Sample{outcome_.steps, state.t, view(state.q), view(state.u), view(judge_.gaps()),
                    view(impulses_), judge_.kinetic(), judge_.potential()});
    impulses_.setZero();
  }

  base::Stopwatch clock_;
  const RunSettings& run_;
  Observer& observe_;
  Monitor* monitor_;
  Outcome outcome_;
  certify::Judge<M> judge_;
  model::Vector<M::kContacts> impulses_;  // since the last row
  bool keeps_rows_;
  long long until_row_;
};

/// Steps of one length: the i-th ends at start + i h.
template <model::Model M, class S, class C>
void fixed_steps(const M& model, const S& scheme, const RunSettings& run,
                 model::State<M::kDofs>& state, C& course) {
  Workspace<M> workspace(model, state.q);
  const double start_time = state.t;
  model::State<M::kDofs> other = state;
  model::State<M::kDofs>* now = &state;
  model::State<M::kDofs>* next = &other;
  for (long long i = 1; i <= run.steps && course.goes_on(i - 1); ++i) {
    next->t = start_time + static_cast<double>(i) * run.step;
    const problem::Report report = advance(scheme, model, *now, run.step, *next, workspace);
    if (!course.was_made(report, workspace.claim.t_mid)) break;
    if (!course.enter(*now, *next, run.step, workspace.claim)) break;
    std::swap(now, next);
  }
  if (now != &state) state = *now;
}

/// Pairs of steps of a length that step control chooses. Returns how many were forced.
template <model::Model M, class S, class C>
long long controlled_steps(const M& model, const S& scheme, const RunSettings& run,
                           model::State<M::kDofs>& state, C& course) {
  ControlledPair<M, S> pair(model, scheme, run.control, run.step, state);
  const double start_time = state.t;
  const double end_time = start_time + std::abs(run.end_time - run.start_time);
  while (state.t < end_time - 1e-6 * run.control.smallest &&
         course.goes_on(static_cast<long long>((state.t - start_time) / run.step))) {
    const problem::Report report = pair.advance_from(state, end_time);
    if (!course.was_made(report, state.t)) break;
    const double h = pair.half_length();
    if (!course.enter(state, pair.middle(), h, pair.first_claim())) break;
    const bool holds = course.enter(pair.middle(), pair.end(), h, pair.second_claim());
    state = holds ? pair.end() : pair.middle();
    if (!holds) break;
  }
  return pair.forced();
}

}  // namespace detail

template <model::Model M, class S, class Observer>
Outcome simulate(const M& model, const S& scheme, const RunSettings& run,
                 model::State<M::kDofs>& state, Observer&& observe, Monitor* monitor) {
  detail::Course<M, S, std::remove_reference_t<Observer>> course(model, run, state, observe,
                                                                 monitor);
  long long forced = 0;
  if (run.control.is_on()) {
    forced = detail::controlled_steps(model, scheme, run, state, course);
  } else {
    detail::fixed_steps(model, scheme, run, state, course);
  }
  return course.finish(state, forced);
}

}  // namespace ricochet::step
