#include "ricochet/solve/box.h"

#include <algorithm>
#include <cmath>

namespace ricochet::solve {

void BoxSolver::reserve(Eigen::Index rows) {
  const auto count = static_cast<std::size_t>(rows);
  normal_.resize(count);
  sliding_.resize(count);
  forget();
  free_.reserve(count);
  factor_.resize(rows, rows);
  right_.resize(rows);
  velocity_.resize(rows);
}

void BoxSolver::forget() {
  std::fill(normal_.begin(), normal_.end(), Side::Inside);
  std::fill(sliding_.begin(), sliding_.end(), Side::Inside);
}

/// W_FF p_F = right, F the free rows, by a Cholesky factor in place.
bool BoxSolver::solve_free_rows(const Eigen::MatrixXd& W, Eigen::VectorXd& p) {
  const auto count = static_cast<Eigen::Index>(free_.size());
  for (Eigen::Index i = 0; i < count; ++i) {
    const Eigen::Index row = free_[static_cast<std::size_t>(i)];
    for (Eigen::Index j = 0; j <= i; ++j) {
      double sum = W(row, free_[static_cast<std::size_t>(j)]);
      for (Eigen::Index k = 0; k < j; ++k) sum -= factor_(i, k) * factor_(j, k);
      if (i == j && !(sum > 0.0)) return false;
      factor_(i, j) = i == j ? std::sqrt(sum) : sum / factor_(j, j);
    }
    for (Eigen::Index k = 0; k < i; ++k) right_[i] -= factor_(i, k) * right_[k];
    right_[i] /= factor_(i, i);
  }
  for (Eigen::Index i = count - 1; i >= 0; --i) {
    for (Eigen::Index k = i + 1; k < count; ++k) right_[i] -= factor_(k, i) * right_[k];
    right_[i] /= factor_(i, i);
    p[free_[static_cast<std::size_t>(i)]] = right_[i];
  }
  return true;
}

template <class IsGiven, class Given, class Judge>
problem::Report BoxSolver::pivot(const Eigen::MatrixXd& W, const Eigen::VectorXd& b,
                                 std::vector<Side>& side, const IsGiven& impulse_is_given,
                                 const Given& given, const Judge& judge, Eigen::VectorXd& p) {
  const Eigen::Index rows = b.size();
  constexpr int kMostRounds = 10'000;
  constexpr int kPatience = 8;  // rounds of whole exchanges that do not lessen the wrong rows
  int fewest = static_cast<int>(rows) + 1;
  int patience = kPatience;
  for (int round = 0; round < kMostRounds; ++round) {
    free_.clear();
    for (Eigen::Index i = 0; i < rows; ++i) {
      const Side s = side[static_cast<std::size_t>(i)];
      if (impulse_is_given(s)) {
        p[i] = given(i, s);
      } else {
        free_.push_back(i);
      }
    }
    for (std::size_t k = 0; k < free_.size(); ++k) {
      const Eigen::Index i = free_[k];
      double sum = given(i, side[static_cast<std::size_t>(i)]) - b[i];
      for (Eigen::Index j = 0; j < rows; ++j) {
        if (impulse_is_given(side[static_cast<std::size_t>(j)])) sum -= W(i, j) * p[j];
      }
      right_[static_cast<Eigen::Index>(k)] = sum;
    }
    if (!solve_free_rows(W, p)) return {problem::Status::Degenerate, round};
    velocity_.head(rows).noalias() = W * p;
    velocity_.head(rows) += b;
    int wrong = 0;
    for (Eigen::Index i = 0; i < rows; ++i) {
      wrong += judge(i, p[i], velocity_[i]) != side[static_cast<std::size_t>(i)] ? 1 : 0;
    }
    if (wrong == 0) return {problem::Status::Solved, round};
    patience = wrong < fewest ? kPatience : patience - 1;
    fewest = std::min(fewest, wrong);
    for (Eigen::Index i = rows - 1; i >= 0; --i) {
      Side& s = side[static_cast<std::size_t>(i)];
      const Side better = judge(i, p[i], velocity_[i]);
      if (better == s) continue;
      s = better;
      if (patience <= 0) break;  // one alone: ends after finitely many rounds
    }
  }
  return {problem::Status::IterationLimit, kMostRounds};
}

problem::Report BoxSolver::solve_velocities(const Eigen::MatrixXd& W, const Eigen::VectorXd& b,
                                            const Eigen::VectorXd& low, const Eigen::VectorXd& high,
                                            Eigen::VectorXd& p) {
  if (b.size() == 1) {  // u = P_[low, high](free)                            [Paoli 2001 (3.15)]
    p[0] = (std::clamp(b[0], low[0], high[0]) - b[0]) / W(0, 0);
    return {};
  }
  for (Eigen::Index i = 0; i < b.size(); ++i) {  // a bound may have gone since the last call
    Side& side = normal_[static_cast<std::size_t>(i)];
    const double bound = side == Side::Low ? low[i] : high[i];
    if (!std::isfinite(bound)) side = Side::Inside;
  }
  return pivot(
      W, b, normal_, [](Side s) { return s == Side::Inside; },
      [&](Eigen::Index i, Side s) {
        return s == Side::Inside ? 0.0 : s == Side::Low ? low[i] : high[i];
      },
      [&](Eigen::Index i, double impulse, double velocity) {
        const Side now = normal_[static_cast<std::size_t>(i)];
        if (now == Side::Inside) {
          return velocity < low[i] ? Side::Low : velocity > high[i] ? Side::High : Side::Inside;
        }
        const double push = now == Side::Low ? impulse : -impulse;
        return push < 0.0 ? Side::Inside : now;
      },
      p);
}

problem::Report BoxSolver::solve_impulses(const Eigen::MatrixXd& W, const Eigen::VectorXd& b,
                                          const Eigen::VectorXd& bound, Eigen::VectorXd& p) {
  if (b.size() == 1) {
    p[0] = std::clamp(-b[0] / W(0, 0), -bound[0], bound[0]);
    return {};
  }
  return pivot(
      W, b, sliding_, [](Side s) { return s != Side::Inside; },
      [&](Eigen::Index i, Side s) {
        return s == Side::Inside ? 0.0 : s == Side::Low ? -bound[i] : bound[i];
      },
      [&](Eigen::Index i, double impulse, double velocity) {
        const Side now = sliding_[static_cast<std::size_t>(i)];
        if (now == Side::Inside) {
          return impulse < -bound[i] ? Side::Low : impulse > bound[i] ? Side::High : Side::Inside;
        }
        // At its lower bound an impulse opposes a velocity that is not negative.
        const double along = now == Side::Low ? velocity : -velocity;
        return along < 0.0 ? Side::Inside : now;
      },
      p);
}

}  // namespace ricochet::solve
