#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ricochet/formula/lower.h"
#include "ricochet/scene/document.h"
#include "ricochet/scene/names.h"

namespace ricochet::scene {

/// Values given to coordinates, as a list with one entry for each name of system.coordinates, or as
/// a table by name. What a family z[1..N] is given may be one number or formula for all, in which
/// `i` is the index, or a list of N; and "z[3]" in a table is one of them.
class CoordinateValues {
 public:
  using Take =
      std::function<void(int, const Value&, const std::string&, const formula::Locals& locals)>;

  CoordinateValues(const Document& document, const std::vector<CoordinateGroup>& groups)
      : document_(document), groups_(groups) {}

  /// Calls `take(coordinate, value, key, locals)` for each that is given something.
  void for_each(const Value& value, const std::string& key, const std::string& remedy,
                const Take& take) const;

 private:
  void take_group(const CoordinateGroup& group, const Value& value, const std::string& key,
                  const Take& take) const;
  bool take_single(const std::string& name, const Value& value, const std::string& key,
                   const Take& take) const;

  const Document& document_;
  const std::vector<CoordinateGroup>& groups_;
};

}  // namespace ricochet::scene
