// Statements of Paoli 2001, Ballard 2013 and Mabrouk 1998 that can be computed, and those that mend
// what we had read into them; docs/theory/coverage.md lists them.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <numbers>

#include "program.h"
#include "ricochet/convex/polyhedral_cone.h"
#include "ricochet/solve/impulse_time.h"
#include "ricochet/solve/solutions.h"
#include "ricochet/study/builtin_scenes.h"
#include "ricochet/study/hypotheses.h"
#include "ricochet/study/inspect_scene.h"
#include "ricochet/study/two_motions.h"
#include "support.h"

namespace ricochet::theorems_test {
namespace {

using study::Motion;
using study::Row;
using study::TwoMotions;
using testing::run_text;

// ---------------------------------------------------------------- Paoli 2001

/// A ball under a force over a wall, e.
const std::string kDriven = R"toml(
[system]
coordinates = ["y"]
parameters  = { e = 0.6, F = 3, w = 5 }
mass        = [1]
force       = ["-2 + F*sin(w*t)"]
[contact.wall]
keep        = "y >= 0"
restitution = "e"
[start]
position = { y = 0.4 }
velocity = { y = -0.3 }
[run]
scheme = "paoli-schatzman"
step   = 0.003
until  = 6
)toml";

// Lemma 3.1: |eta^i| <= max(|eta^(i-1)|, e |eta^(i-2)|) + h |lambda^i| + h |lambda^(i-1)|, eta the
// differences of positions, here of the flat wall itself, whose lambda is the force.
TEST(PaoliTheorems, Lemma3_1_BoundsTheVelocities) {
  for (const double e : {0.0, 0.3, 0.6, 1.0}) {
    const double h = 0.003;
    const Motion motion = run_text(kDriven, {fmt::format("e={}", e)});
    ASSERT_GT(motion.outcome.certificate.shock_counts[0], 3);
    std::vector<double> eta;
    for (std::size_t i = 1; i < motion.rows.size(); ++i) {
      eta.push_back((motion.rows[i].q[0] - motion.rows[i - 1].q[0]) / h);
    }
    const auto force = [&](std::size_t i) {
      return std::abs(-2.0 + 3.0 * std::sin(5.0 * motion.rows[i].t));
    };
    for (std::size_t i = 2; i < eta.size(); ++i) {
      const double bound = std::max(std::abs(eta[i - 1]), e * std::abs(eta[i - 2])) + h * force(i) +
                           h * force(i - 1);
      EXPECT_LE(std::abs(eta[i]), bound * (1.0 + 1e-9)) << "e = " << e << ", i = " << i;
    }
  }
}

// Lemma 4.9: |x - Proj(C, x)| <= (|x - a|^2 - |Proj(C, x) - a|^2)/2r for a cone C that contains the
// ball of radius r about a.                                                       [Moreau 1978]
TEST(PaoliTheorems, Lemma4_9_TheDistanceToAConeIsBoundedByABallInIt) {
  base::Random random(49);
  int outside = 0;
  for (int k = 0; k < 2000; ++k) {
    const Eigen::Index n = 2 + random.below(4);
    const Eigen::Index m = 1 + random.below(4);
    Eigen::MatrixXd J = testing::random_matrix(random, m, n);  // C = { v : J v >= 0 }
    Eigen::VectorXd a = testing::random_vector(random, n);
    double r = 1e9;
    for (Eigen::Index i = 0; i < m; ++i) {
      if (J.row(i).dot(a) < 0.0) J.row(i) *= -1.0;
      r = std::min(r, J.row(i).dot(a) / J.row(i).norm());
    }
    const Eigen::VectorXd x = 3.0 * testing::random_vector(random, n);
    // Proj(C, x) = x + J^T p by projected Gauss-Seidel on the multipliers: independent of the
    // library.
    const Eigen::MatrixXd W = J * J.transpose();
    Eigen::VectorXd p = Eigen::VectorXd::Zero(m);
    for (int round = 0; round < 20000; ++round) {
      for (Eigen::Index i = 0; i < m; ++i) {
        p[i] = std::max(0.0, p[i] - (W.row(i).dot(p) + J.row(i).dot(x)) / W(i, i));
      }
    }
    const Eigen::VectorXd near = x + J.transpose() * p;
    if ((near - x).norm() > 1e-9) ++outside;
    const double bound = ((x - a).squaredNorm() - (near - a).squaredNorm()) / (2.0 * r);
    EXPECT_LE((x - near).norm(), bound + 1e-7 * (1.0 + bound));
  }
  EXPECT_GT(outside, 500);
}

/// A ball on a line with gravity: one bounce, judged as a motion.
study::FreeMotion one_bounce(double e) {
  study::FreeMotion motion{.instants = {0.0, 1.0, 1.0 + 0.8 * e}};
  const auto number = [](double x) { return Eigen::VectorXd::Constant(1, x).eval(); };
  motion.at = [=](double t, Eigen::VectorXd& q, Eigen::VectorXd& u) {
    const double s = t - 1.0;
    q = number(s < 0.0 ? 5.0 - 5.0 * t * t : 10.0 * e * s - 5.0 * s * s);
    u = number(s < 0.0 ? -10.0 * t : 10.0 * e - 10.0 * s);
  };
  motion.atoms = {{1.0, number(-10.0), number(10.0 * e), number(10.0 * (1.0 + e))}};
  return motion;
}

// Prop. 4.3: solutions of the problem in positions (P) and of the sweeping process (P') are the
// same. The judge of motions knows (P): impulses push, where the gap is closed, u+ = -e u- there.
// (P') asks for (u+ + e u-)/(1 + e) in V and u- - u+ normal to V there. Motions of other e fail
// both.
TEST(PaoliTheorems, Prop4_3_BothFormulationsHaveTheSameMotions) {
  for (const double law : {0.2, 0.5, 0.9}) {
    const scene::Scene scene = testing::read_text(fmt::format(R"toml(
[system]
coordinates = ["z"]
mass        = [1]
potential   = "10*z"
[contact.floor]
keep        = "z >= 0"
restitution = {}
[start]
position = {{ z = 5 }}
[run]
step  = 0.1
until = 1
)toml",
                                                              law));
    for (const double e : {0.2, 0.5, 0.9}) {
      const study::FreeMotion motion = one_bounce(e);
      const bool solves_p =
          certify::certify_motion(study::AnyView(*scene.system().model), motion).ok();
      const double before = motion.atoms[0].before[0], after = motion.atoms[0].after[0];
      const double mean = (after + law * before) / (1.0 + law);  // in V = [0, inf)
      const double normal = before - after;                      // <= 0, and 0 unless mean = 0
      const bool solves_swept = mean >= -1e-12 && normal <= 0.0 && std::abs(mean * normal) < 1e-9;
      EXPECT_EQ(solves_p, solves_swept) << law << ' ' << e;
      EXPECT_EQ(solves_p, law == e);
    }
  }
}

const std::string kCorner = R"toml(
[system]
coordinates = ["x", "y"]
mass        = [1, 1]
[contact.wall]
keep = "x <= 0"
LAW
[contact.floor]
keep = "y >= 0"
LAW
[start]
position = { x = -1, y = 0 }
velocity = { x = 1, y = 0 }
[run]
step  = 0.01
until = 2
)toml";

scene::Scene corner(const std::string& law) {
  std::string text = kCorner;
  for (std::size_t at = 0; (at = text.find("LAW", at)) != std::string::npos;) {
    text.replace(at, 3, law);
  }
  return testing::read_text(text);
}

/// Into the corner along the floor, then away with velocity (x, y).
study::FreeMotion into_corner(double x, double y) {
  study::FreeMotion motion{.instants = {0.0, 1.0, 2.0}};
  motion.at = [=](double t, Eigen::VectorXd& q, Eigen::VectorXd& u) {
    const double s = t - 1.0;
    q = Eigen::Vector2d(s < 0.0 ? s : x * s, s < 0.0 ? 0.0 : y * s);
    u = Eigen::Vector2d(s < 0.0 ? 1.0 : x, s < 0.0 ? 0.0 : y);
  };
  motion.atoms = {{1.0, Eigen::Vector2d(1.0, 0.0), Eigen::Vector2d(x, y),
                   Eigen::Vector2d(1.0 - x, y)}};  // wall pushes along -x, the floor along y
  return motion;
}

// Par. 5: q1 turns up the wall, q2 turns back; both conserve energy and satisfy (1.2)-(1.4), walls
// only push. q2 alone satisfies (5.3); a law of the user's own admits q1 alone.
TEST(PaoliTheorems, P5_TwoMotionsThatConserveEnergyAtAnOrthogonalCorner) {
  const scene::Scene paoli = corner("restitution = 1");
  const scene::Scene own = corner("law = [\"0*x'\", \"x'\"]");
  const study::FreeMotion q1 = into_corner(0.0, 1.0), q2 = into_corner(-1.0, 0.0);
  const auto holds = [](const scene::Scene& scene, const study::FreeMotion& motion) {
    return certify::certify_motion(study::AnyView(*scene.system().model), motion);
  };
  EXPECT_TRUE(holds(paoli, q2).ok());
  EXPECT_FALSE(holds(paoli, q1).ok());
  const certify::Certificate first = holds(own, q1);
  EXPECT_TRUE(first.ok()) << certify::describe(first.failure).name;
  EXPECT_FALSE(holds(own, q2).ok());
  EXPECT_NEAR(first.ledger.contacts.value(), 0.0, 1e-15);  // energy is conserved
  EXPECT_NEAR(holds(paoli, q2).ledger.contacts.value(), 0.0, 1e-15);
}

// Compliant walls: contacts last pi/sqrt(k) (mass 1, e = 1), and their motions tend to that of the
// rigid wall as k grows.                                       [Paoli 2001, par. 2, after 1993]
TEST(PaoliTheorems, P2_ContactsOfCompliantWallsLastAsOneOverRootK) {
  double last = 0.0;
  for (const double k : {1e4, 1e6, 1e8}) {
    const double h = 0.01 / std::sqrt(k);
    const Motion motion = run_text(
        R"toml(
[system]
coordinates = ["x"]
mass        = [1]
[contact.wall]
keep        = "x >= 0"
restitution = 1
[start]
position = { x = 0.05 }
velocity = { x = -1 }
[run]
scheme = "penalty"
step   = 0.1
until  = 0.1
)toml",
        {fmt::format("run.step={}", h), fmt::format("run.stiffness={}", k)});
    double closed = 0.0;
    for (std::size_t i = 1; i < motion.rows.size(); ++i) {
      if (motion.rows[i].impulses[0] > 0.0) closed += h;
    }
    EXPECT_NEAR(closed * std::sqrt(k), std::numbers::pi, 0.05);
    const double off = std::abs(motion.final_state.q[0] - 0.05);  // the rigid wall's own
    EXPECT_LT(off, 4.0 / std::sqrt(k));
    if (last > 0.0) {
      EXPECT_LT(off, 0.2 * last);
    }
    last = off;
  }
}

// ---------------------------------------------------------------- Mabrouk 1998

// Step 1 of the proof: |v_i| <= |v_0| + 2 T M, M a bound of the force; and the variation of v is
// bounded whatever the step (step 2).
TEST(MabroukTheorems, VelocitiesAndVariationsAreBounded) {
  for (const double e : {0.0, 0.5, 1.0}) {
    double variation_max = 0.0, variation_min = 1e9;
    for (const double h : {0.02, 0.01, 0.005, 0.0025}) {
      const Motion motion = run_text(kDriven, {fmt::format("e={}", e), "run.scheme=mabrouk",
                                               "run.until=2", fmt::format("run.step={}", h)});
      ASSERT_TRUE(motion.outcome.certificate.ok());
      double variation = 0.0;
      for (std::size_t i = 1; i < motion.rows.size(); ++i) {
        EXPECT_LE(std::abs(motion.rows[i].u[0]), 0.3 + 2.0 * 2.0 * 5.0);  // M = 2 + F
        variation += std::abs(motion.rows[i].u[0] - motion.rows[i - 1].u[0]);
      }
      variation_max = std::max(variation_max, variation);
      variation_min = std::min(variation_min, variation);
    }
    EXPECT_LT(variation_max, 1.5 * variation_min) << e;
  }
}

// exact, for x'' = -10: with the paper's start value, v_0 + h a, positions are ahead by t h a/2;
// with half of the step's force they are exact, and of order 2 in smooth motion.
TEST(MabroukTheorems, HalfOfAStepsForceInTheFirstVelocityMakesPositionsExact) {
  for (const bool half : {false, true}) {
    const double h = 0.01;
    const Motion motion = run_text(R"toml(
[system]
coordinates = ["x"]
mass        = [1]
potential   = "10*x"
[start]
position = { x = 1 }
velocity = { x = 2 }
[run]
scheme = "mabrouk"
step   = 0.01
until  = 1
)toml",
                                   {half ? "run.first_velocity=half" : "run.first_velocity=whole"});
    ASSERT_TRUE(motion.outcome.certificate.ok());
    for (const Row& row : motion.rows) {
      const double exact = 1.0 + 2.0 * row.t - 5.0 * row.t * row.t;
      EXPECT_NEAR(row.q[0] - exact, half ? 0.0 : -0.5 * row.t * h * 10.0, 1e-12);
    }
  }
}

// The theorem asks for a wall of class C^(1,beta), beta > 1/2: here y >= |x|^(1+beta)/(1+beta),
// whose curvature is infinite at the bottom. Balls that land beside it and run through it: on both
// sides of beta = 1/2 runs of quartered steps come together, and variations of v stay bounded. The
// condition is sufficient, and no run here shows it to be needed.
TEST(MabroukTheorems, WallsOfClassC1BetaThroughOneHalf) {
  for (const double beta : {0.3, 0.5, 0.7, 1.0}) {
    std::vector<Eigen::VectorXd> ends;
    std::vector<double> variations;
    for (const double h : {1e-3, 2.5e-4, 6.25e-5}) {
      const Motion motion = run_text(
          R"toml(
[system]
coordinates = ["x", "y"]
parameters  = { beta = 1 }
mass        = [1, 1]
potential   = "10*y"
[contact.wall]
keep        = "y >= abs(x)^(1 + beta)/(1 + beta)"
restitution = 0.5
[start]
position = { x = -0.3, y = 0.4 }
velocity = { x = 1, y = 0 }
[run]
scheme = "mabrouk"
step   = 0.01
until  = 1
)toml",
          {fmt::format("beta={}", beta), fmt::format("run.step={}", h)});
      ASSERT_TRUE(motion.outcome.certificate.ok())
          << beta << ' ' << certify::describe(motion.outcome.certificate.failure).name;
      ends.push_back(motion.final_state.q);
      variations.push_back(0.0);
      for (std::size_t i = 1; i < motion.rows.size(); ++i) {
        variations.back() += std::hypot(motion.rows[i].u[0] - motion.rows[i - 1].u[0],
                                        motion.rows[i].u[1] - motion.rows[i - 1].u[1]);
      }
    }
    EXPECT_GT(ends[2][0], 0.0) << "it ran through the bottom";
    EXPECT_LT((ends[2] - ends[1]).norm(), 0.5 * (ends[1] - ends[0]).norm()) << beta;
    EXPECT_LT((ends[2] - ends[1]).norm(), 1e-3) << beta;
    EXPECT_NEAR(variations[2], variations[0], 0.03 * variations[0]) << beta;
  }
}

// ---------------------------------------------------------------- Ballard 2013

// Theorem 2's estimate: |u(t)| + d(q, q0) stays below what |f| <= l (1 + d + |u|) gives by
// Gronwall's lemma, through impacts with e = 1: (1 + |u0|) exp((l + 1) t) - 1. For a constant mass,
// and for the pendulum of M(q) = (1 + q^2), whose metric is that of the length along y = q^2/2...
// of a wire.
TEST(BallardTheorems, Theorem2_LinearGrowthBoundsTheMotion) {
  const auto check = [](const std::string& text, const std::function<double(const Row&)>& distance,
                        double l) {
    const Motion motion = run_text(text);
    ASSERT_TRUE(motion.outcome.certificate.ok())
        << certify::describe(motion.outcome.certificate.failure).name;
    ASSERT_GT(motion.outcome.certificate.shock_counts[0], 1);
    const double start = std::sqrt(2.0 * motion.rows[0].kinetic);
    for (const Row& row : motion.rows) {
      const double reach = std::sqrt(2.0 * row.kinetic) + distance(row);
      EXPECT_LE(reach, (1.0 + start) * std::exp((l + 1.0) * row.t) - 1.0 + 1e-6) << row.t;
    }
  };
  // x'' = -x + 2 x' sin t: |f| <= 1 |q| + 2 |u|, and |q| <= 1 + d.
  check(R"toml(
[system]
coordinates = ["x"]
mass        = [1]
force       = ["-x + 2*x'*sin(t)"]
[contact.wall]
keep        = "x >= 0"
restitution = 1
[start]
position = { x = 1 }
velocity = { x = 0 }
[run]
step  = 0.001
until = 8
)toml",
        [](const Row& row) { return std::abs(row.q[0] - 1.0); }, 3.0);
  // A bead on the wire y = q^2/2: T = (1 + q^2) q'^2 / 2, gravity along it at most 10.
  check(R"toml(
[system]
coordinates = ["q"]
kinetic     = "0.5*(1 + q^2)*q'^2"
potential   = "10*q^2/2"
[contact.wall]
keep        = "q >= -0.5"
restitution = 1
[start]
position = { q = 1 }
velocity = { q = 0 }
[run]
step  = 0.0005
until = 5
)toml",
        [](const Row& row) {
          const auto length = [](double q) {
            return 0.5 * (q * std::sqrt(1.0 + q * q) + std::asinh(q));
          };
          return std::abs(length(row.q[0]) - length(1.0));
        },
        10.0);
}

// Without its growth condition motions need not last: x'' = 2 x^3 from x = 1, x' = 1 is 1/(1 - t).
TEST(BallardTheorems, Theorem2_FasterGrowthMayEndInFiniteTime) {
  const Motion motion = run_text(R"toml(
[system]
coordinates = ["x"]
mass        = [1]
force       = ["2*x^3"]
[start]
position = { x = 1 }
velocity = { x = 1 }
[run]
step  = 1e-4
until = 0.9
)toml");
  EXPECT_NEAR(motion.final_state.q[0], 10.0, 0.01);
  const study::Hypotheses all = study::hypotheses_of(*motion.scene.system().model);
  EXPECT_TRUE(study::all_hold(all.one_motion).value_or(false));
  EXPECT_FALSE(study::all_hold(all.for_ever).value_or(false));
}

std::optional<bool> is_analytic(const std::string& force) {
  const scene::Scene scene = testing::read_text(R"toml(
[system]
coordinates = ["x", "y"]
mass        = [1, 1]
force       = [")toml" + force + R"toml(", "0"]
[start]
position = { x = 1, y = 1 }
[run]
step  = 0.01
until = 1
)toml");
  const study::Hypotheses all = study::hypotheses_of(*scene.system().model);
  EXPECT_EQ(all.one_motion[0].what, "forces are analytic");
  return all.one_motion[0].holds;
}

// Theorem 1 asks for analytic data; the walk of the graph knows what is.
TEST(BallardTheorems, Theorem1_AnalyticityIsReadOffTheFormulas) {
  const std::optional<bool> cannot_tell;
  for (const char* yes :
       {"x^3 - y", "exp(-x^2)*sin(t)", "sqrt(1 + x^2)", "hypot(1, x)", "1/(2 + cos(x))",
        "abs(2 + sin(x))", "(1 + y^2)^0.3", "tanh(x)", "max(-1, 2 + sin(t))"}) {
    EXPECT_EQ(is_analytic(yes), true) << yes;
  }
  for (const char* no : {"abs(x)", "if(x > 0, x, 0)", "max(x, y)", "sign(x)", "exp(-1/t^2)",
                         "if(t > 0, exp(-1/t^2), 0)"}) {
    EXPECT_EQ(is_analytic(no), false) << no;
  }
  for (const char* open : {"sqrt(x)", "hypot(x, y)", "1/x", "log(x)", "x^1.5", "x^0.5", "tan(x)"}) {
    EXPECT_EQ(is_analytic(open), cannot_tell) << open;
  }
}

// `check` prints the hypotheses, and does not apply the theorems where they do not hold.
TEST(BallardTheorems, CheckPrintsTheHypotheses) {
  const auto told = [](const std::string& name) {
    const testing::Folder folder;
    testing::write_file(folder / "scene.toml", study::builtin_scene(name));
    return testing::run_program({"check", "scene.toml"}, folder.path()).out;
  };
  const std::string ball = told("dropped-ball");
  EXPECT_NE(ball.find("one motion, and it lasts for all time"), std::string::npos) << ball;
  for (const char* name : {"incline", "moving-box", "slider-crank", "bressan-schatzman"}) {
    const std::string text = told(name);
    EXPECT_EQ(text.find("so there is one motion"), std::string::npos) << name << text;
    EXPECT_NE(text.find(": no"), std::string::npos) << name << text;
  }
}

// Par. 2, the tail: for every n >= N the bumps balance and all derivatives of the force are bounded
// by B_k(n), which falls to 0: the force is smooth at t = 0, and both motions begin there at rest.
TEST(BallardTheorems, P2_TheTailOfBressanAndSchatzmanIsCertifiedForAllN) {
  const TwoMotions motions(24);
  for (const int n : {10, 14, 20}) {
    const TwoMotions::Tail tail = TwoMotions::tail(n, 2);
    ASSERT_TRUE(tail.holds()) << n;
    // The bounds hold for the force itself, differenced.
    const double half = 1.0 / ((n + 1.0) * (n + 2.0) * (n + 2.0));
    const double middle = TwoMotions::time(n) - half;
    double force = 0.0, slope = 0.0;
    const double step = 1e-3 * half * half;  // the bump is narrower than its support
    for (int i = -4000; i <= 4000; ++i) {
      const double t = middle + i * 2e-3 * half * half;
      force = std::max(force, std::abs(motions.force(t)));
      slope = std::max(slope,
                       std::abs(motions.force(t + step) - motions.force(t - step)) / (2.0 * step));
    }
    EXPECT_GT(force, 0.0);
    EXPECT_LE(force, tail.force[0]);
    EXPECT_LE(slope, tail.force[1]);
  }
  EXPECT_FALSE(TwoMotions::tail(3, 2).holds());  // too early: the bounds still grow
  const TwoMotions::Tail far = TwoMotions::tail(80, 3);
  EXPECT_TRUE(far.holds());
  for (const double bound : far.force) EXPECT_LT(bound, 1e-30);
  EXPECT_LT(far.place, 1e-100);
  EXPECT_LT(far.speed, 1e-100);
}

// ---------------------------------------------------------------- continuity in the data

/// Two walls with an interior angle [degrees] at the origin, struck with a velocity of length 1 at
/// `from` [degrees] off the normal of the first wall, towards that of the second.
study::Inspection struck_corner(double angle, double from, double e) {
  const double turn = std::numbers::pi * (180.0 - angle) / 180.0;  // between the normals
  const double into = std::numbers::pi * from / 180.0;
  const scene::Scene scene = testing::read_text(
      R"toml(
[system]
coordinates = ["x", "y"]
parameters  = { c = 1, s = 0, e = 0, vx = 0, vy = 0 }
mass        = [1, 1]
[contact.first]
keep        = "y >= 0"
restitution = "e"
[contact.second]
keep        = "s*x + c*y >= 0"
restitution = "e"
[start]
position = { x = 0, y = 0 }
velocity = { x = "vx", y = "vy" }
[run]
step  = 0.01
until = 1
)toml",
      {fmt::format("c={:.17g}", std::cos(turn)), fmt::format("s={:.17g}", std::sin(turn)),
       fmt::format("e={}", e), fmt::format("vx={:.17g}", -std::sin(into)),
       fmt::format("vy={:.17g}", -std::cos(into))});
  return study::Inspector(*scene.system().model).at(scene.start);
}

// exact, by two projections: an interior angle of 150 degrees, e = 0. At right angles to one wall:
// rest if that is met first, sqrt(3)/4 if the other is; along the bisector sin(15) cos(30).. from
// either side, and rest in the corner itself.
TEST(ContinuityInTheData, LimitsAtACornerOf150Degrees) {
  const study::Inspection right = struck_corner(150.0, 0.0, 0.0);
  ASSERT_EQ(right.corner.pairs.size(), 1u);
  EXPECT_NEAR(right.corner.pairs[0].cosine, std::cos(std::numbers::pi / 6.0), 1e-14);
  EXPECT_FALSE(right.corner.is_continuous);
  ASSERT_EQ(right.corner.limits.size(), 2u);
  EXPECT_NEAR(right.corner.limits[0].velocity.norm(), 0.0, 1e-14);
  EXPECT_NEAR(right.corner.limits[1].velocity.norm(), std::sqrt(3.0) / 4.0, 1e-14);
  EXPECT_NEAR(right.right_velocity.norm(), 0.0, 1e-14);
  const study::Inspection bisector = struck_corner(150.0, 15.0, 0.0);
  for (const study::CornerLimit& limit : bisector.corner.limits) {
    const double exact = std::sin(std::numbers::pi / 12.0) * std::cos(std::numbers::pi / 6.0);
    EXPECT_NEAR(limit.velocity.norm(), exact, 1e-14);  // 0.2241
  }
  EXPECT_NEAR(bisector.right_velocity.norm(), 0.0, 1e-14);
}

// Orthogonal walls for any e, and obtuse angles of gradients for e = 0: all limits are one, and
// that of the corner itself [Paoli 2005]. Elsewhere they differ for some velocity.
TEST(ContinuityInTheData, HoldsWhereTheAnglesSaySo) {
  for (const double e : {0.0, 0.5, 1.0}) {
    for (const double angle : {60.0, 90.0, 120.0, 150.0}) {
      const bool is_continuous = angle == 90.0 || (e == 0.0 && angle < 90.0);
      double apart = 0.0;
      // Both walls are approached.
      for (double from = std::max(2.0, 92.0 - angle); from < std::min(88.0, 178.0 - angle);
           from += 7.0) {
        const study::Inspection found = struck_corner(angle, from, e);
        EXPECT_EQ(found.corner.is_continuous, is_continuous) << e << ' ' << angle;
        ASSERT_EQ(found.corner.limits.size(), 2u);
        apart = std::max(
            apart, (found.corner.limits[0].velocity - found.corner.limits[1].velocity).norm());
        if (e == 0.0) {
          apart = std::max(apart, (found.corner.limits[0].velocity - found.right_velocity).norm());
        }
      }
      const bool unfolds = e == 1.0 && angle == 60.0;  // an n-th of 180 degrees: a billiard unfolds
      if (is_continuous || unfolds) {
        EXPECT_LT(apart, 1e-9) << e << ' ' << angle;
      } else {
        EXPECT_GT(apart, 0.05) << e << ' ' << angle;
      }
    }
  }
}

// A run says so: e = 0 and an acute angle, met by both walls within a step.
TEST(ContinuityInTheData, RunsWarnOfAcuteCorners) {
  const auto warned = [](double slope) {
    const Motion motion = run_text(
        R"toml(
[system]
coordinates = ["x", "y"]
parameters  = { s = 0.5 }
mass        = [1, 1]
[contact.left]
keep = "y >= -s*x"
[contact.right]
keep = "y >= s*x"
[start]
position = { x = 0, y = 1 }
velocity = { x = 0, y = -1 }
[run]
scheme = "inel"
step   = 0.01
until  = 2
)toml",
        {fmt::format("s={}", slope)});
    return motion.outcome.certificate.acute_impacts;
  };
  EXPECT_EQ(warned(0.5), 1);  // normals less than 90 degrees apart
  EXPECT_EQ(warned(2.0), 0);
}

// ---------------------------------------------------------------- several solutions of friction

/// W of a rod on its end, uniform, mass 1, length 2, at an angle with the floor.
Eigen::Matrix2d rod(double tangent) {
  const double c2 = 1.0 / (1.0 + tangent * tangent), sc = tangent * c2;
  Eigen::Matrix2d W;
  W << 1.0 + 3.0 * c2, -3.0 * sc, -3.0 * sc, 1.0 + 3.0 * tangent * tangent * c2;
  return W;
}

problem::ContactProblem rod_problem(double mu, const Eigen::Vector2d& free) {
  return {.dim = 2, .mu = {mu}, .q = free, .matrix = Eigen::MatrixXd(rod(2.0)), .title = ""};
}

// tan(phi) = 2, mu = 2, U' = (0.01, -3): W = (8/5, -6/5; -6/5, 17/5). Free: U = U'. Slip with
// R_T = 2 R_N: U_N = 0.01 + (8/5 - 12/5) R_N = 0 gives R_N = 1/80, U_T = -3 + (-6/5 + 34/5)/80 < 0.
// Stick: R = -W^-1 U', R_T <= 2 R_N. All three obey the law.
TEST(Friction, TheRodOfPainleveHasThreeSolutions) {
  const std::vector<solve::ContactSolution> all =
      solve::all_solutions(rod_problem(2.0, {0.01, -3.0}));
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].grips[0], problem::Grip::Free);
  EXPECT_EQ(all[1].grips[0], problem::Grip::Stick);
  EXPECT_EQ(all[2].grips[0], problem::Grip::Slip);
  const Eigen::Vector2d stuck = -rod(2.0).inverse() * Eigen::Vector2d(0.01, -3.0);
  EXPECT_NEAR((all[1].impulses - stuck).norm(), 0.0, 1e-12);
  EXPECT_NEAR(all[2].impulses[0], 1.0 / 80.0, 1e-12);
  EXPECT_NEAR(all[2].impulses[1], 2.0 / 80.0, 1e-12);
  for (const solve::ContactSolution& one : all) EXPECT_EQ(one.free, 0);
  // Below mu = 4/3 there is one, whatever the free velocity.
  base::Random random(5);
  for (int k = 0; k < 500; ++k) {
    const Eigen::Vector2d free = testing::random_vector(random, 2);
    EXPECT_EQ(solve::all_solutions(rod_problem(1.3, free)).size(), 1u);
  }
}

// Two contacts whose rows are the same: a continuum of normal impulses of dimension 1.
TEST(Friction, ContinuaAreToldByTheirDimension) {
  Eigen::MatrixXd W = Eigen::MatrixXd::Zero(4, 4);
  W << 1, 0, 1, 0, 0, 1, 0, 1, 1, 0, 1, 0, 0, 1, 0, 1;
  problem::ContactProblem problem{
      .dim = 2, .mu = {0.5, 0.5}, .q = Eigen::Vector4d(-1, 0.1, -1, 0.1), .matrix = W, .title = ""};
  const std::vector<solve::ContactSolution> all = solve::all_solutions(problem);
  bool found = false;
  for (const solve::ContactSolution& one : all) found = found || one.free > 0;
  EXPECT_TRUE(found);
}

// In space with W diagonal, a particle: one solution, that of [Moreau 1986 (12.7)].
TEST(Friction, AParticleHasOneSolution) {
  base::Random random(6);
  for (int k = 0; k < 50; ++k) {
    const Eigen::Vector3d free = testing::random_vector(random, 3);
    const problem::ContactProblem problem{.dim = 3,
                                          .mu = {0.7},
                                          .q = free,
                                          .matrix = Eigen::MatrixXd(Eigen::Matrix3d::Identity()),
                                          .title = ""};
    const std::vector<solve::ContactSolution> all = solve::all_solutions(problem);
    ASSERT_EQ(all.size(), 1u);
    Eigen::Vector3d R = Eigen::Vector3d::Zero();
    if (free.x() < 0.0) {
      R.x() = -free.x();
      const double slip = free.tail<2>().norm();
      R.tail<2>() = -free.tail<2>() * std::min(1.0, 0.7 * R.x() / slip);
    }
    EXPECT_NEAR((all[0].impulses - R).norm(), 0.0, 1e-8);
  }
}

// ---------------------------------------------------------------- impulse time

// Kane's and Levinson's paradox: Newton's restitution with friction creates energy where slip
// turns; Poisson's takes less, Stronge's never gains.  Here the rod at tan(phi) = 2 with e = 0.9.
TEST(ImpulseTime, StrongesRestitutionNeverGainsAndNewtonsMay) {
  base::Random random(7);
  int gains = 0, differ = 0;
  for (int k = 0; k < 4000; ++k) {
    const Eigen::Matrix2d W = rod(random.uniform(0.3, 4.0));
    const Eigen::Vector2d before(-1.0, random.uniform(-3.0, 3.0));
    const double mu = random.uniform(0.0, 1.2), e = random.uniform(0.1, 1.0);
    const Eigen::Matrix2d inverse = W.inverse();
    const auto energy = [&](const Eigen::Vector2d& U) { return 0.5 * U.dot(inverse * U); };
    const auto follow = [&](solve::Restitution kind) {
      return solve::follow_shock(W, before, {-mu, mu}, e, kind);
    };
    const solve::ImpulseTime newton = follow(solve::Restitution::Newton);
    const solve::ImpulseTime stronge = follow(solve::Restitution::Stronge);
    const solve::ImpulseTime poisson = follow(solve::Restitution::Poisson);
    if (!newton.ended || !stronge.ended || !poisson.ended) continue;
    EXPECT_LE(energy(stronge.velocity), energy(before) * (1.0 + 1e-12));
    EXPECT_NEAR(stronge.expansion, -e * e * stronge.compression, 1e-12);
    for (const solve::ImpulseTime& one : {newton, stronge, poisson}) {  // momentum
      EXPECT_NEAR((W * one.impulse + before - one.velocity).norm(), 0.0, 1e-12);
    }
    if (energy(newton.velocity) > energy(before) * (1.0 + 1e-6)) ++gains;
    if (newton.phases.size() == 1) {  // slip keeps its sense: the three agree
      EXPECT_NEAR((newton.velocity - stronge.velocity).norm(), 0.0, 1e-9);
      EXPECT_NEAR((newton.velocity - poisson.velocity).norm(), 0.0, 1e-9);
    } else if ((newton.velocity - stronge.velocity).norm() > 1e-3) {
      ++differ;
    }
  }
  EXPECT_GT(gains, 0);
  EXPECT_GT(differ, 50);
}

// A sphere (W diagonal) with slip: the tangential impulse is mu (1 + e) until slip stops at 7/2 of
// it.
TEST(ImpulseTime, OfASphereHasItsClosedForm) {
  const Eigen::Matrix2d W = Eigen::Vector2d(1.0, 3.5).asDiagonal();
  for (const solve::Restitution kind :
       {solve::Restitution::Newton, solve::Restitution::Poisson, solve::Restitution::Stronge}) {
    for (const double slip : {0.2, 0.9, 4.0}) {
      const double mu = 0.3, e = 0.8;
      const solve::ImpulseTime shock = solve::follow_shock(W, {-1.0, slip}, {-mu, mu}, e, kind);
      ASSERT_TRUE(shock.ended);
      EXPECT_NEAR(shock.velocity.x(), e, 1e-14);
      EXPECT_NEAR(shock.velocity.y(), std::max(0.0, slip - 3.5 * mu * (1.0 + e)), 1e-14);
    }
  }
}

// ---------------------------------------------------------------- structures

/// A string of few nodes between guides at every node, plucked hard.
const std::string kString = R"toml(
[structure]
kind    = "string"
length  = 1
tension = 1
rho_S   = 1
ends    = ["pinned", "pinned"]
nodes   = 5
parameters = { e = 1 }
[structure.guide.rail]
from        = 0.15
to          = 0.85
clearance   = 0.05
restitution = "e"
[start]
velocity = "sin(pi*x) + 0.7*sin(2*pi*x) - 0.4*sin(3*pi*x)"
[run]
scheme = "passive"
step   = 0.03
until  = 150
)toml";

// change of T + V = sum of p (U + U+)/2 <= 0 at every step, without loads and damping, whatever e
// and the step: the energy never grows; with e = 1 it stays.
TEST(Structures, ThePassiveSchemeCreatesNoEnergy) {
  for (const double e : {0.0, 0.5, 0.9, 1.0}) {
    for (const double h : {0.003, 0.03, 0.11, 0.38}) {
      const Motion motion = run_text(kString, {fmt::format("structure.parameters.e={}", e),
                                               fmt::format("run.step={}", h), "run.record=1"});
      ASSERT_TRUE(motion.outcome.certificate.ok())
          << e << ' ' << h << ' ' << certify::describe(motion.outcome.certificate.failure).name;
      const double start = motion.rows[0].energy();
      double last = start;
      for (const Row& row : motion.rows) {
        EXPECT_LE(row.energy(), last + 1e-12 * start) << e << ' ' << h;
        last = row.energy();
      }
      if (e == 1.0) {
        EXPECT_NEAR(last, start, 1e-9 * start);
      } else {
        EXPECT_LT(last, start);
      }
    }
  }
}

}  // namespace
}  // namespace ricochet::theorems_test
