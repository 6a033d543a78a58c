#pragma once

#include <Eigen/Core>
#include <vector>

namespace ricochet::step {

/// L U = K of rows whose entries lie in an envelope that is known beforehand and symmetric, without
/// exchange of rows: K = J M^-1 J^T, or nearly so. A row of which next to nothing is left beside
/// those before it says what they say: it is left out, and its unknown is 0.
class JointMatrix {
 public:
  /// `first[i]`: where row i begins, at most i.
  void shape(const std::vector<int>& first);
  int rows() const { return static_cast<int>(first_.size()); }

  void clear();
  void add(int i, int j, double value);  // within the envelope
  void factor();
  bool has(int i) const { return pivot_[static_cast<std::size_t>(i)] != 0.0; }

  /// x := K^-1 x of the rows begin to end, which no entry ties to others.
  void solve(int begin, int end, double* x) const;

 private:
  std::size_t at(int i, int j) const {
    return start_[static_cast<std::size_t>(i)] +
           static_cast<std::size_t>(j - first_[static_cast<std::size_t>(i)]);
  }
  std::vector<int> first_;
  std::vector<std::size_t> start_;
  std::vector<double> lower_;  // by rows, beside the diagonal
  std::vector<double> upper_;  // by columns
  std::vector<double> given_;  // the diagonal; 0: left out
  std::vector<double> pivot_;
};

}  // namespace ricochet::step
