#pragma once

#include <string>
#include <vector>

#include "ricochet/record/error_bar.h"
#include "ricochet/study/motion.h"

namespace ricochet::study {

/// Runs the bodies of a motion's scene and fills in the rest.
void run_world(Motion& motion, const step::Observer& observe, step::Monitor* monitor,
               const WorldLook& look = {});

/// What may not be meant: places put back by much, contacts that creep.
void warn_of_world(const Motion& motion, std::vector<std::string>& warnings);

/// "6 bodies in the plane, 5 of them free, 1 fixed; 6 shapes".
std::string kind_of(const scene::WorldPart& part);

/// Masses, and the laws of materials that may touch, before anything is run.
std::string describe_laws(const scene::WorldPart& part);

/// The lines of a report that tell of bodies; watches with their bars.
std::string describe_world(const Motion& motion, const record::ErrorBar& bar);
/// What else may help where a run of bodies failed; empty for others.
std::string remedy_of_world(const Motion& motion);
/// How well its contacts obey the law.
std::string describe_level(const Motion& motion);
/// Of bodies that left rest in steps that leave open whether they would.
std::string describe_rest(const record::WorldRecord& record);
/// Of bodies that pushed each other and did not come to touch; whether by so much that all that
/// comes after depends on it.
bool ghosts_matter(const record::WorldRecord& record);

/// Whether impulses that miss the law might have done more work than all others, and the words.
bool open_work_matters(const Motion& motion);
std::string describe_open_work(const Motion& motion);
/// Of bodies that lie in each other, deeper than the step explains.
std::string describe_sunk(const record::WorldRecord& record);
std::string describe_ghosts(const record::WorldRecord& record);
/// What the run itself tells of digits that do not hold; empty where it does not.
std::string doubt_of_world(const Motion& motion);

}  // namespace ricochet::study
