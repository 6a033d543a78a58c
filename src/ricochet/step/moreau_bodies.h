#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "ricochet/base/executor.h"
#include "ricochet/body/world.h"
#include "ricochet/certify/body_claim.h"
#include "ricochet/problem/contact.h"
#include "ricochet/problem/report.h"

namespace ricochet::step {

/// Moreau's midpoint step for rigid bodies that find their contacts.
///
/// In the plane it is `moreau` with the mass of bodies: a row with e = 0 is kept from being entered
/// at the next middle, one with e > 0 acts where it touches at this one, and those with e = 0 of a
/// body that meets such a one by the next middle do too. Deviation: where a middle
/// lies more than the slack inside, places are put back by impulses that only push, and the change
/// of potential energy is booked; who is thrown back pays for it, Gains::met. Rows with e > 0 whose
/// bodies come together too slowly to be thrown back land as those with e = 0: OpenRows. One
/// with e = 0 and friction whose blow would be another in two steps waits too: body::Strike.
///
/// In space rotations are those of body/turning.h: R+ = R exp(h (Ω + Ω+)/2), R+ I Ω+ = R I Ω + T,
/// with rows at q_M = (x + h/2 v, R exp(h/2 Ω)) and spins of rows R̄Ω, R̄Ω+, R̄ = R exp(h/4 (Ω + Ω+)):
/// energy and momentum to rounding. Impulses are found with the slope of R̄Ω+ in T, in rounds. On a
/// fixed half-space a row with e = 0 keeps its own gap from being entered at the next middle, not
/// the linear one, and its slip is that of its particle at the end of the step: so that what rolls
/// does so to second order.
template <int D>
class MoreauBodies {
 public:
  using State = body::WorldState<D>;
  MoreauBodies(const body::World<D>& world, const certify::Limits& limits);
  MoreauBodies(const MoreauBodies&) = delete;
  MoreauBodies& operator=(const MoreauBodies&) = delete;
  ~MoreauBodies();

  /// One step of length h; `next` has room for all bodies.
  problem::Report advance(const State& s, double h, State& next, certify::BodyClaim<D>& claim);
  /// What a step from here poses to its solver in its first round, of a world without joints and
  /// rolling friction. The step need not succeed.
  problem::Report capture(const State& s, double h, problem::ContactProblem& contacts);
  /// The next lower level, where the run may have it: for the step that is tried again, and with
  /// what it finds for those after it.
  bool fall();
  /// A step that takes long ends unsolved once this is set.
  void listen(const std::atomic<bool>* stop);
  /// Threads for steps of many bodies, which live as long as they are used; digits do not depend on
  /// their number.
  void use(const base::Executor& executor);

  const std::vector<body::Row<D>>& rows() const;  // of the last step
  /// And of bodies that slept in it.
  const std::vector<body::Row<D>>& rows_asleep() const;
  long long fallbacks() const;
  int islands() const;

 private:
  struct Parts;
  problem::Report attempt(const State& s, State& next, certify::BodyClaim<D>& claim);
  problem::Report find_contacts(const State& s, certify::BodyClaim<D>& claim);
  problem::Report push(const State& s);
  problem::Report solve(const State& s);
  void begin_push(const State& s);
  void free_velocities();

  std::unique_ptr<Parts> parts_;
  certify::Level first_level_;  // of a run that has not fallen
  bool is_told_to_fall_{false};
  bool can_fall_;
};

extern template class MoreauBodies<2>;
extern template class MoreauBodies<3>;

}  // namespace ricochet::step
