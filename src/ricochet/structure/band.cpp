#include "ricochet/structure/band.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace ricochet::structure {

template <int Band>
void BandMatrix::multiply_band(const double* x, double* y) const {
  const auto any = [&](int i) {
    double sum = 0.0;
    for (int j = std::max(0, i - band_); j <= i; ++j) sum += at(i, j) * x[j];
    for (int j = i + 1; j <= std::min(size_ - 1, i + band_); ++j) sum += at(j, i) * x[j];
    return sum;
  };
  const int head = std::min(band_, size_);
  const int tail = std::max(head, size_ - band_);
  for (int i = 0; i < head; ++i) y[i] = any(i);
  if constexpr (Band == 0) {
    for (int i = head; i < tail; ++i) y[i] = any(i);
  } else {
    const double* a = row(head);
    for (int i = head; i < tail; ++i, a += Band + 1) {
      double sum = a[Band] * x[i];
      for (int k = 1; k <= Band; ++k) {
        sum += a[Band - k] * x[i - k] + a[k * (Band + 1) + Band - k] * x[i + k];
      }
      y[i] = sum;
    }
  }
  for (int i = tail; i < size_; ++i) y[i] = any(i);
}

void BandMatrix::multiply(const double* x, double* y) const {
  switch (band_) {
    case 0:
      for (int i = 0; i < size_; ++i) y[i] = entries_[static_cast<std::size_t>(i)] * x[i];
      return;
    case 1: return multiply_band<1>(x, y);
    case 2: return multiply_band<2>(x, y);
    case 3: return multiply_band<3>(x, y);
    default: return multiply_band<0>(x, y);
  }
}

bool BandFactor::factor(const BandMatrix& matrix) {
  size_ = matrix.size();
  band_ = matrix.band();
  lower_.assign(static_cast<std::size_t>(size_) * static_cast<std::size_t>(band_), 0.0);
  inverse_.assign(static_cast<std::size_t>(size_), 0.0);
  std::vector<double> diagonal(static_cast<std::size_t>(size_), 0.0);
  const auto entry = [&](int i, int j) -> double& {
    return lower_[static_cast<std::size_t>(i) * static_cast<std::size_t>(band_) +
                  static_cast<std::size_t>(j - i + band_)];
  };
  for (int i = 0; i < size_; ++i) {
    const int first = std::max(0, i - band_);
    double pivot = matrix.at(i, i);
    for (int j = first; j < i; ++j) {
      double sum = matrix.at(i, j);
      for (int k = std::max(first, j - band_); k < j; ++k) {
        sum -= entry(i, k) * diagonal[static_cast<std::size_t>(k)] * entry(j, k);
      }
      entry(i, j) = sum / diagonal[static_cast<std::size_t>(j)];
      pivot -= sum * entry(i, j);
    }
    if (!(pivot > 0.0) || !std::isfinite(pivot)) return false;
    diagonal[static_cast<std::size_t>(i)] = pivot;
    inverse_[static_cast<std::size_t>(i)] = 1.0 / pivot;
  }
  return true;
}

template <int Band>
void BandFactor::solve_band(double* x) const {
  const int head = std::min(Band, size_);
  const double* l = lower_.data();
  for (int i = 1; i < head; ++i) {
    for (int k = Band - i; k < Band; ++k) x[i] -= l[i * Band + k] * x[i + k - Band];
  }
  for (int i = head; i < size_; ++i) {
    double sum = x[i];
    for (int k = 0; k < Band; ++k) sum -= l[i * Band + k] * x[i + k - Band];
    x[i] = sum;
  }
  for (int i = 0; i < size_; ++i) x[i] *= inverse_[static_cast<std::size_t>(i)];
  for (int i = size_ - 1; i >= head; --i) {
    const double value = x[i];
    for (int k = 0; k < Band; ++k) x[i + k - Band] -= l[i * Band + k] * value;
  }
  for (int i = head - 1; i > 0; --i) {
    for (int k = Band - i; k < Band; ++k) x[i + k - Band] -= l[i * Band + k] * x[i];
  }
}

void BandFactor::half_solve(double* x) const {
  for (int i = 0; i < size_; ++i) {
    for (int j = std::max(0, i - band_); j < i; ++j) x[i] -= entry(i, j) * x[j];
  }
  for (int i = 0; i < size_; ++i) x[i] *= std::sqrt(inverse_[static_cast<std::size_t>(i)]);
}

void BandFactor::solve_any(double* x) const {
  for (int i = 0; i < size_; ++i) {
    for (int j = std::max(0, i - band_); j < i; ++j) x[i] -= entry(i, j) * x[j];
  }
  for (int i = 0; i < size_; ++i) x[i] *= inverse_[static_cast<std::size_t>(i)];
  for (int i = size_ - 1; i >= 0; --i) {
    for (int j = std::max(0, i - band_); j < i; ++j) x[j] -= entry(i, j) * x[i];
  }
}

void BandFactor::solve(double* x) const {
  switch (band_) {
    case 1: return solve_band<1>(x);
    case 2: return solve_band<2>(x);
    case 3: return solve_band<3>(x);
    default: return solve_any(x);
  }
}

}  // namespace ricochet::structure
