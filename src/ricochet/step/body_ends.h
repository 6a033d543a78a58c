#pragma once

#include <vector>

#include "ricochet/certify/body_claim.h"
#include "ricochet/step/body_contacts.h"
#include "ricochet/step/body_step.h"
#include "ricochet/step/sleeping_bodies.h"

namespace ricochet::step {

/// The end of a step: x+ = x_M + h/2 u+, who lies down, and what is claimed.
template <int D>
class BodyEnds {
 public:
  using State = body::WorldState<D>;
  BodyEnds(BodyStep<D>& step, BodyContacts<D>& contacts, const BodyJoints<D>& joints,
           SleepingBodies<D>& sleeping)
      : step_(step),
        contacts_(contacts),
        joints_(joints),
        sleeping_(sleeping),
        needs_gains_(body::needs_gains(step.world)) {}

  void finish(const State& s, State& next, certify::BodyClaim<D>& claim);

 private:
  void end_bodies(State& next);
  void tell_gains(const State& s, State& next);
  void find_struck();
  void end_body(std::size_t body, State& next) const;
  void fly(const body::Motion<D>& from, std::size_t body, body::Motion<D>& next) const;
  void finish_body(std::size_t body, body::Motion<D>& m) const;
  void lie_down_all(State& next);
  bool lie_down(std::size_t body, State& next);
  void list_pushes(std::vector<body::Push<D>>& pushes, std::vector<body::Push<D>>& kept);

  BodyStep<D>& step_;
  BodyContacts<D>& contacts_;
  const BodyJoints<D>& joints_;
  SleepingBodies<D>& sleeping_;
  bool needs_gains_;
  std::vector<char> struck_;         // by body: it was thrown back in the step
  std::vector<char> stays_;          // by body: the step left it where it was, at rest
  std::vector<std::size_t> firsts_;  // by piece of rows: its first push
};

extern template class BodyEnds<2>;
extern template class BodyEnds<3>;

}  // namespace ricochet::step
