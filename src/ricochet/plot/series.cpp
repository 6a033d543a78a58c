#include "ricochet/plot/series.h"

#include <algorithm>
#include <cmath>

namespace ricochet::plot {

void Series::Bucket::add(Point p) {
  if (count == 0) {
    first = low = high = last = p;
  } else {
    if (p.y < low.y) low = p;
    if (p.y > high.y) high = p;
    last = p;
  }
  ++count;
}

void Series::Bucket::add(const Bucket& next) {
  if (next.low.y < low.y) low = next.low;
  if (next.high.y > high.y) high = next.high;
  last = next.last;
  count += next.count;
  broken = next.broken;
}

void Series::add(double t, double value) {
  if (!std::isfinite(t) || !std::isfinite(value)) {
    if (!buckets_.empty()) buckets_.back().broken = true;
    is_broken_ = true;
    return;
  }
  if (count_ == 0) {
    times_ = {t, t};
    values_ = {value, value};
  }
  ++count_;
  times_ = {std::min(times_.low, t), std::max(times_.high, t)};
  values_ = {std::min(values_.low, value), std::max(values_.high, value)};
  if (is_broken_ || buckets_.empty() || buckets_.back().count >= capacity_) {
    if (buckets_.size() >= most_) halve();
    buckets_.emplace_back();
    is_broken_ = false;
  }
  buckets_.back().add(Point{t, value});
}

void Series::halve() {
  const auto breaks = static_cast<std::size_t>(std::count_if(
      buckets_.begin(), buckets_.end(), [](const Bucket& bucket) { return bucket.broken; }));
  const bool too_broken = breaks > most_ / 2;  // then gaps are closed rather than kept
  capacity_ *= 2;
  std::vector<Bucket> merged;
  merged.reserve(most_);
  for (const Bucket& bucket : buckets_) {
    const bool fits = !merged.empty() && merged.back().count + bucket.count <= capacity_;
    if (fits && (too_broken || !merged.back().broken)) {
      merged.back().add(bucket);
    } else {
      merged.push_back(bucket);
    }
  }
  buckets_ = std::move(merged);
}

std::vector<std::vector<Point>> Series::pieces() const {
  std::vector<std::vector<Point>> all(1);
  for (const Bucket& bucket : buckets_) {
    std::vector<Point>& piece = all.back();
    const bool low_first = bucket.low.x <= bucket.high.x;
    const Point early = low_first ? bucket.low : bucket.high;
    const Point late = low_first ? bucket.high : bucket.low;
    for (const Point& p : {bucket.first, early, late, bucket.last}) {
      const bool again = !piece.empty() && piece.back().x == p.x && piece.back().y == p.y;
      if (!again) piece.push_back(p);
    }
    if (bucket.broken) all.emplace_back();
  }
  std::erase_if(all, [](const auto& piece) { return piece.empty(); });
  return all;
}

}  // namespace ricochet::plot
