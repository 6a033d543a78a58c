#include "ricochet/scene/family.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <climits>
#include <cmath>
#include <optional>
#include <tuple>

#include "ricochet/base/text.h"
#include "ricochet/scene/formula_reader.h"
#include "ricochet/scene/table_reader.h"

namespace ricochet::scene {
namespace {

constexpr const char* kForm = "write a list as [1, 2, 3], or { from = 1, to = 3, count = 3 }";

/// A key as it is read, before its values: where it stands decides the order.
struct Found {
  std::string name;
  const Value* value{nullptr};
};

/// Keys that mean the same have the same full name.
std::string full_name(const std::string& key) {
  if (key.find('.') == std::string::npos) return "parameters." + key;
  for (const char* part : {"system.", "structure."}) {
    if (key.starts_with(std::string(part) + "parameters.")) return key.substr(key.find('.') + 1);
  }
  return key == "run.steps" ? "run.until" : key;  // the two ways to say how long
}

std::vector<std::string> parts_of(const std::string& key) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t dot = key.find('.'); dot != std::string::npos; dot = key.find('.', begin)) {
    parts.push_back(key.substr(begin, dot - begin));
    begin = dot + 1;
  }
  parts.push_back(key.substr(begin));
  return parts;
}

/// A value in quotes that TOML reads back as the same text.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (code < 0x20 || code == 0x7f) {
      out += fmt::format("\\u{:04x}", code);
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string text_of(const Value& value) {
  return value.kind == Value::Kind::Text ? value.text : fmt::format("{}", value.number);
}

class FamilyReader {
 public:
  FamilyReader(const Document& document, std::string path, double most)
      : document_(document), path_(std::move(path)), most_(most) {}

  Family read(const Value& table) {
    collect(table, "");
    std::stable_sort(found_.begin(), found_.end(), [](const Found& a, const Found& b) {
      return place_of(*a.value) < place_of(*b.value);
    });
    drop_replaced();
    if (found_.empty()) fail_empty(path_, table, "name a key and its values: R = [1, 2, 3]");
    Family family;
    for (const Found& found : found_) {
      check_key(found);
      family.keys.push_back({found.name, read_values(found)});
    }
    check_size(family, table);
    return family;
  }

 private:
  /// In the order of the file; what the command line gives comes last.
  static std::tuple<int, int> place_of(const Value& value) {
    const bool is_in_file = value.override_text.empty() && value.key_line > 0;
    return is_in_file ? std::tuple(value.key_line, value.key_column) : std::tuple(INT_MAX, 0);
  }

  /// Nested tables, which TOML makes of dotted keys, back into dotted keys.
  void collect(const Value& table, const std::string& prefix) {
    for (const auto& [name, value] : table.entries) {
      const std::string key = prefix + name;
      const bool nested = value.kind == Value::Kind::Table && !value.entries.empty();
      if (nested && !is_range(value)) {
        collect(value, key + ".");
      } else {
        found_.push_back({key, &value});
      }
    }
  }

  /// A table that gives one of these a number or a formula; a coordinate may be called "to".
  static bool is_range(const Value& table) {
    return std::any_of(table.entries.begin(), table.entries.end(), [](const auto& entry) {
      const bool is_word = entry.first == "from" || entry.first == "to" || entry.first == "count";
      return is_word && entry.second.kind != Value::Kind::Array &&
             entry.second.kind != Value::Kind::Table;
    });
  }

  /// A key of the command line replaces the one of the file; two in the file are a mistake.
  void drop_replaced() {
    for (std::size_t k = 0; k < found_.size(); ++k) {
      for (std::size_t l = k + 1; l < found_.size(); ++l) {
        if (full_name(found_[k].name) != full_name(found_[l].name)) continue;
        if (found_[l].value->override_text.empty()) {
          fail_at_key(found_[l], "varies twice in the family", "keep one of the two");
        }
        found_.erase(found_.begin() + static_cast<std::ptrdiff_t>(k--));
        break;
      }
    }
  }

  [[noreturn]] void fail_at_key(const Found& found, const std::string& message,
                                const std::string& remedy) const {
    throw base::InputError(path_ + "." + found.name, message, remedy,
                           document_.spot_of_key(*found.value));
  }

  [[noreturn]] void fail_empty(const std::string& key, const Value& at,
                               const std::string& remedy) const {
    throw base::InputError(key, "the family is empty: it has no member", remedy,
                           document_.spot_of_key(at));
  }

  /// Where a key stands in the document.
  std::string path_of(const Found& found) const {
    const std::string name = full_name(found.name);
    if (!name.starts_with("parameters.")) return name;
    const Value& root = document_.root();
    return fmt::format("{}.{}", parameter_table(root, name.substr(name.find('.') + 1)), name);
  }

  void check_key(const Found& found) const {
    const std::string name = path_of(found);
    const std::vector<std::string> parts = parts_of(name);
    if (std::count(parts.begin(), parts.end(), "") > 0) {
      fail_at_key(found, "is no key", "name a parameter, or a dotted key such as \"run.step\"");
    }
    for (const char* path : {"system.parameters", "system.define", "contact", "friction", "hold",
                             "roll", "expect", "structure.parameters", "structure.force",
                             "structure.mass", "structure.guide", "structure.point"}) {
      if (name.starts_with(std::string(path) + ".")) check_name(found, path);
    }
    const Value* table = &document_.root();
    for (std::size_t k = 0; k + 1 < parts.size() && table != nullptr; ++k) {
      table = table->find(parts[k]);
      if (table == nullptr || table->kind == Value::Kind::Table) continue;
      fail_at_key(found, fmt::format("'{}' is {} in this scene", parts[k], table->kind_name()),
                  fmt::format("write it as a table, {} = {{ {} = ... }}, to vary one of its "
                              "entries",
                              parts[k], parts[k + 1]));
    }
  }

  /// A name that the scene gives must be there: reading a member would take it for a new one.
  void check_name(const Found& found, const std::string& path) const {
    const Value* table = &document_.root();
    for (const std::string& part : parts_of(path)) {
      if (table != nullptr) table = table->find(part);
    }
    const std::string name = parts_of(path_of(found).substr(path.size() + 1))[0];
    if (table != nullptr && table->find(name) != nullptr) return;
    std::vector<std::string> known;
    if (table != nullptr) {
      for (const auto& [other, value] : table->entries) known.push_back(other);
    }
    fail_unknown(found, known, path, name);
  }

  [[noreturn]] void fail_unknown(const Found& found, const std::vector<std::string>& known,
                                 const std::string& path, const std::string& name) const {
    const auto near = base::nearest_name(name, known);
    std::string remedy = near ? fmt::format("did you mean '{}'? ", *near) : "";
    const std::string names = base::list_names(known);
    if (found.name.find('.') == std::string::npos) {
      remedy += known.empty() ? "the scene has no parameters" : "parameters of the scene: " + names;
      remedy += "; other keys are dotted, such as \"run.step\"";
      fail_at_key(found, fmt::format("'{}' is no parameter of the scene", name), remedy);
    }
    remedy += known.empty() ? fmt::format("the scene has no [{}]", path)
                            : fmt::format("{} of the scene: {}", path, names);
    fail_at_key(found, fmt::format("the scene has no '{}.{}'", path, name), remedy);
  }

  std::vector<Value> read_values(const Found& found) const {
    const Value& value = *found.value;
    const std::string key = path_ + "." + found.name;
    if (value.kind == Value::Kind::Table && is_range(value)) return read_range(value, key);
    if (value.kind != Value::Kind::Array) {
      throw base::InputError(key,
                             fmt::format("must be a list of values or {{ from, to, count }}, not "
                                         "{}",
                                         value.kind_name()),
                             kForm, document_.spot_of(value));
    }
    if (value.items.empty()) fail_empty(key, value, kForm);
    std::vector<Value> values;
    for (Value item : value.items) {
      if (!value.override_text.empty()) {
        item.line = item.column = 0;
        item.override_text = value.override_text;
      }
      if (item.kind != Value::Kind::Number && item.kind != Value::Kind::Text) {
        throw base::InputError(
            key, fmt::format("must have numbers or formulas in quotes, not {}", item.kind_name()),
            kForm, document_.spot_of(item));
      }
      values.push_back(std::move(item));
    }
    return values;
  }

  /// Numbers only: a parameter may be different in every member.
  std::vector<Value> read_range(const Value& table, const std::string& key) const {
    TableReader reader(document_, table, key);
    FormulaReader formulas(document_);
    const auto number = [&](const char* name) {
      return formulas.number(reader.require(name, kForm), reader.full(name));
    };
    const double from = number("from");
    const double to = number("to");
    const double count = number("count");
    reader.finish();
    const Value& at = *table.find("count");
    if (count == 0.0) fail_empty(key, at, "write count = 1 or more");
    if (!(count > 0.0) || count != std::floor(count)) {
      reader.fail(at, "count", fmt::format("must be a whole number >= 1, not {}", count),
                  "write 1, 2, 3, ...");
    }
    if (count > most_) {
      fail_large(reader.full("count"), count, at);
    }
    std::vector<Value> values(static_cast<std::size_t>(count));
    const double last = count - 1.0;
    for (std::size_t k = 0; k < values.size(); ++k) {
      const auto part = static_cast<double>(k);
      values[k].kind = Value::Kind::Number;
      values[k].number = k > 0 && part == last ? to : from;
      if (k > 0 && part < last) values[k].number += (to - from) * part / last;
      values[k].line = table.line;
      values[k].column = table.column;
      values[k].override_text = table.override_text;
    }
    return values;
  }

  [[noreturn]] void fail_large(const std::string& key, double members, const Value& at) const {
    throw base::InputError(
        key, fmt::format("makes {:.0f} members, more than {:.0f}", members, most_),
        "take fewer values, or split the family into several scenes", document_.spot_of_key(at));
  }

  void check_size(const Family& family, const Value& table) const {
    double members = 1.0;
    for (const FamilyKey& key : family.keys) members *= static_cast<double>(key.values.size());
    if (members > most_) fail_large(path_, members, table);
  }

  const Document& document_;
  std::string path_;  // of the table
  double most_;       // members
  std::vector<Found> found_;
};

}  // namespace

const char* parameter_table(const Value& root, const std::string& name) {
  if (root.find("structure") != nullptr) return "structure";
  const Value* world = root.find("world");
  if (world == nullptr) return "system";
  if (root.find("system") == nullptr) return "world";
  const Value* parameters = world->find("parameters");
  return parameters != nullptr && parameters->find(name) != nullptr ? "world" : "system";
}

bool is_same_key(const std::string& one, const std::string& other) {
  return full_name(one) == full_name(other);
}

std::size_t Family::size() const {
  std::size_t members = keys.empty() ? 0 : 1;
  for (const FamilyKey& key : keys) members *= key.values.size();
  return members;
}

const Value& Family::value(std::size_t member, std::size_t key) const {
  assert(member < size() && key < keys.size());
  for (std::size_t k = keys.size() - 1; k > key; --k) member /= keys[k].values.size();
  return keys[key].values[member % keys[key].values.size()];
}

std::vector<Override> Family::member(std::size_t index) const {
  std::vector<Override> changes;
  for (std::size_t k = 0; k < keys.size(); ++k) {
    const Value& chosen = value(index, k);
    const std::string text =
        chosen.kind == Value::Kind::Text ? quoted(chosen.text) : text_of(chosen);
    changes.push_back({keys[k].name, text, fmt::format("family {}={}", keys[k].name, text)});
  }
  return changes;
}

std::string Family::describe(std::size_t member) const {
  std::string words;
  for (std::size_t k = 0; k < keys.size(); ++k) {
    const Value& one = value(member, k);
    words += fmt::format(
        "{}{} = {}", k == 0 ? "" : ", ", keys[k].name,
        one.kind == Value::Kind::Number ? fmt::format("{:.12g}", one.number) : text_of(one));
  }
  return words;
}

Family read_family(const Document& document, const std::vector<Override>& overrides) {
  const Value* table = document.root().find("family");
  if (table == nullptr) return {};
  TableReader root(document, document.root(), "");
  constexpr auto kMost = static_cast<double>(Family::kMostMembers);
  Family family = FamilyReader(document, "family", kMost).read(*root.table("family"));
  std::erase_if(family.keys, [&](const FamilyKey& key) {
    return std::any_of(overrides.begin(), overrides.end(), [&](const Override& change) {
      return full_name(change.key) == full_name(key.name);
    });
  });
  return family;
}

Family read_sweep(const Document& document, const Value& table) {
  return FamilyReader(document, "sweep.over", 1e8).read(table);
}

base::InputError blame_member(const base::InputError& error, const Document& document,
                              const Family& family, std::size_t member) {
  const std::vector<Override> changes = family.member(member);
  for (std::size_t k = 0; k < changes.size(); ++k) {
    const bool is_at_value = error.spot().file.ends_with(changes[k].argument);
    if (!is_at_value && full_name(error.key()) != full_name(changes[k].key)) continue;
    return {error.key(), error.message(), error.remedy(),
            document.spot_of(family.value(member, k))};
  }
  return {error.key(),
          fmt::format("{} (member {} of the family: {})", error.message(), member + 1,
                      family.describe(member)),
          error.remedy(), error.spot()};
}

}  // namespace ricochet::scene
