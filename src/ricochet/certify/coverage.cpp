#include "ricochet/certify/coverage.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ricochet/base/index.h"

namespace ricochet::certify {
namespace {

constexpr double kGrown = 0.1;               // of the extent, by which balls are larger
constexpr double kMostGrown = 10.0;          // extents: no ball is larger by more
constexpr double kPlaces = 1e-9;             // what rounding makes of them, at most
constexpr std::size_t kTogether = 24;        // balls that are tried with each other
constexpr int kDeepest = 60;                 // halvings
constexpr std::size_t kBallsInPiece = 2048;  // balls or pairs that one thread looks at

}  // namespace

using base::index;

template <int D>
Coverage<D>::Coverage(const body::World<D>& world)
    : world_(world), balls_(world.solids.size()), large_(world.solids.size()) {
  double sum = 0.0;
  for (int k = 0; k < static_cast<int>(world.solids.size()); ++k) {
    const body::Solid<D>& solid = world.solid(k);
    extent_.push_back(solid.shape.extent);
    body_.push_back(solid.body);
    ground_of_.push_back(-1);
    const bool has_end = std::isfinite(solid.shape.extent);
    const bool is_ground = !has_end && solid.shape.kind == shape::Kind::HalfSpace &&
                           world.body(solid.body).kind == body::Kind::Fixed;
    if (has_end) sum += 1.0 / std::max(solid.shape.extent, 1e-300);
    if (has_end) ends_.push_back(k);
    if (!has_end && !is_ground) endless_.push_back(k);  // one that turns reaches far
    if (!is_ground) continue;
    ground_of_.back() = static_cast<int>(grounds_.size());
    grounds_.emplace_back().solid = k;
  }
  typical_ = ends_.empty() ? 0.0 : static_cast<double>(ends_.size()) / sum;
}

/// work(k, piece) for all k, in pieces that do not depend on threads; how many they are.
template <int D>
template <class Work>
std::size_t Coverage<D>::in_pieces(std::size_t count, const Work& work) {
  static const base::Executor kNone;
  const base::Pieces range{count, kBallsInPiece};
  if (pieces_.size() < range.count()) pieces_.resize(range.count());
  base::each(executor_ != nullptr ? *executor_ : kNone, range.count(), [&](std::size_t p) {
    Piece& piece = pieces_[p];
    piece.sum.setZero();
    piece.count = 0.0;
    piece.within = true;
    piece.pairs.clear();
    for (std::size_t k = range.begin(p); k < range.end(p); ++k) work(k, piece);
  });
  return range.count();
}

/// Whether the ball of every shape is within its larger one; who is not there has none, half < 0.
template <int D>
bool Coverage<D>::holds(const std::vector<char>& exists) {
  drift_ = mean_ + change_;
  const std::size_t pieces = in_pieces(
      ends_.size(), [&](std::size_t k, Piece& piece) { look_at_ball(ends_[k], exists, piece); });
  Vec sum = Vec::Zero();
  double count = 0.0;
  bool within = true;
  for (std::size_t p = 0; p < pieces; ++p) {
    sum += pieces_[p].sum;
    count += pieces_[p].count;
    within = within && pieces_[p].within;
  }
  const Vec mean = sum / std::max(1.0, count);
  change_ = mean - mean_;
  mean_ = mean;
  return is_searched_ && within && mean.allFinite();
}

template <int D>
void Coverage<D>::look_at_ball(int k, const std::vector<char>& exists, Piece& piece) {
  Ball& ball = balls_[index(k)];
  if (exists[index(body_[index(k)])] == 0) {
    ball.half = -1.0;
    return;
  }
  const Ball& large = large_[index(k)];
  const Vec moved = ball.middle - large.middle;
  const double room = large.half - ball.half;
  piece.within = piece.within && room >= 0.0 && (moved - drift_).squaredNorm() <= room * room;
  piece.sum += moved;
  piece.count += 1.0;
}

/// Of those that are near, pairs whose balls meet.
template <int D>
void Coverage<D>::list_pairs(const std::vector<char>& exists) {
  const std::size_t pieces = in_pieces(near_.size(), [&](std::size_t k, Piece& piece) {
    const auto& [a, b] = near_[k];
    if (exists[index(body_[index(a)])] == 0 || exists[index(body_[index(b)])] == 0) return;
    if (meets(a, b)) piece.pairs.emplace_back(a, b);
  });
  pairs_.clear();
  for (std::size_t p = 0; p < pieces; ++p) {
    pairs_.insert(pairs_.end(), pieces_[p].pairs.begin(), pieces_[p].pairs.end());
  }
}

/// Larger balls: by a part of their extent, and by the way that a ball made beside the mean, for as
/// long as the search should hold.
template <int D>
void Coverage<D>::choose_balls() {
  constexpr int kShortest = 2;
  constexpr int kLongest = 64;
  const std::size_t each = found_.size() / std::max<std::size_t>(1, ends_.size());
  if (is_searched_ && each > 12) wanted_ = std::max(kShortest, wanted_ / 2);
  if (is_searched_ && each < 4) wanted_ = std::min(kLongest, 2 * wanted_);
  const double longer = is_searched_ && held_ > 0 ? static_cast<double>(wanted_) / held_ : 0.0;
  for (const int k : ends_) {
    const Ball& ball = balls_[index(k)];
    Ball& large = large_[index(k)];
    const double most = kMostGrown * std::max(typical_, ball.half);
    const bool was_there = large.half >= 0.0;
    const double way = was_there ? longer * (ball.middle - large.middle - mean_).norm() : 0.0;
    large = ball;
    if (ball.half < 0.0) continue;
    large.half = ball.half + kGrown * std::min(typical_, ball.half) + (way < most ? way : most) +
                 kPlaces * ball.middle.template lpNorm<1>();
  }
}

template <int D>
void Coverage<D>::renew() {
  choose_balls();
  found_.clear();
  items_.clear();
  for (const int k : ends_) {
    if (large_[index(k)].half >= 0.0) items_.push_back(k);
  }
  const Vec all = Vec::Constant(std::numeric_limits<double>::infinity());
  halve(0, items_.size(), {-all, all}, 0);
  drift_.setZero();
  mean_.setZero();
  if (!is_searched_ || !change_.allFinite()) change_.setZero();
  is_searched_ = true;
  held_ = 0;
  list_near();
}

/// Items of a cell in two: those that begin below the cut, and those that end above it; some are
/// both. At the end of items_, each half by itself.
template <int D>
void Coverage<D>::halve(std::size_t begin, std::size_t end, const Cell& cell, int depth) {
  double at = 0.0;
  const int axis = end - begin <= kTogether || depth == kDeepest ? -1 : choose_cut(begin, end, at);
  if (axis < 0) {
    try_all(begin, end, cell);
    return;
  }
  for (const bool is_lower : {true, false}) {
    Cell half = cell;
    (is_lower ? half.high : half.low)[axis] = at;
    for (std::size_t i = begin; i < end; ++i) {
      const int k = items_[i];
      const Ball& ball = large_[index(k)];
      const bool is_in =
          is_lower ? ball.middle[axis] - ball.half < at : ball.middle[axis] + ball.half >= at;
      if (is_in) items_.push_back(k);
    }
    halve(end, items_.size(), half, depth + 1);
    items_.resize(end);
  }
}

/// The axis along which middles are widest apart, of those that can be cut; -1 where none can.
template <int D>
int Coverage<D>::choose_cut(std::size_t begin, std::size_t end, double& at) {
  Vec low = large_[index(items_[begin])].middle;
  Vec high = low;
  for (std::size_t i = begin; i < end; ++i) {
    low = low.cwiseMin(large_[index(items_[i])].middle);
    high = high.cwiseMax(large_[index(items_[i])].middle);
  }
  Vec width = high - low;
  for (int k = 0; k < D; ++k) {
    int axis = 0;
    width.maxCoeff(&axis);
    if (cut(begin, end, axis, at)) return axis;
    width[axis] = -1.0;
  }
  return -1;
}

/// Where an axis is cut, at the median; false where that leaves most on one side.
template <int D>
bool Coverage<D>::cut(std::size_t begin, std::size_t end, int axis, double& at) {
  values_.clear();
  for (std::size_t i = begin; i < end; ++i) {
    values_.push_back(large_[index(items_[i])].middle[axis]);
  }
  const auto median = values_.begin() + static_cast<std::ptrdiff_t>(values_.size() / 2);
  std::nth_element(values_.begin(), median, values_.end());
  at = *median;
  std::size_t lower = 0;
  std::size_t upper = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const Ball& ball = large_[index(items_[i])];
    lower += ball.middle[axis] - ball.half < at ? 1 : 0;
    upper += ball.middle[axis] + ball.half >= at ? 1 : 0;
  }
  return 4 * std::max(lower, upper) <= 3 * (end - begin);
}

/// The lowest corner that the boxes of two balls share is in one cell only, and both are there.
template <int D>
void Coverage<D>::try_all(std::size_t begin, std::size_t end, const Cell& cell) {
  for (std::size_t i = begin; i < end; ++i) {
    const Ball& one = large_[index(items_[i])];
    for (std::size_t j = i + 1; j < end; ++j) {
      const Ball& other = large_[index(items_[j])];
      const double near = one.half + other.half;
      if (!((one.middle - other.middle).squaredNorm() <= near * near)) continue;
      const Vec corner = (one.middle.array() - one.half).max(other.middle.array() - other.half);
      const bool is_here =
          (corner.array() >= cell.low.array()).all() && (corner.array() < cell.high.array()).all();
      if (is_here) add(items_[i], items_[j], found_);
    }
  }
}

template <int D>
void Coverage<D>::add(int a, int b, std::vector<Pair>& pairs) const {
  if (!world_.may_touch(body_[index(a)], body_[index(b)])) return;
  pairs.emplace_back(std::min(a, b), std::max(a, b));
}

template <int D>
void Coverage<D>::place_grounds(const std::vector<shape::Pose<D>>& poses,
                                const std::vector<double>& reach) {
  for (Ground& ground : grounds_) {
    const body::Solid<D>& solid = world_.solid(ground.solid);
    const shape::Pose<D>& pose = poses[index(solid.body)];
    const Vec point = pose.place(solid.shape.corners[0]);
    const Vec normal = pose.R * solid.shape.faces[0].normal;
    if (point != ground.point || normal != ground.normal) knows_grounds_ = false;
    ground.point = point;
    ground.normal = normal;
    ground.near = 1.0001 * (reach[index(solid.body)] + solid.shape.round) + kPlaces * point.norm();
  }
}

template <int D>
double Coverage<D>::height_of(const Ground& ground, const Ball& ball) {
  return ground.normal.dot(ball.middle - ground.point) - ball.half - kPlaces * ball.middle.norm();
}

template <int D>
bool Coverage<D>::grounds_hold() const {
  return knows_grounds_ && std::all_of(grounds_.begin(), grounds_.end(), [&](const Ground& ground) {
           return ground.above + ground.normal.dot(drift_) - kPlaces * drift_.norm() > ground.near;
         });
}

/// All pairs of the search, with each ground the balls that may come to it before long.
template <int D>
void Coverage<D>::list_near() {
  near_ = found_;
  for (Ground& ground : grounds_) {
    const double way = ground.normal.dot(drift_) - kPlaces * drift_.norm();
    const double soon = 0.25 * typical_ + 16.0 * std::abs(ground.normal.dot(change_));
    ground.above = std::numeric_limits<double>::infinity();
    for (const int k : ends_) {
      if (large_[index(k)].half < 0.0) continue;
      const double height = height_of(ground, large_[index(k)]);
      if (height + way > ground.near + soon) {
        ground.above = std::min(ground.above, height);
      } else {
        add(k, ground.solid, near_);
      }
    }
  }
  for (const int k : endless_) {
    for (const int other : ends_) {
      if (large_[index(other)].half >= 0.0) add(k, other, near_);
    }
  }
  std::sort(near_.begin(), near_.end());
  knows_grounds_ = true;
}

/// Whether the balls of a pair that is near meet now.
template <int D>
bool Coverage<D>::meets(int a, int b) const {
  const int ground = std::max(ground_of_[index(a)], ground_of_[index(b)]);
  const Ball& one = balls_[index(a)];
  const Ball& other = balls_[index(b)];
  if (ground >= 0) {
    const Ground& its = grounds_[index(ground)];
    return !(height_of(its, its.solid == a ? other : one) > its.near);
  }
  if (!std::isfinite(extent_[index(a)]) || !std::isfinite(extent_[index(b)])) return true;
  const double near = one.half + other.half;
  return (one.middle - other.middle).squaredNorm() <= near * near;
}

template <int D>
const std::vector<std::pair<int, int>>& Coverage<D>::meet(const std::vector<shape::Pose<D>>& poses,
                                                          const std::vector<char>& exists,
                                                          const std::vector<double>& reach) {
  place_grounds(poses, reach);
  if (!holds(exists)) {
    renew();
  } else if (!grounds_hold()) {
    list_near();
  }
  ++held_;
  list_pairs(exists);
  return pairs_;
}

template <int D>
const std::vector<std::pair<int, int>>& Coverage<D>::pairs(const std::vector<shape::Pose<D>>& poses,
                                                           const std::vector<char>& exists,
                                                           const std::vector<double>& reach) {
  for (const int k : ends_) {
    const std::size_t body = index(body_[index(k)]);
    set_ball(index(k), poses[body].place(world_.solid(k).shape.centre), reach[body]);
  }
  return meet(poses, exists, reach);
}

template class Coverage<2>;
template class Coverage<3>;

}  // namespace ricochet::certify
