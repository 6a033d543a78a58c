#pragma once

#include <filesystem>
#include <string>

#include "ricochet/base/text.h"
#include "ricochet/study/run_report.h"
#include "run_folder.h"

namespace ricochet::app {

using base::counted;
using base::entry;
using base::readable_count;
using base::wrapped;
using study::describe_step;

/// A run in words, at most 80 columns: what was run, what is certified, where the energy went, and
/// what was written.
std::string describe_run(const FolderRun& run, const std::filesystem::path& folder);

}  // namespace ricochet::app
