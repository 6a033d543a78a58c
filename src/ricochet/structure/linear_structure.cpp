#include "ricochet/structure/linear_structure.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "ricochet/convex/dense.h"

namespace ricochet::structure {
namespace {

using ConstVector = Eigen::Map<const Eigen::VectorXd>;
using Vector = Eigen::Map<Eigen::VectorXd>;

template <int Count, int Stride>
void dot_rows(const RowRun& run, const double* q, double* strains) {
  std::array<double, Count> c{};
  std::copy_n(run.row.value.begin(), Count, c.begin());
  const double* const from = q + run.row.first;
  for (int k = 0; k < run.rows; ++k) {
    double sum = c[0] * from[Stride * k];
    for (int j = 1; j < Count; ++j) sum += c[static_cast<std::size_t>(j)] * from[Stride * k + j];
    strains[k] = sum;
  }
}

/// Entry by entry, so that no sum waits for the one before.
template <int Stride>
void add_rows(const RowRun& run, double factor, const double* strains, double* q) {
  for (int j = 0; j < run.row.count(); ++j) {
    const double weight = factor * run.row.value[static_cast<std::size_t>(j)];
    if (weight == 0.0) continue;
    double* const to = q + run.row.first + j;
    for (int k = 0; k < run.rows; ++k) to[Stride * k] += weight * strains[k];
  }
}

}  // namespace

void RowRun::dot(const double* q, double* strains) const {
  if (stride == 1 && row.count() == 3) return dot_rows<3, 1>(*this, q, strains);
  if (stride == 1 && row.count() == 2) return dot_rows<2, 1>(*this, q, strains);
  if (stride == 2 && row.count() == 4) return dot_rows<4, 2>(*this, q, strains);
  for (int k = 0; k < rows; ++k) strains[k] = row.dot(q + stride * k);
}

void RowRun::add_to(double factor, const double* strains, double* q) const {
  if (stride == 1) return add_rows<1>(*this, factor, strains, q);
  if (stride == 2) return add_rows<2>(*this, factor, strains, q);
  for (int k = 0; k < rows; ++k) row.add_to(factor * strains[k], q + stride * k);
}

void LinearStructure::multiply_mass(const double* x, double* y) const {
  for (int p = 0; p < planes; ++p) mass.multiply(x + p * dofs, y + p * dofs);
}

void LinearStructure::add_stiffness(double factor, const double* x, double* scratch,
                                    double* y) const {
  for (int p = 0; p < planes; ++p) {
    for (const RowRun& run : runs) {
      run.dot(x + p * dofs, scratch);
      run.add_to(factor * run.stiffness, scratch, y + p * dofs);
    }
  }
}

void LinearStructure::gather_strains() {
  runs.clear();
  const auto alike = [](const RowRun& run, const Row& row, double weight) {
    return run.row.count() == row.count() && run.row.value == row.value && run.stiffness == weight;
  };
  for (std::size_t k = 0; k < strains.size();) {
    RowRun run{strains[k], 1, 1, stiffness[k]};
    std::size_t next = k + 1;
    while (next < strains.size() && alike(run, strains[next], stiffness[next])) {
      const int stride = strains[next].first - strains[next - 1].first;
      if (run.rows > 1 && stride != run.stride) break;
      run.stride = stride;
      ++run.rows;
      ++next;
    }
    runs.push_back(run);
    k = next;
  }
}

void LinearStructure::add_damping(double factor, const double* x, double* scratch,
                                  double* y) const {
  if (damping.mass != 0.0) {
    multiply_mass(x, scratch);
    for (int i = 0; i < size(); ++i) y[i] += factor * damping.mass * scratch[i];
  }
  if (damping.stiffness != 0.0) add_stiffness(factor * damping.stiffness, x, scratch, y);
  for (int p = 0; p < planes; ++p) {
    const ConstVector from(x + p * dofs, dofs);
    Vector to(y + p * dofs, dofs);
    for (Eigen::Index m = 0; m < damping.rates.size(); ++m) {
      to += (factor * damping.rates[m] * damping.forms.col(m).dot(from)) * damping.forms.col(m);
    }
  }
}

BandMatrix LinearStructure::combined(double mass_factor, double stiffness_factor) const {
  int band = mass.band();
  for (const Row& strain : strains) band = std::max(band, strain.count() - 1);
  BandMatrix sum(dofs, std::min(band, dofs - 1));
  for (int i = 0; i < dofs; ++i) {
    for (int j = std::max(0, i - mass.band()); j <= i; ++j) {
      sum.at(i, j) = mass_factor * mass.at(i, j);
    }
  }
  for (std::size_t k = 0; k < strains.size() && stiffness_factor != 0.0; ++k) {
    const Row& strain = strains[k];
    for (int a = 0; a < strain.count(); ++a) {
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

Eigen::VectorXd LinearStructure::at_points(const Eigen::VectorXd& q) const {
  Eigen::VectorXd values(static_cast<Eigen::Index>(points.size()));
  for (std::size_t k = 0; k < points.size(); ++k) {
    values[static_cast<Eigen::Index>(k)] = value_at(points[k].row, points[k].plane, q.data());
  }
  return values;
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
  std::string name = guide.name;  // of one of many, before its number
  return name.insert(std::min(name.find('['), name.size()), side.is_upper ? "_above" : "_below");
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
  const Eigen::Index modes = damping_factor == 0.0 ? 0 : damping.rates.size();
  forms_ = damping.forms.leftCols(modes);
  if (modes == 0) return true;
  Eigen::MatrixXd solved = forms_;
  for (Eigen::Index m = 0; m < modes; ++m) factor_.solve(solved.col(m).data());
  Eigen::MatrixXd core = forms_.transpose() * solved;
  for (Eigen::Index m = 0; m < modes; ++m) core(m, m) += 1.0 / (damping_factor * damping.rates[m]);
  back_ = convex::solve_symmetric(core, solved.transpose()).transpose();
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

void EffectiveMatrix::half_solve(double* x) const {
  for (int p = 0; p < planes_; ++p) factor_.half_solve(x + p * dofs_);
}

}  // namespace ricochet::structure
