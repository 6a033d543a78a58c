#pragma once

#include <array>
#include <cstddef>

namespace ricochet::base {

/// Calls add(t, weight) at the points of Gauss and Legendre's rule with eight points on each of
/// `panels` equal parts of (a, b): the sum of weight f(t) is the integral of f, exact for
/// polynomials up to degree 15 on each part.
template <class Add>
void for_gauss_points(double a, double b, int panels, Add&& add) {
  constexpr std::array<double, 4> kNodes = {0.1834346424956498, 0.5255324099163290,
                                            0.7966664774136267, 0.9602898564975363};
  constexpr std::array<double, 4> kWeights = {0.3626837833783620, 0.3137066458778873,
                                              0.2223810344533745, 0.1012285362903763};
  const double half = 0.5 * (b - a) / panels;
  for (int i = 0; i < panels; ++i) {
    const double middle = a + (2 * i + 1) * half;
    for (std::size_t j = 0; j < kNodes.size(); ++j) {
      add(middle - half * kNodes[j], half * kWeights[j]);
      add(middle + half * kNodes[j], half * kWeights[j]);
    }
  }
}

}  // namespace ricochet::base
