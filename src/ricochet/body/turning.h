#pragma once

#include "ricochet/body/world.h"

namespace ricochet::body {

/// How a body of space turns in a step, in the frame R̄ = R exp(½hΩ̄) of its middle:
///
///     R⁺ = R exp(hΩ̄),   Ω̄ = ½(Ω + Ω⁺),   R⁺ I Ω⁺ = R I Ω + T ,
///     before = R̄ Ω,   after = R̄ Ω⁺ ,
///
/// so that ½Ω⁺·IΩ⁺ − ½Ω·IΩ = ½(before + after)·T and the momentum of the body is kept to rounding.
/// Where all moments of inertia are equal, before = ω, after = ω + T/I in space do the same.
struct Turning {
  Vec<3> before = Vec<3>::Zero();
  Vec<3> after = Vec<3>::Zero();
  Vec<3> rates = Vec<3>::Zero();                // Ω⁺
  shape::Mat<3> slope = shape::Mat<3>::Zero();  // d(after) / dT
  bool is_found{true};
};

/// Newton's method; not found where h |Ω| is of the size of 1.
Turning turn_by(const Body<3>& body, const Motion<3>& from, double h, const Vec<3>& moment);

/// R⁺ and ω⁺ of the end of a motion `from`, whose spin and rates `m` has.
void finish_turning(const Body<3>& body, double h, const Motion<3>& from, Motion<3>& m);

}  // namespace ricochet::body
