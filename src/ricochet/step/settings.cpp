#include "ricochet/step/settings.h"

#include <algorithm>
#include <cmath>

namespace ricochet::step {

long long steps_until(double start_time, double until, double step) {
  const double exact = (until - start_time) / step - 1e-6;
  return std::max(0LL, static_cast<long long>(std::ceil(exact)));
}

}  // namespace ricochet::step
