#include "ricochet/certify/body_joints.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ricochet/base/index.h"
#include "ricochet/certify/body_turning.h"

namespace ricochet::certify {
namespace {

using base::index;
using body::JointKind;

constexpr double kRounding = std::numeric_limits<double>::epsilon();

}  // namespace

template <int D>
void JointCourt<D>::look(const Motions& at, const std::vector<char>& exists) {
  views_.assign(world_.joints.size(), {});
  for (std::size_t j = 0; j < views_.size(); ++j) {
    const body::Joint<D>& joint = world_.joints[j];
    const std::size_t a = index(joint.a);
    const std::size_t b = index(joint.b);
    if (exists[a] != 0 && exists[b] != 0) views_[j] = see_joint<D>(joint, at[a], at[b]);
  }
}

template <int D>
bool JointCourt<D>::is_off(double times) const {
  for (std::size_t j = 0; j < views_.size(); ++j) {
    const body::Joint<D>& joint = world_.joints[j];
    if (!views_[j].there) continue;
    for (const Row& row : views_[j].held) {
      if (!(std::abs(row.value) <= times * 256.0 * kRounding * row.size)) return true;
    }
    const Row& free = views_[j].free;
    const double inside = std::min(free.value - joint.low, joint.high - free.value);
    if (joint.has_limits && inside < -times * 1e-9 * free.size) return true;
  }
  return false;
}

template <int D>
double JointCourt<D>::ease(const Row& row, const body::Joint<D>& joint, const Motions& at) const {
  double sum = 0.0;
  for (const bool of_b : {false, true}) {
    const int i = of_b ? joint.b : joint.a;
    const body::Body<D>& body = world_.body(i);
    if (!body.is_free()) continue;
    const body::Spin<D> moment = body::moment(of_b ? row.arm_b : row.arm_a, row.along) + row.couple;
    sum +=
        row.along.squaredNorm() / body.mass + product(moment, spin_by(body, at[index(i)], moment));
  }
  return sum;
}

template <int D>
bool JointCourt<D>::add_shifts(const Reactions& weights, const Motions& at, Motions& moved) {
  if (weights.size() != world_.joints.size()) return false;
  for (std::size_t j = 0; j < weights.size(); ++j) {
    const body::Reaction<D>& one = weights[j];
    const bool holds = one.low >= 0.0 && one.high >= 0.0 && one.friction == 0.0 &&
                       one.motor == 0.0 && one.spring == 0.0;
    if (!holds) return false;
    if (one.low > 0.0) put_[2 * j] = 1;
    if (one.high > 0.0) put_[2 * j + 1] = 1;
  }
  each_impulse(weights, [&](int i, const Vec& p, const body::Spin<D>& moment, double, double) {
    const body::Body<D>& body = world_.body(i);
    if (!body.is_free()) return;
    moved[index(i)].v += p / body.mass;
    moved[index(i)].spin += spin_by(body, at[index(i)], moment);
  });
  return true;
}

/// Who is put back at a limit ends there, and not beyond.
template <int D>
bool JointCourt<D>::ends_at_limits(const Reactions& weights, const Motions& moved) const {
  for (std::size_t j = 0; j < weights.size(); ++j) {
    const body::Joint<D>& joint = world_.joints[j];
    const Row& free = views_[j].free;
    if (!views_[j].there || (weights[j].low == 0.0 && weights[j].high == 0.0)) continue;
    const double end = free.value + rate(free, moved[index(joint.a)], moved[index(joint.b)]);
    const auto is_beyond = [&](double inside, double was) {
      return !(inside <= 1e-9 * free.size + 1e-6 * std::abs(was));
    };
    if (weights[j].low > 0.0 && is_beyond(end - joint.low, free.value - joint.low)) return false;
    if (weights[j].high > 0.0 && is_beyond(joint.high - end, joint.high - free.value)) return false;
  }
  return true;
}

/// A velocity that should vanish, or what an impulse misses its law by over rho.
template <int D>
void JointCourt<D>::Case::check(const Row& row, double off, double scale) {
  constexpr double kTightResidual = 1e-6;                          // residual of Level::Tight
  const double own = row.along.squaredNorm() == 0.0 ? unit : 1.0;  // angles as ways of points
  const double rounding = 512.0 * kRounding * (own * row.size / step.h + speed);
  const double defect = std::max(0.0, own * std::abs(off) - rounding);
  const double residual = defect > 0.0 ? defect / std::max(speed, own * scale) : 0.0;
  verdict.residual = std::max(verdict.residual, residual);
  const double most = step.level == Level::Tight ? std::max(step.limits.residual, kTightResidual)
                                                 : step.limits.residual;
  const bool holds = step.level == Level::Bounded ? defect <= step.creep_limit : residual <= most;
  if (!holds || !std::isfinite(off)) {
    refuse(false, step.level == Level::Bounded ? defect : residual);
  }
}

template <int D>
typename JointCourt<D>::Verdict JointCourt<D>::judge(const Reactions& claimed,
                                                     const Step& step) const {
  Verdict verdict;
  for (std::size_t j = 0; j < views_.size(); ++j) {
    const body::Joint<D>& joint = world_.joints[j];
    const std::size_t a = index(joint.a);
    const std::size_t b = index(joint.b);
    const body::Reaction<D> r = j < claimed.size() ? claimed[j] : body::Reaction<D>{};
    Case of{step, j, step.h * step.gravity, 1.0, verdict};
    if (joint.size > 0.0) of.unit = joint.size;
    if (!views_[j].there) {
      const bool acts = r.force != Vec::Zero() || r.low != 0.0 || r.high != 0.0;
      if (acts) of.refuse(false, 0.0);
      continue;
    }
    for (const auto* motions : {&step.before, &step.after}) {
      of.speed += body::speed_bound(world_.body(joint.a), (*motions)[a]) +
                  body::speed_bound(world_.body(joint.b), (*motions)[b]);
    }
    const View then = see_joint<D>(joint, step.next[a], step.next[b]);
    judge_held(views_[j], then, of);
    judge_free(views_[j], then, r, of);
    judge_force(views_[j], r, of);
  }
  return verdict;
}

/// The force that is told is that of the impulses.
template <int D>
void JointCourt<D>::judge_force(const View& seen, const body::Reaction<D>& r, Case& of) const {
  Vec sum = Vec::Zero();
  double size = 0.0;
  const auto add = [&](const Row& row, double p) {
    sum += p * row.along;
    size += std::abs(p) * row.along.norm();
  };
  for (std::size_t k = 0; k < seen.held.size(); ++k) add(seen.held[k], r.held[k]);
  for (const double p : {r.low, -r.high, r.friction, r.motor, r.spring}) add(seen.free, p);
  if (!((sum - r.force).norm() <= 256.0 * kRounding * size)) of.refuse(false, r.force.norm());
}

/// Gaps that are held are at the next middle what they are at this one.
template <int D>
void JointCourt<D>::judge_held(const View& seen, const View& then, Case& of) const {
  for (std::size_t k = 0; k < seen.held.size(); ++k) {
    const Row& row = seen.held[k];
    of.verdict.gap_max = std::max(of.verdict.gap_max, std::abs(row.value));
    of.check(row, (then.held[k].value - row.value) / of.step.h, 0.0);
  }
}

/// The speed at which a limit was met, before places were put back.
template <int D>
double JointCourt<D>::met_at(const body::Joint<D>& joint, bool is_low, double gap, double approach,
                             double gained, const Step& step) const {
  if (step.unshifted.empty()) return approach;
  const double value =
      see_joint<D>(joint, step.unshifted[index(joint.a)], step.unshifted[index(joint.b)])
          .free.value;
  const double was = is_low ? value - joint.low : joint.high - value;
  return step.gains.met_limit(joint, approach, was < 0.0 ? gap - was : 0.0, gained);
}

/// Limits, friction, motor and spring along the coordinate.
template <int D>
void JointCourt<D>::judge_free(const View& seen, const View& then, const body::Reaction<D>& r,
                               Case& of) const {
  const body::Joint<D>& joint = world_.joints[of.number];
  const Step& step = of.step;
  const Row& free = seen.free;
  const bool has_law =
      joint.has_limits || joint.friction > 0.0 || joint.motor_most > 0.0 || joint.has_spring();
  if (!has_law) {
    const bool acts =
        r.low != 0.0 || r.high != 0.0 || r.friction != 0.0 || r.motor != 0.0 || r.spring != 0.0;
    if (acts) of.refuse(false, 0.0);
    return;
  }
  const bool is_through = joint.kind == JointKind::Distance && joint.has_limits &&
                          joint.low > 0.0 && free.along.dot(then.free.along) < 0.0;
  if (is_through) of.refuse(true, joint.low);  // shorter than its lower limit in between
  double way = then.free.value - free.value;
  if (D == 3 && joint.kind == JointKind::Hinge) way = std::remainder(way, 6.283185307179586);
  const std::size_t a = index(joint.a);
  const std::size_t b = index(joint.b);
  const double was = rate(free, step.before[a], step.before[b]);
  const double ends = rate(free, step.after[a], step.after[b]);
  const double gained = rate(free, step.gains.of(joint.a), step.gains.of(joint.b));
  const double rho = 1.0 / ease(free, joint, step.after);
  for (const bool is_low : {true, false}) {
    const double p = is_low ? r.low : r.high;
    const double sign = is_low ? 1.0 : -1.0;
    const double gap = is_low ? free.value - joint.low : joint.high - free.value;
    const bool is_put = put_[2 * of.number + (is_low ? 0 : 1)] != 0;
    const bool touches = gap <= 1e-9 * free.size * (1.0 + 1e-6) || is_put;
    const Word word = words_[2 * of.number + (is_low ? 0 : 1)];
    const bool is_ahead =
        joint.restitution == 0.0 && (word == Word::Acts || (word == Word::May && p > 0.0));
    const bool acts = joint.has_limits && std::isfinite(gap) && (is_ahead || touches);
    if (!(p >= 0.0) || (!acts && p != 0.0)) of.refuse(false, p);
    if (!acts) continue;
    const double made = step.gains.of_limit(joint, free.along, free.couple, -sign * gained);
    const double back = joint.returned(-sign * was, made, step.h * step.gravity);
    const double met =
        back > 0.0 ? met_at(joint, is_low, gap, -sign * was, -sign * gained, step) : 0.0;
    const double law = joint.restitution > 0.0 ? sign * ends - back * met
                                               : (sign * way + std::max(0.0, gap)) / step.h;
    of.check(free, (p - std::max(0.0, p - rho * law)) / rho, p / rho);
  }
  const auto check_bound = [&](double p, double most, double aim) {
    if (std::abs(p) > most * (1.0 + 1e-12)) of.refuse(false, p);
    if (!(most > 0.0)) return;
    const double law = way / step.h - aim;
    of.check(free, (p - std::clamp(p - rho * law, -most, most)) / rho, std::abs(p) / rho);
  };
  check_bound(r.friction, step.h * joint.friction, 0.0);
  check_bound(r.motor, step.h * joint.motor_most, joint.motor_speed);
  const double pull = joint.drive - joint.stiffness * (free.value - joint.rest) -
                      0.5 * joint.damping * (was + ends);
  of.check(free, (r.spring - step.h * pull) / rho, std::abs(step.h * pull) / rho);
}

/// Work of a unit impulse on free bodies, at the mean of their velocities.
template <int D>
double JointCourt<D>::free_work(const Row& row, const body::Joint<D>& joint, const Motions& before,
                                const Motions& after) const {
  double sum = 0.0;
  for (const auto* motions : {&before, &after}) {
    body::Motion<D> a = (*motions)[index(joint.a)];
    body::Motion<D> b = (*motions)[index(joint.b)];
    if (!world_.body(joint.a).is_free()) a = {};
    if (!world_.body(joint.b).is_free()) b = {};
    sum += 0.5 * rate(row, a, b);
  }
  return sum;
}

template <int D>
typename JointCourt<D>::Works JointCourt<D>::works(const Reactions& claimed, const Motions& before,
                                                   const Motions& after, const Reactions& last,
                                                   double threshold, double gh) const {
  Works works;
  for (std::size_t j = 0; j < claimed.size(); ++j) {
    const body::Joint<D>& joint = world_.joints[j];
    const View& seen = views_[j];
    const body::Reaction<D>& r = claimed[j];
    if (!seen.there) continue;
    const std::size_t a = index(joint.a);
    const std::size_t b = index(joint.b);
    for (std::size_t k = 0; k < seen.held.size(); ++k) {
      const Row& row = seen.held[k];
      const double ends = rate(row, after[a], after[b]);
      works.joints += r.held[k] * free_work(row, joint, before, after);
      works.relative += 0.5 * r.held[k] * (rate(row, before[a], before[b]) + ends);
      works.lent += std::abs(r.held[k]) * (0.5 * gh * row.along.norm() + std::abs(ends));
    }
    if (r.low == 0.0 && r.high == 0.0 && r.friction == 0.0 && r.motor == 0.0 && r.spring == 0.0) {
      continue;
    }
    const double given = free_work(seen.free, joint, before, after);
    const double was = rate(seen.free, before[a], before[b]);
    const double ends = rate(seen.free, after[a], after[b]);
    const double mean = 0.5 * (was + ends);
    const double lawful = r.low - r.high + r.friction;
    works.has_power = works.has_power || r.motor != 0.0 || r.spring != 0.0;
    works.relative += lawful * mean;
    works.lent += std::abs(lawful) * (0.5 * gh * seen.free.along.norm() + std::abs(ends));
    works.forces += (r.motor + r.spring) * given;
    works.contacts += lawful * mean;
    works.joints += lawful * (given - mean);
    works.friction += r.friction * mean;
    const body::Reaction<D> then = j < last.size() ? last[j] : body::Reaction<D>{};
    if (r.low > 0.0 && then.low == 0.0 && -was > threshold) {
      ++works.struck;
      works.shocks += r.low * mean;
    }
    if (r.high > 0.0 && then.high == 0.0 && was > threshold) {
      ++works.struck;
      works.shocks -= r.high * mean;
    }
  }
  return works;
}

template <int D>
double JointCourt<D>::size_of(const body::Reaction<D>& r, std::size_t joint) const {
  const double arm =
      world_.joints[joint].kind == JointKind::Hinge ? world_.joints[joint].size : 1.0;
  const double lawful = std::max({r.low, r.high, std::abs(r.friction), std::abs(r.motor)});
  return std::max(r.force.norm(), arm > 0.0 ? lawful / arm : 0.0);
}

template <int D>
double JointCourt<D>::springs(const Motions& at, const std::vector<char>& gone) const {
  double sum = 0.0;
  for (const body::Joint<D>& joint : world_.joints) {
    if (joint.stiffness == 0.0 || gone[index(joint.a)] != 0 || gone[index(joint.b)] != 0) continue;
    const double off =
        see_joint<D>(joint, at[index(joint.a)], at[index(joint.b)]).free.value - joint.rest;
    sum += 0.5 * joint.stiffness * off * off;
  }
  return sum;
}

template class JointCourt<2>;
template class JointCourt<3>;

}  // namespace ricochet::certify
