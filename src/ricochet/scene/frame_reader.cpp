#include "ricochet/scene/frame_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ricochet/base/index.h"
#include "ricochet/base/text.h"
#include "ricochet/body/world.h"

namespace ricochet::scene {
namespace {

using base::index;
using formula::NodeId;
using formula::Op;

constexpr std::array kBodyCoordinates = {"x", "y", "angle"};

/// stone[3] as stone_3, stone[-3] as stone_minus3: contacts have their index last.
std::string flat(const std::string& name) {
  std::string made;
  for (const char c : name) {
    if (c == '[') made += '_';
    if (c == '-') made += "minus";
    if (c != '[' && c != ']' && c != '-') made += c;
  }
  return made;
}

bool is_free(const Value& body) {
  const Value* fixed = body.find("fixed");
  return body.find("driven") == nullptr && (fixed == nullptr || !fixed->boolean);
}

template <class Vector>
std::vector<double> numbers_of(const Vector& vector) {
  return {vector.data(), vector.data() + vector.size()};
}

/// Of a polytope in space.
void add_faces(const shape::Shape<3>& shape, Piece& piece) {
  if (piece.kind != Piece::Kind::Core || shape.corners.size() < 3) return;
  for (const shape::Face<3>& face : shape.faces) {
    piece.normals.push_back(numbers_of(face.normal));
    piece.faces.emplace_back(shape.around.begin() + face.begin, shape.around.begin() + face.end);
  }
  for (const shape::Edge& edge : shape.edges) piece.edges.push_back({edge.from, edge.to});
}

std::string words_of(const std::string& material) {
  return material.empty() ? "shapes without a material" : fmt::format("'{}'", material);
}

}  // namespace

void FrameReader::open(TableReader& root) {
  world_ = root.table("world");
  frames_ = root.table("frame");
  bodies_ = root.table("body");
  materials_ = root.table("material");
  pairs_ = root.table("pair");
  if (world_ != nullptr) {
    refuse_other_tables(root);
    dimension_ = dimension_of(document_, root);
    if (frames_ == nullptr && bodies_ == nullptr) {
      throw base::InputError("world", "stands beside [system] and has no shapes",
                             "write [frame.NAME] with position and a shape, or leave [world] out",
                             document_.spot_of_key(*world_));
    }
    return;
  }
  for (const auto& [key, table] : {std::pair{"frame", frames_}, std::pair{"body", bodies_},
                                   std::pair{"material", materials_}, std::pair{"pair", pairs_}}) {
    if (table == nullptr) continue;
    throw base::InputError(key, "needs [world], which says whether it is a plane or space",
                           "write [world] with dimension = 2", document_.spot_of_key(*table));
  }
}

/// Parameters of [world] may be what has units first.
void FrameReader::open_units() {
  if (world_ != nullptr) formulas_.open_units(world_->find("parameters"), nullptr);
}

/// What only worlds of bodies have.
void FrameReader::refuse_other_tables(TableReader& root) {
  const std::array<std::pair<const char*, const char*>, 5> others = {{
      {"joint", "write [hold.NAME] with zero = \"...\", an equation of coordinates"},
      {"fill", "write [body.NAME] with for = \"i in 1..N\""},
      {"remove", "leave it out"},
      {"watch", "write a formula in [record], [plot] or [expect]"},
      {"write", "write the columns you want in [record]"},
  }};
  for (const auto& [key, remedy] : others) {
    const Value* value = root.find(key);
    if (value == nullptr) continue;
    throw base::InputError(key, "is for worlds of bodies, and this scene has [system]", remedy,
                           document_.spot_of_key(*value));
  }
}

void FrameReader::read_parameters() {
  if (world_ == nullptr) return;
  TableReader world(document_, *world_, "world");
  if (const Value* parameters = world.table("parameters")) {
    formulas_.add_parameters(*parameters, "world.parameters");
  }
}

void FrameReader::read_definitions() {
  if (world_ == nullptr) return;
  TableReader world(document_, *world_, "world");
  if (const Value* define = world.table("define")) {
    formulas_.add_definitions(*define, "world.define");
  }
  (void)world.find("parameters");
  (void)world.find("dimension");
  read_gravity(world);
  world.finish();
}

void FrameReader::read_gravity(TableReader& world) {
  const Value* gravity = world.find("gravity");
  if (gravity == nullptr) return;
  const std::string remedy =
      dimension_ == 2 ? "write gravity = [0, -9.81]" : "write gravity = [0, 0, -9.81]";
  gravity_ = read_list(world, *gravity, "gravity", index(dimension_), remedy, {});
  for (const Value& item : gravity->items) {
    formulas_.expect(item, "world.gravity", formula::Dimension{{1, 0, -2}}, "an acceleration");
  }
  if (std::any_of(gravity_.begin(), gravity_.end(), [&](NodeId g) { return depends(g); })) {
    world.fail(*gravity, "gravity", "depends on a coordinate", "write formulas of t");
  }
  if (!free_.empty()) return;
  warnings_.push_back(
      "world.gravity acts on free bodies, and there are none: the weight of a mechanism belongs in "
      "system.potential");
}

bool FrameReader::depends(NodeId node) const {
  const int first = system_.position_slot(0);
  return formulas_.graph().depends_on(node, first, first + system_.dofs());
}

std::vector<formula::Locals> FrameReader::indices_of(const Value& table, const std::string& path) {
  const Value* all = table.find("for");
  if (all == nullptr) return {{}};
  return formulas_.index_values(*all, path + ".for");
}

void FrameReader::check_name(const std::string& kind, const std::string& name, const Value& value) {
  const std::string path = kind + "." + name;
  const auto fail = [&](const std::string& message, const std::string& remedy) {
    throw base::InputError(path, message, remedy, document_.spot_of_key(value));
  };
  if (value.kind != Value::Kind::Table) {
    fail(fmt::format("must be a table, not {}", value.kind_name()),
         fmt::format("write [{}] and its keys below", path));
  }
  for (const char* taken : {"energy", "violation", "residual", "steps", "x", "y", "z", "angle"}) {
    if (name == taken) {
      fail(fmt::format("'{}' is a word of results", name), "choose another name");
    }
  }
  if (kind == "body" && frames_ != nullptr && frames_->find(name) != nullptr) {
    fail(fmt::format("a frame is called '{}' too", name), "choose another name for one of them");
  }
}

void FrameReader::add_coordinates(std::vector<CoordinateGroup>& groups) {
  if (bodies_ == nullptr) return;
  for (const auto& [name, value] : bodies_->entries) {
    check_name("body", name, value);
    if (const Value* born = value.find("born")) {
      throw base::InputError("body." + name + ".born", "is for worlds of bodies without [system]",
                             "leave it out", document_.spot_of_key(*born));
    }
    if (!is_free(value)) continue;
    if (dimension_ == 3) {
      throw base::InputError(
          "body." + name, "is free to move, in space, beside [system]",
          "write its coordinates and its kinetic energy in [system] and its shape on a [frame]; or "
          "write the mechanism with [joint] and leave [system] out; or fixed = true",
          document_.spot_of_key(value));
    }
    if (system_.outside) {
      throw base::InputError("body." + name, "is free to move beside functions of a program",
                             "write its coordinates in [system] and its shape on a [frame]",
                             document_.spot_of_key(value));
    }
    for (const Locals& locals : indices_of(value, "body." + name)) {
      FreeBody body;
      body.name = name;
      for (const auto& [unused, i] : locals) body.name += fmt::format("[{}]", i);
      body.begin = system_.dofs();
      for (const char* coordinate : kBodyCoordinates) {
        const CoordinateGroup group{.name = body.name + "." + coordinate, .begin = system_.dofs()};
        system_.coordinates.push_back(group.name);
        groups.push_back(group);
      }
      free_.push_back(body);
    }
  }
}

void FrameReader::read() {
  if (dimension_ == 2) read_shapes<2>();
  if (dimension_ == 3) read_shapes<3>();
}

template <int D>
void FrameReader::read_shapes() {
  WorldReader<D> reader(document_, formulas_);
  reader.stand_beside_system();
  body::World<D> world;
  reader.read_materials(materials_, world);
  material_names_ = world.materials;
  read_pairs(world.materials);
  for (std::size_t k = 0; frames_ != nullptr && k < frames_->entries.size(); ++k) {
    const auto& [name, value] = frames_->entries[k];
    check_name("frame", name, value);
    formulas_.check_new_name(name, "frame." + name, value);
    read_frame<D>(name, value, reader, world);
  }
  if (bodies_ == nullptr) return;
  for (const auto& [name, value] : bodies_->entries) {
    const int first = world.count();
    WorldPart unused;
    reader.read_family(name, value, world, unused);
    for (int i = first; i < world.count(); ++i) {
      tables_.push_back(&value);
      take_body<D>(world, i, reader.drives()[index(i)]);
    }
  }
}

void FrameReader::check_law(const Value& value, const std::string& key) {
  if (value.kind == Value::Kind::Text && value.text == "none") return;
  if (value.kind != Value::Kind::Table) {
    throw base::InputError(key, "is no law of a pair",
                           "write { friction = 0.5, restitution = 0 }, or \"none\"",
                           document_.spot_of(value));
  }
  TableReader law(document_, value, key);
  for (const char* known :
       {"friction", "restitution", "dissipation_index", "law", "restitution_kind"}) {
    (void)law.find(known);
  }
  for (const char* other : {"rolling", "spinning"}) {
    const Value* found = law.find(other);
    if (found == nullptr) continue;
    law.fail(*found, other, "is for worlds of bodies without [system]",
             "leave it out, or write [friction.NAME] with slip and bound");
  }
  law.finish();
}

void FrameReader::read_pairs(const std::vector<std::string>& materials) {
  const std::size_t count = materials.size();
  laws_.assign(count * count, {});
  if (pairs_ == nullptr) return;
  if (const Value* common = pairs_->find("default")) {
    check_law(*common, "pair.default");
    std::fill(laws_.begin(), laws_.end(), Law{common, "pair.default", false});
  }
  std::set<std::array<std::size_t, 2>> seen;
  for (const auto& [key, value] : pairs_->entries) {
    if (key == "default") continue;
    const std::string path = fmt::format("pair.\"{}\"", key);
    std::array<std::size_t, 2> which = pair_of(document_, key, value, materials);
    std::sort(which.begin(), which.end());
    if (!seen.insert(which).second) {
      throw base::InputError(path, "is stated twice", "remove one of the two",
                             document_.spot_of_key(value));
    }
    check_law(value, path);
    laws_[which[0] * count + which[1]] = laws_[which[1] * count + which[0]] = {&value, path, true};
  }
}

NodeVector FrameReader::read_list(TableReader& table, const Value& value, const std::string& key,
                                  std::size_t count, const std::string& remedy,
                                  const Locals& locals) {
  if (value.kind != Value::Kind::Array || value.items.size() != count) {
    table.fail(value, key, fmt::format("must be a list of {} numbers or formulas", count), remedy);
  }
  NodeVector nodes;
  for (const Value& item : value.items) {
    nodes.push_back(formulas_.formula(item, table.full(key), Speaks::Position, locals));
  }
  return nodes;
}

template <int D>
void FrameReader::read_frame(const std::string& name, const Value& value, WorldReader<D>& reader,
                             const body::World<D>& world) {
  const std::string path = "frame." + name;
  const std::string example =
      D == 2 ? "write position = [\"x\", \"y\"]" : "write position = [\"x\", \"y\", \"z\"]";
  TableReader table(document_, value, path);
  (void)table.find("for");
  for (const Locals& indices : indices_of(value, path)) {
    const Locals locals = reader.with_definitions(table, indices);
    Carrier frame;
    frame.name = name;
    for (const auto& [unused, i] : indices) frame.name += fmt::format("[{}]", i);
    frame.material = reader.material_of(table, world);
    const Value& position = table.require("position", example + ", formulas of coordinates");
    frame.x = read_list(table, position, "position", D, example, locals);
    for (const Value& item : position.items) {
      formulas_.expect(item, table.full("position"), formula::Dimension{{1, 0, 0}}, "a length");
    }
    read_attitude(table, locals, frame);
    for (const char* key : {"mass", "inertia", "velocity", "fixed", "driven", "at"}) {
      const Value* found = table.find(key);
      if (found == nullptr) continue;
      table.fail(*found, key, "is of bodies: a frame rides on formulas of [system]",
                 "write masses in system.kinetic, velocities in [start], its place in position");
    }
    add_pieces<D>(reader.read_shapes(table, locals), value, frame);
    std::vector<NodeId> nodes = frame.x;
    for (const NodeVector& row : frame.R) nodes.insert(nodes.end(), row.begin(), row.end());
    frame.moves = std::any_of(nodes.begin(), nodes.end(), [&](NodeId n) { return depends(n); });
    tables_.push_back(&value);
    carriers_.push_back(std::move(frame));
  }
  table.finish();
}

void FrameReader::read_attitude(TableReader& table, const Locals& locals, Carrier& frame) {
  const Value* angle = table.find("angle");
  const Value* about = table.find("axis_angle");
  const Value* quaternion = table.find("quaternion");
  if (const Value* spin = table.find("spin")) {
    table.fail(*spin, "spin", "does not say how the frame is turned",
               dimension_ == 2 ? "write angle = \"phi\", a formula of coordinates"
                               : "write angle (about z), axis_angle = [[1, 0, 0], \"phi\"] or "
                                 "quaternion, formulas of coordinates");
  }
  const Value* more = about != nullptr ? about : quaternion;
  if (more != nullptr && (dimension_ == 2 || angle != nullptr || (about && quaternion))) {
    table.fail(*more, about != nullptr ? "axis_angle" : "quaternion",
               dimension_ == 2 ? "turns a frame in space" : "says again how the frame is turned",
               dimension_ == 2 ? "write angle = \"phi\"" : "keep one of them");
  }
  formula::Graph& graph = formulas_.graph();
  if (quaternion != nullptr) {
    return set_quaternion(read_list(table, *quaternion, "quaternion", 4,
                                    "write [\"qw\", \"qx\", \"qy\", \"qz\"]", locals),
                          frame);
  }
  if (about != nullptr) {
    constexpr const char* kExample = "write axis_angle = [[1, 0, 0], \"phi\"]";
    if (about->kind != Value::Kind::Array || about->items.size() != 2) {
      table.fail(*about, "axis_angle", "must be an axis and an angle", kExample);
    }
    const NodeVector axis = read_list(table, about->items[0], "axis_angle", 3, kExample, locals);
    return set_axis_angle(
        axis,
        formulas_.formula(about->items[1], table.full("axis_angle"), Speaks::Position, locals),
        frame);
  }
  NodeId node = graph.constant(0.0);
  if (angle != nullptr) {
    formulas_.expect(*angle, table.full("angle"), {}, "an angle");
    node = formulas_.formula(*angle, table.full("angle"), Speaks::Position, locals);
  }
  set_angle(node, frame);
}

/// In the plane, or about the third axis.
void FrameReader::set_angle(NodeId angle, Carrier& carrier) {
  formula::Graph& graph = formulas_.graph();
  const NodeId c = graph.make(Op::Cos, angle);
  const NodeId s = graph.make(Op::Sin, angle);
  carrier.angle = angle;
  carrier.R = {{c, graph.negate(s)}, {s, c}};
  if (dimension_ == 2) return;
  const NodeId zero = graph.constant(0.0);
  for (NodeVector& row : carrier.R) row.push_back(zero);
  carrier.R.push_back({zero, zero, graph.constant(1.0)});
}

/// R of a quaternion of any length but 0.
void FrameReader::set_quaternion(const NodeVector& q, Carrier& carrier) {
  formula::Graph& graph = formulas_.graph();
  const NodeId scale = graph.divide(graph.constant(2.0), dot(graph, q, q));
  const auto product = [&](std::size_t i, std::size_t j) {
    return graph.multiply(scale, graph.multiply(q[i], q[j]));
  };
  const NodeId one = graph.constant(1.0);
  const auto diagonal = [&](std::size_t j, std::size_t k) {
    return graph.subtract(one, graph.add(product(j, j), product(k, k)));
  };
  const auto plus = [&](std::size_t i, std::size_t j, std::size_t k) {
    return graph.add(product(i, j), product(0, k));
  };
  const auto minus = [&](std::size_t i, std::size_t j, std::size_t k) {
    return graph.subtract(product(i, j), product(0, k));
  };
  carrier.R = {{diagonal(2, 3), minus(1, 2, 3), plus(1, 3, 2)},
               {plus(1, 2, 3), diagonal(1, 3), minus(2, 3, 1)},
               {minus(1, 3, 2), plus(2, 3, 1), diagonal(1, 2)}};
}

void FrameReader::set_axis_angle(const NodeVector& axis, NodeId angle, Carrier& carrier) {
  formula::Graph& graph = formulas_.graph();
  const NodeVector n = normalized(graph, axis);
  const NodeId half = graph.multiply(graph.constant(0.5), angle);
  const NodeId s = graph.make(Op::Sin, half);
  NodeVector q = {graph.make(Op::Cos, half)};
  for (const NodeId component : n) q.push_back(graph.multiply(s, component));
  set_quaternion(q, carrier);
}

template <int D>
void FrameReader::add_pieces(const std::vector<shape::Shape<D>>& shapes, const Value& value,
                             Carrier& carrier) {
  for (const shape::Shape<D>& shape : shapes) {
    Piece piece;
    const bool is_hollow = shape.round < 0.0;  // see WorldReader::make_shape
    piece.kind = is_hollow                              ? Piece::Kind::Hollow
                 : shape.kind == shape::Kind::HalfSpace ? Piece::Kind::HalfSpace
                                                        : Piece::Kind::Core;
    if (shape.kind != shape::Kind::Core && shape.kind != shape::Kind::HalfSpace) {
      throw base::InputError(
          (carrier.kind == Carrier::Kind::Frame ? "frame." : "body.") + carrier.name,
          "has a shape that no formulas are known for",
          D == 2 ? "beside [system] shapes are point, disc, capsule, box, polygon, half_plane and "
                   "hollow; a chain can be several capsules or polygons"
                 : "beside [system] shapes are point, sphere, capsule, box, polytope, half_space "
                   "and hollow",
          document_.spot_of_key(value));
    }
    for (const auto& corner : shape.corners) piece.corners.push_back(numbers_of(corner));
    if (piece.kind == Piece::Kind::HalfSpace) piece.normal = numbers_of(shape.faces[0].normal);
    if constexpr (D == 3) add_faces(shape, piece);
    piece.round = std::abs(shape.round);
    piece.extent = shape.extent;
    carrier.pieces.push_back(std::move(piece));
  }
}

/// Its coordinates are those of the mass centre; shapes are written in their own frame.
void FrameReader::place_free(const body::Body<2>& body, Carrier& carrier) {
  formula::Graph& graph = formulas_.graph();
  const auto same = [&](const FreeBody& one) { return one.name == body.name; };
  FreeBody& free = *std::find_if(free_.begin(), free_.end(), same);
  free.mass = body.mass;
  free.inertia = body.inertia;
  free.place = {body.start.x[0], body.start.x[1], body.start.angle};
  free.velocity = {body.start.v[0], body.start.v[1], body.start.spin};
  set_angle(graph.input(system_.position_slot(free.begin + 2)), carrier);
  const NodeVector centre = constants(graph, numbers_of(body.centre));
  for (int k = 0; k < 2; ++k) {
    const NodeId coordinate = graph.input(system_.position_slot(free.begin + k));
    carrier.x.push_back(graph.subtract(coordinate, dot(graph, carrier.R[index(k)], centre)));
  }
}

template <int D>
void FrameReader::take_body(const body::World<D>& world, int i, const NodeVector& drive) {
  formula::Graph& graph = formulas_.graph();
  const body::Body<D>& body = world.body(i);
  Carrier carrier;
  carrier.name = body.name;
  carrier.material = body.material;
  carrier.kind = body.is_free() ? Carrier::Kind::Free : Carrier::Kind::Placed;
  carrier.moves = body.is_free();
  if (body.kind == body::Kind::Driven) {
    carrier.x.assign(drive.begin(), drive.begin() + D);
    if constexpr (D == 2) set_angle(drive[2], carrier);
    if constexpr (D == 3) set_axis_angle({drive[3], drive[4], drive[5]}, drive[6], carrier);
  } else if (body.kind == body::Kind::Fixed) {
    const shape::Pose<D> pose = body::pose_of(body, body.start);
    carrier.x = constants(graph, numbers_of(pose.x));
    for (int k = 0; k < D; ++k) {
      carrier.R.push_back(constants(graph, numbers_of(shape::Vec<D>(pose.R.row(k)))));
    }
    carrier.angle = graph.constant(0.0);  // its rate is asked for
  }
  if constexpr (D == 2) {
    if (body.is_free()) place_free(body, carrier);
  }
  std::vector<shape::Shape<D>> shapes;
  for (int k = 0; k < body.shapes; ++k) {
    shapes.push_back(world.solids[index(body.first_shape + k)].shape);
  }
  add_pieces<D>(shapes, *tables_.back(), carrier);
  carriers_.push_back(std::move(carrier));
}

NodeId FrameReader::kinetic(NodeId others) {
  formula::Graph& graph = formulas_.graph();
  for (const FreeBody& body : free_) {
    for (int k = 0; k < 3; ++k) {
      const NodeId u = graph.input(system_.velocity_slot(body.begin + k));
      const double half = 0.5 * (k < 2 ? body.mass : body.inertia);
      others = graph.add(others, graph.multiply(graph.constant(half), graph.multiply(u, u)));
    }
  }
  return others;
}

/// A potential where gravity is constant, else a force.
void FrameReader::add_gravity() {
  formula::Graph& graph = formulas_.graph();
  for (const FreeBody& body : free_) {
    for (std::size_t k = 0; k < gravity_.size(); ++k) {
      const NodeId weight = graph.multiply(graph.constant(body.mass), gravity_[k]);
      const int coordinate = body.begin + static_cast<int>(k);
      if (graph.is_constant(weight, 0.0)) continue;
      if (graph.is_constant(weight)) {
        if (system_.potential < 0) system_.potential = graph.constant(0.0);
        const NodeId x = graph.input(system_.position_slot(coordinate));
        system_.potential = graph.subtract(system_.potential, graph.multiply(weight, x));
        continue;
      }
      system_.forces.resize(system_.coordinates.size(), graph.constant(0.0));
      system_.forces[index(coordinate)] = graph.add(system_.forces[index(coordinate)], weight);
    }
  }
}

/// Null: they do not touch. Two frames are of one mechanism: their pair has to be named.
const FrameReader::Law* FrameReader::law_of(const Carrier& a, const Carrier& b) const {
  if (!a.moves && !b.moves) return nullptr;
  const Law& law = laws_[index(a.material) * material_names_.size() + index(b.material)];
  const bool both_frames = a.kind == Carrier::Kind::Frame && b.kind == Carrier::Kind::Frame;
  if (both_frames && !law.is_named) return nullptr;
  if (law.value == nullptr) {
    const std::string& one = material_names_[index(a.material)];
    const std::string& other = material_names_[index(b.material)];
    throw base::InputError(
        "pair",
        fmt::format("nothing is said of {} and {}, and '{}' may touch '{}'", words_of(one),
                    words_of(other), a.name, b.name),
        a.material > 0 && b.material > 0
            ? fmt::format("write \"{} {}\" = {{ restitution = ... }} in [pair], or \"none\"", one,
                          other)
            : "write default = { restitution = ... } in [pair], or give both a material",
        document_.spot_of_key(pairs_ == nullptr ? *world_ : *pairs_));
  }
  return law.value->kind == Value::Kind::Text ? nullptr : &law;
}

const Value& FrameReader::value_of(const Carrier& carrier) const {
  return *tables_[static_cast<std::size_t>(&carrier - carriers_.data())];
}

/// Relative velocity of the particles along the tangents.
std::vector<NodeId> FrameReader::slips_of(const Carrier& a, const Carrier& b, const Touch& touch) {
  formula::Graph& graph = formulas_.graph();
  ShapeGaps gaps(graph);
  const NodeVector velocity = difference(graph, gaps.velocity_at(a, touch.place, system_.dofs()),
                                         gaps.velocity_at(b, touch.place, system_.dofs()));
  std::vector<NodeId> slips;
  bool slides = false;
  for (const NodeVector& tangent : tangents_of(graph, touch.normal)) {
    slips.push_back(dot(graph, tangent, velocity));
    const int first = system_.velocity_slot(0);
    slides = slides || graph.depends_on(slips.back(), first, first + system_.dofs());
  }
  if (!slides) slips.clear();  // it moves along the normal alone
  return slips;
}

/// Corners whose rows are the same formulas, as those of a box that turns about one axis, are one.
void FrameReader::add_rows(const Carrier& a, const Carrier& b, const Law& law,
                           std::vector<ShapeRow>& rows) {
  ShapeGaps gaps(formulas_.graph());
  std::vector<Touch> touches;
  for (const Piece& one : a.pieces) {
    for (const Piece& other : b.pieces) {
      const std::string why = why_apart(one, other, dimension_);
      if (!why.empty()) {
        throw base::InputError(
            (a.kind == Carrier::Kind::Frame ? "frame." : "body.") + a.name,
            fmt::format("may touch '{}', and no gap is known between their shapes: {}", b.name,
                        why),
            "choose other shapes, or write \"a b\" = \"none\" of their materials in [pair]",
            document_.spot_of_key(value_of(a)));
      }
      for (Touch& touch : gaps.touches(a, one, b, other)) {
        if (depends(touch.gap)) touches.push_back(std::move(touch));
      }
    }
  }
  const bool is_rough = law.value->find("friction") != nullptr;
  const std::size_t first = rows.size();
  for (const Touch& touch : touches) {
    ShapeRow row{"", touch.gap, touch.where, {}, law.value, law.key};
    if (is_rough) row.slips = slips_of(a, b, touch);
    const auto same = [&](const ShapeRow& other) {
      return other.gap == row.gap && other.where == row.where && other.slips == row.slips;
    };
    const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(first);
    if (std::none_of(begin, rows.end(), same)) rows.push_back(std::move(row));
  }
  const std::string name = flat(a.name) + "." + flat(b.name);
  for (std::size_t k = first; k < rows.size(); ++k) {
    rows[k].name = rows.size() == first + 1 ? name : fmt::format("{}[{}]", name, k - first + 1);
  }
}

std::vector<ShapeRow> FrameReader::rows() {
  constexpr std::size_t kMost = 400;
  std::vector<ShapeRow> rows;
  for (std::size_t i = 0; i < carriers_.size(); ++i) {
    for (std::size_t j = i + 1; j < carriers_.size(); ++j) {
      const bool in_order = carriers_[i].kind <= carriers_[j].kind;
      const Carrier& a = carriers_[in_order ? i : j];
      const Carrier& b = carriers_[in_order ? j : i];
      const Law* law = law_of(a, b);
      if (law == nullptr) continue;
      formulas_.guarded(*world_, "world", [&] { add_rows(a, b, *law, rows); });
      if (rows.size() <= kMost) continue;
      throw base::InputError(
          "pair", fmt::format("the shapes may touch in more than {} ways", kMost),
          "write \"a b\" = \"none\" in [pair] of materials that never meet; many bodies are for a "
          "[world] without [system], whose mechanisms have [joint]",
          document_.spot_of_key(pairs_ == nullptr ? *world_ : *pairs_));
    }
  }
  if (formulas_.has_units()) {
    for (const Carrier& carrier : carriers_) formulas_.add_length_gap(flat(carrier.name));
  }
  return rows;
}

}  // namespace ricochet::scene
