#include "ricochet/step/joint_matrix.h"

#include <algorithm>

#include "ricochet/base/index.h"

namespace ricochet::step {

using base::index;

void JointMatrix::shape(const std::vector<int>& first) {
  first_ = first;
  start_.assign(first.size() + 1, 0);
  for (std::size_t i = 0; i < first.size(); ++i) {
    start_[i + 1] = start_[i] + (i - index(first[i]));
  }
  given_.assign(first.size(), 0.0);
  pivot_.assign(first.size(), 0.0);
  lower_.assign(start_.back(), 0.0);
  upper_.assign(start_.back(), 0.0);
}

void JointMatrix::clear() {
  std::fill(lower_.begin(), lower_.end(), 0.0);
  std::fill(upper_.begin(), upper_.end(), 0.0);
  std::fill(given_.begin(), given_.end(), 0.0);
}

void JointMatrix::add(int i, int j, double value) {
  if (i == j) given_[index(i)] += value;
  if (i > j) lower_[at(i, j)] += value;
  if (i < j) upper_[at(j, i)] += value;
}

void JointMatrix::factor() {
  constexpr double kDependent = 1e-12;  // a square: what is left of an angle of 1e-6
  for (int i = 0; i < rows(); ++i) {
    const int first = first_[index(i)];
    double pivot = given_[index(i)];
    for (int j = first; j < i; ++j) {
      double& left = lower_[at(i, j)];
      double& up = upper_[at(i, j)];
      if (pivot_[index(j)] == 0.0 || given_[index(i)] == 0.0) {
        left = up = 0.0;
        continue;
      }
      for (int k = std::max(first, first_[index(j)]); k < j; ++k) {
        left -= lower_[at(i, k)] * upper_[at(j, k)];
        up -= lower_[at(j, k)] * upper_[at(i, k)];
      }
      left /= pivot_[index(j)];
      pivot -= left * up;
    }
    pivot_[index(i)] = pivot > kDependent * given_[index(i)] ? pivot : 0.0;
  }
}

void JointMatrix::solve(int begin, int end, double* x) const {
  const auto all = [x, begin](int i) -> double& { return x[i - begin]; };
  for (int i = begin; i < end; ++i) {
    for (int j = first_[index(i)]; j < i; ++j) all(i) -= lower_[at(i, j)] * all(j);
    if (!has(i)) all(i) = 0.0;
  }
  for (int i = end - 1; i >= begin; --i) {
    all(i) = has(i) ? all(i) / pivot_[index(i)] : 0.0;
    for (int j = first_[index(i)]; j < i; ++j) all(j) -= upper_[at(i, j)] * all(i);
  }
}

}  // namespace ricochet::step
