#include <pybind11/stl.h>

#include <Eigen/Core>
#include <limits>
#include <memory>

#include "errors.h"
#include "ricochet/host/contact_file.h"
#include "ricochet/host/thread_pool.h"
#include "ricochet/solve/contact.h"

namespace ricochet::python {
namespace {

using problem::ContactProblem;

/// Impulses that arrays look into.
struct Solution {
  solve::ContactReport report;
  std::shared_ptr<Eigen::VectorXd> impulses;
};

/// A two-dimensional array, row by row, from a buffer of doubles.
Eigen::MatrixXd matrix_of(const py::buffer& buffer) {
  const py::buffer_info info = buffer.request();
  Eigen::MatrixXd matrix(info.shape[0], info.ndim == 2 ? info.shape[1] : 1);
  for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
    for (Eigen::Index j = 0; j < matrix.cols(); ++j) {
      const auto at = i * info.strides[0] + (info.ndim == 2 ? j * info.strides[1] : 0);
      matrix(i, j) = *reinterpret_cast<const double*>(static_cast<const char*>(info.ptr) + at);
    }
  }
  return matrix;
}

ContactProblem make_problem(int dim, const py::buffer& W, const py::buffer& q,
                            const py::buffer& mu) {
  ContactProblem problem;
  problem.dim = dim;
  problem.matrix = matrix_of(W);
  problem.q = matrix_of(q);
  const Eigen::VectorXd friction = matrix_of(mu);
  problem.mu.assign(friction.begin(), friction.end());
  try {
    problem::check(problem);
  } catch (const base::InputError& error) {
    raise("ProblemError", error);
  }
  return problem;
}

template <class Work>
auto telling(Work&& work) {
  try {
    return work();
  } catch (const base::InputError& error) {
    raise("ProblemError", error);
  }
}

Solution solve_problem(const ContactProblem& problem, const std::string& method, double tolerance,
                       double time_limit, int threads) {
  return telling([&] {
    solve::ContactSettings settings;
    settings.method = solve::require_contact_method(method, "method " + method);
    settings.tolerance = tolerance;
    settings.scale_free_tolerance = std::max(1e-6, 100.0 * tolerance);
    settings.time_limit = time_limit;
    const py::gil_scoped_release release;
    host::ThreadPool pool(threads);
    settings.executor = pool.executor();
    Solution solution{{}, std::make_shared<Eigen::VectorXd>()};
    solution.report = solve::solve_contacts(problem, settings, *solution.impulses);
    return solution;
  });
}

const char* status_of(problem::Status status) {
  switch (status) {
    case problem::Status::Solved: return "solved";
    case problem::Status::IterationLimit: return "limit reached";
    default: return "not solved";
  }
}

py::dict residual_of(const Solution& solution) {
  const problem::ContactResidual& r = solution.report.residual;
  py::dict dict;
  dict["err_q"] = r.relative;
  dict["scale_free"] = r.scale_free;
  dict["physical"] = r.physical;
  dict["approach"] = r.approach;
  dict["cone"] = r.cone;
  dict["complementarity"] = r.complementarity;
  dict["slip"] = r.slip;
  return dict;
}

py::buffer_info buffer_of_vector(Eigen::VectorXd& vector) {
  constexpr py::ssize_t kSize = sizeof(double);
  return {vector.data(), kSize, py::format_descriptor<double>::format(), 1, {vector.size()},
          {kSize},       true};
}

}  // namespace

void bind_problem(py::module_& m) {
  py::class_<Eigen::VectorXd, std::shared_ptr<Eigen::VectorXd>>(m, "Numbers", py::buffer_protocol())
      .def_buffer(buffer_of_vector);
  py::class_<ContactProblem>(m, "ContactProblem")
      .def_readonly("dim", &ContactProblem::dim)
      .def_readonly("title", &ContactProblem::title)
      .def_readonly("mu", &ContactProblem::mu)
      .def_property_readonly("contacts", &ContactProblem::contacts)
      .def("write", [](const ContactProblem& problem, const std::string& path) {
        host::write_contact_file(path, problem);
      });
  py::class_<Solution>(m, "Solution")
      .def_readonly("impulses", &Solution::impulses)
      .def_property_readonly("status", [](const Solution& s) { return status_of(s.report.status); })
      .def_property_readonly("solved", [](const Solution& s) { return s.report.solved(); })
      .def_property_readonly("method",
                             [](const Solution& s) { return solve::name_of(s.report.method); })
      .def_property_readonly("iterations", [](const Solution& s) { return s.report.iterations; })
      .def_property_readonly("factorisations",
                             [](const Solution& s) { return s.report.factorisations; })
      .def_property_readonly("seconds", [](const Solution& s) { return s.report.seconds; })
      .def_property_readonly("residual", residual_of);
  m.def("make_problem", make_problem);
  m.def("read_problem", [](const std::string& path) {
    return telling([&] { return host::read_contact_file(path); });
  });
  m.def("solve", solve_problem, py::arg("problem"), py::arg("method"), py::arg("tolerance"),
        py::arg("time_limit"), py::arg("threads"));
  m.def("method_names", [] { return solve::contact_method_names(); });
}

}  // namespace ricochet::python
