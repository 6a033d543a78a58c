#include "ricochet/step/moreau_bodies.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ricochet/base/index.h"

namespace ricochet::step {

using base::index;
using body::Kind;
using body::Vec;
namespace {
constexpr double kNoise = 16.0 * std::numeric_limits<double>::epsilon();
}

template <int D>
MoreauBodies<D>::MoreauBodies(const body::World<D>& world, double tolerance)
    : world_(world),
      finder_(world),
      contacts_(world, tolerance),
      exists_(world.bodies.size(), 1),
      reach_(world.bodies.size(), 0.0) {}

/// x_M = x + h/2 v; driven bodies are where their formulas say, at the velocity between the
/// middles.
template <int D>
void MoreauBodies<D>::half_step(const State& s, double h) {
  t_mid_ = s.t + 0.5 * h;
  middle_ = s.bodies;
  for (std::size_t i = 0; i < middle_.size(); ++i) {
    const body::Body<D>& body = world_.bodies[i];
    exists_[i] = body.born <= s.t + 1e-9 * h && s.gone[i] == 0 ? 1 : 0;
    if (exists_[i] == 0) continue;
    if (body.kind == Kind::Free) middle_[i].advance(0.5 * h);
    if (body.kind == Kind::Driven) body::drive(body, t_mid_, -h, middle_[i]);
  }
}

/// How far each body may come in this step.
template <int D>
void MoreauBodies<D>::set_reach(double h, const std::vector<body::Motion<D>>& of) {
  for (std::size_t i = 0; i < reach_.size(); ++i) {
    reach_[i] = std::max(reach_[i], h * body::speed_bound(world_.bodies[i], of[i]));
  }
}

/// The unilateral projection: min ½ d.M d with g + J d >= -slack/2 for what is deeper than the
/// slack, and nothing near pushed in for it. Rounds, as gaps are not linear.
template <int D>
problem::Report MoreauBodies<D>::put_back(certify::BodyClaim<D>& claim) {
  constexpr std::size_t kMostRounds = 20;
  problem::Report report;
  claim.shifts.clear();
  for (std::size_t round = 0; round < kMostRounds; ++round) {
    double depth = 0.0;
    for (const body::Row<D>& row : rows_) {
      if (row.gap < -row.slack) depth = std::max(depth, -row.gap);
    }
    if (depth == 0.0) break;
    std::vector<body::Motion<D>> shift(middle_.size());
    std::fill(reach_.begin(), reach_.end(), 2.0 * depth);
    finder_.find(middle_, exists_, reach_, rows_);
    contacts_.take(rows_);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const double over = rows_[i].gap + 0.5 * rows_[i].slack;
      const auto at = static_cast<Eigen::Index>(D * i);
      contacts_.free()[at] = rows_[i].gap < -rows_[i].slack ? over : std::max(0.0, over);
    }
    report = contacts_.solve();
    if (report.status != problem::Status::Solved) return report;
    contacts_.apply(rows_, shift);
    claim.shifts.emplace_back();
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const double weight = contacts_.impulses()[static_cast<Eigen::Index>(D * i)];
      if (!(weight > 0.0)) continue;
      body::Push<D>& push = claim.shifts.back().emplace_back();
      push.key = rows_[i].key;
      push.impulse[0] = weight;
    }
    for (std::size_t i = 0; i < middle_.size(); ++i) {
      middle_[i].x += shift[i].v;
      middle_[i].angle += shift[i].spin;
    }
    finder_.find(middle_, exists_, reach_, rows_);
  }
  return report;
}

/// u' = u + h g; driven bodies go to their next middle.
template <int D>
void MoreauBodies<D>::free_velocity(const State& s, double h) {
  const Vec<D> gravity = world_.gravity(t_mid_);
  after_ = middle_;
  for (std::size_t i = 0; i < after_.size(); ++i) {
    if (exists_[i] == 0) continue;
    const body::Body<D>& body = world_.bodies[i];
    if (body.kind == Kind::Free) after_[i].v = s.bodies[i].v + h * gravity;
    if (body.kind == Kind::Driven) body::drive(body, t_mid_, h, after_[i]);
  }
}

/// q: U' + max(0, g)/h where e = 0, U' + e U where the pair touches; others do not act.
template <int D>
void MoreauBodies<D>::pose_problem(const State& s, double h) {
  const auto acts = [&](const body::Row<D>& row) {
    const auto& law =
        world_.law(world_.body(row.body_a).material, world_.body(row.body_b).material);
    return law.looks_ahead() || row.gap <= row.slack;
  };
  std::erase_if(rows_, [&](const body::Row<D>& row) { return !acts(row); });
  contacts_.take(rows_);
  auto last = s.pushes.begin();
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const body::Row<D>& row = rows_[i];
    const auto& law =
        world_.law(world_.body(row.body_a).material, world_.body(row.body_b).material);
    const std::size_t a = index(row.body_a);
    const std::size_t b = index(row.body_b);
    Vec<D> q = body::relative(row, after_[a], after_[b]);
    q[0] += law.looks_ahead() ? std::max(0.0, row.gap) / h
                              : law.restitution * body::relative(row, middle_[a], middle_[b])[0];
    const auto at = static_cast<Eigen::Index>(D * i);
    contacts_.free().template segment<D>(at) = q;
    contacts_.friction()[i] = law.friction;
    contacts_.noise()[i] = kNoise * (body::speed_bound(world_.bodies[a], after_[a]) +
                                     body::speed_bound(world_.bodies[b], after_[b]));
    while (last != s.pushes.end() && last->key < row.key) ++last;
    if (last == s.pushes.end() || !(last->key == row.key)) continue;
    contacts_.impulses().template segment<D>(at) = last->impulse;
  }
}

/// Whether a body goes farther than was looked for it.
template <int D>
bool MoreauBodies<D>::outruns(double h) {
  bool any = false;
  for (std::size_t i = 0; i < reach_.size(); ++i) {
    const double way = h * body::speed_bound(world_.bodies[i], after_[i]);
    if (!(way > reach_[i] * (1.0 + 1e-9))) continue;
    reach_[i] = 1.5 * way;
    any = true;
  }
  return any;
}

/// Impulses and u+, found again where a body came to be faster than its reach.
template <int D>
problem::Report MoreauBodies<D>::push(const State& s, double h) {
  constexpr int kMostRounds = 8;
  problem::Report report;
  for (int round = 0; round < kMostRounds; ++round) {
    free_velocity(s, h);
    pose_problem(s, h);
    report = contacts_.solve();
    if (report.status != problem::Status::Solved) return report;
    contacts_.apply(rows_, after_);
    const std::size_t before = rows_.size();
    if (!outruns(h)) break;
    std::vector<body::Row<D>> wider;
    finder_.find(middle_, exists_, reach_, wider);
    if (wider.size() == before) break;
    rows_ = std::move(wider);
  }
  return report;
}

/// x+ = x_M + h/2 u+, and what is claimed.
template <int D>
void MoreauBodies<D>::finish(double h, State& next, certify::BodyClaim<D>& claim) {
  next.bodies = after_;
  for (std::size_t i = 0; i < after_.size(); ++i) {
    if (exists_[i] == 0) continue;
    const body::Body<D>& body = world_.bodies[i];
    if (body.kind == Kind::Free) next.bodies[i].advance(0.5 * h);
    if (body.kind == Kind::Driven) body.drive(t_mid_ + 0.5 * h, next.bodies[i]);
  }
  for (std::size_t i = 0; i < after_.size(); ++i) {
    if (exists_[i] == 0 || !world_.bodies[i].is_free()) continue;
    next.gone[i] = world_.keeps(next.bodies[i].x) ? 0 : 1;
  }
  claim.pushes.clear();
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Vec<D> p = contacts_.impulses().template segment<D>(static_cast<Eigen::Index>(D * i));
    if (p[0] > 0.0) claim.pushes.push_back({rows_[i].key, p});
  }
  next.pushes = claim.pushes;
  next.steps += 1;
}

template <int D>
problem::Report MoreauBodies<D>::advance(const State& s, double h, State& next,
                                         certify::BodyClaim<D>& claim) {
  half_step(s, h);      // x_M = x + h/2 v
  free_velocity(s, h);  // u' = u + h g(t_M)
  std::fill(reach_.begin(), reach_.end(), 0.0);
  set_reach(h, middle_);
  set_reach(h, after_);
  finder_.find(middle_, exists_, reach_, rows_);  // rows with g(q_M) <= reach
  problem::Report report = put_back(claim);       // where g(q_M) < -slack
  if (report.status != problem::Status::Solved) return report;
  if (!claim.shifts.empty()) {
    std::fill(reach_.begin(), reach_.end(), 0.0);
    set_reach(h, middle_);
    set_reach(h, after_);
    finder_.find(middle_, exists_, reach_, rows_);
  }
  report = push(s, h);  // u+ = u' + M^-1 G^T p
  if (report.status != problem::Status::Solved) return report;
  next.steps = s.steps;
  next.gone = s.gone;
  finish(h, next, claim);  // x+ = x_M + h/2 u+
  return report;
}

template class MoreauBodies<2>;

}  // namespace ricochet::step
