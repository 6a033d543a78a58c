#include "ricochet/step/body_neighbours.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ricochet::step {

using base::index;
using body::Kind;
using body::Vec;

namespace {

/// Whether a body is driven and has no end, as a half-space: where it turns, its particles are the
/// faster the farther away.
template <int D>
bool is_endless(const body::Body<D>& body) {
  return body.kind == Kind::Driven && !std::isfinite(body.size);
}

}  // namespace

template <int D>
BodyNeighbours<D>::BodyNeighbours(BodyStep<D>& step, SleepingBodies<D>& sleeping)
    : step_(step), sleeping_(sleeping), finder_(step.world) {
  for (std::size_t i = 0; i < step.world.bodies.size(); ++i) {
    const body::Body<D>& body = step.world.bodies[i];
    const bool may_fly =
        body.is_free() && body.is_even && finder_.is_round(i) && step.world.joints.empty();
    step.facts.push_back({body.born, body.reach, body.is_free(), may_fly});
    has_endless_ = has_endless_ || is_endless(body);
  }
}

/// x_M = x + h/2 v; driven bodies are where their formulas say, at the velocity between the
/// middles. In space bodies that may fly have no use for their rotation there.
template <int D>
void BodyNeighbours<D>::half_step(std::size_t i) {
  const body::Body<D>& body = step_.world.bodies[i];
  body::Motion<D>& middle = step_.middle[i] = (*step_.start)[i];
  if constexpr (D == 3) {
    step_.moments[i].setZero();
    step_.levers[i] = 0.0;
  }
  if (step_.exists[i] == 0) return;
  if (D == 3 && step_.facts[i].may_fly) {
    middle.x += 0.5 * step_.h * middle.v;
  } else if (body.kind == Kind::Free) {
    middle.advance(0.5 * step_.h);
  }
  if (body.kind == Kind::Driven) body::drive(body, step_.t_mid, -step_.h, middle);
}

/// The body takes part in the step from here on.
template <int D>
void BodyNeighbours<D>::join(std::size_t i) {
  step_.flies[i] = 0;
  step_.who.push_back(static_cast<int>(i));
  half_step(i);
  step_.free_velocity(i);
}

template <int D>
void BodyNeighbours<D>::look_around(const State& s) {
  step_.start = &s.bodies;
  step_.who.clear();
  if (has_endless_) find_span(s);
  const double depth = step_.depth_of(0.0);
  step_.in_pieces(step_.reach.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (sleeping_.sleeps(i)) continue;  // all is as it was
      const StepFact& fact = step_.facts[i];
      step_.exists[i] = fact.born <= s.t + 1e-9 * step_.h && s.gone[i] == 0 ? 1 : 0;
      step_.flies[i] = fact.may_fly ? 1 : 0;
      if (fact.may_fly) place_round(i, s.bodies[i], depth);
    }
  });
  for (std::size_t i = 0; i < step_.reach.size(); ++i) {
    if (step_.facts[i].may_fly || sleeping_.sleeps(i)) continue;
    join(i);
    set_reach(i, 0.0);
    finder_.place(i, step_.middle[i], step_.reach[i]);
  }
  let_join();
}

/// A body that may fly: how far it may come, and its ball at the middle.
template <int D>
void BodyNeighbours<D>::place_round(std::size_t i, const body::Motion<D>& m, double depth) {
  const double spin = body::size_of(m.spin) * step_.facts[i].reach;
  double speed = m.v.norm() + spin;
  Vec<D> x = m.x;
  if (step_.exists[i] != 0) {
    x += 0.5 * step_.h * m.v;
    speed = std::max(speed, (m.v + step_.given).norm() + spin);
  }
  step_.reach[i] = std::max(0.0, step_.h * speed + depth);
  finder_.place_round(i, x, step_.reach[i]);
}

/// Who is near another takes part.
template <int D>
void BodyNeighbours<D>::let_join() {
  for (const int i : finder_.look(step_.reach)) {
    if (step_.flies[index(i)] != 0) join(index(i));
  }
}

template <int D>
void BodyNeighbours<D>::let_all_join() {
  if (step_.is_put_back()) return;
  for (std::size_t i = 0; i < step_.flies.size(); ++i) {
    if (step_.flies[i] != 0) join(i);
  }
  step_.from = *step_.start;
  step_.start = &step_.from;
}

/// A body that slept takes part, and is looked for at least as far.
template <int D>
void BodyNeighbours<D>::rouse(std::size_t i, double least) {
  join(i);
  set_reach(i, least);
  finder_.place(i, step_.middle[i], step_.reach[i]);
}

template <int D>
void BodyNeighbours<D>::find_rows(double least, std::vector<body::Row<D>>& rows) {
  const std::vector<char>* still = sleeping_.any() ? &sleeping_.still() : nullptr;
  finder_.rows(step_.middle, step_.exists, step_.reach, rows, still);
  if (still == nullptr || sleeping_.wake(rows).empty()) return;
  for (const int i : sleeping_.woken()) rouse(index(i), least);
  find_rows(least, rows);
}

template <int D>
void BodyNeighbours<D>::find_anew(double least) {
  for (std::size_t i = 0; i < step_.middle.size(); ++i) {
    if (!sleeping_.sleeps(i)) finder_.place(i, step_.middle[i], step_.reach[i]);
  }
  finder_.look(step_.reach);
  find_rows(least, step_.rows);
}

template <int D>
void BodyNeighbours<D>::find_from_new_places() {
  for (std::size_t i = 0; i < step_.reach.size(); ++i) {
    if (!sleeping_.sleeps(i)) set_reach(i, 0.0);
  }
  find_anew(0.0);
}

template <int D>
bool BodyNeighbours<D>::find_farther(std::vector<body::Row<D>>& rows) {
  for (const int i : step_.who) {
    finder_.place(index(i), step_.middle[index(i)], step_.reach[index(i)]);
  }
  let_join();
  const std::size_t before = step_.who.size();
  find_rows(0.0, rows);
  return step_.who.size() > before;
}

template <int D>
void BodyNeighbours<D>::set_reach(std::size_t i, double least) {
  step_.reach[i] = least;
  add_reach(i, step_.middle[i]);
  add_reach(i, step_.after[i]);
}

/// How far a body may come in this step.
template <int D>
void BodyNeighbours<D>::add_reach(std::size_t i, const body::Motion<D>& of) {
  double speed = body::speed_bound(step_.world.bodies[i], of);
  if (has_endless_ && is_endless(step_.world.bodies[i])) {
    speed += body::size_of(of.spin) * (span_ + of.x.norm());
  }
  step_.reach[i] = std::max(step_.reach[i], step_.h * speed + step_.depth_of(0.0));
}

/// How far away a turning half-space may meet a free body in this step.
template <int D>
void BodyNeighbours<D>::find_span(const State& s) {
  span_ = 0.0;
  for (std::size_t i = 0; i < step_.facts.size(); ++i) {
    if (!step_.facts[i].is_free || s.gone[i] != 0) continue;
    const body::Motion<D>& m = s.bodies[i];
    span_ =
        std::max(span_, m.x.norm() + step_.facts[i].reach + step_.h * (m.v + step_.given).norm());
  }
}

template class BodyNeighbours<2>;
template class BodyNeighbours<3>;

}  // namespace ricochet::step
