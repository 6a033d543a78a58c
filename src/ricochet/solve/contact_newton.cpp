#include "ricochet/solve/contact_newton.h"

#include "ricochet/base/index.h"

#include <algorithm>
#include <cmath>

namespace ricochet::solve {
namespace {

using base::index;

}  // namespace

template <int D>
ContactNewton<D>::ContactNewton(const problem::LocalProblem& problem) : problem_(problem) {
  refresh();
}

template <int D>
void ContactNewton<D>::refresh() {
  const problem::BlockRows& W = problem_.W;
  rows_.resize(index(W.rows));
  rho_.resize(index(W.rows));
  active_.reserve(index(W.rows));
  for (int i = 0; i < W.rows; ++i) {
    rho_[index(i)] = D / Eigen::Map<const Block>(W.block(W.diagonal(i))).trace();
  }
  lu_.choose_order(W.rows, W.start, W.column);
}

template <int D>
void ContactNewton<D>::choose_mode(int i, const Eigen::VectorXd& r, const Eigen::VectorXd& u) {
  const double rho = rho_[index(i)];
  const double mu = problem_.mu[index(i)];
  const Vector z = r.segment<D>(D * i) - rho * u.segment<D>(D * i);
  if (z[0] <= 0.0) {
    without_open_.segment<D>(D * i).setZero();
    return;
  }
  active_.push_back(i);
  Row& row = rows_[index(i)];
  row.D_.setIdentity();
  row.E_.setZero();
  const double length = z.template tail<D - 1>().norm();
  row.sticks = length <= mu * z[0];
  if (row.sticks) return;
  const Eigen::Matrix<double, D - 1, 1> d = z.template tail<D - 1>() / length;
  row.D_.row(1).setZero();
  row.E_(1, 0) = -mu / rho;  // (d.r_T - mu r_N) / rho = 0, in units of velocity as the others
  row.E_.template block<1, D - 1>(1, 1) = d.transpose() / rho;
  if constexpr (D == 3) {
    const double beta = mu * z[0] / length;
    row.D_.row(2) << 0.0, -beta * d[1], beta * d[0];
    row.E_.row(2) << 0.0, -(1.0 - beta) / rho * d[1], (1.0 - beta) / rho * d[0];
  }
}

template <int D>
typename ContactNewton<D>::Vector ContactNewton<D>::right_side(int i, const Eigen::VectorXd& r,
                                                               const Eigen::VectorXd& u) const {
  const Row& row = rows_[index(i)];
  if (row.sticks) return -u.segment<D>(D * i);
  return -(row.D_ * u.segment<D>(D * i) + row.E_ * r.segment<D>(D * i));
}

template <int D>
bool ContactNewton<D>::step(double alpha, Eigen::VectorXd& r, const Eigen::VectorXd& u) {
  const problem::BlockRows& W = problem_.W;
  active_.clear();
  without_open_ = r;
  for (int i = 0; i < W.rows; ++i) choose_mode(i, r, u);
  problem::multiply(W, without_open_, velocity_);
  const Eigen::Index used = Eigen::Index{D} * W.rows;
  velocity_.head(used) += problem_.q.head(used);
  if (!lu_.begin(active_)) return false;
  const auto put_row = [&](int i, auto&& put) {
    const Row& row = rows_[index(i)];
    for (int k = W.start[index(i)]; k < W.start[index(i) + 1]; ++k) {
      const int j = W.column[index(k)];
      Block block = Eigen::Map<const Block>(W.block(index(k)));
      if (i == j) block.diagonal().array() += alpha / rho_[index(i)];
      if (!row.sticks) block = (row.D_ * block).eval();
      if (i == j && !row.sticks) block += row.E_;
      put(j, block);
    }
  };
  const bool solved =
      lu_.solve(put_row, [&](int i) { return right_side(i, without_open_, velocity_); });
  if (!solved) return false;
  for (const int i : active_) without_open_.segment<D>(D * i) += lu_.x(i);
  if (!without_open_.allFinite()) return false;
  r.swap(without_open_);
  return true;
}

template class ContactNewton<2>;
template class ContactNewton<3>;

}  // namespace ricochet::solve
