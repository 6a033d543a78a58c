#pragma once

#include <array>
#include <string>
#include <vector>

#include "ricochet/record/error_bar.h"
#include "ricochet/study/event_match.h"

namespace ricochet::study {

using record::ErrorBar;

/// A run beside another one, and where both were at the same marks.
struct Companion {
  TracedRun run;
  Trace trace;
  Trace way;                     // closer, where forces, friction or masses vary
  Pushes pushes;                 // the same, with friction
  const Trace* beside{nullptr};  // the other one, whose error is asked for
};

/// How far the discretisation of a run may be off, told from two companions: runs over the same
/// time with steps longer by sqrt(2) and by 2.
///
/// A method of order p, y_h = y + C h^p, is off by d1/(2^(p/2) - 1), and by d2/(2^p - 1), d1 and d2
/// being its differences from the two. The bar is 2.5 times the larger of the two, of the largest
/// differences since the last event and over the last twentieth of the run at most. Between events
/// p is what d2/d1 = 2^(p/2) + 1 shows, less a half: at most 3/2, of arcs whose events are found
/// 9/2. After events of constant steps, and with friction, p = 1.
///
/// Where in its step an event falls is chance, so that three runs may agree by chance. So a bar is
/// at least 0.6 of what differences since the third last event would give, the neighbourhood of
/// events left out; and h J of a position and 2 h A of a velocity, where J is the jump of that
/// velocity at the last shock or half of what it is, and A its largest rate since then. A shock
/// within 2 tau of the end may have happened or not, tau = max(h, s), s being the largest shift of
/// the last three events between runs: then the bar of a velocity holds its jump.
///
/// Unresolved is a run whose companions have other shocks, or other changes between sticking and
/// sliding; whose bar is more than half as large as the motion; whose differences are more than a
/// tenth of its size and do not fall with the step; or one of whose companions fails.
///
/// `names` are those of contacts, for words.
ErrorBar estimate_error(const TracedRun& run, const std::array<Companion, 2>& companions,
                        const std::vector<std::string>& names);

}  // namespace ricochet::study
