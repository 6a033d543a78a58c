#pragma once

#include <cstddef>

namespace ricochet::base {

/// A number that counts from 0, as containers of the standard library want it.
constexpr std::size_t index(int i) { return static_cast<std::size_t>(i); }

}  // namespace ricochet::base
