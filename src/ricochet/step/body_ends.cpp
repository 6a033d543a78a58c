#include "ricochet/step/body_ends.h"

#include <algorithm>

#include "ricochet/body/turning.h"

namespace ricochet::step {

using base::index;
using body::Kind;
using body::Vec;

template <int D>
void BodyEnds<D>::finish(const State& s, State& next, certify::BodyClaim<D>& claim) {
  if (step_.world.sleeps) lie_down_all(next);
  end_bodies(next);
  if (needs_gains_) tell_gains(s, next);
  list_pushes(claim.pushes, next.pushes);
  if (step_.world.sleeps) {
    sleeping_.add_pushes(s.pushes, claim.pushes);
    next.pushes = claim.pushes;
  }
  joints_.tell(claim.reactions);
  next.reactions = claim.reactions;
  next.looks = step_.looks;
  next.tries = step_.tries;
  next.effort.level = static_cast<int>(step_.level);
  claim.level = step_.level;
  next.steps += 1;
  const bool may_sleep = step_.world.sleeps && !joints_.any();
  if (may_sleep) sleeping_.end(step_.rows, stays_, next, {step_.h, step_.given, step_.level});
}

template <int D>
void BodyEnds<D>::end_bodies(State& next) {
  next.bodies.resize(step_.after.size());
  step_.in_pieces(step_.after.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (step_.facts[i].is_free) end_body(i, next);
    }
  });
  for (std::size_t i = 0; i < step_.after.size(); ++i) {  // formulas: by one thread
    if (!step_.facts[i].is_free) end_body(i, next);
  }
}

/// Bodies that rows or limits of joints threw back, and those that hang together with them: what
/// they gained by it is no hint of hops.
template <int D>
void BodyEnds<D>::find_struck() {
  constexpr double kBlow = 1e-3;  // of g h
  const double least = kBlow * step_.gravity_step;
  struck_.assign(step_.after.size(), 0);
  const auto strike = [&](int a, int b) {
    for (const int i : {a, b}) struck_[index(i)] = step_.is_free(i) ? 1 : 0;
  };
  const body::Gains<D> gains = step_.gains();
  for (std::size_t i = 0; i < step_.rows.size(); ++i) {
    if (!(contacts_.impulses()[static_cast<Eigen::Index>(D * i)] > 0.0)) continue;
    const body::Row<D>& row = step_.rows[i];
    const body::PairLaw& law = step_.world.law_between(row.body_a, row.body_b);
    if (gains.throws(law, row, contacts_.approach()[i])) strike(row.body_a, row.body_b);
  }
  for (const typename BodyJoints<D>::Lawful& one : joints_.lawful()) {
    const body::Joint<D>& joint = step_.world.joints[index(one.joint)];
    if (one.is_box() || joint.restitution == 0.0 || !(one.impulse > 0.0)) continue;
    if (-one.shift * unit_of(joint) > least) strike(joint.a, joint.b);
  }
  for (bool any = true; any;) {  // who hangs together with them
    any = false;
    for (const body::Joint<D>& joint : step_.world.joints) {
      if (!step_.is_free(joint.a) || !step_.is_free(joint.b)) continue;
      if (struck_[index(joint.a)] == struck_[index(joint.b)]) continue;
      strike(joint.a, joint.b);
      any = true;
    }
  }
}

/// What velocities gained in the step: PairLaw::returned of the next one.
template <int D>
void BodyEnds<D>::tell_gains(const State& s, State& next) {
  find_struck();
  const body::Gains<D> before = step_.gains();
  next.gains.resize(next.bodies.size());
  step_.in_pieces(next.bodies.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (struck_[i] != 0) {
        next.gains[i] = before.gain(static_cast<int>(i));
        continue;
      }
      next.gains[i].v = (next.bodies[i].v - s.bodies[i].v) / step_.h;
      next.gains[i].spin = (next.bodies[i].spin - s.bodies[i].spin) / step_.h;
    }
  });
}

template <int D>
void BodyEnds<D>::end_body(std::size_t i, State& next) const {
  if (step_.world.sleeps && stays_[i] != 0) {
    next.bodies[i] = (*step_.start)[i];
    next.gone[i] =
        step_.world.keeps(next.bodies[i].x) ? 0 : 1;  // it may begin where it is taken out
    return;
  }
  if (step_.flies[i] != 0 && step_.exists[i] != 0) {
    fly((*step_.start)[i], i, next.bodies[i]);
  } else {
    next.bodies[i] = step_.flies[i] != 0 ? (*step_.start)[i] : step_.after[i];
  }
  if (step_.exists[i] == 0) return;
  if (step_.flies[i] == 0) finish_body(i, next.bodies[i]);
  if (step_.facts[i].is_free) next.gone[i] = step_.world.keeps(next.bodies[i].x) ? 0 : 1;
}

/// A whole step of a round body that is near nobody.
template <int D>
void BodyEnds<D>::fly(const body::Motion<D>& from, [[maybe_unused]] std::size_t i,
                      body::Motion<D>& next) const {
  next = from;
  next.v = from.v + step_.given;
  next.x = (from.x + 0.5 * step_.h * from.v) + 0.5 * step_.h * next.v;
  if constexpr (D == 3) {
    next.rates.setZero();
    next.spin.array() += 0.0;  // as with impulses that are 0: no -0
    const bool stays = next.spin == Vec<D>::Zero() && from.turn.squaredNorm() == 1.0;
    if (!stays) body::finish_turning(step_.world.bodies[i], step_.h, from, next);
  } else {
    next.angle = (from.angle + 0.5 * step_.h * from.spin) + 0.5 * step_.h * from.spin;
  }
}

/// x+ = x_M + h/2 v+, R+ = R exp(h (Ω + Ω+)/2); driven bodies go where their formulas say.
template <int D>
void BodyEnds<D>::finish_body(std::size_t i, body::Motion<D>& m) const {
  const body::Body<D>& body = step_.world.bodies[i];
  if (body.kind == Kind::Driven) body.drive(step_.t_mid + 0.5 * step_.h, m);
  if (body.kind != Kind::Free) return;
  if constexpr (D == 3) {
    m.x += 0.5 * step_.h * m.v;
    body::finish_turning(body, step_.h, (*step_.start)[i], m);
  } else {
    m.advance(0.5 * step_.h);
  }
}

/// Who lies down, and who was at rest and stays so.
template <int D>
void BodyEnds<D>::lie_down_all(State& next) {
  next.asleep.resize(step_.after.size(), 0);
  stays_.assign(step_.after.size(), 0);
  for (std::size_t i = 0; i < step_.after.size(); ++i) {
    stays_[i] = sleeping_.sleeps(i) || lie_down(i, next) ? 1 : 0;
    if (sleeping_.sleeps(i)) next.asleep[i] = 1;
  }
}

/// Where the world sleeps: a body that is at rest before and after the step, but for rounding, is
/// at rest exactly; whether it also stays where it is, to the last bit.
template <int D>
bool BodyEnds<D>::lie_down(std::size_t i, State& next) {
  constexpr double kRounding = 1e-11;  // of g h
  const double most = kRounding * step_.h * step_.gravity.norm();
  const body::Motion<D>& from = (*step_.start)[i];
  const bool rests = step_.exists[i] != 0 && step_.facts[i].is_free && step_.flies[i] == 0 &&
                     body::speed_bound(step_.world.bodies[i], from) <= most &&
                     body::speed_bound(step_.world.bodies[i], step_.after[i]) <= most;
  next.asleep[i] = rests ? 1 : 0;
  if (!rests) return false;
  step_.after[i].v.setZero();
  step_.after[i].spin = body::Motion<D>{}.spin;
  if constexpr (D == 3) step_.after[i].rates.setZero();
  return body::speed_bound(step_.world.bodies[i], from) == 0.0 && !step_.is_put_back();
}

/// Rows that push, for the claim and for the next step.
template <int D>
void BodyEnds<D>::list_pushes(std::vector<body::Push<D>>& pushes,
                              std::vector<body::Push<D>>& kept) {
  const auto pushes_at = [&](std::size_t i) {
    return contacts_.impulses()[static_cast<Eigen::Index>(D * i)] > 0.0;
  };
  const base::Pieces range{step_.rows.size(), BodyStep<D>::kInPiece};
  firsts_.assign(range.count() + 1, 0);
  base::each(step_.executor, range.count(), [&](std::size_t p) {
    std::size_t count = 0;
    for (std::size_t i = range.begin(p); i < range.end(p); ++i) count += pushes_at(i) ? 1U : 0U;
    firsts_[p + 1] = count;
  });
  for (std::size_t p = 0; p < range.count(); ++p) firsts_[p + 1] += firsts_[p];
  pushes.resize(firsts_.back());
  kept.resize(firsts_.back());
  base::each(step_.executor, range.count(), [&](std::size_t p) {
    std::size_t k = firsts_[p];
    for (std::size_t i = range.begin(p); i < range.end(p); ++i) {
      if (!pushes_at(i)) continue;
      body::Push<D> push;
      push.key = step_.rows[i].key;
      push.impulse = contacts_.impulses().template segment<D>(static_cast<Eigen::Index>(D * i));
      if (contacts_.has_turns()) push.moment = contacts_.moments()[i];
      pushes[k] = kept[k] = push;
      ++k;
    }
  });
}

template class BodyEnds<2>;
template class BodyEnds<3>;

}  // namespace ricochet::step
