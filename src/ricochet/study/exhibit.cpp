#include "ricochet/study/exhibit.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "ricochet/study/builtin_scenes.h"

namespace ricochet::study {
namespace {

std::vector<scene::Override> overrides_of(const std::vector<std::string>& settings) {
  std::vector<scene::Override> overrides;
  for (const std::string& setting : settings) overrides.push_back(scene::parse_override(setting));
  return overrides;
}

scene::Scene read_builtin(const std::string& name, const std::vector<std::string>& settings) {
  return scene::read_scene(name + ".toml", builtin_scene(name), overrides_of(settings));
}

}  // namespace

std::vector<Fact> Exhibit::facts_of(const Plate& plate) const {
  if (plate.about.empty()) return facts;
  std::vector<Fact> some;
  for (const Fact& fact : facts) {
    for (const std::string& beginning : plate.about) {
      if (fact.statement.rfind(beginning, 0) != 0) continue;
      some.push_back(fact);
      break;
    }
  }
  return some;
}

std::size_t family_of(const std::string& name, const std::vector<std::string>& settings) {
  return read_builtin(name, settings).family.size();
}

Motion run_member(const Runner& runner, const std::string& name, const std::string& label,
                  const std::vector<std::string>& settings, std::size_t member) {
  const scene::Scene family = read_builtin(name, settings);
  return runner(name + "/" + label, scene::read_member(family, overrides_of(settings), member),
                settings);
}

Motion run_builtin(const Runner& runner, const std::string& name, const std::string& label,
                   const std::vector<std::string>& settings) {
  return runner(name + "/" + label, read_builtin(name, settings), settings);
}

void add_run_facts(const Motion& motion, std::vector<Fact>& facts) {
  const certify::Certificate& c = motion.outcome.certificate;
  std::string found;
  if (!c.ok()) {
    found = fmt::format("{} at t = {:.9g}", certify::describe(c.failure).meaning, c.failure_time);
  } else if (motion.outcome.interrupted) {
    found = fmt::format("interrupted at t = {:.9g}", motion.final_state.t);
  }
  if (found.empty()) return;
  const std::string scheme = step::name_of(motion.scene.scheme);
  facts.push_back(
      {fmt::format("{}, {}: runs to its end", motion.scene.title, scheme), found, false});
}

std::vector<double> unwrapped_angles(const Motion& motion) {
  std::vector<double> angles;
  double turned = 0.0;
  for (const Row& row : motion.rows) {
    const double change = std::atan2(row.q[0], -row.q[1]) - turned;
    turned += change - 2.0 * std::numbers::pi * std::round(change / (2.0 * std::numbers::pi));
    angles.push_back(turned);
  }
  return angles;
}

}  // namespace ricochet::study
