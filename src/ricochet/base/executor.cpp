#include "ricochet/base/executor.h"

#include <algorithm>
#include <vector>

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

}  // namespace ricochet::base
