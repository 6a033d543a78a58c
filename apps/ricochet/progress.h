#pragma once

#include <atomic>
#include <thread>

#include "ricochet/base/clock.h"
#include "ricochet/step/simulate.h"

namespace ricochet::app {

/// While it lives, Ctrl-C and SIGTERM ask the run to stop, and a terminal shows how far it is. A
/// second Ctrl-C ends the program at once.
class RunWatch {
 public:
  RunWatch(long long steps, bool show_progress);
  ~RunWatch();
  RunWatch(const RunWatch&) = delete;
  RunWatch& operator=(const RunWatch&) = delete;

  step::Monitor& monitor() { return monitor_; }

 private:
  void show_until_done();
  void draw(double seconds) const;

  long long steps_;
  step::Monitor monitor_;
  std::atomic<bool> done_{false};
  std::thread thread_;
};

}  // namespace ricochet::app
