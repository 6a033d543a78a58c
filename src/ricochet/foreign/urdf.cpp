#include "ricochet/foreign/urdf.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "ricochet/base/index.h"
#include "ricochet/base/text.h"
#include "ricochet/convex/dense.h"
#include "ricochet/foreign/settle.h"

namespace ricochet::foreign {
namespace {

using base::index;

/// A link as the file has it.
struct UrdfLink {
  const Element* element{nullptr};
  std::string name;
  Mass mass;                  // in the frame of the link
  int parent{-1};             // joint by which it hangs
  std::vector<int> children;  // joints
};

struct UrdfJoint {
  const Element* element{nullptr};
  std::string name;
  std::string type;
  Pose origin;
  int parent{-1};
  int child{-1};
};

/// Why something of the file has no place in a scene.
std::string urdf_words(const Element& element, const Attribute* attribute) {
  const std::string& tag = element.name;
  if (attribute != nullptr) {
    const std::string& name = attribute->name;
    if (tag == "limit" && (name == "effort" || name == "velocity")) {
      return fmt::format("'{}' of <limit> is a bound for a controller: left out", name);
    }
    return fmt::format("'{}' of <{}> is not understood: left out", name, tag);
  }
  if (tag == "visual") return "<visual> of a link that has <collision>: left out";
  if (tag == "material") return "<material> is appearance only: left out";
  if (tag == "mimic") return "<mimic> couples joints, which scenes cannot: the joint moves freely";
  if (tag == "mesh") return "<mesh> is not read: the shape is left out";
  if (tag == "transmission" || tag == "gazebo" || tag == "safety_controller" ||
      tag == "calibration") {
    return fmt::format("<{}> is for other programs: left out", tag);
  }
  return fmt::format("<{}> is not understood: left out", tag);
}

class UrdfReader {
 public:
  UrdfReader(Source& source, const Element& robot) : source_(source), robot_(robot) {}

  Mechanism read(bool fixed_base) {
    made_.format = "URDF";
    const Attribute* name = source_.find(robot_, "name");
    made_.title = name == nullptr ? "" : name->value;
    refuse_macros(robot_);
    for (const Element* link : source_.children(robot_, "link")) read_link(*link);
    for (const Element* joint : source_.children(robot_, "joint")) read_joint(*joint);
    for (const Element* material : source_.children(robot_, "material"))
      source_.ask(*material, true);
    const int root = find_root();
    const bool is_fixed =
        fixed_base || links_[index(root)].name == "world" || !(mass_held_by(root) > 0.0);
    place_root(root, is_fixed);
    say_rules(links_[index(root)].name, is_fixed);
    check_masses();
    source_.note_rest(robot_, urdf_words);
    return std::move(made_);
  }

 private:
  void refuse_macros(const Element& element) const {
    if (element.name.starts_with("xacro:")) {
      source_.fail(element, "is a macro of xacro",
                   "expand it first: xacro robot.xacro > robot.urdf");
    }
    for (const Element& one : element.children) refuse_macros(one);
  }

  std::string name_of(const Element& element) {
    const Attribute* name = source_.find(element, "name");
    if (name != nullptr && !base::trimmed(name->value).empty()) return name->value;
    source_.fail(element, "has no name", fmt::format("write <{} name=\"...\">", element.name));
  }

  const Element& need(const Element& element, const std::string& tag) {
    const Element* found = source_.child(element, tag);
    if (found != nullptr) return *found;
    source_.fail(element, fmt::format("has no <{}>", tag),
                 fmt::format("write <{} .../> in it", tag));
  }

  const Attribute& need_attribute(const Element& element, const std::string& name) {
    const Attribute* found = source_.find(element, name);
    if (found != nullptr) return *found;
    source_.fail(element, fmt::format("has no '{}'", name), fmt::format("write {}=\"...\"", name));
  }

  double positive(const Element& element, const std::string& name) {
    const Attribute& attribute = need_attribute(element, name);
    const double found = source_.number(attribute);
    if (found > 0.0) return found;
    source_.fail(attribute, fmt::format("must be positive, not {}", found), "write a number > 0");
  }

  /// Roll, pitch and yaw turn about x, y and z of space, one after the other.
  Pose origin_of(const Element& element) {
    Pose pose;
    const Element* origin = source_.child(element, "origin");
    if (origin == nullptr) return pose;
    pose.x = source_.vector(*origin, "xyz", Vec3::Zero());
    const Vec3 rpy = source_.vector(*origin, "rpy", Vec3::Zero());
    pose.turn = turn_about(Vec3::UnitZ(), rpy[2]) * turn_about(Vec3::UnitY(), rpy[1]) *
                turn_about(Vec3::UnitX(), rpy[0]);
    return pose;
  }

  void read_link(const Element& element) {
    constexpr std::size_t kMost = 2000;
    if (links_.size() == kMost) {
      source_.fail(element, "is one of more than 2000 links", "make the robot of several files");
    }
    UrdfLink link;
    link.element = &element;
    link.name = name_of(element);
    if (!numbers_.emplace(link.name, static_cast<int>(links_.size())).second) {
      source_.fail(element, fmt::format("there are two links '{}'", link.name), "rename one");
    }
    if (const Element* inertial = source_.child(element, "inertial")) {
      link.mass = read_mass(*inertial);
    }
    links_.push_back(std::move(link));
  }

  Mass read_mass(const Element& inertial) {
    Mass mass;
    const Element& heavy = need(inertial, "mass");
    const Attribute& value = need_attribute(heavy, "value");
    mass.mass = source_.number(value);
    if (!(mass.mass >= 0.0)) {
      source_.fail(value, fmt::format("must not be negative, as {} is", mass.mass),
                   "write a mass > 0");
    }
    const Element& turning = need(inertial, "inertia");
    const auto entry = [&](const char* name) {
      return source_.number(need_attribute(turning, name));
    };
    // One after the other: a missing one throws.
    const double xy = entry("ixy");
    const double xz = entry("ixz");
    const double yz = entry("iyz");
    const Vec3 diagonal(entry("ixx"), entry("iyy"), entry("izz"));
    mass.inertia << diagonal[0], xy, xz, xy, diagonal[1], yz, xz, yz, diagonal[2];
    return mass.seen_from(origin_of(inertial));
  }

  int link_called(const Element& joint, const std::string& tag) {
    const Element& element = need(joint, tag);
    const Attribute& name = need_attribute(element, "link");
    const auto found = numbers_.find(name.value);
    if (found != numbers_.end()) return found->second;
    std::vector<std::string> known;
    for (const UrdfLink& link : links_) known.push_back(link.name);
    source_.fail(name, fmt::format("there is no link '{}'", name.value),
                 fmt::format("known: {}", known.empty() ? "none" : base::list_names(known)));
  }

  void read_joint(const Element& element) {
    UrdfJoint joint;
    joint.element = &element;
    joint.name = name_of(element);
    joint.type = need_attribute(element, "type").value;
    const std::vector<std::string> known = {"revolute", "continuous", "prismatic", "fixed",
                                            "floating", "ball",       "spherical"};
    if (std::find(known.begin(), known.end(), joint.type) == known.end()) {
      source_.fail(need_attribute(element, "type"),
                   fmt::format("'{}' is a kind of joint that scenes do not have", joint.type),
                   fmt::format("known: {}", base::list_names(known)));
    }
    joint.origin = origin_of(element);
    joint.parent = link_called(element, "parent");
    joint.child = link_called(element, "child");
    UrdfLink& child = links_[index(joint.child)];
    if (child.parent >= 0) {
      source_.fail(element,
                   fmt::format("'{}' hangs on '{}' already: links make a tree", child.name,
                               joints_[index(child.parent)].name),
                   "remove one of the two joints; add it to the scene as a [joint]");
    }
    child.parent = static_cast<int>(joints_.size());
    links_[index(joint.parent)].children.push_back(child.parent);
    joints_.push_back(std::move(joint));
  }

  int find_root() const {
    if (links_.empty()) source_.fail(robot_, "has no <link>", "a robot has one at least");
    std::vector<int> roots;
    for (std::size_t k = 0; k < links_.size(); ++k) {
      if (links_[k].parent < 0) roots.push_back(static_cast<int>(k));
    }
    if (roots.size() > 1) {
      const UrdfLink& other = links_[index(roots[1])];
      source_.fail(*other.element,
                   fmt::format("'{}' hangs on nothing, as '{}' does: a robot has one root",
                               other.name, links_[index(roots[0])].name),
                   "write a joint to it; of type floating where it is free");
    }
    for (std::size_t k = 0; k < links_.size(); ++k) {  // up from every link, to the root
      std::string way = links_[k].name;
      int at = static_cast<int>(k);
      for (std::size_t n = 0; links_[index(at)].parent >= 0; ++n) {
        at = joints_[index(links_[index(at)].parent)].parent;
        way += " on " + links_[index(at)].name;
        if (at == static_cast<int>(k) || n > links_.size()) {
          source_.fail(*links_[k].element, fmt::format("links hang in a circle: {}", way),
                       "remove one joint of the circle; add it to the scene as a [joint]");
        }
      }
    }
    return roots[0];
  }

  /// Of a link and of all that is fixed to it.
  double mass_held_by(int number) const {
    double sum = links_[index(number)].mass.mass;
    for (const int joint : links_[index(number)].children) {
      const UrdfJoint& one = joints_[index(joint)];
      if (one.type == "fixed") sum += mass_held_by(one.child);
    }
    return sum;
  }

  void say_rules(const std::string& root, bool is_fixed) {
    made_.rules.push_back(
        is_fixed
            ? fmt::format("'{}', the root, is fixed in space", root)
            : fmt::format("'{}', the root, has a mass and is free; --fixed-base fixes it", root));
    bool touches = false;
    for (const Link& link : made_.links) {
      for (const Solid& solid : link.solids) touches = touches || !solid.is_shown_only;
    }
    made_.rules.emplace_back(
        touches
            ? "links do not touch each other: URDF says nothing of friction, so that no pair is "
              "stated. Add the ground as a body with a material of its own, and its pair with "
              "'robot'"
            : "no link has a <collision> that is read: nothing touches");
    made_.rules.emplace_back("gravity, step and end are not in the file");
  }

  int add_link(const UrdfLink& link, const Pose& pose, bool is_fixed) {
    Link made;
    made.name = link.name;
    made.place = link.element->place;
    made.pose = pose;
    made.is_fixed = is_fixed;
    made_.links.push_back(std::move(made));
    elements_.push_back(link.element);
    return static_cast<int>(made_.links.size()) - 1;
  }

  void place_root(int root, bool is_fixed) {
    place(root, add_link(links_[index(root)], {}, is_fixed), {});
  }

  /// The link `number` is part of what moves as `carrier`, with its frame at `pose`.
  void place(int number, int carrier, const Pose& pose) {
    const UrdfLink& link = links_[index(number)];
    Link& made = made_.links[index(carrier)];
    made.mass = made.mass.with(link.mass.seen_from(pose));
    add_solids(link, pose, made);
    for (const int k : link.children) {
      const UrdfJoint& joint = joints_[index(k)];
      const Pose at = pose.after(joint.origin);
      if (joint.type == "fixed") {
        place_fixed(joint, carrier, at);
      } else {
        place_moving(joint, carrier, at);
      }
    }
  }

  /// Whether a mass can be that of a body of its own: a mass in a point cannot.
  static bool can_move(const Mass& mass) {
    return mass.mass > 0.0 && convex::symmetric_eigenvalues(mass.inertia)[0] > 0.0;
  }

  /// A weld where both have a mass and moments of inertia and are free; else they are one body.
  void place_fixed(const UrdfJoint& joint, int carrier, const Pose& at) {
    const UrdfLink& child = links_[index(joint.child)];
    const Link& parent = made_.links[index(carrier)];
    if (parent.is_fixed || !can_move(parent.mass) || !can_move(child.mass)) {
      place(joint.child, carrier, at);
      return;
    }
    Joint made;
    made.kind = JointKind::Weld;
    made.name = joint.name;
    made.place = joint.element->place;
    made.at = at.x;
    made.a = carrier;
    made.b = add_link(child, at, false);
    made_.joints.push_back(made);
    place(joint.child, made.b, at);
  }

  void place_moving(const UrdfJoint& joint, int carrier, Pose at) {
    const UrdfLink& child = links_[index(joint.child)];
    if (!(mass_held_by(joint.child) > 0.0)) {
      source_.fail(*child.element,
                   fmt::format("'{}' moves by '{}' and has no mass", child.name, joint.name),
                   "write <inertial> with a mass > 0, or make the joint fixed");
    }
    if (joint.type == "floating") {
      place(joint.child, add_link(child, at, false), at);
      return;
    }
    Joint made;
    made.name = joint.name;
    made.place = joint.element->place;
    made.a = carrier;
    made.at = at.x;
    const bool is_ball = joint.type == "ball" || joint.type == "spherical";
    made.kind = is_ball                     ? JointKind::Ball
                : joint.type == "prismatic" ? JointKind::Slider
                                            : JointKind::Hinge;
    if (!is_ball) {
      read_axis(joint, at, made);
      read_coordinate(joint, made);
      at = moved_along(made, settle_coordinate(source_, 0.0, made), at);
      if (made.kind == JointKind::Slider) made.at = at.x;
    }
    made.b = add_link(child, at, false);
    made_.joints.push_back(made);
    place(joint.child, made.b, at);
  }

  void read_axis(const UrdfJoint& joint, const Pose& at, Joint& made) {
    const Element* axis = source_.child(*joint.element, "axis");
    const Vec3 along =
        axis == nullptr ? Vec3::UnitX() : source_.vector(*axis, "xyz", Vec3::UnitX());
    if (!(along.stableNorm() > 0.0))
      source_.fail(*axis, "is zero", "write a direction: xyz=\"0 0 1\"");
    made.axis = at.turn * along.stableNormalized();
  }

  void read_coordinate(const UrdfJoint& joint, Joint& made) {
    const Element* limit = source_.child(*joint.element, "limit");
    if (limit != nullptr && joint.type != "continuous") {
      made.low = source_.number(*limit, "lower", 0.0);
      made.high = source_.number(*limit, "upper", 0.0);
    } else if (joint.type == "revolute" || joint.type == "prismatic") {
      source_.note(
          joint.element->place,
          fmt::format("'{}' is {} and has no <limit>: it moves without", joint.name, joint.type));
    }
    const Element* dynamics = source_.child(*joint.element, "dynamics");
    if (dynamics == nullptr) return;
    made.damping = at_least_zero(*dynamics, "damping");
    made.friction = at_least_zero(*dynamics, "friction");
  }

  double at_least_zero(const Element& element, const std::string& name) {
    const double found = source_.number(element, name, 0.0);
    if (found >= 0.0) return found;
    source_.fail(*source_.find(element, name), "must not be negative", "write a number >= 0");
  }

  /// What it touches with, else what it shows.
  void add_solids(const UrdfLink& link, const Pose& pose, Link& made) {
    const Element& element = *link.element;
    std::vector<const Element*> parts = source_.children(element, "collision");
    const bool is_shown_only = parts.empty();
    if (is_shown_only) parts = source_.children(element, "visual");
    for (const Element* part : parts) {
      (void)source_.find(*part, "name");
      const Element* look = source_.child(*part, "material");
      if (look != nullptr) source_.ask(*look, true);
      Solid solid;
      solid.pose = pose.after(origin_of(*part));
      solid.is_shown_only = is_shown_only;
      solid.place = part->place;
      solid.name = link.name;
      if (read_form(need(*part, "geometry"), solid)) made.solids.push_back(std::move(solid));
    }
  }

  bool read_form(const Element& geometry, Solid& solid) {
    if (const Element* box = source_.child(geometry, "box")) {
      const Attribute& size = need_attribute(*box, "size");
      solid.form = Form::Box;
      solid.size = source_.vector(size);
      if (solid.size.minCoeff() > 0.0) return true;
      source_.fail(size, "must be three positive lengths", "write the sides in metres");
    }
    if (const Element* ball = source_.child(geometry, "sphere")) {
      solid.form = Form::Ball;
      solid.size[0] = positive(*ball, "radius");
      return true;
    }
    for (const char* tag : {"cylinder", "capsule"}) {
      const Element* round = source_.child(geometry, tag);
      if (round == nullptr) continue;
      solid.form = std::string(tag) == "capsule" ? Form::Capsule : Form::Cylinder;
      solid.size = {positive(*round, "radius"), positive(*round, "length"), 0.0};
      return true;
    }
    if (geometry.children.empty()) {
      source_.fail(geometry, "is empty", "write <box>, <sphere>, <cylinder> or <capsule> in it");
    }
    return false;  // what it has is noted as not understood
  }

  void check_masses() const {
    for (std::size_t k = 0; k < made_.links.size(); ++k) {
      const Link& link = made_.links[k];
      if (!link.is_fixed) check_mass(source_, *elements_[k], link.name, link.mass);
    }
  }

  Source& source_;
  const Element& robot_;
  std::vector<UrdfLink> links_;
  std::vector<UrdfJoint> joints_;
  std::map<std::string, int> numbers_;    // of links, by name
  std::vector<const Element*> elements_;  // of links of the mechanism
  Mechanism made_;
};

}  // namespace

Mechanism read_urdf(Source& source, const Element& robot, bool fixed_base) {
  return UrdfReader(source, robot).read(fixed_base);
}

}  // namespace ricochet::foreign
