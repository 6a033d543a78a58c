#include "ricochet/study/motion.h"

#include <fmt/format.h>

#include "ricochet/base/error.h"
#include "ricochet/base/text.h"
#include "ricochet/model/formula_view.h"
#include "ricochet/study/run_structure.h"
#include "ricochet/study/run_world.h"

namespace ricochet::study {
namespace {

/// e of a contact, as the scheme takes it.
double restitution_of(const scene::Scene& scene, int contact) {
  return scene.scheme.info().restitution.value_or(scene.system().model->restitution(contact));
}

/// Through an impact with e > 0 the past is one; e = 0 erases it, and a contact that lasts may have
/// begun at any time before.
void warn_of_past(const scene::Scene& scene, const std::vector<certify::Shock>& shocks,
                  std::vector<std::string>& warnings) {
  const auto name = [&](int a) { return scene.columns.contacts[static_cast<std::size_t>(a)]; };
  for (const certify::Shock& shock : shocks) {
    if (restitution_of(scene, shock.contact) > 0.0) continue;
    warnings.push_back(fmt::format(
        "the past is ambiguous before t = {:.6g}: a shock on '{}' there would have erased what "
        "came before, so many motions lead to this start; shown is the one that arrives along the "
        "wall",
        shock.t, name(shock.contact)));
    break;
  }
  const model::FormulaView<model::kDynamic, model::kDynamic> view(*scene.system().model);
  auto place = view.make_place();
  view.gaps(scene.start.t, scene.start.q, place);
  for (int a = 0; a < view.contacts() - view.joints(); ++a) {
    const double e = restitution_of(scene, a);
    if (!(e < 1.0) || !view.touches(a, place)) continue;
    model::IndexList<model::kDynamic> one(view.contacts());
    one.push(a);
    view.gradients(one, place);
    const double speed = place.normals.dot(a, scene.start.u) + place.rate[a];
    if (speed > 1e-9 * place.normals.abs_dot(a, scene.start.u)) continue;  // it leaves
    warnings.push_back(fmt::format(
        "the past is ambiguous: the start rests on '{}', where {} may have ended at any time "
        "before; shown is a contact that always lasted",
        name(a), e > 0.0 ? "infinitely many bounces" : "a fall"));
  }
}

void warn_of_part(const Motion& motion, std::vector<std::string>& warnings) {
  if (motion.structure) warn_of_structure(motion, warnings);
  if (motion.world) warn_of_world(motion, warnings);
}

/// The law of friction may have more than one motion.
void warn_of_others(const step::Outcome& outcome, std::vector<std::string>& warnings) {
  if (outcome.several_steps > 0) {
    warnings.push_back(fmt::format(
        "the law of friction has several solutions in {} (first at t = {:.6g}): a contact that "
        "pushed keeps pushing and sticks, others are left free; inspect lists them all",
        outcome.several_steps == 1 ? "a step" : fmt::format("{} steps", outcome.several_steps),
        outcome.several_time));
  }
  if (outcome.shared_steps > 0) {
    warnings.push_back(fmt::format(
        "the motion is not unique in {} (first at t = {:.6g}): contacts that are more than needed "
        "may share their load in other ways, or joints press them harder, which bound friction "
        "otherwise, and another motion obeys the law as well; taken are the shares of equally "
        "stiff "
        "contacts, where they are found",
        outcome.shared_steps == 1 ? "a step" : fmt::format("{} steps", outcome.shared_steps),
        outcome.shared_time));
  }
}

/// What the run has shown about its own question.
void add_warnings(Motion& motion) {
  const scene::Scene& scene = motion.scene;
  std::vector<std::string>& warnings = motion.scene.warnings;
  if (motion.outcome.forced > 0) {
    warnings.push_back(fmt::format(
        "step control: {} pairs of the smallest steps did not hold the tolerance; try a smaller "
        "run.step.min",
        motion.outcome.forced));
  }
  const certify::Certificate& c = motion.outcome.certificate;
  if (c.coupled_impacts > 0) {
    const std::string count = c.coupled_impacts == 1
                                  ? "an impact strikes"
                                  : fmt::format("{} impacts strike", c.coupled_impacts);
    warnings.push_back(fmt::format(
        "{} several contacts at once whose gradients are not orthogonal (first at t = {:.6g}): "
        "energy alone does not fix what follows; another law, or reflections in another order, "
        "gives another motion",
        count, c.coupled_time));
  }
  warn_of_others(motion.outcome, warnings);
  if (c.acute_impacts > 0) {
    warnings.push_back(fmt::format(
        "{} several contacts with e = 0 at once whose gradients make an acute angle (first at t = "
        "{:.6g}): what follows does not depend continuously on the data; walls that are met one "
        "after the other, by a hair, give another motion (inspect shows which)",
        c.acute_impacts == 1 ? "an impact strikes"
                             : fmt::format("{} impacts strike", c.acute_impacts),
        c.acute_time));
  }
  if (c.zeno_count > 0 && c.ok()) {
    warnings.push_back(fmt::format(
        "impacts accumulate at t = {:.9g}{}; the contact lasts from then on", c.zeno_time,
        c.zeno_count == 1 ? "" : fmt::format(" (the last of {} times)", c.zeno_count)));
  }
  if (c.undecided_crossings > 0) {
    warnings.push_back(fmt::format(
        "{} could not exclude stepping over a wall (first at t = {:.6g}); try shorter steps",
        c.undecided_crossings == 1 ? "a piece of the motion"
                                   : fmt::format("{} pieces of the motion", c.undecided_crossings),
        c.undecided_time));
  }
  const double wanted = motion.outcome.wanted_step;
  if (wanted > 0.0 && scene.run.step > wanted * (1.0 + 1e-9)) {
    warnings.push_back(fmt::format(
        "the step is too large for this stiffness: a contact lasts {:.3g}, so take a step below "
        "{:.3g}, or a softer wall",
        wanted * step::kFewestContactSteps, wanted));
  }
  const std::vector<certify::Shock>& shocks = motion.outcome.certificate.shocks;
  if (scene.run.backward) warn_of_past(scene, shocks, warnings);
  warn_of_part(motion, warnings);
}

}  // namespace

// Compiled once, and not wherever a motion is copied.
Motion::Motion() = default;
Motion::Motion(const Motion& other) = default;
Motion::Motion(Motion&& other) noexcept = default;
Motion& Motion::operator=(const Motion& other) = default;
Motion& Motion::operator=(Motion&& other) noexcept = default;
Motion::~Motion() = default;

void check_direction(const scene::Scene& scene) {
  if (!scene.run.backward) return;
  if (scene.structure() != nullptr) {
    throw base::InputError("--backward", "a structure is run forwards only",
                           "leave --backward out");
  }
  if (scene.world() != nullptr) {
    throw base::InputError("--backward", "bodies are run forwards only", "leave --backward out");
  }
  if (!scene.scheme.info().is_staggered || scene.system().model->has_laws()) {
    throw base::InputError("--backward",
                           fmt::format("is for the schemes {}, with a constant restitution",
                                       base::list_names(step::staggered_names())),
                           "run it with --scheme inel, or forward");
  }
  if (!scene.columns.has_friction()) return;
  throw base::InputError("--backward",
                         "cannot be asked of a scene with friction, which forgets the past: where "
                         "a contact sticks, any slip may have come before",
                         "run it forward, or take friction and slip out of its contacts");
}

Row row_of(const step::Sample& s) {
  const auto copy = [](std::span<const double> v) {
    return std::vector<double>(v.begin(), v.end());
  };
  return {s.t,       copy(s.q),   copy(s.u),          copy(s.gaps),  copy(s.impulses),
          s.kinetic, s.potential, copy(s.tangential), copy(s.slips), copy(s.states)};
}

Motion run_scene(scene::Scene given, bool keep_rows, const step::Observer& observe,
                 step::Monitor* monitor, const WorldLook& look) {
  check_direction(given);
  Motion motion;
  motion.scene = std::move(given);
  const scene::Scene& scene = motion.scene;
  motion.final_state = scene.start;
  const step::Observer keep = [&](const step::Sample& s) {
    if (observe) observe(s);
    if (keep_rows) motion.rows.push_back(row_of(s));
  };
  const bool only_observed = observe && !keep_rows;  // every step maybe: no call more than needed
  const step::Observer& watch = only_observed ? observe : keep;
  if (const model::FormulaModel* model = scene.formulas()) {
    motion.outcome =
        step::run_formula(*model, scene.scheme, scene.run, motion.final_state, watch, monitor);
  } else if (scene.world() != nullptr) {
    run_world(motion, watch, monitor, look);
  } else {
    run_structure(motion, watch, monitor);
  }
  add_warnings(motion);
  return motion;
}

Motion run_in_memory(const std::string&, const scene::Scene& scene,
                     const std::vector<std::string>&) {
  return run_scene(scene, true);
}

}  // namespace ricochet::study
