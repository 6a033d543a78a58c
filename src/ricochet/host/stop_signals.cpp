#include "ricochet/host/stop_signals.h"

#include <time.h>

#include <atomic>
#include <cassert>

#include "ricochet/host/temporary_file.h"

namespace ricochet::host {
namespace {

constexpr std::array<int, 2> kStops = {SIGINT, SIGTERM};

std::atomic<step::Monitor*> watched{nullptr};
std::atomic<bool> was_signalled{false};
std::atomic<long long> first_request{0};  // when, for the first time; 0: not yet

void handle(int signal, void (*handler)(int), struct sigaction* before = nullptr) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(signal, &action, before);
}

/// Sent again, the signal waits for this function to return and then ends the program.
void end_program(int signal) {
  remove_temporary_files();
  handle(signal, SIG_DFL);
  ::raise(signal);
}

long long clock_now() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return 1'000'000'000LL * now.tv_sec + now.tv_nsec;
}

/// Some send a signal to a process and to its group, which is one request and no second thought.
void ask_to_stop(int signal) {
  constexpr long long kOnce = 50'000'000;  // [ns]
  long long first = 0;
  if (!first_request.compare_exchange_strong(first, clock_now())) {
    if (clock_now() - first > kOnce) end_program(signal);
    return;
  }
  was_signalled.store(true);
  if (step::Monitor* monitor = watched.load()) monitor->stop.store(true);
}

}  // namespace

StopSignals::StopSignals() {
  assert(watched.load() == nullptr && "one at a time");
  watched.store(&monitor_);
  first_request.store(0);
  for (std::size_t k = 0; k < kStops.size(); ++k) handle(kStops[k], ask_to_stop, &before_[k]);
}

StopSignals::~StopSignals() {
  for (std::size_t k = 0; k < kStops.size(); ++k) ::sigaction(kStops[k], &before_[k], nullptr);
  watched.store(nullptr);
}

bool stop_was_signalled() { return was_signalled.load(); }

void end_cleanly_on_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
    struct sigaction now {};
    ::sigaction(signal, nullptr, &now);
    if (now.sa_handler == SIG_DFL) handle(signal, end_program);
  }
}

}  // namespace ricochet::host
