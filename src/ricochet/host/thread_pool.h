#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "ricochet/base/executor.h"

namespace ricochet::host {

/// Threads that stay, for work that comes in pieces of microseconds: between two pieces they look
/// for the next one for a while before they go to sleep. The one who asks takes part, and does not
/// wait for a thread that has not begun when the work is given out: cores may be busy with others.
class ThreadPool {
 public:
  /// That many threads in all, the caller among them; 0: one for each core.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// One caller at a time; lives as long as the pool does. Empty for one thread.
  base::Executor executor();

 private:
  // The gate: the number of the round, whether it is open, how many of the others are inside.
  static constexpr std::uint64_t kOpen = 1U << 16U;
  static constexpr std::uint64_t kRound = 2 * kOpen;
  static constexpr int kLooksInRow = 64;  // before others may have the core

  void run(std::size_t count, const std::function<void(std::size_t)>& work);
  void serve();
  void take_turns();
  void open_round();
  std::uint64_t enter(std::uint64_t seen);

  std::vector<std::thread> others_;
  std::atomic<std::uint64_t> gate_{0};
  std::atomic<std::size_t> next_{0};
  std::size_t count_{0};
  const std::function<void(std::size_t)>* work_{nullptr};
  std::atomic<bool> stop_{false};
  std::atomic<int> sleeping_{0};
  std::mutex mutex_;
  std::condition_variable wake_;
};

}  // namespace ricochet::host
