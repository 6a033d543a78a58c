#include "ricochet/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <vector>
#include <version>

#if defined(__cpp_lib_to_chars)
#include <charconv>
#else
#include <locale>
#include <sstream>
#endif

namespace ricochet::base {
namespace {

/// Damerau-Levenshtein distance (restricted: no substring is edited twice), ignoring case.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  const std::size_t width = b.size() + 1;
  std::vector<std::size_t> d((a.size() + 1) * width);
  for (std::size_t i = 0; i <= a.size(); ++i) d[i * width] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t cost = lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1;
      std::size_t best = std::min({d[(i - 1) * width + j] + 1, d[i * width + j - 1] + 1,
                                   d[(i - 1) * width + j - 1] + cost});
      const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                           lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) best = std::min(best, d[(i - 2) * width + j - 2] + 1);
      d[i * width + j] = best;
    }
  }
  return d.back();
}

bool starts_code_point(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

}  // namespace

std::size_t code_point_length(std::string_view text) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  const unsigned first = byte(0);
  if (first < 0x80U) return 1;
  const std::size_t length = first >= 0xF0U ? 4 : first >= 0xE0U ? 3 : 2;
  if (first < 0xC2U || first > 0xF4U || text.size() < length) return 0;
  for (std::size_t k = 1; k < length; ++k) {
    if ((byte(k) & 0xC0U) != 0x80U) return 0;
  }
  const bool overlong = (first == 0xE0U && byte(1) < 0xA0U) || (first == 0xF0U && byte(1) < 0x90U);
  const bool none = (first == 0xEDU && byte(1) >= 0xA0U) || (first == 0xF4U && byte(1) >= 0x90U);
  return overlong || none ? 0 : length;
}

std::optional<double> parse_number(std::string_view text) {
  if (text.empty()) return std::nullopt;
#if defined(__cpp_lib_to_chars)
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
#else
  std::istringstream stream{std::string(text)};
  stream.imbue(std::locale::classic());
  double value = 0.0;
  if (!(stream >> value) || stream.peek() != std::istringstream::traits_type::eof()) {
    return std::nullopt;
  }
  return value;
#endif
}

std::optional<std::string> nearest_name(std::string_view name,
                                        std::span<const std::string> candidates) {
  const std::string* best = nullptr;
  std::size_t least = std::max<std::size_t>(1, name.size() / 3);  // more edits: another word
  std::size_t longest = 0;                                        // common beginning, of equals
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance > least || distance >= std::max(name.size(), candidate.size())) continue;
    const std::size_t shared = static_cast<std::size_t>(
        std::mismatch(name.begin(), name.end(), candidate.begin(), candidate.end()).first -
        name.begin());
    if (distance == least && best != nullptr && shared <= longest) continue;
    least = distance;
    longest = shared;
    best = &candidate;
  }
  if (best == nullptr) return std::nullopt;
  return *best;
}

std::string list_names(std::span<const std::string> names, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i) {
    if (i > 0) text += ", ";
    text += names[i];
  }
  if (names.size() > most) text += " and " + std::to_string(names.size() - most) + " more";
  return text;
}

std::string trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  return std::string(text);
}

int display_width(std::string_view text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), starts_code_point));
}

std::string slice(std::string_view text, int first, int count) {
  std::string part;
  int at = -1;
  for (const char c : text) {
    if (starts_code_point(c)) ++at;
    if (at >= first && at < first + count) part += c == '\t' ? ' ' : c;
  }
  return part;
}

int first_line_that_is_no_text(std::string_view text) {
  int line = 1;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = code_point_length(text.substr(at));
    const auto c = static_cast<unsigned char>(text[at]);
    const bool control = (c < 0x20U && c != '\t' && c != '\n' && c != '\r') || c == 0x7FU;
    if (length == 0 || control) return line;
    if (c == '\n') ++line;
    at += length;
  }
  return 0;
}

std::string_view line_of(std::string_view text, int number) {
  for (int line = 1; line < number; ++line) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  std::string_view line = text.substr(0, text.find('\n'));
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

namespace {

constexpr int kColumns = 80;

/// The words behind a beginning; lines after the first are indented.
std::string fold(const std::string& beginning, const std::string& words, int indent) {
  std::string text = beginning;
  int at = display_width(beginning);
  bool fresh = true;  // nothing on this line yet
  for (std::size_t begin = 0; begin < words.size();) {
    std::size_t end = words.find(' ', begin);
    if (end == std::string::npos) end = words.size();
    const std::string word = words.substr(begin, end - begin);
    const int width = display_width(word);
    if (!fresh && at + 1 + width > kColumns) {
      text += fmt::format("\n{:{}}", "", indent);
      at = indent;
    } else if (!fresh) {
      text += ' ';
      ++at;
    }
    text += word;
    at += width;
    fresh = false;
    begin = end + 1;
  }
  return text;
}

}  // namespace

std::string entry(const std::string& label, const std::string& words) {
  constexpr int kIndent = 12;
  return fold(fmt::format("{:<{}}", label, kIndent), words, kIndent) + "\n";
}

std::string wrapped(const std::string& text) {
  constexpr int kIndent = 8;
  std::string result;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    result += display_width(line) > kColumns ? fold("", line, kIndent) : line;
    if (end < text.size()) result += '\n';
    begin = end + 1;
  }
  return result;
}

namespace {

/// A number in one digit, rounded up: digit 10^place.
struct OneDigit {
  double digit{0.0};
  int place{0};
  explicit OneDigit(double number) : place(static_cast<int>(std::floor(std::log10(number)))) {
    digit = std::ceil(number / std::pow(10.0, place) * (1.0 - 1e-9));
    if (digit < 10.0) return;
    digit = 1.0;
    ++place;
  }
  std::string words() const {
    constexpr int kSmallest = -6;
    if (place < kSmallest) return fmt::format("{:.0f}e{}", digit, place);
    return fmt::format("{:.{}f}", digit * std::pow(10.0, place), std::max(0, -place));
  }
};

}  // namespace

std::string rounded_up(double number) {
  if (!std::isfinite(number) || !(number > 0.0)) return fmt::format("{:.1g}", number);
  return OneDigit(number).words();
}

std::string with_bar(double value, double bar) {
  constexpr int kMostDigits = 15;
  if (!std::isfinite(value) || !std::isfinite(bar) || value == 0.0) {
    return fmt::format("{:.9g} ± {}", value == 0.0 ? 0.0 : value, rounded_up(bar));
  }
  if (!(bar > 0.0)) return fmt::format("{:.9g}", value);
  const OneDigit shown(bar);
  if (std::abs(value) < 0.5 * std::pow(10.0, shown.place)) return "0 ± " + shown.words();
  const int leading = static_cast<int>(std::floor(std::log10(std::max(std::abs(value), bar))));
  const int digits = leading - shown.place;  // after the first one
  if (digits > kMostDigits) {
    return fmt::format("{:.{}g} ± {}", value, kMostDigits + 1, shown.words());
  }
  if (leading >= 7 || leading < -4) {
    const double unit = std::pow(10.0, leading);
    return fmt::format("({:.{}f} ± {:.{}f})e{}", value / unit, std::max(0, digits),
                       shown.digit * std::pow(10.0, shown.place - leading), std::max(0, digits),
                       leading);
  }
  const double unit = std::pow(10.0, shown.place);
  const double held = shown.place > 0 ? std::round(value / unit) * unit : value;
  return fmt::format("{:.{}f} ± {}", held, std::max(0, -shown.place), shown.words());
}

std::string counted(long long count, const std::string& noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string readable_count(double count) {
  if (count >= 1e9) return fmt::format("{:.3g} billion", count / 1e9);
  if (count >= 1e6) return fmt::format("{:.3g} million", count / 1e6);
  if (count >= 1e4) return fmt::format("{:.3g} thousand", count / 1e3);
  return fmt::format("{:.0f}", count);
}

}  // namespace ricochet::base
