#include "ricochet/plot/ticks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ricochet::plot {

std::vector<double> ticks(const Range& range, int count) {
  const double rough = range.size() / std::max(1, count);
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
  for (double k = first; k * spacing <= range.high + 1e-9 * spacing; k += 1.0) {
    all.push_back(k == 0.0 ? 0.0 : k * spacing);
  }
  return all;
}

std::string tick_text(double value, double spacing) {
  const double size = std::max(std::abs(value), spacing);
  if (size >= 1e6 || spacing < 1e-4) return fmt::format("{:.3g}", value);
  const int decimals = std::max(0, static_cast<int>(std::ceil(-std::log10(spacing) - 1e-9)));
  return fmt::format("{:.{}f}", value, decimals);
}

Range widened(const Range& range, double part) {
  double margin = part * range.size();
  if (!(margin > 0.0)) margin = std::max(1e-12, 0.1 * std::abs(range.low));
  if (range.low == 0.0 && range.high == 0.0) margin = 1.0;
  return {range.low - margin, range.high + margin};
}

}  // namespace ricochet::plot
