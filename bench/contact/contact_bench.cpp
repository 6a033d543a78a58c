// Contact solvers on stored problems: every solver, one thread each, and performance profiles.
//
//   ricochet-contact-bench [--problems FOLDER] [--out FOLDER] [--limit SECONDS] [--sweeps]
//   [--growth]
//
// A problem counts as solved at a tolerance if, computed here from the definition, err_q <= tol and
// the scale-free residual <= max(100 tol, 1e-6); one that is not costs 20 s.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <thread>

#include "profile_plot.h"
#include "ricochet/base/clock.h"
#include "ricochet/base/error.h"
#include "ricochet/host/contact_file.h"
#include "ricochet/host/output_file.h"
#include "ricochet/host/thread_pool.h"
#include "ricochet/problem/contact_generator.h"
#include "ricochet/problem/contact_text.h"
#include "ricochet/solve/contact.h"
#include "ricochet/solve/gauss_seidel.h"
#include "rival.h"

namespace ricochet::bench {
namespace {

constexpr double kCostOfFailure = 20.0;  // [s]

constexpr const char* kUsage =
    "contact solvers on stored problems, one thread each\n"
    "  --problems FOLDER   of FCLIB, Siconos and npz files\n"
    "  --out FOLDER        for the table of every solve and the pictures (out/contact)\n"
    "  --limit SECONDS     for one solve (20); the whole takes about an hour beside Siconos,\n"
    "                      with a limit of 2 a quarter of that\n"
    "  --sweeps            instead: time of a Gauss-Seidel sweep per contact\n"
    "  --growth            instead: generated packings of up to 1e5 contacts, two threads\n";

struct Options {
  std::filesystem::path problems;
  std::filesystem::path out{"out/contact"};
  double limit{20.0};
  bool sweeps{false};
  bool growth{false};
};

struct Problem {
  std::string name;
  problem::ContactProblem given;
  std::string text_file;  // W by its blocks, for the rival
};

struct Result {
  bool solved{false};
  double seconds{kCostOfFailure};
  problem::ContactResidual residual;
};

bool is_solved(const problem::ContactResidual& residual, double tolerance) {
  return residual.relative <= tolerance && residual.scale_free <= std::max(100.0 * tolerance, 1e-6);
}

std::vector<Problem> read_problems(const Options& options) {
  std::vector<Problem> problems;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(options.problems)) {
    if (entry.path().extension() != ".md") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::filesystem::create_directories(options.out / "problems");
  for (const std::filesystem::path& file : files) {
    Problem problem{file.filename().string(), host::read_contact_file(file.string()), {}};
    const std::filesystem::path text = options.out / "problems" / (problem.name + ".txt");
    host::write_file(text, problem::contact_text(problem::in_blocks(problem.given)));
    problem.text_file = text.string();
    problems.push_back(std::move(problem));
  }
  return problems;
}

Result run_ours(const std::string& name, const Problem& problem, double tolerance,
                const Options& options) {
  solve::ContactSettings settings;
  settings.method = *solve::contact_method(name);
  settings.tolerance = tolerance;
  settings.scale_free_tolerance = std::max(100.0 * tolerance, 1e-6);
  settings.time_limit = options.limit;
  Result result;
  const base::Stopwatch all;
  double least = 1e300;
  Eigen::VectorXd r;
  try {
    for (int k = 0; k < 5 && (k == 0 || all.seconds() < 0.5); ++k) {
      r.resize(0);
      const base::Stopwatch clock;  // with all that is made of the problem on the way
      const solve::ContactReport report = solve::solve_contacts(problem.given, settings, r);
      least = std::min(least, clock.seconds());
      if (!report.solved()) break;
    }
  } catch (const base::InputError&) {
    return result;  // the method does not fit the problem
  }
  result.residual = problem::residual_of(problem.given, r);
  result.solved = is_solved(result.residual, tolerance);
  if (result.solved) result.seconds = least;
  return result;
}

/// The rival measures otherwise, so that it may have to be asked for more than the tolerance.
Result run_theirs(const std::string& name, const Problem& problem, double tolerance,
                  const Options& options) {
  Result result;
  for (const double factor : {1.0, 1e-2, 1e-4}) {
    const Timed timed = run_rival(name, problem.text_file, problem.given.dim, problem.given.rows(),
                                  factor * tolerance, options.limit);
    if (!timed.ended) return result;
    const problem::ContactResidual residual = problem::residual_of(problem.given, timed.impulses);
    if (!is_solved(residual, tolerance)) continue;
    result = {true, timed.seconds, residual};
    return result;
  }
  return result;
}

using Table = std::map<std::string, std::vector<Result>>;  // by solver, problem by problem

Curve profile_of(const std::string& name, const std::vector<Result>& results,
                 const std::vector<double>& best) {
  Curve curve{name, {}, {}};
  for (std::size_t k = 0; k < results.size(); ++k) {
    if (results[k].solved) curve.x.push_back(results[k].seconds / best[k]);
  }
  std::sort(curve.x.begin(), curve.x.end());
  for (std::size_t k = 0; k < curve.x.size(); ++k) {
    curve.y.push_back(static_cast<double>(k + 1) / static_cast<double>(results.size()));
  }
  return curve;
}

std::string csv_of(const std::vector<Problem>& problems, const std::vector<std::string>& names,
                   const Table& table) {
  std::string text = "problem,contacts,solver,solved,seconds,err_q,scale_free\n";
  for (std::size_t k = 0; k < problems.size(); ++k) {
    for (const std::string& name : names) {
      const Result& result = table.at(name)[k];
      text += fmt::format("{},{},{},{},{:.4g},{:.2e},{:.2e}\n", problems[k].name,
                          problems[k].given.contacts(), name, result.solved ? 1 : 0, result.seconds,
                          result.residual.relative, result.residual.scale_free);
    }
  }
  return text;
}

void compare(int dim, const std::vector<Problem>& all, double tolerance, const Options& options) {
  std::vector<Problem> problems;
  for (const Problem& problem : all) {
    if (problem.given.dim == dim) problems.push_back(problem);
  }
  std::vector<std::string> names = {"auto", "gauss-seidel", "newton", "admm", "interior-point"};
  if (dim == 2) names.emplace_back("pivoting");
  Table table;
  std::vector<std::string> order;
  for (const std::string& name : names) {
    fmt::print(stderr, "{}D, {:g}: {}\n", dim, tolerance, name);
    for (const Problem& problem : problems) {
      table[name].push_back(run_ours(name, problem, tolerance, options));
    }
    order.push_back(name);
  }
  for (const std::string& name : rival_names(dim)) {
    const std::string label = "Siconos " + name;
    fmt::print(stderr, "{}D, {:g}: {}\n", dim, tolerance, label);
    for (const Problem& problem : problems) {
      table[label].push_back(run_theirs(name, problem, tolerance, options));
    }
    order.push_back(label);
  }
  std::vector<double> best(problems.size(), kCostOfFailure);
  std::vector<double> hindsight(problems.size(), kCostOfFailure);
  for (const std::string& name : order) {
    for (std::size_t k = 0; k < problems.size(); ++k) {
      best[k] = std::min(best[k], table[name][k].seconds);
      if (name.starts_with("Siconos"))
        hindsight[k] = std::min(hindsight[k], table[name][k].seconds);
    }
  }
  fmt::print("\n{}D, {} problems, tolerance {:g}\n{:<28} {:>7} {:>12}\n", dim, problems.size(),
             tolerance, "solver", "solved", "total, s");
  std::vector<Curve> curves;
  for (const std::string& name : order) {
    double total = 0.0;
    int solved = 0;
    for (const Result& result : table[name]) {
      total += result.seconds;
      solved += result.solved ? 1 : 0;
    }
    fmt::print("{:<28} {:>7} {:>12.4g}\n", name, solved, total);
    curves.push_back(profile_of(name, table[name], best));
  }
  double total = 0.0;
  for (const double seconds : hindsight) total += seconds;
  const auto missed = std::count(hindsight.begin(), hindsight.end(), kCostOfFailure);
  fmt::print("{:<28} {:>7} {:>12.4g}\n", "Siconos, best for each",
             static_cast<long>(problems.size()) - missed, total);
  const std::string stem = fmt::format("{}d-{:g}", dim, tolerance);
  host::write_file(options.out / ("results-" + stem + ".csv"), csv_of(problems, order, table));
  host::write_file(options.out / ("profile-" + stem + ".svg"),
                   draw_profiles(fmt::format("{} problems in {}D, tolerance {:g}", problems.size(),
                                             dim, tolerance),
                                 curves));
}

/// Cost of a sweep per contact, without and with rests.
void time_sweeps(const std::vector<Problem>& problems) {
  fmt::print("\nsweeps: microseconds per contact\n{:<42} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}\n",
             "problem", "contacts", "ours", "resting", "NSGS", "Newton", "freeze");
  constexpr int kSweeps = 1000;
  for (const Problem& problem : problems) {
    const int n = problem.given.contacts();
    if (problem.given.dim != 3 || n < 200) continue;
    problem::ContactVelocity velocity(problem.given);
    const auto per_contact = [&](double quiet) {
      double least = 1e300;
      for (int repeat = 0; repeat < 3; ++repeat) {
        solve::GaussSeidel<3> sweeps(velocity.local(), {.quiet = quiet});
        Eigen::VectorXd r = Eigen::VectorXd::Zero(problem.given.rows());
        const base::Stopwatch clock;
        for (int k = 0; k < kSweeps; ++k) sweeps.sweep(r);
        least = std::min(least, clock.seconds());
      }
      return 1e6 * least / kSweeps / n;
    };
    const auto theirs = [&](const char* name) {
      const Timed timed =
          run_rival(name, problem.text_file, 3, problem.given.rows(), 0.0, 20.0, kSweeps);
      return timed.ended && timed.iterations > 0 ? 1e6 * timed.seconds / timed.iterations / n : NAN;
    };
    fmt::print("{:<42} {:>8} {:>8.3f} {:>8.3f} {:>8.3f} {:>8.3f} {:>8.3f}\n",
               problem.name.substr(0, 42), n, per_contact(0.0), per_contact(0.05), theirs("NSGS"),
               theirs("NSGS-Newton"), theirs("NSGS-Newton-freeze"));
  }
}

/// The least time of a few solves; the impulses of the last.
double time_auto(const problem::ContactProblem& problem, const base::Executor& executor,
                 solve::ContactReport& report, Eigen::VectorXd& r) {
  constexpr int kRepeats = 3;
  solve::ContactSettings settings;
  settings.tolerance = 1e-4;
  settings.scale_free_tolerance = 1e-2;
  settings.time_limit = 120.0;
  settings.executor = executor;
  double least = 1e9;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    r.resize(0);
    report = solve::solve_contacts(problem, settings, r);
    least = std::min(least, report.seconds);
  }
  return least;
}

/// Microseconds of a sweep per contact: the least of a few dozen.
double time_sweep(const problem::LocalProblem& local, const base::Executor& executor) {
  constexpr int kRepeats = 30;
  solve::GaussSeidel<3> sweeps(local, {.quiet = 0.0, .coloured = true}, executor);
  Eigen::VectorXd r = Eigen::VectorXd::Zero(local.q.size());
  double least = 1e9;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    const base::Stopwatch watch;
    sweeps.sweep(r);
    least = std::min(least, watch.seconds());
  }
  return 1e6 * least / local.contacts();
}

/// Generated packings up to 1e5 contacts, and what a second thread gives.
void grow(const Options& options) {
  host::ThreadPool pool(2);
  Curve one{"one thread", {}, {}};
  Curve two{"two threads", {}, {}};
  fmt::print("\npackings to 1e-4 by auto, and a sweep of all contacts; one and two threads\n");
  fmt::print("{:>9} {:>9} {:>9} {:>6} {:>11} {:>11} {:>6} {:>8}\n", "contacts", "1, s", "2, s",
             "ratio", "1, us/cont.", "2, us/cont.", "ratio", "err_q");
  for (const int bodies : {60, 200, 600, 2000, 6200, 20000, 62000}) {
    const problem::ContactProblem problem = problem::in_blocks(
        problem::generate_contacts({.bodies = bodies, .agitation = 0.3, .seed = 7}));
    problem::ContactVelocity velocity(problem);
    const problem::LocalProblem local = velocity.local();
    solve::ContactReport report;
    solve::ContactReport shared_report;
    Eigen::VectorXd r;
    Eigen::VectorXd s;
    const double first = time_auto(problem, {}, report, r);
    const double second = time_auto(problem, pool.executor(), shared_report, s);
    const double sweep = time_sweep(local, {});
    const double shared = time_sweep(local, pool.executor());
    fmt::print("{:>9} {:>9.4g} {:>9.4g} {:>6.2f} {:>11.3f} {:>11.3f} {:>6.2f} {:>8.1e} {}{}\n",
               problem.contacts(), first, second, first / second, sweep, shared, sweep / shared,
               report.residual.relative,
               report.solved() && shared_report.solved() ? "" : "not solved ",
               r == s ? "same digits" : "OTHER DIGITS");
    one.x.push_back(problem.contacts());
    one.y.push_back(first);
    two.x.push_back(problem.contacts());
    two.y.push_back(second);
  }
  host::write_file(options.out / "growth.svg",
                   draw_growth("Packings of balls to 1e-4", "contacts", "seconds", {one, two}));
}

Options options_of(int argc, char** argv) {
  Options options;
  options.problems = std::filesystem::path(RICOCHET_SOURCE_DIR) / ".." / "shared" / "fclib";
  for (int k = 1; k < argc; ++k) {
    const std::string word = argv[k];
    const auto value = [&] { return k + 1 < argc ? std::string(argv[++k]) : std::string(); };
    if (word == "--problems") {
      options.problems = value();
    } else if (word == "--out") {
      options.out = value();
    } else if (word == "--limit") {
      options.limit = std::strtod(value().c_str(), nullptr);
    } else if (word == "--sweeps") {
      options.sweeps = true;
    } else if (word == "--growth") {
      options.growth = true;
    } else {
      fmt::print("{}", kUsage);
      std::exit(word == "--help" || word == "-h" ? 0 : 2);
    }
  }
  return options;
}

}  // namespace
}  // namespace ricochet::bench

int main(int argc, char** argv) {
  using namespace ricochet::bench;
  std::setbuf(stdout, nullptr);
  const Options options = options_of(argc, argv);
  std::filesystem::create_directories(options.out);
  fmt::print("Ricochet, built with {}, one thread\n{}\n", RICOCHET_FLAGS, rival_description());
  if (options.growth) {
    grow(options);
    return 0;
  }
  if (!std::filesystem::is_directory(options.problems)) {
    fmt::print("skipped: there is no folder of problems (--problems FOLDER)\n");
    return 0;
  }
  const std::vector<Problem> problems = read_problems(options);
  if (options.sweeps) {
    time_sweeps(problems);
    return 0;
  }
  for (const double tolerance : {1e-4, 1e-8}) {
    for (const int dim : {3, 2}) compare(dim, problems, tolerance, options);
  }
  return 0;
}
