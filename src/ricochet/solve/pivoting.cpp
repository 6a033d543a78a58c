// Problems that are linear complementarity problems  w = A z + b,  0 <= w ⟂ z >= 0: those without
// friction, with z = r_N, and those in the plane, with z = (r_N, mu r_N + r_T, u_T^-) and
// w = (u_N, u_T^+, mu r_N - r_T)  [Glocker 1995]. By complementary pivoting [Lemke 1965].

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <vector>

#include "ricochet/base/error.h"
#include "ricochet/solve/contact_task.h"

namespace ricochet::solve {
namespace {

/// Lemke's method on a dense tableau. Variables: 0 .. n-1 are w, n .. 2n-1 are z, 2n is artificial.
class Lemke {
 public:
  Lemke(const Eigen::MatrixXd& A, const Eigen::VectorXd& b)
      : n_(A.rows()), tableau_(n_, 2 * n_ + 2), basis_(static_cast<std::size_t>(n_)) {
    tableau_.setZero();
    tableau_.leftCols(n_).setIdentity();
    tableau_.middleCols(n_, n_) = -A;
    tableau_.col(2 * n_).setConstant(-1.0);
    tableau_.col(2 * n_ + 1) = b;
    for (Eigen::Index k = 0; k < n_; ++k) basis_[static_cast<std::size_t>(k)] = k;
  }

  /// False when a ray was met instead of a solution, or it took too long.
  bool run(ContactTask& task) {
    Eigen::Index row = 0;
    if (n_ == 0 || tableau_.col(2 * n_ + 1).minCoeff(&row) >= 0.0) return true;
    Eigen::Index entering = 2 * n_;
    for (Eigen::Index k = 0; k < 50 * n_ + 100 && !task.over(); ++k) {
      const Eigen::Index leaving = basis_[static_cast<std::size_t>(row)];
      pivot(row, entering);
      task.count(1);
      if (leaving == 2 * n_) return true;
      entering = leaving < n_ ? leaving + n_ : leaving - n_;
      row = ratio_test(entering);
      if (row < 0) return false;
    }
    return false;
  }

  Eigen::VectorXd z() const {
    Eigen::VectorXd result = Eigen::VectorXd::Zero(n_);
    for (Eigen::Index k = 0; k < n_; ++k) {
      const Eigen::Index variable = basis_[static_cast<std::size_t>(k)];
      if (variable >= n_ && variable < 2 * n_) {
        result[variable - n_] = std::max(0.0, tableau_(k, 2 * n_ + 1));
      }
    }
    return result;
  }

 private:
  void pivot(Eigen::Index row, Eigen::Index column) {
    tableau_.row(row) /= tableau_(row, column);
    for (Eigen::Index k = 0; k < n_; ++k) {
      if (k == row || tableau_(k, column) == 0.0) continue;
      tableau_.row(k) -= tableau_(k, column) * tableau_.row(row);
    }
    basis_[static_cast<std::size_t>(row)] = column;
  }

  /// The row that reaches zero first; of equals the artificial variable, else the largest pivot.
  Eigen::Index ratio_test(Eigen::Index column) const {
    constexpr double kZero = 1e-11;
    Eigen::Index best = -1;
    double least = 0.0;
    for (Eigen::Index k = 0; k < n_; ++k) {
      const double slope = tableau_(k, column);
      if (slope <= kZero) continue;
      const double ratio = std::max(0.0, tableau_(k, 2 * n_ + 1)) / slope;
      const double slack = 1e-12 * (1.0 + least);
      const bool ties = best >= 0 && std::abs(ratio - least) <= slack;
      const bool wins = basis_[static_cast<std::size_t>(k)] == 2 * n_ ||
                        (best >= 0 && basis_[static_cast<std::size_t>(best)] != 2 * n_ &&
                         slope > tableau_(best, column));
      if (best < 0 || ratio < least - slack || (ties && wins)) {
        best = k;
        least = ratio;
      }
    }
    return best;
  }

  using Table = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Eigen::Index n_;
  Table tableau_;
  std::vector<Eigen::Index> basis_;
};

/// In units in which every contact has rho = 1 and the largest free speed is 1, so that pivots can
/// be told from rounding.
struct Scaled {
  Eigen::MatrixXd W;
  Eigen::VectorXd q;
  Eigen::VectorXd root;  // r = root * scaled * speed
  double speed{1.0};

  explicit Scaled(const ContactTask& task)
      : W(problem::scalars_of(task.local().W)), q(task.local().q), root(q.size()) {
    for (Eigen::Index k = 0; k < q.size(); ++k) {
      root[k] = std::sqrt(task.rho(static_cast<int>(k / task.problem().dim)));
    }
    W = (root.asDiagonal() * W * root.asDiagonal()).eval();
    q = q.cwiseProduct(root);
    const double largest = q.size() > 0 ? q.cwiseAbs().maxCoeff() : 0.0;
    if (largest > 0.0) speed = largest;
    q /= speed;
  }
};

void run_frictionless(ContactTask& task) {
  const Scaled scaled(task);
  const Eigen::Index d = task.problem().dim;
  const Eigen::Index n = task.problem().contacts();
  Eigen::MatrixXd A(n, n);
  Eigen::VectorXd b(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    b[i] = scaled.q[d * i];
    for (Eigen::Index j = 0; j < n; ++j) A(i, j) = scaled.W(d * i, d * j);
  }
  Lemke lemke(A, b);
  lemke.run(task);
  const Eigen::VectorXd z = lemke.z();
  task.r.setZero();
  for (Eigen::Index i = 0; i < n; ++i) task.r[d * i] = z[i] * scaled.root[d * i] * scaled.speed;
  task.measure(task.r);
}

void run_planar(ContactTask& task) {
  const Scaled scaled(task);
  const Eigen::Index n = task.problem().contacts();
  Eigen::MatrixXd A = Eigen::MatrixXd::Zero(3 * n, 3 * n);
  Eigen::VectorXd b = Eigen::VectorXd::Zero(3 * n);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j < n; ++j) {
      const double mu = task.problem().mu[static_cast<std::size_t>(j)];
      for (Eigen::Index c = 0; c < 2; ++c) {  // u_N, u_T by r_N and mu r_N + r_T
        A(c * n + i, j) = scaled.W(2 * i + c, 2 * j) - mu * scaled.W(2 * i + c, 2 * j + 1);
        A(c * n + i, n + j) = scaled.W(2 * i + c, 2 * j + 1);
      }
    }
    A(n + i, 2 * n + i) = 1.0;  // u_T^+ = u_T + u_T^-
    A(2 * n + i, i) = 2.0 * task.problem().mu[static_cast<std::size_t>(i)];
    A(2 * n + i, n + i) = -1.0;
    b[i] = scaled.q[2 * i];
    b[n + i] = scaled.q[2 * i + 1];
  }
  Lemke lemke(A, b);
  lemke.run(task);
  const Eigen::VectorXd z = lemke.z();
  for (Eigen::Index i = 0; i < n; ++i) {
    const double unit = scaled.root[2 * i] * scaled.speed;
    const double mu = task.problem().mu[static_cast<std::size_t>(i)];
    task.r[2 * i] = z[i] * unit;
    task.r[2 * i + 1] = (z[n + i] - mu * z[i]) * unit;
  }
  task.measure(task.r);
}

}  // namespace

void run_pivoting(ContactTask& task) {
  const std::vector<double>& mu = task.problem().mu;
  const bool frictionless = std::all_of(mu.begin(), mu.end(), [](double m) { return m == 0.0; });
  if (!frictionless && task.problem().dim == 3) {
    throw base::InputError("pivoting", "is for problems without friction, or in the plane",
                           "use auto");
  }
  if (task.problem().contacts() * (frictionless ? 1 : 3) > kMostTableauRows) {
    throw base::InputError("pivoting", "the problem is too large for a dense tableau", "use auto");
  }
  frictionless ? run_frictionless(task) : run_planar(task);
}

}  // namespace ricochet::solve
