#include "ricochet/host/member_monitors.h"

#include <chrono>

namespace ricochet::host {

MemberMonitors::MemberMonitors(step::Monitor& whole, std::size_t members)
    : whole_(whole), monitors_(members), thread_([this] { watch(); }) {}

MemberMonitors::~MemberMonitors() {
  {
    const std::lock_guard lock(mutex_);
    is_done_ = true;
  }
  done_.notify_all();
  thread_.join();
}

void MemberMonitors::watch() {
  using namespace std::chrono_literals;
  std::unique_lock lock(mutex_);
  while (!done_.wait_for(lock, 20ms, [this] { return is_done_; })) pass_on();
}

void MemberMonitors::pass_on() {
  const bool stop = whole_.stop.load();
  long long steps = 0;
  for (Padded& padded : monitors_) {
    steps += padded.monitor.steps.load(std::memory_order_relaxed);
    if (stop) padded.monitor.stop.store(true);
  }
  whole_.steps.store(steps, std::memory_order_relaxed);
}

}  // namespace ricochet::host
