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

constexpr double kBottom = 46.0;
constexpr double kGap = 24.0;
constexpr double kLabelSize = 12.0;  // of letters, as in the style of the sheet
constexpr double kTitleSize = 15.0;
constexpr double kDot = 4.0;  // radius of the dots at start and end

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

/// The numbers along one axis, with their texts.
struct Scale {
  std::vector<double> values;
  std::vector<std::string> texts;

  Scale(const Range& range, int count) : values(ticks(range, count)) {
    const double spacing = values.size() > 1 ? values[1] - values[0] : range.size();
    for (const double value : values) texts.push_back(tick_text(value, spacing));
  }
  double width() const {  // of the widest text
    double widest = 0.0;
    for (const std::string& text : texts) {
      widest = std::max(widest, text_width(text, kLabelSize));
    }
    return widest;
  }
};

Scale scale_of_x(const Panel& panel) { return {panel.x, static_cast<int>(panel.width / 80.0)}; }
Scale scale_of_y(const Panel& panel) { return {panel.y, static_cast<int>(panel.height / 50.0)}; }

/// Pixels to the left of a panel: the texts of its ticks, and the name of the axis.
double left_room(const Panel& panel) { return scale_of_y(panel).width() + 9.0 + 27.0; }

void draw_axes(Svg& svg, const Panel& panel, const std::string& x_name, const std::string& y_name) {
  const double bottom = panel.corner.y + panel.height;
  const Scale xs = scale_of_x(panel);
  const Scale ys = scale_of_y(panel);
  for (std::size_t k = 0; k < xs.values.size(); ++k) {
    const double px = panel.at(xs.values[k], panel.y.low).x;
    svg.line({px, panel.corner.y}, {px, bottom}, "grid");
    svg.line({px, bottom}, {px, bottom + 5.0}, "tick");
    svg.text({px, bottom + 19.0}, xs.texts[k], "middle", "label");
  }
  for (std::size_t k = 0; k < ys.values.size(); ++k) {
    const double py = panel.at(panel.x.low, ys.values[k]).y;
    svg.line({panel.corner.x, py}, {panel.corner.x + panel.width, py}, "grid");
    svg.line({panel.corner.x - 5.0, py}, {panel.corner.x, py}, "tick");
    svg.text({panel.corner.x - 9.0, py + 4.0}, ys.texts[k], "end", "label");
  }
  svg.rectangle(panel.corner, panel.width, panel.height, "frame");
  svg.text({panel.corner.x + 0.5 * panel.width, bottom + 37.0}, x_name, "middle", "note");
  svg.text({panel.corner.x - 9.0 - ys.width() - 10.0, panel.corner.y + 0.5 * panel.height}, y_name,
           "middle", "note", 90.0);
}

/// The end of the time axis, when it is no round number and there is room for it.
void label_end(Svg& svg, const Panel& panel) {
  const Scale scale = scale_of_x(panel);
  const std::string text = fmt::format("{:.4g}", panel.x.high);
  const double last = scale.values.empty() ? panel.x.low : scale.values.back();
  const double room = panel.at(panel.x.high, 0.0).x - panel.at(last, 0.0).x;
  if (room < 0.5 * (text_width(text, kLabelSize) + scale.width()) + 6.0) return;
  const double bottom = panel.corner.y + panel.height;
  const double px = panel.corner.x + panel.width;
  svg.line({px, bottom}, {px, bottom + 5.0}, "tick");
  svg.text({px, bottom + 19.0}, text, "middle", "label");
}

/// Whether a gap depends on no coordinate but these two.
bool shows_in(const model::FormulaModel& model, int contact, int i, int j) {
  const model::FormulaSystem& system = model.system();
  const formula::NodeId gap = system.gaps[static_cast<std::size_t>(contact)];
  for (int k = 0; k < model.dofs(); ++k) {
    const int slot = system.position_slot(k);
    if (k != i && k != j && system.graph.depends_on(gap, slot, slot + 1)) return false;
  }
  return true;
}

bool moves(const model::FormulaModel& model, int contact) {
  constexpr int kTime = model::FormulaSystem::kTimeSlot;
  const formula::NodeId gap = model.system().gaps[static_cast<std::size_t>(contact)];
  return model.system().graph.depends_on(gap, kTime, kTime + 1);
}

Grid make_grid(const Panel& panel) {
  Grid grid;
  grid.columns = 241;
  grid.rows = 201;
  grid.low = {panel.x.low, panel.y.low};
  grid.high = {panel.x.high, panel.y.high};
  return grid;
}

/// The zero curves of a gap, with short strokes towards the forbidden side.
void draw_zero_curves(Svg& svg, const Panel& panel, const Grid& grid) {
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

/// The walls in the plane of two coordinates, at time t.
void draw_walls(Svg& svg, const Panel& panel, const model::FormulaModel& model, int i, int j,
                double t) {
  Grid grid = make_grid(panel);
  std::vector<model::Vector<model::kDynamic>> points;
  for (int row = 0; row < grid.rows; ++row) {
    for (int column = 0; column < grid.columns; ++column) {
      const Point p = grid.point(column, row);
      auto& q = points.emplace_back(model::Vector<model::kDynamic>::Zero(model.dofs()));
      q[i] = p.x;
      q[j] = p.y;
    }
  }
  for (int a = 0; a < model.contacts(); ++a) {
    if (!shows_in(model, a, i, j)) continue;
    model.gap_grid(a, t, points, grid.values);
    draw_zero_curves(svg, panel, grid);
  }
}

/// The walls of one coordinate over time.
void draw_walls_over_time(Svg& svg, const Panel& panel, const model::FormulaModel& model, int i) {
  Grid grid = make_grid(panel);
  std::vector<model::Vector<model::kDynamic>> points;
  for (int row = 0; row < grid.rows; ++row) {
    auto& q = points.emplace_back(model::Vector<model::kDynamic>::Zero(model.dofs()));
    q[i] = grid.point(0, row).y;
  }
  std::vector<double> gaps;
  for (int a = 0; a < model.contacts(); ++a) {
    if (!shows_in(model, a, i, i)) continue;
    grid.values.resize(static_cast<std::size_t>(grid.columns * grid.rows));
    for (int column = 0; column < grid.columns; ++column) {
      model.gap_grid(a, grid.point(column, 0).x, points, gaps);
      for (int row = 0; row < grid.rows; ++row) {
        grid.values[static_cast<std::size_t>(row * grid.columns + column)] =
            gaps[static_cast<std::size_t>(row)];
      }
    }
    draw_zero_curves(svg, panel, grid);
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
  svg.end_clip();  // the dots may stand on the frame
  for (const std::vector<Point>& points : curves) {
    svg.circle(points.front(), kDot, "start");
    svg.circle(points.back(), kDot, "end");
  }
}

/// The times of all motions.
Range time_range(const Path& path) {
  const auto [low, high] = std::minmax_element(path.times().begin(), path.times().end());
  return {*low, *high};
}

/// What a panel shows: coordinate j against coordinate i, or against time when i is none.
struct View {
  int i{-1};
  int j{0};
};

/// One coordinate against another.
void draw_projection(Svg& svg, const Panel& panel, const Path& path,
                     const model::FormulaModel& model, const View& view) {
  const auto& names = model.coordinates();
  draw_axes(svg, panel, names[static_cast<std::size_t>(view.i)],
            names[static_cast<std::size_t>(view.j)]);
  svg.begin_clip(panel.corner, panel.width, panel.height);
  draw_walls(svg, panel, model, view.i, view.j, path.times().back());
  std::vector<Point> values;
  for (std::size_t k = 0; k < path.size(); ++k) {
    values.push_back({path.position(k, view.i), path.position(k, view.j)});
  }
  draw_curves(svg, panel, path, values);
}

/// One coordinate against time, with the instants of shocks marked on the axis.
void draw_history(Svg& svg, const Panel& panel, const Path& path, const model::FormulaModel& model,
                  const View& view, const certify::Certificate& certificate) {
  draw_axes(svg, panel, "t", model.coordinates()[static_cast<std::size_t>(view.j)]);
  label_end(svg, panel);
  svg.begin_clip(panel.corner, panel.width, panel.height);
  draw_walls_over_time(svg, panel, model, view.j);
  std::vector<Point> values;
  for (std::size_t k = 0; k < path.size(); ++k) {
    values.push_back({path.times()[k], path.position(k, view.j)});
  }
  for (const certify::Shock& shock : certificate.shocks) {
    const Point at = panel.at(shock.t, panel.y.low);
    svg.line({at.x, at.y}, {at.x, at.y - 8.0}, "shock");
  }
  draw_curves(svg, panel, path, values);
}

/// Gives a panel its ranges; in a plane of two coordinates a unit is as long in both.
void set_ranges(Panel& panel, const Path& path, const View& view) {
  panel.y = widened(range_of(path, view.j), 0.08);
  if (view.i >= 0) {
    panel.x = widened(range_of(path, view.i), 0.08);
    equalise(panel);
  } else {
    panel.x = time_range(path);
    if (!(panel.x.size() > 0.0)) panel.x = widened(panel.x, 0.0);
  }
}

std::vector<View> views_of(int dofs) {
  constexpr int kMostHistories = 6;
  if (dofs == 2) return {{0, 1}};
  if (dofs == 3) return {{0, 1}, {0, 2}};
  std::vector<View> views;
  for (int j = 0; j < std::min(dofs, kMostHistories); ++j) views.push_back({-1, j});
  return views;
}

/// The panels below `top`, side by side or, for histories, below each other; all with the same room
/// for the texts on their left, which depend on the ranges, which depend on the room.
std::vector<Panel> lay_out(const std::vector<View>& views, const Path& path, double width,
                           double top, double height) {
  const bool beside = views[0].i >= 0;
  const auto columns = static_cast<double>(beside ? views.size() : 1);
  std::vector<Panel> panels(views.size());
  double left = 64.0;
  for (int round = 0; round < 3; ++round) {
    double needed = 0.0;
    for (std::size_t k = 0; k < views.size(); ++k) {
      const auto number = static_cast<double>(k);
      Panel& panel = panels[k];
      panel.width = width / columns - left - kGap;
      panel.height = height;
      panel.corner = {left + (beside ? number * width / columns : 0.0),
                      top + (beside ? 0.0 : number * (height + kBottom))};
      set_ranges(panel, path, views[k]);
      needed = std::max(needed, left_room(panel));
    }
    if (needed <= left && round > 0) break;
    left = std::max(needed, 48.0);
  }
  return panels;
}

/// What the picture does not show by itself.
std::string remarks_on(const Path& path, const model::FormulaModel& model,
                       const std::vector<View>& views) {
  constexpr long long kFew = 50;
  std::string remarks;
  for (int a = 0; a < model.contacts(); ++a) {
    const bool drawn = std::any_of(views.begin(), views.end(), [&](const View& view) {
      return view.i >= 0 && shows_in(model, a, view.i, view.j);
    });
    if (!drawn || !moves(model, a)) continue;
    remarks += fmt::format("; moving walls as at t = {:g}", path.times().back());
    break;
  }
  if (path.rows() < kFew) {
    remarks += fmt::format("; {} recorded row{}", path.rows(), path.rows() == 1 ? "" : "s");
  }
  return remarks;
}

}  // namespace

void Path::add(const step::Sample& sample) {
  dofs_ = sample.q.size();
  ++rows_;
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
  rows_ += other.rows_;
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
  const std::vector<View> views = views_of(model.dofs());
  const bool beside = views[0].i >= 0;
  const double width = views.size() == 2 && beside ? 960.0 : 720.0;
  const double panel_height = views.size() > 2 ? 130.0 : 400.0;
  constexpr double kMargin = 24.0;
  const double room = width - 2.0 * kMargin;
  const std::string remarks = path.size() == 0 ? "" : remarks_on(path, model, views);
  const std::vector<std::string> titles = fit_lines(title, room, kTitleSize, 2);
  const std::vector<std::string> notes = fit_lines(subtitle + remarks, room, kLabelSize, 3);
  const double top =
      26.0 + 20.0 * static_cast<double>(titles.size()) + 16.0 * static_cast<double>(notes.size());
  const double rows = beside ? 1.0 : static_cast<double>(views.size());
  Svg svg(width, top + rows * (panel_height + kBottom) + 8.0, title);
  double line = 6.0;
  for (const std::string& text : titles) {
    svg.text({kMargin, line += 20.0}, text, "start", "title");
  }
  line += 4.0;
  for (const std::string& text : notes) svg.text({kMargin, line += 16.0}, text, "start", "note");
  if (path.size() == 0) return svg.finish();
  const std::vector<Panel> panels = lay_out(views, path, width, top, panel_height);
  for (std::size_t k = 0; k < views.size(); ++k) {
    if (beside) {
      draw_projection(svg, panels[k], path, model, views[k]);
    } else {
      draw_history(svg, panels[k], path, model, views[k], certificate);
    }
  }
  return svg.finish();
}

}  // namespace ricochet::plot
