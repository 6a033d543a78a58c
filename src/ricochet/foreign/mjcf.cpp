#include "ricochet/foreign/mjcf.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "ricochet/base/index.h"
#include "ricochet/base/text.h"
#include "ricochet/foreign/mjcf_values.h"
#include "ricochet/foreign/settle.h"

namespace ricochet::foreign {
namespace {

using base::index;

/// Something of a body with the frame and the class that hold around it.
struct Item {
  const Element* element{nullptr};
  Pose around;  // in space
  std::string class_name;
};

/// A body of the file: what carries it, and its frame at the start.
struct Carried {
  int link{0};
  Pose pose;
};

/// Why something of the file has no place in a scene.
std::string mjcf_words(const Element& element, const Attribute* attribute) {
  static const std::map<std::string, std::string> reasons = {
      {"armature", "the inertia of a rotor is left out, and the motion differs"},
      {"solref", "contacts, limits and joints are rigid here: left out"},
      {"solimp", "contacts, limits and joints are rigid here: left out"},
      {"solreflimit", "contacts, limits and joints are rigid here: left out"},
      {"solimplimit", "contacts, limits and joints are rigid here: left out"},
      {"solreffriction", "contacts, limits and joints are rigid here: left out"},
      {"solimpfriction", "contacts, limits and joints are rigid here: left out"},
      {"margin", "contacts act where shapes touch: left out"},
      {"gap", "contacts act where shapes touch: left out"},
      {"integrator", "the scheme of bodies is another one: left out"},
      {"solver", "the solver of contacts is another one: left out"},
      {"cone", "friction is Coulomb's, in round cones: left out"},
      {"iterations", "the solver of contacts is another one: left out"},
      {"tolerance", "the solver of contacts is another one: left out"},
      {"impratio", "contacts, limits and joints are rigid here: left out"},
      {"rgba", "appearance only: left out"},
      {"material", "appearance only: left out"},
      {"group", "appearance only: left out"},
  };
  static const std::map<std::string, std::string> parts = {
      {"site", "marks only: left out"},
      {"camera", "appearance only: left out"},
      {"light", "appearance only: left out"},
      {"visual", "appearance only: left out"},
      {"asset", "appearance only: left out"},
      {"statistic", "appearance only: left out"},
      {"size", "sizes of memory: left out"},
      {"sensor", "left out; write [watch]"},
      {"actuator", "left out: nothing drives the joints; write motor in [joint]"},
      {"keyframe", "left out: the start is that of the bodies"},
      {"tendon", "left out: scenes have none; write a distance where it is straight"},
  };
  if (attribute != nullptr) {
    const auto found = reasons.find(attribute->name);
    return fmt::format("'{}' of <{}>: {}", attribute->name, element.name,
                       found == reasons.end() ? "not understood, left out" : found->second);
  }
  const auto found = parts.find(element.name);
  return fmt::format("<{}>: {}", element.name,
                     found == parts.end() ? "not understood, left out" : found->second);
}

class MjcfReader {
 public:
  MjcfReader(Source& source, const Element& root) : source_(source), values_(source), root_(root) {}

  Mechanism read() {
    made_.format = "MJCF";
    made_.step = 0.002;
    const Attribute* name = source_.find(root_, "model");
    made_.title = name == nullptr ? "" : name->value;
    for (const Element* one : source_.children(root_, "compiler")) values_.read_compiler(*one);
    for (const Element* one : source_.children(root_, "option")) read_option(*one);
    for (const Element* one : source_.children(root_, "default")) values_.read_default(*one);
    say_rules();
    Link world;
    world.name = "world";
    world.is_fixed = true;
    made_.links.push_back(world);
    elements_.push_back(&root_);
    const std::vector<const Element*> worlds = source_.children(root_, "worldbody");
    if (worlds.empty()) source_.fail(root_, "has no <worldbody>", "a model has one");
    for (const Element* one : worlds) read_inside(*one, "world", {0, {}}, "");
    for (std::size_t k = 1; k < made_.links.size(); ++k) {
      check_mass(source_, *elements_[k], made_.links[k].name, made_.links[k].mass);
    }
    for (const Element* one : source_.children(root_, "contact")) read_contact(*one);
    for (const Element* one : source_.children(root_, "equality")) read_equality(*one);
    if (is_weightless_) made_.gravity.setZero();
    source_.note_rest(root_, mjcf_words);
    return std::move(made_);
  }

 private:
  void say_rules() {
    made_.rules.emplace_back(
        "friction of a pair is the larger one of the two geoms, or that of the geom with the "
        "higher "
        "priority; it acts where condim is 3 or more, 'spinning' where it is 4 and 'rolling' where "
        "it is 6; no pair rebounds, as the format has no restitution");
    made_.rules.emplace_back(
        "geoms touch where contype and conaffinity let them; a body and its parent do not, unless "
        "the "
        "parent is fixed");
    made_.rules.emplace_back(
        "bodies without a joint are one with their parent, those of the world are fixed");
    made_.rules.emplace_back("the end of the run is not in the file");
  }

  void read_option(const Element& option) {
    made_.gravity = source_.vector(option, "gravity", made_.gravity);
    if (const Attribute* step = source_.find(option, "timestep")) {
      made_.step = source_.number(*step);
      if (!(made_.step > 0.0)) source_.fail(*step, "must be positive", "write 0.002");
    }
    for (const Element* flag : source_.children(option, "flag")) {
      const Attribute* gravity = source_.find(*flag, "gravity");
      if (gravity != nullptr && !source_.truth(*gravity)) is_weightless_ = true;
      const Attribute* contact = source_.find(*flag, "contact");
      if (contact != nullptr && !source_.truth(*contact)) made_.has_contacts = false;
    }
  }

  /// What stands in a body or a frame, frames taken apart.
  void collect(const Element& element, const Pose& around, const std::string& class_name,
               std::vector<Item>& items) {
    for (const Element& one : element.children) {
      if (one.name != "frame") {
        items.push_back({&one, around, class_name});
        continue;
      }
      source_.ask(one);
      (void)source_.find(one, "name");
      const Attribute* inner = source_.find(one, "childclass");
      collect(one, around.after(values_.pose(one, "")),
              inner == nullptr ? class_name : values_.known_class(*inner), items);
    }
  }

  std::string class_of(const Item& item) {
    return values_.class_of(*item.element, item.class_name);
  }

  static std::vector<Item> those_called(const std::vector<Item>& items, const std::string& name) {
    std::vector<Item> found;
    for (const Item& item : items) {
      if (item.element->name == name) found.push_back(item);
    }
    return found;
  }

  void read_body(const Item& item, int parent) {
    const Element& element = *item.element;
    source_.ask(element);
    const Attribute* own = source_.find(element, "name");
    const std::string name = own != nullptr ? own->value : fmt::format("body_{}", ++unnamed_);
    const Attribute* inner = source_.find(element, "childclass");
    const std::string class_name = inner == nullptr ? item.class_name : values_.known_class(*inner);
    Carried carried{parent, item.around.after(values_.pose(element, ""))};
    std::vector<Item> items;
    collect(element, carried.pose, class_name, items);
    std::vector<Item> joints = those_called(items, "joint");
    for (const Item& free : those_called(items, "freejoint")) joints.push_back(free);
    if (const Attribute* mocap = source_.find(element, "mocap"); mocap && source_.truth(*mocap)) {
      source_.note(mocap->place, fmt::format("'{}' is moved from outside: it is fixed", name));
    }
    if (!joints.empty()) hang(element, name, joints, carried);
    if (own != nullptr && !bodies_.emplace(name, carried).second) {
      source_.fail(*own, fmt::format("there are two bodies '{}'", name), "rename one");
    }
    read_inside(element, name, carried, class_name);
  }

  /// A new link on the one that carries the body so far.
  void hang(const Element& element, const std::string& name, const std::vector<Item>& joints,
            Carried& carried) {
    const int parent = carried.link;
    carried.link = static_cast<int>(made_.links.size());
    Link link;
    link.name = name;
    link.place = element.place;
    const bool is_free = std::any_of(joints.begin(), joints.end(),
                                     [&](const Item& one) { return type_of(one) == "free"; });
    if (is_free && parent != 0) {
      source_.fail(*joints[0].element, fmt::format("'{}' is free, and hangs on a body", name),
                   "free bodies stand in <worldbody>");
    }
    if (is_free && joints.size() > 1) {
      source_.fail(*joints[1].element, fmt::format("'{}' is free, and has another joint", name),
                   "remove one of them");
    }
    for (const Item& one : joints) source_.ask(*one.element);
    if (is_free) {
      note_forces(joints[0], "free");
    } else {
      carried.pose = join(name, joints, parent, carried);
    }
    link.pose = carried.pose;
    made_.links.push_back(std::move(link));
    elements_.push_back(&element);
  }

  std::string type_of(const Item& joint) {
    if (joint.element->name == "freejoint") return "free";
    const Attribute* type = values_.find(*joint.element, class_of(joint), "type");
    if (type == nullptr) return "hinge";
    const std::vector<std::string> known = {"free", "ball", "slide", "hinge"};
    if (std::find(known.begin(), known.end(), type->value) != known.end()) return type->value;
    source_.fail(*type, fmt::format("'{}' is no kind of joint", type->value),
                 fmt::format("known: {}", base::list_names(known)));
  }

  /// The joint between two links; gives where the second one starts.
  Pose join(const std::string& name, const std::vector<Item>& joints, int parent,
            const Carried& child) {
    std::vector<Joint> read;
    for (const Item& one : joints) {
      read.push_back(read_joint(one, name));
      read.back().a = parent;
      read.back().b = child.link;
    }
    if (read.size() == 1) {
      Joint& joint = read[0];
      const bool has_coordinate = joint.kind != JointKind::Ball;
      const double way = has_coordinate ? settle_coordinate(source_, joint.start, joint) : 0.0;
      if (joint.kind == JointKind::Slider) joint.at += way * joint.axis;
      made_.joints.push_back(joint);
      return moved_along(joint, way, child.pose);
    }
    made_.joints.push_back(three_hinges(name, joints, read));
    return child.pose;
  }

  /// Three hinges through one point, with axes in different directions, are a ball joint.
  Joint three_hinges(const std::string& name, const std::vector<Item>& items,
                     const std::vector<Joint>& joints) {
    bool is_ball = joints.size() == 3;
    Mat3 axes = Mat3::Identity();
    for (std::size_t k = 0; is_ball && k < 3; ++k) {
      const bool is_near = (joints[k].at - joints[0].at).norm() < 1e-12;
      is_ball = joints[k].kind == JointKind::Hinge && is_near;
      axes.col(static_cast<Eigen::Index>(k)) = joints[k].axis;
    }
    if (!is_ball || std::abs(axes.col(0).dot(axes.col(1).cross(axes.col(2)))) < 1e-6) {
      source_.fail(*items[1].element,
                   fmt::format("'{}' has {} joints; a scene has one between two bodies", name,
                               joints.size()),
                   "put a body with a small mass between each two; three hinges through one point "
                   "are read as a ball joint");
    }
    for (const Joint& one : joints) {
      if (!std::isfinite(one.low) && one.stiffness + one.damping + one.friction == 0.0) continue;
      source_.note(one.place,
                   "three hinges through a point are a ball joint, which has no limits, "
                   "springs, damping or friction: left out");
    }
    Joint made = joints[0];
    made.kind = JointKind::Ball;
    return made;
  }

  Joint read_joint(const Item& item, const std::string& body) {
    const Element& element = *item.element;
    const std::string class_name = class_of(item);
    const std::string type = type_of(item);
    Joint joint;
    const Attribute* own = source_.find(element, "name");
    joint.name = own != nullptr ? own->value : body + "_joint";
    joint.place = element.place;
    joint.kind = type == "ball"    ? JointKind::Ball
                 : type == "slide" ? JointKind::Slider
                                   : JointKind::Hinge;
    const Attribute* at = values_.find(element, class_name, "pos");
    joint.at = item.around.point(at == nullptr ? Vec3(Vec3::Zero()) : source_.vector(*at));
    const Attribute* axis = values_.find(element, class_name, "axis");
    const Vec3 along = axis == nullptr ? Vec3(Vec3::UnitZ()) : source_.vector(*axis);
    if (!(along.stableNorm() > 0.0)) source_.fail(*axis, "is zero", "write a direction: 0 0 1");
    joint.axis = item.around.turn * along.stableNormalized();
    if (joint.kind == JointKind::Ball) {
      note_forces(item, "ball");
      return joint;
    }
    const auto measure = [&](double value) {
      return joint.kind == JointKind::Hinge ? values_.angle(value) : value;
    };
    ask_zero(item);
    joint.start = measure(values_.number(element, class_name, "ref", 0.0));
    joint.rest = measure(values_.number(element, class_name, "springref", 0.0));
    joint.stiffness = at_least_zero(element, class_name, "stiffness");
    joint.damping = at_least_zero(element, class_name, "damping");
    joint.friction = at_least_zero(element, class_name, "frictionloss");
    const Attribute* range = values_.find(element, class_name, "range");
    if (range == nullptr || !is_limited(element, class_name, *range)) return joint;
    const std::vector<double> limits = source_.numbers(*range, 2, 2);
    joint.low = measure(limits[0]);
    joint.high = measure(limits[1]);
    return joint;
  }

  /// Of joints without a coordinate: what acts along one is left out.
  void note_forces(const Item& item, const std::string& kind) {
    const Element& element = *item.element;
    for (const char* name : {"name", "pos", "axis", "limited"}) (void)source_.find(element, name);
    if (element.name == "freejoint") return;
    const std::string class_name = class_of(item);
    for (const char* name : {"range", "stiffness", "damping", "frictionloss"}) {
      const Attribute* found = values_.find(element, class_name, name);
      if (found == nullptr || is_zero(*found)) continue;
      source_.note(found->place, fmt::format("'{}' of a {} joint: left out", name, kind));
    }
    ask_zero(item);
  }

  bool is_zero(const Attribute& attribute) const {
    const std::vector<double> numbers = source_.numbers(attribute, 1, 2);
    return std::all_of(numbers.begin(), numbers.end(), [](double x) { return x == 0.0; });
  }

  /// What is 0 is nothing to be left out.
  void ask_zero(const Item& item) {
    for (const Attribute& attribute : item.element->attributes) {
      if (attribute.name == "armature" && is_zero(attribute)) source_.ask(attribute);
    }
  }

  bool is_limited(const Element& element, const std::string& class_name, const Attribute& range) {
    const Attribute* limited = values_.find(element, class_name, "limited");
    if (limited != nullptr && limited->value != "auto") return source_.truth(*limited);
    if (values_.units().has_auto_limits) {
      const std::vector<double> ends = source_.numbers(range, 2, 2);
      return ends[0] < ends[1];
    }
    source_.fail(range, "it is not said whether the joint has limits",
                 "write limited=\"true\" or \"false\", or autolimits=\"true\" in <compiler>");
  }

  double at_least_zero(const Element& element, const std::string& class_name,
                       const std::string& name) {
    const double found = values_.number(element, class_name, name, 0.0);
    if (found >= 0.0) return found;
    source_.fail(*values_.find(element, class_name, name), "must not be negative",
                 "write a number >= 0");
  }

  /// Geoms, mass and bodies that stand in a body.
  void read_inside(const Element& element, const std::string& name, const Carried& carried,
                   const std::string& class_name) {
    std::vector<Item> items;
    collect(element, carried.pose, class_name, items);
    const Element* inertial = source_.child(element, "inertial");
    const std::string& rule = values_.units().inertia_from_geom;
    const bool from_geoms = rule == "true" || (rule == "auto" && inertial == nullptr);
    Mass mass;
    for (const Item& item : those_called(items, "geom")) {
      mass = mass.with(read_geom(item, name, carried.link, from_geoms));
    }
    if (!from_geoms) {
      mass = inertial == nullptr ? Mass{} : read_mass(*inertial).seen_from(carried.pose);
    }
    Link& link = made_.links[index(carried.link)];
    if (!link.is_fixed) link.mass = link.mass.with(mass);
    for (const Item& item : those_called(items, "body")) read_body(item, carried.link);
  }

  Mass read_mass(const Element& inertial) {
    Mass mass;
    const Attribute* heavy = source_.find(inertial, "mass");
    if (heavy == nullptr) source_.fail(inertial, "has no mass", "write mass=\"1\"");
    mass.mass = source_.number(*heavy);
    if (!(mass.mass >= 0.0)) source_.fail(*heavy, "must not be negative", "write a mass > 0");
    const Attribute* diagonal = source_.find(inertial, "diaginertia");
    const Attribute* full = source_.find(inertial, "fullinertia");
    if ((diagonal == nullptr) == (full == nullptr)) {
      source_.fail(inertial, "must have either diaginertia or fullinertia",
                   "write diaginertia=\"Ixx Iyy Izz\"");
    }
    if (diagonal != nullptr) mass.inertia.diagonal() = source_.vector(*diagonal);
    if (full != nullptr) {
      const std::vector<double> m = source_.numbers(*full, 6, 6);
      mass.inertia << m[0], m[3], m[4], m[3], m[1], m[5], m[4], m[5], m[2];
    }
    return mass.seen_from(values_.pose(inertial, ""));
  }

  /// Adds a geom to a link; its mass, in space.
  Mass read_geom(const Item& item, const std::string& body, int link, bool needs_mass) {
    const Element& element = *item.element;
    source_.ask(element);
    const std::string class_name = class_of(item);
    const Attribute* type = values_.find(element, class_name, "type");
    const std::string word = type == nullptr ? "sphere" : type->value;
    Solid solid;
    const Attribute* own = source_.find(element, "name");
    solid.name = own != nullptr ? own->value : fmt::format("{}_{}", body, word);
    solid.place = element.place;
    const double density = values_.number(element, class_name, "density", 1000.0);
    const Attribute* stated = values_.find(element, class_name, "mass");
    const double mass = stated == nullptr ? -1.0 : source_.number(*stated);
    read_surface(element, class_name, solid);
    const Attribute* mesh = values_.find(element, class_name, "mesh");
    if (mesh != nullptr || word == "mesh" || word == "hfield" || word == "sdf") {
      const bool is_heavy = needs_mass && link != 0 && (stated == nullptr ? density : mass) != 0.0;
      if (is_heavy) {
        source_.fail(element,
                     fmt::format("the mass of '{}' follows from a {}, which is not read", body,
                                 mesh != nullptr ? "mesh" : word),
                     "write <inertial> in its body, or density=\"0\"");
      }
      source_.note(element.place, fmt::format("a {} is not read: the geom is left out",
                                              mesh != nullptr ? "mesh" : word));
      source_.ask(element, true);
      return {};
    }
    read_form(element, class_name, word, solid);
    solid.pose = item.around.after(pose_of(element, class_name, solid));
    const double own_mass = stated == nullptr ? density * volume_of(solid) : mass;
    if (own_mass < 0.0) source_.fail(element, "has a negative mass", "write a number >= 0");
    const Mass made = mass_of(solid, own_mass).seen_from(solid.pose);
    made_.links[index(link)].solids.push_back(std::move(solid));
    return made;
  }

  void read_surface(const Element& element, const std::string& class_name, Solid& solid) {
    Surface& surface = solid.surface;
    std::vector<double> friction;
    if (const Attribute* found = values_.find(element, class_name, "friction")) {
      friction = source_.numbers(*found, 1, 3);
      if (*std::min_element(friction.begin(), friction.end()) < 0.0) {
        source_.fail(*found, "must not be negative", "write numbers >= 0");
      }
    }
    surface.friction = !friction.empty() ? friction[0] : 1.0;
    surface.spinning = friction.size() > 1 ? friction[1] : 0.005;
    surface.rolling = friction.size() > 2 ? friction[2] : 0.0001;
    const auto whole = [&](const char* name, double otherwise) {
      const double found = values_.number(element, class_name, name, otherwise);
      if (found == std::floor(found) && std::abs(found) <= 2147483647.0) {
        return static_cast<int>(found);
      }
      source_.fail(*values_.find(element, class_name, name), "must be a whole number", "write 1");
    };
    surface.numbers = whole("condim", 3.0);
    if (surface.numbers != 1 && surface.numbers != 3 && surface.numbers != 4 &&
        surface.numbers != 6) {
      source_.fail(*values_.find(element, class_name, "condim"),
                   fmt::format("must be 1, 3, 4 or 6, not {}", surface.numbers),
                   "1: no friction, 3: friction, 4: about the normal too, 6: and rolling");
    }
    surface.priority = whole("priority", 0.0);
    surface.kinds = whole("contype", 1.0);
    surface.touches = whole("conaffinity", 1.0);
    solid.is_shown_only = surface.kinds == 0 && surface.touches == 0;
    if (solid.is_shown_only) surface = {};
  }

  void read_form(const Element& element, const std::string& class_name, const std::string& word,
                 Solid& solid) {
    static const std::map<std::string, std::pair<Form, std::size_t>> known = {
        {"sphere", {Form::Ball, 1}},       {"capsule", {Form::Capsule, 2}},
        {"cylinder", {Form::Cylinder, 2}}, {"ellipsoid", {Form::Ellipsoid, 3}},
        {"box", {Form::Box, 3}},           {"plane", {Form::Plane, 0}}};
    const auto found = known.find(word);
    if (found == known.end()) {
      source_.fail(element, fmt::format("'{}' is no type of geom", word),
                   "write sphere, capsule, cylinder, ellipsoid, box or plane");
    }
    solid.form = found->second.first;
    const bool has_ends = values_.find(element, class_name, "fromto") != nullptr;
    const std::size_t wanted = has_ends ? 1 : found->second.second;
    const Attribute* size = values_.find(element, class_name, "size");
    if (solid.form == Form::Plane) return;  // without end, whatever is drawn of it
    if (size == nullptr) source_.fail(element, "has no size", "write size=\"...\"");
    const std::vector<double> numbers = source_.numbers(*size, wanted, 3);
    for (std::size_t k = 0; k < wanted; ++k) {
      if (!(numbers[k] > 0.0)) source_.fail(*size, "must be positive", "write lengths > 0");
      solid.size[static_cast<Eigen::Index>(k)] = numbers[k];
    }
    if (has_ends) return;  // the length follows from them
    if (solid.form == Form::Box) solid.size *= 2.0;
    if (solid.form == Form::Capsule || solid.form == Form::Cylinder) solid.size[1] *= 2.0;
  }

  /// The frame of a geom in its body; `fromto` is its axis, from the second end to the first.
  Pose pose_of(const Element& element, const std::string& class_name, Solid& solid) {
    const Attribute* ends = values_.find(element, class_name, "fromto");
    if (ends == nullptr) return values_.pose(element, class_name);
    const std::vector<double> p = source_.numbers(*ends, 6, 6);
    const Vec3 first(p[0], p[1], p[2]);
    const Vec3 second(p[3], p[4], p[5]);
    const double length = (first - second).norm();
    const double radius = solid.size[0];
    if (!(length > 0.0)) source_.fail(*ends, "its two ends are the same", "write two points");
    switch (solid.form) {
      case Form::Capsule:
      case Form::Cylinder: solid.size = {radius, length, 0.0}; break;
      case Form::Box: solid.size = {2.0 * radius, 2.0 * radius, length}; break;
      case Form::Ellipsoid: solid.size = {radius, radius, 0.5 * length}; break;
      default: source_.fail(*ends, "is not for spheres and planes", "write pos");
    }
    return {0.5 * (first + second), turn_of_z(first - second)};
  }

  const Carried* body_called(const Attribute& name) const {
    static const Carried world;
    if (name.value == "world") return &world;
    const auto found = bodies_.find(name.value);
    if (found != bodies_.end()) return &found->second;
    source_.fail(name, fmt::format("there is no body '{}'", name.value), "write the name of one");
  }

  void read_contact(const Element& contact) {
    for (const Element* one : source_.children(contact, "exclude")) {
      const Attribute* first = source_.find(*one, "body1");
      const Attribute* second = source_.find(*one, "body2");
      (void)source_.find(*one, "name");
      if (first == nullptr || second == nullptr) {
        source_.fail(*one, "must name body1 and body2", "write both");
      }
      if (is_whole(*first) && is_whole(*second)) {
        made_.apart.emplace_back(body_called(*first)->link, body_called(*second)->link);
      } else {
        source_.note(one->place,
                     "an <exclude> of a body that is one with its parent, or of a world with such "
                     "bodies, is left out: the two touch");
      }
    }
  }

  /// Whether the body is all that moves, or stands, with it.
  bool is_whole(const Attribute& name) const {
    const int link = body_called(name)->link;
    if (link == 0 && name.value != "world") return false;
    const auto is_part = [&](const auto& body) {
      return body.second.link == link && body.first != name.value;
    };
    return std::none_of(bodies_.begin(), bodies_.end(), is_part);
  }

  void read_equality(const Element& equality) {
    for (const char* tag : {"connect", "weld"}) {
      for (const Element& one : equality.children) {
        const Attribute* first = one.name == tag ? source_.find(one, "body1") : nullptr;
        if (first == nullptr) continue;  // between sites: noted as not understood
        source_.ask(equality);
        source_.ask(one);
        const Attribute* active = source_.find(one, "active");
        if (active != nullptr && !source_.truth(*active)) {
          source_.note(one.place, fmt::format("a <{}> that is not active is left out", tag));
          continue;
        }
        hold(one, *first);
      }
    }
  }

  void hold(const Element& one, const Attribute& first) {
    const Attribute* second = source_.find(one, "body2");
    const Attribute* name = source_.find(one, "name");
    const Carried& a = *body_called(first);
    const Carried b = second == nullptr ? Carried{} : *body_called(*second);
    Joint joint;
    joint.kind = one.name == "weld" ? JointKind::Weld : JointKind::Ball;
    joint.name = name != nullptr ? name->value : fmt::format("{}_{}", one.name, ++unnamed_);
    joint.place = one.place;
    joint.a = a.link;
    joint.b = b.link;
    joint.at = b.pose.x;
    joint.lets_touch = true;
    if (joint.kind == JointKind::Ball) {
      const Attribute* anchor = source_.find(one, "anchor");
      if (anchor == nullptr) source_.fail(one, "has no anchor", "write anchor=\"0 0 0\"");
      joint.at = a.pose.point(source_.vector(*anchor));
    }
    if (a.link == b.link) {
      source_.note(one.place, fmt::format("a <{}> within one body is left out", one.name));
      return;
    }
    made_.joints.push_back(joint);
  }

  Source& source_;
  MjcfValues values_;
  const Element& root_;
  std::map<std::string, Carried> bodies_;
  bool is_weightless_{false};
  std::vector<const Element*> elements_;  // of links
  int unnamed_{0};
  Mechanism made_;
};

}  // namespace

Mechanism read_mjcf(Source& source, const Element& root,
                    const std::function<std::string(const std::string&)>& read_file) {
  source.include(read_file);
  return MjcfReader(source, root).read();
}

}  // namespace ricochet::foreign
