#include "ricochet/plot/structure_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "ricochet/plot/animation.h"
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

/// The frame of a panel whose upper edge is at `top`; nothing when there is nothing to show.
std::optional<Frame> frame_of(const PanelPlan& plan, double top) {
  Bounds bounds;
  for (const std::vector<Curve>* curves : {&plan.curves, &plan.walls}) {
    for (const Curve& curve : *curves) {
      for (const std::vector<Point>& piece : curve.pieces) {
        for (const Point p : piece) bounds.add(p);
      }
    }
  }
  if (bounds.empty()) return std::nullopt;
  Frame frame;
  frame.height = kPanel;
  frame.x = {bounds.x(plan.is_log), plan.is_log, plan.x_label};
  frame.y = {bounds.y(plan.is_log), plan.is_log, plan.y_label};
  constexpr double kLeft = 80.0;  // the same for all, so that times stand above each other
  frame.corner = {kLineMargin + std::max(kLeft, frame.left_room()), top + kHeading};
  frame.width = kLineWidth - kLineMargin - kLegend - frame.corner.x;
  return frame;
}

void draw_panel(Svg& svg, const PanelPlan& plan, const Frame& frame) {
  svg.text({frame.corner.x, frame.corner.y - kHeading + 16.0}, plan.heading, "start", "heading");
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

Curve curve_of(const std::vector<double>& abscissae, const std::vector<double>& values) {
  Curve curve{"", {{}}};
  for (std::size_t k = 0; k < abscissae.size(); ++k) {
    curve.pieces[0].push_back({abscissae[k], values[k]});
  }
  return curve;
}

/// Without curves yet: the guides of the first plane.
PanelPlan panel_of_guides(const structure::LinearStructure& model, double length) {
  PanelPlan panel{"", "x", ""};
  const double mark = 0.012 * length;
  for (const structure::Guide& guide : model.guides) {
    if (guide.plane != 0) continue;
    for (const double side : {guide.lower, guide.upper}) {
      if (!std::isfinite(side)) continue;
      panel.walls.push_back({"", {{{guide.at - mark, side}, {guide.at + mark, side}}}});
    }
  }
  return panel;
}

PanelPlan shapes_panel(const structure::LinearStructure& model, const record::LineRecord& record) {
  PanelPlan panel = panel_of_guides(model, record.line.length);
  panel.heading = "shapes, spread over the run";
  for (std::size_t k = 0; k < record.shapes.size(); k += record.shape_stride) {
    panel.curves.push_back(curve_of(record.abscissae, record.shapes[k].values));
  }
  return panel;
}

/// The lowest and the highest place of every abscissa.
PanelPlan envelope_panel(const structure::LinearStructure& model,
                         const record::LineRecord& record) {
  std::vector<double> lowest = record.shapes[0].values;
  std::vector<double> highest = lowest;
  for (const record::Shape& shape : record.shapes) {
    for (std::size_t k = 0; k < record.abscissae.size(); ++k) {
      lowest[k] = std::min(lowest[k], shape.values[k]);
      highest[k] = std::max(highest[k], shape.values[k]);
    }
  }
  PanelPlan panel = panel_of_guides(model, record.line.length);
  panel.curves = {curve_of(record.abscissae, lowest), curve_of(record.abscissae, highest)};
  return panel;
}

Sheet draw_panels(const std::vector<PanelPlan>& panels, const std::string& heading,
                  const std::string& subtitle) {
  const double each = kHeading + kPanel + kAxisBottom;
  Sheet sheet;
  sheet.width = kLineWidth;
  sheet.height = kLineHead + each * static_cast<double>(panels.size()) + kLineMargin;
  Svg svg(sheet.width, sheet.height, heading);
  const auto title = fit_lines(heading, kLineWidth - 2.0 * kLineMargin, 15.0, 1);
  if (!title.empty()) svg.text({kLineMargin, 26.0}, title[0], "start", "title");
  const auto below = fit_lines(subtitle, kLineWidth - 2.0 * kLineMargin, kLabelSize, 1);
  if (!below.empty()) svg.text({kLineMargin, 46.0}, below[0], "start", "note");
  double top = kLineHead;
  for (const PanelPlan& panel : panels) {
    const std::optional<Frame> frame = frame_of(panel, top);
    if (!frame) continue;
    draw_panel(svg, panel, *frame);
    top += each;
  }
  sheet.svg = svg.finish();
  return sheet;
}

}  // namespace

StructurePicture::StructurePicture(const scene::Scene& scene) {
  const structure::LinearStructure& model = *scene.structure()->model;
  points_.resize(std::min(model.points.size(), kMostCurves));
  forces_.resize(std::min(model.guides.size(), kMostCurves));
  const std::vector<std::string> names = step::names_of(scene.columns);
  const auto place = [&](const std::string& name) {
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  };
  for (const structure::ContactSide& side : structure::sides_of(model)) {
    if (side.guide >= forces_.size()) break;
    sides_.push_back({side.guide, place(structure::name_of(side, model) + ".impulse_n"),
                      side.is_upper ? -1.0 : 1.0});
  }
  energy_ = place("energy.kinetic");
}

void StructurePicture::add(std::span<const double> row) {
  const double t = row[0];
  for (std::size_t k = 0; k < points_.size(); ++k) points_[k].add(t, row[1 + k]);
  kinetic_.add(t, row[energy_]);
  total_.add(t, row[energy_] + row[energy_ + 1]);
  const double time = t - last_t_;
  last_t_ = t;
  const bool is_first = !std::exchange(has_row_, true);
  std::vector<double> forces(forces_.size(), 0.0);
  for (const Side& side : sides_) {
    if (!is_first) forces[side.guide] += side.sign * row[side.column] / time;
  }
  for (std::size_t k = 0; k < forces_.size(); ++k) forces_[k].add(t, forces[k]);
}

Sheet StructurePicture::draw(const scene::Scene& scene, const record::LineRecord& record,
                             const std::string& subtitle) const {
  const structure::LinearStructure& model = *scene.structure()->model;
  PanelPlan histories{"displacement of points", "t", ""};
  for (std::size_t k = 0; k < points_.size(); ++k) {
    histories.curves.push_back(curve_of(model.points[k].name, points_[k]));
  }
  PanelPlan reactions{"reactions of guides, mean between rows", "t", ""};
  for (std::size_t k = 0; k < forces_.size(); ++k) {
    reactions.curves.push_back(curve_of(model.guides[k].name, forces_[k]));
  }
  PanelPlan energies{"energy", "t", ""};
  energies.curves = {curve_of("T", kinetic_), curve_of("T + V", total_)};
  std::vector<PanelPlan> panels = {histories, reactions, shapes_panel(model, record), energies};
  for (PanelPlan& panel : spectra_panels(record.spectra)) panels.push_back(std::move(panel));
  std::erase_if(panels, [](const PanelPlan& panel) { return panel.curves.empty(); });
  return draw_panels(panels, scene.title, subtitle);
}

namespace {

/// Where the shape is at an abscissa, linear in between.
Point place_on(const record::LineRecord& record, const record::Shape& shape, double x) {
  const std::vector<double>& xs = record.abscissae;
  const auto cells = static_cast<double>(xs.size() - 1);
  const double at = std::clamp(cells * x / xs.back(), 0.0, cells);
  const std::size_t k = std::min(static_cast<std::size_t>(at), xs.size() - 2);
  const double part = at - static_cast<double>(k);
  return {x, (1.0 - part) * shape.values[k] + part * shape.values[k + 1]};
}

void append_pixel(Point p, std::string& text) {
  text += fmt::format("{}{:.6g},{:.6g}", text.empty() ? "" : ",", 0.1 * std::round(10.0 * p.x),
                      0.1 * std::round(10.0 * p.y));
}

/// Foot and tip of an arrow for each shock of the plane's guides in (after, until].
std::string pushes_in(double after, double until, const structure::LinearStructure& model,
                      const certify::Certificate& certificate, const Frame& frame) {
  constexpr double kLength = 40.0;  // [px]
  const std::vector<structure::ContactSide> sides = structure::sides_of(model);
  std::string text;
  for (const certify::Shock& shock : certificate.shocks) {
    const structure::ContactSide& side = sides[static_cast<std::size_t>(shock.contact)];
    const structure::Guide& guide = model.guides[side.guide];
    if (guide.plane != 0 || !(shock.t > after && shock.t <= until)) continue;
    const Point foot = frame.at(Point{guide.at, side.is_upper ? guide.upper : guide.lower});
    append_pixel(foot, text);
    append_pixel({foot.x, foot.y + (side.is_upper ? kLength : -kLength)}, text);
  }
  return text;
}

}  // namespace

std::string play_shapes(const scene::Scene& scene, const record::LineRecord& record,
                        const certify::Certificate& certificate) {
  if (record.shapes.size() < 2) return "";
  constexpr std::size_t kMostPoints = 60;  // of the line, in a frame
  const structure::LinearStructure& model = *scene.structure()->model;
  const PanelPlan panel = envelope_panel(model, record);
  const Frame frame = *frame_of(panel, 0.0);
  Svg svg(kLineWidth, frame.bottom() + kAxisBottom, scene.title);
  draw_panel(svg, panel, frame);
  const std::size_t points = std::min(kMostPoints, record.abscissae.size());
  std::string t;
  std::string dots;
  std::string lines;
  std::string pushes;
  double before = record.shapes[0].t;
  for (const record::Shape& shape : record.shapes) {
    const char* const comma = t.empty() ? "" : ",";
    std::string line;
    for (std::size_t k = 0; k < points; ++k) {
      const double x =
          record.line.length * static_cast<double>(k) / static_cast<double>(points - 1);
      append_pixel(frame.at(place_on(record, shape, x)), line);
    }
    std::string dot;
    for (const structure::Point& point : model.points) {
      if (point.plane == 0) append_pixel(frame.at(place_on(record, shape, point.at)), dot);
    }
    dots += fmt::format("{}[{}]", comma, dot);
    lines += fmt::format("{}[{}]", comma, line);
    pushes += fmt::format("{}[{}]", comma, pushes_in(before, shape.t, model, certificate, frame));
    before = shape.t;
    t += fmt::format("{}{:.6g}", comma, shape.t);
  }
  const std::string json = fmt::format(
      "{{\"box\":[{:.1f},{:.1f},{:.1f},{:.1f}],\"history\":false,\"trail\":false,\n\"parts\":[{{"
      "\"kind\":\"line\","
      "\"points\":{}}}],\n\"shocks\":[{}],\n\"t\":[{}],\n\"p\":[{}],\n\"b\":[{}],\n\"a\":[{}],\n"
      "\"w\":[]}}",
      frame.corner.x, frame.corner.y, frame.width, frame.height, points, shocks_json(certificate),
      t, dots, lines, pushes);
  return wrap_player(scene.title, svg.finish(), record.shapes[0].t, json);
}

}  // namespace ricochet::plot
