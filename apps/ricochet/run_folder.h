#pragma once

#include <filesystem>

#include "ricochet/plot/report.h"
#include "ricochet/plot/run_plot.h"
#include "ricochet/record/summary.h"
#include "ricochet/scene/scene.h"
#include "ricochet/study/companions.h"
#include "ricochet/study/run_report.h"

namespace ricochet::app {

/// A run whose files lie in a folder.
struct FolderRun : study::RunReport {
  long long rows{0};
  plot::RunPicture picture;
  plot::ReportData report;  // when one is made
  record::Summary summary;  // of a member of a family, instead of a file
  std::string lines;        // files in lines: "trajectory.csv (301 rows), events.csv (12)"
  std::string files;        // written besides them and the summary: "plot.svg, report.html"
};

struct FolderOptions {
  bool keep_rows{false};
  bool check_facts{true};
  std::string no_facts{};                // why they are not to be checked
  bool show_progress{true};              // on a terminal; and a note before a very large file
  std::vector<std::string> overrides{};  // what changed the scene, as of --set, for the summary
  std::string member{};  // the trajectory's name, of one of a family: no other file is touched
  std::size_t runs_in_picture{1};
  bool report{false};  // also report.html
  study::BarChoice error_bar{study::BarChoice::None};
  int threads{0};  // for a world of many bodies, 0: one; for companions that tell the error, 0: one
                   // for each core
};

/// Runs a scene into trajectory.csv, or what its [record] says, events.csv, plot.svg, report.html
/// if asked for, of structures spectra.csv and shapes.csv, and summary.json of `folder`, whose old
/// ones are removed first, so that it never holds parts of two runs. A monitor that says stop ends
/// the run between two steps, with the files whole. The summary comes last. A file that cannot be
/// written ends the run too: host::OutputError, after a summary with the status "output_error".
FolderRun run_into(const std::filesystem::path& folder, const scene::Scene& scene,
                   const FolderOptions& options, step::Monitor& monitor);

}  // namespace ricochet::app
