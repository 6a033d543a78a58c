#pragma once

#include <string>
#include <vector>

#include "ricochet/record/world_record.h"

namespace ricochet::host {

/// What the bodies of a series are called, and weigh; 0 where they are not free.
struct SeriesBodies {
  std::vector<std::string> names;
  std::vector<double> masses;
};

/// Bodies of a series as the bytes of an HDF5 file: `t`, `place` and `rate` by instant and body,
/// `there`, `mass`, and `names`, a line each.
std::string hdf5_of(const std::vector<record::BodySnapshot>& series, const SeriesBodies& of);

/// Contacts of a series: those of instant k are start[k] to start[k + 1] - 1.
std::string hdf5_of(const std::vector<record::ContactSnapshot>& series);

}  // namespace ricochet::host
