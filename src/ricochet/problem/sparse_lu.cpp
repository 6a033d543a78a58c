#include "ricochet/problem/sparse_lu.h"

template class Eigen::internal::SparseLUImpl<double, int>;
template class Eigen::SparseLU<Eigen::SparseMatrix<double>>;
