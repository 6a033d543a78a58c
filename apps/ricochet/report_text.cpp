#include "report_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ricochet/base/text.h"
#include "ricochet/record/summary.h"

namespace ricochet::app {
namespace {

std::string describe_rows(const model::FormulaModel& model) {
  const std::string contacts = counted(model.contacts() - model.joints(), "contact");
  return model.joints() == 0 ? contacts : fmt::format("{}, {} held", contacts, model.joints());
}

std::string describe_head(const study::Motion& motion) {
  const scene::Scene& scene = motion.scene;
  std::string text = scene.title;
  if (!scene.source.empty()) text += fmt::format("  [{}]", scene.source);
  text += fmt::format("\n{}, {}, {}, t = {:g} to {:g}; {}, {}\n\n", step::name_of(scene.scheme),
                      describe_step(scene.run), counted(motion.outcome.steps, "step"),
                      scene.run.start_time, motion.final_state.t,
                      counted(scene.model->dofs(), "coordinate"), describe_rows(*scene.model));
  return wrapped(text);
}

/// "12 of 500 steps"; under step control how many there will be is not known.
std::string describe_progress(const study::Motion& motion) {
  const step::RunSettings& run = motion.scene.run;
  if (run.control.is_on()) return counted(motion.outcome.steps, "step");
  return fmt::format("{} of {}", motion.outcome.steps, counted(run.steps, "step"));
}

/// The number that broke a limit, with the limit; empty where there is none.
std::string describe_excess(const certify::Certificate& c, const certify::Limits& limits) {
  switch (c.failure) {
    case certify::Failure::Violation:
      return fmt::format(": {:.6g} deep, the limit is {:.6g}", c.failure_value, limits.violation);
    case certify::Failure::Residual:
      return fmt::format(": {:.3g}, the limit is {:.3g}", c.failure_value, limits.residual);
    case certify::Failure::Balance:
    case certify::Failure::Kinematics:
      return fmt::format(": {:.3g}, the limit is {:.3g}", c.failure_value, limits.balance);
    default: break;
  }
  return c.failure_value == 0.0 ? "" : fmt::format(" ({:.3g})", c.failure_value);
}

std::string describe_status(const study::Motion& motion) {
  const certify::Certificate& c = motion.outcome.certificate;
  if (c.ok() && motion.outcome.interrupted) {
    return entry("status",
                 fmt::format("interrupted after {}: what was computed is whole and certified",
                             describe_progress(motion)));
  }
  if (c.ok()) return entry("status", "ok: every step was recomputed and holds");
  const certify::FailureText failure = certify::describe(c.failure);
  std::string words = fmt::format("{} at t = {:.9g}", failure.name, c.failure_time);
  if (c.failure_contact >= 0) {
    words += fmt::format(
        " in '{}'",
        motion.scene.model->contact_names()[static_cast<std::size_t>(c.failure_contact)]);
  }
  words += fmt::format(": {}{}; {} done", failure.meaning,
                       describe_excess(c, motion.scene.run.limits), describe_progress(motion));
  return entry("FAILED", words) + entry("remedy", step::remedy_of(c.failure, motion.scene.scheme));
}

std::string describe_checks(const study::Motion& motion) {
  const certify::Certificate& c = motion.outcome.certificate;
  const certify::Limits& limits = motion.scene.run.limits;
  std::string text = entry(
      "residual", fmt::format("{:.2g} at most (limit {:.0e}): impulses and velocities obey the law",
                              c.residual_max, limits.residual));
  text +=
      entry("balance", fmt::format("{:.2g} at most (limit {:.0e}): momentum and positions add up",
                                   c.balance_max, limits.balance));
  if (motion.scene.model->contacts() == 0) return text;
  if (c.violation_contact < 0) {
    text += entry("violation", c.ok() ? "none: no gap was negative at the end of a step"
                                      : "none in the steps before");
  } else {
    const auto contact = static_cast<std::size_t>(c.violation_contact);
    text += entry(
        "violation",
        fmt::format("gap of '{}' down to -{:.3g} ({:.3g} deep) at t = {:.6g}; mean {:.3g}, "
                    "rms {:.3g}",
                    motion.scene.model->contact_names()[contact], c.violation_max,
                    c.violation_depth, c.violation_time, c.violation_mean(), c.violation_rms()));
  }
  if (!c.impulses_unique) {
    text += entry("impulses",
                  "not unique: gradients of active contacts depend on each other, so "
                  "other impulses give the same motion");
  }
  return text;
}

std::string describe_energy(const study::Motion& motion) {
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
  if (motion.scene.model->has_potential()) {
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
    words += fmt::format("; restitution CREATED {}", shown(ledger.gain.value(), 6));
  }
  if (std::abs(ledger.joints.value()) > unit) {
    words += fmt::format(", of joints {}", shown(ledger.joints.value(), 6));
  }
  if (std::abs(ledger.correction.value()) > unit) {
    words += fmt::format(", V changed by corrections {}", shown(ledger.correction.value(), 6));
  }
  return text + entry("", words + fmt::format(", defect {:.1e}", ledger.defect.value()));
}

std::string describe_shocks(const study::Motion& motion) {
  const certify::Certificate& c = motion.outcome.certificate;
  constexpr std::size_t kMostNames = 12;  // of more contacts, those with shocks, the first of them
  const std::size_t contacts = c.shock_counts.size();
  std::vector<std::string> words;
  for (std::size_t a = 0; a < contacts; ++a) {
    if (contacts > kMostNames && c.shock_counts[a] == 0) continue;
    words.push_back(
        fmt::format("{} {}", motion.scene.model->contact_names()[a], c.shock_counts[a]));
  }
  if (contacts == 0) return "";
  return entry("shocks", words.empty() ? "none" : base::list_names(words, kMostNames));
}

/// Where friction acts: time in each state, what it took.
std::string describe_friction(const study::Motion& motion) {
  const certify::Certificate& c = motion.outcome.certificate;
  constexpr int kMost = 6;  // contacts
  std::string text;
  int told = 0;
  for (std::size_t a = 0; a < c.friction.size(); ++a) {
    if (motion.scene.model->slips(static_cast<int>(a)) == 0) continue;
    if (++told > kMost) continue;
    const certify::FrictionRecord& record = c.friction[a];
    std::string words = fmt::format("{}: stuck {:.6g} s, slid {:.6g} s, took {:.6g}",
                                    motion.scene.model->contact_names()[a], record.stick_time,
                                    record.slip_time, record.dissipated.value());
    if (record.tangential_shocks > 0) {
      words += fmt::format("; {}", counted(record.tangential_shocks, "tangential shock"));
    }
    text += entry(text.empty() ? "friction" : "", words);
  }
  if (told > kMost) text += entry("", fmt::format("... and {} contacts more", told - kMost));
  return text;
}

std::string describe_final(const study::Motion& motion) {
  constexpr std::size_t kMostNames = 12;
  const auto& names = motion.scene.model->coordinates();
  if (names.size() > kMostNames) return "";
  std::string q;
  std::string u;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto at = static_cast<Eigen::Index>(i);
    q += fmt::format("{}{} = {:.9g}", i == 0 ? "" : ", ", names[i], motion.final_state.q[at]);
    u += fmt::format("{}{}' = {:.9g}", i == 0 ? "" : ", ", names[i], motion.final_state.u[at]);
  }
  return entry("final", q) + entry("", u);
}

constexpr int kColumns = 80;

/// The words behind a beginning; lines after the first are indented.
std::string fold(const std::string& beginning, const std::string& words, int indent) {
  std::string text = beginning;
  int at = base::display_width(beginning);
  bool fresh = true;  // nothing on this line yet
  for (std::size_t begin = 0; begin < words.size();) {
    std::size_t end = words.find(' ', begin);
    if (end == std::string::npos) end = words.size();
    const std::string word = words.substr(begin, end - begin);
    const int width = base::display_width(word);
    if (!fresh && at + 1 + width > kColumns) {
      text += fmt::format("\n{:{}}", "", indent);
      at = indent;
    } else if (!fresh) {
      text += ' ';
      ++at;
    }
    text += word;
    at += width;
    fresh = false;
    begin = end + 1;
  }
  return text;
}

}  // namespace

std::string describe_step(const step::RunSettings& run) {
  if (!run.control.is_on()) return fmt::format("step {:g}", run.step);
  return fmt::format("steps of {:g} to {:g}", run.control.smallest, run.step);
}

std::string entry(const std::string& label, const std::string& words) {
  constexpr int kIndent = 12;
  return fold(fmt::format("{:<{}}", label, kIndent), words, kIndent) + "\n";
}

std::string wrapped(const std::string& text) {
  constexpr int kIndent = 8;
  std::string result;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    result += base::display_width(line) > kColumns ? fold("", line, kIndent) : line;
    if (end < text.size()) result += '\n';
    begin = end + 1;
  }
  return result;
}

std::string counted(long long count, const std::string& noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string readable_count(double count) {
  if (count >= 1e9) return fmt::format("{:.3g} billion", count / 1e9);
  if (count >= 1e6) return fmt::format("{:.3g} million", count / 1e6);
  if (count >= 1e4) return fmt::format("{:.3g} thousand", count / 1e3);
  return fmt::format("{:.0f}", count);
}

std::string describe_run(const FolderRun& run, const std::filesystem::path& folder) {
  const study::Motion& motion = run.motion;
  std::string text = describe_head(motion) + describe_status(motion) + describe_checks(motion) +
                     describe_energy(motion) + describe_shocks(motion) + describe_friction(motion) +
                     describe_final(motion);
  for (const std::string& warning : run.warnings) text += entry("warning", warning);
  for (const study::Fact& fact : run.facts) {
    text +=
        entry(fact.holds ? "fact" : "NOT MET", fmt::format("{} ({})", fact.statement, fact.found));
  }
  if (!run.facts_not_checked.empty()) {
    text += entry("facts", "not checked: " + run.facts_not_checked);
  }
  text += entry("written", fmt::format("{}: trajectory.csv ({}), summary.json, plot.svg{}",
                                       folder.string(), counted(run.rows, "row"),
                                       run.report.frames().size() > 0 ? ", report.html" : ""));
  const double seconds = motion.outcome.wall_seconds;
  const double rate = seconds > 0.0 ? static_cast<double>(motion.outcome.steps) / seconds : 0.0;
  text += entry("time", fmt::format("{:.3g} s, {} steps a second", seconds, readable_count(rate)));
  return text;
}

}  // namespace ricochet::app
