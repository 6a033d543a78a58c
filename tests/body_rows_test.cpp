// Scenes of bodies at the tolerance of their theorem: both sides of a limit, long runs, orders.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "body_step.h"
#include "ricochet/base/random.h"
#include "ricochet/study/builtin_scenes.h"
#include "support.h"

namespace ricochet::testing::body_rows_test {
namespace {

using body::Vec;

double watched(const study::Motion& motion, const std::string& name) {
  for (const auto& [its, value] : motion.world->watches) {
    if (its == name) return value;
  }
  ADD_FAILURE() << name;
  return 0.0;
}

study::Motion certified(const std::string& text, const std::vector<std::string>& settings = {}) {
  study::Motion motion = study::run_scene(read_text(text, settings), false);
  EXPECT_TRUE(motion.outcome.certificate.ok());
  return motion;
}

study::Motion scene_run(const std::string& name, const std::vector<std::string>& settings = {}) {
  return certified(study::builtin_scene(name), settings);
}

/// An arch whose stones have the mass and mass centre of pieces of a ring instead of their
/// polygons.
std::string as_rings(std::string text, const std::string& sweep) {
  text = changed(text, "d/2)*sin(b)\"]]\nvertices",
                 "d/2)*sin(b)\"]]\ncentre   = [\"rc*cos((a+b)/2)\", \"rc*sin((a+b)/2)\"]\n"
                 "mass     = 1\ninertia  = \"(R^2*(" +
                     sweep + "/N)^2 + d^2)/12\"\nvertices");
  text = changed(text, "[material.stone]\ndensity = 2000\n", "[material.stone]\n");
  return changed(text, "parameters = {",
                 "parameters = { rc = \"2/3*((R+d/2)^3 - (R-d/2)^3)/((R+d/2)^2 - (R-d/2)^2)*sin(" +
                     sweep + "/(2*N))/(" + sweep + "/(2*N))\",");
}

/// Semicircular arches of N stones with radial joints: the least thickness by linear programming
/// over the thrust line, as polygons and as pieces of a ring. The limit N -> infinity is
/// Milankovitch's, 0.1075 [1907].
TEST(BodyRows, ArchesStandFromTheirLeastThicknessOn) {
  struct Arch {
    int stones;
    double polygons;
    double rings;
  };
  constexpr double kTolerance = 2e-4;
  const std::string polygons = study::builtin_scene("body-arch");
  const std::string rings = as_rings(polygons, "pi");
  for (const Arch& arch : {Arch{7, 0.09570, 0.09625}, Arch{27, 0.10672, 0.10678}}) {
    for (const bool is_ring : {false, true}) {
      const double least = is_ring ? arch.rings : arch.polygons;
      const auto drift = [&](double ratio) {
        return watched(certified(is_ring ? rings : polygons,
                                 {fmt::format("N={}", arch.stones), fmt::format("ratio={}", ratio),
                                  "run.until=0.5"}),
                       "drift");
      };
      EXPECT_LT(drift(least + kTolerance), 1e-9) << arch.stones << is_ring;
      EXPECT_GT(drift(least - kTolerance), 1e-3) << arch.stones << is_ring;
    }
  }
}

/// Oppenheim's arch [1992] on a plate that tilts by 0.1 degrees a second.
TEST(BodyRows, TiltedArchesFallWhereNoThrustLineIsLeft) {
  const std::string polygons = study::builtin_scene("body-tilting-arch");
  const auto falls_at = [](const std::string& text, const char* friction) {
    const std::string early = changed(text, "0.352 +", "0.349 +");
    const study::Motion motion =
        certified(changed(early, "friction = 0.8", std::string("friction = ") + friction));
    return (0.349 + 1.75e-3 * motion.final_state.t) * 180.0 / M_PI;
  };
  for (const char* friction : {"0.8", "0.55"}) {
    EXPECT_NEAR(falls_at(polygons, friction), 20.486, 0.05);
    EXPECT_NEAR(falls_at(as_rings(polygons, "beta"), friction), 20.305, 0.05);
  }
  EXPECT_NEAR(falls_at(polygons, "0.5"), 20.20, 0.05);  // slides
}

/// A box on a plate, a millionth below the angle at which it slides, tips: a million steps.
TEST(BodyRows, ABoxBelowItsLimitDoesNotCreep) {
  for (const char* height : {"c=2", "c=5"}) {
    const std::string text =
        changed(changed(study::builtin_scene("body-tilting-plate"), "theta = \"w*t\"",
                        "theta = \"atan(0.999999*if(mu < b/c, mu, b/c))\""),
                "stop   = \"box.speed > 1e-8\"", "");
    const study::Motion motion =
        certified(text, {height, "run.until=500", "run.record=0"});  // two of half a million
    EXPECT_EQ(motion.outcome.steps, 500000U);
    const body::Motion<2>& box = motion.world->last.bodies[0];
    EXPECT_LT(std::abs(box.x[0]), 1e-14);
    EXPECT_LT(std::abs(box.angle), 1e-14);
  }
}

TEST(BodyRows, PlanksAndCardsStandToAMillionth) {
  for (const char* planks : {"N=4", "N=8"}) {
    EXPECT_LT(watched(scene_run("body-overhang", {planks, "over=0.999999"}), "drift"), 1e-9);
    EXPECT_GT(watched(scene_run("body-overhang", {planks, "over=1.000001"}), "drift"), 1e-6);
  }
  EXPECT_LT(watched(scene_run("body-card-tent", {"part=0.999999"}), "drift"), 1e-9);
  EXPECT_GT(watched(scene_run("body-card-tent", {"part=1.000001"}), "drift"), 1e-6);
}

/// The rates of a free top come again after T, to second order.
TEST(BodyRows, AFreeTopReturnsToSecondOrder) {
  const auto off = [](const char* step) {
    const body::Motion<3> top = scene_run("body-free-top", {step}).world->last_in_space.bodies[0];
    return (top.rates - Vec<3>(0.1, 3.0, 0.1)).norm();
  };
  const double fine = off("run.step=T/8192");
  EXPECT_LT(fine, 1e-5);
  EXPECT_NEAR(std::log2(off("run.step=T/4096") / fine), 2.0, 0.02);
}

/// What a rattleback's steps change of its energy, and the instant at which it turns round.
TEST(BodyRows, ARattlebackIsOfSecondOrder) {
  struct Run {
    double ends;
    double gained;
  };
  const auto turns = [](const char* step) {
    const study::Motion motion = scene_run("body-rattleback", {step});
    const auto& ledger = motion.outcome.certificate.ledger;
    return Run{motion.final_state.t, ledger.contacts.value()};
  };
  const Run coarse = turns("run.step=2e-4");
  const Run fine = turns("run.step=1e-4");
  EXPECT_NEAR(coarse.ends, 2.35319, 2e-4);
  EXPECT_NEAR(fine.ends, 2.35319, 1e-4);
  EXPECT_NEAR(std::log2(coarse.gained / fine.gained), 2.0, 0.1);
}

/// Euler's disc, W^2 sin(a) = 4 g/r: a hundred turns.
TEST(BodyRows, EulersDiscGoesRoundAHundredTimes) {
  const study::Motion motion =
      scene_run("body-euler-disc", {"turns=100", "run.step=2*pi/W/1200", "run.record=0"});
  const body::Motion<3>& disc = motion.world->last_in_space.bodies[0];
  EXPECT_NEAR(std::acos((disc.turn * Vec<3>::UnitZ()).z()), 0.3, 1e-6);
  EXPECT_LT(disc.x.head<2>().norm(), 1e-6 * 0.0375);
}

/// Jellett's integral is kept by any friction, to second order, while the top slides and when it
/// has come to roll.
TEST(BodyRows, JellettsIntegralIsKeptForAnyFriction) {
  const double R = 0.02, al = 0.3, I1 = 131.0 / 350.0 * 0.02 * R * R, I3 = 0.4 * 0.02 * R * R;
  const double start = R * 155.0 * I3 * (std::cos(0.3) - al);
  for (const char* friction : {"mu=0.02", "mu=0.1", "mu=0.3", "mu=0.5"}) {
    const auto lost = [&](const char* step) {
      const study::Motion motion = scene_run("body-tippe-top", {friction, step, "run.until=2"});
      const body::Motion<3>& top = motion.world->last_in_space.bodies[0];
      const Vec<3> axis = top.turn * Vec<3>::UnitZ();
      const Vec<3> L = I1 * top.spin + (I3 - I1) * top.spin.dot(axis) * axis;
      return std::abs(-L.dot(R * (al * axis - Vec<3>::UnitZ())) / start - 1.0);
    };
    const double coarse = lost("run.step=8e-4");
    const double fine = lost("run.step=2e-4");
    EXPECT_LT(fine, 1e-6) << friction;
    EXPECT_GT(std::log2(coarse / fine) / 2.0, 1.9) << friction;
  }
}

/// Towers of a hundred boxes, masses 1 to 1000 upwards and downwards: the floor carries the weight,
/// the middle joint what is above it.
TEST(BodyRows, TowersOfAHundredStand) {
  const std::string floor =
      "[world]\ndimension = 2\ngravity = [0, \"-g\"]\n"
      "parameters = { N = 100, g = 9.81, s = 0.1 }\n"
      "[pair]\ndefault = { friction = 0.5 }\n[body.floor]\nfixed = true\n"
      "half_plane = { point = [0, 0], normal = [0, 1] }\n"
      "[watch.load]\nforce_on = \"floor\"\n[watch.above]\nforce_on = \"upper\"\n"
      "[watch.drift]\ndisplacement = \"all\"\n"
      "[run]\nstep = 0.001\nuntil = 0.2\ntolerance = { residual = 1e-13 }\n";
  for (const char* power : {"i-1", "N-i"}) {
    std::string boxes;
    for (const char* name : {"lower", "upper"}) {
      boxes += fmt::format(
          "[body.{0}]\nfor = \"i in {1}\"\nbox = [\"s\", \"s\"]\nat = [0, \"(i - 0.5)*s\"]\n"
          "mass = \"1000^(({2})/(N-1))\"\n",
          name, name[0] == 'l' ? "1..N/2" : "N/2+1..N", power);
    }
    const study::Motion motion = certified(floor + boxes);
    double all = 0.0, above = 0.0;
    for (int i = 1; i <= 100; ++i) {
      const double mass = std::pow(1000.0, (power[0] == 'i' ? i - 1 : 100 - i) / 99.0);
      all += mass;
      if (i > 50) above += mass;
    }
    EXPECT_NEAR(watched(motion, "load.y") / (-9.81 * all), 1.0, 1e-10) << power;
    EXPECT_NEAR(watched(motion, "above.y") / (9.81 * above), 1.0, 1e-10) << power;
    EXPECT_LT(watched(motion, "drift"), 1e-9 * 0.1) << power;
  }
}

/// A closed cloud of a thousand discs or spheres of eight materials that draw friction and
/// restitution at random.
template <int D>
std::string cloud(double most_restitution) {
  constexpr int kMaterials = 8;
  constexpr int kSide = D == 2 ? 32 : 10;
  base::Random random(7);
  std::string text = fmt::format("[world]\ndimension = {}\n[material]\n", D);
  for (int m = 0; m < kMaterials; ++m) {
    text += fmt::format("m{} = {{ density = {} }}\n", m, random.uniform(5.0, 50.0));
  }
  text += "[pair]\n";
  for (int m = 0; m < kMaterials; ++m) {
    for (int k = m; k < kMaterials; ++k) {
      text += fmt::format("\"m{} m{}\" = {{ friction = {}, restitution = {} }}\n", m, k,
                          random.uniform(0.0, 1.0), random.uniform(0.0, most_restitution));
    }
  }
  const auto list = [&](auto&& number) {
    std::string all;
    for (int d = 0; d < D; ++d) all += fmt::format("{}{}", d == 0 ? "[" : ", ", number(d));
    return all + "]";
  };
  for (int i = 0; i < 1000; ++i) {
    std::array<int, 3> cell = {i % kSide, i / kSide % kSide, i / kSide / kSide};
    const auto off = [&](int d) { return cell[static_cast<std::size_t>(d)] - 0.5 * kSide; };
    text +=
        fmt::format("[body.b{}]\n{} = {}\nat = {}\nvelocity = {}\nspin = {}\nmaterial = \"m{}\"\n",
                    i, D == 2 ? "disc" : "sphere", random.uniform(0.03, 0.05),
                    list([&](int d) { return 0.115 * off(d) + random.uniform(0.0, 0.005); }),
                    list([&](int d) { return random.uniform(-1.0, 1.0) - 0.1 * off(d); }),
                    D == 2 ? fmt::format("{}", random.uniform(-5.0, 5.0))
                           : list([&](int) { return random.uniform(-5.0, 5.0); }),
                    i % kMaterials);
  }
  return text + "[run]\nstep = 5e-4\nuntil = 0.05\n";
}

/// Momentum and moment of momentum about the origin, their parts one after the other.
template <int D>
std::vector<double> momenta(const body::World<D>& world,
                            const std::vector<body::Motion<D>>& bodies) {
  Vec<D> p = Vec<D>::Zero();
  body::Spin<D> turning{};
  if constexpr (D == 3) turning.setZero();
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const auto& body = world.bodies[i];
    const body::Motion<D>& m = bodies[i];
    p += body.mass * m.v;
    if constexpr (D == 2) {
      turning += body.mass * (m.x[0] * m.v[1] - m.x[1] * m.v[0]) + body.inertia * m.spin;
    } else {
      turning +=
          body.mass * m.x.cross(m.v) + m.turn * Vec<3>(body.inertia * (m.turn.inverse() * m.spin));
    }
  }
  std::vector<double> all(p.begin(), p.end());
  if constexpr (D == 2) all.push_back(turning);
  if constexpr (D == 3) all.insert(all.end(), turning.begin(), turning.end());
  return all;
}

/// Momentum is kept whatever friction and restitution are; moment of momentum where nobody is put
/// back, as with e = 0.
template <int D>
void expect_kept(double most_restitution) {
  const study::Motion motion = certified(cloud<D>(most_restitution));
  const auto* world = [&] {
    if constexpr (D == 2) return motion.scene.world()->plane.get();
    if constexpr (D == 3) return motion.scene.world()->space.get();
  }();
  std::vector<body::Motion<D>> start;
  for (const auto& body : world->bodies) start.push_back(body.start);
  const std::vector<double> before = momenta<D>(*world, start);
  const std::vector<double> after = momenta<D>(*world, motion.world->template state<D>().bodies);
  EXPECT_GT(motion.world->told.shocks, 100) << D;
  const std::size_t parts = most_restitution == 0.0 ? before.size() : D;
  for (std::size_t k = 0; k < parts; ++k) EXPECT_NEAR(after[k], before[k], 1e-12) << D << k;
}

TEST(BodyRows, AClosedCloudKeepsItsMomenta) {
  expect_kept<2>(1.0);
  expect_kept<2>(0.0);
  expect_kept<3>(1.0);
  expect_kept<3>(0.0);
}

/// A thousand spheres one above the other, and 990 discs in a pyramid: nobody moves, and the floor
/// carries their weight.
TEST(BodyRows, HeapsOfAThousandRest) {
  const auto world = [](int dimension) {
    return fmt::format(
        "[world]\ndimension = {}\ngravity = {}\nsleep = true\n[pair]\ndefault = {{ friction = 0.7 "
        "}}\n[body.floor]\nfixed = true\n{}\n[watch.load]\nforce_on = \"floor\"\n"
        "[watch.drift]\ndisplacement = \"all\"\n[run]\nstep = 0.001\nuntil = 0.5\nrecord = 0\n",
        dimension, dimension == 2 ? "[0, -9.81]" : "[0, 0, -9.81]",
        dimension == 2 ? "half_plane = { point = [0, 0], normal = [0, 1] }"
                       : "half_space = { point = [0, 0, 0], normal = [0, 0, 1] }");
  };
  const study::Motion spheres =
      certified(world(3) +
                "[body.s]\nfor = \"k in 1..10, j in 1..10, i in 1..10\"\nsphere = 0.05\nmass = 1\n"
                "at = [\"0.1*i\", \"0.1*j\", \"0.05 + (k-1)*0.1\"]\n");
  EXPECT_LE(watched(spheres, "drift"), 1e-9 * 0.05);
  EXPECT_NEAR(watched(spheres, "load.z") / (-9.81 * 1000.0), 1.0, 1e-10);
  const study::Motion discs =
      certified(world(2) +
                "[body.d]\nfor = \"j in 1..44, i in 1..44-j+1\"\ndisc = 0.05\nmass = 1\n"
                "inertia = 0.00125\nat = [\"0.1*(i + 0.5*j)\", \"0.05 + (j-1)*sqrt(3)*0.05\"]\n");
  EXPECT_LE(watched(discs, "drift"), 1e-9 * 0.05);
  EXPECT_NEAR(watched(discs, "load.y") / (-9.81 * 990.0), 1.0, 1e-10);
}

}  // namespace
}  // namespace ricochet::testing::body_rows_test
