#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ricochet/formula/op.h"

namespace ricochet::formula {

using NodeId = std::int32_t;

struct Node {
  Op op{Op::Constant};
  std::array<NodeId, 3> operands{-1, -1, -1};  // operands come before the node
  double value{0.0};                           // of a Constant
  int input{-1};                               // of an Input: its slot
};

/// The graph outgrew its limit.
class GraphTooLarge : public std::runtime_error {
 public:
  explicit GraphTooLarge(std::size_t limit);
};

/// A hash-consed expression graph: equal expressions are one node, so common subexpressions are
/// shared as they are built. Operations on constants are folded, two constant factors become one,
/// and identities such as x + 0, x * 1, x - x, (-x) y are applied. Nodes are numbered in
/// topological order.
///
/// A constant may be a *slot*: a number that is set anew by `refill`. What is folded from slots is
/// remembered, so that all constants made of them follow, by the arithmetic that folding has.
class Graph {
 public:
  explicit Graph(std::size_t node_limit = 2'000'000) : node_limit_(node_limit) {}

  NodeId constant(double value);
  NodeId input(int slot);
  NodeId slot(int index, double value);  // a constant that `refill` sets
  NodeId make(Op op, NodeId a, NodeId b = -1, NodeId c = -1);

  NodeId add(NodeId a, NodeId b) { return make(Op::Add, a, b); }
  NodeId subtract(NodeId a, NodeId b) { return make(Op::Subtract, a, b); }
  NodeId multiply(NodeId a, NodeId b) { return make(Op::Multiply, a, b); }
  NodeId divide(NodeId a, NodeId b) { return make(Op::Divide, a, b); }
  NodeId negate(NodeId a) { return make(Op::Negate, a); }
  NodeId power(NodeId base, NodeId exponent);  // small whole exponents become products

  const Node& operator[](NodeId id) const {
    assert(id >= 0 && static_cast<std::size_t>(id) < nodes_.size());
    return nodes_[static_cast<std::size_t>(id)];
  }
  std::size_t size() const { return nodes_.size(); }
  std::size_t node_limit() const { return node_limit_; }

  bool is_constant(NodeId id) const { return (*this)[id].op == Op::Constant; }
  bool is_constant(NodeId id, double value) const {
    return is_constant(id) && (*this)[id].value == value;
  }

  /// Whether a constant is made of slots, so that it follows them.
  bool varies(NodeId id) const { return !varies_.empty() && varies_.contains(id); }

  bool has_slots() const { return !origins_.empty(); }
  /// The value of a constant was read as a number: slots may not change it.
  void pin(NodeId id) {
    if (varies(id)) origins_.push_back({.node = id, .is_test = true, .value = (*this)[id].value});
  }

  void pin_all() {
    for (const NodeId id : varies_) pin(id);
  }

  /// Sets the slots, by index. False where the graph of these numbers would be another one: a part
  /// becomes 0, 1 or -1, equal to another constant, a power that is a product, or no number, or one
  /// that is pinned changes. Then no value may be used before the next `refill`.
  bool refill(std::span<const double> slots);

  /// All nodes the roots are made of, in topological order.
  std::vector<NodeId> reachable(const std::vector<NodeId>& roots) const;

  /// Whether `root` is made of an input whose slot satisfies first <= slot < last.
  bool depends_on(NodeId root, int first, int last) const;

  /// Whether any of the roots is made of constants that follow slots.
  bool any_varies(const std::vector<NodeId>& roots) const;

  /// The slots of all inputs that `root` is made of, sorted.
  std::vector<int> inputs_of(NodeId root) const;

  /// The value, node by node in topological order: for tests and one-off evaluations.
  double evaluate(NodeId root, const std::vector<double>& inputs) const;

  /// The expression as text; inputs are shown by `names` or as #slot. A text longer than `longest`
  /// characters is cut to "...": written out, a graph can be far larger than it is.
  std::string to_text(NodeId root, const std::vector<std::string>& names = {},
                      std::size_t longest = 2000) const;

 private:
  struct Key {
    Op op;
    std::array<NodeId, 3> operands;
    std::uint64_t bits;  // of the value of a Constant, or the slot of an Input
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };

  /// How a constant comes from slots: one of them, or an operation on constants. One that says what
  /// another constant, or a number, is must give the same again.
  struct Origin {
    NodeId node{-1};
    Op op{Op::Input};
    std::array<NodeId, 3> operands{-1, -1, -1};
    int slot{-1};
    bool is_test{false};
    double value{0.0};  // of a test
  };

  NodeId intern(const Key& key, const Node& node);
  static Key key_of(double constant);
  NodeId fold(Op op, NodeId a, NodeId b = -1, NodeId c = -1);
  double folded(const Origin& origin, std::span<const double> slots) const;
  NodeId make_origin(Origin origin, double value);
  NodeId simplify(Op op, NodeId a, NodeId b, NodeId c);  // -1: no identity applies
  NodeId simplify_sum(NodeId a, NodeId b);
  NodeId simplify_difference(NodeId a, NodeId b);
  NodeId simplify_product(NodeId a, NodeId b);
  bool is_negation(NodeId id) const { return (*this)[id].op == Op::Negate; }
  void write(NodeId root, const std::vector<std::string>& names, int outer, int depth,
             std::size_t longest, std::string& text) const;

  std::size_t node_limit_;
  std::vector<Node> nodes_;
  std::unordered_map<Key, NodeId, KeyHash> index_;
  std::vector<Origin> origins_;  // in the order in which they were made
  std::unordered_map<Key, NodeId, KeyHash> origin_index_;
  std::unordered_set<NodeId> varies_;
  std::vector<NodeId> exponents_;  // that vary
};

}  // namespace ricochet::formula
