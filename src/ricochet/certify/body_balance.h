#pragma once

#include "ricochet/base/sum.h"
#include "ricochet/body/shares.h"
#include "ricochet/certify/body_joints.h"
#include "ricochet/certify/body_trial.h"
#include "ricochet/certify/still_bodies.h"

namespace ricochet::certify {

/// Of a step, by free bodies, for the ledger.
struct BodySums {
  base::Sum kinetic;
  base::Sum potential;
  base::Sum forces;  // work of gravity
  double fastest{0.0};
  long long removed{0};
};

/// Momentum and places, body by body: m (v+ - v) = h m g + sum p, the same of moments, and
/// x+ = x_M + h/2 v+.
template <int D>
class BodyBalance {
 public:
  BodyBalance(BodyTrial<D>& trial, const StillBodies<D>& still, const JointCourt<D>& joints)
      : trial_(trial), still_(still), joints_(joints) {}

  bool check(const BodyClaim<D>& claim);
  double worst() const { return worst_; }  // relative
  const BodySums& sums() const { return sums_; }

 private:
  struct Piece {
    BodyFault fault;
    BodySums sums;
    double worst{0.0};
    void clear() { *this = {}; }
  };
  struct Speeds {  // of a free body, before and after together
    double v{0.0};
    double spin{0.0};
  };
  void find_given(const BodyClaim<D>& claim);
  void add_given(const JudgedRow<D>& one, const body::Share& share);
  BodyFault check_body(std::size_t body, Piece& piece) const;
  BodyFault check_unmoved(std::size_t body) const;
  BodyFault check_momentum(std::size_t body, const Speeds& speeds, double& found) const;
  bool gained(std::size_t body) const;
  double rounding_of_momentum(std::size_t i, const Speeds& speeds) const;
  double rounding_of_moment(std::size_t body) const;
  BodyFault check_position(std::size_t body, const Speeds& speeds) const;
  void add_up(std::size_t body, BodySums& sums) const;
  void sum_up();
  bool check_energies();

  BodyTrial<D>& trial_;
  const StillBodies<D>& still_;
  const JointCourt<D>& joints_;
  BodyPieces<Piece> pieces_;
  BodySums sums_;
  double worst_{0.0};
};

extern template class BodyBalance<2>;
extern template class BodyBalance<3>;

}  // namespace ricochet::certify
