#pragma once

#include <array>

namespace ricochet::certify {

/// Where flights are looked at, and what the polynomial through values f_j at these points is:
/// those of Chebyshev on [0, 1], ends included.
struct FlightRule {
  static constexpr std::size_t kNodes = 14;
  static constexpr std::size_t kBetween = 2;  // places besides, where the polynomial is tried
  using Row = std::array<double, kNodes>;

  using Table = std::array<Row, kNodes>;  // by point: what a value there gives to each result

  Row points{};
  Table once{};                          // integrals up to each point
  Table twice{};                         // integrals of (point - s) f
  Table powers{};                        // of s - 1/2
  std::array<double, kBetween> tried{};  // places, and
  std::array<Row, kBetween> values{};    // the polynomial there, by point

  static Row apply(const Table& table, const Row& f) {
    Row out{};
    for (std::size_t j = 0; j < kNodes; ++j) {
      for (std::size_t i = 0; i < kNodes; ++i) out[i] += table[j][i] * f[j];
    }
    return out;
  }
  /// The powers of s. Those around the middle come first: on [0, 1] they would lose nine digits.
  Row powers_of(const Row& f) const;
};

const FlightRule& flight_rule();

}  // namespace ricochet::certify
