#include "ricochet/base/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ricochet/base/text.h"

namespace ricochet::base {
namespace {

/// All digits that tell the number from its neighbours, always with a point or an exponent, which
/// is used below 1e-4 and from 1e15 on.
void append_number(double value, std::string& out) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  std::string text = fmt::format("{}", value);
  constexpr double kLarge = 1e15;
  constexpr double kLarger = 1e16;  // where fmt writes an exponent by itself
  if (std::abs(value) >= kLarge && std::abs(value) < kLarger) {
    text.erase(std::remove(text.begin(), text.end(), '.'), text.end());
    const std::size_t first = value < 0.0 ? 2 : 1;
    text.insert(first, 1, '.');
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
    text += "e+15";
  } else if (text.find_first_of(".e") == std::string::npos) {
    text += ".0";
  }
  out += text;
}

/// A byte that belongs to no character becomes U+FFFD.
void append_text(std::string_view text, std::string& out) {
  constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
  constexpr std::string_view kPlain = "\"\\\b\f\n\r\t";
  constexpr std::string_view kEscaped = "\"\\bfnrt";
  out += '"';
  while (!text.empty()) {
    const std::size_t length = code_point_length(text);
    if (const std::size_t k = kPlain.find(text[0]); k != std::string_view::npos) {
      out += '\\';
      out += kEscaped[k];
    } else if (length == 1 && text[0] < ' ') {
      out += fmt::format("\\u{:04x}", static_cast<int>(text[0]));
    } else {
      out += length > 0 ? text.substr(0, length) : kReplacement;
    }
    text.remove_prefix(std::max<std::size_t>(1, length));
  }
  out += '"';
}

}  // namespace

Json::Json(std::initializer_list<Member> members) : value_(Object(members)) {}

Json Json::list() {
  Json json;
  json.value_ = List();
  return json;
}

Json Json::object() {
  Json json;
  json.value_ = Object();
  return json;
}

Json& Json::operator[](std::string_view key) {
  if (std::holds_alternative<std::nullptr_t>(value_)) value_ = Object();
  auto& members = std::get<Object>(value_);
  const auto found = std::find_if(members.begin(), members.end(),
                                  [&](const Member& member) { return member.key == key; });
  if (found != members.end()) return found->value;
  members.push_back({std::string(key), Json()});
  return members.back().value;
}

const Json& Json::operator[](std::string_view key) const {
  static const Json kNull;
  for (const Member& member : members()) {
    if (member.key == key) return member.value;
  }
  return kNull;
}

bool Json::contains(std::string_view key) const {
  return std::any_of(members().begin(), members().end(),
                     [&](const Member& member) { return member.key == key; });
}

const std::vector<Json::Member>& Json::members() const { return std::get<Object>(value_); }

const std::string& Json::text() const { return std::get<std::string>(value_); }

void Json::push_back(Json value) {
  if (std::holds_alternative<std::nullptr_t>(value_)) value_ = List();
  std::get<List>(value_).push_back(std::move(value));
}

bool operator==(const Json& a, const Json& b) { return a.value_ == b.value_; }

template <class Items, class WriteItem>
void Json::write_items(const Items& items, char open, char close, int depth, std::string& out,
                       const WriteItem& write_item) {
  const bool is_compact = depth == kCompact;
  const auto new_line = [&](int steps) {
    if (!is_compact) out.append("\n").append(static_cast<std::size_t>(2 * steps), ' ');
  };
  out += open;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out += ',';
    new_line(depth + 1);
    write_item(items[i], is_compact ? kCompact : depth + 1);
  }
  if (!items.empty()) new_line(depth);
  out += close;
}

void Json::write(int depth, std::string& out) const {
  if (const auto* truth = std::get_if<bool>(&value_)) {
    out += *truth ? "true" : "false";
  } else if (const auto* whole = std::get_if<long long>(&value_)) {
    out += std::to_string(*whole);
  } else if (const auto* number = std::get_if<double>(&value_)) {
    append_number(*number, out);
  } else if (const auto* text = std::get_if<std::string>(&value_)) {
    append_text(*text, out);
  } else if (const auto* list = std::get_if<List>(&value_)) {
    write_items(*list, '[', ']', depth, out,
                [&](const Json& entry, int inner) { entry.write(inner, out); });
  } else if (const auto* object = std::get_if<Object>(&value_)) {
    write_items(*object, '{', '}', depth, out, [&](const Member& member, int inner) {
      append_text(member.key, out);
      out += inner == kCompact ? ":" : ": ";
      member.value.write(inner, out);
    });
  } else {
    out += "null";
  }
}

std::string Json::pretty() const {
  std::string out;
  write(0, out);
  return out;
}

std::string Json::compact() const {
  std::string out;
  write(kCompact, out);
  return out;
}

}  // namespace ricochet::base
