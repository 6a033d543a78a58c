#include "ricochet/host/threads.h"

#include <algorithm>
#include <system_error>
#include <thread>
#include <vector>

namespace ricochet::host {

int thread_count(int asked) {
  return asked > 0 ? asked : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

base::Executor make_executor(int threads, const std::atomic<bool>& stop) {
  const auto most = static_cast<std::size_t>(thread_count(threads));
  return [most, &stop](std::size_t count, const std::function<void(std::size_t)>& work) {
    std::atomic<std::size_t> next{0};
    const auto take_turns = [&] {
      for (std::size_t k = next++; k < count && !stop.load(); k = next++) work(k);
    };
    std::vector<std::thread> others;
    try {
      while (others.size() + 1 < std::min(most, count)) others.emplace_back(take_turns);
    } catch (const std::system_error&) {
      // the machine has no more threads to give: those that are there do the work
    }
    take_turns();
    for (std::thread& other : others) other.join();
  };
}

}  // namespace ricochet::host
