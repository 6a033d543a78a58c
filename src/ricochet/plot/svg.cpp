#include "ricochet/plot/svg.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "ricochet/base/text.h"

namespace ricochet::plot {
namespace {

/// Colours are from the palette of Okabe and Ito, which colour-blind people can tell apart, with
/// the yellow left out, which white paper swallows. Readers without the dark rules show the light
/// ones.
constexpr std::string_view kPictureStyle = R"css(
.rico { background: #ffffff; font-family: Helvetica, Arial, sans-serif }
.rico .paper { fill: #ffffff } .rico .frame { fill: none; stroke: #8a8f98 }
.rico .tick { stroke: #8a8f98 } .rico .grid { stroke: #e9ebee }
.rico .zero { stroke: #c3c8cf }
.rico .curve { fill: none; stroke-width: 1.4; stroke-linejoin: round; stroke-linecap: round }
.rico .dots { stroke-width: 3.2 } .rico .few { stroke-width: 6 }
.rico .s0 { stroke: #0072b2 } .rico .s1 { stroke: #d55e00 } .rico .s2 { stroke: #009e73 }
.rico .s3 { stroke: #cc79a7 } .rico .s4 { stroke: #e69f00 } .rico .s5 { stroke: #56b4e9 }
.rico .s6 { stroke: #6b6b6b } .rico .s7 { stroke: #8c510a }
.rico .wall { fill: none; stroke: #333a44; stroke-width: 1.6 }
.rico .hatch { fill: none; stroke: #9aa1ab; stroke-width: 0.8 }
.rico .start { fill: #009e73 } .rico .end { fill: #333a44 }
.rico .shock { fill: none; stroke: #d55e00; stroke-width: 1.4 }
.rico .mark { fill: none; stroke: #333a44; stroke-width: 1.1 }
.rico .body { fill: none; stroke: #0072b2; stroke-width: 1.2; stroke-linecap: round }
.rico .solid { fill: #e3eff7; stroke: #0072b2; stroke-width: 0.8; stroke-linejoin: round }
.rico .ground { fill: #f3f4f6; stroke: #9aa1ab; stroke-width: 0.8 }
.rico .fit { fill: none; stroke: #6b6b6b; stroke-width: 1; stroke-dasharray: 5 4 }
.rico .area-v { fill: #56b4e9; fill-opacity: 0.55 } .rico .area-t { fill: #e69f00; fill-opacity: 0.6 }
.rico .area-lost { fill: #b9bec6; fill-opacity: 0.45 }
.rico .band { fill: #8a93a0; fill-opacity: 0.35; stroke: none }
.rico .state0 { fill: #eef0f3 } .rico .state1 { fill: #0072b2 }
.rico .state2 { fill: #e69f00 } .rico .state3 { fill: #d55e00 } .rico .state4 { fill: #a9c9de }
.rico text { font-size: 12px; fill: #333a44 }
.rico .title { font-size: 15px; font-weight: bold } .rico .heading { font-weight: bold }
.rico .note { fill: #5d6570 } .rico .number { font-size: 10px; fill: #333a44 }
.rico .agrees { fill: #00785a } .rico .differs { fill: #b34700; font-weight: bold }
@media (prefers-color-scheme: dark) {
  .rico { background: #14171c }
  .rico .paper { fill: #14171c } .rico .frame { stroke: #7b828d } .rico .tick { stroke: #7b828d }
  .rico .grid { stroke: #262b33 } .rico .zero { stroke: #434a55 }
  .rico .s0 { stroke: #5eb5ec } .rico .s1 { stroke: #ff8a3d } .rico .s2 { stroke: #35cfa3 }
  .rico .s3 { stroke: #e7a6cb } .rico .s4 { stroke: #f3b63f } .rico .s5 { stroke: #a3d8f7 }
  .rico .s6 { stroke: #b4b9c1 } .rico .s7 { stroke: #d19a5b }
  .rico .wall { stroke: #d9dde3 } .rico .hatch { stroke: #717986 }
  .rico .start { fill: #35cfa3 } .rico .end { fill: #d9dde3 } .rico .shock { stroke: #ff8a3d }
  .rico .mark { stroke: #d9dde3 } .rico .body { stroke: #5eb5ec } .rico .fit { stroke: #b4b9c1 }
  .rico .solid { fill: #1d3444; stroke: #5eb5ec } .rico .ground { fill: #1c2026; stroke: #717986 }
  .rico .area-v { fill: #3f8fc4 } .rico .area-t { fill: #c58a1c } .rico .area-lost { fill: #4d5560 }
  .rico .state0 { fill: #23282f } .rico .state1 { fill: #5eb5ec }
  .rico .state2 { fill: #f3b63f } .rico .state3 { fill: #ff8a3d } .rico .state4 { fill: #3d5a70 }
  .rico text { fill: #e3e6ea } .rico .note { fill: #a3abb6 } .rico .number { fill: #e3e6ea }
  .rico .agrees { fill: #35cfa3 } .rico .differs { fill: #ff8a3d }
}
)css";

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

std::string_view picture_style() { return kPictureStyle; }

void append_pixels(double value, std::string& text) {
  const double rounded = std::round(value * 100.0) / 100.0;
  fmt::format_to(std::back_inserter(text), FMT_COMPILE("{:.7g}"), rounded == 0.0 ? 0.0 : rounded);
}

Svg::Svg(double width, double height, std::string_view title) {
  text_ = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"rico\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "role=\"img\">\n<title>{2}</title>\n<style>{3}</style>\n",
      width, height, escape(title), kPictureStyle);
  rectangle({0.0, 0.0}, std::round(width), std::round(height), "paper");
}

void Svg::line(Point a, Point b, std::string_view css_class) {
  text_ +=
      fmt::format("<line class=\"{}\" x1=\"{:.2f}\" y1=\"{:.2f}\" x2=\"{:.2f}\" y2=\"{:.2f}\"/>\n",
                  css_class, a.x, a.y, b.x, b.y);
}

void Svg::polyline(const std::vector<Point>& points, std::string_view css_class) {
  if (points.size() >= 2) path({points}, css_class);
}

void Svg::path(const std::vector<std::vector<Point>>& pieces, std::string_view css_class) {
  text_ += fmt::format("<path class=\"{}\" d=\"", css_class);
  for (const std::vector<Point>& piece : pieces) {
    for (std::size_t k = 0; k < piece.size(); ++k) {
      text_ += k == 0 ? 'M' : (k == 1 ? 'L' : ' ');
      append_pixels(piece[k].x, text_);
      text_ += ' ';
      append_pixels(piece[k].y, text_);
    }
    if (piece.size() == 1) text_ += "h0";  // a dot, by its round cap
  }
  text_ += "\"/>\n";
}

void Svg::polygon(const std::vector<Point>& points, std::string_view css_class) {
  text_ += fmt::format("<polygon class=\"{}\" points=\"", css_class);
  for (const Point& p : points) {
    append_pixels(p.x, text_);
    text_ += ',';
    append_pixels(p.y, text_);
    text_ += ' ';
  }
  text_ += "\"/>\n";
}

void Svg::circle(Point centre, double radius, std::string_view css_class) {
  text_ += fmt::format("<circle class=\"{}\" cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"{:.4g}\"/>\n",
                       css_class, centre.x, centre.y, radius);
}

void Svg::rectangle(Point corner, double width, double height, std::string_view css_class) {
  text_ += fmt::format(
      "<rect class=\"{}\" x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\"/>\n",
      css_class, corner.x, corner.y, width, height);
}

void Svg::image(Point corner, double width, double height, std::string_view address) {
  text_ += fmt::format(
      "<image x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" "
      "preserveAspectRatio=\"none\" style=\"image-rendering: pixelated\" href=\"{}\"/>\n",
      corner.x, corner.y, width, height, address);
}

void Svg::mark(Point at, std::string_view shape, double size, std::string_view css_class) {
  if (shape == "o") circle(at, size, css_class);
  if (shape == "+") {
    path({{{at.x - size, at.y}, {at.x + size, at.y}}, {{at.x, at.y - size}, {at.x, at.y + size}}},
         css_class);
  }
  if (shape == "x") {
    const double s = 0.8 * size;
    path({{{at.x - s, at.y - s}, {at.x + s, at.y + s}},
          {{at.x - s, at.y + s}, {at.x + s, at.y - s}}},
         css_class);
  }
}

void Svg::text(Point at, std::string_view words, std::string_view anchor,
               std::string_view css_class, double turn) {
  const std::string rotate =
      turn == 0.0 ? "" : fmt::format(" transform=\"rotate({} {:.2f} {:.2f})\"", -turn, at.x, at.y);
  text_ +=
      fmt::format("<text class=\"{}\" x=\"{:.2f}\" y=\"{:.2f}\" text-anchor=\"{}\"{}>{}</text>\n",
                  css_class, at.x, at.y, anchor, rotate, escape(words));
}

/// A picture within the picture clips by itself; it needs no name that another could have too.
void Svg::begin_clip(Point corner, double width, double height) {
  text_ += fmt::format(
      "<svg x=\"{0:.2f}\" y=\"{1:.2f}\" width=\"{2:.2f}\" height=\"{3:.2f}\" "
      "viewBox=\"{0:.2f} {1:.2f} {2:.2f} {3:.2f}\" overflow=\"hidden\">\n",
      corner.x, corner.y, width, height);
}

void Svg::end_clip() { text_ += "</svg>\n"; }

void Svg::begin_group(std::string_view attributes) { text_ += fmt::format("<g {}>\n", attributes); }

void Svg::end_group() { text_ += "</g>\n"; }

std::vector<Point> simplified(const std::vector<Point>& points, double tolerance) {
  if (points.size() < 3) return points;
  std::vector<bool> keep(points.size(), false);
  keep.front() = keep.back() = true;
  std::vector<std::pair<std::size_t, std::size_t>> open = {{0, points.size() - 1}};
  while (!open.empty()) {
    const auto [begin, end] = open.back();
    open.pop_back();
    const Point a = points[begin];
    const double dx = points[end].x - a.x;
    const double dy = points[end].y - a.y;
    const double length = std::hypot(dx, dy);
    double worst = tolerance;
    std::size_t at = 0;
    for (std::size_t k = begin + 1; k < end; ++k) {
      const double px = points[k].x - a.x;
      const double py = points[k].y - a.y;
      // Beyond the ends of the chord the distance is that to an end.
      const double along = length > 0.0 ? (px * dx + py * dy) / length : 0.0;
      const double beyond = std::max({0.0, -along, along - length});
      const double across = length > 0.0 ? std::abs(px * dy - py * dx) / length : 0.0;
      const double off = length > 0.0 ? std::hypot(across, beyond) : std::hypot(px, py);
      if (off > worst) {
        worst = off;
        at = k;
      }
    }
    if (at == 0) continue;
    keep[at] = true;
    open.emplace_back(begin, at);
    open.emplace_back(at, end);
  }
  std::vector<Point> kept;
  for (std::size_t k = 0; k < points.size(); ++k) {
    if (keep[k]) kept.push_back(points[k]);
  }
  return kept;
}

}  // namespace ricochet::plot
