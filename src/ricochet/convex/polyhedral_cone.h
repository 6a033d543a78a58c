#pragma once

#include <Eigen/Core>
#include <vector>

#include "ricochet/convex/metric.h"

namespace ricochet::convex {

enum class ProjectionStatus { Exact, Infeasible, IterationLimit };

/// Finds the multipliers p >= 0 that minimise |A p|^2 / 2 + b . p, that is
///
///     p >= 0,   U = A^T A p + b >= 0,   p . U = 0,
///
/// by the dual active-set method of [Goldfarb 1983] with H = identity: constraints enter one at a
/// time, each step keeps p >= 0, and the value increases, so it ends after finitely many steps.
/// Columns of A may be linearly dependent, or zero: then p is not unique but A p is.
///
/// Deviation from the source: the factor Q R of the active columns is kept by twice-repeated
/// Gram-Schmidt and rebuilt from the place where a column leaves, instead of Givens updates, and
/// the result is refined once against A itself.
///
/// Owns all scratch: after `reserve`, `solve` does not allocate.
class ConeProjector {
 public:
  void reserve(Eigen::Index dimension, Eigen::Index columns);

  /// `noise[j]` is how far b[j] and A_j . x may be off by rounding of their own data: a violation
  /// below it is none.
  ProjectionStatus solve(const Eigen::Ref<const Eigen::MatrixXd>& A,
                         const Eigen::Ref<const Eigen::VectorXd>& b,
                         const Eigen::Ref<const Eigen::VectorXd>& noise);

  auto multipliers() const { return p_.head(columns_); }  // p
  int iterations() const { return iterations_; }

 private:
  using ColumnsRef = Eigen::Ref<const Eigen::MatrixXd>;
  using VectorRef = Eigen::Ref<const Eigen::VectorXd>;

  Eigen::Index most_violated(const ColumnsRef& A, const VectorRef& b, const VectorRef& noise);
  double rounding(const ColumnsRef& A, const VectorRef& b, const VectorRef& noise,
                  Eigen::Index j) const;
  bool follows_from_active(const ColumnsRef& A, const VectorRef& b, const VectorRef& noise,
                           Eigen::Index j, double velocity) const;
  bool enter(const ColumnsRef& A, const VectorRef& b, const VectorRef& noise, Eigen::Index j);
  void split(const ColumnsRef& A, Eigen::Index j);  // A_j = A_S direction + remainder
  void append(Eigen::Index j);
  void leave(const ColumnsRef& A, Eigen::Index position);
  void refine(const ColumnsRef& A, const VectorRef& b);

  Eigen::Index dimension_{0};
  Eigen::Index columns_{0};
  Eigen::Index active_{0};           // number of active columns
  std::vector<Eigen::Index> order_;  // which they are
  std::vector<char> is_settled_;     // active, or implied by active ones
  int iterations_{0};
  Eigen::VectorXd p_;
  Eigen::VectorXd x_;            // A p
  Eigen::MatrixXd q_;            // orthonormal basis of the active columns
  Eigen::MatrixXd r_;            // A_S = Q R
  Eigen::VectorXd coordinates_;  // Q^T A_j
  Eigen::VectorXd direction_;    // R^-1 Q^T A_j
  Eigen::VectorXd remainder_;    // (I - Q Q^T) A_j
};

/// V = { v : normals_j . v >= 0 for all columns j }. Its polar in a metric M is
/// N = { -M^-1 normals p : p >= 0 }.
struct PolyhedralCone {
  Eigen::MatrixXd normals;
};

/// z = x + y, x in V, y in N, x . M y = 0: the two nearest points.    [Moreau 1986, par. 8]
struct TwoCones {
  Eigen::VectorXd x;  // prox(V, z)
  Eigen::VectorXd y;  // prox(N, z)
  Eigen::VectorXd p;  // y = -M^-1 normals p
  ProjectionStatus status{ProjectionStatus::Exact};
};

TwoCones decompose(const PolyhedralCone& cone, const Metric<kDynamic>& metric,
                   const Eigen::VectorXd& z);

}  // namespace ricochet::convex
