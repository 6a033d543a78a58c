#pragma once

#include <string>
#include <vector>

namespace ricochet::plot {

struct Range {
  double low{0.0};
  double high{0.0};
  double size() const { return high - low; }
  template <class Archive>
  void visit(Archive& archive) {
    archive(low, high);
  }
};

/// About `count` round numbers (1, 2 or 5 times a power of ten) within the range.
std::vector<double> ticks(const Range& range, int count);

/// A tick's text, without digits that the spacing does not need.
std::string tick_text(double value, double spacing);

/// Powers of ten within a range of positive numbers, every so many that about `count` are left; of
/// less than one power, round numbers.
std::vector<double> log_ticks(const Range& range, int count);

/// The range with a margin of that part on both sides, and at least a billionth of its largest end;
/// a point becomes an interval.
Range widened(const Range& range, double part);

}  // namespace ricochet::plot
