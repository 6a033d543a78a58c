#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace ricochet::formula {

/// The operations of the graph and of the tape: name, number of operands, how it is written. Truth
/// values are numbers: 0 is false, all else true. `Ratio` is a / b, and 0 where b = 0: what the
/// derivatives of sqrt, hypot, asin, ... are made of; it cannot be written in a formula. The last
/// five exist on the tape only: both functions of one angle, pairs of operations, each rounded as
/// if it stood alone, and the end of a group.
// clang-format off
#define RICOCHET_FORMULA_OPS(X) \
  X(Constant, 0, "constant") \
  X(Input, 0, "input") \
  X(Negate, 1, "-") \
  X(Not, 1, "not ") \
  X(Sin, 1, "sin") \
  X(Cos, 1, "cos") \
  X(Tan, 1, "tan") \
  X(Asin, 1, "asin") \
  X(Acos, 1, "acos") \
  X(Atan, 1, "atan") \
  X(Sinh, 1, "sinh") \
  X(Cosh, 1, "cosh") \
  X(Tanh, 1, "tanh") \
  X(Exp, 1, "exp") \
  X(Log, 1, "log") \
  X(Sqrt, 1, "sqrt") \
  X(Abs, 1, "abs") \
  X(Sign, 1, "sign") \
  X(Add, 2, "+") \
  X(Subtract, 2, "-") \
  X(Multiply, 2, "*") \
  X(Divide, 2, "/") \
  X(Ratio, 2, "ratio") \
  X(Power, 2, "^") \
  X(Atan2, 2, "atan2") \
  X(Min, 2, "min") \
  X(Max, 2, "max") \
  X(Hypot, 2, "hypot") \
  X(Less, 2, "<") \
  X(LessEqual, 2, "<=") \
  X(Equal, 2, "==") \
  X(And, 2, "and") \
  X(Or, 2, "or") \
  X(Select, 3, "if") \
  X(SinCos, 1, "sincos") \
  X(MultiplyAdd, 3, "a*b + c") \
  X(MultiplySubtract, 3, "a*b - c") \
  X(SubtractMultiply, 3, "c - a*b") \
  X(End, 0, "end")
// clang-format on

enum class Op : std::uint8_t {
#define X(name, operands, text) name,
  RICOCHET_FORMULA_OPS(X)
#undef X
};

constexpr int arity(Op op) {
  constexpr std::array kArity = {
#define X(name, operands, text) operands,
      RICOCHET_FORMULA_OPS(X)
#undef X
  };
  return kArity[static_cast<std::size_t>(op)];
}

constexpr const char* text_of(Op op) {
  constexpr std::array kText = {
#define X(name, operands, text) text,
      RICOCHET_FORMULA_OPS(X)
#undef X
  };
  return kText[static_cast<std::size_t>(op)];
}

constexpr bool is_commutative(Op op) {
  return op == Op::Add || op == Op::Multiply || op == Op::Hypot || op == Op::Equal ||
         op == Op::And || op == Op::Or;
}

inline double sign_of(double a) {
  if (std::isnan(a)) return a;
  return static_cast<double>((a > 0.0) - (a < 0.0));
}

/// NaN wins, unlike in std::min: a formula that cannot be computed must not look as if it could.
/// So with conditions: what cannot be decided is neither true nor false, unless the rest decides.
inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
inline double truth_of(bool yes, bool no) { return yes ? 1.0 : (no ? 0.0 : kUnknown); }

inline double min_of(double a, double b) { return a <= b ? a : (b < a ? b : a + b); }
inline double max_of(double a, double b) { return a >= b ? a : (b > a ? b : a + b); }

/// The value of one operation: the definition that folding, the tape and the tests share.
template <Op op>
inline double apply(double a, double b, double c) {
  if constexpr (op == Op::Negate) return -a;
  if constexpr (op == Op::Not) return truth_of(a == 0.0, !std::isnan(a));
  if constexpr (op == Op::Sin) return std::sin(a);
  if constexpr (op == Op::Cos) return std::cos(a);
  if constexpr (op == Op::Tan) return std::tan(a);
  if constexpr (op == Op::Asin) return std::asin(a);
  if constexpr (op == Op::Acos) return std::acos(a);
  if constexpr (op == Op::Atan) return std::atan(a);
  if constexpr (op == Op::Sinh) return std::sinh(a);
  if constexpr (op == Op::Cosh) return std::cosh(a);
  if constexpr (op == Op::Tanh) return std::tanh(a);
  if constexpr (op == Op::Exp) return std::exp(a);
  if constexpr (op == Op::Log) return std::log(a);
  if constexpr (op == Op::Sqrt) return std::sqrt(a);
  if constexpr (op == Op::Abs) return std::abs(a);
  if constexpr (op == Op::Sign) return sign_of(a);
  if constexpr (op == Op::Add) return a + b;
  if constexpr (op == Op::Subtract) return a - b;
  if constexpr (op == Op::Multiply) return a * b;
  if constexpr (op == Op::Divide) return a / b;
  if constexpr (op == Op::Ratio) return b == 0.0 ? 0.0 : a / b;
  if constexpr (op == Op::Power) return std::pow(a, b);
  if constexpr (op == Op::Atan2) return std::atan2(a, b);
  if constexpr (op == Op::Min) return min_of(a, b);
  if constexpr (op == Op::Max) return max_of(a, b);
  if constexpr (op == Op::Hypot) return std::hypot(a, b);
  if constexpr (op == Op::Less) return truth_of(a < b, a >= b);
  if constexpr (op == Op::LessEqual) return truth_of(a <= b, a > b);
  if constexpr (op == Op::Equal) return truth_of(a == b, a < b || a > b);
  if constexpr (op == Op::And) {
    return a == 0.0 || b == 0.0 ? 0.0 : truth_of(!std::isnan(a) && !std::isnan(b), false);
  }
  if constexpr (op == Op::Or) {
    const bool yes = (a != 0.0 && !std::isnan(a)) || (b != 0.0 && !std::isnan(b));
    return truth_of(yes, a == 0.0 && b == 0.0);
  }
  if constexpr (op == Op::Select) return a == 0.0 ? c : (std::isnan(a) ? a : b);
  if constexpr (op == Op::MultiplyAdd) return a * b + c;
  if constexpr (op == Op::MultiplySubtract) return a * b - c;
  if constexpr (op == Op::SubtractMultiply) return c - a * b;
  return std::numeric_limits<double>::quiet_NaN();  // leaves, and SinCos, which has two results
}

/// Calls `visit.template operator()<op>()` for the operation `op`.
template <class Visitor>
decltype(auto) dispatch(Op op, Visitor&& visit) {
  switch (op) {
#define X(name, operands, text) \
  case Op::name: return visit.template operator()<Op::name>();
    RICOCHET_FORMULA_OPS(X)
#undef X
  }
  return visit.template operator()<Op::Constant>();
}

/// The same for an operation known only at run time.
inline double apply(Op op, double a, double b, double c) {
  return dispatch(op, [&]<Op known>() { return apply<known>(a, b, c); });
}

}  // namespace ricochet::formula
