#pragma once

#include <map>
#include <string>

#include "ricochet/foreign/mechanism.h"
#include "ricochet/foreign/source.h"

namespace ricochet::foreign {

/// What <compiler> says of the numbers of a file.
struct MjcfUnits {
  bool is_degree{true};
  std::string euler{"xyz"};  // small letters: axes that turn along
  bool has_auto_limits{true};
  std::string inertia_from_geom{"auto"};
};

/// Attributes of elements of MJCF, with what their class says where they say nothing.
class MjcfValues {
 public:
  explicit MjcfValues(Source& source) : source_(source) {}

  void read_compiler(const Element& compiler);
  /// A <default> of the top.
  void read_default(const Element& element);

  const MjcfUnits& units() const { return units_; }
  double angle(double value) const;  // [rad]
  const Attribute* find(const Element& element, const std::string& class_name,
                        const std::string& attribute);
  double number(const Element& element, const std::string& class_name, const std::string& attribute,
                double otherwise);
  /// `pos` and one of quat, axisangle, xyaxes, zaxis and euler.
  Pose pose(const Element& element, const std::string& class_name);
  /// The class that an attribute names.
  std::string known_class(const Attribute& attribute) const;
  /// The class of an element: its own, or that of the body around.
  std::string class_of(const Element& element, const std::string& around);

 private:
  using Attributes = std::map<std::string, const Attribute*>;
  using Class = std::map<std::string, Attributes>;  // by the names of elements

  void read_class(const Element& element, const std::string& name, Class inherited);
  Turn turn_of(const Attribute& attribute) const;

  Source& source_;
  MjcfUnits units_;
  std::map<std::string, Class> classes_{{"main", {}}};
};

}  // namespace ricochet::foreign
