#include "ricochet/step/run_bodies.h"

#include "ricochet/base/clock.h"
#include "ricochet/step/recorder.h"

namespace ricochet::step {

template <int D>
body::WorldState<D> start_of(const body::World<D>& world, double t) {
  body::WorldState<D> state;
  state.t = t;
  state.gone.assign(world.bodies.size(), 0);
  state.reactions.resize(world.joints.size());
  for (const body::Body<D>& body : world.bodies) {
    state.bodies.push_back(body.start);
    if (body.kind == body::Kind::Driven) body.drive(t, state.bodies.back());
  }
  return state;
}

/// Enters a step that holds.
static void count(const problem::Report& report, bool has_rows, double t, Outcome& outcome) {
  ++outcome.steps;
  outcome.general_steps += has_rows ? 1 : 0;
  outcome.fallback_steps += report.fell_back ? 1 : 0;
  outcome.unlooked_steps += report.unlooked ? 1 : 0;
  if (report.shared && outcome.shared_steps++ == 0) outcome.shared_time = t;
}

template <int D>
Outcome run_bodies(const body::World<D>& world, const RunSettings& run, body::WorldState<D>& state,
                   const BodyObserver<D>& observe, Monitor* monitor,
                   certify::BodyStatistics& told) {
  const base::Stopwatch clock;
  MoreauBodies<D> stepper(world, run.limits);
  certify::BodyJudge<D> judge(world, run.limits, state);
  certify::BodyClaim<D> claim;
  body::WorldState<D> next = state;
  Outcome outcome;
  outcome.certified = run.certify;
  const auto show = [&](double kinetic, double potential) {
    return observe({state, stepper.rows(), stepper.rows_asleep(), claim, kinetic, potential});
  };
  const double start = state.t;
  if (monitor != nullptr) {
    stepper.listen(&monitor->stop);
    stepper.use(monitor->executor);
    judge.use(monitor->executor);
  }
  bool unique = true;
  bool goes_on = show(judge.kinetic(state), judge.potential(state));
  for (long long k = 0; goes_on && k < run.steps; ++k) {
    if (monitor != nullptr && monitor->stop.load(std::memory_order_relaxed)) {
      outcome.interrupted = true;
      break;
    }
    next.t = start + static_cast<double>(k + 1) * run.step;
    problem::Report report = stepper.advance(state, run.step, next, claim);
    bool holds = report.status == problem::Status::Solved;
    if (!holds && monitor != nullptr && monitor->stop.load(std::memory_order_relaxed)) {
      outcome.interrupted = true;
      break;
    }
    if (!holds) judge.fail(detail::failure_of(report.status), state.t + 0.5 * run.step);
    while (holds && run.certify && !judge.accept(state, next, run.step, claim)) {
      // Impulses that the level does not allow: the next lower one may do.
      holds = judge.certificate().failure == certify::Failure::Residual && stepper.fall();
      if (!holds) break;
      report = stepper.advance(state, run.step, next, claim);
      holds = report.status == problem::Status::Solved;
      if (holds) judge.reconsider();
    }
    if (!holds) break;
    std::swap(state, next);
    count(report, !stepper.rows().empty() || !stepper.rows_asleep().empty(), state.t, outcome);
    unique = unique && report.unique;
    if (monitor != nullptr) monitor->steps.store(outcome.steps, std::memory_order_relaxed);
    const certify::Ledger& ledger = judge.certificate().ledger;
    goes_on = run.certify ? show(ledger.kinetic_end, ledger.potential_end)
                          : show(judge.kinetic(state), judge.potential(state));
  }
  outcome.certificate = judge.certificate();
  outcome.certificate.impulses_unique = unique;
  told = judge.statistics();
  outcome.wall_seconds = clock.seconds();
  return outcome;
}

template Outcome run_bodies(const body::World<2>&, const RunSettings&, body::WorldState<2>&,
                            const BodyObserver<2>&, Monitor*, certify::BodyStatistics&);
template body::WorldState<2> start_of(const body::World<2>&, double);
template Outcome run_bodies(const body::World<3>&, const RunSettings&, body::WorldState<3>&,
                            const BodyObserver<3>&, Monitor*, certify::BodyStatistics&);
template body::WorldState<3> start_of(const body::World<3>&, double);

}  // namespace ricochet::step
