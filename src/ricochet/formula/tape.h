#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ricochet/formula/graph.h"

namespace ricochet::formula {

/// Formulas compiled to a flat list of instructions on a file of registers. The registers are the
/// inputs, the constants, then the results of instructions.
///
/// The formulas come in groups that are run one after the other on the same registers: group k
/// finds what groups 0 .. k-1 computed, so that gaps can be had first and their gradients later,
/// without computing a sine twice. The tape itself is const; each user brings registers.
class Tape {
 public:
  /// Compiles `groups` of roots; `inputs` is the number of input slots.
  Tape(const Graph& graph, int inputs, const std::vector<std::vector<NodeId>>& groups);
  Tape() = default;

  int inputs() const { return inputs_; }
  int groups() const { return static_cast<int>(starts_.size()); }
  std::size_t instructions() const { return code_.size() - starts_.size(); }  // ends not counted

  /// Fresh registers with the constants in place: inputs go into the first `inputs()` of them.
  std::vector<double> registers() const { return initial_; }

  /// Runs one group, once; the groups before it must have been run on these registers at this point.
  void run(int group, double* registers) const;

  /// Register that holds root `k` of `group` once the group has been run.
  std::size_t output(int group, std::size_t k) const {
    return outputs_[static_cast<std::size_t>(group)][k];
  }

  /// Whether a register holds a constant, whatever the inputs.
  bool is_constant(std::size_t register_index) const {
    return register_index >= static_cast<std::size_t>(inputs_) && register_index < first_result_;
  }

  /// The same for many points at once: register r of point j is registers[r * kLanes + j].
  static constexpr std::size_t kLanes = 64;
  std::vector<double> batch_registers() const;
  void run_batch(int group, double* registers) const;

 private:
  struct Instruction {
    Op op;
    std::uint32_t out;
    std::uint32_t a;
    std::uint32_t b;
    std::uint32_t c;  // third operand, or second result
  };

  friend class TapeBuilder;

  static double apply_any(Op op, double a, double b, double c);  // out of line

  int inputs_{0};
  std::size_t first_result_{0};  // register after the constants
  std::vector<double> initial_;
  std::vector<Instruction> code_;                  // each group closed by an End
  std::vector<std::size_t> starts_;                // of the groups, in code_
  std::vector<std::vector<std::size_t>> outputs_;  // registers of the roots, by group
};

/// What formulas are mostly made of is inline, all other operations by a call.
inline void Tape::run(int group, double* const r) const {
  const Instruction* i = code_.data() + starts_[static_cast<std::size_t>(group)];
  for (;; ++i) {
    switch (i->op) {
      case Op::Add: r[i->out] = r[i->a] + r[i->b]; break;
      case Op::Subtract: r[i->out] = r[i->a] - r[i->b]; break;
      case Op::Multiply: r[i->out] = r[i->a] * r[i->b]; break;
      case Op::Divide: r[i->out] = r[i->a] / r[i->b]; break;
      case Op::Negate: r[i->out] = -r[i->a]; break;
      case Op::MultiplyAdd: r[i->out] = r[i->a] * r[i->b] + r[i->c]; break;
      case Op::MultiplySubtract: r[i->out] = r[i->a] * r[i->b] - r[i->c]; break;
      case Op::SubtractMultiply: r[i->out] = r[i->c] - r[i->a] * r[i->b]; break;
      case Op::SinCos: {
        const double angle = r[i->a];
        r[i->out] = std::sin(angle);  // the compiler makes one call of the two
        r[i->c] = std::cos(angle);
        break;
      }
      case Op::End: return;
      default: r[i->out] = apply_any(i->op, r[i->a], r[i->b], r[i->c]);
    }
  }
}

}  // namespace ricochet::formula
