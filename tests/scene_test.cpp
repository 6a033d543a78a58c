// Scenes: what the keys mean, and that messages point at the right place.

#include <gtest/gtest.h>

#include "ricochet/base/error.h"
#include "ricochet/scene/scene.h"
#include "support.h"

namespace ricochet::scene::scene_test {
namespace {

const std::string kBall = R"toml(
[system]
coordinates = ["y"]
parameters = { g = "k/2", k = 20, m = 2 }
define = { speed = "y'", height = "y - 1" }
mass = ["m"]
force = { y = "-m*g - 0.5*speed" }
[contact.floor]
keep = "height >= 0"
[start]
position = { y = "k/10" }
[run]
scheme = "inel"
step = "1/k"
until = "k/10"
)toml";

base::InputError error_of(const std::string& text, const std::vector<Override>& overrides = {}) {
  try {
    (void)read_scene("s.toml", text, overrides);
  } catch (const base::InputError& error) {
    return error;
  }
  ADD_FAILURE() << "no error";
  return base::InputError("", "");
}

TEST(Scene, NumbersMayBeFormulasOfParametersInAnyOrder) {
  const Scene scene = read_scene("s.toml", kBall);
  EXPECT_EQ(scene.run.step, 0.05);
  EXPECT_EQ(scene.run.steps, 40);
  EXPECT_EQ(scene.start.q[0], 2.0);
  EXPECT_EQ(scene.start.u[0], 0.0);
  EXPECT_EQ(scene.system().model->mass().matrix()(0, 0), 2.0);
  EXPECT_TRUE(scene.system().model->force_uses_velocity());
  EXPECT_EQ(scene.name, "s");
}

TEST(Scene, KineticEnergyGivesTheMassMatrix) {
  const std::string text = R"toml(
[system]
coordinates = ["a", "b"]
kinetic = "0.5*3*a'^2 - a'*b' + (b' + a')^2"
[start]
position = { a = 0, b = 0 }
[run]
scheme = "inel"
step = 1
steps = 1
)toml";
  const Eigen::MatrixXd mass = read_scene("s.toml", text).system().model->mass().matrix();
  EXPECT_EQ(mass, (Eigen::Matrix2d() << 5.0, 1.0, 1.0, 2.0).finished()) << mass;
}

TEST(Scene, KineticThatIsNotDefiniteIsRefused) {
  // M = [5 4; 4 2] has determinant -6
  EXPECT_NE(std::string(error_of(R"toml(
[system]
coordinates = ["a", "b"]
kinetic = "0.5*3*a'^2 + 2*a'*b' + (b' + a')^2"
[start]
position = { a = 0, b = 0 }
[run]
scheme = "inel"
step = 1
steps = 1
)toml")
                            .what())
                .find("not positive definite"),
            std::string::npos);
}

TEST(Scene, ContactsKeepTheOrderOfTheFile) {
  const Scene scene = read_scene("s.toml", R"toml(
[system]
coordinates = ["x"]
mass = [1]
[contact.zebra]
keep = "x >= 0"
[contact.ant]
keep = "x <= 5"
[contact.mole]
keep = "2*x <= 20"
[start]
position = { x = 1 }
[run]
scheme = "inel"
step = 1
steps = 1
)toml");
  EXPECT_EQ(scene.system().model->contact_names(),
            (std::vector<std::string>{"zebra", "ant", "mole"}));
}

TEST(Scene, TheGapIsTheInequalityAsWritten) {
  const study::Motion motion = testing::run_text(R"toml(
[system]
coordinates = ["x"]
mass = [1]
[contact.above]
keep = "3*x >= 6"
[contact.below]
keep = "x^2 <= 100 + t"
[start]
position = { x = 4 }
[run]
scheme = "inel"
start_time = 2
step = 1
steps = 1
)toml");
  EXPECT_EQ(motion.rows[0].gaps[0], 6.0);
  EXPECT_EQ(motion.rows[0].gaps[1], 86.0);
  EXPECT_EQ(motion.rows[0].t, 2.0);
  EXPECT_EQ(motion.rows[1].gaps[1], 87.0);
}

TEST(Scene, WarnsOfAStartThatMovesIntoAWall) {
  const Scene scene =
      read_scene("s.toml", kBall,
                 {parse_override("start.position.y=1"), parse_override("start.velocity.y=-3")});
  ASSERT_EQ(scene.warnings.size(), 1U);
  EXPECT_NE(scene.warnings[0].find("moves into it at 3"), std::string::npos) << scene.warnings[0];
}

TEST(Scene, AStartWithinToleranceIsAllowed) {
  EXPECT_NO_THROW(read_scene(
      "s.toml", kBall,
      {parse_override("start.position.y=0.9999"), parse_override("start.tolerance=0.001")}));
  EXPECT_THROW(read_scene("s.toml", kBall, {parse_override("start.position.y=0.9999")}),
               base::InputError);
  EXPECT_NO_THROW(read_scene("s.toml", kBall, {parse_override("start.position.y=0.9999999999")}));
}

TEST(Scene, LastOverrideWinsAndUntilReplacesSteps) {
  const Scene scene =
      read_scene("s.toml", kBall,
                 {parse_override("k=10"), parse_override("k = 40"), parse_override("run.steps=7")});
  EXPECT_EQ(scene.run.step, 1.0 / 40.0);
  EXPECT_EQ(scene.run.steps, 7);
}

TEST(Scene, DefaultsOfTheSchemes) {
  const auto anticipation = [](const std::string& scheme) {
    const Scene scene = read_scene("s.toml", kBall, {parse_override("run.scheme=" + scheme)});
    return scene.scheme.value("anticipation");
  };
  EXPECT_EQ(anticipation("inel"), 0.5);
  EXPECT_EQ(anticipation("elast"), 0.0);
  EXPECT_EQ(anticipation("billiard"), 0.0);
}

TEST(Scene, PointsIntoFormulasOfEveryKindOfString) {
  struct Case {
    const char* potential;
    int line;
    int column;
  };
  for (const Case& c : std::vector<Case>{{"potential = \"y + yy\"", 6, 18},
                                         {"potential = 'y + yy'", 6, 18},
                                         {"potential = \"\"\"y +\n  yy\"\"\"", 7, 3},
                                         {"potential = '''\ny +\n yy'''", 8, 2},
                                         {"potential = \"\\ty + yy\"", 6, 20}}) {
    std::string text = kBall;
    text.replace(text.find("mass = "), 7, std::string(c.potential) + "\nmass = ");
    const base::InputError error = error_of(text);
    EXPECT_EQ(error.key(), "system.potential");
    EXPECT_EQ(error.spot().line, c.line) << c.potential;
    EXPECT_EQ(error.spot().column, c.column) << c.potential << "\n" << error.what();
  }
}

TEST(Scene, ErrorsInOverridesNameTheArgument) {
  const base::InputError error = error_of(kBall, {parse_override("run.step=0 - 1")});
  EXPECT_EQ(std::string(error.what()).rfind("--set run.step=0 - 1: error:", 0), 0U) << error.what();
}

TEST(Scene, ErrorsInOverridesShowNoLineOfTheFile) {
  for (const char* argument : {"run.recrd=3", "start.position.z=[1, 2]", "run.step={ max = 1 }",
                               "system.force={ y = 1, z = 2 }"}) {
    const base::InputError error = error_of(kBall, {parse_override(argument)});
    EXPECT_EQ(error.spot().file, std::string("--set ") + argument) << error.what();
    EXPECT_EQ(error.spot().line, 0) << error.what();
  }
  // an option of its own is shown as it was typed
  const base::InputError error = error_of(kBall, {{"run.step", "-1", "--step -1"}});
  EXPECT_EQ(std::string(error.what()).rfind("--step -1: error: run.step:", 0), 0U) << error.what();
}

TEST(Scene, AMissingKeyIsRecognisedInAMisspeltOne) {
  const auto remedy = [](const std::string& from, const std::string& to) {
    std::string text = kBall;
    text.replace(text.find(from), from.size(), to);
    return error_of(text).remedy();
  };
  EXPECT_NE(remedy("step = ", "stp = ").find("did you mean 'stp' to be 'step'?"),
            std::string::npos);
  EXPECT_NE(remedy("keep = ", "kep = ").find("did you mean 'kep' to be 'keep'?"),
            std::string::npos);
  // other keys, and names that differ by their numbers, are no typing errors
  EXPECT_EQ(remedy("step = \"1/k\"\nuntil", "steps").find("did you mean"), std::string::npos);
  EXPECT_EQ(error_of(R"toml(
[system]
coordinates = ["x1", "x2"]
mass = [1, 1]
[start]
position = { x2 = 0 }
[run]
scheme = "inel"
step = 1
steps = 1
)toml")
                .remedy()
                .find("did you mean"),
            std::string::npos);
}

TEST(Scene, ASystemWithoutContactsIsFree) {
  std::string text = kBall;
  const std::size_t begin = text.find("[contact.floor]");
  text.erase(begin, text.find("[start]") - begin);
  const study::Motion motion = testing::run_text(text);
  EXPECT_TRUE(motion.outcome.certificate.ok());
  EXPECT_EQ(motion.scene.system().model->contacts(), 0);
}

TEST(Scene, GarbageIsRefusedQuietly) {
  base::Random random(9);
  int refused = 0;
  const std::string alphabet = "abxy'=[]{}\"\n .0123456789+-*/^()<>#,";
  for (int trial = 0; trial < 3000; ++trial) {
    std::string text = kBall;  // a few characters of a good scene replaced
    for (int k = 0; k < 1 + random.below(4); ++k) {
      const auto at = static_cast<std::size_t>(random.below(static_cast<int>(text.size())));
      text[at] =
          alphabet[static_cast<std::size_t>(random.below(static_cast<int>(alphabet.size())))];
    }
    try {
      (void)read_scene("g.toml", text);
    } catch (const base::InputError& error) {
      EXPECT_NE(error.message(), "");
      EXPECT_NE(error.remedy(), "") << error.what();
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000);  // nothing else is thrown
}

}  // namespace
}  // namespace ricochet::scene::scene_test
