#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace ricochet::base {

/// Calls work(0) to work(count - 1), each at most once, in any order, several at the same time
/// maybe, and returns when all have returned; fewer only where it was told to stop. The library has
/// no threads: who has some passes them in. `work` does not throw.
using Executor =
    std::function<void(std::size_t count, const std::function<void(std::size_t)>& work)>;

/// work(0) to work(count - 1) by the executor, one after the other without one. What is wrong with
/// the input of one of them does not stop the others; the first such error, or nothing, is
/// returned.
std::string run_all(const Executor& executor, std::size_t count,
                    const std::function<void(std::size_t)>& work);

}  // namespace ricochet::base
