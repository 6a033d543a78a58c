#pragma once

namespace ricochet::base {

inline constexpr const char* kVersion = RICOCHET_VERSION;  // set by CMake from project(VERSION)

}  // namespace ricochet::base
