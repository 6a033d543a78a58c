// The map from impact to impact of one coordinate against one wall, and its derivative.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <numbers>
#include <string>
#include <utility>

#include "ricochet/flow/flow.h"
#include "support.h"

namespace ricochet::testing {

/// A wall that moves, on the side of x where `side` points away from it.
struct Wall {
  std::function<double(double)> place, speed, acceleration;
  double side{1.0};
};

inline Wall still_wall(double place, double side) {
  const auto none = [](double) { return 0.0; };
  return {[place](double) { return place; }, none, none, side};
}

/// (t, w) of take-off, w the relative speed, to the next one, for one coordinate and one contact.
class ImpactMap {
 public:
  using Force = std::function<double(double t, double x, double u)>;

  ImpactMap(const std::string& text, Wall wall, Force force)
      : scene_(read_text(text)),
        equations_(*scene_.formulas(), true, {}),
        flow_(equations_, {}),
        wall_(std::move(wall)),
        force_(std::move(force)) {
    flow_.keep_columns(true);
  }

  /// One bounce; D is multiplied by its derivative from the left. False where no impact comes.
  bool bounce(Eigen::Vector2d& z, Eigen::Matrix2d& D) {
    constexpr double kLongest = 1000.0;
    const double t = z[0], w = z[1], side = wall_.side;
    const double x = wall_.place(t), u = wall_.speed(t) + side * w;
    flow_.start(t, Eigen::VectorXd::Constant(1, x), Eigen::VectorXd::Constant(1, u));
    Eigen::Matrix2d columns;
    columns << wall_.speed(t) - u, 0.0, wall_.acceleration(t) - force_(t, x, u), side;
    flow_.set_columns(columns);
    const flow::Event event = flow_.advance(kLongest);
    if (event.kind != flow::EventKind::Impact) {
      ADD_FAILURE() << "no impact from " << z.transpose() << ": " << flow_.failure();
      return false;
    }
    const double end = t + flow_.elapsed();
    const double after = side * (flow_.u()[0] - wall_.speed(end));
    columns = flow_.columns();
    Eigen::Matrix2d step;
    step.row(0) = -side * columns.row(0) / after;
    step.row(1) =
        side * (columns.row(1) +
                (force_(end, flow_.q()[0], flow_.u()[0]) - wall_.acceleration(end)) * step.row(0));
    z = {end, after};
    D = step * D;
    approach = event.approach;
    return true;
  }

  /// So many bounces; the derivative of all of them.
  Eigen::Matrix2d bounces(Eigen::Vector2d& z, int count) {
    Eigen::Matrix2d D = Eigen::Matrix2d::Identity();
    for (int k = 0; k < count && bounce(z, D); ++k) {
    }
    return D;
  }

  /// Newton's method for an orbit of so many bounces that repeats after multiples of `modulus`, or
  /// after so many of them.
  Eigen::Matrix2d close(Eigen::Vector2d& z, int count, double modulus, int turns = 0) {
    Eigen::Matrix2d D;
    for (int round = 0; round < 20; ++round) {
      Eigen::Vector2d end = z;
      D = bounces(end, count);
      Eigen::Vector2d off = end - z;
      off[0] -= modulus * (turns > 0 ? turns : std::round(off[0] / modulus));
      if (off.norm() < 1e-13) return D;
      z -= (D - Eigen::Matrix2d::Identity()).inverse() * off;
    }
    return D;
  }

  double approach{0.0};

 private:
  scene::Scene scene_;
  flow::Equations equations_;
  flow::Flow flow_;
  Wall wall_;
  Force force_;
};

/// Where a function vanishes, by secants that move by `most` at a time.
inline double zero_near(double from, double step, double most,
                        const std::function<double(double)>& value) {
  double a = from, fa = value(a), b = from + step, fb = value(b);
  for (int round = 0; round < 30 && std::abs(b - a) > 1e-13 * std::abs(b) && fb != fa; ++round) {
    const double next = std::clamp(b - fb * (b - a) / (fb - fa), b - most, b + most);
    a = b, fa = fb;
    b = next, fb = value(b);
  }
  return b;
}

inline std::complex<double> multiplier(const Eigen::Matrix2d& D) {
  const std::complex<double> root =
      std::sqrt(std::complex<double>(0.25 * D.trace() * D.trace() - D.determinant()));
  return 0.5 * D.trace() + root;
}

/// The ball of gravity 1 on the table z >= G sin t, thrown off at s with the relative speed w.
inline std::string table_text(double G, double e, const std::string& more = "") {
  return fmt::format(
      "[system]\ncoordinates = [\"z\"]\nparameters = {{ G = {:.17g}, s = 0.51, w = 2.09 }}\n"
      "mass = [1]\npotential = \"z\"\nperiod = \"2*pi\"\n"
      "[contact.table]\nkeep = \"z >= G*sin(t)\"\nrestitution = {:.17g}\n"
      "[start]\nposition = {{ z = \"G*sin(s)\" }}\nvelocity = {{ z = \"G*cos(s) + w\" }}\n"
      "[run]\nscheme = \"event-driven\"\nstep = 0.01\nuntil = 10\nstart_time = \"s\"\n{}\n",
      G, e, more);
}

inline ImpactMap table_map(double G, double e) {
  return {table_text(G, e),
          {[G](double t) { return G * std::sin(t); }, [G](double t) { return G * std::cos(t); },
           [G](double t) { return -G * std::sin(t); }},
          [](double, double, double) { return -1.0; }};
}

/// Near the motion with one impact in n periods.
inline Eigen::Vector2d near_one_bounce(double G, double e, int n = 1) {
  const double pi = std::numbers::pi;
  return {std::acos(n * pi * (1.0 - e) / ((1.0 + e) * G)) + 1e-3, 2.0 * n * pi * e / (1.0 + e)};
}

}  // namespace ricochet::testing
