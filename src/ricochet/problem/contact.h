#pragma once

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <algorithm>
#include <string>
#include <variant>
#include <vector>

namespace ricochet::problem {

/// A square matrix of d x d blocks, row by row, only the blocks that are there. A block's entries
/// lie together, column by column; the diagonal block of every row is there and the columns ascend.
struct BlockRows {
  int dim{3};               // d
  int rows{0};              // of blocks
  std::vector<int> start;   // of each row in `column`; rows + 1 entries
  std::vector<int> column;  // of each block
  std::vector<double> values;

  std::size_t blocks() const { return column.size(); }
  const double* block(std::size_t k) const { return values.data() + k * size(); }
  double* block(std::size_t k) { return values.data() + k * size(); }
  std::size_t size() const { return static_cast<std::size_t>(dim * dim); }

  /// Where a block of a row is that is there.
  std::size_t find(int row, int at) const {
    const auto begin = column.begin() + start[static_cast<std::size_t>(row)];
    const auto end = column.begin() + start[static_cast<std::size_t>(row) + 1];
    return static_cast<std::size_t>(std::lower_bound(begin, end, at) - column.begin());
  }
  std::size_t diagonal(int row) const { return find(row, row); }
};

using SparseMatrix = Eigen::SparseMatrix<double, Eigen::ColMajor, int>;

/// W = H^T M^-1 H and q = H^T M^-1 f + w without either being formed:
///
///     M v = H r + f,   u = H^T v + w.
///
/// H is dofs x (d contacts): our G^T.
struct GlobalForm {
  SparseMatrix M;
  SparseMatrix H;
  Eigen::VectorXd f;
  Eigen::VectorXd w;
};

/// Contacts with Coulomb friction, as plain data. Per contact, components are (N, T1, T2) for d = 3
/// and (N, T) for d = 2:
///
///     u = W r + q,   K* ∋ u + mu |u_T| n  ⟂  r ∈ K = { |r_T| <= mu r_N }.
///
/// r is an impulse (or a force), u a relative velocity. W may be slightly unsymmetric (an implicit
/// gyroscopic term makes it so) and of any rank.
struct ContactProblem {
  int dim{3};              // d: 2 or 3
  std::vector<double> mu;  // one per contact, >= 0
  Eigen::VectorXd q;       // velocity without impulses; not used by the global form
  std::variant<BlockRows, Eigen::MatrixXd, GlobalForm> matrix;
  std::string title;

  int contacts() const { return static_cast<int>(mu.size()); }
  Eigen::Index rows() const { return static_cast<Eigen::Index>(dim) * contacts(); }
  bool is_global() const { return std::holds_alternative<GlobalForm>(matrix); }
};

/// The largest coefficient of friction: with a larger one u_N is lost to rounding in
/// u + mu |u_T| n, and wrong impulses pass for right ones.
inline constexpr double kMostFriction = 1e6;

/// Throws base::InputError, with place and remedy, when sizes do not fit together, a number is not
/// finite, a mu is negative or above kMostFriction, or a diagonal block cannot push back (tr W_ii
/// <= 0).
void check(const ContactProblem& problem, const std::string& file = {});

/// Blocks of a matrix of scalars, and of a dense one; blocks of zeros are left out.
BlockRows blocks_of(const SparseMatrix& matrix, int dim);
BlockRows blocks_of(const Eigen::MatrixXd& matrix, int dim);
SparseMatrix scalars_of(const BlockRows& matrix);

/// y = A x, of blocks. Both vectors may be longer than that needs; a shorter y is made to fit.
void multiply(const BlockRows& matrix, const Eigen::VectorXd& x, Eigen::VectorXd& y);

/// A problem with W stored by its blocks, which is what most methods work on. It owns nothing.
struct LocalProblem {
  const BlockRows& W;
  const Eigen::VectorXd& q;
  const std::vector<double>& mu;

  int dim() const { return W.dim; }
  int contacts() const { return W.rows; }
};

/// About how many blocks W has or would have: what it costs to form it.
double count_blocks(const ContactProblem& problem);

}  // namespace ricochet::problem
