#include "ricochet/formula/tape.h"

#include <algorithm>
#include <unordered_map>

namespace ricochet::formula {

/// Emits the instructions of a tape. A register is given back once the last instruction that reads
/// it is out, so that the register file stays small; roots keep theirs.
class TapeBuilder {
 public:
  TapeBuilder(const Graph& graph, int inputs, const std::vector<std::vector<NodeId>>& groups,
              Tape& tape)
      : graph_(graph), tape_(tape) {
    tape_.inputs_ = inputs;
    tape_.initial_.assign(static_cast<std::size_t>(inputs), 0.0);
    schedule(groups);
    place_constants();
    std::size_t group = 0;
    for (std::size_t k = 0; k < order_.size(); ++k) {
      for (; group < group_starts_.size() && group_starts_[group] == k; ++group) close_group();
      emit(k);
    }
    while (tape_.ends_.size() < groups.size()) close_group();
    for (const std::vector<NodeId>& roots : groups) {
      std::vector<std::size_t>& outputs = tape_.outputs_.emplace_back();
      for (const NodeId root : roots) outputs.push_back(register_of_.at(root));
    }
  }

 private:
  void close_group() { tape_.ends_.push_back(tape_.code_.size()); }

  /// The nodes in the order of their computation: those of group 0 first, then what group 1 adds...
  void schedule(const std::vector<std::vector<NodeId>>& groups) {
    for (std::size_t g = 0; g < groups.size(); ++g) {
      if (g > 0) group_starts_.push_back(order_.size());
      for (const NodeId id : graph_.reachable(groups[g])) {
        if (position_.try_emplace(id, order_.size()).second) order_.push_back(id);
      }
    }
    for (const NodeId id : order_) {
      const Node& node = graph_[id];
      if (node.op == Op::Sin) sine_of_[node.operands[0]] = id;
      if (node.op == Op::Cos) cosine_of_[node.operands[0]] = id;
    }
    last_use_.resize(order_.size());
    for (std::size_t k = 0; k < order_.size(); ++k) {
      for (const NodeId operand : graph_[order_[k]].operands) {
        if (operand >= 0) last_use_[position_.at(operand)] = k;
      }
    }
    for (const std::vector<NodeId>& roots : groups) {
      for (const NodeId root : roots) last_use_[position_.at(root)] = order_.size();
    }
  }

  void place_constants() {
    for (const NodeId id : order_) {
      const Node& node = graph_[id];
      if (node.op == Op::Input) register_of_[id] = static_cast<std::size_t>(node.input);
      if (node.op != Op::Constant) continue;
      register_of_[id] = tape_.initial_.size();
      tape_.initial_.push_back(node.value);
    }
    tape_.first_result_ = tape_.initial_.size();
  }

  void emit(std::size_t k) {
    const NodeId id = order_[k];
    const Node& node = graph_[id];
    if (arity(node.op) == 0) return;
    if (register_of_.contains(id)) return release_operands(node, k);  // came with its partner
    Tape::Instruction instruction{node.op, 0, 0, 0, 0};
    const auto operand = [&](std::size_t which) {
      const NodeId source = node.operands[which];
      return source < 0 ? 0U : static_cast<std::uint32_t>(register_of_.at(source));
    };
    instruction.a = operand(0);
    instruction.b = operand(1);
    instruction.c = operand(2);
    const NodeId partner = partner_of(id);
    if (partner >= 0) {
      const std::uint32_t own = claim_register(id);
      const std::uint32_t other = claim_register(partner);
      instruction.op = Op::SinCos;
      instruction.out = node.op == Op::Sin ? own : other;
      instruction.c = node.op == Op::Sin ? other : own;
    } else {
      instruction.out = claim_register(id);
    }
    tape_.code_.push_back(instruction);
    release_operands(node, k);
  }

  /// The cosine of the angle whose sine `id` is, or the other way round, when both are wanted.
  NodeId partner_of(NodeId id) const {
    const Node& node = graph_[id];
    if (node.op != Op::Sin && node.op != Op::Cos) return -1;
    const auto& partners = node.op == Op::Sin ? cosine_of_ : sine_of_;
    const auto found = partners.find(node.operands[0]);
    return found == partners.end() ? -1 : found->second;
  }

  std::uint32_t claim_register(NodeId id) {
    std::size_t slot = tape_.initial_.size();
    if (free_.empty()) {
      tape_.initial_.push_back(0.0);
    } else {
      slot = free_.back();
      free_.pop_back();
    }
    register_of_[id] = slot;
    return static_cast<std::uint32_t>(slot);
  }

  void release_operands(const Node& node, std::size_t k) {
    for (std::size_t which = 0; which < 3; ++which) {
      const NodeId operand = node.operands[which];
      if (operand < 0 || arity(graph_[operand].op) == 0) continue;
      if (std::find(node.operands.begin(), node.operands.begin() + which, operand) !=
          node.operands.begin() + which) {
        continue;  // x * x: one release
      }
      if (last_use_[position_.at(operand)] == k) free_.push_back(register_of_.at(operand));
    }
  }

  const Graph& graph_;
  Tape& tape_;
  std::vector<NodeId> order_;
  std::vector<std::size_t> group_starts_;  // of groups 1, 2, ... in order_
  std::vector<std::size_t> last_use_;      // by position in order_
  std::unordered_map<NodeId, std::size_t> position_;
  std::unordered_map<NodeId, std::size_t> register_of_;
  std::unordered_map<NodeId, NodeId> sine_of_;  // by the angle
  std::unordered_map<NodeId, NodeId> cosine_of_;
  std::vector<std::size_t> free_;
};

Tape::Tape(const Graph& graph, int inputs, const std::vector<std::vector<NodeId>>& groups) {
  TapeBuilder(graph, inputs, groups, *this);
}

void Tape::run_one(const Instruction& i, double* const r) {
  if (i.op == Op::SinCos) {
    const double angle = r[i.a];
    r[i.out] = std::sin(angle);  // the compiler makes one call of the two
    r[i.c] = std::cos(angle);
  } else {
    r[i.out] = apply(i.op, r[i.a], r[i.b], r[i.c]);
  }
}

std::vector<double> Tape::batch_registers() const {
  std::vector<double> lanes(initial_.size() * kLanes);
  for (std::size_t k = 0; k < initial_.size(); ++k) {
    std::fill_n(lanes.begin() + static_cast<std::ptrdiff_t>(k * kLanes), kLanes, initial_[k]);
  }
  return lanes;
}

void Tape::run_batch(int group, double* const base) const {
  const Instruction* const end = code_.data() + end_of(group);
  for (const Instruction* i = code_.data() + begin_of(group); i != end; ++i) {
    double* __restrict const out = base + i->out * kLanes;
    const double* const a = base + i->a * kLanes;
    const double* const b = base + i->b * kLanes;
    double* const c = base + i->c * kLanes;
    switch (i->op) {
#define X(name, operands, text)                     \
  case Op::name:                                    \
    for (std::size_t j = 0; j < kLanes; ++j) {      \
      if constexpr (Op::name == Op::SinCos) {       \
        const double angle = a[j];                  \
        out[j] = std::sin(angle);                   \
        c[j] = std::cos(angle);                     \
      } else {                                      \
        out[j] = apply<Op::name>(a[j], b[j], c[j]); \
      }                                             \
    }                                               \
    break;
      RICOCHET_FORMULA_OPS(X)
#undef X
    }
  }
}

}  // namespace ricochet::formula
