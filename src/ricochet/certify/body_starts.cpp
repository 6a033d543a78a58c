#include "ricochet/certify/body_starts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ricochet/certify/body_width.h"
#include "ricochet/shape/gaps.h"

namespace ricochet::certify {

using base::index;
using body::Kind;
using body::Vec;

template <int D>
BodyStarts<D>::BodyStarts(BodyTrial<D>& trial) : trial_(trial), least_width_(kNoWidth) {
  for (const body::Body<D>& body : trial.world.bodies) {
    if (std::isfinite(body.born)) births_.push_back(body.born);
  }
  std::sort(births_.begin(), births_.end());
  for (const body::Solid<D>& solid : trial.world.solids) {
    width_.push_back(width_of(solid.shape));
    least_width_ = std::min(least_width_, width_.back());
  }
}

template <int D>
bool BodyStarts<D>::check() {
  if (!any_begins() || !std::isfinite(least_width_) || !find_ways()) return true;
  list_balls();
  return check_pairs();
}

template <int D>
bool BodyStarts<D>::any_begins() const {
  if (trial_.before->steps == 0) return true;
  const double last = trial_.before->t - (1.0 - 1e-9) * trial_.h;
  const auto next = std::upper_bound(births_.begin(), births_.end(), last);
  return next != births_.end() && *next <= trial_.before->t + 1e-9 * trial_.h;
}

/// A continued run begins between steps, as every step does: nobody begins in it but the unborn.
template <int D>
bool BodyStarts<D>::begins(std::size_t i) const {
  if (trial_.exists[i] == 0) return false;
  return trial_.before->steps == 0 ||
         trial_.facts[i].born > trial_.before->t - (1.0 - 1e-9) * trial_.h;
}

/// A body at a part of the way from the start of the step to its middle.
template <int D>
body::Motion<D> BodyStarts<D>::place_at(int i, double part) const {
  body::Motion<D> at = trial_.before->bodies[index(i)];
  const body::Body<D>& body = trial_.world.body(i);
  const double time = 0.5 * trial_.h * part;
  if (body.kind == Kind::Free) at.advance(time);
  if (body.kind == Kind::Driven) body.drive(trial_.before->t + time, at);
  return at;
}

/// No particle goes farther; of driven bodies as far as some places on the way tell.
template <int D>
double BodyStarts<D>::way_of(std::size_t i) const {
  const body::Body<D>& body = trial_.world.bodies[i];
  const body::Motion<D>& start = trial_.before->bodies[i];
  if (body.is_free()) return 0.5 * trial_.h * body::speed_bound(body, start);
  if (body.kind == Kind::Fixed) return 0.0;
  constexpr int kPlaces = 4;
  constexpr double kMore = 1.25;
  double way = 0.0;
  for (int k = 1; k <= kPlaces; ++k) {
    const body::Motion<D> at = place_at(static_cast<int>(i), static_cast<double>(k) / kPlaces);
    const double turn = body::size_of(body::spin_between(start, at, 1.0));
    way = std::max(way, (at.x - start.x).norm() + (turn > 0.0 ? turn * body.reach : 0.0));
  }
  return kMore * way;
}

/// How far bodies go, and who begins; whether that could matter to any pair.
template <int D>
bool BodyStarts<D>::find_ways() {
  ways_.assign(trial_.facts.size(), 0.0);
  begins_.assign(trial_.facts.size(), 0);
  double farthest = 0.0;
  for (std::size_t i = 0; i < ways_.size(); ++i) {
    if (trial_.exists[i] == 0) continue;
    begins_[i] = begins(i) ? 1 : 0;
    ways_[i] = way_of(i);
    farthest = std::max(farthest, ways_[i]);
  }
  return 2.0 * farthest >= kDeepPart * least_width_;
}

template <int D>
void BodyStarts<D>::list_balls() {
  balls_.clear();
  for (std::size_t k = 0; k < trial_.world.solids.size(); ++k) {
    const body::Solid<D>& solid = trial_.world.solids[k];
    const auto i = index(solid.body);
    if (trial_.exists[i] == 0 || !std::isfinite(solid.shape.extent)) continue;
    Ball ball;
    ball.middle =
        body::pose_of(trial_.world.bodies[i], trial_.before->bodies[i]).place(solid.shape.centre);
    ball.radius = 1.0001 * (solid.shape.extent + ways_[i]);
    ball.low = ball.middle[0] - ball.radius;
    ball.high = ball.middle[0] + ball.radius;
    ball.solid = static_cast<int>(k);
    balls_.push_back(ball);
  }
  std::sort(balls_.begin(), balls_.end(),
            [](const Ball& a, const Ball& b) { return a.low < b.low; });
}

/// All pairs of which one begins, and whose balls meet: by a sweep along the first axis.
template <int D>
bool BodyStarts<D>::check_pairs() {
  for (std::size_t k = 0; k < balls_.size(); ++k) {
    const Ball& one = balls_[k];
    const int a = trial_.body_of[index(one.solid)];
    for (std::size_t j = k + 1; j < balls_.size() && balls_[j].low <= one.high; ++j) {
      const Ball& other = balls_[j];
      const int b = trial_.body_of[index(other.solid)];
      if (begins_[index(a)] == 0 && begins_[index(b)] == 0) continue;
      const double width = std::min(width_[index(one.solid)], width_[index(other.solid)]);
      if (!(ways_[index(a)] + ways_[index(b)] >= kDeepPart * width)) continue;
      const double near = one.radius + other.radius;
      if ((one.middle - other.middle).squaredNorm() > near * near) continue;
      if (!trial_.world.may_touch(a, b)) continue;
      if (!check_pair(std::min(one.solid, other.solid), std::max(one.solid, other.solid))) {
        return false;
      }
    }
  }
  return true;
}

/// Who is apart at the start and comes deep into the other must still go deeper at the middle: then
/// it is put back to where it came from.
template <int D>
bool BodyStarts<D>::check_pair(int a, int b) {
  constexpr int kFewest = 16;
  constexpr int kMost = 65536;
  const auto& one = trial_.world.solid(a);
  const auto& other = trial_.world.solid(b);
  const double width = std::min(width_[index(a)], width_[index(b)]);
  const double way = ways_[index(one.body)] + ways_[index(other.body)];
  const int looks = static_cast<int>(std::clamp(16.0 * way / width, 1.0 * kFewest, 1.0 * kMost));
  double apart = 0.0;
  double before = 0.0;
  double least = std::numeric_limits<double>::infinity();
  int last_clear = 0;
  for (int k = 0; k <= looks; ++k) {
    const double part = static_cast<double>(k) / looks;
    before = apart;
    apart = shape::separation(
        one.shape, body::pose_of(trial_.world.body(one.body), place_at(one.body, part)),
        other.shape, body::pose_of(trial_.world.body(other.body), place_at(other.body, part)));
    if (k == 0 && apart < -0.5 * kDeepPart * width) return true;  // scenes may begin so
    if (apart >= -0.5 * kDeepPart * width && last_clear == k - 1) last_clear = k;
    least = std::min(least, apart);
  }
  if (!(least < -kDeepPart * width) || goes_deeper(before, apart, way / looks)) return true;
  if (is_put_back(a, b)) return true;
  return refuse(a, b, -least, trial_.h * std::max(1, last_clear) / looks);
}

/// Fixed ground has one side, behind which it is solid as far as its rows tell.
template <int D>
bool BodyStarts<D>::is_put_back(int a, int b) {
  const auto& one = trial_.world.solid(a);
  const auto& other = trial_.world.solid(b);
  const auto is_ground = [](const shape::Shape<D>& of) { return of.kind == shape::Kind::Surface; };
  if (!is_ground(one.shape) && !is_ground(other.shape)) return false;
  found_.clear();
  shape::gaps(one.shape, body::pose_of(trial_.world.body(one.body), place_at(one.body, 1.0)),
              other.shape, body::pose_of(trial_.world.body(other.body), place_at(other.body, 1.0)),
              0.0, found_);
  return !found_.empty();
}

template <int D>
bool BodyStarts<D>::refuse(int a, int b, double depth, double step) {
  const int one = trial_.body_of[index(a)];
  const int other = trial_.body_of[index(b)];
  const bool of_a = ways_[index(one)] >= ways_[index(other)];
  trial_.fail_between(Failure::PassedThrough, trial_.before->t, depth, one, other);
  trial_.refusal.broken = fmt::format(
      "'{}' is through '{}' on the way from {} to the first middle, half a step later; it is met "
      "with steps up to {:.3g}",
      trial_.world.body(of_a ? one : other).name, trial_.world.body(of_a ? other : one).name,
      trial_.before->steps == 0 ? "the start" : "a birth", step);
  return false;
}

template class BodyStarts<2>;
template class BodyStarts<3>;

}  // namespace ricochet::certify
