#include "ricochet/base/executor.h"

#include <algorithm>
#include "ricochet/base/archive.h"
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
                    const std::function<void(std::size_t, const std::string&)>& unpack) {
  const auto stride = static_cast<std::size_t>(ranks.count);
  const auto first = static_cast<std::size_t>(ranks.rank);
  const std::size_t own = count > first ? (count - first + stride - 1) / stride : 0;
  std::string error = run_all(executor, own, [&](std::size_t k) { work(first + k * stride); });
  if (stride == 1) return error;
  Archive given;
  given(error);
  for (std::size_t k = first; k < count; k += stride) {
    std::string found = pack(k);
    given(found);
  }
  error.clear();
  std::size_t rank = 0;
  for (const std::string& bytes : ranks.share(given.bytes())) {
    Archive taken(bytes);
    std::string one;
    taken(one);
    if (error.empty()) error = one;
    for (std::size_t k = rank; k < count; k += stride) {
      taken(one);
      if (rank != first) unpack(k, one);
    }
    ++rank;
  }
  return error;
}

}  // namespace ricochet::base
