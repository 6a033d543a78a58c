#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

#include "ricochet/base/sum.h"
#include "ricochet/problem/warm_start.h"

namespace ricochet::model {

using problem::Key;

/// What a scheme and its solver carry from one step to the next.
struct SchemeMemory {
  std::vector<Key> touched;  // contacts that were active in the step, ascending; of schemes that
                             // let contacts last
  std::vector<Key> pushed;   // of those with friction, the ones that pushed
  std::vector<Key> stuck;    // contacts that ended the step in stick, ascending
  std::vector<Key> lapsed;   // contacts that ended the step before in stick and then did not push
  problem::WarmStart warm;   // of the solver for several contacts
  std::vector<double> past;  // smoothed loads at the middle of the last step, and of the next; or,
                             // where the mass varies, u before the last step and the one before

  /// For so many contacts: steps allocate nothing.
  void reserve(std::size_t contacts, bool friction) {
    touched.reserve(contacts);
    if (!friction) return;
    for (std::vector<Key>* keys : {&pushed, &stuck, &lapsed}) keys->reserve(contacts);
  }
  /// The same as `other`: what neither of them has is not looked at.
  void take(const SchemeMemory& other) {
    const auto copy = [](auto& to, const auto& from) {
      if (!to.empty() || !from.empty()) to = from;
    };
    copy(touched, other.touched);
    copy(pushed, other.pushed);
    copy(stuck, other.stuck);
    copy(lapsed, other.lapsed);
    copy(past, other.past);
    if (!warm.is_new() || !other.warm.is_new()) warm = other.warm;
  }
  bool is_empty() const {
    return touched.empty() && stuck.empty() && lapsed.empty() && warm.is_new() && past.empty();
  }
};

/// What step control carries from one pair of steps to the next.
struct ControlMemory {
  double proposed{0.0};       // [s], the length of the next pair; 0: none yet
  std::vector<Key> touching;  // contacts active in the last step, ascending
};

/// The last impacts of one contact, speeds in the kinetic norm.
struct ImpactSeries {
  double last{0.0};      // [s], the time of the last impact
  double interval{0.0};  // [s], between the last two
  double ratio{0.0};     // of the last two intervals
  double speed{0.0};     // of the last
  double first{0.0};     // of the one from which on intervals and speeds shrink
  double fastest{0.0};   // of all
  int shrinking{0};      // intervals in a row that were shorter than the one before
  long long count{0};

  static constexpr int kEnough = 4;      // shrinking intervals
  static constexpr long long kMany = 8;  // impacts
  static constexpr double kInstant = 1e-12;

  void add(double t, double approach) {
    const double since = t - last;
    ratio = since / interval;
    const bool shrinks = count > 1 && (ratio < 1.0 || since == 0.0) && approach < speed;
    shrinking = shrinks ? shrinking + 1 : 0;
    if (!shrinks) first = approach;
    fastest = std::max(fastest, approach);
    interval = since;
    last = t;
    speed = approach;
    ++count;
  }
  /// Whether infinitely many impacts follow: intervals and speeds have shrunk in a row, the speed
  /// to `slow` of the first or the interval to the rounding of t; or, where other contacts disturb
  /// the row, the speed is nothing beside that of the fastest.
  bool accumulates(double slow) const {
    const bool is_row = shrinking >= kEnough;
    if (is_row && (speed <= slow * first || interval <= kInstant * std::abs(last))) return true;
    return count >= kMany && speed <= 1e-3 * slow * fastest;
  }
  /// The sum of the geometric series of intervals to come.
  double limit() const { return ratio < 1.0 ? last + interval * ratio / (1.0 - ratio) : last; }
};

/// The largest ways and velocities of a motion so far, coordinate by coordinate: what errors of
/// arcs are measured by. Ways are those of one arc; velocities are at least `kPart` of what the
/// coordinate could have with all the energy, so that rounding is no error.
struct ArcSizes {
  static constexpr double kPart = 1e-4;
  std::vector<double> places;  // |q|, for rounding
  std::vector<double>
      beyond;  // by contact, <= 0: the gap at a start beyond the wall, until it opens
  std::vector<double> q;
  std::vector<double> u;
  double energy{0.0};
};

/// What event location carries from one arc to the next.
struct EventMemory {
  std::vector<ImpactSeries> impacts;  // by contact
  std::vector<Key> held;              // contacts that last
  double trial{0.0};                  // [s], the length of the next arc; 0: none yet
  ArcSizes sizes;
};

/// Growth of T beyond all that was before: from each tenfold level to the next it is followed what
/// of it neither forces nor contacts gave. Where it does not go on, nobody looks any more.
struct GrowthWatch {
  double bar{std::numeric_limits<double>::infinity()};  // steps with more T than this are looked at
  double base{0.0};                                     // T from which growth is counted
  base::Sum created;                                    // since then
  long long since{0};                                   // the step of that T
  long long span{0};                                    // steps from the level before to that
  bool is_following{false};
  double made_up_level{0.0};  // T to which it last grew by what nobody gave
  double made_up_time{0.0};   // [s]
  double made_up{0.0};        // so much

  void note(double kinetic, double t, double energy) {
    made_up_level = kinetic;
    made_up_time = t;
    made_up = energy;
  }
};

/// Energy that a contact has given and not taken again.
struct Creation {
  double before{0.0};  // in all pushes that have ended
  double push{0.0};    // in the one that goes on, of either sign
  double sum() const { return before + push; }
};

/// What a judge of steps knows from the steps before.
struct JudgeMemory {
  struct Contact {
    Key key{0};
    long long quiet{0};     // steps since its last impulse
    double slip_jump{0.0};  // of the tangential velocity in the steps before, fading
    bool stuck{false};      // the last step ended in stick
    bool lapsed{false};     // the one before did, and the last one did not push
    bool touched{false};    // it was active in the last step
    Creation created{};     // under laws of mean positions
  };
  /// Of motions from impact to impact.
  struct Arcs {
    ArcSizes sizes;
    std::vector<ImpactSeries> impacts;  // by contact
  };
  GrowthWatch growth;
  std::vector<Contact> contacts;  // keys ascending; those quiet for long are left out
  Arcs arcs;
  double kinetic_max{0.0};  // what impacts are measured by
  double hardest_push{0.0};
};

/// Who counts steps, and how they are made.
struct StepMaker {
  std::string_view scheme{};
  double step{0.0};      // [s], the length, or the largest one
  bool evenly{true};     // all of one length
  bool backward{false};  // into the past
  bool operator==(const StepMaker&) const = default;
};

/// All that a motion carries from one step to the next besides places and velocities, so that a run
/// that is split at any step and continued has the same bits as the whole. Runs keep it; whoever
/// makes a state by hand leaves it empty. It holds for one instant, and its count of steps for one
/// maker.
struct Memory {
  double at{0.0};         // [s], the time of the state it belongs to
  StepMaker maker{};      // of the steps that are counted
  double start{0.0};      // [s], where they began
  long long steps{0};     // how many were made
  bool begun{false};      // the scheme's own start value was made
  SchemeMemory scheme{};  // the rest: see there
  ControlMemory control{};
  EventMemory events{};
  JudgeMemory judge{};

  // Copies are made where runs begin and end, and are compiled once.
  Memory() = default;
  Memory(const Memory&);
  Memory(Memory&&) = default;
  Memory& operator=(const Memory&);
  Memory& operator=(Memory&&) = default;
  ~Memory();

  /// Makes ready for steps from t: a new count, unless they go on as before.
  void open(double t, const StepMaker& next) {
    if (at != t) *this = {};
    if (maker == next) return;
    scheme.past.clear();
    control = {};
    events = {};
    at = start = t;
    maker = next;
    steps = 0;
    begun = false;
  }
};

}  // namespace ricochet::model
