#include "ricochet/step/body_contacts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "ricochet/base/index.h"
#include "ricochet/base/random.h"
#include "ricochet/solve/contact.h"
#include "ricochet/solve/contact_measure.h"
#include "ricochet/solve/sharing.h"

namespace ricochet::step {

using base::index;
namespace {
constexpr double kRest = 1e-2;      // times the tolerance: impulses that need no work at all
constexpr int kMany = 60;           // contacts for which the slow methods are not worth their time
constexpr int kPatient = 400;       // the same where a level would be given up
constexpr double kMostPart = 0.8;   // of the creep speed that the judge allows
constexpr double kMostAgain = 0.9;  // the same of a round that goes on: it need not begin anew
constexpr int kRestSweeps = 40;     // of spheres that rest, whatever their level
constexpr double kEnough = 2.0;     // times the tolerance: what more work would not be spent on
}  // namespace

template <int D>
BodyContacts<D>::~BodyContacts() = default;

template <int D>
BodyContacts<D>::BodyContacts(const body::World<D>& world, const certify::Limits& limits,
                              BodyJoints<D>& joints)
    : world_(world),
      joints_(joints),
      tolerance_(0.1 * limits.residual),
      gives_up_(limits.aim != limits.least && limits.may_fall(limits.least, world.free_bodies())),
      hurries_(limits.aim == certify::Level::Bounded),
      parent_(world.bodies.size()),
      scale_(world.bodies.size(), 0.0),
      methods_(problem::LocalProblem{W_, q_, mu_}),
      path_(problem::LocalProblem{W_, q_, mu_}),
      inside_(problem::LocalProblem{W_, q_, mu_}) {
  W_.dim = D;
  for (const body::PairLaw& law : world.laws) may_resist_ = may_resist_ || law.resists_turning();
  for (const body::Body<D>& body : world.bodies) {
    ease_.push_back(body.is_free() ? body::ease_of(body, body.start) : body::Ease<D>{});
  }
}

/// G of one body: rows (n, t), columns (v, spin); b moves against a.
template <int D>
typename BodyContacts<D>::Arm BodyContacts<D>::arm_of(const body::Row<D>& row, bool of_a) const {
  Arm arm = Arm::Zero();
  if (!world_.body(of_a ? row.body_a : row.body_b).is_free()) return arm;
  const double sign = of_a ? 1.0 : -1.0;
  for (int k = 0; k < D; ++k) {
    const body::Vec<D> along = sign * body::in_space(row, body::Vec<D>::Unit(k));
    arm.row(k).template head<D>() = along;
    const body::Spin<D> turning = body::moment(of_a ? row.arm_a : row.arm_b, along);
    if constexpr (D == 2) {
      arm(k, D) = turning;
    } else {
      arm.row(k).template tail<D>() = turning;
    }
  }
  return arm;
}

template <int D>
typename BodyContacts<D>::Block BodyContacts<D>::block(const Arm& one, const Arm& other,
                                                       int b) const {
  const body::Body<D>& body = world_.body(b);
  return one.template leftCols<D>() * other.template leftCols<D>().transpose() / body.mass +
         ease_[index(b)].between(one.template rightCols<body::kSpins<D>>(),
                                 other.template rightCols<body::kSpins<D>>());
}

template <int D>
int BodyContacts<D>::root(int b) {
  while (parent_[index(b)] != b) {
    parent_[index(b)] = parent_[index(parent_[index(b)])];
    b = parent_[index(b)];
  }
  return b;
}

template <int D>
void BodyContacts<D>::take(std::span<const body::Row<D>> rows, bool resists) {
  taken_ = rows.size();
  turns_.clear();
  if (resists && may_resist_) list_turns(rows);
  first_joint_ = taken_ + turns_.size();
  if (joints_.any() || has_turns()) {
    take_further(rows);
    rows = all_;
  }
  rows_ = rows;
  const auto size = static_cast<Eigen::Index>(D * rows.size());
  free_.setZero(size);
  impulses_.setZero(size);
  friction_.assign(rows.size(), 0.0);
  noise_.assign(rows.size(), 0.0);
  rests_.assign(rows.size(), 0);
  approach_.assign(rows.size(), 0.0);
  closes_.assign(rows.size(), -std::numeric_limits<double>::infinity());
  arms_.resize(2 * rows.size());
  is_listed_ = false;
  split(rows);
}

/// Rows that share a free body belong together; islands in the order of their first row.
template <int D>
void BodyContacts<D>::split(std::span<const body::Row<D>> rows) {
  for (std::size_t i = 0; i < parent_.size(); ++i) parent_[i] = static_cast<int>(i);
  const auto hub = [&](const body::Row<D>& row) {
    return world_.body(row.body_a).is_free() ? row.body_a : row.body_b;
  };
  for (const body::Row<D>& row : rows) {
    if (!world_.body(row.body_a).is_free() || !world_.body(row.body_b).is_free()) continue;
    const int a = root(row.body_a);
    const int b = root(row.body_b);
    parent_[index(std::max(a, b))] = std::min(a, b);
  }
  tie_joints();
  island_.resize(rows.size());
  std::vector<int>& number = local_;  // by root, for a moment
  number.assign(parent_.size(), -1);
  int count = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    int& its = number[index(root(hub(rows[i])))];
    if (its < 0) its = count++;
    island_[i] = its;
  }
  start_.assign(index(count) + 1, 0);
  for (const int its : island_) ++start_[index(its) + 1];
  for (std::size_t k = 1; k < start_.size(); ++k) start_[k] += start_[k - 1];
  members_.resize(rows.size());
  local_.assign(rows.size(), 0);
  std::vector<int> next(start_.begin(), start_.end());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const int its = island_[i];
    local_[i] = next[index(its)] - start_[index(its)];
    members_[index(next[index(its)]++)] = static_cast<int>(i);
  }
}

template <int D>
void BodyContacts<D>::list_by_body(std::span<const body::Row<D>> rows) {
  by_body_start_.assign(world_.bodies.size() + 1, 0);
  const auto each = [&](auto&& work) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (const int b : {rows[i].body_a, rows[i].body_b}) {
        if (world_.body(b).is_free()) work(static_cast<int>(i), b);
      }
    }
  };
  each([&](int, int b) { ++by_body_start_[index(b) + 1]; });
  for (std::size_t k = 1; k < by_body_start_.size(); ++k)
    by_body_start_[k] += by_body_start_[k - 1];
  by_body_.resize(index(by_body_start_.back()));
  std::vector<int> next(by_body_start_.begin(), by_body_start_.end() - 1);
  each([&](int i, int b) { by_body_[index(next[index(b)]++)] = i; });
}

/// What the matrix of an island is made of: its rows beside each body, and how they act on it.
template <int D>
void BodyContacts<D>::list_arms(int island) {
  if (!is_listed_) list_by_body(rows_);
  is_listed_ = true;
  for (int k = start_[index(island)]; k < start_[index(island) + 1]; ++k) {
    const auto i = index(members_[index(k)]);
    for (const bool of_a : {true, false}) {
      arms_[2 * i + (of_a ? 0 : 1)] = i < taken_         ? arm_of(rows_[i], of_a)
                                      : i < first_joint_ ? turn_arm(i, of_a)
                                                         : joint_arm(i, of_a);
    }
  }
}

/// One row of blocks: a block for every row that shares a free body, columns ascending.
template <int D>
void BodyContacts<D>::gather_row(int row, int local) {
  const body::Row<D>& mine = rows_[index(row)];
  std::array<const int*, 2> at{};
  std::array<const int*, 2> end{};
  const std::array<int, 2> bodies{mine.body_a, mine.body_b};
  for (std::size_t k = 0; k < 2; ++k) {
    at[k] = by_body_.data() + by_body_start_[index(bodies[k])];
    end[k] = by_body_.data() + by_body_start_[index(bodies[k]) + 1];
  }
  while (at[0] != end[0] || at[1] != end[1]) {
    const bool first = at[1] == end[1] || (at[0] != end[0] && *at[0] <= *at[1]);
    const int other = first ? *at[0] : *at[1];
    Block sum = Block::Zero();
    for (std::size_t k = 0; k < 2; ++k) {
      if (at[k] == end[k] || *at[k] != other) continue;
      const bool is_a = rows_[index(other)].body_a == bodies[k];
      sum += block(arms_[2 * index(row) + k], arms_[2 * index(other) + (is_a ? 0 : 1)], bodies[k]);
      ++at[k];
    }
    W_.column.push_back(local_[index(other)]);
    W_.values.insert(W_.values.end(), sum.data(), sum.data() + D * D);
  }
  W_.start[index(local) + 1] = static_cast<int>(W_.column.size());
}

template <int D>
void BodyContacts<D>::gather(int island) {
  const int begin = start_[index(island)];
  const int count = start_[index(island) + 1] - begin;
  list_arms(island);
  W_.rows = count;
  W_.start.assign(index(count) + 1, 0);
  W_.column.clear();
  W_.values.clear();
  mu_.resize(index(count));
  if (q_.size() < D * count) q_.resize(D * count);
  if (r_.size() < D * count) r_.resize(D * count);
  for (int k = 0; k < count; ++k) {
    const int row = members_[index(begin + k)];
    gather_row(row, k);
    mu_[index(k)] = friction_[index(row)];
    q_.template segment<D>(D * k) = free_.template segment<D>(D * row);
    r_.template segment<D>(D * k) = impulses_.template segment<D>(D * row);
  }
  if (has_turns()) tie_turns(island);
  if (joints_.any()) condense(island);
  methods_.set_mean_change(0.0);  // an island knows nothing of others, nor of earlier steps
}

/// r by a method of solve_contacts, from where it is.
template <int D>
double BodyContacts<D>::ask(solve::ContactMethod method, double tolerance) {
  const Eigen::Index size = Eigen::Index{D} * W_.rows;
  problem::ContactProblem problem;
  problem.dim = D;
  problem.mu = mu_;
  problem.q = q_.head(size);
  problem.matrix = W_;
  using solve::ContactMethod;
  const bool is_slow = method == ContactMethod::Pivoting || method == ContactMethod::Admm;
  if (!solve::suits(method, problem) || (is_slow && W_.rows > kMany)) {
    return std::numeric_limits<double>::infinity();
  }
  solve::ContactSettings settings;
  settings.method = method;
  settings.tolerance = std::numeric_limits<double>::max();
  settings.scale_free_tolerance = tolerance;
  settings.judge_by_impulses = false;
  settings.max_iterations = W_.rows > kMany ? 2'000 : 20'000;
  settings.stop = stop_;
  Eigen::VectorXd r = r_.head(size);
  (void)solve::solve_contacts(problem, settings, r);  // what it has found is measured here
  r_.head(size) = r;
  return methods_.finish(r_);
}

/// Every other method, from what there is and from zero, until one is good enough; the best stays.
template <int D>
double BodyContacts<D>::insist() {
  using solve::ContactMethod;
  double least = std::numeric_limits<double>::infinity();
  bool is_first = true;
  for (const ContactMethod method :
       {ContactMethod::Auto, ContactMethod::Auto, ContactMethod::Pivoting,
        ContactMethod::InteriorPoint, ContactMethod::ProximalNewton, ContactMethod::Admm}) {
    if (has_turns() && method == ContactMethod::InteriorPoint) continue;  // W is unsymmetric
    if (!is_first) r_.head(D * W_.rows).setZero();
    is_first = false;
    const double found = ask(method, tolerance_);
    if (found < least) {
      least = found;
      best_ = r_;
    }
    if (least <= kEnough * tolerance_ || is_stopped()) break;
  }
  r_ = best_;
  return methods_.finish(r_);
}

/// The residual as the judge takes it: bodies that push each other are measured by their own
/// largest impulse, or what their free velocities ask for, not by that of a whole island.
template <int D>
double BodyContacts<D>::worst_part(int island) {
  const int begin = start_[index(island)];
  const auto row_at = [&](int k) -> const body::Row<D>& {
    return rows_[index(members_[index(begin + k)])];
  };
  const auto hub = [&](const body::Row<D>& row) {
    return world_.body(row.body_a).is_free() ? row.body_a : row.body_b;
  };
  const auto lifted = [&](int k, Vector u) {
    u[0] += mu_[index(k)] * u.template tail<D - 1>().norm();
    return Vector(methods_.rho(index(k)) * u);
  };
  for (int k = 0; k < W_.rows; ++k) {
    for (const int b : {row_at(k).body_a, row_at(k).body_b}) {
      parent_[index(b)] = b;
      scale_[index(b)] = 0.0;
    }
  }
  for (int k = 0; k < W_.rows; ++k) {
    const body::Row<D>& row = row_at(k);
    if (!(r_[D * k] > 0.0)) continue;
    if (!world_.body(row.body_a).is_free() || !world_.body(row.body_b).is_free()) continue;
    const int a = root(row.body_a);
    const int b = root(row.body_b);
    parent_[index(std::max(a, b))] = std::min(a, b);
  }
  if (joints_.any()) join_parts(island);
  for (int k = 0; k < W_.rows; ++k) {
    double& scale = scale_[index(root(hub(row_at(k))))];
    const Vector r = r_.template segment<D>(D * k);
    const Vector q = lifted(k, q_.template segment<D>(D * k));
    if (is_bounded(members_[index(begin + k)])) {  // what acts, not the bound
      scale = std::max({scale, r.template tail<D - 1>().norm(), q.template tail<D - 1>().norm()});
    } else {
      scale = std::max({scale, r.norm(), q.norm()});
    }
  }
  double worst = 0.0;
  for (int k = 0; k < W_.rows; ++k) {
    const Vector r = r_.template segment<D>(D * k);
    const Vector u = lifted(k, methods_.velocity().template segment<D>(D * k));
    const double off = (r - solve::projected<D>(mu_[index(k)], r - u)).norm() -
                       methods_.rho(index(k)) * noise_[index(members_[index(begin + k)])];
    if (off > 0.0) worst = std::max(worst, off / scale_[index(root(hub(row_at(k))))]);
  }
  return worst;
}

template <int D>
bool BodyContacts<D>::is_enough(int island, double residual) {
  if (level_ != certify::Level::Exact) return has(level_, island);
  return residual <= kEnough * tolerance_ && worst_part(island) <= kEnough * tolerance_;
}

/// From where r is along the pieces of the law, in the plane. Leaves r as it was where that fails.
template <int D>
bool BodyContacts<D>::follow_path(int island) {
  if constexpr (D == 2) {
    constexpr int kPieces = 60;
    trial_ = r_;
    if (path_.follow(r_, kPieces + W_.rows / 4) && is_enough(island, methods_.residual(r_))) {
      return true;
    }
    r_ = trial_;
    methods_.residual(r_);
  }
  return false;
}

/// Rounds of the associated law, and from where they lead sweeps, Newton's method and a path.
template <int D>
bool BodyContacts<D>::approach(int island) {
  if constexpr (D == 2) {
    constexpr int kRounds = 60;
    double next_try = 1e-3;
    for (int round = 0; round < kRounds && !is_stopped(); ++round) {
      if (!path_.approach(r_, 20 * (100 + W_.rows))) return false;
      const double residual = methods_.residual(r_);
      if (is_enough(island, residual)) return true;
      if (residual > next_try) continue;
      next_try = 0.1 * residual;
      trial_ = r_;
      kept_ = r_;
      const double then = methods_.improve(r_, 1, 0.1 * tolerance_);
      if (is_enough(island, then) || follow_path(island)) return true;
      r_ = kept_;
    }
  }
  return false;
}

/// Sweeps, Newton's method and paths. A path that finds its end does so in few pieces, others wind
/// about: so many starts, from parts of the impulses of the step before, and few pieces each.
template <int D>
bool BodyContacts<D>::improve_island(int island) {
  constexpr int kStarts = 64;
  constexpr int kKnown = 4;  // then `auto` is asked, and impulses are changed at random
  constexpr std::array<double, 6> kParts = {1.0, 0.8, 0.6, 1.0, 0.4, 0.2};
  constexpr std::array<int, 5> kSweeps = {5, 15, 2, 10, 30};
  const Eigen::Index size = Eigen::Index{D} * W_.rows;
  const bool is_brief =
      gives_up_ && W_.rows > (is_patient_ ? kPatient : kMany) && level_ == certify::Level::Exact;
  // The pieces of a path cost the more the more rows there are: where a level may be given up the
  // whole costs no more than with kMany of them.
  const double part = 1.0 * kMany / std::max(1, W_.rows);
  const double fewer = std::clamp(kStarts * part * part, 1.0 * kKnown, 1.0 * kStarts);
  const int starts = is_brief ? kKnown : gives_up_ ? static_cast<int>(fewer) : kStarts;
  first_ = r_.head(size);
  base::Random random(1);
  for (int k = 0; k < starts && !is_stopped(); ++k) {
    if (k > 1) r_.head(size) = kParts[index(k) % kParts.size()] * first_;
    const double shake = k >= kKnown ? 0.1 * (1 + k % 5) : 0.0;
    for (int i = 0; shake > 0.0 && i < W_.rows; ++i) {
      r_.template segment<D>(D * i) *= 1.0 + shake * random.normal();
    }
    double residual = methods_.improve(r_, kSweeps[index(k) % kSweeps.size()], 0.1 * tolerance_);
    if (residual <= kEnough * tolerance_ && !is_enough(island, residual)) {
      residual = methods_.finish(r_);
    }
    if (is_enough(island, residual) || follow_path(island)) return true;
    if (k == 0 && find_rest(island)) return true;
    if (k + 1 == kKnown && !is_brief &&
        (is_enough(island, ask(solve::ContactMethod::Auto, tolerance_)) || follow_path(island))) {
      return true;
    }
  }
  return starts == kStarts && !is_stopped() && approach(island);
}

/// Impulses that are rounding at contacts which open are none, where the rest does not need them.
template <int D>
void BodyContacts<D>::drop_rounding() {
  if (has_turns()) return;  // whose bounds hang on these impulses
  const double before = methods_.residual(r_);
  trial_ = r_;
  bool any = false;
  for (int k = 0; k < W_.rows; ++k) {
    const double opens = methods_.rho(index(k)) * methods_.velocity()[D * k];
    if (!(r_[D * k] > 0.0) || !(opens >= r_[D * k])) continue;
    r_.template segment<D>(D * k).setZero();
    any = true;
  }
  if (!any) return;
  const double then = methods_.residual(r_);
  if (then > std::max(1.1 * before, tolerance_)) r_ = trial_;
}

/// What rests is found again by a few sweeps and Newton's method; what moves needs more of them.
template <int D>
double BodyContacts<D>::solve_warm() {
  const double goal = 0.1 * tolerance_;
  const bool is_warm = (r_.head(D * W_.rows).array() != 0.0).any();
  double residual = std::numeric_limits<double>::infinity();
  for (const double first : {is_warm ? std::numeric_limits<double>::max() : goal, goal, goal}) {
    residual = methods_.solve(r_, first);
    if (residual > goal) residual = methods_.finish(r_);
    if (residual <= kEnough * tolerance_) break;
  }
  return residual;
}

template <int D>
void BodyContacts<D>::keep_impulses(int island) {
  const int begin = start_[index(island)];
  for (int k = 0; k < W_.rows; ++k) {
    impulses_.template segment<D>(D * members_[index(begin + k)]) = r_.template segment<D>(D * k);
  }
}

template <int D>
problem::Report BodyContacts<D>::solve_island(int island) {
  double residual = methods_.begin(r_);
  bool is_solved = false;
  bool is_held = keeps_still(island) || (W_.rows > kMany && find_rest(island));
  if (is_held) {
    is_solved = true;
  } else if constexpr (D == 2) {
    const bool rests = residual <= kRest * tolerance_ && is_enough(island, residual);
    is_solved = rests || improve_island(island);
    if (is_solved && !rests && methods_.residual(r_) > 0.1 * tolerance_) methods_.finish(r_);
  } else {
    residual = solve_warm();
    is_solved = is_enough(island, residual);
  }
  // What may rest does, whatever else the law allows.
  if (!is_held) is_held = (is_solved ? prefer_rest(island) : find_rest(island));
  if (is_held) {
    is_solved = true;
    residual = methods_.residual(r_);
  }
  const bool insists = !is_solved && !(gives_up_ && W_.rows > (is_patient_ ? kPatient : kMany));
  if (insists) {
    ++fallbacks_;
    residual = insist();
  }
  if constexpr (D == 2) {
    if (insists && !is_enough(island, residual)) {
      follow_path(island);
      residual = methods_.finish(r_);
    }
  }
  problem::Report report{
      .iterations = methods_.iterations(), .general = true, .fell_back = !is_solved};
  if (!is_held && share(island, report)) residual = methods_.finish(r_);
  if constexpr (D == 2) drop_rounding();
  keep_impulses(island);
  constexpr double kFair = 1e-8;   // the certificate's limit decides
  constexpr double kJudged = 8.0;  // times the tolerance: what the judge allows, and a little less
  const bool is_fair = gives_up_ ? worst_part(island) <= kJudged * tolerance_
                                 : residual <= std::max(kFair, tolerance_);
  if (!is_solved && !is_fair) report.status = problem::Status::IterationLimit;
  return report;
}

/// Of its free body with the lowest number: an island has no other's.
template <int D>
base::Looks::Part BodyContacts<D>::name_of(int island) const {
  int least = std::numeric_limits<int>::max();
  for (int k = start_[index(island)]; k < start_[index(island) + 1]; ++k) {
    const body::Row<D>& row = rows_[index(members_[index(k)])];
    for (const int body : {row.body_a, row.body_b}) {
      if (world_.body(body).is_free()) least = std::min(least, body);
    }
  }
  return static_cast<base::Looks::Part>(least);
}

/// Whether loads of an island may be shared in more than one way, so that friction is bound
/// otherwise, and nobody looks for that: its bodies are held by more impulses than they have ways
/// to move, and it has too many contacts, or rolling friction, or is not solved exactly.
template <int D>
bool BodyContacts<D>::is_unlooked(int island) {
  if (looks_ == nullptr) return false;
  int pushes = 0;
  int impulses = 0;  // components that push, and that rub
  int ways = 0;
  bool rubs = false;
  for (int k = start_[index(island)]; k < start_[index(island) + 1]; ++k) {
    const auto i = index(members_[index(k)]);
    if (i >= taken_ || !(impulses_[D * static_cast<Eigen::Index>(i)] > 0.0)) continue;
    ++pushes;
    impulses += friction_[i] > 0.0 ? D : 1;
    rubs = rubs || friction_[i] > 0.0;
    for (const int b : {rows_[i].body_a, rows_[i].body_b}) {
      if (!world_.body(b).is_free() || !(scale_[index(b)] >= 0.0)) continue;
      scale_[index(b)] = -1.0;  // counted
      ways += D + body::kSpins<D>;
    }
  }
  for (int k = start_[index(island)]; k < start_[index(island) + 1]; ++k) {
    const body::Row<D>& row = rows_[index(members_[index(k)])];
    for (const int b : {row.body_a, row.body_b}) scale_[index(b)] = 0.0;
  }
  const bool is_looked_at =
      level_ == certify::Level::Exact && !has_turns() &&
      start_[index(island) + 1] - start_[index(island)] <= solve::Sharing<D>::kMost;
  return rubs && pushes > 1 && impulses > ways && !is_looked_at;
}

/// Whether the impulses were replaced by those of equally stiff contacts.
template <int D>
bool BodyContacts<D>::share(int island, problem::Report& report) {
  if (looks_ == nullptr || has_turns()) return false;
  if (W_.rows < 2 || W_.rows > solve::Sharing<D>::kMost) return false;
  if (!sharing_) {
    sharing_ = std::make_unique<solve::Sharing<D>>(problem::LocalProblem{W_, q_, mu_});
  }
  const base::Looks::Part part = name_of(island);
  const bool asks = looks_->asks(part, sharing_->pattern(r_));
  if (!asks && !looks_->has_found(part)) return false;
  if (!sharing_->settle(part, asks, *looks_, r_, report)) return false;
  methods_.begin(r_);
  return true;
}

/// delta of a contact, less rounding, of impulses measured last.
template <int D>
double BodyContacts<D>::creep_of(int k, int row) const {
  const double rho = methods_.rho(index(k));
  const double mu = mu_[index(k)];
  const Vector r = r_.template segment<D>(D * k);
  Vector u = methods_.velocity().template segment<D>(D * k);
  u[0] += mu * u.template tail<D - 1>().norm();
  return (r - solve::projected<D>(mu, r - rho * u)).norm() / rho - noise_[index(row)];
}

/// Whether impulses, measured last, have a level below Level::Exact; for Level::Bounded with the
/// strict limit, that of bodies at rest.
template <int D>
bool BodyContacts<D>::has(certify::Level level, int island) {
  constexpr double kPart = 0.5;  // of what the judge allows
  constexpr double kTight = 1e-6;
  constexpr double kTightSpeed = 1e-8;
  const int begin = start_[index(island)];
  double squares = 0.0;
  double free = 0.0;
  double worst = 0.0;
  for (int k = 0; k < W_.rows; ++k) {
    const double off = creep_of(k, members_[index(begin + k)]);
    worst = std::max(worst, off);
    if (off > 0.0) squares += off * off;
    Vector lifted = q_.template segment<D>(D * k);
    lifted[0] += mu_[index(k)] * lifted.template tail<D - 1>().norm();
    free += lifted.squaredNorm();
  }
  if (level == certify::Level::Bounded) return worst <= kMostPart * speed_;
  return squares <= kPart * kPart * kTightSpeed * kTightSpeed * free &&
         worst_part(island) <= kPart * kTight;
}

/// Normal velocities of an island, of impulses measured last.
template <int D>
void BodyContacts<D>::find_normals(int island) {
  const int count = start_[index(island) + 1] - start_[index(island)];
  normal_.resize(index(count));
  for (int k = 0; k < count; ++k) normal_[index(k)] = methods_.velocity()[D * k];
}

/// How fast contacts may creep, by group: bodies that touch at the middle or at the end of the step
/// have the limit of the fastest approach among them. Of normal velocities.
template <int D>
void BodyContacts<D>::find_limits(int island) {
  const int begin = start_[index(island)];
  const int count = start_[index(island) + 1] - begin;
  const auto each = [&](auto&& work) {
    for (int k = 0; k < count; ++k) work(k, members_[index(begin + k)]);
  };
  const auto is_free = [&](int b) { return world_.body(b).is_free(); };
  const auto group = [&](int row) {
    const body::Row<D>& its = rows_[index(row)];
    return index(root(is_free(its.body_a) ? its.body_a : its.body_b));
  };
  const auto closes = [&](int k, int row) { return normal_[index(k)] <= closes_[index(row)]; };
  each([&](int, int row) {
    for (const int b : {rows_[index(row)].body_a, rows_[index(row)].body_b}) {
      parent_[index(b)] = b;
      scale_[index(b)] = 0.0;
    }
  });
  each([&](int k, int row) {
    const body::Row<D>& its = rows_[index(row)];
    if (!is_free(its.body_a) || !is_free(its.body_b) || !closes(k, row)) return;
    const int a = root(its.body_a);
    const int b = root(its.body_b);
    parent_[index(std::max(a, b))] = std::min(a, b);
  });
  each([&](int k, int row) {
    if (!closes(k, row)) return;
    double& fastest = scale_[group(row)];
    fastest = std::max(fastest, approach_[index(row)]);
  });
  limit_.resize(index(count));
  each([&](int k, int row) {  // joints have the strict one
    const double part = index(row) < first_joint_ ? part_ : 0.0;
    limit_[index(k)] = std::max(speed_, part * scale_[group(row)]);
  });
}

/// The largest creep speed beside the limit of its group, of impulses measured last.
template <int D>
double BodyContacts<D>::creep(int island) {
  find_normals(island);
  find_limits(island);
  const int begin = start_[index(island)];
  double worst = 0.0;
  for (int k = 0; k < W_.rows; ++k) {
    worst = std::max(worst, creep_of(k, members_[index(begin + k)]) / limit_[index(k)]);
  }
  return worst;
}

/// Keeps impulses, measured last, where they creep less than what was found before, beside the
/// limits of their groups; whether they creep within the strict limit.
template <int D>
bool BodyContacts<D>::keep_nearest(int island) {
  creep_ = creep(island);
  if (creep_ < least_) {
    least_ = creep_;
    nearest_ = r_;
  }
  return has(certify::Level::Bounded, island);
}

/// How many sweeps cost as much as a run of interior points: counted in operations, so that no
/// choice depends on the clock.
template <int D>
double BodyContacts<D>::price_inside() const {
  constexpr double kTypicalSteps = 20.0;
  const double sweep = 3.5 * static_cast<double>(W_.blocks()) + 30.0 * W_.rows;
  return kTypicalSteps * (18.0 * inside_.work() + 1000.0 * W_.rows) / sweep;
}

/// Sweeps to the strict limit as long as they pay, looked at every so often; where they do not, as
/// many as are `worth` it all the same.
template <int D>
bool BodyContacts<D>::sweep_on(int island, int sweeps, double worth) {
  constexpr int kMostSweeps = 4000;
  constexpr int kLook = 400;  // sweeps that must have paid
  constexpr double kPays = 0.7;
  double before = std::numeric_limits<double>::infinity();
  double now = before;
  for (int k = sweeps; k <= kMostSweeps && !is_stopped(); k += sweeps) {
    methods_.improve(r_, sweeps, std::numeric_limits<double>::max());
    if (keep_nearest(island)) return true;
    now = std::min(now, creep_);
    if (k % kLook != 0) continue;
    const bool is_worth = k < worth && !(least_ <= kMostPart);
    if (!is_worth && !(now < kPays * before)) return false;
    before = now;
  }
  return false;
}

/// Interior points from what sweeps found, with products of level^2 to begin with. Sweeps go on
/// from wherever they end.
template <int D>
bool BodyContacts<D>::go_inside(int island, double level) {
  constexpr int kMostSteps = 40;
  constexpr double kPart = 0.5;  // of the limit
  inside_.start_near(r_, level);
  (void)inside_.finish(kPart * speed_, kMostSteps);
  if (!inside_.impulses().allFinite()) return false;
  r_.head(D * W_.rows) = inside_.impulses();
  methods_.residual(r_);
  return keep_nearest(island);
}

/// Sweeps and interior points in turn, each from what the other found, to the strict limit; where
/// sweeps stall that of the group is enough, of the nearest of all.
template <int D>
bool BodyContacts<D>::alternate(int island) {
  constexpr std::array<double, 6> kProducts = {1e-2, 1e-1, 1.0, 1e-3, 1e-1, 10.0};
  constexpr int kFirst = 200;
  constexpr int kNext = 25;
  inside_.refresh();
  if (sweep_on(island, kFirst, price_inside())) return true;
  for (const double level : kProducts) {
    // Interior points want W as its own mirror image.
    if (least_ <= kMostPart || !std::isfinite(inside_.work()) || has_turns()) break;
    if (is_stopped()) break;
    if (go_inside(island, level) || sweep_on(island, kNext, price_inside())) return true;
  }
  if (std::isfinite(least_)) r_ = nearest_;
  methods_.residual(r_);
  return least_ <= kMostPart;
}

/// Level::Bounded, where a few sweeps and Newton's method did not find it.
template <int D>
bool BodyContacts<D>::bound(int island) {
  constexpr int kRounds = 20;
  constexpr int kSweeps = 200;
  if (W_.rows > kMany && alternate(island)) return true;
  for (int k = 0; W_.rows <= kMany && k < kRounds && !is_stopped(); ++k) {
    methods_.improve(r_, kSweeps, std::numeric_limits<double>::max());
    if (keep_nearest(island)) return true;
  }
  return sweep_slowly(island);
}

/// Rows that part have no impulse, where the rest stays near without it.
template <int D>
void BodyContacts<D>::drop_idle(int island) {
  if (has_turns()) return;
  bool any = false;
  trial_ = r_;
  for (int k = 0; k < W_.rows; ++k) {
    const double parts = methods_.rho(index(k)) * methods_.velocity()[D * k];
    if (!(r_[D * k] > 0.0) || !(parts >= r_[D * k])) continue;
    r_.template segment<D>(D * k).setZero();
    any = true;
  }
  if (!any) return;
  methods_.residual(r_);
  if (!has(level_, island)) r_ = trial_;
}

/// Sweeps that go a part of their way only: whole ones may go round in circles.
template <int D>
bool BodyContacts<D>::sweep_slowly(int island) {
  constexpr int kRounds = 450;
  constexpr int kSweeps = 20;
  const Eigen::Index size = Eigen::Index{D} * W_.rows;
  for (int round = 0; round < kRounds && !is_stopped(); ++round) {
    const double part = round < kRounds / 3 ? 0.5 : (round < 2 * kRounds / 3 ? 0.2 : 0.07);
    for (int k = 0; k < kSweeps; ++k) {
      trial_ = r_;
      methods_.improve(r_, 1, std::numeric_limits<double>::max());
      r_.head(size) = (1.0 - part) * trial_.head(size) + part * r_.head(size);
    }
    methods_.residual(r_);
    if (has(level_, island)) return true;
  }
  return false;
}

/// An island whose bodies hardly move: what the exact law would hold must not begin to creep
/// because the level allows it, so the exact law is tried first. Leaves r as it was where that
/// fails.
template <int D>
bool BodyContacts<D>::holds_still(int island) {
  if (!is_still(island)) return false;
  constexpr std::array<int, 4> kSweeps = {5, 20, 50, 100};
  const certify::Level level = level_;
  level_ = certify::Level::Exact;
  const Eigen::VectorXd before = r_.head(D * W_.rows);
  bool holds = keeps_still(island) || (W_.rows > kMany && find_rest(island));
  for (std::size_t k = 0; !holds && k < kSweeps.size(); ++k) {
    double residual = methods_.improve(r_, kSweeps[k], 0.1 * tolerance_);
    if (residual <= kEnough * tolerance_ && !is_enough(island, residual)) {
      residual = methods_.finish(r_);
    }
    holds = is_enough(island, residual);
    const bool is_first = k == 0;
    if (W_.rows > kPatient) {  // a path has too many pieces, and each is a factorisation
      holds = holds || (is_first && find_rest(island));
    } else {
      holds = holds || follow_path(island) || (is_first && find_rest(island));
    }
  }
  if (!holds && W_.rows <= kPatient) holds = improve_island(island);
  if (holds) prefer_rest(island);
  level_ = level;
  if (!holds) r_.head(D * W_.rows) = before;
  methods_.residual(r_);
  return holds;
}

/// Sweeps and Newton's method, then `auto`, as long as the level asks for them. What rests is found
/// exactly, so that it stays.
template <int D>
problem::Report BodyContacts<D>::solve_near(int island) {
  using certify::Level;
  constexpr std::array<int, 4> kSweeps = {5, 20, 50, 100};
  const double residual = methods_.begin(r_);
  least_ = std::numeric_limits<double>::infinity();
  bool is_solved = residual <= kRest * tolerance_ && worst_part(island) <= kEnough * tolerance_;
  if (is_solved) {
    prefer_rest(island);
  } else {
    is_solved = holds_still(island);
  }
  for (std::size_t k = 0; !is_solved && k < kSweeps.size(); ++k) {
    methods_.improve(r_, kSweeps[k], 0.1 * tolerance_);
    methods_.residual(r_);
    is_solved = has(Level::Tight, island) || (hurries_ && has(level_, island));
  }
  const bool fell_back = !is_solved;
  if (!is_solved) is_solved = has(level_, island);
  if (!is_solved && level_ == Level::Bounded) is_solved = bound(island);
  if (!is_solved) {
    ++fallbacks_;
    trial_ = r_;
    const double before = methods_.residual(r_);
    const double wanted = level_ == Level::Bounded ? 1e-6 : 1e-9;
    if (ask(solve::ContactMethod::Auto, wanted) > before) r_ = trial_;
    methods_.residual(r_);
    is_solved = level_ == Level::Bounded ? keep_nearest(island) : has(level_, island);
  }
  if (!is_solved && level_ == Level::Bounded && !(least_ <= kMostPart)) {
    is_solved = improve_island(island);
    if (!is_solved) insist();
    methods_.residual(r_);
    is_solved = keep_nearest(island);
  }
  if (!is_solved && least_ <= kMostPart) {  // no better than its group may be
    r_ = nearest_;
    methods_.residual(r_);
    is_solved = true;
  }
  if (is_solved) drop_idle(island);
  keep_impulses(island);
  return {.status = is_solved ? problem::Status::Solved : problem::Status::IterationLimit,
          .iterations = methods_.iterations(),
          .general = true,
          .fell_back = fell_back};
}

/// Whether an island is one for sweeps over bodies: many discs or spheres, at a stated
/// Level::Bounded.
template <int D>
bool BodyContacts<D>::is_for_rounds(int island) const {
  const int count = start_[index(island) + 1] - start_[index(island)];
  return hurries_ && level_ == certify::Level::Bounded && !joints_.any() && !has_turns() &&
         count > (D == 2 ? kMany : kPatient);
}

/// Level::Bounded of many discs or spheres, by sweeps over bodies, up to the strict limit of creep
/// speeds as the judge measures them. Where most rows rest some sweeps are made in any case: what
/// rests comes nearer to the exact law with every step, and so to rest.
template <int D>
bool BodyContacts<D>::sweep_round(int island) {
  if (!is_for_rounds(island)) return false;
  const auto begin = index(start_[index(island)]);
  const auto count = index(start_[index(island) + 1]) - begin;
  const std::span<const int> members(members_.data() + begin, count);
  const typename RoundSweeps<D>::Problem problem{world_, rows_,   members,   free_, friction_,
                                                 noise_, places_, executor_, load_};
  if (!round_.take(problem, impulses_)) return false;
  const bool is_held = hold_round(island, problem);
  std::size_t resting = 0;
  for (const int row : members) resting += rests_[index(row)] != 0 ? 1U : 0U;
  const int least = is_held || is_again_ || 2 * resting < count ? 0 : kRestSweeps;
  bool is_enough = false;
  const typename RoundSweeps<D>::Size size = sweep_until(island, least, is_enough);
  round_.give(problem, impulses_);
  const bool is_exact = size.distance <= kRest * tolerance_ * size.impulse;
  if (!is_enough) return false;
  if (!is_held && !is_exact && is_seldom_ && !is_again_ && 2 * resting >= count) stop_creep(island);
  return true;
}

/// Impulses that hold many discs or spheres which hardly move, where those of the step before do
/// not.
template <int D>
bool BodyContacts<D>::hold_round(int island, const typename RoundSweeps<D>::Problem& problem) {
  if (is_again_ || !may_rest(island)) return false;
  const auto is_exact = [&](double most) {
    const typename RoundSweeps<D>::Size size = round_.measure();
    return size.distance <= most * tolerance_ * size.impulse;
  };
  if (is_exact(kRest)) return false;
  list_arms(island);
  if (keeps_still(island)) return true;
  if (!hold(island)) return false;
  round_.take(problem, impulses_);
  return is_exact(kEnough);
}

/// Whether what sweeps found creeps within the limits of its groups.
template <int D>
bool BodyContacts<D>::is_within_groups(int island) {
  normal_.resize(round_.count());
  creeps_.resize(round_.count());
  for (std::size_t k = 0; k < round_.count(); ++k) {
    const typename RoundSweeps<D>::Seen one = round_.seen(k);
    const auto at = index(local_[index(one.row)]);
    normal_[at] = one.normal;
    creeps_[at] = one.creep;
  }
  find_limits(island);
  for (std::size_t k = 0; k < creeps_.size(); ++k) {
    if (!(creeps_[k] <= kMostPart * limit_[k])) return false;
  }
  return true;
}

/// Sweeps until rows creep within the strict limit, `least` at the least, and from kPatience on
/// within those of their groups; what they are then. Those that go far beyond leave every row a
/// little off in the end, which the last ones of each look take away.
template <int D>
typename RoundSweeps<D>::Size BodyContacts<D>::sweep_until(int island, int least, bool& is_enough) {
  constexpr int kPatience = 400;
  constexpr int kMost = 16000;
  constexpr int kLook = 40;       // sweeps from one measure to the next
  constexpr int kFar = 35;        // of them, that go far beyond
  constexpr int kNoted = 4;       // sweeps over what was noted by one over all
  constexpr int kLong = 2000;     // sweeps after which they go otherwise, those that slip less far
  constexpr double kQuiet = 1.0;  // of the limit
  using Pace = typename RoundSweeps<D>::Pace;
  constexpr std::array<Pace, 4> kBeyond = {{{1.8, 1.1}, {1.6, 0.9}, {1.8, 0.7}, {1.4, 0.5}}};
  const double most = (is_again_ ? kMostAgain : kMostPart) * speed_;
  typename RoundSweeps<D>::Size size = round_.measure();
  for (int k = 0; k < kMost && (k < least || !(size.creep <= most)); k += kLook) {
    if (is_stopped()) break;
    if (size.distance <= kRest * tolerance_ * size.impulse) break;  // exact
    const Pace& beyond = kBeyond[index(k / kLong) % kBeyond.size()];
    const Pace own = {1.0, std::min(1.0, beyond.slip)};
    const double quiet = kQuiet * std::min(most, size.creep);
    for (int j = 0; j < kLook; j += 1 + kNoted) {
      const Pace& pace = j < kFar ? beyond : own;
      round_.sweep(pace, quiet);
      for (int i = 0; i < kNoted; ++i) round_.sweep_noted(pace);
    }
    size = round_.measure();
    if (k >= kPatience && part_ > 0.0 && is_within_groups(island)) {
      is_enough = true;
      return size;
    }
  }
  is_enough = size.creep <= most;
  return size;
}

/// An island most of whose rows rest, and which creeps within its limit: now and then Newton's
/// method looks for the impulses that hold it exactly, which the next steps then begin with.
template <int D>
void BodyContacts<D>::stop_creep(int island) {
  constexpr int kSweeps = 5;
  gather(island);
  methods_.begin(r_);
  methods_.improve(r_, kSweeps, 0.1 * tolerance_);
  methods_.residual(r_);
  if (has(certify::Level::Tight, island)) keep_impulses(island);
}

template <int D>
problem::Report BodyContacts<D>::solve(certify::Level level, double speed, double part) {
  level_ = level;
  speed_ = speed;
  part_ = part;
  problem::Report all;
  all.general = true;
  for (int k = 0; k < islands(); ++k) {
    if (sweep_round(k)) {
      all.unlooked = all.unlooked || is_unlooked(k);
      continue;
    }
    gather(k);
    const problem::Report one = level == certify::Level::Exact ? solve_island(k) : solve_near(k);
    all.iterations += one.iterations;
    all.fell_back = all.fell_back || one.fell_back;
    all.unique = all.unique && one.unique;
    all.shared = all.shared || one.shared;
    all.unlooked = all.unlooked || is_unlooked(k);
    if (all.status == problem::Status::Solved) all.status = one.status;
    if ((gives_up_ || is_stopped()) && all.status != problem::Status::Solved) break;
  }
  if (has_turns()) finish_turns();
  return all;
}

template <int D>
void BodyContacts<D>::apply(std::span<const body::Row<D>> rows,
                            std::vector<body::Motion<D>>& motions) const {
  if (joints_.any()) apply_joints(motions);
  if (has_turns()) apply_turns(motions);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const body::Vec<D> r = impulses_.template segment<D>(D * static_cast<Eigen::Index>(i));
    if ((r.array() == 0.0).all()) continue;
    const body::Vec<D> p = body::in_space(rows[i], r);
    const auto give = [&](int b, const body::Vec<D>& arm, double sign) {
      const body::Body<D>& body = world_.body(b);
      if (!body.is_free()) return;
      motions[index(b)].v += sign * p / body.mass;
      motions[index(b)].spin += ease_[index(b)](sign * body::moment(arm, p));
    };
    give(rows[i].body_a, rows[i].arm_a, 1.0);
    give(rows[i].body_b, rows[i].arm_b, -1.0);
  }
}

template class BodyContacts<2>;
template class BodyContacts<3>;

}  // namespace ricochet::step
