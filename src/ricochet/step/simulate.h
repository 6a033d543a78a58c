#pragma once

#include <algorithm>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "ricochet/base/clock.h"
#include "ricochet/certify/judge.h"
#include "ricochet/model/inline_model.h"
#include "ricochet/model/model.h"
#include "ricochet/step/billiard.h"
#include "ricochet/step/elast.h"
#include "ricochet/step/inel.h"
#include "ricochet/step/moreau.h"
#include "ricochet/step/outcome.h"
#include "ricochet/step/settings.h"

namespace ricochet::step {

/// Runs a scheme on a model from `state`, which is left at the last certified instant. The steps
/// are of one length: for step control see `simulate_controlled`.
///
/// `observe(sample)` is called for the start, every `record_every` steps and the end; the monitor
/// is looked at before every step, so that an interrupted run ends between steps.
template <model::Model M, class S, class Observer>
Outcome simulate(const M& model, const S& scheme, const RunSettings& run,
                 model::State<M::kDofs>& state, Observer&& observe, Monitor* monitor = nullptr);

namespace detail {

template <class V>
std::span<const double> view(const V& v) {
  return {v.data(), static_cast<std::size_t>(v.size())};
}

/// What samples tell of friction; nothing where the model has none.
template <model::Model M, int T = M::kSlips>
class SlipSamples {
 public:
  SlipSamples(const M& model, model::State<M::kDofs>& state) {
    const int contacts = model.contacts() - model.joints();
    bool exists = false;
    for (int a = 0; a < contacts; ++a) exists = exists || model.slips(a) > 0;
    if (!exists) return;
    const auto count = static_cast<std::size_t>(contacts);
    tangential_.assign(2 * count, 0.0);
    slips_.assign(2 * count, 0.0);
    states_.assign(count, 0.0);
    if (state.stuck.size() != count) state.stuck.assign(count, 0);
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

  void tell(certify::Judge<M>& judge, const model::State<M::kDofs>& now, Sample& sample) {
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
  SlipSamples(const M&, model::State<M::kDofs>&) {}
  template <class TheClaim>
  void add(const M&, const TheClaim&) {}
  void tell(certify::Judge<M>&, const model::State<M::kDofs>&, Sample&) {}
  void clear() {}
};

/// How the steps of a scheme are made up.
template <class S, model::Model M>
[[gnu::always_inline]] inline decltype(auto) rule_of(const Workspace<M>& workspace) {
  if constexpr (S::kStaggered) {
    return certify::Staggered{};
  } else {
    return (workspace.rule);
  }
}

/// A scheme's own start value: judged as a step, but time stands still.
template <class S, model::Model M>
void make_start(const S& scheme, const M& model, const RunSettings& run, certify::Judge<M>& judge,
                Workspace<M>& workspace, model::Vector<M::kContacts>& impulses,
                model::State<M::kDofs>*& now, model::State<M::kDofs>*& next) {
  if (run.steps == 0) return;
  const problem::Report report = begin(scheme, model, *now, run.step, *next, workspace);
  if (report.status != problem::Status::Solved) {
    return judge.fail(failure_of(report.status), workspace.claim.t_mid);
  }
  if (run.certify && !judge.check_start(*now, *next, run.step, workspace.claim, workspace.rule)) {
    return;
  }
  const auto& active = workspace.claim.active;
  for (int k = 0; k < active.size(); ++k) impulses[active[k]] += workspace.claim.impulses[k];
  std::swap(now, next);
}

template <class S>
certify::Limits limits_for(certify::Limits limits) {
  limits.energy_is_watched = limits.energy_is_watched && S::kBalancesEnergy;
  limits.restitution = S::kRestitution;
  return limits;
}

}  // namespace detail

template <model::Model M, class S, class Observer>
Outcome simulate(const M& model, const S& scheme, const RunSettings& run,
                 model::State<M::kDofs>& state, Observer&& observe, Monitor* monitor) {
  const base::Stopwatch clock;
  Outcome outcome;
  const double start_time = state.t;
  detail::SlipSamples<M> slips(model, state);
  Workspace<M> workspace(model, state.q);
  certify::Judge<M> judge(model, detail::limits_for<S>(run.limits), state);
  model::State<M::kDofs> other = state;
  model::State<M::kDofs>* now = &state;
  model::State<M::kDofs>* next = &other;
  model::Vector<M::kContacts> impulses = workspace.claim.impulses;
  const auto show = [&] {
    Sample sample{outcome.steps,
                  now->t,
                  detail::view(now->q),
                  detail::view(now->u),
                  detail::view(judge.gaps()),
                  detail::view(impulses),
                  judge.kinetic(),
                  judge.potential()};
    slips.tell(judge, *now, sample);
    observe(sample);
    impulses.setZero();
    slips.clear();
  };
  const bool keeps_rows = run.certify && run.record_every > 0;
  long long until_row = run.record_every;
  if (run.certify) show();
  if constexpr (requires { begin(scheme, model, *now, run.step, *next, workspace); }) {
    detail::make_start(scheme, model, run, judge, workspace, impulses, now, next);
  }
  for (long long i = 1; i <= run.steps && judge.certificate().ok(); ++i) {
    if (monitor != nullptr) {
      monitor->steps.store(outcome.steps, std::memory_order_relaxed);
      outcome.interrupted = monitor->stop.load(std::memory_order_relaxed);
      if (outcome.interrupted) break;
    }
    next->t = start_time + static_cast<double>(i) * run.step;
    const problem::Report report = advance(scheme, model, *now, run.step, *next, workspace);
    if (report.status != problem::Status::Solved) [[unlikely]] {
      judge.fail(detail::failure_of(report.status), workspace.claim.t_mid);
      break;
    }
    if (run.certify) {
      if (!judge.check(*now, *next, run.step, workspace.claim, detail::rule_of<S>(workspace)))
        break;
      const auto& active = workspace.claim.active;
      for (int k = 0; k < active.size(); ++k) impulses[active[k]] += workspace.claim.impulses[k];
      slips.add(model, workspace.claim);
    }
    std::swap(now, next);
    outcome.steps = i;
    if (report.general) [[unlikely]] {
      ++outcome.general_steps;
      if (report.fell_back) ++outcome.fallback_steps;
    }
    if (keeps_rows && --until_row == 0) {
      show();
      until_row = run.record_every;
    }
  }
  const bool last_is_due =
      run.certify && outcome.steps > 0 && (run.record_every == 0 || until_row != run.record_every);
  if (last_is_due) show();
  if (now != &state) state = *now;
  outcome.certificate = judge.finish();
  const std::span<const double> gaps = detail::view(judge.gaps());
  outcome.gaps.assign(gaps.begin(), gaps.end());
  outcome.wanted_step = workspace.wanted_step;
  outcome.wall_seconds = clock.seconds();
  return outcome;
}

}  // namespace ricochet::step
