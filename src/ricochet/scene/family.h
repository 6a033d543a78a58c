#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ricochet/base/error.h"
#include "ricochet/scene/document.h"

namespace ricochet::scene {

/// One `--set name=value`: a parameter, or a dotted key.
struct Override {
  std::string key;
  std::string value;
  std::string argument;  // as typed, for messages
};

/// The table that has the parameters of a scene: "system", "structure" or "world"; of a scene with
/// the first and the last, that which has this one.
const char* parameter_table(const Value& root, const std::string& name);

/// A key that varies: a parameter or a dotted key, and its values in order.
struct FamilyKey {
  std::string name;
  std::vector<Value> values;  // numbers and texts, with their places
};

/// The [family] of a scene: every combination of the values of its keys, the last one varying
/// fastest. A scene without one has no keys.
struct Family {
  std::vector<FamilyKey> keys;

  static constexpr std::size_t kMostMembers = 100'000;

  bool empty() const { return keys.empty(); }
  std::size_t size() const;  // number of members; 0 without keys
  const Value& value(std::size_t member, std::size_t key) const;
  /// What the member, counted from 0, changes in the scene.
  std::vector<Override> member(std::size_t index) const;
  /// "R = 2, start.velocity.x = 3".
  std::string describe(std::size_t member) const;
};

/// Whether two keys of a family or of settings mean the same: "R" and "system.parameters.R".
bool is_same_key(const std::string& one, const std::string& other);

/// The [family] of a document to which `overrides` have been applied. A key that they set does not
/// vary: what is said there holds for all. Throws base::InputError.
Family read_family(const Document& document, const std::vector<Override>& overrides);

/// What [sweep.over], written like [family], lets vary. Throws base::InputError.
Family read_sweep(const Document& document, const Value& table);

/// The error of reading a member, pointing at the value of [family] that is to blame; where the
/// fault is elsewhere, the message says in which member it is.
base::InputError blame_member(const base::InputError& error, const Document& document,
                              const Family& family, std::size_t member);

}  // namespace ricochet::scene
