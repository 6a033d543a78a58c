#pragma once

#include "ricochet/body/rows.h"
#include "ricochet/body/world.h"

namespace ricochet::body {

/// Whether a push along the normal of a row turns a body.
template <int D>
bool push_turns(const World<D>& world, const Row<D>& row) {
  constexpr double kPart = 1e-6;
  const auto of = [&](int i, const Vec<D>& arm) {
    return world.body(i).is_free() && size_of(moment(arm, row.normal)) > kPart * arm.norm();
  };
  return of(row.body_a, row.arm_a) || of(row.body_b, row.arm_b);
}

/// Two bodies that come to a row with e = 0 and friction, where a push turns one of them or a joint
/// holds one. Kept from being entered, they would be stopped in two steps: down to the rest of the
/// gap, and to rest. Two blows are not one where friction turns to another way, or to none,
/// meanwhile: what comes of them would depend on where in a step they fall, however short it is.
/// Such a row waits until it touches, and is one blow.
template <int D>
struct Strike {
  const World<D>& world;
  double friction;
  const Row<D>& row;
  Motion<D> a;  // places at the middle, velocities before
  Motion<D> b;
  double width{0.0};  // of the thinner shape
  double h{0.0};
  double gravity_step{0.0};  // h |g|
  bool is_joined{false};     // a joint holds one of them
  bool is_alone{false};      // nobody else touches them

  /// Whether it is one, with so much of the speed at which they come together. What gravity makes
  /// of a few steps is none, and who would come deep into the other in one is kept out.
  bool waits(double part = 1.0) const {
    constexpr double kFew = 3.0;     // steps
    constexpr double kLeast = 16.0;  // slacks: a way that is none
    constexpr double kMost = 3e7;    // slacks: 3/100 of the smaller body
    constexpr double kThin = 0.1;    // of its width
    const Vec<D> u = velocity_at(a, row.arm_a) - velocity_at(b, row.arm_b);
    const double comes = -row.normal.dot(u) * part;
    const double way = h * comes;
    if (!(way > kLeast * row.slack && way < kMost * row.slack && way < kThin * width)) {
      return false;
    }
    return comes > kFew * gravity_step && (is_joined || !is_alone || !slides_on(u, comes));
  }

 private:
  /// Whether they slide on the same way all through the blow: then two make one, but for a part of
  /// less than kPart of friction's, which turns a little with the slip.
  bool slides_on(const Vec<D>& u, double comes) const {
    constexpr double kLeft = 0.1;  // of the slip
    constexpr double kPart = 2e-3;
    const Vec<D>& n = row.normal;
    const Vec<D> slip = u - n.dot(u) * n;
    const double speed = slip.norm();
    if (speed == 0.0) return false;
    const Vec<D> along = slip / speed;
    const Vec<D> made = response(n - friction * along);  // by each unit along n
    const double stops = n.dot(made);
    if (!(stops > 0.0)) return false;
    const Vec<D> left = slip + comes / stops * (made - stops * n);
    const double on = left.dot(along);
    const double aside = (left - on * along).norm();
    return on > kLeft * speed && 0.5 * friction * aside <= kPart * on;
  }

  /// What an impulse between them, by themselves, does to their relative velocity.
  Vec<D> response(const Vec<D>& p) const {
    const auto of = [&](int i, const Motion<D>& at, const Vec<D>& arm) -> Vec<D> {
      const Body<D>& body = world.body(i);
      if (!body.is_free()) return Vec<D>::Zero();
      Motion<D> made;
      made.v = p / body.mass;
      made.spin = ease_of(body, at)(moment(arm, p));
      return velocity_at(made, arm);
    };
    return of(row.body_a, a, row.arm_a) + of(row.body_b, b, row.arm_b);
  }
};

}  // namespace ricochet::body
