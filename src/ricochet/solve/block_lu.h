#pragma once

#include <Eigen/Core>
#include <vector>

namespace ricochet::solve {

/// A x = b for a sparse matrix of D x D blocks with a symmetric pattern, by elimination without
/// exchanges between blocks; within a pivot block columns and rows are exchanged freely. The order
/// is chosen once (approximate minimum degree), the pattern of the factor with every matrix, since
/// the rows that take part change.
///
/// Rows come in through begin / add / finish, by their number in the whole problem.
template <int D>
class BlockLu {
 public:
  using Block = Eigen::Matrix<double, D, D>;
  using Vector = Eigen::Matrix<double, D, 1>;
  static constexpr std::size_t kMostBlocks = 8'000'000;

  /// The order of elimination from the pattern of the whole problem (rows, start, column): as it
  /// comes for a few rows, else by approximate minimum degree, kept as long as the pattern is.
  void choose_order(int rows, const std::vector<int>& start, const std::vector<int>& column);

  /// The rows that take part, any order. False when the factor would be too large to be worth it
  /// (more than `most` blocks).
  bool begin(const std::vector<int>& members, std::size_t most = kMostBlocks);

  /// Solves A x = b. `row(i, put)` calls put(j, block) for each block of row i whose column takes
  /// part; `right(i)` gives b. False when a pivot is singular. The solution is left in x(i).
  template <class Row, class Right>
  bool solve(Row&& row, Right&& right);

  /// The same matrix with another right side.
  template <class Right>
  void solve_again(Right&& right);

  const Vector& x(int i) const { return x_[static_cast<std::size_t>(place_[at(i)])]; }
  std::size_t fill() const { return upper_.size(); }

  /// Products of blocks that an elimination takes.
  double work() const {
    double sum = 0.0;
    for (const int k : lower_) {
      sum += static_cast<double>(upper_start_[at(k) + 1] - upper_start_[at(k)]) + 1.0;
    }
    return sum;
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  void find_order(int rows);
  void make_room(int rows);
  void mirror_pattern(int rows);
  bool find_pattern(std::size_t most);
  void substitute_back();
  static bool invert(const Block& pivot, Block& inverse);

  std::vector<int> rank_;         // of each row in the order of elimination
  std::vector<int> given_start_;  // the pattern that the order was chosen for
  std::vector<int> given_column_;
  std::vector<int> start_;
  std::vector<int> column_;  // pattern of the whole problem, both triangles

  std::vector<int> members_;  // rows that take part, in the order of elimination
  std::vector<int> place_;    // of each row among them, -1: does not take part
  std::vector<int> parent_;   // elimination tree
  std::vector<std::size_t> upper_start_;
  std::vector<int> upper_;  // columns of each row of U, ascending, the pivot left out
  std::vector<int> lower_start_;
  std::vector<int> lower_;      // columns of each row of L, ascending
  std::vector<Block> values_;   // of U
  std::vector<Block> factors_;  // of L
  std::vector<Block> inverse_;  // of the pivots
  std::vector<Block> work_;
  std::vector<Vector> x_;
  std::vector<int> mark_;
  std::vector<std::size_t> next_;
};

/// Row by row: the rows of U above are subtracted from row i, which leaves its row of U. The right
/// side goes along.
template <int D>
template <class Row, class Right>
bool BlockLu<D>::solve(Row&& row, Right&& right) {
  const int n = static_cast<int>(members_.size());
  values_.resize(upper_.size());
  factors_.resize(lower_.size());
  inverse_.resize(at(n));
  x_.resize(at(n));
  work_.resize(at(n));
  for (int i = 0; i < n; ++i) {
    for (int k = lower_start_[at(i)]; k < lower_start_[at(i) + 1]; ++k) {
      work_[at(lower_[at(k)])].setZero();
    }
    work_[at(i)].setZero();
    for (std::size_t k = upper_start_[at(i)]; k < upper_start_[at(i) + 1]; ++k) {
      work_[at(upper_[k])].setZero();
    }
    row(members_[at(i)], [&](int j, const Block& block) {
      if (place_[at(j)] >= 0) work_[at(place_[at(j)])] += block;
    });
    Vector y = right(members_[at(i)]);
    for (int l = lower_start_[at(i)]; l < lower_start_[at(i) + 1]; ++l) {
      const int k = lower_[at(l)];
      const Block factor = work_[at(k)] * inverse_[at(k)];  // L_ik
      factors_[at(l)] = factor;
      y.noalias() -= factor * x_[at(k)];
      for (std::size_t u = upper_start_[at(k)]; u < upper_start_[at(k) + 1]; ++u) {
        work_[at(upper_[u])].noalias() -= factor * values_[u];
      }
    }
    x_[at(i)] = y;
    for (std::size_t k = upper_start_[at(i)]; k < upper_start_[at(i) + 1]; ++k) {
      values_[k] = work_[at(upper_[k])];
    }
    if (!invert(work_[at(i)], inverse_[at(i)])) return false;
  }
  substitute_back();
  return true;
}

template <int D>
template <class Right>
void BlockLu<D>::solve_again(Right&& right) {
  for (int i = 0; i < static_cast<int>(members_.size()); ++i) {
    Vector y = right(members_[at(i)]);
    for (int l = lower_start_[at(i)]; l < lower_start_[at(i) + 1]; ++l) {
      y.noalias() -= factors_[at(l)] * x_[at(lower_[at(l)])];
    }
    x_[at(i)] = y;
  }
  substitute_back();
}

}  // namespace ricochet::solve
