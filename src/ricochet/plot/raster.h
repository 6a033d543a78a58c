#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ricochet::plot {

/// A picture of few colours, point by point: for clouds of many dots, which as elements of an SVG
/// would be slow.
class Raster {
 public:
  Raster(int width, int height)
      : width_(width),
        height_(height),
        points_(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), 0) {}

  int width() const { return width_; }
  int height() const { return height_; }
  /// From the upper left. The colour is the number of one of the palette; 0 is transparent.
  std::uint8_t& at(int x, int y) {
    return points_[static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) +
                   static_cast<std::size_t>(x)];
  }

  /// A PNG, as an address that an <image> takes. Colours are 0xrrggbb and their opacity 0 to 255.
  struct Colour {
    std::uint32_t rgb{0};
    std::uint8_t opacity{255};
  };
  std::string data_address(const std::vector<Colour>& palette) const;

 private:
  int width_;
  int height_;
  std::vector<std::uint8_t> points_;
};

}  // namespace ricochet::plot
