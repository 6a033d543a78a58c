#include "convergence_text.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "report_text.h"
#include "ricochet/plot/chart.h"

namespace ricochet::app {
namespace {

using study::kMeasures;
using study::Measure;

std::string heading(std::size_t m) { return study::heading_of(static_cast<Measure>(m)); }

std::string head_of(const std::string& title, const std::string& source) {
  return source.empty() ? title : fmt::format("{}  [{}]", title, source);
}

std::string number_text(double value) {
  return std::isfinite(value) ? fmt::format("{:.2e}", value) : "-";
}

/// Four columns at most.
std::string short_order(double order) {
  const std::string text = fmt::format("{:.2f}", order);
  if (text.size() <= 4) return text;
  const std::string shorter = fmt::format("{:.1f}", order);
  return shorter.size() <= 4 ? shorter : fmt::format("{:.0f}", order);
}

std::string order_text(const study::Convergence& found, std::size_t row, std::size_t measure) {
  if (found.rows[row].errors.is_rounding(measure)) return "eps";
  const std::optional<double> order = found.order(row, measure);
  return order ? short_order(*order) : "";
}

std::string describe_reference(const study::Convergence& found) {
  if (found.reference_is_stated) {
    return fmt::format("the motion that the scene states, {}",
                       counted(found.reference_shocks, "jump"));
  }
  return fmt::format("a run with step {:g}, {}", found.reference_step,
                     counted(found.reference_shocks, "shock"));
}

std::string legend(double window, bool has_jumps) {
  std::string text = entry("q", "largest difference of a coordinate at output times");
  text += entry("u L1", "integral of |u - u_ref|, u linear between output times");
  text += entry("u graph", "distance of the graphs of u, jumps filled in (Hausdorff)");
  text += entry("u away", "largest difference of a velocity at output times");
  if (!has_jumps) return text + entry("away", "everywhere: the reference has no impact");
  return text + entry("away", fmt::format("farther than {:g} from impacts of the reference; "
                                          "across: all times",
                                          window));
}

std::string remarks_text(const std::vector<std::string>& remarks) {
  std::string text;
  for (const std::string& remark : remarks) text += entry("remark", remark);
  return text;
}

std::string convergence_table(const study::Convergence& found) {
  std::string text = fmt::format("{:<9}", "step h");
  for (std::size_t m = 0; m < kMeasures; ++m) text += fmt::format(" {:>8}    p", heading(m));
  text += "\n";
  for (std::size_t k = 0; k < found.rows.size(); ++k) {
    std::string line = fmt::format("{:<9}", fmt::format("{:.4g}", found.rows[k].step));
    for (std::size_t m = 0; m < kMeasures; ++m) {
      line += fmt::format(" {:>8} {:>4}", number_text(found.rows[k].errors.value[m]),
                          order_text(found, k, m));
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  text += fmt::format("{:<9}", "fit");
  for (std::size_t m = 0; m < kMeasures; ++m) {
    text += fmt::format(" {:>8} {:>4}", "", found.fit[m] ? short_order(*found.fit[m]) : "-");
  }
  return text + "\n";
}

/// "ok", "refused", or the name of the failure.
std::string status_of(const study::SchemeRow& row) {
  return row.was_run() ? certify::describe(row.certificate.failure).name : "refused";
}

std::string accuracy_table(const study::Comparison& found) {
  std::string text = fmt::format("{:<15}", "scheme");
  for (std::size_t m = 0; m < kMeasures; ++m) text += fmt::format(" {:>9}", heading(m));
  text += fmt::format(" {:>10}\n", "violation");
  for (const study::SchemeRow& row : found.rows) {
    if (!row.was_run()) continue;
    text += fmt::format("{:<15}", row.scheme);
    for (std::size_t m = 0; m < kMeasures; ++m) {
      text += fmt::format(" {:>9}", row.errors ? number_text(row.errors->value[m]) : "-");
    }
    text += fmt::format(" {:>10}\n", number_text(row.certificate.violation_max));
  }
  return text;
}

std::string cost_table(const study::Comparison& found) {
  std::string text =
      fmt::format("{:<15} {:>10} {:>9} {:>7} {:>8} {:>8} {:>8}  {}\n", "scheme", "T+V change",
                  "defect", "shocks", "steps", "us/step", "seconds", "status");
  for (const study::SchemeRow& row : found.rows) {
    if (!row.was_run()) continue;
    text += fmt::format("{:<15} {:>10} {:>9} {:>7} {:>8} {:>8.3g} {:>8.2g}  {:.12}\n", row.scheme,
                        number_text(row.energy_change()),
                        number_text(row.certificate.ledger.defect.value()), row.shocks, row.steps,
                        1e6 * row.seconds_per_step(), row.seconds, status_of(row));
  }
  return text;
}

std::string refusals_and_failures(const study::Comparison& found) {
  std::string text;
  if (found.reference_failure) {
    text += entry("FAILED", fmt::format("the reference, {} with step {:g}: {}",
                                        found.reference_scheme, found.reference_step,
                                        certify::describe_failure(*found.reference_failure)));
  }
  for (const study::SchemeRow& row : found.rows) {
    if (!row.was_run()) {
      text += entry("not run", fmt::format("{}: {}", row.scheme, row.refusal));
    } else if (!row.certificate.ok()) {
      text += entry("FAILED",
                    fmt::format("{}: {}", row.scheme, certify::describe_failure(row.certificate)));
    }
  }
  return text;
}

}  // namespace

std::string describe_convergence(const study::Convergence& found, const scene::Scene& scene) {
  std::string text = wrapped(
      fmt::format("{}\n{}, t = {:g} to {:g}; against {}\n\n", head_of(scene.title, scene.source),
                  step::name_of(scene.scheme), found.from, found.to, describe_reference(found)));
  if (!found.rows.empty()) text += convergence_table(found) + "\n";
  if (!found.rows.empty()) text += legend(found.window, !found.jumps.empty());
  std::string variations;
  for (const study::ConvergeRow& row : found.rows) {
    variations += fmt::format("{}{:.5g}", variations.empty() ? "" : ", ", row.variation);
  }
  if (!found.rows.empty()) text += entry("variation", "of u: " + variations);
  text += remarks_text(found.remarks);
  if (!found.failed) return text;
  return text +
         entry("FAILED", fmt::format("step {:g}: {}", found.failed->step,
                                     certify::describe_failure(found.failed->certificate))) +
         entry("remedy", step::remedy_of(found.failed->certificate.failure, scene.scheme));
}

std::string describe_comparison(const study::Comparison& found) {
  const std::string reference =
      found.reference_is_stated
          ? "the motion that the scene states"
          : fmt::format("{} with step {:g}", found.reference_scheme, found.reference_step);
  std::string text = wrapped(fmt::format("{}\nstep {:g}, t = {:g} to {:g}; against {}\n\n",
                                         head_of(found.title, found.source), found.step, found.from,
                                         found.to, reference));
  text += accuracy_table(found) + "\n" + cost_table(found) + "\n";
  text += refusals_and_failures(found) + legend(found.window, !found.jumps.empty());
  text += entry("time", "least of some repeats, certificates included, no files");
  return text + remarks_text(found.remarks);
}

std::string draw_convergence(const study::Convergence& found, const scene::Scene& scene) {
  std::vector<plot::ChartCurve> curves;
  for (std::size_t m = 0; m < kMeasures; ++m) {
    plot::ChartCurve curve{heading(m), {}};
    if (found.fit[m]) curve.label += fmt::format(", p = {:.2f}", *found.fit[m]);
    for (const study::ConvergeRow& row : found.rows) {
      if (!row.errors.is_rounding(m)) curve.points.push_back({row.step, row.errors.value[m]});
    }
    curves.push_back(curve);
  }
  const std::string subtitle =
      fmt::format("{}, against {}", step::name_of(scene.scheme), describe_reference(found));
  return plot::draw_log_chart({scene.title, subtitle, "step h", "error"}, curves);
}

std::string draw_comparison(const study::Comparison& found) {
  const auto panel = [&](const std::string& title, auto value_of) {
    plot::BarPanel bars{title, {}};
    for (const study::SchemeRow& row : found.rows) {
      if (row.was_run()) bars.bars.emplace_back(row.scheme, value_of(row));
    }
    return bars;
  };
  const auto error = [](Measure measure) {
    return [measure](const study::SchemeRow& row) {
      return row.errors ? (*row.errors)[measure] : std::numeric_limits<double>::quiet_NaN();
    };
  };
  const std::vector<plot::BarPanel> panels = {
      panel("error of positions, largest at output times", error(Measure::PositionAcross)),
      panel("error of velocities, L1", error(Measure::VelocityL1)),
      panel("violation, largest",
            [](const study::SchemeRow& row) { return row.certificate.violation_max; }),
      panel("microseconds a step, certified",
            [](const study::SchemeRow& row) { return 1e6 * row.seconds_per_step(); })};
  return plot::draw_bars(
      {found.title, fmt::format("step {:g}; logarithmic scales", found.step), "", ""}, panels);
}

}  // namespace ricochet::app
