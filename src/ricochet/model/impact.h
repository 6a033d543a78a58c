#pragma once

namespace ricochet::model {

/// What fixes the velocity after an impact.
enum class ImpactKind : char {
  Newton,       // U+ = -e U where it pushes; one e for all contacts: Paoli 2001 (5.3)
  Poisson,      // expansion gives back e times the impulse of compression
  Sequential,   // U+ = -e U at one contact after the other, in their order, until none approaches
  Own,          // u+ = F(t, q, u), stated by the user                             [Ballard 2013]
  ImpulseTime,  // friction and restitution followed through the shock, one contact after the other
};

}  // namespace ricochet::model
