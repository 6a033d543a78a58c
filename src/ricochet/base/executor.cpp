#include "ricochet/base/executor.h"

#include <algorithm>

#include "ricochet/base/error.h"

namespace ricochet::base {

std::string run_all(const Executor& executor, std::size_t count,
                    const std::function<void(std::size_t)>& work) {
  std::vector<std::string> errors(count);
  const std::function<void(std::size_t)> guarded = [&](std::size_t k) {
    try {
      work(k);
    } catch (const InputError& error) {
      errors[k] = error.what();
    }
  };
  if (executor) {
    executor(count, guarded);
  } else {
    for (std::size_t k = 0; k < count; ++k) guarded(k);
  }
  const auto first = std::find_if(errors.begin(), errors.end(),
                                  [](const std::string& error) { return !error.empty(); });
  return first == errors.end() ? "" : *first;
}

std::string run_all(const Ranks& ranks, const Executor& executor, std::size_t count,
                    const std::function<void(std::size_t)>& work,
                    const std::function<std::string(std::size_t)>& pack,
                    const Ranks::Taker& unpack) {
  if (ranks.count == 1) return run_all(executor, count, work);
  const auto stride = static_cast<std::size_t>(ranks.count);
  const auto first = static_cast<std::size_t>(ranks.rank);
  const std::size_t own = count > first ? (count - first + stride - 1) / stride : 0;
  std::size_t ended = 1;
  std::string others;
  const Ranks::Taker take = [&](std::size_t k, const std::string& bytes) {
    if (k != Ranks::kEnd) return unpack(k, bytes);
    ++ended;
    if (others.empty()) others = bytes;  // what was wrong there
  };
  const std::string error = run_all(executor, own, [&](std::size_t k) {
    const std::size_t task = first + k * stride;
    work(task);
    first > 0 ? ranks.give(task, pack(task)) : static_cast<void>(ranks.take(false, take));
  });
  if (first > 0) ranks.give(Ranks::kEnd, error);
  while (first == 0 && ended < stride && ranks.take(true, take)) {
  }
  return error.empty() ? others : error;
}

}  // namespace ricochet::base
