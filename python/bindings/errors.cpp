#include "errors.h"

#include <fmt/format.h>

#include "ricochet/base/text.h"
#include "ricochet/host/output_file.h"

namespace ricochet::python {
namespace {

py::object class_named(const char* kind) {
  return py::module_::import("ricochet.errors").attr(kind);
}

void set_input_error(const char* kind, const base::InputError& error) {
  const base::Spot& spot = error.spot();
  const py::object type = class_named(kind);
  const py::object value = type(base::wrapped(error.what()), spot.file, spot.line, spot.column,
                                error.key(), error.message(), error.remedy());
  PyErr_SetObject(type.ptr(), value.ptr());
}

}  // namespace

void raise(const char* kind, const base::InputError& error) {
  set_input_error(kind, error);
  throw py::error_already_set();
}

void raise_callable(const std::string& callable, double t, const std::string& what) {
  py::object cause = py::none();
  std::string words = what;
  if (PyErr_Occurred() != nullptr) {
    const py::error_already_set error;  // first: nothing may be asked of Python while one is set
    cause = error.value();
    if (error.trace()) PyException_SetTraceback(cause.ptr(), error.trace().ptr());
    words += fmt::format("{}{}: {}", what.empty() ? "" : ": ",
                         std::string(py::str(error.type().attr("__name__"))),
                         std::string(py::str(cause)));
  }
  const py::object type = class_named("CallableError");
  const py::object value = type(
      base::wrapped(fmt::format("error: {} at t = {:.9g}: {}", callable, t, words)), callable, t);
  if (!cause.is_none()) PyException_SetCause(value.ptr(), cause.inc_ref().ptr());
  PyErr_SetObject(type.ptr(), value.ptr());
  throw py::error_already_set();
}

void bind_errors(py::module_&) {
  py::register_exception_translator([](std::exception_ptr pointer) {
    try {
      if (pointer) std::rethrow_exception(pointer);
    } catch (const base::InputError& error) {
      set_input_error("SceneError", error);
    } catch (const host::OutputError& error) {
      PyErr_SetString(PyExc_OSError, error.what());
    }
  });
}

}  // namespace ricochet::python
