#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ricochet/study/trace.h"

namespace ricochet::study {

/// What a run tells of its events, as it is held against another one of the same scene.
struct TracedRun {
  step::Outcome outcome;
  Phases phases;
  std::optional<NearMisses::Miss> miss;  // the first
  std::vector<double> bends;             // [gap/s] by contact, see NearMisses
  std::string doubt;                     // what steps do not see of restitution or of walls
  std::optional<Turns::Turn> turn;       // the last slide that turned round
  std::vector<double> releases;          // [s], of contacts that end where they are told to
  double start{0.0};                     // [s]
  double length{0.0};                    // [s] of the whole run, which may go into the past
  double speed{0.0};                     // the largest, as those of shocks are measured
  double step{0.0};        // [s]: shocks nearer than a few of these cannot be told apart
  double phase_step{0.0};  // [s]: nor phases shorter than a few of these
  double quantum{0.0};  // [s] to which the time of an event is known: a step, 0 where it is found
  bool finds_times{false};  // by roots, to rounding
  double order{1.0};        // the highest with which errors may fall between events
  double least_order{1.0};  // with events too
};

/// The first shock, or change between sticking and sliding, that one run has and the other has not.
struct EventDifference {
  double t{0.0};  // [s] from the start of the run
  int contact{0};
  std::string what;  // "is struck", "sticks", "slides"
};

/// What two runs do alike, and the first thing they do not.
struct EventMatch {
  struct Pair {
    double t{0.0};      // [s] from the start, in the run
    double later{0.0};  // [s], by which the other one comes later
  };
  std::vector<Pair> pairs;  // shocks, in the order of time
  std::optional<EventDifference> difference;
};

/// Matches shocks and phases of sticking and sliding, contact by contact and in order.
///
/// Steps cannot tell everything: a shock that is weak, or follows another
/// one of its contact within a few steps, may be missing in one run, and so may a phase of a few
/// steps. So a chatter that ends in rest is matched by its first shocks, down to where they are
/// weak or close, and what follows is the rest.
EventMatch match_events(const TracedRun& run, const TracedRun& other);

}  // namespace ricochet::study
