#pragma once

#include <array>
#include <string>
#include <vector>

#include "ricochet/base/executor.h"
#include "ricochet/study/error_bar.h"
#include "ricochet/study/motion.h"
#include "ricochet/study/world_trace.h"

namespace ricochet::study {

/// Whether a run has an error bar: `Auto` gives one to runs of up to kMostBarSteps steps and
/// kMostBarBodies free bodies. `Defect` is another way to one, without companions:
/// dynamics/defect.h.
enum class BarChoice { Auto, None, Pair, Defect };
inline constexpr long long kMostBarSteps = 1'000'000;
inline constexpr int kMostBarBodies = 30;
inline constexpr long long kFewestBarSteps = 4;

/// "none", "pair" or "defect"; throws base::InputError for another word.
BarChoice bar_choice(const std::string& word);

/// The scene over the same time with about 1/coarser of its steps. Event-driven runs and runs under
/// step control are less exact by as much besides.
scene::Scene coarsened(const scene::Scene& scene, double coarser);

/// A run watched so that its error can be told, and the two companions that tell it.
class Companions {
 public:
  Companions(const scene::Scene& scene, BarChoice choice);

  /// The run itself, as `run_scene`, with the same rows to the bit.
  Motion run(bool keep_rows, const step::Observer& observe, step::Monitor* monitor);

  /// After it: runs the companions, side by side where the executor has threads. A run that was
  /// stopped or failed has no bar; a stop while companions run leaves it without one.
  ErrorBar compare(const Motion& motion, const base::Executor& executor,
                   step::Monitor* monitor) const;

 private:
  Companion run_companion(std::size_t which, step::Monitor* monitor) const;
  Motion run_world(bool keep_rows, const step::Observer& observe, step::Monitor* monitor);
  CloserCompanion run_closer_companion(long long steps, step::Monitor* monitor) const;
  ErrorBar compare_worlds(const Motion& motion, const base::Executor& executor,
                          step::Monitor* monitor) const;

  scene::Scene scene_;
  BarChoice choice_;
  std::string not_made_;              // why there will be no bar; empty: there will be
  bool between_{true};                // the run can be interpolated between its steps
  std::vector<scene::Scene> scenes_;  // of the companions
  std::array<Trace, 2> traces_;       // the run at the marks of each
  TracedRun own_;
  WorldLayout layout_;  // of bodies
  WorldMarks marks_;
  WorldPath path_;
};

}  // namespace ricochet::study
