#pragma once

#include <optional>

namespace ricochet::formula {

inline constexpr int kMostPowers = 32;

/// Where a polynomial of that degree, `kMostPowers` at most, first goes from positive to negative
/// in (0, h], after the factor s^lift is taken out of it (a gap that has just opened is 0 where the
/// arc begins). Nothing when it does not.
///
/// By Bernstein's form: between the least and the largest of its coefficients lie all values of the
/// polynomial, and they change sign at least as often as it does. An interval is halved until they
/// do not change sign, so that there is no zero, or once, so that there is one. No pair of zeros is
/// missed between which the polynomial falls below its rounding.
std::optional<double> first_fall(const double* row, int degree, int lift, double h);

}  // namespace ricochet::formula
