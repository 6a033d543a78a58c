#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>
#include <vector>

#include "ricochet/base/executor.h"
#include "ricochet/base/index.h"
#include "ricochet/base/looks.h"
#include "ricochet/body/finder.h"
#include "ricochet/body/gains.h"
#include "ricochet/body/world.h"
#include "ricochet/certify/body_claim.h"
#include "ricochet/certify/limits.h"

namespace ricochet::step {

/// What never changes of a body, together: worlds are large.
struct StepFact {
  double born{0.0};
  double reach{0.0};
  bool is_free{false};
  bool may_fly{false};  // it is round, its moments of inertia are equal, and it has no joints
};

/// A step of bodies while it is made: what its parts hand to each other.
template <int D>
struct BodyStep {
  using State = body::WorldState<D>;
  BodyStep(const body::World<D>& of, const certify::Limits& allowed)
      : world(of),
        limits(allowed),
        exists(of.bodies.size(), 1),
        flies(of.bodies.size(), 0),
        reach(of.bodies.size(), 0.0),
        middle(of.bodies.size()),
        after(of.bodies.size()) {
    if constexpr (D == 3) {
      moments.resize(of.bodies.size());
      levers.resize(of.bodies.size());
    }
  }

  const body::World<D>& world;
  const certify::Limits limits;
  base::Executor executor;  // none: one thread
  std::vector<StepFact> facts;

  certify::Level level{};  // that the step is made for
  double h{0.0};
  double t_mid{0.0};
  body::Vec<D> gravity = body::Vec<D>::Zero();  // g(t_M)
  body::Vec<D> given = body::Vec<D>::Zero();    // h g(t_M)
  double gravity_step{0.0};                     // h |g(t_M)| [m/s]
  double creep_limit{0.0};                      // of Level::Bounded [m/s]
  double enough_speed{0.0};                     // what rounds of turns may differ by [m/s]

  // By BodyNeighbours:
  std::vector<char> exists;
  std::vector<char> flies;       // it is near nobody, and its other numbers are not made
  std::vector<int> who;          // bodies that do not fly
  std::vector<double> reach;     // by body [m]
  const State* before{nullptr};  // the step begins with
  const std::vector<body::Motion<D>>* start{nullptr};  // of the step: the state's, or `from`
  std::vector<body::Motion<D>> middle;                 // places at the middle, velocities before
  std::vector<body::Row<D>> rows;                      // that act, once OpenRows has seen them

  // By BodyProjection, where places are put back:
  std::vector<body::Motion<D>> from;  // the start of the step, put back
  std::vector<body::RowKey> put;      // rows that were put back, sorted
  bool is_shifted{false};
  std::vector<std::pair<int, int>> touched;  // shapes that touched before that, sorted
  std::vector<char> slept;                   // bodies that slept then; empty: none
  std::vector<body::Motion<D>> unshifted;    // where bodies were then, where any has e > 0

  // Of the impulses found:
  std::vector<body::Motion<D>> after;  // places at the middle, velocities after
  std::vector<body::Vec<D>> moments;   // in space: by body
  std::vector<double> levers;          // sums of |r| |p|
  base::Looks looks;                   // see BodyContacts::look
  std::vector<body::RestTry> tries;    // groups that cannot rest

  void begin(const State& s, double length) {
    before = &s;
    h = length;
    t_mid = s.t + 0.5 * h;
    gravity = world.gravity(t_mid);
    given = h * gravity;
    gravity_step = h * gravity.norm();
    creep_limit = limits.creep_limit(gravity_step);
  }
  body::Gains<D> gains() const { return {world, *before, h, gravity}; }
  bool is_put(const body::RowKey& key) const {
    return std::binary_search(put.begin(), put.end(), key);
  }
  bool is_put_back() const { return start == &from; }
  double depth_of(double slack) const { return certify::depth_of(slack, level, h, creep_limit); }
  bool is_free(int body) const { return facts[base::index(body)].is_free; }

  /// Whether the shapes of a row touched before places were put back. Who only comes to touch by
  /// that has not met the other yet: a blow does not go through it within the step.
  bool touched_before(const body::Row<D>& row) const {
    using base::index;
    if (!is_shifted) return true;
    if (!slept.empty() && slept[index(row.body_a)] != 0 && slept[index(row.body_b)] != 0)
      return true;
    return std::binary_search(touched.begin(), touched.end(), std::pair(row.key.a, row.key.b));
  }

  /// By how much a row that was entered was lifted where places were put back.
  double lift_of(const body::Row<D>& row) const {
    if (!is_shifted) return 0.0;
    const double gap = body::gap_at(world, row.key, unshifted);
    return gap < 0.0 ? row.gap - gap : 0.0;  // 0 also where there was no such row
  }

  /// u' = u + h g; driven bodies go to their next middle.
  void free_velocity(std::size_t i) {
    after[i] = middle[i];
    if (exists[i] == 0) return;
    const body::Body<D>& body = world.bodies[i];
    if (body.kind == body::Kind::Free) after[i].v = (*start)[i].v + given;
    if (body.kind == body::Kind::Driven) body::drive(body, t_mid, h, after[i]);
  }

  static constexpr std::size_t kInPiece = 1024;  // bodies or rows that one thread looks at
  /// work(begin, end) of pieces of a range; no thread has to do with what another one changes.
  template <class Work>
  void in_pieces(std::size_t count, const Work& work) const {
    const base::Pieces range{count, kInPiece};
    base::each(executor, range.count(), [&](std::size_t p) { work(range.begin(p), range.end(p)); });
  }
  /// Whether all of work(begin, end) say so, of all pieces.
  template <class Work>
  bool all_pieces(std::size_t count, const Work& work) const {
    std::atomic<bool> all = true;
    in_pieces(count, [&](std::size_t begin, std::size_t end) {
      if (!work(begin, end)) all.store(false, std::memory_order_relaxed);
    });
    return all;
  }
};

}  // namespace ricochet::step
