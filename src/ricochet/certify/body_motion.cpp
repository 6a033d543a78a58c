#include "ricochet/certify/body_motion.h"

#include <algorithm>
#include <cmath>

#include "ricochet/certify/body_turning.h"

namespace ricochet::certify {

using base::index;
using body::Kind;
using body::Vec;

/// That states are numbers; who is there, and how fast at the end. The balls of bodies that are one
/// centred shape.
template <int D>
bool BodyMotions<D>::check_states() {
  for (const int i : trial_.ready) trial_.is_ready[index(i)] = 0;
  trial_.ready.clear();
  pieces_.look(trial_.executor, trial_.facts.size(), [&](std::size_t i, Piece& piece) {
    if (!piece.fault.is_there()) piece.fault = look_at_state(i);
  });
  const BodyFault fault = pieces_.first_fault();
  return !fault.is_there() || trial_.fail_body(fault.failure, trial_.t_mid, fault.value, fault.at);
}

/// Where places are put back the rest of bodies is made after it.
template <int D>
void BodyMotions<D>::make_middles(const StillBodies<D>& still) {
  for (std::size_t i = 0; i < trial_.facts.size(); ++i) {
    const BodyFact& fact = trial_.facts[i];
    if (trial_.is_whole) {
      make_middle(i);
    } else if (!fact.is_centred && !(still.has(static_cast<int>(i)) && fact.is_free())) {
      make_ready(i);
      set_balls(i);
    }
  }
}

template <int D>
BodyFault BodyMotions<D>::look_at_state(std::size_t i) {
  const BodyFact& fact = trial_.facts[i];
  const body::Motion<D>& to = trial_.after->bodies[i];
  const bool is_free = fact.kind == Kind::Free;
  if (!finite(to)) return {i, Failure::NotFinite};
  if (is_free && !fact.is_even && !spins_agree(trial_.world.bodies[i], to)) {
    return {i, Failure::Kinematics};
  }
  trial_.exists[i] =
      fact.born <= trial_.before->t + 1e-9 * trial_.h && trial_.before->gone[i] == 0 ? 1 : 0;
  trial_.speed[i] =
      fact.kind == Kind::Fixed ? 0.0 : to.v.norm() + body::size_of(to.spin) * fact.reach;
  trial_.top_speed[i] = std::max(trial_.top_speed[i], trial_.speed[i]);
  if (trial_.is_whole) {
    trial_.shift[i].setZero();
    trial_.shift_rounding[i] = {};
  } else if (fact.is_centred) {
    const body::Motion<D>& from = trial_.before->bodies[i];
    const Vec<D> x = trial_.exists[i] != 0 ? Vec<D>(from.x + 0.5 * trial_.h * from.v) : from.x;
    set_reach(i, x, trial_.speed[i]);
    coverage_.set_ball(fact.first, x, trial_.reach[i]);
  }
  return {};
}

/// x_M = x + h/2 v and its rotation; driven bodies where their formulas say.
template <int D>
void BodyMotions<D>::make_middle(std::size_t i) {
  const BodyFact& fact = trial_.facts[i];
  const body::Motion<D>& start = trial_.before->bodies[i];
  trial_.middle[i] = start;
  if (trial_.is_whole) trial_.from[i] = start;
  if (trial_.exists[i] == 0 || fact.kind == Kind::Fixed) return;
  if (fact.kind == Kind::Driven) {
    body::drive(trial_.world.bodies[i], trial_.t_mid, -trial_.h, trial_.middle[i]);
  } else {
    trial_.middle[i].x += 0.5 * trial_.h * start.v;
    if (fact.turns) turn(trial_.middle[i], 0.5 * trial_.h * start.spin);
  }
}

/// How far rows of a body are looked for: farther than the law needs, as rows that push may miss it
/// by the residual.
template <int D>
void BodyMotions<D>::set_reach(std::size_t i, const Vec<D>& x, double speed) {
  if (trial_.mixes_restitution) {  // those that it would meet are looked for too
    const double before = body::speed_bound(trial_.world.bodies[i], trial_.before->bodies[i]);
    speed = std::max(speed, before + trial_.gravity_step);
  }
  const double room = 1e-6 * (std::isfinite(trial_.facts[i].size) ? trial_.facts[i].size : 0.0);
  trial_.reach[i] = 1.001 * trial_.h * speed + 16.0 * kRoundoff * x.template lpNorm<1>() + room +
                    trial_.depth_of(0.0);
}

template <int D>
double BodyMotions<D>::endless_speed(std::size_t i, const body::Motion<D>& of) const {
  double away = 0.0;
  for (std::size_t j = 0; j < trial_.facts.size(); ++j) {
    if (trial_.facts[j].kind != Kind::Free || trial_.before->gone[j] != 0) continue;
    const body::Motion<D>& m = trial_.before->bodies[j];
    const double way = trial_.h * (m.v.norm() + trial_.after->bodies[j].v.norm());
    away = std::max(away, (m.x - trial_.middle[i].x).norm() + trial_.facts[j].reach + way);
  }
  return body::size_of(of.spin) * away;
}

template <int D>
void BodyMotions<D>::set_balls(std::size_t i) {
  double speed = body::speed_bound(trial_.world.bodies[i], trial_.middle_after[i]);
  if (has_no_end(trial_.world.bodies[i])) speed += endless_speed(i, trial_.middle_after[i]);
  set_reach(i, trial_.middle[i].x, speed);
  for (std::size_t k = trial_.facts[i].first; k < trial_.facts[i].end; ++k) {
    coverage_.set_ball(k, trial_.poses[i].place(trial_.world.solids[k].shape.centre),
                       trial_.reach[i]);
  }
}

template <int D>
void BodyMotions<D>::make_ready(std::size_t i) {
  if (trial_.is_ready[i] != 0) return;
  trial_.is_ready[i] = 1;
  trial_.ready.push_back(static_cast<int>(i));
  fill_ready(i);
}

/// Bodies of all pairs. Driven ones are ready before: formulas are asked by one thread.
template <int D>
void BodyMotions<D>::make_pairs_ready(const std::vector<std::pair<int, int>>& pairs) {
  const std::size_t before = trial_.ready.size();
  for (const auto& [a, b] : pairs) {
    for (const int i : {trial_.body_of[index(a)], trial_.body_of[index(b)]}) {
      if (trial_.is_ready[index(i)] != 0) continue;
      trial_.is_ready[index(i)] = 1;
      trial_.ready.push_back(i);
    }
  }
  pieces_.look(trial_.executor, trial_.ready.size() - before,
               [&](std::size_t k, Piece&) { fill_ready(index(trial_.ready[before + k])); });
}

template <int D>
void BodyMotions<D>::fill_ready(std::size_t i) {
  trial_.given[i] = {};
  if (!trial_.is_whole) make_middle(i);
  const body::Body<D>& body = trial_.world.bodies[i];
  trial_.middle_after[i] = trial_.middle[i];
  if (trial_.exists[i] != 0 && body.kind == Kind::Driven) {
    body::drive(body, trial_.t_mid, trial_.h, trial_.middle_after[i]);
  } else {
    trial_.middle_after[i].v = trial_.after->bodies[i].v;
    set_spins(body, trial_.start_of(i), trial_.after->bodies[i], trial_.h, trial_.middle[i],
              trial_.middle_after[i]);
  }
  trial_.poses[i] = body::pose_of(body, trial_.middle[i]);
  trial_.paces[i] = {
      body::speed_bound(body, trial_.middle[i]) + body::speed_bound(body, trial_.middle_after[i]),
      trial_.middle[i].x.norm()};
}

template <int D>
void BodyMotions<D>::make_all_ready() {
  for (std::size_t i = 0; i < trial_.facts.size(); ++i) {
    make_ready(i);
    set_balls(i);
  }
}

template <int D>
void BodyMotions<D>::place_all() {
  for (std::size_t i = 0; i < trial_.poses.size(); ++i) {
    trial_.poses[i] = body::pose_of(trial_.world.bodies[i], trial_.middle[i]);
  }
}

template <int D>
const std::vector<body::Motion<D>>& BodyMotions<D>::next_middles() {
  next_ = trial_.middle_after;
  for (std::size_t i = 0; i < next_.size(); ++i) {
    const body::Body<D>& body = trial_.world.bodies[i];
    if (trial_.exists[i] == 0 || body.kind == Kind::Fixed) continue;
    if (body.kind == Kind::Driven) {
      body.drive(trial_.t_mid + trial_.h, next_[i]);
      continue;
    }
    const body::Motion<D>& end = trial_.after->bodies[i];
    next_[i] = end;
    next_[i].x += 0.5 * trial_.h * end.v;
    turn(next_[i], 0.5 * trial_.h * end.spin);
  }
  return next_;
}

template class BodyMotions<2>;
template class BodyMotions<3>;

}  // namespace ricochet::certify
