// Inspecting an instant: closed forms, Gauss' principle from its definition, the limit of a step.

#include "ricochet/study/inspect.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <cmath>
#include <nlohmann/json.hpp>

#include "program.h"
#include "ricochet/study/inspect_json.h"
#include "support.h"

namespace ricochet::study::inspect_test {
namespace {

using Vec = Eigen::VectorXd;

scene::Scene read(const std::string& text, const std::vector<std::string>& settings = {}) {
  return testing::read_text(text + "\n[run]\nscheme = \"inel\"\nstep = 0.001\nuntil = 1\n",
                            settings);
}

Inspection inspect_start(const scene::Scene& scene) {
  return Inspector(*scene.system().model).at(scene.start);
}

Inspection inspect_start(const std::string& text, const std::vector<std::string>& settings = {}) {
  return inspect_start(read(text, settings));
}

/// A particle of mass 2 at the bottom of a wedge of two inclines, g = 10.
const std::string kWedge = R"toml(
[system]
coordinates = ["x", "y"]
parameters = { m = 2, left = 0.5, right = 2 }
mass = ["m", "m"]
potential = "10*m*y"
[contact.left]
keep = "y >= -left*x"
[contact.right]
keep = "y >= right*x"
[start]
position = { x = 0, y = 0 }
)toml";

TEST(Inspect, AParticleAtRestInAWedge) {
  // exact: r_l left = r_r right, r_l + r_r = m g
  const Inspection found = inspect_start(kWedge);
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found.active.size(), 2U);
  EXPECT_NEAR(found.active[0].reaction, 16.0, 1e-13);
  EXPECT_NEAR(found.active[1].reaction, 4.0, 1e-13);
  EXPECT_LT(found.acceleration.norm(), 1e-14);
  EXPECT_EQ(found.free_acceleration[1], -10.0);
  EXPECT_TRUE(found.in_tangent_cone);
  EXPECT_TRUE(found.unique());
  for (const ActiveRow& row : found.active) {
    EXPECT_EQ(row.standing, Standing::Pushing);
    EXPECT_FALSE(row.opens);
  }
  // generators -M^-1 J^T, J = (left, 1) and (-right, 1)
  EXPECT_EQ(found.active[0].generator, (Vec(2) << -0.25, -0.5).finished());
  EXPECT_EQ(found.active[1].generator, (Vec(2) << 1.0, -0.5).finished());
}

TEST(Inspect, AParticleReleasedOnAnIncline) {
  // exact: on one of the inclines, slope 1/2: a = -g sin, reaction m g cos^2 for J = (1/2, 1)
  const Inspection found = inspect_start(kWedge, {"start.position.x=-1", "start.position.y=0.5"});
  ASSERT_EQ(found.active.size(), 1U);
  EXPECT_NEAR(found.active[0].reaction, 2.0 * 10.0 / 1.25, 1e-13);
  EXPECT_NEAR(found.acceleration[0], 10.0 * 0.5 / 1.25, 1e-13);
  EXPECT_NEAR(found.acceleration[1], -10.0 * 0.25 / 1.25, 1e-13);
}

TEST(Inspect, AVelocityOutsideTheTangentConeMeetsAnInelasticShock) {
  // exact: straight down into the corner of a wedge, prox(V, u) = 0 and J^T p = -M u
  const Inspection found = inspect_start(kWedge, {"start.velocity.y=-3"});
  ASSERT_TRUE(found.ok());
  EXPECT_FALSE(found.in_tangent_cone);
  EXPECT_LT(found.right_velocity.norm(), 1e-14);
  EXPECT_NEAR(found.active[0].impulse, 2.0 * 3.0 * 0.8, 1e-13);
  EXPECT_NEAR(found.active[1].impulse, 2.0 * 3.0 * 0.2, 1e-13);
  EXPECT_EQ(found.active[0].standing, Standing::Penetrating);
  EXPECT_NEAR(found.active[0].reaction, 16.0, 1e-12);  // and rests there afterwards
  // along x only the right wall is met, and the left one is left
  const Inspection along = inspect_start(kWedge, {"start.velocity.x=5"});
  EXPECT_FALSE(along.in_tangent_cone);
  EXPECT_EQ(along.active[0].standing, Standing::Leaving);
  EXPECT_TRUE(along.active[0].opens);
  EXPECT_EQ(along.active[1].standing, Standing::Penetrating);
  EXPECT_NEAR(along.right_velocity[0], 1.0, 1e-14);  // (1, 2) (1, 2).(5, 0) / 5
  EXPECT_NEAR(along.right_velocity[1], 2.0, 1e-14);
}

const std::string kRod = R"toml(
[system]
coordinates = ["x", "y"]
parameters = { m = 3, g = 10, l = 2, v = 0 }
mass = ["m", "m"]
potential = "m*g*y"
[hold.rod]
zero = "l - hypot(x, y)"
[start]
position = { x = 0, y = "-l" }
velocity = { x = "v", y = 0 }
)toml";

TEST(Inspect, APendulumPullsAtItsRod) {
  for (const double v : {0.0, 1.0, 7.5}) {  // exact: m g + m v^2 / l
    const Inspection found = inspect_start(kRod, {fmt::format("v={}", v)});
    ASSERT_TRUE(found.ok());
    ASSERT_EQ(found.active.size(), 1U);
    EXPECT_EQ(found.active[0].standing, Standing::Held);
    EXPECT_NEAR(found.active[0].reaction, 30.0 + 1.5 * v * v, 1e-12);
    EXPECT_NEAR(found.acceleration[1], v * v / 2.0, 1e-13);
    EXPECT_NEAR(found.acceleration[0], 0.0, 1e-13);
    EXPECT_FALSE(found.active[0].opens);
  }
  // at the top the rod carries: m v^2 / l - m g, of either sign
  const Inspection top = inspect_start(kRod, {"start.position.y=2", "v=1"});
  EXPECT_NEAR(top.active[0].reaction, 1.5 - 30.0, 1e-12);
  // a velocity that would stretch it is stopped by an impulse, of either sign too
  const Inspection pulled = inspect_start(kRod, {"start.velocity.y=-1", "v=1"});
  EXPECT_FALSE(pulled.in_tangent_cone);
  EXPECT_NEAR(pulled.active[0].impulse, 3.0, 1e-13);
  const Inspection pressed = inspect_start(kRod, {"start.velocity.y=1", "v=1"});
  EXPECT_FALSE(pressed.in_tangent_cone);
  EXPECT_NEAR(pressed.active[0].impulse, -3.0, 1e-13);
}

/// A pendulum on a string, at the top; g l = 20.
const std::string kString = R"toml(
[system]
coordinates = ["x", "y"]
parameters = { m = 3, g = 10, l = 2, square = 20 }
mass = ["m", "m"]
potential = "m*g*y"
[contact.string]
keep = "hypot(x, y) <= l"
[start]
position = { x = 0, y = "l" }
velocity = { x = "sqrt(square)", y = 0 }
)toml";

TEST(Inspect, AStringGoesSlackAtTheTopExactlyBelowSpeedSqrtOfGL) {
  for (const double part : {0.5, 0.9, 0.999999, 1.0, 1.000001, 1.1, 4.0}) {
    const Inspection found = inspect_start(kString, {fmt::format("square={:.17g}", 20.0 * part)});
    ASSERT_TRUE(found.ok());
    ASSERT_EQ(found.active.size(), 1U);
    EXPECT_EQ(found.active[0].opens, part < 1.0) << part;
    EXPECT_EQ(found.active[0].standing, part < 1.0   ? Standing::Opening
                                        : part > 1.0 ? Standing::Pushing
                                                     : Standing::Touching)
        << part;
    const double tension = std::max(0.0, 3.0 * (10.0 * part - 10.0));  // m v^2/l - m g
    EXPECT_NEAR(found.active[0].reaction, tension, 1e-12) << part;
    EXPECT_NEAR(found.acceleration[1], -10.0 * std::max(1.0, part), 1e-12) << part;
  }
}

TEST(Inspect, DependentContactsShareALoadInManyWays) {
  const std::string text = R"toml(
[system]
coordinates = ["x", "y"]
mass = [1, 2]
force = ["0", "-20"]
[contact.floor]
keep = "y >= 0"
[contact.same]
keep = "2*y >= 0"
[contact.wall]
keep = "x >= 0"
[start]
position = { x = 0, y = 0 }
velocity = { x = 0, y = -1 }
)toml";
  const Inspection found = inspect_start(text);
  ASSERT_TRUE(found.ok());
  EXPECT_FALSE(found.unique());
  EXPECT_FALSE(found.shock.unique);
  EXPECT_NEAR(found.active[0].impulse + 2.0 * found.active[1].impulse, 2.0, 1e-14);
  EXPECT_NEAR(found.active[0].reaction + 2.0 * found.active[1].reaction, 20.0, 1e-13);
  EXPECT_EQ(found.active[2].standing, Standing::Touching);
  // while both open there is nothing to share
  const Inspection up = inspect_start(text, {"start.velocity.y=1"});
  EXPECT_TRUE(up.unique());
  EXPECT_EQ(up.active[0].standing, Standing::Leaving);
}

TEST(Inspect, AContactThatAJointImpliesIsNoTrouble) {
  // The joint alone carries; the contact, on the same circle, follows from it.
  base::Random random(3);
  for (int trial = 0; trial < 50; ++trial) {
    const double v = random.uniform(0.1, 5.0);
    const double angle = random.uniform(0.0, 6.0);
    const Inspection found =
        inspect_start(kRod + "[contact.rim]\nkeep = \"x^2 + y^2 <= l^2\"\n",
                      {fmt::format("v={}", v), fmt::format("start.position.x=l*cos({})", angle),
                       fmt::format("start.position.y=l*sin({})", angle),
                       fmt::format("start.velocity.x=-v*sin({})", angle),
                       fmt::format("start.velocity.y=v*cos({})", angle)});
    ASSERT_TRUE(found.ok());
    EXPECT_FALSE(found.unique());
    EXPECT_NEAR(found.acceleration.dot(Vec(found.state.q)), -v * v, 1e-11);  // q.q'' = -v^2
  }
}

TEST(Inspect, PolarCoordinatesGiveTheCentripetalReaction) {
  // exact: r <= R on a particle that runs round: m v^2 / R, with M = m diag(1, r^2)
  const std::string text = R"toml(
[system]
coordinates = ["r", "phi"]
parameters = { m = 3, R = 2, v = 5 }
kinetic = "0.5*m*(r'^2 + r^2*phi'^2)"
[contact.rim]
keep = "r <= R"
[start]
position = { r = "R", phi = 0.7 }
velocity = { r = 0, phi = "v/R" }
)toml";
  const Inspection found = inspect_start(text);
  ASSERT_TRUE(found.ok());
  EXPECT_NEAR(found.active[0].reaction, 3.0 * 25.0 / 2.0, 1e-12);
  EXPECT_NEAR(found.free_acceleration[0], 12.5, 1e-13);  // r phi'^2
  EXPECT_NEAR(found.acceleration[0], 0.0, 1e-13);
  EXPECT_NEAR(found.acceleration[1], 0.0, 1e-13);
  EXPECT_NEAR(found.active[0].generator[0], 1.0 / 3.0, 1e-16);
  // from inside at r' > 0: free acceleration in phi is -2 r' phi' / r
  const Inspection inside = inspect_start(text, {"start.position.r=1", "start.velocity.r=4"});
  EXPECT_TRUE(inside.active.empty());
  EXPECT_NEAR(inside.acceleration[1], -2.0 * 4.0 * 2.5, 1e-12);
}

TEST(Inspect, ABeadOnARotatingRodPressesByItsCoriolisAcceleration) {
  // exact: the rod turns as phi = w t, a moving joint; torque on it 2 m w r r'
  const Inspection found = inspect_start(R"toml(
[system]
coordinates = ["r", "phi"]
parameters = { m = 2, w = 3 }
kinetic = "0.5*m*(r'^2 + r^2*phi'^2)"
[hold.drive]
zero = "phi - w*t"
[start]
position = { r = 1.5, phi = 0 }
velocity = { r = 0.8, phi = "w" }
)toml");
  ASSERT_TRUE(found.ok());
  EXPECT_TRUE(found.in_tangent_cone);
  EXPECT_NEAR(found.active[0].reaction, 2.0 * 2.0 * 3.0 * 1.5 * 0.8, 1e-12);
  EXPECT_NEAR(found.acceleration[0], 9.0 * 1.5, 1e-12);
  EXPECT_NEAR(found.acceleration[1], 0.0, 1e-13);
}

TEST(Inspect, AMovingTableCarriesOrDropsItsLoad) {
  // exact: y = A sin(w t): reaction m (g - A w^2 sin(w t)) while positive
  const std::string text = R"toml(
[system]
coordinates = ["x", "y"]
parameters = { m = 2, A = 0.2, w = 10, t0 = 0.03 }
mass = ["m", "m"]
potential = "10*m*y"
[contact.table]
keep = "y >= A*sin(w*t) + x*cos(w*t)"
[start]
position = { x = 0, y = "A*sin(w*t0)" }
velocity = { x = 0, y = "A*w*cos(w*t0)" }
)toml";
  for (const double t : {-0.1, 0.0, 0.03, 0.06, 0.15}) {
    scene::Scene scene = read(text, {fmt::format("t0={}", t), fmt::format("run.start_time={}", t),
                                     fmt::format("run.until={}", t + 1.0)});
    const Inspection found = inspect_start(scene);
    ASSERT_TRUE(found.ok());
    ASSERT_EQ(found.active.size(), 1U);
    EXPECT_TRUE(found.in_tangent_cone);
    const double s = std::sin(10.0 * t);
    const double c = std::cos(10.0 * t);
    const double load = 10.0 - 0.2 * 100.0 * s;  // relative free acceleration, downwards
    EXPECT_NEAR(found.active[0].reaction, std::max(0.0, 2.0 * load / (1.0 + c * c)), 1e-12) << t;
    EXPECT_EQ(found.active[0].opens, load < 0.0) << t;
  }
}

TEST(Inspect, RateOfTheGapIsDifferentiatedAlongTheMotion) {
  // exact: g = y - x^2 t: dU/dt without q'' is -2 x'^2 t - 4 x x'; all of x'', y'' are free here
  const Inspection found = inspect_start(R"toml(
[system]
coordinates = ["x", "y"]
mass = [1, 1]
[contact.bowl]
keep = "y >= (x - 1)^2*(t + 2)"
[start]
position = { x = 3, y = 8 }
velocity = { x = 5, y = 100 }
)toml");
  ASSERT_EQ(found.active.size(), 1U);
  EXPECT_EQ(found.active[0].velocity, 100.0 - 2.0 * 2.0 * 5.0 * 2.0 - 4.0);
  EXPECT_EQ(found.active[0].acceleration, -2.0 * 25.0 * 2.0 - 2.0 * 2.0 * 2.0 * 5.0);
  EXPECT_EQ(found.active[0].standing, Standing::Leaving);
}

TEST(Inspect, WithoutContactsTheMotionIsFree) {
  const Inspection found = inspect_start(R"toml(
[system]
coordinates = ["x"]
mass = [4]
force = ["2 - x'"]
[start]
position = { x = 1 }
velocity = { x = 6 }
)toml");
  ASSERT_TRUE(found.ok());
  EXPECT_TRUE(found.active.empty() && found.in_tangent_cone && found.unique());
  EXPECT_EQ(found.acceleration[0], -1.0);
}

TEST(Inspect, OpposedWallsThatCloseHaveNoAcceleration) {
  const Inspection found = inspect_start(R"toml(
[system]
coordinates = ["x"]
mass = [1]
[contact.left]
keep = "x >= t^2"
[contact.right]
keep = "x <= -t^2"
[start]
position = { x = 0 }
)toml");
  EXPECT_EQ(found.status, problem::Status::Infeasible);
}

TEST(Inspect, ASingularMassIsAStatus) {
  const scene::Scene scene = read(R"toml(
[system]
coordinates = ["r", "phi"]
kinetic = "0.5*(r'^2 + r^2*phi'^2)"
[start]
position = { r = 1, phi = 0 }
)toml");
  const Inspection found = Inspector(*scene.system().model).at({0.0, Vec::Zero(2), Vec::Zero(2)});
  EXPECT_EQ(found.status, problem::Status::SingularMass);
}

std::string number(double x) { return fmt::format("({:.17g})", x); }

/// Three coordinates a, b, c with a random mass, constant or not, random forces, and two quadratic
/// gaps that touch at the origin, sunk in by 1e-6 so that a small step finds them active.
std::string random_system(base::Random& random, const Vec& u, const Eigen::MatrixXd& J,
                          bool varying) {
  const std::vector<std::string> q = {"a", "b", "c"};
  const Eigen::MatrixXd M = testing::random_metric(random, 3, 0.3);
  std::string kinetic;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      kinetic += fmt::format("{}0.5*{}*{}'*{}'", i + j > 0 ? " + " : "",
                             number(M(std::max(i, j), std::min(i, j))), q[std::size_t(i)],
                             q[std::size_t(j)]);
    }
  }
  if (varying) kinetic += " + 0.5*(a'*sin(b) + b' + c'*cos(a + c))^2 + 0.3*exp(c)*b'^2";
  std::string text =
      "[system]\ncoordinates = [\"a\", \"b\", \"c\"]\nkinetic = \"" + kinetic + "\"\n";
  text += fmt::format("force = [\"{} - 0.3*a'\", \"{} + a*b\", \"{}\"]\n",
                      number(5.0 * random.normal()), number(5.0 * random.normal()),
                      number(5.0 * random.normal()));
  for (int k = 0; k < 2; ++k) {
    std::string gap = "-1e-6";
    for (int i = 0; i < 3; ++i) {
      gap += fmt::format(" + {}*{} + {}*{}*{}", number(J(k, i)), q[std::size_t(i)],
                         number(random.normal()), q[std::size_t(i)], q[std::size_t((i + k) % 3)]);
    }
    text += fmt::format("[contact.w{}]\nkeep = \"{} >= 0\"\n", k, gap);
  }
  text += "[start]\ntolerance = 1\nposition = { a = 0, b = 0, c = 0 }\n";
  return text +
         fmt::format("velocity = {{ a = {:.17g}, b = {:.17g}, c = {:.17g} }}\n", u[0], u[1], u[2]);
}

/// (u+ - u)/h of one step.
Vec difference_quotient(scene::Scene scene, double h, double anticipation) {
  scene.scheme = step::make_scheme("inel");
  scene.scheme.set("anticipation", anticipation);
  scene.run.step = h;
  scene.run.steps = 1;
  const Motion motion = run_scene(scene, false);
  EXPECT_TRUE(motion.outcome.certificate.ok());
  return (motion.final_state.u - scene.start.u) / h;
}

/// *converged*: of first order in h.
void expect_limit(const scene::Scene& scene, double anticipation, int& pushing, int& opening) {
  const Inspection found = inspect_start(scene);
  ASSERT_TRUE(found.ok() && found.in_tangent_cone);
  ASSERT_EQ(found.active.size(), 2U);
  for (const ActiveRow& row : found.active) {
    pushing += row.standing == Standing::Pushing ? 1 : 0;
    opening += row.standing == Standing::Opening ? 1 : 0;
  }
  const double coarse =
      (difference_quotient(scene, 1e-4, anticipation) - found.acceleration).norm();
  const double fine = (difference_quotient(scene, 1e-5, anticipation) - found.acceleration).norm();
  const double size = 1.0 + found.acceleration.norm() + found.free_acceleration.norm();
  EXPECT_LT(coarse, 1e-2 * size);
  EXPECT_LT(fine, 0.2 * coarse + 1e-8 * size);
}

TEST(Inspect, GaussIsTheLimitOfAStepFromRest) {
  base::Random random(11);
  int pushing = 0;
  int opening = 0;
  for (int trial = 0; trial < 60; ++trial) {
    const Eigen::MatrixXd J = testing::random_matrix(random, 2, 3);
    const scene::Scene scene = read(random_system(random, Vec::Zero(3), J, trial % 2 == 1));
    expect_limit(scene, 0.0, pushing, opening);
  }
  EXPECT_GT(pushing, 15);
  EXPECT_GT(opening, 15);
}

TEST(Inspect, GaussIsTheLimitOfAStepAlongCurvedWalls) {
  // The velocity lies in both walls. The gradient must be anticipated at q + h u, A_V = 1/2: there
  // J u+ = h (J q'' + gamma), while at q_M it is h (J q'' + gamma / 2).
  base::Random random(12);
  int pushing = 0;
  int opening = 0;
  for (int trial = 0; trial < 60; ++trial) {
    const Eigen::MatrixXd J = testing::random_matrix(random, 2, 3);
    const Eigen::Vector3d first = J.row(0);
    const Eigen::Vector3d second = J.row(1);
    const Vec u = first.cross(second).normalized() * random.uniform(0.5, 2.0);
    const scene::Scene scene = read(random_system(random, u, J, trial % 2 == 1));
    expect_limit(scene, 0.5, pushing, opening);
  }
  EXPECT_GT(pushing, 15);
  EXPECT_GT(opening, 15);
}

TEST(Inspect, TakenAtTheMiddleTheFirstStepSeesHalfOfTheCurvature) {
  // converged: a particle inside a circle without gravity, y'' = v^2/l by Gauss
  const scene::Scene scene =
      read(kString, {"g=0", "start.position.y=\"-l\"", "start.velocity.x=4"});
  EXPECT_NEAR(inspect_start(scene).acceleration[1], 8.0, 1e-13);
  EXPECT_NEAR(difference_quotient(scene, 1e-5, 0.5)[1], 8.0, 1e-3);
  EXPECT_NEAR(difference_quotient(scene, 1e-5, 0.0)[1], 4.0, 1e-3);
}

TEST(Inspect, TheAccelerationObeysTheDefinitionOfGaussPrinciple) {
  // roundoff: M (q'' - a) = J^T r, r >= 0, J q'' + gamma >= 0, products 0: what makes it nearest.
  base::Random random(13);
  for (int trial = 0; trial < 40; ++trial) {
    const Eigen::MatrixXd J = testing::random_matrix(random, 2, 3);
    const scene::Scene scene = read(random_system(random, Vec::Zero(3), J, trial % 2 == 1));
    const Inspection found = inspect_start(scene);
    const model::FormulaView<model::kDynamic, model::kDynamic> view(*scene.system().model);
    auto place = view.make_place();
    ASSERT_TRUE(view.load_mass(scene.start.q, place));
    Vec force(3);
    view.mass(place).apply(found.acceleration - found.free_acceleration, force);
    const double size = 1.0 + force.norm();
    for (int k = 0; k < 2; ++k) {
      const ActiveRow& row = found.active[std::size_t(k)];
      force -= J.row(k).transpose() * row.reaction;
      EXPECT_GE(row.reaction, 0.0);
      EXPECT_GE(row.acceleration, -1e-11 * size);
      EXPECT_NEAR(J.row(k).dot(found.acceleration), row.acceleration, 1e-11 * size);  // u = 0
      EXPECT_NEAR(row.reaction * row.acceleration, 0.0, 1e-9 * size);
    }
    EXPECT_LT(force.norm(), 1e-11 * size);
  }
}

TEST(Inspect, AStateThatAStepReachedIsClosedToItsResolution) {
  // A ball at rest on a table after a fall, with inel: the gap and the rate are of the size of h.
  const std::string text = R"toml(
[system]
coordinates = ["x", "y"]
mass = [1, 1]
potential = "10*y"
[contact.hill]
keep = "y >= -x^2/2"
[start]
position = { x = 0.02, y = 0.1 }
)toml";
  scene::Scene scene = read(text);
  scene.run.steps = 400;
  const Motion motion = run_scene(scene, false);
  const Inspection found = Inspector(*scene.system().model).at(motion.final_state, scene.run.step);
  ASSERT_EQ(found.active.size(), 1U);
  EXPECT_EQ(found.active[0].standing, Standing::Pushing);
  // converged: it slides, with x from the state itself; J = (x, 1), gamma = x'^2
  const double x = found.state.q[0];
  const double v = found.state.u[0];
  EXPECT_NEAR(found.active[0].reaction, (10.0 - v * v) / (1.0 + x * x), 1e-2);
}

// The command.

using testing::Finished;
using testing::Folder;
using testing::run_program;

const std::filesystem::path kSource = testing::kSourceFolder;

TEST(InspectProgram, PrintsJsonWithItsKeys) {
  const Folder folder;
  testing::write_file(folder / "w.toml",
                      kWedge + "[run]\nscheme = \"inel\"\nstep = 0.01\nuntil = 1\n");
  const Finished run =
      run_program({"inspect", "w.toml", "--json", "--set", "start.velocity.y=-3"}, folder.path());
  ASSERT_EQ(run.code, 0) << run.err;
  const auto json = nlohmann::json::parse(run.out);
  for (const char* key : {"t", "position", "velocity", "active", "in_tangent_cone", "after_shock",
                          "free_acceleration", "acceleration", "reactions", "opens", "unique"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  EXPECT_EQ(json["t"], 0.0);
  EXPECT_EQ(json["velocity"]["y"], -3.0);
  EXPECT_EQ(json["active"][0]["contact"], "left");
  EXPECT_EQ(json["active"][0]["state"], "penetrating");
  EXPECT_EQ(json["active"][0]["generator"]["x"], -0.25);
  EXPECT_EQ(json["in_tangent_cone"], false);
  EXPECT_NEAR(json["after_shock"]["impulses"]["left"].get<double>(), 4.8, 1e-13);
  EXPECT_NEAR(json["reactions"]["right"].get<double>(), 4.0, 1e-13);
  EXPECT_TRUE(json["opens"].empty());
  EXPECT_EQ(json["unique"], true);
  const Finished rest = run_program({"inspect", "w.toml", "--json"}, folder.path());
  EXPECT_TRUE(nlohmann::json::parse(rest.out)["after_shock"].is_null());
}

TEST(InspectProgram, RunsToTheTimeAskedFor) {
  const Folder folder;
  const std::string scene = (kSource / "scenes/essai-05.toml").string();
  const Finished run = run_program({"inspect", scene, "--at", "0.1", "--json"}, folder.path());
  ASSERT_EQ(run.code, 0) << run.err;
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_NEAR(json["t"].get<double>(), 0.1, 1e-12);
  EXPECT_GT(json["resolution_step"], 0.0);
  EXPECT_FALSE(std::filesystem::exists(folder / "out"));  // nothing is written
}

TEST(InspectProgram, UnderStepControlTheTimeIsMetAndKnownToTheTolerance) {
  // exact: constant forces are integrated without error, y = 1 + t - 5 t^2, y' = 1 - 10 t
  const Folder folder;
  testing::write_file(folder / "c.toml", R"toml(
[system]
coordinates = ["y"]
mass = [1]
force = ["-10"]
[contact.floor]
keep = "y >= 0"
[start]
position = { y = 1 }
velocity = { y = 1 }
[run]
scheme = "elast"
step = { max = 0.1, min = 1e-9, tolerance = 1e-6 }
until = 5
)toml");
  const Finished run = run_program({"inspect", "c.toml", "--at", "0.27", "--json"}, folder.path());
  ASSERT_EQ(run.code, 0) << run.err;
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_EQ(json["t"], 0.27);
  EXPECT_NEAR(json["position"]["y"].get<double>(), 1.27 - 5.0 * 0.27 * 0.27, 1e-12);
  EXPECT_NEAR(json["resolution_step"].get<double>(), 1e-6 / 1.7, 1e-15);
  const std::string words = run_program({"inspect", "c.toml", "--at", "0.27"}, folder.path()).out;
  EXPECT_NE(words.find("reached by elast with steps of 1e-09 to 0.1\n"), std::string::npos)
      << words;
  EXPECT_NE(words.find("what it may change in a time of 5.88e-07"), std::string::npos) << words;
}

TEST(InspectProgram, SaysWhatIsWrongWithATime) {
  const Folder folder;
  const std::string scene = (kSource / "scenes/essai-05.toml").string();
  for (const char* time : {"-1", "soon", "nan", "inf", "1e300"}) {
    const Finished run =
        run_program({"inspect", scene, std::string("--at=") + time}, folder.path());
    EXPECT_EQ(run.code, 2) << time;
    EXPECT_NE(run.err.find("--at"), std::string::npos) << run.err;
    EXPECT_NE(run.err.find("remedy: "), std::string::npos) << run.err;
    EXPECT_TRUE(run.out.empty());
  }
}

TEST(InspectProgram, RefusesASingularMass) {
  const Folder folder;
  testing::write_file(folder / "s.toml", R"toml(
[system]
coordinates = ["x", "y"]
kinetic = "0.5*(x'^2 + (x - 1)^2*y'^2)"
[start]
position = { x = 0.995, y = 0 }
velocity = { x = 1, y = 0 }
[run]
scheme = "inel"
step = 0.01
until = 1
)toml");
  EXPECT_EQ(run_program({"inspect", "s.toml"}, folder.path()).code, 0);
  const Finished run = run_program({"inspect", "s.toml", "--at", "0.5"}, folder.path());
  EXPECT_EQ(run.code, 2);
  EXPECT_NE(run.err.find("mass matrix is not positive definite"), std::string::npos) << run.err;
}

TEST(InspectProgram, TheGuideShowsWhatItPrints) {
  const std::string guide = testing::read_file(kSource / "docs/guide/commands.md");
  const std::string command = "$ ricochet inspect scenes/essai-04.toml --at 0.1\n";
  const std::size_t begin = guide.find(command);
  ASSERT_NE(begin, std::string::npos);
  const std::size_t from = begin + command.size();
  const std::string shown = guide.substr(from, guide.find("```", from) - from);
  const Finished run = run_program({"inspect", "scenes/essai-04.toml", "--at", "0.1"}, kSource);
  EXPECT_EQ(run.out, shown);
  std::istringstream lines(run.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
}

}  // namespace
}  // namespace ricochet::study::inspect_test
