#pragma once

#include <atomic>
#include <functional>
#include <span>
#include <vector>

#include "ricochet/base/executor.h"
#include "ricochet/certify/event_watch.h"

namespace ricochet::step {

/// One recorded instant: what a row of a trajectory holds. Views into the run, valid during the
/// call only.
struct Sample {
  long long step{0};
  double t{0.0};
  std::span<const double> q;
  std::span<const double> u;
  std::span<const double> gaps;
  std::span<const double> impulses;  // of each contact, summed since the last sample
  double kinetic{0.0};
  double potential{0.0};
  // With friction, else empty; two places a contact, of which contacts in the plane use the first.
  std::span<const double> tangential{};  // impulses, summed since the last sample
  std::span<const double> slips{};       // U_T now
  std::span<const double> states{};      // one place a contact: certify::ContactState
  // Of rows of several steps, else empty: in which part of them each contact pushed.
  std::span<const double> pushed{};
  std::span<const double> watches{};  // as many as columns have
};

/// How a run ended.
struct Outcome {
  certify::Certificate certificate;
  bool interrupted{false};
  bool certified{true};  // every step was judged
  long long steps{0};    // done, all of them certified
  double wall_seconds{0.0};
  double wanted_step{0.0};  // [s], that a stiff wall needs; 0: none is stiff
  // Steps whose contacts the solver for any number of them found, and by its last resort, `auto`.
  long long general_steps{0};
  /// Steps in which the law of friction has more than one solution, and when the first of them was.
  long long several_steps{0};
  double several_time{0.0};
  /// The same because contacts with friction may share their load in other ways; equally stiff
  /// ones were taken.
  long long shared_steps{0};
  double shared_time{0.0};
  /// Steps with too many contacts to look for that.
  long long unlooked_steps{0};
  long long fallback_steps{0};
  long long forced{0};       // pairs of steps that step control took in spite of their error
  std::vector<double> gaps;  // at the end
};

/// A run seen from another thread: asked to stop between two steps, and how far it is. The thread
/// of the run itself tells all events to `on_event`, where there is one, in the order of time.
struct Monitor {
  std::atomic<bool> stop{false};
  std::atomic<long long> steps{0};
  certify::EventObserver on_event{};
  base::Executor executor{};  // threads for a world of many bodies; none: that of the run alone
};

/// Sees the samples of a run.
using Observer = std::function<void(const Sample&)>;

}  // namespace ricochet::step
