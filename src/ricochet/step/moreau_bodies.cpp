#include "ricochet/step/moreau_bodies.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ricochet/base/index.h"
#include "ricochet/body/rows.h"
#include "ricochet/body/turning.h"

namespace ricochet::step {

using base::index;
using body::Kind;
using body::Vec;
namespace {
constexpr double kNoise = 16.0 * std::numeric_limits<double>::epsilon();
constexpr int kSeldom = 16;    // steps from one exact solve of what rests to the next
constexpr double kSure = 0.9;  // of what counts as touching: the judge's groups are no smaller
using certify::Level;

/// Whether a body is driven and has no end, as a half-space: where it turns, its particles are the
/// faster the farther away.
template <int D>
bool is_endless(const body::Body<D>& body) {
  return body.kind == Kind::Driven && !std::isfinite(body.size);
}

}  // namespace

template <int D>
MoreauBodies<D>::MoreauBodies(const body::World<D>& world, const certify::Limits& limits)
    : world_(world),
      limits_(limits),
      first_level_(limits.aim == limits.least ? limits.aim : Level::Exact),
      level_(first_level_),
      can_fall_(limits.may_fall(Level::Tight, world.free_bodies()) && level_ == Level::Exact),
      finder_(world),
      joints_(world),
      contacts_(world, limits, joints_),
      exists_(world.bodies.size(), 1),
      reach_(world.bodies.size(), 0.0),
      flies_(world.bodies.size(), 0),
      middle_(world.bodies.size()),
      after_(world.bodies.size()) {
  if constexpr (D == 3) {
    moments_.resize(world.bodies.size());
    levers_.resize(world.bodies.size());
    is_still_.resize(world.bodies.size());
  }
  contacts_.sweep_in_groups(&middle_, &given_, nullptr);
  if (world.mixes_restitution()) {
    meets_.resize(world.bodies.size());
    group_.resize(world.bodies.size());
  }
  for (std::size_t i = 0; i < world.bodies.size(); ++i) {
    const body::Body<D>& body = world.bodies[i];
    const bool may_fly =
        body.is_free() && body.is_even && finder_.is_round(i) && world.joints.empty();
    facts_.push_back({body.born, body.reach, body.is_free(), may_fly});
    has_endless_ = has_endless_ || is_endless(body);
    has_driven_ = has_driven_ || body.kind == Kind::Driven;
  }
}

/// work(begin, end) of pieces of a range; no thread has to do with what another one changes.
template <int D>
template <class Work>
void MoreauBodies<D>::in_pieces(std::size_t count, const Work& work) const {
  constexpr std::size_t kInPiece = 1024;
  const base::Pieces range{count, kInPiece};
  base::each(executor_, range.count(), [&](std::size_t p) { work(range.begin(p), range.end(p)); });
}

/// x_M = x + h/2 v; driven bodies are where their formulas say, at the velocity between the
/// middles. In space bodies that may fly have no use for their rotation there.
template <int D>
void MoreauBodies<D>::half_step(std::size_t i, double h) {
  const body::Body<D>& body = world_.bodies[i];
  body::Motion<D>& middle = middle_[i] = (*start_)[i];
  if constexpr (D == 3) {
    moments_[i].setZero();
    levers_[i] = 0.0;
  }
  if (exists_[i] == 0) return;
  if (D == 3 && facts_[i].may_fly) {
    middle.x += 0.5 * h * middle.v;
  } else if (body.kind == Kind::Free) {
    middle.advance(0.5 * h);
  }
  if (body.kind == Kind::Driven) body::drive(body, t_mid_, -h, middle);
}

/// The body takes part in the step from here on.
template <int D>
void MoreauBodies<D>::join(std::size_t i, double h) {
  flies_[i] = 0;
  who_.push_back(static_cast<int>(i));
  half_step(i, h);
  free_velocity(i, h);
}

/// Where bodies are at the middle and how far they may come, and who is near another. Round bodies
/// that are near nobody take no part in what follows but for `fly`.
template <int D>
void MoreauBodies<D>::look_around(const State& s, double h) {
  t_mid_ = s.t + 0.5 * h;
  const Vec<D> gravity = world_.gravity(t_mid_);
  given_ = h * gravity;
  gravity_step_ = h * gravity.norm();
  start_ = &s.bodies;
  who_.clear();
  if (has_endless_) find_span(s, h);
  const double depth = certify::depth_of(0.0, level_, h, creep_limit_);
  for (std::size_t i = 0; i < reach_.size(); ++i) {
    const Fact& fact = facts_[i];
    exists_[i] = fact.born <= s.t + 1e-9 * h && s.gone[i] == 0 ? 1 : 0;
    flies_[i] = fact.may_fly ? 1 : 0;
    if (!fact.may_fly) {
      join(i, h);
      reach_[i] = 0.0;
      add_reach(i, h, middle_[i]);
      add_reach(i, h, after_[i]);
      finder_.place(i, middle_[i], reach_[i]);
      continue;
    }
    const body::Motion<D>& m = s.bodies[i];
    const double spin = body::size_of(m.spin) * fact.reach;
    double speed = m.v.norm() + spin;
    Vec<D> x = m.x;
    if (exists_[i] != 0) {
      x += 0.5 * h * m.v;
      speed = std::max(speed, (m.v + given_).norm() + spin);
    }
    reach_[i] = std::max(0.0, h * speed + depth);
    finder_.place_round(i, x, reach_[i]);
  }
  let_join(h);
}

/// Who is near another takes part.
template <int D>
void MoreauBodies<D>::let_join(double h) {
  for (const int i : finder_.look(reach_)) {
    if (flies_[index(i)] != 0) join(index(i), h);
  }
}

/// Bodies are to be put back: all take part, and begin where that puts them.
template <int D>
void MoreauBodies<D>::let_all_join(double h) {
  if (start_ == &from_) return;
  for (std::size_t i = 0; i < flies_.size(); ++i) {
    if (flies_[i] != 0) join(i, h);
  }
  from_ = *start_;
  start_ = &from_;
}

/// Metric of the projection: inertia at the middle.
template <int D>
void MoreauBodies<D>::set_ease() {
  for (std::size_t i = 0; i < middle_.size(); ++i) {
    if (world_.bodies[i].is_free()) {
      contacts_.ease(i) = body::ease_of(world_.bodies[i], middle_[i]);
    }
  }
}

/// A body that is put back turns with its spin: its rates in its own frame stay as they are.
template <int D>
void MoreauBodies<D>::turn_start([[maybe_unused]] std::size_t i,
                                 [[maybe_unused]] const body::Spin<D>& by) {
  if constexpr (D == 3) {
    from_[i].shift(Vec<D>::Zero(), by);
    from_[i].spin = body::rotation(by) * from_[i].spin;
  }
}

/// before = R̄Ω, after = R̄Ω⁺ of the moments found last, less what is linear in them; false where a
/// body turns too far in one step.
template <int D>
bool MoreauBodies<D>::linearise_turns([[maybe_unused]] double h) {
  if constexpr (D == 3) {
    for (const int who : who_) {
      const std::size_t i = index(who);
      const body::Body<D>& body = world_.bodies[i];
      if (exists_[i] == 0 || !body.is_free()) continue;
      const body::Motion<D>& from = (*start_)[i];
      is_still_[i] = moments_[i] == Vec<D>::Zero() ? 1 : 0;
      if (body.is_even) {  // its ease never changes
        middle_[i].spin = from.spin;
        after_[i].rates.setZero();
        after_[i].spin = from.spin + moments_[i] / body.inertia(0, 0);
        after_[i].spin -= 1.0 / body.inertia(0, 0) * moments_[i];
        continue;
      }
      const body::Turning turning = body::turn_by(body, from, h, moments_[i]);
      if (!turning.is_found) return false;
      middle_[i].spin = turning.before;
      after_[i].rates = turning.rates;
      after_[i].spin = turning.after - turning.slope * moments_[i];
      contacts_.ease(i).inverse = turning.slope;
    }
  }
  return true;
}

/// Moments of the impulses found, and sums of |r| |p|.
template <int D>
void MoreauBodies<D>::find_moments() {
  if constexpr (D == 3) {
    for (const int i : who_) {
      moments_[index(i)].setZero();
      levers_[index(i)] = 0.0;
    }
    for (std::size_t k = 0; k < rows_.size(); ++k) {
      const auto at = static_cast<Eigen::Index>(D * k);
      const Vec<D> p = body::in_space(rows_[k], contacts_.impulses().template segment<D>(at));
      moments_[index(rows_[k].body_a)] += body::moment(rows_[k].arm_a, p);
      moments_[index(rows_[k].body_b)] -= body::moment(rows_[k].arm_b, p);
      levers_[index(rows_[k].body_a)] += rows_[k].arm_a.norm() * p.norm();
      levers_[index(rows_[k].body_b)] += rows_[k].arm_b.norm() * p.norm();
      if (!contacts_.has_turns()) continue;
      const Vec<D> turning = body::in_space(rows_[k], contacts_.moments()[k]);
      moments_[index(rows_[k].body_a)] += turning;
      moments_[index(rows_[k].body_b)] -= turning;
      levers_[index(rows_[k].body_a)] += turning.norm();
      levers_[index(rows_[k].body_b)] += turning.norm();
    }
    joints_.add_moments(moments_, levers_);
  }
}

/// The turns that belong to the moments found; whether they are those that were solved for.
template <int D>
bool MoreauBodies<D>::settle_turns([[maybe_unused]] double h) {
  bool settled = true;
  if constexpr (D == 3) {
    constexpr double kRounding = 64.0 * std::numeric_limits<double>::epsilon();
    const double rounding = waits_for_joints() ? kRounding : 64.0 * kRounding;
    find_moments();
    for (const int who : who_) {
      const std::size_t i = index(who);
      const body::Body<D>& body = world_.bodies[i];
      if (exists_[i] == 0 || !body.is_free()) continue;
      const body::Motion<D>& from = (*start_)[i];
      if (body.is_even) {
        after_[i].spin = from.spin + moments_[i] / body.inertia(0, 0);
        continue;
      }
      const bool stays = is_still_[i] != 0 && levers_[i] == 0.0 && !joints_.any();
      if (stays) continue;  // its turns are those of linearise_turns
      const body::Turning turning = body::turn_by(body, from, h, moments_[i]);
      const double off = std::max((turning.after - after_[i].spin).norm(),
                                  (turning.before - middle_[i].spin).norm());
      const bool is_enough = off * body.reach <= enough_speed_;
      const double scale =
          turning.before.norm() + turning.after.norm() + turning.slope.norm() * levers_[i];
      settled = settled && (is_enough || off <= rounding * scale);
      after_[i].spin = turning.after;
      after_[i].rates = turning.rates;
      middle_[i].spin = turning.before;
    }
  }
  return settled;
}

/// A free body that rolls on a fixed half-space: its row moves over it, and ends the step
/// elsewhere. How its velocity there, and its gap at the next middle, differ from what is linear at
/// this one; whether that was known when impulses were found.
template <int D>
bool MoreauBodies<D>::settle_bends([[maybe_unused]] double h) {
  bool settled = true;
  if constexpr (D == 3) {
    constexpr double kRounding = 4.0 * std::numeric_limits<double>::epsilon();
    double worst = 0.0;  // change, in roundings
    bends_.resize(rows_.size(), Vec<D>::Zero());
    for (std::size_t k = 0; k < rows_.size(); ++k) {
      const body::Row<D>& row = rows_[k];
      const bool of_a = world_.body(row.body_a).is_free();
      const auto i = index(of_a ? row.body_a : row.body_b);
      if (!world_.rolls(row.key)) continue;
      body::Motion<D> end = after_[i];
      end.x += 0.5 * h * end.v;
      body::finish_turning(world_.bodies[i], h, (*start_)[i], end);
      const body::Row<D> there = again(row, i, end);
      body::Motion<D> middle = end;
      middle.advance(0.5 * h);
      const double sign = of_a ? 1.0 : -1.0;
      const Vec<D> now = body::velocity_at(after_[i], of_a ? row.arm_a : row.arm_b);
      const Vec<D> then = body::velocity_at(end, of_a ? there.arm_a : there.arm_b);
      Vec<D> bend = sign * body::in_frame(row, Vec<D>(then - now));
      bend[0] = (again(row, i, middle).gap - row.gap) / h - sign * row.normal.dot(now);
      const double place = end.x.norm() + row.arm_a.norm() + row.arm_b.norm();
      if (std::abs(bend[0]) * h <= 2.0 * kRounding * place) bend[0] = 0.0;
      const double off = (bend - bends_[k]).norm();
      if (off > enough_speed_)
        worst = std::max(worst, off / (kRounding * (now.norm() + then.norm() + place / h)));
      bends_[k] = bend;
    }
    constexpr double kRoundings = 100.0;  // at which it may come no nearer
    const bool stays = !(worst < 0.9 * last_bend_) && !(joints_.any() && waits_for_joints());
    settled = worst <= 1.0 || (worst < kRoundings && stays);
    last_bend_ = worst;
  }
  return settled;
}

/// A row with its free body elsewhere.
template <int D>
body::Row<D> MoreauBodies<D>::again(const body::Row<D>& row, std::size_t i,
                                    const body::Motion<D>& there) const {
  const auto pose = [&](int b) {
    return body::pose_of(world_.body(b), index(b) == i ? there : middle_[index(b)]);
  };
  shape::Row<D> found;
  found.feature = row.key.feature;
  found.gap =
      shape::gap_of(world_.solid(row.key.a).shape, pose(row.body_a), world_.solid(row.key.b).shape,
                    pose(row.body_b), row.key.feature, &found.normal, &found.on_a, &found.on_b);
  body::Row<D> made = row;
  made.gap = found.gap;
  made.arm_a = found.on_a - there.x;
  made.arm_b = found.on_b - there.x;
  return made;
}

/// How far a body may come in this step.
template <int D>
void MoreauBodies<D>::add_reach(std::size_t i, double h, const body::Motion<D>& of) {
  double speed = body::speed_bound(world_.bodies[i], of);
  if (has_endless_ && is_endless(world_.bodies[i])) {
    speed += body::size_of(of.spin) * (span_ + of.x.norm());
  }
  reach_[i] = std::max(reach_[i], h * speed + certify::depth_of(0.0, level_, h, creep_limit_));
}

/// How far away a turning half-space may meet a free body in this step.
template <int D>
void MoreauBodies<D>::find_span(const State& s, double h) {
  span_ = 0.0;
  for (std::size_t i = 0; i < facts_.size(); ++i) {
    if (!facts_[i].is_free || s.gone[i] != 0) continue;
    const body::Motion<D>& m = s.bodies[i];
    span_ = std::max(span_, m.x.norm() + facts_[i].reach + h * (m.v + given_).norm());
  }
}

/// With joints: where bodies are at the next middle, with the velocities found.
template <int D>
void MoreauBodies<D>::find_next(double h) {
  next_ = after_;
  for (std::size_t i = 0; i < next_.size(); ++i) {
    const body::Body<D>& body = world_.bodies[i];
    if (exists_[i] == 0 || body.kind == Kind::Fixed) continue;
    if (body.kind == Kind::Driven) {
      body.drive(t_mid_ + h, next_[i]);
      continue;
    }
    if constexpr (D == 3) {
      next_[i].x += 0.5 * h * next_[i].v;
      body::finish_turning(body, h, (*start_)[i], next_[i]);
      next_[i].advance(0.5 * h);
    } else {
      next_[i].advance(h);
    }
  }
}

/// Equations of joints in a round of the projection, and shifts that hold them alone.
template <int D>
void MoreauBodies<D>::hold_shift() {
  joints_.factor(contacts_.eases());
  joints_.hold(contacts_.eases(), shift_);
  contacts_.pose_joints(shift_);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const auto at = static_cast<Eigen::Index>(D * i);
    contacts_.free().template segment<D>(at) +=
        body::relative(rows_[i], shift_[index(rows_[i].body_a)], shift_[index(rows_[i].body_b)]);
  }
}

/// The unilateral projection: min ½ d.M d with g + J d >= -slack/2 for what is deeper than the
/// slack, and nothing near pushed in for it; joints are put where they hold. Rounds, as gaps are
/// not linear.
template <int D>
problem::Report MoreauBodies<D>::put_back(double h, certify::BodyClaim<D>& claim) {
  constexpr std::size_t kMostRounds = 20;
  problem::Report report;
  claim.shifts.clear();
  claim.joint_shifts.clear();
  put_.clear();
  joints_.forget_put();
  for (std::size_t round = 0; round < kMostRounds; ++round) {
    double depth = 0.0;
    for (const body::Row<D>& row : rows_) {
      if (row.gap < -depth_of(row, h)) depth = std::max(depth, -row.gap);
    }
    joints_.look(middle_, exists_);
    if (depth == 0.0 && joints_.fits()) break;
    let_all_join(h);
    depth = std::max(depth, joints_.misfit());
    joints_.begin_shift(2.0 * depth);
    shift_.assign(middle_.size(), {});
    std::fill(reach_.begin(), reach_.end(), 2.0 * depth);
    finder_.find(middle_, exists_, reach_, rows_);
    if constexpr (D == 3) set_ease();
    contacts_.take(rows_);
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const double deep = depth_of(rows_[i], h);
      const double over = rows_[i].gap + 0.5 * deep;
      const auto at = static_cast<Eigen::Index>(D * i);
      contacts_.free()[at] = rows_[i].gap < -deep ? over : std::max(0.0, over);
      least = std::min(least, deep);
    }
    least = std::min(least, joints_.least_slack());
    if (joints_.any()) hold_shift();
    contacts_.look(nullptr);  // without friction
    contacts_.seek_rest(nullptr, nullptr, 0, h);
    contacts_.begin_round(true, false);
    report = contacts_.solve(level_, 0.5 * least, 0.0);
    if (report.status != problem::Status::Solved) return report;
    contacts_.apply(rows_, shift_);
    joints_.hold(contacts_.eases(), shift_);
    note_put(claim);
    for (std::size_t i = 0; i < middle_.size(); ++i) {
      middle_[i].shift(shift_[i].v, shift_[i].spin);
      turn_start(i, shift_[i].spin);
    }
    finder_.find(middle_, exists_, reach_, rows_);
  }
  return report;
}

/// What a round of the projection weighs, for the claim, and who was put back by it.
template <int D>
void MoreauBodies<D>::note_put(certify::BodyClaim<D>& claim) {
  joints_.tell(claim.joint_shifts.emplace_back());
  joints_.note_put(claim.joint_shifts.back());
  claim.shifts.emplace_back();
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const double weight = contacts_.impulses()[static_cast<Eigen::Index>(D * i)];
    if (!(weight > 0.0)) continue;
    body::Push<D>& push = claim.shifts.back().emplace_back();
    push.key = rows_[i].key;
    push.impulse[0] = weight;
    put_.push_back(push.key);
  }
  std::sort(put_.begin(), put_.end());
}

/// u' = u + h g; driven bodies go to their next middle.
template <int D>
void MoreauBodies<D>::free_velocity(std::size_t i, double h) {
  after_[i] = middle_[i];
  if (exists_[i] == 0) return;
  const body::Body<D>& body = world_.bodies[i];
  if (body.kind == Kind::Free) after_[i].v = (*start_)[i].v + given_;
  if (body.kind == Kind::Driven) body::drive(body, t_mid_, h, after_[i]);
}

/// Whether a row touches at the middle or was put back there.
template <int D>
bool MoreauBodies<D>::touches(const body::Row<D>& row) const {
  return row.gap <= row.slack || std::binary_search(put_.begin(), put_.end(), row.key);
}

/// When a body, or one that touches or is joined to it, first meets a row with e > 0: by the root
/// of its group; whether any does by the next middle.
template <int D>
bool MoreauBodies<D>::find_meetings(double h, const std::vector<body::Row<D>>& rows) {
  if (meets_.empty()) return false;
  std::fill(meets_.begin(), meets_.end(), std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < group_.size(); ++i) group_[i] = static_cast<int>(i);
  const auto tie = [&](int a, int b) {
    if (!facts_[index(a)].is_free || !facts_[index(b)].is_free) return;
    const int one = group_of(a);
    const int other = group_of(b);
    group_[index(std::max(one, other))] = std::min(one, other);
  };
  for (const body::Row<D>& row : rows) {
    if (touches(row)) tie(row.body_a, row.body_b);
  }
  for (const body::Joint<D>& joint : world_.joints) tie(joint.a, joint.b);
  bool any = false;
  for (const body::Row<D>& row : rows) {
    if (world_.law_between(row.body_a, row.body_b).looks_ahead() || touches(row)) continue;
    const double time = body::time_to_touch(world_, row, given_, middle_);
    if (time > h) continue;
    any = true;
    for (const int b : {row.body_a, row.body_b}) {
      if (!facts_[index(b)].is_free) continue;
      double& first = meets_[index(group_of(b))];
      first = std::min(first, time);
    }
  }
  return any;
}

template <int D>
int MoreauBodies<D>::group_of(int b) {
  while (group_[index(b)] != b) b = group_[index(b)] = group_[index(group_[index(b)])];
  return b;
}

/// Rows with e > 0 act where they touch or were put back, and nowhere else. Nor do those with e = 0
/// whose bodies, with what touches them, meet such a row before or at the same time: looking ahead
/// they would brake what is thrown back.
template <int D>
void MoreauBodies<D>::drop_open(double h, std::vector<body::Row<D>>& rows) {
  constexpr double kSame = 1e-3;  // of a step
  const bool any = find_meetings(h, rows);
  const auto waits = [&](const body::Row<D>& row) {
    const double time = body::time_to_touch(world_, row, given_, middle_) + kSame * h;
    const auto meets = [&](int b) {
      return facts_[index(b)].is_free && meets_[index(group_of(b))] <= time;
    };
    return meets(row.body_a) || meets(row.body_b);
  };
  std::erase_if(rows, [&](const body::Row<D>& row) {
    if (touches(row)) return false;
    const bool looks_ahead = world_.law_between(row.body_a, row.body_b).looks_ahead();
    return !looks_ahead || (any && waits(row));
  });
}

/// q: U' + max(0, g)/h where e = 0, U' + e U where the pair touches; others do not act. Begins with
/// the impulses of the step before, or below Level::Exact with those of the round before.
template <int D>
void MoreauBodies<D>::pose_problem(const State& s, double h, bool is_first) {
  drop_open(h, rows_);
  const bool goes_on = !is_first && level_ != Level::Exact;
  kept_moments_.clear();
  if (goes_on && !is_wider_) kept_ = contacts_.impulses();
  if (goes_on && !is_wider_ && contacts_.has_turns()) kept_moments_ = contacts_.moments();
  is_wider_ = false;
  contacts_.take(rows_, true);
  joints_.set_before(h, middle_);
  joints_.factor(contacts_.eases());
  joints_.hold(contacts_.eases(), after_);
  contacts_.pose_joints(after_);
  const auto size = static_cast<Eigen::Index>(D * rows_.size());
  if (goes_on) contacts_.impulses().head(size) = kept_.head(size);
  if (!kept_moments_.empty()) contacts_.moments() = kept_moments_;
  in_pieces(rows_.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) pose_row(i, s, h);
    if (goes_on || begin == end) return;
    auto last = std::lower_bound(
        s.pushes.begin(), s.pushes.end(), rows_[begin].key,
        [](const body::Push<D>& push, const body::RowKey& key) { return push.key < key; });
    for (std::size_t i = begin; i < end; ++i) {
      const body::RowKey& key = rows_[i].key;
      while (last != s.pushes.end() && last->key < key) ++last;
      if (last == s.pushes.end() || !(last->key == key)) continue;
      contacts_.impulses().template segment<D>(static_cast<Eigen::Index>(D * i)) = last->impulse;
      if (contacts_.has_turns()) contacts_.moments()[i] = last->moment;
    }
  });
  if (contacts_.has_turns()) contacts_.pose_turns(after_);
}

/// What is asked of a row, but for the impulse that it begins with.
template <int D>
void MoreauBodies<D>::pose_row(std::size_t i, const State& s, double h) {
  const body::Row<D>& row = rows_[i];
  const body::PairLaw& law = world_.law_between(row.body_a, row.body_b);
  const std::size_t a = index(row.body_a);
  const std::size_t b = index(row.body_b);
  const double comes = -body::relative(row, middle_[a], middle_[b])[0];
  Vec<D> q = body::relative(row, after_[a], after_[b]);
  q[0] += law.looks_ahead() ? certify::way_of(row.gap, row.slack, level_, h, creep_limit_) / h
                            : -law.returned(comes, given_.norm()) * comes;
  if (i < bends_.size()) q += bends_[i];
  const auto at = static_cast<Eigen::Index>(D * i);
  contacts_.free().template segment<D>(at) = q;
  contacts_.friction()[i] = law.friction;
  contacts_.noise()[i] = kNoise * (body::speed_bound(world_.bodies[a], after_[a]) +
                                   body::speed_bound(world_.bodies[b], after_[b]));
  const double open = std::max(creep_limit_, limits_.creep_part() * comes);
  contacts_.approach()[i] = comes;
  contacts_.closes()[i] = row.gap <= kSure * depth_of(row, h)
                              ? std::numeric_limits<double>::infinity()
                              : kSure * (row.slack / h + open);
  contacts_.rests()[i] = is_slow(row.body_a, s) && is_slow(row.body_b, s) ? 1 : 0;
}

/// Whether a body moves no faster than gravity makes it in one step.
template <int D>
bool MoreauBodies<D>::is_slow(int b, const State& s) const {
  const body::Body<D>& body = world_.body(b);
  if (body.kind == Kind::Fixed) return true;
  return body::speed_bound(body, body.is_free() ? s.bodies[index(b)] : after_[index(b)]) <=
         gravity_step_;
}

/// Whether a body goes farther than was looked for it.
template <int D>
bool MoreauBodies<D>::outruns(double h) {
  bool any = false;
  for (const int who : who_) {
    const std::size_t i = index(who);
    const double way = h * body::speed_bound(world_.bodies[i], after_[i]);
    if (!(way > reach_[i] * (1.0 + 1e-9))) continue;
    reach_[i] = 1.5 * way;
    any = true;
  }
  return any;
}

/// The rows of a larger reach, if there are others, with the impulses found so far.
template <int D>
bool MoreauBodies<D>::widen(double h) {
  for (const int i : who_) finder_.place(index(i), middle_[index(i)], reach_[index(i)]);
  let_join(h);
  finder_.rows(middle_, exists_, reach_, wider_);
  drop_open(h, wider_);
  if (wider_.size() == rows_.size()) return false;
  kept_.setZero(static_cast<Eigen::Index>(D * wider_.size()));
  std::size_t k = 0;
  for (std::size_t i = 0; i < wider_.size(); ++i) {
    while (k < rows_.size() && rows_[k].key < wider_[i].key) ++k;
    if (k == rows_.size() || !(rows_[k].key == wider_[i].key)) continue;
    kept_.template segment<D>(static_cast<Eigen::Index>(D * i)) =
        contacts_.impulses().template segment<D>(static_cast<Eigen::Index>(D * k));
  }
  std::swap(rows_, wider_);
  bends_.clear();
  is_wider_ = true;
  return true;
}

/// The next lower level, where the run may have it.
template <int D>
bool MoreauBodies<D>::fall() {
  if (!can_fall_ || level_ >= limits_.least) return false;
  level_ = level_ == Level::Exact ? Level::Tight : Level::Bounded;
  is_told_to_fall_ = true;
  return true;
}

/// Joints hold with the impulses found, and turns belong to them; whether both were known.
template <int D>
bool MoreauBodies<D>::hold_joints(double h) {
  if (!joints_.any()) return settle_turns(h);
  joints_.hold(contacts_.eases(), after_);
  joints_.hold(contacts_.eases(), after_);
  const bool turned = settle_turns(h);
  find_next(h);
  ++rounds_;
  return joints_.settle(h, after_, next_, enough_speed_, !waits_for_joints()) && turned;
}

/// Impulses and u+, found again where a body came to be faster than its reach, and in space until
/// moments and turns agree.
template <int D>
problem::Report MoreauBodies<D>::push(const State& s, double h) {
  constexpr int kMostRounds = 200;  // a blow may pass through as many bodies in a step
  constexpr int kMostTurns = 200;
  const double gh = gravity_step_;
  enough_speed_ = level_ == Level::Exact   ? 0.0
                  : level_ == Level::Tight ? 1e-10 * gh
                                           : 0.05 * creep_limit_;
  looks_ = s.looks;
  looks_.begin();
  tries_ = s.tries;
  std::erase_if(tries_, [&](const body::RestTry& one) { return one.next + one.wait < s.steps; });
  problem::Report report;
  bends_.clear();
  is_wider_ = false;
  last_bend_ = std::numeric_limits<double>::infinity();
  joints_.look(middle_, exists_);
  joints_.begin_push(h, gh, middle_, s.reactions, level_ != Level::Exact);
  rounds_ = 0;
  for (int round = 0, turns = 0; round < kMostRounds; ++round) {
    in_pieces(who_.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t k = begin; k < end; ++k) {
        if (facts_[index(who_[k])].is_free) free_velocity(index(who_[k]), h);
      }
    });
    for (const int i : who_) {  // formulas of driven bodies: by one thread
      if (!facts_[index(i)].is_free) free_velocity(index(i), h);
    }
    if (!linearise_turns(h)) return {.status = problem::Status::NoConvergence};
    pose_problem(s, h, round + turns == 0);
    contacts_.look(&looks_);
    contacts_.seek_rest(&after_, &tries_, s.steps, h);
    contacts_.begin_round(round + turns > 0, s.steps % kSeldom == 0);
    report = contacts_.solve(level_, creep_limit_, limits_.creep_part());
    if (report.status != problem::Status::Solved) return report;
    contacts_.apply(rows_, after_);
    const bool turned = hold_joints(h);
    if (!(settle_bends(h) && turned)) {
      if (++turns == kMostTurns) return {.status = problem::Status::NoConvergence};
      --round;
      continue;
    }
    if (!outruns(h) || !widen(h)) break;
  }
  return report;
}

/// A whole step of a round body that is near nobody.
template <int D>
void MoreauBodies<D>::fly(const body::Motion<D>& from, double h, [[maybe_unused]] std::size_t i,
                          body::Motion<D>& next) const {
  next = from;
  next.v = from.v + given_;
  next.x = (from.x + 0.5 * h * from.v) + 0.5 * h * next.v;
  if constexpr (D == 3) {
    next.rates.setZero();
    next.spin.array() += 0.0;  // as with impulses that are 0: no -0
    const bool stays = next.spin == Vec<D>::Zero() && from.turn.squaredNorm() == 1.0;
    if (!stays) body::finish_turning(world_.bodies[i], h, from, next);
  } else {
    next.angle = (from.angle + 0.5 * h * from.spin) + 0.5 * h * from.spin;
  }
}

/// x+ = x_M + h/2 v+, R+ = R exp(h (Ω + Ω+)/2); driven bodies go where their formulas say.
template <int D>
void MoreauBodies<D>::finish_body(std::size_t i, double h, body::Motion<D>& m) const {
  const body::Body<D>& body = world_.bodies[i];
  if (body.kind == Kind::Driven) body.drive(t_mid_ + 0.5 * h, m);
  if (body.kind != Kind::Free) return;
  if constexpr (D == 3) {
    m.x += 0.5 * h * m.v;
    body::finish_turning(body, h, (*start_)[i], m);
  } else {
    m.advance(0.5 * h);
  }
}

/// Where the world sleeps: a body that is at rest before and after the step, but for rounding, is
/// at rest exactly; whether it also stays where it is, to the last bit.
template <int D>
bool MoreauBodies<D>::lie_down(std::size_t i, double h, State& next) {
  constexpr double kRounding = 1e-11;  // of g h
  const double most = kRounding * h * world_.gravity(t_mid_).norm();
  const body::Motion<D>& from = (*start_)[i];
  const bool rests = exists_[i] != 0 && facts_[i].is_free && flies_[i] == 0 &&
                     body::speed_bound(world_.bodies[i], from) <= most &&
                     body::speed_bound(world_.bodies[i], after_[i]) <= most;
  next.asleep[i] = rests ? 1 : 0;
  if (!rests) return false;
  after_[i].v.setZero();
  after_[i].spin = body::Motion<D>{}.spin;
  if constexpr (D == 3) after_[i].rates.setZero();
  return body::speed_bound(world_.bodies[i], from) == 0.0 && start_ != &from_;
}

/// Who lies down, and whether all that are there and free do.
template <int D>
bool MoreauBodies<D>::lie_down_all(double h, State& next) {
  next.asleep.resize(after_.size(), 0);
  stays_.assign(after_.size(), 0);
  bool all_sleep = true;
  for (std::size_t i = 0; i < after_.size(); ++i) {
    const bool stays = lie_down(i, h, next);
    stays_[i] = stays ? 1 : 0;
    all_sleep = all_sleep && (stays || exists_[i] == 0 || !facts_[i].is_free);
  }
  return all_sleep;
}

/// Whether a step changes nothing: all free bodies sleep where the step before this one left them,
/// with the same weight, nobody is born, and nothing is driven.
template <int D>
bool MoreauBodies<D>::sleeps_on(const State& s, double h) const {
  if (!world_.sleeps || has_driven_ || joints_.any() || is_told_to_fall_) return false;
  if (s.steps != slept_steps_ || h != slept_h_) return false;
  if (Vec<D>(h * world_.gravity(s.t + 0.5 * h)) != given_) return false;
  for (std::size_t i = 0; i < facts_.size(); ++i) {
    const bool exists = facts_[i].born <= s.t + 1e-9 * h && s.gone[i] == 0;
    if (exists != (exists_[i] != 0)) return false;
    if (!exists || !facts_[i].is_free) continue;
    if (s.asleep[i] == 0 || s.bodies[i].x != after_[i].x) return false;
  }
  return true;
}

/// That step: rows and impulses are those of the one before.
template <int D>
void MoreauBodies<D>::sleep(const State& s, State& next, certify::BodyClaim<D>& claim) {
  next.bodies = s.bodies;
  next.gone = s.gone;
  next.pushes = claim.pushes = s.pushes;
  next.reactions = claim.reactions = s.reactions;
  claim.shifts.clear();
  claim.joint_shifts.clear();
  claim.level = level_;
  next.looks = s.looks;
  next.looks.begin();
  next.tries = s.tries;
  next.effort = s.effort;
  next.effort.level = static_cast<int>(level_);
  next.asleep = s.asleep;
  next.steps = slept_steps_ = s.steps + 1;
}

/// x+ = x_M + h/2 u+, and what is claimed.
template <int D>
void MoreauBodies<D>::finish(double h, State& next, certify::BodyClaim<D>& claim) {
  next.bodies.resize(after_.size());
  const bool all_sleep = world_.sleeps && lie_down_all(h, next);
  const auto end_body = [&](std::size_t i) {
    if (world_.sleeps && stays_[i] != 0) {
      next.bodies[i] = (*start_)[i];
      return;
    }
    if (flies_[i] != 0 && exists_[i] != 0) {
      fly((*start_)[i], h, i, next.bodies[i]);
    } else {
      next.bodies[i] = flies_[i] != 0 ? (*start_)[i] : after_[i];
    }
    if (exists_[i] == 0) return;
    if (flies_[i] == 0) finish_body(i, h, next.bodies[i]);
    if (facts_[i].is_free) next.gone[i] = world_.keeps(next.bodies[i].x) ? 0 : 1;
  };
  in_pieces(after_.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (facts_[i].is_free) end_body(i);
    }
  });
  for (std::size_t i = 0; i < after_.size(); ++i) {  // formulas of driven bodies: by one thread
    if (!facts_[i].is_free) end_body(i);
  }
  claim.pushes.clear();
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Vec<D> p = contacts_.impulses().template segment<D>(static_cast<Eigen::Index>(D * i));
    if (!(p[0] > 0.0)) continue;
    claim.pushes.push_back({rows_[i].key, p});
    if (contacts_.has_turns()) claim.pushes.back().moment = contacts_.moments()[i];
  }
  next.pushes = claim.pushes;
  joints_.tell(claim.reactions);
  next.reactions = claim.reactions;
  next.looks = looks_;
  next.tries = tries_;
  next.effort.level = static_cast<int>(level_);
  claim.level = level_;
  next.steps += 1;
  slept_steps_ = all_sleep ? next.steps : -1;
  slept_h_ = h;
}

template <int D>
problem::Report MoreauBodies<D>::advance(const State& s, double h, State& next,
                                         certify::BodyClaim<D>& claim) {
  if (!is_told_to_fall_) level_ = std::max(first_level_, static_cast<Level>(s.effort.level));
  next.effort = s.effort;
  if (sleeps_on(s, h)) {
    sleep(s, next, claim);
    return {.general = true};
  }
  slept_steps_ = -1;
  problem::Report report = attempt(s, h, next, claim);
  const bool may_fall = can_fall_ && level_ < limits_.least;
  if (contacts_.is_stopped()) return report;
  if (report.status != problem::Status::Solved && may_fall && next.effort.patience > 0) {
    --next.effort.patience;
    contacts_.be_patient(true);
    report = attempt(s, h, next, claim);
    contacts_.be_patient(false);
  }
  while (report.status != problem::Status::Solved && !contacts_.is_stopped() && fall()) {
    report = attempt(s, h, next, claim);
  }
  is_told_to_fall_ = false;
  return report;
}

/// Middles, places that are put back, and the rows of the step.
template <int D>
problem::Report MoreauBodies<D>::find_contacts(const State& s, double h,
                                               certify::BodyClaim<D>& claim) {
  creep_limit_ = limits_.creep_limit(h * world_.gravity(s.t + 0.5 * h).norm());
  look_around(s, h);  // x_M = x + h/2 v, u' = u + h g(t_M), who is near another
  finder_.rows(middle_, exists_, reach_, rows_);      // rows with g(q_M) <= reach
  const problem::Report report = put_back(h, claim);  // where g(q_M) < -slack
  if (report.status != problem::Status::Solved || claim.shifts.empty()) return report;
  for (std::size_t i = 0; i < reach_.size(); ++i) {
    reach_[i] = 0.0;
    add_reach(i, h, middle_[i]);
    add_reach(i, h, after_[i]);
  }
  finder_.find(middle_, exists_, reach_, rows_);
  return report;
}

template <int D>
problem::Report MoreauBodies<D>::attempt(const State& s, double h, State& next,
                                         certify::BodyClaim<D>& claim) {
  problem::Report report = find_contacts(s, h, claim);
  if (report.status != problem::Status::Solved) return report;
  report = push(s, h);  // u+ = u' + M^-1 G^T p
  if (report.status != problem::Status::Solved) return report;
  next.steps = s.steps;
  next.gone = s.gone;
  finish(h, next, claim);  // x+ = x_M + h/2 u+
  return report;
}

template class MoreauBodies<2>;
template class MoreauBodies<3>;

}  // namespace ricochet::step
