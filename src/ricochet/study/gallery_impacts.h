#pragma once

#include "ricochet/study/exhibit.h"

namespace ricochet::study {

/// The ball on a line by two schemes.                          [Paoli 2001, par. 3a, 4b, figure 6]
Exhibit show_ball(const Runner& runner);

/// Laws of restitution against closed forms: infinitely many bounces, balls in a row, a table, a
/// joint with clearance, billiards, corners, a string.
Exhibit show_impacts(const Runner& runner);

/// Orbits of an impact oscillator above its grazing.
Exhibit show_oscillator(const Runner& runner);

/// One force, two motions: runs, and both motions before the judge.        [Ballard 2013, par. 2]
Exhibit show_two_motions(const Runner& runner);

}  // namespace ricochet::study
