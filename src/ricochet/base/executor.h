#pragma once

#include <cstddef>
#include <functional>

namespace ricochet::base {

/// Calls work(0) to work(count - 1), each at most once, in any order, several at the same time
/// maybe, and returns when all have returned; fewer only where it was told to stop. The library has
/// no threads: who has some passes them in. `work` does not throw.
using Executor =
    std::function<void(std::size_t count, const std::function<void(std::size_t)>& work)>;

}  // namespace ricochet::base
