#pragma once

namespace ricochet::problem {

/// What e compares at the ends of the two parts of a shock that is followed in impulse time. They
/// agree where the slip keeps its sense.
enum class Restitution : char {
  Newton,   // U_N = -e U_N(before): may create energy with friction           [Kane 1985]
  Poisson,  // the normal impulse of the expansion is e times that of the compression
  Stronge,  // its work is -e^2 times that of the compression: never gains     [Stronge 1990]
};

}  // namespace ricochet::problem
