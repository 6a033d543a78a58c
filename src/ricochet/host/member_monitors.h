#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "ricochet/step/outcome.h"

namespace ricochet::host {

/// A monitor for each member of a family. While it lives, one that is asked to stop as a whole asks
/// all of them, and it shows the sum of their steps.
class MemberMonitors {
 public:
  MemberMonitors(step::Monitor& whole, std::size_t members);
  ~MemberMonitors();
  MemberMonitors(const MemberMonitors&) = delete;
  MemberMonitors& operator=(const MemberMonitors&) = delete;

  step::Monitor& operator[](std::size_t member) { return monitors_[member].monitor; }

 private:
  /// On a cache line of its own: members that run beside each other write theirs at every step.
  struct alignas(64) Padded {
    step::Monitor monitor;
  };
  void watch();
  void pass_on();

  step::Monitor& whole_;
  std::vector<Padded> monitors_;
  std::mutex mutex_;
  std::condition_variable done_;
  bool is_done_{false};
  std::thread thread_;
};

}  // namespace ricochet::host
