#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "ricochet/plot/svg.h"
#include "ricochet/plot/ticks.h"

namespace ricochet::plot {

/// One scale of a frame: numbers to parts of its length, and back.
struct Axis {
  Range range{0.0, 1.0};
  bool is_log{false};
  std::string label{};
  bool is_bare{false};  // without numbers

  double part(double value) const;  // 0 at the low end, 1 at the high one
  double value(double part) const;
};

/// The numbers along an axis, with their texts.
struct Scale {
  std::vector<double> values;
  std::vector<std::string> texts;

  Scale(const Axis& axis, int count);
  double width() const;  // of the widest text [px]
};

/// A rectangle of the sheet with its axes.
struct Frame {
  Point corner;  // upper left [px]
  double width{0.0};
  double height{0.0};
  Axis x;
  Axis y;

  Point at(Point value) const;
  std::vector<Point> at(const std::vector<Point>& values) const;
  bool holds(Point pixel) const {
    return pixel.x >= corner.x && pixel.x <= right() && pixel.y >= corner.y && pixel.y <= bottom();
  }
  double bottom() const { return corner.y + height; }
  double right() const { return corner.x + width; }

  Scale x_scale() const { return {x, std::max(2, static_cast<int>(width / 80.0))}; }
  Scale y_scale() const { return {y, std::max(3, static_cast<int>(height / 45.0))}; }
  /// Pixels that ticks and label take on the left.
  double left_room() const;

  /// Makes a unit of x as long as a unit of y by widening one range.
  void equalise();

  /// Grid, ticks and labels; the frame itself is drawn last, by `draw_border`.
  void draw(Svg& svg) const;
  void draw_border(Svg& svg) const;
};

inline constexpr double kLabelSize = 12.0;   // of letters [px], as in the style sheet
inline constexpr double kAxisBottom = 44.0;  // what ticks and label take below a frame [px]

}  // namespace ricochet::plot
