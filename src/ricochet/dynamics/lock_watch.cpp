#include "ricochet/dynamics/lock_watch.h"

#include <fmt/format.h>

#include <cmath>

#include "ricochet/base/error.h"

namespace ricochet::dynamics {

LockWatch::LockWatch(const scene::Scene& scene) {
  const double period = scene.dynamics.period;
  const bool steps = scene.scheme.info().integrator != certify::Integrator::Arcs;
  if (!(period > 0.0) || !steps || scene.run.control.is_on() || scene.run.backward) return;
  const double count = period / scene.run.step;
  const double whole = std::round(count);
  if (whole >= 1.0 && std::abs(count - whole) <= 1e-9 * whole) {
    steps_ = static_cast<long long>(whole);
  }
}

/// Every state is held against the one of the last power of two [Brent 1980]: a cycle is found
/// within three times its length.
void LockWatch::add(const step::Sample& sample) {
  if (steps_ == 0 || locked_ > 0 || sample.step % steps_ != 0) return;
  const auto n = static_cast<Eigen::Index>(sample.q.size());
  now_.resize(2 * n);
  for (Eigen::Index i = 0; i < n; ++i) {
    now_[i] = sample.q[static_cast<std::size_t>(i)];
    now_[n + i] = sample.u[static_cast<std::size_t>(i)];
  }
  ++seen_;
  t_ = sample.t;
  if (seen_ > 1 && (now_ - state_).cwiseAbs().maxCoeff() <= 1e-12 * state_.cwiseAbs().maxCoeff()) {
    locked_ = seen_ - kept_;
    return;
  }
  if (seen_ < 2 * kept_) return;
  state_ = now_;
  kept_ = seen_;
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

std::string LockWatch::warning(const scene::Scene& scene) const {
  if (locked_ == 0 || repeats_too(scene)) return "";
  return fmt::format(
      "the run repeats to the last digit after {} periods of the forces, and the motion does not: "
      "{} steps make a period, and the scheme has locked. Take a step of which no whole number "
      "does, such as {:.6g}, or run from event to event",
      locked_, steps_, scene.dynamics.period / (static_cast<double>(steps_) + 0.6180339887));
}

}  // namespace ricochet::dynamics
