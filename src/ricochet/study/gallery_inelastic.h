#pragma once

#include <vector>

#include "ricochet/study/exhibit.h"

namespace ricochet::study {

/// Middles of the steps in which a contact closed at speed.
std::vector<double> shock_times(const Motion& motion, int contact);

/// Middle of the last step up to a time in which a contact pushed; NaN when there is none.
double last_push(const Motion& motion, int contact, double until);

/// The first recorded instant at which a coordinate has risen to a height after a time; NaN when
/// there is none.
double rises_to(const Motion& motion, int coordinate, double height, double after);

/// Highest values of a coordinate between a rise and a fall, after a time.
std::vector<double> tops(const Motion& motion, int coordinate, double after);

Exhibit show_essai6(const Runner& runner);
Exhibit show_essai7(const Runner& runner);
Exhibit show_essai8(const Runner& runner);
Exhibit show_corner(const Runner& runner);

}  // namespace ricochet::study
