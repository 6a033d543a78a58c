#pragma once

#include "ricochet/base/executor.h"

namespace ricochet::host {

/// The processes that `mpirun` started, this one among them; one, without it. Throws
/// base::InputError under `mpirun` in a build without MPI.
const base::Ranks& ranks();

}  // namespace ricochet::host
