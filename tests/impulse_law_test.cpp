// law = "impulse-time": shocks with friction followed through their own duration.
//                                           [Darboux 1880; Keller 1986; Stronge 1990]

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <string>
#include <vector>

#include "ricochet/base/error.h"
#include "ricochet/certify/shock_path.h"
#include "ricochet/solve/impulse_time.h"
#include "ricochet/study/builtin_scenes.h"
#include "support.h"

namespace ricochet::impulse_law_test {
namespace {

using certify::Failure;
using Eigen::Matrix3d;
using Eigen::Vector2d;
using Eigen::Vector3d;
using solve::Restitution;
using testing::run_text;

const std::vector<Restitution> kKinds = {Restitution::Newton, Restitution::Poisson,
                                         Restitution::Stronge};
const std::vector<const char*> kWords = {"newton", "poisson", "stronge"};

double energy(const Matrix3d& W, const Vector3d& U) { return 0.5 * U.dot(W.inverse() * U); }

Matrix3d random_weight(base::Random& random) {
  const Eigen::MatrixXd A = testing::random_matrix(random, 3, 3);
  return A * A.transpose() + 0.1 * Matrix3d::Identity();
}

study::Motion struck(const std::vector<std::string>& settings) {
  return run_text(study::builtin_scene("struck-rod"), settings);
}

/// (U_N, U_T) of the rod's tip where it struck, for the velocity of its end.
Vector2d tip(const study::Motion& motion) {
  const auto& u = motion.final_state.u;
  const double c = 1.0 / std::sqrt(5.0), s = 2.0 * c;
  return {u[1] - c * u[2], u[0] + s * u[2]};
}

// W of the rod at tan(phi) = 2: 1.6, -1.2; 3.4.

TEST(ImpulseLaw, WhereTheSlipKeepsItsSenseAllKindsAgree) {
  // v = -3, mu = 0.3: V_N = 1.6 - 0.36, V_T = -1.2 + 1.02; p = (1 + e)/1.24.
  for (const char* scheme : {"moreau", "moreau-jean", "event-driven"}) {
    for (const char* kind : kWords) {
      const study::Motion motion =
          struck({fmt::format("run.scheme=\"{}\"", scheme), "mu=0.3", "v=-3",
                  fmt::format("contact.tip.restitution_kind=\"{}\"", kind)});
      ASSERT_EQ(motion.outcome.certificate.failure, Failure::None)
          << scheme << kind << certify::describe_failure(motion.outcome.certificate);
      EXPECT_NEAR(tip(motion).x(), 0.6, 1e-12) << scheme << kind;
      EXPECT_NEAR(tip(motion).y(), -3.0 - 0.18 * 1.6 / 1.24, 1e-12) << scheme << kind;
    }
  }
}

/// Slip stops in compression and sticks: the closed form of the scene, by three schemes.
TEST(ImpulseLaw, ARodWhoseSlipStopsSticks) {
  const double p1 = 0.5 / 2.9, u1 = 1.0 - 2.2 * p1, V = 1.6 - 1.44 / 3.4;
  const double pc = p1 + u1 / V, A = 0.5 * (1.0 + u1) * p1 + 0.5 * u1 * u1 / V;
  const std::vector<double> expected = {0.6, 0.6 * V * pc, 0.6 * std::sqrt(2.0 * V * A)};
  for (const char* scheme : {"moreau", "moreau-jean", "event-driven"}) {
    for (std::size_t i = 0; i < 3; ++i) {
      const study::Motion motion =
          struck({fmt::format("run.scheme=\"{}\"", scheme),
                  fmt::format("contact.tip.restitution_kind=\"{}\"", kWords[i])});
      ASSERT_EQ(motion.outcome.certificate.failure, Failure::None)
          << scheme << kWords[i] << certify::describe_failure(motion.outcome.certificate);
      EXPECT_NEAR(tip(motion).x(), expected[i], 1e-12) << scheme << kWords[i];
      EXPECT_NEAR(tip(motion).y(), 0.0, 1e-12) << scheme << kWords[i];
    }
  }
  EXPECT_GT(std::abs(expected[0] - expected[2]), 0.01);  // they differ
}

/// mu below 1.2/3.4: the slip stops and goes back.
TEST(ImpulseLaw, ASlipThatCannotStickTurns) {
  const double mu = 0.2, e = 0.6;
  const double p1 = 0.5 / (1.2 + 3.4 * mu), u1 = 1.0 - (1.6 + 1.2 * mu) * p1;
  const double V = 1.6 - 1.2 * mu, back = -1.2 + 3.4 * mu;
  const double A = 0.5 * (1.0 + u1) * p1 + 0.5 * u1 * u1 / V;
  const double U = e * std::sqrt(2.0 * V * A), p2 = (u1 + U) / V;
  for (const char* scheme : {"moreau", "event-driven"}) {
    const study::Motion motion = struck({fmt::format("run.scheme=\"{}\"", scheme), "mu=0.2"});
    ASSERT_EQ(motion.outcome.certificate.failure, Failure::None)
        << scheme << certify::describe_failure(motion.outcome.certificate);
    EXPECT_NEAR(tip(motion).x(), U, 1e-12) << scheme;
    EXPECT_NEAR(tip(motion).y(), back * p2, 1e-12) << scheme;
    const certify::Shock& shock = motion.outcome.certificate.shocks.at(0);
    EXPECT_NEAR(shock.impulse, p1 + p2, 1e-12) << scheme;
  }
}

/// mu > 4/3, sliding backwards: at first the shock drives the tip into the floor, until it jams.
TEST(ImpulseLaw, ARodThatJamsIsCompressedByItsFriction) {
  const double mu = 2.0, v = 0.8, e = 0.6;
  const double p1 = v / (3.4 * mu - 1.2), u1 = 1.0 - (1.6 - 1.2 * mu) * p1;
  EXPECT_GT(u1, 1.0);
  const double V = 1.6 - 1.44 / 3.4, A = 0.5 * (1.0 + u1) * p1 + 0.5 * u1 * u1 / V;
  for (const char* scheme : {"moreau", "event-driven"}) {
    const study::Motion motion =
        struck({fmt::format("run.scheme=\"{}\"", scheme), "mu=2", "v=-0.8"});
    ASSERT_EQ(motion.outcome.certificate.failure, Failure::None)
        << scheme << certify::describe_failure(motion.outcome.certificate);
    EXPECT_NEAR(tip(motion).x(), e * std::sqrt(2.0 * V * A), 1e-12) << scheme;
    EXPECT_NEAR(tip(motion).y(), 0.0, 1e-12) << scheme;
    EXPECT_LT(motion.outcome.certificate.ledger.kinetic_end,
              motion.outcome.certificate.ledger.kinetic_start);
  }
}

/// Elastic by Newton, a rod whose slip stops gains: (1, 0) for (-1, 0.8) makes 0.425 of 0.313. The
/// ledger says so. Stronge's judge allows no gain, and friction takes.
TEST(ImpulseLaw, NewtonsCreatesEnergyAndIsBooked) {
  const std::vector<std::string> elastic = {"v=0.8", "e=1"};
  const auto gained = [](const study::Motion& motion) {
    const certify::Ledger& ledger = motion.outcome.certificate.ledger;
    return ledger.kinetic_end - ledger.kinetic_start;
  };
  std::vector<std::string> newton = elastic;
  newton.emplace_back("contact.tip.restitution_kind=\"newton\"");
  const study::Motion other = struck(newton);
  ASSERT_EQ(other.outcome.certificate.failure, Failure::None);
  EXPECT_NEAR(gained(other), 0.112, 1e-12);
  EXPECT_NEAR(other.outcome.certificate.ledger.gain.value(), 0.112, 1e-9);
  const study::Motion stronge = struck(elastic);
  ASSERT_EQ(stronge.outcome.certificate.failure, Failure::None);
  EXPECT_EQ(stronge.outcome.certificate.ledger.gain.value(), 0.0);
  EXPECT_LT(gained(stronge), 0.0);
}

/// A ball in a corner: the walls in the order of the scene, each by the closed form of a ball.
TEST(ImpulseLaw, SeveralContactsAreTakenInTurn) {
  const std::string text = R"toml(
[system]
coordinates = ["x", "y", "w"]
parameters  = { mu = 0.2 }
mass        = [1, 1, 0.4]
[contact.floor]
keep        = "y >= 0"
slip        = ["x' + w'"]
friction    = "mu"
restitution = 0.5
law         = "impulse-time"
[contact.wall]
keep        = "x <= 1"
slip        = ["y' + w'"]
friction    = "mu"
restitution = 0.8
law         = "impulse-time"
[start]
position = { x = 0.005, y = 0.995, w = 0 }
velocity = { x = 1, y = -1, w = 3 }
[run]
scheme = "moreau"
step   = 0.01
until  = 1.2
)toml";
  const study::Motion motion = run_text(text);
  ASSERT_EQ(motion.outcome.certificate.failure, Failure::None)
      << certify::describe_failure(motion.outcome.certificate);
  double x = 1.0, y = -1.0, w = 3.0;  // W_T = 1 + 1/0.4 = 3.5
  const auto friction = [](double slip, double normal) {
    return -std::copysign(std::min(0.2 * normal, std::abs(slip) / 3.5), slip);
  };
  const double floor = 1.5 * 1.0, along = friction(x + w, floor);
  y += floor;
  x += along;
  w += along / 0.4;
  const double wall = 1.8 * x, up = friction(y + w, wall);
  x -= wall;
  y += up;
  w += up / 0.4;
  EXPECT_NEAR(motion.final_state.u[0], x, 1e-12);
  EXPECT_NEAR(motion.final_state.u[1], y, 1e-12);
  EXPECT_NEAR(motion.final_state.u[2], w, 1e-12);
}

/// Under gravity, with restitution, many bounces: both schemes, and a motion that comes to rest in
/// stick by stepping.
TEST(ImpulseLaw, PassesThroughManyBouncesToRest) {
  const std::string text = R"toml(
[system]
coordinates = ["x", "y", "w"]
mass        = [1, 1, 0.4]
potential   = "10*y"
[contact.floor]
keep        = "y >= 0"
slip        = ["x' + w'"]
friction    = 0.3
restitution = 0.5
law         = "impulse-time"
[start]
position = { x = 0, y = 1, w = 0 }
velocity = { x = 1, w = -5 }
[run]
scheme = "moreau"
step   = 0.001
until  = 3
)toml";
  const study::Motion motion = run_text(text);
  ASSERT_EQ(motion.outcome.certificate.failure, Failure::None)
      << certify::describe_failure(motion.outcome.certificate);
  // The slip -4 is stopped for good by the bounces: momentum about the contact is kept, x' - 0.4 w'
  // = 3, and x' + w' = 0.
  EXPECT_NEAR(motion.final_state.u[0], 3.0 / 1.4, 1e-9);
  EXPECT_NEAR(motion.final_state.u[2], -3.0 / 1.4, 1e-9);
  EXPECT_EQ(motion.outcome.certificate.ledger.gain.value(), 0.0);
  const study::Motion located = run_text(text, {"run.scheme=\"event-driven\""});
  EXPECT_EQ(located.outcome.certificate.failure, Failure::Zeno);
  EXPECT_NEAR(located.outcome.certificate.failure_time, std::sqrt(0.2) * 3.0, 1e-5);
  const study::Motion lasting =
      run_text(text, {"run.scheme=\"event-driven\"", "run.zeno=\"contact\""});
  EXPECT_EQ(lasting.outcome.certificate.failure, Failure::LastingFriction);
}

// ---------------------------------------------------------------- in space

/// A particle of full mass matrix: W is its inverse.
TEST(ImpulseLaw, InSpaceARunIsTheIntegralOfItsLaw) {
  const std::string text = R"toml(
[system]
coordinates = ["x", "y", "z"]
mass        = [[1, 0.2, 0.5], [0.2, 1.5, -0.4], [0.5, -0.4, 2]]
[contact.floor]
keep        = "z >= 0"
slip        = ["x'", "y'"]
friction    = 0.4
restitution = 0.7
law         = "impulse-time"
[start]
position = { x = 0, y = 0, z = 0.0995 }
velocity = { x = 0.3, y = -0.8, z = -1 }
[run]
scheme = "moreau"
step   = 0.001
until  = 0.2
)toml";
  Matrix3d mass;
  mass << 1, 0.2, 0.5, 0.2, 1.5, -0.4, 0.5, -0.4, 2;
  // Steps of the normal impulse so small that first order will do, friction against the slip.
  const auto after = [&](int steps, double most) {
    Vector3d u(0.3, -0.8, -1.0);
    const Matrix3d W = mass.inverse();
    const double dp = most / steps;
    double compressed = 0.0, given = 0.0;
    for (int i = 0; i < steps; ++i) {
      const Vector2d slip = u.head<2>();
      const Vector3d R(-0.4 * slip.x() / slip.norm(), -0.4 * slip.y() / slip.norm(), 1.0);
      const Vector3d next = u + dp * (W * R);
      const double work = 0.5 * dp * (u.z() + next.z());
      (next.z() < 0.0 ? compressed : given) += work;
      if (given > -0.49 * compressed) break;
      u = next;
    }
    return u;
  };
  const Vector3d coarse = after(200000, 10.0), fine = after(400000, 10.0);
  const Vector3d expected = 2.0 * fine - coarse;
  for (const char* scheme : {"moreau", "event-driven"}) {
    const study::Motion motion = run_text(text, {fmt::format("run.scheme=\"{}\"", scheme)});
    ASSERT_EQ(motion.outcome.certificate.failure, Failure::None)
        << scheme << certify::describe_failure(motion.outcome.certificate);
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(motion.final_state.u[i], expected[i], 3e-4) << scheme;
  }
}

/// A sphere: the slip keeps its direction, whatever it is.
TEST(ImpulseLaw, OfASphereInSpaceHasItsClosedForm) {
  const Matrix3d W = Vector3d(1.0, 3.5, 3.5).asDiagonal();
  for (const Restitution kind : kKinds) {
    for (const double slip : {0.2, 1.2, 4.0}) {
      const Vector3d before(-1.0, 0.6 * slip, -0.8 * slip);
      const double mu = 0.3, e = 0.8;
      const auto shock = solve::follow_in_space(W, before, convex::Disc{mu}, e, kind);
      ASSERT_TRUE(shock.ended);
      const double friction = std::min(mu * (1.0 + e), slip / 3.5);
      EXPECT_NEAR((shock.impulse - Vector3d(1.0 + e, -0.6 * friction, 0.8 * friction)).norm(), 0.0,
                  1e-11);
      EXPECT_EQ(shock.sticks, friction < mu * (1.0 + e));
    }
  }
}

/// Stronge's: the normal impulse loses exactly (1 - e^2) of the work of compression, and no shock
/// gains; what slips at the end of a shock does so against its friction all the way.
TEST(ImpulseLaw, InSpaceStrongesNeverGains) {
  base::Random random(11);
  int sticks = 0;
  for (int k = 0; k < 120; ++k) {
    const Matrix3d W = random_weight(random);
    const Vector3d before(-1.0, random.normal(), random.normal());
    const double mu = random.uniform(0.0, 1.5), e = random.uniform(0.0, 1.0);
    const auto shock = solve::follow_in_space(W, before, convex::Disc{mu}, e, Restitution::Stronge);
    ASSERT_TRUE(shock.ended);
    EXPECT_NEAR(shock.expansion, -e * e * shock.compression, 1e-11 * -shock.compression);
    const Vector3d after = before + W * shock.impulse;
    EXPECT_LE(energy(W, after), energy(W, before) * (1.0 + 1e-12));
    EXPECT_LE(energy(W, after) - energy(W, before),
              (1.0 - e * e) * shock.compression + 1e-9);  // friction only takes
    EXPECT_GE(after.x(), -1e-11);
    EXPECT_LE(shock.impulse.tail<2>().norm(), mu * shock.impulse.x() * (1.0 + 1e-11));
    EXPECT_LT(shock.sticks ? after.tail<2>().norm() : 0.0, 1e-10);
    sticks += shock.sticks ? 1 : 0;
  }
  EXPECT_GT(sticks, 10);
}

/// Axes along the floor are a matter of choice.
TEST(ImpulseLaw, InSpaceTurnsWithItsAxes) {
  base::Random random(12);
  for (int k = 0; k < 40; ++k) {
    const Matrix3d W = random_weight(random);
    const Vector3d before(-1.0, random.normal(), random.normal());
    const double angle = random.uniform(0.0, 6.0), c = std::cos(angle), s = std::sin(angle);
    Matrix3d turn;
    turn << 1, 0, 0, 0, c, -s, 0, s, c;
    const convex::Disc disc{0.6};
    const auto one = solve::follow_in_space(W, before, disc, 0.5, Restitution::Stronge);
    const auto other = solve::follow_in_space(turn * W * turn.transpose(), turn * before, disc, 0.5,
                                              Restitution::Stronge);
    EXPECT_NEAR((turn * one.impulse - other.impulse).norm(), 0.0, 1e-10 * one.impulse.norm());
  }
}

/// The solver's way and the judge's own lead to the same impulses.
TEST(ImpulseLaw, TheJudgeFindsTheSameByItsOwnWay) {
  base::Random random(13);
  for (int k = 0; k < 20; ++k) {
    const Matrix3d W = random_weight(random);
    const Vector3d before(-1.0, random.normal(), random.normal());
    const double mu = random.uniform(0.0, 1.5), e = random.uniform(0.0, 1.0);
    const std::vector<convex::Section> sections = {
        convex::Disc{mu}, convex::Ellipse{mu, 0.5 * mu + 0.01}, convex::Segment{-mu, 0.7 * mu}};
    for (const convex::Section& section : sections) {
      const bool plane = std::holds_alternative<convex::Segment>(section);
      Matrix3d weight = W;
      Vector3d U = before;
      if (plane) {
        weight.row(2).setZero();
        weight.col(2).setZero();
        U.z() = 0.0;
      }
      const auto kind = kKinds[static_cast<std::size_t>(k % 3)];
      const auto one = solve::follow_in_space(weight, U, section, e, kind);
      const auto other = certify::follow(weight, U, section, e, kind);
      ASSERT_EQ(one.ended, other.ended);
      EXPECT_NEAR((one.impulse - other.impulse).norm(), 0.0,
                  (plane ? 1e-13 : 3e-11) * one.impulse.norm());
    }
  }
}

TEST(ImpulseLaw, SaysWhatItDoesNotGoWith) {
  const auto error_of = [](const std::vector<std::string>& settings) {
    try {
      (void)struck(settings);
    } catch (const base::InputError& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  const auto has = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(error_of({"run.scheme=\"mabrouk\""}), "follows no shocks");
  has(error_of({"contact.tip.restitution_kind=\"hertz\""}), "is not known");
  has(error_of({"contact.tip.law=\"newton\""}), "of shocks that are followed");
  has(error_of({"contact.tip.friction={ static = 0.5, dynamic = 0.4 }"}), "static and dynamic");
}

}  // namespace
}  // namespace ricochet::impulse_law_test
