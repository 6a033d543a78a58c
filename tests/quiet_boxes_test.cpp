// Walls far away are left alone while the motion is in a box where their gaps are positive. Nothing
// passes through a thin post unseen for all that.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "ricochet/scene/scene.h"
#include "ricochet/step/run_formula.h"

namespace ricochet::quiet_boxes_test {
namespace {

/// A particle flies along y = `aside` past posts of radius r at x = 4 and x = 9, in steps longer
/// than they are thick.
std::string flight(double r, double aside, double h, double bend) {
  return fmt::format(R"(
[system]
coordinates = ["x", "y"]
mass        = [1, 1]
[contact.one]
keep = "(x - 4)^2 + y^2*(1 + {3}*sin(x)^2) >= {0}^2"
[contact.other]
keep = "hypot(x - 9, y) >= {0}"
[start]
position = {{ x = -6, y = {1} }}
velocity = {{ x = 3, y = 0 }}
[run]
scheme = "inel"
step   = {2}
until  = 6
)",
                     r, aside, h, bend);
}

TEST(QuietBoxes, ThinPostsAreSeen) {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  for (int k = 0; k < 60; ++k) {
    const double r = 1e-3 * std::pow(30.0, unit(random));
    const double h = r * (0.7 + 3.0 * unit(random));  // 2 to 11 radii a step
    const bool hits = k % 2 == 0;
    const double aside = hits ? 0.8 * r * unit(random) : r * (1.05 + 20.0 * unit(random));
    const scene::Scene scene =
        scene::read_scene("flight.toml", flight(r, aside, h, 0.5 * unit(random)));
    model::State<model::kDynamic> state = scene.start;
    const step::Outcome outcome = step::run_formula(*scene.system().model, scene.scheme, scene.run,
                                                    state, [](const step::Sample&) {});
    const certify::Certificate& c = outcome.certificate;
    const bool free = c.ok() && c.undecided_crossings == 0 && state.u[0] == 3.0;
    EXPECT_EQ(free, !hits) << fmt::format("r = {}, h = {}, aside = {}", r, h, aside);
  }
}

}  // namespace
}  // namespace ricochet::quiet_boxes_test
