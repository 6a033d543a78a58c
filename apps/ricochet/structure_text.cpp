#include "structure_text.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "report_text.h"
#include "ricochet/base/text.h"

namespace ricochet::app {
namespace {

constexpr std::size_t kMostPlaces = 8;

std::string head_of(const scene::StructureScene& scene) {
  return scene.source.empty() ? scene.title : fmt::format("{}  [{}]", scene.title, scene.source);
}

std::string kind_of(const scene::StructureScene& scene) {
  constexpr std::array kKinds = {"beam", "string", "bar"};
  constexpr std::array kBeam = {"differences as printed", "differences, ends corrected",
                                "Hermite elements"};
  constexpr std::array kOther = {"lumped masses", "lumped masses", "consistent masses"};
  const auto kind = static_cast<std::size_t>(scene.line.kind);
  const auto form = static_cast<std::size_t>(scene.line.form);
  return fmt::format("{} of {} cells, {}, {}", kKinds[kind], scene.line.cells,
                     kind == 0 ? kBeam[form] : kOther[form],
                     counted(scene.model->size(), "coordinate"));
}

std::string frequencies_of(const scene::StructureScene& scene) {
  std::string words;
  for (const double frequency : scene.frequencies) {
    words += fmt::format("{}{:.6g}", words.empty() ? "" : ", ", frequency);
  }
  return words + " Hz, without guides";
}

std::string with_error(const structure::Estimate& estimate) {
  return fmt::format("{:.4g} ± {:.1g}", estimate.value, estimate.error);
}

std::string describe_status(const study::StructureRun& run) {
  const step::Outcome& outcome = run.outcome.run;
  const certify::Certificate& c = outcome.certificate;
  if (c.ok() && outcome.interrupted) {
    return entry("status", fmt::format("interrupted after {} of {}: what was computed is whole and "
                                       "certified",
                                       outcome.steps, counted(run.scene.run.steps, "step")));
  }
  if (c.ok()) return entry("status", "ok: every step was recomputed and holds");
  const certify::FailureText failure = certify::describe(c.failure);
  return entry("FAILED", fmt::format("{} at t = {:.9g}: {} ({:.3g}); {} of {} done", failure.name,
                                     c.failure_time, failure.meaning, c.failure_value,
                                     outcome.steps, counted(run.scene.run.steps, "step"))) +
         entry("remedy", failure.remedy);
}

std::string describe_checks(const study::StructureRun& run) {
  const certify::Certificate& c = run.outcome.run.certificate;
  const certify::Limits& limits = run.scene.run.limits;
  std::string text =
      entry("residual", fmt::format("{:.2g} at most (limit {:.0e}): impulses and velocities obey "
                                    "the law",
                                    c.residual_max, limits.residual)) +
      entry("balance", fmt::format("{:.2g} at most (limit {:.0e}): momentum and positions add up",
                                   c.balance_max, limits.balance));
  if (run.model->guides.empty()) return text;
  const certify::StructureBooks& books = run.outcome.books;
  if (std::isfinite(books.average_gap)) {
    const bool kept = books.average_gap >= -books.average_allowed;
    text += entry("average", fmt::format("position {} its guides at every step (least gap {:.1e}, "
                                         "rounding {:.1e})",
                                         kept ? "within" : "BEYOND", books.average_gap,
                                         books.average_allowed));
  }
  text += entry(
      "violation",
      c.violation_contact < 0
          ? "none: no gap was negative at the end of a step"
          : fmt::format("gap down to -{:.3g} at t = {:.6g}; mean {:.3g}, rms {:.3g}",
                        c.violation_max, c.violation_time, c.violation_mean(), c.violation_rms()));
  return text;
}

std::string describe_energy(const study::StructureRun& run) {
  const certify::Ledger& ledger = run.outcome.run.certificate.ledger;
  const certify::StructureBooks& books = run.outcome.books;
  return entry("energy", fmt::format("T + V {:.6g} -> {:.6g}, highest {:.6g}",
                                     ledger.kinetic_start + ledger.potential_start,
                                     ledger.kinetic_end + ledger.potential_end, ledger.highest)) +
         entry("", fmt::format("work of loads {:.6g}, damping {:.6g}, contacts {:.6g} (friction "
                               "{:.3g}), closure {:.1e}",
                               books.loads.value(), books.damping.value(), ledger.contacts.value(),
                               ledger.friction.value(), books.closure.value()));
}

std::string describe_guides(const study::StructureRun& run) {
  std::string text;
  std::size_t told = 0;
  const std::vector<structure::GuideStatistics> guides = run.outcome.statistics.guides();
  for (const structure::GuideStatistics& guide : guides) {
    if (++told > kMostPlaces) break;
    std::string words = guide.name + ": ";
    if (guide.impacts == 0) {
      words += "not touched";
    } else {
      words += fmt::format(
          "{}, rate {} 1/s, in contact {} of the time, impulse {:.4g} (mean {:.3g}, rms {:.3g}, "
          "max {:.3g}), force up to {:.4g}, work rate {} normal",
          counted(guide.impacts, "impact"), with_error(guide.rate), with_error(guide.contact_ratio),
          guide.impulse, guide.impulse_mean, guide.impulse_rms, guide.impulse_max, guide.force_max,
          with_error(guide.work_normal));
      if (run.model->planes == 2) words += ", " + with_error(guide.work_sliding) + " sliding";
    }
    text += entry(told == 1 ? "guides" : "", words);
  }
  if (guides.size() > kMostPlaces) {
    text += entry("", fmt::format("... and {} more", guides.size() - kMostPlaces));
  }
  return text;
}

std::string describe_points(const study::StructureRun& run) {
  std::string text;
  const std::vector<structure::PointStatistics> points = run.outcome.statistics.points();
  for (std::size_t k = 0; k < std::min(points.size(), kMostPlaces); ++k) {
    const structure::PointStatistics& point = points[k];
    text += entry(k == 0 ? "points" : "",
                  fmt::format("{} = {:.9g} at the end; rms {}, from {:.4g} to {:.4g}{}", point.name,
                              run.point(k), with_error(point.rms), point.lowest, point.highest,
                              point.main_frequency > 0.0
                                  ? fmt::format(", strongest at {:.4g} ± {:.2g} Hz",
                                                point.main_frequency, 0.5 * point.resolution)
                                  : ""));
  }
  return text;
}

std::string describe_reduction(const study::StructureRun& run) {
  if (!run.reduction) return "";
  const study::ReductionError& error = *run.reduction;
  std::string words = fmt::format("{} and {}", counted(error.modes, "mode"),
                                  counted(error.corrections, "static correction"));
  for (std::size_t k = 0; k < std::min(error.points.size(), kMostPlaces); ++k) {
    words += fmt::format("; {}: off the whole model by {:.2g} (rms), {:.2g} of its motion",
                         error.points[k], error.rms[k],
                         error.whole[k] > 0.0 ? error.rms[k] / error.whole[k] : 0.0);
  }
  return entry("reduced", words);
}

}  // namespace

std::string describe_structure_run(const scene::StructureScene& scene) {
  const step::RunSettings& run = scene.run;
  return fmt::format("{}{}{}, step {:g}, t = {:g} to {:g}", scene.source,
                     scene.source.empty() ? "" : "; ", step::name_of(scene.settings.scheme),
                     run.step, run.start_time,
                     run.start_time + static_cast<double>(run.steps) * run.step);
}

std::string describe_structure_scene(const scene::StructureScene& scene) {
  std::string text = wrapped(head_of(scene) + "\n\n") + entry("structure", kind_of(scene)) +
                     entry("modes", frequencies_of(scene));
  for (std::size_t k = 0; k < std::min(scene.model->guides.size(), kMostPlaces); ++k) {
    const structure::Guide& guide = scene.model->guides[k];
    std::string words = fmt::format("{} at x = {:g}", guide.name, guide.at);
    if (guide.has_lower()) words += fmt::format(", {:g} below", -guide.lower);
    if (guide.has_upper()) words += fmt::format(", {:g} above", guide.upper);
    words += fmt::format(", restitution {:g}", guide.restitution);
    if (guide.friction > 0.0) words += fmt::format(", friction {:g}", guide.friction);
    text += entry(k == 0 ? "guides" : "", words);
  }
  if (scene.model->guides.size() > kMostPlaces) {
    text += entry("", fmt::format("... and {} more", scene.model->guides.size() - kMostPlaces));
  }
  const step::RunSettings& run = scene.run;
  return text +
         entry("run", fmt::format("{}, step {:g}, {}, t = {:g} to {:g}",
                                  step::name_of(scene.settings.scheme), run.step,
                                  counted(run.steps, "step"), run.start_time,
                                  run.start_time + static_cast<double>(run.steps) * run.step));
}

std::string describe_structure(const study::StructureRun& run) {
  const scene::StructureScene& scene = run.scene;
  std::string text = wrapped(fmt::format("{}\n{}, step {:g}, {}, t = {:g} to {:g}; {}\n\n",
                                         head_of(scene), step::name_of(scene.settings.scheme),
                                         scene.run.step, counted(run.outcome.run.steps, "step"),
                                         scene.run.start_time, run.final_state.t, kind_of(scene)));
  return text + describe_status(run) + describe_checks(run) + describe_energy(run) +
         describe_guides(run) + describe_points(run) + describe_reduction(run) +
         entry("modes", frequencies_of(scene));
}

}  // namespace ricochet::app
