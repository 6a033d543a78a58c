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
      : every_(run.record_every), last_(run.control.is_on() ? -1 : run.steps), observe_(observe) {}

  void add(const step::Sample& sample) {
    if (sample.step >= next_row_ || !is_simple_) {
      take(sample);
    } else if (sample.impulses[0] != 0.0) {
      add_impulse(0, sample.impulses[0]);
    }
  }
  /// After a run that ended; shows its last instant where no row did.
  void finish(const Motion& motion);

 private:
  void add_impulse(std::size_t contact, double impulse) {
    impulses_[contact] += impulse;
    pushed_[contact] += impulse > 0.0 ? 1.0 : 0.0;
  }
  void take(const step::Sample& sample);
  void open(const step::Sample& sample);
  void sum(const step::Sample& sample);
  void show(step::Sample sample);
  long long row_after(long long step) const;

  long long every_;
  long long last_;  // step, where it is known; else -1
  const step::Observer& observe_;
  long long next_row_{0};  // step
  long long shown_{0};     // the step of the last row
  bool is_simple_{false};  // one contact without friction
  std::vector<double> impulses_;
  std::vector<double> pushed_;  // so many of them
  std::vector<double> tangential_;
  std::vector<double> slips_;
  std::vector<double> states_;
};

}  // namespace ricochet::study
