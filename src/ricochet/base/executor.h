#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace ricochet::base {

/// Calls work(0) to work(count - 1), each at most once, in any order, several at the same time
/// maybe, and returns when all have returned; fewer only where it was told to stop. The library has
/// no threads: who has some passes them in. `work` does not throw.
using Executor =
    std::function<void(std::size_t count, const std::function<void(std::size_t)>& work)>;

/// work(0) to work(count - 1) by the executor, in order without one; for loops that do not allocate
/// and work that cannot fail.
template <class Work>
void each(const Executor& executor, std::size_t count, const Work& work) {
  if (executor && count > 1) {
    const Work* one = &work;  // a function object as small as a pointer is stored in place
    executor(count, [one](std::size_t k) { (*one)(k); });
  } else {
    for (std::size_t k = 0; k < count; ++k) work(k);
  }
}

/// A range in pieces of one length but for the last: what each of them finds, put together in their
/// order, does not depend on the threads that they are given to.
struct Pieces {
  std::size_t size{0};
  std::size_t length{1};
  std::size_t count() const { return (size + length - 1) / length; }
  std::size_t begin(std::size_t piece) const { return piece * length; }
  std::size_t end(std::size_t piece) const {
    return begin(piece) + length < size ? begin(piece) + length : size;
  }
};

/// work(0) to work(count - 1) by the executor, one after the other without one. What is wrong with
/// the input of one of them does not stop the others; the first such error, or nothing, is
/// returned.
std::string run_all(const Executor& executor, std::size_t count,
                    const std::function<void(std::size_t)>& work);

/// Processes that share the tasks of a study: each has every `count`-th, and the first one gets
/// what the others found, while they go on.
struct Ranks {
  using Taker = std::function<void(std::size_t, const std::string&)>;
  static constexpr std::size_t kEnd = ~std::size_t{0};  // for a task: its process has no more
  int rank{0};
  int count{1};
  /// What a task found to the first process, from any thread of another one.
  Taker give{};
  /// Of the first process: hands over what has come, from one thread at a time; `waits` for some.
  /// False where no more will come, because a process was lost.
  std::function<bool(bool waits, const Taker&)> take{};
};

/// The same on several processes: `pack` makes bytes of what a task found, `unpack` takes them.
/// Afterwards the first process has all of it, as one would have alone, or, where one was lost, all
/// that came from it before.
std::string run_all(const Ranks& ranks, const Executor& executor, std::size_t count,
                    const std::function<void(std::size_t)>& work,
                    const std::function<std::string(std::size_t)>& pack,
                    const Ranks::Taker& unpack);

}  // namespace ricochet::base
