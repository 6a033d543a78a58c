#pragma once

#include <span>
#include <string>

#include "ricochet/plot/collector.h"
#include "ricochet/plot/frames.h"
#include "ricochet/plot/run_plot.h"
#include "ricochet/record/summary.h"
#include "ricochet/scene/scene.h"

namespace ricochet::plot {

/// Keeps what a report shows besides the picture of the run: histories, energies, frames.
class ReportData {
 public:
  ReportData() = default;
  explicit ReportData(const scene::Scene& scene);

  void add(std::span<const double> row);
  void close();

  const scene::PlotPlan& histories_plan() const { return histories_plan_; }
  const scene::PlotPlan& energy_plan() const { return energy_plan_; }
  const Collector& histories() const { return histories_; }
  const Collector& energy() const { return energy_; }
  const Frames& frames() const { return frames_; }

 private:
  scene::PlotPlan histories_plan_;
  scene::PlotPlan energy_plan_;
  Collector histories_;
  Collector energy_;
  Frames frames_;
};

/// One page about one run, with everything in it: the motion to be played, the pictures, the
/// certificate in words, the energy ledger, the stated facts, the scene, the timings. `picture` is
/// that of the run.
std::string make_report(const scene::Scene& scene, const record::Summary& summary,
                        const RunPicture& picture, const ReportData& data);

}  // namespace ricochet::plot
