#include "ricochet/formula/dimension.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "ricochet/base/text.h"

namespace ricochet::formula {
namespace {

struct Named {
  std::string_view name;
  Unit unit;
};

Unit of(double m, double kg, double s, double size = 1.0, double K = 0.0, double A = 0.0) {
  return {Dimension{{m, kg, s, K, A}}, size};
}

/// Units that take prefixes, and those that do not.
const std::vector<Named>& units_with_prefix() {
  static const std::vector<Named> units = {
      {"m", of(1, 0, 0)},           {"g", of(0, 1, 0, 1e-3)},
      {"s", of(0, 0, 1)},           {"N", of(1, 1, -2)},
      {"J", of(2, 1, -2)},          {"W", of(2, 1, -3)},
      {"Pa", of(-1, 1, -2)},        {"Hz", of(0, 0, -1)},
      {"K", of(0, 0, 0, 1.0, 1.0)}, {"A", of(0, 0, 0, 1.0, 0.0, 1.0)},
      {"rad", of(0, 0, 0)},         {"l", of(3, 0, 0, 1e-3)}};
  return units;
}
const std::vector<Named>& units_alone() {
  constexpr double kTurn = 2.0 * std::numbers::pi;
  static const std::vector<Named> units = {{"1", of(0, 0, 0)},
                                           {"deg", of(0, 0, 0, kTurn / 360.0)},
                                           {"°", of(0, 0, 0, kTurn / 360.0)},
                                           {"turn", of(0, 0, 0, kTurn)},
                                           {"rpm", of(0, 0, -1, kTurn / 60.0)},
                                           {"%", of(0, 0, 0, 0.01)},
                                           {"min", of(0, 0, 1, 60.0)},
                                           {"h", of(0, 0, 1, 3600.0)},
                                           {"t", of(0, 1, 0, 1000.0)},
                                           {"in", of(1, 0, 0, 0.0254)},
                                           {"ft", of(1, 0, 0, 0.3048)}};
  return units;
}

std::optional<Unit> find(const std::vector<Named>& units, std::string_view name) {
  for (const Named& one : units) {
    if (one.name == name) return one.unit;
  }
  return std::nullopt;
}

std::optional<Unit> unit_named(std::string_view name) {
  if (const auto found = find(units_alone(), name)) return found;
  if (const auto found = find(units_with_prefix(), name)) return found;
  constexpr std::array<std::pair<std::string_view, double>, 10> kPrefixes = {{{"n", 1e-9},
                                                                              {"u", 1e-6},
                                                                              {"µ", 1e-6},
                                                                              {"μ", 1e-6},
                                                                              {"m", 1e-3},
                                                                              {"c", 1e-2},
                                                                              {"d", 1e-1},
                                                                              {"k", 1e3},
                                                                              {"M", 1e6},
                                                                              {"G", 1e9}}};
  for (const auto& [prefix, size] : kPrefixes) {
    if (!name.starts_with(prefix)) continue;
    if (auto found = find(units_with_prefix(), name.substr(prefix.size()))) {
      // As a quotient, so that 5 mm is 0.005 to the last bit.
      found->size = size < 1.0 ? found->size / std::round(1.0 / size) : found->size * size;
      return found;
    }
  }
  return std::nullopt;
}

/// Walks through a formula.
class Dimensioner {
 public:
  explicit Dimensioner(const Dimensions& known) : known_(known) {}

  Dimension visit(const Syntax& s) {
    switch (s.kind) {
      case Syntax::Kind::Number: return {{}, s.value == 0.0};
      case Syntax::Kind::Name: return name(s);
      case Syntax::Kind::Call: return call(s);
      case Syntax::Kind::Unary: return visit(s.children[0]);
      case Syntax::Kind::Binary: return binary(s);
      case Syntax::Kind::Relation: break;
    }
    Dimension first = visit(s.children[0]);
    for (std::size_t k = 1; k < s.children.size(); ++k) first = same(s, first, s.children[k], "");
    return {};
  }

 private:
  Dimension name(const Syntax& s) {
    if (const auto found = known_.names.find(s.text); found != known_.names.end()) {
      return s.primes > 0 ? found->second.times(Dimension{{0, 0, 1}}, -1.0) : found->second;
    }
    const auto definition = known_.definitions.find(s.text);
    if (definition == known_.definitions.end()) {
      const std::size_t dot = s.text.rfind('.');
      return dot == std::string::npos ? Dimension{} : figure(s.text, dot);  // else an index
    }
    try {
      return visit(definition->second.body);
    } catch (const FormulaError& error) {
      throw FormulaError(fmt::format("in {}: {}", s.text, error.what()), s.extent, error.remedy());
    }
  }

  /// Of a column or a figure of the summary; what is not known goes with everything.
  Dimension figure(const std::string& name, std::size_t dot) const {
    const std::string_view ending = std::string_view(name).substr(dot);
    if (name.starts_with("energy.") || ending == ".dissipated") return {{2, 1, -2}};
    if (ending == ".stick_time" || ending == ".slip_time") return {{0, 0, 1}};
    for (const char* number : {".shocks", ".tangential_shocks", ".state"}) {
      if (ending == number) return {};
    }
    if (name.starts_with("residual.")) return {};
    const auto gap = known_.gaps.find(name.substr(0, name.find_first_of(".[")));
    return ending == ".gap" && gap != known_.gaps.end() ? gap->second : Dimension{{}, true};
  }

  /// The dimension of two things that must have the same.
  Dimension same(const Syntax& whole, const Dimension& left, const Syntax& right,
                 const std::string& verb) {
    const Dimension other = visit(right);
    if (!left.fits(other)) {
      const bool has_number = left.is_number() || other.is_number();
      throw FormulaError(fmt::format("{} and {} cannot be {}", left.text(), other.text(),
                                     verb.empty() ? "compared" : verb),
                         whole.extent,
                         has_number ? "name the number as a parameter with a unit, as d = \"20 cm\""
                                    : "check the units of what is written here");
    }
    return left.is_any ? other : left;
  }

  Dimension binary(const Syntax& s) {
    const Dimension left = visit(s.children[0]);
    if (s.text == "and" || s.text == "or") return visit(s.children[1]), Dimension{};
    if (s.text == "+") return same(s, left, s.children[1], "added");
    if (s.text == "-") return same(s, left, s.children[1], "subtracted");
    const Dimension right = visit(s.children[1]);
    if (s.text == "*") return left.times(right);
    if (s.text == "/") return left.times(right, -1.0);
    need_number(s.children[1], right, "an exponent");
    if (left.is_any || left.is_number()) return left;
    return left.to_the(exponent(s.children[1]));
  }

  static double exponent(const Syntax& s) {
    const bool is_negative = s.kind == Syntax::Kind::Unary && s.text == "-";
    const Syntax& bare = is_negative ? s.children[0] : s;
    double value = bare.value;
    if (bare.kind == Syntax::Kind::Binary && bare.text == "/") {
      value = bare.children[0].value / bare.children[1].value;
    } else if (bare.kind != Syntax::Kind::Number) {
      throw FormulaError("the power of something with a unit must be a number", s.extent,
                         "write the number itself, as in x^2");
    }
    return is_negative ? -value : value;
  }

  static void need_number(const Syntax& s, const Dimension& found, const std::string& what) {
    if (found.is_any || found.is_number()) return;
    throw FormulaError(fmt::format("{} must be a number, not {}", what, found.text()), s.extent,
                       "divide by a length, a time, or what else makes it a number");
  }

  Dimension call(const Syntax& s) {
    const auto child = [&](std::size_t k) -> const Syntax& { return s.children[k]; };
    if (s.text == "sum") return visit(child(s.children.size() - 1));
    if (s.text == "if") {
      (void)visit(child(0));
      return same(s, visit(child(1)), child(2), "branches of one formula");
    }
    if (s.children.empty()) return {};
    Dimension first = visit(child(0));
    if (s.text == "sqrt") return first.to_the(0.5);
    if (s.text == "abs") return first;
    if (s.text == "sign") return {};
    if (s.text == "min" || s.text == "max" || s.text == "hypot" || s.text == "atan2") {
      for (std::size_t k = 1; k < s.children.size(); ++k) first = same(s, first, child(k), "");
      return s.text == "atan2" ? Dimension{} : first;
    }
    need_number(child(0), first, "what " + s.text + " is taken of");
    return {};
  }

  const Dimensions& known_;
};

}  // namespace

Dimension Dimension::times(const Dimension& other, double power) const {
  Dimension result;
  result.is_any = is_any || other.is_any;
  for (std::size_t k = 0; k < powers.size(); ++k) {
    result.powers[k] = powers[k] + power * other.powers[k];
  }
  return result;
}

std::string Dimension::text() const {
  if (is_any || is_number()) return "a number";
  constexpr std::array<std::string_view, 5> kNames = {"m", "kg", "s", "K", "A"};
  std::string up;
  std::string down;
  for (const std::size_t k :
       {std::size_t{1}, std::size_t{0}, std::size_t{2}, std::size_t{3}, std::size_t{4}}) {
    const double power = powers[k];
    if (power == 0.0) continue;
    std::string& side = power > 0.0 ? up : down;
    if (!side.empty()) side += ' ';
    side += kNames[k];
    if (std::abs(power) != 1.0) side += fmt::format("^{:g}", std::abs(power));
  }
  if (down.empty()) return up;
  const bool many = down.find(' ') != std::string::npos;
  return fmt::format("{}/{}", up.empty() ? "1" : up, many ? "(" + down + ")" : down);
}

std::optional<Unit> parse_unit(std::string_view text) {
  Unit unit;
  double side = 1.0;  // -1 after a stroke
  std::size_t at = 0;
  bool any = false;
  while (at < text.size()) {
    if (text[at] == ' ' || text[at] == '*' || text[at] == '(' || text[at] == ')') {
      ++at;
      continue;
    }
    if (text[at] == '/') {
      side = -1.0;
      ++at;
      continue;
    }
    const std::size_t end = std::min(text.find_first_of(" */^()", at), text.size());
    const std::optional<Unit> one = unit_named(text.substr(at, end - at));
    if (!one) return std::nullopt;
    double power = 1.0;
    at = end;
    if (at < text.size() && text[at] == '^') {
      const std::size_t stop = std::min(text.find_first_of(" */()", at), text.size());
      const std::optional<double> number = base::parse_number(text.substr(at + 1, stop - at - 1));
      if (!number) return std::nullopt;
      power = *number;
      at = stop;
    }
    unit.dimension = unit.dimension.times(one->dimension, side * power);
    unit.size *= std::pow(one->size, side * power);
    any = true;
  }
  return any ? std::optional(unit) : std::nullopt;
}

std::optional<std::pair<double, std::string>> split_quantity(const std::string& text) {
  const std::string whole = base::trimmed(text);
  const std::size_t blank = whole.find(' ');
  if (blank == std::string::npos) return std::nullopt;
  const std::optional<double> number = base::parse_number(whole.substr(0, blank));
  const std::string rest = base::trimmed(whole.substr(blank));
  constexpr std::string_view kOperators = "+-*/^<>=,()";
  if (!number || rest.empty() || (kOperators.find(rest[0]) != std::string_view::npos)) {
    return std::nullopt;
  }
  for (const char* word : {"and", "or", "in"}) {
    if (rest.starts_with(std::string(word) + " ")) return std::nullopt;
  }
  return std::pair(*number, rest);
}

Dimension dimension_of(const Syntax& syntax, const Dimensions& known) {
  return Dimensioner(known).visit(syntax);
}

}  // namespace ricochet::formula
