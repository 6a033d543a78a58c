#include <gtest/gtest.h>

#include <fmt/format.h>
#include <Eigen/LU>
#include <array>
#include <cmath>
#include <numbers>
#include <random>
#include <string>

#include "ricochet/base/error.h"
#include "ricochet/solve/unilateral.h"
#include "ricochet/step/scheme.h"
#include "support.h"

namespace ricochet::restitution_test {
namespace {

using study::Motion;
using testing::run_text;

const std::string kBall = R"toml(
[system]
coordinates = ["x"]
parameters  = { e = 0.3 }
mass        = [1]
[contact.wall]
keep        = "x >= 0"
restitution = "e"
[start]
position = { x = 1 }
velocity = { x = -1 }
[run]
scheme = "paoli-schatzman"
step   = 0.07
until  = 3
)toml";

std::vector<std::string> with(double e, double h, const std::string& scheme) {
  return {fmt::format("e={:.17g}", e), "run.step=" + fmt::format("{:.17g}", h),
          "run.scheme=" + scheme};
}

/// Twenty pairs; no step puts a node on a branch of the closed forms.
const std::vector<std::pair<double, double>>& pairs() {
  static const std::vector<std::pair<double, double>> all = [] {
    std::vector<std::pair<double, double>> list;
    for (const double e : {0.0, 0.3, 0.55, 0.8, 1.0}) {
      for (const double h : {0.07, 0.0625, 0.013, 0.0331}) list.emplace_back(e, h);
    }
    return list;
  }();
  return all;
}

// Paoli 2001, par. 3a: q^{i+1} = -e q^{i-1} + max(2 q^i - (1-e) q^{i-1}, 0) from q^1 = 1 - h; the
// velocity is reversed in two steps at t_p, 1 - (1-e)h/(1+e) < t_p <= 1 + 2eh/(1+e).
TEST(PaoliSchatzman, BallOnALineFollowsTheClosedForm) {
  for (const auto& [e, h] : pairs()) {
    const Motion motion = run_text(kBall, with(e, h, "paoli-schatzman"));
    ASSERT_TRUE(motion.outcome.certificate.ok());
    int p = 1;
    while (2.0 * (1.0 - p * h) - (1.0 - e) * (1.0 - (p - 1) * h) >= -1e-12) ++p;
    EXPECT_GT(p * h, 1.0 - (1.0 - e) / (1.0 + e) * h - 1e-9);
    EXPECT_LE(p * h, 1.0 + 2.0 * e * h / (1.0 + e) + 1e-9);
    const auto before = [h = h](int i) { return 1.0 - i * h; };
    int outside = 0;
    for (std::size_t i = 0; i < motion.rows.size(); ++i) {
      const int n = static_cast<int>(i);
      double expected = before(n);
      if (n == p + 1) expected = -e * before(p - 1);
      if (n >= p + 2) expected = -e * before(p) + e * h * (n - p - 2);
      EXPECT_NEAR(motion.rows[i].q[0], expected, 1e-13) << "e " << e << " h " << h << " i " << i;
      outside += motion.rows[i].q[0] < -1e-13 ? 1 : 0;
    }
    EXPECT_LE(outside, 2) << "e " << e << " h " << h;
  }
}

// Paoli 2001, par. 4b: reversed at once, q^{p+1+n} = 1 - (p+1)h + neh, v^{p+n} = e, t_{p+1} in
// [1, 1+h].
TEST(Mabrouk, BallOnALineFollowsTheClosedForm) {
  for (const auto& [e, h] : pairs()) {
    const Motion motion = run_text(kBall, with(e, h, "mabrouk"));
    ASSERT_TRUE(motion.outcome.certificate.ok());
    int p = 0;
    while (1.0 - (p + 1) * h > 1e-12) ++p;
    EXPECT_GE((p + 1) * h, 1.0 - 1e-9);
    EXPECT_LE((p + 1) * h, 1.0 + h + 1e-9);
    for (std::size_t i = 0; i < motion.rows.size(); ++i) {
      const int n = static_cast<int>(i) - (p + 1);
      const double q = n <= 0 ? 1.0 - static_cast<double>(i) * h : 1.0 - (p + 1) * h + n * e * h;
      EXPECT_NEAR(motion.rows[i].q[0], q, 1e-13) << "e " << e << " h " << h << " i " << i;
      EXPECT_NEAR(motion.rows[i].u[0], n < 0 ? -1.0 : e, 1e-14) << "e " << e << " h " << h;
    }
  }
}

const std::string kZeno = R"toml(
[system]
coordinates = ["z"]
parameters  = { e = 0.5 }
mass        = [2]
potential   = "2*9.81*z"
[contact.floor]
keep        = "z >= 0"
restitution = "e"
[start]
position = { z = 1 }
[run]
scheme = "moreau"
step   = 0.001
until  = 10
record = 1
)toml";

double rest_time(double e) { return std::sqrt(2.0 / 9.81) * (1.0 + e) / (1.0 - e); }

/// The first instant after which the ball stays within what a step of rest moves.
double comes_to_rest(const Motion& motion, double h) {
  const double low = 20.0 * 9.81 * h * h;
  double last = 0.0;
  for (const study::Row& row : motion.rows) {
    if (std::abs(row.q[0]) > low || std::abs(row.u[0]) > 20.0 * 9.81 * h) last = row.t;
  }
  return last;
}

// The bounces of a ball sum up to sqrt(2H/g)(1+e)/(1-e): schemes pass through, first order in h.
TEST(Restitution, ZenoBallComesToRestAtTheRightTime) {
  for (const char* scheme : {"moreau", "mabrouk", "paoli-schatzman", "moreau-jean"}) {
    for (const double e : {0.5, 0.8, 0.9}) {
      // Where in its step an impact falls is chance: errors are averaged over eight steps.
      std::array<double, 2> errors{};
      for (int k = 0; k < 16; ++k) {
        const double h = (k < 8 ? 1.6e-3 : 2e-4) * (1.0 + 0.013 * (k % 8));
        const Motion motion = run_text(kZeno, with(e, h, scheme));
        ASSERT_TRUE(motion.outcome.certificate.ok()) << scheme << e;
        const double error = std::abs(comes_to_rest(motion, h) - rest_time(e));
        // An impact is off by h, its speed by g h, and bounces multiply that by 1/(1-e)^2.
        EXPECT_LE(error, 4.0 * h / ((1.0 - e) * (1.0 - e)) + 60.0 * h) << scheme << e;
        errors[k < 8 ? 0 : 1] += error;
      }
      const double order = std::log(errors[0] / errors[1]) / std::log(8.0);
      EXPECT_GT(order, 0.7) << scheme << " e = " << e;
      EXPECT_LT(order, 1.4) << scheme << " e = " << e;
    }
  }
}

TEST(EventDriven, ReportsTheAccumulationAndStops) {
  for (const double e : {0.5, 0.8, 0.9}) {
    const Motion motion = run_text(kZeno, with(e, 0.01, "event-driven"));
    const certify::Certificate& c = motion.outcome.certificate;
    EXPECT_EQ(c.failure, certify::Failure::Zeno);
    EXPECT_NEAR(c.failure_time, rest_time(e), 1e-8);
    EXPECT_LT(motion.rows.back().t, rest_time(e));
  }
}

TEST(EventDriven, SwitchesToContactWhenAsked) {
  for (const double e : {0.5, 0.8, 0.9}) {
    std::vector<std::string> settings = with(e, 0.01, "event-driven");
    settings.push_back("run.zeno=contact");
    const Motion motion = run_text(kZeno, settings);
    const certify::Certificate& c = motion.outcome.certificate;
    EXPECT_TRUE(c.ok());
    EXPECT_EQ(c.zeno_count, 1);
    EXPECT_NEAR(c.zeno_time, rest_time(e), 1e-8);
    EXPECT_EQ(motion.rows.back().u[0], 0.0);
    EXPECT_NEAR(motion.rows.back().q[0], 0.0, 1e-12);
    // At rest the floor carries the weight.
    EXPECT_NEAR(motion.rows.back().impulses[0], 2.0 * 9.81 * 0.01, 1e-9);
  }
}

/// A scene of n coordinates with a full mass matrix at a corner of m walls a . x >= 0, moving into
/// it, without forces.
struct Corner {
  Eigen::MatrixXd mass, normals;
  Eigen::VectorXd velocity;

  Corner(base::Random& random, int n, int m)
      : mass(testing::random_metric(random, n, 0.3)),
        normals(testing::random_matrix(random, m, n)),
        velocity(testing::random_vector(random, n)) {
    for (int a = 0; a < m; ++a) {  // (5.3) speaks of velocities that arrive: -u in V
      if (normals.row(a).dot(velocity) > 0.0) normals.row(a) *= -1.0;
    }
  }

  std::string text(const std::string& e, const std::string& scheme) const {
    const auto list = [](const Eigen::VectorXd& v) {
      std::string out = "[";
      for (const double x : v) out += fmt::format("{}{:.17g}", out.size() > 1 ? ", " : "", x);
      return out + "]";
    };
    std::string names, start, speeds, rows, walls;
    for (Eigen::Index i = 0; i < velocity.size(); ++i) {
      names += fmt::format("{}\"x{}\"", i > 0 ? ", " : "", i);
      start += fmt::format("{}x{} = 0", i > 0 ? ", " : "", i);
      speeds += fmt::format("{}x{} = {:.17g}", i > 0 ? ", " : "", i, velocity[i]);
      rows += (i > 0 ? ", " : "") + list(mass.col(i));
    }
    for (Eigen::Index a = 0; a < normals.rows(); ++a) {
      walls += fmt::format("[contact.w{}]\nrestitution = {}\nkeep = \"", a, e);
      for (Eigen::Index i = 0; i < velocity.size(); ++i) {
        walls += fmt::format("{}({:.17g})*x{}", i > 0 ? " + " : "", normals(a, i), i);
      }
      walls += " >= 0\"\n";
    }
    return fmt::format(
        "[system]\ncoordinates = [{}]\nmass = [{}]\n{}[start]\nposition = {{ {} }}\nvelocity = {{ "
        "{} }}\n[run]\nscheme = \"{}\"\nstep = 0.001\nsteps = 3\n",
        names, rows, walls, start, speeds, scheme);
  }

  /// u+ = u - (1+e) prox(N, u), the prox by trying every face of N.      [Paoli 2001 (5.3)]
  Eigen::VectorXd law(double e) const {
    const Eigen::MatrixXd inverse = mass.inverse();
    const auto m = static_cast<unsigned>(normals.rows());
    for (unsigned face = 0; face < (1u << m); ++face) {
      std::vector<int> chosen;
      for (unsigned a = 0; a < m; ++a) {
        if ((face >> a) & 1u) chosen.push_back(static_cast<int>(a));
      }
      const Eigen::MatrixXd J = normals(chosen, Eigen::all);
      const Eigen::MatrixXd W = J * inverse * J.transpose();
      Eigen::VectorXd p = Eigen::VectorXd::Zero(0);
      if (!chosen.empty()) p = W.fullPivLu().solve(-J * velocity);
      const Eigen::VectorXd push = inverse * J.transpose() * p;  // -prox(N, u)
      const Eigen::VectorXd left = velocity + push;              // prox(V, u)
      const bool optimal = (p.array() >= 0.0).all() && ((normals * left).array() >= -1e-11).all();
      if (optimal) return velocity + (1.0 + e) * push;
    }
    return velocity;
  }
};

// (5.3) at an impact of several contacts at once, for every scheme that honours one e.
TEST(Restitution, SeveralContactsObeyTheLawOfPaoli) {
  base::Random random(5);
  for (int trial = 0; trial < 40; ++trial) {
    const int n = 2 + trial % 4;
    const Corner corner(random, n, 1 + trial % n);
    const double e = 0.25 * (trial % 5);
    for (const char* scheme : {"moreau", "mabrouk", "moreau-jean", "event-driven"}) {
      const Motion motion = run_text(corner.text(std::to_string(e), scheme));
      ASSERT_TRUE(motion.outcome.certificate.ok())
          << scheme << trial << certify::describe(motion.outcome.certificate.failure).name
          << motion.outcome.certificate.failure_time << "\n"
          << corner.text(std::to_string(e), scheme);
      const Eigen::VectorXd expected = corner.law(e);
      const Eigen::Map<const Eigen::VectorXd> found(motion.rows[1].u.data(), n);
      EXPECT_LE((found - expected).norm(), 1e-12 * corner.velocity.norm() + 1e-13)
          << scheme << ", trial " << trial;
    }
  }
}

TEST(Restitution, ElasticImpactsOfAnyNumberKeepTheEnergy) {
  base::Random random(8);
  for (int trial = 0; trial < 30; ++trial) {
    const int n = 2 + trial % 7;
    const Corner corner(random, n, n);
    for (const char* scheme : {"elast", "moreau", "mabrouk", "moreau-jean", "event-driven"}) {
      const Motion motion = run_text(corner.text("1", scheme));
      ASSERT_TRUE(motion.outcome.certificate.ok()) << scheme << trial;
      const double start = motion.rows[0].kinetic;
      for (const study::Row& row : motion.rows) {
        EXPECT_NEAR(row.kinetic, start, 1e-13 * start) << scheme << trial;
      }
    }
  }
}

const std::string kCradle = R"toml(
[system]
coordinates = ["x1", "x2", "x3"]
mass        = [1, 1, 1]
[contact.left]
keep        = "x2 - x1 >= 1"
restitution = 1
[contact.right]
keep        = "x3 - x2 >= 1"
restitution = 1
[start]
position = { x1 = -1, x2 = 1, x3 = 2 }
velocity = { x1 = 1 }
[run]
scheme = "moreau"
step   = 0.01
until  = 2
)toml";

TEST(Restitution, ThreeBallsByTheLawOfPaoli) {
  for (const char* scheme :
       {"moreau", "mabrouk", "paoli-schatzman", "moreau-jean", "elast", "event-driven"}) {
    const Motion motion = run_text(kCradle, {std::string("run.scheme=") + scheme});
    ASSERT_TRUE(motion.outcome.certificate.ok()) << scheme;
    const std::vector<double>& u = motion.rows.back().u;
    EXPECT_NEAR(u[0], -1.0 / 3.0, 1e-12) << scheme;
    EXPECT_NEAR(u[1], 2.0 / 3.0, 1e-12) << scheme;
    EXPECT_NEAR(u[2], 2.0 / 3.0, 1e-12) << scheme;
  }
}

TEST(Restitution, SaysWhenTheOrderOfReflectionsMatters) {
  const Motion coupled = run_text(kCradle);
  EXPECT_EQ(coupled.outcome.certificate.coupled_impacts, 1);
  ASSERT_FALSE(coupled.scene.warnings.empty());
  EXPECT_NE(coupled.scene.warnings[0].find("not orthogonal"), std::string::npos);
  // Each ball against its own wall: reflections commute.
  const Motion decoupled = run_text(R"toml(
[system]
coordinates = ["x", "y"]
mass = [1, 3]
[contact.a]
keep = "x >= 0"
restitution = 1
[contact.b]
keep = "y >= 0"
restitution = 1
[start]
position = { x = 1, y = 1 }
velocity = { x = -1, y = -1 }
[run]
scheme = "elast"
step = 0.01
until = 2
)toml");
  EXPECT_EQ(decoupled.outcome.certificate.coupled_impacts, 0);
  EXPECT_EQ(decoupled.rows.back().u[0], 1.0);
  EXPECT_EQ(decoupled.rows.back().u[1], 1.0);
}

// One reflection after the other: the first ball stops, then the second, and the third leaves: what
// hangs on the wall of a cradle does.
TEST(ImpactLaws, SequentialReflectionsPassTheBallOn) {
  const Motion motion =
      run_text(kCradle, {"contact.left.law=\"sequential\"", "contact.right.law=\"sequential\""});
  ASSERT_TRUE(motion.outcome.certificate.ok());
  const std::vector<double>& u = motion.rows.back().u;
  EXPECT_NEAR(u[0], 0.0, 1e-15);
  EXPECT_NEAR(u[1], 0.0, 1e-15);
  EXPECT_NEAR(u[2], 1.0, 1e-15);
}

// Poisson: compression leaves the common velocity 1/3 with p = (2/3, 1/3); expansion with e = 1/2
// adds half of each: u = (1 - 1, 1 - 1/2, 1/2).
TEST(ImpactLaws, PoissonGivesBackImpulses) {
  const Motion motion =
      run_text(kCradle, {"contact.left.law=\"poisson\"", "contact.right.law=\"poisson\"",
                         "contact.left.restitution=0.5", "contact.right.restitution=0.5"});
  ASSERT_TRUE(motion.outcome.certificate.ok());
  const std::vector<double>& u = motion.rows.back().u;
  EXPECT_NEAR(u[0], 0.0, 1e-14);
  EXPECT_NEAR(u[1], 0.5, 1e-14);
  EXPECT_NEAR(u[2], 0.5, 1e-14);
}

// Newton's law contact by contact without friction: the contacts that push have U+ = -e U-, so that
// the change of T is p . (U+ + U-) / 2 = sum of p (1 - e) U- / 2, which no e makes positive while
// all contacts approach.
TEST(ImpactLaws, UnequalRestitutionsGainNothingWhereAllContactsArrive) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  int both = 0;
  for (int i = 0; i < 20000; ++i) {
    const double w1 = 0.1 + unit(random), w2 = 0.1 + unit(random);
    const double w12 = (1.98 * unit(random) - 0.99) * std::sqrt(w1 * w2);
    const double e1 = unit(random), e2 = unit(random);
    const double U1 = -unit(random), U2 = -unit(random);
    double p1 = 0.0, p2 = 0.0;
    ASSERT_TRUE(solve::solve_two(w1, w12, w2, (1.0 + e1) * U1, (1.0 + e2) * U2, p1, p2));
    both += p1 > 0.0 && p2 > 0.0 ? 1 : 0;
    const double change =
        p1 * U1 + p2 * U2 + 0.5 * (w1 * p1 * p1 + 2.0 * w12 * p1 * p2 + w2 * p2 * p2);
    const double size = std::abs(p1 * U1) + std::abs(p2 * U2);
    EXPECT_NEAR(change, 0.5 * (p1 * (1.0 - e1) * U1 + p2 * (1.0 - e2) * U2), 1e-11 * size);
    EXPECT_LE(change, 1e-11 * size);
  }
  EXPECT_GT(both, 5000);
}

// A step may find a contact that already separates and pushes all the same, since another drives it
// back: then p U- (1 - e) / 2 > 0 there. A bead in a wedge of 30 degrees with e = 1 on the slope
// and 0 on the floor.
TEST(ImpactLaws, AContactThatAlreadySeparatesMayGainAndTheLedgerSaysHowMuch) {
  const std::string text = R"toml(
[system]
coordinates = ["x", "y"]
mass = [1, 1]
[contact.floor]
keep = "y >= 0"
restitution = 0
[contact.slope]
keep = "0.5*x - 0.8660254037844386*y >= 0"
restitution = 1
[start]
position = { x = 0, y = -0.002 }
velocity = { x = -1, y = 0.1 }
tolerance = 0.01
[run]
scheme = "moreau"
step = 0.01
steps = 1
)toml";
  const Motion motion = run_text(text);
  ASSERT_TRUE(motion.outcome.certificate.ok());
  // U = (0.1, -0.5 - 0.0866); the slope asks for U+ = 0.5866, the floor holds y' = 0.
  const double speed = (0.5 + 0.08660254037844386) / 0.5;
  EXPECT_NEAR(motion.rows.back().u[0], speed, 1e-13);
  EXPECT_NEAR(motion.rows.back().u[1], 0.0, 1e-13);
  EXPECT_NEAR(motion.outcome.certificate.ledger.gain.value(), 0.5 * (speed * speed - 1.01), 1e-13);
}

const std::string kDrop = R"toml(
[system]
coordinates = ["x", "y"]
mass        = [1, 1]
[contact.floor]
keep = "y >= 0"
law  = { y = "-0.5*y'" }
[start]
position = { x = 0, y = 1 }
velocity = { x = 2, y = -4 }
[run]
scheme = "moreau"
step   = 0.01
until  = 1
)toml";

TEST(ImpactLaws, ALawOfTheUserIsFollowedByAllSchemesThatTakeIt) {
  for (const char* scheme : {"moreau", "mabrouk", "moreau-jean", "event-driven"}) {
    const Motion motion = run_text(kDrop, {std::string("run.scheme=") + scheme});
    ASSERT_TRUE(motion.outcome.certificate.ok()) << scheme;
    EXPECT_NEAR(motion.rows.back().u[0], 2.0, 1e-14) << scheme;
    EXPECT_NEAR(motion.rows.back().u[1], 2.0, 1e-14) << scheme;
  }
}

// Ballard 2013, par. 3: F in V, F - u in -N, no gain.
TEST(ImpactLaws, TheThreeConditionsAreChecked) {
  const auto failure = [](const std::string& law) {
    return run_text(kDrop, {"contact.floor.law=" + law}).outcome.certificate;
  };
  EXPECT_EQ(failure("{ y = \"0.5*y'\" }").failure, certify::Failure::LawEnters);
  EXPECT_EQ(failure("{ x = \"0.5*x'\", y = \"-0.5*y'\" }").failure, certify::Failure::LawPulls);
  EXPECT_EQ(failure("{ y = \"-1.5*y'\" }").failure, certify::Failure::LawGains);
  EXPECT_NEAR(failure("{ y = \"-1.5*y'\" }").failure_time, 0.25, 0.02);
}

TEST(ImpactLaws, RestitutionMayBeAFormulaOfTheApproach) {
  const std::string e = "contact.floor.restitution=\"1/(1 + approach)\"";
  const std::string text = kDrop.substr(0, kDrop.find("law")) + kDrop.substr(kDrop.find("[start]"));
  for (const char* scheme : {"moreau", "mabrouk", "moreau-jean", "event-driven"}) {
    const Motion motion = run_text(text, {e, std::string("run.scheme=") + scheme});
    ASSERT_TRUE(motion.outcome.certificate.ok()) << scheme;
    EXPECT_NEAR(motion.rows.back().u[1], 4.0 / 5.0, 1e-14) << scheme;
  }
  const Motion bad = run_text(text, {"contact.floor.restitution=\"0.5*approach\""});
  EXPECT_EQ(bad.outcome.certificate.failure, certify::Failure::BadRestitution);
  EXPECT_DOUBLE_EQ(bad.outcome.certificate.failure_value, 2.0);
}

TEST(ImpactLaws, TheDissipationIndexIsMoreaus) {
  const std::string text = kDrop.substr(0, kDrop.find("law")) + kDrop.substr(kDrop.find("[start]"));
  const Motion motion = run_text(text, {"contact.floor.dissipation_index=0.25"});
  EXPECT_NEAR(motion.rows.back().u[1], 4.0 * 0.75 / 1.25, 1e-14);  // e = (1 - d)/(1 + d)
}

// Times of impacts are found as well at t = 1e4 as at 0, on a wall that stands and on one that
// moves.
TEST(EventDriven, FindsImpactsLate) {
  for (const char* wall : {"x^2/4 + y^2 <= 1", "x^2/4 + y^2 <= 1 + 0.1*sin(t)"}) {
    const Motion motion = run_text(std::string(R"toml(
[system]
coordinates = ["x", "y"]
mass        = [1, 1]
[contact.wall]
keep        = ")toml") + wall + R"toml("
restitution = 1
[start]
position = { x = 0.5, y = 0 }
velocity = { x = 0.6, y = 0.8 }
[run]
scheme     = "event-driven"
step       = 1
start_time = 10000
until      = 10400
record     = 0
)toml");
    EXPECT_TRUE(motion.outcome.certificate.ok())
        << wall << certify::describe(motion.outcome.certificate.failure).name;
    EXPECT_GT(motion.outcome.certificate.shock_counts[0], 100);
  }
}

// x = cos t, without anything to strike.
TEST(Schemes, RunWithoutContacts) {
  for (const std::string& scheme : step::scheme_names()) {
    const Motion motion = run_text(R"toml(
[system]
coordinates = ["x"]
mass        = [1]
potential   = "0.5*x^2"
[start]
position = { x = 1 }
[run]
scheme = "moreau"
step   = 0.001
until  = 1
)toml",
                                   {"run.scheme=" + scheme});
    EXPECT_TRUE(motion.outcome.certificate.ok()) << scheme;
    EXPECT_NEAR(motion.rows.back().q[0], std::cos(1.0), 2e-3) << scheme;
  }
}

// x'' + 0.1 x' + x = F cos 0.8 t, wall at 1: the free amplitude is F / |1 - 0.64 + 0.08 i|.
TEST(Restitution, ImpactOscillatorHasTheKnownOrbits) {
  constexpr double grazing = 0.368781778;
  struct Orbit {
    double factor;
    int periods;
    double approach;
  };
  const auto text = [&](double factor) {
    return fmt::format(R"toml(
[system]
coordinates = ["x"]
mass = [1]
potential = "0.5*x^2"
damping = "0.05*x'^2"
force = ["{:.17g}*cos(0.8*t)"]
[contact.wall]
keep = "x <= 1"
restitution = 0.8
[start]
position = {{ x = 0 }}
[run]
scheme = "event-driven"
step = 0.1
until = 1500
record = 0
shock_speed = 1e-6
)toml",
                       factor * grazing);
  };
  for (const Orbit& orbit : {Orbit{1.05, 2, 0.56235}, Orbit{1.2, 2, 1.19172},
                             Orbit{1.5, 1, 0.56176}, Orbit{2.0, 1, 1.09607}}) {
    const Motion motion = run_text(text(orbit.factor));
    ASSERT_TRUE(motion.outcome.certificate.ok());
    const auto& shocks = motion.outcome.certificate.shocks;
    ASSERT_GT(shocks.size(), 10u);
    EXPECT_NEAR(shocks.back().approach, orbit.approach, 1e-5) << orbit.factor;
    const double period = shocks.back().t - shocks[shocks.size() - 2].t;
    EXPECT_NEAR(period, orbit.periods * 2.0 * std::numbers::pi / 0.8, 1e-5) << orbit.factor;
  }
  // Below, the transient alone meets the wall (nearer to 1 an orbit with impacts lives beside).
  const Motion below = run_text(text(0.9), {"run.record=1"});
  EXPECT_LT(below.outcome.certificate.shocks.back().t, 300.0);
  double largest = 0.0;
  for (const study::Row& row : below.rows) {
    if (row.t > 1000.0) largest = std::max(largest, row.q[0]);
  }
  EXPECT_NEAR(largest, 0.9, 1e-4);
  // Put on the smooth response, a run keeps to it up to grazing and not beyond.
  for (const double factor : {0.9999999, 1.0000001}) {
    const double share = factor / grazing;
    const Motion motion = run_text(
        text(factor), {fmt::format("start.position.x={:.17g}", 0.36 * share),
                       fmt::format("start.velocity.x={:.17g}", 0.064 * share), "run.until=80"});
    EXPECT_EQ(motion.outcome.certificate.shocks.empty(), factor < 1.0) << factor;
  }
}

}  // namespace
}  // namespace ricochet::restitution_test
