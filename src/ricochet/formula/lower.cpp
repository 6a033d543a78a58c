#include "ricochet/formula/lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <numbers>
#include <utility>

#include "ricochet/base/text.h"

namespace ricochet::formula {
namespace {

struct Function {
  Op op;
  int least;  // number of arguments
  int most;
};

constexpr int kMany = 1 << 20;

const std::map<std::string, Function>& functions() {
  static const std::map<std::string, Function> table = {
      {"sin", {Op::Sin, 1, 1}},     {"cos", {Op::Cos, 1, 1}},     {"tan", {Op::Tan, 1, 1}},
      {"asin", {Op::Asin, 1, 1}},   {"acos", {Op::Acos, 1, 1}},   {"atan", {Op::Atan, 1, 1}},
      {"atan2", {Op::Atan2, 2, 2}}, {"sinh", {Op::Sinh, 1, 1}},   {"cosh", {Op::Cosh, 1, 1}},
      {"tanh", {Op::Tanh, 1, 1}},   {"exp", {Op::Exp, 1, 1}},     {"log", {Op::Log, 1, 1}},
      {"sqrt", {Op::Sqrt, 1, 1}},   {"abs", {Op::Abs, 1, 1}},     {"sign", {Op::Sign, 1, 1}},
      {"min", {Op::Min, 2, kMany}}, {"max", {Op::Max, 2, kMany}}, {"hypot", {Op::Hypot, 2, kMany}},
      {"if", {Op::Select, 3, 3}},
  };
  return table;
}

class Lowering {
 public:
  Lowering(const Scope& scope, Graph& graph, const Locals& locals)
      : scope_(scope), graph_(graph), locals_(locals) {}

  NodeId whole(const Syntax& s) {
    try {
      return visit(s);
    } catch (const GraphTooLarge& error) {
      throw FormulaError(error.what(), s.extent,
                         "shorten the sums, or split the system into smaller ones");
    }
  }

  std::vector<Comparison> comparisons(const Syntax& s) {
    std::vector<Comparison> all;
    for (std::size_t k = 0; k < s.operators.size(); ++k) {
      all.push_back({whole(s.children[k]), s.operators[k], whole(s.children[k + 1])});
    }
    return all;
  }

  /// `indices` grows by those of sums while these are looked at.
  void check_names(const Syntax& s, std::vector<std::string>& indices) {
    const bool is_sum = s.kind == Syntax::Kind::Call && s.text == "sum" && s.children.size() == 4;
    if (is_sum) indices.push_back(s.children[0].text);
    const bool is_index = std::find(indices.begin(), indices.end(), s.text) != indices.end();
    const bool is_known = scope_.has(s.text) || s.text == "pi" || (is_index && s.primes == 0);
    if (s.kind == Syntax::Kind::Name && !is_known) unknown(s, s.text);
    for (const Syntax& child : s.children) check_names(child, indices);
    if (is_sum) indices.pop_back();
  }

  NodeId constant(const Syntax& s) {
    const NodeId node = whole(s);
    if (graph_.is_constant(node)) return node;
    throw FormulaError("a number is needed here, not a formula of t or the coordinates", s.extent,
                       "use numbers and parameters only");
  }

 private:
  NodeId visit(const Syntax& s) {
    count_work(s);
    const NodeId node = visit_kind(s);
    if (graph_.is_constant(node) && !std::isfinite(graph_[node].value)) {
      throw FormulaError(fmt::format("the value of this part is {}", graph_[node].value), s.extent,
                         "check divisions by zero and the arguments of sqrt, log, asin, acos");
    }
    return node;
  }

  NodeId visit_kind(const Syntax& s) {
    switch (s.kind) {
      case Syntax::Kind::Number: return graph_.constant(s.value);
      case Syntax::Kind::Name: return name(s);
      case Syntax::Kind::Call: return call(s);
      case Syntax::Kind::Unary: return unary(s);
      case Syntax::Kind::Binary: return binary(s);
      case Syntax::Kind::Relation: return relation(s);
    }
    return -1;
  }

  NodeId unary(const Syntax& s) {
    const NodeId a = visit(s.children[0]);
    if (s.text == "+") return a;
    return graph_.make(s.text == "-" ? Op::Negate : Op::Not, a);
  }

  NodeId binary(const Syntax& s) {
    const NodeId a = visit(s.children[0]);
    const NodeId b = visit(s.children[1]);
    if (s.text == "^") return graph_.power(a, b);
    static const std::map<std::string, Op> table = {{"+", Op::Add},      {"-", Op::Subtract},
                                                    {"*", Op::Multiply}, {"/", Op::Divide},
                                                    {"and", Op::And},    {"or", Op::Or}};
    return graph_.make(table.at(s.text), a, b);
  }

  /// A chain a <= b <= c holds when both of its comparisons do.
  NodeId relation(const Syntax& s) {
    NodeId holds = graph_.constant(1.0);
    NodeId left = visit(s.children[0]);
    for (std::size_t k = 0; k < s.operators.size(); ++k) {
      const NodeId right = visit(s.children[k + 1]);
      const NodeId one = compare(s.operators[k], left, right);
      holds = k == 0 ? one : graph_.make(Op::And, holds, one);
      left = right;
    }
    return holds;
  }

  NodeId compare(const std::string& op, NodeId a, NodeId b) {
    if (op == "<") return graph_.make(Op::Less, a, b);
    if (op == "<=") return graph_.make(Op::LessEqual, a, b);
    if (op == ">") return graph_.make(Op::Less, b, a);
    if (op == ">=") return graph_.make(Op::LessEqual, b, a);
    const NodeId equal = graph_.make(Op::Equal, a, b);
    return op == "==" ? equal : graph_.make(Op::Not, equal);
  }

  NodeId name(const Syntax& s) {
    const std::string prime = s.primes > 0 ? "'" : "";
    const std::string full = s.suffix.empty() ? s.text + prime : s.text + "[]." + s.suffix + prime;
    if (!s.children.empty()) return indexed_name(s, full);
    if (s.primes == 0) {
      for (auto local = locals_.rbegin(); local != locals_.rend(); ++local) {
        if (local->first == s.text) return graph_.constant(local->second);
      }
      if (s.text == "pi") return graph_.constant(std::numbers::pi);
    }
    if (const std::optional<NodeId> found = scope_.find(full)) return *found;
    if (scope_.find_family(full) != nullptr || scope_.find_indexed(full) != nullptr) {
      throw FormulaError(fmt::format("'{}' needs an index", full), s.extent,
                         fmt::format("write {}[1], or sum(i, 1, N, {}[i])", full, full));
    }
    unknown(s, full);
  }

  NodeId indexed_name(const Syntax& s, const std::string& full) {
    if (const Definition* definition = scope_.find_indexed(full)) return instance(s, *definition);
    if (s.children.size() > 1) return member(s, full);
    const Scope::Family* family = scope_.find_family(full);
    if (family == nullptr) {
      if (scope_.find(full)) {
        throw FormulaError(fmt::format("'{}' has no index", full), s.extent);
      }
      unknown(s, full);
    }
    const int index = whole_number(s.children[0], "an index");
    const int last = family->first + static_cast<int>(family->nodes.size()) - 1;
    if (index < family->first || index > last) {
      throw FormulaError(
          fmt::format("the index {} is outside {}", index, describe_family(full, *family)),
          s.extent);
    }
    return family->nodes[static_cast<std::size_t>(index - family->first)];
  }

  std::string with_indices(const Syntax& s) {
    std::string name = s.text;
    for (const Syntax& index : s.children) {
      name += fmt::format("[{}]", whole_number(index, "an index"));
    }
    return name;
  }

  /// pair[1][2].gap, which is kept under that name.
  NodeId member(const Syntax& s, const std::string& full) {
    std::string name = with_indices(s) + (s.suffix.empty() ? "" : "." + s.suffix);
    if (s.primes > 0) name += "'";
    if (const std::optional<NodeId> found = scope_.find(name)) return *found;
    if (scope_.has(full)) {
      throw FormulaError(fmt::format("'{}' has no {} indices", s.text, s.children.size()),
                         s.extent);
    }
    unknown(s, name);
  }

  /// d[3] of d[i] = ...: the formula with 3 for i.
  NodeId instance(const Syntax& s, const Definition& definition) {
    if (s.children.size() != definition.indices.size()) {
      throw FormulaError(fmt::format("'{}' has {} indices, not {}", s.text,
                                     definition.indices.size(), s.children.size()),
                         s.extent);
    }
    Locals own;
    for (std::size_t k = 0; k < s.children.size(); ++k) {
      own.emplace_back(definition.indices[k], whole_number(s.children[k], "an index"));
    }
    const std::string name = with_indices(s);
    own.swap(locals_);
    try {
      const NodeId node = visit(definition.body);
      own.swap(locals_);
      return node;
    } catch (const FormulaError& error) {
      throw FormulaError(fmt::format("in {}: {}", name, error.what()), s.extent, error.remedy());
    }
  }

  /// x' where a name such as xdot, vx or d_x may mean it; else empty.
  static std::string velocity_meant(const std::string& name,
                                    const std::vector<std::string>& known) {
    for (const std::string& other : known) {
      if (!other.ends_with('\'')) continue;
      const std::string bare = other.substr(0, other.size() - 1);
      for (const char* form : {"{}dot", "{}_dot", "v{}", "v_{}", "d{}", "d_{}", "dot_{}", "{}p"}) {
        if (name == fmt::format(fmt::runtime(form), bare)) return other;
      }
    }
    return "";
  }

  [[noreturn]] void unknown(const Syntax& s, const std::string& full) {
    if (const std::optional<std::string> why = scope_.why_forbidden(full)) {
      throw FormulaError(fmt::format("'{}' cannot be used here", full), s.extent, *why);
    }
    if (is_function(s.text)) {
      throw FormulaError(fmt::format("the function {} needs arguments in brackets", s.text),
                         s.extent);
    }
    const std::vector<std::string> known = scope_.names();
    std::string remedy;
    const std::string velocity = velocity_meant(full, known);
    if (!velocity.empty()) {
      remedy = fmt::format("write {} for the velocity; ", velocity);
    } else if (const std::optional<std::string> near = base::nearest_name(full, known)) {
      remedy = fmt::format("did you mean '{}'? ", *near);
    }
    remedy += known.empty() ? "no names are known here, only numbers and pi"
                            : fmt::format("known here: {}", base::list_names(known));
    throw FormulaError(fmt::format("unknown name '{}'", full), s.extent, remedy);
  }

  NodeId call(const Syntax& s) {
    if (s.text == "sum") return sum(s);
    const auto found = functions().find(s.text);
    if (found == functions().end()) unknown_function(s);
    const Function& function = found->second;
    const int given = static_cast<int>(s.children.size());
    if (given < function.least || given > function.most) {
      throw FormulaError(fmt::format("{} takes {}{} argument{}, not {}", s.text,
                                     function.most == kMany ? "at least " : "", function.least,
                                     function.least == 1 ? "" : "s", given),
                         s.extent);
    }
    if (function.op == Op::Select) return select(s);
    NodeId value = visit(s.children[0]);
    if (given == 1) return graph_.make(function.op, value);
    for (int k = 1; k < given; ++k) {
      value = graph_.make(function.op, value, visit(s.children[static_cast<std::size_t>(k)]));
    }
    return value;
  }

  /// With a constant condition only the branch taken is looked at: the other may be 1/0.
  NodeId select(const Syntax& s) {
    const NodeId condition = visit(s.children[0]);
    if (graph_.is_constant(condition)) {
      return visit(s.children[graph_[condition].value != 0.0 ? 1 : 2]);
    }
    const NodeId yes = visit(s.children[1]);
    return graph_.make(Op::Select, condition, yes, visit(s.children[2]));
  }

  /// sum(i, first, last, term); empty when last < first.
  NodeId sum(const Syntax& s) {
    const bool shaped = s.children.size() == 4 && s.children[0].kind == Syntax::Kind::Name &&
                        s.children[0].children.empty() && s.children[0].primes == 0;
    if (!shaped) {
      throw FormulaError("a sum is written sum(i, first, last, term)", s.extent);
    }
    check_index_name(s.children[0]);
    const int first = whole_number(s.children[1], "the first index");
    const int last = whole_number(s.children[2], "the last index");
    constexpr double kMostTerms = 1e6;
    if (static_cast<double>(last) - first >= kMostTerms) {
      throw FormulaError(fmt::format("the sum has more than {:.0f} terms", kMostTerms), s.extent,
                         "shorten the range of the sum");
    }
    locals_.emplace_back(s.children[0].text, 0.0);
    NodeId total = graph_.constant(0.0);
    for (int i = first; i <= last; ++i) {
      locals_.back().second = i;
      total = graph_.add(total, visit(s.children[3]));
    }
    locals_.pop_back();
    return total;
  }

  /// An index must not hide another meaning of its name.
  void check_index_name(const Syntax& s) const {
    const std::string& name = s.text;
    const auto is_it = [&](const auto& local) { return local.first == name; };
    const bool taken =
        is_reserved(name) || scope_.has(name) || std::any_of(locals_.begin(), locals_.end(), is_it);
    if (!taken) return;
    throw FormulaError(
        fmt::format("the index of a sum needs a new name; '{}' stands for something else already",
                    name),
        s.extent, "choose another letter for the index");
  }

  int whole_number(const Syntax& s, std::string_view what) {
    const NodeId node = visit(s);
    if (!graph_.is_constant(node)) {
      throw FormulaError(fmt::format("{} must be a number or a parameter", what), s.extent);
    }
    graph_.pin(node);
    const double value = graph_[node].value;
    if (value != std::floor(value) || std::abs(value) > 1e9) {
      throw FormulaError(fmt::format("{} must be a whole number, not {}", what, value), s.extent);
    }
    return static_cast<int>(value);
  }

  [[noreturn]] void unknown_function(const Syntax& s) {
    const std::vector<std::string> known = function_names();
    std::string remedy;
    if (scope_.find(s.text)) {
      remedy = fmt::format("'{}' is a name; write {}*(...) for a product", s.text, s.text);
    } else if (const std::optional<std::string> near = base::nearest_name(s.text, known)) {
      remedy = fmt::format("did you mean {}?", *near);
    } else {
      remedy = fmt::format("known functions: {}", base::list_names(known, 30));
    }
    throw FormulaError(fmt::format("unknown function '{}'", s.text), s.extent, remedy);
  }

  void count_work(const Syntax& s) {
    constexpr std::size_t kMostWork = 20'000'000;
    if (++work_ > kMostWork) {
      throw FormulaError(fmt::format("writing out the sums takes more than {} terms", kMostWork),
                         s.extent, "shorten the ranges of the sums");
    }
  }

  const Scope& scope_;
  Graph& graph_;
  Locals locals_;  // given, then indices of the sums being written out
  std::size_t work_{0};
};

}  // namespace

NodeId lower(const Syntax& syntax, const Scope& scope, Graph& graph, const Locals& locals) {
  return Lowering(scope, graph, locals).whole(syntax);
}

std::vector<Comparison> lower_relation(const Syntax& syntax, const Scope& scope, Graph& graph,
                                       const Locals& locals) {
  return Lowering(scope, graph, locals).comparisons(syntax);
}

NodeId lower_constant(const Syntax& syntax, const Scope& scope, Graph& graph,
                      const Locals& locals) {
  return Lowering(scope, graph, locals).constant(syntax);
}

double lower_number(const Syntax& syntax, const Scope& scope, Graph& graph, const Locals& locals) {
  const NodeId node = lower_constant(syntax, scope, graph, locals);
  graph.pin(node);
  return graph[node].value;
}

void check_names(const Syntax& syntax, const Scope& scope,
                 const std::vector<std::string>& indices) {
  Graph unused;
  std::vector<std::string> known = indices;
  Lowering(scope, unused, {}).check_names(syntax, known);
}

bool is_function(const std::string& name) { return name == "sum" || functions().contains(name); }

std::vector<std::string> function_names() {
  std::vector<std::string> names;
  for (const auto& [name, function] : functions()) names.push_back(name);
  names.emplace_back("sum");
  return names;
}

}  // namespace ricochet::formula
