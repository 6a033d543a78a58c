#include "ricochet/step/moreau_bodies.h"

#include <algorithm>

#include "ricochet/step/moreau_parts.h"

namespace ricochet::step {

using base::index;
using certify::Level;
namespace {

constexpr int kSeldom = 16;  // steps from one exact solve of what rests to the next

}  // namespace

template <int D>
MoreauBodies<D>::MoreauBodies(const body::World<D>& world, const certify::Limits& limits)
    : parts_(std::make_unique<Parts>(world, limits)),
      first_level_(limits.aim == limits.least ? limits.aim : Level::Exact),
      can_fall_(limits.may_fall(Level::Tight, world.free_bodies()) &&
                first_level_ == Level::Exact) {
  parts_->step.level = first_level_;
  parts_->contacts.sweep_in_groups(&parts_->step.middle, &parts_->step.given, nullptr);
}

template <int D>
MoreauBodies<D>::~MoreauBodies() = default;

template <int D>
problem::Report MoreauBodies<D>::advance(const State& s, double h, State& next,
                                         certify::BodyClaim<D>& claim) {
  Parts& p = *parts_;
  BodyStep<D>& step = p.step;
  if (!is_told_to_fall_) step.level = std::max(first_level_, static_cast<Level>(s.effort.level));
  next.effort = s.effort;
  step.begin(s, h);
  p.sleeping.begin(s, {step.h, step.given, step.level}, step.rows);
  problem::Report report = attempt(s, next, claim);
  const bool may_fall = can_fall_ && step.level < step.limits.least;
  if (p.contacts.is_stopped()) return report;
  if (report.status != problem::Status::Solved && may_fall && next.effort.patience > 0) {
    --next.effort.patience;
    p.contacts.be_patient(true);
    report = attempt(s, next, claim);
    p.contacts.be_patient(false);
  }
  while (report.status != problem::Status::Solved && !p.contacts.is_stopped() && fall()) {
    p.sleeping.wake_all();
    report = attempt(s, next, claim);
  }
  const bool was_tight = step.level == Level::Tight && !p.contacts.is_stopped();
  if (report.status != problem::Status::Solved && was_tight) {
    step.level = Level::Exact;  // its methods may find what holds the lower level too
    p.sleeping.wake_all();
    report = attempt(s, next, claim);
  }
  is_told_to_fall_ = false;
  return report;
}

/// The step, at one level.                                             [Moreau 1986, par. 10]
template <int D>
problem::Report MoreauBodies<D>::attempt(const State& s, State& next,
                                         certify::BodyClaim<D>& claim) {
  problem::Report report = find_contacts(s, claim);  // x_M, u', rows with g(q_M) <= reach
  if (report.status != problem::Status::Solved) return report;
  report = push(s);  // u+ = u' + M^-1 G^T p,  K* ∋ û ⟂ p ∈ K
  if (report.status != problem::Status::Solved) return report;
  next.steps = s.steps;
  next.gone = s.gone;
  parts_->ends.finish(s, next, claim);  // x+ = x_M + h/2 u+
  return report;
}

template <int D>
problem::Report MoreauBodies<D>::find_contacts(const State& s, certify::BodyClaim<D>& claim) {
  Parts& p = *parts_;
  p.neighbours.look_around(s);               // x_M = x + h/2 v, u' = u + h g(t_M), who is near
  p.neighbours.find_rows(0.0, p.step.rows);  // rows with g(q_M) <= reach
  return p.projection.put_back(claim);       // where g(q_M) < -slack
}

/// Impulses and u+, found again where a body came to be faster than its reach, and in space until
/// moments and turns agree.
template <int D>
problem::Report MoreauBodies<D>::push(const State& s) {
  constexpr int kMostRounds = 200;  // a blow may pass through as many bodies in a step
  Parts& p = *parts_;
  begin_push(s);
  problem::Report report;
  for (int round = 0; round < kMostRounds; ++round) {
    free_velocities();                                                            // u'
    if (!p.turns.linearise()) return {.status = problem::Status::NoConvergence};  // R̄Ω⁺ in T
    const bool is_first = round + p.turns.turns() == 0;
    p.problem.pose(s, is_first);  // q = G u' + max(0, g)/h or + e U
    p.contacts.begin_round(!is_first, s.steps % kSeldom == 0);
    report = solve(s);  // p
    if (report.status != problem::Status::Solved) return report;
    p.contacts.apply(p.step.rows, p.step.after);  // u' + M^-1 G^T p
    if (!p.turns.settle()) {                      // T of these p
      if (!p.turns.begin_turn()) return {.status = problem::Status::NoConvergence};
      --round;
      continue;
    }
    if (!p.problem.widens(s)) break;
  }
  return report;
}

template <int D>
problem::Report MoreauBodies<D>::solve(const State& s) {
  Parts& p = *parts_;
  BodyStep<D>& step = p.step;
  p.contacts.look(p.turns.is_stubborn() ? nullptr : &step.looks);
  p.contacts.seek_rest(&step.after, &step.tries, s.steps, step.h);
  return p.contacts.solve(step.level, step.creep_limit, step.limits.creep_part());
}

template <int D>
void MoreauBodies<D>::begin_push(const State& s) {
  Parts& p = *parts_;
  BodyStep<D>& step = p.step;
  step.enough_speed = step.level == Level::Exact   ? 0.0
                      : step.level == Level::Tight ? 1e-10 * step.gravity_step
                                                   : 0.05 * step.creep_limit;
  step.looks = s.looks;
  step.looks.begin();
  step.tries = s.tries;
  std::erase_if(step.tries,
                [&](const body::RestTry& one) { return one.next + one.wait < s.steps; });
  p.turns.begin();
  p.problem.begin();
  p.joints.look(step.middle, step.exists);
  p.joints.begin_push(step.h, step.gravity_step, step.middle, s.reactions,
                      step.level != Level::Exact);
}

template <int D>
void MoreauBodies<D>::free_velocities() {
  BodyStep<D>& step = parts_->step;
  step.in_pieces(step.who.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      if (step.is_free(step.who[k])) step.free_velocity(index(step.who[k]));
    }
  });
  for (const int i : step.who) {  // formulas of driven bodies: by one thread
    if (!step.is_free(i)) step.free_velocity(index(i));
  }
}

template <int D>
bool MoreauBodies<D>::fall() {
  Level& level = parts_->step.level;
  if (!can_fall_ || level >= parts_->step.limits.least) return false;
  level = level == Level::Exact ? Level::Tight : Level::Bounded;
  is_told_to_fall_ = true;
  return true;
}

template <int D>
void MoreauBodies<D>::listen(const std::atomic<bool>* stop) {
  parts_->contacts.listen(stop);
}

template <int D>
void MoreauBodies<D>::use(const base::Executor& executor) {
  BodyStep<D>& step = parts_->step;
  step.executor = executor;
  const base::Executor* threads = step.executor ? &step.executor : nullptr;
  parts_->contacts.sweep_in_groups(&step.middle, &step.given, threads);
  parts_->neighbours.use(threads);
}

template <int D>
const std::vector<body::Row<D>>& MoreauBodies<D>::rows() const {
  return parts_->step.rows;
}

template <int D>
const std::vector<body::Row<D>>& MoreauBodies<D>::rows_asleep() const {
  return parts_->sleeping.rows();
}

template <int D>
long long MoreauBodies<D>::fallbacks() const {
  return parts_->contacts.fallbacks();
}

template <int D>
int MoreauBodies<D>::islands() const {
  return parts_->contacts.islands();
}

template class MoreauBodies<2>;
template class MoreauBodies<3>;

}  // namespace ricochet::step
