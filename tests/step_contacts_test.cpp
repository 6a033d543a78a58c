// Steps with many contacts: their form as contact problems, the solver that keeps its room, scenes
// that go through it, and steps taken out of a run to be solved alone.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "allocations.h"
#include "dense_step.h"
#include "ricochet/base/random.h"
#include "ricochet/convex/friction_cone.h"
#include "ricochet/problem/contact_form.h"
#include "ricochet/problem/contact_residual.h"
#include "ricochet/solve/contact.h"
#include "ricochet/solve/friction.h"
#include "ricochet/solve/step_contacts.h"
#include "ricochet/solve/step_solver.h"
#include "ricochet/step/capture.h"
#include "ricochet/step/run_formula.h"
#include "ricochet/study/builtin_scenes.h"
#include "support.h"

namespace ricochet::solve::step_contacts_test {
namespace {

using Eigen::Index;
using Eigen::VectorXd;
using testing::DenseStep;
using testing::random_matrix;
using testing::random_vector;
using testing::read_text;

convex::Section random_section(base::Random& random, int slips) {
  const double mu = random.uniform(0.0, 1.2);
  if (slips == 1) return convex::Segment{-mu, mu};
  if (random.below(3) == 0) return convex::Ellipse{mu + 0.1, random.uniform(0.1, 1.0)};
  return convex::Disc{mu};
}

/// Contacts of all kinds that press more from one side; some depend on each other when asked.
DenseStep random_step(base::Random& random, int contacts, int joints, bool dependent) {
  DenseStep step;
  std::vector<DenseStep::Contact> all;
  Index rows = 0;
  for (int i = 0; i < contacts; ++i) {
    DenseStep::Contact contact;
    contact.first = static_cast<int>(rows);
    contact.slips = random.below(3);
    contact.key = static_cast<problem::Key>(i);
    if (contact.slips > 0) contact.section = random_section(random, contact.slips);
    rows += 1 + contact.slips;
    all.push_back(contact);
  }
  const Index dofs = dependent ? (rows + joints) / 2 + 2 : rows + joints + 3;
  step.resize(dofs, rows + joints, all.size());
  step.held = joints;
  step.contacts = all;
  step.factor = random_matrix(random, dofs, rows + joints);
  for (const auto& contact : all) step.factor.col(contact.first)[0] += 2.0;
  VectorXd velocity = random_vector(random, dofs);
  velocity[0] -= 2.0;
  step.free = step.factor.transpose() * velocity;
  return step;
}

/// The scale-free residual from the definition, on the step itself; joints by their velocity.
double residual_of(const DenseStep& step, const VectorXd& R) {
  const VectorXd U = step.factor.transpose() * (step.factor * R.head(step.rows)) + step.free;
  double distance = 0.0;
  double scale = 0.0;
  for (const DenseStep::Contact& contact : step.contacts) {
    const int size = 1 + contact.slips;
    Eigen::Vector3d r = Eigen::Vector3d::Zero();
    Eigen::Vector3d v = Eigen::Vector3d::Zero();
    r.head(size) = R.segment(contact.first, size);
    v.head(size) = U.segment(contact.first, size);
    const double rho = size / step.factor.middleCols(contact.first, size).squaredNorm();
    const convex::FrictionCone cone{contact.slips > 0 ? contact.section
                                                      : convex::Section{convex::Disc{0.0}}};
    v[0] += cone.lift(v.tail<2>());
    distance = std::max(distance, (r - cone.project(r - rho * v)).norm());
    scale = std::max({scale, r.norm(), rho * step.free.segment(contact.first, size).norm()});
  }
  for (Index k = step.rows - step.held; k < step.rows; ++k) {
    distance = std::max(distance, std::abs(U[k]) / step.factor.col(k).squaredNorm());
  }
  return distance / scale;
}

TEST(StepContacts, ObeyTheLawWhateverTheContactsAre) {
  base::Random random(21);
  StepContacts solver;
  problem::WarmStart warm;
  int fell_back = 0;
  for (int trial = 0; trial < 600; ++trial) {
    const bool dependent = trial % 3 == 2;
    const DenseStep step =
        random_step(random, 3 + random.below(25), trial % 2 == 0 ? 0 : random.below(4), dependent);
    ASSERT_TRUE(solver.take(step));
    const problem::Report report = solver.solve(step, warm);
    ASSERT_EQ(report.status, problem::Status::Solved) << trial;
    EXPECT_TRUE(report.general);
    EXPECT_LE(residual_of(step, solver.impulses()), 1e-10) << trial;
    EXPECT_TRUE(dependent || report.unique) << trial;
    fell_back += report.fell_back ? 1 : 0;
  }
  RecordProperty("fell_back", fell_back);
}

TEST(StepContacts, FindTheImpulsesOfTheDirectMethodWhereTheyAreUnique) {
  base::Random random(22);
  int compared = 0;
  for (int trial = 0; trial < 300; ++trial) {  // little friction: one solution
    DenseStep step = random_step(random, 3 + random.below(8), random.below(3), false);
    for (auto& contact : step.contacts) {
      if (contact.slips == 1) contact.section = convex::Segment{-0.05, 0.05};
      if (contact.slips == 2) contact.section = convex::Disc{0.05};
    }
    // The same but for a rounding that is no contact problem's: the direct method alone takes it.
    DenseStep same = step;
    bool is_direct = false;
    for (auto& contact : same.contacts) {
      if (contact.slips != 1) continue;
      contact.section = convex::Segment{-0.05, std::nextafter(0.05, 1.0)};
      is_direct = true;
    }
    if (!is_direct) continue;
    ++compared;
    FrictionSolver direct;
    const problem::Report report = direct.solve(same);
    ASSERT_EQ(report.status, problem::Status::Solved);
    ASSERT_FALSE(report.general);
    StepContacts general;
    problem::WarmStart warm;
    ASSERT_TRUE(general.take(step));
    ASSERT_EQ(general.solve(step, warm).status, problem::Status::Solved);
    for (Index k = 0; k < step.rows; ++k) {
      EXPECT_NEAR(direct.impulse(k), general.impulses()[k], 1e-8) << trial << " " << k;
    }
  }
  EXPECT_GT(compared, 100);
}

TEST(StepContacts, BeginWhereTheLastStepEnded) {
  base::Random random(23);
  int cold = 0;
  int later = 0;
  for (int trial = 0; trial < 50; ++trial) {
    const DenseStep step = random_step(random, 20, 0, false);
    StepContacts solver;
    problem::WarmStart warm;
    ASSERT_TRUE(solver.take(step));
    cold += solver.solve(step, warm).iterations;
    const VectorXd first = solver.impulses();
    ASSERT_TRUE(solver.take(step));
    later += solver.solve(step, warm).iterations;
    EXPECT_LE((solver.impulses() - first).norm(), 1e-9 * first.norm());
  }
  EXPECT_LT(later, cold);
}

TEST(StepContacts, AllocateNothingWhileContactsComeAndGo) {
  base::Random random(24);
  std::vector<DenseStep> steps;
  std::vector<problem::StepProblem> problems;
  for (const int contacts : {40, 30, 35, 28, 40, 32}) {
    steps.push_back(random_step(random, contacts, 2, false));
    steps.back().dofs = 240;
    steps.back().factor = random_matrix(random, 240, steps.back().rows);
    for (const auto& contact : steps.back().contacts) {
      steps.back().factor.col(contact.first)[0] += 2.0;
    }
    problems.push_back(steps.back());
  }
  StepSolver solver;
  problem::WarmStart warm;
  const auto solve_all = [&] {
    for (const problem::StepProblem& step : problems) {
      const problem::Report report = solver.solve(step, warm);
      EXPECT_EQ(report.status, problem::Status::Solved);
      EXPECT_TRUE(report.general);
      EXPECT_FALSE(report.fell_back);
    }
  };
  solve_all();
  const long long before = testing::allocations();
  solve_all();
  EXPECT_EQ(testing::allocations(), before);
}

TEST(ContactForm, SaysWhichStepsHaveNone) {
  base::Random random(25);
  DenseStep step = random_step(random, 3, 0, false);
  problem::ContactForm form;
  step.contacts[0].slips = 1;
  step.contacts[0].section = convex::Segment{-0.2, 0.3};
  EXPECT_FALSE(form.take(step));
  step = random_step(random, 3, 2, false);
  step.factor.col(step.rows - 1) = step.factor.col(step.rows - 2);  // the same joint twice
  EXPECT_FALSE(form.take(step));
}

TEST(StepSolver, DoesNotGiveUpOnWhatTheGeneralMethodSolves) {
  // Up to 12 rows in 5 coordinates: W is singular, and the direct method alone gives up on some.
  base::Random random(26);
  StepSolver solver;
  problem::WarmStart warm;
  for (int trial = 0; trial < 20000; ++trial) {
    DenseStep step;
    step.resize(5, 12, 4);
    step.factor = random_matrix(random, 5, 12);
    step.free = step.factor.transpose() * random_vector(random, 5);
    step.contacts.assign(4, {});
    for (int i = 0; i < 4; ++i) {
      step.contacts[static_cast<std::size_t>(i)] = {
          .first = 3 * i, .slips = 2, .section = convex::Disc{random.uniform(0.0, 1.5)}};
    }
    const problem::Report report = solver.solve(step, warm);
    ASSERT_EQ(report.status, problem::Status::Solved) << trial;
    VectorXd R(12);
    for (Index k = 0; k < 12; ++k) R[k] = solver.impulse(static_cast<int>(k));
    ASSERT_LE(residual_of(step, R), 1e-10) << trial;
  }
}

// --- scenes ------------------------------------------------------------------------------------

TEST(Pile, StaysAndRestsOnTheFloorWithItsWeight) {
  const scene::Scene scene = read_text(study::builtin_scene("pile"), {});
  model::State<model::kDynamic> state = scene.start;
  const double weight = 21 * 2 * 9.81 * scene.run.step;  // of one step
  long long first = 0;
  long long last = 0;
  const step::Outcome outcome = step::run_formula(
      *scene.system().model, scene.scheme, scene.run, state, [&](const step::Sample& sample) {
        if (sample.step == 20) first = testing::allocations();
        if (sample.step == 200) last = testing::allocations();
        if (sample.step == 0) return;
        double floor = 0.0;
        for (std::size_t a = 0; a < 6; ++a) floor += sample.impulses[a];
        EXPECT_NEAR(floor, weight, 1e-12 * weight) << sample.step;
      });
  EXPECT_TRUE(outcome.certificate.ok());
  EXPECT_LE(outcome.certificate.residual_max, 1e-10);
  EXPECT_FALSE(outcome.certificate.impulses_unique);
  EXPECT_EQ(outcome.general_steps, 200);
  for (Index k = 0; k < state.u.size(); ++k) EXPECT_EQ(state.u[k], 0.0) << k;
  EXPECT_GT(first, 0);
  EXPECT_EQ(first, last);
}

TEST(Pile, FallsCertifiedWithLittleFriction) {
  const study::Motion motion =
      testing::run_text(study::builtin_scene("pile"), {"mu=0.2", "floor=0.2"});
  EXPECT_TRUE(motion.outcome.certificate.ok());
  EXPECT_GT(motion.outcome.certificate.ledger.kinetic_end, 0.1);
}

TEST(StepSolver, TakesThreeAndMoreContactsOfAStepToTheGeneralMethod) {
  for (const char* name : {"logs", "pile"}) {
    const study::Motion motion = testing::run_text(study::builtin_scene(name), {});
    EXPECT_TRUE(motion.outcome.certificate.ok()) << name;
    EXPECT_EQ(motion.outcome.general_steps, motion.outcome.steps) << name;
    EXPECT_TRUE(motion.outcome.certificate.shocks.empty()) << name;  // what rests is not struck
  }
}

TEST(StepSolver, DoesNotHandOnImpulsesThatHoldEachOther) {
  // A wedge pressed from both sides: any equal push of the walls is held by friction.
  DenseStep step;
  step.resize(2, 6, 3);
  step.factor.leftCols(6) << 1.0, 0.0, -1.0, 0.0, 0.0, 1.0,  //
      0.0, 1.0, 0.0, 1.0, 1.0, 0.0;
  step.contacts = {{0, 1, convex::Segment{-0.5, 0.5}, 0},
                   {2, 1, convex::Segment{-0.5, 0.5}, 1},
                   {4, 1, convex::Segment{-0.5, 0.5}, 2}};
  StepSolver solver;
  problem::WarmStart warm;
  const auto largest = [&](double speed) {
    step.free = step.factor.leftCols(6).transpose() * Eigen::Vector2d(speed, -speed);
    EXPECT_EQ(solver.solve(step, warm).status, problem::Status::Solved);
    double most = 0.0;
    for (Index row = 0; row < 6; ++row)
      most = std::max(most, std::abs(solver.impulse(static_cast<int>(row))));
    return most;
  };
  EXPECT_LE(largest(1e6), 1e7);
  for (int k = 0; k < 3; ++k) EXPECT_LE(largest(1.0), 1e4);  // not the millions of the step before
}

TEST(StepSolver, HeavyLoadsOnLightPadsAreNoWedge) {
  // A block of mass 1e7 on two feet, each on a pad of mass 1 on the ground: impulses are beyond
  // what the pads' free velocities ask for, rightly, and every step finds them.
  const double heavy = 1e7;
  DenseStep step;
  step.resize(6, 8, 4);  // block and pads, in the plane, without turning
  step.factor.setZero();
  const Eigen::Vector3d masses(heavy, 1.0, 1.0);
  const auto add = [&](int row, int below, int above, int axis) {
    const auto place = [&](int body) { return 2 * body + axis; };
    step.factor(place(above), row) = 1.0 / std::sqrt(masses[above]);
    if (below >= 0) step.factor(place(below), row) = -1.0 / std::sqrt(masses[below]);
  };
  for (int foot = 0; foot < 2; ++foot) {
    for (int j = 0; j < 2; ++j) add(4 * foot + j, -1, 1 + foot, 1 - j);
    for (int j = 0; j < 2; ++j) add(4 * foot + 2 + j, 1 + foot, 0, 1 - j);
  }
  step.contacts.clear();
  for (int i = 0; i < 4; ++i) {
    step.contacts.push_back({2 * i, 1, convex::Segment{-0.5, 0.5}, static_cast<problem::Key>(i)});
  }
  step.free.setZero(8);
  for (const int foot : {0, 4}) step.free[foot] = -9.81e-3;  // the ground meets falling pads
  StepSolver solver;
  problem::WarmStart warm;
  for (int k = 0; k < 5; ++k) {
    const problem::Report report = solver.solve(step, warm);
    ASSERT_EQ(report.status, problem::Status::Solved);
    const double ground = solver.impulse(0) + solver.impulse(4);
    EXPECT_NEAR(ground / (9.81e-3 * (heavy + 2.0)), 1.0, 1e-9);
  }
}

/// The step of a scene that follows its start.
step::CapturedStep first_step(const scene::Scene& scene) {
  return step::capture_step(*scene.system().model, scene.scheme, scene.run, scene.start);
}

TEST(Capture, ColumnOfBallsIsCertifiedAsAContactProblem) {
  const scene::Scene scene = read_text(study::builtin_scene("column"), {"run.steps=1"});
  const step::CapturedStep captured = first_step(scene);
  ASSERT_TRUE(captured.has_form);
  ASSERT_EQ(captured.contacts.contacts(), 1000);
  VectorXd r;
  const ContactReport report =
      solve_contacts(captured.contacts, {.tolerance = 1e-9, .scale_free_tolerance = 1e-10}, r);
  EXPECT_TRUE(report.solved());
  const problem::ContactResidual residual = problem::residual_of(captured.contacts, r);
  EXPECT_LE(residual.scale_free, 1e-10);
  for (int k = 0; k < 1000; ++k) {  // each carries what is above it
    const double above = (1000 - k) * 9.81 * scene.run.step;
    EXPECT_NEAR(r[2 * k], above, 1e-6 * above) << k;
    EXPECT_NEAR(captured.impulses[static_cast<std::size_t>(2 * k)], above, 1e-9 * above) << k;
  }
  const VectorXd own = Eigen::Map<const VectorXd>(captured.impulses.data(), 2000);
  EXPECT_LE(problem::residual_of(captured.contacts, own).scale_free, 1e-10);
}

TEST(Capture, ImpulsesOfScenesSolveTheirProblems) {
  for (const char* name : {"logs", "crate", "brick", "pile", "essai-06", "essai-09", "wedge"}) {
    const scene::Scene scene = read_text(study::builtin_scene(name), {});
    model::State<model::kDynamic> state = scene.start;
    step::RunSettings run = scene.run;
    run.record_every = 0;
    bool found = false;
    for (int k = 0; k < 400 && !found; ++k) {  // a step with contacts that push
      run.steps = 1;
      const step::CapturedStep captured =
          step::capture_step(*scene.system().model, scene.scheme, run, state);
      const VectorXd own = Eigen::Map<const VectorXd>(captured.impulses.data(),
                                                      static_cast<Index>(captured.impulses.size()));
      if (captured.has_form && own.norm() > 0.0) {
        found = true;
        EXPECT_LE(problem::residual_of(captured.contacts, own).scale_free, 1e-10) << name;
        VectorXd r;
        const ContactReport report = solve_contacts(
            captured.contacts, {.tolerance = 1e-11, .scale_free_tolerance = 1e-11}, r);
        EXPECT_TRUE(report.solved()) << name;
        if (std::string(name) == "pile") break;  // friction allows several motions there
        // The impulses need not be unique; the velocities are.
        std::array<VectorXd, 2> velocity;
        const problem::ContactVelocity u(captured.contacts);
        u(own, velocity[0]);
        u(r, velocity[1]);
        EXPECT_LE((velocity[0] - velocity[1]).norm(), 1e-8 * u.free().norm()) << name;
      }
      (void)step::run_formula(*scene.system().model, scene.scheme, run, state,
                              [](const step::Sample&) {});
    }
    EXPECT_TRUE(found) << name;
  }
}

}  // namespace
}  // namespace ricochet::solve::step_contacts_test
