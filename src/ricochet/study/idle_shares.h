#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "ricochet/convex/dense.h"

/// Which shares of columns sum up to nothing, of either sign or none negative.
namespace ricochet::study {

inline constexpr double kSharesOff = 1e-6;  // less of a column or a watch is rounding

/// Columns of equations, by what they reach: what is outside of it, and which shares of them give
/// 0.
class ReachOfColumns {
 public:
  explicit ReachOfColumns(Eigen::MatrixXd columns)
      : columns_(std::move(columns)),
        eigen_(convex::symmetric_eigen(convex::gram_matrix(columns_.transpose()))) {
    // Columns that differ by rounding alone, as those of flush faces, reach no farther than one.
    constexpr double kSmall = kSharesOff * kSharesOff;
    const double most = eigen_.values.size() > 0 ? eigen_.values[eigen_.values.size() - 1] : 0.0;
    while (first_ < eigen_.values.size() && !(eigen_.values[first_] > kSmall * most)) ++first_;
  }
  auto within() const { return eigen_.vectors.rightCols(eigen_.values.size() - first_); }
  Eigen::VectorXd outside(const Eigen::VectorXd& v) const {
    return v - within() * (within().transpose() * v);
  }
  /// The part of shares that changes nothing.
  Eigen::VectorXd idle(const Eigen::VectorXd& shares) const {
    Eigen::VectorXd along = within().transpose() * (columns_ * shares);
    along.array() /= eigen_.values.tail(along.size()).array();
    return shares - columns_.transpose() * (within() * along);
  }

 private:
  Eigen::MatrixXd columns_;
  convex::SymmetricEigen eigen_;
  Eigen::Index first_{0};
};

inline Eigen::MatrixXd columns_at(const Eigen::MatrixXd& all,
                                  const std::vector<Eigen::Index>& which) {
  Eigen::MatrixXd some(all.rows(), static_cast<Eigen::Index>(which.size()));
  for (std::size_t k = 0; k < which.size(); ++k) {
    some.col(static_cast<Eigen::Index>(k)) = all.col(which[k]);
  }
  return some;
}

/// Shares >= 0 of columns of length 1, 1 in all, whose sum is 0, where there are any: least squares
/// with the active sets of Lawson and Hanson.
class IdleShares {
 public:
  explicit IdleShares(const Eigen::MatrixXd& columns)
      : rows_(columns.rows() + 1, columns.cols()),
        wanted_(Eigen::VectorXd::Unit(rows_.rows(), columns.rows())),
        shares_(Eigen::VectorXd::Zero(columns.cols())) {
    rows_ << columns, Eigen::RowVectorXd::Ones(columns.cols());
  }

  /// Which columns have a share.
  std::vector<Eigen::Index> find() {
    constexpr double kAtRest = 1e-10;
    for (Eigen::Index round = 0; round < 3 * rows_.cols(); ++round) {
      const Eigen::VectorXd off = wanted_ - rows_ * shares_;
      if (off.norm() <= kSharesOff) return used_;
      Eigen::VectorXd gain = rows_.transpose() * off;
      for (const Eigen::Index k : used_) gain[k] = 0.0;
      Eigen::Index best = 0;
      if (!(gain.maxCoeff(&best) > kAtRest * off.norm())) break;
      used_.push_back(best);
      walk();
    }
    return {};
  }

 private:
  /// To the least squares of the columns in use, less those whose share becomes 0 on the way.
  void walk() {
    constexpr double kNoShare = 1e-14;
    while (!used_.empty()) {
      const Eigen::VectorXd to = convex::least_squares(columns_at(rows_, used_), wanted_);
      double way = 1.0;
      for (std::size_t k = 0; k < used_.size(); ++k) {
        const double ends = to[static_cast<Eigen::Index>(k)];
        const double from = shares_[used_[k]];
        if (ends <= kNoShare) way = std::min(way, from > 0.0 ? from / (from - ends) : 0.0);
      }
      for (std::size_t k = 0; k < used_.size(); ++k) {
        double& share = shares_[used_[k]];
        share += way * (to[static_cast<Eigen::Index>(k)] - share);
        if (share <= kNoShare) share = 0.0;
      }
      if (way == 1.0) return;
      std::erase_if(used_, [&](Eigen::Index k) { return shares_[k] == 0.0; });
    }
  }

  Eigen::MatrixXd rows_;
  Eigen::VectorXd wanted_;
  Eigen::VectorXd shares_;
  std::vector<Eigen::Index> used_;
};

}  // namespace ricochet::study
