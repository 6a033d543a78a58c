#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "ricochet/base/index.h"
#include "ricochet/solve/contact_measure.h"
#include "ricochet/step/body_contacts.h"

/// The part of BodyContacts that solves an island to the levels below Level::Exact.
namespace ricochet::step {

using base::index;

/// Sweeps and Newton's method, then `auto`, as long as the level asks for them. What rests is found
/// exactly, so that it stays.
template <int D>
problem::Report BodyContacts<D>::solve_near(int island) {
  using certify::Level;
  constexpr std::array<int, 4> kSweeps = {5, 20, 50, 100};
  const double residual = methods_.begin(r_);
  least_ = std::numeric_limits<double>::infinity();
  bool is_solved = residual <= kNoWork * tolerance_ && worst_part(island) <= kEnough * tolerance_;
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

/// An island whose bodies hardly move: what the exact law would hold must not begin to creep
/// because the level allows it, so the exact law is tried first. Leaves r as it was where that
/// fails.
template <int D>
bool BodyContacts<D>::holds_still(int island) {
  if (!is_still(island)) return find_rest(island);
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

/// How many sweeps cost as much as a run of interior points: counted in operations, so that no
/// choice depends on the clock.
template <int D>
double BodyContacts<D>::price_inside() const {
  constexpr double kTypicalSteps = 20.0;
  const double sweep = 3.5 * static_cast<double>(W_.blocks()) + 30.0 * W_.rows;
  return kTypicalSteps * (18.0 * inside_.work() + 1000.0 * W_.rows) / sweep;
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

#define RICOCHET_INSTANTIATE(D)                              \
  template problem::Report BodyContacts<D>::solve_near(int); \
  template bool BodyContacts<D>::holds_still(int);           \
  template bool BodyContacts<D>::bound(int);                 \
  template bool BodyContacts<D>::alternate(int);             \
  template bool BodyContacts<D>::sweep_on(int, int, double); \
  template bool BodyContacts<D>::go_inside(int, double);     \
  template bool BodyContacts<D>::sweep_slowly(int);          \
  template double BodyContacts<D>::price_inside() const;     \
  template void BodyContacts<D>::drop_idle(int);             \
  template bool BodyContacts<D>::has(certify::Level, int);   \
  template double BodyContacts<D>::creep(int);               \
  template bool BodyContacts<D>::keep_nearest(int);          \
  template double BodyContacts<D>::creep_of(int, int) const; \
  template void BodyContacts<D>::find_normals(int);          \
  template void BodyContacts<D>::find_limits(int);
RICOCHET_INSTANTIATE(2)
RICOCHET_INSTANTIATE(3)
#undef RICOCHET_INSTANTIATE

}  // namespace ricochet::step
