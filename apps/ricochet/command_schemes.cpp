#include <fmt/format.h>

#include "commands.h"
#include "ricochet/step/scheme.h"

namespace ricochet::app {

int command_schemes() {
  fmt::print("| scheme | positions and velocities | laws | settings | good for |\n");
  fmt::print("|---|---|---|---|---|\n");
  for (const step::SchemeInfo* info : step::all_schemes()) {
    fmt::print("{}\n", step::guide_row(*info));
  }
  return kFine;
}

}  // namespace ricochet::app
