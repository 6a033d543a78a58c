#include "ricochet/solve/load_rounds.h"

#include <algorithm>
#include <limits>

#include "ricochet/convex/dense.h"

namespace ricochet::solve {
namespace {

constexpr double kRounding = 16.0 * std::numeric_limits<double>::epsilon();
constexpr double kGood = 1e-12;  // a hundredth of what certificates allow

}  // namespace

bool LoadRounds::look(const Eigen::VectorXd& s) {
  report_ = ask_(asked_, s, answer_);
  off_ = answer_ - s;
  worst_ = off_.cwiseAbs().maxCoeff();
  largest_ = std::max(s.maxCoeff(), answer_.maxCoeff());
  return report_.status == problem::Status::Solved && off_.allFinite();
}

/// While they come nearer.
bool LoadRounds::rounds(Eigen::VectorXd& s) {
  constexpr int kMost = 60;
  constexpr double kNearer = 0.7;
  int idle = 0;
  for (int k = 0; k < kMost && idle < 3; ++k) {
    const double before = worst_;
    s = answer_;
    if (!look(s)) return false;
    if (is_settled(kRounding)) return true;
    idle = worst_ > kNearer * before ? idle + 1 : 0;
  }
  return is_settled(kGood);
}

/// A step of Newton's method, by shorter ones where it must. False when none brings s nearer.
bool LoadRounds::newton_step(Eigen::VectorXd& s) {
  const Eigen::Index count = s.size();
  const double before = worst_;
  const Eigen::VectorXd here = off_;
  const double apart = 1e-6 * largest_;
  Eigen::MatrixXd slope(count, count);
  for (Eigen::Index j = 0; j < count; ++j) {
    tried_ = s;
    tried_[j] += apart;
    if (!look(tried_)) return false;
    slope.col(j) = (off_ - here) / apart;
  }
  const Eigen::VectorXd step = convex::least_squares(slope, here);
  for (double share = 1.0; share > 0.01; share *= 0.5) {
    tried_ = (s - share * step).cwiseMax(0.0);
    if (look(tried_) && worst_ < before) {
      s = tried_;
      return true;
    }
  }
  return false;
}

bool LoadRounds::newton(Eigen::VectorXd& s) {
  constexpr int kMost = 30;
  for (int k = 0; k < kMost && look(s); ++k) {
    if (is_settled(kRounding)) return true;
    if (!newton_step(s)) break;
  }
  return look(s) && is_settled(kGood);
}

/// r of loads that let nothing slip: larger ones have the same.
bool LoadRounds::stick(Eigen::VectorXd& s) {
  constexpr double kMuch = 1e3;
  constexpr int kMost = 6;
  for (int k = 0; k < kMost; ++k) {
    tried_ = answer_;
    s.setConstant(kMuch * std::max(largest_, std::numeric_limits<double>::min()));
    if (!look(s)) return false;
    if (k > 0 && (answer_ - tried_).norm() <= 1e-9 * answer_.norm()) break;
  }
  s = answer_;
  return true;
}

/// r(0) - 0 >= 0, and r - s < 0 of a load that is large enough.
bool LoadRounds::bisect(Eigen::VectorXd& s) {
  if (s.size() != 1) return false;
  double low = 0.0;
  double high = std::max(largest_, std::numeric_limits<double>::min());
  for (int k = 0; k < 60; ++k, high *= 2.0) {
    s[0] = high;
    if (!look(s)) return false;
    if (off_[0] < 0.0) break;
  }
  while (true) {
    s[0] = 0.5 * (low + high);
    if (!look(s)) return false;
    if (is_settled(kRounding)) return true;
    if (s[0] == low || s[0] == high) return is_settled(kGood);
    (off_[0] > 0.0 ? low : high) = s[0];
  }
}

problem::Report LoadRounds::settle(Eigen::VectorXd& s, Ask ask, void* asked) {
  ask_ = ask;
  asked_ = asked;
  if (!look(s) || is_settled(kRounding) || rounds(s)) return report_;
  if (newton(s)) return report_;
  s.setZero();
  if (newton(s) || (stick(s) && newton(s)) || bisect(s)) return report_;
  if (report_.status == problem::Status::Solved) report_.status = problem::Status::Jammed;
  return report_;
}

}  // namespace ricochet::solve
