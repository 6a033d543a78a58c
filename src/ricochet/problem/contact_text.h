#pragma once

#include <string>
#include <string_view>

#include "ricochet/problem/contact.h"

namespace ricochet::problem {

/// A contact problem in the text form of Siconos: dimension, contacts, then W, q, mu; or, in the
/// global form, M, H, f, w, mu. A matrix is `storage rows columns` and then
///   0  rows, columns again and all entries, column by column;
///   1  sparse blocks;
///   2  origin, and a printed list of entries (of 6 digits).
/// `name` is for messages; one that begins with gfc announces the global form, which is also
/// recognised by its sizes. Throws base::InputError with line and remedy.
ContactProblem parse_contact_text(std::string_view text, const std::string& name);

/// The same form, with 17 digits; blocks as storage 1, the global form as storage 0.
std::string contact_text(const ContactProblem& problem);

}  // namespace ricochet::problem
