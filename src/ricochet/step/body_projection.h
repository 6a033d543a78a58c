#pragma once

#include <vector>

#include "ricochet/certify/body_claim.h"
#include "ricochet/problem/report.h"
#include "ricochet/step/body_contacts.h"
#include "ricochet/step/body_neighbours.h"
#include "ricochet/step/body_step.h"

namespace ricochet::step {

/// The unilateral projection: min ½ d.M d with g + J d >= -slack/2 for what is deeper than the
/// slack, and nothing near pushed in for it; joints are put where they hold. Rounds, as gaps are
/// not linear.
template <int D>
class BodyProjection {
 public:
  BodyProjection(BodyStep<D>& step, BodyNeighbours<D>& neighbours, BodyContacts<D>& contacts,
                 BodyJoints<D>& joints, const SleepingBodies<D>& sleeping)
      : step_(step),
        neighbours_(neighbours),
        contacts_(contacts),
        joints_(joints),
        sleeping_(sleeping) {
    for (const body::PairLaw& law : step.world.laws) any_back_ = any_back_ || !law.looks_ahead();
    for (const body::Joint<D>& joint : step.world.joints) {
      any_back_ = any_back_ || (joint.has_limits && joint.restitution > 0.0);
    }
  }

  /// Puts middles back where they are deep; the step's rows are then those of the new places.
  problem::Report put_back(certify::BodyClaim<D>& claim);

 private:
  double depth() const;
  void note_touching();
  void begin_round(double depth);
  problem::Report solve();
  void hold_shift();
  void set_ease();
  void drop_rounding();
  void note_put(certify::BodyClaim<D>& claim);
  void shift_bodies();
  void turn_start(std::size_t body, const body::Spin<D>& by);

  BodyStep<D>& step_;
  BodyNeighbours<D>& neighbours_;
  BodyContacts<D>& contacts_;
  BodyJoints<D>& joints_;
  const SleepingBodies<D>& sleeping_;
  bool any_back_{false};                // some pairs or limits have e > 0
  std::vector<body::Motion<D>> shift_;  // by which places are put back, as velocities
};

extern template class BodyProjection<2>;
extern template class BodyProjection<3>;

}  // namespace ricochet::step
