// The graph, its derivatives and its compiled form, on thousands of random graphs.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "ricochet/base/random.h"
#include "ricochet/formula/derivative.h"
#include "ricochet/formula/graph.h"
#include "ricochet/formula/tape.h"

namespace ricochet::formula::graph_test {
namespace {

constexpr int kInputs = 4;

bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) ||
         (std::isnan(a) && std::isnan(b));
}

/// A random graph of `operations` nodes with every operation of the language in it.
std::vector<NodeId> random_nodes(base::Random& random, Graph& graph, int operations) {
  std::vector<NodeId> pool;
  for (int i = 0; i < kInputs; ++i) pool.push_back(graph.input(i));
  for (int i = 0; i < 3; ++i) pool.push_back(graph.constant(random.uniform(-2.0, 2.0)));
  const auto pick = [&] {
    return pool[static_cast<std::size_t>(random.below(static_cast<int>(pool.size())))];
  };
  for (int i = 0; i < operations; ++i) {
    const int first = static_cast<int>(Op::Negate);
    const int last = static_cast<int>(Op::Select);
    const auto op = static_cast<Op>(first + random.below(last - first + 1));
    const NodeId a = pick();
    const NodeId b = arity(op) > 1 ? pick() : -1;
    pool.push_back(op == Op::Power ? graph.power(a, b)
                                   : graph.make(op, a, b, arity(op) > 2 ? pick() : -1));
  }
  return pool;
}

std::vector<double> random_point(base::Random& random) {
  std::vector<double> inputs(kInputs);
  for (double& x : inputs) x = random.uniform(-2.0, 2.0);
  return inputs;
}

TEST(Graph, SharesEqualExpressions) {
  Graph graph;
  const NodeId x = graph.input(0);
  const NodeId y = graph.input(1);
  EXPECT_EQ(graph.add(x, y), graph.add(y, x));
  EXPECT_EQ(graph.multiply(graph.add(x, y), x), graph.multiply(x, graph.add(y, x)));
  const std::size_t before = graph.size();
  (void)graph.multiply(graph.add(x, y), x);
  EXPECT_EQ(graph.size(), before);
}

TEST(Graph, FoldsConstantsAndIdentities) {
  Graph graph;
  const NodeId x = graph.input(0);
  const auto number = [&](double v) { return graph.constant(v); };
  EXPECT_TRUE(graph.is_constant(graph.add(number(2.0), number(3.0)), 5.0));
  EXPECT_EQ(graph.add(x, number(0.0)), x);
  EXPECT_EQ(graph.multiply(x, number(1.0)), x);
  EXPECT_TRUE(graph.is_constant(graph.subtract(x, x), 0.0));
  EXPECT_EQ(graph.negate(graph.negate(x)), x);
  EXPECT_EQ(graph.multiply(number(3.0), graph.multiply(x, number(2.0))),
            graph.multiply(number(6.0), x));
  EXPECT_EQ(graph.power(x, number(2.0)), graph.multiply(x, x));
  EXPECT_EQ(graph.power(x, number(1.0)), x);
  EXPECT_EQ(graph[graph.power(x, number(0.5))].op, Op::Sqrt);
}

TEST(Graph, StopsAtItsLimit) {
  Graph graph(100);
  NodeId node = graph.input(0);
  EXPECT_THROW(for (int i = 0; i < 200; ++i) node = graph.make(Op::Sin, node);, GraphTooLarge);
}

TEST(Graph, SimplifyingChangesNoValueBeyondRounding) {
  // A node that the graph makes, with its identities, against the operation on the operands'
  // values.
  base::Random random(11);
  int simplified = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    Graph graph;
    const std::vector<NodeId> nodes = random_nodes(random, graph, 8);
    const std::vector<double> inputs = random_point(random);
    const auto pick = [&] {
      return nodes[static_cast<std::size_t>(random.below(static_cast<int>(nodes.size())))];
    };
    const int first = static_cast<int>(Op::Negate);
    const int last = static_cast<int>(Op::Select);
    const auto op = static_cast<Op>(first + random.below(last - first + 1));
    const std::array<NodeId, 3> operands = {pick(), arity(op) > 1 ? pick() : -1,
                                            arity(op) > 2 ? pick() : -1};
    std::array<double, 3> values{};
    double size = 0.0;
    for (int k = 0; k < arity(op); ++k) {
      const auto at = static_cast<std::size_t>(k);
      values[at] = graph.evaluate(operands[at], inputs);
      size = std::max(size, std::abs(values[at]));
    }
    const double plain = apply(op, values[0], values[1], values[2]);
    if (!std::isfinite(size) || !std::isfinite(plain)) continue;  // x - x is 0 for any x
    const NodeId made = op == Op::Power ? graph.power(operands[0], operands[1])
                                        : graph.make(op, operands[0], operands[1], operands[2]);
    simplified += graph[made].op != op ? 1 : 0;
    EXPECT_NEAR(graph.evaluate(made, inputs), plain, 1e-14 * (std::abs(plain) + size))
        << text_of(op) << " of " << values[0] << ", " << values[1] << ", " << values[2];
  }
  EXPECT_GT(simplified, 500);
}

/// Largest relative jump of a derivative's own value around the point: 0 where it is smooth.
bool is_smooth_at(const Graph& graph, NodeId root, const std::vector<NodeId>& slopes,
                  const std::vector<double>& point, double step) {
  for (std::size_t i = 0; i < point.size(); ++i) {
    for (const double side : {-1.0, 1.0}) {
      std::vector<double> near = point;
      near[i] += side * step;
      if (!std::isfinite(graph.evaluate(root, near))) return false;
      for (const NodeId slope : slopes) {
        const double here = graph.evaluate(slope, point);
        const double there = graph.evaluate(slope, near);
        if (!std::isfinite(there) || std::abs(there - here) > 0.02 * (1.0 + std::abs(here))) {
          return false;  // a kink, a pole, or too wild for differences
        }
      }
    }
  }
  return true;
}

TEST(Derivative, AgreesWithFiniteDifferencesOnRandomGraphs) {
  base::Random random(21);
  std::vector<int> seen(static_cast<std::size_t>(Op::End) + 1, 0);
  int compared = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    Graph graph;
    const std::vector<NodeId> nodes = random_nodes(random, graph, 8);
    const NodeId root = nodes.back();
    std::vector<int> slots(kInputs);
    for (int i = 0; i < kInputs; ++i) slots[static_cast<std::size_t>(i)] = i;
    const std::vector<NodeId> slopes = gradient(graph, root, slots);
    const std::vector<double> point = random_point(random);
    const double value = graph.evaluate(root, point);
    constexpr double kStep = 1e-5;
    if (!std::isfinite(value) || std::abs(value) > 1e3) continue;
    if (!is_smooth_at(graph, root, slopes, point, 2.0 * kStep)) continue;
    for (std::size_t i = 0; i < kInputs; ++i) {
      const auto moved = [&](double by) {
        std::vector<double> inputs = point;
        inputs[i] += by;
        return graph.evaluate(root, inputs);
      };
      const double difference = (moved(kStep) - moved(-kStep)) / (2.0 * kStep);
      const double derivative = graph.evaluate(slopes[i], point);
      if (std::abs(derivative) > 1e3) continue;  // too steep for differences
      const double tolerance = 1e-5 * (1.0 + std::abs(derivative)) + 1e-9 * std::abs(value) / kStep;
      EXPECT_NEAR(derivative, difference, tolerance) << graph.to_text(root);
      ++compared;
    }
    for (const NodeId id : graph.reachable({root})) ++seen[static_cast<std::size_t>(graph[id].op)];
  }
  EXPECT_GT(compared, 10000);
  for (int op = static_cast<int>(Op::Negate); op <= static_cast<int>(Op::Select); ++op) {
    EXPECT_GT(seen[static_cast<std::size_t>(op)], 50) << text_of(static_cast<Op>(op));
  }
}

TEST(Derivative, IsDefinedWhereThereIsNone) {
  Graph graph;
  const NodeId x = graph.input(0);
  const NodeId y = graph.input(1);
  const auto at = [&](NodeId root, int slot, double vx, double vy) {
    return graph.evaluate(gradient(graph, root, {slot})[0], {vx, vy});
  };
  EXPECT_EQ(at(graph.make(Op::Abs, x), 0, 0.0, 0.0), 0.0);
  EXPECT_EQ(at(graph.make(Op::Sqrt, x), 0, 0.0, 0.0), 0.0);
  EXPECT_EQ(at(graph.make(Op::Hypot, x, y), 0, 0.0, 0.0), 0.0);
  EXPECT_EQ(at(graph.make(Op::Atan2, y, x), 0, 0.0, 0.0), 0.0);
  EXPECT_EQ(at(graph.make(Op::Asin, x), 0, 1.0, 0.0), 0.0);
  EXPECT_EQ(at(graph.make(Op::Sign, x), 0, 0.3, 0.0), 0.0);
  EXPECT_EQ(at(graph.make(Op::Less, x, y), 0, 0.3, 0.4), 0.0);
  EXPECT_EQ(at(graph.make(Op::Min, x, y), 0, 2.0, 2.0), 1.0);  // the first when equal
  EXPECT_EQ(at(graph.make(Op::Min, x, y), 1, 2.0, 2.0), 0.0);
  EXPECT_EQ(at(graph.make(Op::Max, x, y), 0, 2.0, 2.0), 1.0);
  EXPECT_EQ(at(graph.make(Op::Power, x, y), 1, 0.0, 2.0), 0.0);
}

TEST(Derivative, OfTheBranchNotTakenIsLeftOut) {
  // The branch not taken, and its slope, may be undefined there: 0 times undefined is not 0.
  Graph g;
  const NodeId x = g.input(0);
  const NodeId zero = g.constant(0.0);
  const NodeId below = g.make(Op::Less, x, zero);
  const NodeId hertz = g.make(Op::Power, g.negate(x), g.constant(2.5));
  const NodeId spring = g.make(Op::Select, below, g.multiply(g.constant(100.0), hertz), zero);
  const NodeId root = g.make(Op::Select, g.make(Op::Less, zero, x), g.make(Op::Log, x), zero);
  const NodeId d_spring = gradient(g, spring, {0})[0];
  const NodeId d_root = gradient(g, root, {0})[0];
  EXPECT_EQ(g.evaluate(d_spring, {1.0}), 0.0);
  EXPECT_NEAR(g.evaluate(d_spring, {-4.0}), -250.0 * 8.0, 1e-10);
  EXPECT_EQ(g.evaluate(d_root, {-1.0}), 0.0);
  EXPECT_EQ(g.evaluate(d_root, {0.5}), 2.0);
}

TEST(Graph, TextOfALongSumIsCut) {
  Graph g;
  NodeId sum = g.constant(0.0);
  for (int i = 1; i <= 20000; ++i) {
    sum = g.add(sum, g.make(Op::Sin, g.multiply(g.constant(i), g.input(0))));
  }
  EXPECT_NE(g.to_text(sum, {"x"}, 300).find("..."), std::string::npos);
}

TEST(Derivative, OfASquareIsTwice) {
  Graph graph;
  const NodeId x = graph.input(0);
  const NodeId square = graph.power(x, graph.constant(2.0));
  EXPECT_EQ(gradient(graph, square, {0})[0], graph.multiply(graph.constant(2.0), x));
}

/// Three groups of random roots, run natively, by the interpreter and in lanes.
TEST(Tape, GivesTheValuesOfTheGraphBitForBit) {
  base::Random random(31);
  int native = 0;
  for (int trial = 0; trial < 1500; ++trial) {
    Graph graph;
    const std::vector<NodeId> nodes = random_nodes(random, graph, 1 + random.below(100));
    std::vector<std::vector<NodeId>> groups(3);
    for (std::vector<NodeId>& roots : groups) {
      for (int k = 0; k < 4; ++k) {
        roots.push_back(
            nodes[static_cast<std::size_t>(random.below(static_cast<int>(nodes.size())))]);
      }
    }
    const Tape tape(graph, kInputs, groups);
    native += tape.is_native() ? 1 : 0;
    std::vector<double> fast = tape.registers();
    std::vector<double> slow = tape.registers();
    std::vector<double> lanes = tape.batch_registers();
    for (int repeat = 0; repeat < 2; ++repeat) {
      const std::vector<double> inputs = random_point(random);
      const std::size_t lane = static_cast<std::size_t>(random.below(Tape::kLanes));
      for (std::size_t i = 0; i < kInputs; ++i) {
        fast[i] = slow[i] = lanes[i * Tape::kLanes + lane] = inputs[i];
      }
      // group 0 first, the others in any order
      for (const int group : {0, 2, 1}) {
        tape.run(group, fast.data());
        tape.interpret(group, slow.data());
        tape.run_batch(group, lanes.data());
      }
      for (int group = 0; group < 3; ++group) {
        for (std::size_t k = 0; k < 4; ++k) {
          const std::size_t at = tape.outputs(group)[k];
          const double expected =
              graph.evaluate(groups[static_cast<std::size_t>(group)][k], inputs);
          EXPECT_TRUE(same_bits(fast[at], expected)) << fast[at] << " " << expected;
          EXPECT_TRUE(same_bits(slow[at], expected)) << slow[at] << " " << expected;
          EXPECT_TRUE(same_bits(lanes[at * Tape::kLanes + lane], expected));
        }
      }
    }
  }
#if defined(__x86_64__) || defined(__aarch64__)
  EXPECT_EQ(native, 1500);
#endif
}

TEST(Tape, SharesWorkBetweenGroupsAndFunctions) {
  Graph graph;
  const NodeId angle = graph.input(0);
  const NodeId sine = graph.make(Op::Sin, angle);
  const NodeId cosine = graph.make(Op::Cos, angle);
  const NodeId product = graph.multiply(sine, cosine);
  EXPECT_EQ(Tape(graph, 1, {{product}}).instructions(), 2U);  // both functions are one
  EXPECT_EQ(Tape(graph, 1, {{product}, {graph.add(product, angle)}}).instructions(), 3U);
  // a*b + c is one instruction when nothing else needs a*b
  EXPECT_EQ(Tape(graph, 1, {{graph.add(graph.multiply(angle, sine), cosine)}}).instructions(), 2U);
}

TEST(Tape, InterpretsWhatIsTooLargeForNativeCode) {
  Graph graph;
  NodeId sum = graph.constant(0.0);
  std::vector<NodeId> roots;
  for (int i = 0; i < 6000; ++i) {
    sum = graph.add(graph.make(Op::Sin, sum), graph.input(i));
    roots.push_back(sum);
  }
  const Tape tape(graph, 6000, {roots});
  std::vector<double> registers = tape.registers();
  std::fill_n(registers.begin(), 6000, 0.25);
  tape.run(0, registers.data());
  EXPECT_EQ(registers[tape.outputs(0).back()],
            graph.evaluate(sum, std::vector<double>(6000, 0.25)));
}

}  // namespace
}  // namespace ricochet::formula::graph_test
