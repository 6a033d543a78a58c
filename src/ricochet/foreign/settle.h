#pragma once

#include "ricochet/foreign/mechanism.h"
#include "ricochet/foreign/source.h"

namespace ricochet::foreign {

/// Leaves out limits and springs that joints of scenes do not have, with a note, and moves the
/// coordinate at the start into the limits. Gives the way from `zero`, the coordinate of the place
/// that the file states.
double settle_coordinate(Source& source, double zero, Joint& joint);

/// A body moved along a joint.
Pose moved_along(const Joint& joint, double way, const Pose& pose);

/// Throws base::InputError where no body has these mass properties.
void check_mass(const Source& source, const Element& element, const std::string& name,
                const Mass& mass);

}  // namespace ricochet::foreign
