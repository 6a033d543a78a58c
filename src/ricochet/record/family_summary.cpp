#include "ricochet/record/family_summary.h"

#include <algorithm>

#include "ricochet/base/version.h"
#include "ricochet/record/summary_json.h"

namespace ricochet::record {
namespace {

using base::Json;

/// The settings of a run, without anything about its motion.
Json settings_of(const Summary& summary) {
  Summary bare;
  bare.scheme = summary.scheme;
  bare.run = summary.run;
  bare.structure = summary.structure;
  return json_of(bare);
}

/// The parts of the ledger at the start and at the end.
Json energies_of(const Json& ledger) {
  Json energies;
  for (const auto& [key, value] : ledger.members()) {
    if (key.ends_with("_start") || key.ends_with("_end")) energies[key] = value;
  }
  return energies;
}

Json values_of(const FamilyMember& member) {
  Json values = Json::object();
  for (const auto& [key, value] : member.values) {
    std::visit([&values, &key = key](const auto& v) { values[key] = v; }, value);
  }
  return values;
}

bool is_failure(const std::string& status) {
  return status != "ok" && status != "interrupted" && status != "unresolved";
}

}  // namespace

FamilyCommon compare_settings(const Summary& first, const Summary& other) {
  const Json a = settings_of(first);
  const Json b = settings_of(other);
  return {a["scheme"] == b["scheme"], a["step"] == b["step"], a["settings"] == b["settings"]};
}

MemberRow row_of(const FamilyMember& member, const Summary& summary, const FamilyCommon& common) {
  const Json all = json_of(summary);
  Json row;
  row["number"] = member.number;
  row["values"] = values_of(member);
  row["status"] = all["status"];
  const auto copy = [&](const char* key) {
    if (all.contains(key)) row[key] = all[key];
  };
  copy("failure");
  copy("output_error");
  if (!common.scheme) copy("scheme");
  if (!common.step) copy("step");
  if (!common.settings) copy("settings");
  copy("steps");
  copy("forced");
  copy("final");
  copy("violation");
  copy("residual");
  row["energy"] = energies_of(all["energy"]);
  row["shocks"] = all["shocks"]["count"];
  if (all.contains("structure")) {
    for (const char* key : {"points", "guides"}) row["structure"][key] = all["structure"][key];
  }
  if (!summary.warnings.empty()) copy("warnings");
  copy("facts");
  copy("facts_not_checked");
  row["file"] = member.file;
  return {row["status"].text(), row.compact()};
}

std::string status_of(const FamilySummary& family) {
  const auto failed = std::find_if(family.rows.begin(), family.rows.end(),
                                   [](const MemberRow& row) { return is_failure(row.status); });
  if (failed != family.rows.end()) return failed->status;
  if (!family.output_error.empty()) return "output_error";
  const auto count = [&](const char* status) {
    return static_cast<std::size_t>(
        std::count_if(family.rows.begin(), family.rows.end(),
                      [&](const MemberRow& row) { return row.status == status; }));
  };
  const std::size_t unresolved = count("unresolved");
  if (count("ok") + unresolved < family.members) return "interrupted";
  return unresolved > 0 ? "unresolved" : "ok";
}

std::string to_json(const FamilySummary& family) {
  const Json first = json_of(family.first);
  Json json;
  json["format"] = kFormatVersion;
  json["status"] = status_of(family);
  if (!family.output_error.empty()) json["output_error"] = family.output_error;
  json["scene"] = first["scene"];
  if (family.common.scheme) json["scheme"] = first["scheme"];
  if (family.common.step) json["step"] = first["step"];
  json["steps"] = family.steps;
  if (family.common.settings) json["settings"] = first["settings"];
  json["overrides"] = first["overrides"];
  json["family"] = {
      {"keys", family.keys}, {"members", family.members}, {"run", family.rows.size()}};
  if (!family.first.facts_not_checked.empty()) {
    json["facts_not_checked"] = family.first.facts_not_checked;
  }
  json["wall_seconds"] = family.wall_seconds;
  json["steps_per_second"] =
      family.wall_seconds > 0.0 ? static_cast<double>(family.steps) / family.wall_seconds : 0.0;
  json["version"] = base::kVersion;
  std::string text = json.pretty();
  text.resize(text.size() - 2);  // its closing bracket, for the rows to come before it
  text += ",\n  \"members\": [";
  for (std::size_t k = 0; k < family.rows.size(); ++k) {
    text += k == 0 ? "\n    " : ",\n    ";
    text += family.rows[k].json;
  }
  return text + "\n  ]\n}\n";
}

}  // namespace ricochet::record
