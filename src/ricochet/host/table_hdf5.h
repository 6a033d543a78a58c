#pragma once

#include <string>

#include "ricochet/record/value_table.h"

namespace ricochet::host {

/// The bytes of an HDF5 file: in the group "trajectory" a dataset for each column, by its name.
std::string hdf5_of(const record::ValueTable& table);

}  // namespace ricochet::host
