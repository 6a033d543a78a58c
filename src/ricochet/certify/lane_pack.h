#pragma once

#include <cstddef>

/// Two numbers that the processor takes at once. Compilers make this of plain loops only where they
/// see through all that may be the same memory.
namespace ricochet::certify {

using Pack = double __attribute__((vector_size(16), aligned(8)));
using PackMask = long long __attribute__((vector_size(16)));
inline constexpr std::size_t kPack = 2;

[[gnu::always_inline]] inline Pack pack_at(const double* from) {
  return *reinterpret_cast<const Pack*>(from);
}
[[gnu::always_inline]] inline void write(Pack pack, double* to) {
  *reinterpret_cast<Pack*>(to) = pack;
}
[[gnu::always_inline]] inline Pack either(PackMask mask, Pack yes, Pack no) {
  return mask ? yes : no;
}
[[gnu::always_inline]] inline Pack size_of(Pack x) { return either(x < 0.0, -x, x); }

}  // namespace ricochet::certify
