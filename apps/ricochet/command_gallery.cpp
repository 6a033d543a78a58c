#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <mutex>
#include <optional>

#include "commands.h"
#include "gallery_attractors.h"
#include "gallery_pages.h"
#include "ricochet/base/error.h"
#include "ricochet/base/text.h"
#include "ricochet/host/member_monitors.h"
#include "ricochet/host/stop_signals.h"
#include "ricochet/host/threads.h"
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

/// An experiment that was run, to be told of when it is its turn.
struct Finished {
  study::Exhibit exhibit;
  std::vector<KeptRun> runs;  // for pages, where there are any
  std::exception_ptr error;
  bool is_done{false};
};

struct Gallery {
  std::string out;      // folder of the runs; "": in memory
  GalleryPages* pages;  // null: none
  step::Monitor& monitor;
};

/// Runs for one experiment; pages, where there are any, keep what they show. Throws Stopped.
study::Runner make_runner(const Gallery& gallery, step::Monitor& monitor,
                          std::vector<KeptRun>& kept) {
  return [&gallery, &monitor, &kept](const std::string& label, const scene::Scene& scene,
                                     const std::vector<std::string>& settings) {
    if (monitor.stop.load()) throw Stopped{};
    if (gallery.out.empty()) {
      study::Motion motion = study::run_scene(scene, true, {}, &monitor);
      if (monitor.stop.load()) throw Stopped{};
      return motion;
    }
    const FolderOptions options{.keep_rows = true,
                                .check_facts = false,
                                .show_progress = false,
                                .overrides = settings,
                                .report = gallery.pages != nullptr};
    FolderRun run = run_into(std::filesystem::path(gallery.out) / label, scene, options, monitor);
    if (monitor.stop.load()) throw Stopped{};
    if (gallery.pages != nullptr) kept.push_back(keep_run(label, run));
    return std::move(run.motion);
  };
}

Finished run_entry(const study::GalleryEntry& entry, const Gallery& gallery,
                   step::Monitor& monitor) {
  Finished finished;
  try {
    finished.exhibit = entry.show(make_runner(gallery, monitor, finished.runs));
    if (monitor.stop.load()) throw Stopped{};
  } catch (...) {
    finished.error = std::current_exception();
  }
  finished.is_done = true;
  return finished;
}

/// True when all facts hold. Throws what went wrong, Stopped among that.
bool tell(const study::GalleryEntry& entry, Finished finished, GalleryPages* pages) {
  if (finished.error) std::rethrow_exception(finished.error);
  fmt::print("\n{}: {}  [{}]\n", entry.name, entry.title, entry.source);
  for (const std::string& line : finished.exhibit.table) fmt::print("{}\n", line);
  if (!finished.exhibit.table.empty()) fmt::print("\n");
  bool all = true;
  for (const study::Fact& fact : finished.exhibit.facts) {
    fmt::print("{}{}", base::entry(fact.holds ? "  agrees" : "  DIFFERS", fact.statement),
               base::entry("", fact.found));
    all = all && fact.holds;
  }
  if (pages != nullptr) {
    const auto page = pages->add(entry, finished.exhibit, std::move(finished.runs));
    fmt::print("  page     {}\n", page.string());
  }
  std::fflush(stdout);
  return all;
}

/// All experiments, several at the same time, told of in their order. How many agree.
int show_entries(const std::vector<study::GalleryEntry>& entries, const Gallery& gallery) {
  host::MemberMonitors monitors(gallery.monitor, entries.size());
  std::vector<Finished> finished(entries.size());
  std::mutex telling;
  std::exception_ptr error;
  std::size_t told = 0;
  int agreeing = 0;
  const auto run_one = [&](std::size_t k) {
    Finished made = run_entry(entries[k], gallery, monitors[k]);
    const std::lock_guard lock(telling);
    finished[k] = std::move(made);
    try {
      for (; !error && told < finished.size() && finished[told].is_done; ++told) {
        agreeing += tell(entries[told], std::move(finished[told]), gallery.pages) ? 1 : 0;
      }
    } catch (...) {
      error = std::current_exception();
      gallery.monitor.stop.store(true);  // the others need not be run
    }
  };
  host::make_executor(0, gallery.monitor.stop)(entries.size(), run_one);
  if (error) std::rethrow_exception(error);
  if (told < entries.size()) throw Stopped{};
  return agreeing;
}

int show_all(const Gallery& gallery) {
  const std::vector<study::GalleryEntry> entries = gallery_entries(&gallery.monitor);
  const int agreeing = show_entries(entries, gallery);
  const int all = static_cast<int>(entries.size());
  fmt::print("\n{} of {} experiments agree with what their authors state.\n", agreeing, all);
  if (gallery.pages != nullptr) {
    fmt::print("Open {} in a browser.\n", gallery.pages->write_index().string());
  } else if (!gallery.out.empty()) {
    fmt::print("Runs and pictures are in {}.\n", gallery.out);
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
  host::StopSignals signals;
  const Gallery gallery{out, pages ? &*pages : nullptr, signals.monitor()};
  try {
    if (arguments.name.empty()) return show_all(gallery);
    const study::GalleryEntry entry = gallery_entry(arguments.name, &signals.monitor());
    return tell(entry, run_entry(entry, gallery, gallery.monitor), gallery.pages) ? kFine : kFailed;
  } catch (const Stopped&) {
    fmt::print(stderr, "interrupted: what was run before is whole\n");
    return kInterrupted;
  }
}

}  // namespace ricochet::app
