#include <fmt/format.h>

#include <array>
#include <cctype>
#include <utility>

#include "ricochet/base/text.h"
#include "ricochet/formula/letters.h"
#include "ricochet/formula/syntax.h"

namespace ricochet::formula {
namespace {

enum class TokenKind { Number, Name, Symbol, End };

struct Token {
  TokenKind kind{TokenKind::End};
  std::string text;
  double value{0.0};
  Extent extent;
};

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// Signs that people paste from papers, and how the language writes them.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kTypographic = {{
    {"\u2212", "-"},
    {"\u00B7", "*"},
    {"\u2264", "<="},
    {"\u2265", ">="},
    {"\u2260", "!="},
}};

constexpr std::array<std::string_view, 19> kSymbols = {"<=", ">=", "==", "!=", "..", "<", ">",
                                                       "+",  "-",  "*",  "/",  "^",  "(", ")",
                                                       ",",  "[",  "]",  "'",  "."};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Token next() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    if (at_ == text_.size()) return {TokenKind::End, "", 0.0, {static_cast<int>(at_), 1}};
    const char c = text_[at_];
    if (is_digit(c) || (c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))) {
      return number();
    }
    if (name_character(text_.substr(at_), true) > 0) return name();
    return symbol();
  }

 private:
  Token number() {
    std::size_t end = at_;
    const auto digits = [&] {
      while (end < text_.size() && is_digit(text_[end])) ++end;
    };
    digits();
    // "1..N" is a range, not the number 1. followed by .N
    if (end < text_.size() && text_[end] == '.' && text_.substr(end, 2) != "..") {
      ++end;
      digits();
    }
    if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
      std::size_t exponent = end + 1;
      if (exponent < text_.size() && (text_[exponent] == '+' || text_[exponent] == '-')) ++exponent;
      if (exponent < text_.size() && is_digit(text_[exponent])) {
        end = exponent;
        digits();
      }
    }
    Token token = take(TokenKind::Number, end - at_);
    const std::optional<double> value = base::parse_number(token.text);
    if (!value) {
      throw FormulaError(fmt::format("'{}' is not a number this machine can hold", token.text),
                         token.extent);
    }
    token.value = *value;
    return token;
  }

  /// Names may have dots inside: "wall.shocks" is one name.
  Token name() {
    std::size_t end = at_;
    for (;;) {
      while (const std::size_t more = name_character(text_.substr(end), end == at_)) end += more;
      const bool dotted = end + 1 < text_.size() && text_[end] == '.' &&
                          name_character(text_.substr(end + 1), true) > 0;
      if (!dotted) break;
      ++end;
    }
    Token token = take(TokenKind::Name, end - at_);
    token.text = kept_name(token.text);
    return token;
  }

  Token symbol() {
    const std::string_view rest = text_.substr(at_);
    for (const auto& [sign, meaning] : kTypographic) {
      if (!rest.starts_with(sign)) continue;
      Token token = take(TokenKind::Symbol, sign.size());
      token.text = meaning;
      return token;
    }
    for (const std::string_view sign : kSymbols) {
      if (rest.starts_with(sign)) return take(TokenKind::Symbol, sign.size());
    }
    if (rest.starts_with("&&") || rest.starts_with("||") || rest.starts_with("!")) {
      throw FormulaError("this sign is not used here", {static_cast<int>(at_), 2},
                         "write and, or, not");
    }
    if (rest.starts_with("\u00B0")) {
      throw FormulaError("angles are in radians", {static_cast<int>(at_), 2},
                         "write 30*pi/180 for 30 degrees");
    }
    if (rest.starts_with("\u00B2") || rest.starts_with("\u00B3")) {
      throw FormulaError("a power is not written like this", {static_cast<int>(at_), 2},
                         "write ^2 or ^3");
    }
    if (rest.starts_with("=")) {
      throw FormulaError("'=' is not a comparison", {static_cast<int>(at_), 1},
                         "write == to compare, or <= and >= in an inequality");
    }
    throw FormulaError("a formula cannot contain this character", {static_cast<int>(at_), 1},
                       "numbers, names, + - * / ^, comparisons, brackets and functions are known");
  }

  Token take(TokenKind kind, std::size_t length) {
    Token token{kind,
                std::string(text_.substr(at_, length)),
                0.0,
                {static_cast<int>(at_), static_cast<int>(length)}};
    at_ += length;
    return token;
  }

  std::string_view text_;
  std::size_t at_{0};
};

/// Recursive descent, one function per level of precedence.
class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text) { advance(); }

  Syntax whole() {
    if (token_.kind == TokenKind::End) throw FormulaError("the formula is empty", token_.extent);
    Syntax tree = disjunction();
    if (token_.kind == TokenKind::End) return tree;
    if (token_.kind == TokenKind::Name || token_.kind == TokenKind::Number || is("(")) {
      const bool may_be_unit = token_.kind == TokenKind::Name && after_number_;
      throw FormulaError(
          fmt::format("an operator is missing before '{}'", token_.text), token_.extent,
          may_be_unit ? "write * for a product; a number with a unit stands alone, as "
                        "\"20 cm\", or is a parameter"
                      : "write * for a product");
    }
    throw FormulaError(fmt::format("'{}' is not expected here", token_.text), token_.extent);
  }

 private:
  static constexpr int kDeepest = 200;     // levels of brackets; far less than the stack holds
  static constexpr int kLongest = 10'000;  // tokens; the tree of a long sum is as deep as long

  /// Counts the levels of nesting while it lives.
  class Level {
   public:
    explicit Level(Parser& parser) : depth_(parser.depth_) {
      if (++depth_ > kDeepest) {
        throw FormulaError(fmt::format("brackets are nested more than {} deep", kDeepest),
                           parser.token_.extent, "name parts of it in [system] define");
      }
    }
    ~Level() { --depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    int& depth_;
  };

  bool is(std::string_view symbol) const {
    return token_.kind == TokenKind::Symbol && token_.text == symbol;
  }
  bool is_word(std::string_view word) const {
    return token_.kind == TokenKind::Name && token_.text == word;
  }
  void advance() {
    end_ = token_.extent.begin + token_.extent.length;
    after_number_ = token_.kind == TokenKind::Number;
    token_ = lexer_.next();
    if (++tokens_ > kLongest) {
      throw FormulaError(fmt::format("the formula has more than {} words and signs", kLongest),
                         token_.extent, "use sum(i, 1, N, ...), or name parts in [system] define");
    }
  }
  void expect(std::string_view symbol, std::string_view why) {
    if (is(symbol)) return advance();
    throw FormulaError(fmt::format("'{}' is expected here {}", symbol, why), token_.extent);
  }

  Syntax node(Syntax::Kind kind, std::string text, std::vector<Syntax> children, int begin) const {
    Syntax made;
    made.kind = kind;
    made.text = std::move(text);
    made.children = std::move(children);
    made.extent = {begin, end_ - begin};
    return made;
  }

  template <class Next>
  Syntax left_grouped(Next next, std::initializer_list<std::string_view> operators) {
    Syntax left = next();
    for (;;) {
      bool found = false;
      for (const std::string_view sign : operators) {
        if (!is(sign) && !is_word(sign)) continue;
        advance();
        const int begin = left.extent.begin;
        Syntax right = next();
        left = node(Syntax::Kind::Binary, std::string(sign), two(std::move(left), std::move(right)),
                    begin);
        found = true;
        break;
      }
      if (!found) return left;
    }
  }

  static std::vector<Syntax> two(Syntax a, Syntax b) {
    std::vector<Syntax> children;
    children.push_back(std::move(a));
    children.push_back(std::move(b));
    return children;
  }
  static std::vector<Syntax> one(Syntax a) {
    std::vector<Syntax> children;
    children.push_back(std::move(a));
    return children;
  }

  Syntax disjunction() {
    const Level level(*this);
    return left_grouped([this] { return conjunction(); }, {"or"});
  }
  Syntax conjunction() {
    return left_grouped([this] { return negation(); }, {"and"});
  }
  Syntax negation() {
    if (!is_word("not")) return relation();
    const Level level(*this);
    const int begin = token_.extent.begin;
    advance();
    return node(Syntax::Kind::Unary, "not", one(negation()), begin);
  }

  Syntax relation() {
    Syntax first = sum();
    std::vector<Syntax> sides;
    std::vector<std::string> operators;
    const int begin = first.extent.begin;
    while (is("<") || is("<=") || is(">") || is(">=") || is("==") || is("!=")) {
      operators.push_back(token_.text);
      advance();
      sides.push_back(sum());
    }
    if (operators.empty()) return first;
    sides.insert(sides.begin(), std::move(first));
    Syntax made = node(Syntax::Kind::Relation, "", std::move(sides), begin);
    made.operators = std::move(operators);
    return made;
  }

  Syntax sum() {
    return left_grouped([this] { return product(); }, {"+", "-"});
  }
  Syntax product() {
    return left_grouped([this] { return signed_term(); }, {"*", "/"});
  }
  Syntax signed_term() {
    if (!is("-") && !is("+")) return power();
    const Level level(*this);
    const int begin = token_.extent.begin;
    std::string sign = token_.text;
    advance();
    return node(Syntax::Kind::Unary, std::move(sign), one(signed_term()), begin);
  }
  Syntax power() {
    Syntax base = atom();
    if (!is("^")) return base;
    const Level level(*this);
    advance();
    const int begin = base.extent.begin;
    return node(Syntax::Kind::Binary, "^", two(std::move(base), signed_term()), begin);
  }

  Syntax atom() {
    const int begin = token_.extent.begin;
    if (token_.kind == TokenKind::Number) {
      Syntax made;
      made.value = token_.value;
      advance();
      made.extent = {begin, end_ - begin};
      return made;
    }
    if (is("(")) {
      advance();
      Syntax inner = disjunction();
      expect(")", "to close the bracket");
      return inner;
    }
    if (token_.kind == TokenKind::Name && !is_word("and") && !is_word("or") && !is_word("not")) {
      std::string name = token_.text;
      advance();
      return is("(") ? call(std::move(name), begin) : reference(std::move(name), begin);
    }
    if (token_.kind == TokenKind::End) {
      throw FormulaError("the formula ends too early", token_.extent);
    }
    throw FormulaError(fmt::format("a number or a name is expected here, not '{}'", token_.text),
                       token_.extent, is("*") ? "write ^ for a power, as in x^2" : "");
  }

  Syntax call(std::string name, int begin) {
    advance();
    std::vector<Syntax> arguments;
    if (!is(")")) {
      arguments.push_back(disjunction());
      while (is(",")) {
        advance();
        arguments.push_back(disjunction());
      }
    }
    expect(")", fmt::format("to close the arguments of {}", name));
    return node(Syntax::Kind::Call, std::move(name), std::move(arguments), begin);
  }

  /// x, x', z[i], z[i]', z'[i], stack[i].gap, stone[i].x' and d[i][j], or d[i, j].
  Syntax reference(std::string name, int begin) {
    std::vector<Syntax> index;
    std::string suffix;
    int primes = 0;
    for (; is("'"); advance()) ++primes;
    const bool is_indexed = is("[");
    while (is("[")) {
      do {
        advance();
        index.push_back(disjunction());
      } while (is(","));
      expect("]", "to close the index");
    }
    if (is_indexed) {
      for (; is("'"); advance()) ++primes;
      if (is(".")) suffix = after_dot();
      for (; is("'"); advance()) ++primes;
    }
    Syntax made = node(Syntax::Kind::Name, std::move(name), std::move(index), begin);
    made.primes = primes;
    made.suffix = std::move(suffix);
    if (primes > 1) {
      throw FormulaError("only first derivatives have a name", made.extent,
                         "accelerations are what the program computes; write forces without them");
    }
    return made;
  }

  std::string after_dot() {
    advance();
    if (token_.kind != TokenKind::Name) {
      throw FormulaError("a name is expected after the dot", token_.extent);
    }
    std::string name = token_.text;
    advance();
    return name;
  }

  Lexer lexer_;
  Token token_;
  int end_{0};  // just after the last token taken
  bool after_number_{false};
  int depth_{0};
  int tokens_{0};
};

}  // namespace

Syntax parse(std::string_view text) { return Parser(text).whole(); }

}  // namespace ricochet::formula
