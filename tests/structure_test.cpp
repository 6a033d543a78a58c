// Structures: frequencies against closed forms, band factors, the scheme against a transcription of
// its paper, guides, energy, reduction, spectra, cost.

#include "ricochet/structure/linear_structure.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <array>
#include <cmath>
#include <ctime>
#include <numbers>

#include "allocations.h"
#include "ricochet/certify/judge.h"
#include "ricochet/formula/lower.h"
#include "ricochet/solve/box.h"
#include "ricochet/step/mabrouk.h"
#include "ricochet/step/moreau.h"
#include "ricochet/step/newmark.h"
#include "ricochet/step/penalty.h"
#include "ricochet/step/run_formula.h"
#include "ricochet/structure/beam.h"
#include "ricochet/structure/modes.h"
#include "ricochet/structure/reduction.h"
#include "ricochet/structure/statistics.h"
#include "ricochet/structure/structure_model.h"
#include "ricochet/structure/welch.h"
#include "support.h"

namespace ricochet::structure::structure_test {
namespace {

constexpr double kPi = std::numbers::pi;

/// Roots of cos(z) cosh(z) = -1: clamped-free frequencies are (z/L)^2 sqrt(EI/rho S). (exact)
constexpr std::array kRoots = {1.8751040687119611, 4.6940911329741746, 7.8547574382376126,
                               10.995540734875467, 14.137168391046471};

Line tube(int cells, Form form) {
  const Section section = Section::tube(0.020, 0.002);
  return {.form = form,
          .length = 1.5,
          .stiffness = 2.1e11 * section.inertia,
          .mass_per_length = 7850.0 * section.area,
          .cells = cells};
}

double exact_frequency(const Line& line, std::size_t mode) {
  return std::pow(kRoots[mode] / line.length, 2) * std::sqrt(line.stiffness / line.mass_per_length);
}

void add_shaker(LinearStructure& s, const Mesh& mesh, double force) {
  formula::Graph graph;
  const formula::NodeId angle = graph.multiply(graph.constant(2.0 * kPi * 15.0), graph.input(0));
  const formula::NodeId node =
      graph.multiply(graph.constant(force), graph.make(formula::Op::Sin, angle));
  s.load_tape = formula::Tape(graph, 1, {{node}});
  s.loads.push_back({"shaker", 0.5, 0, mesh.row_at(0.5), s.load_tape.outputs(0)[0]});
}

Guide guide_at(const Mesh& mesh, double x, double clearance, double e) {
  return {.name = "guide",
          .at = x,
          .row = mesh.row_at(x),
          .lower = -clearance,
          .upper = clearance,
          .restitution = e};
}

LinearStructure guided_tube(int cells, Form form, double force, double e) {
  const Mesh mesh(tube(cells, form));
  LinearStructure s = build_line(mesh);
  add_shaker(s, mesh, force);
  s.guides.push_back(guide_at(mesh, 1.0, 1e-3, e));
  s.points.push_back({"tip", 1.5, 0, mesh.row_at(1.5)});
  return s;
}

Motion at_rest(const LinearStructure& s) {
  return {0.0, Eigen::VectorXd::Zero(s.size()), Eigen::VectorXd::Zero(s.size())};
}

struct Found {
  step::Outcome run;
  Statistics statistics;
};

/// A run whose every step is seen.
Found simulate(const LinearStructure& s, const std::string& scheme, step::RunSettings run,
               Motion& state, const step::Observer& observe = {}) {
  Found found{{}, Statistics(s, run.step, run.steps)};
  run.record_every = 1;
  found.run = step::run_structure(
      s, step::make_scheme(scheme, true), run, state, [&](const step::Sample& row) {
        if (row.step == 0) {
          found.statistics.begin(row.u.data());
        } else {
          found.statistics.add(row.t, row.q.data(), row.u.data(), row.impulses);
        }
        if (observe) observe(row);
      });
  return found;
}

/// Steps of a scheme, one by one.
template <class S>
struct Steps {
  Steps(const LinearStructure& s, double length)
      : h(length),
        model(s, length, S::kInfo.integrator == certify::Integrator::End),
        w(model, Eigen::VectorXd::Zero(s.size())) {}
  [[nodiscard]] problem::Status advance(const Motion& now, Motion& next) {
    next.t = now.t + h;
    return step::make_step(S{}, model, now, h, next, w).status;
  }
  double normal() const {  // of the first guide, positive upwards
    double sum = 0.0;
    for (int k = 0; k < w.claim.active.size(); ++k) {
      const double p = w.claim.impulses[k];
      sum += model.side(w.claim.active[k]).is_upper ? -p : p;
    }
    return sum;
  }
  double h;
  StructureModel model;
  step::Workspace<StructureModel> w;
};

using StructureClaim = certify::Claim<model::kDynamic, model::kDynamic, 1>;

template <class S, certify::Integrator I = S::kInfo.integrator>
certify::Failure verdict(const LinearStructure& s, double h, const Motion& now, const Motion& next,
                         const StructureClaim& claim) {
  const StructureModel model(s, h, false);
  certify::Judge<StructureModel> judge(model, S{}.method(), {}, now);
  return judge.check<I>(now, next, h, claim) ? certify::Failure::None : judge.certificate().failure;
}

Eigen::MatrixXd dense(const BandMatrix& band) {
  Eigen::MatrixXd full = Eigen::MatrixXd::Zero(band.size(), band.size());
  for (int i = 0; i < band.size(); ++i) {
    for (int j = std::max(0, i - band.band()); j <= i; ++j) full(i, j) = full(j, i) = band.at(i, j);
  }
  return full;
}

TEST(Structure, ThePrintedMatrixIsThatOfThePaper) {
  const Mesh mesh(tube(6, Form::Printed));
  const LinearStructure s = build_line(mesh);
  const Eigen::MatrixXd k =
      dense(s.combined(0.0, 1.0)) * std::pow(mesh.cell(), 3) / mesh.line().stiffness;
  Eigen::MatrixXd printed(6, 6);  // Paoli 2001, after (3.8)
  printed << 6, -4, 1, 0, 0, 0, -4, 6, -4, 1, 0, 0, 1, -4, 6, -4, 1, 0, 0, 1, -4, 6, -4, 1, 0, 0, 1,
      -4, 5, -2, 0, 0, 0, 1, -2, 1;
  EXPECT_LT((k - printed).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(Structure, FrequenciesConvergeAtTheOrderOfEachForm) {
  const std::array<std::pair<Form, double>, 3> forms = {
      {{Form::Printed, 1.0}, {Form::Corrected, 2.0}, {Form::Elements, 4.0}}};
  for (const auto& [form, order] : forms) {
    const std::vector<Mode> coarse = find_modes(build_line(Mesh(tube(40, form))), 5);
    const std::vector<Mode> fine = find_modes(build_line(Mesh(tube(80, form))), 5);
    for (std::size_t m = 0; m < 5; ++m) {
      const double exact = exact_frequency(tube(80, form), m);
      const double before = std::abs(coarse[m].omega / exact - 1.0);
      const double after = std::abs(fine[m].omega / exact - 1.0);
      EXPECT_NEAR(std::log2(before / after), order, 0.06 * order) << static_cast<int>(form) << m;
    }
  }
}

/// The printed matrix is that of a beam longer by dx: what is left after that is second order.
TEST(Structure, ThePrintedFormIsLowByItsLength) {
  for (const int d : {40, 80, 160}) {
    const Line line = tube(d, Form::Printed);
    const double first = find_modes(build_line(Mesh(line)), 1)[0].omega;
    const double longer = exact_frequency(line, 0) / std::pow(1.0 + 1.0 / d, 2);
    EXPECT_NEAR(first / longer, 1.0, 0.6 / (d * d));
  }
}

/// A free bar has the frequencies n pi c/L, the first of them 0; a string between pins the same.
TEST(Structure, BarsAndStringsHaveTheirFrequencies) {
  for (const Form form : {Form::Corrected, Form::Elements}) {
    Line line{.kind = Kind::Bar,
              .form = form,
              .length = 10.0,
              .stiffness = 900.0,
              .mass_per_length = 1.0,
              .left = End::Free,
              .right = End::Free,
              .cells = 400};
    const std::vector<Mode> bar = find_modes(build_line(Mesh(line)), 4);
    EXPECT_NEAR(bar[0].omega, 0.0, 1e-4);
    for (std::size_t n = 1; n < 4; ++n) {
      EXPECT_NEAR(bar[n].omega / (static_cast<double>(n) * kPi * 3.0), 1.0, 1e-4);
    }
    line.kind = Kind::String;
    line.left = line.right = End::Pinned;
    const std::vector<Mode> string = find_modes(build_line(Mesh(line)), 3);
    for (std::size_t n = 0; n < 3; ++n) {
      EXPECT_NEAR(string[n].omega / (static_cast<double>(n + 1) * kPi * 3.0), 1.0, 1e-4);
    }
  }
}

TEST(Structure, PinnedAndClampedBeamsHaveTheirFrequencies) {
  for (const Form form : {Form::Corrected, Form::Elements}) {
    Line line = tube(200, form);
    line.left = line.right = End::Pinned;
    const double unit = std::sqrt(line.stiffness / line.mass_per_length) / std::pow(line.length, 2);
    EXPECT_NEAR(find_modes(build_line(Mesh(line)), 1)[0].omega / (unit * kPi * kPi), 1.0, 1e-4);
    line.left = line.right = End::Clamped;
    const double z = 4.7300407448627040;  // cos(z) cosh(z) = 1
    EXPECT_NEAR(find_modes(build_line(Mesh(line)), 1)[0].omega / (unit * z * z), 1.0, 2e-4);
  }
}

/// M of the line gains m at the tip: as m grows the beam becomes the oscillator 3 EI / L^3.
TEST(Structure, AHeavyPointMassMakesAnOscillator) {
  const Mesh mesh(tube(40, Form::Elements));
  LinearStructure s = build_line(mesh);
  const double mass = 1e5;
  add_point_mass(s, mesh.row_at(1.5), mass);
  const double expected = std::sqrt(3.0 * mesh.line().stiffness / std::pow(1.5, 3) / mass);
  EXPECT_NEAR(find_modes(s, 1)[0].omega / expected, 1.0, 1e-5);
}

TEST(Structure, BandFactorsAndModalDampingAreThoseOfTheDenseMatrix) {
  base::Random random(3);
  for (const Form form : {Form::Printed, Form::Elements}) {
    LinearStructure s = build_line(Mesh(tube(12, form)));
    set_modal_damping(s, find_modes(s, 3), {0.1, 0.2, 0.3});
    s.damping.mass = 3.0;
    s.damping.stiffness = 1e-5;
    const double h = 1e-4;
    const Eigen::MatrixXd m = dense(s.combined(1.0, 0.0));
    const Eigen::MatrixXd k = dense(s.combined(0.0, 1.0));
    const Eigen::MatrixXd c =
        3.0 * m + 1e-5 * k +
        s.damping.forms * s.damping.rates.asDiagonal() * s.damping.forms.transpose();
    EffectiveMatrix effective;
    ASSERT_TRUE(effective.factor(s, 0.5 * h, 0.25 * h * h));
    const Eigen::VectorXd b = testing::random_vector(random, s.dofs);
    Eigen::VectorXd x = b;
    effective.solve(x.data());
    const Eigen::VectorXd y = (m + 0.5 * h * c + 0.25 * h * h * k).ldlt().solve(b);
    EXPECT_LT((x - y).norm(), 1e-10 * y.norm());
    Eigen::VectorXd damped = Eigen::VectorXd::Zero(s.dofs);
    Eigen::VectorXd scratch = Eigen::VectorXd::Zero(s.scratch_size());
    s.add_damping(1.0, b.data(), scratch.data(), damped.data());
    EXPECT_LT((damped - c * b).norm(), 1e-10 * damped.norm());
  }
}

/// One mode alone decays as exp(-zeta omega t) and oscillates sqrt(1 - zeta^2) times as fast.
TEST(Structure, AModeDecaysAtItsRatio) {
  LinearStructure s = build_line(Mesh(tube(40, Form::Elements)));
  const std::vector<Mode> modes = find_modes(s, 3);
  set_modal_damping(s, modes, {0.05, 0.05, 0.05});
  Motion state = at_rest(s);
  state.q = 1e-3 * modes[0].shape;
  step::RunSettings run;
  run.step = 1e-5;
  run.steps = 20000;
  run.record_every = 0;
  ASSERT_TRUE(simulate(s, "newmark", run, state).run.certificate.ok());
  const double omega = modes[0].omega;
  const double damped = omega * std::sqrt(1.0 - 0.05 * 0.05);
  const double t = 0.2;
  const double y = 1e-3 * std::exp(-0.05 * omega * t) *
                   (std::cos(damped * t) + 0.05 * omega / damped * std::sin(damped * t));
  EXPECT_LT((state.q - y * modes[0].shape).norm(), 1e-6 * 1e-3 * modes[0].shape.norm());
}

/// The two-step recursion as the paper prints it, with dense matrices, (3.12)-(3.15).
class PaoliTranscription {
 public:
  PaoliTranscription(const Line& line, int shaken, int guided, double force, double e, double h)
      : guided_(guided), shaken_(shaken), e_(e), h_(h) {
    const Mesh mesh(line);
    const LinearStructure s = build_line(mesh);
    k2_a_ = dense(s.combined(0.0, 1.0)) / (line.mass_per_length * mesh.cell());
    load_ = force / (line.mass_per_length * mesh.cell());
    const auto n = k2_a_.rows();
    matrix_ = Eigen::MatrixXd::Identity(n, n) + 0.25 * h * h * k2_a_;
    before_ = now_ = Eigen::VectorXd::Zero(n);
  }
  double g(double t) const { return load_ * std::sin(2.0 * kPi * 15.0 * t); }

  /// From U^i at t to U^{i+1}; the reaction over rho S dx, from the balance at the guide.
  double advance(double t) {
    const double mean = 0.25 * (g(t + h_) + 2.0 * g(t) + g(t - h_));
    Eigen::VectorXd x =
        2.0 * now_ - 0.5 * h_ * h_ * (k2_a_ * now_) - (1.0 - e_) * (matrix_ * before_);
    x[shaken_] += h_ * h_ * mean;
    // (3.14) is for the sum of U+ and e U-: K scaled by 1 + e.
    Eigen::VectorXd sum = matrix_.lu().solve(x);
    const double bound = (1.0 + e_) * 1e-3;
    if (std::abs(sum[guided_]) > bound) {  // (3.15): the second system
      Eigen::MatrixXd held = matrix_;
      held.row(guided_).setZero();
      held(guided_, guided_) = 1.0;
      x[guided_] = std::copysign(bound, sum[guided_]);
      sum = held.lu().solve(x);
    }
    const Eigen::VectorXd next = sum - e_ * before_;
    const double acceleration =
        (next[guided_] - 2.0 * now_[guided_] + before_[guided_]) / (h_ * h_);
    const double nu = acceleration + 0.25 * (k2_a_ * (next + 2.0 * now_ + before_))[guided_] -
                      (guided_ == shaken_ ? mean : 0.0);
    before_ = now_;
    now_ = next;
    return nu;
  }
  const Eigen::VectorXd& now() const { return now_; }

 private:
  int guided_;
  int shaken_;
  double e_;
  double h_;
  double load_{0.0};
  Eigen::MatrixXd k2_a_;
  Eigen::MatrixXd matrix_;
  Eigen::VectorXd before_;
  Eigen::VectorXd now_;
};

TEST(Newmark, IsThePapersRecursionAndItsReaction) {
  const Line line = tube(15, Form::Printed);
  const double h = 1e-4;
  const double e = 0.4;
  const Mesh mesh(line);
  LinearStructure s = build_line(mesh);
  add_shaker(s, mesh, 40.0);
  s.guides.push_back(guide_at(mesh, 1.0, 1e-3, e));
  PaoliTranscription paper(line, 4, 9, 40.0, e, h);
  Steps<step::Newmark> step(s, h);
  Motion now = at_rest(s);
  Motion next = now;
  int pushes = 0;
  for (int i = 1; i <= 900; ++i) {
    const double t_mid = (i - 0.5) * h;
    ASSERT_EQ(step.advance(now, next), problem::Status::Solved);
    const double nu = paper.advance(t_mid);
    const double mass = line.mass_per_length * mesh.cell();
    EXPECT_NEAR(step.normal() / (h * mass), nu, 1e-6 * (1.0 + std::abs(nu))) << i;
    pushes += step.normal() != 0.0 ? 1 : 0;
    const Eigen::VectorXd after = next.q + 0.5 * h * next.u;
    ASSERT_LT((after - paper.now()).norm(), 1e-9 * (1e-3 + paper.now().norm())) << i;
    std::swap(now, next);
  }
  EXPECT_GT(pushes, 10);
  EXPECT_EQ(step.model.solves(),
            1);  // Lemma 3.2 allows two systems a step; columns save the second
}

TEST(Newmark, KeepsTheAveragePositionAndTheEnergyInAStrongCase) {
  const LinearStructure s = guided_tube(30, Form::Printed, 20.0, 0.5);
  Motion state = at_rest(s);
  step::RunSettings run;
  run.step = 2e-5;
  run.steps = 50000;
  run.record_every = 0;
  const Found outcome = simulate(s, "newmark", run, state);
  ASSERT_TRUE(outcome.run.certificate.ok());
  EXPECT_GT(outcome.statistics.guides()[0].impacts, 100);
  EXPECT_GE(outcome.run.certificate.average_gap, -1e-17);  // of 1e-3: roundoff
  EXPECT_LT(std::abs(outcome.run.certificate.ledger.closure.value()),
            1e-11 * outcome.run.certificate.ledger.highest);
  EXPECT_LT(outcome.run.certificate.ledger.contacts.value(), 0.0);
}

/// Nothing drives a string against an obstacle: T + V cannot grow. Elastic, with long steps, it
/// would.
TEST(Newmark, IsRefusedWhereItsContactsCreateEnergy) {
  Line line{.kind = Kind::String, .length = 1.0, .stiffness = 1.0, .mass_per_length = 1.0};
  line.left = line.right = End::Pinned;
  line.form = Form::Corrected;
  for (const int cells : {4, 8, 20}) {
    for (const double e : {0.0, 0.5, 1.0}) {
      line.cells = cells;
      const Mesh mesh(line);
      LinearStructure s = build_line(mesh);
      s.guides.push_back(guide_at(mesh, 0.5, 0.05, e));
      Motion state = at_rest(s);
      for (int j = 1; j < cells; ++j) {
        const double x = mesh.abscissa(j);
        state.u[mesh.displacement(j)] = 0.8 * std::sin(kPi * x) + 0.3 * std::sin(2.0 * kPi * x);
      }
      step::RunSettings run;
      run.step = 0.32 / cells;
      run.steps = 2000;
      const certify::Certificate c = simulate(s, "newmark", run, state).run.certificate;
      EXPECT_EQ(c.failure, e < 1.0 ? certify::Failure::None : certify::Failure::EnergyGain);
      EXPECT_LT(c.ledger.highest, 1.02 * c.ledger.kinetic_start) << cells << " " << e;
    }
  }
}

/// Without clearance a guide is a pin, and the beam moves as one that ends there.
TEST(Newmark, AGuideWithoutClearanceIsAPin) {
  const auto middle = [](End right, bool guided) {
    Line line = tube(40, Form::Elements);
    line.right = right;
    const Mesh mesh(line);
    LinearStructure s = build_line(mesh);
    add_shaker(s, mesh, 10.0);
    if (guided) s.guides.push_back(guide_at(mesh, 1.5, 0.0, 0.0));
    Motion state = at_rest(s);
    step::RunSettings run;
    run.step = 1e-5;
    run.steps = 5000;
    run.record_every = 0;
    EXPECT_TRUE(simulate(s, "newmark", run, state).run.certificate.ok());
    return mesh.row_at(0.75).dot(state.q.data());
  };
  EXPECT_NEAR(middle(End::Free, true) / middle(End::Pinned, false), 1.0, 1e-9);
}

/// So many nodes with so long a step that the digits of A do not suffice: not certified.
TEST(StructureJudge, RefusesALedgerThatDoesNotClose) {
  const Mesh mesh(tube(100'000, Form::Elements));
  LinearStructure s = build_line(mesh);
  add_shaker(s, mesh, 10.0);
  Motion state = at_rest(s);
  step::RunSettings run;
  run.step = 1e-3;
  run.steps = 20;
  run.record_every = 0;
  EXPECT_GT(StructureModel::condition(s, run.step), StructureModel::kMostCondition);
  EXPECT_FALSE(simulate(s, "newmark", run, state).run.certificate.ok());
}

struct BarErrors {
  double impulse{0.0};
  double position{0.0};  // mean over the time, of the struck end
  double end{0.0};       // of the contact
};

/// E = 900, rho = 1, L = 10, speed 10, gap 5: contact from 0.5 to 7/6, pressure 300. (exact)
BarErrors strike(int cells, const std::string& scheme) {
  const Mesh mesh({.kind = Kind::Bar,
                   .form = Form::Corrected,
                   .length = 10.0,
                   .stiffness = 900.0,
                   .mass_per_length = 1.0,
                   .left = End::Free,
                   .right = End::Free,
                   .cells = cells});
  LinearStructure s = build_line(mesh);
  s.guides.push_back({.name = "wall", .row = mesh.row_at(0.0), .lower = -5.0});
  s.points.push_back({"near", 0.0, 0, mesh.row_at(0.0)});
  Motion state = at_rest(s);
  state.u.setConstant(-10.0);
  step::RunSettings run;
  run.step = 0.5 * mesh.cell() / 30.0;
  run.steps = std::llround(1.5 / run.step);
  double sum = 0.0;
  const Found outcome = simulate(s, scheme, run, state, [&](const step::Sample& row) {
    const double exact = row.t < 0.5         ? -10.0 * row.t
                         : row.t < 7.0 / 6.0 ? -5.0
                                             : -5.0 + 10.0 * (row.t - 7.0 / 6.0);
    sum += run.step * std::abs(row.q[0] - exact);
  });
  EXPECT_TRUE(outcome.run.certificate.ok());
  const GuideStatistics wall = outcome.statistics.guides()[0];
  return {std::abs(wall.impulse - 200.0), sum, std::abs(wall.last_push - 7.0 / 6.0)};
}

/// A scheme of second order carries a jump with order 2/3.
TEST(Newmark, MeetsTheBarsClosedFormWithOrderTwoThirds) {
  const BarErrors coarse = strike(100, "newmark");
  const BarErrors fine = strike(800, "newmark");
  EXPECT_NEAR(std::log2(coarse.impulse / fine.impulse) / 3.0, 2.0 / 3.0, 0.1);
  EXPECT_NEAR(std::log2(coarse.position / fine.position) / 3.0, 2.0 / 3.0, 0.1);
  EXPECT_LT(fine.end, 0.003);
  EXPECT_LT(fine.impulse, 0.5);
}

TEST(StructureSchemes, AllMeetTheBarsClosedForm) {
  for (const std::string scheme : {"moreau", "mabrouk", "penalty"}) {
    const BarErrors coarse = strike(100, scheme);
    const BarErrors fine = strike(400, scheme);
    EXPECT_LT(fine.position, 0.45 * coarse.position) << scheme;
    EXPECT_LT(fine.impulse, 2.0) << scheme;
  }
}

/// A bar of one free mode, a ball: e times the speed after the wall, for every scheme.
TEST(StructureSchemes, ReturnTheSpeedThatRestitutionSays) {
  const Mesh mesh({.kind = Kind::Bar,
                   .form = Form::Corrected,
                   .length = 1.0,
                   .stiffness = 1e-12,
                   .mass_per_length = 1.0,
                   .left = End::Free,
                   .right = End::Free,
                   .cells = 4});
  for (const std::string scheme : {"newmark", "moreau", "mabrouk", "penalty"}) {
    LinearStructure s = build_line(mesh);
    const bool is_spring = scheme == "penalty";
    const double e = 0.3;
    s.guides.push_back({.name = "wall", .row = mesh.row_at(0.0), .lower = -1.0, .restitution = e});
    Motion state = at_rest(s);
    state.u.setConstant(-1.0);
    step::RunSettings run;
    run.step = 0.0013;
    run.steps = 1200;
    run.record_every = 0;
    ASSERT_TRUE(simulate(s, scheme, run, state).run.certificate.ok());
    EXPECT_NEAR(state.u[0], e, is_spring ? 0.03 : 1e-9) << scheme;
    EXPECT_NEAR(state.u[2], -1.0, 1e-9);  // an end that is not held back
  }
}

TEST(StructureSchemes, AgreeBeforeTheMotionIsSensitive) {
  const auto tip = [](const std::string& scheme, double h) {
    const LinearStructure s = guided_tube(30, Form::Printed, 10.0, 0.5);
    Motion state = at_rest(s);
    step::RunSettings run;
    run.step = h;
    run.steps = std::llround(0.08 / h);
    run.record_every = 0;
    EXPECT_TRUE(simulate(s, scheme, run, state).run.certificate.ok());
    return s.points[0].row.dot(state.q.data());
  };
  const double reference = tip("newmark", 1e-6);
  for (const std::string scheme : {"newmark", "moreau", "mabrouk"}) {
    EXPECT_NEAR(tip(scheme, 1e-5), reference, 2e-5) << scheme;
  }
}

/// The first step of a scheme that pushes.
template <class S>
void go_to_push(Steps<S>& steps, Motion& now, Motion& next) {
  for (int i = 1; i < 5000; ++i) {
    ASSERT_EQ(steps.advance(now, next), problem::Status::Solved);
    if (steps.normal() != 0.0) return;
    std::swap(now, next);
  }
  FAIL();
}

/// Flips the claim of a good step in every way and must be refused.
TEST(StructureJudge, RefusesWrongClaims) {
  const LinearStructure s = guided_tube(30, Form::Elements, 40.0, 0.5);
  const double h = 1e-4;
  Steps<step::Newmark> step(s, h);
  Motion now = at_rest(s);
  Motion next = now;
  go_to_push(step, now, next);
  const auto judged = [&](const Motion& to, const StructureClaim& claim) {
    return verdict<step::Newmark>(s, h, now, to, claim);
  };
  const StructureClaim good = step.w.claim;
  EXPECT_EQ(judged(next, good), certify::Failure::None);
  StructureClaim claim = good;
  claim.impulses *= 1.0 + 1e-6;
  EXPECT_EQ(judged(next, claim), certify::Failure::Balance);
  claim.impulses.setConstant(std::nan(""));
  EXPECT_NE(judged(next, claim), certify::Failure::None);
  claim = good;
  claim.active.clear();
  EXPECT_EQ(judged(next, claim), certify::Failure::Balance);
  claim = good;
  claim.piece = certify::Piece::Start;
  EXPECT_EQ(judged(next, claim), certify::Failure::Law);
  Motion moved = next;
  moved.t += 1e-5;  // the load of another instant
  EXPECT_EQ(judged(moved, good), certify::Failure::Kinematics);
  moved = next;
  moved.q[10] *= 1.0 + 1e-6;
  EXPECT_EQ(judged(moved, good), certify::Failure::Kinematics);
  moved = next;
  moved.u[10] *= 1.0 + 1e-6;
  EXPECT_NE(judged(moved, good), certify::Failure::None);
  // Another law than the one that was solved.
  const auto other =
      verdict<step::Newmark, certify::Integrator::MiddleAhead>(s, h, now, next, good);
  EXPECT_NE(other, certify::Failure::None);
  // A step that lets the guide be passed: balanced, but not complementary.
  LinearStructure open = s;
  open.guides[0].lower = -1.0;
  open.guides[0].upper = 1.0;
  Steps<step::Newmark> through(open, h);
  Motion beyond = next;
  ASSERT_EQ(through.advance(now, beyond), problem::Status::Solved);
  EXPECT_EQ(judged(beyond, through.w.claim), certify::Failure::Residual);
}

/// Springs that push where nothing was passed, or the wrong way, or harder than they are.
TEST(StructureJudge, RefusesSpringsThatPull) {
  LinearStructure s = guided_tube(30, Form::Elements, 40.0, 0.5);
  const double h = 1e-4;
  Steps<step::Penalty> step(s, h);
  Motion now = at_rest(s);
  Motion next = now;
  go_to_push(step, now, next);
  const bool is_below = step.normal() > 0.0;
  const auto judged = [&] { return verdict<step::Penalty>(s, h, now, next, step.w.claim); };
  EXPECT_EQ(judged(), certify::Failure::None);
  const structure::Guide kept = s.guides[0];
  s.guides[0].lower *= 2.0;  // the guide is farther off than the push says
  s.guides[0].upper *= 2.0;
  EXPECT_EQ(judged(), certify::Failure::ActiveSet);
  s.guides[0] = kept;
  const double touched = is_below ? kept.lower : kept.upper;
  s.guides[0].lower = touched > 0.0 ? 0.5 * touched : -1.0;  // passed on the other side
  s.guides[0].upper = touched > 0.0 ? 1.0 : 0.5 * touched;
  EXPECT_EQ(judged(), certify::Failure::ActiveSet);
  s.guides[0] = kept;
  s.guides[0].restitution = 0.9;  // another dashpot
  EXPECT_EQ(judged(), certify::Failure::Residual);
}

/// Explicit springs on so fine a line would need h^2 k below four times the mass of a node. What is
/// met within a step gives at most h^2 k W / 4 of the energy, and h^2 k W is at most 1/4.
TEST(StructureSchemes, SpringsOfManyGuidesTakeEnergy) {
  for (const double tension : {1e6, 1e8}) {
    for (const double e : {0.0, 0.5, 1.0}) {
      Line line{.kind = Kind::String, .length = 1.0, .stiffness = tension, .mass_per_length = 1.0};
      line.left = End::Free;
      line.right = End::Free;
      line.cells = 200;
      line.form = Form::Corrected;
      const Mesh mesh(line);
      LinearStructure s = build_line(mesh);
      for (int j = 0; j < mesh.nodes(); ++j) {
        Guide guide = guide_at(mesh, mesh.abscissa(j), 0.0, e);
        guide.lower = -1e-3;
        guide.upper = 1.0;
        s.guides.push_back(guide);
      }
      Motion state = at_rest(s);
      state.u.setConstant(-1.0);
      step::RunSettings run;
      run.step = 1e-4;
      run.steps = 2000;
      run.record_every = 0;
      const Found outcome = simulate(s, "penalty", run, state);
      EXPECT_TRUE(outcome.run.certificate.ok()) << tension << " " << e;
      const certify::Ledger& ledger = outcome.run.certificate.ledger;
      EXPECT_LT(ledger.contacts.value(), ledger.kinetic_start / 16.0) << tension << " " << e;
      if (e < 1.0) {
        EXPECT_LT(ledger.contacts.value(), 0.0) << tension << " " << e;
      }
    }
  }
}

TEST(Box, SolutionsAreComplementary) {
  base::Random random(5);
  solve::BoxSolver solver;
  for (int trial = 0; trial < 300; ++trial) {
    const Eigen::Index n = 1 + random.below(9);
    solver.reserve(n);
    const Eigen::MatrixXd w = testing::random_metric(random, n, 0.5);
    const Eigen::VectorXd b = testing::random_vector(random, n);
    Eigen::VectorXd low = testing::random_vector(random, n);
    Eigen::VectorXd high = low + testing::random_vector(random, n).cwiseAbs();
    if (trial % 3 == 0) low.setConstant(-std::numeric_limits<double>::infinity());
    Eigen::VectorXd p(n);
    ASSERT_EQ(solver.solve_velocities(w, b, low, high, p).status, problem::Status::Solved);
    Eigen::VectorXd v = w * p + b;
    for (Eigen::Index i = 0; i < n; ++i) {
      const double rounding = 1e-9 * (1.0 + v.norm());
      EXPECT_GE(v[i], low[i] - rounding);
      EXPECT_LE(v[i], high[i] + rounding);
      if (p[i] > 0.0) {
        EXPECT_NEAR(v[i], low[i], rounding);
      }
      if (p[i] < 0.0) {
        EXPECT_NEAR(v[i], high[i], rounding);
      }
    }
    const Eigen::VectorXd bound = testing::random_vector(random, n).cwiseAbs();
    ASSERT_EQ(solver.solve_impulses(w, b, bound, p).status, problem::Status::Solved);
    v = w * p + b;
    for (Eigen::Index i = 0; i < n; ++i) {
      const double rounding = 1e-9 * (1.0 + v.norm() + p.norm());
      EXPECT_LE(std::abs(p[i]), bound[i] + rounding);
      if (std::abs(p[i]) < bound[i] * (1.0 - 1e-9)) {
        EXPECT_NEAR(v[i], 0.0, rounding);
      }
      EXPECT_LE(v[i] * p[i], rounding * (1.0 + bound[i]));
    }
  }
}

/// A tube pressed against its guide in y and pushed along it in z.
struct Rubbing {
  LinearStructure s;
  Motion state;
};

Rubbing rubbing(double friction, double along) {
  Line line = tube(20, Form::Elements);
  line.planes = 2;
  const Mesh mesh(line);
  Rubbing r{build_line(mesh), {}};
  formula::Graph graph;
  r.s.load_tape = formula::Tape(graph, 1, {{graph.constant(-50.0), graph.constant(along)}});
  const std::vector<std::size_t> outputs = r.s.load_tape.outputs(0);
  r.s.loads.push_back({"press", 1.0, 0, mesh.row_at(1.0), outputs[0]});
  r.s.loads.push_back({"along", 1.0, 1, mesh.row_at(1.0), outputs[1]});
  Guide guide = guide_at(mesh, 1.0, 0.0, 0.0);
  guide.upper = std::numeric_limits<double>::infinity();
  guide.friction = friction;
  r.s.guides.push_back(guide);
  r.s.damping.mass = 50.0;
  r.s.points.push_back({"z", 1.0, 1, mesh.row_at(1.0)});
  r.state = at_rest(r.s);
  return r;
}

/// Coulomb: it sticks while the force along it is below mu N, else it slides to where the tube's
/// own stiffness takes the rest, 3 EI/a^3 at a = 1.
TEST(StructureFriction, SticksBelowTheThresholdAndSlidesAbove) {
  step::RunSettings run;
  run.step = 1e-4;
  run.steps = 20000;
  run.record_every = 0;
  for (const auto& [along, sticks] : {std::pair{9.9, true}, std::pair{30.0, false}}) {
    for (const std::string scheme : {"newmark", "moreau"}) {
      Rubbing r = rubbing(0.2, along);
      const Found outcome = simulate(r.s, scheme, run, r.state);
      ASSERT_TRUE(outcome.run.certificate.ok()) << scheme;
      const double z = r.s.value_at(r.s.points[0].row, 1, r.state.q.data());
      const double stiffness = 3.0 * tube(20, Form::Elements).stiffness;
      if (sticks) {
        EXPECT_NEAR(z, 0.0, 1e-12) << scheme;
      } else {  // it stops between (30 - 10)/k and (30 + 10)/k
        EXPECT_GT(z, (30.0 - 10.0) / stiffness * 0.99) << scheme;
        EXPECT_LT(z, (30.0 + 10.0) / stiffness * 1.01) << scheme;
        EXPECT_LT(outcome.run.certificate.ledger.friction.value(), 0.0);
        EXPECT_GT(outcome.statistics.guides()[0].work_sliding.value, 0.0);
      }
    }
  }
}

/// Guides across each other: normals and frictions share planes.
TEST(StructureFriction, GuidesInBothPlanesAreSolvedTogether) {
  Line line = tube(20, Form::Elements);
  line.planes = 2;
  const Mesh mesh(line);
  LinearStructure s = build_line(mesh);
  add_shaker(s, mesh, 60.0);
  s.loads.push_back(s.loads[0]);
  s.loads[1].plane = 1;
  for (int plane = 0; plane < 2; ++plane) {
    Guide guide = guide_at(mesh, 1.0 + 0.1 * plane, 5e-4, 0.2);
    guide.plane = plane;
    guide.friction = 0.3;
    s.guides.push_back(guide);
  }
  Motion state = at_rest(s);
  step::RunSettings run;
  run.step = 2e-5;
  run.steps = 20000;
  run.record_every = 0;
  const Found outcome = simulate(s, "newmark", run, state);
  EXPECT_TRUE(outcome.run.certificate.ok())
      << certify::describe(outcome.run.certificate.failure).name;
  EXPECT_GT(outcome.statistics.guides()[0].impacts, 10);
  EXPECT_GT(outcome.statistics.guides()[1].impacts, 10);
}

TEST(Reduction, OfAllModesIsTheWholeAndStaticShapesAreExact) {
  LinearStructure s = guided_tube(10, Form::Elements, 10.0, 0.5);
  const Reduction few = reduce(s, 2);
  EXPECT_EQ(few.modes, 2);
  EXPECT_EQ(few.corrections, 2);
  // The displacement of the guide under a force at the shaker, by both.
  const auto flexibility = [](const LinearStructure& of) {
    BandFactor factor;
    EXPECT_TRUE(factor.factor(of.combined(0.0, 1.0)));
    Eigen::VectorXd x = Eigen::VectorXd::Zero(of.dofs);
    of.loads[0].row.add_to(1.0, x.data());
    factor.solve(x.data());
    return of.guides[0].row.dot(x.data());
  };
  EXPECT_NEAR(flexibility(few.structure) / flexibility(s), 1.0, 1e-5);
  const Reduction all = reduce(s, s.dofs);
  EXPECT_EQ(all.structure.dofs, s.dofs);
  step::RunSettings run;
  run.step = 1e-4;
  run.steps = 800;
  run.record_every = 0;
  Motion state = at_rest(s);
  Motion reduced = at_rest(all.structure);
  ASSERT_TRUE(simulate(s, "newmark", run, state).run.certificate.ok());
  ASSERT_TRUE(simulate(all.structure, "newmark", run, reduced).run.certificate.ok());
  EXPECT_LT((expand(all, reduced.q) - state.q).norm(), 1e-5 * state.q.norm());
}

/// A sine of amplitude a has the power a^2/2 at its frequency; white noise of variance s^2 sampled
/// at h has the density 2 s^2 h.
TEST(Welch, DensitiesAreThoseOfASineAndOfNoise) {
  const long long samples = 1 << 16;
  const double h = 1e-3;
  Welch sine(h, samples);
  Welch noise(h, samples);
  base::Random random(7);
  for (long long k = 0; k < samples; ++k) {
    sine.add(3.0 * std::sin(2.0 * kPi * 50.0 * h * static_cast<double>(k)));
    noise.add(2.0 * random.normal());
  }
  const std::vector<double> density = sine.density();
  const auto top =
      static_cast<std::size_t>(std::max_element(density.begin(), density.end()) - density.begin());
  EXPECT_NEAR(sine.frequency(top), 50.0, sine.frequency(1));
  double power = 0.0;
  for (const double value : density) power += value * sine.frequency(1);
  EXPECT_NEAR(power, 4.5, 0.02);
  double level = 0.0;
  for (const double value : noise.density()) level += value;
  EXPECT_NEAR(level / static_cast<double>(noise.density().size()), 2.0 * 4.0 * h, 2e-4);
}

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// The least time of a step among some repeats.
double step_seconds(const LinearStructure& s, int steps) {
  double least = 1.0;
  for (int repeat = 0; repeat < 5; ++repeat) {
    Motion now = at_rest(s);
    Motion next = now;
    Steps<step::Newmark> step(s, 1e-5);
    const double begin = cpu_seconds();
    for (int i = 1; i <= steps; ++i) {
      (void)step.advance(now, next);
      std::swap(now, next);
    }
    least = std::min(least, (cpu_seconds() - begin) / steps);
  }
  return least;
}

TEST(Newmark, AGuideCostsLittleAndCostGrowsLinearly) {
#if defined(RICOCHET_SANITIZED)
  GTEST_SKIP() << "sanitizers take time of their own";
#endif
  LinearStructure s = guided_tube(1000, Form::Corrected, 500.0, 0.5);
  s.guides[0].lower = s.guides[0].upper = 0.0;  // pushes at every step
  LinearStructure open = s;
  open.guides.clear();
  const LinearStructure small = guided_tube(1000, Form::Corrected, 20.0, 0.5);
  const LinearStructure large = guided_tube(10000, Form::Corrected, 20.0, 0.5);
  double guide = 1e9;
  double growth = 1e9;
  for (int attempt = 0; attempt < 8 && (guide > 2.5 || growth > 25.0); ++attempt) {  // others run
    guide = std::min(guide, step_seconds(s, 2000) / step_seconds(open, 2000));
    growth = std::min(growth, step_seconds(large, 200) / step_seconds(small, 2000));
  }
  EXPECT_LE(guide, 2.5);
  EXPECT_LE(growth, 25.0);
}

TEST(Newmark, DoesNotAllocateWhileItRuns) {
  LinearStructure s = guided_tube(30, Form::Elements, 40.0, 0.5);
  set_modal_damping(s, find_modes(s, 4), {0.01, 0.01, 0.01, 0.01});
  Motion state = at_rest(s);
  step::RunSettings run;
  run.step = 5e-6;
  run.steps = 20000;
  long long first = 0;
  long long last = 0;
  const Found outcome = simulate(s, "newmark", run, state, [&](const step::Sample& sample) {
    if (sample.step == 1) first = testing::allocations();
    if (sample.step == 20000) last = testing::allocations();
  });
  ASSERT_TRUE(outcome.run.certificate.ok());
  const auto shocks = static_cast<long long>(outcome.run.certificate.shocks.size());
  EXPECT_GT(shocks, 0);
  EXPECT_LE(last - first, 12);  // the list of shocks doubles its room
}

/// 1e5 nodes: curvature is a difference of numbers that agree in ten digits, yet the beam moves as
/// one of 1000 nodes does, which has converged.
TEST(Newmark, HundredThousandNodesKeepTheirDigits) {
  const auto tip = [](int cells) {
    const Mesh mesh(tube(cells, Form::Corrected));
    LinearStructure s = build_line(mesh);
    s.damping.mass = 100.0;
    formula::Graph graph;
    s.load_tape = formula::Tape(graph, 1, {{graph.constant(1.0)}});
    s.loads.push_back({"tip", 1.5, 0, mesh.row_at(1.5), s.load_tape.outputs(0)[0]});
    Motion state = at_rest(s);
    step::RunSettings run;
    run.step = 1e-5;
    run.steps = 60;
    run.record_every = 0;
    EXPECT_TRUE(simulate(s, "newmark", run, state).run.certificate.ok());
    return mesh.row_at(1.5).dot(state.q.data());
  };
  EXPECT_NEAR(tip(100'000) / tip(1000), 1.0, 3e-5);
}

}  // namespace
}  // namespace ricochet::structure::structure_test
