#include "ricochet/host/thread_pool.h"

#include <system_error>

#include "ricochet/host/threads.h"

namespace ricochet::host {

ThreadPool::ThreadPool(int threads) {
  try {
    for (int k = 1; k < thread_count(threads); ++k) others_.emplace_back([this] { serve(); });
  } catch (const std::system_error&) {
    // the machine has no more threads to give: those that are there do the work
  }
}

ThreadPool::~ThreadPool() {
  stop_ = true;
  {
    const std::lock_guard lock(mutex_);
    ++round_;
  }
  wake_.notify_all();
  for (std::thread& other : others_) other.join();
}

base::Executor ThreadPool::executor() {
  if (others_.empty()) return {};
  return
      [this](std::size_t count, const std::function<void(std::size_t)>& work) { run(count, work); };
}

void ThreadPool::take_turns() {
  for (std::size_t k = next_++; k < count_; k = next_++) (*work_)(k);
}

void ThreadPool::run(std::size_t count, const std::function<void(std::size_t)>& work) {
  count_ = count;
  work_ = &work;
  next_ = 0;
  finished_ = 0;
  {
    const std::lock_guard lock(
        mutex_);  // no thread may go to sleep between its look and the change
    ++round_;
  }
  if (sleeping_ > 0) wake_.notify_all();
  take_turns();
  // All threads must be through before the next piece can be laid out.
  while (finished_ < others_.size()) std::this_thread::yield();
}

std::uint64_t ThreadPool::wait_for_more(std::uint64_t seen) {
  constexpr int kLooks = 20'000;
  for (int k = 0; k < kLooks; ++k) {
    if (round_ != seen) return round_;
    if (k % 64 == 63) std::this_thread::yield();
  }
  std::unique_lock lock(mutex_);
  ++sleeping_;
  wake_.wait(lock, [&] { return round_ != seen; });
  --sleeping_;
  return round_;
}

void ThreadPool::serve() {
  std::uint64_t seen = 0;
  while (true) {
    seen = wait_for_more(seen);
    if (stop_) return;
    take_turns();
    ++finished_;
  }
}

}  // namespace ricochet::host
