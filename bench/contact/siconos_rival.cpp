// The contact solvers of Siconos' numerics library. Each solve runs in a child process: some of
// them abort on an assertion, or do not end.

#include <siconos/numerics/FrictionContactProblem.h>
#include <siconos/numerics/Friction_cst.h>
#include <siconos/numerics/NonSmoothDrivers.h>
#include <siconos/numerics/NumericsVerbose.h>
#include <siconos/numerics/SolverOptions.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "ricochet/base/clock.h"
#include "rival.h"

namespace ricochet::bench {
namespace {

struct Variant {
  const char* name;
  int solver;
  int local;     // 0: as it comes
  int freezing;  // sweeps that a quiet contact is left out
  bool without_search;
};

constexpr int kMany = 100'000'000;

const Variant kSpatial[] = {
    {"NSGS", SICONOS_FRICTION_3D_NSGS, 0, 0, false},
    {"NSGS-freeze", SICONOS_FRICTION_3D_NSGS, 0, 20, false},
    {"NSGS-Newton", SICONOS_FRICTION_3D_NSGS, SICONOS_FRICTION_3D_ONECONTACT_NSN, 0, false},
    {"NSGS-Newton-freeze", SICONOS_FRICTION_3D_NSGS, SICONOS_FRICTION_3D_ONECONTACT_NSN, 20, false},
    {"NSGS-quartic", SICONOS_FRICTION_3D_NSGS, SICONOS_FRICTION_3D_ONECONTACT_QUARTIC, 0, false},
    {"NSN-AC", SICONOS_FRICTION_3D_NSN_AC, 0, 0, false},
    {"NSN-AC-nosearch", SICONOS_FRICTION_3D_NSN_AC, 0, 0, true},
    {"NSN-FB", SICONOS_FRICTION_3D_NSN_FB, 0, 0, false},
    {"NSN-FB-nosearch", SICONOS_FRICTION_3D_NSN_FB, 0, 0, true},
    {"PROX", SICONOS_FRICTION_3D_PROX, 0, 0, false},
    {"PROX-nosearch", SICONOS_FRICTION_3D_PROX, 0, 0, true},
    {"ADMM", SICONOS_FRICTION_3D_ADMM, 0, 0, false},
};

const Variant kPlanar[] = {
    {"NSGS", SICONOS_FRICTION_2D_NSGS, 0, 0, false},
    {"Lemke", SICONOS_FRICTION_2D_LEMKE, 0, 0, false},
};

const Variant* find(const std::string& name, int dim) {
  const auto look = [&](const auto& list) -> const Variant* {
    for (const Variant& variant : list) {
      if (name == variant.name) return &variant;
    }
    return nullptr;
  };
  return dim == 3 ? look(kSpatial) : look(kPlanar);
}

SolverOptions* make_options(const Variant& variant, double asked, int sweeps) {
  SolverOptions* options = solver_options_create(variant.solver);
  if (variant.local != 0) solver_options_update_internal(options, 0, variant.local);
  options->iparam[SICONOS_IPARAM_MAX_ITER] = sweeps > 0 ? sweeps : kMany;
  options->dparam[SICONOS_DPARAM_TOL] = sweeps > 0 ? 1e-300 : asked;
  if (variant.freezing > 0) {
    options->iparam[SICONOS_FRICTION_3D_NSGS_FREEZING_CONTACT] = variant.freezing;
  }
  if (variant.without_search) {
    SolverOptions* newton = variant.solver == SICONOS_FRICTION_3D_PROX
                                ? solver_options_get_internal_solver(options, 0)
                                : options;
    newton->iparam[SICONOS_FRICTION_3D_NSN_LINESEARCH] = SICONOS_FRICTION_3D_NSN_LINESEARCH_NO;
  }
  return options;
}

/// In the child: solve, a few times when it is short, and write what came of it.
void solve_and_report(const Variant& variant, const std::string& file, int dim, Eigen::Index rows,
                      double asked, int sweeps, int out) {
  const int null = open("/dev/null", O_WRONLY);  // the library prints
  dup2(null, 1);
  dup2(null, 2);
  numerics_set_verbose(0);
  FrictionContactProblem* problem = frictionContact_new_from_filename(file.c_str());
  double least = 1e300;
  int iterations = 0;
  Eigen::VectorXd r(rows);
  Eigen::VectorXd u(rows);
  const base::Stopwatch all;
  for (int k = 0; k < 5 && (k == 0 || all.seconds() < 0.5); ++k) {
    r.setZero();
    u.setZero();
    SolverOptions* options = make_options(variant, asked, sweeps);
    const base::Stopwatch clock;
    if (dim == 3) {
      fc3d_driver(problem, r.data(), u.data(), options);
    } else {
      fc2d_driver(problem, r.data(), u.data(), options);
    }
    least = std::min(least, clock.seconds());
    iterations = options->iparam[SICONOS_IPARAM_ITER_DONE];
    solver_options_delete(options);
  }
  const double head[2] = {least, static_cast<double>(iterations)};
  if (write(out, head, sizeof head) < 0) _exit(1);
  const char* bytes = reinterpret_cast<const char*>(r.data());
  std::size_t left = sizeof(double) * static_cast<std::size_t>(rows);
  while (left > 0) {
    const ssize_t done = write(out, bytes, left);
    if (done <= 0) _exit(1);
    bytes += done;
    left -= static_cast<std::size_t>(done);
  }
}

bool read_all(int in, void* to, std::size_t size) {
  auto* bytes = static_cast<char*>(to);
  while (size > 0) {
    const ssize_t got = read(in, bytes, size);
    if (got <= 0) return false;
    bytes += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

}  // namespace

std::vector<std::string> rival_names(int dim) {
  std::vector<std::string> names;
  if (dim == 3) {
    for (const Variant& variant : kSpatial) names.emplace_back(variant.name);
  } else {
    for (const Variant& variant : kPlanar) names.emplace_back(variant.name);
  }
  return names;
}

std::string rival_description() {
  return "Siconos numerics 4.4 of Debian 12 (flags of the distribution, -g -O2; assertions and "
         "bounds "
         "checks on: a release build is 1.2 to 1.3 times as fast), OPENBLAS_NUM_THREADS=1";
}

Timed run_rival(const std::string& name, const std::string& file, int dim, Eigen::Index rows,
                double asked, double limit, int sweeps) {
  const Variant* variant = find(name, dim);
  Timed result;
  int ends[2];
  if (variant == nullptr || pipe(ends) != 0) return result;
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    alarm(static_cast<unsigned>(limit) + 1U);
    solve_and_report(*variant, file, dim, rows, asked, sweeps, ends[1]);
    _exit(0);
  }
  close(ends[1]);
  double head[2];
  result.impulses.resize(rows);
  result.ended =
      read_all(ends[0], head, sizeof head) &&
      read_all(ends[0], result.impulses.data(), sizeof(double) * static_cast<std::size_t>(rows));
  close(ends[0]);
  waitpid(child, nullptr, 0);
  if (!result.ended) return result;
  result.seconds = head[0];
  result.iterations = static_cast<int>(head[1]);
  return result;
}

}  // namespace ricochet::bench
