#pragma once

#include <optional>
#include <span>
#include <vector>

#include "ricochet/model/formula_model.h"
#include "ricochet/study/trace.h"

namespace ricochet::study {

/// Looks for forces that act between the instants at which steps look at them: a short pulse, or a
/// steep place that is passed in less than a step. No run with like steps sees these.
///
/// Along the way of a run, as its trace tells it, interval arithmetic bounds the forces over pieces
/// of it. Where they may be more than what steps see, for long enough to matter, pieces are cut
/// down to single steps, and then to parts of a step, whose forces are summed up.
class ForceProbe {
 public:
  /// Steps of length h, who look at forces in the middle, or at their ends. `nets`: they may be
  /// made of shorter ones, so that forces which cancel each other may have been seen.
  ForceProbe(const model::FormulaModel& model, const Trace& trace, double h, bool in_middle,
             bool nets);

  /// [s] of a force that steps do not see and that changes a momentum by more than a small part of
  /// its largest value; none, too, where the forces are too many to look at.
  std::optional<double> find();

 private:
  struct Place {
    double t{0.0};
    std::vector<double> q, u;
  };
  struct Piece {
    double from{0.0}, to{0.0};  // [s] since the start
    int depth{0};
  };

  void take_momenta();
  void place_at(double time, Place& place) const;
  bool is_followed(std::size_t mark) const;
  void force_at(double time, std::span<double> out);
  void see(double time);
  bool may_matter(const Piece& piece, double part);
  bool is_known(double length) const;
  bool is_missed(const Piece& steps);

  const model::FormulaModel& model_;
  const formula::Tape& tape_;
  const Trace& trace_;
  double h_;
  bool in_middle_;
  bool nets_;
  int left_;  // pieces that may be looked at
  Place from_, to_;
  std::vector<double> limits_;      // by coordinate: a momentum that matters
  std::vector<double> low_, high_;  // forces that steps see nearby
  std::vector<double> force_, missed_;
  std::vector<double> registers_;
  std::vector<formula::Range> ranges_;
};

}  // namespace ricochet::study
