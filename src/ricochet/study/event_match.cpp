#include "ricochet/study/event_match.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace ricochet::study {
namespace {

constexpr double kWeak = 0.02;   // of the largest speed of the run
constexpr double kClose = 12.0;  // coarsest steps: what is nearer, or shorter, may be missing

/// A shock of one contact.
struct Strike {
  double t{0.0};
  bool must{false};  // be in the other run too
};
using StrikeList = std::vector<Strike>;
using ByContact = std::map<std::pair<int, bool>, StrikeList>;  // contact, tangential

double way_between(double a, double b) { return std::abs(a - b); }

/// Times are told from the start of the run, which may go into the past.
ByContact strikes_of(const TracedRun& run, double coarsest) {
  const certify::Certificate& c = run.outcome.certificate;
  ByContact all;
  for (const certify::Shock& shock : c.shocks) {
    StrikeList& strikes = all[{shock.contact, shock.tangential}];
    const double t = way_between(run.start, shock.t);
    const bool follows = !strikes.empty() && t - strikes.back().t < kClose * coarsest;
    const bool is_last = run.length - t < kClose * coarsest;
    const bool is_weak = shock.speed < kWeak * run.speed || shock.tangential || shock.transmitted;
    strikes.push_back({t, !follows && !is_last && !is_weak});
  }
  return all;
}

/// How far it is from a strike to the nearest one of its list that must be met.
double room_around(const StrikeList& strikes, std::size_t at) {
  double room = std::numeric_limits<double>::infinity();
  for (std::size_t i = at; i-- > 0;) {
    if (!strikes[i].must) continue;
    room = way_between(strikes[at].t, strikes[i].t);
    break;
  }
  for (std::size_t i = at + 1; i < strikes.size(); ++i) {
    if (!strikes[i].must) continue;
    return std::min(room, way_between(strikes[at].t, strikes[i].t));
  }
  return room;
}

/// Whether the strike after `at` lies nearer to t.
bool next_is_nearer(const StrikeList& strikes, std::size_t at, double t) {
  return at + 1 < strikes.size() &&
         way_between(strikes[at + 1].t, t) < way_between(strikes[at].t, t);
}

/// Goes through two lists side by side; what need not be matched is left out where it does not fit.
/// The time of the first strike that must be met and is not; infinity where there is none.
double match_strikes(const StrikeList& run, const StrikeList& other, double coarsest,
                     std::vector<EventMatch::Pair>& pairs) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < run.size() && j < other.size()) {
    if (!run[i].must && next_is_nearer(run, i, other[j].t)) {
      ++i;
      continue;
    }
    if (!other[j].must && next_is_nearer(other, j, run[i].t)) {
      ++j;
      continue;
    }
    const double shift = way_between(run[i].t, other[j].t);
    const double room = std::min(room_around(run, i), room_around(other, j));
    if (shift > std::max(0.5 * room, kClose * coarsest)) {
      if (!run[i].must && run[i].t < other[j].t) {
        ++i;
        continue;
      }
      if (!other[j].must && other[j].t < run[i].t) {
        ++j;
        continue;
      }
      return std::min(run[i].t, other[j].t);
    }
    pairs.push_back({run[i].t, other[j].t - run[i].t});
    ++i;
    ++j;
  }
  double missing = kNever;
  for (; i < run.size(); ++i) {
    if (run[i].must) missing = std::min(missing, run[i].t);
  }
  for (; j < other.size(); ++j) {
    if (other[j].must) missing = std::min(missing, other[j].t);
  }
  return missing;
}

/// The phases of one contact that last at least `shortest`, those of one kind in a row as one.
std::vector<Phase> phases_of(const TracedRun& run, int contact, double shortest) {
  std::vector<Phase> phases;
  for (const Phase& phase : run.phases.list()) {
    if (phase.contact != contact || phase.to - phase.from < shortest) continue;
    const Phase told{phase.from - run.start, phase.to - run.start, contact, phase.sticks};
    if (!phases.empty() && phases.back().sticks == phase.sticks) {
      phases.back().to = told.to;
    } else {
      phases.push_back(told);
    }
  }
  return phases;
}

/// The first of the long phases that the other list, of more phases, does not have in order.
std::optional<EventDifference> missing_phase(const std::vector<Phase>& wanted,
                                             const std::vector<Phase>& other) {
  std::size_t j = 0;
  for (const Phase& phase : wanted) {
    while (j < other.size() && other[j].sticks != phase.sticks) ++j;
    if (j == other.size()) {
      return EventDifference{phase.from, phase.contact, phase.sticks ? "sticks" : "slides"};
    }
    ++j;
  }
  return {};
}

void keep_first(const std::optional<EventDifference>& found, std::optional<EventDifference>& kept) {
  if (found && (!kept || found->t < kept->t)) kept = found;
}

void match_phases(const TracedRun& run, const TracedRun& other,
                  std::optional<EventDifference>& difference) {
  int contacts = 0;
  for (const TracedRun* one : {&run, &other}) {
    for (const Phase& phase : one->phases.list()) contacts = std::max(contacts, phase.contact + 1);
    if (one->phases.is_cut()) return;  // lists that were cut tell nothing
  }
  const double coarsest = std::max(run.phase_step, other.phase_step);
  const double certain = 2.0 * kClose * coarsest;
  const double possible = 0.25 * kClose * coarsest;
  for (int a = 0; a < contacts; ++a) {
    keep_first(missing_phase(phases_of(run, a, certain), phases_of(other, a, possible)),
               difference);
    keep_first(missing_phase(phases_of(other, a, certain), phases_of(run, a, possible)),
               difference);
  }
}

/// Where the lists of shocks of one of the runs were cut, nothing is compared any more.
double end_of_lists(const TracedRun& run, const TracedRun& other) {
  double end = std::numeric_limits<double>::infinity();
  for (const TracedRun* one : {&run, &other}) {
    const certify::Certificate& c = one->outcome.certificate;
    if (c.shocks_cut && !c.shocks.empty()) {
      end = std::min(end, way_between(one->start, c.shocks.back().t));
    }
  }
  return end;
}

}  // namespace

EventMatch match_events(const TracedRun& run, const TracedRun& other) {
  EventMatch match;
  const double coarsest = std::max(run.step, other.step);
  ByContact own = strikes_of(run, coarsest);
  ByContact theirs = strikes_of(other, coarsest);
  const double end = end_of_lists(run, other);
  for (const auto& [key, strikes] : theirs) own.try_emplace(key);
  for (const auto& [key, strikes] : own) {
    const double missing = match_strikes(strikes, theirs[key], coarsest, match.pairs);
    if (missing < end) {
      keep_first(EventDifference{missing, key.first, "is struck"}, match.difference);
    }
  }
  match_phases(run, other, match.difference);
  std::sort(match.pairs.begin(), match.pairs.end(),
            [](const EventMatch::Pair& a, const EventMatch::Pair& b) { return a.t < b.t; });
  return match;
}

}  // namespace ricochet::study
