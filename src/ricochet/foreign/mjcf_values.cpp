#include "ricochet/foreign/mjcf_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "ricochet/base/index.h"
#include "ricochet/base/text.h"

namespace ricochet::foreign {
namespace {

constexpr const char* kMain = "main";

}  // namespace

void MjcfValues::read_compiler(const Element& compiler) {
  if (const Attribute* angle = source_.find(compiler, "angle")) {
    if (angle->value != "degree" && angle->value != "radian") {
      source_.fail(*angle, fmt::format("'{}' is no unit of angles", angle->value),
                   "write degree or radian");
    }
    units_.is_degree = angle->value == "degree";
  }
  if (const Attribute* order = source_.find(compiler, "eulerseq")) {
    units_.euler = order->value;
    if (units_.euler.size() != 3 || units_.euler.find_first_not_of("xyzXYZ") != std::string::npos) {
      source_.fail(*order, "must be three letters out of x, y, z, X, Y, Z", "write xyz");
    }
  }
  if (const Attribute* automatic = source_.find(compiler, "autolimits")) {
    units_.has_auto_limits = source_.truth(*automatic);
  }
  if (const Attribute* rule = source_.find(compiler, "inertiafromgeom")) {
    if (rule->value != "true" && rule->value != "false" && rule->value != "auto") {
      source_.fail(*rule, fmt::format("'{}' is no choice", rule->value),
                   "write \"auto\", \"true\" or \"false\"");
    }
    units_.inertia_from_geom = rule->value;
  }
  const Attribute* coordinate = source_.find(compiler, "coordinate");
  if (coordinate != nullptr && coordinate->value != "local") {
    source_.fail(*coordinate,
                 fmt::format("coordinates that are {} are not read", coordinate->value),
                 "save the model with local coordinates");
  }
  for (const char* none : {"meshdir", "texturedir", "assetdir", "strippath", "discardvisual",
                           "usethread", "fusestatic", "convexhull", "fitaabb"}) {
    (void)source_.find(compiler, none);  // no effect on what is read
  }
}

void MjcfValues::read_default(const Element& element) {
  const Attribute* name = source_.find(element, "class");
  read_class(element, kMain, classes_[kMain]);
  if (name != nullptr && name->value != kMain) classes_[name->value] = classes_[kMain];
}

/// Ways to say how something is turned beside `quat`: the format keeps one of them, the one that
/// was written last, and it overrules `quat` wherever that stands.
static constexpr std::array kTurns = {"axisangle", "xyaxes", "zaxis", "euler"};

void MjcfValues::read_class(const Element& element, const std::string& name, Class inherited) {
  for (const char* tag : {"joint", "geom"}) {
    for (const Element* one : source_.children(element, tag)) {
      const auto turns = [&](const char* way) { return source_.find(*one, way) != nullptr; };
      if (std::any_of(kTurns.begin(), kTurns.end(), turns)) {
        for (const char* way : kTurns) inherited[tag].erase(way);
      }
      for (const Attribute& attribute : one->attributes) {
        inherited[tag][attribute.name] = &attribute;
      }
    }
  }
  classes_[name] = inherited;
  for (const Element* one : source_.children(element, "default")) {
    const Attribute* inner = source_.find(*one, "class");
    if (inner == nullptr) source_.fail(*one, "has no class", "write <default class=\"...\">");
    read_class(*one, inner->value, inherited);
  }
}

double MjcfValues::angle(double value) const {
  return units_.is_degree ? value * std::numbers::pi / 180.0 : value;
}

std::string MjcfValues::class_of(const Element& element, const std::string& around) {
  const Attribute* own = source_.find(element, "class");
  if (own == nullptr) return around.empty() ? kMain : around;
  return known_class(*own);
}

std::string MjcfValues::known_class(const Attribute& attribute) const {
  if (classes_.contains(attribute.value)) return attribute.value;
  std::vector<std::string> known;
  for (const auto& [name, unused] : classes_) known.push_back(name);
  source_.fail(attribute, fmt::format("there is no class '{}'", attribute.value),
               fmt::format("known: {}", base::list_names(known)));
}

const Attribute* MjcfValues::find(const Element& element, const std::string& class_name,
                                  const std::string& attribute) {
  if (const Attribute* own = source_.find(element, attribute)) return own;
  const auto in_class = classes_.find(class_name);
  if (in_class == classes_.end()) return nullptr;
  const auto of_tag = in_class->second.find(element.name);
  if (of_tag == in_class->second.end()) return nullptr;
  const auto found = of_tag->second.find(attribute);
  if (found == of_tag->second.end()) return nullptr;
  source_.ask(*found->second);
  return found->second;
}

double MjcfValues::number(const Element& element, const std::string& class_name,
                          const std::string& attribute, double otherwise) {
  const Attribute* found = find(element, class_name, attribute);
  return found == nullptr ? otherwise : source_.number(*found);
}

/// The turn that a way of writing it means.
Turn MjcfValues::turn_of(const Attribute& attribute) const {
  const auto fail = [&] {
    source_.fail(attribute, "has a direction of no length", "write another");
  };
  const std::string& name = attribute.name;
  if (name == "quat") {
    const std::vector<double> q = source_.numbers(attribute, 4, 4);
    const Turn turn(q[0], q[1], q[2], q[3]);
    if (!(turn.norm() > 0.0)) fail();
    return turn.normalized();
  }
  if (name == "axisangle") {
    const std::vector<double> a = source_.numbers(attribute, 4, 4);
    const Vec3 axis(a[0], a[1], a[2]);
    if (!(axis.norm() > 0.0)) fail();
    return turn_about(axis, angle(a[3]));
  }
  if (name == "zaxis") {
    const Vec3 z = source_.vector(attribute);
    if (!(z.norm() > 0.0)) fail();
    return turn_of_z(z);
  }
  if (name == "xyaxes") {
    const std::vector<double> a = source_.numbers(attribute, 6, 6);
    Mat3 axes;
    const Vec3 x(a[0], a[1], a[2]);
    const Vec3 y = Vec3(a[3], a[4], a[5]) - x * (x.dot(Vec3(a[3], a[4], a[5])) / x.squaredNorm());
    if (!(x.norm() > 0.0) || !(y.norm() > 0.0)) fail();
    axes.col(0) = x.normalized();
    axes.col(1) = y.normalized();
    axes.col(2) = axes.col(0).cross(axes.col(1));
    return Turn(axes).normalized();
  }
  const Vec3 angles = source_.vector(attribute);  // euler
  Turn turn = Turn::Identity();
  for (std::size_t k = 0; k < 3; ++k) {
    const char letter = units_.euler[k];
    const int axis = (letter | 0x20) - 'x';
    const Turn one = turn_about(Vec3::Unit(axis), angle(angles[static_cast<Eigen::Index>(k)]));
    turn = letter >= 'x' ? turn * one : one * turn;
  }
  return turn.normalized();
}

Pose MjcfValues::pose(const Element& element, const std::string& class_name) {
  Pose made;
  if (const Attribute* at = find(element, class_name, "pos")) made.x = source_.vector(*at);
  const Attribute* chosen = nullptr;
  const auto names = {"quat", "axisangle", "xyaxes", "zaxis", "euler"};
  for (const char* name : names) {
    const Attribute* own = source_.find(element, name);
    if (own == nullptr) continue;
    if (chosen != nullptr) source_.fail(*own, "says again how it is turned", "remove one");
    chosen = own;
  }
  const Attribute* turned = nullptr;  // by other ways than a quaternion, in classes
  for (const char* name : kTurns) {
    if (turned == nullptr) turned = find(element, class_name, name);
  }
  if (chosen != nullptr && turned != nullptr && chosen->name == "quat") {
    source_.note(chosen->place, fmt::format("'quat' is overruled by '{}' of its class, as in the "
                                            "format: left out",
                                            turned->name));
    chosen = turned;
  }
  if (chosen == nullptr) chosen = turned != nullptr ? turned : find(element, class_name, "quat");
  if (chosen != nullptr) made.turn = turn_of(*chosen);
  return made;
}

}  // namespace ricochet::foreign
