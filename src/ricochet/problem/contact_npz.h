#pragma once

#include <string>
#include <string_view>

#include "ricochet/problem/contact.h"

namespace ricochet::problem {

/// A contact problem of dimension 3 from the bytes of an .npz archive (numpy.savez, not
/// compressed): dense `G`, `g` and `mus`, with components in the order (T1, T2, N), which become
/// (N, T1, T2). Throws base::InputError.
ContactProblem parse_contact_npz(std::string_view bytes, const std::string& name);

/// The bytes of such an archive.
std::string contact_npz(const ContactProblem& problem);

}  // namespace ricochet::problem
