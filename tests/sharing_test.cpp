// Contacts that share a load in more than one way: solve::Sharing, and the runs that use it.
#include "ricochet/solve/sharing.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <vector>

#include "ricochet/record/summary.h"
#include "ricochet/study/builtin_scenes.h"
#include "support.h"

namespace ricochet::testing::sharing_test {
namespace {

/// A rigid table of mass 1 with legs at (x, y), on a floor, after a step of 1 with weight 10 and a
/// push along x; turning about z is not free.
struct Table {
  struct Leg {
    double x, y, mu;
  };
  problem::BlockRows W;
  Eigen::VectorXd q;
  std::vector<double> mu;

  Table(const std::vector<Leg>& legs, double push) {
    const auto count = static_cast<int>(legs.size());
    W.rows = count;
    W.start = {0};
    q.resize(3 * count);
    constexpr double kInertia = 0.1;  // about x and about y
    for (int i = 0; i < count; ++i) {
      const Leg& one = legs[static_cast<std::size_t>(i)];
      mu.push_back(one.mu);
      q.segment<3>(3 * i) << -10.0, push, 0.0;
      for (int k = 0; k < count; ++k) {
        const Leg& other = legs[static_cast<std::size_t>(k)];
        W.column.push_back(k);
        Eigen::Matrix3d block = Eigen::Matrix3d::Identity();
        block(0, 0) += (one.x * other.x + one.y * other.y) / kInertia;
        W.values.insert(W.values.end(), block.data(), block.data() + 9);
      }
      W.start.push_back((i + 1) * count);
    }
  }

  problem::LocalProblem problem() const { return {W, q, mu}; }
  Eigen::VectorXd velocity(const Eigen::VectorXd& r) const {
    Eigen::VectorXd u = q;
    for (int i = 0; i < W.rows; ++i) {
      for (int k = 0; k < W.rows; ++k) {
        const Eigen::Map<const Eigen::Matrix3d> block(W.block(W.find(i, k)));
        u.segment<3>(3 * i) += block * r.segment<3>(3 * k);
      }
    }
    return u;
  }
};

const std::vector<Table::Leg> kSquare = {
    {-0.5, -0.5, 0.2}, {0.5, -0.5, 0.6}, {0.5, 0.5, 0.2}, {-0.5, 0.5, 0.6}};

Eigen::VectorXd solved(const Table& table) {
  solve::WarmContacts<3> methods(table.problem());
  Eigen::VectorXd r = Eigen::VectorXd::Zero(table.q.size());
  EXPECT_LE(methods.solve(r, 1e-13), 1e-11);
  return r;
}

/// Each leg of a square table carries a quarter, whatever the order: the friction of all is
/// 10/4 (0.2 + 0.6 + 0.2 + 0.6) = 4.
TEST(Sharing, OfATableIsEqualInAnyOrder) {
  std::vector<std::size_t> order = {0, 1, 2, 3};
  for (const double push : {3.9, 4.5}) {
    do {
      std::vector<Table::Leg> legs;
      for (const std::size_t k : order) legs.push_back(kSquare[k]);
      const Table table(legs, push);
      Eigen::VectorXd r = solved(table);
      solve::Sharing<3> sharing(table.problem());
      EXPECT_TRUE(sharing.is_open(r));
      EXPECT_TRUE(sharing.has_others(r))
          << push << ": " << fmt::format("{}{}{}{}", order[0], order[1], order[2], order[3]);
      ASSERT_TRUE(sharing.share_equally(r));
      for (int i = 0; i < 4; ++i) {
        EXPECT_NEAR(r[3 * i], 2.5, 1e-12);
        const double most = 2.5 * legs[static_cast<std::size_t>(i)].mu;
        const double rest = 0.5 * (push - 1.0);  // of the rough legs, where they stick
        EXPECT_NEAR(r[3 * i + 1], most < 1.0 ? -0.5 : -std::min(most, rest), 1e-9);
      }
      EXPECT_NEAR(table.velocity(r)[1], std::max(0.0, push - 4.0), 1e-12);
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

/// Legs that are all alike, pushed along x without turning: friction is mu times the weight however
/// it is shared.
TEST(Sharing, OfEqualFrictionHasOneMotion) {
  for (const double push : {3.9, 4.5}) {
    std::vector<Table::Leg> legs = kSquare;
    for (Table::Leg& leg : legs) leg.mu = 0.4;
    const Table table(legs, push);
    const Eigen::VectorXd r = solved(table);
    solve::Sharing<3> sharing(table.problem());
    EXPECT_TRUE(sharing.is_open(r));
    EXPECT_FALSE(sharing.has_others(r));
    EXPECT_NEAR(table.velocity(r)[1], std::max(0.0, push - 4.0), 1e-9);
  }
}

/// Three legs carry what they must.
TEST(Sharing, IsNotOpenWithoutALegTooMany) {
  const Table table({{-0.5, -0.5, 0.2}, {0.5, -0.5, 0.6}, {0.0, 0.5, 0.3}}, 3.0);
  const Eigen::VectorXd r = solved(table);
  solve::Sharing<3> sharing(table.problem());
  EXPECT_FALSE(sharing.is_open(r));
}

/// Of contacts without friction the shares do not matter.
TEST(Sharing, IsNotOpenWithoutFriction) {
  std::vector<Table::Leg> legs = kSquare;
  for (Table::Leg& leg : legs) leg.mu = 0.0;
  const Table table(legs, 3.0);
  const Eigen::VectorXd r = solved(table);
  solve::Sharing<3> sharing(table.problem());
  EXPECT_FALSE(sharing.is_open(r));
}

bool warns(const study::Motion& motion) {
  const auto& all = motion.scene.warnings;
  return std::any_of(all.begin(), all.end(), [](const std::string& words) {
    return words.find("the motion is not unique") != std::string::npos;
  });
}

/// The rule does not depend on speed, nor on the step: three feet, a third of the weight each.
TEST(Sharing, OfAFastSledge) {
  for (const char* speed : {"0.5", "10", "1000"}) {
    for (const char* step : {"1e-4", "1e-3"}) {
      const study::Motion motion = run_text(study::builtin_scene("three-feet"),
                                            {"F=0", fmt::format("start.velocity.x={}", speed),
                                             fmt::format("run.step={}", step), "run.until=0.1"});
      EXPECT_TRUE(motion.outcome.certificate.ok());
      EXPECT_NEAR(motion.final_state.u[0], std::stod(speed) - 0.2, 1e-9) << speed << ' ' << step;
      EXPECT_TRUE(warns(motion));
    }
  }
}

/// A particle on a floor that is stated several times: each carries as much as the others.
study::Motion slide_on(const std::vector<double>& floors, double push) {
  std::string text = fmt::format(
      "[system]\ncoordinates = [\"x\", \"y\"]\nmass = [1, 1]\nforce = [\"{}\", \"-10\"]\n", push);
  double sum = 0.0;
  for (std::size_t k = 0; k < floors.size(); ++k) {
    text += fmt::format("[contact.c{}]\nkeep = \"y >= 0\"\nslip = [\"x'\"]\nfriction = {}\n", k,
                        floors[k]);
    sum += floors[k];
  }
  study::Motion motion =
      run_text(text + "[start]\nposition = { x = 0, y = 0 }\n[run]\nstep = 0.001\nuntil = 0.2\n");
  const double friction = 10.0 * sum / static_cast<double>(floors.size());
  EXPECT_TRUE(motion.outcome.certificate.ok());
  EXPECT_FALSE(motion.outcome.certificate.impulses_unique);
  EXPECT_NEAR(motion.final_state.u[0], 0.2 * std::max(0.0, push - friction), 1e-12);
  return motion;
}

TEST(Sharing, OfOneFloorStatedSeveralTimes) {
  for (const std::vector<double>& floors : {std::vector{0.5, 0.0},
                                            {0.0, 0.5},
                                            {0.5, 0.2},
                                            {0.5, 0.0, 0.0},
                                            {0.0, 0.5, 0.0},
                                            {0.0, 0.0, 0.5},
                                            {0.2, 0.5, 0.2}}) {
    EXPECT_TRUE(warns(slide_on(floors, 4.5)));
  }
  EXPECT_FALSE(warns(slide_on({0.3, 0.3}, 4.5)));
  EXPECT_FALSE(warns(slide_on({0.3, 0.3, 0.3}, 2.5)));
  EXPECT_FALSE(warns(slide_on({0.5, 0.2}, 1.0)));  // stands, however the load is shared
}

/// A plank on three discs, the middle one of ice: discs of a row carry a third each, so that it
/// slides with 2.99 - 0.3 (2/3) 10, in whatever order bodies are stated.
TEST(Sharing, OfBodiesDoesNotDependOnTheirOrder) {
  const std::string head =
      "[world]\ndimension = 2\ngravity = [2.99, -10]\n[material.wood]\ndensity = 1\n"
      "[material.rough]\ndensity = 1\n[material.ice]\ndensity = 1\n[pair]\n"
      "\"wood rough\" = { friction = 0.3 }\n\"wood ice\" = { friction = 0 }\n"
      "\"wood wood\" = \"none\"\n\"rough rough\" = \"none\"\n\"rough ice\" = \"none\"\n"
      "\"ice ice\" = \"none\"\n";
  const auto disc = [](const char* name, double x, const char* material) {
    return fmt::format("[body.{}]\nfixed = true\ndisc = 0.1\nat = [{}, -0.1]\nmaterial = \"{}\"\n",
                       name, x, material);
  };
  std::vector<std::string> bodies = {
      disc("a", -0.8, "rough"), disc("b", 0.0, "ice"), disc("c", 0.8, "rough"),
      "[body.plank]\nbox = [2, 0.2]\nat = [0, 0.1]\nmaterial = \"wood\"\n"};
  std::sort(bodies.begin(), bodies.end());
  int orders = 0;
  do {
    std::string text = head;
    for (const std::string& body : bodies) text += body;
    const study::Motion motion = run_text(text + "[run]\nstep = 0.001\nuntil = 0.2\n");
    EXPECT_TRUE(motion.outcome.certificate.ok());
    EXPECT_TRUE(warns(motion));
    EXPECT_EQ(motion.outcome.shared_steps, 200);
    double speed = 0.0;
    for (const double u : motion.final_state.u) speed = std::max(speed, std::abs(u));
    EXPECT_NEAR(speed, 0.2 * 0.99, 1e-10);
    ++orders;
  } while (std::next_permutation(bodies.begin(), bodies.end()));
  EXPECT_EQ(orders, 24);
}

/// A block between two walls that nothing presses together falls; held by any pressure it hangs.
TEST(Sharing, OfABlockBetweenWallsIsNone) {
  const study::Motion motion = run_text(
      "[world]\ndimension = 2\ngravity = [0, -10]\n[material.m]\ndensity = 1\n[pair]\n"
      "\"m m\" = { friction = 0.5 }\n[body.block]\nbox = [1, 1]\nmaterial = \"m\"\n"
      "[body.left]\nfixed = true\nhalf_plane = { point = [-0.5, 0], normal = [1, 0] }\n"
      "material = \"m\"\n[body.right]\nfixed = true\n"
      "half_plane = { point = [0.5, 0], normal = [-1, 0] }\nmaterial = \"m\"\n"
      "[run]\nstep = 0.001\nuntil = 0.1\n");
  EXPECT_TRUE(motion.outcome.certificate.ok());
  EXPECT_TRUE(warns(motion));
  double speed = 0.0;
  for (const double u : motion.final_state.u) speed = std::max(speed, std::abs(u));
  EXPECT_NEAR(speed, 1.0, 1e-10);
}

/// A sledge that rests to rounding has not diverged, whatever the rounding grew by.
TEST(Sharing, RestOfASledgeIsNoGrowth) {
  for (const char* step : {"0.0005", "0.001", "0.002", "0.004"}) {
    for (const char* push : {"0.5", "1", "1.5"}) {
      const study::Motion motion =
          run_text(study::builtin_scene("three-feet"),
                   {fmt::format("F={}", push), fmt::format("run.step={}", step)});
      EXPECT_EQ(record::status_word(motion.outcome, motion.scene.run.limits, {}), "ok");
      EXPECT_NEAR(motion.final_state.u[0], 0.0, 1e-14);
    }
  }
}

}  // namespace
}  // namespace ricochet::testing::sharing_test
