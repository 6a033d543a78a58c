#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ricochet/plot/point.h"

namespace ricochet::plot {

/// An SVG picture being drawn, in pixels, y downwards. Text stays text; colours are classes of the
/// style sheet, in which every colour has its counterpart on a dark ground.
class Svg {
 public:
  Svg(double width, double height, std::string_view title);

  void line(Point a, Point b, std::string_view css_class);
  void polyline(const std::vector<Point>& points, std::string_view css_class);
  /// Several curves as one element.
  void path(const std::vector<std::vector<Point>>& pieces, std::string_view css_class);
  void polygon(const std::vector<Point>& points, std::string_view css_class);
  void circle(Point centre, double radius, std::string_view css_class);
  void rectangle(Point corner, double width, double height, std::string_view css_class);
  /// A raster stretched over the rectangle; see Raster::data_address.
  void image(Point corner, double width, double height, std::string_view address);
  /// "+", "x" or "o".
  void mark(Point at, std::string_view shape, double size, std::string_view css_class);
  /// `anchor`: start, middle or end; `turn` in degrees, anticlockwise.
  void text(Point at, std::string_view words, std::string_view anchor, std::string_view css_class,
            double turn = 0.0);

  /// Drawing between these is clipped to the rectangle.
  void begin_clip(Point corner, double width, double height);
  void end_clip();
  /// An element <g> with these attributes.
  void begin_group(std::string_view attributes);
  void end_group();

  std::string finish() const { return text_ + "</svg>\n"; }

 private:
  std::string text_;
};

/// The style sheet of all pictures; a page that has pictures in it needs it too.
std::string_view picture_style();

/// Numbers of the classes of curves, "s0" to "s7".
inline constexpr std::size_t kSeriesColours = 8;

/// The points that a line through others within `tolerance` pixels does without (Douglas and
/// Peucker); both ends stay.
std::vector<Point> simplified(const std::vector<Point>& points, double tolerance);

/// About how many pixels wide a text is in letters of that size; none is cut that fits.
double text_width(std::string_view text, double font_size);

/// The words in lines at most so wide, and at most so many; what is left out becomes an ellipsis.
std::vector<std::string> fit_lines(const std::string& words, double width, double font_size,
                                   std::size_t most);

/// `text` with &, <, > and quotes escaped.
std::string escape(std::string_view text);

/// A length in pixels, to a hundredth, without digits that are not needed.
void append_pixels(double value, std::string& text);

}  // namespace ricochet::plot
