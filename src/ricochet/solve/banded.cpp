#include "ricochet/solve/banded.h"

#include "ricochet/base/index.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ricochet::solve {
namespace {

using base::index;

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

/// Part of its diagonal entry below which a pivot counts as zero.
constexpr double kDependent = 1e-13;

}  // namespace

/// All pairs of entries of G of one coordinate, the later row first.
template <class Work>
void Envelope::each_pair(const problem::StepProblem& problem, Work&& work) const {
  for (std::size_t e = 0; e < row_.size(); ++e) {
    for (auto f = static_cast<int>(e); f >= 0; f = earlier_[index(f)]) {
      work(row_[e], row_[index(f)], problem.value[e] * problem.value[index(f)],
           problem.coordinate[e]);
    }
  }
}

/// W_kl = sum over shared coordinates of G_k G_l / m.
bool Envelope::take(const problem::StepProblem& problem) {
  const int rows = problem.rows();
  latest_.assign(index(problem.dofs), -1);
  row_.resize(problem.coordinate.size());
  earlier_.resize(problem.coordinate.size());
  first_.resize(index(rows));
  start_.resize(index(rows) + 1);
  start_[0] = 0;
  for (int k = 0; k < rows; ++k) {
    int first = k;
    for (std::size_t e = problem.start[index(k)]; e < problem.start[index(k) + 1]; ++e) {
      int& latest = latest_[index(problem.coordinate[e])];
      row_[e] = k;
      earlier_[e] = latest;
      for (int f = latest; f >= 0; f = earlier_[index(f)]) first = std::min(first, row_[index(f)]);
      latest = static_cast<int>(e);
    }
    first_[index(k)] = first;
    start_[index(k) + 1] = start_[index(k)] + index(k - first + 1);
  }
  if (start_[index(rows)] > kMost * index(rows)) return false;
  entries_.assign(start_[index(rows)], 0.0);
  each_pair(problem, [&](int k, int l, double product, int coordinate) {
    entries_[start_[index(k)] + index(l - first(k))] +=
        product * problem.metric.inverse(coordinate);
  });
  return true;
}

void BandedSolver::reserve(int rows) {
  if (impulses_.size() >= rows) return;
  pushes_.resize(index(rows));
  wrong_.resize(index(rows));
  before_.resize(index(rows) + 1);
  members_.reserve(index(rows));
  first_.reserve(index(rows));
  start_.reserve(index(rows) + 1);
  dependent_.reserve(index(rows));
  right_.resize(rows);
  impulses_.resize(rows);
  velocities_.resize(rows);
  sizes_.resize(rows);
}

bool BandedSolver::factor() {
  members_.clear();
  first_.clear();
  start_.clear();
  dependent_.clear();
  factor_.clear();
  for (int k = 0; k < W_.rows(); ++k) {
    before_[index(k)] = static_cast<int>(members_.size());
    if (pushes_[index(k)] != 0) members_.push_back(k);
  }
  bool independent = true;
  for (int r = 0; r < static_cast<int>(members_.size()); ++r) {
    const int row = members_[index(r)];
    const int begin = before_[index(W_.first(row))];
    first_.push_back(begin);
    start_.push_back(factor_.size());
    for (int c = begin; c <= r; ++c) factor_.push_back(W_.entry(row, members_[index(c)]));
    double* const mine = factor_.data() + start_.back() - begin;  // mine[c] is L_rc
    double pivot = mine[r];
    for (int c = begin; c < r; ++c) {
      const int other_begin = first_[index(c)];
      const double* const other = factor_.data() + start_[index(c)] - other_begin;
      double sum = mine[c];
      for (int k = std::max(begin, other_begin); k < c; ++k) sum -= mine[k] * other[k];
      mine[c] = dependent_[index(c)] != 0 ? 0.0 : sum / other[c];
      pivot -= mine[c] * mine[c];
    }
    const bool is_zero = !(pivot > kDependent * W_.entry(row, row));
    dependent_.push_back(is_zero ? 1 : 0);
    independent = independent && !is_zero;
    mine[r] = is_zero ? 1.0 : std::sqrt(pivot);
  }
  return independent;
}

void BandedSolver::solve_factored(Eigen::VectorXd& x) const {
  const int n = static_cast<int>(members_.size());
  const auto row = [&](int r) { return factor_.data() + start_[index(r)] - first_[index(r)]; };
  for (int r = 0; r < n; ++r) {  // L y = x
    const double* const l = row(r);
    double sum = x[r];
    for (int c = first_[index(r)]; c < r; ++c) sum -= l[c] * x[c];
    x[r] = dependent_[index(r)] != 0 ? 0.0 : sum / l[r];
  }
  for (int r = n - 1; r >= 0; --r) {  // L^T x = y
    const double* const l = row(r);
    x[r] = dependent_[index(r)] != 0 ? 0.0 : x[r] / l[r];
    for (int c = first_[index(r)]; c < r; ++c) x[c] -= l[c] * x[r];
  }
}

void BandedSolver::multiply(const Problem& problem) {
  for (int k = 0; k < W_.rows(); ++k) {
    velocities_[k] = problem.free[index(k)];
    sizes_[k] = std::abs(problem.free[index(k)]);
  }
  for (int k = 0; k < W_.rows(); ++k) {
    const double* const w = W_.row(k);
    const int begin = W_.first(k);
    for (int c = begin; c <= k; ++c) {
      const double entry = w[c - begin];
      velocities_[k] += entry * impulses_[c];
      sizes_[k] += std::abs(entry * impulses_[c]);
      if (c == k) continue;
      velocities_[c] += entry * impulses_[k];
      sizes_[c] += std::abs(entry * impulses_[k]);
    }
  }
}

void BandedSolver::solve_pushing(const Problem& problem) {
  for (std::size_t r = 0; r < members_.size(); ++r) {
    right_[static_cast<Eigen::Index>(r)] = -problem.free[index(members_[r])];
  }
  solve_factored(right_);
  impulses_.head(W_.rows()).setZero();
  for (std::size_t r = 0; r < members_.size(); ++r) {
    impulses_[members_[r]] = right_[static_cast<Eigen::Index>(r)];
  }
  multiply(problem);
}

/// One step of iterative refinement.
void BandedSolver::refine() {
  for (std::size_t r = 0; r < members_.size(); ++r) {
    right_[static_cast<Eigen::Index>(r)] = -velocities_[members_[r]];
  }
  solve_factored(right_);
  for (std::size_t r = 0; r < members_.size(); ++r) {
    impulses_[members_[r]] += right_[static_cast<Eigen::Index>(r)];
  }
}

/// Rows that pull although they are no joints, or rest although they penetrate.
int BandedSolver::count_wrong(const Problem& problem) {
  int wrong = 0;
  for (int k = 0; k < W_.rows(); ++k) {
    const bool is_joint = k >= problem.contact_rows();
    const double rounding = problem.noise[index(k)] + 8.0 * kEpsilon * sizes_[k];
    const bool is_wrong =
        pushes_[index(k)] != 0 ? (!is_joint && impulses_[k] < 0.0) : velocities_[k] < -rounding;
    wrong_[index(k)] = is_wrong ? 1 : 0;
    wrong += is_wrong ? 1 : 0;
  }
  return wrong;
}

/// False when rounds run out.
bool BandedSolver::find_pushing(const Problem& problem, problem::Report& report) {
  const int rows = W_.rows();
  const int most = 3 * rows + 100;
  constexpr int kPatience = 10;  // rounds of whole exchanges without progress
  int fewest = rows + 1;
  int patience = kPatience;
  for (report.iterations = 1; report.iterations <= most; ++report.iterations) {
    report.unique = factor();
    solve_pushing(problem);
    const int wrong = count_wrong(problem);
    if (wrong == 0) return true;
    patience = wrong < fewest ? kPatience : patience - 1;
    fewest = std::min(fewest, wrong);
    for (int k = rows - 1; k >= 0; --k) {
      if (wrong_[index(k)] == 0) continue;
      pushes_[index(k)] = pushes_[index(k)] != 0 ? 0 : 1;
      if (patience <= 0) break;  // the last one only: this always ends [Murty 1974]
    }
  }
  return false;
}

problem::Report BandedSolver::solve(const Problem& problem) {
  constexpr problem::Report kGivenUp{.status = problem::Status::IterationLimit};
  if (!W_.take(problem)) return kGivenUp;
  reserve(W_.rows());
  std::fill_n(pushes_.begin(), W_.rows(), '\1');
  problem::Report report;
  if (!find_pushing(problem, report)) return kGivenUp;
  refine();
  for (int k = 0; k < problem.contact_rows(); ++k) impulses_[k] = std::max(0.0, impulses_[k]);
  for (std::size_t r = 0; r < members_.size(); ++r) {  // rows left out must hold all the same
    const int k = members_[r];
    const double rounding = problem.noise[index(k)] + 64.0 * kEpsilon * sizes_[k];
    if (dependent_[r] != 0 && std::abs(velocities_[k]) > rounding) return kGivenUp;
  }
  return report;
}

bool BandedSolver::solve_equations(const Problem& problem) {
  if (!W_.take(problem)) return false;
  reserve(W_.rows());
  std::fill_n(pushes_.begin(), W_.rows(), '\1');
  if (!factor()) return false;
  solve_pushing(problem);
  refine();
  return true;
}

}  // namespace ricochet::solve
