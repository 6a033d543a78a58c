#include "ricochet/formula/range.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ricochet/formula/tape.h"

namespace ricochet::formula {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Range kEverything{-kInfinity, kInfinity};

double product(double a, double b) { return a == 0.0 || b == 0.0 ? 0.0 : a * b; }

Range square(Range a) {
  const double most = std::max(product(a.low, a.low), product(a.high, a.high));
  if (a.low <= 0.0 && a.high >= 0.0) return {0.0, most};
  return {std::min(a.low * a.low, a.high * a.high), most};
}

/// A truth value that holds surely, surely not, or perhaps.
Range truth(bool surely, bool surely_not) { return {surely ? 1.0 : 0.0, surely_not ? 0.0 : 1.0}; }
bool is_true(Range a) { return a.low > 0.0 || a.high < 0.0; }
bool is_false(Range a) { return a.low == 0.0 && a.high == 0.0; }

Range hull(Range a, Range b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }

Range absolute(Range a) {
  const double most = std::max(std::abs(a.low), std::abs(a.high));
  if (a.low <= 0.0 && a.high >= 0.0) return {0.0, most};
  return {std::min(std::abs(a.low), std::abs(a.high)), most};
}

/// A function that rises throughout.
template <class F>
Range rising(Range a, F&& f) {
  return {f(a.low), f(a.high)};
}

/// The sine: its extremes lie at pi/2 + k pi.
Range sine(Range a, double shift) {
  constexpr double kPi = 3.14159265358979323846;
  const double low = a.low + shift, high = a.high + shift;
  if (!(high - low < 2.0 * kPi) || !(std::abs(low) < 1e6)) return {-1.0, 1.0};
  Range range{std::min(std::sin(low), std::sin(high)), std::max(std::sin(low), std::sin(high))};
  for (double k = std::ceil((low - kPi / 2.0) / kPi - 1e-9); kPi / 2.0 + k * kPi <= high + 1e-9;
       ++k) {
    (std::fmod(k, 2.0) == 0.0 ? range.high : range.low) = std::fmod(k, 2.0) == 0.0 ? 1.0 : -1.0;
  }
  return range;
}

Range reciprocal(Range a) {
  if (a.low <= 0.0 && a.high >= 0.0) return kEverything;
  return {1.0 / a.high, 1.0 / a.low};
}

/// a^b of a base that is not negative, or of a whole exponent.
Range power(Range a, Range b) {
  if (a.low < 0.0) {
    if (b.low != b.high || b.low != std::round(b.low) || b.low < 0.0) return kEverything;
    const Range most = power(absolute(a), b);
    if (std::fmod(b.low, 2.0) == 0.0) return most;
    return {-std::pow(-a.low, b.low),
            a.high < 0.0 ? -std::pow(-a.high, b.low) : std::pow(a.high, b.low)};
  }
  const double corners[] = {std::pow(a.low, b.low), std::pow(a.low, b.high),
                            std::pow(a.high, b.low), std::pow(a.high, b.high)};
  return {*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
}

Range angle_of(Range y, Range x) {
  if (x.low <= 0.0) return {-3.1415926535897936, 3.1415926535897936};
  const double corners[] = {std::atan2(y.low, x.low), std::atan2(y.low, x.high),
                            std::atan2(y.high, x.low), std::atan2(y.high, x.high)};
  return {*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
}

/// Functions of one operand.
Range bound_one(Op op, Range a) {
  switch (op) {
    case Op::Negate: return {-a.high, -a.low};
    case Op::Sin: return sine(a, 0.0);
    case Op::Cos: return sine(a, 1.57079632679489661923);
    case Op::Sign: return rising(a, sign_of);
    case Op::Tanh: return rising(a, [](double x) { return std::tanh(x); });
    case Op::Sinh: return rising(a, [](double x) { return std::sinh(x); });
    case Op::Cosh: return rising(absolute(a), [](double x) { return std::cosh(x); });
    case Op::Exp: return rising(a, [](double x) { return std::exp(x); });
    case Op::Atan: return rising(a, [](double x) { return std::atan(x); });
    case Op::Log:
      if (a.low < 0.0) return kEverything;
      return rising(a, [](double x) { return std::log(x); });
    case Op::Sqrt: return rising(a, [](double x) { return std::sqrt(std::max(0.0, x)); });
    case Op::Abs: return absolute(a);
    case Op::Not: return truth(is_false(a), is_true(a));
    default: return kEverything;
  }
}

Range bound_exactly(Op op, Range a, Range b, Range c, bool same) {
  switch (op) {
    case Op::Add: return {a.low + b.low, a.high + b.high};
    case Op::Subtract: return {a.low - b.high, a.high - b.low};
    case Op::Multiply: return same ? square(a) : a * b;
    case Op::Divide:
    case Op::Ratio: return a * reciprocal(b);
    case Op::Power: return power(a, b);
    case Op::Atan2: return angle_of(a, b);
    case Op::Hypot: {
      const Range x = absolute(a), y = absolute(b);
      return {std::hypot(x.low, y.low), std::hypot(x.high, y.high)};
    }
    case Op::Min: return {std::min(a.low, b.low), std::min(a.high, b.high)};
    case Op::Max: return {std::max(a.low, b.low), std::max(a.high, b.high)};
    case Op::Less: return truth(a.high < b.low, a.low >= b.high);
    case Op::LessEqual: return truth(a.high <= b.low, a.low > b.high);
    case Op::Equal: return truth(false, a.high < b.low || b.high < a.low);
    case Op::And: return truth(is_true(a) && is_true(b), is_false(a) || is_false(b));
    case Op::Or: return truth(is_true(a) || is_true(b), is_false(a) && is_false(b));
    case Op::Select: return is_true(a) ? b : is_false(a) ? c : hull(b, c);
    case Op::MultiplyAdd: return (same ? square(a) : a * b) + c;
    case Op::MultiplySubtract: return (same ? square(a) : a * b) + Range{-c.high, -c.low};
    case Op::SubtractMultiply: {
      const Range ab = same ? square(a) : a * b;
      return {c.low - ab.high, c.high - ab.low};
    }
    default: return bound_one(op, a);
  }
}

bool is_truth(Op op) {
  return op == Op::Not || op == Op::Less || op == Op::LessEqual || op == Op::Equal ||
         op == Op::And || op == Op::Or || op == Op::Sign || op == Op::Negate || op == Op::Abs ||
         op == Op::Min || op == Op::Max || op == Op::Select;
}

bool is_nan(Range range) { return std::isnan(range.low) || std::isnan(range.high); }

/// Bounds that hold though operations round; all numbers where a bound is none.
Range rounded(Range range) {
  if (is_nan(range)) return kEverything;
  constexpr double kRounding = 4.0 * std::numeric_limits<double>::epsilon();
  return {range.low - kRounding * std::abs(range.low),
          range.high + kRounding * std::abs(range.high)};
}

}  // namespace

Range operator+(Range a, Range b) { return {a.low + b.low, a.high + b.high}; }

Range operator*(Range a, Range b) {
  if (a.low >= 0.0 && b.low >= 0.0) return {product(a.low, b.low), product(a.high, b.high)};
  const double corners[] = {product(a.low, b.low), product(a.low, b.high), product(a.high, b.low),
                            product(a.high, b.high)};
  return {std::min(std::min(corners[0], corners[1]), std::min(corners[2], corners[3])),
          std::max(std::max(corners[0], corners[1]), std::max(corners[2], corners[3]))};
}

Range bound(Op op, Range a, Range b, Range c, bool same) {
  if (op == Op::Add) return rounded({a.low + b.low, a.high + b.high});
  if (op == Op::Multiply) return rounded(same ? square(a) : a * b);
  Range range = bound_exactly(op, a, b, c, same);
  if (is_nan(range)) return kEverything;
  if (is_truth(op)) return range;  // not rounded
  range = rounded(range);
  if (op == Op::Sin || op == Op::Cos || op == Op::Tanh) {
    range = {std::max(range.low, -1.0), std::min(range.high, 1.0)};
  }
  if (op == Op::Sqrt || op == Op::Hypot || op == Op::Cosh || op == Op::Exp) {
    range.low = std::max(range.low, op == Op::Cosh ? 1.0 : 0.0);
  }
  return range;
}

void Tape::bound(int group, Range* const r) const {
  for (std::size_t k = starts_[static_cast<std::size_t>(group)]; code_[k].op != Op::End; ++k) {
    const Instruction& i = code_[k];
    const Range a = r[i.a];
    if (i.op == Op::SinCos) {
      r[i.out] = formula::bound(Op::Sin, a, a, a, true);
      r[i.c] = formula::bound(Op::Cos, a, a, a, true);
    } else {
      r[i.out] = formula::bound(i.op, a, r[i.b], r[i.c], i.a == i.b);
    }
  }
}

std::vector<Range> Tape::range_registers() const {
  std::vector<Range> registers;
  for (const double value : initial_) registers.push_back({value, value});
  return registers;
}

std::unordered_map<NodeId, Range> ranges_of(const Graph& graph, NodeId root) {
  std::unordered_map<NodeId, Range> ranges;
  for (const NodeId id : graph.reachable({root})) {
    const Node& node = graph[id];
    const auto of = [&](std::size_t k) {
      return node.operands[k] < 0 ? kEverything : ranges.at(node.operands[k]);
    };
    Range range = kEverything;
    if (node.op == Op::Constant) range = {node.value, node.value};
    if (node.op != Op::Constant && node.op != Op::Input) {
      range = bound(node.op, of(0), of(1), of(2), node.operands[0] == node.operands[1]);
    }
    ranges.emplace(id, range);
  }
  return ranges;
}

Range range_of(const Graph& graph, NodeId root) { return ranges_of(graph, root).at(root); }

namespace {

struct Rounded {
  double value{0.0};
  double off{0.0};
};

/// What the operands of an operation are off by, as its result sees it.
double handed_on(Op op, const Rounded& a, const Rounded& b, const Rounded& c, double value) {
  const double size = std::abs(value);
  switch (op) {
    case Op::Multiply: return std::abs(b.value) * a.off + std::abs(a.value) * b.off;
    case Op::Divide:
    case Op::Ratio: return (a.off + size * b.off) / std::abs(b.value);
    case Op::Sqrt: return a.off / (2.0 * size);
    case Op::Exp: return size * a.off;
    case Op::Log: return a.off / std::abs(a.value);
    case Op::Tan: return (1.0 + size * size) * a.off;
    case Op::Sinh:
    case Op::Cosh: return (1.0 + size) * a.off;
    case Op::Asin:
    case Op::Acos: return a.off / std::sqrt(1.0 - a.value * a.value);
    case Op::Power:
      return size * (std::abs(b.value / a.value) * a.off +
                     (b.off > 0.0 ? std::abs(std::log(std::abs(a.value))) * b.off : 0.0));
    case Op::Atan2:
      return (std::abs(b.value) * a.off + std::abs(a.value) * b.off) /
             (a.value * a.value + b.value * b.value);
    case Op::Min:
    case Op::Max: return std::max(a.off, b.off);
    case Op::Select: return std::max(b.off, c.off);
    case Op::Not:
    case Op::Sign:
    case Op::Less:
    case Op::LessEqual:
    case Op::Equal:
    case Op::And:
    case Op::Or: return 0.0;
    default: return a.off + b.off;  // slopes of 1 at most
  }
}

}  // namespace

double rounding_of(const Graph& graph, NodeId root, const std::vector<double>& inputs) {
  std::unordered_map<NodeId, Rounded> found;
  for (const NodeId id : graph.reachable({root})) {
    const Node& node = graph[id];
    const auto of = [&](std::size_t k) {
      return node.operands[k] < 0 ? Rounded{} : found.at(node.operands[k]);
    };
    Rounded made;
    if (node.op == Op::Constant) {
      made.value = node.value;
    } else if (node.op == Op::Input) {
      made.value = inputs[static_cast<std::size_t>(node.input)];
    } else {
      const Rounded a = of(0);
      const Rounded b = of(1);
      const Rounded c = of(2);
      made.value = apply(node.op, a.value, b.value, c.value);
      const bool rounds = node.op != Op::Negate && node.op != Op::Abs && node.op != Op::Select &&
                          node.op != Op::Min && node.op != Op::Max;
      made.off = handed_on(node.op, a, b, c, made.value) + (rounds ? std::abs(made.value) : 0.0);
    }
    found.emplace(id, made);
  }
  const double off = found.at(root).off;
  return std::isfinite(off) ? off : 0.0;
}

}  // namespace ricochet::formula
