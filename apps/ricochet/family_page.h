#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ricochet/record/family_summary.h"
#include "ricochet/scene/scene.h"
#include "run_family.h"

namespace ricochet::app {

/// The page of a family that was run: its picture, where its members came to over what varies, and
/// a table of them with their trajectories.
std::string family_page(const scene::Scene& scene, const record::FamilySummary& summary,
                        const std::vector<std::optional<MemberRun>>& members,
                        const std::string& picture);

}  // namespace ricochet::app
