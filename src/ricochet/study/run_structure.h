#pragma once

#include "ricochet/study/motion.h"

namespace ricochet::study {

/// Runs the structure of a motion's scene, all of it or its first modes, and fills in the rest.
void run_structure(Motion& motion, const step::Observer& observe, step::Monitor* monitor);

/// What may not be meant: statistics from few impacts, a step too long to see the structure move.
void warn_of_structure(const Motion& motion, std::vector<std::string>& warnings);

}  // namespace ricochet::study
