#include "stop_signals.h"

#include <atomic>
#include <cassert>
#include <csignal>

namespace ricochet::app {
namespace {

std::atomic<step::Monitor*> watched{nullptr};

void ask_to_stop(int signal) {
  if (step::Monitor* monitor = watched.load()) monitor->stop.store(true);
  std::signal(signal, SIG_DFL);  // the next one ends the program
}

}  // namespace

StopSignals::StopSignals() {
  assert(watched.load() == nullptr && "one at a time");
  watched.store(&monitor_);
  std::signal(SIGINT, ask_to_stop);
  std::signal(SIGTERM, ask_to_stop);
}

StopSignals::~StopSignals() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  watched.store(nullptr);
}

}  // namespace ricochet::app
