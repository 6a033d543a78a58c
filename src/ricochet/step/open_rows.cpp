#include "ricochet/step/open_rows.h"

#include <algorithm>
#include <limits>

#include "ricochet/body/strikes.h"
#include "ricochet/certify/body_width.h"

namespace ricochet::step {

using base::index;

template <int D>
OpenRows<D>::OpenRows(const BodyStep<D>& step, BodyJoints<D>& joints)
    : step_(step), joints_(joints) {
  may_land_ = body::may_land(step.world);
  group_.resize(step.world.bodies.size());
  thrown_.resize(step.world.bodies.size());
  for (const body::PairLaw& law : step.world.laws) {
    may_strike_ = may_strike_ || (law.looks_ahead() && law.friction > 0.0);
  }
  for (const auto& solid : step.world.solids) {
    widths_.push_back(may_strike_ ? certify::width_of<D>(solid.shape) : 0.0);
  }
  touches_.resize(step.world.bodies.size());
  is_joined_.resize(step.world.bodies.size());
  for (const body::Joint<D>& joint : step.world.joints) {
    is_joined_[index(joint.a)] = is_joined_[index(joint.b)] = 1;
  }
  if (step.world.mixes_restitution()) meets_.resize(step.world.bodies.size());
}

template <int D>
void OpenRows<D>::drop(std::vector<body::Row<D>>& rows) {
  constexpr double kSame = 1e-3;  // of a step
  if (may_land_) find_thrown(rows);
  if (may_strike_) find_company(rows);
  const bool any = find_meetings(rows);
  const auto waits = [&](int a, int b, double time) {
    const auto meets = [&](int i) {
      if (!step_.is_free(i)) return false;
      const double first = meets_[index(group_of(i))];
      return first <= step_.h && first <= time + kSame * step_.h;
    };
    return meets(a) || meets(b);
  };
  if (any) {
    joints_.let_wait([&](const body::Joint<D>& joint, const body::JointRow<D>& limit) {
      return waits(joint.a, joint.b,
                   body::time_to_limit(step_.world, joint, limit, step_.given, step_.middle));
    });
  }
  std::erase_if(rows, [&](const body::Row<D>& row) {
    if (is_held_by_lowest(row)) return true;
    if (touches(row)) return false;
    return !looks_ahead(row) ||
           (any && waits(row.body_a, row.body_b,
                         body::time_to_touch(step_.world, row, step_.given, step_.middle)));
  });
}

/// Whether a row touches at the middle or was put back there; with e > 0 its shapes touched before
/// that, too.
template <int D>
bool OpenRows<D>::touches(const body::Row<D>& row) const {
  const bool is_near = row.gap <= row.slack || step_.is_put(row.key);
  return is_near && (step_.world.law_between(row.body_a, row.body_b).looks_ahead() ||
                     step_.touched_before(row));
}

/// A body at the middle, with the spin that the step begins with: that at rows in space depends on
/// its impulses.
template <int D>
body::Motion<D> OpenRows<D>::before(int b) const {
  body::Motion<D> m = step_.middle[index(b)];
  if (step_.is_free(b)) m.spin = (*step_.start)[index(b)].spin;
  return m;
}

template <int D>
double OpenRows<D>::comes(const body::Row<D>& row) const {
  return -body::relative(row, before(row.body_a), before(row.body_b))[0];
}

/// Who is touched.
template <int D>
void OpenRows<D>::find_company(const std::vector<body::Row<D>>& rows) {
  std::fill(touches_.begin(), touches_.end(), 0);
  for (const body::Row<D>& row : rows) {
    if (touches(row)) touches_[index(row.body_a)] = touches_[index(row.body_b)] = 1;
  }
}

/// Bodies that touch or are joined.
template <int D>
void OpenRows<D>::group_touching(const std::vector<body::Row<D>>& rows) {
  for (std::size_t i = 0; i < group_.size(); ++i) group_[i] = static_cast<int>(i);
  const auto tie = [&](int a, int b) {
    if (!step_.is_free(a) || !step_.is_free(b)) return;
    const int one = group_of(a);
    const int other = group_of(b);
    group_[index(std::max(one, other))] = std::min(one, other);
  };
  for (const body::Row<D>& row : rows) {
    if (touches(row)) tie(row.body_a, row.body_b);
  }
  for (const body::Joint<D>& joint : step_.world.joints) tie(joint.a, joint.b);
}

/// How fast any is thrown back in groups of bodies that touch or are joined.
template <int D>
void OpenRows<D>::find_thrown(const std::vector<body::Row<D>>& rows) {
  group_touching(rows);
  std::fill(thrown_.begin(), thrown_.end(), 0.0);
  for (const body::Row<D>& row : rows) {
    if (!touches(row)) continue;
    const body::PairLaw& law = step_.world.law_between(row.body_a, row.body_b);
    const double speed = step_.gains().thrown(law, row, comes(row));
    if (speed == 0.0) continue;
    for (const int b : {row.body_a, row.body_b}) {
      if (!step_.is_free(b)) continue;
      double& most = thrown_[index(group_of(b))];
      most = std::max(most, speed);
    }
  }
}

/// Whether an open row acts before it is entered: with e = 0, or as one that throws nothing back.
template <int D>
bool OpenRows<D>::looks_ahead(const body::Row<D>& row) {
  const body::PairLaw& law = step_.world.law_between(row.body_a, row.body_b);
  if (law.looks_ahead()) return !strikes(law, row);
  if (!may_land_) return false;
  if (step_.gains().returned(law, row, comes(row)) > 0.0) return false;
  const auto lands_beside = [&](int b) {
    return !step_.is_free(b) || step_.gains().lands_beside(law, row, thrown_[index(group_of(b))]);
  };
  return lands_beside(row.body_a) && lands_beside(row.body_b);
}

/// Whether a row with e = 0 waits until it touches, as one with e > 0: see body::Strike.
template <int D>
bool OpenRows<D>::strikes(const body::PairLaw& law, const body::Row<D>& row) const {
  if (!may_strike_ || law.friction == 0.0) return false;
  const auto any = [&](const std::vector<char>& of) {
    return (step_.is_free(row.body_a) && of[index(row.body_a)] != 0) ||
           (step_.is_free(row.body_b) && of[index(row.body_b)] != 0);
  };
  const bool is_joined = any(is_joined_);
  if (!is_joined && !body::push_turns(step_.world, row)) return false;
  const body::Strike<D> strike{
      .world = step_.world,
      .friction = law.friction,
      .row = row,
      .a = before(row.body_a),
      .b = before(row.body_b),
      .width = std::min(widths_[index(row.key.a)], widths_[index(row.key.b)]),
      .h = step_.h,
      .gravity_step = step_.gravity_step,
      .is_joined = is_joined,
      .is_alone = !any(touches_)};
  return strike.waits();
}

/// When a body, or one that touches or is joined to it, first meets a row with e > 0 that does not
/// land: by the root of its group; whether any does by the next middle.
template <int D>
bool OpenRows<D>::find_meetings(const std::vector<body::Row<D>>& rows) {
  if (meets_.empty()) return false;
  std::fill(meets_.begin(), meets_.end(), std::numeric_limits<double>::infinity());
  group_touching(rows);
  bool any = false;
  const auto meet = [&](int a, int other, double time) {
    if (time > step_.h) return;
    any = true;
    for (const int b : {a, other}) {
      if (!step_.is_free(b)) continue;
      double& first = meets_[index(group_of(b))];
      first = std::min(first, time);
    }
  };
  for (const body::Row<D>& row : rows) {
    const bool may_throw = !step_.world.law_between(row.body_a, row.body_b).looks_ahead();
    if (!may_throw || touches(row) || looks_ahead(row)) continue;
    meet(row.body_a, row.body_b, body::time_to_touch(step_.world, row, step_.given, step_.middle));
  }
  joints_.each_open_limit([&](int j, bool, const body::JointRow<D>& limit) {
    const body::Joint<D>& joint = step_.world.joints[index(j)];
    if (joint.restitution == 0.0) return;
    meet(joint.a, joint.b,
         body::time_to_limit(step_.world, joint, limit, step_.given, step_.middle));
  });
  return any;
}

template <int D>
int OpenRows<D>::group_of(int b) {
  while (group_[index(b)] != b) b = group_[index(b)] = group_[index(group_[index(b)])];
  return b;
}

/// Whether a row is a fixed point of a rim whose lowest one rolls.
template <int D>
bool OpenRows<D>::is_held_by_lowest(const body::Row<D>& row) const {
  return D == 3 && shape::is_on_rim(row.key.feature) && !shape::is_lowest_of_rim(row.key.feature) &&
         step_.world.rolls(row.key) &&
         body::rim_turn(step_.world, row, *step_.start, step_.middle, step_.h,
                        step_.gravity_step) <= body::kMostRimTurn;
}

template class OpenRows<2>;
template class OpenRows<3>;

}  // namespace ricochet::step
