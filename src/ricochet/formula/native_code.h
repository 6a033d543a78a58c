#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "ricochet/formula/instruction.h"

namespace ricochet::formula {

/// The instructions of a tape as machine code: the same operations in the same order, each rounded
/// alike, so the results are those of the interpreter to the last bit, some ten times sooner.
///
/// There is code for 64-bit x86 and ARM processors under Unix. Elsewhere, where the system forbids
/// new code, and for very large tapes, `exists()` is false and the tape is interpreted.
class NativeCode {
 public:
  NativeCode() = default;

  /// `starts` are the first instructions of the groups, each of which is closed by an End.
  NativeCode(const std::vector<Instruction>& code, const std::vector<std::size_t>& starts);

  bool exists() const { return !groups_.empty(); }
  void run(int group, double* registers) const {
    groups_[static_cast<std::size_t>(group)](registers);
  }

 private:
  using Function = void (*)(double*);

  std::shared_ptr<const void> memory_;  // shared by copies of the tape
  std::vector<Function> groups_;
};

}  // namespace ricochet::formula
