#pragma once

#include <string>
#include <vector>

namespace ricochet::bench {

/// One curve: x ascending; drawn as steps or as a line.
struct Curve {
  std::string name;
  std::vector<double> x;
  std::vector<double> y;
};

/// Performance profiles [Dolan 2002]: the part of the problems that each solver solves within a
/// factor of the best, the factor on a logarithmic axis.
std::string draw_profiles(const std::string& title, const std::vector<Curve>& curves);

/// Curves with both axes logarithmic.
std::string draw_growth(const std::string& title, const std::string& x, const std::string& y,
                        const std::vector<Curve>& curves);

}  // namespace ricochet::bench
