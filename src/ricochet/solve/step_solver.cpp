#include "ricochet/solve/step_solver.h"

#include <algorithm>
#include <cmath>

#include "ricochet/base/index.h"
#include "ricochet/solve/friction.h"
#include "ricochet/solve/single_contact.h"
#include "ricochet/solve/step_contacts.h"

namespace ricochet::solve {
namespace {

using base::index;
using problem::Grip;
using problem::Report;
using problem::Status;

/// Whether A may be kept with its zeros: few rows or few coordinates, or M does the same.
bool fits_densely(const problem::StepProblem& problem) {
  return std::min(problem.rows(), problem.dofs) <= StepSolver::kDense ||
         !problem.metric.is_diagonal();
}

bool is_long(const problem::StepProblem& problem) {
  return std::min(problem.rows(), problem.dofs) > StepSolver::kShort &&
         problem.metric.is_diagonal();
}

}  // namespace

StepSolver::StepSolver()
    : direct_(std::make_unique<FrictionSolver>()), general_(std::make_unique<StepContacts>()) {}
StepSolver::~StepSolver() = default;

void StepSolver::reserve(int dofs, int contacts) {
  if (dofs > kMany) return;
  const int rows = std::min(contacts, kDense);
  whole_.fit(rows);
  whole_.grips.reserve(index(rows));
  dense_.resize(dofs, rows);
  unilateral_.reserve(dofs, rows);
  least_norm_.reserve(dofs, rows);
  motion_.resize(dofs);
  scratch_.resize(dofs);
}

Report StepSolver::solve(const Problem& problem, problem::WarmStart& warm) {
  whole_.fit(problem.rows());
  const bool may_share = problem.count() > 1 && problem.has_friction();
  if (may_share) warm.looks.begin();
  if (!problem.metric.is_diagonal()) return solve_together(problem, warm, whole_);
  if (problem.has_friction()) {
    // Friction without a contact may be of any size beside the others: each part to its own scale.
    const bool has_bounds = problem.metric.own() < problem.dofs;
    if (problem.rows() > kFew || has_bounds) return solve_parts(problem, warm);
  } else if (!fits_densely(problem)) {
    const Report report = solve_banded(problem, whole_);
    return report.status == Status::Solved ? report : solve_parts(problem, warm);
  }
  if (problem.dofs <= kMany) return solve_together(problem, warm, whole_);
  islands_.keep_together(problem);
  return solve_together(islands_.gather(problem, 0), warm, whole_);
}

Report StepSolver::solve_together(const Problem& problem, problem::WarmStart& warm, Found& found) {
  found.fit(problem.rows());
  const bool has_friction = problem.has_friction();
  if (!has_friction && (is_long(problem) || &found == &part_)) {  // parts of any size, in one room
    const Report report = solve_banded(problem, found);
    if (report.status == Status::Solved) return report;
  }
  if (has_friction || !fits_densely(problem)) return solve_frictional(problem, warm, found);
  take_dense(problem);
  const Report report = unilateral_.solve(dense_);
  if (report.status == Status::IterationLimit) return solve_frictional(problem, warm, found);
  for (int k = 0; k < problem.rows(); ++k) found.impulses[k] = unilateral_.impulse(k);
  found.read_grips(problem);
  return report;
}

/// Not solved where gradients depend on each other, or the envelope is wide: other methods tell
/// what they allow.
Report StepSolver::solve_banded(const Problem& problem, Found& found) {
  const Report report = banded_.solve(problem);
  if (report.status != Status::Solved) return report;
  for (int k = 0; k < problem.rows(); ++k) found.impulses[k] = banded_.impulse(k);
  found.read_grips(problem);
  return report;
}

void StepSolver::take_dense(const Problem& problem) {
  dense_.resize(problem.dofs, problem.rows());
  dense_.held = problem.held;
  for (int k = 0; k < problem.rows(); ++k) {
    problem.column(k, dense_.factor.col(k), scratch_);
    dense_.free[k] = problem.free[index(k)];
    dense_.noise[k] = problem.noise[index(k)];
  }
}

/// More than two contacts go to the general solver. Of few rows the dense equations give the last
/// digits, and what sweeps and sparse Newton steps do not solve; `auto` is asked last.
Report StepSolver::solve_frictional(const Problem& problem, problem::WarmStart& warm,
                                    Found& found) {
  const bool is_small = problem.contact_rows() <= kFew;
  const bool is_general = (problem.count() > 2 || !is_small) && general_->take(problem);
  if (is_general) {
    if (!is_small) return solve_generally(problem, warm, found);
    const Report report = general_->attempt(problem, warm);
    if (report.status == Status::Solved) {
      constexpr double kExact = 1e-14;
      const bool is_exact = general_->residual() <= kExact;
      const bool is_finished = !is_exact && direct_->finish(problem, general_->impulses());
      is_finished ? found.take(problem, *direct_) : found.take(problem, *general_);
      return report;
    }
  }
  const Report report = direct_->solve(problem);
  found.take(problem, *direct_);
  if (report.status == Status::Solved) {
    warm.entries.clear();  // the next solve begins at zero: these were found elsewhere
    return reconsider(problem, report, warm, found);
  }
  const bool gives_up = is_general || report.status == Status::IterationLimit;
  return gives_up && general_->take(problem) ? solve_generally(problem, warm, found) : report;
}

/// Of a direct solution: whether its contacts share their load in the only way.
Report StepSolver::reconsider(const Problem& problem, const Report& report,
                              problem::WarmStart& warm, Found& found) {
  Report now = report;
  if (problem.count() < 2) return now;
  const base::Looks::Part part = StepContacts::part_of(problem);
  const bool asks = warm.looks.asks(part, StepContacts::pattern_of(found.grips));
  if ((!asks && !warm.looks.has_found(part)) || !general_->take(problem)) return now;
  if (!general_->reconsider(problem, found.impulses, asks, warm, now)) return now;
  const bool is_finished = direct_->finish(problem, general_->impulses());
  is_finished ? found.take(problem, *direct_) : found.take(problem, *general_);
  return now;
}

Report StepSolver::solve_generally(const Problem& problem, problem::WarmStart& warm, Found& found) {
  const Report report = general_->solve(problem, warm);
  if (report.status != Status::Degenerate) found.take(problem, *general_);
  return report;
}

Report StepSolver::solve_parts(const Problem& problem, problem::WarmStart& warm) {
  const int parts = islands_.split(problem);
  if (parts == 1) return solve_together(problem, warm, whole_);
  whole_.impulses.head(problem.rows()).setZero();
  whole_.grips.assign(problem.contacts.size(), Grip::Free);
  next_warm_.entries.clear();
  Report all;
  for (int part = 0; part < parts && all.status == Status::Solved; ++part) {
    const Report report = solve_part(problem, part, warm);
    all.status = report.status;
    all.iterations = std::max(all.iterations, report.iterations);
    all.unique = all.unique && report.unique;
    all.shared = all.shared || report.shared;
    all.unlooked = all.unlooked || report.unlooked;
    all.general = all.general || report.general;
    all.fell_back = all.fell_back || report.fell_back;
  }
  next_warm_.sort();
  warm.entries.swap(next_warm_.entries);
  return all;
}

/// One part, from its own last impulses; those it has now go to next_warm_.
Report StepSolver::solve_part(const Problem& problem, int part, problem::WarmStart& warm) {
  if (islands_.contacts(part) == 1 && islands_.joints(part) == 0) {
    if (solve_single(problem, islands_.contact(part, 0))) return {};
  }
  const Problem& mine = islands_.gather(problem, part);
  part_warm_.entries.clear();
  for (const Problem::Contact& contact : mine.contacts) {
    if (const auto* entry = warm.find(contact.key)) part_warm_.entries.push_back(*entry);
  }
  part_warm_.sort();
  part_warm_.heaviest = warm.heaviest;
  part_warm_.looks = warm.looks;
  part_warm_.mean_change = warm.mean_change;
  const Report report = solve_together(mine, part_warm_, part_);
  warm.heaviest = part_warm_.heaviest;
  warm.looks.parts.swap(part_warm_.looks.parts);
  warm.looks.changes = part_warm_.looks.changes;
  warm.mean_change = part_warm_.mean_change;
  next_warm_.entries.insert(next_warm_.entries.end(), part_warm_.entries.begin(),
                            part_warm_.entries.end());
  int row = 0;
  for (int k = 0; k < mine.count(); ++k) {
    const int contact = islands_.contact(part, k);
    const Problem::Contact& given = problem.contacts[index(contact)];
    whole_.grips[index(contact)] = part_.grips[index(k)];
    for (int j = 0; j <= given.slips; ++j) whole_.impulses[given.first + j] = part_.impulses[row++];
  }
  for (int k = 0; k < mine.held; ++k) {
    whole_.impulses[problem.contact_rows() + islands_.joint(part, k)] = part_.impulses[row++];
  }
  return report;
}

/// A contact that nothing else feels, in closed form. False where that is not to be had.
bool StepSolver::solve_single(const Problem& problem, int contact) {
  const Problem::Contact& given = problem.contacts[index(contact)];
  Eigen::Matrix3d W = Eigen::Matrix3d::Zero();
  Eigen::Vector3d b = Eigen::Vector3d::Zero();
  for (int i = 0; i <= given.slips; ++i) {
    b[i] = problem.free[index(given.first + i)];
    for (int j = 0; j <= i; ++j) {
      W(i, j) = W(j, i) = problem.product(given.first + j, given.first + i);
    }
  }
  if (!(W(0, 0) > 0.0)) return false;
  SingleSolution solution;
  if (given.slips == 0) {
    solution.impulse.x() = b.x() < 0.0 ? -b.x() / W(0, 0) : 0.0;
    solution.grip = b.x() < 0.0 ? Grip::Slip : Grip::Free;
  } else if (given.slips == 1) {
    solution = solve_in_plane(W(0, 0), W(0, 1), W(1, 1), b.x(), b.y(),
                              std::get<convex::Segment>(given.section));
  } else {
    solution = solve_in_space(W, b, given.section);
  }
  if (solution.status != Status::Solved || !solution.impulse.allFinite()) return false;
  for (int j = 0; j <= given.slips; ++j) whole_.impulses[given.first + j] = solution.impulse[j];
  whole_.grips[index(contact)] = solution.grip;
  return true;
}

template <class Solver>
void StepSolver::Found::take(const Problem& problem, const Solver& solver) {
  for (int k = 0; k < problem.rows(); ++k) impulses[k] = solver.impulse(k);
  grips.resize(problem.contacts.size());
  for (std::size_t i = 0; i < grips.size(); ++i) grips[i] = solver.grip(i);
}

/// Of contacts without friction.
void StepSolver::Found::read_grips(const Problem& problem) {
  grips.resize(problem.contacts.size());
  for (int k = 0; k < problem.count(); ++k) {
    grips[index(k)] = impulses[k] > 0.0 ? Grip::Slip : Grip::Free;
  }
}

void StepSolver::balance(const Problem& problem) {
  whole_.fit(problem.rows());
  motion_.setZero(problem.dofs);
  if (is_long(problem) && banded_.solve_equations(problem)) {
    for (int k = 0; k < problem.rows(); ++k) whole_.impulses[k] = banded_.impulse(k);
    problem.add_momentum([&](int row) { return banded_.impulse(row); }, motion_);
    for (int i = 0; i < problem.dofs; ++i) motion_[i] *= problem.metric.inverse(i);
    return;
  }
  const bool is_wide = problem.dofs > kMany && problem.metric.is_diagonal();
  is_wide || !fits_densely(problem) ? balance_by_gradients(problem) : balance_densely(problem);
}

/// A^T y = -b, the shortest y, and R with y = A R.
void StepSolver::balance_densely(const Problem& problem) {
  take_dense(problem);
  const auto factor = dense_.factor.leftCols(dense_.count);
  dense_.free.head(dense_.count) *= -1.0;
  motion_ = least_norm_.solve(factor, dense_.free.head(dense_.count));
  least_norm_.coefficients(motion_, whole_.impulses.head(dense_.count));
  problem.metric.half_solve_transposed(motion_);
}

/// The same by conjugate gradients on |A^T y + b|^2, from y = 0: directions stay in the range of A,
/// and their impulses are kept along with them.                                [Hestenes 1952]
void StepSolver::balance_by_gradients(const Problem& problem) {
  const int rows = problem.rows();
  const auto each = [&](int row, auto&& work) {
    problem.each(row,
                 [&](int i, double entry) { work(i, problem.metric.half_inverse(i) * entry); });
  };
  const auto gather = [&] {  // gradient = A residual
    gradient_.setZero(problem.dofs);
    for (int k = 0; k < rows; ++k) {
      each(k, [&](int i, double entry) { gradient_[i] += residual_[k] * entry; });
    }
    return gradient_.squaredNorm();
  };
  residual_ = -Eigen::Map<const Eigen::VectorXd>(problem.free.data(), rows);
  auto impulses = whole_.impulses.head(rows);
  impulses.setZero();
  double size = gather();
  const double end = 1e-28 * size;
  moved_ = gradient_;
  direction_ = residual_;
  for (int step = 0; step < 10 * rows && size > end; ++step) {
    double square = 0.0;
    scratch_.setZero(rows);  // A^T moved
    for (int k = 0; k < rows; ++k) {
      each(k, [&](int i, double entry) { scratch_[k] += moved_[i] * entry; });
      square += scratch_[k] * scratch_[k];
    }
    if (!(square > 0.0)) break;
    const double length = size / square;
    motion_ += length * moved_;
    impulses += length * direction_;
    residual_ -= length * scratch_;
    const double before = size;
    size = gather();
    moved_ = gradient_ + (size / before) * moved_;
    direction_ = residual_ + (size / before) * direction_;
  }
  problem.metric.half_solve_transposed(motion_);
}

}  // namespace ricochet::solve
