#include "ricochet/host/contact_file.h"

#include "ricochet/base/error.h"
#include "ricochet/host/contact_hdf5.h"
#include "ricochet/host/input_file.h"
#include "ricochet/host/output_file.h"
#include "ricochet/problem/contact_npz.h"
#include "ricochet/problem/contact_text.h"

namespace ricochet::host {

problem::ContactProblem read_contact_file(const std::string& path) {
  const std::string bytes =
      read_input(path, {"name the files in it", "check the name and the rights of the file"});
  if (bytes.starts_with("\x89HDF")) return parse_contact_hdf5(bytes, path);
  if (bytes.starts_with("PK")) return problem::parse_contact_npz(bytes, path);
  const std::size_t first = bytes.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && (bytes[first] == '2' || bytes[first] == '3')) {
    return problem::parse_contact_text(bytes, path);
  }
  throw base::InputError("", bytes.empty() ? "is empty" : "is not a contact problem",
                         "known are FCLIB's HDF5 layout, the text form of Siconos, and .npz "
                         "archives with G, g and mus",
                         {.file = path, .line_text = {}});
}

void write_contact_file(const std::string& path, const problem::ContactProblem& problem) {
  problem::check(problem);
  if (path.ends_with(".hdf5") || path.ends_with(".h5")) {
    write_file(path, contact_hdf5(problem));
  } else {
    write_file(path,
               path.ends_with(".npz") ? problem::contact_npz(problem) : contact_text(problem));
  }
}

}  // namespace ricochet::host
