#include "ricochet/certify/certificate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ricochet::certify {
namespace {

void merge_proof(Proof& all, const Proof& later) {
  if (all.ok()) {
    all.failure = later.failure;
    all.failure_time = later.failure_time;
    all.failure_contact = later.failure_contact;
    all.failure_value = later.failure_value;
  }
  all.steps += later.steps;
  if (later.residual_max > all.residual_max) {
    all.residual_max = later.residual_max;
    all.residual_time = later.residual_time;
  }
  if (later.violation_max > all.violation_max) {
    all.violation_max = later.violation_max;
    all.violation_contact = later.violation_contact;
    all.violation_time = later.violation_time;
    all.violation_depth = later.violation_depth;
  }
  all.creep_max = std::max(all.creep_max, later.creep_max);
  all.balance_max = std::max(all.balance_max, later.balance_max);
  all.arc_max = std::max(all.arc_max, later.arc_max);
  all.arc_limit = std::max(all.arc_limit, later.arc_limit);
  all.joint_max = std::max(all.joint_max, later.joint_max);
  all.roll_max = std::max(all.roll_max, later.roll_max);
}

void merge_friction(std::vector<FrictionRecord>& all, const std::vector<FrictionRecord>& later) {
  all.resize(std::max(all.size(), later.size()));
  for (std::size_t a = 0; a < later.size(); ++a) {
    all[a].stick_time += later[a].stick_time;
    all[a].slip_time += later[a].slip_time;
    all[a].dissipated.add(later[a].dissipated);
    all[a].tangential_shocks += later[a].tangential_shocks;
  }
}

void merge_own(std::vector<OwnWork>& all, const std::vector<OwnWork>& later) {
  all.resize(std::max(all.size(), later.size()));
  for (std::size_t i = 0; i < later.size(); ++i) {
    all[i].given += later[i].given;
    all[i].kinetic = std::max(all[i].kinetic, later[i].kinetic);
  }
}

void merge_shocks(Statistics& all, const Statistics& later) {
  all.shock_counts.resize(std::max(all.shock_counts.size(), later.shock_counts.size()), 0);
  for (std::size_t a = 0; a < later.shock_counts.size(); ++a) {
    all.shock_counts[a] += later.shock_counts[a];
  }
  all.shocks_cut = all.shocks_cut || later.shocks_cut;
  for (const Shock& shock : later.shocks) {
    if (all.shocks.size() < Statistics::kMostShocks) {
      all.shocks.push_back(shock);
    } else {
      all.shocks_cut = true;
    }
  }
}

}  // namespace

// Compiled once, and not with every judge.
Statistics::Statistics() = default;
Statistics::Statistics(const Statistics& other) = default;
Statistics::Statistics(Statistics&& other) noexcept = default;
Statistics& Statistics::operator=(const Statistics& other) = default;
Statistics& Statistics::operator=(Statistics&& other) noexcept = default;
Statistics::~Statistics() = default;

void Statistics::enter(const Shock& shock) {
  ++shock_counts[static_cast<std::size_t>(shock.contact)];
  ledger.shocks.add(shock.work);
  if (shocks.size() < kMostShocks) {
    shocks.push_back(shock);
  } else {
    shocks_cut = true;
  }
}

void Ledger::merge(const Ledger& later) {
  kinetic_end = later.kinetic_end;
  potential_end = later.potential_end;
  for (base::Sum Ledger::*sum :
       {&Ledger::forces, &Ledger::contacts, &Ledger::shocks, &Ledger::tangential, &Ledger::friction,
        &Ledger::gain, &Ledger::joints, &Ledger::explicit_gain, &Ledger::defect,
        &Ledger::correction, &Ledger::loads, &Ledger::damping, &Ledger::elastic,
        &Ledger::closure}) {
    (this->*sum).add(later.*sum);
  }
  defect_max = std::max(defect_max, later.defect_max);
  closure_max = std::max(closure_max, later.closure_max);
  kinetic_max = std::max(kinetic_max, later.kinetic_max);
  lowest = std::min(lowest, later.lowest);
  highest = std::max(highest, later.highest);
}

double Certificate::violation_rms() const { return std::sqrt(mean(violation_squares)); }

void Certificate::merge(const Certificate& later) {
  merge_proof(*this, later);
  residual_sum += later.residual_sum;
  lost_displacement = std::max(lost_displacement, later.lost_displacement);
  violation_sum += later.violation_sum;
  violation_squares += later.violation_squares;
  if (undecided_crossings == 0) undecided_time = later.undecided_time;
  undecided_crossings += later.undecided_crossings;
  if (coupled_impacts == 0) coupled_time = later.coupled_time;
  coupled_impacts += later.coupled_impacts;
  if (acute_impacts == 0) acute_time = later.acute_time;
  acute_impacts += later.acute_impacts;
  if (later.zeno_count > 0) zeno_time = later.zeno_time;
  zeno_count += later.zeno_count;
  adhesive_count += later.adhesive_count;
  adhesive_max = std::max(adhesive_max, later.adhesive_max);
  impulses_unique = impulses_unique && later.impulses_unique;
  balance_rounding = std::max(balance_rounding, later.balance_rounding);
  average_gap = std::min(average_gap, later.average_gap);
  average_allowed = std::max(average_allowed, later.average_allowed);
  ledger.merge(later.ledger);
  merge_own(own, later.own);
  merge_friction(friction, later.friction);
  merge_shocks(*this, later);
  shock_threshold = std::max(shock_threshold, later.shock_threshold);
}

std::string describe_failure(const Certificate& certificate) {
  const FailureText failure = describe(certificate.failure);
  return fmt::format("{} at t = {:.9g}: {}", failure.name, certificate.failure_time,
                     failure.meaning);
}

}  // namespace ricochet::certify
