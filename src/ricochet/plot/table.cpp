#include "ricochet/plot/table.h"

#include <algorithm>

#include "ricochet/plot/axes.h"
#include "ricochet/plot/svg.h"

namespace ricochet::plot {
namespace {

constexpr double kTableMargin = 24.0;
constexpr double kLine = 15.0;
constexpr double kPadding = 12.0;

std::vector<double> widths_of(const std::vector<std::string>& header,
                              const std::vector<std::vector<std::vector<std::string>>>& rows) {
  std::vector<double> widths;
  for (const std::string& words : header) {
    widths.push_back(text_width(words, kLabelSize) + 2.0 * kPadding);
  }
  for (const auto& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      for (const std::string& line : row[c]) {
        widths[c] = std::max(widths[c], text_width(line, kLabelSize) + 2.0 * kPadding);
      }
    }
  }
  return widths;
}

}  // namespace

std::string draw_table(const std::string& title, const std::string& caption,
                       const std::vector<std::string>& header,
                       const std::vector<std::vector<std::vector<std::string>>>& rows) {
  const std::vector<double> widths = widths_of(header, rows);
  double width = 2.0 * kTableMargin;
  for (const double w : widths) width += w;
  width = std::max(width, 560.0);
  const std::vector<std::string> titles = fit_lines(title, width - 2.0 * kTableMargin, 15.0, 2);
  const std::vector<std::string> words =
      fit_lines(caption, width - 2.0 * kTableMargin, kLabelSize, 8);
  double height = 24.0 + 20.0 * static_cast<double>(titles.size()) + 2.0 * kLine;
  for (const auto& row : rows) {
    std::size_t lines = 1;
    for (const auto& cell : row) lines = std::max(lines, cell.size());
    height += kLine * static_cast<double>(lines) + 8.0;
  }
  Svg svg(width, height + 16.0 * static_cast<double>(words.size()) + 20.0, title);
  double y = 6.0;
  for (const std::string& line : titles)
    svg.text({kTableMargin, y += 20.0}, line, "start", "title");
  y += 10.0 + kLine;
  double x = kTableMargin;
  for (std::size_t c = 0; c < header.size(); ++c) {
    svg.text({x + kPadding, y}, header[c], "start", "heading");
    x += widths[c];
  }
  y += 6.0;
  for (const auto& row : rows) {
    svg.line({kTableMargin, y}, {x, y}, "grid");
    std::size_t lines = 1;
    double left = kTableMargin;
    for (std::size_t c = 0; c < row.size(); ++c) {
      for (std::size_t k = 0; k < row[c].size(); ++k) {
        svg.text({left + kPadding, y + kLine * static_cast<double>(k + 1)}, row[c][k], "start",
                 "label");
      }
      lines = std::max(lines, row[c].size());
      left += widths[c];
    }
    y += kLine * static_cast<double>(lines) + 8.0;
  }
  svg.line({kTableMargin, y}, {x, y}, "grid");
  y += 8.0;
  for (const std::string& line : words) svg.text({kTableMargin, y += 16.0}, line, "start", "note");
  return svg.finish();
}

}  // namespace ricochet::plot
