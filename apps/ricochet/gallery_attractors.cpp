#include "gallery_attractors.h"

#include <fmt/format.h>

#include <cmath>
#include <sstream>

#include "ricochet/base/text.h"
#include "ricochet/dynamics/picture.h"
#include "ricochet/host/threads.h"
#include "ricochet/study/builtin_scenes.h"

namespace ricochet::app {
namespace {

using study::Exhibit;

/// A scene of the program.
struct Shown {
  scene::Scene scene;

  explicit Shown(const std::string& name, const std::vector<scene::Override>& changes = {})
      : scene(scene::read_scene(name + ".toml", study::builtin_scene(name), changes)) {}
};

void add_plate(Exhibit& exhibit, const char* name, const std::string& title,
               const std::string& caption, std::string svg) {
  study::Plate plate{.name = fmt::format("attractors-{}", name), .title = title};
  plate.caption = caption;
  plate.svg = std::move(svg);
  plate.about = {std::string(name)};
  exhibit.plates.push_back(std::move(plate));
}

void show_diagram(Exhibit& exhibit, step::Monitor& monitor) {
  const Shown ball("bouncing-ball");
  const dynamics::Diagram found =
      dynamics::bifurcate(ball.scene, {}, true, host::make_executor(0, monitor.stop), &monitor);
  constexpr double kFlips[] = {1.5268237, 1.6671307, 1.6967807};
  constexpr double kNear = 0.01;  // of a flip, where motions take long to settle
  int wrong = 0;
  for (const dynamics::Branch& branch : found.forward) {
    const double G = found.values[branch.value];
    int period = 1;
    bool near = G > 1.702;
    for (const double flip : kFlips) {
      period *= G > flip ? 2 : 1;
      near = near || std::abs(G - flip) < kNear;
    }
    wrong += !near && branch.period != period ? 1 : 0;
  }
  exhibit.facts.push_back({"diagram: periods double at G = 1.5268, 1.6671 and 1.6968",
                           fmt::format("{} of {} values elsewhere", wrong, found.values.size()),
                           wrong == 0});
  add_plate(exhibit, "diagram", "A ball on a vibrating table: the cascade",
            "approach speed of impacts over G = A w^2/g, e = 0.5; the first exponent below",
            draw(found, ball.scene));
}

void show_basin(Exhibit& exhibit, step::Monitor& monitor) {
  const Shown ball("ball-basin");
  const dynamics::Basin found =
      dynamics::find_basin(ball.scene, {}, host::make_executor(0, monitor.stop), &monitor);
  const double part =
      found.attractors.size() == 2 ? std::min(found.fraction(0), found.fraction(1)) : 0.0;
  exhibit.facts.push_back(
      {"basin: 0.2347 of the starts bounce once a period, the others come to "
       "rest on the table in each",
       fmt::format("{:.4f} of {} cells", part, found.labels.size()),
       std::abs(part - 0.2347) < 0.01});
  add_plate(exhibit, "basin", "Bouncing or resting", "phase s and relative speed w of the start",
            draw(found, ball.scene));
}

void show_chaos(Exhibit& exhibit, step::Monitor& monitor) {
  const Shown one("chaotic-oscillator");
  const dynamics::Lyapunov found = dynamics::lyapunov(one.scene, {.until = 1e5}, &monitor);
  const bool has = found.exponents.size() == 2;
  const double first = has ? found.exponents[0] : 0.0, error = has ? found.errors[0] : 0.0;
  exhibit.facts.push_back(
      {"exponents: the first is 0.1419, and their sum 2 f ln e",
       fmt::format("{}; off by {:.1e}", base::with_bar(first, error), std::abs(found.sum_residual)),
       has && std::abs(first - 0.1419) < 4.0 * error && std::abs(found.sum_residual) < 1e-10});
  add_plate(exhibit, "exponents", "Impact oscillator: the first exponent",
            "x'' + x = cos 2.8 t, x <= 0, e = 0.8", draw(found, one.scene));
  const dynamics::SectionResult section =
      dynamics::take_section(one.scene, {.settle = 300, .show = 20000}, &monitor);
  const double rate = section.rate * one.scene.dynamics.period;
  exhibit.facts.push_back({"section: 1.0574 impacts a period, and it does not repeat",
                           fmt::format("{:.4f} a period", rate),
                           section.period == 0 && std::abs(rate - 1.0574) < 0.005});
  add_plate(exhibit, "section", "Impact oscillator: phase and speed of its impacts",
            "the same motion at each impact", draw(section, one.scene));
}

void show_schemes(Exhibit& exhibit, step::Monitor& monitor) {
  const Shown one("chaotic-oscillator");
  const auto read = [](const std::string& scheme, double step) {
    return Shown("chaotic-oscillator",
                 {{"run.scheme", scheme, ""}, {"run.step", fmt::format("{:.17g}", step), ""}})
        .scene;
  };
  dynamics::InvariantSettings settings;
  settings.schemes = {"moreau", "paoli-schatzman"};
  settings.periods = 2000;
  for (const double count : {50.0, 100.0, 400.0, 50.618, 100.618, 400.618}) {
    settings.steps.push_back(one.scene.dynamics.period / count);
  }
  const dynamics::InvariantTable found =
      dynamics::compare_invariants(one.scene, read, settings, &monitor);
  int whole = 0, others = 0;  // that lock
  for (const dynamics::Invariants& row : found.rows) {
    const double count = one.scene.dynamics.period / row.step;
    const bool is_whole = std::abs(count - std::round(count)) < 1e-6;
    if (row.scheme == "moreau" && row.is_locked) ++(is_whole ? whole : others);
  }
  exhibit.facts.push_back(
      {"schemes: with a whole number of steps a period moreau turns chaos into "
       "a periodic motion, and not otherwise",
       fmt::format("{} of 3 lock, {} of 3 others", whole, others), whole == 3 && others == 0});
  add_plate(exhibit, "schemes", "Which scheme has the right attractor?",
            "the question of Paoli 2001, par. 6", draw(found, one.scene));
  std::istringstream words(describe(found, one.scene));
  for (std::string line; std::getline(words, line);) exhibit.table.push_back(line);
}

Exhibit show_attractors(step::Monitor& monitor) {
  Exhibit exhibit;
  show_diagram(exhibit, monitor);
  show_basin(exhibit, monitor);
  show_chaos(exhibit, monitor);
  show_schemes(exhibit, monitor);
  return exhibit;
}

}  // namespace

std::vector<study::GalleryEntry> gallery_entries(step::Monitor* monitor) {
  std::vector<study::GalleryEntry> entries = study::gallery();
  const auto show = [monitor](const study::Runner&) {
    step::Monitor own;
    return show_attractors(monitor != nullptr ? *monitor : own);
  };
  entries.push_back(
      {"attractors", "Diagram, basin, exponents, section", "Tufillaro, Luck, Budd", show});
  return entries;
}

study::GalleryEntry gallery_entry(const std::string& name, step::Monitor* monitor) {
  for (const study::GalleryEntry& entry : gallery_entries(monitor)) {
    if (entry.name == name) return entry;
  }
  return study::gallery_entry(name);
}

}  // namespace ricochet::app
