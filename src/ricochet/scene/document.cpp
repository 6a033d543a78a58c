#include "ricochet/scene/document.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cctype>
#include <sstream>
#include <tuple>

#include "ricochet/base/text.h"
#include "ricochet/formula/dimension.h"
#include "ricochet/formula/letters.h"

namespace ricochet::scene {
namespace {

constexpr const char* kControl = "a string has control characters";

/// Whether there are no control characters but ends of lines and tabs.
bool is_text(std::string_view text) {
  if (base::first_line_that_is_no_text(text) > 0) return false;
  for (std::size_t k = 0; k + 1 < text.size(); ++k) {  // U+0080 to U+009F
    if (text[k] == '\xC2' && static_cast<unsigned char>(text[k + 1]) < 0xA0U) return false;
  }
  return true;
}

/// TOML's escapes can write what does anything to a terminal.
void refuse_control(std::string_view text, const toml::source_position& at,
                    const std::string& file) {
  if (is_text(text)) return;
  throw base::InputError("", kControl, "take them out",
                         {file, static_cast<int>(at.line), static_cast<int>(at.column), 1, ""});
}

/// Keys nest tables without end: a.a.a.a has three dots, each between two names.
void check_depth(std::string_view text, const std::string& file) {
  constexpr int kMostDots = 100;
  int dots = 0;
  int line = 1;
  char last = ' ';  // that is no blank
  for (const char c : text) {
    if (c == '\n') ++line;
    if (c == ' ' || c == '\t') continue;
    const bool is_name = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' ||
                         c == '"' || c == '\'';
    if (c == '.' && last != '.') {
      ++dots;
    } else if (!is_name) {
      dots = 0;
    }
    last = c;
    if (dots <= kMostDots) continue;
    throw base::InputError("", fmt::format("a key has more than {} dots", kMostDots),
                           "nest fewer tables", {file, line, 1, 1, ""});
  }
}

Value convert(const toml::node& node, const std::string& file) {
  Value value;
  value.line = static_cast<int>(node.source().begin.line);
  value.column = static_cast<int>(node.source().begin.column);
  if (const auto number = node.value_exact<double>()) {
    value.kind = Value::Kind::Number;
    value.number = *number;
  } else if (const auto integer = node.value_exact<std::int64_t>()) {
    value.kind = Value::Kind::Number;
    value.number = static_cast<double>(*integer);
  } else if (const auto boolean = node.value_exact<bool>()) {
    value.kind = Value::Kind::Boolean;
    value.boolean = *boolean;
  } else if (const auto text = node.value_exact<std::string>()) {
    value.kind = Value::Kind::Text;
    value.text = *text;
    refuse_control(value.text, node.source().begin, file);
  } else if (const toml::array* array = node.as_array()) {
    value.kind = Value::Kind::Array;
    for (const toml::node& item : *array) value.items.push_back(convert(item, file));
  } else if (const toml::table* table = node.as_table()) {
    value.kind = Value::Kind::Table;
    for (const auto& [key, item] : *table) {
      refuse_control(key.str(), key.source().begin, file);
      Value entry = convert(item, file);
      entry.key_line = static_cast<int>(key.source().begin.line);
      entry.key_column = static_cast<int>(key.source().begin.column);
      value.entries.push_back({std::string(key.str()), std::move(entry)});
    }
    // toml++ sorts by name; people mean the order they wrote.
    std::stable_sort(value.entries.begin(), value.entries.end(), [](const auto& a, const auto& b) {
      return std::tie(a.second.key_line, a.second.key_column) <
             std::tie(b.second.key_line, b.second.key_column);
    });
  } else {
    value.kind = Value::Kind::Other;
  }
  return value;
}

Value* find_entry(Value& table, std::string_view key) {
  for (auto& [name, value] : table.entries) {
    if (name == key) return &value;
  }
  return nullptr;
}

/// The value and all in it have no place in the file.
void take_out_of_file(Value& value, const std::string& argument) {
  value.line = value.column = value.key_line = value.key_column = 0;
  value.override_text = argument;
  for (Value& item : value.items) take_out_of_file(item, argument);
  for (auto& [key, entry] : value.entries) take_out_of_file(entry, argument);
}

/// Byte position of a code point column (from 1) in a line.
std::size_t byte_of_column(std::string_view line, int column) {
  return base::slice(line, 0, column - 1).size();
}

}  // namespace

const Value* Value::find(std::string_view key) const {
  for (const auto& [name, value] : entries) {
    if (name == key) return &value;
  }
  return nullptr;
}

const char* Value::kind_name() const {
  switch (kind) {
    case Kind::Missing: return "nothing";
    case Kind::Number: return "a number";
    case Kind::Text: return "a string";
    case Kind::Boolean: return "true or false";
    case Kind::Other: return "a date or time";
    case Kind::Array: return "a list";
    case Kind::Table: return "a table";
  }
  return "";
}

namespace {

/// A number in place of a parameter with a unit has the same unit.
void keep_unit(const Value& old, Value& made) {
  if (old.kind != Value::Kind::Text || made.kind != Value::Kind::Number) return;
  const auto quantity = formula::split_quantity(old.text);
  if (!quantity) return;
  made.kind = Value::Kind::Text;
  made.text = fmt::format("{:.17g} {}", made.number, quantity->second);
}

}  // namespace

Document::Document(std::string file, std::string text)
    : file_(std::move(file)), text_(formula::without_micro(std::move(text))) {
  if (const int line = base::first_line_that_is_no_text(text_); line > 0) {
    // Shown without the line itself, which could do anything to a terminal.
    throw base::InputError("", "has characters that are no text",
                           "name a scene, a .toml file; save it as plain UTF-8 text",
                           {file_, line, 1, 1, ""});
  }
  check_depth(text_, file_);
  try {
    root_ = convert(toml::parse(text_, file_), file_);
  } catch (const toml::parse_error& error) {
    const int line = static_cast<int>(error.source().begin.line);
    const int column = static_cast<int>(error.source().begin.column);
    const std::string_view words = error.description();
    const bool is_letter =
        std::any_of(words.begin(), words.end(), [](char c) { return (c & '\x80') != 0; });
    const auto says = [&](const char* part) { return words.find(part) != words.npos; };
    const char* const remedy =
        is_letter          ? "keys with other letters than a to z need quotes: \"\u03B8\" = 0"
        : says("redefine") ? "each name once: choose another one"
        : says("'=', saw ','")
            ? "numbers have a point, 0.5, not a comma; strings need quotes"
            : "strings need quotes, lists need [ ], and a table starts with [name]";
    throw base::InputError("", fmt::format("not valid TOML: {}", words), remedy,
                           spot_at(line, column, 1));
  }
}

void Document::set(std::string_view key, std::string_view text, std::string_view argument) {
  const std::string kept_key = formula::without_micro(std::string(key));
  const std::string value = formula::without_micro(std::string(text));
  std::string_view dotted_key = kept_key;
  const bool is_option = argument.substr(0, 2) == "--";
  const std::string typed = fmt::format("{}{}", is_option ? "" : "--set ", argument);
  if (!is_text(argument)) throw base::InputError("--set", kControl, "take them out");
  check_depth(dotted_key, typed);
  check_depth(value, typed);
  Value made;
  try {
    made = *convert(toml::parse(fmt::format("value = {}", value)), typed).find("value");
  } catch (const toml::parse_error&) {
    made.kind = Value::Kind::Text;
    made.text = value;
  }
  take_out_of_file(made, typed);
  Value* table = &root_;
  for (;;) {
    const std::size_t dot = dotted_key.find('.');
    const std::string_view head = dotted_key.substr(0, dot);
    Value* entry = find_entry(*table, head);
    if (dot == std::string_view::npos) {
      if (entry != nullptr) {
        if (kept_key.starts_with("system.parameters.")) keep_unit(*entry, made);
        *entry = std::move(made);
      } else {
        table->entries.push_back({std::string(head), std::move(made)});
      }
      return;
    }
    if (entry == nullptr) {
      Value fresh;
      fresh.kind = Value::Kind::Table;
      fresh.override_text = typed;
      table->entries.push_back({std::string(head), std::move(fresh)});
      entry = &table->entries.back().second;
    }
    if (entry->kind != Value::Kind::Table) {
      throw base::InputError("", fmt::format("{}: '{}' is not a table", typed, head),
                             "name a key of the scene, such as run.step");
    }
    table = entry;
    dotted_key.remove_prefix(dot + 1);
  }
}

void Document::remove(std::string_view table, std::string_view key) {
  Value* found = find_entry(root_, table);
  if (found == nullptr) return;
  std::erase_if(found->entries, [&](const auto& entry) { return entry.first == key; });
}

base::Spot Document::spot_at(int line, int column, int length) const {
  return {file_, line, column, length, std::string(base::line_of(text_, line))};
}

base::Spot Document::spot_of(const Value& value) const {
  if (value.line == 0) {
    if (value.override_text.empty()) return {file_, 0, 0, 1, ""};
    return {value.override_text, 0, 0, 1, ""};
  }
  const std::string_view line = base::line_of(text_, value.line);
  const std::string_view rest =
      line.substr(std::min(line.size(), byte_of_column(line, value.column)));
  const std::size_t end = value.kind == Value::Kind::Text && !rest.empty()
                              ? rest.find(rest[0], 1)
                              : rest.find_first_of(" \t,]}#");
  const int length = end == std::string_view::npos ? base::display_width(rest)
                                                   : base::display_width(rest.substr(0, end)) +
                                                         (value.kind == Value::Kind::Text ? 1 : 0);
  return spot_at(value.line, value.column, std::max(1, length));
}

base::Spot Document::spot_of_key(const Value& value) const {
  if (value.key_line == 0) return spot_of(value);
  const std::string_view line = base::line_of(text_, value.key_line);
  const std::string_view rest =
      line.substr(std::min(line.size(), byte_of_column(line, value.key_column)));
  const std::size_t end = rest.find_first_of(" \t=.]");
  const int length = base::display_width(rest.substr(0, end));
  return spot_at(value.key_line, value.key_column, std::max(1, length));
}

base::Spot Document::spot_inside(const Value& value, int begin, int length) const {
  if (value.line == 0) return spot_of(value);
  int line_number = value.line;
  std::string_view line = base::line_of(text_, line_number);
  std::size_t at = byte_of_column(line, value.column);
  const std::string_view quotes = line.substr(std::min(at, line.size()), 3);
  const bool multi_line = quotes == "\"\"\"" || quotes == "'''";
  at += multi_line ? 3 : 1;
  if (multi_line && at >= line.size()) {  // a line end right after the quotes does not count
    line = base::line_of(text_, ++line_number);
    at = 0;
  }
  for (int passed = 0; passed < begin; ++passed) {
    if (at >= line.size()) {  // the line end is one byte of the string
      line = base::line_of(text_, ++line_number);
      at = 0;
      continue;
    }
    if (line[at] == '\\' && value.text.find('\\') == std::string::npos) ++at;  // an escape
    ++at;
  }
  const int column = base::display_width(line.substr(0, std::min(at, line.size()))) + 1;
  const int width = base::display_width(std::string_view(value.text)
                                            .substr(static_cast<std::size_t>(std::max(0, begin)),
                                                    static_cast<std::size_t>(std::max(0, length))));
  return spot_at(line_number, column, std::max(1, width));
}

}  // namespace ricochet::scene
