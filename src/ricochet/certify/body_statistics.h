#pragma once

#include <array>
#include <string>
#include <vector>

#include "ricochet/base/index.h"
#include "ricochet/certify/limits.h"

namespace ricochet::certify {

/// What is told of the contacts of bodies, which have no names.
struct BodyStatistics {
  long long shocks{0};
  long long removed{0};     // bodies that left
  double pushes_mean{0.0};  // rows that push in a step
  long long pushes_max{0};
  long long pairs_checked{0};     // by the judge's own finder, at the last step
  long long projected{0};         // steps whose places were put back
  double deepest{0.0};            // middle, before that [m]
  double shift_max{0.0};          // [m]
  long long ghosts{0};            // steps with pushes of a pair that does not come to touch
  double ghost_gap{0.0};          // by which it stayed apart at most, in sizes of the smaller
  double ghost_time{0.0};         // when that was [s]
  double ghost_share{0.0};        // velocity that one gave, over the largest that either had so far
  double ghost_step{0.0};         // with steps as short there would be none [s]
  std::string ghost_pair;         // who, at ghost_time
  double sunk{0.0};               // bodies in each other, deeper than they come in a step [m]
  double sunk_time{0.0};          // when that was first [s]
  std::string sunk_pair;          // who
  double momentum_defect{0.0};    // of all bodies together, beside what walls and forces gave
  std::array<double, 3> creep{};  // [m/s], not exceeded in 50, 99, 99.9 % of pushes
  Level law{Level::Exact};        // the lowest level that steps were made for
  std::array<double, 3> law_since{};  // [s], by level; that of a lower one
  std::array<long long, 3> steps{};   // by the level they reached
  double creep_limit{0.0};            // [m/s], the largest that a group had in a bounded step
  double creep_mean{0.0};             // [m/s], of the largest of each step
  double way{0.0};                    // [m]: no contact crept farther in all
  double unresolved{0.0};             // work that the law leaves open, sum |F||û| + |r| delta
  std::string where;                  // the pair at which a check failed
  std::string broken;                 // which limit, where it is that of a level
  long long left_rest{0};             // bodies that began to move in steps that are bounded
  double left_time{0.0};              // when the first of them did
  std::string left_first;             // which one
  std::string unseen;                 // what formulas of t do within steps, where that matters
};

/// How many pushes crept at which speed, by tenths of a power of ten.
class CreepCounts {
 public:
  /// The place of a speed [m/s].
  static int place_of(double creep);
  void add(int place) { ++counts_[base::index(place)]; }
  /// Speeds that are not exceeded in 50, 99, 99.9 % of pushes.
  std::array<double, 3> shares() const;

 private:
  static constexpr int kPlaces = 400;
  std::vector<long long> counts_ = std::vector<long long>(kPlaces, 0);
};

}  // namespace ricochet::certify
