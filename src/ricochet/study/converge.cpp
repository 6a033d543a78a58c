#include "ricochet/study/converge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ricochet/base/error.h"

namespace ricochet::study {
namespace {

std::vector<double> in_order(const scene::Scene& scene, const ConvergeSettings& settings,
                             double end) {
  constexpr const char* kOption = "--steps";
  std::vector<double> steps = settings.steps;
  std::sort(steps.begin(), steps.end(), std::greater<>());
  if (steps.size() < 2) {
    throw base::InputError(kOption, "an order takes at least two steps",
                           "write for example --steps 0.01,0.005,0.0025");
  }
  for (const double h : steps) check_step(scene, h, end, kOption);
  for (std::size_t k = 1; k < steps.size(); ++k) {
    if (steps[k] < steps[k - 1] * (1.0 - 1e-9)) continue;
    throw base::InputError(kOption, fmt::format("has {:g} twice", steps[k]),
                           "write steps that differ, as 0.01,0.005,0.0025");
  }
  return steps;
}

void check_scene(const scene::Scene& scene) {
  if (scene.family.empty()) return;
  throw base::InputError("family", "a family of runs has no order",
                         "choose a member: give each of its keys one value with --set");
}

/// The variation of the velocities from row to row.
double variation_of(const RecordedRun& run) {
  double sum = 0.0;
  for (std::size_t k = run.coordinates; k < run.u.size(); ++k) {
    sum += std::abs(run.u[k] - run.u[k - run.coordinates]);
  }
  return sum;
}

/// Adds remarks on one run; whether it is whole.
bool is_whole(const RecordedRun& run, Convergence& found) {
  if (!run.outcome.certificate.ok()) {
    found.failed = FailedRun{run.step, run.outcome.certificate};
    return false;
  }
  found.interrupted = run.outcome.interrupted;
  return !found.interrupted;
}

std::optional<Reference> make_reference(const scene::Scene& scene, const ConvergeSettings& settings,
                                        double finest, double end, step::Monitor* monitor,
                                        Convergence& found) {
  if (scene.closed_form && settings.reference_step == 0.0) {
    return Reference::stated(scene, end, finest);
  }
  const bool is_asked = settings.reference_step > 0.0;
  const double h = is_asked ? settings.reference_step : finest / ConvergeSettings::kFinest;
  check_step(scene, h, end, is_asked ? "--reference" : "--steps");
  if (h >= finest) {
    throw base::InputError("--reference",
                           fmt::format("{:g} is no finer than the smallest step, {:g}", h, finest),
                           "write a smaller one, or leave it out");
  }
  RecordedRun run = record_run(with_step(scene, h, end), monitor);
  if (!is_whole(run, found)) return std::nullopt;
  return Reference::computed(std::move(run));
}

std::optional<double> fitted_order(const std::vector<ConvergeRow>& rows, std::size_t measure) {
  double n = 0.0;
  double sx = 0.0;
  double sy = 0.0;
  double sxx = 0.0;
  double sxy = 0.0;
  for (const ConvergeRow& row : rows) {
    const double error = row.errors.value[measure];
    if (!(error > 0.0) || row.errors.is_rounding(measure)) continue;
    const double x = std::log(row.step);
    const double y = std::log(error);
    n += 1.0;
    sx += x;
    sy += y;
    sxx += x * x;
    sxy += x * y;
  }
  if (n < 2.0) return std::nullopt;
  return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

void remark_on_rounding(Convergence& found) {
  std::vector<std::string> headings;
  for (std::size_t m = 0; m < kMeasures; ++m) {
    const bool any = std::any_of(found.rows.begin(), found.rows.end(),
                                 [&](const ConvergeRow& row) { return row.errors.is_rounding(m); });
    if (any) headings.push_back(heading_of(static_cast<Measure>(m)));
  }
  if (headings.empty()) return;
  found.remarks.push_back(
      fmt::format("eps: no more than rounding, which has no order ({})", joined(headings)));
}

void remark_on_growth(Convergence& found) {
  std::vector<std::string> where;
  for (std::size_t m = 0; m < kMeasures; ++m) {
    int grown = 0;
    for (std::size_t k = 1; k < found.rows.size(); ++k) {
      const std::optional<double> order = found.order(k, m);
      grown += order && *order <= 0.0 ? 1 : 0;
    }
    if (grown == 0) continue;
    where.push_back(fmt::format("{} {} of {} times", heading_of(static_cast<Measure>(m)), grown,
                                found.rows.size() - 1));
  }
  if (where.empty()) return;
  found.remarks.push_back(fmt::format(
      "a smaller step does not always have the smaller error: {}{}", joined(where),
      found.jumps.empty() ? "" : "; where in its step an impact falls makes a difference"));
}

void remark_on_shocks(Convergence& found) {
  bool differ = false;
  std::vector<std::string> counts;
  for (const ConvergeRow& row : found.rows) {
    differ = differ || row.shocks != found.reference_shocks;
    counts.push_back(std::to_string(row.shocks));
  }
  if (!differ) return;
  found.remarks.push_back(fmt::format("shocks differ: {} in the runs, {} in the reference",
                                      joined(counts), found.reference_shocks));
}

bool agree(const structure::Estimate& a, const structure::Estimate& b) {
  constexpr double kSigmas = 3.0;
  return std::abs(a.value - b.value) <= kSigmas * std::hypot(a.error, b.error);
}

/// Of a structure: what the statistics of the two finest runs say, and where nothing else can.
void remark_on_statistics(Convergence& found) {
  if (found.rows.size() < 2 || found.rows.back().points.empty()) return;
  const ConvergeRow& a = found.rows[found.rows.size() - 2];
  const ConvergeRow& b = found.rows.back();
  double range = 0.0;
  for (const structure::PointStatistics& point : b.points) {
    range = std::max(range, point.highest - point.lowest);
  }
  constexpr double kFar = 0.1;  // of the range: two motions that soon have nothing in common
  if (b.errors[Measure::PositionAcross] > kFar * range) {
    found.remarks.emplace_back(
        "the points do not converge: each impact multiplies the distance of two motions, so that "
        "after some of them rounding and step size decide which way it goes; what can be compared "
        "are the statistics");
  }
  std::string words;
  bool all = true;
  const auto add = [&](const std::string& name, const structure::Estimate& x,
                       const structure::Estimate& y) {
    all = all && agree(x, y);
    words += fmt::format("{}{} {:.4g} ± {:.1g} and {:.4g} ± {:.1g}", words.empty() ? "" : "; ",
                         name, x.value, x.error, y.value, y.error);
  };
  constexpr std::size_t kMost = 4;
  for (std::size_t k = 0; k < std::min(a.guides.size(), kMost); ++k) {
    add("impact rate of " + a.guides[k].name, a.guides[k].rate, b.guides[k].rate);
    add("work rate", a.guides[k].work_normal, b.guides[k].work_normal);
  }
  for (std::size_t k = 0; k < std::min(a.points.size(), kMost); ++k) {
    add("rms of " + a.points[k].name, a.points[k].rms, b.points[k].rms);
  }
  found.remarks.push_back(
      fmt::format("statistics of the last two runs {} within three standard errors: {}",
                  all ? "agree" : "DO NOT AGREE", words));
}

void finish(Convergence& found) {
  for (std::size_t m = 0; m < kMeasures; ++m) found.fit[m] = fitted_order(found.rows, m);
  const bool nothing_away = std::any_of(
      found.rows.begin(), found.rows.end(),
      [](const ConvergeRow& row) { return std::isnan(row.errors[Measure::VelocityAway]); });
  if (nothing_away) {
    found.remarks.push_back(fmt::format(
        "some run has no output time farther than {:g} from an impact; try smaller steps or a "
        "narrower --window",
        found.window));
  }
  remark_on_rounding(found);
  remark_on_growth(found);
  remark_on_shocks(found);
  remark_on_statistics(found);
}

}  // namespace

std::optional<double> Convergence::order(std::size_t row, std::size_t measure) const {
  if (row == 0) return std::nullopt;
  const ConvergeRow& now = rows[row];
  const ConvergeRow& before = rows[row - 1];
  const double e0 = before.errors.value[measure];
  const double e1 = now.errors.value[measure];
  if (!(e0 > 0.0) || !(e1 > 0.0) || now.errors.is_rounding(measure) ||
      before.errors.is_rounding(measure)) {
    return std::nullopt;
  }
  return std::log(e0 / e1) / std::log(before.step / now.step);
}

Convergence converge(const scene::Scene& scene, const ConvergeSettings& settings,
                     step::Monitor* monitor) {
  check_scene(scene);
  const double end = end_of(scene);
  const std::vector<double> steps = in_order(scene, settings, end);
  Convergence found;
  found.from = scene.run.start_time;
  found.to = end;
  const std::optional<Reference> reference =
      make_reference(scene, settings, steps.back(), end, monitor, found);
  if (!reference) return found;
  found.to = std::min(end, reference->end());
  found.reference_is_stated = reference->is_stated();
  found.reference_step = reference->step();
  found.reference_shocks = reference->shocks();
  found.jumps = reference->jumps();
  found.window =
      settings.window > 0.0 ? settings.window : ConvergeSettings::kWindowSteps * steps.front();
  if (reference->jumps_are_cut()) {
    found.remarks.push_back(
        fmt::format("the reference has more shocks than the {} that are known "
                    "by time: the columns 'away' mean little",
                    found.jumps.size()));
  }
  const Windows windows{found.jumps, found.window};
  for (const double h : steps) {
    const RecordedRun run = record_run(with_step(scene, h, end), monitor);
    if (!is_whole(run, found)) return found;
    const double last = std::min(found.to, run.t.back());
    found.rows.push_back({h, run.outcome.steps, run.shocks(), variation_of(run),
                          measure_errors(run, *reference, last, windows), run.points, run.guides});
    const std::string remark = remark_on_windows(run, windows, last, fmt::format("h = {:g}", h));
    if (!remark.empty()) found.remarks.push_back(remark);
  }
  finish(found);
  return found;
}

}  // namespace ricochet::study
