#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ricochet/scene/document.h"

namespace ricochet::scene {

/// What the schemes of this version do: the remedy for keys that they cannot honour.
std::string what_this_version_runs();

/// Reads the keys of one table, remembers which were asked for, and complains about the others.
class TableReader {
 public:
  /// `path` is the dotted name of the table, for messages; empty for the root.
  TableReader(const Document& document, const Value& table, std::string path);

  const Value* find(const std::string& key);
  const Value& require(const std::string& key, const std::string& remedy);
  /// Whether a typing error seems to have made another key of it.
  bool is_misspelt(const std::string& key) const { return misspelt(key) != nullptr; }
  std::optional<std::string> text(const std::string& key);
  const Value* table(const std::string& key);  // null when missing; an error when no table

  /// Keys of the language that no scheme of this version can use yet.
  void not_yet(const std::vector<std::string>& keys, const std::string& remedy);

  /// To be called last: an error for the first key nobody asked for.
  void finish();

  std::string full(const std::string& key) const { return path_.empty() ? key : path_ + "." + key; }
  const std::string& path() const { return path_; }
  const Value& value() const { return table_; }

  [[noreturn]] void fail(const Value& value, const std::string& key, const std::string& message,
                         const std::string& remedy) const;

 private:
  /// The key of the table, unknown to the language, that a typing error made of `key`.
  const Value::Entry* misspelt(const std::string& key) const;

  const Document& document_;
  const Value& table_;
  std::string path_;
  std::set<std::string> known_;
};

}  // namespace ricochet::scene
