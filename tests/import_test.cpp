// Models of other programs: what URDF and MJCF mean, against closed forms and scenes by hand.

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "program.h"
#include "ricochet/base/clock.h"
#include "ricochet/base/error.h"
#include "ricochet/base/random.h"
#include "ricochet/foreign/import.h"
#include "ricochet/foreign/xml.h"
#include "ricochet/scene/scene.h"
#include "ricochet/study/motion.h"

namespace ricochet::testing::import_test {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
constexpr double kPi = std::numbers::pi;

foreign::Imported import_text(const std::string& text, bool fixed_base = false) {
  foreign::ImportSettings settings;
  settings.fixed_base = fixed_base;
  return foreign::import_model("model.xml", text, settings);
}

scene::Scene scene_of(const std::string& text, bool fixed_base = false) {
  const foreign::Imported made = import_text(text, fixed_base);
  SCOPED_TRACE(made.scene);
  return scene::read_scene("scene.toml", made.scene);
}

const body::World<3>& world_of(const scene::Scene& scene) { return *scene.world()->space; }

int number_of(const body::World<3>& world, const std::string& name) {
  for (int i = 0; i < world.count(); ++i) {
    if (world.body(i).name == name) return i;
  }
  ADD_FAILURE() << "no body " << name;
  return 0;
}

const body::Body<3>& body_of(const scene::Scene& scene, const std::string& name) {
  const body::World<3>& world = world_of(scene);
  return world.body(number_of(world, name));
}

const body::Joint<3>& joint_of(const scene::Scene& scene, const std::string& name) {
  const auto& joints = world_of(scene).joints;
  const auto found = std::find_if(joints.begin(), joints.end(),
                                  [&](const body::Joint<3>& one) { return one.name == name; });
  if (found == joints.end()) throw std::runtime_error("no joint " + name);
  return *found;
}

/// Moments about the mass centre along the axes of space.
Matrix3d inertia_in_space(const body::Body<3>& body) {
  const Matrix3d turn = body.start.turn.toRotationMatrix();
  return turn * body.inertia * turn.transpose();
}

void expect_near(const Eigen::MatrixXd& found, const Eigen::MatrixXd& wanted, double tolerance) {
  EXPECT_LE((found - wanted).cwiseAbs().maxCoeff(), tolerance) << "found\n"
                                                               << found << "\nwanted\n"
                                                               << wanted;
}

study::Motion run_well(const std::string& scene_text) {
  study::Motion motion = study::run_scene(scene::read_scene("scene.toml", scene_text), true);
  EXPECT_TRUE(motion.outcome.certificate.ok())
      << certify::describe_failure(motion.outcome.certificate);
  return motion;
}

bool has_note(const foreign::Imported& made, const std::string& words) {
  return std::any_of(made.notes.begin(), made.notes.end(), [&](const std::string& note) {
    return note.find(words) != std::string::npos;
  });
}

void expect_note(const foreign::Imported& made, const std::string& words) {
  std::string all;
  for (const std::string& note : made.notes) all += note + "\n";
  EXPECT_TRUE(has_note(made, words)) << "wanted: " << words << "\nfound:\n" << all;
  EXPECT_NE(made.scene.find("# Not understood, left out or changed:"), std::string::npos);
}

void expect_fault(const std::string& text, int line, const std::string& words) {
  try {
    (void)import_text(text);
    ADD_FAILURE() << "not refused: " << words;
  } catch (const base::InputError& error) {
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos)
        << "wanted: " << words << "\nfound: " << error.what();
    EXPECT_EQ(error.spot().line, line) << error.what();
    EXPECT_FALSE(error.remedy().empty()) << error.what();
  }
}

std::string robot(const std::string& inside) {
  return "<robot name=\"r\">\n" + inside + "\n</robot>\n";
}

std::string mujoco(const std::string& world, const std::string& more = "") {
  return "<mujoco>\n" + more + "<worldbody>\n" + world + "\n</worldbody>\n</mujoco>\n";
}

/// exact: the second row of Rz(yaw) Ry(pitch) Rx(roll), as books print the matrix.
Vector3d second_row(double roll, double pitch, double yaw) {
  const double sr = std::sin(roll);
  const double cr = std::cos(roll);
  const double sy = std::sin(yaw);
  const double cy = std::cos(yaw);
  return {sy * std::cos(pitch), sy * std::sin(pitch) * sr + cy * cr,
          sy * std::sin(pitch) * cr - cy * sr};
}

std::string until(std::string scene_text, const std::string& end) {
  return scene_text.replace(scene_text.find("until = 1"), 9, "until = " + end);
}

/// Of x of the first body, by the times at which x' changes its sign; steps of 0.001.
double period_of(const study::Motion& motion) {
  std::vector<double> times;
  for (std::size_t k = 2; k < motion.rows.size(); ++k) {
    const double before = motion.rows[k - 1].u[0];
    const double after = motion.rows[k].u[0];
    if (before * after >= 0.0) continue;
    times.push_back(motion.rows[k - 1].t + 0.001 * before / (before - after));
  }
  EXPECT_GE(times.size(), 8U);
  return 2.0 * (times.back() - times.front()) / static_cast<double>(times.size() - 1);
}

TEST(Import, AUrdfPendulumSwingsWithTheInertiaThatItsAnglesTurn) {
  const std::string text = robot(R"xml(
  <link name="base"/>
  <link name="bob">
    <inertial>
      <origin xyz="0.004 0 -0.4" rpy="0.7 -0.4 1.1"/>
      <mass value="2"/>
      <inertia ixx="0.09" ixy="0.01" ixz="-0.02" iyy="0.16" iyz="0.015" izz="0.11"/>
    </inertial>
  </link>
  <joint name="pivot" type="continuous">
    <origin xyz="0 0 3"/> <parent link="base"/> <child link="bob"/> <axis xyz="0 1 0"/>
  </joint>)xml");
  const foreign::Imported made = import_text(text);
  const scene::Scene scene = scene::read_scene("scene.toml", made.scene);
  Matrix3d inertia;
  inertia << 0.09, 0.01, -0.02, 0.01, 0.16, 0.015, -0.02, 0.015, 0.11;
  const Vector3d row = second_row(0.7, -0.4, 1.1);
  const double about_y = row.dot(inertia * row);
  EXPECT_NEAR(inertia_in_space(body_of(scene, "bob"))(1, 1), about_y, 1e-15);
  EXPECT_GT(std::abs(about_y - 0.16), 0.01);  // the turn matters

  // The mass centre starts aside by 0.01 rad and at rest.
  const double period = period_of(run_well(until(made.scene, "10")));
  const double arm = std::hypot(0.004, 0.4);
  const double exact = 2.0 * kPi * std::sqrt((about_y + 2.0 * arm * arm) / (2.0 * 9.81 * arm));
  EXPECT_NEAR(period / exact, 1.0, 2e-5);  // amplitude 0.01: 6e-6; step: 1e-6; converged
}

TEST(Import, AnMjcfDoublePendulumMovesAsTheSceneByHand) {
  const std::string text = R"xml(<mujoco model="two rods">
  <compiler angle="degree"/>
  <option timestep="0.001" gravity="0 0 -10"/>
  <default> <geom type="box" size="0.05 0.1 0.5" density="100"/> <joint axis="0 1 0"/> </default>
  <worldbody>
    <body name="upper" pos="0 0 2" euler="0 60 0">
      <joint name="shoulder"/>
      <geom pos="0 0 -0.5" contype="0" conaffinity="0"/>
      <body name="lower" pos="0 0 -1" axisangle="0 1 0 -90">
        <joint name="elbow"/>
        <geom pos="0 0 -0.5" contype="0" conaffinity="0"/>
      </body>
    </body>
  </worldbody>
</mujoco>)xml";
  // A box of 0.1 x 0.2 x 1 m and 100 kg/m^3: 2 kg. A turn by a about y takes -z to (-sin a, 0, -cos
  // a): the elbow is at (-sin 60, 0, 2 - cos 60), and the lower rod is turned by -30 degrees.
  const std::string by_hand = R"toml(
[world]
dimension  = 3
gravity    = [0, 0, -10]
parameters = { a = "pi/3", b = "-pi/6" }
[pair]
default = "none"
[body.upper]
box        = [0.1, 0.2, 1]
mass       = 2
inertia    = ["2*(0.2^2 + 1)/12", "2*(0.1^2 + 1)/12", "2*(0.1^2 + 0.2^2)/12"]
axis_angle = [[0, 1, 0], "a"]
at         = ["-sin(a)/2", 0, "2 - cos(a)/2"]
[body.lower]
box        = [0.1, 0.2, 1]
mass       = 2
inertia    = ["2*(0.2^2 + 1)/12", "2*(0.1^2 + 1)/12", "2*(0.1^2 + 0.2^2)/12"]
axis_angle = [[0, 1, 0], "b"]
at         = ["-sin(a) - sin(b)/2", 0, "2 - cos(a) - cos(b)/2"]
[joint.shoulder]
kind    = "hinge"
between = ["ground", "upper"]
at      = [0, 0, 2]
axis    = [0, 1, 0]
[joint.elbow]
kind    = "hinge"
between = ["upper", "lower"]
at      = ["-sin(a)", 0, "2 - cos(a)"]
axis    = [0, 1, 0]
[run]
step  = 0.001
until = 1
)toml";
  const study::Motion found = run_well(import_text(text).scene);
  const study::Motion wanted = run_well(by_hand);
  ASSERT_EQ(found.rows.size(), wanted.rows.size());
  // The mass centres and rotations of both: roundoff, which this motion multiplies by less than
  // 1e4.
  for (std::size_t k = 0; k < found.rows.size(); k += 100) {
    for (std::size_t i = 0; i < wanted.rows[k].q.size(); ++i) {
      ASSERT_NEAR(found.rows[k].q[i], wanted.rows[k].q[i], 1e-11) << k << " " << i;
    }
    EXPECT_NEAR(found.rows[k].energy(), wanted.rows[k].energy(), 1e-11);
  }
  // The elbow from both rods, and the energy, which is exact in the limit: both to h^2, as joints
  // hold at the middles of steps and rows are at their ends.
  const study::Row& last = found.rows.back();
  const auto end = [&](std::size_t at, double along) {
    const Eigen::Quaterniond turn(last.q[at + 3], last.q[at + 4], last.q[at + 5], last.q[at + 6]);
    return Vector3d(Vector3d(last.q[at], last.q[at + 1], last.q[at + 2]) +
                    turn * Vector3d(0.0, 0.0, along));
  };
  expect_near(end(0, -0.5), end(7, 0.5), 1e-5);
  expect_near(end(0, 0.5), Vector3d(0, 0, 2), 1e-5);
  EXPECT_NEAR(last.energy(), found.rows.front().energy(), 1e-3);
}

TEST(Import, MassesFollowFromDensitiesAsClosedFormsSay) {
  const scene::Scene scene = scene_of(mujoco(R"xml(
  <body name="box" pos="0 0 1"><freejoint/><geom type="box" size="0.1 0.2 0.3" density="500"/></body>
  <body name="ball" pos="2 0 1"><freejoint/><geom size="0.3"/></body>
  <body name="can" pos="4 0 1"><freejoint/><geom type="cylinder" size="0.2 0.5" mass="3"/></body>
  <body name="pill" pos="6 0 1"><freejoint/><geom type="capsule" size="0.2 0.5"/></body>
  <body name="egg" pos="8 0 1"><freejoint/><geom type="ellipsoid" size="0.1 0.2 0.3" mass="5"/></body>
  )xml"));
  const auto diagonal = [](double a, double b, double c) {
    return Matrix3d(Vector3d(a, b, c).asDiagonal());
  };
  const double box = 500 * 0.2 * 0.4 * 0.6;
  EXPECT_NEAR(body_of(scene, "box").mass, box, 1e-13);
  expect_near(body_of(scene, "box").inertia,
              box / 12 * diagonal(0.16 + 0.36, 0.04 + 0.36, 0.04 + 0.16), 1e-14);
  const double ball = 1000 * 4.0 / 3.0 * kPi * 0.027;
  EXPECT_NEAR(body_of(scene, "ball").mass, ball, 1e-12);
  expect_near(body_of(scene, "ball").inertia, 0.4 * ball * 0.09 * Matrix3d::Identity(), 1e-12);
  const double across = 3.0 * (3 * 0.04 + 1.0) / 12;
  expect_near(body_of(scene, "can").inertia, diagonal(across, across, 3.0 * 0.04 / 2), 1e-14);
  // A cylinder and two half-balls, whose mass centres are 3/8 r beyond its ends.
  const double rod = 1000 * kPi * 0.04;  // 1 m long
  const double caps = 1000 * 4.0 / 3.0 * kPi * 0.008;
  const double beyond = 0.5 + 3.0 / 8.0 * 0.2;
  const double pill_across = rod * (3 * 0.04 + 1.0) / 12 +
                             caps * (0.4 * 0.04 - std::pow(3.0 / 8.0 * 0.2, 2) + beyond * beyond);
  EXPECT_NEAR(body_of(scene, "pill").mass, rod + caps, 1e-11);
  expect_near(body_of(scene, "pill").inertia,
              diagonal(pill_across, pill_across, rod * 0.02 + caps * 0.4 * 0.04), 1e-11);
  expect_near(body_of(scene, "egg").inertia, diagonal(0.04 + 0.09, 0.01 + 0.09, 0.01 + 0.04),
              1e-14);
}

TEST(Import, PartsOfABodyAddUp) {
  // Two balls of 1 and 3 kg, 0.4 m apart along the x of a body turned by a quarter about z, one of
  // them in a body of its own without a joint, in a frame.
  const scene::Scene scene = scene_of(mujoco(R"xml(
  <body name="pair" pos="1 2 3" euler="0 0 90"><freejoint/>
    <geom size="0.1" mass="1"/>
    <frame pos="0.3 0 0"><body name="other" pos="0.1 0 0"><geom size="0.1" mass="3"/></body></frame>
  </body>)xml"));
  const body::Body<3>& pair = body_of(scene, "pair");
  EXPECT_NEAR(pair.mass, 4.0, 1e-15);
  expect_near(pair.start.x, Vector3d(1, 2.3, 3), 1e-15);
  const double own = 0.4 * 4 * 0.01;
  const double far = 3.0 / 4.0 * 0.16;  // reduced mass, distance
  expect_near(inertia_in_space(pair),
              Vector3d(own + far, own, own + far).asDiagonal().toDenseMatrix(), 1e-14);
  EXPECT_EQ(pair.shapes, 2);
}

TEST(Import, AllWaysToWriteATurnAgree) {
  // 40 degrees about (1, 2, 2)/3.
  const Eigen::AngleAxisd about(40 * kPi / 180, Vector3d(1, 2, 2) / 3);
  const Eigen::Quaterniond q(about);
  const Matrix3d r = about.toRotationMatrix();
  const auto words = [](const auto& numbers) {
    std::string text;
    for (const double x : numbers) text += std::to_string(x) + "0 ";
    return text;
  };
  const std::vector<double> axes = {r(0, 0), r(1, 0), r(2, 0), r(0, 1), r(1, 1), r(2, 1)};
  const double second = std::asin(r(0, 2));  // R = Rx(a) Ry(b) Rz(c)
  const double first = std::atan2(-r(1, 2), r(2, 2));
  const double third = std::atan2(-r(0, 1), r(0, 0));
  const double degree = 180 / kPi;
  const std::string moving = words(std::vector{first * degree, second * degree, third * degree});
  const std::string fixed = words(std::vector{third * degree, second * degree, first * degree});
  const std::string radians = words(std::vector{first, second, third});
  const auto turned = [&](const std::string& how, const std::string& compiler) {
    const scene::Scene scene =
        scene_of(mujoco("<body name='b' pos='0 0 1' " + how +
                            "><freejoint/><geom type='box' size='0.1 0.2 0.3'/></body>",
                        "<compiler " + compiler + "/>\n"));
    return body_of(scene, "b").start.turn.toRotationMatrix();
  };
  const std::vector<double> quat = {q.w(), q.x(), q.y(), q.z()};
  expect_near(turned("quat='" + words(quat) + "'", ""), r, 3e-6);  // six digits are written
  expect_near(turned("axisangle='1 2 2 40'", ""), r, 1e-15);
  expect_near(turned("xyaxes='" + words(axes) + "'", ""), r, 3e-6);
  expect_near(turned("euler='" + moving + "'", ""), r, 1e-6);
  expect_near(turned("euler='" + fixed + "'", "eulerseq='ZYX'"), r, 1e-6);
  expect_near(turned("euler='" + radians + "'", "angle='radian'"), r, 3e-6);
  // The shortest turn of z to (0, 1, 1): 45 degrees back about x.
  expect_near(turned("zaxis='0 2 2'", ""),
              Eigen::AngleAxisd(-kPi / 4, Vector3d::UnitX()).toRotationMatrix(), 1e-15);
}

TEST(Import, JointsKeepTheirCoordinates) {
  const std::string text = mujoco(R"xml(
  <body name="a" pos="0 0 1">
    <joint name="turn" axis="0 2 0" pos="0 0 0.1" range="-45 90" ref="30" stiffness="5"
           springref="10" damping="0.3" frictionloss="0.2"/>
    <geom size="0.1"/>
    <body name="b" pos="0 0 -1">
      <joint name="way" type="slide" axis="1 0 0" range="-0.5 0.25" damping="2"/> <geom size="0.1"/>
      <body name="c" pos="0 0 -1">
        <joint name="socket" type="ball" damping="1"/> <geom size="0.1"/>
      </body>
    </body>
  </body>)xml");
  const foreign::Imported made = import_text(text);
  const scene::Scene scene = scene::read_scene("scene.toml", made.scene);
  const body::Joint<3>& turn = joint_of(scene, "turn");
  EXPECT_EQ(turn.kind, body::JointKind::Hinge);
  EXPECT_NEAR(turn.low, -kPi / 4, 1e-15);
  EXPECT_NEAR(turn.high, kPi / 2, 1e-15);
  EXPECT_NEAR(turn.start, kPi / 6, 1e-15);
  EXPECT_NEAR(turn.rest, kPi / 18, 1e-15);
  EXPECT_EQ(turn.stiffness, 5.0);
  EXPECT_EQ(turn.damping, 0.3);
  EXPECT_EQ(turn.friction, 0.2);
  expect_near(turn.on_b, Vector3d(0, 0, 0.1), 1e-15);
  const body::Joint<3>& way = joint_of(scene, "way");
  EXPECT_EQ(way.kind, body::JointKind::Slider);
  EXPECT_EQ(way.low, -0.5);
  EXPECT_EQ(way.high, 0.25);
  EXPECT_EQ(joint_of(scene, "socket").kind, body::JointKind::Ball);
  expect_note(made, "line 11: 'damping' of a ball joint");
}

TEST(Import, AStartBeyondTheLimitsIsMovedToThem) {
  // Axis x, lower limit a third of a half turn: what hangs 1 m below goes to (0, sin 60, -cos 60).
  const foreign::Imported made = import_text(robot(R"xml(<link name="base"/>
  <link name="bob"><inertial><origin xyz="0 0 -1"/><mass value="1"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <joint name="j" type="revolute"><parent link="base"/><child link="bob"/>
    <limit lower="1.0471975511965976" upper="2" effort="1" velocity="1"/></joint>)xml"));
  const scene::Scene scene = scene::read_scene("scene.toml", made.scene);
  expect_near(body_of(scene, "bob").start.x, Vector3d(0, std::sqrt(0.75), -0.5), 1e-15);
  EXPECT_NEAR(joint_of(scene, "j").start, kPi / 3, 1e-15);
  expect_note(made, "line 5: joint 'j' is at 0 in the file");
  expect_note(made, "line 6: 'effort' of <limit>");
}

TEST(Import, PairsFollowTheRulesOfTheFormat) {
  const foreign::Imported made = import_text(mujoco(R"xml(
  <geom name="floor" type="plane" size="1 1 1" friction="0.5"/>
  <body name="rough" pos="0 0 1"><freejoint/><geom size="0.1" friction="0.9"/></body>
  <body name="smooth" pos="1 0 1"><freejoint/><geom size="0.1" condim="1" friction="0.2"/></body>
  <body name="sleek" pos="2 0 1"><freejoint/><geom size="0.1" friction="0.1" priority="1"/></body>
  <body name="wheel" pos="3 0 1"><freejoint/><geom size="0.1" friction="0.4 0.02 0.003" condim="6"/></body>
  <body name="soft" pos="4 0 1"><freejoint/><geom size="0.1" friction="0.4 0.02 0.003" condim="4"/></body>
  <body name="ghost" pos="5 0 1"><freejoint/><geom size="0.1" contype="0" conaffinity="0"/></body>
  <body name="other" pos="6 0 1"><freejoint/><geom size="0.1" contype="2" conaffinity="2"/></body>
  <body name="apart" pos="7 0 1"><freejoint/><geom size="0.1"/></body>)xml",
                                                    R"xml(<contact>
  <exclude body1="apart" body2="rough"/></contact>)xml"));
  const scene::Scene scene = scene::read_scene("scene.toml", made.scene);
  const body::World<3>& world = world_of(scene);
  const auto law = [&](const std::string& a, const std::string& b) {
    return world.law_between(number_of(world, a), number_of(world, b));
  };
  const auto touch = [&](const std::string& a, const std::string& b) {
    return world.may_touch(number_of(world, a), number_of(world, b));
  };
  EXPECT_EQ(law("floor", "rough").friction, 0.9);   // the larger one
  EXPECT_EQ(law("floor", "smooth").friction, 0.5);  // the larger condim, so that there is some
  EXPECT_EQ(law("floor", "sleek").friction, 0.1);   // the higher priority
  EXPECT_EQ(law("floor", "wheel").friction, 0.5);
  EXPECT_EQ(law("floor", "wheel").spinning, 0.02);
  EXPECT_EQ(law("floor", "wheel").rolling, 0.003);
  EXPECT_EQ(law("floor", "soft").spinning, 0.02);
  EXPECT_EQ(law("floor", "soft").rolling, 0.0);
  EXPECT_EQ(law("floor", "rough").spinning, 0.0);
  EXPECT_EQ(law("rough", "wheel").restitution, 0.0);
  EXPECT_FALSE(touch("ghost", "floor"));
  EXPECT_FALSE(touch("other", "floor"));
  EXPECT_FALSE(touch("apart", "rough"));
  EXPECT_TRUE(touch("apart", "smooth"));
  EXPECT_TRUE(touch("apart", "floor"));
}

/// Bodies without a joint are one with their parent: an <exclude> of one is not one of the whole.
TEST(Import, AnExcludeOfAPartIsNotOneOfTheWhole) {
  const foreign::Imported made = import_text(R"xml(<mujoco><worldbody>
    <geom type="plane" size="1 1 1"/><body name="table" pos="3 0 0"><geom size="0.1"/></body>
    <body name="ball" pos="0 0 0.1"><freejoint/><geom size="0.1"/></body></worldbody>
    <contact><exclude body1="table" body2="ball"/></contact></mujoco>)xml");
  expect_note(made, "<exclude>");
  const study::Motion motion = run_well(made.scene);  // on the plane
  EXPECT_NEAR(motion.final_state.q[2], 0.1, 1e-12);
}

TEST(Import, SmallRulesOfMjcf) {
  const auto ball = [](const std::string& head, const std::string& inside) {
    return "<mujoco>" + head + "<worldbody><body name=\"b\">" + inside +
           "</body></worldbody></mujoco>";
  };
  // Masses of geoms are not asked for.
  const scene::Scene heavy =
      scene_of(ball("<compiler inertiafromgeom=\"false\"/>",
                    "<freejoint/><inertial mass=\"1\" pos=\"0 0 0\" diaginertia=\"1 1 1\"/>"
                    "<body pos=\"1 0 0\"><geom size=\"0.1\" mass=\"8\"/></body>"));
  EXPECT_EQ(body_of(heavy, "b").mass, 1.0);
  // Moments of what has no mass are moments all the same.
  const scene::Scene rotor =
      scene_of(ball("",
                    "<freejoint/><inertial mass=\"1\" pos=\"0 0 0\" diaginertia=\"2 2 2\"/>"
                    "<body><inertial mass=\"0\" pos=\"0 0 0\" diaginertia=\"1 1 1\"/></body>"));
  expect_near(inertia_in_space(body_of(rotor, "b")), 3.0 * Matrix3d::Identity(), 1e-12);
  // A range without width is none.
  const std::string hinge =
      ball("", "<joint axis=\"0 1 0\" range=\"0 0\"/><geom size=\"0.1\" pos=\"1 0 0\"/>");
  EXPECT_EQ(import_text(hinge).scene.find("limits  "), std::string::npos);
  // Weightless stays weightless; numbers are parted by any blank.
  const foreign::Imported light =
      import_text(ball("<option><flag gravity=\"disable\"/></option><option gravity=\"0\t0\n-5\"/>",
                       "<freejoint/><geom size=\"0.1\"/>"));
  EXPECT_NE(light.scene.find("gravity   = [0, 0, 0]"), std::string::npos) << light.scene;
  expect_fault("<mujoco><compiler inertiafromgeom=\"no\"/><worldbody/></mujoco>", 1, "no choice");
}

/// Two thousand solids on one line are read in the time of as many lines.
TEST(Import, OneLongLineIsReadAsFastAsMany) {
  const auto seconds = [](const char* end) {
    std::string text = "<mujoco><worldbody>";
    for (int k = 0; k < 2000; ++k) {
      text += fmt::format("<geom type=\"sphere\" pos=\"{} 0 0\" size=\"0.1\"/>{}", k, end);
    }
    text += "</worldbody></mujoco>";
    const base::Stopwatch clock;
    (void)import_text(text);
    return clock.seconds();
  };
  EXPECT_LT(seconds(" "), 0.5 + 4.0 * seconds("\n"));
}

TEST(Import, ClassesInherit) {
  const foreign::Imported made = import_text(mujoco(R"xml(
  <body name="a" pos="0 0 1" childclass="heavy"><freejoint/><geom/></body>
  <body name="b" pos="1 0 1" childclass="heavy"><freejoint/><geom class="small"/></body>
  <body name="c" pos="2 0 1"><freejoint/><geom/></body>
  <body name="d" pos="3 0 1" childclass="heavy"><freejoint/><geom mass="7"/></body>)xml",
                                                    R"xml(<default>
    <default class="heavy"><geom mass="2"/>
      <default class="small"><geom size="0.05"/></default></default>
    <geom size="0.2" mass="1" solref="0.01 1"/></default>)xml"));
  const scene::Scene scene = scene::read_scene("scene.toml", made.scene);
  EXPECT_EQ(body_of(scene, "a").mass, 2.0);
  EXPECT_EQ(body_of(scene, "a").reach, 0.2);
  EXPECT_EQ(body_of(scene, "b").mass, 2.0);
  EXPECT_EQ(body_of(scene, "b").reach, 0.05);
  EXPECT_EQ(body_of(scene, "c").mass, 1.0);
  EXPECT_EQ(body_of(scene, "d").mass, 7.0);
  expect_note(made, "'solref' of <geom>: contacts, limits and joints are rigid here");
}

/// The format keeps one way to say how a geom is turned beside `quat`, the one written last, and
/// that overrules `quat` wherever it stands.
TEST(Import, TurnsOfNestedClasses) {
  const auto turn_of =
      [](const std::string& outer, const std::string& inner, const std::string& own) {
        const scene::Scene scene = scene_of(R"(<mujoco><compiler angle="degree"/><default>
<default class="outer"><geom )" + outer + R"(/><default class="inner"><geom )" +
                                            inner + R"(/></default></default></default><worldbody>
<geom name="g" class="inner" type="box" size="0.1 0.2 0.3" )" +
                                            own + R"(/>
<body><freejoint/><geom size="0.1" pos="0 0 5"/></body></worldbody></mujoco>)");
        return body_of(scene, "g").start.turn.toRotationMatrix();
      };
  const Matrix3d about_z = Eigen::AngleAxisd(0.5 * kPi, Vector3d::UnitZ()).toRotationMatrix();
  const Matrix3d about_x = Eigen::AngleAxisd(0.5 * kPi, Vector3d::UnitX()).toRotationMatrix();
  const std::string euler = R"(euler="0 0 90")";
  const std::string axis = R"(axisangle="1 0 0 90")";
  const std::string quat = R"(quat="0 1 0 0")";
  EXPECT_TRUE(turn_of(euler, quat, "").isApprox(about_z, 1e-12));
  EXPECT_TRUE(turn_of(quat, euler, "").isApprox(about_z, 1e-12));
  EXPECT_TRUE(turn_of(euler, axis, "").isApprox(about_x, 1e-12));
  EXPECT_TRUE(turn_of(axis, euler, "").isApprox(about_z, 1e-12));
  EXPECT_TRUE(turn_of(quat, "", axis).isApprox(about_x, 1e-12));
  EXPECT_TRUE(turn_of(euler, "", quat).isApprox(about_z, 1e-12));
}

TEST(Import, CondimIsOneOfFour) {
  const auto text = [](const std::string& condim) {
    return R"(<mujoco><worldbody><body><freejoint/><geom size="0.1" condim=")" + condim +
           R"("/></body></worldbody></mujoco>)";
  };
  for (const char* right : {"1", "3", "4", "6"}) EXPECT_NO_THROW((void)import_text(text(right)));
  for (const char* wrong : {"0", "2", "5", "7"}) {
    EXPECT_THROW((void)import_text(text(wrong)), base::InputError) << wrong;
  }
}

/// A mass in a point that is fixed to a link: m = 1 + 2, centre a third of the way back, and the
/// inertia that masses at -2/3 and 1/3 add.
TEST(Import, APointMassIsOneWithWhatItIsFixedTo) {
  const scene::Scene scene = scene_of(R"(<robot name="r">
<link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>
</inertial></link>
<link name="b"><inertial><mass value="2"/><inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/>
</inertial></link>
<joint name="j" type="fixed"><parent link="a"/><child link="b"/><origin xyz="1 0 0"/></joint>
</robot>)");
  const body::Body<3>& a = body_of(scene, "a");
  EXPECT_TRUE(world_of(scene).joints.empty());
  EXPECT_DOUBLE_EQ(a.mass, 3.0);
  EXPECT_NEAR(a.centre[0], 2.0 / 3.0, 1e-15);
  EXPECT_NEAR(a.inertia(0, 0), 1.0, 1e-14);
  EXPECT_NEAR(a.inertia(1, 1), 1.0 + 4.0 / 9.0 + 2.0 / 9.0, 1e-14);
}

/// Names of many that are alike are found without trying all: twice as many take twice as long.
TEST(Import, ManyGeomsWithoutNames) {
  const auto seconds = [](int count) {
    std::string text = "<mujoco><worldbody>";
    for (int k = 0; k < count; ++k) text += R"(<geom type="box" size="0.1 0.1 0.1"/>)";
    text += "</worldbody></mujoco>";
    const base::Stopwatch clock;
    (void)import_text(text);
    return clock.seconds();
  };
  const double few = std::min(seconds(1000), seconds(1000));
  EXPECT_LT(seconds(8000), 30.0 * few + 0.1);  // eight times as many; 64 where all are tried
}

TEST(Import, FramesWithoutMassAreOneWithWhatTheyAreFixedTo) {
  const std::string heavy =
      "<inertial><mass value='1'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/>"
      "</inertial>";
  const auto joint = [](const char* name, const char* type, const char* a, const char* b) {
    return std::string("<joint name='") + name + "' type='" + type + "'><origin xyz='1 0 0'/>" +
           "<parent link='" + a + "'/><child link='" + b + "'/></joint>";
  };
  const std::string text =
      robot("<link name='root'/><link name='trunk'>" + heavy +
            "</link><link name='mark'/><link name='tool'>" + heavy + "</link>" +
            joint("j1", "fixed", "root", "trunk") + joint("j2", "fixed", "trunk", "mark") +
            joint("j3", "fixed", "mark", "tool"));
  const scene::Scene free = scene_of(text);  // the root is part of 'trunk', and free with it
  ASSERT_EQ(world_of(free).joints.size(), 1U);
  EXPECT_EQ(joint_of(free, "j3").kind, body::JointKind::Weld);
  expect_near(body_of(free, "root").start.x, Vector3d(1, 0, 0), 0.0);
  expect_near(body_of(free, "tool").start.x, Vector3d(3, 0, 0), 0.0);
  // Fixed, nothing of it can move: there is no scene of it.
  try {
    (void)import_text(text, true);
    ADD_FAILURE();
  } catch (const base::InputError& error) {
    EXPECT_NE(std::string(error.what()).find("no body"), std::string::npos) << error.what();
  }
}

TEST(Import, ALoopIsClosedByConnect) {
  // A parallelogram: the coupler stays level, and the bar on the right does what that on the left
  // does: one pendulum of two bars of 1 kg and a coupler of 2 kg, all of length 1, in closed form
  // ω² = g (½ + ½ + 2)/(⅓ + ⅓ + 2) at small angles.
  const std::string text = mujoco(R"xml(
  <body name="left" pos="0 0 2"><joint axis="0 1 0"/>
    <inertial pos="0.005 0 -0.5" mass="1" diaginertia="0.0833333333333333 0.0833333333333333 0.01"/>
    <body name="top" pos="0.01 0 -0.99995"><joint axis="0 1 0"/>
      <inertial pos="0.5 0 0" mass="2" fullinertia="0.1 0.2 0.2 0 0 0"/></body></body>
  <body name="right" pos="1 0 2"><joint axis="0 1 0"/>
    <inertial pos="0.005 0 -0.5" mass="1" diaginertia="0.0833333333333333 0.0833333333333333 0.01"/>
  </body>)xml",
                                  "<option gravity='0 0 -10' timestep='0.001'/>\n");
  std::string closed = text;
  closed.replace(closed.find("</mujoco>"), 9,
                 "<equality><connect name='pin' body1='top' body2='right' anchor='1 0 0'/>"
                 "</equality></mujoco>");
  const foreign::Imported made = import_text(closed);
  EXPECT_NE(made.scene.find("[joint.pin]"), std::string::npos);
  const study::Motion motion = run_well(until(made.scene, "10"));
  const double found = period_of(motion);
  EXPECT_NEAR(found, 2 * kPi * std::sqrt((8.0 / 3.0) / (10.0 * 3.0)), 2e-4);
  EXPECT_NEAR(motion.rows.back().q[8], 0.0, 1e-9);  // y of the coupler
}

TEST(Import, ThreeHingesThroughAPointAreABallJoint) {
  const std::string hinges =
      "<joint axis='1 0 0'/><joint axis='0 1 0'/><joint axis='0 0 1' damping='1'/>";
  const foreign::Imported made = import_text(
      mujoco("<body name='b' pos='0 0 1'>" + hinges + "<geom size='0.1' pos='0 0 1'/></body>"));
  const scene::Scene scene = scene::read_scene("scene.toml", made.scene);
  ASSERT_EQ(world_of(scene).joints.size(), 1U);
  EXPECT_EQ(world_of(scene).joints[0].kind, body::JointKind::Ball);
  expect_note(made, "three hinges through a point");
}

TEST(Import, WhatIsNotUnderstoodIsListedWithItsLines) {
  const foreign::Imported made = import_text(R"xml(<mujoco>
<asset><mesh name="m" file="m.stl"/></asset>
<worldbody>
<body name="a" pos="0 0 1"><freejoint/><inertial mass="1" pos="0 0 0" diaginertia="1 1 1"/>
  <geom type="mesh" mesh="m"/>
  <site name="s"/> <geom size="0.1" margin="0.1"/></body>
<body name="b-2" pos="1 0 1"><joint armature="1" wrong="2"/><geom size="0.1" margin="0.2"/>
  <geom type="cylinder" size="0.1 0.1"/><geom type="cylinder" size="0.1 0.1" pos="0 0 1"/></body>
</worldbody>
<keyframe><key qpos="0"/></keyframe>
<tendon/>
</mujoco>)xml");
  expect_note(made, "line 2: <asset>");
  expect_note(made, "line 5: a mesh is not read: the geom is left out");
  expect_note(made, "line 6: <site>");
  expect_note(made, "lines 6, 7: 'margin' of <geom>");
  expect_note(made, "line 7: 'armature' of <joint>: the inertia of a rotor");
  expect_note(made, "line 7: 'wrong' of <joint>: not understood");
  expect_note(made, "line 7: 'b-2' is called 'b_2' in the scene");
  expect_note(made, "line 8: a second cylinder");
  expect_note(made, "line 10: <keyframe>");
  expect_note(made, "line 11: <tendon>");
  for (const std::string& note : made.notes) {
    EXPECT_NE(made.scene.find("# - " + note + "\n"), std::string::npos) << note;
  }
  const foreign::Imported plain =
      import_text(mujoco("<body name='a' pos='0 0 1'><freejoint/><geom size='0.1'/></body>"));
  EXPECT_TRUE(plain.notes.empty());
  EXPECT_NE(plain.scene.find("# All of the file was understood.\n"), std::string::npos);
}

TEST(Import, BrokenXmlIsRefusedWithItsPlace) {
  expect_fault("", 1, "has no element");
  expect_fault("hello", 1, "is no XML");
  expect_fault("<robot>\n<link name=\"a\">\n</robot>", 3, "</robot> closes <link> of line 2");
  expect_fault("<robot>\n<link name='a'/>\n", 1, "<robot> is not closed");
  expect_fault("<robot>\n<link name=a/></robot>", 2, "the value of 'name' is not in quotes");
  expect_fault("<robot>\n<link name='a' name='b'/></robot>", 2, "'name' stands twice");
  expect_fault("<robot>\n<link name='a&b;'/></robot>", 2, "an & that stands for nothing");
  expect_fault("<robot>\n<link name='<'/></robot>", 2, "has a <");
  expect_fault("<robot>\n<!-- <link/></robot>", 2, "a comment is not closed");
  expect_fault("<robot>\n<link /", 2, "");
  expect_fault("<robot/>\n<robot/>", 2, "goes on after the end of <robot>");
  expect_fault("<!DOCTYPE r [<!ENTITY a 'b'>]>\n<robot/>", 1, "declarations");
  expect_fault("<robot>\n\x01</robot>", 2, "is no UTF-8 text");
  std::string deep;
  for (int k = 0; k < 600; ++k) deep += "<a>";
  expect_fault(deep, 1, "more than 500 deep");
  expect_fault("<sdf/>", 1, "neither a <robot> of URDF nor a <mujoco>");
  const foreign::Element read = foreign::read_xml("x.xml",
                                                  "\xEF\xBB\xBF<?xml version='1.0'?><!-- a --><a "
                                                  "b='&lt;&#65;&#xe9;\n\"' ><![CDATA[<]]><c/></a>",
                                                  0);
  EXPECT_EQ(read.attributes[0].value, "<A\xC3\xA9 \"");
  EXPECT_EQ(read.children.size(), 1U);
  EXPECT_EQ(read.children[0].place.line, 2);
}

/// Whatever is done to a file, a scene is made of it or it is refused as bad input.
TEST(Import, NoTextMakesItFall) {
  const std::vector<std::string> texts = {
      robot("<link name='a'/><link name='b'><inertial><origin rpy='1 2 3'/><mass value='1'/>"
            "<inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial></link>"
            "<joint name='j' type='revolute'><parent link='a'/><child link='b'/>"
            "<limit lower='-1' upper='1'/></joint>"),
      mujoco("<geom type='plane' size='1 1 1'/><body name='b' pos='0 0 1' euler='1 2 3'>"
             "<joint range='-1 1'/><geom fromto='0 0 0 0 0 1' type='capsule' size='0.1'/></body>",
             "<default><geom friction='1 0.1'/><default class='c'/></default>")};
  base::Random random(5);
  int made = 0;
  int refused = 0;
  const auto try_text = [&](const std::string& text) {
    try {
      (void)scene::read_scene("scene.toml", import_text(text).scene);
      ++made;
    } catch (const base::InputError&) {
      ++refused;
    }
  };
  for (const std::string& text : texts) {
    for (std::size_t length = 0; length < text.size(); ++length) try_text(text.substr(0, length));
    for (int k = 0; k < 3000; ++k) {
      std::string changed = text;
      const auto at =
          static_cast<std::size_t>(random.uniform(0.0, 1.0) * static_cast<double>(text.size()));
      const std::string letters = "<>/'\"= &a0-.e9";
      changed[at] = letters[static_cast<std::size_t>(k) % letters.size()];
      try_text(changed);
    }
  }
  EXPECT_GT(made, 100);
  EXPECT_GT(refused, 1000);
}

TEST(Import, WrongUrdfIsRefusedWithPlaceAndRemedy) {
  const std::string heavy =
      "<inertial><mass value='1'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/>"
      "</inertial>";
  const std::string two = "<link name='a'/><link name='b'>" + heavy + "</link>\n";
  const std::string ab = "<parent link='a'/><child link='b'/>";
  expect_fault(robot(""), 1, "has no <link>");
  expect_fault(robot("<link/>"), 2, "has no name");
  expect_fault(robot("<link name=' '/>"), 2, "has no name");
  expect_fault(robot("<link name='a'/>\n<link name='a'/>"), 3, "two links 'a'");
  expect_fault(robot("<link name='a'/>\n<link name='b'/>"), 3, "a robot has one root");
  expect_fault(
      robot(two + "<joint name='j' type='fixed'><parent link='a'/><child link='c'/></joint>"), 3,
      "there is no link 'c'");
  expect_fault(robot(two + "<joint name='j' type='planar'>" + ab + "</joint>"), 3,
               "'planar' is a kind of joint that scenes do not have");
  expect_fault(robot(two + "<joint type='fixed'>" + ab + "</joint>"), 3, "has no name");
  expect_fault(robot(two + "<joint name='j' type='fixed'><parent link='a'/></joint>"), 3,
               "has no <child>");
  expect_fault(robot(two + "<joint name='j' type='fixed'>" + ab +
                     "</joint>\n<joint name='k' type='fixed'>" + ab + "</joint>"),
               4, "'b' hangs on 'j' already");
  expect_fault(
      robot("<link name='r'/>\n" + two + "<joint name='j' type='fixed'>" + ab +
            "</joint><joint name='k' type='fixed'><parent link='b'/><child link='a'/></joint>"),
      3, "links hang in a circle: a on b on a");
  expect_fault(robot("<link name='a'/>\n<link name='b'/>\n<joint name='j' type='continuous'>" + ab +
                     "</joint>"),
               3, "'b' moves by 'j' and has no mass");
  expect_fault(robot(two + "<joint name='j' type='revolute'>" + ab +
                     "<limit lower='1' upper='-1'/></joint>"),
               3, "its limit 1 is not below -1");
  expect_fault(robot(two + "<joint name='j' type='revolute'>" + ab + "<axis xyz='0 0 0'/></joint>"),
               3, "is zero");
  expect_fault(
      robot(two + "<joint name='j' type='revolute'>" + ab + "<axis xyz='0 up 0'/></joint>"), 3,
      "'up' is no number");
  expect_fault(robot(two + "<joint name='j' type='revolute'>" + ab + "<axis xyz='0 1'/></joint>"),
               3, "has 2 numbers");
  expect_fault(robot("<xacro:macro name='m'/>"), 2, "is a macro of xacro");
  const auto with_inertia = [](const char* mass, const char* z) {
    return robot(std::string("<link name='a'>\n<inertial><mass value='") + mass +
                 "'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='" + z +
                 "'/></inertial></link>");
  };
  expect_fault(with_inertia("-1", "1"), 3, "must not be negative");
  expect_fault(with_inertia("1", "0"), 2, "has a moment of inertia of 0");
  expect_fault(with_inertia("1", "3"), 2, "no body has the moments of inertia of 'a'");
  expect_fault(with_inertia("nan", "1"), 3, "'nan' is no number");
  expect_fault(robot("<link name='a'>" + heavy +
                     "\n<collision><geometry><sphere radius='0'/></geometry></collision></link>"),
               3, "must be positive");
}

TEST(Import, WrongMjcfIsRefusedWithPlaceAndRemedy) {
  const auto body = [](const std::string& inside) {
    return mujoco("<body name='b' pos='0 0 1'>\n" + inside + "\n</body>");
  };
  expect_fault("<mujoco/>", 1, "has no <worldbody>");
  expect_fault(mujoco(""), 0, "has no body");
  expect_fault(body("<freejoint/>"), 3, "'b' moves and has no mass");
  expect_fault(body("<freejoint/><geom size='0.1' mass='0'/>"), 3, "'b' moves and has no mass");
  expect_fault(body("<freejoint/><geom type='mesh' mesh='m'/>"), 4, "follows from a mesh");
  expect_fault(body("<freejoint/><geom/>"), 4, "has no size");
  expect_fault(body("<freejoint/><geom size='-1'/>"), 4, "must be positive");
  expect_fault(body("<freejoint/><geom type='blob' size='1'/>"), 4, "'blob' is no type of geom");
  expect_fault(body("<freejoint/><joint/><geom size='1'/>"), 4, "is free, and has another joint");
  expect_fault(body("<joint type='screw'/><geom size='1'/>"), 4, "'screw' is no kind of joint");
  expect_fault(body("<joint/>\n<joint/><geom size='1'/>"), 5, "'b' has 2 joints");
  expect_fault(body("<freejoint/><geom size='1' class='c'/>"), 4, "there is no class 'c'");
  expect_fault(body("<freejoint/><geom size='1' quat='1 0 0 0' euler='0 0 0'/>"), 4,
               "says again how it is turned");
  expect_fault(body("<geom size='1'/><body><freejoint/><geom size='1'/></body>\n"
                    "<body name='b'/>"),
               5, "two bodies 'b'");
  expect_fault(mujoco("", "<compiler coordinate='global'/>\n"), 2, "global");
  expect_fault(mujoco("", "<compiler eulerseq='abc'/>\n"), 2, "three letters");
  expect_fault(mujoco("", "<include file='x.xml'/>\n"), 2, "no files here");
  expect_fault(mujoco("<body name='b'><joint range='0 1'/><geom size='1'/></body>",
                      "<compiler autolimits='false'/>\n"),
               4, "not said whether the joint has limits");
}

TEST(Import, TheProgramWritesScenesThatRun) {
  const Folder folder;
  write_file(folder / "part.xml", R"xml(<mujoco><worldbody>
  <body name="die" pos="0 0 0.5" euler="10 20 30"><freejoint/>
    <geom type="box" size="0.1 0.1 0.1" rgba="1 0 0 1"/></body></worldbody></mujoco>)xml");
  write_file(folder / "model.xml", R"xml(<mujoco model="a die"><include file="part.xml"/>
  <worldbody><geom name="floor" type="plane" size="1 1 1"/></worldbody></mujoco>)xml");
  const Finished made =
      run_program({"import", "model.xml", "--out", "die.toml", "--until", "2"}, folder.path());
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_NE(made.err.find("MJCF: 2 bodies, 0 joints"), std::string::npos) << made.err;
  EXPECT_NE(made.err.find("line part.xml:3: 'rgba' of <geom>"), std::string::npos) << made.err;
  const Finished run = run_program({"run", "die.toml"}, folder.path());
  EXPECT_EQ(run.code, 0) << run.out << run.err;
  EXPECT_NE(run.out.find("a die"), std::string::npos);
  EXPECT_NE(run.out.find("t = 0 to 2"), std::string::npos);
  const Finished again = run_program({"import", "model.xml", "--out", "die.toml"}, folder.path());
  EXPECT_EQ(again.code, 2);
  EXPECT_NE(again.err.find("exists already"), std::string::npos);
  const Finished shown = run_program({"import", "model.xml", "--until", "2"}, folder.path());
  EXPECT_EQ(shown.code, 0);
  EXPECT_EQ(shown.out, read_file(folder / "die.toml"));
}

TEST(Import, TheModelOfTheGuideRuns) {
  const std::string guide =
      read_file(std::filesystem::path(testing::kSourceFolder) / "docs/guide/bodies.md");
  const std::size_t begin = guide.find("```xml\n") + 7;
  const foreign::Imported made = import_text(guide.substr(begin, guide.find("```", begin) - begin));
  EXPECT_TRUE(made.notes.empty());
  const study::Motion motion = run_well(made.scene);
  EXPECT_EQ(motion.rows.size(), 1001U);
}

TEST(Import, TheProgramTellsWhatIsWrong) {
  const Folder folder;
  write_file(folder / "broken.urdf", "<robot>\n  <link name=\"a\">\n</robot>\n");
  const Finished broken = run_program({"import", "broken.urdf"}, folder.path());
  EXPECT_EQ(broken.code, 2);
  EXPECT_EQ(broken.out, "");
  EXPECT_NE(broken.err.find("broken.urdf:3:1: error: XML: </robot> closes <link> of line 2"),
            std::string::npos)
      << broken.err;
  EXPECT_NE(broken.err.find("remedy: write </link> before it"), std::string::npos);
  EXPECT_EQ(run_program({"import", "nothing.urdf"}, folder.path()).code, 2);
  // Two balls in one place: the scene is there, and what is wrong with it is told.
  write_file(folder / "inside.xml", mujoco(R"xml(
  <body name="a" pos="0 0 1"><freejoint/><geom size="0.1"/></body>
  <body name="b" pos="0 0.1 1"><freejoint/><geom size="0.1"/></body>)xml"));
  const Finished inside =
      run_program({"import", "inside.xml", "--out", "inside.toml"}, folder.path());
  EXPECT_EQ(inside.code, 2);
  EXPECT_NE(inside.err.find("'a' and 'b' overlap by 0.1 at the start"), std::string::npos)
      << inside.err;
  EXPECT_TRUE(std::filesystem::exists(folder / "inside.toml"));
}

}  // namespace
}  // namespace ricochet::testing::import_test
