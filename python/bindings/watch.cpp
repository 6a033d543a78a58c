#include "watch.h"

#include <utility>

namespace ricochet::python {
namespace {

thread_local Watch* current_watch = nullptr;

}  // namespace

Watch::Watch(py::object progress, long long total)
    : progress_(std::move(progress)), total_(total), last_(Clock::now()) {}

Watch::~Watch() = default;

Watch* Watch::current() { return current_watch; }

Watch::Here::Here(Watch& watch) : before_(std::exchange(current_watch, &watch)) {}
Watch::Here::~Here() { current_watch = before_; }

bool Watch::take_interrupt() { return !monitor_.stop.exchange(true); }

void Watch::keep_error() {
  py::error_already_set error;
  const bool is_first = take_interrupt();
  if (error.matches(PyExc_KeyboardInterrupt) && is_first) return;
  if (!error_) error_.emplace(std::move(error));
}

void Watch::tell() {
  if (progress_.is_none() || error_) return;
  try {
    progress_(monitor_.steps.load(std::memory_order_relaxed), total_.load());
  } catch (py::error_already_set& error) {
    error.restore();
    keep_error();
  }
}

void Watch::tick() {
  if (PyErr_CheckSignals() != 0) keep_error();
  const Clock::time_point now = Clock::now();
  if (now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  tell();
}

void Watch::finish() {
  if (PyErr_CheckSignals() != 0) keep_error();
  tell();
  if (error_) throw py::error_already_set(*error_);
}

}  // namespace ricochet::python
