#include "ricochet/certify/lane_judge.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ricochet::certify {
namespace {

constexpr double kEpsilonOfLanes = std::numeric_limits<double>::epsilon();

/// A compensated sum that goes on where a step holds.
[[gnu::always_inline]] inline void add(Pack term, PackMask holds, double* total, double* lost) {
  const Pack sum = pack_at(total), rest = pack_at(lost);
  const Pack corrected = term - rest;
  const Pack next = sum + corrected;
  write(either(holds, (next - sum) - corrected, rest), lost);
  write(either(holds, next, sum), total);
}

[[gnu::always_inline]] inline void put(Pack now, PackMask holds, double* kept) {
  write(either(holds, now, pack_at(kept)), kept);
}

}  // namespace

LaneJudge::LaneJudge(const model::FormulaModel& model, double anticipation)
    : dofs_(static_cast<std::size_t>(model.dofs())),
      contacts_(static_cast<std::size_t>(model.contacts())),
      anticipation_(anticipation),
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
  for (std::size_t j = 0; j < kLanes; j += kPack) take_places(step, j, passes);
  gaps_.run(angles);
  forces_.run(angles);
  ends_.run(angles);
  for (std::size_t j = 0; j < kLanes; j += kPack) {
    PackMask holds = pack_at(&passes[j]) != 0.0;
    for (std::size_t a = 0; a < contacts_; ++a) {  // none touches, or is violated at the end
      holds &= pack_at(gaps_.output(a) + j) > pack_at(&slack_[a][j]);
      holds &= pack_at(ends_.output(a) + j) >= 0.0;
    }
    const Works works = take_works(step, j, holds);
    const Pack one = {1.0, 1.0};
    enter(works, j, pack_at(&live[j]) != 0.0, holds);
    write(either(holds, one, one - one), &passes[j]);
  }
}

/// t+ = t + h to rounding, q_M = q + h/2 u, q+ = q_M + h/2 u+; where formulas are taken.
inline void LaneJudge::take_places(const LaneStep& step, std::size_t j, Lane& passes) {
  const Pack t = pack_at(&(*step.t)[j]), t_end = pack_at(&(*step.t_end)[j]),
             h = pack_at(&(*step.h)[j]);
  const Pack size = pack_at(&time_size_[j]) + size_of(t) + size_of(t_end);
  PackMask holds = size_of(t_end - (t + h)) <= 4.0 * kEpsilonOfLanes * size;
  const Pack t_mid = t + 0.5 * h;
  write(t_mid, gaps_.input(0) + j);
  write(t_mid, forces_.input(0) + j);
  write(t_end, ends_.input(0) + j);
  for (std::size_t i = 0; i < dofs_; ++i) {
    const int slot = 1 + static_cast<int>(i);
    const Pack u = pack_at(&step.u[i][j]), q_end = pack_at(&step.q_end[i][j]);
    const Pack q_mid = pack_at(&step.q[i][j]) + (0.5 * h) * u;
    write(q_mid + (anticipation_ * h) * u, gaps_.input(slot) + j);
    write(q_mid, forces_.input(slot) + j);
    write(q_end, ends_.input(slot) + j);
    holds &= q_end == q_mid + (0.5 * h) * pack_at(&step.u_end[i][j]);
  }
  const Pack one = {1.0, 1.0};
  write(either(holds, one, one - one), &passes[j]);
}

/// M (u+ - u) = h Q to rounding; T, V, the work of forces; T + V does not grow by itself.
inline LaneJudge::Works LaneJudge::take_works(const LaneStep& step, std::size_t j,
                                              PackMask& holds) const {
  constexpr double kMost = std::numeric_limits<double>::max();
  const Pack h = pack_at(&(*step.h)[j]);
  Pack error = h - h, size = error, kinetic = error, before = error, after = error;
  for (std::size_t i = 0; i < dofs_; ++i) {
    const Pack mass = pack_at(&mass_[i][j]), force = pack_at(forces_.output(i) + j);
    const Pack u = pack_at(&step.u[i][j]), u_end = pack_at(&step.u_end[i][j]);
    const Pack start = mass * u, end = mass * u_end;
    error += size_of(end - start - h * force);
    size += size_of(start);
    kinetic = i == 0 ? u_end * end : kinetic + u_end * end;
    before = i == 0 ? u * force : before + u * force;
    after = i == 0 ? u_end * force : after + u_end * force;
  }
  Works works{0.5 * kinetic, pack_at(ends_.output(contacts_) + j), 0.5 * h * (before + after)};
  const Pack change = works.potential - pack_at(&potential_start_[j]);
  const Pack gain = works.kinetic - pack_at(&kinetic_start_[j]) + change;
  holds &= error <= 8.0 * kEpsilonOfLanes * size;
  holds &= works.kinetic <= pack_at(&look_[j]);
  holds &= size_of(works.kinetic + works.potential) <= kMost;
  holds &= gain <= pack_at(&most_gain_[j]);
  return works;
}

/// What happened to T and V, where the step holds.
inline void LaneJudge::enter(const Works& works, std::size_t j, PackMask live, PackMask holds) {
  holds &= live;
  const Pack defect = (works.kinetic - pack_at(&kinetic_[j])) - works.forces;
  const Pack total = works.kinetic + works.potential, size = size_of(defect);
  add(works.forces, holds, &forces_sum_.total[j], &forces_sum_.lost[j]);
  add(defect - defect, holds, &contacts_sum_.total[j], &contacts_sum_.lost[j]);
  add(defect, holds, &defect_sum_.total[j], &defect_sum_.lost[j]);
  put(size, holds & (size > pack_at(&defect_max_[j])), &defect_max_[j]);
  put(works.kinetic, holds & (works.kinetic > pack_at(&kinetic_max_[j])), &kinetic_max_[j]);
  put(total, holds & (total < pack_at(&lowest_[j])), &lowest_[j]);
  put(total, holds & (total > pack_at(&highest_[j])), &highest_[j]);
  put(works.kinetic, holds, &kinetic_[j]);
  put(works.potential, holds, &potential_[j]);
}

}  // namespace ricochet::certify
