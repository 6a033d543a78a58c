#include "ricochet/plot/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "ricochet/base/text.h"

namespace ricochet::plot {
namespace {

/// Colours are from the palette of Okabe and Ito, which colour-blind people can tell apart.
constexpr std::string_view kStyle = R"(<style>
  .paper { fill: #ffffff } .frame { fill: none; stroke: #888888 }
  .tick { stroke: #888888 } .grid { stroke: #e6e6e6 }
  .path { fill: none; stroke: #0072b2; stroke-width: 1.4; stroke-linejoin: round }
  .wall { fill: none; stroke: #333333; stroke-width: 1.6 }
  .hatch { stroke: #999999; stroke-width: 0.8 }
  .start { fill: #009e73 } .end { fill: #0072b2 } .shock { fill: none; stroke: #d55e00 }
  text { font-family: Helvetica, Arial, sans-serif; font-size: 12px; fill: #333333 }
  .title { font-size: 15px; font-weight: bold } .note { fill: #666666 }
</style>
)";

}  // namespace

std::string escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

double text_width(std::string_view text, double font_size) {
  constexpr double kLetter = 0.6;  // of the size of the font, on average, rather more than less
  return kLetter * font_size * base::display_width(text);
}

std::vector<std::string> fit_lines(const std::string& words, double width, double font_size,
                                   std::size_t most) {
  const int columns = std::max(8, static_cast<int>(width / text_width("m", font_size)));
  std::vector<std::string> lines;
  std::string rest = words;
  while (base::display_width(rest) > columns && lines.size() + 1 < most) {
    const std::string part = base::slice(rest, 0, columns + 1);
    const std::size_t blank = part.find_last_of(' ');
    if (blank == std::string::npos || blank == 0) break;
    lines.push_back(rest.substr(0, blank));
    rest.erase(0, blank + 1);
  }
  if (base::display_width(rest) > columns) rest = base::slice(rest, 0, columns - 1) + "…";
  if (!rest.empty()) lines.push_back(rest);
  return lines;
}

Svg::Svg(double width, double height, std::string_view title) {
  text_ = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" role=\"img\">\n<title>{2}</title>\n{3}",
      width, height, escape(title), kStyle);
  rectangle({0.0, 0.0}, width, height, "paper");
}

void Svg::line(Point a, Point b, std::string_view css_class) {
  text_ +=
      fmt::format("<line class=\"{}\" x1=\"{:.2f}\" y1=\"{:.2f}\" x2=\"{:.2f}\" y2=\"{:.2f}\"/>\n",
                  css_class, a.x, a.y, b.x, b.y);
}

void Svg::polyline(const std::vector<Point>& points, std::string_view css_class) {
  if (points.size() < 2) return;
  text_ += fmt::format("<polyline class=\"{}\" points=\"", css_class);
  for (const Point& point : points) {
    fmt::format_to(std::back_inserter(text_), "{:.2f},{:.2f} ", point.x, point.y);
  }
  text_ += "\"/>\n";
}

void Svg::circle(Point centre, double radius, std::string_view css_class) {
  text_ += fmt::format("<circle class=\"{}\" cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"{}\"/>\n", css_class,
                       centre.x, centre.y, radius);
}

void Svg::rectangle(Point corner, double width, double height, std::string_view css_class) {
  text_ += fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n",
                       css_class, corner.x, corner.y, width, height);
}

void Svg::text(Point at, std::string_view words, std::string_view anchor,
               std::string_view css_class, double turn) {
  const std::string rotate =
      turn == 0.0 ? "" : fmt::format(" transform=\"rotate({} {:.2f} {:.2f})\"", -turn, at.x, at.y);
  text_ +=
      fmt::format("<text class=\"{}\" x=\"{:.2f}\" y=\"{:.2f}\" text-anchor=\"{}\"{}>{}</text>\n",
                  css_class, at.x, at.y, anchor, rotate, escape(words));
}

void Svg::begin_clip(Point corner, double width, double height) {
  ++clips_;
  text_ += fmt::format(
      "<clipPath id=\"clip{0}\"><rect x=\"{1}\" y=\"{2}\" width=\"{3}\" "
      "height=\"{4}\"/></clipPath>\n"
      "<g clip-path=\"url(#clip{0})\">\n",
      clips_, corner.x, corner.y, width, height);
}

void Svg::end_clip() { text_ += "</g>\n"; }

}  // namespace ricochet::plot
