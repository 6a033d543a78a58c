#pragma once

#include <string>
#include <vector>

#include "ricochet/study/motion.h"

namespace ricochet::study {

/// Something stated, and what was found.
struct Fact {
  std::string statement;
  std::string found;
  bool holds{false};
};

/// The [expect] table of a scene, evaluated on its run.
std::vector<Fact> check_expectations(const Motion& motion);

}  // namespace ricochet::study
