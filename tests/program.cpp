#include "program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <thread>

namespace ricochet::testing {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void redirect(const std::filesystem::path& file, int to) {
  const int opened = ::open(file.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
  ::dup2(opened, to);
}

/// The most memory that a running process has had in use, in MB; 0 where that cannot be told.
double peak_memory(pid_t process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) / 1024.0;
  }
  return 0.0;
}

/// Which program it was: another one makes another gallery.
std::string stamp_of(const std::filesystem::path& program) {
  const auto written = std::filesystem::last_write_time(program).time_since_epoch().count();
  return std::to_string(written) + " " + std::to_string(std::filesystem::file_size(program));
}

Gallery take_gallery(const std::filesystem::path& place) {
  std::vector<std::string> words = {"gallery", "--all", "--report", "--out", "g"};
#ifdef RICOCHET_SANITIZED
  words[1] = "essai-08";
#endif
  const std::string stamp = stamp_of(kProgram);
  Gallery gallery{{}, place / "g"};
  if (read_file(place / "made-by") != stamp) {
    std::filesystem::remove_all(place);
    std::filesystem::create_directories(place);
    gallery.made = run_program(words, place);
    write_file(place / "out", gallery.made.out);
    write_file(place / "err", gallery.made.err);
    std::ofstream(place / "ended") << gallery.made.code << ' ' << gallery.made.seconds;
    if (gallery.made.code < 128) write_file(place / "made-by", stamp);  // it was not killed
  }
  std::ifstream(place / "ended") >> gallery.made.code >> gallery.made.seconds;
  gallery.made.out = read_file(place / "out");
  gallery.made.err = read_file(place / "err");
  return gallery;
}

}  // namespace

const Gallery& shared_gallery() {
  static const Gallery gallery = [] {
    const auto build = std::filesystem::path(kProgram).parent_path().parent_path();
    const int lock = ::open((build / "gallery-of-tests.lock").c_str(), O_CREAT | O_RDWR, 0600);
    ::flock(lock, LOCK_EX);  // others wait until it is there
    Gallery made = take_gallery(build / "gallery-of-tests");
    ::close(lock);
    return made;
  }();
  return gallery;
}

Finished run_program(const std::vector<std::string>& arguments, const std::filesystem::path& folder,
                     double interrupt_after, int signal) {
  std::vector<std::string> words = {kProgram};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return run_command(words, folder, interrupt_after, signal);
}

Finished run_command(const std::vector<std::string>& words, const std::filesystem::path& folder,
                     double interrupt_after, int signal) {
  const Folder streams;
  const Clock::time_point start = Clock::now();
  const pid_t child = ::fork();
  if (child == 0) {
    redirect(streams / "out", 1);
    redirect(streams / "err", 2);
    std::filesystem::current_path(folder);
    ::setenv("ASAN_OPTIONS", "detect_leaks=0", 1);  // the search takes seconds in each process
    std::vector<char*> argv;
    for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    ::execvp(argv[0], argv.data());
    ::_exit(127);
  }
  int status = 0;
  bool interrupted = false;
  double megabytes = 0.0;
  rusage used{};
  while (::wait4(child, &status, WNOHANG, &used) == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    if (const double now = peak_memory(child); now > 0.0) megabytes = now;  // 0 once it has ended
    if (interrupt_after > 0.0 && !interrupted && since(start) > interrupt_after) {
      ::kill(child, signal);
      interrupted = true;
    }
    constexpr double kHangs = 600.0;  // [s]; the whole gallery takes 30 alone on a slow machine
    if (since(start) > kHangs) ::kill(child, SIGKILL);
  }
  Finished finished;
  finished.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  finished.seconds = since(start);
  const auto seconds_of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  finished.cpu_seconds = seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
  finished.megabytes = megabytes;
  finished.out = read_file(streams / "out");
  finished.err = read_file(streams / "err");
  return finished;
}

Folder::Folder() {
  std::string name = (std::filesystem::temp_directory_path() / "ricochet-test-XXXXXX").string();
  path_ = ::mkdtemp(name.data());
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::permissions(path_, std::filesystem::perms::owner_all, ignored);
  std::filesystem::remove_all(path_, ignored);
}

std::string read_file(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

void write_file(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

}  // namespace ricochet::testing
