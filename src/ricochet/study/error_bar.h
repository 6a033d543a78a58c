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
  Trace beside;  // the other one, whose error is asked for
};

/// How far the discretisation of a run may be off, told from two companions: runs over the same
/// time with steps longer by sqrt(2) and by 2.
///
/// A method of first order, y_h = y + C h, is off by (sqrt(2) + 1)|y_h - y_(sqrt(2) h)|, and by
/// |y_h - y_2h|. The bar is twice the larger of the two, of the largest differences since the last
/// event and over the last tenth of the run at most. A method of second order is off by less.
///
/// Where in its step an event falls is chance, so that three runs may agree by chance. So a bar is
/// at least what events make of it whose times are known to tau: tau J of a position and 2 tau A
/// of a velocity, where J is the velocity itself or its largest jump in the last three shocks, A
/// its largest rate since then, and tau = max(h sqrt(k), shift): k events, and the largest shift of
/// the last three between runs. A shock within 3 tau of the end may have happened or not.
///
/// Unresolved is a run whose companions have other shocks, or other changes between sticking and
/// sliding; whose bar is as large as the motion; whose differences are more than a tenth of its
/// size and do not fall with the step; or one of whose companions fails.
///
/// `names` are those of contacts, for words.
ErrorBar estimate_error(const TracedRun& run, const std::array<Companion, 2>& companions,
                        const std::vector<std::string>& names);

}  // namespace ricochet::study
