#include "ricochet/study/companions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "ricochet/base/error.h"
#include "ricochet/study/bumps.h"
#include "ricochet/study/force_probe.h"
#include "ricochet/study/row_thinner.h"
#include "ricochet/study/run_world.h"
#include "ricochet/study/strikes.h"
#include "ricochet/study/world_error.h"

namespace ricochet::study {
namespace {

constexpr long long kMostMarks = 512;  // apart from the start
constexpr long long kMostRows = 4096;  // of a companion with friction: its phases are told by rows
constexpr long long kMostInstants = 2048;  // of a way, where steps or rows tell too few
constexpr double kMostKept = 2.5e5;        // numbers of one trace
constexpr std::array<double, 2> kCoarser = {std::numbers::sqrt2, 2.0};

/// What the run covers, [s] from its start.
double time_of(const step::RunSettings& run) {
  if (run.control.is_on()) return std::abs(run.end_time - run.start_time);
  return static_cast<double>(run.steps) * run.step;
}

/// Whether the scheme finds the times of impacts, and has rows where it is asked for them.
bool finds_times(const scene::Scene& scene) {
  return scene.scheme.info().integrator == certify::Integrator::Arcs;
}

/// Whether positions are off to first order in the step even in smooth motion.
bool is_first_order(const step::Scheme& scheme) {
  return scheme.info().integrator == certify::Integrator::End || scheme.value("theta") > 0.5 ||
         scheme.value("average") != 0.0;
}

/// Every so many steps a companion has a row, and every so many rows a mark.
struct Strides {
  long long row{1};
  long long mark{1};  // in steps
};

Strides strides_of(const scene::Scene& scene) {
  const auto parts = [&](long long most) {
    return std::max(1LL, (scene.run.steps + most - 1) / most);
  };
  const auto width =
      static_cast<double>(2 * std::max<std::size_t>(1, scene.columns.coordinates.size()));
  const long long marks = std::clamp(static_cast<long long>(kMostKept / width), 64LL, kMostMarks);
  if (!scene.columns.has_friction()) return {parts(marks), parts(marks)};
  const long long row = parts(kMostRows);  // rows tell what contacts with friction do
  return {row, row * std::max(1LL, parts(marks) / row)};
}

std::vector<double> even_marks(const scene::Scene& scene, long long count) {
  const double time = scene.run.backward ? -time_of(scene.run) : time_of(scene.run);
  std::vector<double> marks;
  for (long long k = 0; k <= count; ++k) {
    marks.push_back(scene.start.t + time * static_cast<double>(k) / static_cast<double>(count));
  }
  return marks;
}

/// Instants to compare a companion at: ends of its steps; spread evenly where nobody knows those.
std::vector<double> marks_of(const scene::Scene& scene) {
  const step::RunSettings& run = scene.run;
  if (run.control.is_on()) return even_marks(scene, kMostMarks);
  const double sign = run.backward ? -1.0 : 1.0;
  const double time = time_of(run);
  std::vector<double> marks;
  const long long stride = strides_of(scene).mark;
  for (long long i = 0; i < run.steps; i += stride) {
    marks.push_back(scene.start.t + sign * static_cast<double>(i) * run.step);
  }
  marks.push_back(scene.start.t + sign * time);
  return marks;
}

/// Instants that tell the way of a companion: many, and all its steps next to the shocks of the
/// run.
std::vector<double> way_of(const scene::Scene& scene, const certify::Certificate& run) {
  constexpr long long kNear = 4;  // steps
  const step::RunSettings& settings = scene.run;
  if (settings.control.is_on()) return even_marks(scene, kMostInstants);
  std::vector<long long> steps;
  const long long stride = std::max(1LL, settings.steps / kMostRows);
  for (long long i = 0; i <= settings.steps; i += stride) steps.push_back(i);
  for (const certify::Shock& shock : run.shocks) {
    const auto at = std::llround(std::abs(shock.t - scene.start.t) / settings.step);
    for (long long i = at - kNear; i <= at + kNear; ++i) {
      if (i > 0 && i < settings.steps) steps.push_back(i);
    }
  }
  steps.push_back(settings.steps);
  std::sort(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  std::vector<double> marks;
  for (const long long i : steps) {
    const double sign = settings.backward ? -1.0 : 1.0;
    marks.push_back(scene.start.t + sign * static_cast<double>(i) * settings.step);
  }
  return marks;
}

/// The largest speed of a run, as those of its shocks are measured: in the norm sqrt(2 T), but of a
/// structure at its guides.
double speed_of(const scene::Scene& scene, const certify::Certificate& c) {
  if (scene.structure() == nullptr) return std::sqrt(2.0 * std::max(0.0, c.ledger.kinetic_max));
  double speed = 0.0;
  for (const certify::Shock& shock : c.shocks) speed = std::max(speed, shock.speed);
  return speed;
}

TracedRun traced_run(const scene::Scene& scene, const step::Outcome& outcome) {
  const step::RunSettings& run = scene.run;
  TracedRun traced;
  traced.outcome = outcome;
  traced.start = scene.start.t;
  traced.length = time_of(run);
  traced.speed = speed_of(scene, outcome.certificate);
  constexpr double kFine = 1e-4;  // of the run: impacts nearer to each other are a chatter
  traced.finds_times = finds_times(scene);
  if (traced.finds_times) {
    constexpr double kOrderOfArcs = 5.0;
    traced.order = kOrderOfArcs;
    traced.step = kFine * traced.length;
  } else if (run.control.is_on()) {
    traced.step = traced.length / static_cast<double>(std::max(1LL, outcome.steps));
    traced.order = traced.least_order = 1.5;  // its steps are shortest at events
  } else {
    traced.step = run.step;
    if (!certify::is_located(scene.scheme.info().integrator)) traced.quantum = run.step;
    // A slip that turns is no event, and met within a step.
    traced.order = scene.columns.has_friction() ? 1.0 : 2.0;
  }
  traced.phase_step = traced.step * static_cast<double>(std::max(1LL, run.record_every));
  return traced;
}

bool has_where(const scene::Scene& scene) {
  return scene.formulas() != nullptr && scene.formulas()->has_where();
}

/// What steps do not see of coefficients or of walls; empty where they see all.
std::string doubt_of(const scene::Scene& scene, const Strikes& strikes, const Bumps& bumps,
                     const NearMisses& misses) {
  const auto name = [&](auto contact) {
    return scene.columns.contacts[static_cast<std::size_t>(contact)];
  };
  if (const auto& strike = strikes.first()) {
    return fmt::format("{} at t = {:.6g}",
                       strike->is_friction ? "friction changes within the step that brakes"
                                           : "restitution changes within two steps of the impact",
                       strike->t);
  }
  if (const auto& bump = bumps.first()) {
    return fmt::format("a bump of '{}' that a step passes is not excluded near t = {:.6g}",
                       scene.formulas()->contact_names()[bump->contact], bump->t);
  }
  if (const auto& uneven = bumps.uneven()) {
    return fmt::format(
        "the slope of the gap of '{}' changes while its spring is pressed at "
        "t = {:.6g}, and restitution with it",
        name(uneven->contact), uneven->t);
  }
  if (const auto& entered = misses.entered(); entered && has_where(scene)) {
    return fmt::format("'{}' begins to exist beyond its wall at t = {:.6g}", name(entered->contact),
                       entered->t);
  }
  return "";
}

/// Looks at every step of the run itself.
class Watch {
 public:
  Watch(const scene::Scene& scene, std::array<Trace, 2>& traces, const step::Observer& observe)
      : has_walls_(scene.structure() == nullptr && !finds_times(scene)),
        misses(is_first_order(scene.scheme), scene.formulas()),
        strikes(has_walls_ ? scene.formulas() : nullptr),
        bumps(has_walls_ ? scene.formulas() : nullptr,
              scene.scheme.info().integrator == certify::Integrator::Spring),
        thinner(scene.run, observe),
        looks_closer_(strikes.has_work() || bumps.has_work() || scene.columns.has_friction()),
        traces_(traces),
        sign_(traces[0].sign()) {}

  void add(const step::Sample& sample) {
    if (has_walls_) misses.add(sample);
    if (looks_closer_) {
      strikes.add(sample);
      bumps.add(sample);
      phases.add(sample);
      if (has_walls_) turns.add(sample);
    }
    if (sign_ * sample.t >= wake_) trace(sample);
    last_t_ = sample.t;
    thinner.add(sample);
  }

 private:
  bool has_walls_;

 public:
  NearMisses misses;
  Strikes strikes;
  Bumps bumps;
  Phases phases;
  Turns turns;
  RowThinner thinner;

 private:
  void trace(const step::Sample& sample) {
    for (Trace& one : traces_) one.add(sample, last_t_);
    wake_ = std::min(traces_[0].wake(), traces_[1].wake());
  }

  bool looks_closer_;
  std::array<Trace, 2>& traces_;
  double sign_;
  double wake_{-std::numeric_limits<double>::infinity()};
  double last_t_{0.0};
};

std::string too_many_steps() {
  return fmt::format("the run has more than {} steps; ask for it with --error-bar pair",
                     kMostBarSteps);
}

std::string too_many_bodies(int free) {
  return fmt::format(
      "the digits of single bodies are not checked where more than {} are free, here {}; ask for "
      "it with --error-bar pair",
      kMostBarBodies, free);
}

/// Whether a run has so few steps that nothing can be told of them.
bool is_short(const scene::Scene& scene) {
  return !finds_times(scene) && scene.run.steps < kFewestBarSteps;
}

/// Why a run of a scene can have no bar, as far as the scene tells.
std::string reason_against(const scene::Scene& scene, BarChoice choice) {
  if (choice == BarChoice::None || choice == BarChoice::Defect) return "not asked for";
  if (is_short(scene)) {
    return fmt::format("the run has fewer than {} steps", kFewestBarSteps);
  }
  if (choice == BarChoice::Auto && scene.world() != nullptr) {
    const int free = scene.world()->visit([](const auto& world) { return world.free_bodies(); });
    if (free > kMostBarBodies) return too_many_bodies(free);
  }
  if (choice == BarChoice::Auto && scene.run.steps > kMostBarSteps) {
    return too_many_steps();
  }
  return "";
}

}  // namespace

BarChoice bar_choice(const std::string& word) {
  if (word == "none") return BarChoice::None;
  if (word == "pair") return BarChoice::Pair;
  if (word == "defect") return BarChoice::Defect;
  throw base::InputError("--error-bar", fmt::format("no error bar is called '{}'", word),
                         "write none, pair or defect");
}

scene::Scene coarsened(const scene::Scene& scene, double coarser) {
  scene::Scene changed = scene;
  changed.plot = scene::PlotPlan();  // not drawn; of a thousand bodies it has megabytes
  if (auto* part = std::get_if<scene::StructurePart>(&changed.part)) {
    part->shapes = 0;  // nobody looks at its shapes, nor at the whole beside a reduced one
    part->compare_full = false;
  }
  step::RunSettings& run = changed.run;
  run.limits.tells_own_work = true;
  const double time = time_of(run);
  run.steps = std::max(1LL, std::llround(static_cast<double>(run.steps) / coarser));
  if (run.control.is_on()) {
    run.control.tolerance *= coarser * coarser * coarser;  // the error of a step is of third order
    run.control.smallest *= coarser;
    run.step *= coarser;
    return changed;
  }
  run.step = time / static_cast<double>(run.steps);
  changed.scheme.set("accuracy", changed.scheme.value("accuracy") * coarser * coarser);
  return changed;
}

Companions::Companions(const scene::Scene& scene, BarChoice choice)
    : scene_(scene), choice_(choice), not_made_(reason_against(scene, choice)) {
  if (!not_made_.empty()) return;
  if (scene.world() != nullptr) {
    layout_ = layout_of(*scene.world());
    marks_ = marks_of(scene, layout_);
    for (const double coarser : kCoarser) scenes_.push_back(coarsened(scene, coarser));
    return;
  }
  between_ = !finds_times(scene);
  for (std::size_t c = 0; c < 2; ++c) {
    scene::Scene companion = coarsened(scene, kCoarser[c]);
    const bool shows_all = companion.run.control.is_on() || !between_;
    const bool is_probed =
        c == 0 && scene.formulas() != nullptr && ForceProbe::has_work(*scene.formulas());
    companion.run.record_every = shows_all || is_probed ? 1 : strides_of(companion).row;
    if (is_probed && finds_times(scene)) {  // its way is told by rows
      const long long more = (kMostInstants + companion.run.steps - 1) / companion.run.steps;
      companion.run.steps *= more;
      companion.run.step /= static_cast<double>(more);
    }
    traces_[c] = Trace(marks_of(companion), between_);
    scenes_.push_back(std::move(companion));
  }
}

Motion Companions::run(bool keep_rows, const step::Observer& observe, step::Monitor* monitor) {
  if (!not_made_.empty()) return run_scene(scene_, keep_rows, observe, monitor);
  if (scene_.world() != nullptr) return run_world(keep_rows, observe, monitor);
  std::vector<Row> rows;
  const step::Observer keep = [&](const step::Sample& sample) {
    if (observe) observe(sample);
    if (keep_rows) rows.push_back(row_of(sample));
  };
  Watch watch(scene_, traces_, keep);
  scene::Scene every = scene_;
  every.run.record_every = 1;
  const auto see = [&watch](const step::Sample& sample) { watch.add(sample); };
  Motion motion = run_scene(std::move(every), false, see, monitor);
  watch.thinner.finish(motion);
  watch.phases.close();
  own_ = traced_run(motion.scene, motion.outcome);
  motion.scene.run.record_every = scene_.run.record_every;
  motion.rows = std::move(rows);
  own_.phases = std::move(watch.phases);
  own_.turn = watch.turns.last();
  own_.miss = watch.misses.first();
  own_.bends = watch.misses.bends();
  own_.doubt = doubt_of(scene_, watch.strikes, watch.bumps, watch.misses);
  if (has_where(scene_)) own_.releases = watch.misses.releases();
  return motion;
}

Companion Companions::run_companion(std::size_t which, step::Monitor* monitor) const {
  const scene::Scene& scene = scenes_[which];
  Companion companion;
  companion.beside = &traces_[which];
  companion.trace = Trace(marks_of(scene), between_);
  const bool is_probed =
      which == 0 && scene.formulas() != nullptr && ForceProbe::has_work(*scene.formulas());
  if (is_probed) {
    std::vector<double> marks = way_of(scene, own_.outcome.certificate);
    companion.way = Trace(marks, between_);
    companion.pushes = Pushes(std::move(marks));
  }
  const bool has_friction = scene.columns.has_friction();
  Phases phases;
  step::Monitor own;  // the other one tells how far the run is, and two companions tell nothing
  const auto watch = [&](const step::Sample& sample) {
    companion.trace.add(sample);
    phases.add(sample);
    if (is_probed) companion.way.add(sample);
    if (is_probed && has_friction) companion.pushes.add(sample);
    if (monitor != nullptr && monitor->stop.load(std::memory_order_relaxed)) own.stop.store(true);
  };
  companion.run = traced_run(scene, run_scene(scene, false, watch, &own).outcome);
  phases.close();
  companion.run.phases = std::move(phases);
  return companion;
}

Motion Companions::run_world(bool keep_rows, const step::Observer& observe,
                             step::Monitor* monitor) {
  const WorldLook look = trace_world(scene_, layout_, marks_, path_);
  Motion motion = run_scene(scene_, keep_rows, observe, monitor, look);
  path_.outcome = motion.outcome;
  return motion;
}

// Where the run was stopped by its condition, a companion may be somewhat later.
constexpr double kLater = 1.25;
constexpr double kFewMore = 8.0;  // steps

/// Where shocks are otherwise with shorter steps bodies are not resolved; watches may be.
CloserCompanion Companions::run_closer_companion(long long steps, step::Monitor* monitor) const {
  CloserCompanion closer;
  closer.merged = path_.look_closer(monitor);
  const bool asks = path_.merges() && (!closer.merged || !layout_.watches.empty());
  if (!asks || (monitor != nullptr && monitor->stop.load())) return closer;
  const long long most = std::llround(kLater * static_cast<double>(steps) + kFewMore);
  closer.path =
      run_closer(scene_, layout_, marks_, path_.stopped ? most : scene_.run.steps, monitor);
  return closer;
}

ErrorBar Companions::compare_worlds(const Motion& motion, const base::Executor& executor,
                                    step::Monitor* monitor) const {
  const step::Outcome& outcome = motion.outcome;
  if (!outcome.certificate.ok() || outcome.interrupted || !motion.world->stop_fault.empty()) {
    return ErrorBar::none("the run did not reach its end");
  }
  std::array<WorldPath, 2> paths;
  CloserCompanion closer;
  executor(3, [&](std::size_t c) {
    if (c == 2) {
      closer = run_closer_companion(outcome.steps, monitor);
      return;
    }
    const double most = kLater * static_cast<double>(outcome.steps) / kCoarser[c] + kFewMore;
    const long long steps = path_.stopped ? std::llround(most) : scenes_[c].run.steps;
    paths[c] = run_beside(scenes_[c], layout_, marks_, steps, static_cast<int>(c), monitor);
  });
  if (monitor != nullptr && monitor->stop.load()) {
    return ErrorBar::none("its companions were stopped");
  }
  return estimate_world_error(layout_, path_, paths, closer, scene_.world()->told);
}

ErrorBar Companions::compare(const Motion& motion, const base::Executor& executor,
                             step::Monitor* monitor) const {
  if (!not_made_.empty()) {
    ErrorBar bar = ErrorBar::none(not_made_);
    const bool moves = motion.outcome.steps > 0;
    if (choice_ != BarChoice::None && is_short(scene_) && moves) bar.unresolved = not_made_;
    if (motion.world) {
      if (std::string doubt = doubt_of_world(motion); !doubt.empty()) bar.unresolved = doubt;
    }
    return bar;
  }
  if (motion.world) {
    ErrorBar bar = compare_worlds(motion, executor, monitor);
    if (std::string doubt = doubt_of_world(motion); !doubt.empty()) bar.unresolved = doubt;
    return bar;
  }
  const step::Outcome& outcome = motion.outcome;
  if (!outcome.certificate.ok() || outcome.interrupted) {
    return ErrorBar::none("the run did not reach its end");
  }
  if (choice_ == BarChoice::Auto && outcome.steps > kMostBarSteps) {
    return ErrorBar::none(too_many_steps());
  }
  std::array<Companion, 2> companions;
  executor(2, [&](std::size_t c) { companions[c] = run_companion(c, monitor); });
  if (monitor != nullptr && monitor->stop.load()) {
    return ErrorBar::none("its companions were stopped");
  }
  ErrorBar bar = estimate_error(own_, companions, scene_.columns.contacts);
  if (bar.is_resolved() && companions[0].way.marks() > 0) {
    const auto integrator = scene_.scheme.info().integrator;
    const bool at_ends = integrator == certify::Integrator::End ||
                         integrator == certify::Integrator::Theta ||
                         integrator == certify::Integrator::MeanPosition || finds_times(scene_);
    const double h = finds_times(scene_) ? scene_.run.step : own_.step;
    const bool nets = finds_times(scene_) || scene_.run.control.is_on();
    const Companion& beside = companions[0];
    ForceProbe probe(*scene_.formulas(), beside.way, beside.pushes, h, !at_ends, nets);
    if (const auto missed = probe.find()) {
      bar.unresolved =
          fmt::format("{} for less than a step near t = {:.6g}, and steps do not see it",
                      missed->what, missed->t);
    }
  }
  const certify::Certificate& certificate = outcome.certificate;
  if (bar.is_resolved() && certificate.undecided_crossings > 0 && !finds_times(scene_)) {
    bar.unresolved =
        fmt::format("a wall may be stepped over near t = {:.6g}", certificate.undecided_time);
  }
  return bar;
}

}  // namespace ricochet::study
