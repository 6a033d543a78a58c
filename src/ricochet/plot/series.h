#pragma once

#include <cstddef>
#include <vector>

#include "ricochet/plot/point.h"
#include "ricochet/plot/ticks.h"

namespace ricochet::plot {

/// A quantity against time, of any length in bounded memory: runs of consecutive values, of which
/// the first, the lowest, the highest and the last are kept. Nothing that a picture of a few
/// hundred pixels could show is lost, and no extreme at all.
class Series {
 public:
  /// `most` runs are kept, of at most four points each.
  explicit Series(std::size_t most = 1024) : most_(most < 16 ? 16 : most) {}

  void add(double t, double value);

  /// The kept points in the order of time; where values are not finite the curve is broken.
  std::vector<std::vector<Point>> pieces() const;

  bool empty() const { return buckets_.empty(); }
  const Range& times() const { return times_; }
  const Range& values() const { return values_; }  // exact; of the finite ones
  long long count() const { return count_; }
  template <class Archive>
  void visit(Archive& archive) {
    archive(most_, buckets_, capacity_, is_broken_, count_, times_, values_);
  }

 private:
  struct Bucket {
    Point first;
    Point low;
    Point high;
    Point last;
    std::size_t count{0};
    bool broken{false};  // a value that is not finite comes after it
    void add(Point p);
    void add(const Bucket& next);
    template <class Archive>
    void visit(Archive& archive) {
      archive(first, low, high, last, count, broken);
    }
  };
  void halve();

  std::size_t most_;
  std::vector<Bucket> buckets_;
  std::size_t capacity_{1};  // values of a bucket that is full
  bool is_broken_{false};    // the next value begins a bucket of its own
  long long count_{0};
  Range times_;
  Range values_;
};

}  // namespace ricochet::plot
