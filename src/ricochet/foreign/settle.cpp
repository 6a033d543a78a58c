#include "ricochet/foreign/settle.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ricochet/convex/dense.h"

namespace ricochet::foreign {

double settle_coordinate(Source& source, double zero, Joint& joint) {
  constexpr double kWidest = 5.28;  // a radian less than a turn: what a hinge in space can have
  const bool has_limits = std::isfinite(joint.low) || std::isfinite(joint.high);
  if (has_limits && !(joint.low < joint.high)) {
    throw base::InputError(
        fmt::format("joint '{}'", joint.name),
        fmt::format("its limit {:.6g} is not below {:.6g}", joint.low, joint.high),
        "write the lower one first, or a fixed joint where nothing is to move",
        source.spot(joint.place));
  }
  const bool is_hinge = joint.kind == JointKind::Hinge;
  bool keeps = has_limits;
  if (is_hinge && has_limits && !(joint.high - joint.low <= kWidest)) {
    source.note(joint.place,
                fmt::format("limits of a hinge that are one, or more than {} apart, are left out: "
                            "its angle is known up to turns",
                            kWidest));
    keeps = false;
  }
  if (!keeps) {
    joint.low = -std::numeric_limits<double>::infinity();
    joint.high = std::numeric_limits<double>::infinity();
  }
  if (is_hinge && joint.stiffness > 0.0 && !keeps) {
    source.note(joint.place, "the stiffness of a hinge without limits is left out");
    joint.stiffness = 0.0;
  }
  joint.start = std::clamp(zero, joint.low, joint.high);
  if (joint.start != zero) {
    source.note(joint.place,
                fmt::format("joint '{}' is at {:.6g} in the file, beyond its limits: it starts at "
                            "{:.6g}",
                            joint.name, zero, joint.start));
  }
  return joint.start - zero;
}

Pose moved_along(const Joint& joint, double way, const Pose& pose) {
  if (way == 0.0) return pose;
  if (joint.kind == JointKind::Slider) return {pose.x + way * joint.axis, pose.turn};
  const Turn turn = turn_about(joint.axis, way);
  return {joint.at + turn * (pose.x - joint.at), (turn * pose.turn).normalized()};
}

void check_mass(const Source& source, const Element& element, const std::string& name,
                const Mass& mass) {
  if (!(mass.mass > 0.0)) {
    source.fail(element, fmt::format("'{}' moves and has no mass", name),
                "give it a mass > 0, or fix it to what it belongs to");
  }
  const Vec3 moments = convex::symmetric_eigenvalues(mass.inertia);
  if (!(moments[0] > 0.0)) {
    source.fail(element, fmt::format("'{}' has a moment of inertia of {:.6g}", name, moments[0]),
                "moments of inertia must be > 0, and products must leave them so");
  }
  if (moments[2] > (moments[0] + moments[1]) * (1.0 + 1e-12)) {
    source.fail(
        element,
        fmt::format("no body has the moments of inertia of '{}': {:.9g} is more than {:.9g} and "
                    "{:.9g} together",
                    name, moments[2], moments[1], moments[0]),
        "each moment is at most the sum of the two others");
  }
}

}  // namespace ricochet::foreign
