#pragma once

#include <vector>

#include "ricochet/step/run_formula.h"
#include "ricochet/study/motion.h"

namespace ricochet::study {

/// Makes of the samples of every step those of every N-th one, first and last among them, with the
/// same bits as a run has that is asked for them: impulses are summed in the order of steps, and a
/// shock counts before what a contact does later.
class RowThinner {
 public:
  /// N and the number of steps as of `run`; N = 0: first and last only.
  RowThinner(const step::RunSettings& run, const step::Observer& observe)
      : every_(run.record_every),
        last_(run.control.is_on() ? -1 : run.steps),
        until_row_(run.record_every),
        observe_(observe) {}

  void add(const step::Sample& sample) {
    if (every_ == 1) {
      observe_(sample);
    } else if (is_quiet(sample)) {
      ++steps_;
      --until_row_;
      pending_ = true;
    } else {
      take(sample);
    }
    step_ = sample.step;
  }
  /// After a run that ended; shows its last instant where no row did.
  void finish(const Motion& motion);

 private:
  /// Whether nothing happens in a step that has no row.
  bool is_quiet(const step::Sample& sample) const {
    return impulses_.size() == 1 && sample.impulses[0] == 0.0 && states_.empty() &&
           until_row_ != 1 && sample.step != last_;
  }
  void take(const step::Sample& sample);
  void sum(const step::Sample& sample);
  void show(step::Sample sample);

  long long every_;
  long long last_;  // step, where it is known; else -1
  long long until_row_;
  const step::Observer& observe_;
  long long step_{0};
  bool pending_{false};  // the last sample was not shown
  long long steps_{0};   // since the last row
  std::vector<double> impulses_;
  std::vector<double> pushed_;  // so many of them
  std::vector<double> tangential_;
  std::vector<double> slips_;
  std::vector<double> states_;
};

}  // namespace ricochet::study
