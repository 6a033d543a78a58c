// Measured orders against those of the theory, errors against closed forms, and what converge and
// compare say of runs that fail, scenes they cannot take and steps that make no sense.

#include "ricochet/study/converge.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "program.h"
#include "ricochet/study/builtin_scenes.h"
#include "ricochet/study/compare.h"
#include "support.h"

namespace ricochet::testing::converge_test {
namespace {

using study::Convergence;
using study::Measure;

const std::filesystem::path kSource = testing::kSourceFolder;

double fit(const Convergence& found, Measure measure) {
  return found.fit[static_cast<std::size_t>(measure)].value_or(-1.0);
}

double error(const Convergence& found, std::size_t row, Measure measure) {
  return found.rows.at(row).errors[measure];
}

/// Steps from `first` down, each `ratio` times the one before.
std::vector<double> geometric(double first, double ratio, int count) {
  std::vector<double> steps;
  for (int k = 0; k < count; ++k) steps.push_back(first * std::pow(ratio, k));
  return steps;
}

Convergence measure(const std::string& text, const std::vector<std::string>& settings,
                    const std::vector<double>& steps, double reference = 0.0) {
  return study::converge(read_text(text, settings), {.steps = steps, .reference_step = reference});
}

constexpr const char* kParabola = R"toml(
[system]
coordinates = ["x", "y"]
mass        = [1, 2]
potential   = "2*10*y"
[start]
position = { x = 0, y = 5 }
velocity = { x = 3, y = 1 }
[run]
scheme = "moreau"
step   = 0.01
until  = 1
[expect]
motion = { x = "3*t", y = "5 + t - 5*t^2" }
)toml";

TEST(Converge, FreeFallIsExactAndSaidToHaveNoOrder) {
  const Convergence found = measure(kParabola, {}, {0.1, 0.05, 0.025});
  for (std::size_t m = 0; m < study::kMeasures; ++m) {
    EXPECT_FALSE(found.fit[m]);
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_LT(found.rows[k].errors.value[m], 1e-13);
      EXPECT_TRUE(found.rows[k].errors.is_rounding(m)) << m;
      EXPECT_FALSE(found.order(k, m));
    }
  }
  ASSERT_EQ(found.remarks.size(), 1U);
  EXPECT_EQ(found.remarks[0].rfind("eps: ", 0), 0U);
}

/// theory: order 2 in q and u where forces use no velocities, for every scheme with that structure.
TEST(Converge, SmoothMotionIsOfSecondOrder) {
  const std::string text = study::builtin_scene("oscillator");
  for (const char* scheme : {"billiard", "elast", "inel", "moreau"}) {
    const Convergence found =
        measure(text, {fmt::format("run.scheme={}", scheme)}, {0.04, 0.02, 0.01, 0.005});
    EXPECT_TRUE(found.reference_is_stated);
    EXPECT_TRUE(found.jumps.empty());
    EXPECT_TRUE(found.remarks.empty());
    for (std::size_t m = 0; m < study::kMeasures; ++m) {
      EXPECT_NEAR(found.fit[m].value_or(0.0), 2.0, 0.03) << scheme << m;
      EXPECT_NEAR(found.order(3, m).value_or(0.0), 2.0, 0.03) << scheme << m;
    }
    // Midpoint rule on x'' = -w^2 x: cos of a frequency that is w^3 h^2 / 24 too high. At t = 3 the
    // phase is ahead by 3 w^3 h^2 / 24 = h^2, and |w sin| <= w.
    EXPECT_LT(error(found, 0, Measure::PositionAcross), 1.02 * 0.04 * 0.04);
    EXPECT_GT(error(found, 0, Measure::PositionAcross), 0.4 * 0.04 * 0.04);
  }
}

TEST(Converge, ForcesOfVelocitiesAreOfFirstOrder) {
  const Convergence found =
      measure(study::builtin_scene("damped-oscillator"), {}, {0.02, 0.01, 0.005, 0.0025});
  for (std::size_t m = 0; m < study::kMeasures; ++m) {
    EXPECT_NEAR(found.fit[m].value_or(0.0), 1.0, 0.06) << m;
  }
}

TEST(Converge, ImpactsAreOfFirstOrder) {
  const std::string text = study::builtin_scene("dropped-ball");
  const std::vector<double> steps = geometric(0.01, 0.8, 20);
  for (const auto& [scheme, e, jumps] :
       {std::tuple{"billiard", "1", 2}, std::tuple{"elast", "1", 2},
        std::tuple{"moreau", "0.7", 3}}) {
    const Convergence found =
        measure(text, {fmt::format("run.scheme={}", scheme), fmt::format("e={}", e)}, steps);
    EXPECT_EQ(found.jumps.size(), static_cast<std::size_t>(jumps));
    for (const Measure m : {Measure::PositionAcross, Measure::VelocityL1, Measure::VelocityGraph,
                            Measure::VelocityAway}) {
      EXPECT_NEAR(fit(found, m), 1.0, 0.3) << scheme << study::key_of(m);
    }
    // No error is larger than what an impact that is one step late makes of the whole flight.
    const double v = std::sqrt(2.0 * 9.81);
    for (const study::ConvergeRow& row : found.rows) {
      EXPECT_LT(row.errors[Measure::PositionAcross], 6.0 * v * row.step) << scheme;
      EXPECT_LT(row.errors[Measure::VelocityGraph], 12.0 * 9.81 * row.step) << scheme;
    }
  }
}

TEST(Converge, TheJumpsOfAStatedMotionAreFoundWhereTheyAre) {
  const Convergence found =
      measure(study::builtin_scene("dropped-ball"), {"e=0.5", "run.until=1.1"}, {0.01, 0.005});
  const double t1 = std::sqrt(2.0 / 9.81);
  ASSERT_EQ(found.jumps.size(), 2U);
  EXPECT_NEAR(found.jumps[0], t1, 1e-15);
  EXPECT_NEAR(found.jumps[1], 2.0 * t1, 1e-15);
}

TEST(Converge, AnInelasticBallRestsWhereItStops) {
  const Convergence found = measure(study::builtin_scene("dropped-ball"),
                                    {"e=0", "run.scheme=inel"}, geometric(0.01, 0.8, 20));
  ASSERT_EQ(found.jumps.size(), 1U);
  EXPECT_NEAR(fit(found, Measure::PositionAcross), 1.0, 0.5);
  EXPECT_NEAR(fit(found, Measure::VelocityL1), 1.0, 0.3);
  const double v = std::sqrt(2.0 * 9.81);
  for (const study::ConvergeRow& row : found.rows) {
    EXPECT_LT(row.errors[Measure::PositionAcross], v * row.step);
    // Stopped at most h v above the floor it falls the rest: sqrt(2 g h v) at most.
    EXPECT_LT(row.errors[Measure::VelocityGraph], std::sqrt(2.0 * 9.81 * v * row.step));
  }
}

/// 1, |sin|: a sign in the derivative, from -1 over 0 to 1, is one jump.
TEST(Converge, AnAbsoluteValueJumpsOnce) {
  const std::string text = R"toml(
[system]
coordinates = ["x"]
mass        = [1]
potential   = "x^2/2"
[contact.wall]
keep = "x >= 0"
[start]
position = { x = 0 }
velocity = { x = 1 }
[run]
scheme = "elast"
step   = 0.01
until  = 7
[expect]
motion = { x = "abs(sin(t))" }
)toml";
  const Convergence found = measure(text, {}, {0.01, 0.005});
  ASSERT_EQ(found.jumps.size(), 2U);
  EXPECT_NEAR(found.jumps[0], M_PI, 1e-14);
  EXPECT_NEAR(found.jumps[1], 2.0 * M_PI, 1e-14);
  EXPECT_LT(error(found, 1, Measure::PositionAcross), 0.03);
}

TEST(Converge, ARunWithShortStepsReplacesAStatedMotion) {
  const std::string text = study::builtin_scene("oscillator");
  const Convergence exact = measure(text, {}, {0.04, 0.02});
  const Convergence found = measure(text, {}, {0.02, 0.04}, 0.001);
  EXPECT_FALSE(found.reference_is_stated);
  EXPECT_EQ(found.reference_step, 0.001);
  EXPECT_EQ(found.rows[0].step, 0.04);
  for (std::size_t m = 0; m < study::kMeasures; ++m) {
    // The reference is off by (1/20)^2 of the finer one's error.
    EXPECT_NEAR(found.rows[1].errors.value[m], exact.rows[1].errors.value[m],
                0.01 * exact.rows[1].errors.value[m]);
  }
}

TEST(Converge, StepsThatDoNotDivideEachOtherAreComparedBetweenOutputTimes) {
  const Convergence found =
      measure(study::builtin_scene("oscillator"), {}, {0.037, 0.0171, 0.0093}, 0.00077);
  for (std::size_t m = 0; m < study::kMeasures; ++m) {
    EXPECT_NEAR(found.fit[m].value_or(0.0), 2.0, 0.08) << m;
  }
}

TEST(Converge, WithoutAStatedMotionTheFinestStepIsAnEighthOfTheSmallest) {
  std::string text = study::builtin_scene("oscillator");
  text.erase(text.find("[expect]"));
  const Convergence found = measure(text, {}, {0.04, 0.02});
  EXPECT_FALSE(found.reference_is_stated);
  EXPECT_NEAR(found.reference_step, 0.0025, 1e-15);
}

TEST(Converge, AStatedMotionThatStartsElsewhereIsRefused) {
  EXPECT_THROW(
      {
        try {
          (void)measure(kParabola, {"start.position.y=6"}, {0.1, 0.05});
        } catch (const base::InputError& e) {
          EXPECT_EQ(e.key(), "expect.motion.y");
          throw;
        }
      },
      base::InputError);
}

TEST(Converge, StatedMotionsAreReadLikeOtherFormulas) {
  const auto broken = [](const std::string& motion) {
    std::string text = kParabola;
    const std::size_t at = text.find("{ x = \"3*t\"");
    text.replace(at, text.find('}', at) - at + 1, motion);
    try {
      (void)read_text(text);
    } catch (const base::InputError& error) {
      return fmt::format("{}: {}", error.key(), error.message());
    }
    return std::string("fine");
  };
  EXPECT_EQ(broken("{ x = \"3*t\", y = \"5\" }"), "fine");
  EXPECT_EQ(broken("{ x = \"3*t\" }"), "expect.motion.y: is missing");
  EXPECT_EQ(broken("{ x = \"3*t\", y = \"x\" }"),
            "expect.motion.y: is made of coordinates; a stated motion is made of time");
  EXPECT_EQ(broken("{ x = \"3*t\", z = 1 }").rfind("expect.motion.z: is no coordinate", 0), 0U);
  EXPECT_EQ(broken("\"3*t\"").rfind("expect.motion: must be a list or a table", 0), 0U);
  EXPECT_EQ(broken("{ x = \"3*t +\", y = 1 }").rfind("expect.motion.x: ", 0), 0U);
}

TEST(Converge, AStatedMotionThatJumpsOrHasNoValueIsRefused) {
  const auto refusal = [](const std::string& y) {
    std::string text = kParabola;
    const std::string old = "5 + t - 5*t^2";
    text.replace(text.find(old), old.size(), y);
    try {
      (void)measure(text, {}, {0.1, 0.05});
    } catch (const base::InputError& error) {
      return std::string(error.message());
    }
    return std::string("fine");
  };
  EXPECT_EQ(refusal("5 + if(t < 0.5, t, 2*t)"), "a position jumps at t = 0.5");
  EXPECT_EQ(refusal("5 + if(t < 0.5, t, 0.5)"), "fine");
  EXPECT_EQ(refusal("5 + abs(sqrt(0.75 - t) - sqrt(0.75))").rfind("the motion or its", 0), 0U);
}

TEST(Compare, SchemesAreListedWithWhatTheyDidOrWhyNot) {
  const std::string text = study::builtin_scene("dropped-ball");
  const auto read = [&](const std::string& scheme) {
    return read_text(text, {"e=1", "run.scheme=" + scheme});
  };
  const study::Comparison found =
      study::compare(read, {.schemes = {"elast", "inel", "moreau", "billiard"}});
  ASSERT_EQ(found.rows.size(), 4U);
  EXPECT_TRUE(found.ok());
  EXPECT_TRUE(found.reference_is_stated);
  EXPECT_EQ(found.rows[1].scheme, "inel");
  EXPECT_NE(found.rows[1].refusal.find("the scheme inel has restitution 0, not 1"),
            std::string::npos);
  for (const std::size_t k : {0U, 2U, 3U}) {
    const study::SchemeRow& row = found.rows[k];
    EXPECT_TRUE(row.was_run());
    EXPECT_EQ(row.steps, 1600);
    EXPECT_EQ(row.shocks, 2);
    EXPECT_GT(row.seconds_per_step(), 0.0);
    EXPECT_LT(row.certificate.violation_max, 9.81 * 0.46 * 0.001);
    ASSERT_TRUE(row.errors);
    EXPECT_GT((*row.errors)[Measure::PositionAcross], 1e-6);
    EXPECT_LT((*row.errors)[Measure::PositionAcross], 0.1);
  }
  EXPECT_NEAR(found.rows[0].energy_change(), 0.0, 1e-12);
  EXPECT_GT(std::abs(found.rows[3].energy_change()), 1e-4);  // billiard drifts
}

TEST(Compare, ASchemeAgainstItselfWithTheSameStepHasNoError) {
  std::string text = study::builtin_scene("oscillator");
  const auto read = [&](const std::string& scheme) {
    return read_text(text, {"run.scheme=" + scheme});
  };
  const study::Comparison found =
      study::compare(read, {.schemes = {"elast"}, .reference_step = 0.01});
  EXPECT_EQ(found.reference_scheme, "elast");
  for (std::size_t m = 0; m < study::kMeasures; ++m)
    EXPECT_LE(found.rows[0].errors->value[m], 1e-15);
}

/// In a folder of its own, with the scene's path put in for "SCENE".
Finished run_words(std::vector<std::string> words, const std::string& scene = "dropped-ball") {
  const Folder folder;
  for (std::string& word : words) {
    if (word == "SCENE") word = (kSource / "scenes" / (scene + ".toml")).string();
  }
  return run_program(words, folder.path());
}

void expect_no_wide_line(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
}

TEST(ConvergeProgram, PrintsATableThatFits) {
  const Finished run =
      run_words({"converge", "SCENE", "--steps", "0.01,0.005,0.0025,0.00125,0.000625,0.0003125"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("\nfit "), std::string::npos);
  EXPECT_NE(run.out.find("3 jumps"), std::string::npos);
  expect_no_wide_line(run.out);
}

TEST(ConvergeProgram, RefusesStepsThatMakeNoSense) {
  const auto error = [](const std::string& steps, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {"converge", "SCENE", "--steps", steps};
    words.insert(words.end(), more.begin(), more.end());
    const Finished run = run_words(words);
    EXPECT_EQ(run.code, 2) << steps << run.out;
    EXPECT_EQ(run.out, "");
    EXPECT_NE(run.err.find("remedy: "), std::string::npos) << run.err;
    return run.err;
  };
  EXPECT_NE(error("0.01").find("at least two"), std::string::npos);
  EXPECT_NE(error("0.01,0.01").find("0.01 twice"), std::string::npos);
  EXPECT_NE(error("0.01,-0.005").find("must be positive"), std::string::npos);
  EXPECT_NE(error("0.01,0").find("must be positive"), std::string::npos);
  EXPECT_NE(error("0.01,,0.02").find("empty place"), std::string::npos);
  EXPECT_NE(error("0.01,small").find("'small' is not a number"), std::string::npos);
  EXPECT_NE(error("0.01,nan").find("not"), std::string::npos);
  EXPECT_NE(error("3,0.01").find("no two steps of 3"), std::string::npos);
  EXPECT_NE(error("0.01,1e-12").find("steps of 1e-12 with"), std::string::npos);
  EXPECT_NE(error("0.02,0.01", {"--reference", "0.01"}).find("no finer"), std::string::npos);
  EXPECT_NE(error("0.02,0.01", {"--scheme", "elastic"}).find("unknown scheme"), std::string::npos);
  EXPECT_NE(
      error("0.02,0.01", {"--set", "H=2", "--set", "start.position.x=1"}).find("expect.motion.x"),
      std::string::npos);
  EXPECT_EQ(run_words({"converge", "SCENE"}).code, 2);
}

TEST(ConvergeProgram, ARunThatFailsIsNamedByItsStep) {
  const Finished run = run_words(
      {"converge", "SCENE", "--steps", "0.01,0.001,0.0001", "--set", "run.violation_limit=0.002"});
  EXPECT_EQ(run.code, 1);
  EXPECT_NE(run.err.find("error: step 0.01: violation"), std::string::npos) << run.err;
  EXPECT_NE(run.out.find("FAILED      step 0.01"), std::string::npos) << run.out;
}

TEST(ConvergeProgram, WritesJsonAndAPicture) {
  const Folder folder;
  const std::string scene = (kSource / "scenes/oscillator.toml").string();
  const Finished run = run_program(
      {"converge", scene, "--steps", "0.02,0.01", "--json", "--out", "o"}, folder.path());
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.out, read_file(folder / "o/converge.json"));
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_EQ(json["scheme"], "moreau");
  EXPECT_EQ(json["reference"]["kind"], "stated motion");
  EXPECT_EQ(json["rows"].size(), 2U);
  EXPECT_EQ(json["rows"][1]["step"], 0.01);
  EXPECT_EQ(json["rows"][1]["steps"], 300);
  EXPECT_TRUE(json["rows"][0]["orders"]["velocity_l1"].is_null());
  EXPECT_NEAR(json["fit"]["velocity_l1"].get<double>(), 2.0, 0.02);
  EXPECT_EQ(json["status"]["name"], "ok");
  const std::string picture = read_file(folder / "o/converge.svg");
  EXPECT_NE(picture.find("u graph, p = 2.00"), std::string::npos);
  EXPECT_NE(picture.find("curve s0"), std::string::npos);
}

TEST(CompareProgram, PrintsTablesThatFitAndWritesFiles) {
  const Folder folder;
  const std::string scene = (kSource / "scenes/dropped-ball.toml").string();
  const Finished run =
      run_program({"compare", scene, "--schemes", "moreau,elast", "--step", "0.002", "--out", "o"},
                  folder.path());
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("not run     elast: contact.floor.restitution"), std::string::npos)
      << run.out;
  EXPECT_NE(run.out.find("step 0.002, t = 0 to 1.6"), std::string::npos);
  expect_no_wide_line(run.out);
  const auto json = nlohmann::json::parse(read_file(folder / "o/compare.json"));
  EXPECT_EQ(json["schemes"].size(), 2U);
  EXPECT_EQ(json["schemes"][0]["status"]["name"], "ok");
  EXPECT_EQ(json["schemes"][0]["steps"], 800);
  EXPECT_TRUE(json["schemes"][1].contains("refused"));
  EXPECT_NE(read_file(folder / "o/compare.svg").find("microseconds"), std::string::npos);
}

TEST(CompareProgram, SaysWhatIsWrong) {
  const auto error = [](const std::vector<std::string>& more, int code) {
    std::vector<std::string> words = {"compare", "SCENE"};
    words.insert(words.end(), more.begin(), more.end());
    const Finished run = run_words(words);
    EXPECT_EQ(run.code, code) << run.out << run.err;
    return run.err;
  };
  EXPECT_NE(error({"--schemes", "moreau,elastic"}, 2).find("unknown scheme 'elastic'"),
            std::string::npos);
  EXPECT_NE(error({"--schemes", "moreau,moreau"}, 2).find("moreau twice"), std::string::npos);
  EXPECT_NE(error({"--schemes", "elast,inel"}, 2).find("elast has restitution 1"),
            std::string::npos);
  EXPECT_NE(
      error({"--schemes", "moreau", "--reference-scheme", "moro"}, 2).find("unknown scheme 'moro'"),
      std::string::npos);
  EXPECT_NE(error({"--schemes", "moreau", "--reference", "0.1"}, 2).find("longer than the step"),
            std::string::npos);
  EXPECT_NE(error({"--schemes", "moreau", "--step", "-1"}, 2).find("must be positive"),
            std::string::npos);
  EXPECT_NE(
      error({"--schemes", "moreau", "--set", "run.violation_limit=1e-9"}, 1).find("certificate"),
      std::string::npos);
}

TEST(CompareProgram, AStatedMotionGivesWayToAReferenceThatIsAskedFor) {
  const Finished run = run_words({"compare", "SCENE", "--schemes", "moreau,elast", "--step", "0.02",
                                  "--reference", "0.001", "--reference-scheme", "elast", "--json"},
                                 "oscillator");
  EXPECT_EQ(run.code, 0) << run.err;
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_EQ(json["reference"]["kind"], "run");
  EXPECT_EQ(json["reference"]["scheme"], "elast");
  EXPECT_EQ(json["reference"]["step"], 0.001);
}

}  // namespace
}  // namespace ricochet::testing::converge_test
