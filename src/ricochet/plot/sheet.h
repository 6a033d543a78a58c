#pragma once

#include <string>
#include <vector>

#include "ricochet/plot/axes.h"
#include "ricochet/plot/panel.h"

namespace ricochet::plot {

struct SheetText {
  std::string title;
  std::string subtitle;
  std::string caption;  // below the panels
  double width{0.0};    // of the sheet [px]; 0: what suits
};

/// Where a panel ended up.
struct PlacedPanel {
  std::size_t block{0};
  std::size_t panel{0};
  Frame frame;
};

/// A finished picture.
struct Sheet {
  std::string svg;
  double width{0.0};
  double height{0.0};
  std::vector<PlacedPanel> panels;
};

/// Draws blocks below each other, the panels of each in rows of as many as its plan says.
Sheet draw_sheet(const std::vector<Block>& blocks, const SheetText& text);

/// The first panel of a block that shows curves, so small that its letters can be read where a
/// page has several pictures in a row; "" where there is none.
std::string draw_thumbnail(const Block& block);

}  // namespace ricochet::plot
