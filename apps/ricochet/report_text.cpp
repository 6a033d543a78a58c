#include "report_text.h"

#include <fmt/format.h>

#include <cmath>

#include "ricochet/base/text.h"
#include "ricochet/record/summary.h"

namespace ricochet::app {
namespace {

std::string describe_head(const study::Motion& motion) {
  const scene::Scene& scene = motion.scene;
  const int n = scene.model->dofs();
  const int m = scene.model->contacts();
  std::string text = scene.title;
  if (!scene.source.empty()) text += fmt::format("  [{}]", scene.source);
  return text + fmt::format(
                    "\n{}, step {:g}, {} steps, t = {:g} to {:g}; {} coordinate{}, {} "
                    "contact{}\n\n",
                    step::name_of(scene.scheme), scene.run.step, motion.outcome.steps,
                    scene.run.start_time, motion.final_state.t, n, n == 1 ? "" : "s", m,
                    m == 1 ? "" : "s");
}

std::string describe_status(const study::Motion& motion) {
  const certify::Certificate& c = motion.outcome.certificate;
  if (c.ok() && motion.outcome.interrupted) {
    return entry("status", "interrupted: what was computed before is whole and certified");
  }
  if (c.ok()) return entry("status", "ok: every step was recomputed and holds");
  const certify::FailureText failure = certify::describe(c.failure);
  std::string words = fmt::format("{} at t = {:.9g}", failure.name, c.failure_time);
  if (c.failure_contact >= 0) {
    words += fmt::format(
        " in '{}'",
        motion.scene.model->contact_names()[static_cast<std::size_t>(c.failure_contact)]);
  }
  words += fmt::format(": {}", failure.meaning);
  if (c.failure_value != 0.0) words += fmt::format(" ({:.3g})", c.failure_value);
  return entry("FAILED", words) + entry("try", failure.remedy);
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
    text += entry("violation", "none: no gap was negative at the end of a step");
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
  std::string words = fmt::format("T {:.9g} -> {:.9g}", ledger.kinetic_start, ledger.kinetic_end);
  if (motion.scene.model->has_potential()) {
    words += fmt::format("; T + V {:.9g} -> {:.9g}", ledger.kinetic_start + ledger.potential_start,
                         ledger.kinetic_end + ledger.potential_end);
  }
  std::string text = entry("energy", words);
  text += entry("", fmt::format("work of forces {:.6g}, of contacts {:.6g} (shocks {:.6g}), "
                                "defect {:.1e}",
                                ledger.forces.value(), ledger.contacts.value(),
                                ledger.shocks.value(), ledger.defect.value()));
  return text;
}

std::string describe_shocks(const study::Motion& motion) {
  const certify::Certificate& c = motion.outcome.certificate;
  std::string words;
  for (std::size_t a = 0; a < c.shock_counts.size(); ++a) {
    words += fmt::format("{}{} {}", a == 0 ? "" : ", ", motion.scene.model->contact_names()[a],
                         c.shock_counts[a]);
  }
  return words.empty() ? "" : entry("shocks", words);
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

}  // namespace

std::string entry(const std::string& label, const std::string& words) {
  constexpr int kColumns = 80;
  constexpr int kIndent = 12;
  std::string text = fmt::format("{:<{}}", label, kIndent);
  int at = kIndent;
  std::size_t begin = 0;
  while (begin < words.size()) {
    std::size_t end = words.find(' ', begin);
    if (end == std::string::npos) end = words.size();
    const std::string word = words.substr(begin, end - begin);
    const int width = base::display_width(word);
    if (at > kIndent && at + 1 + width > kColumns) {
      text += fmt::format("\n{:{}}", "", kIndent);
      at = kIndent;
    } else if (at > kIndent) {
      text += ' ';
      ++at;
    }
    text += word;
    at += width;
    begin = end + 1;
  }
  return text + "\n";
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
                     describe_energy(motion) + describe_shocks(motion) + describe_final(motion);
  for (const std::string& warning : run.warnings) text += entry("warning", warning);
  for (const study::Fact& fact : run.facts) {
    text +=
        entry(fact.holds ? "fact" : "NOT MET", fmt::format("{} ({})", fact.statement, fact.found));
  }
  text += entry("written", fmt::format("{}: trajectory.csv ({} rows), summary.json, plot.svg",
                                       folder.string(), run.rows));
  const double seconds = motion.outcome.wall_seconds;
  const double rate = seconds > 0.0 ? static_cast<double>(motion.outcome.steps) / seconds : 0.0;
  text += entry("time", fmt::format("{:.3g} s, {} steps a second", seconds, readable_count(rate)));
  return text;
}

}  // namespace ricochet::app
