#pragma once

#include <string>

#include "ricochet/base/executor.h"

namespace ricochet::host {

/// The processes that `mpirun` started, this one among them; one, without it. Throws
/// base::InputError under `mpirun` in a build without MPI.
const base::Ranks& ranks();

/// Before a message of an error that ends this process, and after it: one that all of them have is
/// said by the first, and the others do not wait for this one. Nothing without `mpirun`.
void let_first_speak();
void break_off(int code);

/// Until all processes are here.
void wait_for_ranks();

/// The processes that were lost before they had given all, for a message; empty: none.
std::string lost_ranks();

}  // namespace ricochet::host
