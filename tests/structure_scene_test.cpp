// Scenes with a [structure]: what the keys mean, files, and that they are served as systems are.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <regex>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "program.h"
#include "ricochet/base/error.h"
#include "ricochet/scene/scene.h"
#include "ricochet/study/converge.h"
#include "ricochet/study/facts.h"
#include "ricochet/study/inspect_scene.h"
#include "ricochet/study/motion.h"

namespace ricochet::scene::structure_scene_test {
namespace {

using testing::Finished;
using testing::Folder;
using testing::read_file;
using testing::run_program;

const std::filesystem::path kSource = testing::kSourceFolder;

const std::string kTube = R"toml(
title = "Tube"
[structure]
length     = 1.5
young      = 2.1e11
density    = 7850
section    = { tube = [0.020, 0.002] }
ends       = ["clamped", "free"]
nodes      = 20
parameters = { F = 10, f = 15 }
[structure.force.shaker]
at    = 0.5
value = "F*sin(2*pi*f*t)"
[structure.guide.stop]
at          = 1.0
clearance   = 1e-3
restitution = 0.5
[structure.point.tip]
at = 1.5
[run]
scheme = "newmark"
step   = 2e-5
until  = 0.2
)toml";

Scene read(const std::vector<std::string>& settings = {}, const std::string& text = kTube) {
  std::vector<Override> overrides;
  for (const std::string& setting : settings) overrides.push_back(parse_override(setting));
  return read_scene("tube.toml", text, overrides);
}

study::Motion run(const Scene& scene) { return study::run_scene(scene, false); }

/// Clamped-free tube: (1.8751/1.5)^2 sqrt(EI/rho S) / 2 pi, with I = pi (d^4 - di^4)/64. (exact)
TEST(StructureScene, SectionAndEndsGiveTheFrequency) {
  const double inertia = M_PI * (std::pow(0.020, 4) - std::pow(0.016, 4)) / 64.0;
  const double area = M_PI * (std::pow(0.020, 2) - std::pow(0.016, 2)) / 4.0;
  const double speed = std::sqrt(2.1e11 * inertia / (7850.0 * area));
  const double exact = std::pow(1.8751040687119611 / 1.5, 2) * speed / (2.0 * M_PI);
  EXPECT_NEAR(read().structure()->frequencies[0] / exact, 1.0, 1e-6);
}

/// x is the abscissa: a start stated by the first mode of a pinned beam oscillates as cos(omega t).
TEST(StructureScene, StartsAreFormulasOfX) {
  std::string text = kTube;
  text.replace(text.find("\"clamped\", \"free\""), 17, "\"pinned\", \"pinned\"");
  text.erase(text.find("[structure.guide.stop]"),
             text.find("[structure.point") - text.find("[structure.guide.stop]"));
  text += "[start]\nposition = \"1e-3*sin(pi*x/1.5)\"\n";
  const Scene scene = read({"F=0", "structure.point.tip.at=0.75", "run.step=1e-5"}, text);
  const study::Motion motion = run(scene);
  ASSERT_TRUE(motion.outcome.certificate.ok());
  const double area = M_PI * (std::pow(0.020, 2) - std::pow(0.016, 2)) / 4.0;
  const double inertia = M_PI * (std::pow(0.020, 4) - std::pow(0.016, 4)) / 64.0;
  const double omega = std::pow(M_PI / 1.5, 2) * std::sqrt(2.1e11 * inertia / (7850.0 * area));
  EXPECT_NEAR(motion.final_state.q[0], 1e-3 * std::cos(omega * 0.2), 1e-7);
}

TEST(StructureScene, RangesGuideEveryNodeAndClearancesMayBeFormulas) {
  std::string text = kTube;
  const std::string place = "at          = 1.0\nclearance   = 1e-3";
  text.replace(text.find(place), place.size(), "from = 0.75\nto = 1.5\nbelow = \"1e-3*x\"");
  const Scene scene = read({}, text);
  const std::vector<structure::Guide>& guides = scene.structure()->model->guides;
  ASSERT_EQ(guides.size(), 11U);
  EXPECT_EQ(guides[0].name, "stop[1]");
  EXPECT_NEAR(guides[10].lower, -1.5e-3, 1e-15);
  EXPECT_FALSE(guides[0].has_upper());
}

/// The string's obstacle as a plane below all of it, elastic: every node turns back at once, so the
/// string returns, |cos(pi t)| sin(pi x). (exact)
TEST(StructureScene, AnElasticPlaneSendsTheStringBack) {
  const std::string text = R"toml(
[structure]
kind    = "string"
length  = 1
tension = 1
rho_S   = 1
ends    = ["pinned", "pinned"]
nodes   = 40
[structure.guide.floor]
from        = 0
to          = 1
below       = 0
restitution = 1
[structure.point.middle]
at = 0.5
[start]
position = "sin(pi*x)"
[run]
scheme = "newmark"
step   = 0.0007
until  = 0.98
)toml";
  for (const char* scheme : {"newmark", "moreau", "mabrouk"}) {
    const study::Motion motion = run(read({std::string("run.scheme=") + scheme}, text));
    ASSERT_TRUE(motion.outcome.certificate.ok()) << scheme;
    EXPECT_NEAR(motion.final_state.q[0], std::abs(std::cos(M_PI * motion.final_state.t)), 5e-3)
        << scheme;
  }
}

Scene read_file_of(const std::string& name, const std::vector<std::string>& settings) {
  return read(settings, read_file(kSource / "scenes" / (name + ".toml")));
}

TEST(StructureScene, GentleRunsConvergeAndTheOrderIsMeasured) {
  const Scene scene = read_file_of("tube-10", {"run.until=0.1"});
  const study::Convergence found = study::converge(scene, {{4e-5, 2e-5, 1e-5, 5e-6}, 6.25e-7, 0.0});
  ASSERT_EQ(found.rows.size(), 4U);
  EXPECT_FALSE(found.failed.has_value());
  // Impacts are placed to within a step: positions are of order 1 at best. (qualitative)
  ASSERT_TRUE(found.fit[0].has_value());
  EXPECT_GT(*found.fit[0], 0.5);
  EXPECT_LT(*found.fit[0], 1.5);
  EXPECT_EQ(found.rows[3].guides.size(), 1U);
  EXPECT_EQ(found.rows[3].points.size(), 2U);
}

/// Strong: statistics agree where points do not, and the study says why.
TEST(StructureScene, StrongRunsAgreeInStatisticsOnly) {
  const Scene scene = read_file_of("tube-20", {"run.until=6"});
  const study::Convergence found = study::converge(scene, {{2e-5, 1e-5}, 5e-6, 0.0});
  ASSERT_EQ(found.rows.size(), 2U);
  EXPECT_GT(found.rows[1].errors[study::Measure::PositionAcross], 1e-3);
  const auto says = [&](const char* words) {
    return std::any_of(found.remarks.begin(), found.remarks.end(), [&](const std::string& remark) {
      return remark.find(words) != std::string::npos;
    });
  };
  EXPECT_TRUE(says("each impact multiplies"));
  EXPECT_TRUE(says("runs agree within"));
}

const std::string kString = R"toml(
[structure]
kind       = "string"
length     = 1
tension    = 1
rho_S      = 1
ends       = ["pinned", "pinned"]
nodes      = 20
parameters = { w = "40*sin(pi/40)", F = 0 }
[structure.force.push]
at    = 0.5
value = "-F"
[structure.point.middle]
at = 0.5
[run]
scheme = "newmark"
step   = 0.01
until  = 1
)toml";

/// Twenty masses on a string, in their first mode: the middle is cos(w t), w = 2 N sin(pi/2N), and
/// Newmark's scheme is of second order. (exact; theory)
TEST(StructureScene, PointsMayHaveAStatedMotion) {
  const std::string text = kString +
                           "[start]\nposition = \"sin(pi*x)\"\n"
                           "[expect]\nmotion = { middle = \"cos(w*t)\" }\n";
  const study::Convergence found = study::converge(read({}, text), {{0.02, 0.01, 0.005}, 0.0, 0.0});
  EXPECT_TRUE(found.reference_is_stated);
  ASSERT_EQ(found.rows.size(), 3U);
  for (std::size_t m = 0; m < study::kMeasures; ++m) {
    if (m == 3) continue;
    EXPECT_NEAR(found.fit[m].value_or(0.0), 2.0, 0.05) << m;
  }
}

/// A straight string pressed on an obstacle at rest: the obstacle bears the force, and the string
/// stays. Pulled away, it leaves with F/m, m the mass of a cell. (exact)
TEST(StructureScene, AnInstantIsInspectedAtItsGuides) {
  std::string text = kString;
  text.insert(text.find("[structure.point"), "[structure.guide.obstacle]\nat = 0.5\nbelow = 0\n");
  const auto inspect = [&](const char* force) {
    Scene scene = read({force}, text);
    scene.run = study::run_to(std::nullopt, scene.run, "");
    return *study::inspect_end(scene, nullptr).found;
  };
  const study::Inspection pressed = inspect("F=3");
  ASSERT_EQ(pressed.active.size(), 1U);
  EXPECT_EQ(pressed.active[0].standing, study::Standing::Pushing);
  EXPECT_NEAR(pressed.active[0].reaction, 3.0, 1e-12);
  EXPECT_NEAR(pressed.free_acceleration[0], -3.0 * 20.0, 1e-9);
  EXPECT_NEAR(pressed.acceleration[0], 0.0, 1e-9);
  const study::Inspection pulled = inspect("F=-3");
  EXPECT_EQ(pulled.active[0].standing, study::Standing::Opening);
  EXPECT_EQ(pulled.active[0].reaction, 0.0);
  EXPECT_NEAR(pulled.acceleration[0], 3.0 * 20.0, 1e-9);
}

/// d'Alembert: while the middle is held, the obstacle of string-obstacle bears
/// 2 pi cos(pi (t - 1/2)). (exact for the string, of second order in its cells)
TEST(StructureScene, AReactionIsThatOfTheWave) {
  Scene scene = read_file_of("string-obstacle", {});
  scene.run = study::run_to(0.75, scene.run, "");
  const study::SceneInspection found = study::inspect_end(scene, nullptr);
  ASSERT_TRUE(found.found.has_value());
  ASSERT_EQ(found.found->active.size(), 1U);
  EXPECT_NEAR(found.found->active[0].reaction, 2.0 * M_PI * std::cos(M_PI / 4.0), 0.1);
}

TEST(StructureScene, ReductionReportsItsError) {
  std::string text = kTube;
  text.insert(text.find("[structure.force"), "reduction = { modes = 8 }\n");
  const study::Motion motion = run(read({"run.until=0.04", "F=5"}, text));
  ASSERT_TRUE(motion.structure->reduction.has_value());
  const record::Reduced& reduced = *motion.structure->reduction;
  EXPECT_EQ(reduced.modes, 8);
  EXPECT_EQ(reduced.corrections, 2);
  EXPECT_EQ(motion.whole->model->dofs, 10);
  EXPECT_GT(reduced.points[0].whole, 0.0);
  EXPECT_LT(reduced.points[0].rms, 1e-3 * reduced.points[0].whole);
}

/// A member of a family is the scene with its values.
TEST(StructureScene, VariesInAFamily) {
  const std::string text =
      kTube + "[family]\nF = [5, 10]\nstructure.guide.stop.clearance = [1e-3, 2e-3]\n";
  const Scene scene = read({"run.until=0.02"}, text);
  ASSERT_EQ(scene.family.size(), 4U);
  const Scene member = read_member(scene, {parse_override("run.until=0.02")}, 3);
  EXPECT_EQ(member.structure()->model->guides[0].upper, 2e-3);
  const Scene alone = read({"run.until=0.02", "F=10", "structure.guide.stop.clearance=2e-3"});
  EXPECT_EQ(run(member).final_state.q, run(alone).final_state.q);
  // What the command line sets does not vary, by either name of a parameter.
  EXPECT_EQ(read({"structure.parameters.F=7"}, text).family.size(), 2U);
  EXPECT_EQ(read({"F=7"}, text).family.size(), 2U);
}

TEST(StructureProgram, WritesWhatItSays) {
  const Folder folder;
  const Finished run = run_program({"run", (kSource / "scenes/tube-20.toml").string(), "--until",
                                    "0.2", "--error-bar", "none", "--out", "o"},
                                   folder.path());
  EXPECT_EQ(run.code, 0) << run.err;
  const auto summary = nlohmann::json::parse(read_file(folder / "o/summary.json"));
  EXPECT_EQ(summary["status"], "ok");
  EXPECT_EQ(summary["scheme"], "newmark");
  const auto& structure = summary["structure"];
  EXPECT_GT(structure["guides"]["guide"]["impacts"], 0);
  EXPECT_GT(structure["points"]["tip"]["rms"]["mean"], 0.0);
  EXPECT_EQ(structure["frequencies"].size(), 5U);
  EXPECT_LE(structure["solves_per_step"], 2.0);
  const std::string header = read_file(folder / "o/trajectory.csv").substr(0, 200);
  EXPECT_EQ(header.substr(0, header.find('\n')),
            "t,middle,tip,d_middle,d_tip,guide_below.gap,guide_below.impulse_n,guide_above.gap,"
            "guide_above.impulse_n,energy.kinetic,energy.potential");
  EXPECT_EQ(read_file(folder / "o/spectra.csv").substr(0, 25), "f,middle,tip,guide.force\n");
  EXPECT_NE(read_file(folder / "o/plot.svg").find("</svg>"), std::string::npos);
  EXPECT_EQ(read_file(folder / "o/shapes.csv").substr(0, 6), "t,x=0,");
}

TEST(StructureProgram, WarnsOfStepsTooLongForTheFirstMode) {
  const Folder folder;
  const std::string scene = (kSource / "scenes/tube-10.toml").string();
  const auto run = [&](const char* step, const char* until) {
    return run_program({"run", scene, "--step", step, "--until", until, "--out", step},
                       folder.path());
  };
  EXPECT_EQ(run("0.5", "10").code, 0);
  const auto summary = nlohmann::json::parse(read_file(folder / "0.5/summary.json"));
  ASSERT_EQ(summary["warnings"].size(), 1U);
  EXPECT_NE(std::string(summary["warnings"][0]).find("steps in a period: take a step below"),
            std::string::npos);
  EXPECT_EQ(run("1e-4", "0.1").out.find("steps in a period"), std::string::npos);
}

TEST(StructureProgram, CommandsWorkOnStructures) {
  const Folder folder;
  const std::string scene = (kSource / "scenes/tube-10.toml").string();
  const Finished check = run_program({"check", scene}, folder.path());
  EXPECT_EQ(check.code, 0) << check.err;
  EXPECT_NE(check.out.find("ok: the scene can be run"), std::string::npos);
  const Finished converge = run_program(
      {"converge", scene, "--until", "0.05", "--steps", "4e-5,2e-5", "--out", "c"}, folder.path());
  EXPECT_EQ(converge.code, 0) << converge.err;
  const auto orders = nlohmann::json::parse(read_file(folder / "c/converge.json"));
  EXPECT_EQ(orders["scheme"], "newmark");
  EXPECT_GT(orders["rows"][1]["errors"]["velocity_l1"], 0.0);
  EXPECT_TRUE(orders["rows"][1]["guides"]["guide"].contains("rate_error"));
  EXPECT_TRUE(std::filesystem::exists(folder / "c/converge.svg"));
  const Finished compare = run_program({"compare", scene, "--until", "0.02", "--schemes",
                                        "newmark,moreau,mabrouk,penalty,inel", "--out", "c"},
                                       folder.path());
  EXPECT_EQ(compare.code, 0) << compare.err;
  EXPECT_NE(compare.out.find("does not run structures"), std::string::npos) << compare.out;
  const auto schemes = nlohmann::json::parse(read_file(folder / "c/compare.json"));
  EXPECT_EQ(schemes["schemes"].size(), 5U);
  const Finished inspect = run_program({"inspect", scene, "--at", "0.01", "--json"}, folder.path());
  EXPECT_EQ(inspect.code, 0) << inspect.err;
  const auto instant = nlohmann::json::parse(inspect.out);
  EXPECT_TRUE(instant["free_acceleration"].contains("tip"));
}

TEST(StructureProgram, WhatStructuresCannotDoIsSaid) {
  const Folder folder;
  const std::string scene = (kSource / "scenes/tube-10.toml").string();
  const auto says = [&](const std::vector<std::string>& words, const char* message) {
    const Finished done = run_program(words, folder.path());
    EXPECT_EQ(done.code, 2);
    const std::string said = std::regex_replace(done.err, std::regex("\n {8}"), " ");
    EXPECT_NE(said.find(message), std::string::npos) << done.err;
  };
  says({"run", scene, "--backward"}, "a structure is run forwards only");
  says({"run", scene, "--dump-step", "1", "a.txt"}, "no contact problem");
  says({"run", scene, "--step", "{max=1e-4, min=1e-6, tolerance=1e-6}"},
       "a structure has steps of one length");
  says({"converge", scene, "--scheme", "mabrouk", "--steps", "1e-6,5e-4", "--until", "0.01"},
       "is unstable");
}

TEST(StructureProgram, AFamilyIsRunAndDrawn) {
  const Folder folder;
  testing::write_file(folder / "tube.toml",
                      kTube + "[family]\nstructure.guide.stop.clearance = [1e-3, 3e-3]\n");
  const Finished family =
      run_program({"run", "tube.toml", "--until", "0.1", "--out", "o"}, folder.path());
  EXPECT_EQ(family.code, 0) << family.err;
  const auto summary = nlohmann::json::parse(read_file(folder / "o/summary.json"));
  EXPECT_EQ(summary["status"], "ok");
  EXPECT_EQ(summary["scheme"], "newmark");
  ASSERT_EQ(summary["members"].size(), 2U);
  // Nearer guides are struck more often. (qualitative)
  const auto impacts = [&](std::size_t member) {
    return summary["members"][member]["structure"]["guides"]["stop"]["impacts"].get<int>();
  };
  EXPECT_GT(impacts(0), impacts(1));
  const std::string svg = read_file(folder / "o/plot.svg");
  EXPECT_NE(svg.find("structure.guide.stop.clearance = 0.003"), std::string::npos);
  const Finished alone = run_program({"run", "tube.toml", "--until", "0.1", "--set",
                                      "structure.guide.stop.clearance=3e-3", "--out", "alone"},
                                     folder.path());
  EXPECT_EQ(alone.code, 0) << alone.err;
  EXPECT_EQ(read_file(folder / "o/trajectory-002.csv"), read_file(folder / "alone/trajectory.csv"));
}

TEST(StructureProgram, ARunHasAReportAndIsDrawnAgain) {
  const Folder folder;
  testing::write_file(folder / "tube.toml",
                      kTube + "[plot]\nx = \"tip\"\ny = \"tip'\"\nunits = { tip = \"m\" }\n");
  testing::write_file(folder / "plain.toml", kTube);
  const Finished done = run_program({"run", "plain.toml", "--report", "--out", "o"}, folder.path());
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_NE(done.out.find("report.html"), std::string::npos);
  const std::string page = read_file(folder / "o/report.html");
  EXPECT_NE(page.find("Guides and points"), std::string::npos);
  EXPECT_NE(page.find("class=\"player\""), std::string::npos);
  EXPECT_EQ(page.find("nan"), std::string::npos);
  for (const char* scene : {"tube.toml", "plain.toml"}) {
    const Finished plot = run_program(
        {"plot", "o/trajectory.csv", "--scene", scene, "--out", "again.svg"}, folder.path());
    EXPECT_EQ(plot.code, 0) << plot.err;
    EXPECT_NE(read_file(folder / "again.svg").find("class=\"curve s0\""), std::string::npos);
  }
}

}  // namespace
}  // namespace ricochet::scene::structure_scene_test
