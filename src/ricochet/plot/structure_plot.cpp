#include "ricochet/plot/structure_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "ricochet/plot/axes.h"

namespace ricochet::plot {
namespace {

constexpr double kLineMargin = 16.0;
constexpr double kLineWidth = 860.0;
constexpr double kLineHead = 58.0;
constexpr double kPanel = 190.0;   // height of a frame
constexpr double kHeading = 24.0;  // above it
constexpr double kLegend = 150.0;  // on its right
constexpr std::size_t kMostCurves = 8;

struct Curve {
  std::string label;
  std::vector<std::vector<Point>> pieces;
};

struct PanelPlan {
  std::string heading;
  std::string x_label;
  std::string y_label;
  bool is_log{false};
  std::vector<Curve> curves{};
  std::vector<Curve> walls{};  // no legend
};

class Bounds {
 public:
  void add(Point p) {
    x_.low = std::min(x_.low, p.x);
    x_.high = std::max(x_.high, p.x);
    y_.low = std::min(y_.low, p.y);
    y_.high = std::max(y_.high, p.y);
  }
  bool empty() const { return x_.low > x_.high; }
  Range x(bool is_log) const { return is_log ? x_ : widened(x_, 0.0); }
  Range y(bool is_log) const {
    return is_log ? Range{y_.low / 2.0, y_.high * 2.0} : widened(y_, 0.05);
  }

 private:
  static constexpr double kFar = std::numeric_limits<double>::infinity();
  Range x_{kFar, -kFar};
  Range y_{kFar, -kFar};
};

void draw_legend(Svg& svg, const std::vector<Curve>& curves, Point corner) {
  for (std::size_t k = 0; k < std::min(curves.size(), kMostCurves); ++k) {
    if (curves[k].label.empty()) continue;
    const double y = corner.y + 18.0 * static_cast<double>(k) + 12.0;
    svg.line({corner.x, y - 4.0}, {corner.x + 20.0, y - 4.0},
             fmt::format("curve s{}", k % kSeriesColours));
    const auto words = fit_lines(curves[k].label, kLegend - 44.0, kLabelSize, 1);
    if (!words.empty()) svg.text({corner.x + 26.0, y}, words[0], "start", "label");
  }
}

/// Draws a panel whose upper edge is at `top`; false when there is nothing to show.
bool draw_panel(Svg& svg, const PanelPlan& plan, double top) {
  Bounds bounds;
  for (const std::vector<Curve>* curves : {&plan.curves, &plan.walls}) {
    for (const Curve& curve : *curves) {
      for (const std::vector<Point>& piece : curve.pieces) {
        for (const Point p : piece) bounds.add(p);
      }
    }
  }
  if (bounds.empty()) return false;
  Frame frame;
  frame.height = kPanel;
  frame.x = {bounds.x(plan.is_log), plan.is_log, plan.x_label};
  frame.y = {bounds.y(plan.is_log), plan.is_log, plan.y_label};
  constexpr double kLeft = 80.0;  // the same for all, so that times stand above each other
  frame.corner = {kLineMargin + std::max(kLeft, frame.left_room()), top + kHeading};
  frame.width = kLineWidth - kLineMargin - kLegend - frame.corner.x;
  svg.text({frame.corner.x, top + 16.0}, plan.heading, "start", "heading");
  frame.draw(svg);
  svg.begin_clip(frame.corner, frame.width, frame.height);
  for (std::size_t k = 0; k < plan.curves.size(); ++k) {
    std::vector<std::vector<Point>> pixels;
    for (const std::vector<Point>& piece : plan.curves[k].pieces) {
      pixels.push_back(simplified(frame.at(piece), 0.2));
    }
    const std::size_t colour = plan.curves[k].label.empty() ? 0 : k % kSeriesColours;
    svg.path(pixels, fmt::format("curve s{}", colour));
  }
  for (const Curve& wall : plan.walls) {
    for (const std::vector<Point>& piece : wall.pieces) svg.polyline(frame.at(piece), "shock");
  }
  svg.end_clip();
  frame.draw_border(svg);
  draw_legend(svg, plan.curves, {frame.right() + 14.0, frame.corner.y});
  return true;
}

Curve curve_of(const std::string& label, const Series& series) { return {label, series.pieces()}; }

/// Densities, of many bins the highest and lowest of neighbours in the logarithm.
Curve curve_of(const structure::Spectrum& spectrum) {
  constexpr double kColumns = 600.0;
  Curve curve{spectrum.name, {{}}};
  const auto bins = static_cast<double>(spectrum.density.size());
  double next = 0.0;
  Point best;
  for (std::size_t k = 1; k < spectrum.density.size(); ++k) {
    const double f = static_cast<double>(k) * spectrum.resolution;
    const double density = spectrum.density[k];
    if (!(density > 0.0)) continue;
    if (density > best.y) best = {f, density};
    if (f < next) continue;
    curve.pieces[0].push_back(best);
    best = {};
    next = f * std::pow(bins, 1.0 / kColumns);
  }
  return curve;
}

std::vector<PanelPlan> spectra_panels(const std::vector<structure::Spectrum>& spectra) {
  PanelPlan of_points{"spectra of displacement", "frequency", "density", true};
  PanelPlan of_forces{"spectra of reactions", "frequency", "density", true};
  for (const structure::Spectrum& spectrum : spectra) {
    const bool is_force = spectrum.name.ends_with(".force");
    PanelPlan& plan = is_force ? of_forces : of_points;
    if (plan.curves.size() < kMostCurves) plan.curves.push_back(curve_of(spectrum));
  }
  return {of_points, of_forces};
}

}  // namespace

StructurePicture::StructurePicture(const scene::StructureScene& scene)
    : scene_(scene), sides_(structure::sides_of(*scene.model)) {
  points_.resize(std::min(scene.model->points.size(), kMostCurves));
  forces_.resize(std::min(scene.model->guides.size(), kMostCurves));
}

void StructurePicture::add(const step::Sample& sample) {
  for (std::size_t k = 0; k < points_.size(); ++k) points_[k].add(sample.t, sample.q[k]);
  kinetic_.add(sample.t, sample.kinetic);
  total_.add(sample.t, sample.kinetic + sample.potential);
  const double time = sample.t - last_t_;
  last_t_ = sample.t;
  const bool is_first = !std::exchange(has_row_, true);
  for (std::size_t k = 0; k < forces_.size(); ++k) {
    double force = 0.0;
    for (std::size_t a = 0; a < sides_.size(); ++a) {
      if (sides_[a].guide != k || is_first) continue;
      force += (sides_[a].is_upper ? -1.0 : 1.0) * sample.impulses[a] / time;
    }
    forces_[k].add(sample.t, force);
  }
}

std::string StructurePicture::draw(const std::string& subtitle,
                                   const std::vector<structure::Spectrum>& spectra) const {
  const structure::LinearStructure& model = *scene_.model;
  PanelPlan histories{"displacement of points", "t", ""};
  for (std::size_t k = 0; k < points_.size(); ++k) {
    histories.curves.push_back(curve_of(model.points[k].name, points_[k]));
  }
  PanelPlan reactions{"reactions of guides, mean between rows", "t", ""};
  for (std::size_t k = 0; k < forces_.size(); ++k) {
    reactions.curves.push_back(curve_of(model.guides[k].name, forces_[k]));
  }
  PanelPlan shapes{"shapes, spread over the run", "x", ""};
  for (const std::vector<double>& shape : shapes_) {
    Curve curve{"", {{}}};
    for (std::size_t k = 0; k < scene_.abscissae.size(); ++k) {
      curve.pieces[0].push_back({scene_.abscissae[k], shape[k]});
    }
    shapes.curves.push_back(curve);
  }
  const double mark = 0.012 * scene_.line.length;
  for (const structure::Guide& guide : model.guides) {
    if (guide.plane != 0) continue;
    for (const double side : {guide.lower, guide.upper}) {
      if (!std::isfinite(side)) continue;
      shapes.walls.push_back({"", {{{guide.at - mark, side}, {guide.at + mark, side}}}});
    }
  }
  PanelPlan energies{"energy", "t", ""};
  energies.curves = {curve_of("T", kinetic_), curve_of("T + V", total_)};
  std::vector<PanelPlan> panels = {histories, reactions, shapes, energies};
  for (PanelPlan& panel : spectra_panels(spectra)) panels.push_back(std::move(panel));
  std::erase_if(panels, [](const PanelPlan& panel) { return panel.curves.empty(); });
  const double each = kHeading + kPanel + kAxisBottom;
  Svg svg(kLineWidth, kLineHead + each * static_cast<double>(panels.size()) + kLineMargin,
          scene_.title);
  const auto title = fit_lines(scene_.title, kLineWidth - 2.0 * kLineMargin, 15.0, 1);
  if (!title.empty()) svg.text({kLineMargin, 26.0}, title[0], "start", "title");
  const auto below = fit_lines(subtitle, kLineWidth - 2.0 * kLineMargin, kLabelSize, 1);
  if (!below.empty()) svg.text({kLineMargin, 46.0}, below[0], "start", "note");
  double top = kLineHead;
  for (const PanelPlan& panel : panels) {
    if (draw_panel(svg, panel, top)) top += each;
  }
  return svg.finish();
}

}  // namespace ricochet::plot
