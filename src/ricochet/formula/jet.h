#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "ricochet/formula/graph.h"

namespace ricochet::formula {

/// Taylor coefficients in time of formulas along a motion dy/dt = f(t, y), by the recurrences of
/// automatic differentiation [Moore 1966]: one row of coefficients for each node, all rows in one
/// array that the user brings. Orders that cannot differ from 0 (constants, t) cost nothing.
///
/// abs, sign, min, max, if and comparisons are taken on one side, that of their switch: the series
/// holds until the function of a switch changes sign, which the user looks for.
class Jet {
 public:
  static constexpr int kOrder = 28;
  static constexpr std::size_t kStride = kOrder + 1;

  /// d(input slot)/dt = the formula. Inputs without a rate are constant.
  struct Rate {
    int slot{0};
    NodeId rate{-1};
  };
  Jet(const Graph& graph, int inputs, const std::vector<Rate>& rates,
      const std::vector<NodeId>& watched);
  Jet() = default;

  /// Fresh coefficients, with the constants in place. The value of input i goes into [i * kStride].
  std::vector<double> coefficients() const { return initial_; }
  /// All orders of all rows, from the values of the inputs and the sides of the switches.
  void expand(double* coefficients, const signed char* sides) const;

  std::size_t row(std::size_t watched) const { return watched_[watched]; }
  static double* row(double* coefficients, std::size_t index) {
    return coefficients + index * kStride;
  }
  /// Rows whose sign decides; on side +1 the row is taken to be >= 0, on side -1 to be < 0.
  const std::vector<std::size_t>& switches() const { return switches_; }
  /// The same as formulas: a node, or the difference of two.
  const std::vector<std::pair<NodeId, NodeId>>& switch_nodes() const { return switch_nodes_; }
  /// Rows of hypot, which turn back where they reach 0: there the series ends too.
  const std::vector<std::size_t>& kinks() const { return kinks_; }
  std::size_t operations() const { return before_.size() + cycle_.size() + after_.size(); }

  /// The polynomial of a row at time s.
  static double value(const double* row, double s) {
    double sum = row[kOrder];
    for (int k = kOrder - 1; k >= 0; --k) sum = sum * s + row[k];
    return sum;
  }

  /// The logarithm to base 2 of the longest time for which the last terms of the series of so many
  /// rows, one behind the other, are within the accuracy of the largest of the first three.
  /// Recurrences may leave out orders, up to seven in a row; what ends before is a polynomial.
  static double reach(const double* rows, int count, double accuracy);

 private:
  friend class JetBuilder;
  enum class Rule : std::uint8_t {
    Add,
    Subtract,
    Negate,
    Multiply,
    Scale,  // a number times a row
    Divide,
    Ratio,
    SinCos,    // out and `second`
    SinhCosh,  // out and `second`
    Tan,       // second = 1 + out^2
    Tanh,      // second = 1 - out^2
    Exp,
    Log,
    Asin,  // out' = a'/b for these three and Log
    Acos,
    Atan,
    Sqrt,
    Power,  // b is a number
    Atan2,  // second = a^2 + b^2
    Hypot,  // the same; where a or b is 0 for a while, the absolute value of the other
    Side,   // +1 or -1
    Flag,   // 1 on the side + (second: 0, of a >= 0) or on the side - (second: 1)
    Logic,  // of numbers
    Pick,   // a ? b : c
    Choose  // on the side +: b, else c
  };
  struct Step {
    Rule rule{Rule::Add};
    Op op{Op::Constant};  // of Logic
    std::uint32_t out{0};
    std::uint32_t a{0};
    std::uint32_t b{0};
    std::uint32_t c{0};
    std::uint32_t second{0};
    std::int32_t a_degree{kOrder};
    std::int32_t b_degree{kOrder};
  };
  static void extend(const Step& step, int first, int last, double* rows, const signed char* sides);
  static void extend_function(const Step& step, int first, int last, double* rows);
  static void extend_hypot(const Step& step, int first, int last, double* rows);
  static void extend_pair(const Step& step, int first, int last, double* rows);
  static void extend_choice(const Step& step, int first, int last, double* rows,
                            const signed char* sides);

  std::vector<double> initial_;
  std::vector<Step> before_;  // of time only: row by row
  std::vector<Step> cycle_;   // what the motion feeds back into itself: order by order
  std::vector<Step> after_;   // of the motion: row by row
  std::vector<std::pair<std::size_t, std::size_t>> rates_;  // rows of a state and of its rate
  std::vector<std::size_t> steady_;                         // states whose rate is a number
  std::vector<std::size_t> steady_rates_;
  std::vector<std::size_t> watched_;
  std::vector<std::size_t> switches_;
  std::vector<std::pair<NodeId, NodeId>> switch_nodes_;
  std::vector<std::size_t> kinks_;
};

}  // namespace ricochet::formula
