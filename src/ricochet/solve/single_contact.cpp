#include "ricochet/solve/single_contact.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "ricochet/convex/pivoted.h"

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
    const Vector3d pushed = W_ * best_;
    constexpr double kRest = 1e-14;  // where W is singular, stick is found among the slips
    const bool rests = (pushed + b_).tail<2>().norm() <= kRest * (pushed.norm() + b_.norm());
    solution.grip = rests ? Grip::Stick : Grip::Slip;
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

/// (B + s) y = -c with |y| = 1.
struct DiscSlip {
  Eigen::Matrix2d B;
  Tangent c;

  Tangent defect(const Tangent& y, double s) const { return B * y + s * y + c; }

  /// Newton's method in the angle of y and s: a root of the quartic has lost digits where the
  /// quartic is flat.
  void polish(Tangent& y, double& s) const {
    constexpr int kMostRounds = 4;
    Tangent off = defect(y, s);
    for (int round = 0; round < kMostRounds; ++round) {
      const Tangent turned(-y.y(), y.x());
      const Tangent by_angle = B * turned + s * turned;
      const double det = by_angle.x() * y.y() - by_angle.y() * y.x();
      const double angle = (off.y() * y.x() - off.x() * y.y()) / det;
      const double more = (by_angle.y() * off.x() - by_angle.x() * off.y()) / det;
      const Tangent next = (y + angle * turned).normalized();
      const Tangent left = defect(next, s + more);
      if (!(left.norm() < off.norm())) return;
      y = next;
      s += more;
      off = left;
    }
  }
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
  const DiscSlip slip{B / unit, c / unit};
  const Tangent z(slip.B(1, 1) * slip.c.x() - slip.B(0, 1) * slip.c.y(),
                  slip.B(0, 0) * slip.c.y() - slip.B(1, 0) * slip.c.x());
  const double trace = slip.B.trace();
  const double det = slip.B(0, 0) * slip.B(1, 1) - slip.B(1, 0) * slip.B(0, 1);
  // |z + s c|^2 - (s^2 + trace s + det)^2
  const Polynomial f = {z.squaredNorm() - det * det, 2.0 * (z.dot(slip.c) - trace * det),
                        slip.c.squaredNorm() - trace * trace - 2.0 * det, -2.0 * trace, -1.0};
  const double far = 2.0 + std::abs(f[3]) + std::abs(f[2]) + std::abs(f[1]) + std::abs(f[0]);
  Choice choice(W, b);
  const Roots roots = roots_between(f, 4, 0.0, far);
  for (int k = 0; k < roots.count; ++k) {
    double s = roots.at[static_cast<std::size_t>(k)];
    Tangent y = (-(z + s * slip.c) / (s * s + trace * s + det)).normalized();
    slip.polish(y, s);
    const double error = slip.defect(y, s).norm() / (1.0 + s) + std::max(0.0, -s);
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
  const Tangent solved = convex::FullyPivoted<2>(A).solve(-Tangent(b.x(), along_e.dot(b)));
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

/// W is w_N + w_T times the unit matrix: a particle. R_N is given, and R_T is the point of R_N D
/// nearest to -U_T / w_T.                                               [Moreau 1986 (12.6)]
bool is_particle(const Matrix3d& W) {
  return W(1, 1) > 0.0 && W(0, 1) == 0.0 && W(0, 2) == 0.0 && W(1, 2) == 0.0 && W(1, 0) == 0.0 &&
         W(2, 0) == 0.0 && W(2, 1) == 0.0 && W(1, 1) == W(2, 2);
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

bool is_smooth(const convex::Section& section) {
  const auto* disc = std::get_if<convex::Disc>(&section);
  return disc != nullptr && disc->radius == 0.0;
}

/// W R = -b with R in C. Where tangential directions depend on each other the shortest R is tried
/// too: if any is in a disc, it is.
bool stick(const Matrix3d& W, const Vector3d& b, const convex::FrictionCone& cone, Vector3d& R) {
  const convex::FullyPivoted<3> factors(W);
  if (factors.rank() == 3) {
    R = factors.solve(-b);
    if (cone.contains(R)) return true;
  }
  constexpr double kSingular = 1e-12;
  if (factors.least_pivot() > kSingular * factors.largest_pivot()) return false;
  thread_local convex::PivotedQr shortest;
  shortest.compute(W, kSingular);
  shortest.solve_shortest(-b, R);
  constexpr double kRounding = 1e-13;
  const bool solves = (W * R + b).norm() <= kRounding * (b.norm() + W.norm() * R.norm());
  return solves && cone.contains(R);
}

struct Push {
  const Matrix3d& W;
  const Vector3d& b;

  SingleSolution operator()(const convex::Segment& s) const {
    return solve_in_plane(W(0, 0), W(0, 1), W(1, 1), b.x(), b.y(), s);
  }
  SingleSolution operator()(const convex::Disc& s) const { return on_ellipse(s.radius, s.radius); }
  SingleSolution operator()(const convex::Ellipse& s) const { return on_ellipse(s.a, s.b); }
  SingleSolution operator()(const convex::Polygon& s) const {
    SingleSolution solution;
    solution.grip = Grip::Stick;
    return stick(W, b, {s}, solution.impulse) ? solution : slip_on_polygon(W, b, s);
  }

  /// An ellipse is the unit disc in stretched directions: R_T = diag R'_T, U'_T = diag U_T.
  SingleSolution on_ellipse(double first, double second) const {
    const Vector3d stretch(1.0, first, second);
    const Matrix3d scaled = stretch.asDiagonal() * W * stretch.asDiagonal();
    const Vector3d free = stretch.cwiseProduct(b);
    SingleSolution solution;
    solution.grip = Grip::Stick;
    if (!stick(scaled, free, {convex::Disc{1.0}}, solution.impulse)) {
      solution = slip_on_disc(scaled, free);
    }
    solution.impulse = stretch.cwiseProduct(solution.impulse);
    const bool is_flat = first == 0.0 || second == 0.0;  // slip that way is not in the stretched U
    if (is_flat && (W * solution.impulse + b).tail<2>().norm() > 0.0) solution.grip = Grip::Slip;
    return solution;
  }
};

}  // namespace

SingleSolution solve_in_space(const Matrix3d& W, const Vector3d& b,
                              const convex::Section& section) {
  SingleSolution solution;
  if (!(b.x() < 0.0)) return solution;
  const bool is_flat = std::holds_alternative<convex::Segment>(section);
  if (!is_flat && is_particle(W)) return solve_particle(W, b, section);
  if (is_smooth(section)) {
    solution.impulse.x() = -b.x() / W(0, 0);
    solution.grip = Grip::Slip;
    return solution;
  }
  return std::visit(Push{W, b}, section);
}

}  // namespace ricochet::solve
