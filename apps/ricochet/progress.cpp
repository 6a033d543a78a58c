#include "progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <csignal>

namespace ricochet::app {
namespace {

std::atomic<step::Monitor*> watched{nullptr};

void ask_to_stop(int signal) {
  if (step::Monitor* monitor = watched.load()) monitor->stop.store(true);
  std::signal(signal, SIG_DFL);  // the next one ends the program
}

}  // namespace

RunWatch::RunWatch(long long steps, bool show_progress) : steps_(steps) {
  watched.store(&monitor_);
  std::signal(SIGINT, ask_to_stop);
  std::signal(SIGTERM, ask_to_stop);
  if (show_progress && ::isatty(STDERR_FILENO) == 1) {
    thread_ = std::thread([this] { show_until_done(); });
  }
}

RunWatch::~RunWatch() {
  done_.store(true);
  if (thread_.joinable()) thread_.join();
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  watched.store(nullptr);
}

void RunWatch::show_until_done() {
  using namespace std::chrono_literals;
  const base::Stopwatch clock;
  bool drawn = false;
  for (int ticks = 1; !done_.load(); ++ticks) {
    std::this_thread::sleep_for(20ms);
    if (ticks % 10 != 0) continue;
    draw(clock.seconds());
    drawn = true;
  }
  if (drawn) fmt::print(stderr, "\r{:79}\r", "");
}

void RunWatch::draw(double seconds) const {
  constexpr int kWidth = 30;
  const auto done = static_cast<double>(monitor_.steps.load(std::memory_order_relaxed));
  const double part = steps_ > 0 ? done / static_cast<double>(steps_) : 1.0;
  const double left = part > 0.0 ? seconds * (1.0 - part) / part : 0.0;
  const std::string bar(static_cast<std::size_t>(part * kWidth), '#');
  fmt::print(stderr, "\r[{:<{}}] {:5.1f} %  {:.3g} steps/s  {:.0f} s left   ", bar, kWidth,
             100.0 * part, done / seconds, left);
  std::fflush(stderr);
}

}  // namespace ricochet::app
