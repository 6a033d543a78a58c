#pragma once

#include <string>
#include <vector>

namespace ricochet::scene {

/// In place of a formula: what a program gives as a function.
inline constexpr const char* kOutside = "outside";

/// One entry of system.coordinates: a single coordinate "x", or a family "z[first..last]".
struct CoordinateGroup {
  std::string name;
  bool indexed{false};
  int first{1};
  int count{1};
  int begin{0};  // number of its first coordinate among all

  std::string full_name(int k) const {  // of its k-th coordinate
    return indexed ? name + "[" + std::to_string(first + k) + "]" : name;
  }
};

}  // namespace ricochet::scene
