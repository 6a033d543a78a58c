#include "callables.h"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "errors.h"
#include "watch.h"

namespace ricochet::python {
namespace {

using namespace pybind11::literals;

py::object numpy() { return py::module_::import("numpy"); }

/// "a list of 2", "an array of shape (2,)", "'far' (str)".
std::string describe(const py::object& value) try {
  constexpr std::size_t kLongest = 60;
  if (value.is_none()) return "None";
  if (py::hasattr(value, "shape")) {
    return fmt::format("an array of shape {}", std::string(py::str(value.attr("shape"))));
  }
  const std::string type = py::str(py::type::of(value).attr("__name__"));
  if (PySequence_Check(value.ptr()) != 0 && !py::isinstance<py::str>(value)) {
    return fmt::format("a {} of {}", type, py::len(value));
  }
  const std::string shown = py::repr(value);
  if (shown.size() > kLongest) return fmt::format("a {}", type);
  return fmt::format("{} ({})", shown, type);
} catch (py::error_already_set&) {
  return "what cannot be shown";
}

/// Copies an array of doubles of one dimension; false when it is none, or of another size.
bool copy_array(const py::object& value, std::span<double> out) {
  if (PyObject_CheckBuffer(value.ptr()) == 0) return false;
  Py_buffer view;
  if (PyObject_GetBuffer(value.ptr(), &view, PyBUF_STRIDED_RO | PyBUF_FORMAT) != 0) {
    PyErr_Clear();
    return false;
  }
  const bool fits = view.ndim == 1 && view.format != nullptr && std::string(view.format) == "d" &&
                    static_cast<std::size_t>(view.shape[0]) == out.size();
  if (fits) {
    const char* at = static_cast<const char*>(view.buf);
    for (double& number : out) {
      number = *reinterpret_cast<const double*>(at);
      at += view.strides[0];
    }
  }
  PyBuffer_Release(&view);
  return fits;
}

/// The same of a list or tuple of numbers.
bool copy_sequence(const py::object& value, std::span<double> out) {
  if (!PyList_Check(value.ptr()) && !PyTuple_Check(value.ptr())) return false;
  if (static_cast<std::size_t>(PySequence_Fast_GET_SIZE(value.ptr())) != out.size()) return false;
  PyObject** items = PySequence_Fast_ITEMS(value.ptr());
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = PyFloat_AsDouble(items[i]);
    if (out[i] == -1.0 && PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      return false;
    }
  }
  return true;
}

}  // namespace

void Functions::Vector::load(std::span<const double> values) {
  if (!array_ || Py_REFCNT(array_.ptr()) > 1) {
    array_ = numpy().attr("empty")(values.size());
    data_ = static_cast<double*>(py::reinterpret_borrow<py::buffer>(array_).request().ptr);
  }
  std::copy(values.begin(), values.end(), data_);
}

Functions::Functions(int dofs, std::vector<GapFunctions> gaps, py::object force, py::object mass)
    : dofs_(dofs), gaps_(std::move(gaps)), force_(std::move(force)), mass_(std::move(mass)) {
  for (const GapFunctions& one : gaps_) {
    gap_names_.push_back(fmt::format("gap of contact '{}'", one.contact));
  }
}

int Functions::find_gap(const std::string& contact) const {
  for (std::size_t k = 0; k < gaps_.size(); ++k) {
    if (gaps_[k].contact == contact) return static_cast<int>(k);
  }
  return -1;
}

/// Ctrl-C while the function runs asks the run to stop after this step, which needs the value: the
/// function is called once more. The next Ctrl-C goes through.
py::object Functions::call(const py::object& function, const std::string& name, double t,
                           PyObject* const* arguments, std::size_t count) const {
  constexpr long long kBetweenLooks = 64;
  Watch* const watch = Watch::current();
  if (watch != nullptr && calls_++ % kBetweenLooks == 0) watch->tick();
  for (;;) {
    PyObject* result = PyObject_Vectorcall(function.ptr(), arguments, count, nullptr);
    if (result != nullptr) return py::reinterpret_steal<py::object>(result);
    const bool is_interrupt = PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) != 0;
    if (PyErr_ExceptionMatches(PyExc_Exception) != 0) raise_callable(name, t, "");
    if (!is_interrupt || watch == nullptr || !watch->take_interrupt()) {
      throw py::error_already_set();  // sys.exit(), say: not a fault
    }
    PyErr_Clear();
  }
}

py::object Functions::call_at(const py::object& function, const std::string& name, double t,
                              std::span<const double> q) const {
  q_.load(q);
  const py::float_ time(t);
  const py::object place = q_.get();  // ours while it is called, whoever else calls meanwhile
  const std::array<PyObject*, 2> arguments = {time.ptr(), place.ptr()};
  return call(function, name, t, arguments.data(), arguments.size());
}

double Functions::number(const py::object& value, const std::string& name, double t) const {
  const double found = PyFloat_AsDouble(value.ptr());
  if (found == -1.0 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    raise_callable(name, t, fmt::format("must return a number, not {}", describe(value)));
  }
  if (!std::isfinite(found)) raise_callable(name, t, fmt::format("returned {}", found));
  return found;
}

void Functions::numbers(const py::object& value, const std::string& name, double t,
                        std::span<double> out) const {
  if (!copy_array(value, out) && !copy_sequence(value, out)) {
    bool fits = false;
    try {
      const py::object array = numpy().attr("asarray")(value, "dtype"_a = py::float_().get_type());
      fits = copy_array(array, out);
    } catch (py::error_already_set&) {
    }
    if (!fits) {
      raise_callable(name, t,
                     fmt::format("must return {} number{}, one for each coordinate, not {}",
                                 out.size(), out.size() == 1 ? "" : "s", describe(value)));
    }
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (std::isfinite(out[i])) continue;
    raise_callable(name, t, fmt::format("returned {} for coordinate {}", out[i], i + 1));
  }
}

double Functions::gap(int k, double t, std::span<const double> q) const {
  now_ = t;
  ++evaluations_;
  const auto at = static_cast<std::size_t>(k);
  return number(call_at(gaps_[at].gap, gap_names_[at], t, q), gap_names_[at], t);
}

double Functions::slope(int k, double t, std::span<const double> q, std::span<double> slope) const {
  now_ = t;
  const GapFunctions& functions = gaps_[static_cast<std::size_t>(k)];
  const bool has_gradient = !functions.gradient.is_none();
  if (has_gradient) {
    const std::string name = fmt::format("gradient of contact '{}'", functions.contact);
    numbers(call_at(functions.gradient, name, t, q), name, t, slope);
  }
  const bool has_rate = !functions.rate.is_none();
  const double rate = differences(k, t, q, !has_gradient, !has_rate, slope);
  if (!has_rate) return rate;
  const std::string name = fmt::format("rate of contact '{}'", functions.contact);
  if (PyCallable_Check(functions.rate.ptr()) == 0) return number(functions.rate, name, t);
  return number(call_at(functions.rate, name, t, q), name, t);
}

/// Central differences with h and h/2, and what they tend to: the error is of fourth order. Where
/// the two differ by more than kAgree of the largest one, the gap is not smooth on this scale.
double Functions::differences(int k, double t, std::span<const double> q, bool by_coordinates,
                              bool by_time, std::span<double> slope) const {
  constexpr double kPart = 1e-3;  // eps^(1/5): where truncation and rounding are as small
  constexpr double kAgree = 1e-3;
  std::vector<double> point(q.begin(), q.end());
  double apart = 0.0;
  double largest = 0.0;
  double rounding = 0.0;
  const auto derivative = [&](double& x, const double& time) {
    const double at = x;
    const double h = kPart * std::max(1.0, std::abs(at));
    const auto value = [&](double offset) {
      x = at + offset;
      return gap(k, time, point);
    };
    const double far = value(h);
    const double coarse = (far - value(-h)) / (2.0 * h);
    const double fine = (value(0.5 * h) - value(-0.5 * h)) / h;
    x = at;
    apart = std::max(apart, std::abs(fine - coarse));
    largest = std::max({largest, std::abs(fine), std::abs(coarse)});
    rounding =
        std::max(rounding, 64.0 * std::numeric_limits<double>::epsilon() * std::abs(far) / h);
    return (4.0 * fine - coarse) / 3.0;
  };
  if (by_coordinates) {
    for (std::size_t i = 0; i < point.size(); ++i) slope[i] = derivative(point[i], t);
  }
  double time = t;
  const double rate = by_time ? derivative(time, time) : 0.0;
  if (apart > kAgree * largest + rounding) {
    raise_callable(gap_names_[static_cast<std::size_t>(k)], t,
                   fmt::format("differences do not tell its gradient: with half the distance they "
                               "change by {:.2g}, and are {:.2g} at most; give gradient= and "
                               "rate= of the contact",
                               apart, largest));
  }
  return rate;
}

void Functions::add_force(double t, std::span<const double> q, std::span<const double> u,
                          std::span<double> force) const {
  now_ = t;
  q_.load(q);
  const py::object place = q_.get();  // held at once: other threads may run the same functions
  u_.load(u);
  const py::object velocity = u_.get();
  const py::float_ time(t);
  const std::array<PyObject*, 3> arguments = {time.ptr(), place.ptr(), velocity.ptr()};
  std::vector<double> found(force.size());
  numbers(call(force_, "force", t, arguments.data(), arguments.size()), "force", t, found);
  for (std::size_t i = 0; i < force.size(); ++i) force[i] += found[i];
}

void Functions::mass(std::span<const double> q,
                     model::Matrix<model::kDynamic, model::kDynamic>& mass) const {
  q_.load(q);
  const py::object place = q_.get();
  const std::array<PyObject*, 1> arguments = {place.ptr()};
  const py::object value = call(mass_, "mass", now_, arguments.data(), arguments.size());
  const py::object array = [&] {
    try {
      return py::object(numpy().attr("asarray")(value, "dtype"_a = py::float_().get_type()));
    } catch (py::error_already_set&) {
      return value;
    }
  }();
  const py::tuple shape = py::getattr(array, "shape", py::make_tuple());
  const bool is_matrix = shape.equal(py::make_tuple(dofs_, dofs_));
  if (!is_matrix && !shape.equal(py::make_tuple(dofs_))) {
    raise_callable("mass", now_,
                   fmt::format("must return {0} masses or a matrix of shape ({0}, {0}), not {1}",
                               dofs_, describe(value)));
  }
  std::vector<double> row(static_cast<std::size_t>(dofs_));
  mass.setZero();
  for (int i = 0; i < dofs_; ++i) {
    if (is_matrix) {
      numbers(array[py::int_(i)], "mass", now_, row);
      for (int j = 0; j < dofs_; ++j) mass(i, j) = row[static_cast<std::size_t>(j)];
    } else {
      mass(i, i) = number(array[py::int_(i)], "mass", now_);
    }
  }
  const double off = (mass - mass.transpose()).cwiseAbs().maxCoeff();
  if (off > 1e-12 * mass.cwiseAbs().maxCoeff()) {
    raise_callable("mass", now_, fmt::format("is not symmetric: entries differ by {:.3g}", off));
  }
}

void Functions::check(const model::State<model::kDynamic>& start) const {
  std::vector<double> q(start.q.data(), start.q.data() + start.q.size());
  check_at(start.t, q);
  // A wrong gradient may be right by chance at a start full of zeros.
  for (std::size_t i = 0; i < q.size(); ++i) {
    q[i] +=
        0.01 * (1.0 + std::abs(q[i])) * (0.5 + std::fmod(0.618 * static_cast<double>(i + 1), 1.0));
  }
  try {
    check_at(start.t, q);
  } catch (py::error_already_set& error) {
    const py::object told = py::module_::import("ricochet.errors").attr("GradientError");
    // Else the functions need not be defined there; Ctrl-C and exits are no such errors.
    if (error.matches(told) || !error.matches(PyExc_Exception)) throw;
  }
}

void Functions::check_at(double t, std::span<const double> q) const {
  std::vector<double> given(q.size());
  std::vector<double> found(q.size());
  for (std::size_t k = 0; k < gaps_.size(); ++k) {
    const GapFunctions& functions = gaps_[k];
    if (functions.gradient.is_none() && functions.rate.is_none()) continue;
    const int number = static_cast<int>(k);
    double rate = 0.0;
    try {
      rate = differences(number, t, q, true, true, found);
    } catch (py::error_already_set& error) {
      if (!error.matches(PyExc_Exception)) throw;
      continue;  // not smooth here: nothing to hold the gradient against
    }
    const double given_rate = slope(number, t, q, given);
    double size = 0.0;
    for (const double one : found) size = std::max(size, std::abs(one));
    for (std::size_t i = 0; i < q.size(); ++i) {
      compare(number, "gradient", t, given[i], found[i], size, fmt::format("coordinate {}", i + 1));
    }
    compare(number, "rate", t, given_rate, rate, std::max(size, std::abs(rate)), "time");
  }
}

void Functions::compare(int k, const std::string& name, double t, double given, double found,
                        double size, const std::string& by) const {
  constexpr double kAgree = 1e-5;
  if (std::abs(given - found) <= kAgree * std::max(size, std::abs(given)) + 1e-9) return;
  const py::object type = py::module_::import("ricochet.errors").attr("GradientError");
  const std::string callable =
      fmt::format("{} of contact '{}'", name, gaps_[static_cast<std::size_t>(k)].contact);
  const py::object value = type(
      fmt::format("error: {} at t = {:.9g}: is {:.6g} by {}, but differences of the gap say {:.6g}",
                  callable, t, given, by, found),
      callable, t);
  PyErr_SetObject(type.ptr(), value.ptr());
  throw py::error_already_set();
}

void bind_callables(py::module_& m) {
  py::class_<Functions, std::shared_ptr<Functions>>(m, "Functions")
      .def(py::init(
          [](int dofs, const std::vector<py::tuple>& gaps, py::object force, py::object mass) {
            std::vector<GapFunctions> functions;
            for (const py::tuple& one : gaps) {
              functions.push_back({py::cast<std::string>(one[0]), one[1], one[2], one[3]});
            }
            return std::make_shared<Functions>(dofs, std::move(functions), std::move(force),
                                               std::move(mass));
          }))
      .def_property_readonly("evaluations", &Functions::evaluations);
}

}  // namespace ricochet::python
