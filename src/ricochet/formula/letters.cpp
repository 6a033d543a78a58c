#include "ricochet/formula/letters.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "ricochet/base/text.h"

namespace ricochet::formula {
namespace {

struct Block {
  char32_t first;
  char32_t last;
};

bool is_in(char32_t c, std::initializer_list<Block> blocks) {
  return std::any_of(blocks.begin(), blocks.end(),
                     [c](const Block& block) { return c >= block.first && c <= block.last; });
}

/// Accented Latin and Greek letters; not the signs × ÷ and the Greek question mark and dot.
bool is_letter(char32_t c) {
  return c == 0xB5 || (is_in(c, {{0xC0, 0x24F}, {0x370, 0x3FF}}) && c != 0xD7 && c != 0xF7 &&
                       c != 0x37E && c != 0x387);
}

/// Digits and letters below the line.
bool is_subscript(char32_t c) {
  return is_in(c, {{0x2080, 0x2089}, {0x2090, 0x209C}, {0x1D62, 0x1D6A}});
}

/// The code point of valid UTF-8 of `length` bytes.
char32_t code_point(std::string_view text, std::size_t length) {
  auto c = static_cast<unsigned char>(text[0]);
  char32_t value = length == 1 ? c : length == 2 ? c & 0x1FU : length == 3 ? c & 0x0FU : c & 0x07U;
  for (std::size_t k = 1; k < length; ++k) {
    value = (value << 6U) | (static_cast<unsigned char>(text[k]) & 0x3FU);
  }
  return value;
}

using Pair = std::pair<std::string_view, std::string_view>;

constexpr std::array<Pair, 35> kGreek = {{
    {"alpha", "α"}, {"beta", "β"},    {"gamma", "γ"},  {"delta", "δ"},  {"epsilon", "ε"},
    {"zeta", "ζ"},  {"eta", "η"},     {"theta", "θ"},  {"iota", "ι"},   {"kappa", "κ"},
    {"mu", "μ"},    {"nu", "ν"},      {"xi", "ξ"},     {"pi", "π"},     {"rho", "ρ"},
    {"tau", "τ"},   {"upsilon", "υ"}, {"phi", "φ"},    {"chi", "χ"},    {"psi", "ψ"},
    {"omega", "ω"}, {"sigma", "σ"},   {"Gamma", "Γ"},  {"Delta", "Δ"},  {"Theta", "Θ"},
    {"Xi", "Ξ"},    {"Sigma", "Σ"},   {"Phi", "Φ"},    {"Psi", "Ψ"},    {"Omega", "Ω"},
    {"Pi", "Π"},    {"Lambda", "Λ"},  {"lambda", "λ"}, {"varphi", "φ"}, {"lam", "λ"},
}};

constexpr std::array<Pair, 23> kBelow = {{
    {"0", "₀"}, {"1", "₁"}, {"2", "₂"}, {"3", "₃"}, {"4", "₄"}, {"5", "₅"}, {"6", "₆"}, {"7", "₇"},
    {"8", "₈"}, {"9", "₉"}, {"a", "ₐ"}, {"e", "ₑ"}, {"h", "ₕ"}, {"i", "ᵢ"}, {"k", "ₖ"}, {"l", "ₗ"},
    {"m", "ₘ"}, {"n", "ₙ"}, {"p", "ₚ"}, {"r", "ᵣ"}, {"s", "ₛ"}, {"t", "ₜ"}, {"x", "ₓ"},
}};

template <std::size_t N>
std::string_view find(const std::array<Pair, N>& table, std::string_view key) {
  for (const auto& [from, to] : table) {
    if (from == key) return to;
  }
  return {};
}

/// Below the line; empty where some of it has no sign of its own.
std::string below(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const std::string_view sign = find(kBelow, std::string_view(&c, 1));
    if (sign.empty()) return "";
    out += sign;
  }
  return out;
}

/// One name: its letter, and what is below the line after _ or as digits.
std::string typeset_name(std::string_view name) {
  std::size_t end = name.find('_');
  std::size_t rest = end == std::string_view::npos ? name.size() : end + 1;
  if (end == std::string_view::npos) {
    end = name.size();
    while (end > 1 && std::isdigit(static_cast<unsigned char>(name[end - 1])) != 0) --end;
    rest = end;
  }
  const std::string_view letter = name.substr(0, end);
  const std::string_view greek = find(kGreek, letter);
  const std::string index = below(name.substr(rest));
  if (index.empty() && rest < name.size()) {
    return greek.empty() ? std::string(name) : std::string(greek) + std::string(name.substr(end));
  }
  if (greek.empty() && letter.size() > 1) return std::string(name);  // a word, not a letter
  return std::string(greek.empty() ? letter : greek) + index;
}

}  // namespace

std::size_t name_character(std::string_view text, bool is_first) {
  if (text.empty()) return 0;
  const auto c = static_cast<unsigned char>(text[0]);
  if (c < 0x80) {
    return std::isalpha(c) != 0 || c == '_' || (!is_first && std::isdigit(c) != 0) ? 1 : 0;
  }
  const std::size_t length = base::code_point_length(text);
  if (length == 0) return 0;
  const char32_t point = code_point(text, length);
  return is_letter(point) || (!is_first && is_subscript(point)) ? length : 0;
}

std::string without_micro(std::string text) {
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    if (text[i] != '\xC2' || text[i + 1] != '\xB5') continue;
    text[i] = '\xCE';
    text[i + 1] = '\xBC';
  }
  return text;
}

std::string kept_name(std::string_view name) {
  return name == "π" ? "pi" : without_micro(std::string(name));
}

std::string typeset(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    std::size_t end = 0;
    while (const std::size_t more = name_character(text.substr(end), end == 0)) end += more;
    if (end > 0) {
      const bool is_called = end < text.size() && text[end] == '(';
      out += is_called ? std::string(text.substr(0, end)) : typeset_name(text.substr(0, end));
    } else {
      // A number goes as one piece: the e of 1e-3 is no name.
      const bool is_number = std::isdigit(static_cast<unsigned char>(text[0])) != 0;
      do {
        ++end;
      } while (end < text.size() && is_number &&
               (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '.'));
      out += text.substr(0, end);
    }
    text.remove_prefix(end);
  }
  return out;
}

}  // namespace ricochet::formula
