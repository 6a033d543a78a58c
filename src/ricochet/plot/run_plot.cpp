#include "ricochet/plot/run_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>

#include "ricochet/plot/contour.h"
#include "ricochet/plot/svg.h"
#include "ricochet/plot/ticks.h"

namespace ricochet::plot {
namespace {

constexpr double kHeaderHeight = 62.0;
constexpr double kLeft = 64.0;  // room for tick texts
constexpr double kBottom = 46.0;
constexpr double kGap = 24.0;

/// A rectangle of the sheet with its scales.
struct Panel {
  Point corner;  // upper left, in pixels
  double width{0.0};
  double height{0.0};
  Range x;
  Range y;

  Point at(double px, double py) const {
    return {corner.x + (px - x.low) / x.size() * width,
            corner.y + height - (py - y.low) / y.size() * height};
  }
};

/// Makes a unit of x as long as a unit of y by widening one range.
void equalise(Panel& panel) {
  const double per_x = panel.x.size() / panel.width;
  const double per_y = panel.y.size() / panel.height;
  Range& small = per_x < per_y ? panel.x : panel.y;
  const double wanted = std::max(per_x, per_y) * (per_x < per_y ? panel.width : panel.height);
  const double margin = 0.5 * (wanted - small.size());
  small = {small.low - margin, small.high + margin};
}

void draw_axes(Svg& svg, const Panel& panel, const std::string& x_name, const std::string& y_name) {
  const double bottom = panel.corner.y + panel.height;
  const std::vector<double> xs = ticks(panel.x, static_cast<int>(panel.width / 80.0));
  const std::vector<double> ys = ticks(panel.y, static_cast<int>(panel.height / 50.0));
  const double x_spacing = xs.size() > 1 ? xs[1] - xs[0] : panel.x.size();
  const double y_spacing = ys.size() > 1 ? ys[1] - ys[0] : panel.y.size();
  for (const double value : xs) {
    const double px = panel.at(value, panel.y.low).x;
    svg.line({px, panel.corner.y}, {px, bottom}, "grid");
    svg.line({px, bottom}, {px, bottom + 5.0}, "tick");
    svg.text({px, bottom + 19.0}, tick_text(value, x_spacing), "middle", "label");
  }
  for (const double value : ys) {
    const double py = panel.at(panel.x.low, value).y;
    svg.line({panel.corner.x, py}, {panel.corner.x + panel.width, py}, "grid");
    svg.line({panel.corner.x - 5.0, py}, {panel.corner.x, py}, "tick");
    svg.text({panel.corner.x - 9.0, py + 4.0}, tick_text(value, y_spacing), "end", "label");
  }
  svg.rectangle(panel.corner, panel.width, panel.height, "frame");
  svg.text({panel.corner.x + 0.5 * panel.width, bottom + 37.0}, x_name, "middle", "note");
  svg.text({panel.corner.x - 48.0, panel.corner.y + 0.5 * panel.height}, y_name, "middle", "note",
           90.0);
}

/// The zero curve of each gap in the plane of the two coordinates of a planar system, with short
/// strokes towards the forbidden side.
void draw_walls(Svg& svg, const Panel& panel, const model::FormulaModel& model, double t) {
  Grid grid;
  grid.columns = 241;
  grid.rows = 201;
  grid.low = {panel.x.low, panel.y.low};
  grid.high = {panel.x.high, panel.y.high};
  std::vector<model::Vector<model::kDynamic>> points;
  for (int row = 0; row < grid.rows; ++row) {
    for (int column = 0; column < grid.columns; ++column) {
      const Point p = grid.point(column, row);
      points.emplace_back(Eigen::Vector2d(p.x, p.y));
    }
  }
  for (int a = 0; a < model.contacts(); ++a) {
    model.gap_grid(a, t, points, grid.values);
    for (const std::vector<Point>& curve : zero_curves(grid)) {
      std::vector<Point> drawn;
      for (const Point& p : curve) drawn.push_back(panel.at(p.x, p.y));
      svg.polyline(drawn, "wall");
      constexpr double kSpacing = 9.0;  // pixels between strokes
      double travelled = 0.0;
      for (std::size_t k = 1; k < drawn.size(); ++k) {
        const double dx = drawn[k].x - drawn[k - 1].x;
        const double dy = drawn[k].y - drawn[k - 1].y;
        const double length = std::hypot(dx, dy);
        travelled += length;
        if (travelled < kSpacing || length == 0.0) continue;
        travelled = 0.0;
        // The forbidden side is on the right of the curve: in pixels, y down, (-dy, dx).
        const Point tip = {drawn[k].x + (-dy - dx) / length * 4.5,
                           drawn[k].y + (dx - dy) / length * 4.5};
        svg.line(drawn[k], tip, "hatch");
      }
    }
  }
}

Range range_of(const Path& path, int coordinate) {
  Range range{path.position(0, coordinate), path.position(0, coordinate)};
  for (std::size_t k = 0; k < path.size(); ++k) {
    range.low = std::min(range.low, path.position(k, coordinate));
    range.high = std::max(range.high, path.position(k, coordinate));
  }
  return range;
}

/// Each motion from its start to its end; `values` are those of the instants of the path.
void draw_curves(Svg& svg, const Panel& panel, const Path& path, const std::vector<Point>& values) {
  std::vector<std::size_t> bounds = path.later_starts();
  bounds.push_back(values.size());
  std::vector<std::vector<Point>> curves;
  std::size_t begin = 0;
  for (const std::size_t end : bounds) {
    std::vector<Point>& points = curves.emplace_back();
    for (; begin < end; ++begin) points.push_back(panel.at(values[begin].x, values[begin].y));
    svg.polyline(points, "path");
  }
  for (const std::vector<Point>& points : curves) {
    svg.circle(points.front(), 4.0, "start");
    svg.circle(points.back(), 4.0, "end");
  }
}

/// The times of all motions.
Range time_range(const Path& path) {
  const auto [low, high] = std::minmax_element(path.times().begin(), path.times().end());
  return {*low, *high};
}

/// One coordinate against another.
void draw_projection(Svg& svg, Panel panel, const Path& path, const model::FormulaModel& model,
                     int i, int j) {
  panel.x = widened(range_of(path, i), 0.08);
  panel.y = widened(range_of(path, j), 0.08);
  equalise(panel);
  const auto& names = model.coordinates();
  draw_axes(svg, panel, names[static_cast<std::size_t>(i)], names[static_cast<std::size_t>(j)]);
  svg.begin_clip(panel.corner, panel.width, panel.height);
  if (model.dofs() == 2) draw_walls(svg, panel, model, path.times().back());
  std::vector<Point> values;
  for (std::size_t k = 0; k < path.size(); ++k) {
    values.push_back({path.position(k, i), path.position(k, j)});
  }
  draw_curves(svg, panel, path, values);
  svg.end_clip();
}

/// One coordinate against time, with the instants of shocks marked on the axis.
void draw_history(Svg& svg, Panel panel, const Path& path, const model::FormulaModel& model, int i,
                  const certify::Certificate& certificate) {
  panel.x = time_range(path);
  if (!(panel.x.size() > 0.0)) panel.x = widened(panel.x, 0.0);
  panel.y = widened(range_of(path, i), 0.08);
  draw_axes(svg, panel, "t", model.coordinates()[static_cast<std::size_t>(i)]);
  svg.begin_clip(panel.corner, panel.width, panel.height);
  std::vector<Point> values;
  for (std::size_t k = 0; k < path.size(); ++k) {
    values.push_back({path.times()[k], path.position(k, i)});
  }
  for (const certify::Shock& shock : certificate.shocks) {
    const Point at = panel.at(shock.t, panel.y.low);
    svg.line({at.x, at.y}, {at.x, at.y - 8.0}, "shock");
  }
  draw_curves(svg, panel, path, values);
  svg.end_clip();
}

}  // namespace

void Path::add(const step::Sample& sample) {
  dofs_ = sample.q.size();
  if (last_is_extra_) {  // a later instant is the last one now
    times_.pop_back();
    positions_.resize(times_.size() * dofs_);
  }
  times_.push_back(sample.t);
  positions_.insert(positions_.end(), sample.q.begin(), sample.q.end());
  last_is_extra_ = waiting_ > 0;
  if (last_is_extra_) {
    --waiting_;
    return;
  }
  waiting_ = every_ - 1;
  if (times_.size() >= 2 * kMost) thin();
}

void Path::thin() {
  assert(times_.size() % 2 == 0);
  std::size_t kept = 0;
  const auto keep = [&](std::size_t k) {
    times_[kept] = times_[k];
    std::copy_n(positions_.begin() + static_cast<std::ptrdiff_t>(k * dofs_), dofs_,
                positions_.begin() + static_cast<std::ptrdiff_t>(kept * dofs_));
    ++kept;
  };
  for (std::size_t k = 0; k < times_.size(); k += 2) keep(k);
  keep(times_.size() - 1);  // half a period after the one before it
  last_is_extra_ = true;
  times_.resize(kept);
  positions_.resize(kept * dofs_);
  waiting_ = every_ - 1;
  every_ *= 2;
}

void Path::add_motion(const Path& other, std::size_t most) {
  assert(size() == 0 || dofs_ == other.dofs_);
  dofs_ = other.dofs_;
  if (size() > 0) later_starts_.push_back(size());
  const std::size_t every = other.size() / std::max<std::size_t>(most, 2) + 1;
  for (std::size_t k = 0; k < other.size(); ++k) {
    if (k % every != 0 && k + 1 != other.size()) continue;
    times_.push_back(other.times_[k]);
    const auto row = other.positions_.begin() + static_cast<std::ptrdiff_t>(k * dofs_);
    positions_.insert(positions_.end(), row, row + static_cast<std::ptrdiff_t>(dofs_));
  }
}

std::string draw_run(const Path& path, const model::FormulaModel& model,
                     const certify::Certificate& certificate, const std::string& title,
                     const std::string& subtitle) {
  constexpr int kMostHistories = 6;
  const int n = model.dofs();
  const int panels = n == 3 ? 2 : n > 3 ? std::min(n, kMostHistories) : 1;
  const double width = n == 3 ? 960.0 : 720.0;
  const double panel_height = n > 3 ? 130.0 : 400.0;
  const int rows = n > 3 ? panels : 1;
  const double height = kHeaderHeight + rows * (panel_height + kBottom) + 8.0;
  Svg svg(width, height, title);
  svg.text({kLeft, 26.0}, title, "start", "title");
  svg.text({kLeft, 46.0}, subtitle, "start", "note");
  const double full_width = width - kLeft - kGap;
  if (path.size() == 0) return svg.finish();
  if (n == 2) {
    draw_projection(svg, {{kLeft, kHeaderHeight}, full_width, panel_height, {}, {}}, path, model, 0,
                    1);
  } else if (n == 3) {
    const double half = 0.5 * (full_width - kLeft - kGap);
    draw_projection(svg, {{kLeft, kHeaderHeight}, half, panel_height, {}, {}}, path, model, 0, 1);
    draw_projection(svg, {{2.0 * kLeft + half + kGap, kHeaderHeight}, half, panel_height, {}, {}},
                    path, model, 0, 2);
  } else {
    for (int i = 0; i < panels; ++i) {
      const double top = kHeaderHeight + i * (panel_height + kBottom);
      draw_history(svg, {{kLeft, top}, full_width, panel_height, {}, {}}, path, model, i,
                   certificate);
    }
  }
  return svg.finish();
}

}  // namespace ricochet::plot
