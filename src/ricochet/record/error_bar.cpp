#include "ricochet/record/error_bar.h"

#include <fmt/format.h>

#include "ricochet/base/text.h"

namespace ricochet::record {

std::string watches_that_hold(const ErrorBar& bar) {
  std::vector<std::string> names;
  for (const ErrorBar::OfWatch& watch : bar.watches) {
    if (watch.holds && !watch.is_left_open) names.push_back(watch.name);
  }
  if (names.empty()) return "";
  constexpr std::size_t kMostNames = 6;
  if (names.size() == bar.watches.size()) {
    return fmt::format("; {} in spite of that",
                       names.size() == 1 ? "its watch holds" : "all its watches hold");
  }
  return fmt::format("; of the watches {} {}", base::list_names(names, kMostNames),
                     names.size() == 1 ? "holds" : "hold");
}

}  // namespace ricochet::record
