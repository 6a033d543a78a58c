#include "ricochet/problem/contact_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "ricochet/base/error.h"
#include "ricochet/problem/contact_npz.h"
#include "ricochet/problem/contact_text.h"

namespace ricochet::problem {
namespace {

std::string read_bytes(const std::string& path) {
  if (std::filesystem::is_directory(path)) {
    throw base::InputError("", "is a folder", "name the files in it",
                           {.file = path, .line_text = {}});
  }
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  if (file) bytes << file.rdbuf();
  if (!file) {
    throw base::InputError("", std::string("cannot be read: ") + std::strerror(errno),
                           "check the name and the rights of the file",
                           {.file = path, .line_text = {}});
  }
  return std::move(bytes).str();
}

void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  file.close();
  if (!file) {
    throw base::InputError("", "cannot be written", "check the folder, its rights and the disk",
                           {.file = path, .line_text = {}});
  }
}

}  // namespace

ContactProblem read_contact_file(const std::string& path) {
  const std::string bytes = read_bytes(path);
  if (bytes.starts_with("\x89HDF")) return read_fclib_file(path);
  if (bytes.starts_with("PK")) return parse_contact_npz(bytes, path);
  const std::size_t first = bytes.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && (bytes[first] == '2' || bytes[first] == '3')) {
    return parse_contact_text(bytes, path);
  }
  throw base::InputError("", bytes.empty() ? "is empty" : "is not a contact problem",
                         "known are FCLIB's HDF5 layout, the text form of Siconos, and .npz "
                         "archives with G, g and mus",
                         {.file = path, .line_text = {}});
}

void write_contact_file(const std::string& path, const ContactProblem& problem) {
  check(problem);
  const std::string temporary = path + ".part";
  try {
    if (path.ends_with(".hdf5") || path.ends_with(".h5")) {
      write_fclib_file(temporary, problem);
    } else {
      write_bytes(temporary, path.ends_with(".npz") ? contact_npz(problem) : contact_text(problem));
    }
    std::filesystem::rename(temporary, path);
  } catch (...) {
    std::error_code ignored;
    std::filesystem::remove(temporary, ignored);
    throw;
  }
}

}  // namespace ricochet::problem
