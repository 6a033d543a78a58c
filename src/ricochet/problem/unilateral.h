#pragma once

#include <Eigen/Core>

namespace ricochet::problem {

/// One step's contacts without friction, as plain data:
///
///     find p >= 0 with  U = W p + b >= 0  and  p . U = 0,   W = J M^-1 J^T = A^T A.
///
/// The last `held` rows are joints: U = 0 and p of any sign.
/// W is given by its factor A = L^-1 J^T, M = L L^T, so that nearly dependent gradients can be told
/// from dependent ones. Storage is kept between steps; only the first `count` columns count.
struct Unilateral {
  Eigen::Index dofs{0};
  Eigen::Index count{0};
  Eigen::Index held{0};
  Eigen::MatrixXd factor;  // A, one column per contact
  Eigen::VectorXd free;    // b = J u' + dg/dt + e (J u_ref + dg/dt): the velocity without impulses
  Eigen::VectorXd noise;   // bound for the rounding error of each entry of b, same unit

  void resize(Eigen::Index new_dofs, Eigen::Index new_count) {
    dofs = new_dofs;
    count = new_count;
    if (factor.rows() != dofs || factor.cols() < count) factor.resize(dofs, count);
    if (free.size() < count) free.resize(count);
    if (noise.size() < count) noise.resize(count);
  }
};

}  // namespace ricochet::problem
