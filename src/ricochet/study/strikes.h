#pragma once

#include <optional>
#include <vector>

#include "ricochet/model/formula_model.h"
#include "ricochet/step/outcome.h"

namespace ricochet::study {

/// Looks whether coefficients of restitution that are formulas change, where a contact is struck,
/// within the step or two by which constant steps may be late: then another one may be the true
/// one.
class Strikes {
 public:
  /// Nothing is looked at without formulas.
  explicit Strikes(const model::FormulaModel* model);

  /// Samples of every step.
  void add(const step::Sample& sample) {
    if (!watched_.empty()) follow(sample);
  }
  /// [s]
  const std::optional<double>& first() const { return first_; }

 private:
  struct Watched {
    int contact{0};
    int quiet{0};      // steps since a push
    double gap{0.0};   // at the last sample
    double fell{0.0};  // since the one before
    double bend{0.0};  // by how much more than in the step before that
    double most{0.0};  // the largest fall
  };
  void follow(const step::Sample& sample);
  bool is_uneven(const Watched& w, double h);
  formula::Range bound(const Watched& w, double from, double to, double h);

  const model::FormulaModel* model_;
  std::vector<Watched> watched_;
  double t_{0.0};
  std::vector<double> q_, u_;  // of the last sample
  std::vector<formula::Range> ranges_;
  std::optional<double> first_;
};

}  // namespace ricochet::study
