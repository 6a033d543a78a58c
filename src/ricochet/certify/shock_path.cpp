#include "ricochet/certify/shock_path.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>
#include <variant>

namespace ricochet::certify {
namespace {

/// U_N as a function of the normal impulse x: two straight pieces, of slopes a and b, that meet at
/// x = turn. Its zero, and where an expansion by e ends.
struct TwoPieces {
  double u, a, b, turn;

  double bend() const { return u + a * turn; }  // U_N where they meet
  double work(double x) const {                 // of the normal impulse
    if (x <= turn) return x * (u + 0.5 * a * x);
    const double more = x - turn;
    return turn * (u + 0.5 * a * turn) + more * (bend() + 0.5 * b * more);
  }
  /// The x at which U_N grows to v.
  double reach(double v) const {
    if (a > 0.0 && bend() >= v) return (v - u) / a;
    return turn + (v - bend()) / b;
  }
  /// The x after `from` at which the work has grown by w >= 0, U_N >= 0 being there.
  double gain(double from, double w) const {
    const auto solve = [](double speed, double slope, double more) {
      return more <= 0.0 ? 0.0
                         : 2.0 * more / (speed + std::sqrt(speed * speed + 2.0 * slope * more));
    };
    const double here = from <= turn ? u + a * from : bend() + b * (from - turn);
    if (from >= turn) return from + solve(here, b, w);
    const double first = work(turn) - work(from);
    return first >= w ? from + solve(here, a, w) : turn + solve(bend(), b, w - first);
  }
  double end(double e, problem::Restitution kind) const {
    const double compressed = reach(0.0);
    if (e == 0.0) return compressed;
    if (kind == problem::Restitution::Poisson) return (1.0 + e) * compressed;
    if (kind == problem::Restitution::Newton) return reach(-e * u);
    return gain(compressed, -e * e * work(compressed));
  }
};

/// The slip goes on until it stops at some impulse, if it does; then it sticks, or goes the way
/// that friction cannot hinder.
ShockPath shock_in_plane(const Eigen::Matrix3d& W, const Eigen::Vector3d& before,
                         const convex::Segment& section, double e, problem::Restitution kind) {
  const double slip = before.y();
  const double stick = -W(1, 0) / W(1, 1);
  const double second = std::clamp(stick, section.low, section.high);
  const double first = slip > 0.0 ? section.low : slip < 0.0 ? section.high : second;
  const double turning = W(1, 0) + first * W(1, 1);  // of the slip, per normal impulse
  const double turn = slip == 0.0            ? 0.0
                      : slip * turning < 0.0 ? -slip / turning
                                             : std::numeric_limits<double>::infinity();
  TwoPieces path{before.x(), W(0, 0) + first * W(0, 1), W(0, 0) + second * W(0, 1), turn};
  ShockPath found;
  if (std::isinf(turn)) {  // one piece: put their meeting where it does not matter
    found.ended = path.a > 0.0;
    path.b = path.a;
    path.turn = 0.0;
  }
  const double x = path.end(e, kind);
  const double along =
      std::isinf(turn) ? first * x : first * std::min(x, turn) + second * std::max(0.0, x - turn);
  found.impulse = {x, along, 0.0};
  found.ended = found.ended && std::isfinite(x);
  return found;
}

/// In space: U = (N, T, T) with dR_N = |U_T| dtau for time, in which a slip that stops does so as
/// an exponential.
class ShockInSpace {
 public:
  using Vec = Eigen::Matrix<double, 7, 1>;  // U (3), R (3), work of the normal impulse

  ShockInSpace(const Eigen::Matrix3d& W, const convex::Section& section, double e,
               problem::Restitution kind)
      : W_(W), section_(section), e_(e), kind_(kind) {}

  ShockPath run(const Eigen::Vector3d& before) {
    u_ = before.x();
    Vec y = Vec::Zero();
    y.head<3>() = before;
    bool ended = before.tail<2>().norm() > 0.0 && slide(y);
    if (!ended) ended = from_rest(y);
    return {y.segment<3>(3), ended};
  }

 private:
  static constexpr double kStep = 0.005;     // of the rate at which slips change
  static constexpr double kStopped = 1e-15;  // of the first slip
  static constexpr int kMost = 4000000;

  Eigen::Vector2d friction(const Eigen::Vector2d& d) const {  // maximal dissipation
    if (const auto* disc = std::get_if<convex::Disc>(&section_)) {
      return -disc->radius / d.norm() * d;
    }
    const auto& ellipse = std::get<convex::Ellipse>(section_);
    const Eigen::Vector2d axes(ellipse.a, ellipse.b);
    const Eigen::Vector2d scaled = axes.cwiseProduct(d);
    return -axes.cwiseProduct(scaled) / scaled.norm();
  }
  Vec rates(const Vec& y) const {
    const Eigen::Vector2d slip = y.segment<2>(1);
    const double s = slip.norm();
    Vec f = Vec::Zero();
    if (!(s > 0.0)) return f;
    Eigen::Vector3d R;
    R << 1.0, friction(slip);
    f << s * (W_ * R), s * R, s * y[0];
    return f;
  }
  Vec step(const Vec& y, double h) const {
    const Vec k1 = rates(y);
    const Vec k2 = rates(y + 0.5 * h * k1);
    const Vec k3 = rates(y + 0.5 * h * k2);
    const Vec k4 = rates(y + h * k3);
    return y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
  }
  /// Grows through 0 where compression, or the shock, ends.
  double over(const Vec& y) const {
    if (!expands_) return y[0];
    if (kind_ == problem::Restitution::Newton) return y[0] + e_ * u_;
    if (kind_ == problem::Restitution::Poisson) return y[3] - (1.0 + e_) * compressed_;
    return y[6] - (1.0 - e_ * e_) * work_;
  }
  void turn_round(const Vec& y) {
    expands_ = true;
    compressed_ = y[3];
    work_ = y[6];
  }

  /// True when the shock ends while the slip turns; false: it stops before.
  bool slide(Vec& y) {
    const double first = y.segment<2>(1).norm();
    const double reach =
        convex::support(section_, {1.0, 0.0}) + convex::support(section_, {0.0, 1.0});
    const double h = kStep / (W_.norm() * (1.0 + reach));
    for (int count = 0; count < kMost; ++count) {
      if (y.segment<2>(1).norm() <= kStopped * first) break;
      const Vec next = step(y, h);
      if (over(next) < 0.0) {
        y = next;
        continue;
      }
      double low = 0.0, high = 1.0;
      for (int round = 0; round < 60; ++round) {
        const double middle = 0.5 * (low + high);
        (over(step(y, middle * h)) < 0.0 ? low : high) = middle;
      }
      y = step(y, high * h);
      if (expands_ || e_ == 0.0) return true;
      turn_round(y);
    }
    y.segment<2>(1).setZero();
    return false;
  }

  /// From rest all rates are constant: stick, or the one direction that the slip keeps.
  bool from_rest(Vec& y) {
    const Eigen::Matrix2d T = W_.block<2, 2>(1, 1);
    Eigen::Vector2d ratio = -T.inverse() * W_.block<2, 1>(1, 0);
    if (!convex::contains(section_, ratio, 1.0) && !leave(ratio)) return false;
    Eigen::Vector3d R;
    R << 1.0, ratio;
    const double rate = W_.row(0).dot(R);
    TwoPieces rest{y[0], rate, rate, 0.0};
    if (!(rate > 0.0)) return false;
    double more = expands_ ? 0.0 : rest.reach(0.0);
    if (!expands_) {
      const double work = y[6] + rest.work(more);
      expands_ = true;
      compressed_ = y[3] + more;
      work_ = work;
    }
    if (e_ > 0.0) {
      if (kind_ == problem::Restitution::Poisson) more = (1.0 + e_) * compressed_ - y[3];
      if (kind_ == problem::Restitution::Newton) more = rest.reach(-e_ * u_);
      if (kind_ == problem::Restitution::Stronge) {
        const double grown = y[6] + rest.work(more);  // so far
        more = rest.gain(more, (1.0 - e_ * e_) * work_ - grown);
      }
    }
    y.segment<3>(3) += std::max(0.0, more) * R;
    return true;
  }

  /// A fixed point of d -> W_TN + W_TT friction(d), normalised, by damped rounds; checked.
  bool leave(Eigen::Vector2d& ratio) const {
    Eigen::Vector2d d =
        W_.block<2, 1>(1, 0) + W_.block<2, 2>(1, 1) * convex::project(section_, ratio, 1.0);
    if (!(d.norm() > 0.0)) return false;
    d.normalize();
    for (int round = 0; round < 100000; ++round) {
      const Eigen::Vector2d pull = W_.block<2, 1>(1, 0) + W_.block<2, 2>(1, 1) * friction(d);
      const Eigen::Vector2d next = (d + 0.2 * pull / W_.norm()).normalized();
      const double moved = (next - d).norm();
      d = next;
      if (moved <= 1e-16) break;
    }
    const Eigen::Vector2d pull = W_.block<2, 1>(1, 0) + W_.block<2, 2>(1, 1) * friction(d);
    ratio = friction(d);
    return pull.dot(d) > 0.0 && std::abs(pull.x() * d.y() - pull.y() * d.x()) <= 1e-12 * W_.norm();
  }

  Eigen::Matrix3d W_;
  convex::Section section_;
  double e_;
  problem::Restitution kind_;
  double u_{0.0};
  bool expands_{false};
  double compressed_{0.0};  // R_N where compression ended
  double work_{0.0};
};

}  // namespace

ShockPath follow(const Eigen::Matrix3d& W, const Eigen::Vector3d& before,
                 const convex::Section& section, double e, problem::Restitution kind) {
  if (const auto* segment = std::get_if<convex::Segment>(&section)) {
    return shock_in_plane(W, before, *segment, e, kind);
  }
  return ShockInSpace(W, section, e, kind).run(before);
}

}  // namespace ricochet::certify
