#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "ricochet/base/index.h"
#include "ricochet/base/random.h"
#include "ricochet/solve/contact.h"
#include "ricochet/solve/contact_measure.h"
#include "ricochet/step/body_contacts.h"

/// The part of BodyContacts that solves an island to Level::Exact.
namespace ricochet::step {

using base::index;

template <int D>
problem::Report BodyContacts<D>::solve_island(int island) {
  double residual = methods_.begin(r_);
  bool is_solved = false;
  bool is_held = keeps_still(island) || (W_.rows > kMany && find_rest(island));
  if (is_held) {
    is_solved = true;
  } else if constexpr (D == 2) {
    const bool rests = residual <= kNoWork * tolerance_ && is_enough(island, residual);
    is_solved = rests || improve_island(island);
    if (is_solved && !rests && methods_.residual(r_) > 0.1 * tolerance_) methods_.finish(r_);
  } else {
    residual = solve_warm();
    is_solved = is_enough(island, residual);
    if (!is_solved && has_lawful()) {
      residual = methods_.finish(r_, steps_at_once());
      is_solved = is_enough(island, residual);
    }
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
      residual = methods_.finish(r_, steps_at_once());
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

template <int D>
bool BodyContacts<D>::is_enough(int island, double residual) {
  if (level_ != certify::Level::Exact) return has(level_, island);
  return residual <= kEnough * tolerance_ && worst_part(island) <= kEnough * tolerance_;
}

/// The residual as the judge takes it: bodies that push each other are measured by their own
/// largest impulse, or what their free velocities ask for, not by that of a whole island.
template <int D>
double BodyContacts<D>::worst_part(int island) {
  const int begin = start_[index(island)];
  unite_parts(island);
  find_part_scales(island);
  double worst = 0.0;
  for (int k = 0; k < W_.rows; ++k) {
    const auto row = index(members_[index(begin + k)]);
    const double scale = scale_[index(root(hub(rows_[row])))];
    const Vector r = r_.template segment<D>(D * k);
    const Vector u =
        lifted(k, methods_.velocity().template segment<D>(D * k)) * methods_.rho(index(k));
    const double off = (r - solve::projected<D>(mu_[index(k)], r - u)).norm();
    if (row >= first_joint_) {
      worst = std::max(worst, joint_residual(k, static_cast<int>(row), off, scale));
      continue;
    }
    const double defect = off - methods_.rho(index(k)) * noise_[row];
    if (defect > 0.0) worst = std::max(worst, defect / scale);
  }
  return worst;
}

/// Bodies that push each other, or are joined, have one root.
template <int D>
void BodyContacts<D>::unite_parts(int island) {
  const int begin = start_[index(island)];
  for (int k = 0; k < W_.rows; ++k) {
    const body::Row<D>& row = rows_[index(members_[index(begin + k)])];
    for (const int b : {row.body_a, row.body_b}) {
      parent_[index(b)] = b;
      scale_[index(b)] = 0.0;
    }
  }
  for (int k = 0; k < W_.rows; ++k) {
    const body::Row<D>& row = rows_[index(members_[index(begin + k)])];
    if (!(r_[D * k] > 0.0)) continue;
    if (!world_.body(row.body_a).is_free() || !world_.body(row.body_b).is_free()) continue;
    const int a = root(row.body_a);
    const int b = root(row.body_b);
    parent_[index(std::max(a, b))] = std::min(a, b);
  }
  if (joints_.any()) join_parts(island);
}

/// By root, what its residuals are measured by. Of joints only what acts counts: neither bounds nor
/// the speeds that motors aim at say how large the impulses of contacts are.
template <int D>
void BodyContacts<D>::find_part_scales(int island) {
  const int begin = start_[index(island)];
  for (int k = 0; k < W_.rows; ++k) {
    const int row = members_[index(begin + k)];
    double& scale = scale_[index(root(hub(rows_[index(row)])))];
    const Vector r = r_.template segment<D>(D * k);
    if (is_bounded(row)) {
      scale = std::max(scale, r.template tail<D - 1>().norm());
    } else if (index(row) >= first_joint_) {
      scale = std::max(scale, r.norm());
    } else {
      const Vector q = lifted(k, q_.template segment<D>(D * k));
      const bool has_joints = joints_.any() && index(row) < taken_;
      const double rho = has_joints ? 1.0 / lone_[index(k)] : methods_.rho(index(k));
      scale = std::max({scale, r.norm(), Vector(rho * q).norm()});
    }
  }
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

#define RICOCHET_INSTANTIATE(D)                                       \
  template problem::Report BodyContacts<D>::solve_island(int);        \
  template double BodyContacts<D>::solve_warm();                      \
  template bool BodyContacts<D>::improve_island(int);                 \
  template bool BodyContacts<D>::follow_path(int);                    \
  template bool BodyContacts<D>::approach(int);                       \
  template double BodyContacts<D>::ask(solve::ContactMethod, double); \
  template double BodyContacts<D>::insist();                          \
  template bool BodyContacts<D>::is_enough(int, double);              \
  template double BodyContacts<D>::worst_part(int);                   \
  template void BodyContacts<D>::unite_parts(int);                    \
  template void BodyContacts<D>::find_part_scales(int);               \
  template void BodyContacts<D>::drop_rounding();
RICOCHET_INSTANTIATE(2)
RICOCHET_INSTANTIATE(3)
#undef RICOCHET_INSTANTIATE

}  // namespace ricochet::step
