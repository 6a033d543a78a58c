#include "ricochet/step/body_projection.h"

#include <algorithm>
#include <limits>

#include "ricochet/body/turning.h"

namespace ricochet::step {

using base::index;
using body::Vec;

template <int D>
problem::Report BodyProjection<D>::put_back(certify::BodyClaim<D>& claim) {
  constexpr std::size_t kMostRounds = 20;
  problem::Report report;
  claim.shifts.clear();
  claim.joint_shifts.clear();
  step_.put.clear();
  step_.is_shifted = false;
  step_.unshifted.clear();
  joints_.forget_put();
  for (std::size_t round = 0; round < kMostRounds; ++round) {
    double deepest = depth();
    joints_.look(step_.middle, step_.exists);
    if (deepest == 0.0 && joints_.fits()) break;
    if (round == 0 && any_back_) note_touching();
    neighbours_.let_all_join();
    deepest = std::max(deepest, joints_.misfit());
    begin_round(deepest);
    report = solve();
    if (report.status != problem::Status::Solved) return report;
    drop_rounding();
    contacts_.apply(step_.rows, shift_);
    joints_.hold(contacts_.eases(), shift_);
    note_put(claim);
    shift_bodies();
    neighbours_.find_anew(2.0 * deepest);
  }
  if (!claim.shifts.empty()) neighbours_.find_from_new_places();
  return report;
}

/// How deep the deepest row lies, where that is more than its slack.
template <int D>
double BodyProjection<D>::depth() const {
  double deepest = 0.0;
  for (const body::Row<D>& row : step_.rows) {
    if (row.gap < -step_.depth_of(row.slack)) deepest = std::max(deepest, -row.gap);
  }
  return deepest;
}

/// Who touches where places are not put back yet.
template <int D>
void BodyProjection<D>::note_touching() {
  step_.is_shifted = true;
  step_.unshifted = step_.middle;
  step_.slept.clear();
  if (sleeping_.any()) step_.slept = sleeping_.still();
  step_.touched.clear();
  for (const body::Row<D>& row : step_.rows) {
    if (row.gap <= row.slack) step_.touched.emplace_back(row.key.a, row.key.b);
  }
  std::sort(step_.touched.begin(), step_.touched.end());
}

/// Rows of all that may come near by what is put back.
template <int D>
void BodyProjection<D>::begin_round(double depth) {
  joints_.begin_shift(2.0 * depth);
  shift_.assign(step_.middle.size(), {});
  for (std::size_t i = 0; i < step_.reach.size(); ++i) {
    if (!sleeping_.sleeps(i)) step_.reach[i] = 2.0 * depth;
  }
  neighbours_.find_anew(2.0 * depth);
  if constexpr (D == 3) set_ease();
  contacts_.take(step_.rows);
}

/// Weights w >= 0, without friction: q = max(0, g + slack/2), less where it is deep.
template <int D>
problem::Report BodyProjection<D>::solve() {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < step_.rows.size(); ++i) {
    const double deep = step_.depth_of(step_.rows[i].slack);
    const double over = step_.rows[i].gap + 0.5 * deep;
    const auto at = static_cast<Eigen::Index>(D * i);
    contacts_.free()[at] = step_.rows[i].gap < -deep ? over : std::max(0.0, over);
    least = std::min(least, deep);
  }
  least = std::min(least, joints_.least_slack());
  if (joints_.any()) hold_shift();
  contacts_.look(nullptr);
  contacts_.seek_rest(nullptr, nullptr, 0, step_.h);
  contacts_.begin_round(true, false);
  return contacts_.solve(step_.level, 0.5 * least, 0.0);
}

template <int D>
void BodyProjection<D>::shift_bodies() {
  for (std::size_t i = 0; i < step_.middle.size(); ++i) {
    if (sleeping_.sleeps(i)) continue;
    step_.middle[i].shift(shift_[i].v, shift_[i].spin);
    turn_start(i, shift_[i].spin);
  }
}

/// Equations of joints in a round of the projection, and shifts that hold them alone.
template <int D>
void BodyProjection<D>::hold_shift() {
  joints_.factor(contacts_.eases());
  joints_.hold(contacts_.eases(), shift_);
  contacts_.pose_joints(shift_);
  for (std::size_t i = 0; i < step_.rows.size(); ++i) {
    const auto at = static_cast<Eigen::Index>(D * i);
    const body::Row<D>& row = step_.rows[i];
    contacts_.free().template segment<D>(at) +=
        body::relative(row, shift_[index(row.body_a)], shift_[index(row.body_b)]);
  }
}

/// Metric of the projection: inertia at the middle.
template <int D>
void BodyProjection<D>::set_ease() {
  for (std::size_t i = 0; i < step_.middle.size(); ++i) {
    if (step_.world.bodies[i].is_free()) {
      contacts_.ease(i) = body::ease_of(step_.world.bodies[i], step_.middle[i]);
    }
  }
}

/// A body that is put back turns with its spin: its rates in its own frame stay as they are.
template <int D>
void BodyProjection<D>::turn_start([[maybe_unused]] std::size_t i,
                                   [[maybe_unused]] const body::Spin<D>& by) {
  if constexpr (D == 3) {
    step_.from[i].shift(Vec<D>::Zero(), by);
    step_.from[i].spin = body::rotation(by) * step_.from[i].spin;
  }
}

/// What rounding leaves of weights puts nobody back.
template <int D>
void BodyProjection<D>::drop_rounding() {
  constexpr double kRounding = 1e-14;  // of what is put right
  for (std::size_t i = 0; i < step_.rows.size(); ++i) {
    const body::Row<D>& row = step_.rows[i];
    double mass = std::numeric_limits<double>::infinity();
    for (const int b : {row.body_a, row.body_b}) {
      if (step_.is_free(b)) mass = std::min(mass, step_.world.body(b).mass);
    }
    double& weight = contacts_.impulses()[static_cast<Eigen::Index>(D * i)];
    if (weight < kRounding * mass * std::max(std::abs(row.gap), row.slack)) weight = 0.0;
  }
}

/// What a round of the projection weighs, for the claim, and who was put back by it.
template <int D>
void BodyProjection<D>::note_put(certify::BodyClaim<D>& claim) {
  joints_.tell(claim.joint_shifts.emplace_back());
  joints_.note_put(claim.joint_shifts.back());
  claim.shifts.emplace_back();
  for (std::size_t i = 0; i < step_.rows.size(); ++i) {
    const double weight = contacts_.impulses()[static_cast<Eigen::Index>(D * i)];
    if (!(weight > 0.0)) continue;
    body::Push<D>& push = claim.shifts.back().emplace_back();
    push.key = step_.rows[i].key;
    push.impulse[0] = weight;
    step_.put.push_back(push.key);
  }
  std::sort(step_.put.begin(), step_.put.end());
}

template class BodyProjection<2>;
template class BodyProjection<3>;

}  // namespace ricochet::step
