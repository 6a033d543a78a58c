#include "ricochet/study/gallery_bodies.h"

#include <fmt/format.h>

namespace ricochet::study {
namespace {

/// A scene as it is written, or beside the point at which what stands falls.
struct Show {
  const char* scene;
  const char* label;
  std::vector<std::string> settings{};
};

void show_one_body(const Runner& runner, const Show& show, Exhibit& exhibit) {
  const Motion motion = run_builtin(runner, show.scene, show.label, show.settings);
  exhibit.table.push_back(fmt::format("{:<22}{:<10}{:>7}{:>8}{:>8}{:>9.1f}{:>11.1e}", show.scene,
                                      show.label, motion.world->free_bodies, motion.outcome.steps,
                                      motion.world->told.shocks, motion.world->told.pushes_mean,
                                      motion.outcome.certificate.residual_max));
  add_run_facts(motion, exhibit.facts);
  if (!motion.outcome.certificate.ok()) return;
  for (Fact fact : check_expectations(motion)) {
    fact.statement = fmt::format("{} ({}), {}", show.scene, show.label, fact.statement);
    exhibit.facts.push_back(std::move(fact));
  }
}

}  // namespace

Exhibit show_bodies(const Runner& runner) {
  Exhibit exhibit;
  exhibit.table = {"", fmt::format("{:<32}{:>7}{:>8}{:>8}{:>9}{:>11}", "", "bodies", "steps",
                                   "shocks", "pushes", "residual")};
  const std::vector<Show> shows = {
      {"body-slide-to-roll", "run"},
      {"body-slope", "run"},
      {"body-tilting-plate", "slides"},
      {"body-tilting-plate", "tips", {"c=5"}},
      {"body-overhang", "stands"},
      {"body-overhang", "falls", {"over=1.000001"}},
      {"body-card-tent", "stands"},
      {"body-card-tent", "falls", {"part=1.000001"}},
      {"body-arch", "stands"},
      {"body-arch", "falls", {"ratio=0.1060"}},
      {"body-tilting-arch", "falls"},
      {"body-cradle", "run"},
      {"body-spinning-disc", "run"},
      {"body-stack", "stands"},
      {"body-rocking-block", "run"},
      {"body-cloud", "run"},
      {"body-heap", "rests"},
      {"body-sphere-rolls", "run"},
      {"body-sphere-slope", "run"},
      {"body-sphere-spin", "run"},
      {"body-rolling-resistance", "run"},
      {"body-box-stack", "stands"},
      {"body-free-top", "run"},
      {"body-rattleback", "run"},
      {"body-euler-disc", "run"},
      {"body-tippe-top", "run"},
      {"body-plank-tower", "run"},
      {"body-pile", "rests"},
      {"body-four-bar", "run"},
      {"body-pendulum-chain", "run"},
      {"body-slider-crank", "run"},
      {"body-cart", "run"},
  };
  for (const Show& show : shows) show_one_body(runner, show, exhibit);
  return exhibit;
}

}  // namespace ricochet::study
