#pragma once

#include <pybind11/pybind11.h>

namespace ricochet::python {

namespace py = pybind11;

// One file each; module.cpp calls them in this order.
void bind_errors(py::module_& m);
void bind_callables(py::module_& m);
void bind_scene(py::module_& m);
void bind_run(py::module_& m);
void bind_simulation(py::module_& m);
void bind_study(py::module_& m);
void bind_dynamics(py::module_& m);
void bind_problem(py::module_& m);

}  // namespace ricochet::python
