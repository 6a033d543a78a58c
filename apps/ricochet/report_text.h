#pragma once

#include <filesystem>
#include <string>

#include "run_folder.h"

namespace ricochet::app {

/// A run in words, at most 80 columns: what was run, what is certified, where the energy went.
std::string describe_run(const FolderRun& run, const std::filesystem::path& folder);

/// "step 0.01", or under step control "steps of 1e-6 to 0.01".
std::string describe_step(const step::RunSettings& run);

/// Words broken into lines of at most 80 columns behind a label.
std::string entry(const std::string& label, const std::string& words);

/// Text whose lines of more than 80 columns are broken at blanks and go on indented.
std::string wrapped(const std::string& text);

/// "1 step", "2 steps".
std::string counted(long long count, const std::string& noun);

/// "12.3 million", "850".
std::string readable_count(double count);

}  // namespace ricochet::app
