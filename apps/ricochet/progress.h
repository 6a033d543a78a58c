#pragma once

#include <atomic>
#include <thread>

#include "ricochet/base/clock.h"
#include "ricochet/step/outcome.h"

namespace ricochet::app {

/// While it lives, a terminal shows how far the run of the monitor is; anything else shows nothing.
class ProgressBar {
 public:
  ProgressBar(const step::Monitor& monitor, long long steps);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

 private:
  void show_until_done();
  void draw(double seconds) const;

  const step::Monitor& monitor_;
  long long steps_;
  std::atomic<bool> done_{false};
  std::thread thread_;
};

}  // namespace ricochet::app
