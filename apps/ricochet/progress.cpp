#include "progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>

namespace ricochet::app {

ProgressBar::ProgressBar(const step::Monitor& monitor, long long steps)
    : monitor_(monitor), steps_(steps) {
  if (::isatty(STDERR_FILENO) == 1) thread_ = std::thread([this] { show_until_done(); });
}

ProgressBar::~ProgressBar() {
  done_.store(true);
  if (thread_.joinable()) thread_.join();
}

void ProgressBar::show_until_done() {
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

void ProgressBar::draw(double seconds) const {
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
