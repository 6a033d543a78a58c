#pragma once

#include <array>
#include <string>
#include <vector>

#include "ricochet/study/exhibit.h"

namespace ricochet::study {

/// The table of plate 5 as printed in [Moreau 1986]: angles at t = .1 ... 1, violations in
/// millionths of the radius, and their means over the 200 steps. All floored at the last digit.
struct Plate5 {
  static constexpr std::array<double, 5> kAnticipation = {-0.02, -0.01, 0.0, 0.01, 0.02};
  static constexpr std::array<double, 10> kReference = {
      1.36131, 2.50965, 3.52177, 4.62009, 5.9388, 7.32826, 8.53231, 9.5587, 10.61622, 11.88258};
  static constexpr std::array<double, 10> kOneDimensional = {
      1.36125, 2.50956, 3.52165, 4.6199, 5.93852, 7.32793, 8.532, 9.55838, 10.61582, 11.88204};
  static constexpr std::array<std::array<double, 10>, 5> kAngle = {{
      {1.3597, 2.50539, 3.51322, 4.60362, 5.91112, 7.29208, 8.49154, 9.50828, 10.54296, 11.77668},
      {1.36026, 2.5073, 3.51739, 4.61175, 5.92461, 7.30954, 8.5113, 9.53291, 10.57886, 11.82858},
      {1.36083, 2.50922, 3.52157, 4.61992, 5.93817, 7.3271, 8.53123, 9.55789, 10.61544, 11.88134},
      {1.3597, 2.50823, 3.52054, 4.6182, 5.93552, 7.32401, 8.52867, 9.55818, 10.61753, 11.88105},
      {1.35909, 2.50719, 3.5219, 4.62228, 5.93772, 7.32312, 8.52693, 9.56027, 10.62548, 11.89552},
  }};
  static constexpr std::array<std::array<double, 10>, 5> kViolation = {{
      {1733, 2900, 3900, 5221, 7100, 8962, 10250, 11235, 12404, 14121},
      {805, 1310, 1802, 2530, 3555, 4454, 5008, 5475, 6116, 7079},
      {-124, -283, -302, -171, -10, -78, -255, -312, -215, -36},
      {-1369, 1644, 572, -1122, -3101, -2088, -6108, -4311, -2665, 3229},
      {-137, -580, -5206, -3768, -5847, -789, -7135, -16694, -2380, -13060},
  }};
  static constexpr std::array<double, 5> kMean = {7112, 3476, 177, 2662, 5304};
  static constexpr std::array<double, 5> kRootMeanSquare = {8184, 4025, 207, 3486, 6875};
};

/// Our figure beside a printed one, both in units of the printed one's last digit.
struct Digit {
  double printed{0.0};
  double ours{0.0};  // floored, as he did
  double unit{1.0};  // of the last digit
  int off() const;   // by how many units they differ
};

/// What our runs give for one line of the table.
struct Plate5Line {
  std::string label;
  std::vector<Digit> angles;      // 10
  std::vector<Digit> violations;  // 10, or none for the one-dimensional line
  std::vector<Digit> means;       // mean and root mean square, or none
  std::vector<Fact> facts;        // what is wrong with the run; none when it is whole
};

/// The one-dimensional line, then those of the five anticipation coefficients.
std::vector<Plate5Line> recompute_plate5(const Runner& runner);

Exhibit show_plate5(const Runner& runner);

}  // namespace ricochet::study
