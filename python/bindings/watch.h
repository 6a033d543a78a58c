#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include "bindings.h"
#include "ricochet/step/outcome.h"

namespace ricochet::python {

/// A run seen from Python: Ctrl-C asks it to stop between two steps, and a function of the user's
/// hears how far it is. All of it with the interpreter's lock held.
class Watch {
 public:
  /// `progress` is called as progress(done, total), or None.
  Watch(py::object progress, long long total);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  step::Monitor& monitor() { return monitor_; }
  bool stopped() const { return monitor_.stop.load(); }
  void expect(long long total) { total_.store(total); }

  /// To be called every so often; throws nothing.
  void tick();

  /// Whether a KeyboardInterrupt that a callable raised is the first: it then asks to stop.
  bool take_interrupt();

  /// After the run: tells the end, and raises what signals or `progress` raised, if not Ctrl-C.
  void finish();

  /// The watch of a run whose model calls Python, on the thread that runs it; null: none.
  static Watch* current();

  /// While it lives, the watch is the current one of this thread.
  class Here {
   public:
    explicit Here(Watch& watch);
    ~Here();
    Here(const Here&) = delete;
    Here& operator=(const Here&) = delete;

   private:
    Watch* before_;
  };

 private:
  using Clock = std::chrono::steady_clock;
  void keep_error();
  void tell();

  step::Monitor monitor_;
  py::object progress_;
  std::atomic<long long> total_;
  Clock::time_point last_;
  std::optional<py::error_already_set> error_;
};

/// Runs `work` under a watch. A model that calls Python runs on this thread, with the interpreter's
/// lock; any other on a thread of its own, without it, while this thread looks for signals.
template <class Work>
auto watched(Watch& watch, bool calls_python, Work&& work) {
  using Result = decltype(work());
  std::optional<Result> result;
  if (calls_python) {
    const Watch::Here here(watch);
    result.emplace(work());
    watch.finish();
    return std::move(*result);
  }
  std::exception_ptr error;
  std::mutex mutex;
  std::condition_variable over;
  bool done = false;
  std::thread worker([&] {
    try {
      result.emplace(work());
    } catch (...) {
      error = std::current_exception();
    }
    const std::lock_guard lock(mutex);
    done = true;
    over.notify_one();
  });
  {
    const py::gil_scoped_release release;
    std::unique_lock lock(mutex);
    while (!over.wait_for(lock, std::chrono::milliseconds(50), [&] { return done; })) {
      lock.unlock();
      {
        const py::gil_scoped_acquire acquire;
        watch.tick();
      }
      lock.lock();
    }
    lock.unlock();
    worker.join();
  }
  if (error) std::rethrow_exception(error);
  watch.finish();
  return std::move(*result);
}

}  // namespace ricochet::python
