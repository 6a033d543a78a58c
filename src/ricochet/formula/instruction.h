#pragma once

#include <cstdint>

#include "ricochet/formula/op.h"

namespace ricochet::formula {

/// One instruction of a tape: r[out] = op(r[a], r[b], r[c]). SinCos has a second result, r[c].
struct Instruction {
  Op op;
  std::uint32_t out;
  std::uint32_t a;
  std::uint32_t b;
  std::uint32_t c;
};

}  // namespace ricochet::formula
