#pragma once

#include <vector>

#include "ricochet/step/run_bodies.h"

namespace ricochet::study {

/// A contact of a body that closes some time after the end, or before it where places are off by
/// its gap, and what it may take from the body then.
struct NearContact {
  int other{0};  // body of the world
  double gap{0.0};
  double closes{0.0};  // [m/s]
  double speed{0.0};
  double spin{0.0};
};

/// What contacts and limits of joints that close about the end, and have not pushed yet, may take
/// from a body.
struct LateContact {
  double speed{0.0};  // [m/s]
  double spin{0.0};   // [1/s]
  double way{0.0};    // [m], where it closed before the end
  double turn{0.0};   // [rad]
  std::vector<NearContact> near;
};

/// By body of the world, after the last step of a run with steps h.
template <int D>
std::vector<LateContact> late_contacts(const body::World<D>& world, const step::BodySample<D>& s,
                                       double h);

}  // namespace ricochet::study
