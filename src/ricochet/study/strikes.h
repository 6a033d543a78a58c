#pragma once

#include <optional>
#include <vector>

#include "ricochet/model/formula_model.h"
#include "ricochet/step/outcome.h"

namespace ricochet::study {

/// Looks whether coefficients that are formulas change where it matters which one a step takes: of
/// restitution, within the step or two by which constant steps may be late at an impact; of
/// friction, along the way of a step that slows a contact much.
class Strikes {
 public:
  /// Nothing is looked at without formulas.
  explicit Strikes(const model::FormulaModel* model);

  bool has_work() const { return !watched_.empty() || !slides_.empty(); }
  /// Samples of every step.
  void add(const step::Sample& sample) {
    if (has_work()) follow(sample);
  }
  struct Doubt {
    double t{0.0};  // [s]
    bool is_friction{false};
  };
  const std::optional<Doubt>& first() const { return first_; }

 private:
  struct Watched {
    int contact{0};
    int quiet{0};      // steps since a push
    double gap{0.0};   // at the last sample
    double fell{0.0};  // since the one before
    double bend{0.0};  // by how much more than in the step before that
    double most{0.0};  // the largest fall
  };
  struct Slide {
    int contact{0};
    std::vector<std::size_t> outputs;  // registers of coefficients that vary
    double slip{0.0};                  // at the last sample
    double most{0.0};                  // the largest
  };
  void watch_friction();
  void follow(const step::Sample& sample);
  void follow_slides(const step::Sample& sample, double h);
  void place(std::vector<formula::Range>& ranges, double from, double to) const;
  bool is_uneven(const Watched& w, double h);
  formula::Range bound(const Watched& w, double from, double to, double h);

  const model::FormulaModel* model_;
  std::vector<Watched> watched_;
  double t_{0.0};
  std::vector<double> q_, u_;  // of the last sample
  std::vector<Slide> slides_;
  std::vector<formula::Range> ranges_, slide_ranges_;
  std::optional<Doubt> first_;
};

}  // namespace ricochet::study
