#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "ricochet/scene/closed_form.h"
#include "ricochet/scene/scene.h"
#include "ricochet/study/recorded_run.h"

namespace ricochet::study {

/// The motion that runs are held against: the one that a scene states, or a run with short steps.
class Reference {
 public:
  /// The motion that `scene` states, between two times. Its jumps are looked for between as many
  /// instants as `finest` steps take, several times over. Throws base::InputError where it is not
  /// finite, or does not start where the scene does.
  static Reference stated(const scene::Scene& scene, double to, double finest);
  static Reference computed(RecordedRun run);

  bool is_stated() const { return std::holds_alternative<Stated>(source_); }
  /// Of a computed one; 0 of a stated one.
  double step() const { return is_stated() ? 0.0 : std::get<RecordedRun>(source_).step; }
  double end() const { return end_; }
  /// Times at which velocities jump: of a stated motion exact, of a run its shocks.
  const std::vector<double>& jumps() const { return jumps_; }
  bool jumps_are_cut() const { return jumps_are_cut_; }
  /// Of a run the shocks of each contact together; of a stated motion its jumps.
  long long shocks() const;

  void at(double t, std::vector<double>& q, std::vector<double>& u) const;

  /// The velocities up to `to`, one curve for each coordinate. A stated motion becomes as many
  /// straight pieces as steps of length `spacing` take, and its jumps.
  std::vector<Curve> velocities(double to, double spacing) const;

 private:
  struct Stated {
    std::shared_ptr<const scene::ClosedForm> form;
    std::vector<scene::ClosedForm::Switch> jumps;
    double from{0.0};
    double first{0.0};  // where the start is read: after a jump at the very start
  };

  void find_jumps(double to, double finest);
  void check_start(const scene::Scene& scene) const;
  std::vector<Curve> stated_velocities(const Stated& stated, double to, double spacing) const;

  std::variant<RecordedRun, Stated> source_;
  double end_{0.0};
  std::vector<double> jumps_;
  bool jumps_are_cut_{false};
};

}  // namespace ricochet::study
