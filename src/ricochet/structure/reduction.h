#pragma once

#include "ricochet/structure/linear_structure.h"

namespace ricochet::structure {

/// A structure seen through a few shapes: q = basis y, with basis^T M basis = 1 and K diagonal.
struct Reduction {
  LinearStructure structure;
  Eigen::MatrixXd basis;  // of one plane
  int modes{0};
  int corrections{0};  // static shapes of loads and guides beyond the modes
};

/// The first modes, and of each load and guide the static shape that they leave out, so that slow
/// forces there bend the structure as they would the whole [Craig 1968]. Shapes that the modes
/// already give are left out.
Reduction reduce(const LinearStructure& structure, int modes);

/// y of a vector of all planes: the nearest in the metric of M.
Eigen::VectorXd project(const Reduction& reduction, const LinearStructure& structure,
                        const Eigen::VectorXd& q);
Eigen::VectorXd expand(const Reduction& reduction, const Eigen::VectorXd& y);

}  // namespace ricochet::structure
