#include "ricochet/step/simulate_structure.h"

#include <algorithm>
#include <utility>

#include "ricochet/base/clock.h"
#include "ricochet/step/recorder.h"
#include "ricochet/step/structure_step.h"

namespace ricochet::step {
namespace {

/// What a row tells: points, sides of guides.
class StructureRow {
 public:
  StructureRow(const structure::LinearStructure& s) : structure_(s), sides_(sides_of(s)) {
    q_.assign(s.points.size(), 0.0);
    u_ = q_;
    impulses_.assign(sides_.size(), 0.0);
    for (const structure::Guide& guide : s.guides) rubs_ = rubs_ || guide.friction > 0.0;
    if (!rubs_) return;
    tangential_.assign(2 * sides_.size(), 0.0);
    slips_ = tangential_;
    states_.assign(sides_.size(), 0.0);
  }

  void add(const certify::StructureClaim& claim) {
    for (std::size_t a = 0; a < sides_.size(); ++a) {
      const auto k = static_cast<Eigen::Index>(sides_[a].guide);
      const double push = sides_[a].push(claim.normal[k]);
      impulses_[a] += push;
      if (!rubs_) continue;
      const double along = push > 0.0 ? claim.tangential[k] : 0.0;
      tangential_[2 * a] += along;
      const double most = structure_.guides[sides_[a].guide].friction * push;
      states_[a] = push == 0.0 ? 0.0 : std::abs(along) < most * (1.0 - 1e-12) ? 1.0 : 2.0;
    }
  }

  void show(long long step, const structure::Motion& now, const certify::StructureJudge& judge,
            const Observer& observe) {
    for (std::size_t k = 0; k < q_.size(); ++k) {
      const structure::Point& point = structure_.points[k];
      q_[k] = structure_.value_at(point.row, point.plane, now.q.data());
      u_[k] = structure_.value_at(point.row, point.plane, now.u.data());
    }
    Sample sample{step, now.t, q_, u_, judge.gaps(), impulses_, judge.kinetic(), judge.potential()};
    if (rubs_) {
      for (std::size_t a = 0; a < sides_.size(); ++a) {
        const structure::Guide& guide = structure_.guides[sides_[a].guide];
        slips_[2 * a] = structure_.value_at(guide.row, 1 - guide.plane, now.u.data());
      }
      sample.tangential = tangential_;
      sample.slips = slips_;
      sample.states = states_;
    }
    if (observe) observe(sample);
    std::fill(impulses_.begin(), impulses_.end(), 0.0);
    std::fill(tangential_.begin(), tangential_.end(), 0.0);
  }

 private:
  const structure::LinearStructure& structure_;
  std::vector<structure::ContactSide> sides_;
  std::vector<double> q_;
  std::vector<double> u_;
  std::vector<double> impulses_;
  std::vector<double> tangential_;
  std::vector<double> slips_;
  std::vector<double> states_;
  bool rubs_{false};
};

/// Which steps have their shapes shown: `count` of them, spread evenly.
class ShapeClock {
 public:
  ShapeClock(int count, long long steps, const ShapeObserver& observe)
      : count_(observe ? count : 0), steps_(std::max(1LL, steps)), observe_(observe) {}
  void show(long long step, const structure::Motion& now) {
    if (shown_ >= count_ || step * (count_ - 1) < shown_ * steps_) return;
    observe_(now);
    ++shown_;
  }

 private:
  long long count_;
  long long steps_;
  long long shown_{0};
  const ShapeObserver& observe_;
};

bool may_go_on(Monitor* monitor, Outcome& outcome) {
  if (monitor == nullptr) return true;
  monitor->steps.store(outcome.steps, std::memory_order_relaxed);
  outcome.interrupted = monitor->stop.load(std::memory_order_relaxed);
  return !outcome.interrupted;
}

}  // namespace

StructureOutcome simulate_structure(const structure::LinearStructure& structure,
                                    const StructureSettings& settings, const RunSettings& run,
                                    structure::Motion& state, const Observer& observe,
                                    Monitor* monitor, int shapes,
                                    const ShapeObserver& observe_shape) {
  const base::Stopwatch clock;
  StructureOutcome found;
  Outcome& outcome = found.run;
  found.statistics = structure::Statistics(structure, run.step, run.steps);
  StructureStep step(structure, settings, run.step);
  certify::StructureJudge judge(structure, run.limits, run.step, state);
  if (!step.is_ready()) judge.fail(certify::Failure::SingularMass, state.t);
  structure::Motion other = state;
  structure::Motion* now = &state;
  structure::Motion* next = &other;
  const double start_time = state.t;
  StructureRow row(structure);
  ShapeClock clock_of_shapes(shapes, run.steps, observe_shape);
  row.show(0, *now, judge, observe);
  clock_of_shapes.show(0, *now);
  long long until_row = run.record_every;
  for (long long i = 1; i <= run.steps && judge.certificate().ok(); ++i) {
    if (!may_go_on(monitor, outcome)) break;
    next->t = start_time + static_cast<double>(i) * run.step;
    const double t_mid = start_time + (static_cast<double>(i) - 0.5) * run.step;
    const problem::Report report = step.advance(*now, t_mid, *next);
    if (report.status != problem::Status::Solved) {
      judge.fail(detail::failure_of(report.status), t_mid);
      break;
    }
    if (run.certify) {
      if (!judge.check(*now, *next, step.claim())) break;
      row.add(step.claim());
      found.statistics.add(*now, *next, step.claim().normal);
    }
    std::swap(now, next);
    outcome.steps = i;
    clock_of_shapes.show(i, *now);
    if (run.record_every > 0 && --until_row == 0) {
      row.show(i, *now, judge, observe);
      until_row = run.record_every;
    }
  }
  const bool last_is_due =
      outcome.steps > 0 && (run.record_every == 0 || until_row != run.record_every);
  if (last_is_due) row.show(outcome.steps, *now, judge, observe);
  if (now != &state) state = *now;
  outcome.certified = run.certify;
  outcome.certificate = judge.finish();
  outcome.gaps = judge.gaps();
  found.books = judge.books();
  found.solves = step.solves();
  if (!structure.guides.empty()) found.contact_stiffness = step.spring(0);
  outcome.wall_seconds = clock.seconds();
  return found;
}

}  // namespace ricochet::step
