#include "ricochet/certify/body_corrections.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ricochet/certify/body_turning.h"
#include "ricochet/shape/gaps.h"

namespace ricochet::certify {

using base::index;
using body::Vec;

template <int D>
bool BodyCorrections<D>::replay(const BodyClaim<D>& claim) {
  trial_.put.clear();
  trial_.unshifted.clear();
  trial_.middle_unshifted.clear();
  joints_.forget_put();
  joints_.all_act();
  if (joints_.any() && claim.joint_shifts.size() != claim.shifts.size()) {
    return trial_.fail(Failure::Correction, trial_.t_mid);
  }
  if (!claim.shifts.empty()) {
    motions_.place_all();
    trial_.unshifted = trial_.poses;
    trial_.middle_unshifted = trial_.middle;
  }
  for (std::size_t k = 0; k < claim.shifts.size(); ++k) {
    if (!replay_round(claim.shifts[k], joints_.any() ? &claim.joint_shifts[k] : nullptr)) {
      return false;
    }
    for (const body::Push<D>& push : claim.shifts[k]) {
      if (push.impulse[0] > 0.0) trial_.put.push_back(push.key);
    }
  }
  std::sort(trial_.put.begin(), trial_.put.end());
  return claim.shifts.empty() || check_shifts();
}

template <int D>
double BodyCorrections<D>::gap_of(const body::Push<D>& push, Vec<D>& normal, Vec<D>& on_a,
                                  Vec<D>& on_b) const {
  const auto& a = trial_.world.solid(push.key.a);
  const auto& b = trial_.world.solid(push.key.b);
  return shape::gap_of(a.shape, trial_.poses[index(a.body)], b.shape, trial_.poses[index(b.body)],
                       push.key.feature, &normal, &on_a, &on_b);
}

template <int D>
double BodyCorrections<D>::depth_before(const BodyClaim<D>& claim) {
  double deepest = 0.0;
  sunk_ = {};
  if (claim.shifts.empty()) return deepest;
  motions_.place_all();
  for (const body::Push<D>& push : claim.shifts[0]) {
    Vec<D> normal;
    Vec<D> on_a;
    Vec<D> on_b;
    const double gap = gap_of(push, normal, on_a, on_b);
    deepest = std::max(deepest, -gap);
    if (std::isfinite(gap)) {
      sunk_.merge(trial_.sunk_of(trial_.make_row(push.key, gap, normal, on_a, on_b)));
    }
  }
  return deepest;
}

/// One round: places move by M^-1 J^T w, w >= 0, and no pair is pushed farther than it must be.
template <int D>
bool BodyCorrections<D>::replay_round(const Round& round, const Weights* joints) {
  motions_.place_all();
  rows_.clear();
  moved_.assign(trial_.middle.size(), {});
  double deepest = 0.0;
  for (const body::Push<D>& push : round) {
    if (!add_push(push, deepest)) return false;
  }
  bool is_needed = deepest > -1e-15 && !rows_.empty();
  if (joints != nullptr && !replay_joints(*joints, is_needed)) return false;
  if (joints != nullptr && !joints_.ends_at_limits(*joints, moved_)) {
    return trial_.fail(Failure::Correction, trial_.t_mid);
  }
  if (!is_needed && !rows_.empty()) {
    return trial_.fail_at(Failure::Correction, trial_.t_mid, deepest, rows_[0]);
  }
  if (!check_ends(deepest)) return false;
  shift_bodies();
  return true;
}

/// A row of a round, and what its weight moves.
template <int D>
bool BodyCorrections<D>::add_push(const body::Push<D>& push, double& deepest) {
  Vec<D> normal;
  Vec<D> on_a;
  Vec<D> on_b;
  const double gap = gap_of(push, normal, on_a, on_b);
  rows_.push_back(trial_.make_row(push.key, gap, normal, on_a, on_b));
  const body::Row<D>& row = rows_.back();
  if (!(push.impulse[0] >= 0.0) || !std::isfinite(gap)) {
    return trial_.fail_at(Failure::Correction, trial_.t_mid, push.impulse[0], row);
  }
  deepest = std::max(deepest, -gap - trial_.depth_of(row.slack));
  const Vec<D> p = row.normal * push.impulse[0];
  for (const bool of_a : {true, false}) {
    const int i = of_a ? row.body_a : row.body_b;
    const body::Body<D>& body = trial_.world.body(i);
    if (!body.is_free()) continue;
    const double sign = of_a ? 1.0 : -1.0;
    const body::Spin<D> moment = sign * body::moment(of_a ? row.arm_a : row.arm_b, p);
    moved_[index(i)].v += sign * p / body.mass;
    moved_[index(i)].spin += spin_by(body, trial_.middle[index(i)], moment);
  }
  return true;
}

/// Who pushes ends at -slack/2, not beyond.
template <int D>
bool BodyCorrections<D>::check_ends(double deepest) {
  for (const body::Row<D>& row : rows_) {
    const double end =
        row.gap + body::relative(row, moved_[index(row.body_a)], moved_[index(row.body_b)])[0];
    const double way = std::max(std::abs(row.gap), deepest);
    const double room = 0.5 * trial_.depth_of(row.slack);
    if (end > room + 1e-6 * way) {
      return trial_.fail_at(Failure::Correction, trial_.t_mid, end, row);
    }
  }
  return true;
}

/// The part of joints in a round, which they may need by themselves.
template <int D>
bool BodyCorrections<D>::replay_joints(const Weights& weights, bool& is_needed) {
  joints_.look(trial_.middle, trial_.exists);
  is_needed = is_needed || joints_.is_off(0.5);
  if (!is_needed || !joints_.add_shifts(weights, trial_.middle, moved_)) {
    return trial_.fail(Failure::Correction, trial_.t_mid);
  }
  joints_.each_impulse(weights, [&](int i, const Vec<D>&, const body::Spin<D>&, double size,
                                    double lever) {
    const body::Body<D>& body = trial_.world.body(i);
    if (!body.is_free()) return;
    trial_.shift_rounding[index(i)][0] += 32.0 * kRoundoff * size / body.mass;
    trial_.shift_rounding[index(i)][1] += 32.0 * kRoundoff * lever / body::size_of_inertia(body);
  });
  return true;
}

/// Bodies go where a round of the projection puts them; their rates in their own frames stay.
template <int D>
void BodyCorrections<D>::shift_bodies() {
  for (std::size_t i = 0; i < moved_.size(); ++i) {
    trial_.shift[i] += moved_[i].v;
    trial_.middle[i].x += moved_[i].v;
    turn(trial_.middle[i], moved_[i].spin);
    if constexpr (D == 3) {
      turn(trial_.from[i], moved_[i].spin);
      trial_.from[i].spin = rotation_by(moved_[i].spin) * trial_.from[i].spin;
    }
  }
}

/// Places are put back by what bodies may have moved beyond each other in a step, not by more: a
/// body between two that close has no place to go.
template <int D>
bool BodyCorrections<D>::check_shifts() {
  constexpr double kMost = 100.0;
  double fastest = trial_.gravity_step;
  for (std::size_t i = 0; i < trial_.middle.size(); ++i) {
    if (trial_.exists[i] == 0) continue;
    double speed = body::speed_bound(trial_.world.bodies[i], trial_.middle[i]);
    if (has_no_end(trial_.world.bodies[i])) speed += motions_.endless_speed(i, trial_.middle[i]);
    fastest = std::max(fastest, speed);
  }
  for (std::size_t i = 0; i < trial_.middle.size(); ++i) {
    if (trial_.exists[i] == 0 || !trial_.world.bodies[i].is_free()) continue;
    const double room = kMost * trial_.h * (fastest + trial_.creep_limit) +
                        1e-6 * (trial_.world.bodies[i].reach + trial_.middle[i].x.norm());
    const double way = trial_.shift[i].norm();
    if (!(way <= room)) return trial_.fail_body(Failure::Correction, trial_.t_mid, way, i);
  }
  return true;
}

template <int D>
bool BodyCorrections<D>::check_births(const BodyClaim<D>& claim) {
  const auto& before = *trial_.before;
  if (before.steps == 0 || claim.shifts.empty()) return true;  // scenes say what may overlap first
  const auto is_new = [&](int i) {
    return trial_.facts[index(i)].born > before.t - (1.0 - 1e-9) * trial_.h;
  };
  for (const body::Push<D>& push : claim.shifts[0]) {
    const auto& a = trial_.world.solid(push.key.a);
    const auto& b = trial_.world.solid(push.key.b);
    if (!is_new(a.body) && !is_new(b.body)) continue;
    const body::Body<D>& one = trial_.world.body(a.body);
    const body::Body<D>& other = trial_.world.body(b.body);
    const double apart =
        shape::separation(a.shape, body::pose_of(one, before.bodies[index(a.body)]), b.shape,
                          body::pose_of(other, before.bodies[index(b.body)]));
    const double slack = body::slack_of(one, other, before.bodies[index(a.body)].x);
    if (apart >= -2.0 * trial_.depth_of(slack)) continue;
    trial_.fail_between(Failure::Overlap, before.t, -apart, a.body, b.body);
    const bool of_a = is_new(a.body);
    trial_.refusal.broken =
        fmt::format("'{}' is born {:.3g} inside '{}'", (of_a ? one : other).name, -apart,
                    (of_a ? other : one).name);
    return false;
  }
  return true;
}

template class BodyCorrections<2>;
template class BodyCorrections<3>;

}  // namespace ricochet::certify
