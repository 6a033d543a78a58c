#include "ricochet/find/near_list.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ricochet::find {
namespace {

constexpr double kSkin = 0.05;  // of a box
constexpr double kFar = 10.0;   // boxes: no skin is thicker
constexpr int kFew = 3;         // searches for which a list is not worth its skins

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

/// Whether all boxes are within the larger ones; d for this search is what the mean did, gone on
/// with.
template <int D>
bool NearList<D>::holds(const std::vector<Box>& boxes) {
  if (large_.size() != boxes.size()) return false;
  drift_ = mean_ + change_;
  shape::Vec<D> sum = shape::Vec<D>::Zero();
  bool within = true;
  for (const int i : ends_) {
    const Box& box = boxes[at(i)];
    const Box& large = large_[at(i)];
    for (int k = 0; k < D; ++k) {
      const double low = box.low[k] - large.low[k];
      const double high = box.high[k] - large.high[k];
      within = within && low >= drift_[k] && high <= drift_[k];
      sum[k] += low + high;
    }
  }
  const shape::Vec<D> mean =
      sum * (0.5 / static_cast<double>(std::max<std::size_t>(1, ends_.size())));
  if (!mean.allFinite()) return false;
  change_ = mean - mean_;
  mean_ = mean;
  return within;
}

template <int D>
void NearList<D>::take_ends(const std::vector<Box>& boxes) {
  ends_.clear();
  endless_.clear();
  is_plane_.assign(boxes.size(), 0);
  for (const Plane& plane : planes_) is_plane_[at(plane.box)] = 1;
  double inverse = 0.0;
  double count = 0.0;
  for (int i = 0; i < static_cast<int>(boxes.size()); ++i) {
    if (is_plane_[at(i)] != 0) continue;
    const double side = (boxes[at(i)].high - boxes[at(i)].low).minCoeff();
    const bool has_end = boxes[at(i)].low.allFinite() && boxes[at(i)].high.allFinite();
    (has_end ? ends_ : endless_).push_back(i);
    if (!has_end || !(side > 0.0)) continue;
    inverse += 1.0 / side;
    count += 1.0;
  }
  typical_ = count > 0.0 ? count / inverse : 0.0;
}

/// A part of the size, and the way that a box made beside the mean, for as long as the list should
/// hold.
template <int D>
void NearList<D>::choose_skins(const std::vector<Box>& boxes) {
  const bool is_known = held_ > 0 && large_.size() == boxes.size();
  const double longer = is_known ? static_cast<double>(wanted_) / held_ : 0.0;
  skins_.assign(boxes.size(), 0.0);
  if (pause_ > 0) return;
  for (const int i : ends_) {
    const Box& box = boxes[at(i)];
    const double side = (box.high - box.low).minCoeff();
    double way = 0.0;
    if (is_known) {
      const shape::Vec<D> twice = box.low + box.high - large_[at(i)].low - large_[at(i)].high;
      way = longer * (0.5 * twice - mean_).cwiseAbs().maxCoeff();
    }
    const double most = kFar * std::max(side, typical_);
    skins_[at(i)] = kSkin * std::min(side, typical_) + (way < most ? way : most);
  }
}

/// Lists that hold for a few searches only are dearer than none; those with many pairs should have
/// held for fewer.
template <int D>
void NearList<D>::choose_pace() {
  constexpr int kShortest = 4;
  constexpr int kLongest = 64;
  constexpr int kLongestPause = 64;
  if (pause_ > 0) {
    --pause_;
    return;
  }
  hasty_ = held_ < kFew ? hasty_ + 1 : 0;
  if (hasty_ == 0) pauses_ = 8;
  if (hasty_ >= 3) {
    pause_ = pauses_;
    pauses_ = std::min(2 * pauses_, kLongestPause);
    hasty_ = 0;
  }
  const std::size_t each = pairs_.size() / std::max<std::size_t>(1, ends_.size());
  if (each > 12) wanted_ = std::max(kShortest, wanted_ / 2);
  if (each < 4) wanted_ = std::min(kLongest, 2 * wanted_);
}

template <int D>
void NearList<D>::renew(const std::vector<Box>& boxes) {
  if (!large_.empty()) choose_pace();
  take_ends(boxes);
  choose_skins(boxes);
  large_ = boxes;
  searched_.clear();
  numbers_.clear();
  for (const int i : ends_) {
    large_[at(i)].low.array() -= skins_[at(i)];
    large_[at(i)].high.array() += skins_[at(i)];
  }
  for (int i = 0; i < static_cast<int>(boxes.size()); ++i) {
    if (is_plane_[at(i)] != 0) continue;
    searched_.push_back(large_[at(i)]);
    numbers_.push_back(i);
  }
  pairs_.clear();
  for (const auto& [a, b] : grid_.search(searched_, 0.0)) {
    pairs_.emplace_back(numbers_[at(a)], numbers_[at(b)]);
  }
  drift_.setZero();
  mean_.setZero();
  if (!change_.allFinite()) change_.setZero();
  held_ = 0;
  list_planes();
}

template <int D>
bool NearList<D>::planes_hold() const {
  return knows_planes_ && std::all_of(planes_.begin(), planes_.end(), [&](const Plane& plane) {
           return plane.above + plane.normal.dot(drift_) > plane.level;
         });
}

/// With each plane the boxes that may come to it before long.
template <int D>
void NearList<D>::list_planes() {
  beside_.clear();
  for (Plane& plane : planes_) {
    const double way = plane.normal.dot(drift_);
    const double soon = 0.5 * typical_ + 16.0 * std::abs(plane.normal.dot(change_));
    const double low = plane.level - way + (pause_ > 0 ? 0.0 : soon);
    plane.above = std::numeric_limits<double>::infinity();
    const auto add = [&](int i) {
      beside_.emplace_back(std::min(i, plane.box), std::max(i, plane.box));
    };
    for (const int i : ends_) {
      const Box& box = large_[at(i)];
      const double height = 0.5 * (plane.normal.dot(box.low + box.high) -
                                   plane.normal.cwiseAbs().dot(box.high - box.low));
      if (height > low) {
        plane.above = std::min(plane.above, height);
      } else {
        add(i);
      }
    }
    for (const int i : endless_) add(i);
  }
  std::sort(beside_.begin(), beside_.end());
  near_.resize(pairs_.size() + beside_.size());
  std::merge(pairs_.begin(), pairs_.end(), beside_.begin(), beside_.end(), near_.begin());
  is_new_ = true;
  knows_planes_ = true;
}

template <int D>
const std::vector<typename NearList<D>::Pair>& NearList<D>::search(const std::vector<Box>& boxes) {
  is_new_ = false;
  if (!holds(boxes)) {
    renew(boxes);
  } else if (!planes_hold()) {
    list_planes();
  }
  ++held_;
  return near_;
}

template class NearList<2>;
template class NearList<3>;

}  // namespace ricochet::find
