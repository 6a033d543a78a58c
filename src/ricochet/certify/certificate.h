#pragma once

#include <array>
#include <limits>
#include <string>
#include <vector>

#include "ricochet/base/sum.h"

namespace ricochet::certify {

/// Why a run was stopped; `None` is the only good one.
enum class Failure {
  None,
  ActiveSet,       // a contact said to be active is not, or the other way round
  Residual,        // impulses and velocities do not satisfy the law
  Balance,         // momentum is not balanced
  Kinematics,      // positions do not follow the velocities
  EnergyGain,      // contacts created energy, which their law forbids
  NotFinite,       // NaN or infinity
  Diverged,        // T + V grew tenfold without anything to drive it
  Violation,       // a gap went below the limit set for the run
  Infeasible,      // the constraints contradict each other
  Degenerate,      // a gap gradient vanishes where its contact would have to push
  NoSolution,      // the solver gave up
  Law,             // impulses follow another law than the one stated
  Correction,      // a violation correction is not what it says
  SingularMass,    // M(q) is not positive definite
  NoConvergence,   // a fixed point within a step did not settle
  BadFriction,     // a coefficient of friction is negative or not finite
  BadRestitution,  // a restitution is not between 0 and 1
  LawEnters,       // an impact law sends the system into a wall: F is not in V
  LawPulls,        // an impact law needs a reaction that is no push: F - u is not in -N
  LawGains,        // an impact law creates energy: |F| > |u|
  Zeno,            // impacts accumulate
};

/// Name in files ("ok", "residual", "energy_gain", ...), one-line meaning, and what to try.
struct FailureText {
  const char* name;
  const char* meaning;
  const char* remedy;
};
FailureText describe(Failure failure);

/// In place of e: each contact has its own, which the model states.
inline constexpr double kOwnRestitution = -1.0;

/// How much a certificate tolerates. All numbers are written into the summary.
struct Limits {
  double residual{1e-10};   // [-], scale-free residual of one step
  double balance{1e-10};    // [-], momentum and kinematics, relative
  double correction{1e-9};  // [-], of a violation correction, relative
  double growth{10.0};      // [-], of T + V with nothing to drive the motion
  double violation{std::numeric_limits<double>::infinity()};  // [gap]
  double shock_speed{-1.0};             // [gap/s]; < 0: a fraction of the run's largest speed
  double shock_fraction{1e-3};          // [-], that fraction, speeds in the norm sqrt(2 T)
  bool energy_is_watched{true};         // false for a scheme known to drift
  double restitution{kAnyRestitution};  // the law of the contacts, or kOwnRestitution
  static constexpr double kAnyRestitution = -2.0;  // whatever the scheme says
};

/// One shock: positive impulse after at least 3 steps without.
struct Shock {
  double t{0.0};  // [s]
  int contact{0};
  double approach{0.0};    // -U_N before, [gap/s]
  double speed{0.0};       // the same in the kinetic norm: -U_N / sqrt(W)
  double impulse{0.0};     // p of that step
  double work{0.0};        // p (U + U+) / 2, [energy]
  bool tangential{false};  // the contact was held, and the slip jumps: `approach` is that jump
  std::array<double, 2> slip_before{};  // with friction
  std::array<double, 2> slip_after{};
  double friction{0.0};    // the tangential part of work
  double dissipated{0.0};  // -(U_T + U_T+)/2 . R_T
};

/// What a contact with friction did over the run.
struct FrictionRecord {
  double stick_time{0.0};  // [s]
  double slip_time{0.0};   // [s]; the rest of the time it was free
  base::Sum dissipated;    // -(U_T + U_T+)/2 . R_T in steps that are not shocks, [energy]
  long long tangential_shocks{0};
};

/// What a contact with friction does in a step, as trajectories tell it.
enum class ContactState : char { Free = 0, Stick = 1, Slip = 2, Shock = 3 };

/// Where the energy went: kinetic change = forces + contacts + defect.
struct Ledger {
  double kinetic_start{0.0};
  double kinetic_end{0.0};
  double potential_start{0.0};
  double potential_end{0.0};
  base::Sum forces;         // h (u + u+)/2 . Q
  base::Sum contacts;       // (u + u+)/2 . J^T p, all of it
  base::Sum shocks;         // the part of it in steps that are shocks
  base::Sum tangential;     // the tangential part of it
  base::Sum friction;       // the tangential part in steps that are not shocks
  base::Sum gain;           // energy created by a law that allows it: part of contacts
  base::Sum joints;         // the same of joints
  base::Sum explicit_gain;  // by forces in u that oppose u at the start of a step: part of forces
  base::Sum defect;         // what does not add up: rounding, for a constant mass
  double defect_max{0.0};
  base::Sum correction;  // change of V by violation corrections
  double kinetic_max{0.0};
  double lowest{0.0};  // of T + V over the run
  double highest{0.0};
};

/// Everything a run can prove about itself; filled step by step by a `Judge`.
struct Certificate {
  Failure failure{Failure::None};
  double failure_time{0.0};
  int failure_contact{-1};
  double failure_value{0.0};  // the number that broke the limit

  long long steps{0};
  double residual_max{0.0};
  double residual_time{0.0};
  double residual_sum{0.0};
  double balance_max{0.0};
  double violation_max{0.0};  // [gap]
  int violation_contact{-1};
  double violation_time{0.0};
  double violation_sum{0.0};
  double violation_squares{0.0};
  double violation_depth{0.0};   // the largest violation over |dg/dq|: how deep, as a length
  double joint_max{0.0};         // largest |g| of a joint at an output time
  long long coupled_impacts{0};  // of several contacts at once, e > 0, W not diagonal
  double coupled_time{0.0};      // of the first
  double zeno_time{0.0};         // where impacts accumulate, of the last accumulation
  long long zeno_count{0};
  long long adhesive_count{0};  // impulses that pull
  double adhesive_max{0.0};
  bool impulses_unique{true};
  Ledger ledger;

  std::vector<FrictionRecord> friction;  // by contact; empty without friction
  std::vector<long long> shock_counts;   // by contact
  std::vector<Shock> shocks;             // the first kMostShocks
  bool shocks_cut{false};
  double shock_threshold{0.0};  // what counted at the end, see Limits
  static constexpr std::size_t kMostShocks = 1000;

  bool ok() const { return failure == Failure::None; }
  double residual_mean() const { return mean(residual_sum); }
  double violation_mean() const { return mean(violation_sum); }
  double violation_rms() const;

 private:
  double mean(double sum) const { return steps > 0 ? sum / static_cast<double>(steps) : 0.0; }
};

/// "residual at t = 0.3: impulses and velocities do not ...", of one that failed.
std::string describe_failure(const Certificate& certificate);

}  // namespace ricochet::certify
