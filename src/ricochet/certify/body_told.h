#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "ricochet/certify/body_islands.h"
#include "ricochet/certify/body_statistics.h"
#include "ricochet/certify/body_trial.h"

namespace ricochet::certify {

/// The smaller of two extents that is not that of a point.
inline double smaller_extent(double a, double b) {
  return a == 0.0 || b == 0.0 ? std::max(a, b) : std::min(a, b);
}

/// Whether a pair pushes that is clearly apart, farther than curvature explains: one whose gap is
/// more than a part of the smaller shape.
inline constexpr double kClear = 0.01;
template <int D>
bool pushes_early(const BodyTrial<D>& trial, const JudgedRow<D>& one) {
  using base::index;
  if (!(one.impulse[0] > 0.0) || !one.law->looks_ahead()) return false;
  return one.row.gap > kClear * smaller_extent(trial.extent[index(one.row.key.a)],
                                               trial.extent[index(one.row.key.b)]);
}

/// What is told of steps that hold, and decides nothing.
template <int D>
class BodyTold {
 public:
  BodyTold(const BodyTrial<D>& trial, BodyIslands<D>& islands);

  BodyStatistics statistics;  // sums so far: means are made by `of`
  CreepCounts creeps;

  void enter(const IslandsFound& found);
  void enter_pushes(long long pushes) {
    pushes_ += pushes;
    statistics.pushes_max = std::max(statistics.pushes_max, pushes);
  }
  /// Who lies deeper in another than it may have come by the step.
  void note_sunk(const SunkPair& found);
  /// Pushes of pairs that never come to touch.
  void note_ghosts();
  /// Whether bodies that rested began to move in a step that leaves open whether they would.
  void watch_rest();
  /// Of so many steps.
  BodyStatistics of(long long steps) const;

 private:
  double least_gap(const JudgedRow<D>& one, double enough) const;
  void mark_islands(double rest);
  void note_ghost(const JudgedRow<D>& one, double size, double gap);

  const BodyTrial<D>& trial_;
  BodyIslands<D>& islands_;
  long long pushes_{0};
  std::vector<char> rest_;    // by body: see watch_rest
  std::vector<char> island_;  // by root, for a moment
};

extern template class BodyTold<2>;
extern template class BodyTold<3>;

}  // namespace ricochet::certify
