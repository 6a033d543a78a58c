// Runs made a few steps at a time: the bits of whole runs, forces that are set between steps, what
// a call costs.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "allocations.h"
#include "ricochet/base/error.h"
#include "ricochet/step/moreau.h"
#include "ricochet/step/stepped.h"
#include "ricochet/study/builtin_scenes.h"
#include "ricochet/study/simulation.h"
#include "support.h"

namespace ricochet::study::simulation_test {
namespace {

using testing::kFloor;
using testing::read_text;

#ifdef RICOCHET_SANITIZED
constexpr double kPatience = 50.0;
#else
constexpr double kPatience = 1.0;
#endif

scene::Scene builtin(const std::string& name, const std::vector<std::string>& settings = {}) {
  return read_text(builtin_scene(name), settings);
}

/// Bits of whole runs, whatever the number of steps at a time: kinds of systems and schemes.
TEST(Simulation, HasTheBitsOfARun) {
  for (const auto& [name, settings] : std::vector<std::pair<std::string, std::vector<std::string>>>{
           {"essai-04", {}},
           {"essai-05", {}},
           {"dropped-ball", {}},
           {"double-pendulum", {"run.until=0.5"}},
           {"belt", {"run.until=0.5"}},
           {"brick", {"run.until=0.3"}},
           {"slider-crank", {"run.until=0.2"}},
           {"cradle", {}},
           {"dropped-ball", {"run.scheme=paoli-schatzman"}},
           {"dropped-ball", {"run.scheme=moreau-jean"}}}) {
    const scene::Scene scene = builtin(name, settings);
    const Motion whole = run_scene(scene, false);
    Simulation simulation(scene);
    for (long long chunk = 1; simulation.steps() < scene.run.steps; chunk = chunk % 7 + 1) {
      ASSERT_TRUE(simulation.step(std::min(chunk, scene.run.steps - simulation.steps()))) << name;
    }
    const Motion stepped = simulation.finish();
    EXPECT_EQ(stepped.final_state.t, whole.final_state.t) << name;
    EXPECT_EQ(stepped.final_state.q, whole.final_state.q) << name;
    EXPECT_EQ(stepped.final_state.u, whole.final_state.u) << name;
    EXPECT_EQ(stepped.outcome.steps, whole.outcome.steps) << name;
    EXPECT_EQ(stepped.outcome.certificate.failure, whole.outcome.certificate.failure) << name;
    EXPECT_EQ(stepped.outcome.certificate.residual_max, whole.outcome.certificate.residual_max)
        << name;
    EXPECT_EQ(stepped.outcome.certificate.shocks.size(), whole.outcome.certificate.shocks.size())
        << name;
  }
}

/// A particle of mass 1 on the floor under gravity 10. (exact)
TEST(Simulation, AForceActsFromTheNextStepOn) {
  Simulation simulation(read_text(kFloor));
  ASSERT_TRUE(simulation.step(50));
  EXPECT_NEAR(simulation.impulses()[0], 10.0 * 0.5, 1e-12);  // its weight, over half a second
  simulation.set_force(std::vector<double>{2.0, 13.0});
  ASSERT_TRUE(simulation.step(100));
  EXPECT_NEAR(simulation.u()[0], 2.0, 1e-12);
  EXPECT_NEAR(simulation.u()[1], 3.0, 1e-12);
  EXPECT_EQ(simulation.impulses()[0], 0.0);
  simulation.force()[1] = 0.0;
  ASSERT_TRUE(simulation.step(10));
  EXPECT_NEAR(simulation.u()[1], 2.0, 1e-12);
  EXPECT_NEAR(simulation.t(), 1.6, 1e-12);
  const Motion motion = simulation.finish();
  EXPECT_TRUE(motion.outcome.certificate.ok());
  EXPECT_EQ(motion.outcome.steps, 160);
}

/// A force on an angle is a torque, also where the mass depends on the place: at rest on its stop,
/// a rod of length 2 and mass 3 is lifted by more than m g, and by less it is not.
TEST(Simulation, AForceActsOnAMassThatVaries) {
  const std::string rod = R"toml(
[system]
coordinates = ["r", "a"]
kinetic     = "0.5*3*(r'^2 + r^2*a'^2)"
potential   = "3*10*r*sin(a)"
[contact.table]
keep = "a >= 0"
[hold.length]
zero = "r - 1"
[start]
position = { r = 1, a = 0 }
[run]
scheme = "moreau"
step = 0.001
until = 1
)toml";
  for (const double torque : {29.0, 31.0}) {
    Simulation simulation(read_text(rod));
    simulation.set_force(std::vector<double>{0.0, torque});
    ASSERT_TRUE(simulation.step(100));
    // 3 a'' = torque - 30 cos(a): nearly constant over a tenth of a second
    const double expected = std::max(0.0, (torque - 30.0) / 3.0 * 0.1);
    EXPECT_NEAR(simulation.u()[1], expected, 1e-4) << torque;
  }
}

TEST(Simulation, RefusesWhatHasNoStepsOfOneLength) {
  EXPECT_THROW(Simulation(builtin("tube-10")), base::InputError);
  EXPECT_THROW(Simulation(read_text(kFloor, {"run.scheme=event-driven"})), base::InputError);
  EXPECT_THROW(Simulation(read_text(kFloor, {"run.step={max=0.01,min=1e-5,tolerance=1e-4}"})),
               base::InputError);
  Simulation simulation(read_text(kFloor));
  EXPECT_THROW(simulation.set_force(std::vector<double>{1.0}), base::InputError);
}

/// The potential has no lower bound: the run ends in numbers that are not finite, and says so.
TEST(Simulation, StandsWhereTheLastCertifiedStepEnded) {
  Simulation simulation(read_text(R"toml(
[system]
coordinates = ["x"]
mass = [1]
force = ["x^5"]
[start]
position = { x = 2 }
[run]
scheme = "moreau"
step = 0.01
until = 1
)toml"));
  bool ok = true;
  for (int k = 0; k < 1000 && ok; ++k) ok = simulation.step();
  EXPECT_FALSE(ok);
  EXPECT_FALSE(simulation.certificate().ok());
  EXPECT_TRUE(std::isfinite(simulation.q()[0]));
  const long long steps = simulation.steps();
  EXPECT_FALSE(simulation.step());
  EXPECT_EQ(simulation.steps(), steps);
}

TEST(Simulation, StepsDoNotAllocate) {
  Simulation simulation(builtin("essai-04"));
  ASSERT_TRUE(simulation.step(10));
  const long long before = testing::allocations();
  for (int k = 0; k < 1000; ++k) simulation.step();
  EXPECT_EQ(testing::allocations(), before);
}

/// What a call costs beside its step: under 2 microseconds, in the best of some tries.
TEST(Simulation, ACallCostsLittle) {
  using Clock = std::chrono::steady_clock;
  constexpr int kSteps = 100;
  Simulation simulation(read_text(kFloor));
  const auto seconds = [](const auto& work) {  // others use the machine, too: many short tries
    double best = 1e9;
    for (int k = 0; k < 500; ++k) {
      const Clock::time_point begin = Clock::now();
      work();
      best = std::min(best, std::chrono::duration<double>(Clock::now() - begin).count());
    }
    return best;
  };
  const double together = seconds([&] { simulation.step(kSteps); });
  const double one_by_one = seconds([&] {
    for (int k = 0; k < kSteps; ++k) simulation.step();
  });
  const double overhead = (one_by_one - together) / kSteps;
  RecordProperty("nanoseconds", std::to_string(1e9 * overhead));
  EXPECT_LT(overhead, 2e-6 * kPatience);
}

/// A model in C++, with a force that its owner changes.
struct Cart {
  static constexpr int kDofs = 1;
  static constexpr int kContacts = 1;
  const double* push{nullptr};
  double gap(int, double, const Eigen::Matrix<double, 1, 1>& q) const { return 1.0 - q[0]; }
  Eigen::Matrix<double, 1, 1> gap_gradient(int, double, const Eigen::Matrix<double, 1, 1>&) const {
    return Eigen::Matrix<double, 1, 1>(-1.0);
  }
  Eigen::Matrix<double, 1, 1> force(double, const Eigen::Matrix<double, 1, 1>&,
                                    const Eigen::Matrix<double, 1, 1>&) const {
    return Eigen::Matrix<double, 1, 1>(*push);
  }
};

TEST(Simulation, StepsAModelInCpp) {
  double push = 1.0;
  const Cart cart{&push};
  const model::InlineModel model{cart};
  using TheModel = std::remove_const_t<decltype(model)>;
  model::StateOf<TheModel> start;
  start.q[0] = 0.0;
  start.u[0] = 0.0;
  double impulse = 0.0;
  step::Stepped<TheModel, step::Moreau> stepped(
      model, step::Moreau{}, {.step = 0.01}, start,
      [&](const step::Sample& sample) { impulse = sample.impulses[0]; });
  ASSERT_TRUE(stepped.advance(100));
  EXPECT_NEAR(stepped.now().u[0], 1.0, 1e-12);  // exact: a constant force
  push = -2.0;
  ASSERT_TRUE(stepped.advance(50));
  EXPECT_NEAR(stepped.now().u[0], 0.0, 1e-12);
  push = 5.0;
  ASSERT_TRUE(stepped.advance(200));
  EXPECT_NEAR(stepped.now().u[0], 0.0, 1e-12);  // against the stop, without restitution
  ASSERT_TRUE(stepped.advance(10));
  EXPECT_NEAR(impulse, 5.0 * 0.1, 1e-12);
}

}  // namespace
}  // namespace ricochet::study::simulation_test
