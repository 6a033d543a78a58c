// The machine: files that appear whole or not at all, input that is read once, signals, threads.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <set>
#include <thread>

#include "program.h"
#include "ricochet/base/error.h"
#include "ricochet/host/contact_file.h"
#include "ricochet/host/input_file.h"
#include "ricochet/host/output_file.h"
#include "ricochet/host/scene_file.h"
#include "ricochet/host/stop_signals.h"
#include "ricochet/host/threads.h"
#include "ricochet/problem/contact_generator.h"
#include "small_disk.h"

namespace ricochet::host::host_test {
namespace {

using testing::Finished;
using testing::Folder;
using testing::read_file;
using testing::run_command;
using testing::run_program;
using testing::SmallDisk;

const std::filesystem::path kSource = testing::kSourceFolder;

std::string scene(const std::string& name) {
  return (kSource / "scenes" / (name + ".toml")).string();
}

std::set<std::string> names_in(const std::filesystem::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.insert(entry.path().filename().string());
  }
  return names;
}

/// Every file below a folder that is no directory.
std::set<std::string> files_below(const std::filesystem::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) names.insert(entry.path().filename().string());
  }
  return names;
}

TEST(OutputFile, AppearsOnlyWhenCommitted) {
  const Folder folder;
  const std::filesystem::path path = folder / "deep/er/file.txt";
  {
    OutputFile file(path);
    file.write("half");
    EXPECT_FALSE(std::filesystem::exists(path));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_TRUE(std::filesystem::is_empty(folder / "deep/er")) << "no temporary file is left";
  {
    OutputFile file(path);
    file.write("whole");
    file.commit();
  }
  EXPECT_EQ(read_file(path), "whole");
}

TEST(OutputFile, KeepsTheOldFileUntilTheNewOneIsWhole) {
  const Folder folder;
  write_file(folder / "f", "old");
  {
    OutputFile file(folder / "f");
    file.write("new");
  }
  EXPECT_EQ(read_file(folder / "f"), "old");
  write_file(folder / "f", "new");
  EXPECT_EQ(read_file(folder / "f"), "new");
}

TEST(OutputFile, AFullDiskIsAnErrorAndLeavesNothing) {
  const Folder folder;
  bool refused = false;
  {
    const SmallDisk disk(1000);
    try {
      OutputFile file(folder / "f");
      for (int i = 0; i < 100; ++i) file.write(std::string(1000, 'x'));
      file.commit();
    } catch (const OutputError& error) {
      refused = true;
      EXPECT_NE(std::string(error.what()).find("remedy"), std::string::npos);
    }
  }
  EXPECT_TRUE(refused);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(OutputFile, ContactProblemsTooLeaveNothingOnAFullDisk) {
  const problem::ContactProblem problem = problem::generate_contacts({.bodies = 40});
  for (const char* name : {"a.h5", "a.npz", "a.txt"}) {
    const Folder folder;
    {
      const SmallDisk disk(1000);
      EXPECT_THROW(write_contact_file((folder / name).string(), problem), OutputError) << name;
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << name;
    write_contact_file((folder / name).string(), problem);  // and fits on a larger one
    EXPECT_EQ(names_in(folder.path()), (std::set<std::string>{name}));
  }
}

TEST(OutputFile, AFileThatCannotBeRenamedIsKeptAndNamed) {
  const Folder folder;
  std::filesystem::create_directories(folder / "f/in the way");
  std::string message;
  try {
    OutputFile file(folder / "f");
    file.write("hours of work");
    file.commit();
  } catch (const OutputError& error) {
    message = error.what();
  }
  EXPECT_NE(message.find("directory"), std::string::npos) << message;  // the reason of the renaming
  std::filesystem::path kept;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    if (entry.is_regular_file()) kept = entry.path();
  }
  EXPECT_EQ(read_file(kept), "hours of work");
  ASSERT_FALSE(kept.empty());
  EXPECT_NE(message.find(kept.string()), std::string::npos) << message;
}

TEST(OutputFile, TwoWritersOfOnePlaceDoNotMeet) {
  const Folder folder;
  OutputFile first(folder / "f");
  OutputFile second(folder / "f");
  EXPECT_EQ(names_in(folder.path()).size(), 2U) << "each has a temporary file of its own";
  first.write("first");
  second.write("second");
  second.commit();
  EXPECT_EQ(read_file(folder / "f"), "second");
  first.commit();
  EXPECT_EQ(read_file(folder / "f"), "first");
  EXPECT_EQ(names_in(folder.path()), (std::set<std::string>{"f"}));
}

TEST(OutputFile, ManyThreadsMayWriteOnePlace) {
  const Folder folder;
  const std::atomic<bool> stop{false};
  std::atomic<int> faults{0};
  make_executor(8, stop)(200, [&](std::size_t k) {
    const std::string text(10'000, static_cast<char>('a' + k % 26));
    if (!try_to_write(folder / "f", text).empty()) ++faults;
    const std::string seen = read_file(folder / "f");  // whole, whoever wrote it
    if (seen.size() != 10'000 || seen != std::string(10'000, seen[0])) ++faults;
  });
  EXPECT_EQ(faults, 0);
  EXPECT_EQ(names_in(folder.path()), (std::set<std::string>{"f"}));
}

TEST(OutputFile, HasTheRightsOfAnyNewFileAndMayHaveALongName) {
  const Folder folder;
  const mode_t mask = ::umask(027);
  const std::string name(250, 'n');
  write_file(folder / name, "text");
  ::umask(mask);
  struct stat seen {};
  ASSERT_EQ(::stat((folder / name).c_str(), &seen), 0);
  EXPECT_EQ(seen.st_mode & 0777U, 0640U);
  EXPECT_EQ(names_in(folder.path()), (std::set<std::string>{name}));
}

TEST(StopSignals, TheFirstAsksToStopAndTheSecondEndsWithoutATrace) {
  const Folder folder;
  const auto work = [&] {
    StopSignals signals;
    OutputFile file(folder / "f");
    file.write("half");
    if (::raise(SIGINT) != 0 || !signals.monitor().stop) std::_Exit(1);
    ::raise(SIGINT);  // at once, as to a process and to its group: the same one
    if (names_in(folder.path()).size() != 1) std::_Exit(2);
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    ::raise(SIGINT);
    std::_Exit(3);
  };
  EXPECT_EXIT(work(), ::testing::KilledBySignal(SIGINT), "");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(StopSignals, AreAsBeforeWhenItIsGone) {
  const auto before = std::signal(SIGTERM, SIG_IGN);
  { const StopSignals signals; }
  EXPECT_EQ(std::signal(SIGTERM, before), SIG_IGN);
}

TEST(Program, EndedByASignalLeavesNoTemporaryFile) {
  for (const int signal : {SIGHUP, SIGINT}) {
    const Folder folder;
    const Finished run = run_program({"run", scene("zeno"), "--steps", "1000000000", "--threads",
                                      "3", "--set", "family.e=[0.5,0.6,0.7]"},
                                     folder.path(), 0.5, signal);
    EXPECT_EQ(run.code, signal == SIGINT ? 130 : 128 + signal) << run.err;
    for (const std::string& name : files_below(folder.path())) {
      EXPECT_EQ(name.find(".tmp"), std::string::npos) << name;
    }
  }
}

/// What the program says and does with a scene from a pipe.
Finished run_piped(const std::string& name, const std::string& words, const Folder& folder) {
  const std::string line = "cat '" + scene(name) + "' | '" + testing::kProgram + "' " + words;
  return run_command({"sh", "-c", line}, folder.path());
}

TEST(Input, AScenePipedInGivesTheSameTrajectory) {
  // A system, a family and a structure.
  for (const std::string name : {"essai-04", "essai-09-plate-12", "tube-10"}) {
    const Folder folder;
    const std::string until = name == "tube-10" ? "0.05" : "0.5";
    ASSERT_EQ(
        run_program({"run", scene(name), "--until", until, "--out", "file"}, folder.path()).code,
        0);
    const std::string words = " --until " + until + " --out ";
    EXPECT_EQ(run_piped(name, "run /dev/stdin" + words + "pipe", folder).code, 0);
    EXPECT_EQ(run_piped(name, "run -" + words + "dash", folder).code, 0);
    const std::string line = std::string("'") + testing::kProgram + "' run /dev/stdin" + words +
                             "input < '" + scene(name) + "'";
    EXPECT_EQ(run_command({"sh", "-c", line}, folder.path()).code, 0);
    std::size_t trajectories = 0;
    for (const std::string& file : names_in(folder / "file")) {
      if (!file.ends_with(".csv")) continue;
      ++trajectories;
      const std::string text = read_file(folder / ("file/" + file));
      EXPECT_GT(text.size(), 60U) << file;
      for (const char* other : {"pipe/", "dash/", "input/"}) {
        EXPECT_EQ(read_file(folder / (other + file)), text) << name << ": " << other << file;
      }
    }
    EXPECT_GE(trajectories, 1U);
  }
}

TEST(Input, EveryCommandTakesAScenePipedIn) {
  const Folder folder;
  const std::vector<std::pair<std::string, std::string>> commands = {
      {"essai-04", "check -"},
      {"essai-04", "inspect - --at 0.1"},
      {"essai-04", "converge - --steps 0.01,0.005 --until 0.2"},
      {"essai-04", "compare - --schemes elast,inel --until 0.2"},
      {"tube-10", "check -"},
      {"tube-10", "converge - --steps 2e-5,1e-5 --until 0.002"},
      {"tube-10", "compare - --schemes newmark,mabrouk --until 0.002"}};
  for (const auto& [name, words] : commands) {
    const Finished run = run_piped(name, words, folder);
    EXPECT_EQ(run.code, 0) << words << "\n" << run.err;
    EXPECT_EQ(run.err, "") << words;
    EXPECT_GT(run.out.size(), 100U) << words;
  }
  ASSERT_EQ(run_program({"run", scene("essai-04"), "--out", "o"}, folder.path()).code, 0);
  const Finished plot = run_piped("essai-04", "plot o/trajectory.csv --scene -", folder);
  EXPECT_EQ(plot.code, 0) << plot.err;
}

TEST(Input, FaultsOfAScenePipedInHaveTheirPlace) {
  const Folder folder;
  const Finished run = run_command(
      {"sh", "-c", std::string("echo '[run' | '") + testing::kProgram + "' run -"}, folder.path());
  EXPECT_EQ(run.code, 2);
  EXPECT_NE(run.err.find("/dev/stdin:1"), std::string::npos) << run.err;
}

TEST(Input, IsRefusedWhereItCannotBeRead) {
  const Folder folder;
  EXPECT_THROW(read_scene_text((folder / "absent").string()), base::InputError);
  EXPECT_THROW(read_scene_text(folder.path().string()), base::InputError);
  EXPECT_THROW(read_scene_text("/dev/zero"), base::InputError) << "it has no end";
  EXPECT_THROW(read_contact_file(folder.path().string()), base::InputError);
}

TEST(Input, ComesInPiecesThatAddUp) {
  const Folder folder;
  std::string text;
  for (int k = 0; text.size() < 5'000'000; ++k) text += std::to_string(k) + "\n";
  write_file(folder / "f", text);
  InputFile input((folder / "f").string(), {"", ""});
  std::string seen;
  bool ended = false;
  while (!ended) {
    const std::string_view piece = input.more();
    ended = input.is_last();
    const std::size_t used = ended ? piece.size() : piece.size() / 3;  // the rest comes again
    seen += piece.substr(0, used);
    input.use(used);
  }
  EXPECT_EQ(seen, text);
  EXPECT_EQ(read_input((folder / "f").string(), {"", ""}), text);
  EXPECT_THROW(read_input((folder / "f").string(), {"", ""}, text.size() - 1), base::InputError);
  EXPECT_EQ(read_input((folder / "f").string(), {"", ""}, text.size()), text);
}

TEST(Threads, AreAsManyAsAskedForOrOneForEachCore) {
  EXPECT_EQ(thread_count(3), 3);
  EXPECT_EQ(thread_count(0), std::max(1, static_cast<int>(std::thread::hardware_concurrency())));
}

}  // namespace
}  // namespace ricochet::host::host_test
