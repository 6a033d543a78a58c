#pragma once

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "ricochet/model/reversed.h"
#include "ricochet/step/capture_scheme.h"
#include "ricochet/step/controlled_pace.h"
#include "ricochet/step/run_formula.h"
#include "ricochet/step/shared.h"
#include "ricochet/step/stepped.h"

namespace ricochet::step {

/// All that a run of a scene is made from.
struct SceneRun {
  const model::FormulaModel& model;
  const RunSettings& settings;
  model::State<model::kDynamic>& state;
  const Observer& observe;
  Monitor* monitor;
};

namespace detail {

/// For N coordinates, K contacts and T tangential directions at each, known to the compiler.
template <int N, int K, int T, class S>
Outcome run_sized(const S& scheme, const SceneRun& r) {
  const model::FormulaView<N, K, T> view(r.model);
  model::State<N> sized{r.state.t, r.state.q, r.state.u, std::move(r.state.memory)};
  Outcome outcome = simulate(view, scheme, r.settings, sized, r.observe, r.monitor);
  r.state = {sized.t, sized.q, sized.u, std::move(sized.memory)};
  return outcome;
}

/// Steps of one length, or of lengths that step control chooses.
template <model::Model M, class S, class Observe>
Outcome simulate_either(const M& model, const S& scheme, const SceneRun& r,
                        model::StateOf<M>& state, const Observe& observe) {
  if (!r.settings.control.is_on()) {
    return simulate(model, scheme, r.settings, state, observe, r.monitor);
  }
  return simulate(model, Controlled<S>{scheme}, r.settings, state, observe, r.monitor);
}

/// |h M^-1 Q| at the start: what a contact that lasts approaches with, and less.
template <class View>
double speed_of_a_step(const View& view, const SceneRun& r) {
  auto place = view.make_place();
  model::Vector<model::kDynamic> force = r.state.u, speed = r.state.u;
  if (!view.load_mass(r.state.q, place)) return 0.0;
  view.force(r.state.t, r.state.q, r.state.u, place, force);
  view.mass(place).solve(force, speed);
  return r.settings.step * speed.norm();
}

/// A run of the model seen backwards, told in forward time again: t falls from row to row. The
/// certificate is that of the reversed motion.
template <class S>
Outcome run_backward(const S& scheme, const SceneRun& r) {
  model::State<model::kDynamic> mirrored{-r.state.t, r.state.q, -r.state.u, r.state.memory};
  const double rest = 2.0 * speed_of_a_step(AnyView(r.model), r);
  model::FormulaModel past(model::reversed(r.model.system(), rest));
  past.take_scale(r.model);
  const AnyView reversed(past);
  mirrored.memory.at = -mirrored.memory.at;
  std::vector<double> velocity(static_cast<std::size_t>(r.model.dofs()));
  const auto tell = [&](const Sample& sample) {
    Sample forward = sample;
    std::transform(sample.u.begin(), sample.u.end(), velocity.begin(), std::negate<>());
    forward.t = -sample.t;
    forward.u = velocity;
    r.observe(forward);
  };
  Outcome outcome = simulate_either(reversed, scheme, r, mirrored, tell);
  certify::Certificate& c = outcome.certificate;
  for (double* time : {&c.failure_time, &c.residual_time, &c.violation_time}) *time = -*time;
  for (certify::Shock& shock : c.shocks) shock.t = -shock.t;
  r.state = {-mirrored.t, mirrored.q, -mirrored.u, std::move(mirrored.memory)};
  r.state.memory.at = -r.state.memory.at;
  return outcome;
}

}  // namespace detail

/// A run of any size; step control, and runs backwards in time, where the scheme has them.
template <class S>
Outcome run_any(const S& scheme, const SceneRun& r) {
  const AnyView view(r.model);
  if constexpr (S::kInfo.is_staggered) {
    if (r.settings.backward) return detail::run_backward(scheme, r);
    return detail::simulate_either(view, scheme, r, r.state, r.observe);
  } else {
    return simulate(view, scheme, r.settings, r.state, r.observe, r.monitor);
  }
}

/// A run of a size that the compiler knows, into `outcome`; false: of another one.
template <class S>
bool run_small(const S& scheme, const SceneRun& r, Outcome& outcome) {
  if constexpr (S::kInfo.is_staggered && kKnowsSizes) {
    constexpr int kAny = model::kDynamic;
    const int n = r.model.dofs();
    const int m = r.model.contacts();
    const auto take = [&](Outcome found) {
      outcome = std::move(found);
      return true;
    };
    if (r.settings.backward || r.settings.control.is_on()) return false;
    if constexpr (S::kInfo.has_friction) {
      if (model::FormulaView<3, 1, 1>::suits(r.model) && m == 1) {
        if (n == 2) return take(detail::run_sized<2, 1, 1>(scheme, r));
        if (n == 3) return take(detail::run_sized<3, 1, 1>(scheme, r));
      }
      if (model::FormulaView<3, 1, 2>::suits(r.model) && n == 3 && m == 1) {
        return take(detail::run_sized<3, 1, 2>(scheme, r));
      }
    }
    if (model::FormulaView<1, 1>::suits(r.model)) {
      if (n == 1 && m == 1) return take(detail::run_sized<1, 1, 0>(scheme, r));
      if (n == 2 && m == 1) return take(detail::run_sized<2, 1, 0>(scheme, r));
      if (n == 3 && m == 1) return take(detail::run_sized<3, 1, 0>(scheme, r));
      if (n == 3 && m == 2) return take(detail::run_sized<3, 2, 0>(scheme, r));
    }
    if (!model::FormulaView<3, kAny>::suits(r.model)) return false;
    if (n == 2) return take(detail::run_sized<2, kAny, 0>(scheme, r));
    if (n == 3) return take(detail::run_sized<3, kAny, 0>(scheme, r));
  }
  return false;
}

template <class S>
Outcome run_scheme(const model::FormulaModel& model, const Scheme& scheme, const RunSettings& run,
                   model::State<model::kDynamic>& state, const Observer& observe,
                   Monitor* monitor) {
  Outcome outcome;
  if constexpr (S::kInfo.runs_systems) {
    const S chosen = S::from(scheme);
    const SceneRun scene_run{model, run, state, observe, monitor};
    if (run_small<S>(chosen, scene_run, outcome)) return outcome;
    return run_any<S>(chosen, scene_run);
  }
  return outcome;
}

template <class S>
class SteppedScene : public SteppedRun {
 public:
  SteppedScene(const model::FormulaModel& model, const Scheme& scheme, const RunSettings& run,
               const model::State<model::kDynamic>& start, Observer observe)
      : view_(model), run_(view_, S::from(scheme), run, start, std::move(observe)) {}
  bool advance(long long steps) override { return run_.advance(steps); }
  const certify::Certificate& certificate() override { return run_.certificate(); }
  Outcome finish(model::State<model::kDynamic>& end) override { return run_.finish(end); }

 private:
  AnyView view_;
  Stepped<AnyView, S> run_;
};

template <class S>
std::unique_ptr<SteppedRun> start_scheme(const model::FormulaModel& model, const Scheme& scheme,
                                         const RunSettings& run,
                                         const model::State<model::kDynamic>& start,
                                         Observer observe) {
  if constexpr (S::kInfo.runs_systems && Stepped<AnyView, S>::kIsPossible) {
    return std::make_unique<SteppedScene<S>>(model, scheme, run, start, std::move(observe));
  }
  return nullptr;
}

/// A run in lanes, of a size that the compiler knows where that is one.
template <class S, class View>
class LaneScene : public LaneRun {
 public:
  using State = model::StateOf<View>;
  LaneScene(const model::FormulaModel& model, const Scheme& scheme, const RunSettings& run,
            const model::State<model::kDynamic>& start)
      : view_(model),
        run_(view_, S::from(scheme), run, State{start.t, start.q, start.u, start.memory},
             [](const Sample&) {}) {}
  bool step() override { return run_.step(); }
  bool lend(LaneLoan& loan) override { return run_.lend(loan); }
  void take_back(const LaneLoan& loan) override { run_.take_back(loan); }
  Outcome finish(model::State<model::kDynamic>& end) override {
    State sized = run_.now();
    Outcome outcome = run_.finish(sized);
    end = {sized.t, sized.q, sized.u, std::move(sized.memory)};
    return outcome;
  }

 private:
  View view_;
  Stepped<View, S> run_;
};

template <class S>
std::unique_ptr<LaneRun> start_in_lane(const model::FormulaModel& model, const Scheme& scheme,
                                       const RunSettings& run,
                                       const model::State<model::kDynamic>& start) {
  if constexpr (S::kInfo.has_lanes) {
    if constexpr (kKnowsSizes) {
      const bool one = model.contacts() == 1;
      if (model.dofs() == 1 && one) {
        return std::make_unique<LaneScene<S, View11>>(model, scheme, run, start);
      }
      if (model.dofs() == 2 && one) {
        return std::make_unique<LaneScene<S, View21>>(model, scheme, run, start);
      }
      if (model.dofs() == 2) {
        return std::make_unique<LaneScene<S, View2Any>>(model, scheme, run, start);
      }
    }
    return std::make_unique<LaneScene<S, AnyView>>(model, scheme, run, start);
  }
  return nullptr;
}

template <class S>
Outcome run_linear(const structure::LinearStructure& structure, const Scheme& scheme,
                   const RunSettings& run, structure::Motion& state, const Observer& observe,
                   Monitor* monitor) {
  Outcome outcome;
  if constexpr (S::kInfo.runs_structures) {
    const structure::StructureModel model(structure, run.step,
                                          S::kInfo.integrator == certify::Integrator::End);
    if (model.is_ready()) {
      return simulate(model, S::from(scheme), run, state, observe, monitor);
    }
    outcome.certificate.failure = certify::Failure::SingularMass;
    outcome.certificate.failure_time = state.t;
  }
  return outcome;
}

}  // namespace ricochet::step
