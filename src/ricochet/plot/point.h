#pragma once

namespace ricochet::plot {

struct Point {
  double x{0.0};
  double y{0.0};
  template <class Archive>
  void visit(Archive& archive) {
    archive(x, y);
  }
};

}  // namespace ricochet::plot
