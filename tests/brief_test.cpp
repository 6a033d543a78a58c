// The brief check of plain steps enters what the full one enters, and passes no lie.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "ricochet/model/formula_view.h"
#include "ricochet/step/elast.h"
#include "ricochet/step/inel.h"
#include "ricochet/step/moreau.h"
#include "ricochet/step/run_formula.h"
#include "ricochet/step/simulate.h"
#include "support.h"

namespace ricochet::certify::brief_test {
namespace {

/// A particle within a circle, with another mass in each direction.
struct Ring {
  static constexpr int kDofs = 2;
  static constexpr int kContacts = 1;
  convex::DiagonalMetric<2> metric{{2.0, 3.0}};
  double gap(int, double, const Eigen::Vector2d& q) const { return 1.0 - q.squaredNorm(); }
  Eigen::Vector2d gap_gradient(int, double, const Eigen::Vector2d& q) const { return -2.0 * q; }
  Eigen::Vector2d force(double, const Eigen::Vector2d&, const Eigen::Vector2d&) const {
    return {0.3, -9.81};
  }
  double potential(double, const Eigen::Vector2d& q) const { return 9.81 * q[1] - 0.3 * q[0]; }
  const convex::DiagonalMetric<2>& mass() const { return metric; }
  double restitution(int) const { return 0.0; }
};

/// A rod of length 2 whose ends stay above a floor that rises and falls.
struct Rod {
  static constexpr int kDofs = 3;
  static constexpr int kContacts = 2;
  convex::DiagonalMetric<3> metric{{1.0, 1.0, 1.0 / 3.0}};
  static double side(int contact) { return contact == 0 ? -1.0 : 1.0; }
  double gap(int contact, double t, const Eigen::Vector3d& q) const {
    return q[1] + side(contact) * std::sin(q[2]) - 0.01 * std::sin(3.0 * t);
  }
  double gap_rate(int, double t, const Eigen::Vector3d&) const { return -0.03 * std::cos(3.0 * t); }
  Eigen::Vector3d gap_gradient(int contact, double, const Eigen::Vector3d& q) const {
    return {0.0, 1.0, side(contact) * std::cos(q[2])};
  }
  Eigen::Vector3d force(double, const Eigen::Vector3d&, const Eigen::Vector3d&) const {
    return {0.0, -9.81, 0.0};
  }
  double potential(double, const Eigen::Vector3d& q) const { return 9.81 * q[1]; }
  const convex::DiagonalMetric<3>& mass() const { return metric; }
  double restitution(int) const { return 0.5; }
};

/// A motion step by step.
template <class System, class Scheme>
struct Motion {
  using Model = model::InlineModel<System>;
  using State = model::StateOf<Model>;
  using TheClaim = Claim<System::kDofs, System::kContacts>;
  static constexpr Integrator kIntegrator = Scheme::kInfo.integrator;

  Model model{System{}};
  Scheme scheme{};
  State now;
  State next;
  step::Workspace<Model> workspace;
  Judge<Model> judge;
  double h;

  Motion(const State& start, double length)
      : now(start),
        next(start),
        workspace(model, start.q),
        judge(model, scheme.method(), Limits{}, start),
        h(length) {}

  void make() {
    next.t = static_cast<double>(now.memory.steps + 1) * h;
    ASSERT_EQ(step::make_step(scheme, model, now, h, next, workspace).status,
              problem::Status::Solved);
  }
  bool check(bool in_full, const State& end, const TheClaim& claim) {
    return in_full ? judge.template check_fully<kIntegrator>(now, end, h, claim)
                   : judge.template check<kIntegrator>(now, end, h, claim);
  }
  void advance(bool in_full) {
    make();
    ASSERT_TRUE(check(in_full, next, workspace.claim))
        << describe(judge.certificate().failure).name;
    std::swap(now, next);
  }
};

template <class System, class Scheme, class State>
void expect_same_certificate(const State& start, double h, int steps) {
  Motion<System, Scheme> brief(start, h);
  Motion<System, Scheme> full(start, h);
  for (int i = 0; i < steps; ++i) {
    ASSERT_NO_FATAL_FAILURE(brief.advance(false)) << i;
    ASSERT_NO_FATAL_FAILURE(full.advance(true)) << i;
  }
  EXPECT_GT(brief.judge.certificate().steps, 0);
  EXPECT_TRUE(brief.judge.finish() == full.judge.finish());
  for (int a = 0; a < System::kContacts; ++a)
    EXPECT_EQ(brief.judge.gaps(brief.now)[a], full.judge.gaps(full.now)[a]);
}

TEST(Brief, EntersWhatTheFullCheckEnters) {
  const model::State<2> inside{0.0, {0.3, -0.2}, {1.5, 0.4}};
  const model::State<2> along{0.0, {0.0, -1.0}, {9.0, 0.0}};
  for (const model::State<2>& start : {inside, along}) {
    for (const double h : {1e-2, 1e-3}) {
      expect_same_certificate<Ring, step::Elast>(start, h, 5000);
      expect_same_certificate<Ring, step::Inel>(start, h, 5000);
      expect_same_certificate<Ring, step::Moreau>(start, h, 5000);
    }
  }
  const model::State<3> falling{0.0, {0.0, 1.5, 0.4}, {0.2, -1.0, 0.7}};
  expect_same_certificate<Rod, step::Elast>(falling, 1e-3, 5000);
  expect_same_certificate<Rod, step::Inel>(falling, 1e-3, 5000);
  expect_same_certificate<Rod, step::Moreau>(falling, 1e-3, 5000);
}

/// After enough steps that brief checks are allowed, a lie of each kind ends as in the full check.
template <class Scheme>
void expect_lies_refused(int steps) {
  using Run = Motion<Ring, Scheme>;
  using State = typename Run::State;
  using TheClaim = typename Run::TheClaim;
  const model::State<2> start{0.0, {0.0, -1.0}, {9.0, 0.0}};
  const std::array<std::function<void(State&, TheClaim&, double)>, 9> lies = {
      [](State& s, TheClaim&, double d) { s.q[0] += d; },
      [](State& s, TheClaim&, double d) { s.q[1] -= d; },
      [](State& s, TheClaim&, double d) { s.u[0] += d; },
      [](State& s, TheClaim&, double d) { s.u[1] += d; },
      [](State& s, TheClaim&, double d) { s.t += 1e-3 * d; },
      [](State&, TheClaim& claim, double d) { claim.impulses[0] += d; },
      [](State& s, TheClaim& claim, double d) {  // an impulse that balances
        const double p = -d * claim.impulses[0];
        claim.impulses[0] += p;
        s.u += p * (-2.0 * s.q).cwiseQuotient(Eigen::Vector2d(2.0, 3.0));
      },
      [](State&, TheClaim& claim, double) { claim.active.clear(); },
      [](State& s, TheClaim&, double) { s.u[0] = std::numeric_limits<double>::quiet_NaN(); }};
  for (std::size_t lie = 0; lie < lies.size(); ++lie) {
    for (const double size : {1e-8, 1e-5, 1e-2}) {
      std::array<Failure, 2> failures{};
      for (const bool in_full : {false, true}) {
        Run run(start, 1e-3);
        for (int i = 0; i < steps; ++i) ASSERT_NO_FATAL_FAILURE(run.advance(in_full));
        ASSERT_NO_FATAL_FAILURE(run.make());
        ASSERT_FALSE(run.workspace.claim.active.empty());
        State told = run.next;
        TheClaim claim = run.workspace.claim;
        lies[lie](told, claim, size);
        EXPECT_FALSE(run.check(in_full, told, claim)) << lie << ' ' << size << ' ' << in_full;
        failures[in_full ? 1 : 0] = run.judge.certificate().failure;
      }
      EXPECT_EQ(failures[0], failures[1]) << lie << ' ' << size;
    }
  }
}

TEST(Brief, PassesNoLie) {
  expect_lies_refused<step::Elast>(300);
  expect_lies_refused<step::Inel>(300);
  expect_lies_refused<step::Moreau>(300);
}

// ---- scenes
// ---------------------------------------------------------------------------------------

/// A rod in a circle, as of essai 8 but twice as fast: free flights, one contact and both.
const std::string kRodInCircle = R"toml(
[system]
coordinates = ["x", "y", "phi"]
mass        = [1, 1, 468.7225]
potential   = "981*y"
[contact.A]
keep = "(x - 37.5*cos(phi))^2 + (y - 37.5*sin(phi))^2 <= 2025"
[contact.B]
keep = "(x + 12.5*cos(phi))^2 + (y + 12.5*sin(phi))^2 <= 2025"
[start]
position = { x = 0, y = 10, phi = 0.3 }
velocity = { x = 50, y = 100, phi = 7 }
[run]
step   = 1e-4
steps  = 20000
)toml";

/// A ball that comes to rest a little above its floor, or in it.
const std::string kBall = R"toml(
[system]
coordinates = ["x"]
mass        = [1]
potential   = "10*x"
[contact.floor]
keep        = "x >= 0"
restitution = 0.3
[start]
position = { x = 1 }
[run]
step   = 7e-4
steps  = 5000
)toml";

/// The same scene run as a model of known size, where steps are checked briefly, and of any size,
/// where all are checked in full.
void expect_same_run(const std::string& text, const std::string& scheme, long long every) {
  scene::Scene scene = testing::read_text(text, {"run.scheme=" + scheme});
  scene.run.record_every = every;
  const model::FormulaModel& model = *scene.system().model;
  const model::FormulaView<model::kDynamic, model::kDynamic> view(model);
  auto place = view.make_place();
  long long rows = 0;
  model::State<model::kDynamic> end = scene.start, other = scene.start;
  const auto look = [&](const step::Sample& sample) {  // gaps are those of the row
    view.gaps(sample.t, Eigen::Map<const Eigen::VectorXd>(sample.q.data(), view.dofs()), place);
    for (int a = 0; a < view.contacts(); ++a) {
      EXPECT_EQ(sample.gaps[static_cast<std::size_t>(a)], place.gap[a]) << sample.t;
    }
    ++rows;
  };
  const step::Outcome brief = step::run_formula(model, scene.scheme, scene.run, end, look);
  const auto run =
      step::start_formula(model, scene.scheme, scene.run, scene.start, [](const step::Sample&) {});
  EXPECT_TRUE(run->advance(scene.run.steps)) << scheme;
  const step::Outcome full = run->finish(other);
  EXPECT_TRUE(brief.certificate.ok()) << scheme;
  EXPECT_EQ(brief.certificate.steps, full.certificate.steps);
  EXPECT_EQ(brief.certificate.shock_counts, full.certificate.shock_counts);
  EXPECT_EQ(brief.certificate.violation_max, full.certificate.violation_max);
  const double work = full.certificate.ledger.contacts.value();
  EXPECT_NEAR(brief.certificate.ledger.contacts.value(), work, 1e-9 * std::abs(work)) << scheme;
  EXPECT_EQ(brief.gaps, full.gaps);
  EXPECT_EQ(end.q, other.q);
  EXPECT_GT(rows, 2);
}

TEST(Brief, KnowsGapsThatItDidNotCompute) {
  for (const char* scheme : {"elast", "inel", "moreau"}) {
    expect_same_run(kRodInCircle, scheme, 1);
    expect_same_run(kRodInCircle, scheme, 137);
  }
}

TEST(Brief, KnowsContactsThatLast) {
  expect_same_run(kBall, "moreau", 1);
  expect_same_run(kBall, "moreau", 100);
}

}  // namespace
}  // namespace ricochet::certify::brief_test
