#include "profile_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ricochet/plot/svg.h"

namespace ricochet::bench {
namespace {

constexpr double kLeft = 70.0;
constexpr double kTop = 40.0;
constexpr double kWidth = 520.0;
constexpr double kHeight = 320.0;

/// Colours of Okabe and Ito, then the same dashed.
std::string styles() {
  const char* const colours[] = {"#000000", "#0072b2", "#d55e00", "#009e73",
                                 "#cc79a7", "#e69f00", "#56b4e9"};
  std::string text;
  for (int k = 0; k < 21; ++k) {
    text += fmt::format("  .c{} {{ fill: none; stroke: {}; stroke-width: {}; {} }}\n", k,
                        colours[k % 7], k == 0 ? 2.6 : 1.5,
                        k < 7    ? ""
                        : k < 14 ? "stroke-dasharray: 6 3"
                                 : "stroke-dasharray: 2 3");
  }
  return text + "</style>";
}

struct Axes {
  double x_low, x_high;  // logarithms
  double y_low, y_high;
  plot::Point at(double x, double y) const {
    return {kLeft + kWidth * (x - x_low) / (x_high - x_low),
            kTop + kHeight * (1.0 - (y - y_low) / (y_high - y_low))};
  }
};

void draw_frame(plot::Svg& svg, const Axes& axes, const std::string& title, const std::string& x,
                const std::string& y, bool log_y) {
  svg.text({kLeft, 24.0}, title, "start", "title");
  for (int k = static_cast<int>(std::ceil(axes.x_low)); k <= axes.x_high + 1e-9; ++k) {
    const plot::Point p = axes.at(k, axes.y_low);
    svg.line(p, axes.at(k, axes.y_high), "grid");
    svg.text({p.x, p.y + 18.0}, fmt::format("{:g}", std::pow(10.0, k)), "middle", "");
  }
  const int rows = log_y ? static_cast<int>(axes.y_high - axes.y_low) : 5;
  for (int k = 0; k <= rows; ++k) {
    const double value = axes.y_low + (axes.y_high - axes.y_low) * k / rows;
    const plot::Point p = axes.at(axes.x_low, value);
    svg.line(p, axes.at(axes.x_high, value), "grid");
    svg.text({p.x - 8.0, p.y + 4.0}, fmt::format("{:g}", log_y ? std::pow(10.0, value) : value),
             "end", "");
  }
  svg.rectangle({kLeft, kTop}, kWidth, kHeight, "frame");
  svg.text({kLeft + 0.5 * kWidth, kTop + kHeight + 40.0}, x, "middle", "");
  svg.text({20.0, kTop + 0.5 * kHeight}, y, "middle", "", 90.0);
}

void draw_legend(plot::Svg& svg, const std::vector<Curve>& curves) {
  for (std::size_t k = 0; k < curves.size(); ++k) {
    const double y = kTop + 10.0 + 17.0 * static_cast<double>(k);
    const double x = kLeft + kWidth + 16.0;
    svg.line({x, y - 4.0}, {x + 24.0, y - 4.0}, fmt::format("c{}", k));
    svg.text({x + 30.0, y}, curves[k].name, "start", "");
  }
}

std::string finish(const plot::Svg& svg) {
  std::string text = svg.finish();
  const std::size_t at = text.find("</style>");
  return at == std::string::npos ? text : text.replace(at, 8, styles());
}

}  // namespace

std::string draw_profiles(const std::string& title, const std::vector<Curve>& curves) {
  plot::Svg svg(kLeft + kWidth + 230.0, kTop + kHeight + 60.0, title);
  const Axes axes{0.0, 4.0, 0.0, 1.0};
  draw_frame(svg, axes, title, "time, as a factor of the best", "part of the problems solved",
             false);
  for (std::size_t k = 0; k < curves.size(); ++k) {
    std::vector<plot::Point> points{axes.at(0.0, 0.0)};
    double level = 0.0;
    for (std::size_t p = 0; p < curves[k].x.size(); ++p) {
      const double x = std::min(axes.x_high, std::log10(curves[k].x[p]));
      if (std::log10(curves[k].x[p]) > axes.x_high) break;
      points.push_back(axes.at(x, level));
      level = curves[k].y[p];
      points.push_back(axes.at(x, level));
    }
    points.push_back(axes.at(axes.x_high, level));
    svg.polyline(points, fmt::format("c{}", k));
  }
  draw_legend(svg, curves);
  return finish(svg);
}

std::string draw_growth(const std::string& title, const std::string& x, const std::string& y,
                        const std::vector<Curve>& curves) {
  Axes axes{1e9, -1e9, 1e9, -1e9};
  for (const Curve& curve : curves) {
    for (std::size_t k = 0; k < curve.x.size(); ++k) {
      axes.x_low = std::min(axes.x_low, std::floor(std::log10(curve.x[k])));
      axes.x_high = std::max(axes.x_high, std::ceil(std::log10(curve.x[k])));
      axes.y_low = std::min(axes.y_low, std::floor(std::log10(curve.y[k])));
      axes.y_high = std::max(axes.y_high, std::ceil(std::log10(curve.y[k])));
    }
  }
  plot::Svg svg(kLeft + kWidth + 230.0, kTop + kHeight + 60.0, title);
  draw_frame(svg, axes, title, x, y, true);
  for (std::size_t k = 0; k < curves.size(); ++k) {
    std::vector<plot::Point> points;
    for (std::size_t p = 0; p < curves[k].x.size(); ++p) {
      points.push_back(axes.at(std::log10(curves[k].x[p]), std::log10(curves[k].y[p])));
    }
    svg.polyline(points, fmt::format("c{}", k));
  }
  draw_legend(svg, curves);
  return finish(svg);
}

}  // namespace ricochet::bench
