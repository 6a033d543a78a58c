#pragma once

#include <functional>

#include "ricochet/certify/structure_judge.h"
#include "ricochet/step/outcome.h"
#include "ricochet/step/settings.h"
#include "ricochet/step/structure_scheme.h"
#include "ricochet/structure/linear_structure.h"
#include "ricochet/structure/statistics.h"

namespace ricochet::step {

/// How a run of a structure ended.
struct StructureOutcome {
  Outcome run;
  certify::StructureBooks books;
  structure::Statistics statistics;
  long long solves{0};            // with the effective matrix
  double contact_stiffness{0.0};  // penalty's, of the first guide
};

/// Sees whole shapes: instant and positions of all coordinates.
using ShapeObserver = std::function<void(const structure::Motion&)>;

/// Runs a scheme from `state`, which is left at the last certified instant. A sample has the named
/// points for coordinates and the sides of guides for contacts. `shapes` of the whole motion are
/// shown, spread evenly, first and last among them.
StructureOutcome simulate_structure(const structure::LinearStructure& structure,
                                    const StructureSettings& settings, const RunSettings& run,
                                    structure::Motion& state, const Observer& observe,
                                    Monitor* monitor = nullptr, int shapes = 0,
                                    const ShapeObserver& observe_shape = {});

}  // namespace ricochet::step
