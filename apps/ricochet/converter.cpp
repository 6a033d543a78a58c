#include "converter.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "ricochet/base/error.h"
#include "ricochet/host/output_file.h"
#include "ricochet/host/temporary_file.h"

extern char** environ;

namespace ricochet::app {
namespace {

using Words = std::vector<std::string>;

bool is_converted(const std::filesystem::path& place) {
  return place.extension() == ".png" || place.extension() == ".pdf";
}

/// What makes `place` of an SVG, in the order of preference.
std::vector<Words> ways(const std::string& svg, const std::string& place, const std::string& kind,
                        int zoom) {
  const int times = kind == "png" ? zoom : 1;
  return {{"rsvg-convert", "--format=" + kind, fmt::format("--zoom={}", times), "-o", place, svg},
          {"inkscape", svg, "--export-type=" + kind, fmt::format("--export-dpi={}", 96 * times),
           "--export-filename=" + place}};
}

std::string kind_of(const std::filesystem::path& place) {
  return place.extension().string().substr(1);
}

}  // namespace

bool has_tool(const std::string& program) {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (::access((std::filesystem::path(folder) / program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

int run_tool(const Words& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  if (posix_spawnp(&child, arguments[0], nullptr, nullptr, arguments.data(), environ) != 0) {
    return 127;
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

bool is_film(const std::filesystem::path& place) {
  const std::filesystem::path ending = place.extension();
  return ending == ".gif" || ending == ".webm" || ending == ".mp4";
}

void check_picture_place(const std::filesystem::path& place, const char* option) {
  if (place.extension() == ".svg") return;
  for (const auto& [program, package] :
       {std::pair{"ffmpeg", "ffmpeg"}, std::pair{"rsvg-convert", "librsvg2-bin"}}) {
    if (!is_film(place) || has_tool(program)) continue;
    throw base::InputError(
        option, fmt::format("a film takes {}, which is not installed", program),
        fmt::format("install it (on Debian: apt-get install {}), or write a .svg", package));
  }
  if (is_film(place)) return;
  if (!is_converted(place)) {
    throw base::InputError(
        option,
        place.has_extension()
            ? fmt::format("pictures are not written as {} files", place.extension().string())
            : fmt::format("'{}' has no ending that tells what to write", place.string()),
        "end the name in .svg, .png or .pdf, or of a film in .gif, .webm or .mp4");
  }
  if (has_tool("rsvg-convert") || has_tool("inkscape")) return;
  throw base::InputError(
      option, fmt::format("there is no program here that makes a {} of a picture", kind_of(place)),
      "install rsvg-convert (on Debian: apt-get install librsvg2-bin), or write a .svg");
}

/// Converted beside its place, so that it appears whole or not at all.
void write_picture(const std::filesystem::path& place, const std::string& svg, const char* option,
                   int zoom) {
  if (!is_converted(place)) return host::write_file(place, svg);
  if (place.has_parent_path()) std::filesystem::create_directories(place.parent_path());
  const host::TemporaryFile source(place);
  host::TemporaryFile made(place);
  ::close(made.descriptor());
  std::FILE* const file = ::fdopen(source.descriptor(), "wb");
  const bool written =
      file != nullptr && std::fwrite(svg.data(), 1, svg.size(), file) == svg.size();
  if (file == nullptr || std::fclose(file) != 0 || !written) {
    throw host::OutputError(
        fmt::format("cannot write {}\nremedy: free some space, or choose "
                    "another place",
                    source.path().string()));
  }
  for (const Words& way : ways(source.path(), made.path(), kind_of(place), zoom)) {
    if (!has_tool(way[0])) continue;
    if (run_tool(way) != 0) {
      throw base::InputError(option, fmt::format("{} could not make {}", way[0], place.string()),
                             "see its message above");
    }
    std::filesystem::rename(made.path(), place);
    made.release();
    return;
  }
  check_picture_place(place, option);  // says what is missing
}

FilmWriter::FilmWriter(std::filesystem::path place) : place_(std::move(place)) {
  std::string folder = (std::filesystem::temp_directory_path() / "ricochet-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) {
    throw host::OutputError(
        fmt::format("cannot make a folder for pictures: {}\nremedy: free some "
                    "space in it",
                    folder));
  }
  folder_ = folder;
}

FilmWriter::~FilmWriter() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void FilmWriter::add(const std::string& svg) {
  write_picture(folder_ / fmt::format("{:05}.png", count_++), svg, "--out", 1);
}

void FilmWriter::finish() {
  if (place_.has_parent_path()) std::filesystem::create_directories(place_.parent_path());
  host::TemporaryFile made(place_);
  ::close(made.descriptor());
  const std::string kind = kind_of(place_);
  Words words = {"ffmpeg",     "-y", "-loglevel", "error",
                 "-framerate", "25", "-i",        (folder_ / "%05d.png").string()};
  const Words how = kind == "gif"
                        ? Words{"-vf", "split[a][b];[a]palettegen[p];[b][p]paletteuse"}
                        : Words{"-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p"};
  words.insert(words.end(), how.begin(), how.end());
  if (kind == "webm") words.insert(words.end(), {"-c:v", "libvpx-vp9", "-b:v", "0", "-crf", "32"});
  words.insert(words.end(), {"-f", kind, made.path().string()});
  if (run_tool(words) != 0) {
    throw base::InputError("--out", fmt::format("ffmpeg could not make {}", place_.string()),
                           "see its message above");
  }
  std::filesystem::rename(made.path(), place_);
  made.release();
}

}  // namespace ricochet::app
