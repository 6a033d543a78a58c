#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ricochet::formula {

/// Bytes of the character of a name that `text` begins with, or 0: letters (also Greek ones, and
/// those with accents) and _; inside a name digits and subscripts too.
std::size_t name_character(std::string_view text, bool is_first);

/// The micro sign of keyboards is the Greek letter that names have; both are of two bytes.
std::string without_micro(std::string text);

/// A name as formulas keep it: the micro sign is the letter mu, and the letter pi is `pi`.
std::string kept_name(std::string_view name);

/// A name or formula as a picture shows it: theta_1 as θ₁, omega' as ω'.
std::string typeset(std::string_view text);

}  // namespace ricochet::formula
