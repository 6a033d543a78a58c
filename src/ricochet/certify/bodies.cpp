#include "ricochet/certify/bodies.h"

#include <fmt/format.h>

#include <algorithm>

#include "ricochet/certify/body_balance.h"
#include "ricochet/certify/body_corrections.h"
#include "ricochet/certify/body_formulas.h"
#include "ricochet/certify/body_islands.h"
#include "ricochet/certify/body_joints.h"
#include "ricochet/certify/body_law.h"
#include "ricochet/certify/body_ledger.h"
#include "ricochet/certify/body_meetings.h"
#include "ricochet/certify/body_motion.h"
#include "ricochet/certify/body_pairs.h"
#include "ricochet/certify/body_starts.h"
#include "ricochet/certify/body_told.h"
#include "ricochet/certify/body_trial.h"
#include "ricochet/certify/still_bodies.h"

namespace ricochet::certify {

std::string name_of(Level level) {
  constexpr std::array<const char*, 3> kNames = {"exact", "tight", "bounded"};
  return kNames[static_cast<std::size_t>(level)];
}

template <int D>
struct BodyJudge<D>::Parts {
  Parts(const body::World<D>& world, const Limits& limits, const State& start)
      : trial(world, limits, start),
        joints(world),
        still(trial),
        motions(trial),
        starts(trial),
        corrections(trial, motions, joints),
        pairs(trial, motions, still),
        meetings(trial, motions, joints),
        law(trial, still),
        islands(trial, still, joints),
        balance(trial, still, joints),
        formulas(trial),
        told(trial, islands),
        ledger(trial, still, joints, certificate, told) {}

  Certificate certificate;
  BodyTrial<D> trial;
  // What decides:
  JointCourt<D> joints;
  StillBodies<D> still;
  BodyMotions<D> motions;
  BodyStarts<D> starts;
  BodyCorrections<D> corrections;
  BodyPairs<D> pairs;
  BodyMeetings<D> meetings;
  BodyLaw<D> law;
  BodyIslands<D> islands;
  BodyBalance<D> balance;
  // What is entered:
  BodyFormulas<D> formulas;
  BodyTold<D> told;
  BodyLedger<D> ledger;
};

template <int D>
BodyJudge<D>::BodyJudge(const body::World<D>& world, const Limits& limits, const State& start)
    : parts_(std::make_unique<Parts>(world, limits, start)) {
  parts_->ledger.begin(start);
}

template <int D>
BodyJudge<D>::~BodyJudge() = default;

template <int D>
void BodyJudge<D>::use(const base::Executor& executor) {
  base::Executor& own = parts_->trial.executor;
  own = executor;
  parts_->motions.use(own ? &own : nullptr);
}

template <int D>
bool BodyJudge<D>::accept(const State& before, const State& after, double h,
                          const BodyClaim<D>& claim) {
  Parts& p = *parts_;
  const bool is_whole = p.joints.any() || !claim.shifts.empty();
  const bool holds = p.trial.begin(before, after, h, claim.level, is_whole) && check(claim);
  if (holds) enter(claim);
  take_refusal();
  if (!holds) return false;
  const bool is_accepted = p.certificate.ok();
  if (is_accepted) p.told.watch_rest();
  if (is_accepted) p.formulas.watch();
  if (is_accepted && p.trial.world.sleeps && !is_whole) p.still.remember(claim);
  return is_accepted;
}

/// What decides the verdict, once t+ = t + h. Each part says what it refuses in the trial.
template <int D>
bool BodyJudge<D>::check(const BodyClaim<D>& claim) {
  Parts& p = *parts_;
  if (!check_level()) return false;                            // the run may have the law claimed
  if (!p.motions.check_states()) return false;                 // numbers; who is there
  p.still.look(claim);                                         // whose rows are known
  p.motions.make_middles(p.still);                             // x_M = x + h/2 v
  const double depth = p.corrections.depth_before(claim);      // -g(q_M) where it is put back
  if (!p.corrections.check_births(claim)) return false;        // nobody is born inside another
  if (!p.starts.check()) return false;                         // nobody is through at once
  if (!p.corrections.replay(claim)) return false;              // x_M += M^-1 J^T w, w >= 0
  if (!p.pairs.find(claim)) return false;                      // all rows near; nobody overlaps
  if (!p.meetings.drop_idle()) return false;                   // e > 0: those that touch
  if (!p.law.check()) return false;                            // p in K; how far from û in K*
  if (!check_joints(claim)) return false;                      // g = 0 at both middles, their laws
  if (!p.islands.check(claim, p.law.fastest())) return false;  // p ⟂ û to the level claimed
  enter_residuals();
  if (!p.meetings.check_passing()) return false;  // nobody is through at the next middle
  if (!p.balance.check(claim)) return false;      // m (v+ - v) = h m g + sum p, x+ = x_M + h/2 v+
  return check_depth(depth, !claim.shifts.empty());
}

/// Whether the step may be made for the level that it names.
template <int D>
bool BodyJudge<D>::check_level() {
  BodyTrial<D>& trial = parts_->trial;
  BodyStatistics& told = parts_->told.statistics;
  if (trial.level <= told.law) return true;
  if (!trial.limits.may_fall(trial.level, trial.world.free_bodies())) {
    return trial.fail(Failure::Residual, trial.t_mid);
  }
  told.law_since[static_cast<std::size_t>(trial.level)] = trial.t_mid - 0.5 * trial.h;
  told.law = trial.level;
  return true;
}

/// That joints hold at this middle and at the next, and that their impulses obey their laws.
template <int D>
bool BodyJudge<D>::check_joints(const BodyClaim<D>& claim) {
  JointCourt<D>& joints = parts_->joints;
  BodyTrial<D>& trial = parts_->trial;
  if (!joints.any() && claim.reactions.empty()) return true;
  const auto& next = parts_->motions.next_middles();
  joints.look(trial.middle, trial.exists);
  const body::Gains<D> gains = trial.gains();
  const auto found =
      joints.judge(claim.reactions,
                   {trial.middle, trial.middle_after, next, trial.middle_unshifted, gains, trial.h,
                    trial.gravity.norm(), trial.limits, trial.level, trial.creep_limit});
  const bool is_off = joints.is_off(4.0);
  if (!is_off && found.joint < 0 && claim.reactions.size() == trial.world.joints.size()) {
    Certificate& c = parts_->certificate;
    c.joint_max = std::max(c.joint_max, found.gap_max);
    c.residual_max = std::max(c.residual_max, found.residual);
    return true;
  }
  trial.fail(is_off ? Failure::Violation : Failure::Residual, trial.t_mid,
             is_off ? found.gap_max : found.value);
  if (is_off) {
    trial.refusal.broken = fmt::format(
        "a joint is off by {:.2g}, more than places of its bodies round to", found.gap_max);
  }
  if (found.joint >= 0) {
    const auto at = static_cast<std::size_t>(found.joint);
    trial.refusal.where = fmt::format("of joint '{}'", trial.world.joints[at].name);
  }
  return false;
}

/// How deep bodies lie in each other at the middle, put back or `before`.
template <int D>
bool BodyJudge<D>::check_depth(double before, bool is_put_back) {
  BodyTrial<D>& trial = parts_->trial;
  Certificate& c = parts_->certificate;
  const double deepest = std::max(before, parts_->law.deepest());
  c.balance_max = std::max(c.balance_max, parts_->balance.worst());
  if (deepest > c.violation_max) {
    c.violation_max = c.violation_depth = deepest;
    c.violation_time = trial.t_mid;
  }
  if (deepest > trial.limits.violation) {
    return trial.fail(Failure::Violation, trial.t_mid, deepest);
  }
  if (!is_put_back) return true;
  BodyStatistics& told = parts_->told.statistics;
  ++told.projected;
  told.deepest = std::max(told.deepest, deepest);
  return true;
}

template <int D>
void BodyJudge<D>::enter_residuals() {
  const IslandsFound& found = parts_->islands.found();
  Certificate& c = parts_->certificate;
  parts_->told.enter(found);
  c.residual_sum += found.worst;
  if (found.worst > c.residual_max) {
    c.residual_max = found.worst;
    c.residual_time = parts_->trial.t_mid;
  }
}

/// A step that holds.
template <int D>
void BodyJudge<D>::enter(const BodyClaim<D>& claim) {
  Parts& p = *parts_;
  const BodySums& sums = p.balance.sums();
  p.ledger.enter(claim, sums);
  if (p.law.may_have_ghosts()) p.told.note_ghosts();
  p.told.note_sunk(p.corrections.sunk());
  p.told.note_sunk(p.law.sunk());
  p.told.statistics.removed += sums.removed;
  p.told.enter_pushes(p.law.pushes());
  p.certificate.violation_sum += p.law.deepest();
  p.certificate.violation_squares += p.law.deepest() * p.law.deepest();
  ++p.certificate.steps;
}

template <int D>
void BodyJudge<D>::take_refusal() {
  const BodyRefusal& refusal = parts_->trial.refusal;
  BodyStatistics& told = parts_->told.statistics;
  if (refusal.failure == Failure::None) return;
  fail(refusal.failure, refusal.t, refusal.value);
  if (!refusal.where.empty()) told.where = refusal.where;
  if (!refusal.broken.empty()) told.broken = refusal.broken;
}

template <int D>
void BodyJudge<D>::fail(Failure failure, double t, double value) {
  Certificate& c = parts_->certificate;
  if (c.failure != Failure::None) return;
  c.failure = failure;
  c.failure_time = t;
  c.failure_value = value;
}

template <int D>
void BodyJudge<D>::reconsider() {
  Certificate& c = parts_->certificate;
  c.failure = Failure::None;
  c.failure_time = c.failure_value = 0.0;
  parts_->told.statistics.where.clear();
  parts_->told.statistics.broken.clear();
}

template <int D>
const Certificate& BodyJudge<D>::certificate() const {
  return parts_->certificate;
}

template <int D>
BodyStatistics BodyJudge<D>::statistics() const {
  BodyStatistics told = parts_->told.of(parts_->certificate.steps);
  told.unseen = parts_->formulas.unseen();
  told.pairs_checked = static_cast<long long>(parts_->motions.near_before().size());
  return told;
}

template <int D>
double BodyJudge<D>::kinetic(const State& s) const {
  return parts_->ledger.kinetic(s);
}

template <int D>
double BodyJudge<D>::potential(const State& s) const {
  return parts_->ledger.potential(s);
}

template class BodyJudge<2>;
template class BodyJudge<3>;

}  // namespace ricochet::certify
