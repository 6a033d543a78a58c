#include "family_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "report_text.h"

namespace ricochet::app {
namespace {

constexpr std::size_t kMostLines = 12;

/// The largest of a number over the members, and whose it is.
struct Largest {
  double value{0.0};
  std::size_t member{0};  // from 1; 0: none is positive

  void take(double other, std::size_t number) {
    if (other > value) *this = {other, number};
  }
  std::string where() const { return member == 0 ? "" : fmt::format(", in member {}", member); }
};

bool is_good(const MemberRun& run) { return run.row.status == "ok" && run.unmet.empty(); }

std::string describe_status(const record::FamilySummary& summary) {
  const std::string status = record::status_of(summary);
  if (status == "ok") {
    return entry("status", "ok: each step of every member obeys the law");
  }
  const auto fine = std::count_if(summary.rows.begin(), summary.rows.end(),
                                  [](const record::MemberRow& row) { return row.status == "ok"; });
  const std::string count = fmt::format("{} of {} members are ok", fine, summary.members);
  if (status == "interrupted") {
    return entry("status",
                 fmt::format("interrupted: {}; each step that was made obeys the law", count));
  }
  if (status == "unresolved") {
    return entry("status", fmt::format("unresolved: the law holds, the digits do not; {}", count));
  }
  return entry("FAILED", fmt::format("{}: {}", status, count));
}

std::string describe_checks(const scene::Scene& scene,
                            const std::vector<std::optional<MemberRun>>& members) {
  Largest residual;
  Largest violation;
  for (std::size_t k = 0; k < members.size(); ++k) {
    if (!members[k]) continue;
    residual.take(members[k]->residual, k + 1);
    violation.take(members[k]->violation, k + 1);
  }
  std::string text =
      entry("residual", fmt::format("{:.2g} at most{}: impulses and velocities obey the law",
                                    residual.value, residual.where()));
  if (scene.columns.contacts.empty()) return text;
  return text + entry("violation", violation.member == 0
                                       ? "none: no gap was negative at the end of a step"
                                       : fmt::format("gaps down to -{:.3g}{}", violation.value,
                                                     violation.where()));
}

std::string describe_member(const scene::Scene& scene, std::size_t k, const MemberRun& run) {
  const std::string label = fmt::format("{:>5}", k + 1);
  std::string words = scene.family.describe(k);
  if (run.row.status != "ok") {
    words += fmt::format(": {}", run.row.status);
    if (run.failure_time != 0.0) words += fmt::format(" at t = {:.9g}", run.failure_time);
  } else if (!run.final_words.empty()) {
    words += fmt::format(": {}", run.final_words);
  }
  std::string text = entry(label, words);
  for (const std::string& fact : run.unmet) text += entry("NOT MET", fact);
  return text;
}

/// The first few members, and the first few that are not good.
std::string describe_rows(const scene::Scene& scene,
                          const std::vector<std::optional<MemberRun>>& members) {
  std::string text;
  std::size_t good = 0;
  std::size_t bad = 0;
  for (std::size_t k = 0; k < members.size(); ++k) {
    if (!members[k]) continue;
    std::size_t& count = is_good(*members[k]) ? good : bad;
    if (++count <= kMostLines) text += describe_member(scene, k, *members[k]);
  }
  const std::size_t shown = std::min(good, kMostLines) + std::min(bad, kMostLines);
  if (shown < good + bad) {
    text += entry("", fmt::format("... and {} more, in summary.json", good + bad - shown));
  }
  return text;
}

}  // namespace

std::string describe_members(const scene::Family& family) {
  const std::size_t members = family.size();
  std::string words = fmt::format("{} member{}", members, members == 1 ? "" : "s");
  for (std::size_t k = 0; k < family.keys.size(); ++k) {
    const std::size_t values = family.keys[k].values.size();
    words += fmt::format("{} {} ({} value{})", k == 0 ? ":" : ",", family.keys[k].name, values,
                         values == 1 ? "" : "s");
  }
  return words;
}

std::string describe_family(const scene::Scene& scene, const record::FamilySummary& summary,
                            const std::vector<std::optional<MemberRun>>& members,
                            const std::filesystem::path& folder, const std::string& pictures) {
  std::string text = scene.title;
  if (!scene.source.empty()) text += fmt::format("  [{}]", scene.source);
  text += "\n\n" + entry("family", describe_members(scene.family)) + describe_status(summary) +
          describe_checks(scene, members) + describe_rows(scene, members);
  const std::string& why = summary.first.facts_not_checked;
  if (!why.empty()) text += entry("facts", "not checked: " + why);
  double rows = 0.0;
  for (const std::optional<MemberRun>& member : members) {
    if (member) rows += static_cast<double>(member->rows);
  }
  text += entry("written", fmt::format("{}: {} ... ({} trajectories, {} rows), summary.json, {}",
                                       folder.string(), study::member_file(1, summary.members),
                                       summary.rows.size(), readable_count(rows), pictures));
  const double seconds = summary.wall_seconds;
  const double rate = seconds > 0.0 ? static_cast<double>(summary.steps) / seconds : 0.0;
  return text +
         entry("time", fmt::format("{:.3g} s, {} steps a second", seconds, readable_count(rate)));
}

}  // namespace ricochet::app
