#pragma once

#include "ricochet/model/formula_model.h"

namespace ricochet::model {

/// A system seen backwards: its time is s = -t and its velocity w = -u. Forces keep their sign,
/// since they are even in time; walls move the other way; impacts give back what they took. A
/// forward step of `inel` on it is the inference backwards in time u_(i-1) = prox(-V, u_i - h a).
/// [Moreau 1986 (4.13)]
///
/// An impact with 0 < e < 1 that ends at U+ > 0 began at -U+/e: seen backwards, its restitution is
/// 1/e. What e = 0 took cannot be told. Approaches slower than `rest` times |J| are none: a contact
/// that lasts is not struck.
///
/// For systems without friction and laws of impact of their own.
FormulaSystem reversed(FormulaSystem system, double rest);

}  // namespace ricochet::model
