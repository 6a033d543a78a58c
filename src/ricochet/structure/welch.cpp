#include "ricochet/structure/welch.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace ricochet::structure {

void fourier_transform(std::vector<std::complex<double>>& data,
                       const std::vector<std::complex<double>>& roots) {
  const std::size_t n = data.size();
  for (std::size_t i = 1, j = 0; i < n; ++i) {  // reversed bits
    std::size_t bit = n >> 1U;
    for (; (j & bit) != 0; bit >>= 1U) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(data[i], data[j]);
  }
  for (std::size_t half = 1; half < n; half *= 2) {
    const std::size_t stride = n / (2 * half);
    for (std::size_t begin = 0; begin < n; begin += 2 * half) {
      for (std::size_t k = 0; k < half; ++k) {
        const std::complex<double> even = data[begin + k];
        const std::complex<double> odd = data[begin + k + half] * roots[k * stride];
        data[begin + k] = even + odd;
        data[begin + k + half] = even - odd;
      }
    }
  }
}

Welch::Welch(double step, long long samples) {
  constexpr std::size_t kLeast = 16;
  constexpr double kSegments = 4.5;  // of a signal, without their overlap
  stride_ = std::max(1LL, samples / kMostSamples);
  const double kept = static_cast<double>(samples / stride_);
  length_ = 1;
  while (static_cast<double>(2 * length_) <= kept / kSegments) length_ *= 2;
  if (length_ < kLeast) {
    length_ = 0;
    return;
  }
  rate_ = 1.0 / (step * static_cast<double>(stride_));
  resolution_ = rate_ / static_cast<double>(length_);
  const auto n = static_cast<double>(length_);
  for (std::size_t k = 0; k < length_; ++k) {
    const double angle = 2.0 * std::numbers::pi * static_cast<double>(k) / n;
    window_.push_back(0.5 - 0.5 * std::cos(angle));
    window_power_ += window_.back() * window_.back();
    if (2 * k < length_) roots_.emplace_back(std::cos(angle), -std::sin(angle));
  }
  segment_.assign(length_, 0.0);
  work_.assign(length_, {});
  sum_.assign(length_ / 2 + 1, 0.0);
}

void Welch::add(double value) {
  if (length_ == 0) return;
  pending_ += value;
  if (++pending_count_ < stride_) return;
  take(pending_ / static_cast<double>(stride_));
  pending_ = 0.0;
  pending_count_ = 0;
}

void Welch::take(double value) {
  segment_[filled_++] = value;
  if (filled_ < length_) return;
  add_segment();
  const auto half = static_cast<std::ptrdiff_t>(length_ / 2);
  std::copy(segment_.begin() + half, segment_.end(), segment_.begin());
  filled_ = length_ / 2;
}

void Welch::add_segment() {
  double mean = 0.0;
  for (const double value : segment_) mean += value;
  mean /= static_cast<double>(length_);
  for (std::size_t k = 0; k < length_; ++k) work_[k] = window_[k] * (segment_[k] - mean);
  fourier_transform(work_, roots_);
  for (std::size_t k = 0; k < sum_.size(); ++k) sum_[k] += std::norm(work_[k]);
  ++segments_;
}

std::vector<double> Welch::density() const {
  if (segments_ == 0) return {};
  std::vector<double> density = sum_;
  for (std::size_t k = 0; k < density.size(); ++k) {
    const bool is_double = k > 0 && k + 1 < density.size();  // both signs of a frequency
    density[k] *= (is_double ? 2.0 : 1.0) / (rate_ * window_power_ * segments_);
  }
  return density;
}

}  // namespace ricochet::structure
