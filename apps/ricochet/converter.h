#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ricochet::app {

/// Whether a program of that name can be run.
bool has_tool(const std::string& program);

/// Runs a program without a shell; its exit code.
int run_tool(const std::vector<std::string>& words);

/// Whether a picture can be written to this place, by the ending of its name: .svg, and where
/// rsvg-convert or Inkscape is installed .png and .pdf. Throws base::InputError, which names
/// `option`, the endings, and the package that is missing.
void check_picture_place(const std::filesystem::path& place, const char* option);

/// Writes a picture as what the ending of its place says.
void write_picture(const std::filesystem::path& place, const std::string& svg, const char* option);

}  // namespace ricochet::app
