#include "ricochet/certify/lane_judge.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ricochet::certify {
namespace {

constexpr double kEpsilonOfLanes = std::numeric_limits<double>::epsilon();

/// A compensated sum that goes on where a step holds.
RICOCHET_ALWAYS inline void add(double term, bool holds, double& total, double& lost) {
  const double corrected = term - lost;
  const double next = total + corrected;
  const double rest = (next - total) - corrected;
  lost = holds ? rest : lost;
  total = holds ? next : total;
}

}  // namespace

LaneJudge::LaneJudge(const model::FormulaModel& model, double anticipation, base::Width width)
    : dofs_(static_cast<std::size_t>(model.dofs())),
      contacts_(static_cast<std::size_t>(model.contacts())),
      anticipation_(anticipation),
      width_(width),
      gaps_(model.gap_tape(), model::FormulaModel::kGaps),
      forces_(model.force_tape(), 0),
      ends_(model.end_tape(), 0),
      mass_(dofs_),
      slack_(contacts_) {}

bool LaneJudge::suits(const model::FormulaModel& model) {
  constexpr int kMost = 2;  // coordinates: of more, the order of sums depends on who adds
  return model.dofs() <= kMost && model.outside() == nullptr && model.has_constant_mass() &&
         !model.mass().is_full() && model.joints() == 0 && !model.has_laws() &&
         !model.has_friction() && !model.has_special_slips() && !model.has_where() &&
         !model.force_uses_velocity();
}

void LaneJudge::take_model(std::size_t lane, const model::FormulaModel& model) {
  gaps_.load(lane, model.gap_tape());
  forces_.load(lane, model.force_tape());
  ends_.load(lane, model.end_tape());
  const Eigen::VectorXd unit = Eigen::VectorXd::Ones(model.dofs());
  Eigen::VectorXd diagonal = unit;
  model.mass().apply(unit, diagonal);
  for (std::size_t i = 0; i < dofs_; ++i) mass_[i][lane] = diagonal[static_cast<Eigen::Index>(i)];
  for (std::size_t a = 0; a < contacts_; ++a) slack_[a][lane] = model.slack()[a];
}

void LaneJudge::load(std::size_t lane, const Account& account) {
  kinetic_[lane] = account.kinetic;
  potential_[lane] = account.potential;
  forces_sum_.total[lane] = account.forces.value();
  forces_sum_.lost[lane] = account.forces.lost();
  contacts_sum_.total[lane] = account.contacts.value();
  contacts_sum_.lost[lane] = account.contacts.lost();
  defect_sum_.total[lane] = account.defect.value();
  defect_sum_.lost[lane] = account.defect.lost();
  defect_max_[lane] = account.defect_max;
  kinetic_max_[lane] = account.kinetic_max;
  lowest_[lane] = account.lowest;
  highest_[lane] = account.highest;
  kinetic_start_[lane] = account.kinetic_start;
  potential_start_[lane] = account.potential_start;
  look_[lane] = account.look;
  most_gain_[lane] = account.most_gain;
  time_size_[lane] = account.time_size;
}

void LaneJudge::store(std::size_t lane, Account& account) const {
  account.kinetic = kinetic_[lane];
  account.potential = potential_[lane];
  account.forces = base::Sum(forces_sum_.total[lane], forces_sum_.lost[lane]);
  account.contacts = base::Sum(contacts_sum_.total[lane], contacts_sum_.lost[lane]);
  account.defect = base::Sum(defect_sum_.total[lane], defect_sum_.lost[lane]);
  account.defect_max = defect_max_[lane];
  account.kinetic_max = kinetic_max_[lane];
  account.lowest = lowest_[lane];
  account.highest = highest_[lane];
}

void LaneJudge::check(const LaneStep& step, const Lane& live, formula::LaneAngles& angles,
                      Lane& passes) {
  if (dofs_ == 1) return check_sized<1>(step, live, angles, passes);
  check_sized<2>(step, live, angles, passes);
}

template <std::size_t kDofs>
void LaneJudge::check_sized(const LaneStep& step, const Lane& live, formula::LaneAngles& angles,
                            Lane& passes) {
  base::work_in(width_, [&]() RICOCHET_ALWAYS { take_places<kDofs>(step, passes); });
  gaps_.run(angles, width_);
  forces_.run(angles, width_);
  ends_.run(angles, width_);
  base::work_in(width_, [&]() RICOCHET_ALWAYS {
    look_at_gaps(passes);
    take_works<kDofs>(step, passes);
    look_at_energy(passes);
    enter(live, passes);
  });
}

/// t+ = t + h to rounding, q_M = q + h/2 u, q+ = q_M + h/2 u+; where formulas are taken.
template <std::size_t kDofs>
RICOCHET_ALWAYS inline void LaneJudge::take_places(const LaneStep& step, Lane& passes) {
  const Lane &t = *step.t, &t_end = *step.t_end, &h = *step.h;
  double *const gap_t = gaps_.input(0), *const force_t = forces_.input(0),
                *const end_t = ends_.input(0);
  RICOCHET_APART
  for (std::size_t j = 0; j < kLanes; ++j) {
    const double size = time_size_[j] + std::abs(t[j]) + std::abs(t_end[j]);
    const bool holds = std::abs(t_end[j] - (t[j] + h[j])) <= 4.0 * kEpsilonOfLanes * size;
    passes[j] = holds ? 1.0 : 0.0;
    gap_t[j] = force_t[j] = t[j] + 0.5 * h[j];
    end_t[j] = t_end[j];
  }
  for (std::size_t i = 0; i < kDofs; ++i) {
    const Lane &q = step.q[i], &u = step.u[i], &q_end = step.q_end[i], &u_end = step.u_end[i];
    const int slot = 1 + static_cast<int>(i);
    double *const gap_q = gaps_.input(slot), *const force_q = forces_.input(slot),
                  *const end_q = ends_.input(slot);
    RICOCHET_APART
    for (std::size_t j = 0; j < kLanes; ++j) {
      const double q_mid = q[j] + (0.5 * h[j]) * u[j];
      gap_q[j] = q_mid + (anticipation_ * h[j]) * u[j];
      force_q[j] = q_mid;
      end_q[j] = q_end[j];
      passes[j] = q_end[j] == q_mid + (0.5 * h[j]) * u_end[j] ? passes[j] : 0.0;
    }
  }
}

/// None touches, or is violated at the end.
RICOCHET_ALWAYS inline void LaneJudge::look_at_gaps(Lane& passes) const {
  for (std::size_t a = 0; a < contacts_; ++a) {
    const double *const gap = gaps_.output(a), *const end = ends_.output(a);
    const Lane& slack = slack_[a];
    RICOCHET_APART
    for (std::size_t j = 0; j < kLanes; ++j) {
      const double ahead = gap[j] > slack[j] ? passes[j] : 0.0;
      passes[j] = end[j] >= 0.0 ? ahead : 0.0;
    }
  }
}

/// M (u+ - u) = h Q to rounding; T, the work of forces.
template <std::size_t kDofs>
RICOCHET_ALWAYS inline void LaneJudge::take_works(const LaneStep& step, Lane& passes) {
  std::array<const double*, kDofs> masses, forces, starts, ends;
  for (std::size_t i = 0; i < kDofs; ++i) {
    masses[i] = mass_[i].data();
    forces[i] = forces_.output(i);
    starts[i] = step.u[i].data();
    ends[i] = step.u_end[i].data();
  }
  const Lane& h = *step.h;
  RICOCHET_APART
  for (std::size_t j = 0; j < kLanes; ++j) {
    double error = 0.0, size = 0.0, kinetic = 0.0, before = 0.0, after = 0.0;
    for (std::size_t i = 0; i < kDofs; ++i) {
      const double force = forces[i][j], u = starts[i][j], u_end = ends[i][j];
      const double start = masses[i][j] * u, end = masses[i][j] * u_end;
      error += std::abs(end - start - h[j] * force);
      size += std::abs(start);
      kinetic = i == 0 ? u_end * end : kinetic + u_end * end;
      before = i == 0 ? u * force : before + u * force;
      after = i == 0 ? u_end * force : after + u_end * force;
    }
    kinetic_end_[j] = 0.5 * kinetic;
    work_[j] = 0.5 * h[j] * (before + after);
    passes[j] = error <= 8.0 * kEpsilonOfLanes * size ? passes[j] : 0.0;
  }
}

/// Finite, and T + V does not grow by itself.
RICOCHET_ALWAYS inline void LaneJudge::look_at_energy(Lane& passes) const {
  constexpr double kMost = std::numeric_limits<double>::max();
  const double* const potential = ends_.output(contacts_);
  RICOCHET_APART
  for (std::size_t j = 0; j < kLanes; ++j) {
    const double kinetic = kinetic_end_[j], change = potential[j] - potential_start_[j];
    const double gain = kinetic - kinetic_start_[j] + change;
    double holds = kinetic <= look_[j] ? passes[j] : 0.0;
    holds = std::abs(kinetic + potential[j]) <= kMost ? holds : 0.0;
    passes[j] = gain <= most_gain_[j] ? holds : 0.0;
  }
}

/// What happened to T and V, where the step holds.
RICOCHET_ALWAYS inline void LaneJudge::enter(const Lane& live, const Lane& passes) {
  const double* const potential = ends_.output(contacts_);
  RICOCHET_APART
  for (std::size_t j = 0; j < kLanes; ++j) {
    const bool holds = passes[j] * live[j] != 0.0;
    const double kinetic = kinetic_end_[j], total = kinetic + potential[j];
    const double defect = (kinetic - kinetic_[j]) - work_[j], size = std::abs(defect);
    add(work_[j], holds, forces_sum_.total[j], forces_sum_.lost[j]);
    add(0.0, holds, contacts_sum_.total[j], contacts_sum_.lost[j]);
    add(defect, holds, defect_sum_.total[j], defect_sum_.lost[j]);
    defect_max_[j] = holds && size > defect_max_[j] ? size : defect_max_[j];
    kinetic_max_[j] = holds && kinetic > kinetic_max_[j] ? kinetic : kinetic_max_[j];
    lowest_[j] = holds && total < lowest_[j] ? total : lowest_[j];
    highest_[j] = holds && total > highest_[j] ? total : highest_[j];
    kinetic_[j] = holds ? kinetic : kinetic_[j];
    potential_[j] = holds ? potential[j] : potential_[j];
  }
}

}  // namespace ricochet::certify
