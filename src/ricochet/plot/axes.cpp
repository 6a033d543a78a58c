#include "ricochet/plot/axes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ricochet::plot {
namespace {

/// Ten to a power, as people write it.
std::string power_text(double value) {
  static const std::vector<std::string> digits = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  const int power = static_cast<int>(std::lround(std::log10(value)));
  std::string text = power < 0 ? "10⁻" : "10";
  for (const char c : std::to_string(std::abs(power))) {
    text += digits[static_cast<std::size_t>(c - '0')];
  }
  return text;
}

bool is_power(double value) {
  const double power = std::log10(value);
  return std::abs(power - std::round(power)) < 1e-9;
}

}  // namespace

double Axis::part(double value) const {
  if (!is_log) return (value - range.low) / range.size();
  const double low = std::log10(range.low);
  return (std::log10(value) - low) / (std::log10(range.high) - low);
}

double Axis::value(double part) const {
  if (!is_log) return range.low + part * range.size();
  const double low = std::log10(range.low);
  return std::pow(10.0, low + part * (std::log10(range.high) - low));
}

Scale::Scale(const Axis& axis, int count)
    : values(axis.is_bare  ? std::vector<double>()
             : axis.is_log ? log_ticks(axis.range, count)
                           : ticks(axis.range, count)) {
  const double spacing = values.size() > 1 ? values[1] - values[0] : axis.range.size();
  const bool powers = axis.is_log && std::all_of(values.begin(), values.end(), is_power);
  for (const double value : values) {
    texts.push_back(powers ? power_text(value) : tick_text(value, spacing));
  }
}

double Scale::width() const {
  double widest = 0.0;
  for (const std::string& text : texts) widest = std::max(widest, text_width(text, kLabelSize));
  return widest;
}

Point Frame::at(Point value) const {
  return {corner.x + x.part(value.x) * width, bottom() - y.part(value.y) * height};
}

std::vector<Point> Frame::at(const std::vector<Point>& values) const {
  std::vector<Point> points;
  points.reserve(values.size());
  // What lies far outside is clipped anyway; a viewer need not see its digits.
  constexpr double kFar = 1e5;
  for (const Point& value : values) {
    const Point p = at(value);
    if (!std::isfinite(p.x) || !std::isfinite(p.y)) continue;
    points.push_back({std::clamp(p.x, -kFar, kFar), std::clamp(p.y, -kFar, kFar)});
  }
  return points;
}

double Frame::left_room() const { return y_scale().width() + 9.0 + (y.label.empty() ? 8.0 : 24.0); }

void Frame::equalise() {
  const double per_x = x.range.size() / width;
  const double per_y = y.range.size() / height;
  Range& small = per_x < per_y ? x.range : y.range;
  const double wanted = std::max(per_x, per_y) * (per_x < per_y ? width : height);
  const double margin = 0.5 * (wanted - small.size());
  small = {small.low - margin, small.high + margin};
}

void Frame::draw(Svg& svg) const {
  const Scale xs = x_scale();
  const Scale ys = y_scale();
  for (std::size_t k = 0; k < xs.values.size(); ++k) {
    const double px = corner.x + x.part(xs.values[k]) * width;
    svg.line({px, corner.y}, {px, bottom()}, xs.values[k] == 0.0 ? "zero" : "grid");
    svg.line({px, bottom()}, {px, bottom() + 5.0}, "tick");
    svg.text({px, bottom() + 18.0}, xs.texts[k], "middle", "label");
  }
  for (std::size_t k = 0; k < ys.values.size(); ++k) {
    const double py = bottom() - y.part(ys.values[k]) * height;
    svg.line({corner.x, py}, {right(), py}, ys.values[k] == 0.0 ? "zero" : "grid");
    svg.line({corner.x - 5.0, py}, {corner.x, py}, "tick");
    svg.text({corner.x - 9.0, py + 4.0}, ys.texts[k], "end", "label");
  }
  svg.text({corner.x + 0.5 * width, bottom() + 35.0}, x.label, "middle", "note");
  if (y.label.empty()) return;
  svg.text({corner.x - 9.0 - ys.width() - 9.0, corner.y + 0.5 * height}, y.label, "middle", "note",
           90.0);
}

void Frame::draw_border(Svg& svg) const { svg.rectangle(corner, width, height, "frame"); }

}  // namespace ricochet::plot
