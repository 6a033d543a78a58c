#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ricochet/study/family.h"
#include "run_family.h"

namespace ricochet::app {

/// A family that was run, in words, at most 80 columns: what is certified, and where its members
/// came to.
std::string describe_family(const scene::Scene& scene, const record::FamilySummary& summary,
                            const std::vector<std::optional<MemberRun>>& members,
                            const std::filesystem::path& folder, const std::string& pictures);

/// "12 members: R (3 values), run.step (4 values)".
std::string describe_members(const scene::Family& family);

}  // namespace ricochet::app
