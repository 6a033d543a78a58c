#include "ricochet/certify/flight_rule.h"

#include <cmath>
#include <numbers>

#include "ricochet/base/quadrature.h"

namespace ricochet::certify {
namespace {

constexpr std::size_t kNodes = FlightRule::kNodes;

/// Lagrange's polynomial of point j at s.
double basis(const FlightRule::Row& points, std::size_t j, double s) {
  double product = 1.0;
  for (std::size_t m = 0; m < kNodes; ++m) {
    if (m != j) product *= (s - points[m]) / (points[j] - points[m]);
  }
  return product;
}

FlightRule make_rule() {
  FlightRule rule;
  for (std::size_t i = 0; i < kNodes; ++i) {
    const double angle = std::numbers::pi * static_cast<double>(i) / (kNodes - 1);
    rule.points[i] = std::sin(0.5 * angle) * std::sin(0.5 * angle);
  }
  rule.points[kNodes - 1] = 1.0;
  rule.tried = {0.5 * (rule.points[1] + rule.points[2]), 0.5};
  for (std::size_t j = 0; j < kNodes; ++j) {
    for (std::size_t i = 1; i < kNodes; ++i) {
      base::for_gauss_points(0.0, rule.points[i], 1, [&](double s, double weight) {
        const double part = weight * basis(rule.points, j, s);  // of degree 13
        rule.once[j][i] += part;
        rule.twice[j][i] += (rule.points[i] - s) * part;
      });
    }
    for (std::size_t k = 0; k < FlightRule::kBetween; ++k) {
      rule.values[k][j] = basis(rule.points, j, rule.tried[k]);
    }
    rule.powers[j][0] = 1.0;
    std::size_t degree = 0;
    for (std::size_t m = 0; m < kNodes; ++m) {  // times (s - x_m) / (x_j - x_m)
      if (m == j) continue;
      const double scale = 1.0 / (rule.points[j] - rule.points[m]);
      const double point = rule.points[m] - 0.5;
      for (std::size_t k = ++degree; k > 0; --k) {
        rule.powers[j][k] = scale * (rule.powers[j][k - 1] - point * rule.powers[j][k]);
      }
      rule.powers[j][0] *= -scale * point;
    }
  }
  return rule;
}

}  // namespace

FlightRule::Row FlightRule::powers_of(const Row& f) const {
  Row c = apply(powers, f);
  for (std::size_t k = 0; k + 1 < kNodes; ++k) {
    for (std::size_t j = kNodes - 1; j-- > k;) c[j] -= 0.5 * c[j + 1];
  }
  return c;
}

const FlightRule& flight_rule() {
  static const FlightRule kRule = make_rule();
  return kRule;
}

}  // namespace ricochet::certify
