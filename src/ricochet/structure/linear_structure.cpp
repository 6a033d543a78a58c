#include "ricochet/structure/linear_structure.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

namespace ricochet::structure {
namespace {

using ConstVector = Eigen::Map<const Eigen::VectorXd>;
using Vector = Eigen::Map<Eigen::VectorXd>;

}  // namespace

void LinearStructure::multiply_mass(const double* x, double* y) const {
  for (int p = 0; p < planes; ++p) mass.multiply(x + p * dofs, y + p * dofs);
}

void LinearStructure::add_stiffness(double factor, const double* x, double* y) const {
  for (int p = 0; p < planes; ++p) {
    const double* const from = x + p * dofs;
    double* const to = y + p * dofs;
    for (std::size_t k = 0; k < strains.size(); ++k) {
      const Row& strain = strains[k];
      strain.add_to(factor * stiffness[k] * strain.dot(from), to);
    }
  }
}

void LinearStructure::add_damping(double factor, const double* x, double* scratch,
                                  double* y) const {
  if (damping.mass != 0.0) {
    multiply_mass(x, scratch);
    for (int i = 0; i < size(); ++i) y[i] += factor * damping.mass * scratch[i];
  }
  if (damping.stiffness != 0.0) add_stiffness(factor * damping.stiffness, x, y);
  for (int p = 0; p < planes; ++p) {
    const ConstVector from(x + p * dofs, dofs);
    Vector to(y + p * dofs, dofs);
    for (Eigen::Index m = 0; m < damping.rates.size(); ++m) {
      to += (factor * damping.rates[m] * damping.forms.col(m).dot(from)) * damping.forms.col(m);
    }
  }
}

double LinearStructure::potential(const double* q) const {
  double sum = 0.0;
  for (int p = 0; p < planes; ++p) {
    for (std::size_t k = 0; k < strains.size(); ++k) {
      const double strain = strains[k].dot(q + p * dofs);
      sum += stiffness[k] * strain * strain;
    }
  }
  return 0.5 * sum;
}

BandMatrix LinearStructure::combined(double mass_factor, double stiffness_factor) const {
  int band = mass.band();
  for (const Row& strain : strains) band = std::max(band, strain.count - 1);
  BandMatrix sum(dofs, std::min(band, dofs - 1));
  for (int i = 0; i < dofs; ++i) {
    for (int j = std::max(0, i - mass.band()); j <= i; ++j) {
      sum.at(i, j) = mass_factor * mass.at(i, j);
    }
  }
  for (std::size_t k = 0; k < strains.size() && stiffness_factor != 0.0; ++k) {
    const Row& strain = strains[k];
    for (int a = 0; a < strain.count; ++a) {
      for (int b = 0; b <= a; ++b) {
        sum.at(strain.first + a, strain.first + b) += stiffness_factor * stiffness[k] *
                                                      strain.value[static_cast<std::size_t>(a)] *
                                                      strain.value[static_cast<std::size_t>(b)];
      }
    }
  }
  return sum;
}

void LinearStructure::load_values(double t, std::vector<double>& registers,
                                  Eigen::VectorXd& values) const {
  if (loads.empty()) return;
  registers[0] = t;
  load_tape.run(0, registers.data());
  for (std::size_t k = 0; k < loads.size(); ++k) {
    values[static_cast<Eigen::Index>(k)] = registers[loads[k].output];
  }
}

std::vector<ContactSide> sides_of(const LinearStructure& structure) {
  std::vector<ContactSide> sides;
  for (std::size_t k = 0; k < structure.guides.size(); ++k) {
    if (structure.guides[k].has_lower()) sides.push_back({k, false});
    if (structure.guides[k].has_upper()) sides.push_back({k, true});
  }
  return sides;
}

std::string name_of(const ContactSide& side, const LinearStructure& structure) {
  const Guide& guide = structure.guides[side.guide];
  if (!guide.has_lower() || !guide.has_upper()) return guide.name;
  return guide.name + (side.is_upper ? "_above" : "_below");
}

bool EffectiveMatrix::factor(const LinearStructure& s, double damping_factor,
                             double stiffness_factor) {
  planes_ = s.planes;
  dofs_ = s.dofs;
  const Damping& damping = s.damping;
  if (!factor_.factor(s.combined(1.0 + damping_factor * damping.mass,
                                 stiffness_factor + damping_factor * damping.stiffness))) {
    return false;
  }
  const Eigen::Index modes = damping.rates.size();
  forms_ = damping.forms;
  if (modes == 0) return true;
  Eigen::MatrixXd solved = forms_;
  for (Eigen::Index m = 0; m < modes; ++m) factor_.solve(solved.col(m).data());
  Eigen::MatrixXd core = forms_.transpose() * solved;
  for (Eigen::Index m = 0; m < modes; ++m) core(m, m) += 1.0 / (damping_factor * damping.rates[m]);
  back_ = core.ldlt().solve(solved.transpose()).transpose();
  return back_.allFinite();
}

void EffectiveMatrix::solve_plane(double* x) const {
  factor_.solve(x);
  if (forms_.cols() == 0) return;
  Vector v(x, dofs_);
  // All forms see the same A0^-1 b, so their parts are found before any is taken away.
  Eigen::Matrix<double, Eigen::Dynamic, 1, 0, Damping::kMostModes, 1> part(forms_.cols());
  part.noalias() = forms_.transpose() * v;
  v.noalias() -= back_ * part;
}

void EffectiveMatrix::solve(double* x) const {
  for (int p = 0; p < planes_; ++p) solve_plane(x + p * dofs_);
}

}  // namespace ricochet::structure
