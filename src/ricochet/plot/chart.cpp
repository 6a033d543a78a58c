#include "ricochet/plot/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ricochet/plot/axes.h"
#include "ricochet/plot/svg.h"

namespace ricochet::plot {
namespace {

constexpr double kChartMargin = 16.0;
constexpr double kChartWidth = 760.0;
constexpr double kChartHead = 64.0;  // title and subtitle

bool is_shown(double value) { return std::isfinite(value) && value > 0.0; }

std::vector<Point> shown(const ChartCurve& curve) {
  std::vector<Point> points;
  for (const Point p : curve.points) {
    if (is_shown(p.x) && is_shown(p.y)) points.push_back(p);
  }
  return points;
}

/// What holds the values, with some room; at least a power of ten.
class LogRange {
 public:
  void add(double value) {
    low_ = std::min(low_, value);
    high_ = std::max(high_, value);
  }
  bool empty() const { return low_ > high_; }
  Range range() const {
    if (empty()) return {0.1, 1.0};
    const double room = std::max(0.06 * std::log10(high_ / low_), 0.12);
    const double lack = std::max(0.0, 0.5 - 0.5 * std::log10(high_ / low_) - room);
    const double factor = std::pow(10.0, room + lack);
    return {low_ / factor, high_ * factor};
  }

 private:
  double low_{std::numeric_limits<double>::infinity()};
  double high_{0.0};
};

void draw_head(Svg& svg, const ChartText& text) {
  const double width = kChartWidth - 2.0 * kChartMargin;
  const std::vector<std::string> title = fit_lines(text.title, width, 15.0, 1);
  if (!title.empty()) svg.text({kChartMargin, 26.0}, title[0], "start", "title");
  const std::vector<std::string> below = fit_lines(text.subtitle, width, kLabelSize, 1);
  if (!below.empty()) svg.text({kChartMargin, 46.0}, below[0], "start", "note");
}

void draw_legend(Svg& svg, const std::vector<ChartCurve>& curves, Point corner) {
  for (std::size_t k = 0; k < curves.size(); ++k) {
    const double y = corner.y + 20.0 * static_cast<double>(k) + 12.0;
    svg.line({corner.x, y - 4.0}, {corner.x + 24.0, y - 4.0},
             fmt::format("curve s{}", k % kSeriesColours));
    svg.text({corner.x + 32.0, y}, curves[k].label, "start", "label");
  }
}

}  // namespace

std::string draw_log_chart(const ChartText& text, const std::vector<ChartCurve>& curves) {
  LogRange xs;
  LogRange ys;
  double widest = 0.0;
  for (const ChartCurve& curve : curves) {
    widest = std::max(widest, text_width(curve.label, kLabelSize));
    for (const Point p : shown(curve)) {
      xs.add(p.x);
      ys.add(p.y);
    }
  }
  if (xs.empty()) return "";
  constexpr double kHeight = 400.0;
  Svg svg(kChartWidth, kChartHead + kHeight + kAxisBottom + kChartMargin, text.title);
  draw_head(svg, text);
  Frame frame;
  frame.height = kHeight;
  frame.x = {xs.range(), true, text.x_label};
  frame.y = {ys.range(), true, text.y_label};
  frame.corner = {kChartMargin + frame.left_room(), kChartHead};
  frame.width = kChartWidth - 2.0 * kChartMargin - frame.left_room() - widest - 48.0;
  frame.draw(svg);
  for (std::size_t k = 0; k < curves.size(); ++k) {
    const std::vector<Point> points = frame.at(shown(curves[k]));
    const std::string colour = fmt::format("curve s{}", k % kSeriesColours);
    if (points.size() > 1) svg.polyline(points, colour);
    for (const Point p : points) svg.mark(p, "o", 5.0, colour);
  }
  frame.draw_border(svg);
  draw_legend(svg, curves, {frame.right() + 16.0, kChartHead});
  return svg.finish();
}

std::string draw_bars(const ChartText& text, const std::vector<BarPanel>& panels) {
  constexpr double kBar = 22.0;
  constexpr double kPanelRoom = 26.0 + kAxisBottom;
  double height = kChartHead + kChartMargin;
  double widest = 0.0;
  for (const BarPanel& panel : panels) {
    height += kBar * static_cast<double>(panel.bars.size()) + kPanelRoom;
    for (const auto& [label, value] : panel.bars) {
      widest = std::max(widest, text_width(label, kLabelSize));
    }
  }
  Svg svg(kChartWidth, height, text.title);
  draw_head(svg, text);
  double top = kChartHead;
  for (const BarPanel& panel : panels) {
    LogRange values;
    for (const auto& [label, value] : panel.bars) {
      if (is_shown(value)) values.add(value);
    }
    Frame frame;
    frame.corner = {kChartMargin + widest + 12.0, top + 18.0};
    frame.width = kChartWidth - kChartMargin - frame.corner.x - 70.0;
    frame.height = kBar * static_cast<double>(panel.bars.size());
    frame.x = {values.range(), true, ""};
    svg.text({frame.corner.x, top + 10.0}, panel.title, "start", "heading");
    const Scale scale = frame.x_scale();
    for (std::size_t k = 0; k < scale.values.size(); ++k) {
      const double x = frame.corner.x + frame.x.part(scale.values[k]) * frame.width;
      svg.line({x, frame.corner.y}, {x, frame.bottom()}, "grid");
      svg.text({x, frame.bottom() + 18.0}, scale.texts[k], "middle", "label");
    }
    for (std::size_t k = 0; k < panel.bars.size(); ++k) {
      const auto& [label, value] = panel.bars[k];
      const double y = frame.corner.y + kBar * static_cast<double>(k);
      svg.text({frame.corner.x - 8.0, y + 0.7 * kBar}, label, "end", "label");
      const double length = is_shown(value) ? frame.x.part(value) * frame.width : 0.0;
      if (length > 0.0) svg.rectangle({frame.corner.x, y + 4.0}, length, kBar - 8.0, "state1");
      svg.text({frame.right() + 8.0, y + 0.7 * kBar},
               std::isfinite(value) ? fmt::format("{:.2e}", value) : "-", "start", "number");
    }
    frame.draw_border(svg);
    top = frame.bottom() + kAxisBottom;
  }
  return svg.finish();
}

}  // namespace ricochet::plot
