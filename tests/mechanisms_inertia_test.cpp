// Mass matrices and inertia terms that the program derives, against hand-derived ones. The scenes
// give the kinetic energy by the Cartesian velocities of the masses.

#include <gtest/gtest.h>

#include <cmath>

#include "ricochet/model/formula_view.h"
#include "ricochet/study/inspect.h"
#include "support.h"

namespace ricochet::model::mechanisms_inertia_test {
namespace {

using Vec = Eigen::VectorXd;

std::string mechanism(const std::string& system) {
  return system + R"toml(
[run]
scheme = "inel"
step = 0.01
until = 1
)toml";
}

/// What a mechanism's textbook says.
struct Hand {
  Eigen::Matrix2d mass;
  Eigen::Vector2d inertia;
};

Vec inertia_at(const FormulaModel& model, const Vec& q, const Vec& u) {
  FormulaSystem system = model.system();
  std::vector<double> inputs = {0.0};
  inputs.insert(inputs.end(), q.begin(), q.end());
  inputs.insert(inputs.end(), u.begin(), u.end());
  const std::vector<formula::NodeId> terms = inertia_terms(system);
  Vec c(q.size());
  for (Eigen::Index i = 0; i < c.size(); ++i) {
    c[i] = system.graph.evaluate(terms[static_cast<std::size_t>(i)], inputs);
  }
  return c;
}

/// *roundoff*: M and c, and M a + c = 0 for the free acceleration of `inspect` (no forces).
template <class Formula>
void compare(const std::string& text, Formula&& hand) {
  const scene::Scene scene = scene::read_scene("m.toml", mechanism(text));
  const FormulaModel& model = *scene.system().model;
  ASSERT_FALSE(model.has_constant_mass());
  const FormulaView<kDynamic, kDynamic> view(model);
  auto place = view.make_place();
  const study::Inspector inspector(model);
  base::Random random(5);
  for (int trial = 0; trial < 200; ++trial) {
    const Vec q = testing::random_vector(random, 2);
    const Vec u = 3.0 * testing::random_vector(random, 2);
    const Hand expected = hand(q, u);
    ASSERT_TRUE(view.load_mass(q, place));
    const double mass_size = expected.mass.cwiseAbs().maxCoeff();
    const double size = mass_size * (1.0 + u.squaredNorm());
    EXPECT_LT((view.mass(place).matrix() - expected.mass).cwiseAbs().maxCoeff(), 1e-12 * mass_size);
    EXPECT_LT((inertia_at(model, q, u) - expected.inertia).cwiseAbs().maxCoeff(), 1e-12 * size);
    const study::Inspection found = inspector.at({0.0, q, u});
    ASSERT_TRUE(found.ok());
    const Vec rest = expected.mass * found.free_acceleration + expected.inertia;
    const double reach = mass_size * found.free_acceleration.norm();
    EXPECT_LT(rest.cwiseAbs().maxCoeff(), 1e-12 * (size + reach));
  }
}

TEST(Inertia, DoublePendulum) {
  const double m1 = 2.0, m2 = 0.7, l1 = 1.3, l2 = 0.9;
  compare(R"toml(
[system]
coordinates = ["a", "b"]
parameters = { m1 = 2, m2 = 0.7, l1 = 1.3, l2 = 0.9 }
define = { vx = "l1*cos(a)*a' + l2*cos(b)*b'", vy = "l1*sin(a)*a' + l2*sin(b)*b'" }
kinetic = "0.5*m1*((l1*cos(a)*a')^2 + (l1*sin(a)*a')^2) + 0.5*m2*(vx^2 + vy^2)"
[start]
position = { a = 0, b = 1 }
)toml",
          [=](const Vec& q, const Vec& u) {
            const double k = m2 * l1 * l2;
            const double d = q[0] - q[1];
            Hand hand;
            hand.mass << (m1 + m2) * l1 * l1, k * std::cos(d), k * std::cos(d), m2 * l2 * l2;
            hand.inertia << k * std::sin(d) * u[1] * u[1], -k * std::sin(d) * u[0] * u[0];
            return hand;
          });
}

TEST(Inertia, SphericalPendulum) {
  const double m = 1.5, l = 2.0;
  compare(R"toml(
[system]
coordinates = ["theta", "phi"]
parameters = { m = 1.5, l = 2 }
define = { vx = "l*(cos(theta)*cos(phi)*theta' - sin(theta)*sin(phi)*phi')", vy = "l*(cos(theta)*sin(phi)*theta' + sin(theta)*cos(phi)*phi')", vz = "l*sin(theta)*theta'" }
kinetic = "0.5*m*(vx^2 + vy^2 + vz^2)"
[start]
position = { theta = 1, phi = 0 }
)toml",
          [=](const Vec& q, const Vec& u) {
            const double i = m * l * l;
            const double s = std::sin(q[0]);
            const double sc = s * std::cos(q[0]);
            Hand hand;
            hand.mass << i, 0.0, 0.0, i * s * s;
            hand.inertia << -i * sc * u[1] * u[1], 2.0 * i * sc * u[0] * u[1];
            return hand;
          });
}

TEST(Inertia, CartAndPole) {
  const double cart = 3.0, m = 0.4, l = 1.2;
  compare(R"toml(
[system]
coordinates = ["x", "theta"]
parameters = { cart = 3, m = 0.4, l = 1.2 }
kinetic = "0.5*cart*x'^2 + 0.5*m*((x' + l*cos(theta)*theta')^2 + (l*sin(theta)*theta')^2)"
[start]
position = { x = 0, theta = 1 }
)toml",
          [=](const Vec& q, const Vec& u) {
            const double k = m * l;
            Hand hand;
            hand.mass << cart + m, k * std::cos(q[1]), k * std::cos(q[1]), k * l;
            hand.inertia << -k * std::sin(q[1]) * u[1] * u[1], 0.0;
            return hand;
          });
}

constexpr const char* kTop = R"toml(
[system]
coordinates = ["a", "b", "c"]
kinetic = "0.5*((2 + cos(b))*a'^2 + (3 + sin(a)*cos(c))*b'^2 + 4*c'^2) + 0.3*a'*b'*sin(c) + 0.7*b'*c'*cos(a) + 0.2*a'*c'"
[start]
position = { a = 0, b = 1, c = 2 }
)toml";

/// M, M^-1, dT/du and dT/dq at a place and velocity.
template <int N>
std::vector<double> numbers_of(const FormulaView<N, kDynamic>& view, const Vector<N>& q,
                               const Vector<N>& u,
                               typename FormulaView<N, kDynamic>::Place& place) {
  EXPECT_TRUE(view.load_mass(q, place));
  Vector<N> solved = u, half = u, momentum = u, slope = u;
  view.mass(place).solve(u, solved);
  view.mass(place).half_solve(u, half);
  view.momentum(q, u, place, momentum, slope);
  std::vector<double> numbers;
  for (const Vector<N>& one : {solved, half, momentum, slope}) {
    numbers.insert(numbers.end(), one.begin(), one.end());
  }
  return numbers;
}

/// *exact*: a place that was looked at before gives what a fresh one gives, though places and
/// velocities come back one by one; a view of known size has the digits of one of any size.
TEST(Inertia, PlacesGiveNothingOld) {
  const scene::Scene scene = scene::read_scene("m.toml", mechanism(kTop));
  const FormulaModel& model = *scene.system().model;
  ASSERT_TRUE((FormulaView<3, kDynamic>::suits(model)));
  ASSERT_FALSE((FormulaView<3, 1>::suits(model)));
  const FormulaView<3, kDynamic> view(model);
  const FormulaView<kDynamic, kDynamic> any(model);
  auto place = view.make_place();
  auto any_place = any.make_place();
  base::Random random(7);
  std::vector<Vec> vectors(3);
  for (Vec& v : vectors) v = testing::random_vector(random, 3);
  vectors.push_back(vectors[0]);
  vectors.back()[1] = 0.0;
  vectors.push_back(vectors.back());
  vectors.back()[1] = -0.0;
  for (int trial = 0; trial < 400; ++trial) {
    const auto choose = [&] { return vectors[static_cast<std::size_t>(random.uniform() * 5.0)]; };
    const Vec q = choose(), u = choose();
    auto fresh = view.make_place();
    const std::vector<double> found = numbers_of<3>(view, q, u, place);
    ASSERT_EQ(found, numbers_of<3>(view, q, u, fresh));
    ASSERT_EQ(found, numbers_of<kDynamic>(any, q, u, any_place));
  }
}

}  // namespace
}  // namespace ricochet::model::mechanisms_inertia_test
