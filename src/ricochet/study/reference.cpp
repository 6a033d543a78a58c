#include "ricochet/study/reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ricochet/base/error.h"

namespace ricochet::study {
namespace {

constexpr double kSamplesPerStep = 4.0;
constexpr double kMostSamples = 4e6;

[[noreturn]] void refuse(const std::string& coordinate, const std::string& message,
                         const std::string& remedy) {
  throw base::InputError("expect.motion." + coordinate, message, remedy);
}

/// The largest difference, over the largest of all numbers or 1e-3.
double relative_jump(const std::vector<double>& before, const std::vector<double>& after) {
  double jump = 0.0;
  double size = 1e-3;
  for (std::size_t i = 0; i < before.size(); ++i) {
    jump = std::max(jump, std::abs(after[i] - before[i]));
    size = std::max({size, std::abs(after[i]), std::abs(before[i])});
  }
  return jump / size;
}

}  // namespace

Reference Reference::stated(const scene::Scene& scene, double to, double finest) {
  Reference reference;
  reference.source_ = Stated{scene.closed_form, {}, scene.run.start_time, scene.run.start_time};
  reference.end_ = to;
  reference.check_start(scene);
  reference.find_jumps(to, finest);
  return reference;
}

Reference Reference::computed(RecordedRun run) {
  Reference reference;
  reference.end_ = run.t.back();
  for (const certify::Shock& shock : run.outcome.certificate.shocks) {
    reference.jumps_.push_back(shock.t);
  }
  std::sort(reference.jumps_.begin(), reference.jumps_.end());
  reference.jumps_are_cut_ = run.outcome.certificate.shocks_cut;
  reference.source_ = std::move(run);
  return reference;
}

void Reference::check_start(const scene::Scene& scene) const {
  std::vector<double> q;
  std::vector<double> u;
  at(scene.run.start_time, q, u);
  const double largest = scene.start.q.cwiseAbs().maxCoeff();
  for (std::size_t i = 0; i < q.size(); ++i) {
    const double start = scene.start.q[static_cast<Eigen::Index>(i)];
    if (std::abs(q[i] - start) <= 1e-9 * (1e-3 + largest)) continue;
    refuse(scene.columns.coordinates[i],
           fmt::format("is {:.9g} at the start, t = {:g}, where the scene has {:.9g}", q[i],
                       scene.run.start_time, start),
           "write the motion in terms of the parameters that move the start, or leave --set out");
  }
}

void Reference::find_jumps(double to, double finest) {
  Stated& stated = std::get<Stated>(source_);
  const double samples = std::ceil(kSamplesPerStep * (to - stated.from) / finest);
  const auto n = static_cast<std::size_t>(stated.form->size());
  std::vector<double> registers = stated.form->registers();
  const auto switches = stated.form->switches(
      stated.from, to, static_cast<long long>(std::clamp(samples, 1e3, kMostSamples)));
  jumps_are_cut_ = switches.size() >= scene::ClosedForm::kMostSwitches;
  std::vector<double> q_before(n);
  std::vector<double> q_after(n);
  std::vector<double> u_before(n);
  std::vector<double> u_after(n);
  for (const scene::ClosedForm::Switch& one : switches) {
    stated.form->at(one.before, registers, q_before.data(), u_before.data());
    stated.form->at(one.after, registers, q_after.data(), u_after.data());
    if (relative_jump(q_before, q_after) > 1e-6) {
      throw base::InputError("expect.motion",
                             fmt::format("a position jumps at t = {:.9g}", one.after),
                             "only velocities may: mend the branches of the formula there");
    }
    if (!(relative_jump(u_before, u_after) > 1e-9)) continue;
    if (one.before <= stated.first) {  // abs(t) at 0: the start is what comes after
      stated.first = one.after;
      continue;
    }
    // A sign goes through 0: two switches side by side are one jump.
    if (!stated.jumps.empty() && stated.jumps.back().after >= one.before) {
      stated.jumps.back().after = one.after;
      continue;
    }
    stated.jumps.push_back(one);
    jumps_.push_back(one.after);
  }
}

long long Reference::shocks() const {
  if (is_stated()) return static_cast<long long>(jumps_.size());
  return std::get<RecordedRun>(source_).shocks();
}

void Reference::at(double t, std::vector<double>& q, std::vector<double>& u) const {
  if (const Stated* stated = std::get_if<Stated>(&source_)) {
    const auto n = static_cast<std::size_t>(stated->form->size());
    q.resize(n);
    u.resize(n);
    std::vector<double> registers = stated->form->registers();
    const double read = t == stated->from ? stated->first : t;
    stated->form->at(read, registers, q.data(), u.data());
    for (std::size_t i = 0; i < n; ++i) {
      if (std::isfinite(q[i]) && std::isfinite(u[i])) continue;
      throw base::InputError(
          "expect.motion",
          fmt::format("the motion or its derivative is not finite at t = {:.9g}", t),
          "mend the formula there");
    }
    return;
  }
  const RecordedRun& run = std::get<RecordedRun>(source_);
  q.resize(run.coordinates);
  u.resize(run.coordinates);
  const auto found = std::upper_bound(run.t.begin(), run.t.end(), t);
  const auto next =
      std::clamp<std::size_t>(static_cast<std::size_t>(found - run.t.begin()), 1, run.rows() - 1);
  const double h = run.t[next] - run.t[next - 1];
  const double s = t - run.t[next - 1];
  for (std::size_t i = 0; i < run.coordinates; ++i) {
    const double slope = (run.velocity(next, i) - run.velocity(next - 1, i)) / h;
    const double mean = (run.position(next, i) - run.position(next - 1, i)) / h;
    u[i] = run.velocity(next - 1, i) + s * slope;
    // Both positions are met, and the curvature is that of the velocities.
    q[i] = run.position(next - 1, i) + s * mean + 0.5 * s * (s - h) * slope;
  }
}

std::vector<Curve> Reference::stated_velocities(const Stated& stated, double to,
                                                double spacing) const {
  const auto n = static_cast<std::size_t>(stated.form->size());
  std::vector<Curve> curves(n);
  std::vector<double> registers = stated.form->registers();
  std::vector<double> q(n);
  std::vector<double> u(n);
  const auto add = [&](double evaluated, double shown) {
    stated.form->at(evaluated, registers, q.data(), u.data());
    for (std::size_t i = 0; i < n; ++i) curves[i].add(shown, u[i]);
  };
  const auto pieces = static_cast<long long>(std::ceil((to - stated.from) / spacing - 1e-6));
  auto jump = stated.jumps.begin();
  const auto add_jumps = [&](double until) {
    for (; jump != stated.jumps.end() && jump->before < until; ++jump) {
      add(jump->before, jump->after);
      add(jump->after, jump->after);
    }
  };
  for (long long k = 0; k <= pieces; ++k) {
    const double t = k == pieces ? to : stated.from + static_cast<double>(k) * spacing;
    add_jumps(t);
    if (k == 0) {
      add(stated.first, t);
    } else if (t > curves[0].t.back()) {
      add(t, t);
    }
  }
  return curves;
}

std::vector<Curve> Reference::velocities(double to, double spacing) const {
  if (const Stated* stated = std::get_if<Stated>(&source_)) {
    return stated_velocities(*stated, to, spacing);
  }
  const RecordedRun& run = std::get<RecordedRun>(source_);
  std::vector<Curve> curves;
  for (std::size_t i = 0; i < run.coordinates; ++i) {
    curves.push_back(clipped(run.velocity_curve(i), run.t.front(), to));
  }
  return curves;
}

}  // namespace ricochet::study
