#pragma once

#include <filesystem>
#include <string>

#include "run_folder.h"

namespace ricochet::app {

/// A run in words, at most 80 columns: what was run, what is certified, where the energy went.
std::string describe_run(const FolderRun& run, const std::filesystem::path& folder);

/// Words broken into lines of at most 80 columns behind a label.
std::string entry(const std::string& label, const std::string& words);

/// "12.3 million", "850".
std::string readable_count(double count);

}  // namespace ricochet::app
