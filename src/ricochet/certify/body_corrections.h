#pragma once

#include <vector>

#include "ricochet/certify/body_joints.h"
#include "ricochet/certify/body_motion.h"
#include "ricochet/certify/body_trial.h"

namespace ricochet::certify {

/// How places were put back at the middle of a step, made again from the weights that are claimed.
template <int D>
class BodyCorrections {
 public:
  BodyCorrections(BodyTrial<D>& trial, BodyMotions<D>& motions, JointCourt<D>& joints)
      : trial_(trial), motions_(motions), joints_(joints) {}

  /// That nobody who is put back has been born inside another.
  bool check_births(const BodyClaim<D>& claim);
  /// All rounds of the projection; who is put back is listed in the trial.
  bool replay(const BodyClaim<D>& claim);
  /// How deep the middle lies before that, at pairs that were put back; 0 without any.
  double depth_before(const BodyClaim<D>& claim);
  /// Who of these lies deeper than it may have come by this step.
  const SunkPair& sunk() const { return sunk_; }

 private:
  using Round = std::vector<body::Push<D>>;
  using Weights = std::vector<body::Reaction<D>>;
  bool replay_round(const Round& round, const Weights* joints);
  bool add_push(const body::Push<D>& push, double& deepest);
  bool replay_joints(const Weights& weights, bool& is_needed);
  bool check_ends(double deepest);
  void shift_bodies();
  bool check_shifts();
  double gap_of(const body::Push<D>& push, body::Vec<D>& normal, body::Vec<D>& on_a,
                body::Vec<D>& on_b) const;

  BodyTrial<D>& trial_;
  BodyMotions<D>& motions_;
  JointCourt<D>& joints_;
  SunkPair sunk_;
  std::vector<body::Row<D>> rows_;  // of a round
  std::vector<body::Motion<D>> moved_;
};

extern template class BodyCorrections<2>;
extern template class BodyCorrections<3>;

}  // namespace ricochet::certify
