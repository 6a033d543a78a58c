#include "ricochet/structure/statistics.h"

#include <algorithm>
#include <cmath>

namespace ricochet::structure {

double BlockSum::total() const {
  double sum = 0.0;
  for (const base::Sum& part : sums_) sum += part.value();
  return sum;
}

Estimate BlockSum::mean(double unit) const {
  constexpr auto kCount = static_cast<double>(kBlocks);
  const double mean = total() / (kCount * unit);
  double squares = 0.0;
  for (const base::Sum& part : sums_) squares += std::pow(part.value() / unit - mean, 2);
  return {mean, std::sqrt(squares / (kCount * (kCount - 1.0)))};
}

Statistics::Statistics(const LinearStructure& structure, double h, long long steps)
    : structure_(&structure), h_(h), steps_(std::max(1LL, steps)), sides_(sides_of(structure)) {
  quiet_steps_ = static_cast<long long>(std::max(kQuietSteps, std::ceil(structure.quiet_time / h)));
  points_.resize(structure.points.size());
  guides_.resize(structure.guides.size());
  std::size_t channels = 0;
  for (OfPoint& point : points_) {
    if (channels++ < kMostSpectra) point.welch = Welch(h, steps);
  }
  for (OfGuide& guide : guides_) {
    if (channels++ < kMostSpectra) guide.welch = Welch(h, steps);
  }
}

void Statistics::begin(const double* u) {
  for (std::size_t k = 0; k < guides_.size(); ++k) {
    const Guide& guide = structure_->guides[k];
    guides_[k].across = structure_->value_at(guide.row, guide.plane, u);
    if (structure_->planes == 2) {
      guides_[k].along = structure_->value_at(guide.row, 1 - guide.plane, u);
    }
  }
}

void Statistics::add(double t, const double* q, const double* u, std::span<const double> impulses) {
  const auto block =
      static_cast<std::size_t>(std::min(done_ * static_cast<long long>(BlockSum::kBlocks) / steps_,
                                        static_cast<long long>(BlockSum::kBlocks) - 1));
  for (std::size_t k = 0; k < points_.size(); ++k) {
    const Point& point = structure_->points[k];
    const double value = structure_->value_at(point.row, point.plane, q);
    OfPoint& of = points_[k];
    of.squares.add(block, value * value);
    of.values.add(value);
    of.lowest = done_ == 0 ? value : std::min(of.lowest, value);
    of.highest = done_ == 0 ? value : std::max(of.highest, value);
    of.welch.add(value);
  }
  for (OfGuide& of : guides_) of.reaction = 0.0;
  for (std::size_t a = 0; a < sides_.size(); ++a) {
    guides_[sides_[a].guide].reaction += sides_[a].is_upper ? -impulses[a] : impulses[a];
  }
  for (OfGuide& of : guides_) {
    of.welch.add(of.reaction / h_);
    if (of.reaction == 0.0) ++of.quiet;
    of.last_across = of.across;
    of.last_along = of.along;
  }
  begin(u);
  for (OfGuide& of : guides_) {
    if (of.reaction != 0.0) add_push(t, block, of);
  }
  ++done_;
}

void Statistics::add_push(double t, std::size_t block, OfGuide& of) {
  const double push = std::abs(of.reaction);
  of.last_push = t;
  if (of.quiet >= quiet_steps_) {
    if (of.impacts == 0) of.first_push = t;
    ++of.impacts;
    of.starts.add(block, 1.0);
    of.squares.add(of.running * of.running);
    of.running = 0.0;
  }
  of.quiet = 0;
  of.running += push;
  of.impulse.add(push);
  of.impulse_max = std::max(of.impulse_max, of.running);
  of.force_max = std::max(of.force_max, push / h_);
  of.pushing.add(block, 1.0);
  of.work_normal.add(block, -of.reaction * 0.5 * (of.last_across + of.across));
  if (structure_->planes == 2) {
    of.work_sliding.add(block, push * std::abs(0.5 * (of.last_along + of.along)));
  }
}

double Statistics::part_time() const {
  return static_cast<double>(done_) * h_ / static_cast<double>(BlockSum::kBlocks);
}

std::vector<PointStatistics> Statistics::points() const {
  std::vector<PointStatistics> found;
  const auto steps = static_cast<double>(std::max(1LL, done_));
  for (std::size_t k = 0; k < points_.size(); ++k) {
    const OfPoint& of = points_[k];
    PointStatistics one;
    one.name = structure_->points[k].name;
    const Estimate square = of.squares.mean(steps / static_cast<double>(BlockSum::kBlocks));
    one.rms.value = std::sqrt(square.value);
    one.rms.error = one.rms.value > 0.0 ? square.error / (2.0 * one.rms.value) : 0.0;
    one.mean = of.values.value() / steps;
    one.lowest = of.lowest;
    one.highest = of.highest;
    const std::vector<double> density = of.welch.density();
    const auto top = std::max_element(density.begin(), density.end());
    constexpr std::size_t kFewBins = 64;  // tell no frequency
    if (density.size() > kFewBins) {
      one.main_frequency = of.welch.frequency(static_cast<std::size_t>(top - density.begin()));
      one.resolution = of.welch.frequency(1);
    }
    found.push_back(one);
  }
  return found;
}

std::vector<GuideStatistics> Statistics::guides() const {
  std::vector<GuideStatistics> found;
  for (std::size_t k = 0; k < guides_.size(); ++k) {
    const OfGuide& of = guides_[k];
    GuideStatistics one;
    one.name = structure_->guides[k].name;
    one.impacts = of.impacts;
    one.first_push = of.first_push;
    one.last_push = of.last_push;
    one.rate = of.starts.mean(part_time());
    one.contact_ratio = of.pushing.mean(part_time() / h_);
    one.impulse = of.impulse.value();
    if (of.impacts > 0) {
      const auto count = static_cast<double>(of.impacts);
      one.impulse_mean = one.impulse / count;
      one.impulse_rms = std::sqrt((of.squares.value() + of.running * of.running) / count);
    }
    one.impulse_max = of.impulse_max;
    one.force_max = of.force_max;
    one.work_normal = of.work_normal.mean(part_time());
    one.work_sliding = of.work_sliding.mean(part_time());
    found.push_back(one);
  }
  return found;
}

std::vector<Spectrum> Statistics::spectra() const {
  std::vector<Spectrum> found;
  const auto add = [&](const std::string& name, const Welch& welch) {
    std::vector<double> density = welch.density();
    if (density.empty()) return;
    found.push_back({name, welch.frequency(1), welch.segments(), std::move(density)});
  };
  for (std::size_t k = 0; k < points_.size(); ++k) {
    add(structure_->points[k].name, points_[k].welch);
  }
  for (std::size_t k = 0; k < guides_.size(); ++k) {
    add(structure_->guides[k].name + ".force", guides_[k].welch);
  }
  return found;
}

}  // namespace ricochet::structure
