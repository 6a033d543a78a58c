#pragma once

#include <vector>

#include "ricochet/formula/jet.h"
#include "ricochet/model/formula_model.h"

namespace ricochet::model {

/// Whether the free motion of a model can be told from its Taylor series: a constant mass, no
/// joints, no friction, and forces that are polynomials of t, q, u and of sines and cosines of
/// sums of these, of low degree. Nothing narrow hides between two places of such a motion.
bool has_flights(const FormulaModel& model);

/// The free motion from a place as its Taylor series in time.
class Flight {
 public:
  explicit Flight(const FormulaModel& model);
  bool exists() const { return n_ > 0; }

  /// The series from there; how long it holds that accuracy.
  double open(double t, const double* q, const double* u, double accuracy);

  /// Whether two ends with their accelerations tell all: polynomials of degree 5 at most.
  bool is_short() const;
  const double* positions(int i) const { return row(1 + i); }
  double position(int i, double s) const { return formula::Jet::value(row(1 + i), s); }
  double velocity(int i, double s) const { return formula::Jet::value(row(1 + n_ + i), s); }
  double acceleration(int i, double s) const;

 private:
  const double* row(int index) const {
    return series_.data() + static_cast<std::size_t>(index) * formula::Jet::kStride;
  }
  int n_{0};
  formula::Jet jet_;
  std::vector<double> series_;
};

}  // namespace ricochet::model
