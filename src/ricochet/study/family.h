#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "ricochet/base/executor.h"
#include "ricochet/record/family_summary.h"
#include "ricochet/scene/scene.h"

namespace ricochet::study {

using Executor = base::Executor;

/// One after the other.
void run_in_order(std::size_t count, const std::function<void(std::size_t)>& work);

/// What running a family will take.
struct FamilyPlan {
  double steps{0.0};
  double rows{0.0};
  double bytes{0.0};  // of all trajectories, about
  record::FamilyCommon common;
  bool same_coordinates{true};  // so that the paths can be drawn together
};

/// Reads every member, so that a fault in the last one is known before the first one is run. Throws
/// the base::InputError of the first member that has one, whatever the executor.
FamilyPlan plan_family(const scene::Scene& scene, const std::vector<scene::Override>& overrides,
                       const Executor& executor);

/// "trajectory-007.csv": at least three digits, enough for all members, counted from 1.
std::string member_file(std::size_t number, std::size_t members);

}  // namespace ricochet::study
