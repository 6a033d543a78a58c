#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace race {

struct Mark {
  std::string name;
  double ms{0.0};     // a step
  double creep{0.0};  // [m/s]
};

/// Creep speed against time of a step, both by powers of ten, a panel for each phase.
inline std::string picture(const std::string& title, const std::array<std::string, 2>& phases,
                           const std::array<std::vector<Mark>, 2>& marks) {
  constexpr double kWidth = 380.0;
  constexpr double kHeight = 300.0;
  double low_x = 1e300, high_x = -1e300, low_y = 1e300, high_y = -1e300;
  for (const auto& panel : marks) {
    for (const Mark& mark : panel) {
      low_x = std::min(low_x, std::floor(std::log10(mark.ms)));
      high_x = std::max(high_x, std::ceil(std::log10(mark.ms)));
      low_y = std::min(low_y, std::floor(std::log10(std::max(mark.creep, 1e-16))));
      high_y = std::max(high_y, std::ceil(std::log10(std::max(mark.creep, 1e-16))));
    }
  }
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" font-family="
      "\"sans-serif\" font-size=\"11\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n"
      "<text x=\"60\" y=\"18\" font-size=\"14\">{2}</text>\n",
      2.0 * kWidth + 140.0, kHeight + 90.0, title);
  for (std::size_t p = 0; p < 2; ++p) {
    const double left = 60.0 + static_cast<double>(p) * (kWidth + 60.0);
    const double top = 45.0;
    const auto x_of = [&](double power) {
      return left + kWidth * (power - low_x) / std::max(1.0, high_x - low_x);
    };
    const auto y_of = [&](double power) {
      return top + kHeight * (high_y - power) / std::max(1.0, high_y - low_y);
    };
    svg += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\">{}: δ [m/s] against ms a step</text>\n",
                       left, top - 8.0, phases[p]);
    const auto line = [&](double x1, double y1, double x2, double y2) {
      svg += fmt::format(
          "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#ccc\"/>\n", x1,
          y1, x2, y2);
    };
    for (double power = low_x; power <= high_x; ++power) {
      line(x_of(power), top, x_of(power), top + kHeight);
      svg += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\">{:g}</text>\n", x_of(power) - 6.0,
                         top + kHeight + 15.0, std::pow(10.0, power));
    }
    for (double power = low_y; power <= high_y; power += 2.0) {
      line(left, y_of(power), left + kWidth, y_of(power));
      svg += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\">1e{:.0f}</text>\n", left - 36.0,
                         y_of(power) + 4.0, power);
    }
    for (const Mark& mark : marks[p]) {
      const double x = x_of(std::log10(mark.ms));
      const double y = y_of(std::log10(std::max(mark.creep, 1e-16)));
      const bool is_ours = mark.name.rfind("Ricochet", 0) == 0;
      svg += fmt::format(
          "<circle cx=\"{0:.1f}\" cy=\"{1:.1f}\" r=\"4\" fill=\"{2}\"/><text x=\"{3:.1f}\" "
          "y=\"{4:.1f}\" fill=\"{2}\">{5}</text>\n",
          x, y, is_ours ? "#c0392b" : "#2c5f8a", x + 6.0, y + 4.0, mark.name);
    }
  }
  return svg + "</svg>\n";
}

}  // namespace race
