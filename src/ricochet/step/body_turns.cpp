#include "ricochet/step/body_turns.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ricochet/body/turning.h"

namespace ricochet::step {

using base::index;
using body::Kind;
using body::Vec;

template <int D>
BodyTurns<D>::BodyTurns(BodyStep<D>& step, BodyContacts<D>& contacts, BodyJoints<D>& joints)
    : step_(step), contacts_(contacts), joints_(joints) {
  if constexpr (D == 3) is_still_.resize(step.world.bodies.size());
}

template <int D>
void BodyTurns<D>::begin() {
  turns_ = 0;
  rounds_ = 0;
  last_bend_ = std::numeric_limits<double>::infinity();
  bends_.clear();
  changes_.clear();
}

template <int D>
bool BodyTurns<D>::linearise() {
  if (D == 2) return true;
  return step_.all_pieces(step_.who.size(), [&](std::size_t begin, std::size_t end) {
    bool is_found = true;
    for (std::size_t k = begin; k < end && is_found; ++k) {
      is_found = linearise_turn(step_.who[k]);
    }
    return is_found;
  });
}

template <int D>
bool BodyTurns<D>::linearise_turn([[maybe_unused]] int who) {
  if constexpr (D == 3) {
    const std::size_t i = index(who);
    const body::Body<D>& body = step_.world.bodies[i];
    if (step_.exists[i] == 0 || !body.is_free()) return true;
    const body::Motion<D>& from = (*step_.start)[i];
    is_still_[i] = step_.moments[i] == Vec<D>::Zero() ? 1 : 0;
    if (body.is_even) {  // its ease never changes
      step_.middle[i].spin = from.spin;
      step_.after[i].rates.setZero();
      step_.after[i].spin = from.spin + step_.moments[i] / body.inertia(0, 0);
      step_.after[i].spin -= 1.0 / body.inertia(0, 0) * step_.moments[i];
      return true;
    }
    const body::Turning turning = body::turn_by(body, from, step_.h, step_.moments[i]);
    if (!turning.is_found) return false;
    step_.middle[i].spin = turning.before;
    step_.after[i].rates = turning.rates;
    step_.after[i].spin = turning.after - turning.slope * step_.moments[i];
    contacts_.ease(i).inverse = turning.slope;
  }
  return true;
}

template <int D>
bool BodyTurns<D>::settle() {
  const bool turned = hold_joints();
  return settle_bends() && turned;
}

/// Joints hold with the impulses found, and turns belong to them; whether both were known.
template <int D>
bool BodyTurns<D>::hold_joints() {
  if (!joints_.any()) return settle_turns();
  joints_.hold(contacts_.eases(), step_.after);
  joints_.hold(contacts_.eases(), step_.after);
  const bool turned = settle_turns();
  find_next();
  ++rounds_;
  return joints_.settle(step_.h, step_.after, next_, step_.enough_speed, !waits_for_joints()) &&
         turned;
}

/// With joints: where bodies are at the next middle, with the velocities found.
template <int D>
void BodyTurns<D>::find_next() {
  next_ = step_.after;
  for (std::size_t i = 0; i < next_.size(); ++i) {
    const body::Body<D>& body = step_.world.bodies[i];
    if (step_.exists[i] == 0 || body.kind == Kind::Fixed) continue;
    if (body.kind == Kind::Driven) {
      body.drive(step_.t_mid + step_.h, next_[i]);
      continue;
    }
    if constexpr (D == 3) {
      next_[i].x += 0.5 * step_.h * next_[i].v;
      body::finish_turning(body, step_.h, (*step_.start)[i], next_[i]);
      next_[i].advance(0.5 * step_.h);
    } else {
      next_[i].advance(step_.h);
    }
  }
}

/// The turns that belong to the moments found; whether they are those that were solved for.
template <int D>
bool BodyTurns<D>::settle_turns() {
  if (D == 2) return true;
  find_moments();
  return step_.all_pieces(step_.who.size(), [&](std::size_t begin, std::size_t end) {
    bool settled = true;
    for (std::size_t k = begin; k < end; ++k) {
      settled = settle_turn(step_.who[k]) && settled;
    }
    return settled;
  });
}

/// Moments of the impulses found, and sums of |r| |p|.
template <int D>
void BodyTurns<D>::find_moments() {
  if constexpr (D == 3) {
    for (const int i : step_.who) {
      step_.moments[index(i)].setZero();
      step_.levers[index(i)] = 0.0;
    }
    body::in_shares(&step_.executor, step_.rows.size(), step_.moments.size(),
                    [&](const body::Share& share) {
                      for (std::size_t k = 0; k < step_.rows.size(); ++k) add_moments(k, share);
                    });
    joints_.add_moments(step_.moments, step_.levers);
  }
}

/// What the impulse of a row does to those of its bodies that are asked for.
template <int D>
void BodyTurns<D>::add_moments([[maybe_unused]] std::size_t k,
                               [[maybe_unused]] const body::Share& share) {
  if constexpr (D == 3) {
    const body::Row<D>& row = step_.rows[k];
    const bool has_a = share.has(row.body_a);
    const bool has_b = share.has(row.body_b);
    if (!has_a && !has_b) return;
    const body::Frame<D> frame(row);
    const auto at = static_cast<Eigen::Index>(D * k);
    const Vec<D> p = frame.in_space(contacts_.impulses().template segment<D>(at));
    const double size = p.norm();
    if (has_a) step_.moments[index(row.body_a)] += body::moment(row.arm_a, p);
    if (has_b) step_.moments[index(row.body_b)] -= body::moment(row.arm_b, p);
    if (has_a) step_.levers[index(row.body_a)] += row.arm_a.norm() * size;
    if (has_b) step_.levers[index(row.body_b)] += row.arm_b.norm() * size;
    if (!contacts_.has_turns()) return;
    const Vec<D> turning = frame.in_space(contacts_.moments()[k]);
    if (has_a) step_.moments[index(row.body_a)] += turning;
    if (has_b) step_.moments[index(row.body_b)] -= turning;
    if (has_a) step_.levers[index(row.body_a)] += turning.norm();
    if (has_b) step_.levers[index(row.body_b)] += turning.norm();
  }
}

template <int D>
bool BodyTurns<D>::settle_turn([[maybe_unused]] int who) {
  if constexpr (D == 3) {
    constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
    constexpr double kRounding = 64.0 * kEpsilon;
    constexpr int kStrict = 12;  // turns; later ones need not settle better than impulses are known
    const bool is_strict = waits_for_joints() && turns_ < kStrict;
    const double rounding = is_strict ? kRounding : 64.0 * kRounding;
    const std::size_t i = index(who);
    const body::Body<D>& body = step_.world.bodies[i];
    if (step_.exists[i] == 0 || !body.is_free()) return true;
    const body::Motion<D>& from = (*step_.start)[i];
    if (body.is_even) {
      step_.after[i].spin = from.spin + step_.moments[i] / body.inertia(0, 0);
      return true;
    }
    const bool stays = is_still_[i] != 0 && step_.levers[i] == 0.0 && !joints_.any();
    if (stays) return true;  // its turns are those of linearise_turns
    const body::Turning turning = body::turn_by(body, from, step_.h, step_.moments[i]);
    const double off = std::max((turning.after - step_.after[i].spin).norm(),
                                (turning.before - step_.middle[i].spin).norm());
    const bool is_enough = off * body.reach <= step_.enough_speed;
    const double scale =
        turning.before.norm() + turning.after.norm() + turning.slope.norm() * step_.levers[i];
    step_.after[i].spin = turning.after;
    step_.after[i].rates = turning.rates;
    step_.middle[i].spin = turning.before;
    const double place = is_strict ? 0.0 : 8.0 * kEpsilon * from.x.template lpNorm<1>();
    return is_enough || off <= rounding * scale || off * body.reach * step_.h <= place;
  }
  return true;
}

/// Whether a row is that of a free body which rolls on a fixed half-space.
template <int D>
bool BodyTurns<D>::may_bend(const body::Row<D>& row) const {
  if (step_.is_free(row.body_a) && step_.is_free(row.body_b)) return false;
  if (!step_.world.rolls(row.key)) return false;
  return !shape::is_lowest_of_rim(row.key.feature) ||
         !(body::rim_turn(step_.world, row, *step_.start, step_.middle, step_.h,
                          step_.gravity_step) > body::kMostRimTurn);
}

/// Changes of bends in a turn.
template <int D>
struct BodyTurns<D>::Bending {
  double worst{0.0};  // in roundings
  double along{0.0};  // sums of changes of this turn and of the last one, for their rate
  double squares{0.0};
  double last_squares{0.0};
};

/// A free body that rolls on a fixed half-space: its row moves over it, and ends the step
/// elsewhere. How its velocity there, and its gap at the next middle, differ from what is linear at
/// this one; whether that was known when impulses were found.
template <int D>
bool BodyTurns<D>::settle_bends() {
  if (D == 2) return true;
  bends_.resize(step_.rows.size(), Vec<D>::Zero());
  changes_.resize(step_.rows.size(), Vec<D>::Zero());
  Bending all;
  for (std::size_t k = 0; k < step_.rows.size(); ++k) {
    if (may_bend(step_.rows[k])) bend_row(k, all);
  }
  if (is_stubborn()) hasten_bends(all);
  constexpr double kRoundings = 100.0;  // at which it may come no nearer
  const bool stays = !(all.worst < 0.9 * last_bend_) && !(joints_.any() && waits_for_joints());
  last_bend_ = all.worst;
  return all.worst <= 1.0 || (all.worst < kRoundings && stays);
}

template <int D>
void BodyTurns<D>::bend_row([[maybe_unused]] std::size_t k, [[maybe_unused]] Bending& all) {
  if constexpr (D == 3) {
    constexpr double kRounding = 4.0 * std::numeric_limits<double>::epsilon();
    const body::Row<D>& row = step_.rows[k];
    const bool of_a = step_.is_free(row.body_a);
    const auto i = index(of_a ? row.body_a : row.body_b);
    body::Motion<D> end = step_.after[i];
    end.x += 0.5 * step_.h * end.v;
    body::finish_turning(step_.world.bodies[i], step_.h, (*step_.start)[i], end);
    const body::Row<D> there = again(row, i, end);
    body::Motion<D> middle = end;
    middle.advance(0.5 * step_.h);
    const double sign = of_a ? 1.0 : -1.0;
    const Vec<D> now = body::velocity_at(step_.after[i], of_a ? row.arm_a : row.arm_b);
    const Vec<D> then = body::velocity_at(end, of_a ? there.arm_a : there.arm_b);
    Vec<D> bend = sign * body::in_frame(row, Vec<D>(then - now));
    bend[0] = (again(row, i, middle).gap - row.gap) / step_.h - sign * row.normal.dot(now);
    const double place = end.x.norm() + row.arm_a.norm() + row.arm_b.norm();
    if (std::abs(bend[0]) * step_.h <= 2.0 * kRounding * place) bend[0] = 0.0;
    const double off = (bend - bends_[k]).norm();
    if (off > step_.enough_speed) {
      const double rounding = kRounding * (now.norm() + then.norm() + place / step_.h);
      all.worst = std::max(all.worst, off / rounding);
    }
    const Vec<D> change = bend - bends_[k];
    all.along += change.dot(changes_[k]);
    all.squares += change.squaredNorm();
    all.last_squares += changes_[k].squaredNorm();
    changes_[k] = change;
    bends_[k] = bend;
  }
}

/// Aitken's step: where changes shrink by one rate from turn to turn, to the end of their row.
template <int D>
void BodyTurns<D>::hasten_bends(const Bending& all) {
  constexpr int kSeldom = 5;       // turns between two such steps
  constexpr double kStrays = 0.1;  // of a change, beside the rate
  if (turns_ % kSeldom != 0 || !(all.last_squares > 0.0)) return;
  const double rate = all.along / all.last_squares;
  const double strays = all.squares - all.along * rate;
  if (!(rate > 0.5 && rate < 1.0 - 1e-6) || strays > kStrays * kStrays * all.squares) return;
  for (std::size_t k = 0; k < bends_.size(); ++k) bends_[k] += rate / (1.0 - rate) * changes_[k];
}

/// A row with its free body elsewhere.
template <int D>
body::Row<D> BodyTurns<D>::again(const body::Row<D>& row, std::size_t i,
                                 const body::Motion<D>& there) const {
  const auto pose = [&](int b) {
    return body::pose_of(step_.world.body(b), index(b) == i ? there : step_.middle[index(b)]);
  };
  shape::Row<D> found;
  found.feature = row.key.feature;
  found.gap = shape::gap_of(step_.world.solid(row.key.a).shape, pose(row.body_a),
                            step_.world.solid(row.key.b).shape, pose(row.body_b), row.key.feature,
                            &found.normal, &found.on_a, &found.on_b);
  body::Row<D> made = row;
  made.gap = found.gap;
  made.arm_a = found.on_a - there.x;
  made.arm_b = found.on_b - there.x;
  return made;
}

template class BodyTurns<2>;
template class BodyTurns<3>;

}  // namespace ricochet::step
