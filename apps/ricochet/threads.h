#pragma once

#include <atomic>

#include "ricochet/study/family.h"

namespace ricochet::app {

/// Work on that many threads, this one among them; 0: one for each core. Once `stop` is true no
/// more is begun.
study::Executor make_executor(int threads, const std::atomic<bool>& stop);

}  // namespace ricochet::app
