#include "ricochet/formula/native_code.h"

#if defined(__unix__) && (defined(__x86_64__) || defined(__aarch64__))

#include <sys/mman.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace ricochet::formula {
namespace {

struct alignas(32) SineAndCosine {
  std::uint64_t angle{0};  // its bits
  double sine{0.0};
  double cosine{1.0};
};

/// Returned in the first two floating-point registers, by the rules of both processors.
struct Both {
  double sine;
  double cosine;
};

const SineAndCosine& compute(double angle, SineAndCosine& kept) {
#if defined(__GLIBC__)
  ::sincos(angle, &kept.sine, &kept.cosine);
#else
  kept.sine = std::sin(angle);
  kept.cosine = std::cos(angle);
#endif
  kept.angle = std::bit_cast<std::uint64_t>(angle);
  return kept;
}

// What is not remembered is computed behind a call, so that nothing is saved on the stack for it.
[[gnu::noinline]] double compute_sine(double angle, SineAndCosine& kept) {
  return compute(angle, kept).sine;
}
[[gnu::noinline]] double compute_cosine(double angle, SineAndCosine& kept) {
  return compute(angle, kept).cosine;
}
/// One after the other: a load of both at once has to wait until they are written.
[[gnu::always_inline]] inline Both both_of(const volatile SineAndCosine& kept) {
  const double sine = kept.sine;
  const double cosine = kept.cosine;
  return {sine, cosine};
}
[[gnu::noinline]] Both compute_both(double angle, SineAndCosine& kept) {
  return both_of(compute(angle, kept));
}

/// Angles that are remembered. A step of M(q) has about ten, which should seldom take each other's
/// place; a library that is loaded later has no room for many more.
constexpr std::size_t kAngles = 32;

/// A step asks for the same angles several times (masses, gaps and forces at one position, then
/// whoever checks it), so the last ones are remembered: here, or nowhere.
[[gnu::always_inline]] inline SineAndCosine& place_of(double angle) {
  [[gnu::tls_model("initial-exec")]] static thread_local std::array<SineAndCosine, kAngles>
      remembered;
  const auto bits = std::bit_cast<std::uint64_t>(angle);  // the last of which differ most
  return remembered[(bits ^ bits >> 32U) % kAngles];
}
[[gnu::always_inline]] inline bool is_of(const SineAndCosine& kept, double angle) {
  return kept.angle == std::bit_cast<std::uint64_t>(angle);
}

double sine_alone(double angle) {
  SineAndCosine& kept = place_of(angle);
  return is_of(kept, angle) ? kept.sine : compute_sine(angle, kept);
}
double cosine_alone(double angle) {
  SineAndCosine& kept = place_of(angle);
  return is_of(kept, angle) ? kept.cosine : compute_cosine(angle, kept);
}
Both sincos(double angle) {
  SineAndCosine& kept = place_of(angle);
  return is_of(kept, angle) ? both_of(kept) : compute_both(angle, kept);
}

template <Op op>
double call_apply(double a, double b, double c) {
  return apply<op>(a, b, c);
}

const void* address_of(Op op) {
  if (op == Op::SinCos) return std::bit_cast<const void*>(&sincos);
  if (op == Op::Sin) return std::bit_cast<const void*>(&sine_alone);
  if (op == Op::Cos) return std::bit_cast<const void*>(&cosine_alone);
  return dispatch(op, []<Op known>() { return std::bit_cast<const void*>(&call_apply<known>); });
}

enum class Arithmetic { Add, Subtract, Multiply, Divide };

#if defined(__aarch64__)

/// Writes A64 code. The tape's registers are at x19 (or x0 in code without calls), its values in
/// d0-d7 and d16-d31, which a called function may change.
class Assembler {
 public:
  static constexpr std::array<int, 24> kFloatRegisters = {
      0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
  static constexpr std::uint32_t kMostSlots = 4096;  // a 12-bit offset in units of 8 bytes

  void begin(bool calls) {
    calls_ = calls;
    base_ = calls ? 19 : 0;
    if (!calls) return;
    put(0xA9BE7BFD);  // stp x29, x30, [sp, #-32]!
    put(0xF9000BF3);  // str x19, [sp, #16]
    put(0x910003FD);  // mov x29, sp
    put(0xAA0003F3);  // mov x19, x0
  }
  void end() {
    if (calls_) {
      put(0xF9400BF3);  // ldr x19, [sp, #16]
      put(0xA8C27BFD);  // ldp x29, x30, [sp], #32
    }
    put(0xD65F03C0);  // ret
  }
  void load(int d, std::uint32_t slot) {
    put(0xFD400000 | slot << 10U | field(base_, 5) | field(d, 0));
  }
  void store(int d, std::uint32_t slot) {
    put(0xFD000000 | slot << 10U | field(base_, 5) | field(d, 0));
  }
  void arithmetic(Arithmetic op, int d, int a, int b) {
    constexpr std::array<std::uint32_t, 4> kCode = {0x1E602800, 0x1E603800, 0x1E600800, 0x1E601800};
    put(kCode[static_cast<std::size_t>(op)] | field(b, 16) | field(a, 5) | field(d, 0));
  }
  void negate(int d, int a) { put(0x1E614000 | field(a, 5) | field(d, 0)); }
  void square_root(int d, int a) { put(0x1E61C000 | field(a, 5) | field(d, 0)); }
  void call(const void* function) {
    const auto address = std::bit_cast<std::uint64_t>(function);
    for (unsigned k = 0; k < 4; ++k) {  // movz, then movk: 16 bits at a time into x16
      const auto bits = static_cast<std::uint32_t>(address >> (16U * k) & 0xFFFFU);
      put((k == 0 ? 0xD2800010 : 0xF2800010) | k << 21U | bits << 5U);
    }
    put(0xD63F0200);  // blr x16
  }
  const std::vector<std::uint8_t>& bytes() const { return bytes_; }

 private:
  static std::uint32_t field(int value, unsigned shift) {
    return static_cast<std::uint32_t>(value) << shift;
  }
  void put(std::uint32_t word) {
    for (unsigned k = 0; k < 4; ++k) bytes_.push_back(static_cast<std::uint8_t>(word >> (8U * k)));
  }

  std::vector<std::uint8_t> bytes_;
  bool calls_{false};
  int base_{0};
};

#else

/// Writes x86-64 code with SSE2. The tape's registers are at rbx (or rdi in code without calls),
/// its values in xmm0-xmm15, which a called function may change.
class Assembler {
 public:
  static constexpr std::array<int, 16> kFloatRegisters = {0, 1, 2,  3,  4,  5,  6,  7,
                                                          8, 9, 10, 11, 12, 13, 14, 15};
  static constexpr std::uint32_t kMostSlots = 1U << 27U;  // a 31-bit offset in bytes

  void begin(bool calls) {
    calls_ = calls;
    base_ = calls ? 3 : 7;
    if (calls) put({0x53, 0x48, 0x89, 0xFB});  // push rbx; mov rbx, rdi
  }
  void end() {
    if (calls_) put({0x5B});  // pop rbx
    put({0xC3});              // ret
  }
  void load(int x, std::uint32_t slot) { memory(0x10, x, slot); }   // movsd x, [base + 8 slot]
  void store(int x, std::uint32_t slot) { memory(0x11, x, slot); }  // movsd [base + 8 slot], x
  void arithmetic(Arithmetic op, int x, int a, int b) {
    constexpr std::array<std::uint8_t, 4> kCode = {0x58, 0x5C, 0x59, 0x5E};
    move(x, a);
    scalar(kCode[static_cast<std::size_t>(op)], x, b);  // addsd, subsd, mulsd, divsd
  }
  void negate(int x, int a) {  // -0 - a: pcmpeqd makes ones, psllq 63 leaves the sign bit
    packed(0x76, x, x);
    put({0x66});
    rex(0, x);
    put({0x0F, 0x73, modrm(6, x), 63});
    scalar(0x5C, x, a);
  }
  void square_root(int x, int a) { scalar(0x51, x, a); }  // sqrtsd
  void call(const void* function) {
    put({0x48, 0xB8});  // mov rax, address
    const auto address = std::bit_cast<std::uint64_t>(function);
    for (unsigned k = 0; k < 8; ++k) put({static_cast<std::uint8_t>(address >> (8U * k))});
    put({0xFF, 0xD0});  // call rax
  }
  const std::vector<std::uint8_t>& bytes() const { return bytes_; }

 private:
  void put(std::initializer_list<std::uint8_t> some) { bytes_.insert(bytes_.end(), some); }
  static std::uint8_t modrm(int reg, int rm) {
    return static_cast<std::uint8_t>(0xC0 | (reg & 7) << 3 | (rm & 7));
  }
  void rex(int reg, int rm) {  // the fourth bit of each register number
    const int bits = (reg >= 8 ? 4 : 0) | (rm >= 8 ? 1 : 0);
    if (bits != 0) put({static_cast<std::uint8_t>(0x40 | bits)});
  }
  void scalar(std::uint8_t code, int x, int y) {
    put({0xF2});
    rex(x, y);
    put({0x0F, code, modrm(x, y)});
  }
  void packed(std::uint8_t code, int x, int y) {
    put({0x66});
    rex(x, y);
    put({0x0F, code, modrm(x, y)});
  }
  void move(int x, int y) {
    if (x != y) packed(0x28, x, y);  // movapd
  }
  void memory(std::uint8_t code, int x, std::uint32_t slot) {
    put({0xF2});
    rex(x, 0);
    put({0x0F, code, static_cast<std::uint8_t>(0x80 | (x & 7) << 3 | base_)});
    offset_of(slot);
  }
  void offset_of(std::uint32_t slot) {
    const std::uint32_t offset = 8U * slot;
    for (unsigned k = 0; k < 4; ++k) put({static_cast<std::uint8_t>(offset >> (8U * k))});
  }

  std::vector<std::uint8_t> bytes_;
  bool calls_{false};
  int base_{0};
};

#endif

/// Turns instructions into code. Every result goes to its slot in memory; what is still in a
/// floating-point register is not loaded again.
class Translator {
 public:
  /// Translates one group; its code starts at the position returned.
  std::size_t translate(const Instruction* first) {
    const std::size_t start = assembler_.bytes().size();
    bool calls = false;
    for (const Instruction* i = first; i->op != Op::End; ++i) calls = calls || needs_call(i->op);
    forget();
    assembler_.begin(calls);
    for (const Instruction* i = first; i->op != Op::End; ++i) translate_one(*i);
    assembler_.end();
    return start;
  }
  const std::vector<std::uint8_t>& bytes() const { return assembler_.bytes(); }

 private:
  static constexpr std::uint32_t kNothing = 0xFFFFFFFF;
  static constexpr std::size_t kCount = Assembler::kFloatRegisters.size();

  static bool needs_call(Op op) {
    switch (op) {
      case Op::Add:
      case Op::Subtract:
      case Op::Multiply:
      case Op::Divide:
      case Op::Negate:
      case Op::Sqrt:
      case Op::MultiplyAdd:
      case Op::MultiplySubtract:
      case Op::SubtractMultiply: return false;
      default: return true;
    }
  }

  void translate_one(const Instruction& i) {
    switch (i.op) {
      case Op::Add: return combine(Arithmetic::Add, i);
      case Op::Subtract: return combine(Arithmetic::Subtract, i);
      case Op::Multiply: return combine(Arithmetic::Multiply, i);
      case Op::Divide: return combine(Arithmetic::Divide, i);
      case Op::MultiplyAdd: return combine_product(Arithmetic::Add, i, true);
      case Op::MultiplySubtract: return combine_product(Arithmetic::Subtract, i, true);
      case Op::SubtractMultiply: return combine_product(Arithmetic::Subtract, i, false);
      case Op::Negate:
      case Op::Sqrt: {
        const std::size_t a = bring(i.a);
        const std::size_t out = choose();
        if (i.op == Op::Negate) {
          assembler_.negate(name(out), name(a));
        } else {
          assembler_.square_root(name(out), name(a));
        }
        return keep(out, i.out);
      }
      default: return call(i);
    }
  }

  void combine(Arithmetic op, const Instruction& i) {
    const std::size_t a = bring(i.a);
    const std::size_t b = bring(i.b);
    const std::size_t out = choose();
    assembler_.arithmetic(op, name(out), name(a), name(b));
    keep(out, i.out);
  }

  void combine_product(Arithmetic op, const Instruction& i, bool product_first) {
    const std::size_t a = bring(i.a);
    const std::size_t b = bring(i.b);
    const std::size_t c = bring(i.c);
    const std::size_t product = choose();
    assembler_.arithmetic(Arithmetic::Multiply, name(product), name(a), name(b));
    holds_[product] = kNothing;
    const std::size_t out = choose();
    if (product_first) {
      assembler_.arithmetic(op, name(out), name(product), name(c));
    } else {
      assembler_.arithmetic(op, name(out), name(c), name(product));
    }
    keep(out, i.out);
  }

  void call(const Instruction& i) {
    assembler_.load(0, i.a);
    if (arity(i.op) > 1) assembler_.load(1, i.b);
    if (arity(i.op) > 2) assembler_.load(2, i.c);
    assembler_.call(address_of(i.op));
    forget();
    keep(0, i.out);
    if (i.op == Op::SinCos) keep(1, i.c);
  }

  static int name(std::size_t k) { return Assembler::kFloatRegisters[k]; }

  void forget() { holds_.fill(kNothing); }

  /// A floating-point register that holds the slot, which is loaded if need be. It stays untouched
  /// while the next few are asked for: registers are taken in turn.
  std::size_t bring(std::uint32_t slot) {
    for (std::size_t k = 0; k < kCount; ++k) {
      if (holds_[k] == slot) {
        used_[k] = ++clock_;
        return k;
      }
    }
    const std::size_t k = choose();
    assembler_.load(name(k), slot);
    holds_[k] = slot;
    return k;
  }

  /// The register that was not used for the longest time.
  std::size_t choose() {
    std::size_t oldest = 0;
    for (std::size_t k = 1; k < kCount; ++k) {
      if (used_[k] < used_[oldest]) oldest = k;
    }
    used_[oldest] = ++clock_;
    return oldest;
  }

  void keep(std::size_t k, std::uint32_t slot) {
    for (std::uint32_t& held : holds_) {
      if (held == slot) held = kNothing;  // an older value of a slot that is used again
    }
    assembler_.store(name(k), slot);
    holds_[k] = slot;
    used_[k] = ++clock_;
  }

  Assembler assembler_;
  std::array<std::uint32_t, kCount> holds_{};  // slot in each register
  std::array<std::uint64_t, kCount> used_{};   // when it was last used
  std::uint64_t clock_{0};
};

bool fits(const std::vector<Instruction>& code) {
  constexpr std::size_t kMostInstructions = 1U << 20U;
  if (code.size() > kMostInstructions) return false;
  for (const Instruction& i : code) {
    for (const std::uint32_t slot : {i.out, i.a, i.b, i.c}) {
      if (slot >= Assembler::kMostSlots) return false;
    }
  }
  return true;
}

/// Memory that holds the bytes and can be executed but not written; null where that is forbidden.
std::shared_ptr<const void> make_executable(const std::vector<std::uint8_t>& bytes) {
  void* memory =
      ::mmap(nullptr, bytes.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  const std::size_t size = bytes.size();
  std::shared_ptr<const void> owner(
      memory, [size](const void* p) { ::munmap(const_cast<void*>(p), size); });
  std::memcpy(memory, bytes.data(), size);
  auto* const first = static_cast<char*>(memory);
  __builtin___clear_cache(first, first + size);
  if (::mprotect(memory, size, PROT_READ | PROT_EXEC) != 0) return nullptr;
  return owner;
}

}  // namespace

NativeCode::NativeCode(const std::vector<Instruction>& code,
                       const std::vector<std::size_t>& starts) {
  if (starts.empty() || !fits(code)) return;
  Translator translator;
  std::vector<std::size_t> entries;
  for (const std::size_t start : starts) {
    entries.push_back(translator.translate(code.data() + start));
  }
  memory_ = make_executable(translator.bytes());
  if (memory_ == nullptr) return;
  for (const std::size_t entry : entries) {
    const auto* address = static_cast<const std::uint8_t*>(memory_.get()) + entry;
    groups_.push_back(std::bit_cast<Function>(address));
  }
}

}  // namespace ricochet::formula

#else

namespace ricochet::formula {

NativeCode::NativeCode(const std::vector<Instruction>&, const std::vector<std::size_t>&) {}

}  // namespace ricochet::formula

#endif
