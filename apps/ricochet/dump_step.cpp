#include "dump_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "report_text.h"
#include "ricochet/base/error.h"
#include "ricochet/base/text.h"
#include "ricochet/host/contact_file.h"
#include "ricochet/step/capture.h"
#include "ricochet/step/moreau_bodies.h"
#include "ricochet/study/motion.h"

namespace ricochet::app {
namespace {

std::string option_of(const StepDump& dump) {
  return fmt::format("--dump-step {} {}", dump.step, dump.file);
}

long long step_number(const std::string& text, long long steps) {
  const std::optional<double> value = base::parse_number(text);
  if (!value || !(*value >= 1.0) || *value != std::floor(*value) || !(*value < 1e15)) {
    throw base::InputError("--dump-step " + text, "is not the number of a step",
                           fmt::format("write a whole number from 1 to {}", steps));
  }
  if (*value > static_cast<double>(steps)) {
    throw base::InputError("--dump-step " + text,
                           fmt::format("lies beyond the run, which has {}", counted(steps, "step")),
                           fmt::format("write a whole number from 1 to {}", steps));
  }
  return static_cast<long long>(*value);
}

void check_file(const std::string& file) {
  const std::string form = std::filesystem::path(file).extension().string();
  for (const char* known : {".h5", ".hdf5", ".npz", ".txt", ".dat"}) {
    if (form == known) return;
  }
  throw base::InputError("--dump-step … " + file, "does not tell the form of the file",
                         "end its name in .h5 (FCLIB), .npz or .txt (Siconos)");
}

/// The run up to the step.
study::Motion run_before(const StepDump& dump, const scene::Scene& scene) {
  scene::Scene shorter = scene;
  shorter.run.steps = dump.step - 1;
  shorter.run.record_every = 0;
  study::Motion motion = study::run_scene(shorter, false);
  if (motion.outcome.steps < shorter.run.steps) {
    const bool is_stopped = motion.world && !motion.world->stopped.empty();
    const long long last = motion.outcome.steps + (is_stopped ? 0 : 1);
    throw base::InputError(option_of(dump),
                           fmt::format("is beyond step {}, where {}", last,
                                       is_stopped ? "run.stop ends the run" : "the run fails"),
                           fmt::format("write a whole number from 1 to {}", last));
  }
  return motion;
}

/// What the contacts of bodies pose.
problem::ContactProblem capture_world(const StepDump& dump, const scene::Scene& scene,
                                      const study::Motion& motion) {
  problem::ContactProblem problem;
  const auto capture = [&](const auto& world, const auto& state) {
    step::MoreauBodies stepper(world, scene.run.limits);
    const problem::Report report = stepper.capture(state, scene.run.step, problem);
    if (report.status == problem::Status::Solved) return;
    throw base::InputError(option_of(dump), "bodies cannot be put back where they do not overlap",
                           "choose another step");
  };
  const scene::WorldPart& part = *scene.world();
  if (part.plane) capture(*part.plane, motion.world->state<2>());
  if (part.space) capture(*part.space, motion.world->state<3>());
  return problem;
}

problem::ContactProblem capture_system(const StepDump& dump, const scene::Scene& scene,
                                       const study::Motion& motion) {
  const step::CapturedStep captured =
      step::capture_step(*scene.system().model, scene.scheme, scene.run, motion.final_state);
  if (!captured.has_form) {
    throw base::InputError(option_of(dump),
                           "has a law of friction that contact files do not know, or joints that "
                           "depend on each other",
                           "files hold discs, ellipses and symmetric segments of friction");
  }
  return captured.contacts;
}

/// That contact files can hold the steps of a world.
void check_world(const scene::WorldPart& part) {
  part.visit([](const auto& world) {
    const auto resists = [](const body::PairLaw& law) { return law.resists_turning(); };
    if (!world.joints.empty() || std::any_of(world.laws.begin(), world.laws.end(), resists)) {
      throw base::InputError("--dump-step", "contact files have no joints and no rolling friction",
                             "leave --dump-step out");
    }
  });
}

}  // namespace

std::vector<StepDump> read_dumps(const std::vector<std::pair<std::string, std::string>>& given,
                                 const scene::Scene& scene) {
  std::vector<StepDump> dumps;
  if (given.empty()) return dumps;
  const auto refuse = [](const char* problem, const char* remedy) {
    throw base::InputError("--dump-step", problem, remedy);
  };
  if (scene.structure() != nullptr) {
    refuse("the guides of a structure are no contact problem", "leave --dump-step out");
  }
  if (scene.world() != nullptr) check_world(*scene.world());
  if (!scene.family.empty()) {
    refuse("a family of runs has no single step of a number",
           "choose a member with --set, or leave --dump-step out");
  }
  if (scene.run.control.is_on()) {
    refuse("steps chosen by step control have no fixed numbers", "set run.step to one number");
  }
  if (scene.world() == nullptr && !scene.scheme.info().is_staggered) {
    refuse("is for the schemes billiard, elast, inel and moreau",
           "run it with --scheme moreau, or leave --dump-step out");
  }
  if (scene.run.backward) refuse("cannot be asked of a run backwards", "leave out --backward");
  for (const auto& [step, file] : given) {
    check_file(file);
    for (const StepDump& other : dumps) {
      if (other.file != file) continue;
      throw base::InputError(fmt::format("--dump-step {} {}", step, file),
                             fmt::format("would write over that of step {}", other.step),
                             "give each step a file of its own");
    }
    dumps.push_back({step_number(step, scene.run.steps), file});
  }
  return dumps;
}

std::string dump_step(const StepDump& dump, const scene::Scene& scene) {
  const study::Motion motion = run_before(dump, scene);
  problem::ContactProblem problem = scene.world() != nullptr ? capture_world(dump, scene, motion)
                                                             : capture_system(dump, scene, motion);
  if (problem.contacts() == 0) {
    throw base::InputError(option_of(dump), "is a step without contacts",
                           scene.world() != nullptr ? "choose one at which bodies touch"
                                                    : "choose one with impulses in trajectory.csv");
  }
  problem.title = fmt::format("{}, step {}", scene.title, dump.step);
  host::write_contact_file(dump.file, problem);
  return fmt::format("dumped      step {} with {}: {}\n", dump.step,
                     counted(problem.contacts(), "contact"), dump.file);
}

}  // namespace ricochet::app
