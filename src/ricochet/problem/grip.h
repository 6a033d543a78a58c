#pragma once

namespace ricochet::problem {

/// What an impulse does in a step.
enum class Grip : char {
  Free,   // R = 0
  Stick,  // U_T = 0
  Slip,   // U_T != 0, R on the surface of its cone
};

}  // namespace ricochet::problem
