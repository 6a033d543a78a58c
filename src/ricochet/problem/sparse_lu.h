#pragma once

#include <Eigen/SparseCore>
#include <Eigen/SparseLU>

// Takes long to compile, so that it is done in one source.
extern template class Eigen::internal::SparseLUImpl<double, int>;
extern template class Eigen::SparseLU<Eigen::SparseMatrix<double>>;

namespace ricochet::problem {

/// A x = b of a sparse matrix, with exchanges of rows.
using SparseLu = Eigen::SparseLU<Eigen::SparseMatrix<double>>;

}  // namespace ricochet::problem
