#pragma once

namespace ricochet::base {

/// Compensated sum (Kahan): the error does not grow with the number of terms.
class Sum {
 public:
  Sum() = default;
  Sum(double total, double lost) : total_(total), lost_(lost) {}  // one that goes on
  void add(double term) {
    const double corrected = term - lost_;
    const double next = total_ + corrected;
    lost_ = (next - total_) - corrected;
    total_ = next;
  }
  void add(const Sum& other) {
    add(other.total_);
    add(-other.lost_);
  }
  double value() const { return total_; }
  double lost() const { return lost_; }
  bool operator==(const Sum&) const = default;

 private:
  double total_{0.0};
  double lost_{0.0};
};

}  // namespace ricochet::base
