#pragma once

#include <array>

namespace ricochet::base {

/// The method of Dormand and Prince of order 5(4). The last stage is the solution of order 5.
/// [Dormand 1980]
struct DormandPrince {
  std::array<double, 6> times{0.2, 0.3, 0.8, 8.0 / 9.0, 1.0, 1.0};  // of stages 1 to 6
  std::array<std::array<double, 6>, 6> stages{{
      {0.2},
      {3.0 / 40.0, 9.0 / 40.0},
      {44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0},
      {19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0},
      {9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0},
      {35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0},
  }};
  /// Of order 5 less of order 4.
  std::array<double, 7> error{71.0 / 57600.0,      0.0,          -71.0 / 16695.0, 71.0 / 1920.0,
                              -17253.0 / 339200.0, 22.0 / 525.0, -1.0 / 40.0};
};
inline constexpr DormandPrince kDormandPrince{};

}  // namespace ricochet::base
