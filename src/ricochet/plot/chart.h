#pragma once

#include <string>
#include <vector>

#include "ricochet/plot/point.h"

namespace ricochet::plot {

struct ChartText {
  std::string title;
  std::string subtitle;
  std::string x_label;
  std::string y_label;
};

/// Points of positive coordinates, joined; of others those are left out.
struct ChartCurve {
  std::string label;
  std::vector<Point> points;
};

/// Curves in logarithmic scales with their legend beside them. Empty when there is no point to
/// show.
std::string draw_log_chart(const ChartText& text, const std::vector<ChartCurve>& curves);

/// Positive numbers beside each other, in a logarithmic scale.
struct BarPanel {
  std::string title;
  std::vector<std::pair<std::string, double>> bars;  // label and value; others have no bar
};

/// Panels below each other, a horizontal bar for each label.
std::string draw_bars(const ChartText& text, const std::vector<BarPanel>& panels);

}  // namespace ricochet::plot
