#pragma once

#include <Eigen/Core>
#include <vector>

#include "ricochet/convex/section.h"

namespace ricochet::problem {

/// One step's contacts with dry friction, as plain data:
///
///     find R_i in C_i with  U = W R + b,   U_N >= 0, U_N R_N = 0,  -U_T in the normal cone of
///     R_N D_i at R_T,        W = G M^-1 G^T = A^T A.                    [Moreau 1986 (11.14)]
///
/// Rows come contact by contact, the normal one first, then one or two tangential ones or none; the
/// last `held` rows are joints: U = 0 and R of any sign. Storage is kept between steps; only the
/// first `rows` columns and `count` contacts count.
struct Frictional {
  struct Contact {
    int first{0};  // its normal row
    int slips{0};  // tangential rows after it
    convex::Section section{convex::Disc{}};
    int name{-1};  // the same from step to step; -1: none
  };

  Eigen::Index dofs{0};
  Eigen::Index rows{0};
  Eigen::Index held{0};
  std::size_t count{0};
  std::vector<Contact> contacts;
  Eigen::MatrixXd factor;  // A = L^-1 G^T, one column per row
  Eigen::VectorXd free;    // b

  void resize(Eigen::Index new_dofs, Eigen::Index new_rows, std::size_t new_count) {
    dofs = new_dofs;
    rows = new_rows;
    count = new_count;
    if (factor.rows() != dofs || factor.cols() < rows) factor.resize(dofs, rows);
    if (free.size() < rows) free.resize(rows);
    if (contacts.size() < count) contacts.resize(count);
  }
};

/// What an impulse does in a step.
enum class Grip : char {
  Free,   // R = 0
  Stick,  // U_T = 0
  Slip,   // U_T != 0, R on the surface of its cone
};

}  // namespace ricochet::problem
