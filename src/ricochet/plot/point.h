#pragma once

namespace ricochet::plot {

struct Point {
  double x{0.0};
  double y{0.0};
};

}  // namespace ricochet::plot
