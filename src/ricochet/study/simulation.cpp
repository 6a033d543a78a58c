#include "ricochet/study/simulation.h"

#include <fmt/format.h>

#include <algorithm>

#include "ricochet/base/error.h"

namespace ricochet::study {
namespace {

/// The scene with a model that has the force besides.
scene::Scene steered(const scene::Scene& scene, std::shared_ptr<Steering>& steering) {
  if (scene.formulas() == nullptr) {
    throw base::InputError("start", "structures and bodies are run as a whole", "use run instead");
  }
  if (scene.run.control.is_on()) {
    throw base::InputError("run.step", "step control chooses steps by itself",
                           "state one length, such as step = 0.001");
  }
  if (scene.run.backward) {
    throw base::InputError("start", "goes forward only", "use run with backward instead");
  }
  scene::Scene changed = scene;
  auto& part = std::get<scene::SystemPart>(changed.part);
  model::FormulaSystem system = part.model->system();
  steering = std::make_shared<Steering>(system.outside, system.outside_force, system.dofs());
  system.outside = steering;
  system.outside_force = true;
  auto model = std::make_shared<model::FormulaModel>(std::move(system));
  model->take_scale(scene.start.t, scene.start.q);
  part.model = std::move(model);
  return changed;
}

}  // namespace

Simulation::Simulation(const scene::Scene& scene, step::Observer observe)
    : observe_(std::move(observe)) {
  motion_.scene = steered(scene, steering_);
  run_ = step::start_formula(*motion_.scene.formulas(), scene.scheme, scene.run, scene.start,
                             [this](const step::Sample& sample) { take(sample); });
  if (run_) return;
  throw base::InputError("run.scheme",
                         fmt::format("the steps of '{}' are not of one length, so that they cannot "
                                     "be made one by one",
                                     step::name_of(scene.scheme)),
                         "use run, or another scheme such as moreau");
}

void Simulation::take(const step::Sample& sample) {
  const auto copy = [](std::span<const double> from, std::vector<double>& to) {
    to.assign(from.begin(), from.end());  // of one size: nothing is allocated after the first
  };
  now_.t = sample.t;
  now_.kinetic = sample.kinetic;
  now_.potential = sample.potential;
  steps_ = sample.step;
  copy(sample.q, now_.q);
  copy(sample.u, now_.u);
  copy(sample.gaps, now_.gaps);
  copy(sample.impulses, now_.impulses);
  copy(sample.tangential, now_.tangential);
  copy(sample.slips, now_.slips);
  copy(sample.states, now_.states);
  if (observe_) observe_(sample);
}

void Simulation::set_force(std::span<const double> force) {
  const std::span<double> held = steering_->force();
  if (force.size() != held.size()) {
    throw base::InputError("set_force",
                           fmt::format("{} numbers for {} coordinates", force.size(), held.size()),
                           "give one number for each coordinate");
  }
  std::copy(force.begin(), force.end(), held.begin());
}

Motion Simulation::finish() {
  motion_.outcome = run_->finish(motion_.final_state);
  run_.reset();
  motion_.scene.run.steps = motion_.outcome.steps;
  return std::move(motion_);
}

}  // namespace ricochet::study
