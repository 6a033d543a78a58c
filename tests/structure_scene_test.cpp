// Scenes with a [structure]: what the keys mean, files, studies.

#include "ricochet/scene/structure_scene.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "program.h"
#include "ricochet/base/error.h"
#include "ricochet/study/structure_run.h"
#include "ricochet/study/structure_study.h"

namespace ricochet::scene {
namespace {

using testing::Finished;
using testing::Folder;
using testing::read_file;
using testing::run_program;

const std::filesystem::path kSource = RICOCHET_SOURCE_DIR;

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

StructureScene read(const std::vector<std::string>& settings = {}, std::string text = kTube) {
  std::vector<Override> overrides;
  for (const std::string& setting : settings) overrides.push_back(parse_override(setting));
  return read_structure_scene("tube.toml", text, overrides);
}

/// Clamped-free tube: (1.8751/1.5)^2 sqrt(EI/rho S) / 2 pi, with I = pi (d^4 - di^4)/64. (exact)
TEST(StructureScene, SectionAndEndsGiveTheFrequency) {
  const double inertia = M_PI * (std::pow(0.020, 4) - std::pow(0.016, 4)) / 64.0;
  const double area = M_PI * (std::pow(0.020, 2) - std::pow(0.016, 2)) / 4.0;
  const double speed = std::sqrt(2.1e11 * inertia / (7850.0 * area));
  const double exact = std::pow(1.8751040687119611 / 1.5, 2) * speed / (2.0 * M_PI);
  EXPECT_NEAR(read().frequencies[0] / exact, 1.0, 1e-6);
}

/// x is the abscissa: a start stated by the first mode of a pinned beam oscillates as cos(omega t).
TEST(StructureScene, StartsAreFormulasOfX) {
  std::string text = kTube;
  text.replace(text.find("\"clamped\", \"free\""), 17, "\"pinned\", \"pinned\"");
  text.erase(text.find("[structure.guide.stop]"),
             text.find("[structure.point") - text.find("[structure.guide.stop]"));
  text += "[start]\nposition = \"1e-3*sin(pi*x/1.5)\"\n";
  const StructureScene scene = read({"F=0", "structure.point.tip.at=0.75", "run.step=1e-5"}, text);
  const study::StructureRun run = study::run_structure(scene);
  ASSERT_TRUE(run.outcome.run.certificate.ok());
  const double area = M_PI * (std::pow(0.020, 2) - std::pow(0.016, 2)) / 4.0;
  const double inertia = M_PI * (std::pow(0.020, 4) - std::pow(0.016, 4)) / 64.0;
  const double omega = std::pow(M_PI / 1.5, 2) * std::sqrt(2.1e11 * inertia / (7850.0 * area));
  EXPECT_NEAR(run.point(0), 1e-3 * std::cos(omega * 0.2), 1e-7);
}

TEST(StructureScene, RangesGuideEveryNodeAndClearancesMayBeFormulas) {
  std::string text = kTube;
  const std::string place = "at          = 1.0\nclearance   = 1e-3";
  text.replace(text.find(place), place.size(), "from = 0.75\nto = 1.5\nbelow = \"1e-3*x\"");
  const StructureScene scene = read({}, text);
  ASSERT_EQ(scene.model->guides.size(), 11U);
  EXPECT_EQ(scene.model->guides[0].name, "stop[1]");
  EXPECT_NEAR(scene.model->guides[10].lower, -1.5e-3, 1e-15);
  EXPECT_FALSE(scene.model->guides[0].has_upper());
}

TEST(StructureScene, EveryBuiltinOneIsCertified) {
  for (const char* name :
       {"tube-10", "tube-20", "tube-three-supports", "string-obstacle", "bar-wall"}) {
    const study::StructureRun run = study::run_builtin_structure(name);
    EXPECT_TRUE(run.outcome.run.certificate.ok()) << name;
    for (const study::Fact& fact : study::check_expectations(run)) {
      EXPECT_TRUE(fact.holds) << name << ": " << fact.statement << ": " << fact.found;
    }
  }
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
    const study::StructureRun run =
        study::run_structure(read({std::string("run.scheme=") + scheme}, text));
    ASSERT_TRUE(run.outcome.run.certificate.ok()) << scheme;
    EXPECT_NEAR(run.point(0), std::abs(std::cos(M_PI * run.final_state.t)), 5e-3) << scheme;
  }
}

TEST(StructureScene, GentleRunsConvergeAndTheOrderIsMeasured) {
  const auto reader = [](const std::string&, double step) {
    return read_structure_scene(
        "tube-10.toml", read_file(kSource / "scenes/tube-10.toml"),
        {parse_override(fmt::format("run.step={:.17g}", step)), parse_override("run.until=0.1")});
  };
  const study::StructureStudy study =
      study::converge_structure(reader, {4e-5, 2e-5, 1e-5, 5e-6}, 6.25e-7, nullptr);
  ASSERT_EQ(study.rows.size(), 4U);
  EXPECT_TRUE(study.ok());
  const double order = std::log2(study.rows[0].mean / study.rows[3].mean) / 3.0;
  EXPECT_GT(order, 0.6);
  EXPECT_LT(study.rows[3].mean, 2e-3);
}

/// Strong: statistics agree where points do not, and the study says why.
TEST(StructureScene, StrongRunsAgreeInStatisticsOnly) {
  const auto reader = [](const std::string&, double step) {
    return read_structure_scene(
        "tube-20.toml", read_file(kSource / "scenes/tube-20.toml"),
        {parse_override(fmt::format("run.step={:.17g}", step)), parse_override("run.until=6")});
  };
  const study::StructureStudy study =
      study::converge_structure(reader, {2e-5, 1e-5}, 5e-6, nullptr);
  ASSERT_EQ(study.rows.size(), 2U);
  EXPECT_GT(study.rows[1].largest, 0.1);
  ASSERT_EQ(study.remarks.size(), 2U);
  EXPECT_NE(study.remarks[0].find("each impact multiplies"), std::string::npos);
  EXPECT_NE(study.remarks[1].find("runs agree within"), std::string::npos) << study.remarks[1];
}

TEST(StructureScene, ReductionReportsItsError) {
  std::string text = kTube;
  text.insert(text.find("[structure.force"), "reduction = { modes = 8 }\n");
  const study::StructureRun run = study::run_structure(read({"run.until=0.04", "F=5"}, text));
  ASSERT_TRUE(run.reduction.has_value());
  EXPECT_EQ(run.reduction->modes, 8);
  EXPECT_EQ(run.reduction->corrections, 2);
  EXPECT_EQ(run.model->dofs, 10);
  EXPECT_GT(run.reduction->whole[0], 0.0);
  EXPECT_LT(run.reduction->rms[0], 1e-3 * run.reduction->whole[0]);
}

TEST(StructureProgram, WritesWhatItSays) {
  const Folder folder;
  const Finished run = run_program(
      {"run", (kSource / "scenes/tube-20.toml").string(), "--until", "0.2", "--out", "o"},
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

TEST(StructureProgram, CommandsWorkOnStructuresOrSayThatTheyDoNot) {
  const Folder folder;
  const std::string scene = (kSource / "scenes/tube-10.toml").string();
  const Finished check = run_program({"check", scene}, folder.path());
  EXPECT_EQ(check.code, 0) << check.err;
  EXPECT_NE(check.out.find("ok: the scene can be run"), std::string::npos);
  const Finished converge =
      run_program({"converge", scene, "--until", "0.05", "--steps", "4e-5,2e-5"}, folder.path());
  EXPECT_EQ(converge.code, 0) << converge.err;
  const Finished compare = run_program(
      {"compare", scene, "--until", "0.02", "--schemes", "newmark,moreau,mabrouk,penalty,inel"},
      folder.path());
  EXPECT_EQ(compare.code, 0) << compare.err;
  EXPECT_NE(compare.out.find("does not run structures"), std::string::npos) << compare.out;
  const Finished inspect = run_program({"inspect", scene}, folder.path());
  EXPECT_EQ(inspect.code, 2);
  EXPECT_NE(inspect.err.find("structures are for run, check, converge and compare"),
            std::string::npos);
  EXPECT_EQ(run_program({"run", scene, "--backward"}, folder.path()).code, 2);
}

}  // namespace
}  // namespace ricochet::scene
