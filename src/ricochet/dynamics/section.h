#pragma once

#include <Eigen/Core>
#include <memory>
#include <string>
#include <vector>

#include "ricochet/flow/flow.h"
#include "ricochet/formula/tape.h"
#include "ricochet/scene/scene.h"
#include "ricochet/step/outcome.h"

namespace ricochet::dynamics {

/// Where and how fast, when.
struct Instant {
  double t{0.0};
  Eigen::VectorXd q, u;
};

/// What changes a scene, for a study of its exact motion: scheme, step and end are not needed, and
/// are filled in where neither the text nor `changes` have them.
std::vector<scene::Override> exact_changes(const std::string& file, const std::string& text,
                                           std::vector<scene::Override> changes);

/// The exact motion of a scene, looked at where its [section] says.
class SectionFlow {
 public:
  /// Throws base::InputError for a scene without section and period, or without such a motion.
  explicit SectionFlow(const scene::Scene& scene, bool with_variations = false);

  void start(const Instant& from);
  /// To the next section. False when there is none: see `ended`.
  bool next();

  Instant point() const { return {flow_.t(), flow_.q(), flow_.u()}; }  // where the motion stands
  /// On the section: q, u and, where the section does not fix it, cos and sin of the phase.
  const Eigen::VectorXd& state() const { return state_; }
  const std::vector<double>& kept() const { return kept_; }
  double time() const { return flow_.elapsed(); }
  long long impacts() const { return impacts_; }
  const std::string& ended() const { return ended_; }  // "escapes", "never", or a failure
  flow::Flow& flow() { return flow_; }
  /// The state and, at impacts, the logarithm of the time since the last one: impacts of a chatter
  /// are as close to each other as those of an orbit, but their flights are not.
  Eigen::VectorXd returning() const;

 private:
  bool take(double approach, const Eigen::VectorXd& u);

  scene::SectionPlan plan_;
  double period_;
  double longest_;  // [s] without a section
  flow::Equations equations_;
  flow::Flow flow_;
  formula::Tape tape_;
  std::vector<double> registers_;
  Eigen::VectorXd state_;
  std::vector<double> kept_;
  double largest_{0.0};  // of |q| and |u|: beyond it the motion escapes
  double at_{0.0};       // elapsed time of the last section, of those at equal times
  double last_{0.0};     // elapsed time of the last section
  double flight_{0.0};   // and since the one before
  long long impacts_{0};
  std::string ended_;
};

/// The period, in sections, after which the last states repeat within `tolerance` of their range,
/// at most `most`; 0: none.
int period_of(const std::vector<Eigen::VectorXd>& states, int most, double tolerance = 1e-6);

struct SectionSettings {
  int settle{300};  // sections let go
  int show{1000};   // sections kept
};

/// One motion on its section.
struct SectionResult {
  std::vector<std::string> names;
  std::vector<double> times;
  std::vector<std::vector<double>> rows;  // of what is kept
  int period{0};                          // in sections; 0: it does not repeat
  double rate{0.0};                       // impacts per time
  std::string ended;                      // why there are no more; empty: all are there
  bool interrupted{false};
};
SectionResult take_section(const scene::Scene& scene, const SectionSettings& settings,
                           step::Monitor* monitor = nullptr);

std::string section_csv(const SectionResult& found);
std::string describe(const SectionResult& found, const scene::Scene& scene);

}  // namespace ricochet::dynamics
