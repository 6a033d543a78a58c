#include <fmt/format.h>

#include <algorithm>

#include "commands.h"
#include "converter.h"
#include "family_text.h"
#include "report_text.h"
#include "ricochet/host/threads.h"
#include "ricochet/model/formula_view.h"
#include "ricochet/plot/run_plot.h"
#include "ricochet/record/rows.h"
#include "ricochet/study/hypotheses.h"
#include "ricochet/study/line_text.h"
#include "ricochet/study/run_world.h"
#include "scene_file.h"

namespace ricochet::app {
namespace {

void print_start(const scene::Scene& scene, const model::FormulaModel& model) {
  constexpr int kAny = model::kDynamic;
  const model::FormulaView<kAny, kAny> view(model);
  auto place = view.make_place();
  view.gaps(scene.start.t, scene.start.q, place);
  model::IndexList<kAny> all(model.contacts());
  for (int a = 0; a < model.contacts(); ++a) all.push(a);
  view.gradients(all, place);
  model::Vector<kAny> momentum(model.dofs());
  model::Vector<kAny> slope(model.dofs());
  view.momentum(scene.start.q, scene.start.u, place, momentum, slope);
  fmt::print("start       T = {:.9g}", 0.5 * momentum.dot(scene.start.u));
  if (model.has_potential()) {
    fmt::print(", V = {:.9g}", view.gaps_and_potential(scene.start.t, scene.start.q, place));
  }
  fmt::print("\n");
  constexpr int kMostRows = 20;
  for (int a = 0; a < std::min(model.contacts(), kMostRows); ++a) {
    const double rate = place.normals.dot(a, scene.start.u) + place.rate[a];
    const std::string& name = model.contact_names()[static_cast<std::size_t>(a)];
    if (model.slip(a).is_loaded()) {
      fmt::print("            {}: friction without a contact\n", name);
      continue;
    }
    fmt::print("            {}: gap {:.6g}, changing at {:.6g}\n", name, place.gap[a], rate);
  }
  if (model.contacts() > kMostRows) {
    fmt::print("            ... and {} more\n", model.contacts() - kMostRows);
  }
}

/// What will be run, and what it will write.
void print_run(const scene::Scene& scene) {
  const step::RunSettings& run = scene.run;
  const bool controlled = run.control.is_on();  // then the number of steps is not known
  const std::string steps = controlled ? "" : counted(run.steps, "step") + ", ";
  const double end =
      controlled ? run.end_time : run.start_time + static_cast<double>(run.steps) * run.step;
  fmt::print("{}",
             entry("run", fmt::format("{}, {}, {}t = {:g} to {:g}", step::name_of(scene.scheme),
                                      describe_step(run), steps, run.start_time, end)));
  const double rows = record::expected_rows(run);
  fmt::print("{}",
             entry("output", fmt::format("{} {} rows, {:.3g} MB", controlled ? "at least" : "about",
                                         readable_count(rows),
                                         record::estimate_bytes(scene.columns, rows) / 1e6)));
}

/// What all members take together; throws where one of them cannot be read.
void print_family(const scene::Scene& scene, const std::vector<scene::Override>& changes) {
  const std::atomic<bool> stop{false};
  const study::FamilyPlan plan = study::plan_family(scene, changes, host::make_executor(0, stop));
  fmt::print("{}", entry("in all", fmt::format("{} runs, {} steps, about {} rows, {:.3g} MB",
                                               scene.family.size(), readable_count(plan.steps),
                                               readable_count(plan.rows), plan.bytes / 1e6)));
}

/// What Ballard's theorems suppose, and what follows.
void print_hypotheses(const study::Hypotheses& all) {
  const auto told = [](const std::optional<bool>& holds) {
    return !holds ? "cannot tell" : *holds ? "yes" : "no";
  };
  std::string first = "theorem";
  for (const auto* list : {&all.one_motion, &all.for_ever}) {
    for (const study::Hypothesis& one : *list) {
      const std::string why = one.why.empty() ? "" : ": " + one.why;
      fmt::print("{}", entry(first, fmt::format("{}: {}{}", one.what, told(one.holds), why)));
      first = "";
    }
  }
  const bool is_one = study::all_hold(all.one_motion).value_or(false);
  const bool lasts = is_one && study::all_hold(all.for_ever).value_or(false);
  fmt::print("{}", entry("", lasts ? "so there is one motion, and it lasts for all time [Ballard "
                                     "2013, Theorems 1 and 2]"
                             : is_one ? "so there is one motion [Ballard 2013, Theorem 1]; whether "
                                        "it lasts for all time is left open"
                                      : "so Ballard's theorems do not apply, or are not seen to: "
                                        "several motions, or none, are not excluded"));
}

/// A system before it is run: what it is, what was derived of it, where it starts.
void print_system(const scene::Scene& scene, const model::FormulaModel& model) {
  const std::string joints = model.joints() == 0 ? "" : fmt::format(", {} held", model.joints());
  const char* mass = !model.has_constant_mass() ? "varying"
                     : model.mass().is_full()   ? "full"
                                                : "diagonal";
  fmt::print("{}",
             entry("system", fmt::format("{}, {}{}, {} mass", counted(model.dofs(), "coordinate"),
                                         counted(model.contacts() - model.joints(), "contact"),
                                         joints, mass)));
  fmt::print("{}", entry("forces", model.force_uses_velocity()
                                       ? "use velocities: free motion is of order 1"
                                       : "use no velocities: free motion is of order 2"));
  print_hypotheses(study::hypotheses_of(model));
  if (!scene.family.empty()) {
    fmt::print("{}", entry("family", describe_members(scene.family) + "; the first of them:"));
  }
  std::string last;
  for (const auto& [of, formula] : model.derived()) {
    fmt::print("{}", entry(of == last ? "" : of, formula));
    last = of;
  }
  print_start(scene, model);
}

void print_structure(const scene::Scene& scene, const scene::StructurePart& part) {
  fmt::print("{}", entry("structure", study::kind_of(part)));
  if (!scene.family.empty()) {
    fmt::print("{}", entry("family", describe_members(scene.family) + "; the first of them:"));
  }
  fmt::print("{}", study::describe_part(part));
}

void draw(const scene::Scene& scene, const std::string& picture) {
  const std::optional<plot::Sheet> sheet = plot::draw_start(scene);
  if (!sheet) {
    throw base::InputError("--plot", "the scene has no plane in which its start could be drawn",
                           "write [plot] with body, and a panel with x and y");
  }
  write_picture(picture, sheet->svg, "--plot");
  fmt::print("{}", entry("written", picture));
}

}  // namespace

int command_check(const SceneArguments& arguments, const std::string& picture) {
  if (!picture.empty()) check_picture_place(picture, "--plot");
  const scene::Scene scene = read_scene(arguments);
  fmt::print("{}",
             wrapped(fmt::format("{}{}\n\n", scene.title,
                                 scene.source.empty() ? "" : fmt::format("  [{}]", scene.source))));
  if (const model::FormulaModel* model = scene.formulas()) {
    print_system(scene, *model);
  } else if (scene.world() != nullptr) {
    fmt::print("{}", entry("bodies", study::kind_of(*scene.world())));
    fmt::print("{}", study::describe_laws(*scene.world()));
  } else {
    print_structure(scene, *scene.structure());
  }
  for (const std::string& warning : scene.warnings) fmt::print("{}", entry("warning", warning));
  print_run(scene);
  if (!scene.family.empty()) print_family(scene, changes_of(arguments));
  if (!picture.empty()) draw(scene, picture);
  fmt::print("{}", entry("status", "ok: the scene can be run"));
  return kFine;
}

}  // namespace ricochet::app
