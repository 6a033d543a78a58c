#pragma once

namespace ricochet::base {

/// Compensated sum (Kahan): the error does not grow with the number of terms.
class Sum {
 public:
  void add(double term) {
    const double corrected = term - lost_;
    const double next = total_ + corrected;
    lost_ = (next - total_) - corrected;
    total_ = next;
  }
  double value() const { return total_; }

 private:
  double total_{0.0};
  double lost_{0.0};
};

}  // namespace ricochet::base
