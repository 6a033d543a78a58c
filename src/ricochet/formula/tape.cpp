#include "ricochet/formula/tape.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

namespace ricochet::formula {

/// Emits the instructions of a tape. A product that only one sum uses becomes one instruction with
/// it, the sine and cosine of one angle too. A register is given back once the last instruction that
/// reads it is out, so that the register file stays small; roots keep theirs.
class TapeBuilder {
 public:
  TapeBuilder(const Graph& graph, int inputs, const std::vector<std::vector<NodeId>>& groups,
              Tape& tape)
      : graph_(graph), tape_(tape) {
    tape_.inputs_ = inputs;
    tape_.initial_.assign(static_cast<std::size_t>(inputs), 0.0);
    schedule(groups);
    fuse(groups);
    find_last_uses(groups);
    place_leaves();
    std::size_t k = 0;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      tape_.starts_.push_back(tape_.code_.size());
      for (; k < plan_.size() && plan_[k].group == g; ++k) emit(k);
      tape_.code_.push_back({Op::End, 0, 0, 0, 0});
    }
    for (const std::vector<NodeId>& roots : groups) {
      std::vector<std::size_t>& outputs = tape_.outputs_.emplace_back();
      for (const NodeId root : roots) outputs.push_back(register_of_.at(root));
    }
  }

 private:
  /// A node of the graph on its way to an instruction.
  struct Planned {
    NodeId node{-1};
    std::size_t group{0};
    Op op{Op::Constant};
    std::array<NodeId, 3> operands{-1, -1, -1};
    bool absorbed{false};     // done by the instruction of the sum that uses it
    std::size_t last_use{0};  // position in the plan
  };

  /// The nodes in the order of their computation: those of group 0 first, then what group 1 adds...
  void schedule(const std::vector<std::vector<NodeId>>& groups) {
    for (std::size_t g = 0; g < groups.size(); ++g) {
      for (const NodeId id : graph_.reachable(groups[g])) {
        if (!position_.try_emplace(id, plan_.size()).second) continue;
        const Node& node = graph_[id];
        plan_.push_back({id, g, node.op, node.operands});
        if (node.op == Op::Sin) sine_of_[node.operands[0]] = id;
        if (node.op == Op::Cos) cosine_of_[node.operands[0]] = id;
      }
    }
  }

  /// a*b + c, a*b - c, c - a*b where nothing else uses the product.
  void fuse(const std::vector<std::vector<NodeId>>& groups) {
    std::unordered_map<NodeId, int> uses;
    for (const std::vector<NodeId>& roots : groups) {
      for (const NodeId root : roots) uses[root] += 2;  // a root is never absorbed
    }
    for (const Planned& planned : plan_) {
      for (const NodeId operand : planned.operands) {
        if (operand >= 0) ++uses[operand];
      }
    }
    for (Planned& planned : plan_) {
      if (planned.op != Op::Add && planned.op != Op::Subtract) continue;
      for (const std::size_t which : {0U, 1U}) {
        Planned& product = plan_[position_.at(planned.operands[which])];
        if (product.op != Op::Multiply || uses[product.node] != 1) continue;
        if (product.group == planned.group) {
          absorb(product, which, planned);
          break;
        }
      }
    }
  }

  static void absorb(Planned& product, std::size_t which, Planned& sum) {
    product.absorbed = true;
    const NodeId other = sum.operands[1 - which];
    if (sum.op == Op::Add) {
      sum.op = Op::MultiplyAdd;
    } else {
      sum.op = which == 0 ? Op::MultiplySubtract : Op::SubtractMultiply;
    }
    sum.operands = {product.operands[0], product.operands[1], other};
  }

  void find_last_uses(const std::vector<std::vector<NodeId>>& groups) {
    for (std::size_t k = 0; k < plan_.size(); ++k) {
      if (plan_[k].absorbed) continue;
      for (const NodeId operand : plan_[k].operands) {
        if (operand >= 0) plan_[position_.at(operand)].last_use = k;
      }
    }
    for (const std::vector<NodeId>& roots : groups) {
      for (const NodeId root : roots) plan_[position_.at(root)].last_use = plan_.size();
    }
  }

  void place_leaves() {
    for (const Planned& planned : plan_) {
      const Node& node = graph_[planned.node];
      if (node.op == Op::Input) register_of_[planned.node] = static_cast<std::size_t>(node.input);
      if (node.op != Op::Constant) continue;
      register_of_[planned.node] = tape_.initial_.size();
      tape_.initial_.push_back(node.value);
    }
    tape_.first_result_ = tape_.initial_.size();
  }

  void emit(std::size_t k) {
    const Planned& planned = plan_[k];
    if (planned.absorbed || arity(planned.op) == 0) return;
    if (register_of_.contains(planned.node)) return release_operands(k);  // came with its partner
    const auto operand = [&](std::size_t which) {
      const NodeId source = planned.operands[which];
      return source < 0 ? 0U : static_cast<std::uint32_t>(register_of_.at(source));
    };
    Tape::Instruction instruction{planned.op, 0, operand(0), operand(1), operand(2)};
    const NodeId partner = partner_of(planned);
    instruction.out = claim_register(planned.node);
    if (partner >= 0) {
      instruction.op = Op::SinCos;
      instruction.c = claim_register(partner);
      if (planned.op == Op::Cos) std::swap(instruction.out, instruction.c);
    }
    tape_.code_.push_back(instruction);
    release_operands(k);
  }

  /// The cosine of the angle whose sine this is, or the other way round, when both are wanted.
  NodeId partner_of(const Planned& planned) const {
    if (planned.op != Op::Sin && planned.op != Op::Cos) return -1;
    const auto& partners = planned.op == Op::Sin ? cosine_of_ : sine_of_;
    const auto found = partners.find(planned.operands[0]);
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

  void release_operands(std::size_t k) {
    const std::array<NodeId, 3>& operands = plan_[k].operands;
    for (std::size_t which = 0; which < operands.size(); ++which) {
      const NodeId operand = operands[which];
      if (operand < 0 || arity(graph_[operand].op) == 0) continue;
      const auto before = operands.begin() + static_cast<std::ptrdiff_t>(which);
      if (std::find(operands.begin(), before, operand) != before) continue;  // x * x: one release
      if (plan_[position_.at(operand)].last_use == k) free_.push_back(register_of_.at(operand));
    }
  }

  const Graph& graph_;
  Tape& tape_;
  std::vector<Planned> plan_;
  std::unordered_map<NodeId, std::size_t> position_;  // in the plan
  std::unordered_map<NodeId, std::size_t> register_of_;
  std::unordered_map<NodeId, NodeId> sine_of_;  // by the angle
  std::unordered_map<NodeId, NodeId> cosine_of_;
  std::vector<std::size_t> free_;
};

Tape::Tape(const Graph& graph, int inputs, const std::vector<std::vector<NodeId>>& groups) {
  TapeBuilder(graph, inputs, groups, *this);
}

double Tape::apply_any(Op op, double a, double b, double c) { return apply(op, a, b, c); }

std::vector<double> Tape::batch_registers() const {
  std::vector<double> lanes(initial_.size() * kLanes);
  for (std::size_t k = 0; k < initial_.size(); ++k) {
    std::fill_n(lanes.begin() + static_cast<std::ptrdiff_t>(k * kLanes), kLanes, initial_[k]);
  }
  return lanes;
}

void Tape::run_batch(int group, double* const base) const {
  const Instruction* i = code_.data() + starts_[static_cast<std::size_t>(group)];
  for (; i->op != Op::End; ++i) {
    double* __restrict const out = base + i->out * kLanes;
    const double* const a = base + i->a * kLanes;
    const double* const b = base + i->b * kLanes;
    double* const c = base + i->c * kLanes;
    if (i->op == Op::SinCos) {
      for (std::size_t j = 0; j < kLanes; ++j) {
        const double angle = a[j];
        out[j] = std::sin(angle);
        c[j] = std::cos(angle);
      }
      continue;
    }
    dispatch(i->op, [&]<Op op>() {
      for (std::size_t j = 0; j < kLanes; ++j) out[j] = apply<op>(a[j], b[j], c[j]);
    });
  }
}

}  // namespace ricochet::formula
