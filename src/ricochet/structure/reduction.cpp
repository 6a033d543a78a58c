#include "ricochet/structure/reduction.h"

#include <cmath>

#include "ricochet/convex/dense.h"
#include "ricochet/structure/modes.h"

namespace ricochet::structure {
namespace {

Eigen::VectorXd mass_times(const LinearStructure& s, const Eigen::VectorXd& shape) {
  Eigen::VectorXd product = Eigen::VectorXd::Zero(s.dofs);
  s.mass.multiply(shape.data(), product.data());
  return product;
}

/// Adds what `shape` has beyond the columns so far; false when that is next to nothing.
bool add_shape(const LinearStructure& s, Eigen::VectorXd shape, Eigen::MatrixXd& basis) {
  constexpr double kNothing = 1e-8;  // of its own length
  const double whole = std::sqrt(shape.dot(mass_times(s, shape)));
  for (int pass = 0; pass < 2; ++pass) shape -= basis * (basis.transpose() * mass_times(s, shape));
  const double left = std::sqrt(shape.dot(mass_times(s, shape)));
  if (!(left > kNothing * whole)) return false;
  basis.conservativeResize(Eigen::NoChange, basis.cols() + 1);
  basis.col(basis.cols() - 1) = shape / left;
  return true;
}

Row reduced_row(const Row& row, const Eigen::MatrixXd& basis) {
  Row reduced;
  for (Eigen::Index c = 0; c < basis.cols(); ++c) {
    reduced.value.push_back(row.dot(basis.col(c).data()));
  }
  return reduced;
}

/// Turns the basis so that K is diagonal; its diagonal.
Eigen::VectorXd make_diagonal(const LinearStructure& s, Eigen::MatrixXd& basis) {
  Eigen::MatrixXd strains(static_cast<Eigen::Index>(s.strains.size()), basis.cols());
  for (Eigen::Index c = 0; c < basis.cols(); ++c) {
    for (std::size_t k = 0; k < s.strains.size(); ++k) {
      strains(static_cast<Eigen::Index>(k), c) =
          std::sqrt(s.stiffness[k]) * s.strains[k].dot(basis.col(c).data());
    }
  }
  const convex::SymmetricEigen eigen = convex::symmetric_eigen(convex::gram_matrix(strains));
  basis = (basis * eigen.vectors).eval();
  return eigen.values.cwiseMax(0.0);
}

}  // namespace

Reduction reduce(const LinearStructure& s, int modes) {
  Reduction r;
  Eigen::MatrixXd basis(s.dofs, 0);
  for (const Mode& mode : find_modes(s, modes)) r.modes += add_shape(s, mode.shape, basis) ? 1 : 0;
  if (r.modes == 0) return r;
  BandFactor factor;
  const double shift = 1e-6 * s.lowest_frequency * s.lowest_frequency;  // free lines have no K^-1
  if (factor.factor(s.combined(shift, 1.0))) {
    const auto add_static = [&](const Row& row) {
      Eigen::VectorXd shape = Eigen::VectorXd::Zero(s.dofs);
      row.add_to(1.0, shape.data());
      factor.solve(shape.data());
      r.corrections += add_shape(s, shape, basis) ? 1 : 0;
    };
    for (const Load& load : s.loads) add_static(load.row);
    for (const Guide& guide : s.guides) add_static(guide.row);
  }
  const Eigen::VectorXd values = make_diagonal(s, basis);
  r.structure = s;
  LinearStructure& small = r.structure;
  small.dofs = static_cast<int>(basis.cols());
  small.mass = BandMatrix(small.dofs, 0);
  small.strains.clear();
  small.stiffness.clear();
  for (int k = 0; k < small.dofs; ++k) {
    small.mass.at(k, k) = 1.0;
    small.strains.push_back({k, {1.0}});
    small.stiffness.push_back(values[k]);
  }
  small.gather_strains();
  if (s.damping.forms.size() > 0) small.damping.forms = basis.transpose() * s.damping.forms;
  for (Load& load : small.loads) load.row = reduced_row(load.row, basis);
  for (Guide& guide : small.guides) guide.row = reduced_row(guide.row, basis);
  for (Point& point : small.points) point.row = reduced_row(point.row, basis);
  r.basis = basis;
  return r;
}

Eigen::VectorXd project(const Reduction& r, const LinearStructure& s, const Eigen::VectorXd& q) {
  Eigen::VectorXd y(r.structure.size());
  for (int p = 0; p < s.planes; ++p) {
    y.segment(p * r.structure.dofs, r.structure.dofs) =
        r.basis.transpose() * mass_times(s, q.segment(p * s.dofs, s.dofs));
  }
  return y;
}

Eigen::VectorXd expand(const Reduction& r, const Eigen::VectorXd& y) {
  const Eigen::Index dofs = r.basis.rows();
  Eigen::VectorXd q(r.structure.planes * dofs);
  for (int p = 0; p < r.structure.planes; ++p) {
    q.segment(p * dofs, dofs) = r.basis * y.segment(p * r.structure.dofs, r.structure.dofs);
  }
  return q;
}

}  // namespace ricochet::structure
