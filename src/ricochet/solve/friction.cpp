#include "ricochet/solve/friction.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

#include "ricochet/convex/friction_cone.h"
#include "ricochet/solve/single_contact.h"

namespace ricochet::solve {
namespace {

using convex::Tangent;
using Eigen::Index;
using problem::Grip;

/// Of an impulse or velocity: the rows of one contact, filled up with zeros.
template <class V>
Eigen::Vector3d block_of(const V& v, Index first, int slips) {
  Eigen::Vector3d block = Eigen::Vector3d::Zero();
  block.head(1 + slips) = v.segment(first, 1 + slips);
  return block;
}

/// P(x) on r D, with its derivatives by x and by r.
struct Projected {
  Tangent point{Tangent::Zero()};
  Eigen::Matrix2d by_x{Eigen::Matrix2d::Zero()};
  Tangent by_r{Tangent::Zero()};
};

struct Projection {
  const Tangent& x;
  double r;

  Projected operator()(const convex::Segment& s) const {
    Projected p;
    p.point = s.project(x, r);
    const bool inside = p.point.x() == x.x();
    p.by_x(0, 0) = inside ? 1.0 : 0.0;
    if (!inside) p.by_r.x() = x.x() > 0.0 ? s.high : s.low;
    return p;
  }
  Projected operator()(const convex::Disc& s) const {
    Projected p;
    p.point = s.project(x, r);
    const double length = x.norm();
    if (length <= r * s.radius) {
      p.by_x.setIdentity();
      return p;
    }
    const Tangent y = x / length;
    p.by_x = (r * s.radius / length) * (Eigen::Matrix2d::Identity() - y * y.transpose());
    p.by_r = s.radius * y;
    return p;
  }
  Projected operator()(const convex::Ellipse&) const { return {}; }  // was made a disc
  Projected operator()(const convex::Polygon& s) const {
    Projected p;
    p.point = s.project(x, r);
    if (s.contains(x, r)) {
      p.by_x.setIdentity();
      return p;
    }
    for (std::size_t i = 0; i < s.corners.size(); ++i) {
      const Tangent& from = s.corners[i];
      const Tangent along = s.corners[(i + 1) % s.corners.size()] - from;
      const Tangent e = along.normalized();
      const double at = e.dot(p.point - r * from);
      const double off =
          std::abs(e.x() * (p.point - r * from).y() - e.y() * (p.point - r * from).x());
      const double length = r * along.norm();
      constexpr double kNear = 1e-12;
      if (off > kNear * length) continue;
      if (std::abs(at) <= kNear * length) {
        p.by_r = from;
        return p;
      }
      if (at > 0.0 && at < (1.0 - kNear) * length) {
        p.by_x = e * e.transpose();
        p.by_r = from - e * e.dot(from);
        return p;
      }
    }
    return p;
  }
};

}  // namespace

void FrictionSolver::take(const problem::Frictional& problem) {
  rows_ = problem.rows - problem.held;
  contacts_.resize(problem.count);
  grips_.assign(problem.count, Grip::Free);
  stretch_.setOnes(rows_);
  for (std::size_t i = 0; i < problem.count; ++i) {
    const problem::Frictional::Contact& given = problem.contacts[i];
    Contact& contact = contacts_[i];
    contact = {given.first, given.slips, given.section, 0.0};
    if (const auto* ellipse = std::get_if<convex::Ellipse>(&given.section)) {
      stretch_[given.first + 1] = ellipse->a;
      stretch_[given.first + 2] = ellipse->b;
      contact.section = convex::Disc{1.0};
    }
  }
  const auto A = problem.factor.leftCols(rows_);
  W_.noalias() = stretch_.asDiagonal() * (A.transpose() * A) * stretch_.asDiagonal();
  b_ = stretch_.cwiseProduct(problem.free.head(rows_));
}

/// W - W_cj W_jj^-1 W_jc and b_c - W_cj W_jj^-1 b_j. False when the joints depend on each other.
bool FrictionSolver::eliminate_joints(const problem::Frictional& problem) {
  if (problem.held == 0) return true;
  const auto joints = problem.factor.middleCols(rows_, problem.held);
  joint_W_.noalias() = joints.transpose() * joints;
  joint_coupling_.noalias() =
      joints.transpose() * problem.factor.leftCols(rows_) * stretch_.asDiagonal();  // W_jc
  joint_free_ = problem.free.segment(rows_, problem.held);
  const Eigen::LDLT<Eigen::MatrixXd> factors(joint_W_);
  constexpr double kSingular = 1e-13;
  const auto pivots = factors.vectorD().cwiseAbs();
  if (!(pivots.minCoeff() > kSingular * pivots.maxCoeff())) return false;
  W_.noalias() -= joint_coupling_.transpose() * factors.solve(joint_coupling_);
  b_.noalias() -= joint_coupling_.transpose() * factors.solve(joint_free_);
  return true;
}

void FrictionSolver::find_joint_impulses(const problem::Frictional& problem) {
  impulses_.resize(problem.rows);
  impulses_.head(rows_) = stretch_.cwiseProduct(R_);
  if (problem.held == 0) return;
  impulses_.tail(problem.held) = joint_W_.ldlt().solve(-(joint_free_ + joint_coupling_ * R_));
}

void FrictionSolver::solve_block(Contact& contact, Grip& grip) {
  const int size = 1 + contact.slips;
  const auto W = W_.block(contact.first, contact.first, size, size);
  auto R = R_.segment(contact.first, size);
  const Eigen::Vector3d free =
      block_of(b_, contact.first, contact.slips) +
      block_of(W_.middleRows(contact.first, size) * R_ - W * R, 0, contact.slips);
  SingleSolution solution;
  if (!(W(0, 0) > 0.0)) return;
  if (contact.slips == 0) {
    solution.impulse.x() = std::max(0.0, -free.x() / W(0, 0));
    solution.grip = solution.impulse.x() > 0.0 ? Grip::Slip : Grip::Free;
  } else if (contact.slips == 1) {
    solution = solve_in_plane(W(0, 0), W(0, 1), W(1, 1), free.x(), free.y(),
                              std::get<convex::Segment>(contact.section));
  } else {
    solution = solve_in_space(W, free, contact.section);
  }
  if (solution.status != problem::Status::Solved) return;  // keeps what it has for this sweep
  R = solution.impulse.head(size);
  grip = solution.grip;
}

void FrictionSolver::sweep() {
  for (std::size_t i = 0; i < contacts_.size(); ++i) solve_block(contacts_[i], grips_[i]);
}

/// P_C (R - rho (U + lift n)) of one contact: R itself where the law holds.
Eigen::Vector3d FrictionSolver::image_of(const Contact& contact) const {
  const Eigen::Vector3d R = block_of(R_, contact.first, contact.slips);
  Eigen::Vector3d V = block_of(v_, contact.first, contact.slips);
  const convex::FrictionCone cone{contact.section};
  if (contact.slips > 0) V.x() += cone.lift(V.tail<2>());
  const Eigen::Vector3d moved = R - contact.rho * V;
  if (contact.slips > 0) return cone.project(moved);
  return {std::max(0.0, moved.x()), 0.0, 0.0};
}

double FrictionSolver::residual() {
  v_ = b_;
  v_.noalias() += W_ * R_;
  double distance = 0.0;
  double scale = 0.0;
  for (const Contact& contact : contacts_) {
    const Eigen::Vector3d R = block_of(R_, contact.first, contact.slips);
    const Eigen::Vector3d free = block_of(b_, contact.first, contact.slips);
    distance = std::max(distance, (R - image_of(contact)).norm());
    scale = std::max({scale, R.norm(), contact.rho * free.norm()});
  }
  return scale > 0.0 ? distance / scale : 0.0;
}

/// Rows of  R_N - max(0, R_N - rho v_N),  R_T - P(R_T - rho v_T) on max(0, R_N - rho v_N) D.
void FrictionSolver::fill_newton_rows(const Contact& contact, std::size_t) {
  const Index n = contact.first;
  const double pushed = R_[n] - contact.rho * v_[n];
  const double normal = std::max(0.0, pushed);
  const double on = pushed > 0.0 ? 1.0 : 0.0;
  auto row = jacobian_.row(n);
  defect_[n] = R_[n] - normal;
  row = on * contact.rho * W_.row(n);
  row[n] += 1.0 - on;
  if (contact.slips == 0) return;
  const Tangent x = block_of(R_ - contact.rho * v_, n, contact.slips).tail<2>();
  const Projected p = std::visit(Projection{x, normal}, contact.section);
  for (int j = 0; j < contact.slips; ++j) {
    auto tangential = jacobian_.row(n + 1 + j);
    defect_[n + 1 + j] = R_[n + 1 + j] - p.point[j];
    tangential.setZero();
    tangential[n + 1 + j] += 1.0;
    for (int k = 0; k < contact.slips; ++k) {
      tangential[n + 1 + k] -= p.by_x(j, k);
      tangential += p.by_x(j, k) * contact.rho * W_.row(n + 1 + k);
    }
    tangential[n] -= p.by_r[j] * on;
    tangential += p.by_r[j] * on * contact.rho * W_.row(n);
  }
}

/// One step of Newton's method; false where the equations have no solution. With W singular the
/// shortest step is taken.
bool FrictionSolver::newton_step() {
  jacobian_.resize(rows_, rows_);
  defect_.resize(rows_);
  for (std::size_t i = 0; i < contacts_.size(); ++i) fill_newton_rows(contacts_[i], i);
  Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> factors(jacobian_);
  unique_ = factors.rank() == rows_;
  R_ -= factors.solve(defect_);
  return R_.allFinite();
}

/// Newton's method while it brings the residual down.
bool FrictionSolver::polish(double& error) {
  constexpr double kDone = 4e-16;
  constexpr int kMostRounds = 12;
  for (int round = 0; round < kMostRounds && error > kDone; ++round) {
    kept_ = R_;
    const double before = error;
    if (!newton_step() || !((error = residual()) < before)) {
      R_ = kept_;
      error = residual();
      break;
    }
  }
  return error <= 1e-13;
}

/// R on its cone exactly: what Newton's method leaves of a free contact is zero.
void FrictionSolver::clean() {
  (void)residual();
  for (const Contact& contact : contacts_) {
    const int size = 1 + contact.slips;
    R_.segment(contact.first, size) = image_of(contact).head(size);
  }
  v_ = b_;
  v_.noalias() += W_ * R_;
}

/// What each impulse does: read off where it lies in its cone and how the contact moves.
void FrictionSolver::read_grips() {
  for (std::size_t i = 0; i < contacts_.size(); ++i) {
    const Contact& contact = contacts_[i];
    const Eigen::Vector3d R = block_of(R_, contact.first, contact.slips);
    const Eigen::Vector3d V = block_of(v_, contact.first, contact.slips);
    if (!(R.x() > 0.0)) {
      grips_[i] = Grip::Free;
      continue;
    }
    const double inside = contact.rho * V.tail<2>().norm();
    constexpr double kRounding = 1e-12;
    grips_[i] = inside <= kRounding * R.norm() ? Grip::Stick : Grip::Slip;
  }
}

problem::Report FrictionSolver::solve(const problem::Frictional& problem) {
  constexpr int kMostRounds = 60;
  constexpr int kSweeps = 20;  // before each try of Newton's method
  constexpr double kGood = 1e-11;
  take(problem);
  if (!eliminate_joints(problem)) return {.status = problem::Status::Infeasible};
  for (Contact& contact : contacts_) {
    const int size = 1 + contact.slips;
    const double trace = W_.block(contact.first, contact.first, size, size).trace();
    if (!(W_(contact.first, contact.first) > 0.0)) return {.status = problem::Status::Degenerate};
    contact.rho = size / trace;
  }
  R_.setZero(rows_);
  unique_ = true;
  double error = residual();
  int round = 0;
  bool done = error == 0.0;
  for (; round < kMostRounds && !done; ++round) {
    for (int k = 0; k < kSweeps; ++k) sweep();
    error = residual();
    done = polish(error);
  }
  clean();
  read_grips();
  find_joint_impulses(problem);
  const bool good = done || error <= kGood;
  return {.status = good ? problem::Status::Solved : problem::Status::IterationLimit,
          .iterations = round,
          .unique = unique_};
}

}  // namespace ricochet::solve
