#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace race {

struct Mark {
  std::string name;
  double ms{0.0};     // a step
  double creep{0.0};  // [m/s]
};

struct Panel {
  std::string title;
  std::string unit;  // of the upright axis, with its quantity
  std::vector<Mark> marks;
};

/// Powers of ten around values.
struct Axis {
  double low{1e300};
  double high{-1e300};
  void take(double value) {
    low = std::min(low, std::floor(std::log10(value)));
    high = std::max(high, std::ceil(std::log10(value)));
  }
  double part(double power) const { return (power - low) / std::max(1.0, high - low); }
};

/// Names beside marks, moved up or down until none covers another.
class Names {
 public:
  Names(double top, double bottom) : top_(top), bottom_(bottom) {}

  /// The line on which a name that begins at x, and would best be at y, stands.
  double line_for(const std::string& name, double x, double y) {
    constexpr double kLetter = 6.4;
    constexpr double kApart = 12.0;
    const double end = x + kLetter * static_cast<double>(name.size());
    const auto is_free = [&](double at) {
      return std::none_of(taken_.begin(), taken_.end(), [&](const Taken& other) {
        return std::abs(at - other.y) < kApart && x < other.end && other.x < end;
      });
    };
    double found = y;
    for (int k = 0; k < 40 && !is_free(found); ++k) {
      const double way = kApart * static_cast<double>(k / 2 + 1);
      const double at = k % 2 == 0 ? y + way : y - way;
      if (at >= top_ && at <= bottom_ && is_free(at)) found = at;
    }
    taken_.push_back({x, end, found});
    return found;
  }

 private:
  struct Taken {
    double x;
    double end;
    double y;
  };
  double top_;
  double bottom_;
  std::vector<Taken> taken_;
};

inline std::string draw(const Panel& panel, double left, double top) {
  constexpr double kWidth = 380.0;
  constexpr double kHeight = 240.0;
  constexpr double kLeast = 1e-16;  // [m/s] what is less is drawn there
  Axis across;
  Axis up;
  for (const Mark& mark : panel.marks) {
    across.take(mark.ms);
    up.take(std::max(mark.creep, kLeast));
  }
  const auto x_of = [&](double power) { return left + kWidth * across.part(power); };
  const auto y_of = [&](double power) { return top + kHeight * (1.0 - up.part(power)); };
  std::string svg = fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\">{}: {} against ms a step</text>\n",
                                left, top - 8.0, panel.title, panel.unit);
  const auto line = [&](double x1, double y1, double x2, double y2) {
    svg += fmt::format(
        "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#ccc\"/>\n", x1, y1,
        x2, y2);
  };
  for (double power = across.low; power <= across.high; ++power) {
    line(x_of(power), top, x_of(power), top + kHeight);
    svg += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\">{:g}</text>\n", x_of(power) - 6.0,
                       top + kHeight + 15.0, std::pow(10.0, power));
  }
  for (double power = up.low; power <= up.high; power += 2.0) {
    line(left, y_of(power), left + kWidth, y_of(power));
    svg += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\">1e{:.0f}</text>\n", left - 36.0,
                       y_of(power) + 4.0, power);
  }
  Names names(top, top + kHeight);
  for (const Mark& mark : panel.marks) {
    const double x = x_of(std::log10(mark.ms));
    const double y = y_of(std::log10(std::max(mark.creep, kLeast)));
    const bool is_ours = mark.name.rfind("Ricochet", 0) == 0;
    const double at = names.line_for(mark.name, x + 6.0, y);
    if (at != y) line(x, y, x + 6.0, at);
    svg += fmt::format(
        "<circle cx=\"{0:.1f}\" cy=\"{1:.1f}\" r=\"4\" fill=\"{2}\"/><text x=\"{3:.1f}\" "
        "y=\"{4:.1f}\" fill=\"{2}\">{5}</text>\n",
        x, y, is_ours ? "#c0392b" : "#2c5f8a", x + 6.0, at + 4.0, mark.name);
  }
  return svg;
}

/// Creep speed against time of a step, both by powers of ten, two panels beside each other.
inline std::string picture(const std::vector<Panel>& panels) {
  constexpr double kAcross = 480.0;
  constexpr double kDown = 310.0;
  const auto rows = static_cast<double>((panels.size() + 1) / 2);
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" font-family="
      "\"sans-serif\" font-size=\"11\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n",
      2.0 * kAcross + 60.0, kDown * rows + 10.0);
  for (std::size_t k = 0; k < panels.size(); ++k) {
    svg += draw(panels[k], 50.0 + kAcross * static_cast<double>(k % 2),
                40.0 + kDown * static_cast<double>(k / 2));
  }
  return svg + "</svg>\n";
}

}  // namespace race
