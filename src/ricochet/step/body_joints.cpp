#include "ricochet/step/body_joints.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "ricochet/base/index.h"

namespace ricochet::step {

using base::index;
using body::Vec;

template <int D>
BodyJoints<D>::BodyJoints(const body::World<D>& world)
    : world_(world),
      there_(world.joints.size(), 1),
      rows_(world.joints.size()),
      then_(world.joints.size()),
      forces_(world.joints.size(), 0.0),
      mechanism_(world.bodies.size(), -1) {
  start_ = {0};
  if (any()) order_joints();
  list_by_body();
}

/// Joints of a mechanism one after the other, neighbours near each other, so that the envelope is
/// small: of a chain or a tree that hangs on one body, a few joints wide (the
/// order of Cuthill and McKee).
template <int D>
void BodyJoints<D>::order_joints() {
  const int count = static_cast<int>(world_.joints.size());
  std::vector<std::vector<int>> on(world_.bodies.size());  // joints of a free body
  const auto each_body = [&](int joint, auto&& work) {
    for (const int b : {world_.joints[index(joint)].a, world_.joints[index(joint)].b}) {
      if (world_.body(b).is_free()) work(b);
    }
  };
  std::vector<std::size_t> degree(index(count), 0);
  for (int j = 0; j < count; ++j) each_body(j, [&](int b) { on[index(b)].push_back(j); });
  for (int j = 0; j < count; ++j)
    each_body(j, [&](int b) { degree[index(j)] += on[index(b)].size(); });
  std::vector<int> starts(index(count));
  std::iota(starts.begin(), starts.end(), 0);
  std::stable_sort(starts.begin(), starts.end(),
                   [&](int i, int j) { return degree[index(i)] < degree[index(j)]; });
  std::vector<char> seen(index(count), 0);
  std::vector<int> order;
  for (const int first : starts) {
    if (seen[index(first)] != 0) continue;
    const std::size_t begin = order.size();
    order.push_back(first);
    seen[index(first)] = 1;
    for (std::size_t at = begin; at < order.size(); ++at) {
      each_body(order[at], [&](int b) {
        mechanism_[index(b)] = static_cast<int>(start_.size()) - 1;
        for (const int next : on[index(b)]) {
          if (seen[index(next)] != 0) continue;
          seen[index(next)] = 1;
          order.push_back(next);
        }
      });
    }
    std::vector<int> members(order.begin() + static_cast<std::ptrdiff_t>(begin), order.end());
    std::reverse(members.begin(), members.end());
    list_equations(members);
  }
  std::vector<int> row_first(equations_.size());
  std::vector<int> least(world_.bodies.size(), std::numeric_limits<int>::max());
  for (int i = 0; i < static_cast<int>(equations_.size()); ++i) {
    row_first[index(i)] = i;
    each_body(equations_[index(i)].joint, [&](int b) {
      least[index(b)] = std::min(least[index(b)], i);
      row_first[index(i)] = std::min(row_first[index(i)], least[index(b)]);
    });
  }
  matrix_.shape(row_first);
  miss_.resize(equations_.size());
}

/// The equations of one mechanism.
template <int D>
void BodyJoints<D>::list_equations(const std::vector<int>& order) {
  for (const int j : order) {
    const body::Joint<D>& joint = world_.joints[index(j)];
    Equation equation;
    equation.joint = j;
    for (equation.number = 0; equation.number < joint.rows(); ++equation.number) {
      equations_.push_back(equation);
    }
    equation.number = kSpring;
    if (joint.damping > 0.0) equations_.push_back(equation);
  }
  start_.push_back(static_cast<int>(equations_.size()));
}

template <int D>
void BodyJoints<D>::list_by_body() {
  by_body_start_ = {0};
  by_body_.clear();
  std::vector<std::vector<int>> on(world_.bodies.size());
  for (int i = 0; i < static_cast<int>(equations_.size()); ++i) {
    const body::Joint<D>& joint = world_.joints[index(equations_[index(i)].joint)];
    for (const int b : {joint.a, joint.b}) {
      if (world_.body(b).is_free()) on[index(b)].push_back(i);
    }
  }
  for (const std::vector<int>& those : on) {
    by_body_.insert(by_body_.end(), those.begin(), those.end());
    by_body_start_.push_back(static_cast<int>(by_body_.size()));
  }
}

template <int D>
void BodyJoints<D>::look(const Motions& at, const std::vector<char>& exists) {
  for (std::size_t j = 0; j < rows_.size(); ++j) {
    const body::Joint<D>& joint = world_.joints[j];
    there_[j] = exists[index(joint.a)] != 0 && exists[index(joint.b)] != 0 ? 1 : 0;
    if (there_[j] != 0) rows_[j] = body::rows_of(joint, at[index(joint.a)], at[index(joint.b)]);
  }
}

template <int D>
bool BodyJoints<D>::fits() const {
  for (std::size_t j = 0; j < rows_.size(); ++j) {
    const body::Joint<D>& joint = world_.joints[j];
    if (there_[j] == 0) continue;
    for (std::size_t k = 0; k < index(joint.rows()); ++k) {
      if (!(std::abs(rows_[j].held[k].gap) <= body::slack_of(rows_[j].held[k]))) return false;
    }
    const body::JointRow<D>& free = rows_[j].free;
    const double inside = std::min(free.gap - joint.low, joint.high - free.gap);
    if (joint.has_limits && inside < -body::limit_slack(free)) return false;
  }
  return true;
}

template <int D>
double BodyJoints<D>::misfit() const {
  double off = 0.0;
  for (std::size_t j = 0; j < rows_.size(); ++j) {
    const body::Joint<D>& joint = world_.joints[j];
    if (there_[j] == 0) continue;
    double own = 0.0;
    for (std::size_t k = 0; k < index(joint.rows()); ++k) {
      own = std::max(own, std::abs(rows_[j].held[k].gap));
    }
    const double coordinate = rows_[j].free.gap;
    if (joint.has_limits) own = std::max({own, joint.low - coordinate, coordinate - joint.high});
    const double size =
        std::max({1.0, world_.body(joint.a).is_free() ? world_.body(joint.a).reach : 0.0,
                  world_.body(joint.b).is_free() ? world_.body(joint.b).reach : 0.0});
    off = std::max(off, own * size);
  }
  return off;
}

/// A limit as a row that must not be entered.
template <int D>
bool BodyJoints<D>::add_limit(const body::Joint<D>& joint, int number, bool is_low) {
  if (!std::isfinite(is_low ? joint.low : joint.high)) return false;
  Lawful made;
  made.joint = number;
  made.slot = is_low ? Slot::Low : Slot::High;
  made.row = body::limit_of(joint, rows_[index(number)].free, is_low);
  lawful_.push_back(made);
  return true;
}

template <int D>
void BodyJoints<D>::begin_shift(double reach) {
  std::fill(forces_.begin(), forces_.end(), 0.0);
  for (Equation& equation : equations_) {
    equation.acts = equation.number != kSpring && there_[index(equation.joint)] != 0;
    equation.bend = equation.diagonal = 0.0;
    if (!equation.acts) continue;
    equation.row = rows_[index(equation.joint)].held[index(equation.number)];
    equation.offset = equation.row.gap;
  }
  lawful_.clear();
  for (int j = 0; j < static_cast<int>(rows_.size()); ++j) {
    const body::Joint<D>& joint = world_.joints[index(j)];
    if (there_[index(j)] == 0 || !joint.has_limits) continue;
    const bool is_angle = joint.kind == body::JointKind::Hinge;
    for (const bool is_low : {true, false}) {
      if (!add_limit(joint, j, is_low)) continue;
      const Lawful& one = lawful_.back();
      const double gap = one.row.gap * (is_angle ? joint.size : 1.0);
      if (gap > reach + body::limit_slack(one.row)) lawful_.pop_back();
    }
  }
  for (Lawful& one : lawful_) {
    const double slack = body::limit_slack(one.row);
    const double over = one.row.gap + 0.5 * slack;
    one.shift = one.row.gap < -slack ? over : std::max(0.0, over);
  }
}

/// An impulse, or with the extent of all bodies a moment, that nothing here needs: bounds of
/// friction and motors beyond it are as good as it is, and spoil the scale of the problem.
template <int D>
double BodyJoints<D>::needed(double h, double gh, const Motions& before) const {
  constexpr double kFar = 100.0;
  if (rows_.empty()) return std::numeric_limits<double>::infinity();
  double mass = 0.0;
  double speed = gh;
  double extent = 1.0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const body::Body<D>& body = world_.bodies[i];
    if (body.is_free()) mass += body.mass;
    speed = std::max(speed, body::speed_bound(body, before[i]));
    extent = std::max(extent, (before[i].x - before[0].x).norm() + body.reach);
  }
  double forces = 0.0;
  for (std::size_t j = 0; j < rows_.size(); ++j) {
    const body::Joint<D>& joint = world_.joints[j];
    speed = std::max(speed, std::abs(joint.motor_speed) * std::max(1.0, joint.size));
    forces +=
        h * (joint.stiffness * std::abs(rows_[j].free.gap - joint.rest) + std::abs(joint.drive));
  }
  const double most = kFar * (mass * speed + forces) * extent;
  return most > 0.0 ? most : std::numeric_limits<double>::infinity();
}

template <int D>
void BodyJoints<D>::begin_push(double h, double gh, const Motions& before, const Reactions& last,
                               bool takes_all) {
  last_change_ = std::numeric_limits<double>::infinity();
  gravity_step_ = gh;
  waits_.assign(2 * rows_.size(), 0);
  const double enough = needed(h, gh, before);
  lawful_.clear();
  for (int j = 0; j < static_cast<int>(rows_.size()); ++j) {
    const body::Joint<D>& joint = world_.joints[index(j)];
    const body::JointRow<D>& free = rows_[index(j)].free;
    forces_[index(j)] = 0.0;
    if (there_[index(j)] == 0) continue;
    if (joint.damping == 0.0 && joint.has_spring()) {
      forces_[index(j)] = h * (joint.drive - joint.stiffness * (free.gap - joint.rest));
    }
    const body::Reaction<D> was = index(j) < last.size() ? last[index(j)] : body::Reaction<D>{};
    for (const bool is_low : {true, false}) {
      if (!joint.has_limits || !add_limit(joint, j, is_low)) continue;
      Lawful& one = lawful_.back();
      one.impulse = is_low ? was.low : was.high;
      one.shift = std::max(0.0, one.row.gap) / h;
      // With e > 0 it acts where it touches, with e = 0 where it may come to: see `settle`.
      const double rate = body::rate_of(one.row, before[index(joint.a)], before[index(joint.b)]);
      const double reach = joint.restitution > 0.0 ? 0.0 : 2.0 * h * std::abs(rate);
      const bool is_far = one.row.gap > reach + body::limit_slack(one.row);
      if (is_far && !is_put(j, is_low) && !(takes_all && joint.restitution == 0.0))
        lawful_.pop_back();
    }
    const auto add_box = [&](Slot slot, double most, double speed, double impulse) {
      if (!(most > 0.0)) return;
      lawful_.push_back({.joint = j,
                         .slot = slot,
                         .row = free,
                         .shift = -speed,
                         .most = std::min(h * most, enough),
                         .bend = 0.0,
                         .impulse = impulse});
    };
    add_box(Slot::Friction, joint.friction, 0.0, was.friction);
    add_box(Slot::Motor, joint.motor_most, joint.motor_speed, was.motor);
  }
  measure_lawful(h, gh, before);
  for (Equation& equation : equations_) {
    const body::JointRows<D>& rows = rows_[index(equation.joint)];
    equation.acts = there_[index(equation.joint)] != 0;
    equation.bend = equation.diagonal = equation.offset = 0.0;
    if (!equation.acts) continue;
    equation.row = equation.number == kSpring ? rows.free : rows.held[index(equation.number)];
  }
}

/// What the judge measures rows by: how fast their bodies are before the step, and half of what it
/// leaves to rounding.
template <int D>
void BodyJoints<D>::measure_lawful(double h, double gh, const Motions& before) {
  constexpr double kRounding = 256.0 * std::numeric_limits<double>::epsilon();
  for (Lawful& one : lawful_) {
    const body::Joint<D>& joint = world_.joints[index(one.joint)];
    one.speed = gh + body::speed_bound(world_.body(joint.a), before[index(joint.a)]) +
                body::speed_bound(world_.body(joint.b), before[index(joint.b)]);
    one.noise = kRounding * unit_of(joint) * one.row.size / h;
  }
}

template <int D>
double BodyJoints<D>::lift_of(const Lawful& limit, const Motions& unshifted) const {
  if (unshifted.empty()) return 0.0;
  const body::Joint<D>& joint = world_.joints[index(limit.joint)];
  const body::JointRow<D> was =
      body::rows_of(joint, unshifted[index(joint.a)], unshifted[index(joint.b)]).free;
  const double gap = body::limit_of(joint, was, limit.slot == Slot::Low).gap;
  return gap < 0.0 ? limit.row.gap - gap : 0.0;
}

template <int D>
void BodyJoints<D>::set_before(double h, const Motions& before, const Motions& unshifted,
                               const body::Gains<D>& gains) {
  for (Lawful& one : lawful_) {
    const body::Joint<D>& joint = world_.joints[index(one.joint)];
    if (one.is_box() || joint.restitution == 0.0) continue;
    const double rate = body::rate_of(one.row, before[index(joint.a)], before[index(joint.b)]);
    const double gained = -body::rate_of(one.row, gains.of(joint.a), gains.of(joint.b));
    const double made = gains.of_limit(joint, one.row.along, one.row.turn_b, gained);
    const double e = joint.returned(-rate, made, gravity_step_);
    const double lift = e > 0.0 ? lift_of(one, unshifted) : 0.0;
    one.shift = -e * gains.met_limit(joint, -rate, lift, gained);
  }
  for (Equation& equation : equations_) {
    if (equation.number != kSpring || !equation.acts) continue;
    const body::Joint<D>& joint = world_.joints[index(equation.joint)];
    const double pull = joint.stiffness * (equation.row.gap - joint.rest) - joint.drive;
    equation.diagonal = 2.0 / (h * joint.damping);
    equation.offset = body::rate_of(equation.row, before[index(joint.a)], before[index(joint.b)]) +
                      2.0 * pull / joint.damping;
  }
}

template <int D>
bool BodyJoints<D>::settle(double h, const Motions& after, const Motions& next, double enough,
                           bool may_stay) {
  constexpr double kRounding = 4.0 * std::numeric_limits<double>::epsilon();
  constexpr double kRoundings = 100.0;  // at which it may come no nearer
  double worst = 0.0;
  const auto bend_to = [&](const body::JointRow<D>& row, double way, double rate, double& bend) {
    const double found = way / h - rate;
    const double off = std::abs(found - bend);
    if (off > enough) {
      worst = std::max(worst, off / (kRounding * (row.size / h + std::abs(way) / h)));
    }
    bend = found;
  };
  for (std::size_t j = 0; j < rows_.size(); ++j) {
    const body::Joint<D>& joint = world_.joints[j];
    if (there_[j] != 0) then_[j] = body::rows_of(joint, next[index(joint.a)], next[index(joint.b)]);
  }
  for (Equation& one : equations_) {
    if (one.number == kSpring || !one.acts) continue;
    const body::Joint<D>& joint = world_.joints[index(one.joint)];
    const double way = then_[index(one.joint)].held[index(one.number)].gap - one.row.gap;
    const double rate = body::rate_of(one.row, after[index(joint.a)], after[index(joint.b)]);
    bend_to(one.row, way, rate, one.bend);
  }
  for (Lawful& one : lawful_) {
    const body::Joint<D>& joint = world_.joints[index(one.joint)];
    if (!one.is_box() && joint.restitution > 0.0) continue;
    const double way = body::coordinate_way(joint, rows_[index(one.joint)].free.gap,
                                            then_[index(one.joint)].free.gap);
    const double rate = body::rate_of(one.row, after[index(joint.a)], after[index(joint.b)]);
    // In the plane angles are linear in spins: what is left is rounding, over h.
    if (D == 2 && joint.kind == body::JointKind::Hinge) continue;
    bend_to(one.row, one.slot == Slot::High ? -way : way, rate, one.bend);
  }
  const bool crossed = add_crossed(h);
  const bool settled =
      !crossed &&
      (worst <= 1.0 || (may_stay && worst < kRoundings && !(worst < 0.9 * last_change_)));
  last_change_ = crossed ? std::numeric_limits<double>::infinity() : worst;
  return settled;
}

template <int D>
double BodyJoints<D>::least_slack() const {
  double least = std::numeric_limits<double>::infinity();
  for (const Lawful& one : lawful_) {
    const body::Joint<D>& joint = world_.joints[index(one.joint)];
    const bool is_angle = joint.kind == body::JointKind::Hinge && joint.size > 0.0;
    least = std::min(least, body::limit_slack(one.row) * (is_angle ? joint.size : 1.0));
  }
  return least;
}

template <int D>
void BodyJoints<D>::note_put(const Reactions& weights) {
  put_.resize(2 * weights.size(), 0);
  for (std::size_t j = 0; j < weights.size(); ++j) {
    if (weights[j].low > 0.0) put_[2 * j] = 1;
    if (weights[j].high > 0.0) put_[2 * j + 1] = 1;
  }
}

/// Limits with e = 0 that were thought to be far, and are beyond at the next middle.
template <int D>
bool BodyJoints<D>::add_crossed(double h) {
  bool any = false;
  for (int j = 0; j < static_cast<int>(rows_.size()); ++j) {
    const body::Joint<D>& joint = world_.joints[index(j)];
    if (there_[index(j)] == 0 || !joint.has_limits || joint.restitution > 0.0) continue;
    const double from = rows_[index(j)].free.gap;
    const double next = from + body::coordinate_way(joint, from, then_[index(j)].free.gap);
    for (const bool is_low : {true, false}) {
      const Slot slot = is_low ? Slot::Low : Slot::High;
      if (!((is_low ? next - joint.low : joint.high - next) < 0.0)) continue;
      const bool is_there = std::any_of(lawful_.begin(), lawful_.end(), [&](const Lawful& one) {
        return one.joint == j && one.slot == slot;
      });
      if (is_there || waits_[side(j, is_low)] != 0 || !add_limit(joint, j, is_low)) continue;
      lawful_.back().shift = std::max(0.0, lawful_.back().row.gap) / h;
      any = true;
    }
  }
  return any;
}

template <int D>
Eigen::Matrix<double, D + body::kSpins<D>, 1> BodyJoints<D>::direction(int equation, int b) const {
  const body::JointRow<D>& row = equations_[index(equation)].row;
  const bool is_b = world_.joints[index(equations_[index(equation)].joint)].b == b;
  Eigen::Matrix<double, D + body::kSpins<D>, 1> made;
  made.template head<D>() = is_b ? row.along : Vec<D>(-row.along);
  if constexpr (D == 2) {
    made[D] = is_b ? row.turn_b : -row.turn_a;
  } else {
    made.template tail<D>() = is_b ? row.turn_b : Vec<D>(-row.turn_a);
  }
  return made;
}

template <int D>
void BodyJoints<D>::factor(const Eases& eases) {
  matrix_.clear();
  for (std::size_t b = 0; b < world_.bodies.size(); ++b) {
    const std::span<const int> own = equations_of(static_cast<int>(b));
    for (const int i : own) {
      if (!equations_[index(i)].acts) continue;
      const auto one = direction(i, static_cast<int>(b));
      for (const int j : own) {
        if (!equations_[index(j)].acts) continue;
        const auto other = direction(j, static_cast<int>(b));
        const auto spin = eases[b].between(one.template tail<body::kSpins<D>>().transpose(),
                                           other.template tail<body::kSpins<D>>().transpose());
        matrix_.add(i, j,
                    one.template head<D>().dot(other.template head<D>()) / world_.bodies[b].mass +
                        spin(0, 0));
      }
    }
  }
  for (int i = 0; i < static_cast<int>(equations_.size()); ++i) {
    if (equations_[index(i)].diagonal > 0.0) matrix_.add(i, i, equations_[index(i)].diagonal);
    equations_[index(i)].impulse = 0.0;
  }
  matrix_.factor();
  are_forces_given_ = false;
}

template <int D>
void BodyJoints<D>::give(const body::Joint<D>& joint, const body::JointRow<D>& row, double p,
                         const Eases& eases, Motions& motions) const {
  for (const bool to_b : {false, true}) {
    const int b = to_b ? joint.b : joint.a;
    const body::Body<D>& body = world_.body(b);
    if (!body.is_free()) continue;
    const double own = to_b ? p : -p;
    motions[index(b)].v += own / body.mass * row.along;
    motions[index(b)].spin += eases[index(b)](own * (to_b ? row.turn_b : row.turn_a));
  }
}

template <int D>
void BodyJoints<D>::hold(const Eases& eases, Motions& motions) {
  for (std::size_t j = 0; j < forces_.size() && !are_forces_given_; ++j) {
    if (forces_[j] != 0.0) give(world_.joints[j], rows_[j].free, forces_[j], eases, motions);
  }
  are_forces_given_ = true;
  for (std::size_t i = 0; i < equations_.size(); ++i) {
    const Equation& equation = equations_[i];
    const body::Joint<D>& joint = world_.joints[index(equation.joint)];
    miss_[i] = 0.0;
    if (!equation.acts) continue;
    miss_[i] = -body::rate_of(equation.row, motions[index(joint.a)], motions[index(joint.b)]) -
               equation.offset - equation.bend - equation.diagonal * equation.impulse;
  }
  matrix_.solve(0, matrix_.rows(), miss_.data());
  for (std::size_t i = 0; i < equations_.size(); ++i) {
    if (miss_[i] == 0.0) continue;
    equations_[i].impulse += miss_[i];
    give(world_.joints[index(equations_[i].joint)], equations_[i].row, miss_[i], eases, motions);
  }
}

template <int D>
void BodyJoints<D>::add_moments(std::vector<body::Spin<D>>& moments,
                                std::vector<double>& levers) const {
  const auto add = [&](int j, const body::JointRow<D>& row, double p) {
    const body::Joint<D>& joint = world_.joints[index(j)];
    moments[index(joint.b)] += p * row.turn_b;
    moments[index(joint.a)] -= p * row.turn_a;
    levers[index(joint.b)] += std::abs(p) * body::size_of(row.turn_b);
    levers[index(joint.a)] += std::abs(p) * body::size_of(row.turn_a);
  };
  for (const Equation& one : equations_) {
    if (one.impulse != 0.0) add(one.joint, one.row, one.impulse);
  }
  for (const Lawful& one : lawful_) {
    if (one.impulse != 0.0) add(one.joint, one.row, one.impulse);
  }
  for (int j = 0; j < static_cast<int>(forces_.size()); ++j) {
    if (forces_[index(j)] != 0.0) add(j, rows_[index(j)].free, forces_[index(j)]);
  }
}

template <int D>
void BodyJoints<D>::tell(Reactions& reactions) const {
  reactions.assign(rows_.size(), {});
  for (const Equation& one : equations_) {
    body::Reaction<D>& told = reactions[index(one.joint)];
    (one.number == kSpring ? told.spring : told.held[index(one.number)]) = one.impulse;
    told.force += one.impulse * one.row.along;
  }
  for (const Lawful& one : lawful_) {
    body::Reaction<D>& told = reactions[index(one.joint)];
    told.force += one.impulse * one.row.along;
    switch (one.slot) {
      case Slot::Low: told.low = one.impulse; break;
      case Slot::High: told.high = one.impulse; break;
      case Slot::Friction: told.friction = one.impulse; break;
      case Slot::Motor: told.motor = one.impulse; break;
    }
  }
  for (std::size_t j = 0; j < forces_.size(); ++j) {
    if (forces_[j] == 0.0) continue;
    reactions[j].spring = forces_[j];
    reactions[j].force += forces_[j] * rows_[j].free.along;
  }
}

template class BodyJoints<2>;
template class BodyJoints<3>;

}  // namespace ricochet::step
