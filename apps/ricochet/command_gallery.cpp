#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "commands.h"
#include "gallery_attractors.h"
#include "gallery_pages.h"
#include "ricochet/base/error.h"
#include "ricochet/base/text.h"
#include "ricochet/host/stop_signals.h"
#include "run_folder.h"

namespace ricochet::app {
namespace {

int list_entries() {
  fmt::print("Published experiments. Run one with:  ricochet gallery NAME  (or --all)\n\n");
  for (const study::GalleryEntry& entry : gallery_entries()) {
    fmt::print("  {:<11} {:<43} {}\n", entry.name, entry.title, entry.source);
  }
  return kFine;
}

/// The user asked to stop: nothing more is to be run.
struct Stopped {};

/// Runs into folders of `out`, or in memory when there is none; pages, where there are any, keep
/// what they show. Throws Stopped.
study::Runner make_runner(const std::string& out, GalleryPages* pages, step::Monitor& monitor) {
  return [out, pages, &monitor](const std::string& label, const scene::Scene& scene,
                                const std::vector<std::string>& settings) {
    if (monitor.stop.load()) throw Stopped{};
    if (out.empty()) {
      study::Motion motion = study::run_scene(scene, true, {}, &monitor);
      if (monitor.stop.load()) throw Stopped{};
      return motion;
    }
    const FolderOptions options{.keep_rows = true,
                                .check_facts = false,
                                .show_progress = false,
                                .overrides = settings,
                                .report = pages != nullptr};
    FolderRun run = run_into(std::filesystem::path(out) / label, scene, options, monitor);
    if (monitor.stop.load()) throw Stopped{};
    if (pages != nullptr) pages->keep(label, run);
    return std::move(run.motion);
  };
}

/// True when all facts hold. Throws Stopped.
bool show(const study::GalleryEntry& entry, const study::Runner& runner, GalleryPages* pages,
          const step::Monitor& monitor) {
  const study::Exhibit exhibit = entry.show(runner);
  if (monitor.stop.load()) throw Stopped{};
  fmt::print("\n{}: {}  [{}]\n", entry.name, entry.title, entry.source);
  for (const std::string& line : exhibit.table) fmt::print("{}\n", line);
  if (!exhibit.table.empty()) fmt::print("\n");
  bool all = true;
  for (const study::Fact& fact : exhibit.facts) {
    fmt::print("{}{}", base::entry(fact.holds ? "  agrees" : "  DIFFERS", fact.statement),
               base::entry("", fact.found));
    all = all && fact.holds;
  }
  if (pages != nullptr) {
    const std::filesystem::path page = pages->add(entry, exhibit);
    fmt::print("  page     {}\n", page.string());
  }
  return all;
}

int show_all(const std::string& out, const study::Runner& runner, GalleryPages* pages,
             step::Monitor& monitor) {
  int agreeing = 0;
  const std::vector<study::GalleryEntry> entries = gallery_entries(&monitor);
  for (const study::GalleryEntry& entry : entries) {
    agreeing += show(entry, runner, pages, monitor) ? 1 : 0;
  }
  const int all = static_cast<int>(entries.size());
  fmt::print("\n{} of {} experiments agree with what their authors state.\n", agreeing, all);
  if (pages != nullptr) {
    fmt::print("Open {} in a browser.\n", pages->write_index().string());
  } else if (!out.empty()) {
    fmt::print("Runs and pictures are in {}.\n", out);
  }
  return agreeing == all ? kFine : kFailed;
}

}  // namespace

int command_gallery(const GalleryArguments& arguments) {
  if (!arguments.all && arguments.name.empty()) return list_entries();
  if (arguments.all && !arguments.name.empty()) {
    throw base::InputError("", fmt::format("'{}' and --all exclude each other", arguments.name),
                           "name one experiment, or write --all for all of them");
  }
  const std::string out = arguments.report && arguments.out.empty() ? "out/gallery" : arguments.out;
  std::optional<GalleryPages> pages;
  if (arguments.report) pages.emplace(out);
  GalleryPages* const shown = pages ? &*pages : nullptr;
  host::StopSignals signals;
  const study::Runner runner = make_runner(out, shown, signals.monitor());
  try {
    if (arguments.name.empty()) return show_all(out, runner, shown, signals.monitor());
    const study::GalleryEntry entry = gallery_entry(arguments.name, &signals.monitor());
    return show(entry, runner, shown, signals.monitor()) ? kFine : kFailed;
  } catch (const Stopped&) {
    fmt::print(stderr, "interrupted: what was run before is whole\n");
    return kInterrupted;
  }
}

}  // namespace ricochet::app
