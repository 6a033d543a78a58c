#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <thread>

#include "commands.h"
#include "report_text.h"
#include "ricochet/base/error.h"
#include "ricochet/base/json.h"
#include "ricochet/base/text.h"
#include "ricochet/convex/dense.h"
#include "ricochet/host/contact_file.h"
#include "ricochet/host/output_file.h"
#include "ricochet/host/thread_pool.h"
#include "ricochet/problem/contact_velocity.h"
#include "ricochet/solve/contact.h"

namespace ricochet::app {
namespace {

/// A problem that was read and solved, or what was wrong with its file.
struct Row {
  std::string file;
  int dim{0};
  int contacts{0};
  int rank{-1};  // -1: not asked for
  solve::ContactReport report;
  Eigen::VectorXd impulses;
  std::string error;
};

double positive(const std::string& option, const std::string& text, double otherwise) {
  if (text.empty()) return otherwise;
  const std::optional<double> value = base::parse_number(text);
  if (value && std::isfinite(*value) && *value > 0.0) return *value;
  throw base::InputError(option + " " + text, "is not a positive number",
                         "write a number such as " + option + " 1e-6");
}

solve::ContactSettings settings_of(const SolveArguments& arguments) {
  solve::ContactSettings settings;
  if (!arguments.solver.empty()) {
    settings.method =
        solve::require_contact_method(arguments.solver, "--solver " + arguments.solver);
  }
  settings.tolerance = positive("--tol", arguments.tolerance, settings.tolerance);
  settings.scale_free_tolerance = std::max(1e-6, 100.0 * settings.tolerance);
  settings.time_limit = positive("--time-limit", arguments.time_limit, 30.0);
  return settings;
}

/// Singular values of W above 1e-9 of the largest.
int rank_of(const problem::ContactProblem& problem) {
  constexpr Eigen::Index kMostRows = 6000;
  if (problem.rows() > kMostRows) {
    throw base::InputError("--rank", "is for problems of at most 2000 contacts",
                           "leave out --rank");
  }
  if (problem.contacts() == 0) return 0;
  problem::ContactVelocity velocity(problem);
  const Eigen::MatrixXd W(problem::scalars_of(velocity.local().W));
  const Eigen::VectorXd values = convex::singular_values(W);
  return static_cast<int>((values.array() > 1e-9 * values[0]).count());
}

Row solve_file(const std::string& file, const SolveArguments& arguments,
               const solve::ContactSettings& settings) {
  Row row;
  row.file = file;
  try {
    const problem::ContactProblem problem = host::read_contact_file(file);
    row.dim = problem.dim;
    row.contacts = problem.contacts();
    if (arguments.rank) row.rank = rank_of(problem);
    row.report = solve::solve_contacts(problem, settings, row.impulses);
  } catch (const base::InputError& error) {
    row.error = error.what();
  } catch (const std::exception& error) {  // such as bad_alloc: the others are solved all the same
    row.error = fmt::format("{}: error: {}", file, error.what());
  }
  return row;
}

const char* words_of(problem::Status status) {
  switch (status) {
    case problem::Status::Solved: return "solved";
    case problem::Status::IterationLimit: return "limit reached";
    default: return "not solved";
  }
}

const char* short_words_of(problem::Status status) {
  switch (status) {
    case problem::Status::Solved: return "solved";
    case problem::Status::IterationLimit: return "limit";
    default: return "failed";
  }
}

base::Json json_of(const Row& row) {
  base::Json json;
  json["file"] = row.file;
  if (!row.error.empty()) {
    json["status"] = "bad input";
    json["message"] = row.error;
    return json;
  }
  const problem::ContactResidual& residual = row.report.residual;
  json["status"] = words_of(row.report.status);
  json["dim"] = row.dim;
  json["contacts"] = row.contacts;
  if (row.rank >= 0) json["rank"] = row.rank;
  json["solver"] = solve::name_of(row.report.method);
  json["iterations"] = row.report.iterations;
  json["factorisations"] = row.report.factorisations;
  json["residual"] = {
      {"err_q", residual.relative},    {"scale_free", residual.scale_free},
      {"physical", residual.physical}, {"approach", residual.approach},
      {"cone", residual.cone},         {"complementarity", residual.complementarity},
      {"slip", residual.slip}};
  json["seconds"] = row.report.seconds;
  return json;
}

/// A table of at most 80 columns: a name too long for its column has a line of its own.
class Table {
 public:
  Table(const std::vector<std::string>& files, bool with_rank) : with_rank_(with_rank) {
    const std::size_t most = with_rank ? 9 : 15;
    for (const std::string& file : files) width_ = std::max(width_, std::min(file.size(), most));
  }

  void print_heading() const {
    fmt::print("{:<{}} contacts", "problem", width_);
    if (with_rank_) fmt::print("  rank");
    fmt::print(" {:<14} {:>7} err_q scale  phys seconds status\n", "solver", "steps");
  }

  void print(const Row& row) const {
    const bool fits = row.file.size() <= width_;
    if (!fits) fmt::print("{}\n", row.file);
    fmt::print("{:<{}}", fits ? row.file : "", width_);
    if (!row.error.empty()) {
      fmt::print(" bad input\n");
      return;
    }
    fmt::print(" {:>8}", row.contacts);
    if (with_rank_) fmt::print(" {:>5}", row.rank);
    const problem::ContactResidual& residual = row.report.residual;
    fmt::print(" {:<14} {:>7} {:>5.0e} {:>5.0e} {:>5.0e} {:>7.2g} {}\n",
               solve::name_of(row.report.method), row.report.iterations, residual.relative,
               residual.scale_free, residual.physical, row.report.seconds,
               short_words_of(row.report.status));
  }

 private:
  bool with_rank_;
  std::size_t width_{7};
};

/// One impulse component per line, contact by contact.
void write_impulses(const std::filesystem::path& path, const Eigen::VectorXd& impulses) {
  std::string text;
  for (const double value : impulses) text += fmt::format("{:.17g}\n", value);
  host::write_file(path, text);
}

void write_results(const std::string& out, const Row& row, bool several) {
  if (out.empty() || !row.error.empty()) return;
  if (!several) {
    write_impulses(out, row.impulses);
    return;
  }
  std::filesystem::create_directories(out);
  write_impulses(
      std::filesystem::path(out) / (std::filesystem::path(row.file).filename().string() + ".txt"),
      row.impulses);
}

}  // namespace

int command_solve(const SolveArguments& arguments) {
  solve::ContactSettings settings = settings_of(arguments);
  host::ThreadPool pool(arguments.threads);
  settings.executor = pool.executor();
  const Table table(arguments.files, arguments.rank);
  if (!arguments.json) table.print_heading();
  base::Json all = base::Json::list();
  int code = kFine;
  for (const std::string& file : arguments.files) {
    const Row row = solve_file(file, arguments, settings);
    if (arguments.json) {
      all.push_back(json_of(row));
    } else {
      table.print(row);
    }
    if (!row.error.empty()) {
      fmt::print(stderr, "{}\n", wrapped(row.error));
      code = kBadInput;
    } else if (!row.report.solved() && code == kFine) {
      code = kFailed;
    }
    write_results(arguments.out, row, arguments.files.size() > 1);
  }
  if (arguments.json) fmt::print("{}\n", all.pretty());
  return code;
}

}  // namespace ricochet::app
