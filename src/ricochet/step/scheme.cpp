#include "ricochet/step/scheme.h"

#include <fmt/format.h>

#include <algorithm>

#include "ricochet/base/error.h"
#include "ricochet/base/text.h"

namespace ricochet::step {

Scheme::Scheme() : Scheme(*all_schemes().front()) {}

Scheme::Scheme(const SchemeInfo& info) : info_(&info) {
  for (const Setting& setting : info.settings) values_.push_back(setting.standard);
}

double Scheme::value(std::string_view setting) const {
  for (std::size_t k = 0; k < values_.size(); ++k) {
    if (info_->settings[k].name == setting) return values_[k];
  }
  return 0.0;
}

void Scheme::set(std::string_view setting, double value) {
  for (std::size_t k = 0; k < values_.size(); ++k) {
    if (info_->settings[k].name == setting) values_[k] = value;
  }
}

std::vector<std::string> scheme_names(bool of_structures) {
  std::vector<std::string> names;
  for (const SchemeInfo* info : all_schemes()) {
    if (of_structures ? info->runs_structures : info->runs_systems) names.emplace_back(info->name);
  }
  return names;
}

std::vector<std::string> staggered_names() {
  std::vector<std::string> names;
  for (const SchemeInfo* info : all_schemes()) {
    if (info->is_staggered) names.emplace_back(info->name);
  }
  return names;
}

Scheme make_scheme(const std::string& name, bool of_structure) {
  const std::vector<std::string> known = scheme_names(of_structure);
  std::string remedy =
      (of_structure ? "a structure is run by " : "known schemes: ") + base::list_names(known);
  for (const SchemeInfo* info : all_schemes()) {
    if (info->name != name) continue;
    if (of_structure ? info->runs_structures : info->runs_systems) return Scheme(*info);
    if (of_structure) break;
    throw base::InputError("run.scheme", fmt::format("{} is for scenes with a [structure]", name),
                           remedy);
  }
  if (const auto near = base::nearest_name(name, known)) {
    remedy = fmt::format("did you mean '{}'? {}", *near, remedy);
  }
  throw base::InputError("run.scheme",
                         of_structure ? fmt::format("'{}' does not run structures", name)
                                      : fmt::format("unknown scheme '{}'", name),
                         remedy);
}

Scheme default_scheme(bool of_structure, bool has_friction) {
  for (const SchemeInfo* info : all_schemes()) {
    if (!info->is_default || info->runs_systems == of_structure) continue;
    if (of_structure && info->has_friction != has_friction) continue;
    Scheme scheme(*info);
    for (const Setting& setting : info->settings) {
      if (setting.unnamed) scheme.set(setting.name, *setting.unnamed);
    }
    return scheme;
  }
  return {};
}

std::string name_of(const Scheme& scheme) { return std::string(scheme.info().name); }

std::vector<std::string> setting_names() {
  std::vector<std::string> names;
  for (const SchemeInfo* info : all_schemes()) {
    for (const Setting& setting : info->settings) {
      const std::string name(setting.name);
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

std::string laws_in_words(const SchemeInfo& info) {
  if (info.restitution) return fmt::format("e = {}", *info.restitution);
  std::string words = "all";
  if (info.laws == Laws::OneConstant) words = "one e";
  if (info.laws == Laws::Constants) words = "constant e";
  if (info.follows_shocks && !info.has_friction) words += "; friction in impulse time";
  return info.has_friction ? words + "; friction" : words;
}

std::string guide_row(const SchemeInfo& info) {
  std::string settings;
  for (const Setting& setting : info.settings) {
    settings +=
        fmt::format("{}`{}`: {}", settings.empty() ? "" : "; ", setting.name, setting.meaning);
  }
  return fmt::format("| `{}` | {} | {} | {} | {} |", info.name, info.meaning, laws_in_words(info),
                     settings.empty() ? "–" : settings, info.use);
}

std::string remedy_of(certify::Failure failure, const Scheme& scheme) {
  const std::string remedy = certify::describe(failure).remedy;
  const bool may_correct = scheme.info().gains_by_correction && scheme.value("correction") == 0.0;
  if (failure != certify::Failure::Violation || !may_correct) return remedy;
  return remedy + " or correction = \"project\"";
}

}  // namespace ricochet::step
