#pragma once

#include <Eigen/Core>
#include <memory>
#include <vector>

#include "ricochet/problem/contact.h"

namespace ricochet::problem {

/// M^-1 of a sparse mass matrix, part by part: coordinates that M does not connect (those of
/// different bodies) are solved for apart, so that M^-1 of sparse columns stays sparse.
class MassInverse {
 public:
  /// Throws base::InputError when M is singular.
  explicit MassInverse(const SparseMatrix& mass);
  ~MassInverse();
  MassInverse(MassInverse&&) noexcept;

  Eigen::VectorXd operator()(const Eigen::VectorXd& right) const;
  SparseMatrix operator()(const SparseMatrix& columns) const;

 private:
  struct Part;
  void find_parts(const SparseMatrix& mass);
  void factor_part(const SparseMatrix& mass, Part& part) const;

  std::vector<Part> parts_;
  std::vector<int> part_of_;   // by coordinate
  std::vector<int> place_in_;  // by coordinate: its place in the part
};

}  // namespace ricochet::problem
