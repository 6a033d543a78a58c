#pragma once

#include <string>

#include "ricochet/study/motion.h"

namespace ricochet::study {

/// "beam of 30 cells, Hermite elements, 60 coordinates".
std::string kind_of(const scene::StructurePart& part);

/// The first frequencies and the guides of a structure, before it is run, behind their labels.
std::string describe_part(const scene::StructurePart& part);

/// What a run of a structure tells besides what every run does: where its energy went; its guides,
/// points and modes, and what reduction cost. Each behind its label.
std::string describe_average(const Motion& motion);
std::string describe_works(const Motion& motion);
std::string describe_statistics(const Motion& motion);

}  // namespace ricochet::study
