#pragma once

#include <signal.h>

#include <array>

#include "ricochet/step/outcome.h"

namespace ricochet::host {

/// While it lives, Ctrl-C and SIGTERM ask the run that is watched by its monitor to stop between
/// two steps. A second one, 50 ms later or more, ends the program at once, without its temporary
/// files. A command has one of it, until its last file is written.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  step::Monitor& monitor() { return monitor_; }

 private:
  step::Monitor monitor_;
  std::array<struct sigaction, 2> before_{};
};

/// Whether a signal has asked a run to stop.
bool stop_was_signalled();

/// From now on a signal that ends the program (Ctrl-C, SIGTERM, SIGHUP, SIGPIPE) removes its
/// temporary files first. A signal that is ignored stays so. For the `main` of a program.
void end_cleanly_on_signals();

}  // namespace ricochet::host
