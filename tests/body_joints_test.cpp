// Joints of bodies: what scenes say of them, closed forms, and what their judge refuses.

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <functional>

#include "body_step.h"
#include "ricochet/base/error.h"
#include "ricochet/base/index.h"
#include "ricochet/base/random.h"
#include "ricochet/body/joints.h"
#include "ricochet/body/rows.h"
#include "ricochet/certify/body_joint_view.h"
#include "ricochet/plot/world_plot.h"
#include "ricochet/scene/scene.h"
#include "ricochet/step/joint_matrix.h"
#include "ricochet/step/run_bodies.h"
#include "ricochet/study/facts.h"
#include "ricochet/study/motion.h"
#include "ricochet/study/run_world.h"

namespace ricochet::testing::body_joints_test {
namespace {

using body::JointKind;
using body::Motion;
using body::Vec;

study::Motion run_text(const std::string& text) {
  return study::run_scene(scene::read_scene("joints.toml", text), false);
}

/// A run that must hold.
study::Motion run_well(const std::string& text) {
  study::Motion motion = run_text(text);
  EXPECT_TRUE(motion.outcome.certificate.ok())
      << certify::describe_failure(motion.outcome.certificate);
  return motion;
}

std::string with_run(const std::string& text, double step, double until) {
  return text + "[run]\nstep = " + std::to_string(step) + "\nuntil = " + std::to_string(until) +
         "\n";
}

double watch_of(const study::Motion& motion, const std::string& name) {
  for (const auto& [own, value] : motion.world->watches) {
    if (own == name) return value;
  }
  ADD_FAILURE() << "no watch " << name;
  return 0.0;
}

void expect_fault(const std::string& text, const std::string& words) {
  std::string fault;
  try {
    (void)scene::read_scene("joints.toml", text);
  } catch (const base::InputError& error) {
    fault = error.what();
  }
  EXPECT_NE(fault.find(words), std::string::npos) << "wanted: " << words << "\nfound: " << fault;
}

const std::string kHead = R"toml(
[world]
dimension  = 2
gravity    = [0, -10]
parameters = { a = 2, L = 1 }
[pair]
default = "none"
)toml";

/// A rod that hangs on its end, at the angle a from below.
const std::string kPendulum = kHead + R"toml(
[body.rod]
box     = ["L", 0.1]
mass    = 1
inertia = "L^2/12"
at      = ["L/2*sin(a)", "-L/2*cos(a)"]
angle   = "a - pi/2"
[joint.pivot]
kind    = "hinge"
between = ["ground", "rod"]
at      = [0, 0]
)toml";

const std::string kSpacePendulum = R"toml(
[world]
dimension  = 3
gravity    = [0, 0, -10]
parameters = { a = 2, L = 1 }
[pair]
default = "none"
[body.rod]
box        = ["L", 0.1, 0.1]
mass       = 1
inertia    = [0.01, "L^2/12", "L^2/12"]
at         = ["L/2*sin(a)", 0, "-L/2*cos(a)"]
axis_angle = [[0, 1, 0], "pi/2 - a"]
[joint.pivot]
kind    = "hinge"
between = ["ground", "rod"]
at      = [0, 0, 0]
axis    = [0, 1, 0]
)toml";

TEST(BodyJoints, WrongInputIsRefusedWithWords) {
  const auto with = [](const std::string& what, const std::string& is) {
    return changed(kPendulum + "[run]\nstep = 0.01\nuntil = 1\n", what, is);
  };
  expect_fault(with("\"hinge\"", "\"ball\""), "in the plane it is a hinge");
  expect_fault(with("\"hinge\"", "\"glue\""), "'glue' is no kind of joint");
  expect_fault(with("\"rod\"]", "\"rd\"]"), "did you mean 'rod'");
  expect_fault(with("\"ground\", \"rod\"", "\"rod\", \"rod\""), "joins 'rod' to itself");
  expect_fault(with("at      = [0, 0]", ""), "joint.pivot.at");
  expect_fault(with("at      = [0, 0]", "on = [[0, 0.1], [-0.5, 0]]"), "off by 0.1");
  expect_fault(with("at      = [0, 0]", "at = [0, 0]\naxis = [1, 0]"), "axis");
  expect_fault(with("at      = [0, 0]", "at = [0, 0]\nlimits = [0.5, 1]"),
               "beyond its limits by 0.5");
  expect_fault(with("at      = [0, 0]", "at = [0, 0]\nlimits = [1, -1]"), "is not below");
  expect_fault(with("at      = [0, 0]", "at = [0, 0]\nrestitution = 0.5"), "there are none");
  expect_fault(with("at      = [0, 0]", "at = [0, 0]\nmotor = { speed = 1 }"), "most");
  expect_fault(with("at      = [0, 0]", "at = [0, 0]\nlenth = 2"), "lenth");
  expect_fault(with("mass    = 1", "mass = 1\nvelocity = [1, 0]"), "tear at it");
  expect_fault(with("mass    = 1", "mass = 1\nborn = 1"), "not there from the beginning");
  expect_fault(with("\"hinge\"", "\"weld\"\nfriction = 1"), "needs a coordinate");
  expect_fault(with("\"hinge\"", "\"slider\""), "axis");
  expect_fault(changed(with("\"hinge\"", "\"distance\""), "at      = [0, 0]",
                       "at = [[0, 0], [1, 0]]\nlength = 2"),
               "are 1 apart, not 2");
  expect_fault(with("[joint.pivot]",
                    "[body.wall]\nfixed = true\nbox = [1, 1]\n[joint.no]\nkind = "
                    "\"weld\"\nbetween = [\"wall\", \"ground\"]\nat = [0, "
                    "0]\n[joint.pivot]"),
               "is free to move");
  expect_fault(with("[joint.pivot]", "[watch.w]\njoint = \"pivt\"\n[joint.pivot]"),
               "did you mean 'pivot'");
}

/// Rows change as they say: differences of gaps, for all kinds, bodies anywhere.
template <int D>
void check_rates(const body::Joint<D>& joint, Motion<D> a, Motion<D> b) {
  constexpr double h = 1e-5;
  const auto rows = body::rows_of(joint, a, b);
  const auto at = [&](double t) {
    Motion<D> one = a;
    Motion<D> other = b;
    one.advance(t);
    other.advance(t);
    return body::rows_of(joint, one, other);
  };
  const auto later = at(h);
  const auto sooner = at(-h);
  for (std::size_t k = 0; k < base::index(joint.rows()); ++k) {
    EXPECT_NEAR(body::rate_of(rows.held[k], a, b),
                (later.held[k].gap - sooner.held[k].gap) / (2.0 * h), 1e-8)
        << static_cast<int>(joint.kind) << " row " << k;
  }
  if (joint.kind == JointKind::Ball || joint.kind == JointKind::Weld) return;
  if (D == 3 && joint.kind == JointKind::Hinge) return;  // only where its axes are one
  EXPECT_NEAR(body::rate_of(rows.free, a, b), (later.free.gap - sooner.free.gap) / (2.0 * h), 1e-8);
}

TEST(BodyJoints, RowsChangeAsTheySay) {
  base::Random random(7);
  const auto number = [&] { return random.normal(); };
  for (int trial = 0; trial < 50; ++trial) {
    for (const JointKind kind : {JointKind::Hinge, JointKind::Ball, JointKind::Slider,
                                 JointKind::Weld, JointKind::Distance}) {
      body::Joint<3> joint;
      joint.kind = kind;
      Motion<3> a;
      Motion<3> b;
      for (Motion<3>* m : {&a, &b}) {
        m->x = {number(), number(), number()};
        m->v = {number(), number(), number()};
        m->spin = {number(), number(), number()};
        m->turn = body::rotation({number(), number(), number()});
      }
      joint.on_a = {number(), number(), number()};
      joint.on_b = {number(), number(), number()};
      check_rates<3>(joint, a, b);
      body::Joint<2> flat;
      flat.kind = kind;
      flat.on_a = {number(), number()};
      flat.on_b = {number(), number()};
      Motion<2> p;
      Motion<2> q;
      for (Motion<2>* m : {&p, &q}) {
        m->x = {number(), number()};
        m->v = {number(), number()};
        m->spin = number();
        m->angle = number();
      }
      check_rates<2>(flat, p, q);
    }
  }
}

/// What touches a limit is a part of what its coordinate is made of: the judge takes the same.
template <int D>
void check_sizes(const body::Joint<D>& joint, const Motion<D>& a, const Motion<D>& b) {
  const double own = body::rows_of(joint, a, b).free.size;
  const double judged = certify::see_joint<D>(joint, a, b).free.size;
  EXPECT_NEAR(own, judged, 1e-12 * judged) << D << " " << static_cast<int>(joint.kind);
}

TEST(BodyJoints, WhatTouchesALimitIsTheSameToTheJudge) {
  base::Random random(11);
  const auto number = [&] { return random.normal(); };
  for (int trial = 0; trial < 50; ++trial) {
    for (const JointKind kind : {JointKind::Hinge, JointKind::Slider, JointKind::Distance}) {
      body::Joint<2> flat;
      flat.kind = kind;
      flat.on_a = {number(), number()};
      flat.on_b = {number(), number()};
      flat.frame_a = number();
      flat.frame_b = number();
      Motion<2> p;
      Motion<2> q;
      for (Motion<2>* m : {&p, &q}) {
        m->x = {number(), number()};
        m->angle = number();
      }
      check_sizes<2>(flat, p, q);
      body::Joint<3> joint;
      joint.kind = kind;
      joint.on_a = {number(), number(), number()};
      joint.on_b = {number(), number(), number()};
      Motion<3> a;
      Motion<3> b;
      for (Motion<3>* m : {&a, &b}) {
        m->x = {number(), number(), number()};
        m->turn = body::rotation({number(), number(), number()});
      }
      check_sizes<3>(joint, a, b);
    }
  }
}

TEST(JointMatrix, SolvesWithinItsEnvelopeAndLeavesOutWhatIsSaidTwice) {
  constexpr int n = 12;
  const std::vector<int> first = {0, 0, 1, 1, 3, 2, 5, 6, 6, 8, 9, 9};
  base::Random random(3);
  Eigen::MatrixXd K = Eigen::MatrixXd::Zero(n, n);
  step::JointMatrix matrix;
  matrix.shape(first);
  matrix.clear();
  for (int i = 0; i < n; ++i) {
    for (int j = first[base::index(i)]; j <= i; ++j) {
      K(i, j) = i == j ? 10.0 : random.normal();
      K(j, i) = i == j ? 10.0 : K(i, j) + 0.1 * random.normal();  // nearly symmetric
      matrix.add(i, j, K(i, j));
      if (i != j) matrix.add(j, i, K(j, i));
    }
  }
  matrix.factor();
  const Eigen::VectorXd b = Eigen::VectorXd::LinSpaced(n, -1.0, 2.0);
  Eigen::VectorXd x = b;
  matrix.solve(0, n, x.data());
  EXPECT_LT((K * x - b).norm(), 1e-13);
  step::JointMatrix twice;
  twice.shape({0, 0});
  for (const auto& [i, j] : {std::pair(0, 0), {0, 1}, {1, 0}, {1, 1}}) twice.add(i, j, 2.0);
  twice.factor();
  EXPECT_FALSE(twice.has(1));
  std::array<double, 2> y = {4.0, 4.0};
  twice.solve(0, 2, y.data());
  EXPECT_EQ(y[0], 2.0);
  EXPECT_EQ(y[1], 0.0);
}

/// K(k) by the arithmetic-geometric mean.
double quarter_period(double k) {
  double a = 1.0;
  double b = std::sqrt(1.0 - k * k);
  while (std::abs(a - b) > 1e-15) {
    const double mean = 0.5 * (a + b);
    b = std::sqrt(a * b);
    a = mean;
  }
  return M_PI / (2.0 * a);
}

/// How far a pendulum is from below after a quarter of its period.
double miss_after_a_quarter(const std::string& text, int steps, bool in_space) {
  const double quarter = quarter_period(std::sin(1.0)) / std::sqrt(1.5 * 10.0);
  char run[200];
  std::snprintf(run, sizeof run, "[run]\nstep = %.17g\nuntil = %.17g\n", quarter / steps, quarter);
  const study::Motion motion = run_well(text + run);
  EXPECT_LT(motion.outcome.certificate.joint_max, 1e-12);
  const Vec<3> below(0.0, 0.0, -0.5);
  if (in_space) return (motion.world->last_in_space.bodies[0].x - below).norm();
  const Vec<2> x = motion.world->last.bodies[0].x;
  return (Vec<3>(x[0], 0.0, x[1]) - below).norm();
}

TEST(BodyJoints, APendulumHasItsPeriodToSecondOrder) {  // exact: elliptic integral
  const double coarse = miss_after_a_quarter(kPendulum, 500, false);
  const double fine = miss_after_a_quarter(kPendulum, 1000, false);
  EXPECT_LT(fine, 1e-5);
  EXPECT_NEAR(coarse / fine, 4.0, 0.3);
  const double space = miss_after_a_quarter(kSpacePendulum, 500, true);
  EXPECT_NEAR(space, coarse, 1e-9);
}

const std::string kDouble = kPendulum + R"toml(
[body.lower]
box      = ["L", 0.1]
mass     = 2
inertia  = "L^2/6"
at       = ["L*sin(a) + L/2", "-L*cos(a)"]
[joint.elbow]
kind    = "hinge"
between = ["rod", "lower"]
at      = ["L*sin(a)", "-L*cos(a)"]
)toml";

TEST(BodyJoints, ADoublePendulumKeepsItsEnergyToSecondOrder) {
  const auto swing = [](double step) {
    const study::Motion motion = run_well(with_run(kDouble, step, 2.0));
    EXPECT_LT(motion.outcome.certificate.joint_max, 1e-12);
    EXPECT_LT(std::abs(motion.outcome.certificate.ledger.defect.value()), 1e-10);
    return motion.outcome.certificate.ledger.highest - motion.outcome.certificate.ledger.lowest;
  };
  const double coarse = swing(0.001);
  EXPECT_LT(coarse, 1e-3);
  EXPECT_NEAR(coarse / swing(0.0005), 4.0, 0.5);
}

TEST(BodyJoints, AChainHangsByItsWeight) {  // exact
  for (const bool in_space : {false, true}) {
    const std::string zero = in_space ? "0, 0" : "0";
    std::string text =
        "[world]\ndimension = " + std::string(in_space ? "3" : "2") + "\ngravity = [" + zero +
        ", -10]\nparameters = { N = 25, l = 0.1 }\n" +
        "[pair]\ndefault = \"none\"\n[body.link]\nfor = \"i in 1..N\"\nmass = " + "\"0.1*i\"\n" +
        (in_space ? "inertia = [1e-4, 1e-4, 1e-5]\nbox = [0.02, 0.02, \"l\"]\n"
                  : "inertia = 1e-4\nbox = [0.02, \"l\"]\n") +
        "at = [" + zero + ", \"-l*(i-0.5)\"]\n" +
        "[joint.top]\nkind = \"hinge\"\nbetween = [\"ground\", \"link[1]\"]\nat = " + "[" + zero +
        ", 0]\n" + (in_space ? "axis = [0, 1, 0]\n" : "") +
        "[joint.pin]\nfor = \"i in 2..N\"\nkind = \"" + (in_space ? "ball" : "hinge") +
        "\"\nbetween = [\"link[i-1]\", \"link[i]\"]\nat = [" + zero +
        ", \"-l*(i-1)\"]\n[watch.top_force]\njoint = \"top\"\n" +
        "[watch.mid]\njoint = \"pin[13]\"\n[watch.on]\nforce_on = \"ground\"\n";
    const study::Motion motion = run_well(with_run(text, 0.001, 0.2));
    const std::string up = in_space ? ".z" : ".y";
    EXPECT_NEAR(watch_of(motion, "top_force" + up), 325.0, 1e-10 * 325.0);  // 0.1 * 25 * 26/2 * 10
    EXPECT_NEAR(watch_of(motion, "mid" + up), 325.0 - 78.0, 1e-10 * 325.0);
    EXPECT_NEAR(watch_of(motion, "on" + up), -325.0, 1e-10 * 325.0);
  }
}

TEST(BodyJoints, ALimitThrowsBackWhatItSays) {
  const std::string text = changed(kHead, "[0, -10]", "[0, 0]") + R"toml(
[body.rod]
box      = [1, 0.1]
mass     = 2
inertia  = 0.2
at       = [0.5, 0]
velocity = [0, 0.5]
spin     = 1
[joint.pivot]
kind        = "hinge"
between     = ["ground", "rod"]
at          = [0, 0]
limits      = [-0.5, 0.5]
restitution = 0.7
[watch.p]
joint = "pivot"
)toml";
  const study::Motion motion = run_well(with_run(text, 0.001, 1.0));
  EXPECT_NEAR(motion.world->last.bodies[0].spin, -0.7, 1e-6);  // O(h^2) of the arc
  EXPECT_NEAR(watch_of(motion, "p.value"), 0.5 - 0.7 * 0.5, 1e-3);
  EXPECT_EQ(motion.world->told.shocks, 1);
  const study::Motion caught = run_well(with_run(changed(text, "= 0.7", "= 0"), 0.001, 1.0));
  EXPECT_NEAR(watch_of(caught, "p.value"), 0.5, 1e-9);
  EXPECT_LT(std::abs(caught.world->last.bodies[0].spin), 1e-12);
}

TEST(BodyJoints, ASliderOnASlope) {  // exact: a = g sin - F/m
  const std::string text = kHead + R"toml(
[body.box]
box     = [0.2, 0.1]
mass    = 2
inertia = 0.2
at      = [0, 0]
angle   = 0.2
[joint.rail]
kind    = "slider"
between = ["ground", "box"]
at      = [0, 0]
axis    = ["cos(0.5)", "sin(0.5)"]
friction = 3
[watch.p]
joint = "rail"
)toml";
  const study::Motion motion = run_well(with_run(text, 0.001, 1.0));
  EXPECT_NEAR(watch_of(motion, "p.value"), -0.5 * (10.0 * std::sin(0.5) - 1.5), 1e-11);
  EXPECT_LT(std::abs(motion.world->last.bodies[0].angle - 0.2), 1e-12);
  const study::Motion held = run_well(
      with_run(changed(text, "friction = 3", "friction = 9.6"), 0.001, 1.0));  // m g sin = 9.588
  EXPECT_LT(std::abs(watch_of(held, "p.value")), 1e-13);
}

/// Two boxes, glued, or one body of two shapes.
std::string two_boxes(bool glued, double spin) {
  const std::string head = changed(kHead, "default = \"none\"", "default = { friction = 0.5 }") +
                           "[body.floor]\nfixed = true\nhalf_plane = { point = [0, 0], normal = "
                           "[0, 1] }\n[material.wood]\ndensity = 10\n";
  const double w = spin;  // about the common centre, halfway
  if (!glued) {
    return head + "[body.both]\nmaterial = \"wood\"\nat = [0, 2]\nspin = " + std::to_string(w) +
           "\nshapes = [{ box = [1, 1], at = [-0.5, 0] }, { box = [1, 1], at = [0.5, 0] }]\n";
  }
  const auto box = [&](const std::string& name, double x) {
    return "[body." + name + "]\nbox = [1, 1]\nmaterial = \"wood\"\nat = [" + std::to_string(x) +
           ", 2]\nspin = " + std::to_string(w) + "\nvelocity = [0, " + std::to_string(w * x) +
           "]\n";
  };
  return head + box("left", -0.5) + box("right", 0.5) +
         "[joint.glue]\nkind = \"weld\"\nbetween = [\"left\", \"right\"]\nat = [0, 2]\n";
}

TEST(BodyJoints, AWeldMakesOneBodyOfTwo) {
  const auto centre = [](const study::Motion& motion, bool glued) {
    const auto& bodies = motion.world->last.bodies;
    return glued ? Vec<2>(0.5 * (bodies[1].x + bodies[2].x)) : bodies[1].x;
  };
  // Falls on the floor without turning, and stays: the same digits but for what counts as touching.
  const study::Motion one = run_well(with_run(two_boxes(false, 0.0), 0.001, 1.0));
  const study::Motion two = run_well(with_run(two_boxes(true, 0.0), 0.001, 1.0));
  EXPECT_LT((centre(one, false) - centre(two, true)).norm(), 1e-9);
  EXPECT_NEAR(centre(two, true)[1], 0.5, 1e-9);
  // Turns in the air: to second order.
  const auto off = [&](double step) {
    const study::Motion whole = run_well(with_run(two_boxes(false, 2.0), step, 0.4));
    const study::Motion glued = run_well(with_run(two_boxes(true, 2.0), step, 0.4));
    EXPECT_LT((centre(whole, false) - centre(glued, true)).norm(), 1e-12);
    return std::abs(whole.world->last.bodies[1].angle - glued.world->last.bodies[1].angle);
  };
  EXPECT_LT(off(0.001), 1e-6);
  EXPECT_NEAR(off(0.002) / off(0.001), 4.0, 0.2);
}

/// Momentum and moment of momentum about the origin.
template <int D>
std::pair<Vec<D>, body::Spin<D>> momenta(const body::World<D>& world,
                                         const body::WorldState<D>& state) {
  Vec<D> linear = Vec<D>::Zero();
  body::Spin<D> turning = Motion<D>{}.spin;
  for (std::size_t i = 0; i < world.bodies.size(); ++i) {
    const body::Body<D>& body = world.bodies[i];
    if (!body.is_free()) continue;
    const Motion<D>& m = state.bodies[i];
    linear += body.mass * m.v;
    turning += body.mass * body::moment(m.x, m.v) + body::momentum_of(body, m);
  }
  return {linear, turning};
}

template <int D>
void check_momentum(const std::string& text, int steps) {
  const scene::Scene scene = scene::read_scene("joints.toml", text);
  const body::World<D>* world = nullptr;
  if constexpr (D == 2) world = scene.world()->plane.get();
  if constexpr (D == 3) world = scene.world()->space.get();
  body::WorldState<D> state = step::start_of(*world, 0.0);
  body::WorldState<D> next = state;
  step::MoreauBodies<D> stepper(*world, scene.run.limits);
  certify::BodyJudge<D> judge(*world, scene.run.limits, state);
  certify::BodyClaim<D> claim;
  Vec<D> linear = Vec<D>::Zero();
  body::Spin<D> turning = Motion<D>{}.spin;
  for (int k = 0; k < steps; ++k) {
    next.t = (k + 1) * scene.run.step;
    ASSERT_EQ(stepper.advance(state, scene.run.step, next, claim).status, problem::Status::Solved);
    ASSERT_TRUE(judge.accept(state, next, scene.run.step, claim))
        << certify::describe_failure(judge.certificate());
    std::swap(state, next);
    // The first middle is put where the joint holds; from then on nothing changes.
    if (k == 0) std::tie(linear, turning) = momenta<D>(*world, state);
  }
  const auto [end, turned] = momenta<D>(*world, state);
  EXPECT_LT((end - linear).norm(), 1e-12);
  EXPECT_LT(body::size_of(body::Spin<D>(turned - turning)), 1e-12);
}

TEST(BodyJoints, AFreePairKeepsItsMomenta) {
  check_momentum<2>(with_run(changed(kHead, "[0, -10]", "[0, 0]") + R"toml(
[body.one]
box      = [1, 0.2]
mass     = 1
inertia  = 0.1
at       = [-0.5, 0]
velocity = [0.3, 0.1]
[body.other]
box      = [1, 0.2]
mass     = 3
inertia  = 0.3
at       = [0.5, 0]
velocity = [0.3, 1.1]
spin     = 2
[joint.pin]
kind    = "hinge"
between = ["one", "other"]
at      = [0, 0]
)toml",
                             0.001, 1.0),
                    1000);
  check_momentum<3>(with_run(R"toml(
[world]
dimension = 3
[pair]
default = "none"
[body.one]
box      = [1, 0.2, 0.3]
mass     = 1
inertia  = [0.02, 0.1, 0.09]
at       = [-0.5, 0, 0]
rates    = [1, 0, 0]
[body.other]
box      = [1, 0.2, 0.4]
mass     = 3
inertia  = [0.1, 0.3, 0.35]
at       = [0.5, 0, 0]
velocity = [0, 1, 0.5]
spin     = [0.5, -1, 2]
[joint.pin]
kind    = "ball"
between = ["one", "other"]
at      = [0, 0, 0]
)toml",
                             0.001, 1.0),
                    1000);
}

TEST(BodyJoints, JointedBodiesLieOnAFloor) {
  const std::string text = changed(kHead, "default = \"none\"", "default = { friction = 0.4 }") +
                           R"toml(
[body.floor]
fixed      = true
half_plane = { point = [0, 0], normal = [0, 1] }
[body.one]
box     = [1, 0.1]
mass    = 10
inertia = 0.84
at      = [0, 1.2]
angle   = 0.3
[body.other]
box     = [1, 0.1]
mass    = 10
inertia = 0.84
at      = ["0.5*cos(0.3) + 0.5*cos(0.5)", "1.2 + 0.5*sin(0.3) - 0.5*sin(0.5)"]
angle   = -0.5
[joint.elbow]
kind    = "hinge"
between = ["one", "other"]
at      = ["0.5*cos(0.3)", "1.2 + 0.5*sin(0.3)"]
[watch.load]
force_on = "floor"
)toml";
  const study::Motion motion = run_well(with_run(text, 0.001, 3.0));
  EXPECT_NEAR(watch_of(motion, "load.y"), -200.0, 1e-8);
  EXPECT_NEAR(motion.world->last.bodies[1].x[1], 0.05, 1e-9);
  EXPECT_LT(motion.outcome.certificate.violation_max,
            0.01);  // as it strikes: 1/10 of its thickness
  EXPECT_LT(motion.outcome.certificate.joint_max, 1e-12);
}

TEST(BodyJoints, MotorsReachTheirSpeedAndSpringsSwing) {
  const std::string text = changed(kHead, "[0, -10]", "[0, 0]") + R"toml(
[body.wheel]
disc    = 0.5
mass    = 2
inertia = 0.25
at      = [0, 0]
[joint.axle]
kind     = "hinge"
between  = ["ground", "wheel"]
at       = [0, 0]
motor    = { speed = 4, most = 0.5 }
friction = 0.1
[body.mass]
disc    = 0.1
mass    = 2
inertia = 0.1
at      = [3, 0]
[joint.rail]
kind    = "slider"
between = ["ground", "mass"]
on      = [[2, 0], [0, 0]]
axis    = [1, 0]
spring  = { stiffness = 50, damping = 1, rest = 0.5 }
[watch.axle]
joint = "axle"
[watch.rail]
joint = "rail"
)toml";
  const auto run = [&](double step) { return run_well(with_run(text, step, 5.0)); };
  const study::Motion motion = run(0.001);
  // 0.4 N m on 0.25 kg m^2 until 4 rad/s, after 2.5 s; then on.
  EXPECT_NEAR(watch_of(motion, "axle.value"), 15.0, 1e-11);
  EXPECT_NEAR(motion.world->last.bodies[0].spin, 4.0, 1e-12);
  const double w = std::sqrt(25.0 - 1.0 / 16.0);
  const double exact =
      0.5 + 0.5 * std::exp(-0.25 * 5.0) * (std::cos(5.0 * w) + 0.25 / w * std::sin(5.0 * w));
  const double coarse = watch_of(motion, "rail.value") - exact;
  EXPECT_LT(std::abs(coarse), 1e-4);
  EXPECT_NEAR(coarse / (watch_of(run(0.0005), "rail.value") - exact), 4.0, 0.1);
}

TEST(BodyJoints, ARopeIsALimit) {
  const std::string text = kHead + R"toml(
[body.ball]
disc    = 0.1
mass    = 1
inertia = 0.01
at      = [0, -0.5]
[joint.rope]
kind    = "distance"
between = ["ground", "ball"]
on      = [[0, 0], [0, 0]]
limits  = { high = 1 }
[watch.pull]
joint = "rope"
)toml";
  const study::Motion motion = run_well(with_run(text, 0.001, 1.0));
  EXPECT_NEAR(watch_of(motion, "pull.value"), 1.0, 1e-9);
  EXPECT_NEAR(watch_of(motion, "pull.y"), 10.0, 1e-9);
}

/// A mass on a rod of length L turns about the vertical at Omega^2 = g / (L cos) and keeps its
/// height.
TEST(BodyJoints, AConicalPendulum) {
  const std::string text = R"toml(
[world]
dimension  = 3
gravity    = [0, 0, -10]
parameters = { a = 0.6, w = "sqrt(10/cos(a))" }
[pair]
default = "none"
[body.ball]
sphere   = 0.1
mass     = 1
at       = ["sin(a)", 0, "-cos(a)"]
velocity = [0, "w*sin(a)", 0]
[joint.rod]
kind    = "distance"
between = ["ground", "ball"]
at      = [[0, 0, 0], ["sin(a)", 0, "-cos(a)"]]
[watch.pull]
joint = "rod"
)toml";
  const study::Motion motion = run_well(with_run(text, 0.001, 5.0));
  EXPECT_NEAR(motion.world->last_in_space.bodies[0].x[2], -std::cos(0.6), 1e-5);
  EXPECT_NEAR(watch_of(motion, "pull.z"), 10.0, 1e-4);
}

/// A parallelogram of hinges in space says more than it needs: the same as in the plane.
TEST(BodyJoints, RedundantHingesOfALoopInSpace) {
  const auto bars = [](bool in_space) {
    std::string text = in_space ? "[world]\ndimension = 3\ngravity = [0, 0, -10]\n"
                                : "[world]\ndimension = 2\ngravity = [0, -10]\n";
    text += "[pair]\ndefault = \"none\"\n";
    const auto place = [&](double x, double y) {
      return "[" + std::to_string(x) + (in_space ? ", 0, " : ", ") + std::to_string(y) + "]";
    };
    const auto bar = [&](const std::string& name, double x, double y, bool lies) {
      text += "[body." + name + "]\nmass = " + (lies ? "2" : "1") + "\nat = " + place(x, y) +
              "\nvelocity = " + place(lies ? 2.0 : 1.0, 0.0) + "\n";
      if (!lies) text += in_space ? "spin = [0, 2, 0]\n" : "spin = -2\n";
      text += in_space ? "box = [0.1, 0.1, 0.1]\ninertia = [0.1, 0.1, 0.05]\n"
                       : "box = [0.1, 0.1]\ninertia = 0.1\n";
    };
    const auto pin = [&](const std::string& name, const std::string& a, const std::string& b,
                         double x, double y) {
      text += "[joint." + name + "]\nkind = \"hinge\"\nbetween = [\"" + a + "\", \"" + b +
              "\"]\nat = " + place(x, y) + "\n" + (in_space ? "axis = [0, 1, 0]\n" : "");
    };
    bar("left", 0.0, 0.5, false);
    bar("top", 1.0, 1.0, true);
    bar("right", 2.0, 0.5, false);
    pin("p", "ground", "left", 0.0, 0.0);
    pin("q", "left", "top", 0.0, 1.0);
    pin("r", "top", "right", 2.0, 1.0);
    pin("s", "ground", "right", 2.0, 0.0);
    return with_run(text, 0.001, 0.4);
  };
  const study::Motion flat = run_well(bars(false));
  const study::Motion deep = run_well(bars(true));
  const Vec<2> x = flat.world->last.bodies[1].x;
  const Vec<3> y = deep.world->last_in_space.bodies[1].x;
  EXPECT_LT((Vec<3>(x[0], 0.0, x[1]) - y).norm(), 1e-9);
}

TEST(BodyJointJudge, RefusesLies) {
  using certify::Failure;
  using OneStep = testing::BodyStep<2>;
  const std::string text =
      with_run(changed(kDouble, "at      = [0, 0]",
                       "at = [0, 0]\nlimits = [-1, 1]\nmotor = { speed = 1, most "
                       "= 1 }\nspring = { stiffness = 3, damping = 0.1 }"),
               0.001, 0.1);
  const auto lie = [&](const std::function<void(OneStep&)>& change) {
    OneStep one(text);
    EXPECT_EQ(one.claim.reactions.size(), 2U);
    change(one);
    return one.verdict();
  };
  EXPECT_EQ(lie([](OneStep&) {}), Failure::None);
  EXPECT_NE(lie([](OneStep& s) { s.claim.reactions.clear(); }), Failure::None);
  EXPECT_NE(lie([](OneStep& s) { s.claim.reactions[0].held[0] += 1e-6; }), Failure::None);
  EXPECT_NE(lie([](OneStep& s) { s.claim.reactions[0].low = 1e-6; }), Failure::None);
  EXPECT_NE(lie([](OneStep& s) { s.claim.reactions[0].spring += 1e-6; }), Failure::None);
  EXPECT_NE(lie([](OneStep& s) { s.claim.reactions[0].force[0] += 1e-6; }), Failure::None);
  EXPECT_NE(lie([](OneStep& s) { s.claim.reactions[0].held[1] = std::nan(""); }), Failure::None);
  EXPECT_NE(lie([](OneStep& s) { s.claim.reactions[0].motor = 0.0; }), Failure::None);
  EXPECT_NE(lie([](OneStep& s) { s.claim.reactions[1].friction = 1e-6; }), Failure::None);
  // No reaction at all, and the free fall that belongs to it: momentum adds up, the joint does not.
  EXPECT_EQ(lie([](OneStep& s) {
              for (auto& one : s.claim.reactions) one = {};
              for (std::size_t i = 0; i < 2; ++i) {
                s.after.bodies[i] = s.before.bodies[i];
                s.after.bodies[i].v[1] -= 10.0 * 0.001;
                s.after.bodies[i].x[1] -= 5.0 * 1e-6;
              }
            }),
            Failure::Residual);
}

/// A box in the plane that falls on its corner, e = 0.5 without friction: P = (1 + e)/(1/m + r^2/I)
/// with r the way from its middle to the corner along the floor. It is put back when it is found
/// below the floor, and turned by that out of what counts as touching.
TEST(PutBack, AnImpactOfACornerIsNotLost) {
  const auto fall = [](double step) {
    return run_well(
        "[world]\ndimension = 2\ngravity = [0, 0]\n[pair]\n"
        "default = { friction = 0, restitution = 0.5 }\n"
        "[body.floor]\nfixed = true\nhalf_plane = { point = [0, 0], normal = [0, 1] }\n"
        "[body.box]\nbox = [0.6, 0.2]\nmass = 1\ninertia = \"1/30\"\nat = [0, 0.5]\n"
        "angle = 0.5\nvelocity = [0, -1]\n[run]\nstep = " +
        std::to_string(step) + "\nuntil = 0.36\n");
  };
  const double arm = 0.3 * std::cos(0.5) - 0.1 * std::sin(0.5);  // corner (-, -) is the lowest
  const double impulse = 1.5 / (1.0 + 30.0 * arm * arm);
  for (const double step : {1e-3, 1e-4}) {
    const study::Motion motion = fall(step);
    const auto u = motion.final_state.u;
    EXPECT_NEAR(u[1], -1.0 + impulse, 20.0 * step) << step;
    EXPECT_NEAR(std::abs(u[2]), 30.0 * arm * impulse, 100.0 * step) << step;
  }
}

/// The same of a limit.
TEST(PutBack, AnImpactOfALimitIsNotLost) {
  const std::string text =
      "[world]\ndimension = 2\ngravity = [0, 0]\n[pair]\ndefault = \"none\"\n"
      "[body.a]\nbox = [1, 0.05]\nmass = 1\ninertia = \"1/12\"\nat = [0.5, 0]\n"
      "velocity = [0, 1]\n[joint.s]\nkind = \"distance\"\nbetween = [\"ground\", \"a\"]\n"
      "at = [[0, 0.5], [0.2, 0]]\nlimits = { low = 0.3 }\nrestitution = 0.5\n";
  const study::Motion motion = run_well(with_run(text, 1e-3, 0.297));
  // Struck where the point (0.2, y) is 0.3 from (0, 0.5): n = (2, -sqrt 5)/3, arm (-0.3, 0).
  const double ny = -std::sqrt(5.0) / 3.0;
  const double turn = -0.3 * ny;
  const double impulse = -1.5 * ny / (1.0 + 12.0 * turn * turn);
  EXPECT_NEAR(motion.final_state.u[0], impulse * 2.0 / 3.0, 2e-3);
  EXPECT_NEAR(motion.final_state.u[1], 1.0 + impulse * ny, 2e-3);
  EXPECT_NEAR(motion.final_state.u[2], 12.0 * turn * impulse, 1e-2);
}

/// A press that comes down on a box has no motion: nothing is put back by what no step moves.
TEST(PutBack, AJamIsRefused) {
  const study::Motion motion = run_text(
      "[world]\ndimension = 2\ngravity = [0, -9.81]\n[pair]\n"
      "default = { friction = 0.5, restitution = 0 }\n"
      "[body.floor]\nfixed = true\nhalf_plane = { point = [0, 0], normal = [0, 1] }\n"
      "[body.box]\nbox = [0.3, 0.2]\nmass = 2\ninertia = 0.03\nat = [0, 0.1]\n"
      "[body.press]\ndriven = { position = [0, \"0.401 - 0.1*t\"] }\nbox = [0.3, 0.4]\n"
      "[run]\nstep = 0.001\nuntil = 0.1\n");
  EXPECT_FALSE(motion.outcome.certificate.ok());
}

/// Shorter than its lower limit within one step, and out on the other side.
TEST(Joints, ALengthDoesNotPassThroughItsLimit) {
  const study::Motion motion = run_text(
      "[world]\ndimension = 2\ngravity = [0, 0]\n[pair]\ndefault = \"none\"\n"
      "[body.a]\npoint = [0, 0]\nmass = 1\ninertia = 1\nat = [0.2, 0]\nvelocity = [-20, 0]\n"
      "[joint.s]\nkind = \"distance\"\nbetween = [\"ground\", \"a\"]\non = [[0, 0], [0, 0]]\n"
      "limits = { low = 0.09 }\nrestitution = 1\n[run]\nstep = 0.01\nuntil = 0.1\n");
  EXPECT_FALSE(motion.outcome.certificate.ok());
}

/// Four rods whose hinges are braked by any large bound are one rod of length 4: 3 g/(2 L) sin.
TEST(Joints, ABrakeOfAnyStrengthHolds) {
  const auto end_of = [](const std::string& joint) {
    return run_well(kHead +
                    "[body.rod]\nfor = \"i in 1..4\"\nbox = [1, 0.05]\nmass = 1\n"
                    "inertia = \"1/12\"\nat = [\"i - 1/2\", 0]\n"
                    "[joint.pivot]\nkind = \"hinge\"\nbetween = [\"ground\", \"rod[1]\"]\n"
                    "at = [0, 0]\n[joint.elbow]\nfor = \"i in 2..4\"\n" +
                    joint +
                    "between = [\"rod[i-1]\", \"rod[i]\"]\nat = [\"i - 1\", 0]\n"
                    "[run]\nstep = 0.001\nuntil = 0.3\n")
        .final_state.q;
  };
  const Eigen::VectorXd welded = end_of("kind = \"weld\"\n");
  for (const char* bound : {"1e4", "1e9", "1e16"}) {
    const Eigen::VectorXd braked =
        end_of(std::string("kind = \"hinge\"\nfriction = ") + bound + "\n");
    EXPECT_LT((braked - welded).cwiseAbs().maxCoeff(), 1e-8) << bound;
  }
}

/// T + V of rods of mass 1 and length 1, with g = 10.
double energy_of(const study::Motion& motion) {
  double sum = 0.0;
  for (const Motion<2>& rod : motion.world->last.bodies) {
    sum += 0.5 * rod.v.squaredNorm() + rod.spin * rod.spin / 24.0 + 10.0 * rod.x[1];
  }
  return sum;
}

std::string rod_of(int number, const std::string& at, const std::string& angle) {
  return "[body.rod" + std::to_string(number) +
         "]\nbox = [1, 0.1]\nmass = 1\ninertia = \"1/12\"\nat = " + at + "\nangle = " + angle +
         "\n";
}

std::string elbow_of(int number, const std::string& a, const std::string& at,
                     const std::string& more) {
  const std::string own = std::to_string(number);
  return "[joint.j" + own + "]\nkind = \"hinge\"\nbetween = [\"" + a + "\", \"rod" + own +
         "\"]\nat = " + at + "\n" + more;
}

/// Rods fall into their limits, where dry friction holds them too: along one coordinate two
/// impulses act, and the limit may carry a thousand times what friction can. Limits and friction
/// take energy.
TEST(Joints, LimitsAndFrictionOfOneJointAgree) {
  const std::string text =
      kHead + rod_of(1, "[0.5, 0]", "0") + rod_of(2, "[1.5, 0]", "0") + rod_of(3, "[2.5, 0]", "0") +
      elbow_of(1, "ground", "[0, 0]", "limits = [-0.1, 0.2]\nrestitution = 0.5\nfriction = 1\n") +
      elbow_of(2, "rod1", "[1, 0]", "limits = [-0.2, 0.1]\nrestitution = 0.5\nfriction = 0.1\n") +
      elbow_of(3, "rod2", "[2, 0]", "limits = [-1, 0.2]\nrestitution = 0.8\nfriction = 0.01\n");
  EXPECT_LT(energy_of(run_well(with_run(text, 0.002, 1.0))), 0.0);
}

/// Two rods that begin at angles come to rest on their lower limits: -0.5 - 0.3, and 0.5 - 0.1
/// more.
TEST(Joints, LimitsHoldBodiesThatBeginAtAngles) {
  const std::string c = "cos(0.5)";
  const std::string s = "sin(0.5)";
  const std::string text =
      kHead + rod_of(1, "[\"" + c + "/2\", \"-" + s + "/2\"]", "-0.5") +
      rod_of(2, "[\"" + c + " + 1/2\", \"-" + s + "\"]", "0") +
      elbow_of(1, "ground", "[0, 0]", "limits = [-0.3, 0.3]\nrestitution = 0.2\n") +
      elbow_of(2, "rod1", "[\"" + c + "\", \"-" + s + "\"]",
               "limits = [-0.1, 0.3]\nrestitution = 0.2\nfriction = 1\n");
  for (const double step : {2e-3, 5e-4, 1e-4}) {
    const study::Motion motion = run_well(with_run(text, step, 1.0));
    EXPECT_NEAR(motion.world->last.bodies[0].angle, -0.8, 1e-8) << step;
    EXPECT_NEAR(motion.world->last.bodies[1].angle, -0.4, 1e-8) << step;
  }
}

/// An arm lies on a floor while a motor that never comes to its speed pulls: what the motor aims at
/// is no measure of the contact.
TEST(Joints, AMotorThatStallsIsNoMeasureOfContacts) {
  const study::Motion motion = run_well(
      "[world]\ndimension = 2\ngravity = [0, -9.81]\n[material.rod]\ndensity = 400\n"
      "[material.floor]\ndensity = 1\n[pair]\n\"rod floor\" = { friction = 0.3, restitution = 0 }\n"
      "\"rod rod\" = \"none\"\n[body.rod]\nfor = \"i in 1..2\"\nbox = [1, 0.05]\nmass = 1\n"
      "inertia = 0.08\nat = [\"i - 1/2\", 0]\nmaterial = \"rod\"\n[body.floor]\nfixed = true\n"
      "material = \"floor\"\nhalf_plane = { point = [0, -1.65], normal = [0, 1] }\n"
      "[joint.j1]\nkind = \"hinge\"\nbetween = [\"ground\", \"rod[1]\"]\nat = [0, 0]\n"
      "limits = { low = -1.88 }\nrestitution = 0.8\nfriction = 4.2\n"
      "[joint.j2]\nkind = \"hinge\"\nbetween = [\"rod[1]\", \"rod[2]\"]\nat = [1, 0]\n"
      "limits = { low = -0.34 }\nrestitution = 0.5\nfriction = 1\n"
      "motor = { speed = 4.27, most = 2 }\nspring = { stiffness = 10 }\n"
      "[run]\nstep = 0.002\nuntil = 3\n");
  EXPECT_LT(motion.final_state.u.cwiseAbs().maxCoeff(), 1e-10);  // friction brings it to rest
}

/// Joints that hold do no work: where steps of half a radian and more make some, the run says so.
TEST(Joints, AStepFarTooLargeIsWarnedOf) {
  const auto warned = [](double step) {
    const study::Motion motion = run_text(with_run(kPendulum, step, 2.0));
    std::vector<std::string> warnings;
    study::warn_of_world(motion, warnings);
    return !warnings.empty() && warnings[0].find("joints did work") != std::string::npos;
  };
  EXPECT_TRUE(warned(0.3));
  EXPECT_FALSE(warned(0.001));
}

/// The angle of a hinge in space is known up to turns.
TEST(Joints, HingesInSpaceNeedTwoLimits) {
  const auto with = [](const std::string& more) {
    return "[world]\ndimension = 3\ngravity = [0, 0, 0]\n[pair]\ndefault = \"none\"\n"
           "[body.a]\nbox = [1, 0.1, 0.1]\nmass = 1\nat = [0.5, 0, 0]\n[joint.p]\n"
           "kind = \"hinge\"\nbetween = [\"ground\", \"a\"]\nat = [0, 0, 0]\naxis = [0, 0, 1]\n" +
           more + "[run]\nstep = 0.01\nuntil = 1\n";
  };
  expect_fault(with("limits = { low = -1 }\n"), "are two");
  expect_fault(with("limits = [-3.1, 3.1]\n"), "5.28");
  expect_fault(with("spring = { stiffness = 1 }\n"), "needs limits");
  expect_fault(with("limits = {}\n"), "neither");
}

/// Rings where joints hold, and the way of a slider: lines more in the picture.
TEST(BodyJoints, AreSeenInPictures) {
  const std::string bodies = R"([world]
dimension = 2
[material.steel]
density = 7800
[pair]
default = "none"
[body.one]
box = [1, 0.1]
material = "steel"
[body.other]
box = [1, 0.1]
at = [1, 0]
material = "steel"
)";
  const auto lines = [&](const std::string& joint) {
    const scene::Scene scene =
        scene::read_scene("joints.toml", with_run(bodies + joint, 0.001, 0.1));
    const std::string svg = plot::draw_world_start(scene).svg;
    return std::count(svg.begin(), svg.end(), 'M');
  };
  const auto none = lines("");
  const std::string head = "[joint.pin]\nbetween = [\"one\", \"other\"]\n";
  EXPECT_EQ(lines(head + "kind = \"hinge\"\nat = [0.5, 0]\n"), none + 1);
  EXPECT_EQ(lines(head + "kind = \"slider\"\nat = [0.5, 0]\naxis = [1, 0]\n"), none + 2);
}

/// Only turns, about a pivot off its centre, without forces: momentum is 0 but for rounding.
TEST(BodyJoints, WhatOnlyTurnsKeepsItsSpin) {
  const std::string text = R"toml([world]
dimension = 3
[pair]
default = "none"
[body.shaft]
cylinder = [0.1, 0.5]
mass = 1
inertia = [0.5, 0.5, 0.5]
spin = [1e-15, 2e-15, 4]
[joint.pivot]
kind = "hinge"
between = ["ground", "shaft"]
at = [0, 0, -0.5]
axis = [0, 0, 1]
)toml";
  for (const double step : {0.01, 0.0037, 0.001}) {
    const study::Motion motion = run_well(with_run(text, step, 2.0));
    EXPECT_NEAR(motion.world->last_in_space.bodies[0].spin.norm(), 4.0, 1e-10) << step;
  }
}

/// A wheel on an axle that touches a rough floor: any load of the floor obeys the law, and brakes.
TEST(BodyJoints, WhatTheyMayPressIsNotUnique) {
  const auto is_told = [](const study::Motion& motion) {
    const auto says = [](const std::string& one) {
      return one.find("not unique") != std::string::npos;
    };
    const auto& warnings = motion.scene.warnings;
    return std::any_of(warnings.begin(), warnings.end(), says);
  };
  const std::string wheel = changed(kHead, "default = \"none\"", "default = { friction = 0.5 }") +
                            R"toml(
[body.wheel]
disc = 0.2
mass = 2
at = [0, 0.2]
spin = 10
[body.floor]
fixed = true
half_plane = { point = [0, 0], normal = [0, 1] }
)toml";
  const std::string axle =
      "[joint.axle]\nkind = \"hinge\"\nbetween = [\"ground\", \"wheel\"]\nat = [0, 0.2]\n";
  EXPECT_TRUE(is_told(run_well(with_run(wheel + axle, 0.001, 0.1))));
  EXPECT_FALSE(is_told(run_well(with_run(wheel, 0.001, 0.1))));
  const std::string apart = changed(wheel, "point = [0, 0]", "point = [0, -0.1]");
  EXPECT_FALSE(is_told(run_well(with_run(apart + axle, 0.001, 0.1))));
}

}  // namespace
}  // namespace ricochet::testing::body_joints_test
