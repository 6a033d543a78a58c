#pragma once

#include <string>
#include <vector>

namespace ricochet::plot {

/// A table as a picture: cells of several lines, as on printed plates. Text stays text.
std::string draw_table(const std::string& title, const std::string& caption,
                       const std::vector<std::string>& header,
                       const std::vector<std::vector<std::vector<std::string>>>& rows);

}  // namespace ricochet::plot
