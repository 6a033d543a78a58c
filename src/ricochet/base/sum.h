#pragma once

#include <cmath>

namespace ricochet::base {

/// Compensated sum (Neumaier): the error does not grow with the number of terms.
class Sum {
 public:
  void add(double term) {
    const double next = total_ + term;
    carry_ += std::abs(total_) >= std::abs(term) ? (total_ - next) + term : (term - next) + total_;
    total_ = next;
  }
  double value() const { return total_ + carry_; }

 private:
  double total_{0.0};
  double carry_{0.0};
};

}  // namespace ricochet::base
