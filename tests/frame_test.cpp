// Shapes on formulas: gaps against support functions and rates against velocities, motions against
// closed forms, against scenes whose contacts are written, and against bodies with joints.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <Eigen/Geometry>

#include <algorithm>
#include <array>
#include <cmath>

#include "ricochet/formula/derivative.h"
#include "ricochet/scene/shape_gaps.h"
#include "ricochet/shape/gaps.h"
#include "ricochet/study/builtin_scenes.h"
#include "ricochet/study/facts.h"
#include "support.h"

namespace ricochet::scene::frame_test {
namespace {

using study::Motion;
using testing::read_text;
using testing::run_text;
using Vec2 = shape::Vec<2>;

// ---- gaps -----------------------------------------------------------------------------------

/// Two shapes of the plane on frames whose places and angles are all the inputs: t, six
/// coordinates, six velocities.
struct TwoShapes {
  static constexpr int kDofs = 6;
  formula::Graph graph;
  std::array<Carrier, 2> carriers;
  std::vector<Touch> touches;

  TwoShapes(const shape::Shape<2>& a, const shape::Shape<2>& b) {
    const std::array<const shape::Shape<2>*, 2> shapes = {&a, &b};
    for (std::size_t k = 0; k < 2; ++k) {
      const int first = 1 + 3 * static_cast<int>(k);
      Carrier& carrier = carriers[k];
      carrier.x = {graph.input(first), graph.input(first + 1)};
      carrier.angle = graph.input(first + 2);
      const formula::NodeId c = graph.make(formula::Op::Cos, carrier.angle);
      const formula::NodeId s = graph.make(formula::Op::Sin, carrier.angle);
      carrier.R = {{c, graph.negate(s)}, {s, c}};
      Piece piece;
      if (shapes[k]->kind == shape::Kind::HalfSpace) {
        piece.kind = Piece::Kind::HalfSpace;
        const Vec2& n = shapes[k]->faces[0].normal;
        piece.normal = {n[0], n[1]};
      }
      for (const Vec2& corner : shapes[k]->corners) piece.corners.push_back({corner[0], corner[1]});
      piece.round = shapes[k]->round;
      piece.extent = shapes[k]->extent;
      carrier.pieces = {piece};
    }
    touches = ShapeGaps(graph).touches(carriers[0], carriers[0].pieces[0], carriers[1],
                                       carriers[1].pieces[0]);
  }

  /// The least gap of rows that exist.
  double least(const std::vector<double>& inputs) const {
    double found = HUGE_VAL;
    for (const Touch& touch : touches) {
      if (touch.where >= 0 && graph.evaluate(touch.where, inputs) == 0.0) continue;
      found = std::min(found, graph.evaluate(touch.gap, inputs));
    }
    return found;
  }
};

struct Named {
  const char* name;
  shape::Shape<2> shape;
};

std::vector<Named> shapes_of_the_plane() {
  return {{"disc", shape::ball<2>(0.3, {0.1, -0.2})},
          {"point", shape::ball<2>(0.0, {0.1, 0.2})},
          {"capsule", shape::capsule<2>({-0.5, 0.1}, {0.4, -0.1}, 0.15)},
          {"box", shape::box<2>({1.0, 0.4}, 0.0)},
          {"rounded box", shape::box<2>({0.8, 0.5}, 0.1)},
          {"clockwise triangle", shape::polygon({{0, 0.6}, {0.5, -0.4}, {-0.6, -0.3}}, 0.0)},
          {"pentagon",
           shape::polygon({{0.5, 0}, {0.2, 0.5}, {-0.4, 0.3}, {-0.4, -0.3}, {0.2, -0.5}}, 0.05)},
          {"half-plane", shape::half_space<2>({0, -0.1}, {0.6, 0.8})}};
}

Piece piece_of(const shape::Shape<2>& shape) {
  return TwoShapes(shape, shape::ball<2>(1.0)).carriers[0].pieces[0];
}

std::vector<double> random_inputs(base::Random& random) {
  std::vector<double> inputs(1 + 2 * TwoShapes::kDofs);
  for (double& value : inputs) value = random.uniform(-1.0, 1.0);
  inputs[3] *= 3.0;
  inputs[6] *= 3.0;
  return inputs;
}

// Where two shapes are apart, the least gap is their distance by support functions, which share no
// code with it; between sharp polygons, whose rows end at corners, it is positive. (exact)
TEST(FrameGaps, AreDistancesWhereShapesAreApart) {
  base::Random random(3);
  const std::vector<Named> all = shapes_of_the_plane();
  int apart = 0;
  for (const Named& a : all) {
    for (const Named& b : all) {
      if (!why_apart(piece_of(a.shape), piece_of(b.shape), 2).empty()) continue;
      const TwoShapes two(a.shape, b.shape);
      const bool is_sharp = a.shape.round + b.shape.round == 0.0;
      for (int trial = 0; trial < 200; ++trial) {
        std::vector<double> inputs = random_inputs(random);
        inputs[1] *= 1.5;
        const double distance =
            shape::separation(a.shape, shape::pose({inputs[1], inputs[2]}, inputs[3]), b.shape,
                              shape::pose({inputs[4], inputs[5]}, inputs[6]));
        if (!(distance > 1e-3)) continue;
        ++apart;
        const double found = two.least(inputs);
        EXPECT_GT(found, 0.0) << a.name << " - " << b.name;
        if (is_sharp) continue;
        EXPECT_NEAR(found, distance, 1e-9) << a.name << " - " << b.name;
      }
    }
  }
  EXPECT_GT(apart, 2000);
}

// A round shape that overlaps less than its radius: the depth is minus the gap. (exact)
TEST(FrameGaps, AreDepthsWhereRoundShapesOverlapALittle) {
  base::Random random(4);
  const shape::Shape<2> disc = shape::ball<2>(0.3);
  int inside = 0;
  for (const Named& b : shapes_of_the_plane()) {
    const TwoShapes two(disc, b.shape);
    for (int trial = 0; trial < 400; ++trial) {
      const std::vector<double> inputs = random_inputs(random);
      const double distance =
          shape::separation(disc, shape::pose({inputs[1], inputs[2]}, inputs[3]), b.shape,
                            shape::pose({inputs[4], inputs[5]}, inputs[6]));
      if (distance > 0.0 || distance < -0.25) continue;
      ++inside;
      EXPECT_NEAR(two.least(inputs), distance, 1e-9) << b.name;
    }
  }
  EXPECT_GT(inside, 100);
}

/// A ball at (x, y, z), inputs 1 to 3, and a shape of space that is turned.
double gap_in_space(const shape::Shape<3>& shape, const shape::Mat<3>& turn, double radius,
                    const std::array<double, 3>& at, std::array<double, 3>& slope) {
  formula::Graph graph;
  const auto numbers = [](const auto& v) { return std::vector<double>{v[0], v[1], v[2]}; };
  Carrier ball;
  ball.x = {graph.input(1), graph.input(2), graph.input(3)};
  Carrier solid;
  solid.x = constants(graph, {0, 0, 0});
  for (int k = 0; k < 3; ++k) {
    solid.R.push_back(constants(graph, numbers(turn.row(k))));
    ball.R.push_back(constants(graph, numbers(shape::Mat<3>::Identity().row(k))));
  }
  Piece small;
  small.corners = {{0, 0, 0}};
  small.round = radius;
  Piece piece;
  for (const shape::Vec<3>& corner : shape.corners) piece.corners.push_back(numbers(corner));
  for (const shape::Face<3>& face : shape.faces) {
    piece.normals.push_back(numbers(face.normal));
    piece.faces.emplace_back(shape.around.begin() + face.begin, shape.around.begin() + face.end);
  }
  for (const shape::Edge& edge : shape.edges) piece.edges.push_back({edge.from, edge.to});
  piece.round = shape.round;
  const Touch touch = ShapeGaps(graph).touches(ball, small, solid, piece).at(0);
  const std::vector<double> inputs = {0, at[0], at[1], at[2], 0, 0, 0};
  for (std::size_t k = 0; k < 3; ++k) slope[k] = graph.evaluate(touch.normal[k], inputs);
  const std::vector<formula::NodeId> slopes = formula::gradient(graph, touch.gap, {1, 2, 3});
  for (std::size_t k = 0; k < 3; ++k) slope[k] -= graph.evaluate(slopes[k], inputs);
  return graph.evaluate(touch.gap, inputs);
}

// In space: distances and small depths of balls, by support functions; dg/dx is the normal. (exact)
TEST(FrameGaps, OfBallsInSpaceAreDistances) {
  base::Random random(6);
  const std::vector<shape::Shape<3>> solids = {
      shape::box<3>({1.0, 0.6, 0.4}, 0.0), shape::box<3>({0.8, 0.5, 0.5}, 0.1),
      shape::polytope({{0, 0, 0.7}, {0.6, 0, -0.2}, {-0.3, 0.5, -0.2}, {-0.3, -0.5, -0.2}}, 0.0),
      shape::capsule<3>({-0.4, 0, 0.1}, {0.3, 0.2, 0}, 0.1)};
  const double radius = 0.2;
  int told = 0;
  for (const shape::Shape<3>& solid : solids) {
    for (int trial = 0; trial < 150; ++trial) {
      const shape::Vec<3> axis(random.normal(), random.normal(), random.normal());
      const shape::Mat<3> turn = Eigen::AngleAxisd(3.0, axis.normalized()).toRotationMatrix();
      const std::array<double, 3> at = {random.uniform(-1, 1), random.uniform(-1, 1),
                                        random.uniform(-1, 1)};
      shape::Pose<3> pose;
      pose.R = turn;
      shape::Pose<3> there;
      there.x = {at[0], at[1], at[2]};
      const double exact = shape::separation(shape::ball<3>(radius), there, solid, pose);
      if (exact < -0.9 * radius) continue;
      ++told;
      std::array<double, 3> off{};
      EXPECT_NEAR(gap_in_space(solid, turn, radius, at, off), exact, 1e-9);
      for (const double one : off) EXPECT_NEAR(one, 0.0, 1e-12);
    }
  }
  EXPECT_GT(told, 300);
}

// dg/dt = n . (v_A - v_B) at the place they touch, for every row of every pair. (roundoff)
TEST(FrameGaps, ChangeAtTheRelativeVelocityAlongTheNormal) {
  base::Random random(5);
  const std::vector<Named> all = shapes_of_the_plane();
  for (const Named& a : all) {
    for (const Named& b : all) {
      if (!why_apart(piece_of(a.shape), piece_of(b.shape), 2).empty()) continue;
      TwoShapes two(a.shape, b.shape);
      const std::vector<int> places = {1, 2, 3, 4, 5, 6};
      for (const Touch& touch : two.touches) {
        const std::vector<formula::NodeId> slopes = formula::gradient(two.graph, touch.gap, places);
        ShapeGaps gaps(two.graph);
        const NodeVector velocity =
            difference(two.graph, gaps.velocity_at(two.carriers[0], touch.place, 6),
                       gaps.velocity_at(two.carriers[1], touch.place, 6));
        const formula::NodeId along = dot(two.graph, touch.normal, velocity);
        const formula::NodeId size = dot(two.graph, touch.normal, touch.normal);
        for (int trial = 0; trial < 20; ++trial) {
          const std::vector<double> inputs = random_inputs(random);
          double rate = 0.0;
          for (std::size_t i = 0; i < 6; ++i) {
            rate += two.graph.evaluate(slopes[i], inputs) * inputs[7 + i];
          }
          EXPECT_NEAR(two.graph.evaluate(along, inputs), rate, 1e-11) << a.name << " - " << b.name;
          EXPECT_NEAR(two.graph.evaluate(size, inputs), 1.0, 1e-12) << a.name << " - " << b.name;
        }
      }
    }
  }
}

// A box that lies on one of the same width, corner on corner: every corner that carries has the
// normal of the faces that lie on each other, however small its offset. (exact)
TEST(FrameGaps, CornersOnCornersHaveTheNormalOfTheFaces) {
  const shape::Shape<2> box = shape::box<2>({1.0, 1.0}, 0.0);
  const TwoShapes two(box, box);
  for (const double x : {0.0, 1e-17, -1e-17, 1e-12, -1e-12, 1e-6, -1e-6}) {
    for (const double y : {1.0, 1.0 + 1e-16, 1.0 - 1e-16, 1.0 - 1e-10}) {
      std::vector<double> inputs(13, 0.0);
      inputs[1] = x;
      inputs[2] = y;
      int carry = 0;
      double left = 1.0;
      double right = -1.0;
      for (const Touch& touch : two.touches) {
        if (two.graph.evaluate(touch.gap, inputs) > 1e-11) continue;
        if (two.graph.evaluate(touch.where, inputs) == 0.0) continue;
        EXPECT_NEAR(two.graph.evaluate(touch.normal[1], inputs), 1.0, 1e-15) << x << " " << y;
        ++carry;
        left = std::min(left, two.graph.evaluate(touch.place[0], inputs));
        right = std::max(right, two.graph.evaluate(touch.place[0], inputs));
      }
      EXPECT_GE(carry, 2) << x << " " << y;
      EXPECT_NEAR(right - left, 1.0, 1e-5) << "the whole edge, " << x << " " << y;
    }
  }
}

// ---- the same motion as contacts that are written -------------------------------------------

/// The largest difference of a coordinate or a velocity.
double apart(const Motion& one, const Motion& other) {
  EXPECT_EQ(one.rows.size(), other.rows.size());
  double most = 0.0;
  for (std::size_t k = 0; k < std::min(one.rows.size(), other.rows.size()); ++k) {
    for (std::size_t i = 0; i < one.rows[k].q.size(); ++i) {
      most = std::max({most, std::abs(one.rows[k].q[i] - other.rows[k].q[i]),
                       std::abs(one.rows[k].u[i] - other.rows[k].u[i])});
    }
  }
  return most;
}

TEST(Frames, MoveAsTheFormulasThatTheyStandFor) {
  for (const std::string name : {"painleve", "slider-crank", "essai-08"}) {
    const Motion shapes = run_text(study::builtin_scene("frame-" + name));
    const Motion formulas = run_text(study::builtin_scene(name));
    EXPECT_LT(apart(shapes, formulas), 1e-9) << name;
    EXPECT_EQ(shapes.outcome.certificate.shock_counts, formulas.outcome.certificate.shock_counts);
  }
}

/// The toy of frame-woodpecker with its gaps and slips written by hand.
std::string woodpecker_by_hand() {
  std::string text = study::builtin_scene("frame-woodpecker");
  const auto cut = [&](const std::string& from, const std::string& to, const std::string& put) {
    const std::size_t begin = text.find(from);
    text.replace(begin, text.find(to, begin) - begin, put);
  };
  cut("lG = 0.015 }", "\n",
      "lG = 0.015, r0 = 2.5e-3, rM = 3.1e-3, hM = 5.8e-3, hS = 0.02, lS = 0.0201 }");
  cut("[world]", "[start]", R"toml([contact.low]
keep     = "rM*cos(phiM) + hM*sin(phiM) >= r0"
slip     = "-(y' + phiM'*r0)"
normal   = "phiM'*(hM*cos(phiM) - rM*sin(phiM))"
friction = 0.3
[contact.high]
keep     = "rM*cos(phiM) - hM*sin(phiM) >= r0"
slip     = "-(y' + phiM'*r0)"
normal   = "-phiM'*(hM*cos(phiM) + rM*sin(phiM))"
friction = 0.3
[contact.beak]
keep        = "lM*cos(phiM) + (lG - lS)*cos(phiS) - hS*sin(phiS) >= r0"
slip        = "-(vy + phiS'*(r0 - lM*cos(phiM) - lG*cos(phiS)))"
normal      = "vx + phiS'*(lS*sin(phiS) - hS*cos(phiS))"
friction    = 0.3
restitution = 0.5
)toml");
  return text.substr(0, text.find("[plot]"));
}

// The pole is a polygon here, a line there.
TEST(Frames, TheToyMovesAsWithGapsByHand) {
  const std::vector<std::string> settings = {"run.until=0.2"};
  EXPECT_LT(apart(run_text(study::builtin_scene("frame-woodpecker"), settings),
                  run_text(woodpecker_by_hand(), settings)),
            1e-9);
}

// Tables in any order: the same contacts, the same motion.
TEST(Frames, DoNotDependOnTheOrderOfTables) {
  const std::string text = study::builtin_scene("frame-woodpecker");
  const std::string body = text.substr(0, text.find("[plot]"));
  std::size_t begin = body.find("\n[") + 1;
  const std::string head = body.substr(0, begin);
  std::string turned;
  while (begin < body.size()) {
    const std::size_t next = body.find("\n[", begin);
    const std::size_t end = next == std::string::npos ? body.size() : next + 1;
    turned = body.substr(begin, end - begin) + turned;
    begin = end;
  }
  const std::vector<std::string> settings = {"run.until=0.15"};
  EXPECT_LT(apart(run_text(body, settings), run_text(head + turned, settings)), 1e-9);
}

// ---- free bodies beside formulas ------------------------------------------------------------

/// A mechanism that is far away, and a world to be added.
std::string beside(const std::string& world) {
  return R"toml([system]
coordinates = ["far"]
kinetic     = "0.5*far'^2"
[world]
dimension  = 2
parameters = { tilt = 0.5, mu = 0.3, g = 9.81 }
gravity    = ["g*sin(tilt)", "-g*cos(tilt)"]
[material]
stone = { density = 1 }
floor = {}
air   = {}
[frame.far_away]
position = ["far", 100]
disc     = 0.1
material = "air"
[start]
position = { far = 0 }
[run]
step  = 0.001
until = 1
)toml" + world;
}

// a = g (sin - mu cos) of what slides; a disc rolls at 2/3 g sin. (exact)
TEST(FreeBodiesBesideFormulas, SlideAndRollAsTheyShould) {
  const Motion motion = run_text(beside(R"toml(
[pair]
default       = "none"
"stone floor" = { friction = "mu" }
[body.block]
box      = [1, 0.2]
at       = [0, 0.1]
material = "stone"
[body.pill]
capsule  = [[-0.5, 0], [0.5, 0], 0.1]
at       = [0, 0.1]
material = "stone"
[body.wheel]
disc     = 0.1
at       = [0, 0.1]
material = "stone"
[body.ground]
fixed      = true
half_plane = { point = [0, 0], normal = [0, 1] }
material   = "floor"
)toml"));
  ASSERT_TRUE(motion.outcome.certificate.ok());
  const std::vector<std::string> names = {"far",     "block.x",    "block.y",    "block.angle",
                                          "pill.x",  "pill.y",     "pill.angle", "wheel.x",
                                          "wheel.y", "wheel.angle"};
  EXPECT_EQ(motion.scene.columns.coordinates, names);
  const double slide = 9.81 * (std::sin(0.5) - 0.3 * std::cos(0.5));
  EXPECT_NEAR(motion.final_state.u[1], slide, 1e-10);
  EXPECT_NEAR(motion.final_state.u[4], slide, 1e-10);
  EXPECT_NEAR(motion.final_state.u[7], 2.0 / 3.0 * 9.81 * std::sin(0.5), 1e-10);
  EXPECT_NEAR(motion.final_state.u[9], -motion.final_state.u[7] / 0.1, 1e-9);
}

// Boxes of one width on each other stand, and the floor carries their weight. (exact)
TEST(FreeBodiesBesideFormulas, BoxesOfOneWidthStandOnEachOther) {
  const Motion motion = run_text(beside(R"toml(
[pair]
default       = "none"
"stone stone" = { friction = 0.5 }
"stone floor" = { friction = 0.5 }
[body.top]
box      = [1, 1]
at       = [0, 1.5]
material = "stone"
[body.low]
box      = [1, 1]
at       = [0, 0.5]
material = "stone"
[body.ground]
fixed    = true
box      = [1, 1]
at       = [0, -0.5]
material = "floor"
)toml"),
                                 {"tilt=0"});
  ASSERT_TRUE(motion.outcome.certificate.ok());
  for (const study::Row& row : motion.rows) {
    EXPECT_NEAR(row.q[2], 1.5, 1e-12);
    EXPECT_NEAR(row.q[5], 0.5, 1e-12);
    EXPECT_NEAR(row.q[1], 0.0, 1e-12);
  }
  const std::vector<std::string>& names = motion.scene.columns.contacts;
  double pushed = 0.0;
  for (std::size_t a = 0; a < names.size(); ++a) {
    if (names[a].starts_with("low.ground")) pushed += motion.rows.back().impulses[a];
  }
  EXPECT_NEAR(pushed, 2.0 * 9.81 * 0.001, 1e-10);
}

// A box that lands on one of its own width stays on it, whatever the depth at which it is caught.
TEST(FreeBodiesBesideFormulas, ABoxLandsOnOneOfItsOwnWidth) {
  const Motion motion = run_text(beside(R"toml(
[pair]
default       = "none"
"stone floor" = { friction = 0.5 }
[body.top]
box      = [1, 1]
at       = [0, 1.2]
material = "stone"
[body.ground]
fixed    = true
box      = [1, 1]
material = "floor"
)toml"),
                                 {"tilt=0"});
  ASSERT_TRUE(motion.outcome.certificate.ok());
  EXPECT_NEAR(motion.final_state.q[2], 1.0, 2e-3);  // caught a step late at most, at 2 m/s
  EXPECT_NEAR(motion.final_state.u[2], 0.0, 1e-12);
  EXPECT_NEAR(motion.final_state.q[3], 0.0, 1e-12);
}

// A belt carries what lies on it, round or not, at its own speed. (exact)
TEST(FreeBodiesBesideFormulas, AreCarriedByADrivenBelt) {
  const Motion motion = run_text(beside(R"toml(
[pair]
default       = "none"
"stone floor" = { friction = 0.4 }
"stone stone" = { friction = 0.4 }
[body.block]
box      = [0.4, 0.2]
at       = [0, 0.1]
material = "stone"
[body.pill]
capsule  = [[-0.1, 0], [0.1, 0], 0.02]
at       = [0, 0.22]
material = "stone"
[body.rounded]
box      = [0.1, 0.1]
round    = 0.02
at       = [0, 0.31]
material = "stone"
[body.belt]
driven     = { position = ["0.5*t", 0] }
half_plane = { point = [0, 0], normal = [0, 1] }
material   = "floor"
)toml"),
                                 {"tilt=0"});
  ASSERT_TRUE(motion.outcome.certificate.ok());
  for (const int i : {1, 4, 7}) {
    EXPECT_NEAR(motion.final_state.u[i], 0.5, 1e-10) << i;
    EXPECT_NEAR(motion.final_state.u[i + 2], 0.0, 1e-10) << i;
  }
}

/// frame-pendulum-strike with a bob that has a moment of inertia, J = m rb^2/2.
std::string strike_of_frames() {
  std::string text = study::builtin_scene("frame-pendulum-strike");
  const std::string kinetic = "0.5*m*L^2*theta'^2";
  return text.replace(text.find(kinetic), kinetic.size(), "0.5*(m*L^2 + 0.5*m*rb^2)*theta'^2");
}

/// The same with the pendulum as a body on a hinge.
std::string strike_of_bodies(double step, double until) {
  return fmt::format(R"toml([world]
dimension  = 2
gravity    = [0, "-g"]
parameters = {{ L = 1, m = 2, g = 9.81, theta0 = -1.2, rb = 0.1, e = 0.8, R = 0.15, M = 3 }}
[material]
steel = {{}}
floor = {{}}
[pair]
"steel steel" = {{ restitution = "e" }}
"steel floor" = {{ restitution = 0 }}
"floor floor" = "none"
[body.bob]
disc     = "rb"
mass     = "m"
at       = ["L*sin(theta0)", "-L*cos(theta0)"]
angle    = "theta0"
material = "steel"
[body.puck]
disc     = "R"
mass     = "M"
at       = ["rb + R", "-L"]
material = "steel"
[body.ground]
fixed      = true
half_plane = {{ point = [0, "-L - R"], normal = [0, 1] }}
material   = "floor"
[joint.pivot]
kind    = "hinge"
between = ["ground", "bob"]
at      = [0, 0]
[run]
scheme = "moreau"
step   = {}
until  = {}
)toml",
                     step, until);
}

// Reduced coordinate and hinge: the same swing, to second order.
TEST(FreeBodiesBesideFormulas, APendulumSwingsAsABodyOnAHingeDoes) {
  std::array<double, 2> off{};
  const std::array<double, 2> steps = {0.002, 0.001};
  for (std::size_t k = 0; k < 2; ++k) {
    const Motion frame =
        run_text(strike_of_frames(), {fmt::format("run.step={}", steps[k]), "run.until=0.5"});
    const Motion hinge = run_text(strike_of_bodies(steps[k], 0.5));
    ASSERT_TRUE(hinge.outcome.certificate.ok());
    off[k] = std::abs(std::sin(frame.final_state.q[0]) - hinge.final_state.q[0]);
  }
  EXPECT_LT(off[1], 5e-6);
  EXPECT_NEAR(off[0] / off[1], 4.0, 0.5);
}

// Both strike the puck: with n = m + J/L^2, n v^2 = 2 m g L (1 - cos), V = n (1 + e) v/(n + M).
// (exact, to O(h^2))
TEST(FreeBodiesBesideFormulas, APendulumStrikesAPuck) {
  const double n = 2.0 + 0.5 * 2.0 * 0.01;
  const double v = std::sqrt(2.0 * 2.0 * 9.81 * (1.0 - std::cos(1.2)) / n);
  const double exact = n * 1.8 / (n + 3.0) * v;
  const Motion frame = run_text(strike_of_frames(), {"run.step=0.0005", "run.until=0.7"});
  EXPECT_NEAR(frame.final_state.u[1], exact, 1e-5 * exact);
  const Motion hinge = run_text(strike_of_bodies(0.0005, 0.7));
  ASSERT_TRUE(hinge.outcome.certificate.ok());
  EXPECT_NEAR(hinge.final_state.u[3], exact, 1e-5 * exact);
  EXPECT_NEAR(hinge.final_state.u[3], frame.final_state.u[1], 1e-5 * exact);
}

// ---- pairs and names ------------------------------------------------------------------------

std::string two_frames(const std::string& pair) {
  return R"toml([system]
coordinates = ["a", "b"]
kinetic     = "0.5*(a'^2 + b'^2)"
[world]
dimension = 2
[material]
left  = {}
right = {}
[frame.one]
position = ["a", 0]
shapes   = [{ disc = 0.1 }, { disc = 0.1, at = [0, 1] }]
material = "left"
[frame.other]
position = ["b", 0]
box      = [0.2, 0.2]
material = "right"
[body.wall]
fixed      = true
half_plane = { point = [-5, 0], normal = [1, 0] }
material   = "left"
[body.peg]
fixed    = true
disc     = 0.1
at       = [-4, 9]
material = "left"
[start]
position = { a = 0, b = 1 }
[run]
step  = 0.01
until = 0.1
[pair]
)toml" + pair;
}

// Fixed bodies never pair, nor shapes of one frame; two frames only where both materials are named.
TEST(FramePairs, AreThoseThatAreStated) {
  const auto contacts = [](const std::string& pair) {
    return read_text(two_frames(pair)).columns.contacts;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(contacts("default = \"none\""), Names{});
  EXPECT_EQ(contacts("default = \"none\"\n\"left right\" = {}"),
            (Names{"one.other[1]", "one.other[2]", "other.wall[1]", "other.wall[2]", "other.peg"}));
  EXPECT_EQ(contacts("default = {}\n\"left right\" = \"none\""),
            (Names{"one.wall", "one.peg[1]", "one.peg[2]"}));
  EXPECT_EQ(contacts("default = {}").size(), 6u);  // not of one with other
}

// Families, with indices below 0: facts speak of places, velocities and contacts of members.
TEST(FramePairs, FamiliesHaveNames) {
  const Motion motion = run_text(R"toml([system]
coordinates = ["z[-1..1]"]
kinetic     = "sum(i, -1, 1, 0.5*z[i]'^2)"
[world]
dimension = 2
gravity   = [0, -10]
[pair]
default = "none"
"ball floor" = {}
[material]
ball  = {}
floor = {}
[frame.bead]
for      = "i in -1..1"
position = ["3*i", "z[i]"]
disc     = "0.1*(2 + i)"
material = "ball"
[body.stone]
for      = "i in -2..0"
disc     = 0.1
mass     = 1
at       = ["i + 0.5", 1]
material = "ball"
[body.ground]
fixed      = true
half_plane = { point = [0, 0], normal = [0, 1] }
material   = "floor"
[start]
position = { z = "1 + 0.1*i" }
[run]
step  = 0.01
until = 0.1
[expect]
falls = "stone[-2].x == -1.5 and abs(stone[0].y' + 1) < 1e-12"
hangs = "abs(bead_minus1.ground.gap - 0.8) < 1e-12 and abs(bead_1.ground.gap - 0.8) < 1e-12"
)toml");
  for (const study::Fact& fact : study::check_expectations(motion)) {
    EXPECT_TRUE(fact.holds) << fact.statement;
  }
}

TEST(FramePairs, HaveAllLawsOfFrictionAndRestitution) {
  const scene::Scene scene = read_text(two_frames(
      "default = \"none\"\n\"left right\" = { friction = { static = 0.5, dynamic = 0.3 }, "
      "restitution = 0.25 }"));
  const model::FormulaSystem& system = scene.formulas()->system();
  EXPECT_EQ(system.restitution[0], 0.25);
  EXPECT_EQ(system.slips[0].friction.kind, model::FrictionKind::StaticDynamic);
}

TEST(FramePairs, ParametersOfWorldAndSystemAreSet) {
  const scene::Scene scene =
      read_text(study::builtin_scene("frame-pendulum-strike"), {"R=0.2", "L=1.5"});
  EXPECT_NEAR(scene.start.q[1], 0.3, 1e-15);
  EXPECT_NEAR(scene.start.q[2], -1.5, 1e-15);
}

// A ball that slides starts to roll at 5/7 of its speed: a frame in space. (exact)
TEST(FramesInSpace, ABallThatSlidesRollsInTheEnd) {
  for (const char* attitude :
       {"axis_angle = [[0, 2, 0], \"a\"]", "quaternion = [\"cos(a/2)\", 0, \"sin(a/2)\", 0]"}) {
    const Motion motion = run_text(std::string(R"toml([system]
coordinates = ["x", "y", "z", "a"]
kinetic     = "0.5*(x'^2 + y'^2 + z'^2) + 0.5*0.4*0.01*a'^2"
potential   = "9.81*z"
[world]
dimension = 3
[pair]
default = { friction = 0.3, restitution = 0 }
[body.floor]
fixed      = true
half_space = { point = [0, 0, 0], normal = [0, 0, 1] }
[body.rail]
fixed   = true
capsule = [[-5, 1, 0], [5, 1, 0], 0.05]
[start]
position = { x = 0, y = 0, z = 0.1, a = 0 }
velocity = { x = 1 }
[run]
step  = 0.001
until = 0.5
[frame.ball]
position = ["x", "y", "z"]
sphere   = 0.1
)toml") + attitude);
    ASSERT_TRUE(motion.outcome.certificate.ok());
    EXPECT_NEAR(motion.final_state.u[0], 5.0 / 7.0, 1e-10) << attitude;
    EXPECT_NEAR(motion.final_state.u[3], 50.0 / 7.0, 1e-9) << attitude;
  }
}

}  // namespace
}  // namespace ricochet::scene::frame_test
