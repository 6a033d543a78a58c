// Parts of a system that a program gives as functions: the motion of formulas, and what is refused.

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <stdexcept>

#include "ricochet/base/error.h"
#include "ricochet/record/trajectory.h"
#include "ricochet/scene/scene.h"
#include "ricochet/study/inspect_scene.h"
#include "ricochet/study/motion.h"

namespace ricochet::testing::outside_test {
namespace {

constexpr double kRadius = 40.0;

/// Moreau's unilateral pendulum (1986, essai 4) and, for the mass, a double pendulum.
class Functions : public model::Outside {
 public:
  int find_gap(const std::string& contact) const override { return contact == "wall" ? 0 : -1; }
  bool has_force() const override { return true; }
  bool has_mass() const override { return true; }
  double gap(int, double t, std::span<const double> q) const override {
    if (t > fails_after) throw std::runtime_error("my fault");
    return kRadius * kRadius - (q[0] * q[0] + q[1] * q[1]);
  }
  double slope(int, double, std::span<const double> q, std::span<double> slope) const override {
    slope[0] = -2.0 * q[0];
    slope[1] = -2.0 * q[1];
    return 0.0;
  }
  void add_force(double, std::span<const double>, std::span<const double>,
                 std::span<double> force) const override {
    force[1] -= 1000.0;
  }
  void mass(std::span<const double> q,
            model::Matrix<model::kDynamic, model::kDynamic>& mass) const override {
    mass << 2.0, std::cos(q[0] - q[1]), std::cos(q[0] - q[1]), 1.0;
  }
  double fails_after{1e9};
};

const std::string kPendulum = R"scene(
[system]
coordinates = ["x", "y"]
mass        = [1, 1]
force       = FORCE
[contact.wall]
keep = "KEEP"
[start]
position = { x = 0, y = -40 }
velocity = { x = "sqrt(200)*40", y = 0 }
[run]
scheme = "SCHEME"
step   = 0.005
until  = 0.5
)scene";

std::string replaced(std::string text, const std::string& word, const std::string& by) {
  return text.replace(text.find(word), word.size(), by);
}

std::string pendulum(const std::string& force, const std::string& keep, const std::string& scheme) {
  return replaced(replaced(replaced(kPendulum, "FORCE", force), "KEEP", keep), "SCHEME", scheme);
}

/// A mass that changes within `length`.
class Ripple : public Functions {
 public:
  explicit Ripple(double length) : length_(length) {}
  void mass(std::span<const double> q,
            model::Matrix<model::kDynamic, model::kDynamic>& mass) const override {
    mass << 2.0 + std::sin(q[0] / length_), 0.0, 0.0, 1.0;
  }

 private:
  double length_;
};

TEST(Outside, MassesAreDifferencedAtTheirOwnLength) {
  for (const double length : {1e2, 1.0, 1e-2, 1e-4}) {
    const Ripple ripple(length);
    model::OutsideScratch scratch(2);
    const Eigen::Vector2d q(0.3 * length, 5.0);
    model::Vector<model::kDynamic> slope(2);
    model::differ_mass(ripple, q, Eigen::Vector2d(1.0, 1.0), scratch, slope, nullptr);
    const double exact = 0.5 * std::cos(0.3) / length;
    EXPECT_NEAR(slope[0], exact, 1e-7 * exact) << length;
    EXPECT_EQ(slope[1], 0.0);
  }
}

/// A mass from a table of seven digits.
class Rounded : public Functions {
 public:
  void mass(std::span<const double> q,
            model::Matrix<model::kDynamic, model::kDynamic>& mass) const override {
    mass << std::round(1e7 * (1.0 + 1e-3 * std::sin(q[0]))) * 1e-7, 0.0, 0.0, 1.0;
  }
};

TEST(Outside, RoughMassesAreNotDifferencedTooFinely) {
  // M is off by d = 5e-8: a difference over 2h by d/h, with h = 1e-3 and its half, extrapolated by
  // (4 * 1e-4 + 5e-5) / 3, of which dT/dq has half.
  constexpr double kLost = 7.5e-5;
  const Rounded rounded;
  model::OutsideScratch scratch(2);
  model::Vector<model::kDynamic> slope(2);
  for (int k = 0; k < 200; ++k) {
    const double q = 0.03 * k;
    model::differ_mass(rounded, Eigen::Vector2d(q, 0.0), Eigen::Vector2d(1.0, 0.0), scratch, slope,
                       nullptr);
    EXPECT_NEAR(slope[0], 0.5e-3 * std::cos(q), 1.01 * kLost) << q;
  }
}

TEST(Outside, MovesAsFormulasDo) {
  const auto functions = std::make_shared<Functions>();
  for (const char* scheme : {"elast", "inel", "moreau", "mabrouk", "moreau-jean"}) {
    const study::Motion formulas = study::run_scene(
        scene::read_scene("f.toml", pendulum("[0, -1000]", "x^2 + y^2 <= 40^2", scheme)), true);
    const study::Motion outside = study::run_scene(
        scene::read_scene("o.toml", pendulum("\"outside\"", "outside", scheme), {}, functions),
        true);
    ASSERT_TRUE(outside.outcome.certificate.ok()) << scheme;
    ASSERT_EQ(outside.rows.size(), formulas.rows.size());
    for (std::size_t k = 0; k < formulas.rows.size(); ++k) {
      for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_NEAR(outside.rows[k].q[i], formulas.rows[k].q[i], 1e-12 * kRadius) << scheme;
      }
    }
    EXPECT_FALSE(outside.scene.system().model->is_autonomous());
  }
}

TEST(Outside, WhatItThrowsComesOutOfTheRun) {
  const auto functions = std::make_shared<Functions>();
  functions->fails_after = 0.2;
  const scene::Scene scene =
      scene::read_scene("o.toml", pendulum("\"outside\"", "outside", "elast"), {}, functions);
  EXPECT_THROW((void)study::run_scene(scene, false), std::runtime_error);
}

TEST(Outside, TheWordMeansNothingWithoutFunctions) {
  EXPECT_THROW((void)scene::read_scene("o.toml", pendulum("[0, -1000]", "outside", "elast")),
               base::InputError);
}

TEST(Outside, FrictionAndInspectionNeedFormulas) {
  const auto functions = std::make_shared<Functions>();
  const std::string text = pendulum("\"outside\"", "outside", "moreau");
  try {
    (void)scene::read_scene("o.toml", replaced(text, "[start]", "friction = 0.5\n[start]"), {},
                            functions);
    ADD_FAILURE();
  } catch (const base::InputError& error) {
    EXPECT_EQ(error.key(), "contact.wall.friction");
    EXPECT_GT(error.spot().line, 0);
  }
  const scene::Scene scene = scene::read_scene("o.toml", text, {}, functions);
  EXPECT_THROW((void)study::inspect_end(scene, nullptr), base::InputError);
}

/// Exact: T = a'^2 + b'^2/2 + a' b' cos(a - b), so dT/da = -a' b' sin(a - b) = -dT/db, and
/// (dM/dt) u = -sin(a - b) (a' - b') (b', a').
TEST(Outside, DerivativesOfAMassAreThoseOfItsFormula) {
  const Functions functions;
  const model::Vector<model::kDynamic> q = Eigen::Vector2d(1.1, 0.4);
  const model::Vector<model::kDynamic> u = Eigen::Vector2d(-0.7, 2.0);
  model::OutsideScratch scratch(2);
  model::Vector<model::kDynamic> slope(2);
  model::Vector<model::kDynamic> turn(2);
  model::differ_mass(functions, q, u, scratch, slope, &turn);
  const double sine = std::sin(q[0] - q[1]);
  EXPECT_NEAR(slope[0], -u[0] * u[1] * sine, 1e-11);
  EXPECT_NEAR(slope[1], u[0] * u[1] * sine, 1e-11);
  EXPECT_NEAR(turn[0], -sine * (u[0] - u[1]) * u[1], 1e-11);
  EXPECT_NEAR(turn[1], -sine * (u[0] - u[1]) * u[0], 1e-11);
}

TEST(Trajectory, KeepsRowsInOneBlock) {
  record::Trajectory rows({{"x"}, {"wall"}, true}, 2.0);
  EXPECT_EQ(rows.names(),
            (std::vector<std::string>{"t", "x", "d_x", "wall.gap", "wall.impulse_n",
                                      "energy.kinetic", "energy.potential", "energy"}));
  const double q = 3.0, u = 4.0, gap = 5.0, impulse = 6.0;
  for (const double t : {0.0, 0.5, 1.0}) {  // one more than was expected
    rows.add({0, t, {&q, 1}, {&u, 1}, {&gap, 1}, {&impulse, 1}, 7.0, 0.5});
  }
  ASSERT_EQ(rows.rows(), 3U);
  const std::vector<double> last(rows.data() + 2 * rows.width(), rows.data() + 3 * rows.width());
  EXPECT_EQ(last, (std::vector<double>{1.0, 3.0, 4.0, 5.0, 6.0, 7.0, 0.5, 7.5}));
}

}  // namespace
}  // namespace ricochet::testing::outside_test
