#include "ricochet/formula/jet.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>

namespace ricochet::formula {

/// Turns the nodes that the rates and the watched formulas are made of into rows and steps.
class JetBuilder {
 public:
  JetBuilder(const Graph& graph, int inputs, const std::vector<Jet::Rate>& rates,
             const std::vector<NodeId>& watched, Jet& jet)
      : graph_(graph), jet_(jet) {
    for (int slot = 0; slot < inputs; ++slot) add_row(0, false);
    for (const Jet::Rate& rate : rates) {
      const bool is_steady = graph.is_constant(rate.rate);
      degree_[static_cast<std::size_t>(rate.slot)] = is_steady ? 1 : Jet::kOrder;
      moves_[static_cast<std::size_t>(rate.slot)] = !is_steady;
    }
    std::vector<NodeId> roots;
    for (const Jet::Rate& rate : rates) roots.push_back(rate.rate);
    build(graph.reachable(roots));
    feeds_back_ = steps_.size();
    roots.insert(roots.end(), watched.begin(), watched.end());
    build(graph.reachable(roots));
    finish(rates, watched);
  }

 private:
  using Rule = Jet::Rule;
  using Step = Jet::Step;

  std::uint32_t add_row(int degree, bool moves, double value = 0.0) {
    jet_.initial_.resize(jet_.initial_.size() + Jet::kStride, 0.0);
    jet_.initial_[jet_.initial_.size() - Jet::kStride] = value;
    degree_.push_back(degree);
    moves_.push_back(moves);
    return static_cast<std::uint32_t>(degree_.size() - 1);
  }
  std::uint32_t number(double value) { return add_row(0, false, value); }

  /// A step whose result is a new row.
  std::uint32_t emit(Rule rule, std::uint32_t a, std::uint32_t b, std::uint32_t c = kNone) {
    Step step{.rule = rule, .a = a, .b = b == kNone ? a : b, .c = c == kNone ? a : c};
    const int da = degree_[a];
    const int db = degree_[step.b];
    int degree = da == 0 && db == 0 && degree_[step.c] == 0 ? 0 : Jet::kOrder;
    if (rule == Rule::Choose) degree = Jet::kOrder;
    if (rule == Rule::Add || rule == Rule::Subtract || rule == Rule::Negate)
      degree = std::max(da, db);
    if (rule == Rule::Multiply) degree = std::min(Jet::kOrder, da + db);
    const bool is_flag = rule == Rule::Side || rule == Rule::Flag || rule == Rule::Logic;
    const bool moves = moves_[a] || moves_[step.b] || moves_[step.c];
    if (rule == Rule::Multiply && (da == 0 || db == 0)) {
      step.rule = Rule::Scale;
      if (da != 0) std::swap(step.a, step.b);
    }
    step.a_degree = degree_[step.a];
    step.b_degree = degree_[step.b];
    step.out = add_row(is_flag ? 0 : degree, moves);
    steps_.push_back(step);
    return step.out;
  }
  /// The same with a companion row.
  std::uint32_t emit_pair(Rule rule, std::uint32_t a, std::uint32_t b = kNone) {
    const std::uint32_t out = emit(rule, a, b);
    steps_.back().second = add_row(degree_[out], moves_[out]);
    return out;
  }
  /// Both functions of one argument; `first` says which is wanted.
  std::uint32_t pair_of(Rule rule, std::uint32_t a, bool first) {
    const auto key = std::pair(rule, a);
    for (const auto& [known, rows] : pairs_) {
      if (known == key) return first ? rows.first : rows.second;
    }
    const std::uint32_t out = emit_pair(rule, a);
    const std::uint32_t second = steps_.back().second;
    pairs_.push_back({key, {out, second}});
    return first ? out : second;
  }

  /// The number of the switch on a row.
  std::uint32_t switch_on(std::uint32_t row, NodeId first, NodeId second) {
    const auto found = std::find(jet_.switches_.begin(), jet_.switches_.end(), row);
    if (found != jet_.switches_.end()) {
      return static_cast<std::uint32_t>(found - jet_.switches_.begin());
    }
    jet_.switches_.push_back(row);
    jet_.switch_nodes_.emplace_back(first, second);
    return static_cast<std::uint32_t>(jet_.switches_.size() - 1);
  }
  std::uint32_t emit_side(Rule rule, const Node& node, std::uint32_t row, std::uint32_t b,
                          std::uint32_t c, std::uint32_t second) {
    const std::uint32_t number_of_switch = switch_on(row, node.operands[0], node.operands[1]);
    const std::uint32_t out = emit(rule, row, b, c);
    steps_.back().a = number_of_switch;
    steps_.back().second = second;
    return out;
  }

  void build(const std::vector<NodeId>& order) {
    for (const NodeId id : order) {
      if (!rows_.contains(id)) rows_[id] = row_of(id);
    }
  }

  std::uint32_t row_of(NodeId id) {
    const Node& node = graph_[id];
    if (node.op == Op::Constant) return number(node.value);
    if (node.op == Op::Input) return static_cast<std::uint32_t>(node.input);
    const auto of = [&](int k) { return rows_.at(node.operands[static_cast<std::size_t>(k)]); };
    const std::uint32_t a = of(0);
    switch (node.op) {
      case Op::Negate: return emit(Rule::Negate, a, kNone);
      case Op::Add: return emit(Rule::Add, a, of(1));
      case Op::Subtract: return emit(Rule::Subtract, a, of(1));
      case Op::Multiply: return emit(Rule::Multiply, a, of(1));
      case Op::Divide: return emit(Rule::Divide, a, of(1));
      case Op::Ratio: return emit(Rule::Ratio, a, of(1));
      case Op::Sin: return pair_of(Rule::SinCos, a, true);
      case Op::Cos: return pair_of(Rule::SinCos, a, false);
      case Op::Sinh: return pair_of(Rule::SinhCosh, a, true);
      case Op::Cosh: return pair_of(Rule::SinhCosh, a, false);
      case Op::Tan: return emit_pair(Rule::Tan, a);
      case Op::Tanh: return emit_pair(Rule::Tanh, a);
      case Op::Exp: return emit(Rule::Exp, a, kNone);
      case Op::Log: return emit(Rule::Log, a, a);
      case Op::Sqrt: return root_of(node, a);
      default: return row_of_rest(node, a);
    }
  }

  /// sqrt(x*x) is abs(x).
  std::uint32_t root_of(const Node& node, std::uint32_t a) {
    const Node& inside = graph_[node.operands[0]];
    if (inside.op != Op::Multiply || inside.operands[0] != inside.operands[1]) {
      return emit(Rule::Sqrt, a, kNone);
    }
    Node absolute;
    absolute.op = Op::Abs;
    absolute.operands[0] = inside.operands[0];
    return row_of_rest(absolute, rows_.at(inside.operands[0]));
  }

  std::uint32_t square(std::uint32_t a) { return emit(Rule::Multiply, a, a); }

  std::uint32_t row_of_rest(const Node& node, std::uint32_t a) {
    const auto of = [&](int k) { return rows_.at(node.operands[static_cast<std::size_t>(k)]); };
    const auto root = [&] {  // of 1 - a^2
      return emit(Rule::Sqrt, emit(Rule::Subtract, number(1.0), square(a)), kNone);
    };
    switch (node.op) {
      case Op::Asin: return emit(Rule::Asin, a, root());
      case Op::Acos: return emit(Rule::Acos, a, emit(Rule::Negate, root(), kNone));
      case Op::Atan: return emit(Rule::Atan, a, emit(Rule::Add, number(1.0), square(a)));
      case Op::Hypot: {
        const std::uint32_t out = emit_pair(Rule::Hypot, a, of(1));
        jet_.kinks_.push_back(out);
        return out;
      }
      case Op::Atan2: return emit_pair(Rule::Atan2, a, of(1));
      case Op::Power:
        if (degree_[of(1)] == 0) return emit(Rule::Power, a, of(1));
        return emit(Rule::Exp, emit(Rule::Multiply, of(1), emit(Rule::Log, a, a)), kNone);
      case Op::Abs: return emit(Rule::Multiply, emit_side(Rule::Side, node, a, kNone, kNone, 0), a);
      case Op::Sign: return emit_side(Rule::Side, node, a, kNone, kNone, 0);
      case Op::Min:
      case Op::Max: {
        const bool is_max = node.op == Op::Max;
        const std::uint32_t difference = emit(Rule::Subtract, a, of(1));
        return emit_side(Rule::Choose, node, difference, is_max ? a : of(1), is_max ? of(1) : a, 0);
      }
      case Op::Less:
      case Op::LessEqual:
        return emit_side(Rule::Flag, node, emit(Rule::Subtract, a, of(1)), kNone, kNone, 1);
      case Op::Select: return emit(Rule::Pick, a, of(1), of(2));
      default: {
        const std::uint32_t out = emit(Rule::Logic, a, arity(node.op) > 1 ? of(1) : kNone);
        steps_.back().op = node.op;
        return out;
      }
    }
  }

  void finish(const std::vector<Jet::Rate>& rates, const std::vector<NodeId>& watched) {
    for (std::size_t k = 0; k < steps_.size(); ++k) {
      const bool moves = moves_[steps_[k].out];
      auto& part = !moves ? jet_.before_ : k < feeds_back_ ? jet_.cycle_ : jet_.after_;
      part.push_back(steps_[k]);
    }
    for (const Jet::Rate& rate : rates) {
      const auto slot = static_cast<std::size_t>(rate.slot);
      if (degree_[slot] == 1) {
        jet_.steady_.push_back(slot);
        jet_.steady_rates_.push_back(rows_.at(rate.rate));
      } else {
        jet_.rates_.emplace_back(slot, rows_.at(rate.rate));
      }
    }
    for (const NodeId node : watched) jet_.watched_.push_back(rows_.at(node));
  }

  static constexpr std::uint32_t kNone = ~0U;
  const Graph& graph_;
  Jet& jet_;
  std::unordered_map<NodeId, std::uint32_t> rows_;
  std::vector<int> degree_;  // by row: coefficients beyond are 0
  std::vector<bool> moves_;  // by row: made of states whose rate is no number
  std::vector<Step> steps_;
  std::size_t feeds_back_{0};  // steps that rates are made of
  std::vector<std::pair<std::pair<Rule, std::uint32_t>, std::pair<std::uint32_t, std::uint32_t>>>
      pairs_;
};

Jet::Jet(const Graph& graph, int inputs, const std::vector<Rate>& rates,
         const std::vector<NodeId>& watched) {
  JetBuilder(graph, inputs, rates, watched, *this);
}

void Jet::expand(double* rows, const signed char* sides) const {
  for (std::size_t k = 0; k < steady_.size(); ++k) {
    rows[steady_[k] * kStride + 1] = rows[steady_rates_[k] * kStride];
  }
  for (const Step& step : before_) extend(step, 0, kOrder, rows, sides);
  for (int k = 0; k <= kOrder; ++k) {
    for (const Step& step : cycle_) extend(step, k, k, rows, sides);
    if (k == kOrder) break;
    const double part = 1.0 / (k + 1);
    for (const auto& [state, rate] : rates_) {
      rows[state * kStride + static_cast<std::size_t>(k) + 1] =
          rows[rate * kStride + static_cast<std::size_t>(k)] * part;
    }
  }
  for (const Step& step : after_) extend(step, 0, kOrder, rows, sides);
}

double Jet::reach(const double* rows, int count, double accuracy) {
  constexpr double kAnyTime = std::numeric_limits<double>::infinity();
  constexpr int kMostLeftOut = 7;
  const double* const begin = rows;
  double sizes[3] = {0.0, 0.0, 0.0};
  double ends[kMostLeftOut + 2] = {};
  for (int i = 0; i < count; ++i, rows += kStride) {
    for (int k = 0; k < 3; ++k) sizes[k] = std::max(sizes[k], std::abs(rows[k]));
    for (int k = 0; k < kMostLeftOut + 2; ++k) {
      ends[k] = std::max(ends[k], std::abs(rows[kOrder - k]));
    }
    if (!std::isfinite(rows[kOrder])) return -kAnyTime;
  }
  int low = 0;
  for (; low < 3 && sizes[0] + sizes[1] + sizes[2] == 0.0; ++low) {  // a gap that has just opened
    const double* row = begin;
    for (int i = 0; i < count; ++i, row += kStride) {
      sizes[2] = std::max(sizes[2], std::abs(row[low + 3]));
    }
  }
  if (sizes[2] == 0.0 && sizes[0] + sizes[1] == 0.0) return kAnyTime;
  double logs[3];
  for (int k = 0; k < 3; ++k) logs[k] = std::log2(accuracy * sizes[k]);
  double shortest = kAnyTime;
  int last = 1;
  while (last <= kMostLeftOut && ends[last] == 0.0 && ends[last - 1] == 0.0) ++last;
  for (int end = last - 1; end <= last; ++end) {
    if (ends[end] == 0.0) continue;
    const double log = std::log2(ends[end]);
    double longest = -kAnyTime;
    for (int k = 0; k < 3; ++k)
      longest = std::max(longest, (logs[k] - log) / (kOrder - end - k - low));
    shortest = std::min(shortest, longest);
  }
  return shortest;
}

/// Coefficients `first` to `last` of the row `step.out`; all lower ones are there.
void Jet::extend(const Step& step, int first, int last, double* rows, const signed char* sides) {
  double* const out = rows + step.out * kStride;
  const double* const a = rows + step.a * kStride;
  const double* const b = rows + step.b * kStride;
  switch (step.rule) {
    case Rule::Add:
      for (int k = first; k <= last; ++k) out[k] = a[k] + b[k];
      return;
    case Rule::Subtract:
      for (int k = first; k <= last; ++k) out[k] = a[k] - b[k];
      return;
    case Rule::Negate:
      for (int k = first; k <= last; ++k) out[k] = -a[k];
      return;
    case Rule::Scale:
      for (int k = first; k <= last; ++k) out[k] = a[0] * b[k];
      return;
    case Rule::Multiply:
      for (int k = first; k <= last; ++k) {
        double sum = 0.0;
        const int end = std::min(k, step.a_degree);
        for (int j = std::max(0, k - step.b_degree); j <= end; ++j) sum += a[j] * b[k - j];
        out[k] = sum;
      }
      return;
    case Rule::Ratio:
    case Rule::Divide:
      for (int k = first; k <= last; ++k) {
        double sum = a[k];
        for (int j = 1; j <= std::min(k, step.b_degree); ++j) sum -= b[j] * out[k - j];
        out[k] = step.rule == Rule::Ratio && b[0] == 0.0 ? 0.0 : sum / b[0];
      }
      return;
    case Rule::Sqrt:
      for (int k = first; k <= last; ++k) {
        double sum = a[k];
        for (int j = 1; j < k; ++j) sum -= out[j] * out[k - j];
        out[k] = k == 0 ? std::sqrt(sum) : sum / (2.0 * out[0]);
      }
      return;
    case Rule::SinCos:
    case Rule::SinhCosh:
    case Rule::Tan:
    case Rule::Tanh:
    case Rule::Atan2: return extend_pair(step, first, last, rows);
    case Rule::Hypot: return extend_hypot(step, first, last, rows);
    case Rule::Side:
    case Rule::Flag:
    case Rule::Logic:
    case Rule::Pick:
    case Rule::Choose: return extend_choice(step, first, last, rows, sides);
    default: return extend_function(step, first, last, rows);
  }
}

/// out' = out a' (Exp); out' = a'/b (Log, Asin, Acos, Atan); a out' = b a' out (Power).
void Jet::extend_function(const Step& step, int first, int last, double* rows) {
  double* const out = rows + step.out * kStride;
  const double* const a = rows + step.a * kStride;
  const double* const b = rows + step.b * kStride;
  constexpr auto kLeading = [](Rule rule, double x, double y) {
    switch (rule) {
      case Rule::Exp: return std::exp(x);
      case Rule::Log: return std::log(x);
      case Rule::Asin: return std::asin(x);
      case Rule::Acos: return std::acos(x);
      case Rule::Atan: return std::atan(x);
      default: return std::pow(x, y);
    }
  };
  for (int k = first; k <= last; ++k) {
    if (k == 0) {
      out[0] = kLeading(step.rule, a[0], b[0]);
      continue;
    }
    double sum = 0.0;
    if (step.rule == Rule::Exp) {
      for (int j = 1; j <= std::min(k, step.a_degree); ++j) sum += j * a[j] * out[k - j];
      out[k] = sum / k;
    } else if (step.rule == Rule::Power) {
      for (int j = 1; j <= std::min(k, step.a_degree); ++j) {
        sum += (b[0] * j - (k - j)) * a[j] * out[k - j];
      }
      out[k] = sum / (k * a[0]);
    } else {
      for (int j = 1; j < k; ++j) sum += j * out[j] * b[k - j];
      out[k] = (a[k] - sum / k) / b[0];
    }
  }
}

/// Functions that need a companion.
void Jet::extend_pair(const Step& step, int first, int last, double* rows) {
  double* const out = rows + step.out * kStride;
  double* const other = rows + step.second * kStride;
  const double* const a = rows + step.a * kStride;
  const double* const b = rows + step.b * kStride;
  const bool is_angle = step.rule == Rule::SinCos;
  const bool is_pair = is_angle || step.rule == Rule::SinhCosh;
  for (int k = first; k <= std::min(last, kOrder); ++k) {  // never more, which compilers must see
    double sum = 0.0;
    double companion = 0.0;
    const int end = std::min(k, step.a_degree);
    if (is_pair) {
      for (int j = 1; j <= end; ++j) {
        sum += j * a[j] * other[k - j];
        companion += j * a[j] * out[k - j];
      }
      out[k] = k > 0 ? sum / k : is_angle ? std::sin(a[0]) : std::sinh(a[0]);
      other[k] = k > 0 ? (is_angle ? -companion : companion) / k
                       : (is_angle ? std::cos(a[0]) : std::cosh(a[0]));
    } else if (step.rule == Rule::Atan2) {
      for (int j = 0; j <= k; ++j) companion += a[j] * a[k - j] + b[j] * b[k - j];
      other[k] = companion;
      for (int j = 1; j <= k; ++j) sum += j * (a[j] * b[k - j] - b[j] * a[k - j]);
      for (int j = 1; j < k; ++j) sum -= j * out[j] * other[k - j];
      out[k] = k > 0 ? sum / (k * other[0]) : std::atan2(a[0], b[0]);
    } else {
      const double sign = step.rule == Rule::Tan ? 1.0 : -1.0;
      for (int j = 1; j <= end; ++j) sum += j * a[j] * other[k - j];
      out[k] = k > 0 ? sum / k : sign > 0.0 ? std::tan(a[0]) : std::tanh(a[0]);
      for (int j = 0; j <= k; ++j) companion += out[j] * out[k - j];
      other[k] = (k == 0 ? 1.0 : 0.0) + sign * companion;
    }
  }
}

void Jet::extend_hypot(const Step& step, int first, int last, double* rows) {
  double* const out = rows + step.out * kStride;
  double* const square = rows + step.second * kStride;
  const double* const a = rows + step.a * kStride;
  const double* const b = rows + step.b * kStride;
  const auto is_zero = [](const double* row, int k) {
    return std::all_of(row, row + k + 1, [](double c) { return c == 0.0; });
  };
  for (int k = first; k <= last; ++k) {
    double sum = 0.0;
    for (int j = 0; j <= k; ++j) sum += a[j] * a[k - j] + b[j] * b[k - j];
    square[k] = sum;
    if (k == 0) {
      out[0] = std::hypot(a[0], b[0]);
    } else if (is_zero(a, k) || is_zero(b, k)) {
      const double* const other = is_zero(a, k) ? b : a;
      const bool turns = std::abs(other[0]) <= 1e-12 * std::abs(other[1]);
      out[k] = (turns ? other[1] : other[0]) < 0.0 ? -other[k] : other[k];
    } else {
      for (int j = 1; j < k; ++j) sum -= out[j] * out[k - j];
      out[k] = sum / (2.0 * out[0]);
    }
  }
}

void Jet::extend_choice(const Step& step, int first, int last, double* rows,
                        const signed char* sides) {
  double* const out = rows + step.out * kStride;
  const double* const a = rows + step.a * kStride;
  const double* const b = rows + step.b * kStride;
  const double* const c = rows + step.c * kStride;
  for (int k = first; k <= last; ++k) {
    switch (step.rule) {
      case Rule::Side: out[k] = k > 0 ? 0.0 : static_cast<double>(sides[step.a]); break;
      case Rule::Flag:
        out[k] = k == 0 && (sides[step.a] > 0) == (step.second == 0) ? 1.0 : 0.0;
        break;
      case Rule::Logic: out[k] = k > 0 ? 0.0 : apply(step.op, a[0], b[0], 0.0); break;
      case Rule::Pick: out[k] = a[0] != 0.0 ? b[k] : c[k]; break;
      default: out[k] = sides[step.a] > 0 ? b[k] : c[k]; break;
    }
  }
}

}  // namespace ricochet::formula
