#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <utility>
#include <vector>

#include "ricochet/base/wide.h"
#include "ricochet/formula/graph.h"
#include "ricochet/formula/native_code.h"
#include "ricochet/formula/range.h"

namespace ricochet::formula {

/// Formulas compiled to a flat list of instructions on a file of registers. The registers are the
/// inputs, the constants, then the results of instructions.
///
/// The formulas come in groups. Group 0 is run first; any other group then finds what group 0
/// computed, so that gaps can be had first and their gradients only where they are wanted, without
/// computing a sine twice. The tape itself is const; each user brings registers.
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

  /// Takes the constants that follow slots from the graph of the tape, after its `refill`. Fresh
  /// registers have them.
  void refill(const Graph& graph) {
    for (const auto& [at, node] : slots_) initial_[at] = graph[node].value;
  }

  bool follows_slots() const { return !slots_.empty(); }

  /// Runs one group; group 0 must have been run on these registers at this point.
  [[gnu::always_inline]] void run(int group, double* registers) const {
    assert(group >= 0 && group < groups());
    if (native_.exists()) return native_.run(group, registers);
    interpret(group, registers);
  }

  /// The same, instruction by instruction: where there is no native code, and to check it.
  void interpret(int group, double* registers) const;

  /// Bounds of one group over intervals of the inputs; group 0 first, as with numbers.
  std::vector<Range> range_registers() const;
  void bound(int group, Range* registers) const;

  bool is_native() const { return native_.exists(); }

  /// Registers that hold the roots of `group` once it has been run.
  const std::vector<std::size_t>& outputs(int group) const {
    assert(group >= 0 && group < groups());
    return outputs_[static_cast<std::size_t>(group)];
  }

  /// The last register, which is 0.
  std::size_t zero() const { return initial_.size() - 1; }

  /// Whether a register holds a constant, whatever the inputs.
  bool is_constant(std::size_t register_index) const {
    return register_index >= static_cast<std::size_t>(inputs_) &&
           (register_index < first_result_ || register_index == zero());
  }

  /// The same for many points at once: register r of point j is registers[r * kLanes + j].
  static constexpr std::size_t kLanes = 64;
  std::vector<double> batch_registers() const;
  void run_batch(int group, double* registers, class LaneAngles* angles = nullptr,
                 base::Width width = base::widest()) const;

  /// Registers before anything is run.
  const std::vector<double>& initial() const { return initial_; }

 private:
  friend class TapeBuilder;

  int inputs_{0};
  std::size_t first_result_{0};  // register after the constants
  std::vector<double> initial_;
  std::vector<std::pair<std::size_t, NodeId>> slots_;  // registers of constants that follow slots
  std::vector<Instruction> code_;                      // each group closed by an End
  std::vector<std::size_t> starts_;                    // of the groups, in code_
  std::vector<std::vector<std::size_t>> outputs_;      // registers of the roots, by group
  NativeCode native_;
};

/// Sines and cosines in lanes. One angle for all of them is computed once, and the last angles are
/// remembered, since whoever checks a step asks for them again.
class LaneAngles {
 public:
  void run(Op op, const double* angle, double* sine, double* cosine, base::Width width);

 private:
  struct alignas(64) Numbers : std::array<double, Tape::kLanes> {};
  struct Known {
    Numbers angle{}, sine{}, cosine{};
    bool has_sine{false}, has_cosine{false};
  };
  struct One {
    double angle{0.0}, sine{0.0}, cosine{0.0};
    bool has_sine{false}, has_cosine{false};
  };
  Known& find(const double* angle, base::Width width);
  void run_alike(Op op, double angle, double* sine, double* cosine, base::Width width);
  std::array<Known, 4> known_;
  std::array<One, 4> ones_;  // where all lanes have one angle
  std::size_t next_{0}, next_one_{0};
};

}  // namespace ricochet::formula
