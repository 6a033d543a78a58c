#include "ricochet/foreign/scene_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "ricochet/base/index.h"
#include "ricochet/base/text.h"
#include "ricochet/formula/scope.h"

namespace ricochet::foreign {
namespace {

using base::index;

constexpr const char* kUntouched = "untouched";  // material of what touches nothing

/// A number that reads back as the same one; what is rounding beside `scale` is 0.
std::string number(double value, double scale = 0.0) {
  constexpr double kRounding = 1e-15;
  return fmt::format("{}", std::abs(value) <= kRounding * scale ? 0.0 : value + 0.0);
}

std::string list(const Vec3& v, double scale = 0.0) {
  const double size = std::max(scale, v.cwiseAbs().maxCoeff());
  return fmt::format("[{}, {}, {}]", number(v[0], size), number(v[1], size), number(v[2], size));
}

std::string list(const Turn& q) {
  return fmt::format("[{}, {}, {}, {}]", number(q.w(), 1.0), number(q.x(), 1.0), number(q.y(), 1.0),
                     number(q.z(), 1.0));
}

std::string list(const Mat3& m) {
  const double size = m.cwiseAbs().maxCoeff();
  const Mat3 even = 0.5 * (m + m.transpose());
  return fmt::format("[{}, {}, {}]", list(Vec3(even.row(0)), size), list(Vec3(even.row(1)), size),
                     list(Vec3(even.row(2)), size));
}

bool is_turned(const Turn& q) { return q.vec().cwiseAbs().maxCoeff() > 1e-15; }

/// TOML's basic string.
std::string quoted(const std::string& text) {
  std::string made = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') made += '\\';
    made += c;
  }
  return made + "\"";
}

bool has_axis_of_frame(Form form) { return form == Form::Cylinder || form == Form::Ellipsoid; }

/// A body of the scene.
struct Piece {
  std::string name;
  const Link* link{nullptr};
  Pose frame;
  bool is_fixed{false};
  std::vector<const Solid*> solids;
  bool touches{false};
  Surface surface;
  bool is_planes{false};  // half-spaces only
  bool is_smooth{false};  // has cylinders or ellipsoids, which know half-spaces only
  int alone{-1};          // its number, where it has a material of its own
  std::string material;
};

class SceneWriter {
 public:
  SceneWriter(Source& source, const Mechanism& mechanism)
      : source_(source), mechanism_(mechanism) {}

  Imported write(const std::string& file, double until) {
    for (std::size_t k = 0; k < mechanism_.links.size(); ++k) add_pieces(static_cast<int>(k));
    if (pieces_.empty()) {
      throw base::InputError(file, "has no body with a mass or a shape",
                             "write a link or a body that has one");
    }
    choose_materials();
    const std::string pairs = pair_text();
    std::string bodies;
    for (const Piece& piece : pieces_) bodies += body_text(piece);
    std::string joints;
    for (const Joint& joint : mechanism_.joints) joints += joint_text(joint);
    Imported made;
    made.notes = source_.notes();
    made.summary =
        fmt::format("{}: {}, {}", mechanism_.format,
                    base::counted(static_cast<long long>(pieces_.size()), "body"),
                    base::counted(static_cast<long long>(mechanism_.joints.size()), "joint"));
    if (pieces_.size() != 1) made.summary.replace(made.summary.find("bodys"), 5, "bodies");
    made.scene = head_text(file, made.notes);
    made.scene +=
        fmt::format("\n[world]\ndimension = 3\ngravity   = {}\n", list(mechanism_.gravity));
    made.scene += material_text() + pairs + bodies + joints;
    made.scene +=
        fmt::format("\n[run]\nstep  = {}\nuntil = {}\n", number(mechanism_.step), number(until));
    return made;
  }

 private:
  /// A name of the language that nothing else has, as near to `wanted` as can be.
  std::string new_name(const std::string& wanted, const Place& place,
                       std::set<std::string>& taken) {
    std::string plain;
    for (const char c : wanted) {
      const bool is_plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
      plain += is_plain ? c : '_';
    }
    if (plain.empty() || std::isalpha(static_cast<unsigned char>(plain[0])) == 0)
      plain = "b" + plain;
    const auto is_free = [&](const std::string& name) {
      static const std::set<std::string> words = {"energy", "violation", "residual", "steps",
                                                  "joint",  "ground",    "all",      "t"};
      return !words.contains(name) && formula::is_plain_name(name) && !formula::is_reserved(name) &&
             !taken.contains(name);
    };
    std::string name = plain;
    int& k = numbers_.emplace(std::pair(&taken, plain), 2).first->second;  // of many that are alike
    for (; !is_free(name); ++k) name = fmt::format("{}_{}", plain, k);
    taken.insert(name);
    if (name != wanted && place.line > 0) {
      source_.note(place, fmt::format("'{}' is called '{}' in the scene", wanted, name));
    }
    return name;
  }

  /// What is fixed needs no weld: each of its solids is a body of its own.
  void add_pieces(int number_of_link) {
    const Link& link = mechanism_.links[index(number_of_link)];
    if (link.is_fixed) {
      for (const Solid& solid : link.solids) {
        Piece piece;
        piece.name = new_name(solid.name, {}, bodies_);
        piece.is_fixed = true;
        piece.solids = {&solid};
        piece.frame = solid.form == Form::Plane ? Pose{} : solid.pose;
        finish(number_of_link, link, std::move(piece));
      }
      return;
    }
    Piece piece;
    piece.name = new_name(link.name, link.place, bodies_);
    names_[number_of_link] = piece.name;
    piece.frame = link.pose;
    const bool touches = std::any_of(link.solids.begin(), link.solids.end(),
                                     [](const Solid& one) { return !one.is_shown_only; });
    for (const Solid& solid : link.solids) {
      if (touches && solid.is_shown_only) {
        source_.note(solid.place,
                     "a solid that touches nothing, of a body with others, is left out");
        continue;
      }
      if (solid.form == Form::Plane) {
        source_.note(solid.place, "a plane of a body that moves is left out");
        continue;
      }
      piece.solids.push_back(&solid);
    }
    choose_frame(piece);
    finish(number_of_link, link, std::move(piece));
  }

  /// Cylinders and ellipsoids stand along the axes of the frame of their body: it is theirs.
  void choose_frame(Piece& piece) {
    const auto first = std::find_if(piece.solids.begin(), piece.solids.end(),
                                    [](const Solid* one) { return has_axis_of_frame(one->form); });
    if (first == piece.solids.end()) return;
    const Solid* chosen = *first;
    piece.frame = chosen->pose;
    std::erase_if(piece.solids, [&](const Solid* one) {
      if (one == chosen || !has_axis_of_frame(one->form)) return false;
      source_.note(one->place,
                   "a second cylinder or ellipsoid of a body is left out: a body has one frame, in "
                   "which it stands");
      return true;
    });
  }

  void finish(int number_of_link, const Link& link, Piece piece) {
    piece.link = &link;
    piece.touches =
        mechanism_.has_contacts && !piece.solids.empty() && !piece.solids[0]->is_shown_only;
    piece.is_planes = !piece.solids.empty();
    for (const Solid* solid : piece.solids) {
      piece.is_planes = piece.is_planes && solid->form == Form::Plane;
      piece.is_smooth = piece.is_smooth || has_axis_of_frame(solid->form);
    }
    if (piece.touches) piece.surface = common_surface(piece);
    for (const auto& [a, b] : mechanism_.apart) {
      if (a == number_of_link || b == number_of_link) piece.alone = number_of_link;
    }
    pieces_.push_back(std::move(piece));
  }

  /// A body has one material: where solids differ, the larger number is that of all.
  Surface common_surface(const Piece& piece) {
    Surface made = piece.solids[0]->surface;
    for (const Solid* solid : piece.solids) {
      const Surface& one = solid->surface;
      made.numbers = std::max(made.numbers, one.numbers);
      made.priority = std::max(made.priority, one.priority);
      if (one != piece.solids[0]->surface) {
        source_.note(solid->place,
                     fmt::format("friction or contact bits differ within '{}', which has one "
                                 "material: the larger friction and all bits are taken",
                                 piece.name));
      }
      made.friction = std::max(made.friction, one.friction);
      made.spinning = std::max(made.spinning, one.spinning);
      made.rolling = std::max(made.rolling, one.rolling);
      made.kinds |= one.kinds;
      made.touches |= one.touches;
    }
    return made;
  }

  void choose_materials() {
    using Key = std::tuple<Surface, bool, bool, int>;
    std::map<Key, std::string> known;
    for (Piece& piece : pieces_) {
      if (!piece.touches) {
        piece.material = kUntouched;
        materials_[piece.material].push_back(&piece);
        continue;
      }
      const Key key{piece.surface, piece.is_planes, piece.is_smooth, piece.alone};
      std::string& name = known[key];
      if (name.empty()) {
        name = mechanism_.format == "URDF" ? "robot" : fmt::format("surface_{}", known.size());
      }
      piece.material = name;
      materials_[name].push_back(&piece);
    }
  }

  std::string material_text() const {
    std::string text = "\n[material]\n";
    for (const auto& [name, pieces] : materials_) text += fmt::format("{} = {{}}\n", name);
    return text;
  }

  /// Whether bodies of two materials touch each other.
  bool do_touch(const Piece& a, const Piece& b) const {
    if (!a.touches || !b.touches) return false;
    const auto is_apart = [&](const std::pair<int, int>& two) {
      return std::minmax(two.first, two.second) == std::minmax(a.alone, b.alone);
    };
    const auto& apart = mechanism_.apart;
    if (std::any_of(apart.begin(), apart.end(), is_apart)) return false;
    return (a.surface.kinds & b.surface.touches) != 0 || (b.surface.kinds & a.surface.touches) != 0;
  }

  /// Cylinders and ellipsoids know half-spaces only.
  static bool can_touch(const Piece& a, const Piece& b) {
    return (!a.is_smooth || b.is_planes) && (!b.is_smooth || a.is_planes);
  }

  void note_smooth(const std::vector<const Piece*>& pieces) {
    for (const Piece* piece : pieces) {
      if (!piece->is_smooth || !noted_.insert(piece).second) continue;
      source_.note(piece->solids[0]->place,
                   fmt::format("'{}' has a cylinder or an ellipsoid, which touches planes only: "
                               "its pairs with other shapes are \"none\"",
                               piece->name));
    }
  }

  static std::string law_text(const Surface& a, const Surface& b) {
    const Surface& one = a.priority < b.priority ? b : a;
    const Surface& other = a.priority > b.priority ? a : b;
    const int numbers = std::max(one.numbers, other.numbers);
    const double friction = numbers < 3 ? 0.0 : std::max(one.friction, other.friction);
    const double spinning = numbers < 4 ? 0.0 : std::max(one.spinning, other.spinning);
    const double rolling = numbers < 6 ? 0.0 : std::max(one.rolling, other.rolling);
    std::string text = fmt::format("friction = {}, restitution = 0", number(friction));
    if (rolling > 0.0) text += fmt::format(", rolling = {}", number(rolling));
    if (spinning > 0.0) text += fmt::format(", spinning = {}", number(spinning));
    return text;
  }

  std::string pair_text() {
    std::string text = "\n[pair]\ndefault = \"none\"\n";
    if (mechanism_.format == "URDF") return text;
    for (auto a = materials_.begin(); a != materials_.end(); ++a) {
      for (auto b = a; b != materials_.end(); ++b) {
        const auto is_free = [](const Piece* one) { return !one->is_fixed; };
        const bool moves = std::any_of(a->second.begin(), a->second.end(), is_free) ||
                           std::any_of(b->second.begin(), b->second.end(), is_free);
        if (!moves || (a == b && a->second.size() == 1)) continue;
        const Piece& one = *a->second[0];
        const Piece& other = *b->second.back();
        if (!do_touch(one, other)) continue;
        if (!can_touch(one, other)) {
          note_smooth(a->second);
          note_smooth(b->second);
          continue;
        }
        text += fmt::format("\"{} {}\" = {{ {} }}\n", a->first, b->first,
                            law_text(one.surface, other.surface));
      }
    }
    return text;
  }

  /// A solid in the frame of its body.
  static std::string shape_text(const Solid& solid, const Pose& frame) {
    const Pose pose = frame.back().after(solid.pose);
    const Vec3& size = solid.size;
    const double scale = std::max(size.cwiseAbs().maxCoeff(), pose.x.norm());
    const std::string at =
        pose.x.norm() <= 1e-15 * scale ? "" : fmt::format(", at = {}", list(pose.x, scale));
    const std::string turn =
        is_turned(pose.turn) ? fmt::format(", quaternion = {}", list(pose.turn)) : "";
    const Vec3 half(0.0, 0.0, 0.5 * size[1]);
    switch (solid.form) {
      case Form::Box: return fmt::format("{{ box = {}{}{} }}", list(size), at, turn);
      case Form::Ball: return fmt::format("{{ sphere = {}{} }}", number(size[0]), at);
      case Form::Capsule:
        return fmt::format("{{ capsule = [{}, {}, {}] }}", list(pose.point(-half), scale),
                           list(pose.point(half), scale), number(size[0]));
      case Form::Cylinder:
        return fmt::format("{{ cylinder = [{}, {}] }}", number(size[0]), number(size[1]));
      case Form::Ellipsoid: return fmt::format("{{ ellipsoid = {} }}", list(size));
      case Form::Plane:
        return fmt::format("{{ half_space = {{ point = {}, normal = {} }} }}", list(pose.x),
                           list(Vec3(pose.turn * Vec3::UnitZ())));
    }
    return "";
  }

  std::string body_text(const Piece& piece) const {
    const Mass mass = piece.link->mass.seen_from(piece.frame.back());
    std::string text = fmt::format("\n[body.{}]\n", piece.name);
    if (piece.is_fixed) text += "fixed      = true\n";
    const Pose& frame = piece.frame;
    if (frame.x.norm() > 0.0) text += fmt::format("at         = {}\n", list(frame.x));
    if (is_turned(frame.turn)) text += fmt::format("quaternion = {}\n", list(frame.turn));
    if (!piece.is_fixed) {
      const double reach = std::sqrt(mass.inertia.trace() / mass.mass);
      text += fmt::format("mass       = {}\n", number(mass.mass));
      text += fmt::format("centre     = {}\n", list(mass.centre, reach));
      text += fmt::format("inertia    = {}\n", list(mass.inertia));
    }
    std::string shapes;
    for (const Solid* solid : piece.solids) {
      shapes += (shapes.empty() ? "" : ",\n              ") + shape_text(*solid, frame);
    }
    if (shapes.empty()) shapes = fmt::format("{{ point = {} }}", list(mass.centre));
    return text +
           fmt::format("shapes     = [{}]\nmaterial   = {}\n", shapes, quoted(piece.material));
  }

  std::string joint_text(const Joint& joint) {
    const char* kind = joint.kind == JointKind::Hinge    ? "hinge"
                       : joint.kind == JointKind::Slider ? "slider"
                       : joint.kind == JointKind::Ball   ? "ball"
                                                         : "weld";
    const auto name_of = [&](int link) {
      const auto found = names_.find(link);
      return found == names_.end() ? std::string("ground") : found->second;
    };
    std::string text = fmt::format("\n[joint.{}]\n", new_name(joint.name, joint.place, joints_));
    text += fmt::format("kind     = \"{}\"\nbetween  = [{}, {}]\nat       = {}\n", kind,
                        quoted(name_of(joint.a)), quoted(name_of(joint.b)), list(joint.at));
    if (joint.lets_touch) text += "touching = true\n";
    if (joint.kind == JointKind::Ball || joint.kind == JointKind::Weld) return text;
    text += fmt::format("axis     = {}\n", list(joint.axis));
    if (joint.start != 0.0) text += fmt::format("start    = {}\n", number(joint.start));
    const bool has_low = std::isfinite(joint.low);
    const bool has_high = std::isfinite(joint.high);
    if (has_low && has_high) {
      text += fmt::format("limits   = [{}, {}]\n", number(joint.low), number(joint.high));
    } else if (has_low || has_high) {
      text += fmt::format("limits   = {{ {} = {} }}\n", has_low ? "low" : "high",
                          number(has_low ? joint.low : joint.high));
    }
    if (joint.friction > 0.0) text += fmt::format("friction = {}\n", number(joint.friction));
    if (joint.stiffness > 0.0) {
      text += fmt::format("spring   = {{ stiffness = {}, damping = {}, rest = {} }}\n",
                          number(joint.stiffness), number(joint.damping), number(joint.rest));
    } else if (joint.damping > 0.0) {
      text += fmt::format("spring   = {{ damping = {} }}\n", number(joint.damping));
    }
    return text;
  }

  std::string head_text(const std::string& file, const std::vector<std::string>& notes) const {
    const std::string name = file.substr(file.find_last_of("/\\") + 1);
    std::string text = fmt::format("# From {}, {}, by ricochet import.\n#\n# How it was read:\n",
                                   printable(name), mechanism_.format);
    for (const std::string& rule : mechanism_.rules)
      text += fmt::format("# - {}.\n", printable(rule));
    text += notes.empty() ? "#\n# All of the file was understood.\n"
                          : "#\n# Not understood, left out or changed:\n";
    for (const std::string& note : notes) text += fmt::format("# - {}\n", printable(note));
    const std::string title = mechanism_.title.empty() ? name : mechanism_.title;
    return text + fmt::format("\ntitle = {}\n", quoted(printable(title)));
  }

  /// On one line of a comment.
  static std::string printable(std::string text) {
    for (char& c : text) {
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
    }
    return text;
  }

  Source& source_;
  const Mechanism& mechanism_;
  std::vector<Piece> pieces_;
  std::map<int, std::string> names_;  // of bodies that move, by link
  std::map<std::string, std::vector<const Piece*>> materials_;
  std::set<const Piece*> noted_;
  std::set<std::string> bodies_;
  std::set<std::string> joints_;
  std::map<std::pair<const std::set<std::string>*, std::string>, int> numbers_;  // next to try
};

}  // namespace

Imported scene_text(Source& source, const Mechanism& mechanism, const std::string& file,
                    double until) {
  return SceneWriter(source, mechanism).write(file, until);
}

}  // namespace ricochet::foreign
