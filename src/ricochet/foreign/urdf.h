#pragma once

#include "ricochet/foreign/mechanism.h"
#include "ricochet/foreign/source.h"

namespace ricochet::foreign {

/// A robot in URDF. `fixed_base`: its root is fixed in space even if it has a mass.
Mechanism read_urdf(Source& source, const Element& robot, bool fixed_base);

}  // namespace ricochet::foreign
