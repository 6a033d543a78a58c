// Statements of Moreau 1986 that can be computed, one test each; docs/theory/coverage.md lists
// them.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "ricochet/convex/friction_cone.h"
#include "ricochet/solve/single_contact.h"
#include "ricochet/study/builtin_scenes.h"
#include "ricochet/study/inspect.h"
#include "support.h"

namespace ricochet::theorems_moreau_test {
namespace {

using study::Motion;
using study::Row;
using testing::run_text;

/// Free fall of a particle in a constant field, x'' = -10.
const std::string kFall = R"toml(
[system]
coordinates = ["x"]
parameters  = { h = 0.1 }
mass        = [1]
potential   = "10*x"
[start]
position = { x = "2 + 3*h/2" }
velocity = { x = 3 }
[run]
scheme = "moreau"
step   = "h"
until  = 2
)toml";

// exact: q_app(t_i) = q(t_i) - t h Q/2 where the data are put at a node instead of a middle. With
// the data at t_1 the first middle has q = q_1 + h u_1/2, and q_app at a node is h u/2 before a
// middle.
TEST(MoreauTheorems, P06_10_TheNaiveStartIsOffByHalfThQ) {
  for (const double h : {0.1, 0.025}) {
    const Motion motion = run_text(kFall, {fmt::format("h={}", h)});
    for (const Row& row : motion.rows) {
      const double t = row.t;  // since t_1
      const double node = row.q[0] - 0.5 * h * row.u[0];
      const double exact = 2.0 + 3.0 * t - 5.0 * t * t;
      EXPECT_NEAR(node - exact, -0.5 * t * h * -10.0, 1e-12);
    }
  }
}

// Order 3/2: between its nodes u_app, a step function, is of order 1, and q_app, its primitive, of
// order 2.                                                               [Moreau 1986, par. 6]
TEST(MoreauTheorems, P06_OrderThreeHalves) {
  const auto errors = [](double h) {
    const Motion motion = run_text(R"toml(
[system]
coordinates = ["x"]
mass        = [1]
potential   = "0.5*x^2"
[start]
position = { x = 1 }
[run]
scheme = "moreau"
step   = 0.1
until  = 6
)toml",
                                   {fmt::format("run.step={}", h)});
    std::pair<double, double> most{0.0, 0.0};  // of u_app, of q_app
    for (const Row& row : motion.rows) {
      for (const double part : {-0.5, -0.25, 0.0, 0.25, 0.499}) {  // of a step, about its middle
        const double t = row.t + part * h;
        const double q = row.q[0] + part * h * row.u[0];
        most.first = std::max(most.first, std::abs(row.u[0] + std::sin(t)));
        most.second = std::max(most.second, std::abs(q - std::cos(t)));
      }
    }
    return most;
  };
  const auto coarse = errors(0.02), fine = errors(0.01);
  EXPECT_NEAR(std::log2(coarse.first / fine.first), 1.0, 0.05);
  EXPECT_NEAR(std::log2(coarse.second / fine.second), 2.0, 0.05);
  EXPECT_NEAR(fine.first, 0.5 * 0.01, 0.1 * 0.005);  // half a step of |Q| <= 1
}

// |u_(i+1)| = |u_i| cos(eps), eps the angle between them: along a curved wall without forces.
TEST(MoreauTheorems, P10_Rem3_ACurvedWallTakesTheCosineOfTheAngle) {
  const Motion motion = run_text(R"toml(
[system]
coordinates = ["x", "y"]
mass        = [1, 1]
[contact.ring]
keep = "x^2 + y^2 <= 1"
[start]
position = { x = 1, y = 0 }
velocity = { x = 0, y = 1 }
[run]
scheme       = "inel"
anticipation = 0
step         = 0.05
until        = 3
)toml");
  int turned = 0;
  for (std::size_t i = 1; i < motion.rows.size(); ++i) {
    const Eigen::Vector2d u(motion.rows[i - 1].u[0], motion.rows[i - 1].u[1]);
    const Eigen::Vector2d v(motion.rows[i].u[0], motion.rows[i].u[1]);
    if ((v - u).norm() == 0.0) continue;
    ++turned;
    const double cosine = u.dot(v) / (u.norm() * v.norm());
    EXPECT_NEAR(v.norm(), u.norm() * cosine, 1e-14);
  }
  EXPECT_GE(turned, 20);
}

// Plate 5: mean violation, printed 3476 and 7112 millionths for A_V = -0.01 and -0.02, grows with
// A_V in proportion once the violation of A_V = 0 is small against it.
TEST(MoreauTheorems, Plate5_ViolationIsLinearInTheAnticipation) {
  const auto mean = [](double anticipation) {
    const Motion motion = run_text(study::builtin_scene("essai-04"),
                                   {fmt::format("run.anticipation={}", anticipation)});
    double sum = 0.0;
    for (const Row& row : motion.rows) sum += std::hypot(row.q[0], row.q[1]) / 40.0 - 1.0;
    return 1e6 * sum / static_cast<double>(motion.rows.size() - 1);
  };
  const double one = mean(-0.01), two = mean(-0.02), four = mean(-0.04);
  EXPECT_NEAR(one, 3476.0, 2.0);  // printed
  EXPECT_NEAR(two, 7112.0, 2.0);  // printed
  const double zero = mean(0.0);
  EXPECT_NEAR((two - zero) / (one - zero), 2.0, 0.02);
  EXPECT_NEAR((four - zero) / (two - zero), 2.0, 0.04);
}

// The contact that opens need not be the one whose reaction would be negative [Delassus 1917]:
// three walls of one particle. By hand: holding all three takes r = (-1/3, -10/9, 7/9); what
// follows has r = (1/2, 0, 0), accelerations of the gaps (0, 7/2, 1/2).
TEST(MoreauTheorems, P01_Delassus_TheContactThatOpensHasAPositiveReaction) {
  const scene::Scene scene = testing::read_text(R"toml(
[system]
coordinates = ["x", "y", "z"]
mass        = [1, 1, 1]
force       = ["-1", "0", "-2"]
[contact.a]
keep = "-x - y + 2*z >= 0"
[contact.b]
keep = "-2*x + y - z >= 0"
[contact.c]
keep = "-2*x + y + 2*z >= 0"
[start]
position = { x = 0, y = 0, z = 0 }
[run]
step  = 0.01
until = 1
)toml");
  Eigen::Matrix3d J;
  J << -1, -1, 2, -2, 1, -1, -2, 1, 2;
  const Eigen::Vector3d free(-1.0, 0.0, -2.0);
  const Eigen::Vector3d held = (J * J.transpose()).inverse() * -(J * free);
  EXPECT_NEAR(held[0], -1.0 / 3.0, 1e-13);
  EXPECT_NEAR(held[1], -10.0 / 9.0, 1e-13);
  EXPECT_NEAR(held[2], 7.0 / 9.0, 1e-13);
  const study::Inspection found = study::Inspector(*scene.system().model).at(scene.start);
  ASSERT_TRUE(found.ok());
  EXPECT_NEAR(found.active[0].reaction, 0.5, 1e-13);  // negative when all are held: it stays
  EXPECT_FALSE(found.active[0].opens);
  EXPECT_EQ(found.active[2].reaction, 0.0);  // positive when all are held: it opens
  EXPECT_TRUE(found.active[2].opens);
  EXPECT_NEAR(found.active[2].acceleration, 0.5, 1e-13);
}

// q in L need not be asked for: u in V(q) gives it [Moreau 1986, par. 4 Rem. 3, par. 9]. Of a
// scheme that knows velocities only, the violation falls with the step.
TEST(MoreauTheorems, P09_Rem_TheConditionOnPositionsIsRedundant) {
  for (const double h : {0.004, 0.002, 0.001, 0.0005, 0.00025}) {
    const Motion motion = run_text(
        study::builtin_scene("essai-07"),
        {fmt::format("run.step={}", h), "run.until=2.5", "run.correction=none", "run.scheme=inel"});
    ASSERT_TRUE(motion.outcome.certificate.ok());
    // No deeper than the way of a step: speeds are below sqrt(390^2 + 2 981 75) < 550.
    EXPECT_LT(motion.outcome.certificate.violation_depth, 550.0 * h) << h;
  }
}

// Friction takes energy in every shock, normal and tangential parts together: for the law at the
// end, R . U+ <= 0, so that the change of T, R . (U + U+)/2 = R . U+ - R W R/2, is below -R W R/2.
TEST(MoreauTheorems, P11_FrictionIsPassive) {
  base::Random random(11);
  int shocks = 0;
  for (int k = 0; k < 5000; ++k) {
    const Eigen::MatrixXd W = testing::random_metric(random, 3, 0.5);
    const Eigen::Vector3d before = testing::random_vector(random, 3);
    const convex::Section disc = convex::Disc{random.uniform(0.0, 2.0)};
    const solve::SingleSolution found = solve::solve_in_space(W, before, disc);
    if (found.status != problem::Status::Solved || found.impulse.x() == 0.0) continue;
    ++shocks;
    const Eigen::Vector3d R = found.impulse;
    const Eigen::Vector3d after = W * R + before;
    const double size = R.norm() * (before.norm() + after.norm());
    EXPECT_LE(R.dot(after), 1e-9 * size);
    EXPECT_LE(0.5 * R.dot(before + after), -0.5 * R.dot(W * R) + 1e-9 * size);
  }
  EXPECT_GT(shocks, 1000);
}

// Chatter needs no tangential shock of Delassus: none in the regimes of plates 14 to 16, nor in any
// of them a coefficient that depends on the slip.                         [Moreau 1986, par. 14]
TEST(MoreauTheorems, P14_ChatterNeedsNoTangentialShock) {
  for (const char* name : {"essai-10", "essai-10-200", "essai-10-100"}) {
    const Motion motion = run_text(study::builtin_scene(name), {"run.record=100"});
    ASSERT_TRUE(motion.outcome.certificate.ok()) << name;
    EXPECT_EQ(motion.outcome.certificate.friction[0].tangential_shocks, 0) << name;
  }
}

/// Amplitude of exp(i w t) in a signal without its mean, under Hann's window.
double amplitude(const std::vector<double>& signal, double dt, double w) {
  const double n = static_cast<double>(signal.size());
  double mean = 0.0;
  for (const double x : signal) mean += x / n;
  std::complex<double> sum = 0.0;
  for (std::size_t i = 0; i < signal.size(); ++i) {
    const double s = static_cast<double>(i);
    const double window = 1.0 - std::cos(2.0 * std::numbers::pi * s / n);
    sum += (signal[i] - mean) * window * std::polar(1.0, -w * s * dt);
  }
  return 2.0 * std::abs(sum) / n;
}

struct Line {
  double w{0.0};
  double height{0.0};
};

/// The highest lines of a spectrum, apart by more than its resolution.
std::vector<Line> lines_of(const std::vector<double>& signal, double dt, double highest,
                           std::size_t count) {
  const double unit = 2.0 * std::numbers::pi / (static_cast<double>(signal.size()) * dt);
  std::vector<Line> peaks;
  Line before, here{unit, amplitude(signal, dt, unit)};
  for (double w = 1.5 * unit; w < highest; w += 0.5 * unit) {
    const Line next{w, amplitude(signal, dt, w)};
    if (here.height > before.height && here.height >= next.height) peaks.push_back(here);
    before = here;
    here = next;
  }
  std::sort(peaks.begin(), peaks.end(),
            [](const Line& a, const Line& b) { return a.height > b.height; });
  peaks.resize(std::min(peaks.size(), count));
  return peaks;
}

// Plate 14, "a torus of two dimensions": all strong lines of the spectrum of the relative motion
// are whole combinations of two of them, and not multiples of one.
TEST(MoreauTheorems, Plate14_TheSpectrumHasTwoFrequencies) {
  const Motion motion = run_text(study::builtin_scene("essai-10"), {"run.until=24"});
  ASSERT_TRUE(motion.outcome.certificate.ok());
  std::vector<double> signal;
  for (const Row& row : motion.rows) {
    if (row.t >= 8.0) signal.push_back(row.q[1]);
  }
  const double dt = motion.rows[1].t - motion.rows[0].t;
  const double unit = 2.0 * std::numbers::pi / (static_cast<double>(signal.size()) * dt);
  const std::vector<Line> lines = lines_of(signal, dt, 200.0, 8);
  ASSERT_GE(lines.size(), 4u);
  const auto is_multiple = [&](double w, double of) {
    return std::abs(w / of - std::round(w / of)) * of < 2.0 * unit && w > 0.5 * of;
  };
  bool explains = false;
  for (std::size_t i = 0; i < lines.size() && !explains; ++i) {
    for (std::size_t j = 0; j < i && !explains; ++j) {
      const double a = lines[j].w, b = lines[i].w;
      if (is_multiple(a, b) || is_multiple(b, a)) continue;
      bool all = true;
      for (const Line& line : lines) {
        if (line.height < 0.02 * lines[0].height) continue;
        bool found = false;
        for (int m = -6; m <= 6; ++m) {
          for (int n = -6; n <= 6; ++n) {
            found = found || std::abs(std::abs(m * a + n * b) - line.w) < 2.0 * unit;
          }
        }
        all = all && found;
      }
      explains = all;
    }
  }
  EXPECT_TRUE(explains) << lines[0].w << ' ' << lines[1].w << ' ' << lines[2].w << ' ' << lines[3].w
                        << ", resolution " << unit;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Two runs that start 1e-7 apart, by the second half of their shocks: how far apart their speeds
/// of arrival are, shock by shock, and how far apart those of one run are, each and the next but
/// some; medians.
struct Apart {
  double runs{0.0};
  double shocks{0.0};
};
Apart neighbours_apart(const std::string& scene, double couple, double h) {
  std::vector<std::string> settings = {fmt::format("CR={}", couple), "run.until=8",
                                       fmt::format("run.step={}", h), "run.record=1000"};
  const Motion one = run_text(scene, settings);
  settings.push_back(fmt::format("start.position.X={:.17g}", one.scene.start.q[0] + 1e-7));
  const Motion two = run_text(scene, settings);
  EXPECT_TRUE(one.outcome.certificate.ok() && two.outcome.certificate.ok());
  const auto& a = one.outcome.certificate.shocks;
  const auto& b = two.outcome.certificate.shocks;
  constexpr std::size_t kSome = 7;
  const std::size_t count = std::min(a.size(), b.size());
  std::vector<double> runs, shocks;
  for (std::size_t i = count / 2; i + kSome < count; ++i) {
    runs.push_back(std::abs(a[i].approach - b[i].approach));
    shocks.push_back(std::abs(a[i].approach - a[i + kSome].approach));
  }
  EXPECT_GT(runs.size(), 10u);
  return {median(runs), median(shocks)};
}

// qualitative: CR = -50, "erratic shocks without apparent structure": in the end neighbours know
// nothing of each other, and differ as shocks of one motion do, whatever the step; were they
// independent, the medians would be the same. In the periodic regime CR = -200 they stay as near as
// the step allows: a fifth of it brings them nearer.
TEST(MoreauTheorems, Essai10_ErraticMeansThatNeighboursPart) {
  const std::string free = study::builtin_scene("essai-10-100");
  const std::string periodic = study::builtin_scene("essai-10-200");
  for (const double h : {5e-4, 1e-4}) {
    const Apart apart = neighbours_apart(free, -50.0, h);
    EXPECT_GT(apart.runs, 0.5 * apart.shocks) << h;
  }
  const double coarse = neighbours_apart(periodic, -200.0, 5e-4).runs;
  EXPECT_LT(neighbours_apart(periodic, -200.0, 1e-4).runs, 0.5 * coarse);
}

// Essai 9, plate 13: negative starts give symmetric drawings.
TEST(MoreauTheorems, Plate13_NegativeStartsAreSymmetric) {
  for (const double y : {17.0, 60.0}) {
    const auto end = [&](double start, double sign) {
      return run_text(study::builtin_scene("essai-09-plate-13"),
                      {fmt::format("y0={}", start), fmt::format("A={}", sign * -0.5),
                       fmt::format("tilt={}", sign * 0.01), "run.steps=500"})
          .final_state.q;
    };
    // y -> -y turns the rotation about Ox and the vibration along Oy round.
    const Eigen::VectorXd plus = end(y, 1.0), minus = end(-y, -1.0);
    EXPECT_NEAR(minus[0], plus[0], 1e-9);
    EXPECT_NEAR(minus[1], -plus[1], 1e-9);
    EXPECT_NEAR(minus[2], plus[2], 1e-9);
  }
}

// qualitative: "a drawing to a smaller scale would show other, parallel bands": starts beyond the
// line at 103 gather on such lines, as far from each other as the two on the plate, at 0 and 103,
// are, at least to a half.
TEST(MoreauTheorems, Plate13_ThereAreBandsBeyondTheDrawing) {
  std::vector<double> ends;
  for (double y = 150.0; y <= 290.0; y += 14.0) {
    const Motion motion = run_text(study::builtin_scene("essai-09-plate-13"),
                                   {fmt::format("y0={}", y), "run.steps=7500", "run.record=0"});
    EXPECT_TRUE(motion.outcome.certificate.ok());
    ends.push_back(motion.final_state.q[1]);
  }
  std::sort(ends.begin(), ends.end());
  std::vector<double> lines;
  double first = ends.front();
  for (std::size_t k = 0; k < ends.size(); ++k) {
    const bool goes_on = k + 1 < ends.size() && ends[k + 1] - ends[k] < 0.25 * 103.0;
    if (goes_on) continue;
    EXPECT_LT(ends[k] - first, 0.1 * 103.0) << "a line, where starts were everywhere";
    lines.push_back(0.5 * (first + ends[k]));
    if (k + 1 < ends.size()) first = ends[k + 1];
  }
  ASSERT_GE(lines.size(), 2u);
  for (std::size_t k = 1; k < lines.size(); ++k) EXPECT_GT(lines[k] - lines[k - 1], 0.5 * 103.0);
}

}  // namespace
}  // namespace ricochet::theorems_moreau_test
