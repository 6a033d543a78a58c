#include "ricochet/solve/friction.h"

#include <algorithm>
#include <array>
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

  /// On the segment r [low, high] along one axis.
  Projected on_axis(double low, double high, Index axis) const {
    Projected p;
    p.point[axis] = std::clamp(x[axis], r * low, r * high);
    const bool is_inside = p.point[axis] == x[axis];
    p.by_x(axis, axis) = is_inside ? 1.0 : 0.0;
    if (!is_inside) p.by_r[axis] = x[axis] > p.point[axis] ? high : low;
    return p;
  }

  Projected operator()(const convex::Segment& s) const { return on_axis(s.low, s.high, 0); }
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
  Projected operator()(const convex::Ellipse& s) const {  // a flat one: others were made discs
    return s.a > 0.0 ? on_axis(-s.a, s.a, 0) : on_axis(-s.b, s.b, 1);
  }
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

void FrictionSolver::grow(Index rows, Index held) {
  if (W_.rows() < rows) {
    W_.resize(rows, rows);
    jacobian_.resize(rows, rows);
    for (Eigen::VectorXd* vector : {&b_, &stretch_, &v_, &R_, &kept_, &swept_, &step_, &defect_}) {
      vector->resize(rows);
    }
  }
  if (impulses_.size() < rows + held) impulses_.resize(rows + held);
  if (joint_W_.rows() != held) {
    joint_W_.resize(held, held);
    joint_free_.resize(held);
    joint_impulses_.resize(held);
  }
  if (joint_coupling_.rows() != held || joint_coupling_.cols() < W_.rows()) {
    joint_coupling_.resize(held, W_.rows());
    joint_solved_.resize(held, W_.rows());
  }
}

void FrictionSolver::take_factor(const problem::StepProblem& problem) {
  has_factor_ = problem.contact_rows() <= kFew || !problem.metric.is_diagonal();
  if (!has_factor_) return;
  if (factor_.rows() < problem.dofs || factor_.cols() < problem.rows()) {
    factor_.resize(std::max<Index>(factor_.rows(), problem.dofs),
                   std::max<Index>(factor_.cols(), problem.rows()));
  }
  for (int row = 0; row < problem.rows(); ++row) {
    problem.column(row, factor_.col(row).head(problem.dofs), scratch_);
  }
}

/// A_i . A_j.
double FrictionSolver::product(const problem::StepProblem& problem, Index i, Index j) const {
  const Index dofs = problem.dofs;
  if (has_factor_) return factor_.col(i).head(dofs).dot(factor_.col(j).head(dofs));
  return problem.product(static_cast<int>(i), static_cast<int>(j));
}

void FrictionSolver::take(const problem::StepProblem& problem) {
  rows_ = problem.contact_rows();
  grow(rows_, problem.held);
  take_factor(problem);
  contacts_.resize(problem.contacts.size());
  grips_.assign(problem.contacts.size(), Grip::Free);
  stretch_.head(rows_).setOnes();
  for (std::size_t i = 0; i < problem.contacts.size(); ++i) {
    const problem::StepProblem::Contact& given = problem.contacts[i];
    contacts_[i] = {given.first, given.slips, given.section};
    const auto* ellipse = std::get_if<convex::Ellipse>(&given.section);
    if (ellipse == nullptr || !(ellipse->a > 0.0 && ellipse->b > 0.0)) continue;
    stretch_[given.first + 1] = ellipse->a;
    stretch_[given.first + 2] = ellipse->b;
    contacts_[i].section = convex::Disc{1.0};
  }
  for (Index j = 0; j < rows_; ++j) {
    b_[j] = stretch_[j] * problem.free[static_cast<std::size_t>(j)];
    for (Index i = 0; i <= j; ++i) {
      W_(i, j) = W_(j, i) = stretch_[i] * stretch_[j] * product(problem, i, j);
    }
  }
}

/// W - W_cj W_jj^-1 W_jc and b_c - W_cj W_jj^-1 b_j. False when the joints depend on each other.
bool FrictionSolver::eliminate_joints(const problem::StepProblem& problem) {
  const Index held = problem.held;
  if (held == 0) return true;
  for (Index k = 0; k < held; ++k) {
    joint_free_[k] = problem.free[static_cast<std::size_t>(rows_ + k)];
    for (Index l = 0; l <= k; ++l) {
      joint_W_(k, l) = joint_W_(l, k) = product(problem, rows_ + k, rows_ + l);
    }
    for (Index j = 0; j < rows_; ++j) {
      joint_coupling_(k, j) = stretch_[j] * product(problem, rows_ + k, j);
    }
  }
  joint_factors_.compute(joint_W_);
  constexpr double kSingular = 1e-13;
  const auto pivots = joint_factors_.vectorD().cwiseAbs();
  if (!(pivots.minCoeff() > kSingular * pivots.maxCoeff())) return false;
  for (Index j = 0; j < rows_; ++j) {
    auto column = joint_solved_.col(j);
    column = joint_coupling_.col(j);
    joint_factors_.solveInPlace(column);
  }
  for (Index j = 0; j < rows_; ++j) {
    b_[j] -= joint_solved_.col(j).dot(joint_free_);
    for (Index i = 0; i <= j; ++i) {
      W_(i, j) -= joint_coupling_.col(i).dot(joint_solved_.col(j));
      W_(j, i) = W_(i, j);
    }
  }
  return true;
}

/// rho of each contact, and which of them nothing can push. False where one of these would have to.
bool FrictionSolver::weigh_contacts(const problem::StepProblem& problem) {
  constexpr double kRounding = 1e-13;  // of what the joints leave
  constexpr double kMust = 1e-10;
  double largest = 0.0;
  for (const double b : problem.free) largest = std::max(largest, std::abs(b));
  for (Contact& contact : contacts_) {
    const Index n = contact.first;
    const int size = 1 + contact.slips;
    contact.is_flat = !(W_(n, n) > kRounding * product(problem, n, n));
    if (contact.is_flat && !(b_[n] >= -kMust * largest)) return false;
    const double trace = W_.block(n, n, size, size).trace();
    contact.rho = contact.is_flat ? 0.0 : size / trace;
    contact.rho_N = contact.is_flat ? 0.0 : 1.0 / W_(n, n);
    const double tangential = trace - W_(n, n);
    contact.rho_T = tangential > 0.0 ? contact.slips / tangential : 0.0;
  }
  return true;
}

void FrictionSolver::find_joint_impulses(const problem::StepProblem& problem) {
  impulses_.head(rows_) = stretch_.head(rows_).cwiseProduct(R());
  if (problem.held == 0) return;
  joint_impulses_ = -joint_free_;
  joint_impulses_.noalias() -= joint_coupling_.leftCols(rows_) * R();
  joint_factors_.solveInPlace(joint_impulses_);
  impulses_.segment(rows_, problem.held) = joint_impulses_;
}

/// One contact with the others held, by a share of the way to its own solution.
void FrictionSolver::solve_block(const Contact& contact, double share) {
  if (contact.is_flat) return;
  const Index n = contact.first;
  const int size = 1 + contact.slips;
  const Eigen::Vector3d before = block_of(R_, n, contact.slips);
  R_.segment(n, size).setZero();
  Eigen::Vector3d free = Eigen::Vector3d::Zero();
  for (int i = 0; i < size; ++i) free[i] = b_[n + i] + W_.col(n + i).head(rows_).dot(R());
  R_.segment(n, size) = before.head(size);
  SingleSolution solution;
  if (contact.slips == 0) {
    solution.impulse.x() = std::max(0.0, -free.x() / W_(n, n));
  } else if (contact.slips == 1) {
    solution = solve_in_plane(W_(n, n), W_(n, n + 1), W_(n + 1, n + 1), free.x(), free.y(),
                              std::get<convex::Segment>(contact.section));
  } else {
    solution = solve_in_space(W_.block<3, 3>(n, n), free, contact.section);
  }
  if (solution.status != problem::Status::Solved) return;  // keeps what it has for this sweep
  R_.segment(n, size) += share * (solution.impulse - before).head(size);
}

void FrictionSolver::sweep(bool backward, double share) {
  const std::size_t count = contacts_.size();
  for (std::size_t k = 0; k < count; ++k) {
    solve_block(contacts_[backward ? count - 1 - k : k], share);
  }
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
  v() = b();
  v().noalias() += W() * R();
  double distance = 0.0;
  double scale = 0.0;
  for (const Contact& contact : contacts_) {
    const Eigen::Vector3d R = block_of(R_, contact.first, contact.slips);
    const Eigen::Vector3d free = block_of(b_, contact.first, contact.slips);
    distance = std::max(distance, (R - image_of(contact)).norm());
    scale = std::max({scale, R.norm(), contact.rho * free.norm()});
  }
  largest_ = scale;
  return scale > 0.0 ? distance / scale : 0.0;
}

/// Rows of  R_N - max(0, R_N - rho_N v_N),  R_T - P(R_T - rho_T v_T) on max(0, R_N - rho_N v_N) D.
void FrictionSolver::fill_newton_rows(const Contact& contact) {
  const Index n = contact.first;
  const double rho_N = scale_ * contact.rho_N;
  const double rho_T = scale_ * contact.rho_T;
  const double pushed = R_[n] - rho_N * v_[n];
  const double normal = std::max(0.0, pushed);
  const double on = pushed > 0.0 ? 1.0 : 0.0;
  const auto W_row = [&](Index i) { return W_.row(i).head(rows_); };
  auto row = jacobian_.row(n).head(rows_);
  defect_[n] = R_[n] - normal;
  row = on * rho_N * W_row(n);
  row[n] += 1.0 - on;
  if (contact.slips == 0) return;
  const Tangent x =
      (block_of(R_, n, contact.slips) - rho_T * block_of(v_, n, contact.slips)).tail<2>();
  const Projected p = std::visit(Projection{x, normal}, contact.section);
  for (int j = 0; j < contact.slips; ++j) {
    auto tangential = jacobian_.row(n + 1 + j).head(rows_);
    defect_[n + 1 + j] = R_[n + 1 + j] - p.point[j];
    tangential = p.by_r[j] * on * rho_N * W_row(n);
    tangential[n] -= p.by_r[j] * on;
    tangential[n + 1 + j] += 1.0;
    for (int k = 0; k < contact.slips; ++k) {
      tangential[n + 1 + k] -= p.by_x(j, k);
      tangential += p.by_x(j, k) * rho_T * W_row(n + 1 + k);
    }
  }
}

/// The step of Newton's method from R. With W singular the shortest one is taken; of many rows one
/// with as many zeros as can be.
void FrictionSolver::newton_step() {
  for (const Contact& contact : contacts_) fill_newton_rows(contact);
  newton_.compute(jacobian_.topLeftCorner(rows_, rows_));
  unique_ = newton_.rank() == rows_;
  if (rows_ <= kFew) {
    newton_.solve_shortest(defect_.head(rows_), step_.head(rows_));
  } else {
    newton_.solve(defect_.head(rows_), step_.head(rows_));
  }
}

/// Newton's method while it brings the residual down, by shorter steps where it must.
bool FrictionSolver::polish(double& error) {
  constexpr double kDone = 4e-16;
  constexpr double kGood = 1e-13;
  constexpr int kMostRounds = 12;
  constexpr int kMostHalvings = 8;
  for (int round = 0; round < kMostRounds && error > kDone; ++round) {
    kept_.head(rows_) = R();
    newton_step();
    const double before = error;
    double share = 1.0;
    bool is_better = false;
    for (int k = 0; k <= kMostHalvings && !is_better; ++k, share *= 0.5) {
      R() = kept_.head(rows_) - share * step_.head(rows_);
      error = residual();
      is_better = error < before;
      if (before <= kGood) break;  // the last digits: a whole step or none
    }
    if (is_better) continue;
    R() = kept_.head(rows_);
    error = residual();
    break;
  }
  return error <= kGood;
}

/// R in its cone exactly: what Newton's method leaves of a free contact becomes zero.
void FrictionSolver::clean() {
  for (const Contact& contact : contacts_) {
    const int size = 1 + contact.slips;
    R_.segment(contact.first, size) = image_of(contact).head(size);
  }
  v() = b();
  v().noalias() += W() * R();
}

/// Whether an impulse stays in its cone when its tangential part grows by this part of it, or where
/// there is none, by this part of the impulse in any direction.
bool FrictionSolver::is_inside(const Contact& contact, const Eigen::Vector3d& R, double margin) {
  const convex::FrictionCone cone{contact.section};
  const auto stays = [&](const Tangent& step) {
    Eigen::Vector3d beyond = R;
    beyond.tail<2>() += margin * step;
    return cone.project(beyond) == beyond;
  };
  if (contact.slips == 0) return false;
  if (R.tail<2>().squaredNorm() > 0.0) return stays(R.tail<2>());
  for (int j = 0; j < contact.slips; ++j) {
    const Tangent step = R.norm() * Tangent::Unit(j);
    if (!stays(step) || !stays(-step)) return false;
  }
  return true;
}

/// What each impulse does: read off where it lies in its cone and how the contact moves. Where not
/// the last digits were found, as of impulses that are not unique, motions that small are none.
void FrictionSolver::read_grips(double error) {
  constexpr double kSolved = 1e-13;
  const double unknown = error > kSolved ? 10.0 * error * largest_ : 0.0;
  for (std::size_t i = 0; i < contacts_.size(); ++i) {
    const Contact& contact = contacts_[i];
    const Eigen::Vector3d R = block_of(R_, contact.first, contact.slips);
    const Eigen::Vector3d V = block_of(v_, contact.first, contact.slips);
    if (!(R.x() > 0.0)) continue;  // free
    constexpr double kRounding = 1e-12;
    constexpr double kWellInside = 1e-6;
    const double motion = contact.rho * V.tail<2>().norm();
    const bool rests = motion <= kRounding * R.norm() || motion <= unknown;
    grips_[i] = rests || is_inside(contact, R, kWellInside) ? Grip::Stick : Grip::Slip;
  }
}

bool FrictionSolver::finish(const problem::StepProblem& problem, const Eigen::VectorXd& impulses) {
  take(problem);
  if (!eliminate_joints(problem) || !weigh_contacts(problem)) return false;
  R() = impulses.head(rows_).cwiseQuotient(stretch_.head(rows_));
  scale_ = 1.0;
  double error = residual();
  polish(error);
  clean();
  read_grips(error);
  find_joint_impulses(problem);
  return true;
}

/// Sweeps go forward at first; later back, and by shares of the way, so that they do not run round
/// in the same circle. Newton's equations have the same solutions for all rho, but not the same
/// ways to them.
problem::Report FrictionSolver::solve(const problem::StepProblem& problem) {
  constexpr int kMostRounds = 100;
  constexpr double kGood = 1e-11;
  take(problem);
  if (!eliminate_joints(problem)) return {.status = problem::Status::Infeasible};
  if (!weigh_contacts(problem)) return {.status = problem::Status::Degenerate};
  R().setZero();
  unique_ = true;
  double error = residual();
  int round = 0;
  bool done = error == 0.0;
  for (; round < kMostRounds && !done; ++round) {
    const int way = round % 4;
    const double share = way < 2 ? 1.0 : 0.2 + 0.8 * std::fmod(0.618034 * round, 1.0);
    const int sweeps = 6 * (1 + round % 6);
    for (int k = 0; k < sweeps; ++k) sweep(way == 1 || (way == 3 && k % 2 == 0), share);
    error = residual();
    swept_.head(rows_) = R();
    constexpr std::array kScales = {1.0, 10.0, 0.1, 1.0, 100.0, 0.01, 3.0};
    scale_ = kScales[static_cast<std::size_t>(round) % kScales.size()];
    done = polish(error);
    if (!done) R() = swept_.head(rows_);
  }
  if (!done) error = residual();
  clean();
  read_grips(error);
  find_joint_impulses(problem);
  const bool good = done || error <= kGood;
  return {.status = good ? problem::Status::Solved : problem::Status::IterationLimit,
          .iterations = round,
          .unique = unique_};
}

}  // namespace ricochet::solve
