#pragma once

#include <complex>
#include <vector>

namespace ricochet::structure {

/// The power spectral density of a signal, as it comes, in bounded memory: segments under Hann's
/// window that overlap by half, each without its mean, their periodograms averaged [Welch 1967].
class Welch {
 public:
  Welch() = default;
  /// `samples` are expected, `step` apart [s]; segments are such that several fit. Signals longer
  /// than kMostSamples are averaged over as many neighbours as needed first.
  Welch(double step, long long samples);

  void add(double value);

  /// One-sided, [unit^2/Hz]; empty when the signal was too short for a segment.
  std::vector<double> density() const;
  double frequency(std::size_t bin) const { return static_cast<double>(bin) * resolution_; }
  int segments() const { return segments_; }

  static constexpr long long kMostSamples = 1LL << 18;

 private:
  void take(double value);
  void add_segment();

  std::size_t length_{0};  // of a segment, a power of 2
  long long stride_{1};
  double resolution_{0.0};  // [Hz]
  double rate_{0.0};        // of samples [1/s]
  double window_power_{0.0};
  std::vector<double> window_;
  std::vector<double> segment_;
  std::size_t filled_{0};
  std::vector<std::complex<double>> work_;
  std::vector<std::complex<double>> roots_;
  std::vector<double> sum_;
  int segments_{0};
  double pending_{0.0};
  long long pending_count_{0};
};

/// In place, sizes a power of 2; `roots` are exp(-2 pi i k / n), k < n/2.
void fourier_transform(std::vector<std::complex<double>>& data,
                       const std::vector<std::complex<double>>& roots);

}  // namespace ricochet::structure
