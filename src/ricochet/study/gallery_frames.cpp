#include "ricochet/study/gallery_frames.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ricochet/study/builtin_scenes.h"

namespace ricochet::study {
namespace {

/// Runs a scene and enters it in the table, and its stated facts among the facts.
Motion show_frame(const Runner& runner, const std::string& name, Exhibit& exhibit) {
  Motion motion = run_builtin(runner, name, "run");
  add_run_facts(motion, exhibit.facts);
  exhibit.table.push_back(fmt::format("{:<24}{:>11}{:>10}{:>8}{:>11.1e}", name,
                                      motion.scene.columns.coordinates.size(),
                                      motion.scene.columns.contacts.size(), motion.outcome.steps,
                                      motion.outcome.certificate.residual_max));
  for (Fact& fact : check_expectations(motion)) {
    fact.statement = fmt::format("{}, {}", name, fact.statement);
    exhibit.facts.push_back(std::move(fact));
  }
  return motion;
}

/// The largest difference of a coordinate or velocity between the rows of two runs.
double apart(const Motion& one, const Motion& other) {
  if (one.rows.size() != other.rows.size()) return HUGE_VAL;
  double most = 0.0;
  for (std::size_t k = 0; k < one.rows.size(); ++k) {
    for (std::size_t i = 0; i < one.rows[k].q.size(); ++i) {
      most = std::max({most, std::abs(one.rows[k].q[i] - other.rows[k].q[i]),
                       std::abs(one.rows[k].u[i] - other.rows[k].u[i])});
    }
  }
  return most;
}

}  // namespace

Exhibit show_frames(const Runner& runner) {
  Exhibit exhibit;
  exhibit.table = {"", fmt::format("{:<24}{:>11}{:>10}{:>8}{:>11}", "", "coordinates", "contacts",
                                   "steps", "residual")};
  for (const std::string name : {"painleve", "slider-crank", "essai-08"}) {
    const Motion shapes = show_frame(runner, "frame-" + name, exhibit);
    const scene::Scene scene = scene::read_scene(name + ".toml", builtin_scene(name));
    const double found = apart(shapes, run_in_memory(name, scene, {}));
    exhibit.facts.push_back({fmt::format("frame-{}: the motion of {}, to 1e-9", name, name),
                             fmt::format("{:.1e} apart at most", found), found < 1e-9});
  }
  (void)show_frame(runner, "frame-woodpecker", exhibit);
  (void)show_frame(runner, "frame-pendulum-strike", exhibit);
  return exhibit;
}

}  // namespace ricochet::study
