// The brief check of plain steps enters what the full one enters, and passes no lie.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "ricochet/step/elast.h"
#include "ricochet/step/inel.h"
#include "ricochet/step/moreau.h"
#include "ricochet/step/simulate.h"

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

}  // namespace
}  // namespace ricochet::certify::brief_test
