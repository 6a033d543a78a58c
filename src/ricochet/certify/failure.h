#pragma once

namespace ricochet::certify {

/// Why a run was stopped; `None` is the only good one.
enum class Failure {
  None,
  ActiveSet,        // a contact said to be active is not, or the other way round
  Residual,         // impulses and velocities do not satisfy the law
  Balance,          // momentum is not balanced
  Kinematics,       // positions do not follow the velocities
  EnergyGain,       // contacts created energy, which their law forbids
  NotFinite,        // NaN or infinity
  Diverged,         // the energy grew tenfold, given by nobody
  Violation,        // a gap went below the limit set for the run
  Infeasible,       // the constraints contradict each other
  Degenerate,       // a gap gradient vanishes where its contact would have to push
  NoSolution,       // the solver gave up
  Law,              // impulses follow another law than the one stated
  Correction,       // a violation correction is not what it says
  SingularMass,     // M(q) is not positive definite
  NoConvergence,    // a fixed point within a step did not settle
  Jammed,           // friction on joints has no load that agrees with their reactions
  BadFriction,      // a coefficient of friction is negative or not finite
  BadRestitution,   // a restitution is not between 0 and 1
  LawEnters,        // an impact law sends the system into a wall: F is not in V
  LawPulls,         // an impact law needs a reaction that is no push: F - u is not in -N
  LawGains,         // an impact law creates energy: |F| > |u|
  Zeno,             // impacts accumulate
  SteppedOver,      // a wall was crossed between the ends of a step
  Derivative,       // a gap, a potential or a mass does not change as its derivatives say
  TooManyEvents,    // before the next row
  LastingFriction,  // on an arc between impacts
  Overlap,          // two bodies overlap that the step does not know of
  PassedThrough,    // two bodies went through each other within a step
};

/// Name in files ("ok", "residual", "energy_gain", ...), one-line meaning, and what to try.
struct FailureText {
  const char* name;
  const char* meaning;
  const char* remedy;
};
FailureText describe(Failure failure);

}  // namespace ricochet::certify
