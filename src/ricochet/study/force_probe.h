#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "ricochet/model/formula_model.h"
#include "ricochet/study/trace.h"

namespace ricochet::study {

/// Registers of the tape of friction: the stretch or the load of a contact, and its two
/// coefficients.
std::array<std::size_t, 3> friction_registers(const model::FormulaModel& model, int a);

/// Looks for what acts between the instants at which steps look at it: a short pulse of a force, or
/// a steep place, a patch of friction or a heavy place that is passed in less than a step. No run
/// with like steps sees these.
///
/// Along the way of a run, as its trace tells it, interval arithmetic bounds forces, coefficients
/// of friction and masses over pieces of it. Where they may be more than what steps see, for long
/// enough to matter, pieces are cut down to single steps, and then to parts of a step, whose
/// values are summed up. An impact within a step is a kink of the way.
class ForceProbe {
 public:
  /// Steps of length h, who look at forces in the middle, or at their ends. `nets`: they may be
  /// made of shorter ones, so that forces which cancel each other may have been seen.
  ForceProbe(const model::FormulaModel& model, const Trace& trace, const Pushes& pushes, double h,
             bool in_middle, bool nets);

  /// Whether forces, friction or masses of a model vary and can be looked at.
  static bool has_work(const model::FormulaModel& model);

  struct Missed {
    double t{0.0};  // [s]
    const char* what{""};
  };
  /// What steps do not see and what changes a momentum by more than a small part of its largest
  /// value, a place by as much of the time, or a force by which static friction holds; none, too,
  /// where the formulas are too many to look at.
  std::optional<Missed> find();

 private:
  struct Place {
    double t{0.0};
    std::vector<double> q, u;
  };
  struct Piece {
    double from{0.0}, to{0.0};  // [s] since the start
    std::size_t mark{0};        // before it
    int depth{0};
  };
  /// A formula that is followed.
  struct Channel {
    std::size_t output{0};  // its register
    double most;            // what matters of its integral over time
    double peak;            // what matters of its value, however short
    int contact{-1};
    bool is_load{false};        // of friction without a contact
    std::size_t coordinate{0};  // of a force
  };

  bool holds_statically() const;
  void momenta_at(const Place& place, std::span<double> out);
  void take_momenta();
  void follow(const formula::Tape& tape, std::vector<Channel> channels);
  void follow_forces();
  void follow_friction();
  void follow_masses();
  void limit_friction(const Piece& piece);
  std::optional<double> scan();
  void place_at(double time, Place& place) const;
  void place_at_kink(std::size_t mark, double time, Place& place) const;
  void follow_way();
  bool is_followed(std::size_t mark) const;
  void run_tape(const formula::Tape& tape, const Place& place, std::vector<double>& registers);
  void values_at(double time);
  void see(double time);
  bool may_matter(const Piece& piece, double part);
  bool is_known(double length) const;
  bool is_missed(const Piece& steps);
  bool is_shown(const Piece& steps, std::size_t channel);

  const model::FormulaModel& model_;
  const formula::Tape* tape_{nullptr};
  const Trace& trace_;
  const Pushes& pushes_;
  double h_;
  bool in_middle_;
  mutable std::size_t last_{0};  // mark of the last place
  bool nets_;
  bool are_forces_{false};
  int left_{0};  // pieces that may be looked at
  Place from_, to_;
  std::vector<double> limits_;  // by coordinate: a momentum that matters
  std::vector<Channel> channels_;
  std::vector<double> low_, high_;      // what steps see nearby, by channel
  std::vector<double> value_, missed_;  // by channel
  std::vector<double> totals_;          // by channel: what is missed, in parts of what matters
  enum class Way : char { Smooth, Kinked, Unknown };
  std::vector<Way> ways_;       // by mark, up to the next
  std::vector<double> floors_;  // of an integral: what need not be known better
  std::vector<double> registers_;
  std::vector<formula::Range> ranges_;
};

}  // namespace ricochet::study
