#pragma once

#include <string>

#include "ricochet/problem/contact.h"

namespace ricochet::problem {

/// A contact problem from a file: FCLIB's HDF5 layout, the text form of Siconos or an .npz archive,
/// told apart by how the file begins. Throws base::InputError with place and remedy. Not in a web
/// build.
ContactProblem read_contact_file(const std::string& path);

/// Writes the form that the name asks for: .hdf5 (also .h5), .npz, else text. The file is there as
/// a whole or not at all.
void write_contact_file(const std::string& path, const ContactProblem& problem);

/// FCLIB's layout: group fclib_local (W, q, mu) or fclib_global (M, H, f, w, mu).
ContactProblem read_fclib_file(const std::string& path);
void write_fclib_file(const std::string& path, const ContactProblem& problem);

}  // namespace ricochet::problem
