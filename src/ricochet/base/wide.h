#pragma once

#include <cstddef>

/// Loops over numbers of which the processor takes several at once: two anywhere, four or eight
/// where the machine that runs the program has the instructions. Each product and sum is rounded as
/// if it stood alone, so that results do not depend on it.
namespace ricochet::base {

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(RICOCHET_SANITIZED) && !defined(__SANITIZE_ADDRESS__) &&  \
    !defined(__SANITIZE_THREAD__)
#define RICOCHET_FOURS [[gnu::target("avx2,prefer-vector-width=256")]]
#define RICOCHET_EIGHTS [[gnu::target("avx512f,avx512dq,avx512vl,prefer-vector-width=512")]]
#endif

/// Before a loop: what one turn of it writes no other one reads. Clang looks for itself, and warns
/// of loops that it was told of and did not take.
#if defined(__clang__)
#define RICOCHET_APART
#else
#define RICOCHET_APART _Pragma("GCC ivdep")
#endif

/// So many numbers at once.
enum class Width { Two = 2, Four = 4, Eight = 8 };

/// The most of this machine.
inline Width widest() {
#if defined(RICOCHET_EIGHTS)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl")) {
    return Width::Eight;
  }
  if (__builtin_cpu_supports("avx2")) return Width::Four;
#endif
  return Width::Two;
}

#if defined(RICOCHET_EIGHTS)
template <class Work>
RICOCHET_FOURS [[gnu::noinline]] void work_in_fours(const Work& work) {
  work();
}
template <class Work>
RICOCHET_EIGHTS [[gnu::noinline]] void work_in_eights(const Work& work) {
  work();
}
#endif

/// Calls `work()`, compiled for so many numbers at once: it, and all it calls, must be inlined
/// always, and be plain loops. `width` is at most that of the machine.
template <class Work>
inline void work_in([[maybe_unused]] Width width, const Work& work) {
#if defined(RICOCHET_EIGHTS)
  if (width == Width::Eight) return work_in_eights(work);
  if (width == Width::Four) return work_in_fours(work);
#endif
  work();
}
#define RICOCHET_ALWAYS __attribute__((always_inline))

}  // namespace ricochet::base
