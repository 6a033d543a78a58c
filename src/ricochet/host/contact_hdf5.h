#pragma once

#include <string>
#include <string_view>

#include "ricochet/problem/contact.h"

namespace ricochet::host {

/// A contact problem from the bytes of an HDF5 file in FCLIB's layout: group fclib_local (W, q, mu)
/// or fclib_global (M, H, f, w, mu). `name` is for messages. Throws base::InputError.
problem::ContactProblem parse_contact_hdf5(std::string_view bytes, const std::string& name);

/// The bytes of such a file.
std::string contact_hdf5(const problem::ContactProblem& problem);

}  // namespace ricochet::host
