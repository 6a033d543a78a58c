#include "ricochet/formula/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <utility>

namespace ricochet::formula {

GraphTooLarge::GraphTooLarge(std::size_t limit)
    : std::runtime_error(fmt::format("the formula needs more than {} operations", limit)) {}

std::size_t Graph::KeyHash::operator()(const Key& key) const {
  std::uint64_t hash = static_cast<std::uint64_t>(key.op) * 0x9E3779B97F4A7C15ULL;
  const auto mix = [&hash](std::uint64_t word) {
    hash ^= word + 0x9E3779B97F4A7C15ULL + (hash << 6U) + (hash >> 2U);
    hash *= 0xFF51AFD7ED558CCDULL;
  };
  for (const NodeId operand : key.operands) mix(static_cast<std::uint32_t>(operand));
  mix(key.bits);
  return static_cast<std::size_t>(hash ^ (hash >> 32U));
}

namespace {

/// Whether a power is written as products, or as a root.
bool is_product_power(double exponent) {
  constexpr double kLargestProduct = 16.0;
  return exponent == 0.5 ||
         (exponent == std::floor(exponent) && std::abs(exponent) <= kLargestProduct);
}

}  // namespace

NodeId Graph::intern(const Key& key, const Node& node) {
  if (const auto found = index_.find(key); found != index_.end()) return found->second;
  if (nodes_.size() >= node_limit_) throw GraphTooLarge(node_limit_);
  const NodeId id = static_cast<NodeId>(nodes_.size());
  nodes_.push_back(node);
  index_.emplace(key, id);
  return id;
}

Graph::Key Graph::key_of(double constant) {
  std::uint64_t bits = 0;
  static_assert(sizeof bits == sizeof constant);
  std::memcpy(&bits, &constant, sizeof bits);  // not std::bit_cast, which libc++ 13 lacks
  return {Op::Constant, {-1, -1, -1}, bits};
}

NodeId Graph::constant(double value) {
  if (value == 0.0) value = 0.0;  // -0 and 0 are one node
  const NodeId id = intern(key_of(value), {.op = Op::Constant, .value = value});
  pin(id);  // the number itself, which a slot has by chance
  return id;
}

NodeId Graph::slot(int index, double value) {
  return make_origin({.op = Op::Input, .slot = index}, value);
}

/// A constant that follows slots. What is 0, 1 or -1 decides which graph is made: it must stay so.
NodeId Graph::make_origin(Origin origin, double value) {
  if (value == 0.0) value = 0.0;
  const Key key{origin.op, origin.operands, static_cast<std::uint64_t>(origin.slot)};
  if (const auto known = origin_index_.find(key); known != origin_index_.end()) {
    return known->second;
  }
  const std::size_t size = nodes_.size();
  origin.node = intern(key_of(value), {.op = Op::Constant, .value = value});
  origin.is_test = nodes_.size() == size || value == 0.0 || std::abs(value) == 1.0;
  origin.value = value;
  if (!origin.is_test) varies_.insert(origin.node);
  origins_.push_back(origin);
  origin_index_.emplace(key, origin.node);
  return origin.node;
}

NodeId Graph::fold(Op op, NodeId a, NodeId b, NodeId c) {
  const auto value = [&](NodeId id) { return id < 0 ? 0.0 : (*this)[id].value; };
  const double result = apply(op, value(a), value(b), value(c));
  if (!varies(a) && !varies(b) && !varies(c)) return constant(result);
  return make_origin({.op = op, .operands = {a, b, c}}, result);
}

double Graph::folded(const Origin& origin, std::span<const double> slots) const {
  if (origin.slot >= 0) return slots[static_cast<std::size_t>(origin.slot)];
  if (origin.op == Op::Input) return origin.value;
  const auto value = [&](std::size_t k) {
    return origin.operands[k] < 0 ? 0.0 : (*this)[origin.operands[k]].value;
  };
  return apply(origin.op, value(0), value(1), value(2));
}

bool Graph::refill(std::span<const double> slots) {
  for (const Origin& origin : origins_) {
    if (origin.is_test) continue;
    const auto found = index_.find(key_of((*this)[origin.node].value));
    if (found != index_.end() && found->second == origin.node) index_.erase(found);
  }
  bool good = true;
  for (const Origin& origin : origins_) {
    double value = folded(origin, slots);
    if (value == 0.0) value = 0.0;
    Node& node = nodes_[static_cast<std::size_t>(origin.node)];
    good = good && (!origin.is_test || node.value == value);
    if (!origin.is_test) node.value = value;
  }
  for (const Origin& origin : origins_) {
    if (origin.is_test) continue;
    const double value = (*this)[origin.node].value;
    good = good && std::isfinite(value) && value != 0.0 && std::abs(value) != 1.0;
    good = index_.emplace(key_of(value), origin.node).second && good;
  }
  return good && std::none_of(exponents_.begin(), exponents_.end(),
                              [this](NodeId id) { return is_product_power((*this)[id].value); });
}

bool Graph::any_varies(const std::vector<NodeId>& roots) const {
  const std::vector<NodeId> parts = reachable(roots);
  return std::any_of(parts.begin(), parts.end(), [this](NodeId id) { return varies(id); });
}

NodeId Graph::input(int slot) {
  return intern({Op::Input, {-1, -1, -1}, static_cast<std::uint64_t>(slot)},
                {.op = Op::Input, .input = slot});
}

NodeId Graph::make(Op op, NodeId a, NodeId b, NodeId c) {
  if (is_commutative(op) && a > b) std::swap(a, b);
  const int operands = arity(op);
  const bool foldable =
      is_constant(a) && (operands < 2 || is_constant(b)) && (operands < 3 || is_constant(c));
  if (foldable) return fold(op, a, b, c);
  if (const NodeId same = simplify(op, a, b, c); same >= 0) return same;
  return intern({op, {a, b, c}, 0}, {.op = op, .operands = {a, b, c}});
}

NodeId Graph::power(NodeId base, NodeId exponent) {
  if (!is_constant(exponent)) return make(Op::Power, base, exponent);
  const double e = (*this)[exponent].value;
  if (varies(exponent)) exponents_.push_back(exponent);
  if (!is_product_power(e)) return make(Op::Power, base, exponent);
  if (e == 0.5) return make(Op::Sqrt, base);
  NodeId product = constant(1.0);
  NodeId square = base;
  for (auto bits = static_cast<unsigned>(std::abs(e)); bits != 0; bits >>= 1U) {
    if ((bits & 1U) != 0) product = multiply(product, square);
    if (bits > 1) square = multiply(square, square);
  }
  return e < 0.0 ? divide(constant(1.0), product) : product;
}

NodeId Graph::simplify(Op op, NodeId a, NodeId b, NodeId c) {
  switch (op) {
    case Op::Negate: return (*this)[a].op == Op::Negate ? (*this)[a].operands[0] : -1;
    case Op::Add: return simplify_sum(a, b);
    case Op::Subtract: return simplify_difference(a, b);
    case Op::Multiply: return simplify_product(a, b);
    case Op::Divide:
      if (is_constant(b, 1.0)) return a;
      return is_constant(b, -1.0) ? negate(a) : -1;
    case Op::Ratio: return is_constant(a, 0.0) ? constant(0.0) : -1;
    case Op::Min:
    case Op::Max: return a == b ? a : -1;
    case Op::Select:
      if (is_constant(a)) {
        const double condition = (*this)[a].value;
        return std::isnan(condition) ? a : condition != 0.0 ? b : c;
      }
      return b == c ? b : -1;
    default: return -1;
  }
}

NodeId Graph::simplify_sum(NodeId a, NodeId b) {
  if (is_constant(a, 0.0)) return b;
  if (is_constant(b, 0.0)) return a;
  if (a == b) return multiply(constant(2.0), a);
  if (is_negation(b)) return subtract(a, (*this)[b].operands[0]);
  if (is_negation(a)) return subtract(b, (*this)[a].operands[0]);
  return -1;
}

NodeId Graph::simplify_difference(NodeId a, NodeId b) {
  if (a == b) return constant(0.0);
  if (is_constant(b, 0.0)) return a;
  if (is_constant(a, 0.0)) return negate(b);
  if (is_negation(b)) return add(a, (*this)[b].operands[0]);
  return -1;
}

NodeId Graph::simplify_product(NodeId a, NodeId b) {
  if (is_constant(b)) std::swap(a, b);
  if (is_constant(a)) {
    const double factor = (*this)[a].value;
    if (factor == 0.0) return a;
    if (factor == 1.0) return b;
    if (factor == -1.0) return negate(b);
    const Node other = (*this)[b];
    if (other.op == Op::Negate) return multiply(fold(Op::Negate, a), other.operands[0]);
    if (other.op == Op::Multiply) {  // two constant factors become one
      for (const int k : {0, 1}) {
        const NodeId inner = other.operands[static_cast<std::size_t>(k)];
        if (!is_constant(inner)) continue;
        return multiply(fold(Op::Multiply, a, inner),
                        other.operands[static_cast<std::size_t>(1 - k)]);
      }
    }
    return -1;
  }
  if (is_negation(a)) return negate(multiply((*this)[a].operands[0], b));
  if (is_negation(b)) return negate(multiply(a, (*this)[b].operands[0]));
  return -1;
}

std::vector<NodeId> Graph::reachable(const std::vector<NodeId>& roots) const {
  std::vector<NodeId> order;
  std::vector<NodeId> stack(roots.begin(), roots.end());
  const auto last = std::max_element(roots.begin(), roots.end());
  std::vector<bool> seen(roots.empty() ? 0 : static_cast<std::size_t>(*last) + 1);
  while (!stack.empty()) {
    const NodeId id = stack.back();
    stack.pop_back();
    if (seen[static_cast<std::size_t>(id)]) continue;
    seen[static_cast<std::size_t>(id)] = true;
    order.push_back(id);
    for (const NodeId operand : (*this)[id].operands) {
      if (operand >= 0) stack.push_back(operand);
    }
  }
  std::sort(order.begin(), order.end());  // operands have smaller numbers than their node
  return order;
}

bool Graph::depends_on(NodeId root, int first, int last) const {
  for (const NodeId id : reachable({root})) {
    const Node& node = (*this)[id];
    if (node.op == Op::Input && node.input >= first && node.input < last) return true;
  }
  return false;
}

std::vector<int> Graph::inputs_of(NodeId root) const {
  std::vector<int> slots;
  for (const NodeId id : reachable({root})) {
    if ((*this)[id].op == Op::Input) slots.push_back((*this)[id].input);
  }
  std::sort(slots.begin(), slots.end());
  return slots;
}

double Graph::evaluate(NodeId root, const std::vector<double>& inputs) const {
  const std::vector<NodeId> nodes = reachable({root});  // operands before what is made of them
  std::vector<double> values;
  for (const NodeId id : nodes) {
    const Node& node = (*this)[id];
    const auto value = [&](int k) {
      const NodeId operand = node.operands[static_cast<std::size_t>(k)];
      if (operand < 0) return 0.0;
      const auto at = std::lower_bound(nodes.begin(), nodes.end(), operand);
      return values[static_cast<std::size_t>(at - nodes.begin())];
    };
    if (node.op == Op::Constant) {
      values.push_back(node.value);
    } else if (node.op == Op::Input) {
      values.push_back(inputs.at(static_cast<std::size_t>(node.input)));
    } else {
      values.push_back(apply(node.op, value(0), value(1), value(2)));
    }
  }
  return values.back();
}

namespace {

/// How tightly an operation binds, as in the language; 9: needs no brackets anywhere.
int binding(Op op) {
  switch (op) {
    case Op::Or: return 1;
    case Op::And: return 2;
    case Op::Not: return 3;
    case Op::Less:
    case Op::LessEqual:
    case Op::Equal: return 4;
    case Op::Add:
    case Op::Subtract: return 5;
    case Op::Multiply:
    case Op::Divide: return 6;
    case Op::Negate: return 7;
    case Op::Power: return 8;
    default: return 9;
  }
}

}  // namespace

std::string Graph::to_text(NodeId root, const std::vector<std::string>& names,
                           std::size_t longest) const {
  std::string text;
  write(root, names, 0, 0, longest, text);
  return text.size() > longest ? text.substr(0, longest) + "..." : text;
}

void Graph::write(NodeId root, const std::vector<std::string>& names, int outer, int depth,
                  std::size_t longest, std::string& text) const {
  if (text.size() > longest) return;
  constexpr int kDeepest = 200;  // a long sum nests as deep as it has terms
  if (depth > kDeepest) {
    text += "...";
    return;
  }
  const Node& node = (*this)[root];
  const auto operand = [&](std::size_t k, int level) {
    write(node.operands[k], names, level, depth + 1, longest, text);
  };
  if (node.op == Op::Constant) {
    text += node.value < 0.0 && outer > 5 ? fmt::format("({})", node.value)
                                          : fmt::format("{}", node.value);
    return;
  }
  if (node.op == Op::Input) {
    const auto slot = static_cast<std::size_t>(node.input);
    text += slot < names.size() ? names[slot] : fmt::format("#{}", node.input);
    return;
  }
  const int level = binding(node.op);
  const bool bracketed = level < outer;
  if (bracketed) text += "(";
  if (level == 9) {  // a function
    text += fmt::format("{}(", text_of(node.op));
    for (int k = 0; k < arity(node.op); ++k) {
      if (k > 0) text += ", ";
      operand(static_cast<std::size_t>(k), 0);
    }
    text += ")";
  } else if (arity(node.op) == 1) {
    text += text_of(node.op);
    operand(0, level);
  } else {
    operand(0, level == 8 ? 9 : level);
    text += level == 8 ? "^" : fmt::format(" {} ", text_of(node.op));
    operand(1, level == 8 ? 8 : level + 1);
  }
  if (bracketed) text += ")";
}

}  // namespace ricochet::formula
