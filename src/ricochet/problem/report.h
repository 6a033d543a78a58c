#pragma once

namespace ricochet::problem {

enum class Status {
  Solved,          // to rounding (direct methods) or to the tolerance asked (iterative ones)
  Infeasible,      // the constraints contradict each other: no velocity satisfies them all
  IterationLimit,  // stopped before the end; the solution is the best so far
  Degenerate,      // a contact whose gradient vanishes (or is not finite) would have to push
  SingularMass,    // M(q) is not positive definite
  NoConvergence,   // a fixed point within the step did not settle
  Jammed,          // friction on joints presses them harder than loads of it can follow
  BadFriction,     // a coefficient of friction is negative or not finite
};

/// How a solver fared. Never ignored: the caller decides what a status means for the run.
struct [[nodiscard]] Report {
  Status status{Status::Solved};
  int iterations{0};
  bool unique{true};      // false when W is singular, so that other impulses give the same motion
  bool several{false};    // true where the law of friction has another solution, another motion
  bool shared{false};     // true where another share of the load, and then motion, obeys the law
  bool unlooked{false};   // true where that may be so, of contacts too many to look for it
  bool general{false};    // found by the solver for any number of contacts, not by a direct one
  bool fell_back{false};  // and by `auto`, after sweeps and Newton's method did not do
};

}  // namespace ricochet::problem
