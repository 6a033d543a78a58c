#include "world.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <filesystem>

#include "ricochet/base/error.h"
#include "ricochet/base/index.h"
#include "ricochet/host/output_file.h"
#include "ricochet/host/series_files.h"

namespace ricochet::python {
namespace {

const char* word_of(body::Kind kind) {
  switch (kind) {
    case body::Kind::Free: return "free";
    case body::Kind::Fixed: return "fixed";
    case body::Kind::Driven: return "driven";
  }
  return "";
}

const char* word_of(body::JointKind kind) {
  switch (kind) {
    case body::JointKind::Hinge: return "hinge";
    case body::JointKind::Ball: return "ball";
    case body::JointKind::Slider: return "slider";
    case body::JointKind::Weld: return "weld";
    case body::JointKind::Distance: return "distance";
  }
  return "";
}

template <int D>
std::vector<double> list_of(const body::Vec<D>& v) {
  return {v.data(), v.data() + D};
}

std::vector<double> turn_of(const body::Motion<2>& place) { return {place.angle}; }
std::vector<double> turn_of(const body::Motion<3>& place) {
  return {place.turn.w(), place.turn.x(), place.turn.y(), place.turn.z()};
}

template <int D>
py::list list_bodies(const scene::WorldPart& part, const body::World<D>& world) {
  py::list all;
  for (int i = 0; i < world.count(); ++i) {
    const body::Body<D>& body = world.body(i);
    py::dict one;
    one["name"] = body.name;
    one["kind"] = word_of(body.kind);
    one["mass"] = body.mass;
    one["in_rows"] = std::find(part.told.begin(), part.told.end(), i) != part.told.end();
    one["place"] = list_of<D>(body.start.x);
    one["turn"] = turn_of(body.start);
    all.append(one);
  }
  return all;
}

template <int D>
py::list list_joints(const scene::WorldPart& part, const body::World<D>& world) {
  py::list all;
  for (std::size_t k = 0; k < world.joints.size(); ++k) {
    const body::Joint<D>& joint = world.joints[k];
    py::dict one;
    one["name"] = joint.name;
    one["kind"] = word_of(joint.kind);
    one["between"] = std::vector{world.body(joint.a).name, world.body(joint.b).name};
    one["on"] = std::vector{list_of<D>(joint.on_a), list_of<D>(joint.on_b)};
    one["watch"] = "";
    for (const scene::Watch& watch : part.watches) {
      const bool is_its = watch.kind == scene::Watch::Kind::Joint && watch.joint >= 0 &&
                          base::index(watch.joint) == k;
      if (is_its) one["watch"] = watch.name;
    }
    all.append(one);
  }
  return all;
}

}  // namespace

py::list bodies_of(const scene::Scene& scene) {
  const scene::WorldPart* part = scene.world();
  if (part == nullptr) return py::list();
  return part->visit([&](const auto& world) { return list_bodies(*part, world); });
}

py::list joints_of(const scene::Scene& scene) {
  const scene::WorldPart* part = scene.world();
  if (part == nullptr) return py::list();
  return part->visit([&](const auto& world) { return list_joints(*part, world); });
}

std::vector<std::string> write_series_into(const std::string& folder, const study::Motion& motion) {
  std::vector<std::string> names;
  const std::string told =
      host::write_series(motion, [&](const std::string& name, const std::string& bytes) {
        host::write_file(std::filesystem::path(folder) / name, bytes);
        names.push_back(name);
      });
  if (told.empty()) {
    throw base::InputError("write", "the scene asks for no series of bodies or contacts",
                           "write [write] with bodies = { every = 0.01, format = \"vtk\" }");
  }
  return names;
}

}  // namespace ricochet::python
