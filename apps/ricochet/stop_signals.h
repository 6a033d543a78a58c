#pragma once

#include "ricochet/step/outcome.h"

namespace ricochet::app {

/// While it lives, Ctrl-C and SIGTERM ask the run that is watched by its monitor to stop between
/// two steps. A second one ends the program at once. A command has one of it, until its last file
/// is written.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  step::Monitor& monitor() { return monitor_; }

 private:
  step::Monitor monitor_;
};

}  // namespace ricochet::app
