#include "ricochet/formula/tape.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <unordered_map>
#include <utility>

namespace ricochet::formula {

/// Emits the instructions of a tape, group after group. A product that only one sum uses becomes
/// one instruction with it, the sine and cosine of one angle too. Within a group a register is
/// given back once the last instruction that reads it is out; roots, and what other groups find in
/// group 0, keep theirs.
class TapeBuilder {
 public:
  TapeBuilder(const Graph& graph, int inputs, const std::vector<std::vector<NodeId>>& groups,
              Tape& tape)
      : graph_(graph), tape_(tape) {
    tape_.inputs_ = inputs;
    tape_.initial_.assign(static_cast<std::size_t>(inputs), 0.0);
    for (const std::vector<NodeId>& roots : groups) place_leaves(roots);
    tape_.first_result_ = tape_.initial_.size();
    std::vector<NodeId> kept = groups.empty() ? std::vector<NodeId>{} : groups[0];
    for (std::size_t g = 1; g < groups.size(); ++g) {
      const std::vector<NodeId> used = graph_.reachable(groups[g]);
      kept.insert(kept.end(), used.begin(), used.end());
    }
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const std::unordered_map<NodeId, std::size_t> found = register_of_;
      build_group(groups[g], g == 0 ? kept : groups[g]);
      if (g > 0) register_of_ = found;  // the next group finds group 0 only
    }
  }

 private:
  /// A node of the graph on its way to an instruction.
  struct Planned {
    NodeId node{-1};
    Op op{Op::Constant};
    std::array<NodeId, 3> operands{-1, -1, -1};
    bool absorbed{false};     // done by the instruction of the sum that uses it
    std::size_t last_use{0};  // position in the plan
  };

  void place_leaves(const std::vector<NodeId>& roots) {
    for (const NodeId id : graph_.reachable(roots)) {
      const Node& node = graph_[id];
      if (node.op == Op::Input) register_of_[id] = static_cast<std::size_t>(node.input);
      if (node.op != Op::Constant || register_of_.contains(id)) continue;
      register_of_[id] = tape_.initial_.size();
      if (graph_.varies(id)) tape_.slots_.emplace_back(tape_.initial_.size(), id);
      tape_.initial_.push_back(node.value);
    }
  }

  void build_group(const std::vector<NodeId>& roots, const std::vector<NodeId>& kept) {
    plan_.clear();
    position_.clear();
    sine_of_.clear();
    cosine_of_.clear();
    free_.clear();
    schedule(roots);
    fuse(kept);
    find_last_uses(kept);
    tape_.starts_.push_back(tape_.code_.size());
    for (std::size_t k = 0; k < plan_.size(); ++k) emit(k);
    tape_.code_.push_back({Op::End, 0, 0, 0, 0});
    std::vector<std::size_t>& outputs = tape_.outputs_.emplace_back();
    for (const NodeId root : roots) outputs.push_back(register_of_.at(root));
  }

  /// The nodes still to be computed, each after its operands.
  void schedule(const std::vector<NodeId>& roots) {
    for (const NodeId id : graph_.reachable(roots)) {
      if (register_of_.contains(id)) continue;
      const Node& node = graph_[id];
      position_[id] = plan_.size();
      plan_.push_back({id, node.op, node.operands});
      if (node.op == Op::Sin) sine_of_[node.operands[0]] = id;
      if (node.op == Op::Cos) cosine_of_[node.operands[0]] = id;
    }
  }

  Planned* find_planned(NodeId id) {
    const auto found = position_.find(id);
    return found == position_.end() ? nullptr : &plan_[found->second];
  }

  /// a*b + c, a*b - c, c - a*b where nothing else uses the product.
  void fuse(const std::vector<NodeId>& kept) {
    std::unordered_map<NodeId, int> uses;
    for (const NodeId id : kept) uses[id] += 2;  // never absorbed
    for (const Planned& planned : plan_) {
      for (const NodeId operand : planned.operands) {
        if (operand >= 0) ++uses[operand];
      }
    }
    for (Planned& planned : plan_) {
      if (planned.op != Op::Add && planned.op != Op::Subtract) continue;
      for (const std::size_t which : {0U, 1U}) {
        Planned* product = find_planned(planned.operands[which]);
        if (product == nullptr || product->op != Op::Multiply || uses[product->node] != 1) continue;
        absorb(*product, which, planned);
        break;
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

  void find_last_uses(const std::vector<NodeId>& kept) {
    for (std::size_t k = 0; k < plan_.size(); ++k) {
      if (plan_[k].absorbed) continue;
      for (const NodeId operand : plan_[k].operands) {
        if (Planned* source = operand < 0 ? nullptr : find_planned(operand)) source->last_use = k;
      }
    }
    for (const NodeId id : kept) {
      if (Planned* planned = find_planned(id)) planned->last_use = plan_.size();
    }
  }

  void emit(std::size_t k) {
    const Planned& planned = plan_[k];
    if (planned.absorbed) return;
    if (register_of_.contains(planned.node)) return release_operands(k);  // came with its partner
    const auto operand = [&](std::size_t which) {
      const NodeId source = planned.operands[which];
      return source < 0 ? 0U : static_cast<std::uint32_t>(register_of_.at(source));
    };
    Instruction instruction{planned.op, 0, operand(0), operand(1), operand(2)};
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
      const Planned* source = operands[which] < 0 ? nullptr : find_planned(operands[which]);
      if (source == nullptr || source->last_use != k) continue;
      const auto before = operands.begin() + static_cast<std::ptrdiff_t>(which);
      if (std::find(operands.begin(), before, operands[which]) != before) continue;  // x * x
      free_.push_back(register_of_.at(operands[which]));
    }
  }

  const Graph& graph_;
  Tape& tape_;
  std::unordered_map<NodeId, std::size_t> register_of_;
  // of the group being built:
  std::vector<Planned> plan_;
  std::unordered_map<NodeId, std::size_t> position_;  // in the plan
  std::unordered_map<NodeId, NodeId> sine_of_;        // by the angle
  std::unordered_map<NodeId, NodeId> cosine_of_;
  std::vector<std::size_t> free_;
};

Tape::Tape(const Graph& graph, int inputs, const std::vector<std::vector<NodeId>>& groups) {
  TapeBuilder(graph, inputs, groups, *this);
  initial_.push_back(0.0);
  native_ = NativeCode(code_, starts_);
}

void Tape::interpret(int group, double* const r) const {
  assert(group >= 0 && group < groups());
  const Instruction* i = code_.data() + starts_[static_cast<std::size_t>(group)];
  for (; i->op != Op::End; ++i) {
    if (i->op == Op::SinCos) {
      const double angle = r[i->a];
      r[i->out] = std::sin(angle);
      r[i->c] = std::cos(angle);
    } else {
      r[i->out] = apply(i->op, r[i->a], r[i->b], r[i->c]);
    }
  }
}

std::vector<double> Tape::batch_registers() const {
  std::vector<double> lanes(initial_.size() * kLanes);
  for (std::size_t k = 0; k < initial_.size(); ++k) {
    std::fill_n(lanes.begin() + static_cast<std::ptrdiff_t>(k * kLanes), kLanes, initial_[k]);
  }
  return lanes;
}

namespace {

/// A result is never an operand, so that the compiler may take several lanes at once.
template <Op op>
RICOCHET_ALWAYS inline void apply_in_lanes(const double* __restrict a, const double* __restrict b,
                                           const double* __restrict c, double* __restrict out) {
  for (std::size_t j = 0; j < Tape::kLanes; ++j) out[j] = apply<op>(a[j], b[j], c[j]);
}

template <Op op>
[[gnu::noinline]] void apply_in_twos(const double* a, const double* b, const double* c,
                                     double* out) {
  apply_in_lanes<op>(a, b, c, out);
}
#if defined(RICOCHET_EIGHTS)
/// Functions of the library take one number after the other.
constexpr bool is_arithmetic(Op op) {
  return op == Op::Negate || op == Op::Add || op == Op::Subtract || op == Op::Multiply ||
         op == Op::Divide || op == Op::MultiplyAdd || op == Op::MultiplySubtract ||
         op == Op::SubtractMultiply;
}

template <Op op>
RICOCHET_FOURS [[gnu::noinline]] void apply_in_fours(const double* a, const double* b,
                                                     const double* c, double* out) {
  apply_in_lanes<op>(a, b, c, out);
}
template <Op op>
RICOCHET_EIGHTS [[gnu::noinline]] void apply_in_eights(const double* a, const double* b,
                                                       const double* c, double* out) {
  apply_in_lanes<op>(a, b, c, out);
}
#endif

using LaneFunction = void (*)(const double* a, const double* b, const double* c, double* out);

template <Op op>
LaneFunction lane_function([[maybe_unused]] base::Width width) {
#if defined(RICOCHET_EIGHTS)
  if constexpr (is_arithmetic(op)) {
    if (width == base::Width::Eight) return &apply_in_eights<op>;
    if (width == base::Width::Four) return &apply_in_fours<op>;
  }
#endif
  return &apply_in_twos<op>;
}

/// By operation.
using LaneFunctions = std::array<LaneFunction, static_cast<std::size_t>(Op::End) + 1>;

const LaneFunctions& lane_functions(base::Width width) {
  const auto all_of = [](base::Width which) {
    LaneFunctions all{};
    for (std::size_t k = 0; k < all.size(); ++k) {
      all[k] = dispatch(static_cast<Op>(k), [&]<Op op>() { return lane_function<op>(which); });
    }
    return all;
  };
  using base::Width;
  static const std::array<LaneFunctions, 3> kAll = {all_of(Width::Two), all_of(Width::Four),
                                                    all_of(Width::Eight)};
  return kAll[width == Width::Eight ? 2 : width == Width::Four ? 1 : 0];
}

}  // namespace

void Tape::run_batch(int group, double* const base, LaneAngles* angles, base::Width width) const {
  assert(group >= 0 && group < groups());
  const LaneFunctions& functions = lane_functions(width);
  const Instruction* i = code_.data() + starts_[static_cast<std::size_t>(group)];
  for (; i->op != Op::End; ++i) {
    double* const out = base + i->out * kLanes;
    const double* const a = base + i->a * kLanes;
    const double* const b = base + i->b * kLanes;
    double* const c = base + i->c * kLanes;
    if (angles != nullptr && (i->op == Op::Sin || i->op == Op::Cos || i->op == Op::SinCos)) {
      angles->run(i->op, a, i->op == Op::Cos ? nullptr : out, i->op == Op::Cos ? out : c, width);
      continue;
    }
    if (i->op == Op::SinCos) {
      for (std::size_t j = 0; j < kLanes; ++j) {
        const double angle = a[j];
        out[j] = std::sin(angle);
        c[j] = std::cos(angle);
      }
      continue;
    }
    functions[static_cast<std::size_t>(i->op)](a, b, c, out);
  }
}

namespace {

std::uint64_t bits_of(const double& number) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &number, sizeof bits);
  return bits;
}

/// Whether all lanes have the bits of the other ones.
bool have_same_bits(const double* a, const double* b, base::Width width) {
  std::uint64_t off = 0;
  base::work_in(width, [&]() RICOCHET_ALWAYS {
    std::uint64_t any = 0;
    for (std::size_t j = 0; j < Tape::kLanes; ++j) {
      std::uint64_t x = 0, y = 0;
      std::memcpy(&x, a + j, sizeof x);
      std::memcpy(&y, b + j, sizeof y);
      any |= x ^ y;
    }
    off = any;
  });
  return off == 0;
}

/// Whether all lanes have the bits of the first.
bool are_alike(const double* a, base::Width width) {
  std::uint64_t off = 0;
  base::work_in(width, [&]() RICOCHET_ALWAYS {
    std::uint64_t any = 0, first = 0;
    std::memcpy(&first, a, sizeof first);
    for (std::size_t j = 0; j < Tape::kLanes; ++j) {
      std::uint64_t x = 0;
      std::memcpy(&x, a + j, sizeof x);
      any |= x ^ first;
    }
    off = any;
  });
  return off == 0;
}

void fill(double* out, double number, base::Width width) {
  base::work_in(width, [&]() RICOCHET_ALWAYS {
    const double one = number;
    double* const to = out;
    for (std::size_t j = 0; j < Tape::kLanes; ++j) to[j] = one;
  });
}

}  // namespace

LaneAngles::Known& LaneAngles::find(const double* angle, base::Width width) {
  for (Known& known : known_) {
    const bool has_any = known.has_sine || known.has_cosine;
    if (has_any && known.angle[0] == angle[0] && have_same_bits(known.angle.data(), angle, width)) {
      return known;
    }
  }
  Known& fresh = known_[next_++ % known_.size()];
  std::copy_n(angle, Tape::kLanes, fresh.angle.begin());
  fresh.has_sine = fresh.has_cosine = false;
  return fresh;
}

/// One angle in all lanes.
void LaneAngles::run_alike(Op op, double angle, double* sine, double* cosine, base::Width width) {
  const auto is_of = [&](const One& one) {
    return (one.has_sine || one.has_cosine) && bits_of(one.angle) == bits_of(angle);
  };
  auto one = std::find_if(ones_.begin(), ones_.end(), is_of);
  if (one == ones_.end()) {
    one = ones_.begin() + static_cast<std::ptrdiff_t>(next_one_++ % ones_.size());
    *one = {.angle = angle};
  }
  if (op != Op::Cos) {
    if (!one->has_sine) one->sine = std::sin(angle);
    one->has_sine = true;
    fill(sine, one->sine, width);
  }
  if (op != Op::Sin) {
    if (!one->has_cosine) one->cosine = std::cos(angle);
    one->has_cosine = true;
    fill(cosine, one->cosine, width);
  }
}

void LaneAngles::run(Op op, const double* angle, double* sine, double* cosine, base::Width width) {
  if (are_alike(angle, width)) return run_alike(op, angle[0], sine, cosine, width);
  Known& known = find(angle, width);
  const auto compute = [&](Numbers& to, auto&& function) {
    for (std::size_t j = 0; j < Tape::kLanes; ++j) {
      const bool again = j > 0 && bits_of(angle[j]) == bits_of(angle[j - 1]);  // -0 is another
      to[j] = again ? to[j - 1] : function(angle[j]);
    }
  };
  if (op != Op::Cos && !known.has_sine) {
    compute(known.sine, [](double x) { return std::sin(x); });
    known.has_sine = true;
  }
  if (op != Op::Sin && !known.has_cosine) {
    compute(known.cosine, [](double x) { return std::cos(x); });
    known.has_cosine = true;
  }
  if (op != Op::Cos) std::copy(known.sine.begin(), known.sine.end(), sine);
  if (op != Op::Sin) std::copy(known.cosine.begin(), known.cosine.end(), cosine);
}

}  // namespace ricochet::formula
