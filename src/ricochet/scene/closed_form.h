#pragma once

#include <vector>

#include "ricochet/formula/graph.h"
#include "ricochet/formula/tape.h"

namespace ricochet::scene {

/// A motion that a scene states: q(t) as formulas of time, and u = dq/dt by their derivatives. At a
/// jump of u it is what the formulas say at that very instant.
class ClosedForm {
 public:
  /// A place where a formula takes another branch: neighbouring numbers before and after it.
  struct Switch {
    double before{0.0};
    double after{0.0};
  };

  /// `positions` are nodes of `graph` made of its input `time_slot` only. May throw GraphTooLarge.
  ClosedForm(formula::Graph& graph, const std::vector<formula::NodeId>& positions, int time_slot);

  static constexpr std::size_t kMostSwitches = 100'000;

  int size() const { return size_; }

  /// Where `at` works; each user brings his own.
  std::vector<double> registers() const { return tape_.registers(); }
  /// q and u at time t, `size()` numbers each.
  void at(double t, std::vector<double>& registers, double* q, double* u) const;

  /// Where comparisons (of `if`, `abs`, `sign`, `min`, `max`) in the velocities change between
  /// `from` and `to`. Looked for between `samples` instants: two changes within one such interval
  /// that undo each other are not seen. At most kMostSwitches are found.
  std::vector<Switch> switches(double from, double to, long long samples) const;

 private:
  void add_switches(double from, double to, std::vector<double>& registers,
                    std::vector<Switch>& found) const;
  std::vector<double> branches_at(double t, std::vector<double>& registers) const;

  formula::Tape tape_;  // one group: q, u, comparisons
  int time_slot_{0};
  int size_{0};
};

}  // namespace ricochet::scene
