#pragma once

#include <atomic>

#include "ricochet/base/executor.h"

namespace ricochet::host {

/// How many threads an option asks for; 0: one for each core.
int thread_count(int asked);

/// Work on that many threads, this one among them; 0: one for each core. Once `stop` is true no
/// more is begun.
base::Executor make_executor(int threads, const std::atomic<bool>& stop);

}  // namespace ricochet::host
