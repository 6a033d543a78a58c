#include "ricochet/problem/mass_inverse.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ricochet/base/error.h"
#include "ricochet/base/index.h"
#include "ricochet/convex/dense.h"
#include "ricochet/problem/sparse_lu.h"

namespace ricochet::problem {
namespace {

/// Up to this many coordinates a part is factored as a dense matrix.
constexpr std::size_t kDense = 96;

using base::index;

int root_of(std::vector<int>& parent, int i) {
  while (parent[index(i)] != i) i = parent[index(i)] = parent[index(parent[index(i)])];
  return i;
}

}  // namespace

struct MassInverse::Part {
  std::vector<int> coordinates;
  double inverse{0.0};       // of a single coordinate
  Eigen::MatrixXd inverses;  // of a few
  std::unique_ptr<SparseLu> factor;

  Eigen::MatrixXd solve(const Eigen::MatrixXd& right) const {
    if (coordinates.size() == 1) return inverse * right;
    if (factor) return factor->solve(right);
    return inverses * right;
  }
};

MassInverse::~MassInverse() = default;
MassInverse::MassInverse(MassInverse&&) noexcept = default;

MassInverse::MassInverse(const SparseMatrix& mass) {
  find_parts(mass);
  for (Part& part : parts_) factor_part(mass, part);
}

void MassInverse::find_parts(const SparseMatrix& mass) {
  const int n = static_cast<int>(mass.rows());
  std::vector<int> parent(index(n));
  std::iota(parent.begin(), parent.end(), 0);
  for (int column = 0; column < n; ++column) {
    for (SparseMatrix::InnerIterator entry(mass, column); entry; ++entry) {
      if (entry.value() == 0.0) continue;
      const int a = root_of(parent, static_cast<int>(entry.row()));
      const int b = root_of(parent, column);
      parent[index(std::max(a, b))] = std::min(a, b);
    }
  }
  part_of_.resize(index(n));
  place_in_.resize(index(n));
  for (int i = 0; i < n; ++i) {  // a root is the first coordinate of its part
    const int root = root_of(parent, i);
    if (root == i) {
      part_of_[index(i)] = static_cast<int>(parts_.size());
      parts_.emplace_back();
    } else {
      part_of_[index(i)] = part_of_[index(root)];
    }
    Part& part = parts_[index(part_of_[index(i)])];
    place_in_[index(i)] = static_cast<int>(part.coordinates.size());
    part.coordinates.push_back(i);
  }
}

void MassInverse::factor_part(const SparseMatrix& mass, Part& part) const {
  const auto size = static_cast<Eigen::Index>(part.coordinates.size());
  const auto refuse = [&] {
    throw base::InputError(
        "M",
        "the mass matrix is singular at coordinate " + std::to_string(part.coordinates.front() + 1),
        "every coordinate needs a mass");
  };
  if (size == 1) {
    part.inverse = 1.0 / mass.coeff(part.coordinates[0], part.coordinates[0]);
    if (!std::isfinite(part.inverse)) refuse();
    return;
  }
  std::vector<Eigen::Triplet<double>> entries;
  for (const int column : part.coordinates) {
    for (SparseMatrix::InnerIterator entry(mass, column); entry; ++entry) {
      if (entry.value() == 0.0) continue;
      entries.emplace_back(place_in_[index(static_cast<int>(entry.row()))],
                           place_in_[index(column)], entry.value());
    }
  }
  SparseMatrix small(size, size);
  small.setFromTriplets(entries.begin(), entries.end());
  if (part.coordinates.size() <= kDense) {
    part.inverses = convex::inverse_of(Eigen::MatrixXd(small));
    if (!part.inverses.allFinite()) refuse();
    return;
  }
  part.factor = std::make_unique<SparseLu>();
  part.factor->compute(small);
  if (part.factor->info() != Eigen::Success) refuse();
}

Eigen::VectorXd MassInverse::operator()(const Eigen::VectorXd& right) const {
  Eigen::VectorXd result(right.size());
  Eigen::VectorXd local;
  for (const Part& part : parts_) {
    if (part.coordinates.size() == 1) {
      result[part.coordinates[0]] = part.inverse * right[part.coordinates[0]];
      continue;
    }
    local.resize(static_cast<Eigen::Index>(part.coordinates.size()));
    for (std::size_t k = 0; k < part.coordinates.size(); ++k) {
      local[static_cast<Eigen::Index>(k)] = right[part.coordinates[k]];
    }
    local = part.solve(local).eval();
    for (std::size_t k = 0; k < part.coordinates.size(); ++k) {
      result[part.coordinates[k]] = local[static_cast<Eigen::Index>(k)];
    }
  }
  return result;
}

SparseMatrix MassInverse::operator()(const SparseMatrix& columns) const {
  std::vector<Eigen::Triplet<double>> entries;
  entries.reserve(static_cast<std::size_t>(columns.nonZeros()));
  Eigen::VectorXd local;
  std::vector<int> touched;
  for (int column = 0; column < columns.cols(); ++column) {
    touched.clear();
    for (SparseMatrix::InnerIterator entry(columns, column); entry; ++entry) {
      touched.push_back(part_of_[index(static_cast<int>(entry.row()))]);
    }
    std::sort(touched.begin(), touched.end());
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    for (const int p : touched) {
      const Part& part = parts_[index(p)];
      local.setZero(static_cast<Eigen::Index>(part.coordinates.size()));
      for (SparseMatrix::InnerIterator entry(columns, column); entry; ++entry) {
        const int row = static_cast<int>(entry.row());
        if (part_of_[index(row)] == p) local[place_in_[index(row)]] = entry.value();
      }
      local = part.solve(local).eval();
      for (std::size_t k = 0; k < part.coordinates.size(); ++k) {
        const double value = local[static_cast<Eigen::Index>(k)];
        if (value != 0.0) entries.emplace_back(part.coordinates[k], column, value);
      }
    }
  }
  SparseMatrix result(columns.rows(), columns.cols());
  result.setFromTriplets(entries.begin(), entries.end());
  return result;
}

}  // namespace ricochet::problem
