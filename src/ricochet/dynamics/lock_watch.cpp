#include "ricochet/dynamics/lock_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ricochet/base/error.h"
#include "ricochet/step/run_formula.h"

namespace ricochet::dynamics {

LockWatch::LockWatch(const scene::Scene& scene) {
  const double period = scene.dynamics.period;
  const bool steps = scene.scheme.info().integrator != certify::Integrator::Arcs;
  if (!(period > 0.0) || !steps || scene.run.control.is_on() || scene.run.backward) return;
  const double count = period / scene.run.step;
  const double whole = std::round(count);
  if (whole >= 1.0 && std::abs(count - whole) <= 1e-9 * whole) {
    steps_ = static_cast<long long>(whole);
    sees_all_ = scene.run.record_every > 0 && steps_ % scene.run.record_every == 0;
  }
}

void LockWatch::add(const step::Sample& sample) {
  if (steps_ == 0 || locked_ > 0 || (sees_all_ && sample.step % steps_ != 0)) return;
  const auto n = static_cast<Eigen::Index>(sample.q.size());
  now_.resize(2 * n);
  for (Eigen::Index i = 0; i < n; ++i) {
    now_[i] = sample.q[static_cast<std::size_t>(i)];
    now_[n + i] = sample.u[static_cast<std::size_t>(i)];
  }
  t_ = sample.t;
  if (sees_all_) take(sample.t, now_);
}

/// Every state is held against the one of the last power of two [Brent 1980]: a cycle is found
/// within three times its length.
void LockWatch::take(double t, const Eigen::VectorXd& state) {
  ++seen_;
  t_ = t;
  if (seen_ > 1 && (state - state_).cwiseAbs().maxCoeff() <= 1e-12 * state_.cwiseAbs().maxCoeff()) {
    locked_ = seen_ - kept_;
    return;
  }
  if (seen_ < 2 * kept_) return;
  state_ = state;
  kept_ = seen_;
}

/// Where rows are not kept at whole periods, the run goes on from its last row for as long again,
/// a million steps at most, with a row each period.
void LockWatch::go_on(const scene::Scene& scene) {
  constexpr long long kMost = 1000000;
  if (steps_ == 0 || sees_all_ || now_.size() == 0 || scene.formulas() == nullptr) return;
  step::RunSettings run = scene.run;
  run.steps = std::min(run.steps, kMost);
  run.record_every = steps_;
  run.start_time = t_;
  sees_all_ = true;
  model::State<model::kDynamic> state = scene.start;
  state.t = t_;
  state.q = now_.head(now_.size() / 2);
  state.u = now_.tail(now_.size() / 2);
  (void)step::run_formula(*scene.formulas(), scene.scheme, run, state,
                          [&](const step::Sample& sample) { add(sample); });
}

/// Whether the exact motion from the same state repeats after as many periods.
bool LockWatch::repeats_too(const scene::Scene& scene) const {
  try {
    scene::Scene strobe = scene;
    strobe.dynamics.section = scene::SectionPlan();
    strobe.dynamics.section.kind = scene::SectionPlan::Kind::Every;
    strobe.dynamics.section.every = scene.dynamics.period;
    SectionFlow motion(strobe);
    const Eigen::Index n = state_.size() / 2;
    motion.start({t_, state_.head(n), state_.tail(n)});
    std::vector<Eigen::VectorXd> states;
    const long long most = std::min(2000LL, 200 + 20 * locked_);
    for (long long k = 0; k < most && motion.next(); ++k) states.push_back(motion.state());
    const int period = period_of(states, static_cast<int>(std::min(1000LL, locked_)), 1e-4);
    return period > 0 && locked_ % period == 0;
  } catch (const base::InputError&) {
    constexpr long long kShort = 16;  // the motion is not known exactly: short orbits may be true
    return locked_ <= kShort;
  }
}

std::string LockWatch::warning(const scene::Scene& scene) {
  go_on(scene);
  if (locked_ == 0 || repeats_too(scene)) return "";
  return fmt::format(
      "the run repeats to the last digit after {} periods of the forces, and the motion does not: "
      "{} steps make a period, and the scheme has locked. Take a step of which no whole number "
      "does, such as {:.6g}, or run from event to event",
      locked_, steps_, scene.dynamics.period / (static_cast<double>(steps_) + 0.6180339887));
}

void LockWatch::warn(scene::Scene& scene) {
  std::string words = warning(scene);
  if (!words.empty()) scene.warnings.push_back(std::move(words));
}

}  // namespace ricochet::dynamics
