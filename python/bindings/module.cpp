#include "bindings.h"
#include "ricochet/base/version.h"

PYBIND11_MODULE(_engine, m) {
  m.doc() = "The engine, as the modules of the package ricochet use it.";
  m.attr("version") = ricochet::base::kVersion;
  ricochet::python::bind_errors(m);
  ricochet::python::bind_callables(m);
  ricochet::python::bind_scene(m);
  ricochet::python::bind_run(m);
  ricochet::python::bind_simulation(m);
  ricochet::python::bind_study(m);
  ricochet::python::bind_dynamics(m);
  ricochet::python::bind_problem(m);
}
