#pragma once

#include <filesystem>

namespace ricochet::app {

/// Makes a PNG of an SVG with rsvg-convert or Inkscape, whichever is installed. Throws
/// base::InputError when there is none, or when it fails.
void convert_to_png(const std::filesystem::path& svg, const std::filesystem::path& png);

}  // namespace ricochet::app
