// Walls far away are left alone while the motion is in a box where their gaps are positive. Nothing
// passes through a thin post unseen for all that. So are walls that exist nowhere in the box.

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

/// A particle flies along y = `aside` under a shelf that begins at x = 0, then past a post that
/// stands on it; `also` is part of where both exist.
step::Outcome fly_under(double r, double aside, double h, const std::string& also,
                        model::State<model::kDynamic>& end) {
  const std::string text = fmt::format(R"(
[system]
coordinates = ["x", "y", "z"]
mass        = [1, 1, 1]
[contact.shelf]
keep  = "y >= 0.01*x"
where = "x > 0 and x < 7{3}"
[contact.post]
keep  = "(x - 4)^2 + y^2 >= {0}^2"
where = "x > 3.9 and y < 1{3}"
[start]
position = {{ x = -6, y = {1}, z = 0 }}
velocity = {{ x = 3, y = 0, z = 0 }}
[run]
scheme = "inel"
step   = {2}
until  = 6
)",
                                       r, aside, h, also);
  const scene::Scene scene = scene::read_scene("shelf.toml", text);
  end = scene.start;
  return step::run_formula(*scene.system().model, scene.scheme, scene.run, end,
                           [](const step::Sample&) {});
}

// Where a wall exists may depend on a coordinate that its gap does not have. Then no box around the
// motion tells that it exists nowhere, and every step is looked at: the same must be found.
TEST(QuietBoxes, WallsThatExistNowhereInABoxAreFoundWhereTheyDo) {
  std::mt19937_64 random(12);
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  int free = 0;
  for (int k = 0; k < 60; ++k) {
    const double r = 1e-2 * std::pow(10.0, unit(random));
    const double h = r * (0.05 + unit(random));
    const double aside = (k % 3 == 0 ? -1.5 : 1.5) * r * unit(random) + (k % 3 == 1 ? 0.08 : 0.0);
    model::State<model::kDynamic> one, other;
    const certify::Certificate a = fly_under(r, aside, h, "", one).certificate;
    const certify::Certificate b = fly_under(r, aside, h, " and z < 10", other).certificate;
    EXPECT_EQ(a.failure, b.failure) << fmt::format("r = {}, h = {}, aside = {}", r, h, aside);
    EXPECT_EQ(a.failure_time, b.failure_time);
    EXPECT_EQ(a.undecided_crossings, b.undecided_crossings);
    EXPECT_EQ(a.steps, b.steps);
    EXPECT_EQ(one.q, other.q);
    EXPECT_EQ(one.u, other.u);
    free += a.ok() ? 1 : 0;
  }
  EXPECT_GT(free, 5);  // of both kinds there are some
  EXPECT_LT(free, 60);
}

}  // namespace
}  // namespace ricochet::quiet_boxes_test
