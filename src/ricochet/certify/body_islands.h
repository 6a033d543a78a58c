#pragma once

#include <vector>

#include "ricochet/certify/body_joints.h"
#include "ricochet/certify/body_trial.h"
#include "ricochet/certify/still_bodies.h"

namespace ricochet::certify {

/// What a step reaches, of all its islands.
struct IslandsFound {
  Level level{Level::Exact};
  double worst{0.0};       // scale-free residual
  double creep{0.0};       // the largest [m/s]
  double widest{0.0};      // the largest limit of it [m/s]
  double unresolved{0.0};  // work that the law leaves open
};

/// Residuals of rows have one scale in an island, bodies that push each other or are joined; and
/// limits of creep one in a group, bodies that touch as they move, whatever is claimed to push.
template <int D>
class BodyIslands {
 public:
  static constexpr double kTight = 1e-6;       // residual of Level::Tight
  static constexpr double kTightSpeed = 1e-8;  // and its speeds, of free velocities

  BodyIslands(BodyTrial<D>& trial, const StillBodies<D>& still, const JointCourt<D>& joints)
      : trial_(trial),
        still_(still),
        joints_(joints),
        groups_(trial.facts.size()),
        scale_(trial.facts.size()) {}

  /// Whether all rows are within the level that the step is made for. `fastest`: of rows that
  /// close, how fast they come [m/s].
  bool check(const BodyClaim<D>& claim, double fastest);
  const IslandsFound& found() const { return found_; }
  // After `check`, the island of a body, by the number of one that stands for it:
  std::size_t at(int body) { return groups_.at(body); }
  double scale_at(std::size_t island) const { return scale_[island]; }

 private:
  void find_limits(double fastest);
  void find_scales(const BodyClaim<D>& claim);
  struct Sums;
  Sums sum_up();
  bool refuse(const Sums& sums);

  BodyTrial<D>& trial_;
  const StillBodies<D>& still_;
  const JointCourt<D>& joints_;
  BodyGroups groups_;
  std::vector<double> scale_;  // by root
  IslandsFound found_;
};

extern template class BodyIslands<2>;
extern template class BodyIslands<3>;

}  // namespace ricochet::certify
