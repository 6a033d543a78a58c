#include "ricochet/plot/ticks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ricochet::plot {

std::vector<double> ticks(const Range& range, int count) {
  const int wanted = std::max(1, count);
  const double rough = range.size() / wanted;
  if (!(rough > 0.0) || !std::isfinite(rough)) return {range.low};
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double spacing = 10.0 * power;
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (rough <= factor * power) {
      spacing = factor * power;
      break;
    }
  }
  std::vector<double> all;
  const double first = std::ceil(range.low / spacing - 1e-9);
  // Counted by a whole number: far from zero, adding 1 to a double may change nothing.
  for (int i = 0; i <= 2 * wanted; ++i) {
    const double k = first + i;
    const double value = k == 0.0 ? 0.0 : k * spacing;
    if (value > range.high + 1e-9 * spacing) break;
    if (all.empty() || value > all.back()) all.push_back(value);
  }
  // One number is no scale: more of them, unless the digits of the numbers themselves end here.
  constexpr int kMost = 8;
  return all.size() < 2 && wanted < kMost ? ticks(range, wanted + 1) : all;
}

std::vector<double> log_ticks(const Range& range, int count) {
  const int first = static_cast<int>(std::ceil(std::log10(range.low) - 1e-9));
  const int last = static_cast<int>(std::floor(std::log10(range.high) + 1e-9));
  if (last - first < 1) return ticks(range, count);
  const int every = std::max(1, (last - first + 1) / std::max(1, count));
  std::vector<double> all;
  for (int k = first; k <= last; k += every) all.push_back(std::pow(10.0, k));
  return all;
}

std::string tick_text(double value, double spacing) {
  const double size = std::max(std::abs(value), spacing);
  if (size >= 1e6 || spacing < 1e-4) return fmt::format("{:.3g}", value);
  const int decimals = std::max(0, static_cast<int>(std::ceil(-std::log10(spacing) - 1e-9)));
  return fmt::format("{:.{}f}", value, decimals);
}

Range widened(const Range& range, double part) {
  const double largest = std::max(std::abs(range.low), std::abs(range.high));
  if (largest == 0.0) return {-1.0, 1.0};
  const double margin = range.size() > 0.0 ? part * range.size() : 0.1 * largest;
  const double least = std::max(1e-12, 1e-9 * largest);  // what the digits of a double can show
  return {range.low - std::max(margin, least), range.high + std::max(margin, least)};
}

}  // namespace ricochet::plot
