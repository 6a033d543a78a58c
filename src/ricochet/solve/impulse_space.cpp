#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "ricochet/base/dormand_prince.h"
#include "ricochet/solve/impulse_time.h"

namespace ricochet::solve {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector2d;
using Eigen::Vector3d;

constexpr double kUnreached = std::numeric_limits<double>::infinity();

/// What a slip in the direction d gives per normal impulse: the point of the section farthest
/// against it.
Vector2d farthest(const convex::Section& section, const Vector2d& d) {
  if (const auto* segment = std::get_if<convex::Segment>(&section)) {
    return {d.x() > 0.0 ? segment->low : segment->high, 0.0};
  }
  if (const auto* disc = std::get_if<convex::Disc>(&section)) return -disc->radius * d;
  const auto& [a, b] = std::get<convex::Ellipse>(section);
  const Vector2d scaled(a * a * d.x(), b * b * d.y());
  const double size = std::hypot(a * d.x(), b * d.y());
  return size > 0.0 ? Vector2d(-scaled / size) : Vector2d(0.0, 0.0);
}

/// One shock on its way. Its slip lies on a line (in the plane, or once it stopped), or turns.
class Follower {
 public:
  /// theta, ln s, U_N, R_N, R_T (2), work of the normal impulse in this part
  using Slide = Eigen::Matrix<double, 7, 1>;

  Follower(const Matrix3d& W, const Vector3d& before, const convex::Section& section, double e,
           Restitution kind)
      : W_(W),
        U_(before),
        before_(before.x()),
        section_(section),
        e_(e),
        kind_(kind),
        is_plane_(std::holds_alternative<convex::Segment>(section)) {}

  FollowedShock run() {
    if (!(U_.x() < 0.0)) return shock_;
    shock_.ended = false;
    constexpr int kMostPieces = 8;  // slip, stop or turn, end of compression, end
    for (int piece = 0; piece < kMostPieces && !shock_.ended && !is_stuck_; ++piece) {
      const Vector2d slip = U_.tail<2>();
      if (slip.isZero(0.0)) {
        start_from_rest();
      } else if (is_plane_ || keeps_line_) {
        along_line(farthest(section_, slip.normalized()), true);
      } else {
        turn();
      }
    }
    return shock_;
  }

 private:
  Vector3d rate(const Vector2d& ratio) const { return W_ * Vector3d(1.0, ratio.x(), ratio.y()); }

  /// How much more normal impulse ends this part, from U_N = u at the rate r.
  double left(double u, double r) const {
    if (!expands_) return r > 0.0 ? -u / r : kUnreached;
    if (kind_ == Restitution::Poisson) return std::max(0.0, impulse_ - shock_.impulse.x());
    if (kind_ == Restitution::Newton) {
      const double more = -e_ * before_ - u;
      return more <= 0.0 ? 0.0 : r > 0.0 ? more / r : kUnreached;
    }
    const double work = -e_ * e_ * shock_.compression - shock_.expansion;  // u x + r x^2 / 2
    if (work <= 0.0) return 0.0;
    const double root = u * u + 2.0 * r * work;
    return root > 0.0 ? 2.0 * work / (u + std::sqrt(root)) : kUnreached;
  }

  void end_part() {
    if (expands_ || e_ == 0.0) {
      shock_.ended = true;
      return;
    }
    expands_ = true;
    U_.x() = 0.0;
    impulse_ = (1.0 + e_) * shock_.impulse.x();
  }

  /// Constant rates: to the end of this part, or to where the slip stops.
  void along_line(const Vector2d& ratio, bool slips) {
    const Vector3d V = rate(ratio);
    const double to_end = left(U_.x(), V.x());
    const Vector2d slip = U_.tail<2>();
    const double closing = slips ? -V.tail<2>().dot(slip) / slip.norm() : 0.0;
    const double to_stop = closing > 0.0 && !leaves_ ? slip.norm() / closing : kUnreached;
    const double length = std::min(to_end, to_stop);
    is_stuck_ = length == kUnreached;  // it never ends
    if (is_stuck_) return;
    (expands_ ? shock_.expansion : shock_.compression) += length * (U_.x() + 0.5 * length * V.x());
    shock_.impulse += length * Vector3d(1.0, ratio.x(), ratio.y());
    U_ += length * V;
    if (!slips || to_stop <= to_end) U_.tail<2>().setZero();
    shock_.sticks = !slips;
    if (to_end <= to_stop) end_part();
  }

  /// From rest the slip stays so if the cone allows, or leaves along a line.
  void start_from_rest() {
    const Vector2d pull = W_.block<2, 1>(1, 0);
    Vector2d stuck = Vector2d::Zero();
    if (is_plane_) {
      stuck.x() = -pull.x() / W_(1, 1);
    } else {
      const double det = W_(1, 1) * W_(2, 2) - W_(1, 2) * W_(1, 2);
      stuck = Vector2d(W_(1, 2) * pull.y() - W_(2, 2) * pull.x(),
                       W_(1, 2) * pull.x() - W_(1, 1) * pull.y()) /
              det;
    }
    if (convex::contains(section_, stuck, 1.0)) return along_line(stuck, false);
    Vector2d d(-stuck.x() > 0.0 ? 1.0 : -1.0, 0.0);
    if (!is_plane_ && !find_leaving(d)) {
      is_stuck_ = true;
      return;
    }
    leaves_ = keeps_line_ = true;
    U_.tail<2>() = 1e-300 * d;  // the direction alone counts
    along_line(farthest(section_, d), true);
    shock_.sticks = false;
  }

  /// The direction that a slip keeps as it grows from nothing: V_T along it.
  bool find_leaving(Vector2d& d) const {
    constexpr int kLooks = 720;
    const auto unit = [](double angle) { return Vector2d(std::cos(angle), std::sin(angle)); };
    const auto across = [&](double angle) {
      const Vector2d along = unit(angle);
      const Vector3d V = rate(farthest(section_, along));
      return along.x() * V.z() - along.y() * V.y();
    };
    for (int i = 0; i < kLooks; ++i) {
      double low = 2.0 * M_PI * i / kLooks, high = 2.0 * M_PI * (i + 1) / kLooks;
      const double first = across(low);
      if (first * across(high) > 0.0) continue;
      for (int round = 0; round < 60; ++round) {
        const double middle = 0.5 * (low + high);
        (first * across(middle) > 0.0 ? low : high) = middle;
      }
      d = unit(0.5 * (low + high));
      if (rate(farthest(section_, d)).tail<2>().dot(d) > 0.0) return true;
    }
    return false;
  }

  Slide slope(const Slide& y) const {
    const double s = std::exp(y[1]);
    const Vector2d d(std::cos(y[0]), std::sin(y[0]));
    const Vector2d ratio = farthest(section_, d);
    const Vector3d V = rate(ratio);
    Slide f;
    f << d.x() * V.z() - d.y() * V.y(), d.x() * V.y() + d.y() * V.z(), s * V.x(), s, s * ratio.x(),
        s * ratio.y(), s * y[2];
    return f;
  }

  /// One step of the method of order 5(4); what it is off by, in the units of `size`.
  Slide step(const Slide& y, double h, const Slide& size, double& error) const {
    const base::DormandPrince& rule = base::kDormandPrince;
    std::array<Slide, 7> k;
    k[0] = slope(y);
    Slide at = y;
    for (std::size_t i = 1; i < 7; ++i) {
      at = y;
      for (std::size_t j = 0; j < i; ++j) at += h * rule.stages[i - 1][j] * k[j];
      k[i] = slope(at);
    }
    Slide off = Slide::Zero();
    for (std::size_t i = 0; i < 7; ++i) off += h * rule.error[i] * k[i];
    error = off.cwiseAbs().cwiseQuotient(size).maxCoeff();
    return at;
  }

  /// Grows through 0 where this part ends.
  double over(const Slide& y) const {
    if (!expands_) return y[2];
    if (kind_ == Restitution::Newton) return y[2] + e_ * before_;
    if (kind_ == Restitution::Poisson) return y[3] - impulse_;
    return y[6] + e_ * e_ * shock_.compression;
  }

  /// The part of a step at which this part of the shock ends.
  Slide end_within(const Slide& y, double h, const Slide& size) const {
    double low = 0.0, high = h, error = 0.0;
    double f_low = over(y), f_high = over(step(y, h, size, error));
    for (int round = 0; round < 100 && high - low > 1e-16 * h; ++round) {
      double middle = low + (high - low) * f_low / (f_low - f_high);
      if (!(middle > low && middle < high) || round % 6 == 5) middle = 0.5 * (low + high);
      const double value = over(step(y, middle, size, error));
      (value < 0.0 ? low : high) = middle;
      (value < 0.0 ? f_low : f_high) = value;
      (value < 0.0 ? f_high : f_low) *= 0.5;
    }
    return step(y, high, size, error);
  }

  /// A slip that turns, up to the end of this part or to where it stops.
  void turn() {
    constexpr double kAccuracy = 1e-13;
    constexpr double kNothing = 36.0;  // e-foldings after which a slip has stopped
    constexpr int kMostSteps = 200000;
    Slide y;
    y << std::atan2(U_.z(), U_.y()), std::log(U_.tail<2>().norm()), U_.x(), shock_.impulse.x(),
        shock_.impulse.y(), shock_.impulse.z(), 0.0;
    const double speed = std::abs(before_), push = speed / W_(0, 0);
    Slide size;
    size << 1.0, 1.0, speed, push, push, push, speed * push;
    const double last = y[1] - kNothing;
    double h = 0.01 / W_.norm(), error = 0.0;
    for (int count = 0; count < kMostSteps; ++count) {
      const Slide next = step(y, h, size, error);
      const double factor = 0.9 * std::pow(std::max(error / kAccuracy, 1e-10), -0.2);
      if (!(error <= kAccuracy)) {
        h *= std::clamp(factor, 0.1, 0.9);
        continue;
      }
      const bool ends = over(next) >= 0.0;
      y = ends ? end_within(y, h, size) : next;
      if (ends || y[1] < last) return take(y, !ends);
      h *= std::min(factor, 4.0);
    }
    is_stuck_ = true;
  }

  void take(const Slide& y, bool stops) {
    U_ << y[2], std::exp(y[1]) * std::cos(y[0]), std::exp(y[1]) * std::sin(y[0]);
    shock_.impulse = y.segment<3>(3);
    (expands_ ? shock_.expansion : shock_.compression) += y[6];
    if (stops) {
      U_.tail<2>().setZero();
    } else {
      end_part();
    }
  }

  Matrix3d W_;
  Vector3d U_;
  double before_;
  convex::Section section_;
  double e_;
  Restitution kind_;
  bool is_plane_;
  bool keeps_line_{false};  // it left from rest
  bool leaves_{false};      // and grows
  bool expands_{false};
  bool is_stuck_{false};  // the shock does not end
  double impulse_{0.0};   // at which Poisson's expansion ends
  FollowedShock shock_;
};

}  // namespace

FollowedShock follow_in_space(const Matrix3d& W, const Vector3d& before,
                              const convex::Section& section, double e, Restitution kind) {
  return Follower(W, before, section, e, kind).run();
}

}  // namespace ricochet::solve
