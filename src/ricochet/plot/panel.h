#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ricochet/certify/certificate.h"
#include "ricochet/model/formula_model.h"
#include "ricochet/plot/axes.h"
#include "ricochet/plot/collector.h"
#include "ricochet/record/error_bar.h"
#include "ricochet/scene/plot_plan.h"

namespace ricochet::plot {

/// A run that a picture shows.
struct ShownRun {
  const Collector* data{nullptr};
  std::string label;                                 // in the legend, of several runs
  const model::FormulaModel* model{nullptr};         // for walls; null: none are drawn
  const certify::Certificate* certificate{nullptr};  // for shocks; null: none are marked
  const record::ErrorBar* bar{nullptr};              // for bands; null: none are drawn
};

/// Runs drawn by one plan, under a heading of their own.
struct Block {
  const scene::PlotPlan* plan{nullptr};
  std::vector<ShownRun> runs;
  std::string heading;
};

/// One panel of a block: what it needs to be drawn, and how.
class PanelView {
 public:
  PanelView(const Block& block, std::size_t panel) : block_(block), panel_(panel) {}

  const scene::PlotPanel& plan() const { return block_.plan->panels[panel_]; }
  const Block& block() const { return block_; }
  std::size_t number() const { return panel_; }

  /// Whether it is drawn at all: a plane without a motion in it is not, and the histories that
  /// stand for it are not where there is one.
  bool is_shown() const;

  /// Class and words of what the legend explains; empty: no legend.
  std::vector<std::pair<std::string, std::string>> legend() const;
  std::string title() const;

  /// The ranges and labels of the axes; width and height of the frame are given.
  void set_axes(Frame& frame) const;
  /// The height that suits a frame of this width.
  double height_for(double width, double most) const;
  double left_room(const Frame& frame) const;

  void draw(Svg& svg, const Frame& frame) const;

 private:
  const PanelData& data(const ShownRun& run) const { return run.data->panels()[panel_]; }
  std::pair<Range, Range> hulls() const;  // of what is drawn; empty: low above high
  std::pair<Range, Range> ranges() const;
  bool is_flat() const;
  bool is_equal() const;
  Range energy_range(const Range& hull) const;
  Range positive_range(bool of_x) const;
  std::string class_of(std::size_t run, std::size_t curve) const;
  std::vector<std::vector<Point>> pieces(const ShownRun& run, std::size_t curve) const;

  void draw_bands(Svg& svg, const Frame& frame) const;
  void draw_curves(Svg& svg, const Frame& frame) const;
  void draw_walls(Svg& svg, const Frame& frame) const;
  void draw_ends(Svg& svg, const Frame& frame) const;
  void draw_marks(Svg& svg, const Frame& frame) const;
  void draw_snapshots(Svg& svg, const Frame& frame) const;
  void draw_shocks(Svg& svg, const Frame& frame) const;
  void draw_slopes(Svg& svg, const Frame& frame) const;
  void draw_energy(Svg& svg, const Frame& frame) const;
  void draw_events(Svg& svg, const Frame& frame) const;

  const Block& block_;
  std::size_t panel_;
};

/// The exponent p and factor c of the power law c x^p that fits the points best in the logarithms,
/// by least squares.
struct PowerLaw {
  double exponent{0.0};
  double factor{0.0};
};
PowerLaw fit_power_law(const std::vector<Point>& points);

}  // namespace ricochet::plot
