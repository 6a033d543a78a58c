#include "ricochet/convex/polyhedral_cone.h"

#include <algorithm>
#include <limits>

namespace ricochet::convex {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Below this part of its own length a column counts as dependent on the active ones.
constexpr double kDependent = 64.0 * kEpsilon;

}  // namespace

void ConeProjector::reserve(Eigen::Index dimension, Eigen::Index columns) {
  const Eigen::Index rank = std::min(dimension, columns);
  if (x_.size() >= dimension && p_.size() >= columns && r_.cols() >= rank) return;
  p_.resize(columns);
  x_.resize(dimension);
  q_.resize(dimension, rank);
  r_.resize(rank, rank);
  coordinates_.resize(rank);
  direction_.resize(rank);
  remainder_.resize(dimension);
  order_.resize(static_cast<std::size_t>(rank));
  is_settled_.resize(static_cast<std::size_t>(columns));
}

ProjectionStatus ConeProjector::solve(const ColumnsRef& A, const VectorRef& b,
                                      const VectorRef& noise) {
  reserve(A.rows(), A.cols());
  dimension_ = A.rows();
  columns_ = A.cols();
  active_ = 0;
  iterations_ = 0;
  p_.head(columns_).setZero();
  x_.head(dimension_).setZero();
  std::fill(is_settled_.begin(), is_settled_.end(), '\0');
  const int most = static_cast<int>(20 * (columns_ + dimension_)) + 100;
  for (;;) {
    const Eigen::Index j = most_violated(A, b, noise);
    if (j < 0) break;
    if (++iterations_ > most) return ProjectionStatus::IterationLimit;
    if (!enter(A, b, noise, j)) return ProjectionStatus::Infeasible;
  }
  refine(A, b);
  return ProjectionStatus::Exact;
}

/// What the velocity of constraint j is off by rounding.
double ConeProjector::rounding(const ColumnsRef& A, const VectorRef& b, const VectorRef& noise,
                               Eigen::Index j) const {
  const double size = A.col(j).cwiseAbs().dot(x_.head(dimension_).cwiseAbs());
  return 4.0 * kEpsilon * (size + std::abs(b[j])) + noise[j];
}

/// The constraint that lies farthest on the wrong side, as a length; -1 when all hold.
Eigen::Index ConeProjector::most_violated(const ColumnsRef& A, const VectorRef& b,
                                          const VectorRef& noise) {
  Eigen::Index worst = -1;
  double deepest = 0.0;
  for (Eigen::Index j = 0; j < columns_; ++j) {
    if (is_settled_[static_cast<std::size_t>(j)] != 0) continue;
    const double velocity = A.col(j).dot(x_.head(dimension_)) + b[j];
    if (velocity >= -rounding(A, b, noise, j)) continue;
    const double length = A.col(j).norm();
    const double depth = length > 0.0 ? -velocity / length : kInfinity;
    if (depth > deepest) {
      deepest = depth;
      worst = j;
    }
  }
  return worst;
}

/// A column that the active ones combine to has the velocity they combine to, which is zero up to
/// their own rounding times the coefficients.
bool ConeProjector::follows_from_active(const ColumnsRef& A, const VectorRef& b,
                                        const VectorRef& noise, Eigen::Index j,
                                        double velocity) const {
  double allowed = rounding(A, b, noise, j);
  for (Eigen::Index k = 0; k < active_; ++k) {
    const Eigen::Index active = order_[static_cast<std::size_t>(k)];
    allowed += 4.0 * std::abs(direction_[k]) * rounding(A, b, noise, active);
  }
  return velocity >= -allowed;
}

/// Makes constraint j hold with equality, letting others go whose multiplier would turn negative.
/// False when no step is possible: the constraints contradict each other.
bool ConeProjector::enter(const ColumnsRef& A, const VectorRef& b, const VectorRef& noise,
                          Eigen::Index j) {
  const double length = A.col(j).norm();
  for (;;) {
    split(A, j);
    const auto direction = direction_.head(active_);
    const auto remainder = remainder_.head(dimension_);
    const double square = remainder.squaredNorm();
    const bool dependent =
        active_ == dimension_ || square <= kDependent * kDependent * length * length;
    const double velocity = A.col(j).dot(x_.head(dimension_)) + b[j];
    if (dependent && follows_from_active(A, b, noise, j, velocity)) {
      is_settled_[static_cast<std::size_t>(j)] = 1;
      return true;
    }
    Eigen::Index blocking = -1;
    double dual_step = kInfinity;  // how far p_S - s direction stays >= 0
    for (Eigen::Index k = 0; k < active_; ++k) {
      if (direction[k] <= 0.0) continue;
      const double s = p_[order_[static_cast<std::size_t>(k)]] / direction[k];
      if (s < dual_step) {
        dual_step = s;
        blocking = k;
      }
    }
    const double full_step = dependent ? kInfinity : std::max(0.0, -velocity / square);
    const double step = std::min(dual_step, full_step);
    if (step == kInfinity) return false;
    if (!dependent) x_.head(dimension_) += step * remainder;
    for (Eigen::Index k = 0; k < active_; ++k) {
      double& multiplier = p_[order_[static_cast<std::size_t>(k)]];
      multiplier = std::max(0.0, multiplier - step * direction[k]);
    }
    p_[j] += step;
    if (full_step <= dual_step) {
      append(j);
      return true;
    }
    leave(A, blocking);
  }
}

void ConeProjector::split(const ColumnsRef& A, Eigen::Index j) {
  const auto basis = q_.topLeftCorner(dimension_, active_);
  auto coordinates = coordinates_.head(active_);
  auto remainder = remainder_.head(dimension_);
  remainder = A.col(j);
  coordinates.setZero();
  for (int pass = 0; pass < 2; ++pass) {  // twice is enough
    for (Eigen::Index k = 0; k < active_; ++k) {
      const double part = basis.col(k).dot(remainder);
      coordinates[k] += part;
      remainder -= part * basis.col(k);
    }
  }
  direction_.head(active_) = coordinates;
  for (Eigen::Index k = active_ - 1; k >= 0; --k) {  // R direction = coordinates
    direction_[k] /= r_(k, k);
    direction_.head(k) -= direction_[k] * r_.col(k).head(k);
  }
}

void ConeProjector::append(Eigen::Index j) {
  const double length = remainder_.head(dimension_).norm();
  r_.col(active_).head(active_) = coordinates_.head(active_);
  r_(active_, active_) = length;
  q_.col(active_).head(dimension_) = remainder_.head(dimension_) / length;
  order_[static_cast<std::size_t>(active_)] = j;
  is_settled_[static_cast<std::size_t>(j)] = 1;
  ++active_;
}

void ConeProjector::leave(const ColumnsRef& A, Eigen::Index position) {
  const auto at = order_.begin() + position;
  p_[*at] = 0.0;
  // What followed from the active constraints may not follow from those that stay.
  std::fill(is_settled_.begin(), is_settled_.end(), '\0');
  const Eigen::Index last = active_;
  std::rotate(at, at + 1, order_.begin() + last);
  active_ = position;
  for (Eigen::Index k = 0; k < position; ++k) {
    is_settled_[static_cast<std::size_t>(order_[static_cast<std::size_t>(k)])] = 1;
  }
  for (Eigen::Index k = position; k + 1 < last; ++k) {
    const Eigen::Index j = order_[static_cast<std::size_t>(k)];
    split(A, j);
    append(j);
  }
}

/// One step of iterative refinement of A_S^T A_S p = -b_S.
void ConeProjector::refine(const ColumnsRef& A, const VectorRef& b) {
  auto x = x_.head(dimension_);
  const auto rebuild = [&] {
    x.setZero();
    for (Eigen::Index k = 0; k < active_; ++k) {
      const Eigen::Index j = order_[static_cast<std::size_t>(k)];
      x += p_[j] * A.col(j);
    }
  };
  rebuild();
  auto change = direction_.head(active_);
  for (Eigen::Index k = 0; k < active_; ++k) {
    const Eigen::Index j = order_[static_cast<std::size_t>(k)];
    change[k] = -(A.col(j).dot(x) + b[j]);
  }
  const auto factor = r_.topLeftCorner(active_, active_).triangularView<Eigen::Upper>();
  for (Eigen::Index k = 0; k < active_; ++k) {  // R^T y = change
    change[k] = (change[k] - r_.col(k).head(k).dot(change.head(k))) / r_(k, k);
  }
  factor.solveInPlace(change);
  for (Eigen::Index k = 0; k < active_; ++k) {
    double& multiplier = p_[order_[static_cast<std::size_t>(k)]];
    multiplier = std::max(0.0, multiplier + change[k]);
  }
  rebuild();
}

TwoCones decompose(const PolyhedralCone& cone, const Metric<kDynamic>& metric,
                   const Eigen::VectorXd& z) {
  const Eigen::MatrixXd& J = cone.normals;
  Eigen::MatrixXd A(J.rows(), J.cols());  // L^-1 J
  Eigen::VectorXd column(J.rows());
  for (Eigen::Index j = 0; j < J.cols(); ++j) {
    metric.half_solve(J.col(j), column);
    A.col(j) = column;
  }
  const Eigen::VectorXd b = J.transpose() * z;
  const Eigen::VectorXd noise =
      2.0 * kEpsilon * static_cast<double>(z.size()) * J.cwiseAbs().transpose() * z.cwiseAbs();
  ConeProjector projector;
  TwoCones result;
  result.status = projector.solve(A, b, noise);
  result.p = projector.multipliers();
  Eigen::VectorXd change(z.size());
  metric.solve(J * result.p, change);
  result.x = z + change;
  result.y = -change;
  return result;
}

}  // namespace ricochet::convex
