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
  open_round();
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

void ThreadPool::open_round() {
  {
    const std::lock_guard lock(
        mutex_);  // no thread may go to sleep between its look and the change
    gate_ = (gate_ / kRound + 1) * kRound + kOpen;
  }
  if (sleeping_ > 0) wake_.notify_all();
}

void ThreadPool::run(std::size_t count, const std::function<void(std::size_t)>& work) {
  count_ = count;
  work_ = &work;
  next_ = 0;
  open_round();
  take_turns();
  gate_ -= kOpen;  // who has not begun is too late: nobody waits for him
  for (int k = 1; gate_ % kOpen != 0; ++k) {
    if (k % kLooksInRow == 0) std::this_thread::yield();
  }
}

/// Waits for a round after the one seen that is open, and enters it; which it is.
std::uint64_t ThreadPool::enter(std::uint64_t seen) {
  constexpr int kLooks = 20'000;
  const auto is_next = [&](std::uint64_t gate) {
    return gate / kRound != seen && gate % kRound >= kOpen;
  };
  for (int k = 1;; ++k) {
    std::uint64_t gate = gate_;
    if (is_next(gate) && gate_.compare_exchange_weak(gate, gate + 1)) return gate / kRound;
    if (k % kLooksInRow == 0) std::this_thread::yield();
    if (k < kLooks) continue;
    k = 0;
    std::unique_lock lock(mutex_);
    ++sleeping_;
    wake_.wait(lock, [&] { return is_next(gate_); });
    --sleeping_;
  }
}

void ThreadPool::serve() {
  std::uint64_t seen = 0;
  while (true) {
    seen = enter(seen);
    if (!stop_) take_turns();
    --gate_;
    if (stop_) return;
  }
}

}  // namespace ricochet::host
