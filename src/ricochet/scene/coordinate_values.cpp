#include "ricochet/scene/coordinate_values.h"

#include <fmt/format.h>

#include <algorithm>

#include "ricochet/base/text.h"

namespace ricochet::scene {

void CoordinateValues::take_group(const CoordinateGroup& group, const Value& value,
                                  const std::string& key, const Take& take) const {
  if (!group.indexed) return take(group.begin, value, key, {});
  const bool is_list = value.kind == Value::Kind::Array;
  if (is_list && static_cast<int>(value.items.size()) != group.count) {
    throw base::InputError(
        key,
        fmt::format("has {} entries for the {} of {}", value.items.size(), group.count, group.name),
        "give one for each, or one formula of i for all", document_.spot_of(value));
  }
  for (int k = 0; k < group.count; ++k) {
    const formula::Locals locals = {{"i", static_cast<double>(group.first + k)}};
    take(group.begin + k, is_list ? value.items[static_cast<std::size_t>(k)] : value, key, locals);
  }
}

/// "z[3]".
bool CoordinateValues::take_single(const std::string& name, const Value& value,
                                   const std::string& key, const Take& take) const {
  for (const CoordinateGroup& group : groups_) {
    if (!group.indexed || !name.starts_with(group.name + "[")) continue;
    for (int k = 0; k < group.count; ++k) {
      if (group.full_name(k) != name) continue;
      take(group.begin + k, value, key, {{"i", static_cast<double>(group.first + k)}});
      return true;
    }
  }
  return false;
}

void CoordinateValues::for_each(const Value& value, const std::string& key,
                                const std::string& remedy, const Take& take) const {
  if (value.kind == Value::Kind::Array) {
    if (value.items.size() != groups_.size()) {
      throw base::InputError(
          key,
          fmt::format("must be a list of {}, one for each name of coordinates", groups_.size()),
          remedy, document_.spot_of(value));
    }
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      take_group(groups_[g], value.items[g], key, take);
    }
    return;
  }
  if (value.kind != Value::Kind::Table) {
    throw base::InputError(key, fmt::format("must be a list or a table, not {}", value.kind_name()),
                           remedy, document_.spot_of(value));
  }
  for (const auto& [name, entry] : value.entries) {
    const std::string full = key + "." + name;
    const auto named = [&name = name](const CoordinateGroup& group) { return group.name == name; };
    const auto group = std::find_if(groups_.begin(), groups_.end(), named);
    if (group != groups_.end()) {
      take_group(*group, entry, full, take);
    } else if (!take_single(name, entry, full, take)) {
      std::vector<std::string> names;
      for (const CoordinateGroup& known : groups_) names.push_back(known.name);
      std::string hint = fmt::format("coordinates: {}", base::list_names(names));
      if (const auto near = base::nearest_name(name, names)) {
        hint = fmt::format("did you mean '{}'? {}", *near, hint);
      }
      throw base::InputError(full, "is no coordinate", hint, document_.spot_of_key(entry));
    }
  }
}

}  // namespace ricochet::scene
