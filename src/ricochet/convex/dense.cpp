#include "ricochet/convex/dense.h"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <type_traits>

#include "ricochet/convex/pivoted.h"

namespace ricochet::convex {

SymmetricEigen symmetric_eigen(const Eigen::MatrixXd& matrix) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(matrix);
  return {eigen.eigenvalues(), eigen.eigenvectors()};
}

Eigen::VectorXd symmetric_eigenvalues(const Eigen::MatrixXd& matrix) {
  return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(matrix, Eigen::EigenvaluesOnly)
      .eigenvalues();
}

Eigen::MatrixXd gram_matrix(const Eigen::MatrixXd& columns) {
  return columns.transpose() * columns;
}

Eigen::MatrixXd half_solve(const Eigen::MatrixXd& matrix, const Eigen::MatrixXd& right) {
  return Eigen::LLT<Eigen::MatrixXd>(matrix).matrixL().solve(right);
}

Eigen::MatrixXd solve_symmetric(const Eigen::MatrixXd& matrix, const Eigen::MatrixXd& right) {
  return matrix.ldlt().solve(right);
}

Eigen::MatrixXd inverse_of(const Eigen::MatrixXd& matrix) {
  return matrix.partialPivLu().inverse();
}

Eigen::VectorXd least_squares(const Eigen::MatrixXd& matrix, const Eigen::VectorXd& right) {
  PivotedQr factor;
  factor.compute(matrix);
  Eigen::VectorXd x(matrix.cols());
  factor.solve_shortest(right, x);
  return x;
}

Eigen::Index rank_of(const Eigen::MatrixXd& matrix, double threshold) {
  PivotedQr factor;
  factor.compute(matrix, threshold);
  return factor.rank();
}

/// Householder's reflections from both sides leave two diagonals d and e. The symmetric matrix with
/// d_0, e_0, d_1, e_1, ... beside a diagonal of zeros has the eigenvalues +-s.     [Golub 1965]
Eigen::VectorXd singular_values(Eigen::MatrixXd a) {
  const Eigen::Index n = a.cols();
  if (n == 0) return {};
  Eigen::VectorXd beside = Eigen::VectorXd::Zero(2 * n - 1);
  Eigen::VectorXd room(n);
  double tau = 0.0;
  for (Eigen::Index k = 0; k < n; ++k) {
    const Eigen::Index rest = n - k - 1;
    auto column = a.col(k).tail(rest + 1);
    column.makeHouseholderInPlace(tau, beside[2 * k]);
    a.bottomRightCorner(rest + 1, rest)
        .applyHouseholderOnTheLeft(column.tail(rest), tau, room.data());
    if (rest == 0) break;
    auto row = a.row(k).tail(rest);
    row.makeHouseholderInPlace(tau, beside[2 * k + 1]);
    a.bottomRightCorner(rest, rest)
        .applyHouseholderOnTheRight(row.tail(rest - 1).transpose(), tau, room.data());
  }
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen;
  eigen.computeFromTridiagonal(Eigen::VectorXd::Zero(2 * n).eval(), beside, Eigen::EigenvaluesOnly);
  return eigen.eigenvalues().tail(n).reverse().cwiseMax(0.0);
}

bool is_definite(const Eigen::MatrixXd& matrix) {
  const Eigen::LLT<Eigen::MatrixXd> factor(matrix);
  return matrix.allFinite() && factor.info() == Eigen::Success && factor.rcond() > 1e-15;
}

namespace {

/// Calls work with the number of rows, 1 to 4, as a constant.
template <class Work>
void with_few(Eigen::Index rows, Work&& work) {
  switch (rows) {
    case 1: return work(std::integral_constant<int, 1>());
    case 2: return work(std::integral_constant<int, 2>());
    case 3: return work(std::integral_constant<int, 3>());
    case 4: return work(std::integral_constant<int, 4>());
    default: return;
  }
}

/// The lower triangle of N rows, column by column.
template <int N>
struct FewRows {
  double entries[N][N];

  FewRows() = default;
  explicit FewRows(const double* matrix) {
    for (int k = 0; k < N; ++k) {
      for (int i = k; i < N; ++i) entries[k][i] = matrix[k * N + i];
    }
  }
  double operator()(Eigen::Index i, Eigen::Index k) const { return entries[k][i]; }
  double& operator()(Eigen::Index i, Eigen::Index k) { return entries[k][i]; }
  static constexpr Eigen::Index rows() { return N; }

  void half_solve(double* x) const {
    for (int i = 0; i < N; ++i) {
      x[i] /= entries[i][i];
      for (int j = i + 1; j < N; ++j) x[j] -= x[i] * entries[i][j];
    }
  }
};

}  // namespace

Cholesky::Cholesky(const Eigen::MatrixXd& matrix) : LLT(matrix) {}

void Cholesky::compute(const Eigen::MatrixXd& matrix) {
  if (matrix.rows() > kFew) return static_cast<void>(LLT::compute(matrix));
  bool is_positive = true;
  with_few(matrix.rows(), [&]<int N>(std::integral_constant<int, N>) {
    const FewRows<N> a(matrix.data());
    FewRows<N> l;
    is_positive = factor_by_loops(a, l);
    for (int k = 0; k < N; ++k) {
      for (int i = k; i < N; ++i) m_matrix.data()[k * N + i] = l(i, k);
    }
  });
  m_info = is_positive ? Eigen::Success : Eigen::NumericalIssue;
  m_l1_norm = -1.0;  // not known
}

bool Cholesky::is_regular() const {
  return m_info == Eigen::Success && has_regular_pivots(m_matrix);
}

void Cholesky::half_solve(Eigen::VectorXd& x) const {
  if (rows() > kFew) return matrixL().solveInPlace(x);
  with_few(rows(), [&]<int N>(std::integral_constant<int, N>) {
    FewRows<N>(m_matrix.data()).half_solve(x.data());
  });
}

void Cholesky::half_solve_transposed(Eigen::VectorXd& x) const {
  if (rows() > kFew) return matrixU().solveInPlace(x);
  with_few(rows(), [&]<int N>(std::integral_constant<int, N>) {
    solve_upper_by_loops(FewRows<N>(m_matrix.data()), x);
  });
}

void Cholesky::solve(const Eigen::VectorXd& v, Eigen::VectorXd& out) const {
  if (rows() > kFew) {
    out = v;
    matrixL().solveInPlace(out);
    return matrixU().solveInPlace(out);
  }
  if (out.size() != v.size()) out.resize(v.size());
  with_few(rows(), [&]<int N>(std::integral_constant<int, N>) {
    const FewRows<N> l(m_matrix.data());
    double x[N];
    for (int i = 0; i < N; ++i) x[i] = v.data()[i];
    l.half_solve(x);
    solve_upper_by_loops(l, x);
    for (int i = 0; i < N; ++i) out.data()[i] = x[i];
  });
}

}  // namespace ricochet::convex
