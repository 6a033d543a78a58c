#pragma once

#include <filesystem>

namespace ricochet::app {

inline constexpr const char* kTrajectory = "trajectory.csv";
inline constexpr const char* kEvents = "events.csv";
inline constexpr const char* kSummary = "summary.json";
inline constexpr const char* kPlot = "plot.svg";
inline constexpr const char* kReport = "report.html";
inline constexpr const char* kSpectra = "spectra.csv";
inline constexpr const char* kShapes = "shapes.csv";

/// Removes what a run, or a family of runs, left in the folder before.
void remove_old_files(const std::filesystem::path& folder);

}  // namespace ricochet::app
