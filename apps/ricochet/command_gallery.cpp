#include <fmt/format.h>

#include <algorithm>

#include "commands.h"
#include "ricochet/study/gallery.h"
#include "run_folder.h"

namespace ricochet::app {
namespace {

int list_entries() {
  fmt::print("Published experiments. Run one with:  ricochet gallery NAME  (or --all)\n\n");
  for (const study::GalleryEntry& entry : study::gallery()) {
    fmt::print("  {:<10}{:<44}{}\n", entry.name, entry.title, entry.source);
  }
  return kFine;
}

study::Runner make_runner(const std::string& out) {
  if (out.empty()) return study::run_in_memory;
  return [out](const std::string& label, const scene::Scene& scene) {
    const FolderOptions options{.keep_rows = true, .check_facts = false, .show_progress = false};
    return run_into(std::filesystem::path(out) / label, scene, options).motion;
  };
}

/// True when all facts hold.
bool show(const study::GalleryEntry& entry, const study::Runner& runner, bool with_table) {
  const study::Exhibit exhibit = entry.show(runner);
  fmt::print("\n{}: {}  [{}]\n", entry.name, entry.title, entry.source);
  if (with_table) {
    for (const std::string& line : exhibit.table) fmt::print("{}\n", line);
    if (!exhibit.table.empty()) fmt::print("\n");
  }
  bool all = true;
  for (const study::Fact& fact : exhibit.facts) {
    fmt::print("  {} {}\n           {}\n", fact.holds ? "agrees " : "DIFFERS", fact.statement,
               fact.found);
    all = all && fact.holds;
  }
  return all;
}

}  // namespace

int command_gallery(const GalleryArguments& arguments) {
  if (!arguments.all && arguments.name.empty()) return list_entries();
  const study::Runner runner = make_runner(arguments.out);
  if (!arguments.name.empty()) {
    return show(study::gallery_entry(arguments.name), runner, true) ? kFine : kFailed;
  }
  int agreeing = 0;
  for (const study::GalleryEntry& entry : study::gallery()) {
    agreeing += show(entry, runner, true) ? 1 : 0;
  }
  const int all = static_cast<int>(study::gallery().size());
  fmt::print("\n{} of {} experiments agree with what their authors state.\n", agreeing, all);
  if (!arguments.out.empty()) fmt::print("Runs and pictures are in {}.\n", arguments.out);
  return agreeing == all ? kFine : kFailed;
}

}  // namespace ricochet::app
