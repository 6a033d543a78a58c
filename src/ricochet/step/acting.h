#pragma once

#include <array>
#include <string_view>

#include "ricochet/step/scheme.h"

namespace ricochet::step {

/// Which contacts act in a step: those that touch at its middle, or with e = 0 all that would be
/// closed by the next.
enum class Acting { Touching, Ahead };
inline constexpr std::array<std::string_view, 2> kActing = {"touching", "ahead"};
inline constexpr Setting kActingSetting{
    .name = "contact",
    .meaning =
        "which contacts act: those that touch at the middle of a step, or with "
        "e = 0 all that the next would find closed, so that none is entered",
    .unnamed = static_cast<double>(Acting::Ahead),
    .words = kActing};

}  // namespace ricochet::step
