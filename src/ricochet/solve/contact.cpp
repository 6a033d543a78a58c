#include "ricochet/solve/contact.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ricochet/base/error.h"
#include "ricochet/base/text.h"
#include "ricochet/solve/contact_task.h"

namespace ricochet::solve {
namespace {

constexpr std::array<std::pair<ContactMethod, std::string_view>, 7> kNames = {{
    {ContactMethod::Auto, "auto"},
    {ContactMethod::GaussSeidel, "gauss-seidel"},
    {ContactMethod::ProximalNewton, "newton"},
    {ContactMethod::Admm, "admm"},
    {ContactMethod::InteriorPoint, "interior-point"},
    {ContactMethod::Enumeration, "enumeration"},
    {ContactMethod::Pivoting, "pivoting"},
}};

ContactMethod run(ContactTask& task) {
  switch (task.settings().method) {
    case ContactMethod::Auto: return run_auto(task);
    case ContactMethod::GaussSeidel: run_gauss_seidel(task); break;
    case ContactMethod::ProximalNewton: run_proximal_newton(task); break;
    case ContactMethod::InteriorPoint: run_interior_point(task); break;
    case ContactMethod::Admm: run_admm(task); break;
    case ContactMethod::Enumeration: run_enumeration(task); break;
    case ContactMethod::Pivoting: run_pivoting(task); break;
  }
  return task.settings().method;
}

}  // namespace

std::string name_of(ContactMethod method) {
  return std::string(kNames[static_cast<std::size_t>(method)].second);
}

std::optional<ContactMethod> contact_method(std::string_view name) {
  for (const auto& [method, its_name] : kNames) {
    if (its_name == name) return method;
  }
  return std::nullopt;
}

const std::vector<std::string>& contact_method_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result;
    for (const auto& [method, name] : kNames) result.emplace_back(name);
    return result;
  }();
  return names;
}

ContactMethod require_contact_method(const std::string& name, const std::string& option) {
  if (const auto method = contact_method(name)) return *method;
  const auto& names = contact_method_names();
  const auto near = base::nearest_name(name, names);
  throw base::InputError(
      option, "is not known",
      fmt::format("{}known: {}", near ? fmt::format("did you mean '{}'? ", *near) : "",
                  base::list_names(names)));
}

bool suits(ContactMethod method, const problem::ContactProblem& problem) {
  const bool has_friction = std::any_of(problem.mu.begin(), problem.mu.end(),  //
                                        [](double mu) { return mu != 0.0; });
  switch (method) {
    case ContactMethod::Enumeration: return problem.contacts() <= kMostEnumerated;
    case ContactMethod::Pivoting:
      return !(has_friction && problem.dim == 3) &&
             problem.contacts() * (has_friction ? 3 : 1) <= kMostTableauRows;
    default: return true;
  }
}

ContactReport solve_contacts(const problem::ContactProblem& problem,
                             const ContactSettings& settings, Eigen::VectorXd& r) {
  problem::check(problem);
  ContactTask task(problem, settings, r);
  ContactReport report;
  const auto judge = [&] {  // from the definition, on the problem as it is given
    report.residual = residual_of(problem, task.velocity(), task.best_impulses());
    return report.residual.relative <= settings.tolerance &&
           report.residual.scale_free <= settings.scale_free_tolerance;
  };
  report.method = task.done() ? settings.method : run(task);
  bool solved = judge();
  if (!solved && task.done() && !task.over()) {  // the two ways to compute u differ: ask for more
    task.tighten(0.1);
    task.r = task.best_impulses();
    report.method = run(task);
    solved = judge();
  }
  r = task.best_impulses();
  report.status = solved        ? problem::Status::Solved
                  : task.over() ? problem::Status::IterationLimit
                                : problem::Status::NoConvergence;
  report.iterations = task.iterations();
  report.factorisations = task.factorisations();
  report.seconds = task.seconds();
  return report;
}

}  // namespace ricochet::solve
