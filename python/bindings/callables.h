#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bindings.h"
#include "ricochet/model/outside.h"
#include "ricochet/model/state.h"

namespace ricochet::python {

/// A contact whose gap is a Python function.
struct GapFunctions {
  std::string contact;
  py::object gap;       // gap(t, q)
  py::object gradient;  // gradient(t, q), or None: by differences
  py::object rate;      // rate(t, q), a number, or None: by differences
};

/// Python functions as parts of a model. Called with the interpreter's lock held; what they raise
/// or return wrongly becomes a CallableError that names the function and the time.
class Functions : public model::Outside {
 public:
  Functions(int dofs, std::vector<GapFunctions> gaps, py::object force, py::object mass);

  int find_gap(const std::string& contact) const override;
  bool has_force() const override { return !force_.is_none(); }
  bool has_mass() const override { return !mass_.is_none(); }
  double gap(int number, double t, std::span<const double> q) const override;
  double slope(int number, double t, std::span<const double> q,
               std::span<double> slope) const override;
  void add_force(double t, std::span<const double> q, std::span<const double> u,
                 std::span<double> force) const override;
  void mass(std::span<const double> q,
            model::Matrix<model::kDynamic, model::kDynamic>& mass) const override;

  /// Holds gradients and rates that are given against differences at the start and beside it.
  void check(const model::State<model::kDynamic>& start) const;

  long long evaluations() const { return evaluations_; }  // of gaps

 private:
  /// An array that functions are handed, used again unless somebody kept it.
  class Vector {
   public:
    void load(std::span<const double> values);
    const py::object& get() const { return array_; }

   private:
    py::object array_;
    double* data_{nullptr};
  };

  py::object call(const py::object& function, const std::string& name, double t,
                  PyObject* const* arguments, std::size_t count) const;
  py::object call_at(const py::object& function, const std::string& name, double t,
                     std::span<const double> q) const;
  double number(const py::object& value, const std::string& name, double t) const;
  void numbers(const py::object& value, const std::string& name, double t,
               std::span<double> out) const;
  double differences(int number, double t, std::span<const double> q, bool by_coordinates,
                     bool by_time, std::span<double> slope) const;
  void check_at(double t, std::span<const double> q) const;
  void compare(int number, const std::string& name, double t, double given, double found,
               double size, const std::string& by) const;

  int dofs_;
  std::vector<GapFunctions> gaps_;
  std::vector<std::string> gap_names_;
  py::object force_;
  py::object mass_;
  mutable Vector q_;
  mutable Vector u_;
  mutable double now_{0.0};  // the last time that was asked for: a mass has none of its own
  mutable long long evaluations_{0};
  mutable long long calls_{0};
};

}  // namespace ricochet::python
