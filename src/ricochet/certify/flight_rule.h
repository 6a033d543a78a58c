#pragma once

#include <array>

namespace ricochet::certify {

/// Where flights are looked at, and what the polynomial through values f_j at these points is:
/// those of Chebyshev on [0, 1], ends included.
struct FlightRule {
  static constexpr std::size_t kNodes = 14;
  static constexpr std::size_t kBetween = 2;  // places besides, where the polynomial is tried
  using Row = std::array<double, kNodes>;

  Row points{};
  std::array<Row, kNodes> once{};        // by point: integral up to it
  std::array<Row, kNodes> twice{};       // integral of (point - s) f
  std::array<Row, kNodes> powers{};      // by power of s - 1/2: its coefficient
  std::array<double, kBetween> tried{};  // places, and
  std::array<Row, kBetween> values{};    // the polynomial there

  static double sum(const Row& row, const double* f) {
    double total = 0.0;
    for (std::size_t j = 0; j < kNodes; ++j) total += row[j] * f[j];
    return total;
  }
  /// The powers of s. Those around the middle come first: on [0, 1] they would lose nine digits.
  void take_powers(const double* f, double* c) const;
};

const FlightRule& flight_rule();

}  // namespace ricochet::certify
