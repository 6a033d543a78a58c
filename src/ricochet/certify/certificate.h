#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "ricochet/base/sum.h"
#include "ricochet/certify/failure.h"
#include "ricochet/certify/limits.h"

namespace ricochet::certify {

/// What decides the verdict: the first check that failed, and for those that did not how near the
/// run came to their limits.
struct Proof {
  Failure failure{Failure::None};
  double failure_time{0.0};
  int failure_contact{-1};
  double failure_value{0.0};  // the number that broke the limit

  long long steps{0};  // that hold
  double residual_max{0.0};
  double residual_time{0.0};
  double creep_max{0.0};  // [gap/s], the largest residual as a speed against the law
  double balance_max{0.0};
  double arc_max{0.0};        // the same of arcs between impacts that were located
  double arc_limit{0.0};      // for which the scene states the accuracy; 0: there are no arcs
  double violation_max{0.0};  // [gap]
  int violation_contact{-1};
  double violation_time{0.0};
  double violation_depth{0.0};  // the largest violation over |dg/dq|: how deep, as a length
  double joint_max{0.0};        // largest |g| of a joint at an output time
  double roll_max{0.0};         // and |v| of a velocity kept at 0, at the end of a step

  bool ok() const { return failure == Failure::None; }
  bool operator==(const Proof&) const = default;
};

/// One shock: positive impulse after at least 3 steps without, or through other contacts.
struct Shock {
  double t{0.0};  // [s]
  int contact{0};
  double approach{0.0};     // -U_N before, [gap/s]
  double speed{0.0};        // the same in the kinetic norm: -U_N / sqrt(W)
  double impulse{0.0};      // p of that step
  double work{0.0};         // p (U + U+) / 2, [energy]
  bool tangential{false};   // the contact was held, and the slip jumps: `approach` is that jump
  bool transmitted{false};  // it did not approach, but was struck through others: `speed` is p √W
  std::array<double, 2> slip_before{};  // with friction
  std::array<double, 2> slip_after{};
  double friction{0.0};    // the tangential part of work
  double dissipated{0.0};  // -(U_T + U_T+)/2 . R_T

  bool operator==(const Shock&) const = default;
};

/// What a contact with friction did over the run.
struct FrictionRecord {
  double stick_time{0.0};  // [s]
  double slip_time{0.0};   // [s]; the rest of the time it was free
  base::Sum dissipated;    // -(U_T + U_T+)/2 . R_T, in shocks too, [energy]
  long long tangential_shocks{0};

  bool operator==(const FrictionRecord&) const = default;
};

/// What a contact with friction does in a step, as trajectories tell it.
enum class ContactState : char { Free = 0, Stick = 1, Slip = 2, Shock = 3 };

/// Where the energy went: kinetic change = forces + contacts + joints + defect.
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
  // Of linear structures: change of T + V = loads + damping + contacts + closure.
  base::Sum loads;
  base::Sum damping;  // <= 0
  base::Sum elastic;  // work of -K q: the change of -V, but for what the scheme loses
  base::Sum closure;  // rounding, where K is taken at the mean
  double closure_max{0.0};
  double kinetic_max{0.0};
  double lowest{0.0};  // of T + V over the run
  double highest{0.0};

  void merge(const Ledger& later);
  bool operator==(const Ledger&) const = default;
};

/// What the scheme itself gave to a coordinate: its work of forces less that along the way.
struct OwnWork {
  double given{0.0};    // [energy]
  double kinetic{0.0};  // u_i (M u)_i / 2 at its largest

  bool operator==(const OwnWork&) const = default;
};

/// What is reported and decides nothing.
struct Statistics {
  Statistics();
  Statistics(const Statistics& other);
  Statistics(Statistics&& other) noexcept;
  Statistics& operator=(const Statistics& other);
  Statistics& operator=(Statistics&& other) noexcept;
  ~Statistics();

  double residual_sum{0.0};
  double violation_sum{0.0};
  double violation_squares{0.0};
  double lost_displacement{0.0};  // [-], the part of a coordinate's way that rounding swallowed
  long long coupled_impacts{0};   // of several contacts at once, e > 0, W not diagonal
  long long acute_impacts{0};     // the same with e = 0 and an entry of W > 0 beside the diagonal
  double coupled_time{0.0};       // of the first
  double acute_time{0.0};
  double zeno_time{0.0};  // where impacts accumulate, of the last accumulation
  long long zeno_count{0};
  long long undecided_crossings{0};  // steps that may have passed over a wall
  double undecided_time{0.0};        // of the first
  long long adhesive_count{0};       // impulses that pull
  double adhesive_max{0.0};
  bool impulses_unique{true};
  double balance_rounding{0.0};  // what rounding of K q may hide in the balance, at its largest
  double average_gap{std::numeric_limits<double>::infinity()};  // least, of mean positions
  double average_allowed{0.0};  // rounding of that gap, at its largest
  Ledger ledger;
  std::vector<OwnWork> own;  // where limits ask for it: by coordinate, or of all where M varies

  std::vector<FrictionRecord> friction;  // by contact; empty without friction
  std::vector<long long> shock_counts;   // by contact
  std::vector<Shock> shocks;             // the first kMostShocks
  bool shocks_cut{false};                // there were more
  double shock_threshold{0.0};           // what counts at the end, see Limits
  static constexpr std::size_t kMostShocks = 1000;

  void enter(const Shock& shock);

  bool operator==(const Statistics&) const = default;
};

/// Everything a run can prove and tell of itself; filled step by step by a `Judge`.
struct Certificate : Proof, Statistics {
  double residual_mean() const { return mean(residual_sum); }
  double violation_mean() const { return mean(violation_sum); }
  double violation_rms() const;

  /// Adds what a judge found who went on where this one ended. Associative: exactly in what decides
  /// the verdict, to rounding in sums, and as long as the list of shocks is not cut.
  void merge(const Certificate& later);

  bool operator==(const Certificate&) const = default;

 private:
  double mean(double sum) const { return steps > 0 ? sum / static_cast<double>(steps) : 0.0; }
};

/// "residual at t = 0.3: impulses and velocities do not ...", of one that failed.
std::string describe_failure(const Certificate& certificate);

}  // namespace ricochet::certify
