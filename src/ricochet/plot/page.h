#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ricochet/record/summary.h"

namespace ricochet::plot {

/// A whole HTML page with its style, light or dark, and its script; nothing of it comes from
/// elsewhere. `body` is HTML.
std::string make_page(const std::string& title, const std::string& body);

/// A picture as part of a page; `caption` is HTML, and may be empty.
std::string figure(const std::string& svg, const std::string& caption,
                   std::string_view css_class = "");

/// Stated facts with what was found: agrees, differs.
std::string fact_list(const std::vector<record::StatedFact>& facts);

/// Rows of a table with two columns.
std::string pair_table(const std::vector<std::pair<std::string, std::string>>& rows);

}  // namespace ricochet::plot
