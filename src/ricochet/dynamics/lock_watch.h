#pragma once

#include <string>

#include "ricochet/dynamics/section.h"

namespace ricochet::dynamics {

/// Sees the rows of a run by steps of which a whole number makes a period. Such runs are maps of
/// finitely many numbers with a piecewise contraction at impacts: they can repeat to the last digit
/// where the motion itself does not.
class LockWatch {
 public:
  explicit LockWatch(const scene::Scene& scene);

  void add(const step::Sample& sample);
  /// Periods after which the run repeats; 0: it does not.
  long long locked() const { return locked_; }
  /// A warning; empty when the run does not repeat, or the motion does so too.
  std::string warning(const scene::Scene& scene);
  /// The same among the warnings of the scene.
  void warn(scene::Scene& scene);

 private:
  void take(double t, const Eigen::VectorXd& state);
  void go_on(const scene::Scene& scene);
  bool repeats_too(const scene::Scene& scene) const;

  long long steps_{0};    // in a period; 0: nothing is watched
  bool sees_all_{false};  // rows come at whole periods
  long long seen_{0};     // periods
  long long kept_{0};     // the period that others are held against
  long long locked_{0};
  double t_{0.0};
  Eigen::VectorXd state_, now_;
};

}  // namespace ricochet::dynamics
