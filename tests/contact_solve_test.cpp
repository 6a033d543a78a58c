// Contact solvers. Every claim of a solution is checked from the definition, never by the flag.

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "program.h"
#include "ricochet/base/error.h"
#include "ricochet/base/random.h"
#include "ricochet/host/contact_file.h"
#include "ricochet/host/thread_pool.h"
#include "ricochet/problem/contact_generator.h"
#include "ricochet/problem/contact_residual.h"
#include "ricochet/solve/contact.h"
#include "ricochet/solve/contact_local.h"
#include "ricochet/solve/gauss_seidel.h"
#include "ricochet/solve/interior_point.h"
#include "support.h"

namespace ricochet::testing::contact_solve_test {
namespace {

using problem::ContactProblem;
using problem::ContactSample;
using problem::SampleKind;
using solve::ContactMethod;
using solve::ContactReport;
using solve::ContactSettings;

constexpr ContactMethod kGeneral[] = {ContactMethod::Auto, ContactMethod::GaussSeidel,
                                      ContactMethod::ProximalNewton, ContactMethod::Admm,
                                      ContactMethod::InteriorPoint};

ContactProblem sample(const ContactSample& numbers) {
  return problem::in_blocks(problem::generate_contacts(numbers));
}

/// Solves, and checks that the report is the truth about the impulses.
ContactReport solve_honestly(const ContactProblem& problem, const ContactSettings& settings,
                             Eigen::VectorXd& r) {
  const ContactReport report = solve::solve_contacts(problem, settings, r);
  const problem::ContactResidual residual = problem::residual_of(problem, r);
  EXPECT_NEAR(report.residual.relative, residual.relative, 1e-12 + 1e-6 * residual.relative);
  const bool is_solution = residual.relative <= settings.tolerance &&
                           residual.scale_free <= settings.scale_free_tolerance;
  EXPECT_EQ(report.solved(), is_solution) << name_of(settings.method);
  return report;
}

TEST(ContactLocal, SatisfiesTheLawOfOneContact) {
  base::Random random(11);
  for (int trial = 0; trial < 2000; ++trial) {
    const double mu = trial % 7 == 0 ? 0.0 : random.uniform(0.0, 2.0);
    const Eigen::MatrixXd W = random_metric(random, 3, 1.0);
    const Eigen::Vector3d b = random_vector(random, 3);
    double lambda = trial % 2 == 0 ? 0.0 : std::exp(random.normal());  // any start will do
    const Eigen::Vector3d r = solve::LocalContact<3>(Eigen::Matrix3d(W), mu).solve(b, lambda);
    ContactProblem problem;
    problem.mu = {mu};
    problem.q = b;
    problem.matrix = W;
    EXPECT_LT(problem::residual_of(problem, Eigen::VectorXd(r)).scale_free, 1e-9) << trial;
  }
  for (int trial = 0; trial < 2000; ++trial) {
    const double mu = random.uniform(0.0, 2.0);
    const Eigen::MatrixXd W = random_metric(random, 2, 1.0);
    const Eigen::Vector2d b = random_vector(random, 2);
    double unused = 0.0;
    const Eigen::Vector2d r = solve::LocalContact<2>(Eigen::Matrix2d(W), mu).solve(b, unused);
    ContactProblem problem;
    problem.dim = 2;
    problem.mu = {mu};
    problem.q = b;
    problem.matrix = W;
    EXPECT_LT(problem::residual_of(problem, Eigen::VectorXd(r)).scale_free, 1e-11) << trial;
  }
}

TEST(ContactSolve, ABlockOnAFloorSticksOrSlips) {  // closed form
  for (const ContactMethod method : kGeneral) {
    for (const double slip : {0.3, 2.0}) {
      ContactProblem problem;
      problem.mu = {0.5};
      problem.q = Eigen::Vector3d(-1.0, 0.0, slip);
      problem.matrix = Eigen::MatrixXd(Eigen::Matrix3d::Identity() / 4.0);
      Eigen::VectorXd r;
      EXPECT_TRUE(solve_honestly(problem, {.method = method}, r).solved()) << name_of(method);
      const Eigen::Vector3d expected(4.0, 0.0, -4.0 * std::min(0.5, slip));
      EXPECT_LT((r - expected).norm(), 1e-6) << name_of(method) << " " << r.transpose();
    }
  }
}

TEST(ContactSolve, AllMethodsAgreeOnVelocitiesWithoutFriction) {  // where they are unique
  for (const SampleKind kind : {SampleKind::Packing, SampleKind::Tower, SampleKind::Repeated}) {
    const ContactProblem problem =
        sample({.kind = kind, .bodies = 8, .mu_low = 0.0, .mu_high = 0.0, .agitation = 0.5});
    Eigen::VectorXd first;
    for (const ContactMethod method :
         {ContactMethod::Auto, ContactMethod::GaussSeidel, ContactMethod::ProximalNewton,
          ContactMethod::InteriorPoint, ContactMethod::Pivoting}) {
      Eigen::VectorXd r;
      const ContactSettings settings{.method = method, .tolerance = 1e-10, .time_limit = 10.0};
      EXPECT_TRUE(solve_honestly(problem, settings, r).solved()) << name_of(method);
      Eigen::VectorXd u;
      problem::ContactVelocity{problem}(r, u);
      if (first.size() == 0) first = u;
      EXPECT_LT((u - first).cwiseAbs().maxCoeff(), 1e-6) << name_of(method);
    }
  }
}

TEST(ContactSolve, ATowerAtRestCarriesItsWeight) {  // momentum balance
  for (const int dim : {2, 3}) {
    for (const double ratio : {1.0, 1e6}) {
      const ContactProblem global = problem::generate_contacts({.kind = SampleKind::Tower,
                                                                .dim = dim,
                                                                .bodies = 10,
                                                                .mass_ratio = ratio,
                                                                .agitation = 0.0});
      Eigen::VectorXd r;
      EXPECT_TRUE(solve_honestly(global, {}, r).solved()) << ratio;
      const auto& form = std::get<problem::GlobalForm>(global.matrix);
      double weight = 0.0;  // every body loses the speed 1 that gravity gave it
      for (int b = 0; b < 10; ++b)
        weight += form.M.coeff(b * (dim == 3 ? 6 : 3), b * (dim == 3 ? 6 : 3));
      double floor = 0.0;
      for (int k = 0; k < (dim == 3 ? 4 : 2); ++k) floor += r[dim * k];
      EXPECT_NEAR(floor / weight, 1.0, 1e-6) << dim << " " << ratio;
    }
  }
}

TEST(ContactSolve, AutoSolvesWhatTheGeneratorMakes) {
  int seen = 0;
  for (const SampleKind kind :
       {SampleKind::Packing, SampleKind::Tower, SampleKind::Repeated, SampleKind::Wedge}) {
    for (const int dim : {2, 3}) {
      for (const double mu : {0.0, 0.3, 2.0}) {
        for (const double ratio : {1.0, 1e6}) {
          const ContactProblem problem = sample({.kind = kind,
                                                 .dim = dim,
                                                 .bodies = 4,
                                                 .mu_low = mu,
                                                 .mu_high = mu,
                                                 .mass_ratio = ratio,
                                                 .agitation = 0.3});
          Eigen::VectorXd r;
          EXPECT_TRUE(solve_honestly(problem, {.time_limit = 10.0}, r).solved())
              << static_cast<int>(kind) << " " << dim << "D mu " << mu << " ratio " << ratio;
          ++seen;
        }
      }
    }
  }
  EXPECT_EQ(seen, 48);
}

TEST(ContactSolve, NoMethodClaimsToSolveWhatHasNoSolution) {
  // Walls that close in on a ball at a slope below mu / 2: to leave, it must rise, but whatever the
  // impulses, friction pulls it down by more than the walls push it up.
  for (const int dim : {2, 3}) {
    const ContactProblem problem = sample({.kind = SampleKind::Jammed, .dim = dim, .bodies = 3});
    for (const ContactMethod method : kGeneral) {
      Eigen::VectorXd r;
      const ContactSettings settings{.method = method, .time_limit = 0.3};
      EXPECT_FALSE(solve_honestly(problem, settings, r).solved()) << name_of(method);
      EXPECT_TRUE(r.allFinite());
    }
  }
}

TEST(ContactSolve, OneAndTwoContactsByEnumeration) {
  base::Random random(21);
  for (int trial = 0; trial < 200; ++trial) {
    const int dim = 2 + trial % 2;
    const int contacts = 1 + trial / 2 % 2;
    ContactProblem problem;
    problem.dim = dim;
    for (int k = 0; k < contacts; ++k) problem.mu.push_back(random.uniform(0.0, 1.0));
    problem.matrix = random_metric(random, problem.rows(), 0.3);
    problem.q = random_vector(random, problem.rows());
    Eigen::VectorXd r;
    EXPECT_TRUE(solve_honestly(problem, {.method = ContactMethod::Enumeration}, r).solved())
        << trial;
    Eigen::VectorXd s;
    EXPECT_TRUE(solve_honestly(problem, {}, s).solved()) << trial;
  }
}

TEST(ContactSolve, SlightlyUnsymmetricMatricesAreFine) {
  // An implicit gyroscopic term: a skew part of M that couples the turns of a body.
  ContactProblem global = problem::generate_contacts({.bodies = 15, .agitation = 0.5});
  auto& form = std::get<problem::GlobalForm>(global.matrix);
  for (int body = 0; body < 15; ++body) {
    form.M.coeffRef(6 * body + 3, 6 * body + 4) = 1e-3;
    form.M.coeffRef(6 * body + 4, 6 * body + 3) = -1e-3;
  }
  const ContactProblem problem = problem::in_blocks(global);
  const Eigen::MatrixXd W(problem::scalars_of(std::get<problem::BlockRows>(problem.matrix)));
  ASSERT_GT((W - W.transpose()).cwiseAbs().maxCoeff(), 1e-4);
  for (const ContactMethod method : {ContactMethod::Auto, ContactMethod::InteriorPoint}) {
    Eigen::VectorXd r;
    EXPECT_TRUE(solve_honestly(problem, {.method = method, .time_limit = 10.0}, r).solved());
  }
}

TEST(ContactSolve, NoContactsIsSolved) {
  ContactProblem none;
  none.q.resize(0);
  problem::BlockRows empty;
  empty.start = {0};
  none.matrix = empty;
  for (const ContactMethod method : kGeneral) {
    Eigen::VectorXd r;
    EXPECT_TRUE(solve_honestly(none, {.method = method}, r).solved());
    EXPECT_EQ(r.size(), 0);
  }
}

TEST(ContactSolve, AWarmStartIsUsed) {
  const ContactProblem problem = sample({.bodies = 20, .agitation = 0.3});
  Eigen::VectorXd r;
  const ContactReport cold = solve_honestly(problem, {.tolerance = 1e-9}, r);
  ASSERT_TRUE(cold.solved());
  const ContactReport warm = solve_honestly(problem, {.tolerance = 1e-8}, r);
  EXPECT_TRUE(warm.solved());
  EXPECT_EQ(warm.iterations, 0);
}

TEST(ContactSolve, TheGlobalFormNeedNotBeFormed) {
  const ContactProblem global = problem::generate_contacts({.bodies = 12, .agitation = 0.3});
  Eigen::VectorXd r;
  const ContactSettings settings{.method = ContactMethod::Admm,
                                 .tolerance = 1e-6,
                                 .scale_free_tolerance = 1e-4,
                                 .time_limit = 20.0};
  EXPECT_TRUE(solve_honestly(global, settings, r).solved());
}

TEST(ContactSolve, MethodsThatDoNotFitSaySo) {
  const ContactProblem problem = sample({.bodies = 5});
  Eigen::VectorXd r;
  EXPECT_THROW((void)solve::solve_contacts(problem, {.method = ContactMethod::Enumeration}, r),
               base::InputError);
  EXPECT_THROW((void)solve::solve_contacts(problem, {.method = ContactMethod::Pivoting}, r),
               base::InputError);
}

TEST(ContactSolve, LimitsAreKept) {
  const ContactProblem problem = sample({.kind = SampleKind::Jammed, .bodies = 30});
  Eigen::VectorXd r;
  const ContactReport slow = solve_honestly(problem, {.time_limit = 0.05}, r);
  EXPECT_FALSE(slow.solved());
  EXPECT_LT(slow.seconds, 2.0);
  const ContactReport few =
      solve_honestly(problem, {.method = ContactMethod::GaussSeidel, .max_iterations = 7}, r);
  EXPECT_LE(few.iterations, 100);
  EXPECT_EQ(few.status, problem::Status::IterationLimit);
}

TEST(GaussSeidel, ThreadsDoNotChangeADigit) {
  const ContactProblem problem = sample({.bodies = 3500, .agitation = 0.3});
  ASSERT_GT(problem.contacts(), 5000);
  problem::ContactVelocity velocity(problem);
  Eigen::VectorXd results[3];
  for (int k = 0; k < 3; ++k) {
    host::ThreadPool pool(k + 1);
    solve::GaussSeidel<3> sweeps(velocity.local(), {.coloured = true}, pool.executor());
    EXPECT_GT(sweeps.colours(), 1);
    results[k] = Eigen::VectorXd::Zero(problem.rows());
    for (int s = 0; s < 60; ++s) sweeps.sweep(results[k]);
  }
  EXPECT_TRUE(results[0] == results[1]);
  EXPECT_TRUE(results[0] == results[2]);
  EXPECT_GT(results[0].norm(), 1.0);
}

TEST(GaussSeidel, ContactsThatRestAreAsGoodInTheEnd) {
  const ContactProblem problem = sample({.kind = SampleKind::Tower, .bodies = 6});
  problem::ContactVelocity velocity(problem);
  for (const double quiet : {0.0, 0.05}) {
    solve::GaussSeidel<3> sweeps(velocity.local(), {.quiet = quiet});
    Eigen::VectorXd r = Eigen::VectorXd::Zero(problem.rows());
    for (int s = 0; s < 4000; ++s) sweeps.sweep(r);
    EXPECT_LT(problem::residual_of(problem, r).scale_free, 1e-6) << quiet;
  }
}

const std::filesystem::path kPublic =
    std::filesystem::path(testing::kSourceFolder) / ".." / "shared" / "fclib";

TEST(PublicProblems, AutoSolvesThemAll) {
  if (!std::filesystem::is_directory(kPublic)) GTEST_SKIP() << "no folder of public problems";
  int seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kPublic)) {
    if (entry.path().extension() == ".md") continue;
    const ContactProblem problem = host::read_contact_file(entry.path().string());
    Eigen::VectorXd r;
    EXPECT_TRUE(solve_honestly(problem, {.time_limit = 30.0}, r).solved()) << entry.path();
    ++seen;
  }
  EXPECT_GT(seen, 20);
}

TEST(ProgramSolve, PrintsATableAndWritesImpulses) {
  const Folder folder;
  const ContactProblem problem = sample({.bodies = 3});
  host::write_contact_file((folder / "a.hdf5").string(), problem);
  host::write_contact_file((folder / "b.dat").string(), problem);
  const Finished one = run_program({"solve", "a.hdf5", "--out", "r.txt", "--rank"}, folder.path());
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_NE(one.out.find("err_q scale  phys"), std::string::npos) << one.out;
  std::istringstream table(one.out);
  for (std::string line; std::getline(table, line);) EXPECT_LE(line.size(), 80U) << line;
  std::istringstream lines(read_file(folder / "r.txt"));
  std::vector<double> values;
  for (std::string line; std::getline(lines, line);) values.push_back(std::stod(line));
  ASSERT_EQ(static_cast<Eigen::Index>(values.size()), problem.rows());
  const Eigen::VectorXd r = Eigen::Map<Eigen::VectorXd>(values.data(), problem.rows());
  EXPECT_LT(problem::residual_of(problem, r).relative, 1e-8);
  const Finished two =
      run_program({"solve", "a.hdf5", "b.dat", "--json", "--out", "both"}, folder.path());
  EXPECT_EQ(two.code, 0) << two.err;
  const auto json = nlohmann::json::parse(two.out);
  ASSERT_EQ(json.size(), 2U);
  EXPECT_EQ(json[1]["status"], "solved");
  EXPECT_TRUE(std::filesystem::exists(folder / "both/b.dat.txt"));
}

TEST(ProgramSolve, ExitCodesTellWhatHappened) {
  const Folder folder;
  host::write_contact_file((folder / "good.dat").string(), sample({.bodies = 2}));
  host::write_contact_file((folder / "jammed.dat").string(),
                           sample({.kind = SampleKind::Jammed, .bodies = 2}));
  write_file(folder / "cut.dat", read_file(folder / "good.dat").substr(0, 400));
  EXPECT_EQ(run_program({"solve", "jammed.dat", "--time-limit", "0.2"}, folder.path()).code, 1);
  const Finished cut = run_program({"solve", "cut.dat", "good.dat"}, folder.path());
  EXPECT_EQ(cut.code, 2);
  EXPECT_NE(cut.err.find("remedy"), std::string::npos) << cut.err;
  EXPECT_NE(cut.out.find("solved"), std::string::npos) << "the good one is solved all the same";
  const Finished name = run_program({"solve", "good.dat", "--solver", "newtn"}, folder.path());
  EXPECT_EQ(name.code, 2);
  EXPECT_NE(name.err.find("did you mean 'newton'"), std::string::npos) << name.err;
  EXPECT_EQ(run_program({"solve", "good.dat", "--tol", "zero"}, folder.path()).code, 2);
  EXPECT_EQ(run_program({"solve"}, folder.path()).code, 2);
}

/// Impulses of a step in `trajectory.csv`, contact by contact, those that a problem has only.
std::vector<double> impulses_in(const std::filesystem::path& file, std::size_t row) {
  std::istringstream stream(read_file(file));
  std::string line;
  std::getline(stream, line);
  std::vector<std::string> names;
  for (std::istringstream cells(line); std::getline(cells, line, ',');) names.push_back(line);
  for (std::size_t k = 0; k <= row; ++k) std::getline(stream, line);
  std::vector<double> result;
  std::istringstream cells(line);
  for (const std::string& name : names) {
    std::getline(cells, line, ',');
    if (name.find(".impulse_") != std::string::npos) result.push_back(std::stod(line));
  }
  return result;
}

TEST(ProgramSolve, ReplaysAStepOfARun) {
  const Folder folder;
  const std::string crate =
      (std::filesystem::path(testing::kSourceFolder) / "scenes/crate.toml").string();
  for (const std::string file : {"step.h5", "step.txt"}) {
    const Finished run = run_program(
        {"run", crate, "--out", "crate", "--steps", "20", "--dump-step", "7", file}, folder.path());
    ASSERT_EQ(run.code, 0) << run.err;
    EXPECT_NE(run.out.find("dumped"), std::string::npos) << run.out;
    const Finished solve =
        run_program({"solve", file, "--tol", "1e-11", "--out", "r.txt"}, folder.path());
    ASSERT_EQ(solve.code, 0) << solve.err << solve.out;
    std::istringstream lines(read_file(folder / "r.txt"));
    std::vector<double> replayed;
    for (std::string line; std::getline(lines, line);) replayed.push_back(std::stod(line));
    const std::vector<double> found = impulses_in(folder / "crate/trajectory.csv", 7);
    ASSERT_EQ(replayed.size(), found.size());  // all its contacts touch
    double total = 0.0;
    for (std::size_t k = 0; k < found.size(); ++k) {
      EXPECT_NEAR(replayed[k], found[k], 1e-8) << file << " " << k;
      total += std::abs(found[k]);
    }
    EXPECT_GT(total, 0.0);
  }
}

/// Boxes of 1 kg at rest on each other: contacts of the lowest carry three weights, those above two
/// and one, so that normal impulses add up to 6 g h; and one in space on its floor to g h.
TEST(ProgramSolve, ReplaysAStepOfBodies) {
  const Folder folder;
  const auto total = [&](const std::string& text, int dim) {
    write_file(folder / "w.toml", text);
    const Finished run = run_program(
        {"run", "w.toml", "--out", "w", "--quiet", "--dump-step", "3", "s.h5"}, folder.path());
    EXPECT_EQ(run.code, 0) << run.err;
    const Finished solve =
        run_program({"solve", "s.h5", "--tol", "1e-11", "--out", "r.txt"}, folder.path());
    EXPECT_EQ(solve.code, 0) << solve.err << solve.out;
    std::istringstream lines(read_file(folder / "r.txt"));
    double sum = 0.0;
    int at = 0;
    for (std::string line; std::getline(lines, line); ++at) {
      if (at % dim == 0) sum += std::stod(line);
    }
    EXPECT_GT(at, 0);
    return sum;
  };
  EXPECT_NEAR(total(R"(
[world]
dimension = 2
gravity   = [0, -9.81]
[pair]
default = { friction = 0.5 }
[body.floor]
fixed      = true
half_plane = { point = [0, 0], normal = [0, 1] }
[body.a]
for  = "i in 1..3"
box  = [1, 0.5]
mass = 1
at   = [0, "0.5*i - 0.25"]
[run]
step  = 0.001
until = 0.005
)",
                    2),
              6.0 * 9.81e-3, 1e-10);
  EXPECT_NEAR(total(R"(
[world]
dimension = 3
gravity   = [0, 0, -9.81]
[pair]
default = { friction = 0.5 }
[body.floor]
fixed      = true
half_space = { point = [0, 0, 0], normal = [0, 0, 1] }
[body.a]
box  = [1, 0.7, 0.5]
mass = 1
at   = [0, 0, 0.25]
[run]
step  = 0.001
until = 0.005
)",
                    3),
              9.81e-3, 1e-10);
}

/// A ball of mass 1 without spin on a floor, mu = 1/2: it sticks with r = -q, slips with r_T = -mu
/// r_N, and leaves without an impulse; with W = 1 it ends about as far from that as it creeps.
TEST(InteriorPoint, EndsAsNearAsAskedAndTakesTheNextProblem) {
  problem::BlockRows W = problem::blocks_of(Eigen::MatrixXd::Identity(2, 2), 2);
  const std::vector<double> mu = {0.5};
  Eigen::VectorXd q(4);  // longer than it needs
  q << -1.0, 0.1, 7.0, 7.0;
  solve::InteriorPoint<2> inside(problem::LocalProblem{W, q, mu});
  const auto ends_at = [&](double free_n, double free_t, double n, double t) {
    q[0] = free_n;
    q[1] = free_t;
    inside.refresh();
    for (const double speed : {1e-3, 1e-6}) {
      inside.start_near(Eigen::VectorXd::Zero(2), 1.0);
      ASSERT_TRUE(inside.finish(speed, 100));
      EXPECT_NEAR(inside.impulses()[0], n, 10.0 * speed);
      EXPECT_NEAR(inside.impulses()[1], t, 10.0 * speed);
    }
    inside.start_near(Eigen::VectorXd::Zero(2), 1.0);
    EXPECT_FALSE(inside.finish(1e-6, 1));
  };
  ends_at(-1.0, 0.1, 1.0, -0.1);
  ends_at(-1.0, 2.0, 1.0, -0.5);
  ends_at(1.0, 2.0, 0.0, 0.0);
}

TEST(ProgramSolve, SaysWhichStepsCannotBeDumped) {
  const Folder folder;
  const auto scene = [](const char* name) {
    return (std::filesystem::path(testing::kSourceFolder) / "scenes" / name).string();
  };
  const auto refused = [&](const char* name, const char* step, const char* file) {
    const Finished run =
        run_program({"run", scene(name), "--out", "o", "--steps", "20", "--dump-step", step, file},
                    folder.path());
    EXPECT_EQ(run.code, 2) << run.out;
    return run.err;
  };
  EXPECT_NE(refused("crate.toml", "21", "a.h5").find("beyond the run"), std::string::npos);
  EXPECT_NE(refused("crate.toml", "0", "a.h5").find("not the number of a step"), std::string::npos);
  EXPECT_NE(refused("crate.toml", "2.5", "a.h5").find("not the number of a step"),
            std::string::npos);
  EXPECT_NE(refused("crate.toml", "2", "a.zip").find("form of the file"), std::string::npos);
  EXPECT_NE(refused("essai-01.toml", "1", "a.h5").find("without contacts"), std::string::npos);
  const Finished twice = run_program({"run", scene("crate.toml"), "--out", "o", "--dump-step", "2",
                                      "a.h5", "--dump-step", "3", "a.h5"},
                                     folder.path());
  EXPECT_EQ(twice.code, 2) << twice.out;
  EXPECT_NE(twice.err.find("would write over that of step 2"), std::string::npos) << twice.err;
  EXPECT_FALSE(std::filesystem::exists(folder / "a.h5"));
}

}  // namespace
}  // namespace ricochet::testing::contact_solve_test
