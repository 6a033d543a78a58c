#include "ricochet/certify/body_statistics.h"

#include <algorithm>
#include <cmath>

namespace ricochet::certify {

int CreepCounts::place_of(double creep) {
  const double place = creep > 0.0 ? 10.0 * (std::log10(creep) + 30.0) : 0.0;
  return static_cast<int>(std::clamp(place, 0.0, kPlaces - 1.0));
}

std::array<double, 3> CreepCounts::shares() const {
  constexpr std::array<double, 3> kShares = {0.5, 0.99, 0.999};
  std::array<double, 3> speeds{};
  long long all = 0;
  for (const long long count : counts_) all += count;
  for (std::size_t k = 0; k < kShares.size(); ++k) {
    long long sum = 0;
    for (std::size_t place = 0; place < counts_.size() && all > 0; ++place) {
      sum += counts_[place];
      if (static_cast<double>(sum) < kShares[k] * static_cast<double>(all)) continue;
      speeds[k] =
          place == 0 ? 0.0 : std::pow(10.0, 0.1 * (static_cast<double>(place) + 1.0) - 30.0);
      break;
    }
  }
  return speeds;
}

}  // namespace ricochet::certify
