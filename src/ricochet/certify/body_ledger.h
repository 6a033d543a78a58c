#pragma once

#include "ricochet/certify/body_balance.h"
#include "ricochet/certify/body_joints.h"
#include "ricochet/certify/body_told.h"
#include "ricochet/certify/body_trial.h"
#include "ricochet/certify/certificate.h"
#include "ricochet/certify/still_bodies.h"

namespace ricochet::certify {

/// Where the energy of bodies went: dT = h m g . (v + v+)/2 + sum p . (U + U+)/2 + what driven
/// bodies and joints give.
template <int D>
class BodyLedger {
 public:
  using State = body::WorldState<D>;
  BodyLedger(BodyTrial<D>& trial, const StillBodies<D>& still, const JointCourt<D>& joints,
             Certificate& certificate, BodyTold<D>& told)
      : trial_(trial), still_(still), joints_(joints), c_(certificate), told_(told) {}

  void begin(const State& start);
  /// Enters a step that holds; refuses it where its contacts create energy.
  void enter(const BodyClaim<D>& claim, const BodySums& sums);
  double kinetic(const State& s) const;
  double potential(const State& s) const;

 private:
  using Works = typename JointCourt<D>::Works;
  Works enter_joints(const BodyClaim<D>& claim);
  void enter_works(const Works& joints);
  void enter_walls();
  void enter_corrections();
  void enter_energies(const BodySums& sums);
  double shock_threshold() const;

  BodyTrial<D>& trial_;
  const StillBodies<D>& still_;
  const JointCourt<D>& joints_;
  Certificate& c_;
  BodyTold<D>& told_;
  double speed_max_{0.0};  // so far
};

extern template class BodyLedger<2>;
extern template class BodyLedger<3>;

}  // namespace ricochet::certify
