#include "ricochet/study/run_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ricochet/base/text.h"
#include "ricochet/model/formula_view.h"
#include "ricochet/study/line_text.h"
#include "ricochet/study/run_world.h"

namespace ricochet::study {
namespace {

using base::counted;
using base::entry;

constexpr double kDeep = 0.01;      // a wall crossed by this part of the extent deserves a word
constexpr double kNoDepth = 1e-12;  // of the largest coordinate: no depth at all
constexpr double kFed = 1e-3;       // so does this part of the largest kinetic energy

/// "3.2 % of WHOLE", or that it is more than all of it.
std::string part_of(double value, double whole, const std::string& name) {
  if (!(value < whole)) return fmt::format("more than {}", name);
  return fmt::format("{:.1f} % of {}", 100.0 * value / whole, name);
}

void warn_of_depth(const Motion& motion, const Extent& extent, std::vector<std::string>& warnings) {
  const certify::Certificate& c = motion.outcome.certificate;
  if (c.violation_contact < 0 || motion.scene.columns.coordinates.empty()) return;
  const double size = extent.size();
  const double largest = extent.largest();
  if (!(c.violation_depth > std::max(kDeep * size, kNoDepth * largest))) return;
  const auto contact = static_cast<std::size_t>(c.violation_contact);
  warnings.push_back(
      fmt::format("'{}' is crossed by {:.2g}, {}: the step is large; try a smaller one",
                  motion.scene.columns.contacts[contact], c.violation_depth,
                  part_of(c.violation_depth, size, "the extent of the motion")));
}

void warn_of_adhesion(const Motion& motion, std::vector<std::string>& warnings) {
  const certify::Certificate& c = motion.outcome.certificate;
  if (c.adhesive_count == 0) return;
  warnings.push_back(
      fmt::format("{} with a contact that pulls (impulse down to -{:.2g}): elast balances the "
                  "energy even where the contact should have opened",
                  counted(c.adhesive_count, "step"), c.adhesive_max));
}

void warn_of_explicit_forces(const Motion& motion, std::vector<std::string>& warnings) {
  const certify::Ledger& ledger = motion.outcome.certificate.ledger;
  const double gain = ledger.explicit_gain.value();
  if (!(gain > kFed * ledger.kinetic_max)) return;
  warnings.push_back(fmt::format(
      "forces of the velocities fed the motion {:.2g}, {}, in steps whose start they opposed: they "
      "are taken at the start of a step; try a smaller one",
      gain, part_of(gain, ledger.kinetic_max, "the largest kinetic energy")));
}

/// Which contacts are friction alone.
std::vector<bool> frictions_of(const scene::Scene& scene) {
  std::vector<bool> found;
  const model::FormulaModel* const model = scene.formulas();
  for (std::size_t a = 0; model != nullptr && a < scene.columns.contacts.size(); ++a) {
    found.push_back(model->slip(static_cast<int>(a)).is_loaded());
  }
  return found;
}

/// "2 coordinates, 1 contact"; of a structure its kind.
std::string describe_part(const scene::Scene& scene) {
  if (scene.structure() != nullptr) return kind_of(*scene.structure());
  if (scene.world() != nullptr) return kind_of(*scene.world());
  const step::Columns& columns = scene.columns;
  const auto count = [](const auto& list) { return static_cast<long long>(list.size()); };
  const std::vector<bool> alone = frictions_of(scene);
  const long long frictions = std::count(alone.begin(), alone.end(), true);
  const long long contacts = count(columns.contacts) - columns.joints - frictions;
  std::string words = counted(count(columns.coordinates), "coordinate");
  if (contacts > 0 || frictions == 0) words += ", " + counted(contacts, "contact");
  if (frictions > 0)
    words +=
        fmt::format(", dry friction{}", frictions == 1 ? "" : fmt::format(" {} times", frictions));
  if (columns.joints > 0) words += fmt::format(", {} held", columns.joints);
  return words;
}

std::string describe_head(const Motion& motion) {
  const scene::Scene& scene = motion.scene;
  std::string text = scene.title;
  if (!scene.source.empty()) text += fmt::format("  [{}]", scene.source);
  text += fmt::format("\n{}{}, {}, {}, t = {:g} to {:g}; {}\n\n", step::name_of(scene.scheme),
                      scene.names_scheme ? "" : " (the scene names no scheme)",
                      describe_step(scene.run), counted(motion.outcome.steps, "step"),
                      scene.run.start_time, motion.final_state.t, describe_part(scene));
  return base::wrapped(text);
}

/// "12 of 500 steps"; under step control how many there will be is not known.
std::string describe_progress(const Motion& motion) {
  const step::RunSettings& run = motion.scene.run;
  if (run.control.is_on()) return counted(motion.outcome.steps, "step");
  return fmt::format("{} of {}", motion.outcome.steps, counted(run.steps, "step"));
}

/// The number that broke a limit, with the limit; empty where there is none.
std::string describe_excess(const Motion& motion) {
  const certify::Certificate& c = motion.outcome.certificate;
  const certify::Limits& limits = motion.scene.run.limits;
  const auto& world = motion.world;
  switch (c.failure) {
    case certify::Failure::Violation:
      if (world && !world->told.broken.empty()) return ": " + world->told.broken;
      return fmt::format(": {:.6g} deep, the limit is {:.6g}", c.failure_value, limits.violation);
    case certify::Failure::Overlap:
    case certify::Failure::PassedThrough:
      if (world && !world->told.broken.empty()) return ": " + world->told.broken;
      break;
    case certify::Failure::Residual:
      if (world && !world->told.broken.empty()) return ": " + world->told.broken;
      return fmt::format(": {:.3g}, the limit is {:.3g}", c.failure_value, limits.residual);
    case certify::Failure::Balance:
    case certify::Failure::Kinematics:
      return fmt::format(": {:.3g}, the limit is {:.3g}", c.failure_value,
                         c.arc_limit > 0.0 ? c.arc_limit : limits.balance);
    default: break;
  }
  return c.failure_value == 0.0 ? "" : fmt::format(" ({:.3g})", c.failure_value);
}

std::string describe_error_of_bodies(const record::ErrorBar& bar) {
  if (bar.farthest_of.empty()) return "no body is free whose error could be told";
  return fmt::format("error ± {} in places at most, that of '{}'", base::rounded_up(bar.farthest),
                     bar.farthest_of);
}

/// What is not proved by any certificate: how far the digits hold.
std::string describe_error(const RunReport& report) {
  constexpr std::size_t kMostNames = 3;
  const record::ErrorBar& bar = report.error_bar;
  if (!bar.made)
    return fmt::format("what its length costs in accuracy is not told: {}", bar.not_made);
  const std::vector<std::string>& names = report.motion.scene.columns.coordinates;
  if (report.motion.world) return describe_error_of_bodies(bar);
  if (names.empty()) return "no point is named whose error could be told";
  std::string words = "error";
  for (std::size_t i = 0; i < std::min(names.size(), kMostNames); ++i) {
    words += fmt::format("{} ± {} in {}", i == 0 ? "" : ",", base::rounded_up(bar.position[i]),
                         names[i]);
  }
  return names.size() > kMostNames ? words + ", ..." : words;
}

/// Whether it is the step that an unresolved run of bodies is too long for, and not its level.
bool is_told_by_steps(const RunReport& report) { return doubt_of_world(report.motion).empty(); }

/// Why the digits do not hold, and what to do.
std::string describe_unresolved(const RunReport& report) {
  const certify::Certificate& c = report.motion.outcome.certificate;
  const double limit = report.motion.scene.run.limits.lost;
  const record::ErrorBar& bar = report.error_bar;
  if (report.motion.world && c.lost_displacement <= limit && !is_told_by_steps(report)) {
    return bar.unresolved;
  }
  if (c.lost_displacement > limit) {
    return fmt::format(
        "rounding swallowed {:.2g} of the way of a coordinate (limit {:.0e}): move the origin "
        "nearer, or take longer steps",
        c.lost_displacement, limit);
  }
  return fmt::format("{}{}; take shorter steps, or an earlier end{}", bar.unresolved,
                     bar.horizon ? fmt::format("; horizon t = {:.6g}", *bar.horizon) : "",
                     report.motion.world ? record::watches_that_hold(bar) : "");
}

/// What is proved where no check failed, and what is not.
std::string describe_good_end(const RunReport& report) {
  const Motion& motion = report.motion;
  const std::string word =
      record::status_word(motion.outcome, motion.scene.run.limits, report.error_bar);
  if (word == "uncertified") return "uncertified: the run was not judged, and proves nothing";
  if (word == "interrupted") {
    return fmt::format("interrupted after {}: each step that was made obeys the law",
                       describe_progress(motion));
  }
  if (word == "unresolved") {
    return fmt::format(
        "unresolved: each step obeys the law{}: {}",
        motion.world && !is_told_by_steps(report) ? "" : ", but the digits do not hold",
        describe_unresolved(report));
  }
  return "ok: each step obeys the law; " + describe_error(report);
}

/// What is no number in the step after the last one that holds; empty where that cannot be told.
std::string find_not_finite(const Motion& motion) {
  const model::FormulaModel* model = motion.scene.formulas();
  if (model == nullptr) return "";
  const model::FormulaView<model::kDynamic, model::kDynamic> view(*model);
  const auto& [t, q, u, memory] = motion.final_state;
  auto place = view.make_place();
  auto moved = q;
  auto force = u;
  const auto& names = motion.scene.columns.coordinates;
  for (const double part : {0.0, 0.5, 1.0}) {
    const double h = part * motion.scene.run.step;
    view.advance(q, u, h, moved);
    const double potential = view.gaps_and_potential(t + h, moved, place);
    for (std::size_t a = 0; a < motion.scene.columns.contacts.size(); ++a) {
      if (std::isfinite(place.gap[static_cast<Eigen::Index>(a)])) continue;
      return fmt::format("the gap of '{}'", motion.scene.columns.contacts[a]);
    }
    if (!std::isfinite(potential)) return "the potential";
    view.force(t + h, moved, u, place, force);
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (std::isfinite(force[static_cast<Eigen::Index>(i)])) continue;
      return fmt::format("the force on '{}'", names[i]);
    }
  }
  return "";
}

/// The meaning of a failure; where a formula has no value, with its name.
std::string describe_meaning(const Motion& motion) {
  const certify::Failure failure = motion.outcome.certificate.failure;
  const std::string meaning = certify::describe(failure).meaning;
  if (failure != certify::Failure::NotFinite && failure != certify::Failure::NoConvergence) {
    return meaning;
  }
  const std::string part = find_not_finite(motion);
  return part.empty() ? meaning : fmt::format("{}: {} is no number there", meaning, part);
}

std::string remedy_of_formulas(certify::Failure failure) {
  return failure == certify::Failure::Correction ? ", or correction = \"none\"" : "";
}

std::string describe_status(const RunReport& report) {
  const Motion& motion = report.motion;
  const certify::Certificate& c = motion.outcome.certificate;
  if (c.ok()) return entry("status", describe_good_end(report));
  const certify::FailureText failure = certify::describe(c.failure);
  std::string words = fmt::format("{} at t = {:.9g}", failure.name, c.failure_time);
  if (c.failure_contact >= 0) {
    words += fmt::format(
        " in '{}'", motion.scene.columns.contacts[static_cast<std::size_t>(c.failure_contact)]);
  }
  words += fmt::format(": {}{}; {} done", describe_meaning(motion), describe_excess(motion),
                       describe_progress(motion));
  return entry("FAILED", words) +
         entry("remedy",
               step::remedy_of(c.failure, motion.scene.scheme) +
                   (motion.world ? remedy_of_world(motion) : remedy_of_formulas(c.failure)));
}

std::string describe_rolls(const Motion& motion) {
  const model::FormulaModel* model = motion.scene.formulas();
  if (model == nullptr || model->rolls() == 0) return "";
  const std::string what =
      model->rolls() == 1 ? "a velocity" : fmt::format("{} velocities", model->rolls());
  return entry("rolling", fmt::format("{} kept at 0, to {:.2g} at the ends of steps", what,
                                      motion.outcome.certificate.roll_max));
}

/// Whether anybody looked for other motions that obey the law of friction as well.
std::string describe_others(const Motion& motion) {
  const long long steps = motion.outcome.unlooked_steps;
  if (steps == 0) return "";
  return entry("motions",
               fmt::format("others were not looked for in {} of {} steps, whose contacts "
                           "with friction are more than needed, and many",
                           steps, motion.outcome.steps));
}

std::string describe_checks(const RunReport& report) {
  const Motion& motion = report.motion;
  const certify::Certificate& c = motion.outcome.certificate;
  const certify::Limits& limits = motion.scene.run.limits;
  std::string text =
      motion.world
          ? describe_level(motion)
          : entry("residual",
                  fmt::format(
                      "{:.2g} at most (limit {:.0e}): impulses and velocities obey the law{}",
                      c.residual_max, limits.residual,
                      c.creep_max > 0.0 ? fmt::format(", to a speed of {:.2g}", c.creep_max) : ""));
  text +=
      entry("balance", fmt::format("{:.2g} at most (limit {:.0e}): momentum and positions add up",
                                   c.balance_max, limits.balance));
  if (c.arc_limit > 0.0) {
    text += entry("arcs", fmt::format("{:.2g} at most (limit {:.0e}): motions between impacts "
                                      "follow the forces",
                                      c.arc_max, c.arc_limit));
  }
  if (motion.world) {
    return text + describe_world(motion, report.error_bar) + describe_others(motion);
  }
  if (motion.scene.columns.contacts.empty()) return text;
  text += describe_rolls(motion);
  if (motion.structure) text += describe_average(motion);
  if (c.violation_contact < 0) {
    text += entry("violation", c.ok() ? "none: no gap was negative at the end of a step"
                                      : "none in the steps before");
  } else {
    const auto contact = static_cast<std::size_t>(c.violation_contact);
    text += entry(
        "violation",
        fmt::format("gap of '{}' down to -{:.3g} ({:.3g} deep) at t = {:.6g}; mean {:.3g}, "
                    "rms {:.3g}",
                    motion.scene.columns.contacts[contact], c.violation_max, c.violation_depth,
                    c.violation_time, c.violation_mean(), c.violation_rms()));
  }
  if (!c.impulses_unique) {
    text += entry("impulses",
                  motion.scene.columns.has_friction()
                      ? "not unique: gradients of active contacts depend on each other; other "
                        "impulses have other bounds of friction, and may give another motion"
                      : "not unique: gradients of active contacts depend on each other, so "
                        "other impulses give the same motion");
  }
  return text + describe_others(motion);
}

std::string describe_energy(const Motion& motion) {
  if (motion.structure) return describe_works(motion);
  const certify::Ledger& ledger = motion.outcome.certificate.ledger;
  // Digits below the rounding of T and V tell nothing.
  const double unit = 1e-12 * std::max({ledger.kinetic_max, std::abs(ledger.potential_start),
                                        std::abs(ledger.potential_end)});
  const auto shown = [&](double energy, int most) -> std::string {
    if (std::abs(energy) <= unit) return "0";
    const double digits = unit > 0.0 ? std::log10(std::abs(energy) / unit) : most;
    return fmt::format("{:.{}g}", energy, std::clamp(static_cast<int>(digits) + 1, 1, most));
  };
  std::string words =
      fmt::format("T {} -> {}", shown(ledger.kinetic_start, 9), shown(ledger.kinetic_end, 9));
  if (motion.scene.columns.has_potential) {
    words +=
        fmt::format("; T + V {} -> {}", shown(ledger.kinetic_start + ledger.potential_start, 9),
                    shown(ledger.kinetic_end + ledger.potential_end, 9));
  }
  std::string text = entry("energy", words);
  words =
      fmt::format("work of forces {}, of contacts {} (shocks {})", shown(ledger.forces.value(), 6),
                  shown(ledger.contacts.value(), 6), shown(ledger.shocks.value(), 6));
  if (std::abs(ledger.friction.value()) > unit) {
    words += fmt::format(", of friction outside shocks {}", shown(ledger.friction.value(), 6));
  }
  if (ledger.gain.value() > unit) {
    const std::string gain = shown(ledger.gain.value(), 6);
    words += motion.scene.run.backward ? fmt::format(", {} of it taken by impacts", gain)
                                       : fmt::format("; restitution CREATED {}", gain);
  }
  if (std::abs(ledger.joints.value()) > unit) {
    words += fmt::format(
        ", of {} {}",
        motion.world ? (motion.world->joints > 0 ? "joints and driven bodies" : "driven bodies")
                     : "joints",
        shown(ledger.joints.value(), 6));
  }
  if (std::abs(ledger.correction.value()) > unit) {
    words += fmt::format(", V changed by corrections {}", shown(ledger.correction.value(), 6));
  }
  return text + entry("", words + fmt::format(", defect {:.1e}", ledger.defect.value()));
}

std::string describe_shocks(const Motion& motion) {
  const certify::Certificate& c = motion.outcome.certificate;
  constexpr std::size_t kMostNames = 12;  // of more contacts, those with shocks, the first of them
  const std::size_t contacts = c.shock_counts.size();
  const std::vector<bool> alone = frictions_of(motion.scene);
  std::vector<std::string> words;
  bool any = false;
  for (std::size_t a = 0; a < contacts; ++a) {
    if (a < alone.size() && alone[a]) continue;
    any = true;
    if (contacts > kMostNames && c.shock_counts[a] == 0) continue;
    words.push_back(fmt::format("{} {}", motion.scene.columns.contacts[a], c.shock_counts[a]));
  }
  if (!any) return "";
  return entry("shocks", words.empty() ? "none" : base::list_names(words, kMostNames));
}

/// Where friction acts: time in each state, what it took.
std::string describe_friction(const Motion& motion) {
  const certify::Certificate& c = motion.outcome.certificate;
  constexpr int kMost = 6;  // contacts
  std::string text;
  int told = 0;
  for (std::size_t a = 0; a < c.friction.size(); ++a) {
    if (motion.scene.columns.slips_of(a) == 0) continue;
    if (++told > kMost) continue;
    const certify::FrictionRecord& record = c.friction[a];
    std::string words = fmt::format("{}: stuck {:.6g} s, slid {:.6g} s, took {:.6g}",
                                    motion.scene.columns.contacts[a], record.stick_time,
                                    record.slip_time, record.dissipated.value());
    if (record.tangential_shocks > 0) {
      words += fmt::format("; {}", counted(record.tangential_shocks, "tangential shock"));
    }
    text += entry(text.empty() ? "friction" : "", words);
  }
  if (told > kMost) text += entry("", fmt::format("... and {} contacts more", told - kMost));
  return text;
}

std::string describe_final(const RunReport& report) {
  const Motion& motion = report.motion;
  const record::ErrorBar& bar = report.error_bar;
  constexpr std::size_t kMostNames = 12;
  const std::vector<std::string>& names = motion.scene.columns.coordinates;
  if (names.empty() || names.size() > kMostNames) return "";
  std::string q;
  std::string u;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto at = static_cast<Eigen::Index>(i);
    const auto shown = [&](double value, const std::vector<double>& bars) {
      return bar.is_resolved() ? base::with_bar(value, bars[i]) : fmt::format("{:.9g}", value);
    };
    q += fmt::format("{}{} = {}", i == 0 ? "" : ", ", names[i],
                     shown(motion.final_state.q[at], bar.position));
    u += fmt::format("{}{}' = {}", i == 0 ? "" : ", ", names[i],
                     shown(motion.final_state.u[at], bar.velocity));
  }
  return entry("final", q) + entry("", u);
}

}  // namespace

std::string describe_step(const step::RunSettings& run) {
  if (!run.control.is_on()) return fmt::format("step {:g}", run.step);
  return fmt::format("steps of {:g} to {:g}", run.control.smallest, run.step);
}

std::string describe_settings(const Motion& motion) {
  const scene::Scene& scene = motion.scene;
  return fmt::format("{}{}{}, {}, t = {:g} to {:g}", scene.source, scene.source.empty() ? "" : "; ",
                     step::name_of(scene.scheme), describe_step(scene.run), scene.run.start_time,
                     motion.final_state.t);
}

std::string tell(const Story& story, const Motion& motion) {
  if (motion.world) return "";
  constexpr double kStands = 1e-12;        // of the largest kinetic energy
  constexpr double kStandsAlways = 1e-20;  // of the potential energy: what stands all the time
  const certify::Ledger& ledger = motion.outcome.certificate.ledger;
  const double sign = motion.scene.run.backward ? -1.0 : 1.0;
  const double entered = motion.outcome.certificate.violation_max;
  constexpr double kEntered = 1e-9;  // a gap below zero by more than rounding
  if (!motion.scene.columns.contacts.empty() && !story.has_touch() && entered > kEntered) {
    return fmt::format("No contact pushes, though a gap was entered by {:.2g}.", entered);
  }
  return story.tell(motion.scene.columns.contacts, frictions_of(motion.scene),
                    sign * motion.scene.run.start_time,
                    ledger.kinetic_end <= kStands * ledger.kinetic_max ||
                        ledger.kinetic_end <= kStandsAlways * std::abs(ledger.potential_end));
}

void conclude(RunReport& report, const Extent& extent, bool check_facts,
              const std::string& no_facts) {
  const step::Outcome& outcome = report.motion.outcome;
  const bool finished = outcome.certificate.ok() && !outcome.interrupted;
  if (check_facts && finished) {
    report.facts = check_expectations(report.motion);
  } else if (!report.motion.scene.expectations.empty()) {
    report.facts_not_checked = finished ? no_facts : "the run did not reach its end";
  }
  report.warnings = report.motion.scene.warnings;  // of the scene, and what the run adds
  warn_of_depth(report.motion, extent, report.warnings);
  warn_of_adhesion(report.motion, report.warnings);
  warn_of_explicit_forces(report.motion, report.warnings);
}

record::Summary settings_of(const scene::Scene& scene) {
  record::Summary summary;
  summary.title = scene.title;
  summary.source = scene.source;
  summary.file = scene.file;
  summary.scheme = scene.scheme;
  summary.run = scene.run;
  if (scene.structure() != nullptr) {
    summary.structure.emplace();
    summary.structure->contact_stiffness = scene.scheme.value("stiffness");
  }
  return summary;
}

record::Summary summary_of(const RunReport& run, const std::string& output_error) {
  const Motion& motion = run.motion;
  record::Summary summary = settings_of(motion.scene);
  summary.story = run.story;
  summary.columns = motion.scene.columns;
  summary.parameters = motion.scene.parameters;
  summary.start = motion.scene.start;
  summary.overrides = run.overrides;
  summary.final_state = motion.final_state;
  summary.outcome = motion.outcome;
  summary.error_bar = run.error_bar;
  summary.warnings = run.warnings;
  summary.facts = run.facts;
  summary.facts_not_checked = run.facts_not_checked;
  summary.output_error = output_error;
  summary.structure = motion.structure;
  summary.world = motion.world;
  return summary;
}

std::string describe_speed(const step::Outcome& outcome) {
  const double seconds = outcome.wall_seconds;
  const double rate = seconds > 0.0 ? static_cast<double>(outcome.steps) / seconds : 0.0;
  const std::string many = rate < 10.0 ? fmt::format("{:.2g}", rate) : base::readable_count(rate);
  return entry("time", fmt::format("{:.3g} s, {} steps a second", seconds, many));
}

std::string describe(const RunReport& report) {
  const Motion& motion = report.motion;
  std::string text = describe_head(motion);
  if (!report.story.empty()) text += entry("motion", report.story);
  text += describe_status(report) + describe_checks(report) + describe_energy(motion) +
          describe_shocks(motion) + describe_friction(motion);
  text += motion.structure ? describe_statistics(motion) : describe_final(report);
  for (const std::string& warning : report.warnings) text += entry("warning", warning);
  for (const Fact& fact : report.facts) {
    text +=
        entry(fact.holds ? "fact" : "NOT MET", fmt::format("{} ({})", fact.statement, fact.found));
  }
  if (!report.facts_not_checked.empty()) {
    text += entry("facts", "not checked: " + report.facts_not_checked);
  }
  return text;
}

}  // namespace ricochet::study
