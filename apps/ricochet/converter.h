#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ricochet::app {

/// Whether a program of that name can be run.
bool has_tool(const std::string& program);

/// Runs a program without a shell; its exit code.
int run_tool(const std::vector<std::string>& words);

/// Whether the ending of a name is that of a film: .gif, .webm, .mp4.
bool is_film(const std::filesystem::path& place);

/// Whether a picture can be written to this place, by the ending of its name: .svg, and where
/// rsvg-convert or Inkscape is installed .png and .pdf; films where ffmpeg and rsvg-convert are.
/// Throws base::InputError, which names `option`, the endings, and the package that is missing.
void check_picture_place(const std::filesystem::path& place, const char* option);

/// Writes a picture as what the ending of its place says; a PNG so many times as large.
void write_picture(const std::filesystem::path& place, const std::string& svg, const char* option,
                   int zoom = 2);

/// Makes a film of pictures, which come one after the other.
class FilmWriter {
 public:
  static constexpr double kPerSecond = 25.0;
  explicit FilmWriter(std::filesystem::path place);
  ~FilmWriter();
  FilmWriter(const FilmWriter&) = delete;
  FilmWriter& operator=(const FilmWriter&) = delete;
  void add(const std::string& svg);
  void finish();

 private:
  std::filesystem::path place_;
  std::filesystem::path folder_;  // of the pictures, removed with this
  int count_{0};
};

}  // namespace ricochet::app
