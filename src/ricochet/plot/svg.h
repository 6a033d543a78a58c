#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ricochet::plot {

struct Point {
  double x{0.0};
  double y{0.0};
};

/// An SVG picture being drawn, in pixels, y downwards. Text stays text.
class Svg {
 public:
  Svg(double width, double height, std::string_view title);

  void line(Point a, Point b, std::string_view css_class);
  void polyline(const std::vector<Point>& points, std::string_view css_class);
  void circle(Point centre, double radius, std::string_view css_class);
  void rectangle(Point corner, double width, double height, std::string_view css_class);
  /// `anchor`: start, middle or end; `turn` in degrees, anticlockwise.
  void text(Point at, std::string_view words, std::string_view anchor, std::string_view css_class,
            double turn = 0.0);

  /// Drawing between these is clipped to the rectangle.
  void begin_clip(Point corner, double width, double height);
  void end_clip();

  std::string finish() const { return text_ + "</svg>\n"; }

 private:
  std::string text_;
  int clips_{0};
};

/// About how many pixels wide a text is in letters of that size; none is cut that fits.
double text_width(std::string_view text, double font_size);

/// The words in lines at most so wide, and at most so many; what is left out becomes an ellipsis.
std::vector<std::string> fit_lines(const std::string& words, double width, double font_size,
                                   std::size_t most);

/// `text` with &, <, > and quotes escaped.
std::string escape(std::string_view text);

}  // namespace ricochet::plot
