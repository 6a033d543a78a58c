#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ricochet/record/summary.h"
#include "ricochet/step/simulate_structure.h"
#include "ricochet/step/structure_scheme.h"
#include "ricochet/structure/beam.h"

namespace ricochet::record {

/// What a reduced run was off the whole model by, of one point.
struct ReducedPoint {
  std::string name;
  double rms{0.0};
  double largest{0.0};
  double whole{0.0};  // rms of the point's own motion
};

/// Everything summary.json tells about a run of a structure: what every run tells, and `structure`.
struct StructureSummary {
  Summary run;  // its scheme is not read
  step::StructureSettings settings;
  structure::Line line;
  int coordinates{0};
  std::vector<double> frequencies;  // [Hz]
  double quiet_time{0.0};           // [s]
  const step::StructureOutcome* outcome{nullptr};
  int reduced_modes{0};
  int corrections{0};
  std::vector<ReducedPoint> reduced;
};

/// The columns of a structure's trajectories: points for coordinates, sides for contacts.
Columns columns_of(const structure::LinearStructure& structure);

std::string to_json(const StructureSummary& summary);

/// "f,tip,guide.force" and a row a frequency.
std::string spectra_csv(const std::vector<structure::Spectrum>& spectra);

}  // namespace ricochet::record
