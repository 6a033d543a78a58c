#pragma once

#include <Eigen/Core>
#include <atomic>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ricochet/base/executor.h"
#include "ricochet/problem/contact.h"
#include "ricochet/problem/contact_residual.h"
#include "ricochet/problem/report.h"

namespace ricochet::solve {

enum class ContactMethod {
  Auto,            // chooses, switches, polishes
  GaussSeidel,     // contact by contact
  ProximalNewton,  // proximal point, semismooth Newton inside
  Admm,            // alternating directions with a cached factor
  InteriorPoint,   // on the cone problem
  Enumeration,     // all modes of at most two contacts
  Pivoting,        // as a linear complementarity problem: no friction, or the plane
};

std::string name_of(ContactMethod method);  // "auto", "gauss-seidel", ...
std::optional<ContactMethod> contact_method(std::string_view name);
const std::vector<std::string>& contact_method_names();
/// The same for a name that must be known: throws base::InputError that shows `option`.
ContactMethod require_contact_method(const std::string& name, const std::string& option);

/// Whether a method is for such problems: pivoting and enumeration are not for all.
bool suits(ContactMethod method, const problem::ContactProblem& problem);

struct ContactSettings {
  ContactMethod method{ContactMethod::Auto};
  // Solved when both residuals, computed from the problem as it is given, are at most these.
  double tolerance{1e-8};             // of ContactResidual::relative (err_q)
  double scale_free_tolerance{1e-6};  // of ContactResidual::scale_free
  // Whether methods stop by ContactResidual::strict, which also serves who looks at small impulses,
  // or by scale_free itself. What counts as solved is the same.
  bool judge_by_impulses{true};
  double time_limit{std::numeric_limits<double>::infinity()};  // [s]
  int max_iterations{1'000'000};  // sweeps, or steps of the other methods, whichever is counted
  base::Executor executor{};      // threads for the sweeps of large problems; none: one thread
  const std::atomic<bool>* stop{nullptr};  // set by another thread: as if time were over
};

/// How a solve fared. The residual is of the impulses handed back, from the definition; the status
/// is Solved only if it is within the tolerances.
struct [[nodiscard]] ContactReport {
  problem::Status status{problem::Status::Solved};
  ContactMethod method{ContactMethod::Auto};  // that found the impulses
  int iterations{0};                          // sweeps and steps of all methods together
  int factorisations{0};
  problem::ContactResidual residual;
  double seconds{0.0};

  bool solved() const { return status == problem::Status::Solved; }
};

/// Impulses of a contact problem. `r` is where to begin when it has the right size (a warm start:
/// the impulses of the step before), else zero; it becomes the best impulses found, solved or not.
/// The outcome depends on the problem, the settings and the start only: not on the executor, nor,
/// unless the time limit is met, on the speed of the machine. Throws base::InputError where
/// problem::check does, and where the method asked for does not fit the problem.
ContactReport solve_contacts(const problem::ContactProblem& problem,
                             const ContactSettings& settings, Eigen::VectorXd& r);

}  // namespace ricochet::solve
