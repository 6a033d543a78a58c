#include "ricochet/certify/lane_judge.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ricochet::certify {
namespace {

constexpr double kEpsilonOfLanes = std::numeric_limits<double>::epsilon();

/// The larger or smaller of two; what is not a number is left out.
RICOCHET_ALWAYS inline double larger(double there, double other) {
  return other > there ? other : there;
}
RICOCHET_ALWAYS inline double smaller(double there, double other) {
  return other < there ? other : there;
}

/// A compensated sum that goes on where a step holds.
RICOCHET_ALWAYS inline void add(double term, bool holds, double& total, double& lost) {
  const double so_far = total, rest_so_far = lost;
  const double corrected = term - rest_so_far;
  const double next = so_far + corrected;
  const double rest = (next - so_far) - corrected;
  lost = holds ? rest : rest_so_far;
  total = holds ? next : so_far;
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

void LaneJudge::store(std::size_t lane, long long steps, Account& account) const {
  account.kinetic = kinetic_[lane];
  account.potential = potential_[lane];
  account.forces = base::Sum(forces_sum_.total[lane], forces_sum_.lost[lane]);
  for (long long k = 0; k < std::min(steps, 2LL); ++k) account.contacts.add(0.0);
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
  base::work_in(width_, [&]() RICOCHET_ALWAYS { take_places<kDofs>(step, live, passes); });
  gaps_.run(angles, width_);
  forces_.run(angles, width_);
  ends_.run(angles, width_);
  base::work_in(width_, [&]() RICOCHET_ALWAYS {
    look_at_gaps(passes);
    look_at_works<kDofs>(step, passes);
  });
}

/// t+ = t + h to rounding, q_M = q + h/2 u, q+ = q_M + h/2 u+; where formulas are taken.
template <std::size_t kDofs>
RICOCHET_ALWAYS inline void LaneJudge::take_places(const LaneStep& step, const Lane& live,
                                                   Lane& passes) {
  const Lane &t = *step.t, &t_end = *step.t_end, &h = *step.h;
  double *const gap_t = gaps_.input(0), *const force_t = forces_.input(0),
                *const end_t = ends_.input(0);
  RICOCHET_APART
  for (std::size_t j = 0; j < kLanes; ++j) {
    const double size = time_size_[j] + std::abs(t[j]) + std::abs(t_end[j]);
    const bool holds = std::abs(t_end[j] - (t[j] + h[j])) <= 4.0 * kEpsilonOfLanes * size;
    passes[j] = holds ? live[j] : 0.0;
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

/// M (u+ - u) = h Q to rounding; T, the work of forces; finite, and T + V does not grow by itself.
/// Where all that holds, what happened to T and V is entered.
template <std::size_t kDofs>
RICOCHET_ALWAYS inline void LaneJudge::look_at_works(const LaneStep& step, Lane& passes) {
  constexpr double kMost = std::numeric_limits<double>::max();
  std::array<const double*, kDofs> masses, forces, starts, ends;
  for (std::size_t i = 0; i < kDofs; ++i) {
    masses[i] = mass_[i].data();
    forces[i] = forces_.output(i);
    starts[i] = step.u[i].data();
    ends[i] = step.u_end[i].data();
  }
  const Lane& h = *step.h;
  const double* const potential = ends_.output(contacts_);
  RICOCHET_APART
  for (std::size_t j = 0; j < kLanes; ++j) {
    double error = 0.0, size = 0.0, twice = 0.0, before = 0.0, after = 0.0;
    for (std::size_t i = 0; i < kDofs; ++i) {
      const double force = forces[i][j], u = starts[i][j], u_end = ends[i][j];
      const double start = masses[i][j] * u, end = masses[i][j] * u_end;
      error += std::abs(end - start - h[j] * force);
      size += std::abs(start);
      twice = i == 0 ? u_end * end : twice + u_end * end;
      before = i == 0 ? u * force : before + u * force;
      after = i == 0 ? u_end * force : after + u_end * force;
    }
    const double kinetic = 0.5 * twice, change = potential[j] - potential_start_[j];
    const double gain = kinetic - kinetic_start_[j] + change, total = kinetic + potential[j];
    const double balanced = error <= 8.0 * kEpsilonOfLanes * size ? 1.0 : 0.0;
    const double slow = kinetic <= look_[j] ? 1.0 : 0.0;
    const double finite = std::abs(total) <= kMost ? 1.0 : 0.0;
    const double tame = gain <= most_gain_[j] ? 1.0 : 0.0;
    const double passed = (passes[j] * balanced) * (slow * finite) * tame;  // without branches
    passes[j] = passed;
    const bool holds = passed != 0.0;
    const double work = 0.5 * h[j] * (before + after), defect = (kinetic - kinetic_[j]) - work;
    add(work, holds, forces_sum_.total[j], forces_sum_.lost[j]);
    add(defect, holds, defect_sum_.total[j], defect_sum_.lost[j]);
    defect_max_[j] = larger(defect_max_[j], holds ? std::abs(defect) : 0.0);
    kinetic_max_[j] = larger(kinetic_max_[j], holds ? kinetic : 0.0);
    lowest_[j] = smaller(lowest_[j], holds ? total : kMost);
    highest_[j] = larger(highest_[j], holds ? total : -kMost);
    kinetic_[j] = holds ? kinetic : kinetic_[j];
    potential_[j] = holds ? potential[j] : potential_[j];
  }
}

}  // namespace ricochet::certify
