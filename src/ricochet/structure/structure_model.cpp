#include "ricochet/structure/structure_model.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "ricochet/base/random.h"
#include "ricochet/problem/spring.h"

namespace ricochet::structure {
namespace {

double row_size(const BandMatrix& matrix) {
  std::vector<double> sums(static_cast<std::size_t>(matrix.size()), 0.0);
  for (int i = 0; i < matrix.size(); ++i) {
    for (int j = std::max(0, i - matrix.band()); j <= i; ++j) {
      sums[static_cast<std::size_t>(i)] += std::abs(matrix.at(i, j));
      if (j < i) sums[static_cast<std::size_t>(j)] += std::abs(matrix.at(i, j));
    }
  }
  return *std::max_element(sums.begin(), sums.end());
}

}  // namespace

StepMatrix::StepMatrix(const StructureModel& model)
    : model_(&model),
      rest_(Eigen::VectorXd::Zero(model.dofs())),
      strains_(Eigen::VectorXd::Zero(model.structure().scratch_size())) {}

void StepMatrix::apply(const Eigen::VectorXd& v, Eigen::VectorXd& out) const {
  const LinearStructure& s = model_->s_;
  s.multiply_mass(v.data(), out.data());
  s.add_damping(model_->damping_factor_, v.data(), strains_.data(), out.data());
  s.add_stiffness(model_->stiffness_factor_, v.data(), strains_.data(), out.data());
}

/// Refined by x += A^-1 (b - A x), with A x from strains: what rounding in the band of A has spoilt
/// is a net force, which they do not have.
void StepMatrix::solve(const Eigen::VectorXd& v, Eigen::VectorXd& out) const {
  out = v;
  model_->effective_.solve(out.data());
  for (int round = 0; round < model_->refinements_; ++round) {
    apply(out, rest_);
    rest_ = v - rest_;
    model_->effective_.solve(rest_.data());
    out += rest_;
  }
}

void StepMatrix::half_solve(const Eigen::VectorXd& v, Eigen::VectorXd& out) const {
  out = v;
  model_->effective_.half_solve(out.data());
}

double StepMatrix::row_weight(int side) const {
  const int k = model_->guide_at(side);
  return model_->weights_(k, k);
}

StructureModel::Place::Place(const StructureModel& model)
    : ContactPlace(model.dofs(), model.contacts(), &model.normals_, &model.tangents_),
      matrix(model),
      registers(model.s_.load_tape.registers()),
      loads(Vec::Zero(static_cast<Eigen::Index>(model.s_.loads.size()))),
      scratch(Vec::Zero(model.s_.scratch_size())) {
  for (int a = 0; a < model.contacts(); ++a) {
    const double sign = model.side(a).is_upper ? -1.0 : 1.0;
    const std::vector<double>& row = model.guide_of(a).row.value;
    for (std::size_t e = 0; e < row.size(); ++e) {
      normals.set(a, model.normals_.begin(a) + e, 0, sign * row[e]);
      if (model.slips(a) > 0) tangents.set(a, model.tangents_.begin(a) + e, 0, row[e]);
    }
  }
}

StructureModel::StructureModel(const LinearStructure& s, double h, bool at_end)
    : s_(s),
      h_(h),
      damping_factor_(at_end ? h : 0.5 * h),
      stiffness_factor_(at_end ? 0.0 : 0.25 * h * h),
      stiffness_size_(row_size(s.combined(0.0, 1.0))),
      mass_size_(row_size(s.mass)),
      sides_(sides_of(s)) {
  ready_ = effective_.factor(s, damping_factor_, stiffness_factor_);
  const double lost = at_end ? 0.0 : 1e-16 * condition(s, h);
  if (lost > 1e-7) refinements_ = lost > 1e-5 ? 3 : 1;
  make_rows();
  columns_.setZero(s.dofs, guides());
  weights_.setZero(guides(), guides());
  cross_weights_ = weights_;
  const StepMatrix matrix(*this);
  Vec row(s.size());
  Vec column(s.size());
  for (int k = 0; k < guides() && ready_; ++k) {
    row.setZero();
    guide(k).row.add_to(1.0, row.data());
    matrix.solve(row, column);
    columns_.col(k) = column.head(s.dofs);
  }
  for (int k = 0; k < guides(); ++k) {
    for (int l = 0; l < guides(); ++l) {
      const bool one_plane = guide(k).plane == guide(l).plane;
      (one_plane ? weights_ : cross_weights_)(k, l) = guide(k).row.dot(columns_.col(l).data());
      planes_meet_ = planes_meet_ || !one_plane;
    }
  }
}

void StructureModel::make_rows() {
  for (int a = 0; a < contacts(); ++a) {
    const Guide& of = guide_of(a);
    for (int e = 0; e < of.row.count(); ++e) {
      normals_.coordinates.push_back(of.plane * s_.dofs + of.row.first + e);
      if (slips(a) > 0)
        tangents_.coordinates.push_back((1 - of.plane) * s_.dofs + of.row.first + e);
    }
    normals_.offsets.push_back(normals_.coordinates.size());
    tangents_.offsets.push_back(tangents_.coordinates.size());
  }
}

void StructureModel::gaps(double, const Vec& q, Place& place) const {
  for (int a = 0; a < contacts(); ++a) {
    place.gap[a] = side(a).gap(guide_of(a), across(guide_at(a), q));
  }
}

double StructureModel::gaps_and_potential(double t, const Vec& q, Place& place) const {
  gaps(t, q, place);
  double sum = 0.0;
  for (int p = 0; p < s_.planes; ++p) {
    for (const RowRun& run : s_.runs) {
      run.dot(q.data() + p * s_.dofs, place.scratch.data());
      sum += run.stiffness * place.scratch.head(run.rows).squaredNorm();
    }
  }
  return 0.5 * sum;
}

void StructureModel::force(double t, const Vec& q, const Vec& u, Place& place, Vec& out) const {
  out.setZero();
  take_loads(t, place);
  add_loads(1.0, place.loads, out);
  add_damping(-1.0, u, place, out);
  add_stiffness(-1.0, q, place, out);
}

void StructureModel::momentum(const Vec&, const Vec& u, Place&, Vec& momentum, Vec& slope) const {
  multiply_mass(u, momentum);
  slope.setZero();
}

void StructureModel::add_loads(double factor, const Vec& loads, Vec& out) const {
  for (std::size_t k = 0; k < s_.loads.size(); ++k) {
    const Load& load = s_.loads[k];
    load.row.add_to(factor * loads[static_cast<Eigen::Index>(k)],
                    out.data() + load.plane * s_.dofs);
  }
}

double StructureModel::load_power(const Vec& loads, const Vec& u) const {
  double power = 0.0;
  for (std::size_t k = 0; k < s_.loads.size(); ++k) {
    const Load& load = s_.loads[k];
    power += loads[static_cast<Eigen::Index>(k)] * s_.value_at(load.row, load.plane, u.data());
  }
  return power;
}

void StructureModel::add_response(int a, double normal, double along, Vec& v) const {
  const int plane = guide_of(a).plane;
  const auto column = columns_.col(guide_at(a));
  const double up = side(a).is_upper ? -normal : normal;
  if (up != 0.0) v.segment(plane * s_.dofs, s_.dofs) += up * column;
  if (along != 0.0) v.segment((1 - plane) * s_.dofs, s_.dofs) += along * column;
}

std::vector<StructureModel::Spring> StructureModel::springs(double stated) const {
  constexpr double kMost = 0.25;  // of h^2 k W
  const double together = kMost / (h_ * h_ * largest_compliance());
  std::vector<Spring> found;
  for (int k = 0; k < guides(); ++k) {
    const double mass = 1.0 / weights_(k, k);
    const double rate = std::numbers::pi / (problem::kSpringSteps * h_);
    const double stiffness = stated > 0.0 ? stated : std::min(mass * rate * rate, together);
    // At most critical, e = exp(-2): more damping lets go of a structure that springs back late.
    const double ratio = problem::damping_ratio(std::max(guide(k).restitution, std::exp(-2.0)));
    found.push_back({stiffness, 2.0 * ratio * std::sqrt(stiffness * mass)});
  }
  return found;
}

/// By the power method, from a start that no symmetry makes blind.
double StructureModel::largest_compliance() const {
  if (guides() == 0) return 0.0;
  constexpr int kRounds = 60;
  constexpr double kSafety = 1.02;  // it comes from below
  base::Random random(1);
  Vec x(guides());
  for (double& entry : x) entry = random.normal();
  double value = 0.0;
  for (int round = 0; round < kRounds; ++round) {
    x = (weights_ * x).eval();
    value = x.norm();
    if (!(value > 0.0)) break;
    x /= value;
  }
  return std::max(kSafety * value, weights_.diagonal().maxCoeff());
}

double StructureModel::condition(const LinearStructure& s, double h) {
  const BandMatrix k = s.combined(0.0, 1.0);
  double largest = 0.0;
  for (int i = 0; i < s.dofs; ++i) largest = std::max(largest, k.at(i, i) / s.mass.at(i, i));
  return 1.0 + 0.25 * h * h * 2.7 * largest;  // 16/6 of the diagonal, for differences of a beam
}

}  // namespace ricochet::structure
