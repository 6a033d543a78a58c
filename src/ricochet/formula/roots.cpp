#include "ricochet/formula/roots.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace ricochet::formula {
namespace {

constexpr int kDegree = kMostPowers;
using Coefficients = std::array<double, kDegree + 1>;

/// C(j, k) / C(n, k), which takes powers to Bernstein's form of degree n.
const Coefficients* conversion(int n) {
  static const auto kTable = [] {
    auto table = std::array<std::array<Coefficients, kDegree + 1>, kDegree + 1>{};
    for (int degree = 0; degree <= kDegree; ++degree) {
      for (int j = 0; j <= degree; ++j) {
        double part = 1.0;
        for (int k = 0; k <= j; ++k) {
          table[static_cast<std::size_t>(degree)][static_cast<std::size_t>(j)]
               [static_cast<std::size_t>(k)] = part;
          if (k < j) part *= static_cast<double>(j - k) / static_cast<double>(degree - k);
        }
      }
    }
    return table;
  }();
  return kTable[static_cast<std::size_t>(n)].data();
}

/// The polynomial on [0, 1], in powers and in Bernstein's form.
class Search {
 public:
  Search(const double* row, int degree, int lift, double h) {
    double power = 1.0;
    double size = 0.0;
    for (int k = 0; k + lift <= degree; ++k, power *= h) {
      at(powers_, k) = row[k + lift] * power;
      size = std::max(size, std::abs(at(powers_, k)));
      if (std::abs(at(powers_, k)) > 1e-17 * size) degree_ = k;
    }
  }

  std::optional<double> find() {
    double rest = 0.0;
    for (int k = 1; k <= degree_; ++k) rest += std::abs(at(powers_, k));
    if (!(std::abs(at(powers_, 0)) <= rest)) return std::nullopt;  // far from 0, or not a number
    const Coefficients* const table = conversion(degree_);
    Coefficients form;
    for (int j = 0; j <= degree_; ++j) {
      double sum = 0.0;
      for (int k = 0; k <= j; ++k) sum += at(table[j], k) * at(powers_, k);
      at(form, j) = sum;
    }
    return search(form, 0.0, 1.0, 0);
  }

 private:
  static double& at(Coefficients& c, int k) { return c[static_cast<std::size_t>(k)]; }
  static double at(const Coefficients& c, int k) { return c[static_cast<std::size_t>(k)]; }

  int changes(const Coefficients& form) const {
    int count = 0;
    double last = at(form, 0);
    for (int j = 1; j <= degree_; ++j) {
      const double next = at(form, j);
      if (next == 0.0) continue;
      if ((last < 0.0) != (next < 0.0) && last != 0.0) ++count;
      last = next;
    }
    return count;
  }

  std::optional<double> search(const Coefficients& form, double low, double high, int depth) {
    const int count = changes(form);
    if (count == 0) return std::nullopt;
    if (count == 1) {
      if (at(form, degree_) < 0.0 || (at(form, degree_) == 0.0 && at(form, 0) > 0.0)) {
        return solve(low, high);
      }
      return std::nullopt;  // it rises
    }
    constexpr int kDeepest = 48;
    if (depth == kDeepest) return std::nullopt;  // it touches 0 and turns back, to rounding
    Coefficients left;
    Coefficients right = form;  // de Casteljau
    for (int j = 0; j <= degree_; ++j) {
      at(left, j) = at(right, 0);
      for (int k = 0; k < degree_ - j; ++k) at(right, k) = 0.5 * (at(right, k) + at(right, k + 1));
    }
    const double middle = 0.5 * (low + high);
    if (const auto found = search(left, low, middle, depth + 1)) return found;
    return search(right, middle, high, depth + 1);
  }

  /// The only zero in the interval, by Newton's method kept between bounds.
  double solve(double low, double high) const {
    double s = 0.5 * (low + high);
    for (int round = 0; round < 100; ++round) {
      double value = 0.0, slope = 0.0;
      for (int k = degree_; k >= 0; --k) {
        slope = slope * s + value;
        value = value * s + at(powers_, k);
      }
      (value > 0.0 ? low : high) = s;
      double next = s - value / slope;
      if (value == 0.0 || std::abs(next - s) <= 4e-16 * s) return s;
      if (!(next > low && next < high)) next = 0.5 * (low + high);
      s = next;
    }
    return s;
  }

  Coefficients powers_{};
  int degree_{0};
};

}  // namespace

std::optional<double> first_fall(const double* row, int degree, int lift, double h) {
  const auto part = Search(row, degree, lift, h).find();
  return part ? std::optional(*part * h) : std::nullopt;
}

}  // namespace ricochet::formula
