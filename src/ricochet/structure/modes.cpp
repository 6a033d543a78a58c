#include "ricochet/structure/modes.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ricochet/base/random.h"
#include "ricochet/convex/dense.h"

namespace ricochet::structure {
namespace {

/// Strains of each column, times sqrt(S): their Gram matrix is X^T K X.
Eigen::MatrixXd strains_of(const LinearStructure& s, const Eigen::MatrixXd& shapes) {
  Eigen::MatrixXd strains(static_cast<Eigen::Index>(s.strains.size()), shapes.cols());
  for (Eigen::Index c = 0; c < shapes.cols(); ++c) {
    for (std::size_t k = 0; k < s.strains.size(); ++k) {
      strains(static_cast<Eigen::Index>(k), c) =
          std::sqrt(s.stiffness[k]) * s.strains[k].dot(shapes.col(c).data());
    }
  }
  return strains;
}

Eigen::MatrixXd mass_times_each(const LinearStructure& s, const Eigen::MatrixXd& shapes) {
  Eigen::MatrixXd product = Eigen::MatrixXd::Zero(shapes.rows(), shapes.cols());
  for (Eigen::Index c = 0; c < shapes.cols(); ++c) {
    s.mass.multiply(shapes.col(c).data(), product.col(c).data());
  }
  return product;
}

/// Makes the columns orthonormal in the metric of M, twice for the digits.
void orthonormalise(const LinearStructure& s, Eigen::MatrixXd& shapes) {
  for (int pass = 0; pass < 2; ++pass) {
    const Eigen::MatrixXd gram = shapes.transpose() * mass_times_each(s, shapes);
    shapes = convex::half_solve(gram, shapes.transpose()).transpose();
  }
}

Eigen::MatrixXd random_start(int rows, int columns) {
  base::Random random(1);
  Eigen::MatrixXd start(rows, columns);
  for (double& value : start.reshaped()) value = random.normal();
  return start;
}

/// Ritz vectors of the space; their values, sorted.
Eigen::VectorXd rotate_to_ritz(const LinearStructure& s, Eigen::MatrixXd& shapes) {
  const convex::SymmetricEigen eigen =
      convex::symmetric_eigen(convex::gram_matrix(strains_of(s, shapes)));
  shapes = (shapes * eigen.vectors).eval();
  return eigen.values;
}

}  // namespace

std::vector<Mode> find_modes(const LinearStructure& s, int count) {
  count = std::min(count, s.dofs);
  const int space = std::min(s.dofs, count + std::max(8, count / 2));
  const double shift = 0.01 * s.lowest_frequency * s.lowest_frequency;  // rigid modes have omega 0
  BandFactor factor;
  if (!factor.factor(s.combined(shift, 1.0))) return {};
  Eigen::MatrixXd shapes = random_start(s.dofs, space);
  orthonormalise(s, shapes);
  Eigen::VectorXd values = Eigen::VectorXd::Zero(space);
  constexpr int kMostRounds = 400;
  constexpr double kSettled = 1e-14;
  constexpr double kNear = 1e-8;  // below it, a change that does not fall any more is rounding
  double least = 1.0;
  int idle = 0;  // rounds in a row
  for (int round = 0; round < kMostRounds && idle < 3; ++round) {
    shapes = mass_times_each(s, shapes);
    for (Eigen::Index c = 0; c < shapes.cols(); ++c) factor.solve(shapes.col(c).data());
    orthonormalise(s, shapes);
    const Eigen::VectorXd before = values;
    values = rotate_to_ritz(s, shapes);
    const double change =
        ((values - before).head(count).array().abs() / (values.head(count).array().abs() + shift))
            .maxCoeff();
    const bool falls = change < 0.5 * least;
    least = std::min(least, change);
    idle = change < kSettled || (change < kNear && !falls) ? idle + 1 : 0;
  }
  if (!(least < kNear)) return {};
  std::vector<Mode> modes;
  for (int m = 0; m < count; ++m) {
    modes.push_back({std::sqrt(std::max(0.0, values[m])), shapes.col(m)});
  }
  return modes;
}

double highest_frequency(const LinearStructure& s) {
  BandFactor mass;
  if (!mass.factor(s.mass)) return 0.0;
  Eigen::VectorXd x = random_start(s.dofs, 1);
  Eigen::VectorXd y(s.dofs);
  Eigen::VectorXd weighted = Eigen::VectorXd::Zero(s.dofs);
  double value = 0.0;
  for (int round = 0; round < 400; ++round) {
    s.mass.multiply(x.data(), weighted.data());
    x /= std::sqrt(x.dot(weighted));
    y.setZero();
    for (std::size_t k = 0; k < s.strains.size(); ++k) {
      s.strains[k].add_to(s.stiffness[k] * s.strains[k].dot(x.data()), y.data());
    }
    value = x.dot(y);
    mass.solve(y.data());
    std::swap(x, y);
  }
  return std::sqrt(value);
}

void set_modal_damping(LinearStructure& s, const std::vector<Mode>& modes,
                       const std::vector<double>& ratios) {
  const std::size_t count =
      std::min({modes.size(), ratios.size(), static_cast<std::size_t>(Damping::kMostModes)});
  std::vector<std::size_t> damped;  // a rate of 0 would have no inverse
  for (std::size_t m = 0; m < count; ++m) {
    if (ratios[m] * modes[m].omega > 0.0) damped.push_back(m);
  }
  s.damping.forms = Eigen::MatrixXd::Zero(s.dofs, static_cast<Eigen::Index>(damped.size()));
  s.damping.rates.resize(static_cast<Eigen::Index>(damped.size()));
  for (std::size_t k = 0; k < damped.size(); ++k) {
    const Mode& mode = modes[damped[k]];
    const auto column = static_cast<Eigen::Index>(k);
    s.mass.multiply(mode.shape.data(), s.damping.forms.col(column).data());
    s.damping.rates[column] = 2.0 * ratios[damped[k]] * mode.omega;
  }
}

}  // namespace ricochet::structure
