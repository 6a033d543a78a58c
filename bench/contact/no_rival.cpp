// Stands in where libsiconos-numerics-dev is not installed.

#include "rival.h"

namespace ricochet::bench {

std::vector<std::string> rival_names(int /*dim*/) { return {}; }

std::string rival_description() {
  return "Siconos: skipped, libsiconos-numerics-dev was not found when this was built";
}

Timed run_rival(const std::string&, const std::string&, int, Eigen::Index, double, double, int) {
  return {};
}

}  // namespace ricochet::bench
