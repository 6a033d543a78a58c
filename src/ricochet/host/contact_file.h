#pragma once

#include <string>

#include "ricochet/problem/contact.h"

namespace ricochet::host {

/// A contact problem from a file: FCLIB's HDF5 layout, the text form of Siconos or an .npz archive,
/// told apart by how the file begins. Throws base::InputError with place and remedy.
problem::ContactProblem read_contact_file(const std::string& path);

/// Writes the form that the name asks for: .hdf5 (also .h5), .npz, else text. The file is there as
/// a whole or not at all. Throws OutputError.
void write_contact_file(const std::string& path, const problem::ContactProblem& problem);

}  // namespace ricochet::host
