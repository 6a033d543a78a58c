#include "ricochet/certify/structure_judge.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ricochet/problem/residual.h"

namespace ricochet::certify {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kRounding = 64.0 * kEpsilon;

/// |p| <= bound.
struct Between {
  double bound{0.0};
  double project(double r) const { return std::clamp(r, -bound, bound); }
  double violation(double r) const { return std::abs(r - project(r)); }
};

double largest(const Eigen::VectorXd& v) { return v.size() == 0 ? 0.0 : v.cwiseAbs().maxCoeff(); }

double row_size(const structure::BandMatrix& matrix) {
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

StructureJudge::StructureJudge(const structure::LinearStructure& s, const Limits& limits, double h,
                               const structure::Motion& start)
    : structure_(s), limits_(limits), sides_(structure::sides_of(s)) {
  structure::EffectiveMatrix effective;
  const bool good = effective.factor(s, 0.5 * h, 0.25 * h * h);
  Eigen::VectorXd column(s.dofs);
  for (const structure::Guide& guide : s.guides) {
    column.setZero();
    guide.row.add_to(1.0, column.data());
    if (good) effective.solve_plane(column.data());
    weight_.push_back(guide.row.dot(column.data()));
  }
  stiffness_size_ = row_size(s.combined(0.0, 1.0));
  mass_size_ = row_size(s.mass);
  registers_ = s.load_tape.registers();
  loads_.setZero(static_cast<Eigen::Index>(s.loads.size()));
  load_part_ = loads_;
  for (Eigen::VectorXd* v : {&momentum_, &momentum_next_, &elastic_, &damped_, &mean_, &rest_}) {
    v->setZero(s.size());
  }
  scratch_.setZero(s.scratch_size());
  strain_.setZero(s.planes * static_cast<Eigen::Index>(s.strains.size()));
  strain_next_ = strain_;
  potential_ = advance_strains(start, true);
  s.multiply_mass(start.u.data(), momentum_.data());
  kinetic_ = 0.5 * start.u.dot(momentum_);
  certificate_.shock_counts.assign(sides_.size(), 0);
  Ledger& ledger = certificate_.ledger;
  ledger.kinetic_start = ledger.kinetic_end = ledger.kinetic_max = kinetic_;
  ledger.potential_start = ledger.potential_end = potential_;
  ledger.lowest = ledger.highest = kinetic_ + potential_;
  books_.average_gap = std::numeric_limits<double>::infinity();
  quiet_.assign(sides_.size(), 3);
  gaps_.assign(sides_.size(), 0.0);
  bool rubs = false;
  for (const structure::Guide& guide : s.guides) rubs = rubs || guide.friction > 0.0;
  if (rubs) certificate_.friction.resize(sides_.size());
  measure_gaps(start);
}

void StructureJudge::fail(Failure failure, double time) { fail(failure, time, 0.0); }

void StructureJudge::fail(Failure failure, double time, double value, int contact) {
  if (!certificate_.ok()) return;
  certificate_.failure = failure;
  certificate_.failure_time = time;
  certificate_.failure_value = value;
  certificate_.failure_contact = contact;
}

Certificate StructureJudge::finish() {
  Ledger& ledger = certificate_.ledger;
  ledger.kinetic_end = kinetic_;
  ledger.potential_end = potential_;
  certificate_.shock_threshold =
      limits_.shock_speed >= 0.0 ? limits_.shock_speed : limits_.shock_fraction * fastest_;
  return certificate_;
}

void StructureJudge::weigh_loads(const StructureClaim& claim) {
  const auto add = [&](double t, double weight) {
    structure_.load_values(t, registers_, load_part_);
    loads_ += weight * load_part_;
  };
  loads_.setZero();
  if (claim.rule == ForceRule::Middle) return add(claim.t_mid, 1.0);
  if (claim.rule == ForceRule::End) return add(claim.t_mid + 0.5 * claim.h, 1.0);
  add(claim.t_mid - claim.h, 0.25);  // (G- + 2 G + G+)/4                  [Paoli 2001 (3.13)]
  add(claim.t_mid, 0.5);
  add(claim.t_mid + claim.h, 0.25);
}

/// K q of the step into `elastic_`; the strains become those of `next`. Returns V there.
double StructureJudge::advance_strains(const structure::Motion& next, bool at_end) {
  elastic_.setZero();
  double sum = 0.0;
  double* before = strain_.data();
  double* now = strain_next_.data();
  for (int p = 0; p < structure_.planes; ++p) {
    for (const structure::RowRun& run : structure_.runs) {
      run.dot(next.q.data() + p * structure_.dofs, now);
      Eigen::Map<Eigen::VectorXd> old(before, run.rows);
      const Eigen::Map<Eigen::VectorXd> fresh(now, run.rows);
      sum += run.stiffness * fresh.squaredNorm();
      if (at_end) {
        old = fresh;
      } else {
        old = 0.5 * (old + fresh);
      }
      run.add_to(run.stiffness, before, elastic_.data() + p * structure_.dofs);
      before += run.rows;
      now += run.rows;
    }
  }
  strain_.swap(strain_next_);
  return 0.5 * sum;
}

bool StructureJudge::check_kinematics(const structure::Motion& now, const structure::Motion& next,
                                      const StructureClaim& claim) {
  const double h = claim.h;
  if (claim.rule == ForceRule::End) {
    rest_ = next.q - now.q - h * now.u;
  } else {
    rest_ = next.q - now.q - h * mean_;
  }
  const double size = std::max({largest(now.q), largest(next.q), h * largest(mean_)});
  const double error = largest(rest_);
  if (size == 0.0) return true;
  certificate_.balance_max =
      std::max(certificate_.balance_max, std::max(0.0, error - kRounding * size) / size);
  if (error <= limits_.balance * size) return true;
  fail(Failure::Kinematics, next.t, error / size);
  return false;
}

/// M (u+ - u) = h (f - C u - K q) + G^T p, with forces where the rule says.
bool StructureJudge::check_balance(const structure::Motion& now, const structure::Motion& next,
                                   const StructureClaim& claim) {
  const double h = claim.h;
  const structure::LinearStructure& s = structure_;
  damped_.setZero();
  if (!s.damping.is_none()) {
    const Eigen::VectorXd& u = claim.rule == ForceRule::End ? next.u : mean_;
    s.add_damping(1.0, u.data(), scratch_.data(), damped_.data());
  }
  rest_ = momentum_next_ - momentum_;
  double size = std::max({largest(rest_), h * largest(elastic_), h * largest(damped_)});
  rest_ += h * (elastic_ + damped_);
  for (std::size_t k = 0; k < s.loads.size(); ++k) {
    const double impulse = h * loads_[static_cast<Eigen::Index>(k)];
    size = std::max(size, std::abs(impulse));
    s.loads[k].row.add_to(-impulse, rest_.data() + s.loads[k].plane * s.dofs);
  }
  for (std::size_t k = 0; k < s.guides.size(); ++k) {
    const structure::Guide& guide = s.guides[k];
    const double normal = claim.normal[static_cast<Eigen::Index>(k)];
    const double along = claim.tangential[static_cast<Eigen::Index>(k)];
    size = std::max({size, std::abs(normal), std::abs(along)});
    guide.row.add_to(-normal, rest_.data() + guide.plane * s.dofs);
    if (along != 0.0) guide.row.add_to(-along, rest_.data() + (1 - guide.plane) * s.dofs);
  }
  // What the evaluation itself loses: positions are rounded, and K makes much of it.
  const double lost = kRounding * (h * stiffness_size_ *
                                       (std::max(largest(now.q), largest(next.q)) +
                                        h * std::max(largest(now.u), largest(next.u))) +
                                   mass_size_ * std::max(largest(now.u), largest(next.u)));
  if (size > 0.0) books_.balance_rounding = std::max(books_.balance_rounding, lost / size);
  const double error = rest_.allFinite() ? std::max(0.0, largest(rest_) - lost)
                                         : std::numeric_limits<double>::infinity();
  if (error == 0.0 && std::isfinite(size)) return true;
  const double part = error / size;
  certificate_.balance_max = std::max(certificate_.balance_max, part);
  if (part <= limits_.balance) return true;
  fail(std::isfinite(part) ? Failure::Balance : Failure::NotFinite, next.t, part);
  return false;
}

/// A spring pushes where the middle of the step is beyond the clearance, inwards, and rubs by no
/// more than friction allows. How hard it pushes is the scheme's to say.
bool StructureJudge::check_springs(const structure::Motion& now, double t,
                                   const StructureClaim& claim) {
  for (std::size_t k = 0; k < structure_.guides.size(); ++k) {
    const structure::Guide& guide = structure_.guides[k];
    const double p = claim.normal[static_cast<Eigen::Index>(k)];
    const double along = claim.tangential[static_cast<Eigen::Index>(k)];
    const double start = structure_.value_at(guide.row, guide.plane, now.q.data());
    const double half = 0.5 * claim.h * structure_.value_at(guide.row, guide.plane, now.u.data());
    const double lost = kRounding * (std::abs(start) + std::abs(half));
    const double place = start + half;
    if ((p > 0.0 && place > guide.lower + lost) || (p < 0.0 && place < guide.upper - lost)) {
      fail(Failure::ActiveSet, t, p);
      return false;
    }
    if (std::abs(along) > guide.friction * std::abs(p) * (1.0 + kRounding)) {
      fail(Failure::Residual, t, std::abs(along));
      return false;
    }
  }
  return true;
}

bool StructureJudge::check_guides(const structure::Motion& now, const structure::Motion& next,
                                  const StructureClaim& claim) {
  if (claim.law == GuideLaw::Spring) return check_springs(now, next.t, claim);
  problem::Residual residual;
  const double h = claim.h;
  const double inf = std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < structure_.guides.size(); ++k) {
    const structure::Guide& guide = structure_.guides[k];
    const double e = guide.restitution;
    const double rho = scale_of_guide(k);
    const double before = structure_.value_at(guide.row, guide.plane, now.u.data());
    const double after = structure_.value_at(guide.row, guide.plane, next.u.data());
    const double start = structure_.value_at(guide.row, guide.plane, now.q.data());
    const double place = start + (claim.law == GuideLaw::EndPoint ? h : 0.5 * h) * before;
    const double p = claim.normal[static_cast<Eigen::Index>(k)];
    const double free = after - weight_[k] * p;
    const double lost = kRounding * (std::abs(before) + std::abs(after) + std::abs(free) +
                                     (std::abs(start) + std::abs(place)) / h);
    const bool averaged = claim.law == GuideLaw::Average;
    // Average: U+ of the paper is place + h u+, U- is place - h u; solved for u+.
    const double low = averaged               ? e * before + (1.0 + e) * (guide.lower - place) / h
                       : place <= guide.lower ? -e * before
                                              : -inf;
    const double high = averaged               ? e * before + (1.0 + e) * (guide.upper - place) / h
                        : place >= guide.upper ? -e * before
                                               : inf;
    if ((p > 0.0 && low == -inf) || (p < 0.0 && high == inf)) {
      fail(Failure::ActiveSet, next.t, p);
      return false;
    }
    const auto same = [&] { return lost; };
    if (low > -inf) {
      residual.add(convex::HalfLine{}, std::max(p, 0.0), rho, after - low, free - low, lost, same);
    }
    if (high < inf) {
      residual.add(convex::HalfLine{}, std::max(-p, 0.0), rho, high - after, high - free, lost,
                   same);
    }
    if (averaged) {
      const double average = place + h * (after - e * before) / (1.0 + e);
      books_.average_gap =
          std::min({books_.average_gap, average - guide.lower, guide.upper - average});
      books_.average_allowed = std::max(books_.average_allowed, lost * h);
    }
    if (guide.friction == 0.0) continue;
    const double slip = structure_.value_at(guide.row, 1 - guide.plane, next.u.data());
    const double along = claim.tangential[static_cast<Eigen::Index>(k)];
    residual.add(Between{guide.friction * std::abs(p)}, along, rho, slip, slip - weight_[k] * along,
                 kRounding * std::abs(slip), [&] { return kRounding * std::abs(slip); });
  }
  const double value = residual.value();
  certificate_.residual_sum += value;
  if (value > certificate_.residual_max) {
    certificate_.residual_max = value;
    certificate_.residual_time = next.t;
  }
  if (value <= limits_.residual) return true;
  fail(Failure::Residual, next.t, value);
  return false;
}

/// Every work is that of the mean velocity, for which the change of T is exact.
bool StructureJudge::check_books(const StructureClaim& claim, double t) {
  const double h = claim.h;
  double loads = 0.0;
  for (std::size_t k = 0; k < structure_.loads.size(); ++k) {
    const structure::Load& load = structure_.loads[k];
    loads += h * loads_[static_cast<Eigen::Index>(k)] *
             structure_.value_at(load.row, load.plane, mean_.data());
  }
  double normal = 0.0;
  double along = 0.0;
  for (std::size_t k = 0; k < structure_.guides.size(); ++k) {
    const structure::Guide& guide = structure_.guides[k];
    const auto at = static_cast<Eigen::Index>(k);
    normal += claim.normal[at] * structure_.value_at(guide.row, guide.plane, mean_.data());
    if (claim.tangential[at] == 0.0) continue;
    along += claim.tangential[at] * structure_.value_at(guide.row, 1 - guide.plane, mean_.data());
  }
  const double elastic = -h * mean_.dot(elastic_);
  const double damping = -h * mean_.dot(damped_);
  const double forces = loads + elastic + damping;
  Ledger& ledger = certificate_.ledger;
  const double defect = kinetic_next_ - kinetic_ - forces - normal - along;
  const double closure =
      kinetic_next_ - kinetic_ + potential_next_ - potential_ - loads - damping - normal - along;
  ledger.forces.add(forces);
  ledger.contacts.add(normal + along);
  ledger.tangential.add(along);
  ledger.friction.add(along);
  if (normal + along > 0.0) ledger.gain.add(normal + along);
  ledger.defect.add(defect);
  ledger.defect_max = std::max(ledger.defect_max, std::abs(defect));
  books_.loads.add(loads);
  books_.damping.add(damping);
  books_.elastic.add(elastic);
  books_.closure.add(closure);
  books_.closure_max = std::max(books_.closure_max, std::abs(closure));
  const double total = kinetic_next_ + potential_next_;
  ledger.kinetic_max = std::max(ledger.kinetic_max, kinetic_next_);
  ledger.lowest = std::min(ledger.lowest, total);
  ledger.highest = std::max(ledger.highest, total);
  const double start = ledger.kinetic_start + ledger.potential_start;
  // Where K acts on the mean its work is the change of V: else the balance was lost in rounding.
  const double traded = std::max({ledger.highest, std::abs(books_.loads.value()), start});
  if (claim.rule != ForceRule::End && std::abs(books_.closure.value()) > kClosureLimit * traded) {
    fail(Failure::Balance, t, std::abs(books_.closure.value()) / traded);
  }
  if (claim.law == GuideLaw::Spring && ledger.contacts.value() > kSpringGain * traded) {
    fail(Failure::EnergyGain, t, ledger.contacts.value());
  }
  if (!structure_.is_driven() && start > 0.0 && total > limits_.growth * start) {
    fail(Failure::Diverged, t, total / start);
  }
  return certificate_.ok();
}

void StructureJudge::measure_gaps(const structure::Motion& next) {
  double worst = 0.0;
  for (std::size_t a = 0; a < sides_.size(); ++a) {
    const structure::Guide& guide = structure_.guides[sides_[a].guide];
    gaps_[a] = sides_[a].gap(guide, structure_.value_at(guide.row, guide.plane, next.q.data()));
    worst = std::max(worst, -gaps_[a]);
    if (-gaps_[a] > certificate_.violation_max) {
      certificate_.violation_max = -gaps_[a];
      certificate_.violation_depth = -gaps_[a];
      certificate_.violation_contact = static_cast<int>(a);
      certificate_.violation_time = next.t;
    }
    if (-gaps_[a] > limits_.violation) {
      fail(Failure::Violation, next.t, -gaps_[a], static_cast<int>(a));
    }
  }
  certificate_.violation_sum += worst;
  certificate_.violation_squares += worst * worst;
}

void StructureJudge::count_shocks(const structure::Motion& now, const structure::Motion& next,
                                  const StructureClaim& claim) {
  constexpr long long kQuiet = 3;  // steps without a push before one that may be a shock
  for (std::size_t a = 0; a < sides_.size(); ++a) {
    const structure::ContactSide& side = sides_[a];
    const structure::Guide& guide = structure_.guides[side.guide];
    const auto k = static_cast<Eigen::Index>(side.guide);
    const double speed = structure_.value_at(guide.row, guide.plane, now.u.data());
    const double after = structure_.value_at(guide.row, guide.plane, next.u.data());
    fastest_ = std::max(fastest_, std::abs(speed));
    const double push = side.push(claim.normal[k]);
    if (push == 0.0) {
      ++quiet_[a];
      continue;
    }
    const double approach = side.is_upper ? speed : -speed;
    const double threshold =
        limits_.shock_speed >= 0.0 ? limits_.shock_speed : limits_.shock_fraction * fastest_;
    const bool is_shock = quiet_[a] >= kQuiet && approach >= threshold && approach > 0.0;
    quiet_[a] = 0;
    if (guide.friction > 0.0) {
      FrictionRecord& record = certificate_.friction[a];
      const double along = claim.tangential[k];
      const double slip = structure_.value_at(guide.row, 1 - guide.plane, mean_.data());
      const bool sticks = std::abs(along) < guide.friction * push * (1.0 - 1e-12);
      (sticks ? record.stick_time : record.slip_time) += claim.h;
      record.dissipated.add(-along * slip);
    }
    if (!is_shock) continue;
    const double work = 0.5 * claim.normal[k] * (speed + after);
    certificate_.ledger.shocks.add(work);
    ++certificate_.shock_counts[a];
    if (certificate_.shocks.size() < Certificate::kMostShocks) {
      certificate_.shocks.push_back({.t = next.t,
                                     .contact = static_cast<int>(a),
                                     .approach = approach,
                                     .speed = approach,
                                     .impulse = push,
                                     .work = work});
    } else {
      certificate_.shocks_cut = true;
    }
  }
}

/// The claim speaks of this step, in numbers, and of friction only where there is some.
bool StructureJudge::check_claim(const structure::Motion& now, const structure::Motion& next,
                                 const StructureClaim& claim) {
  if (!claim.normal.allFinite() || !claim.tangential.allFinite()) {
    fail(Failure::NotFinite, next.t);
    return false;
  }
  const double late =
      std::max(std::abs(next.t - now.t - claim.h), std::abs(now.t + 0.5 * claim.h - claim.t_mid));
  const double size = std::abs(now.t) + std::abs(next.t) + claim.h;
  if (!(late <= 1e-9 * claim.h + kRounding * size)) {
    fail(Failure::Kinematics, next.t, late / claim.h);
    return false;
  }
  for (std::size_t k = 0; k < structure_.guides.size(); ++k) {
    const double along = claim.tangential[static_cast<Eigen::Index>(k)];
    if (along == 0.0 || structure_.guides[k].friction > 0.0) continue;
    fail(Failure::Residual, next.t, along);
    return false;
  }
  return true;
}

bool StructureJudge::check(const structure::Motion& now, const structure::Motion& next,
                           const StructureClaim& claim) {
  if (!check_claim(now, next, claim)) return false;
  mean_ = 0.5 * (now.u + next.u);
  weigh_loads(claim);
  structure_.multiply_mass(next.u.data(), momentum_next_.data());
  potential_next_ = advance_strains(next, claim.rule == ForceRule::End);
  kinetic_next_ = 0.5 * next.u.dot(momentum_next_);
  if (!std::isfinite(kinetic_next_ + potential_next_)) {  // a bad entry spoils both sums
    fail(Failure::NotFinite, next.t);
    return false;
  }
  ++certificate_.steps;
  if (!check_kinematics(now, next, claim) || !check_balance(now, next, claim) ||
      !check_guides(now, next, claim) || !check_books(claim, next.t)) {
    return false;
  }
  count_shocks(now, next, claim);
  measure_gaps(next);
  std::swap(momentum_, momentum_next_);
  kinetic_ = kinetic_next_;
  potential_ = potential_next_;
  return certificate_.ok();
}

}  // namespace ricochet::certify
