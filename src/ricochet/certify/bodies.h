#pragma once

#include <memory>

#include "ricochet/base/executor.h"
#include "ricochet/body/world.h"
#include "ricochet/certify/body_claim.h"
#include "ricochet/certify/body_statistics.h"
#include "ricochet/certify/certificate.h"

namespace ricochet::certify {

/// Checks steps of bodies from their definition: own middles, own pairs, own rows. Each of its
/// parts, in a file of its own, checks one thing and knows what it is handed; `check` in bodies.cpp
/// is the list of them.
template <int D>
class BodyJudge {
 public:
  using State = body::WorldState<D>;
  BodyJudge(const body::World<D>& world, const Limits& limits, const State& start);
  BodyJudge(const BodyJudge&) = delete;
  BodyJudge& operator=(const BodyJudge&) = delete;
  ~BodyJudge();

  /// False when the step does not hold what it claims; then nothing is entered but the failure.
  bool accept(const State& before, const State& after, double h, const BodyClaim<D>& claim);
  void fail(Failure failure, double t, double value = 0.0);
  /// Threads for worlds of many bodies, which live as long as they are used; what is found does not
  /// depend on their number.
  void use(const base::Executor& executor);
  /// Forgets a failure: the step is made anew at a lower level.
  void reconsider();

  const Certificate& certificate() const;
  BodyStatistics statistics() const;
  double kinetic(const State& s) const;
  double potential(const State& s) const;

 private:
  struct Parts;
  bool check(const BodyClaim<D>& claim);
  bool check_level();
  bool check_joints(const BodyClaim<D>& claim);
  bool check_depth(double before, bool is_put_back);
  void enter_residuals();
  void enter(const BodyClaim<D>& claim);
  void take_refusal();

  std::unique_ptr<Parts> parts_;
};

extern template class BodyJudge<2>;
extern template class BodyJudge<3>;

}  // namespace ricochet::certify
