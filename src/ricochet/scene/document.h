#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ricochet/base/error.h"

namespace ricochet::scene {

/// A value of a TOML document, with the place where it was written.
struct Value {
  struct Entry;
  enum class Kind { Missing, Number, Text, Boolean, Other, Array, Table };
  Kind kind{Kind::Missing};
  double number{0.0};
  std::string text;
  bool boolean{false};
  std::vector<Value> items;    // of an Array
  std::vector<Entry> entries;  // of a Table, in the order of the file
  int line{0};                 // where the value starts; 0: not in the file
  int column{0};
  int key_line{0};  // where its key starts
  int key_column{0};
  std::string override_text;  // the argument the value came from, when it did: --set R=2

  const Value* find(std::string_view key) const;
  const char* kind_name() const;
};

struct Value::Entry {
  std::string first;
  Value second;
};

/// A parsed TOML text that can point at its own lines.
class Document {
 public:
  /// Throws base::InputError with line and column for text that is not TOML.
  Document(std::string file, std::string text);

  const Value& root() const { return root_; }
  const std::string& file() const { return file_; }
  const std::string& text() const { return text_; }

  /// Sets a dotted key, making tables on the way: what `--set` does. `value` is read as TOML, and
  /// as a string when it is none. `argument` is what followed --set, or an option of its own with
  /// its value (`--step 0.1`): errors at the value show it.
  void set(std::string_view dotted_key, std::string_view value, std::string_view argument);

  /// Takes `key` out of the table `table`, if both are there.
  void remove(std::string_view table, std::string_view key);

  base::Spot spot_of(const Value& value) const;
  base::Spot spot_of_key(const Value& value) const;
  /// `begin` and `length` in bytes of the string that `value` is.
  base::Spot spot_inside(const Value& value, int begin, int length) const;

 private:
  base::Spot spot_at(int line, int column, int length) const;

  std::string file_;
  std::string text_;
  Value root_;
};

}  // namespace ricochet::scene
