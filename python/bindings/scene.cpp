#include "scene.h"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <memory>

#include "ricochet/host/scene_file.h"
#include "ricochet/study/builtin_scenes.h"
#include "ricochet/study/family.h"
#include "ricochet/study/motion.h"
#include "run.h"

namespace ricochet::python {
namespace {

using Change = std::tuple<std::string, std::string, std::string>;  // key, value, as typed

ReadScene read(const std::string& file, const std::string& text, const std::vector<Change>& changes,
               const std::shared_ptr<Functions>& functions, bool backward) {
  ReadScene read;
  for (const auto& [key, value, argument] : changes) {
    read.changes.push_back({key, value, argument});
  }
  read.scene = scene::read_scene(file, text, read.changes, functions);
  read.scene.run.backward = backward;
  study::check_direction(read.scene);
  if (functions) functions->check(read.scene.start);
  return read;
}

/// The start is where another run ended, with all that its scheme and judge remember.
void go_on_from(ReadScene& read, const KeptRun& before) {
  const model::State<model::kDynamic>& end = before.report.motion.final_state;
  if (read.scene.formulas() == nullptr || end.q.size() != read.scene.start.q.size()) {
    throw base::InputError("start", "structures and bodies cannot go on from the end of a run",
                           "run it from its own start");
  }
  read.scene.start = end;
}

py::dict by_name(const std::vector<std::string>& names, const Eigen::VectorXd& values) {
  py::dict dict;
  for (std::size_t i = 0; i < names.size(); ++i) {
    dict[py::str(names[i])] = values[static_cast<Eigen::Index>(i)];
  }
  return dict;
}

py::list derived(const ReadScene& read) {
  py::list list;
  if (const model::FormulaModel* model = read.scene.formulas()) {
    for (const auto& one : model->derived()) list.append(py::make_tuple(one.of, one.formula));
    return list;
  }
  if (read.scene.structure() == nullptr) return list;
  for (const double frequency : read.scene.structure()->frequencies) {
    list.append(py::make_tuple("mode", fmt::format("{:.9g} Hz, without guides", frequency)));
  }
  return list;
}

py::list members(const ReadScene& read) {
  const scene::Family& family = read.scene.family;
  py::list list;
  for (std::size_t k = 0; k < family.size(); ++k) {
    py::dict values;
    for (std::size_t key = 0; key < family.keys.size(); ++key) {
      const scene::Value& value = family.value(k, key);
      const bool is_text = value.kind == scene::Value::Kind::Text;
      values[py::str(family.keys[key].name)] =
          is_text ? py::object(py::str(value.text)) : py::object(py::float_(value.number));
    }
    list.append(values);
  }
  return list;
}

/// All schemes as plain data.
py::list schemes() {
  py::list all;
  for (const step::SchemeInfo* info : step::all_schemes()) {
    py::list settings;
    for (const step::Setting& setting : info->settings) {
      py::dict one;
      one["name"] = setting.name;
      one["meaning"] = setting.meaning;
      if (setting.is_choice()) {
        one["words"] = std::vector<std::string>(setting.words.begin(), setting.words.end());
        one["default"] = setting.words[static_cast<std::size_t>(setting.standard)];
      } else if (setting.is_automatic) {
        one["default"] = py::none();
      } else {
        one["default"] = setting.standard;
      }
      settings.append(one);
    }
    py::dict scheme;
    scheme["name"] = info->name;
    scheme["meaning"] = info->meaning;
    scheme["use"] = info->use;
    scheme["restitution"] = info->restitution;
    scheme["friction"] = info->has_friction;
    scheme["settings"] = settings;
    all.append(scheme);
  }
  return all;
}

}  // namespace

void bind_scene(py::module_& m) {
  py::class_<ReadScene, std::shared_ptr<ReadScene>>(m, "Scene")
      .def_property_readonly("name", [](const ReadScene& s) { return s.scene.name; })
      .def_property_readonly("file", [](const ReadScene& s) { return s.scene.file; })
      .def_property_readonly("title", [](const ReadScene& s) { return s.scene.title; })
      .def_property_readonly("source", [](const ReadScene& s) { return s.scene.source; })
      .def_property_readonly("notes", [](const ReadScene& s) { return s.scene.notes; })
      .def_property_readonly("coordinates",
                             [](const ReadScene& s) { return s.scene.columns.coordinates; })
      .def_property_readonly("contacts",
                             [](const ReadScene& s) { return s.scene.columns.contacts; })
      .def_property_readonly("joints", [](const ReadScene& s) { return s.scene.columns.joints; })
      .def_property_readonly("parameters",
                             [](const ReadScene& s) {
                               py::dict dict;
                               for (const auto& [name, value] : s.scene.parameters) {
                                 dict[py::str(name)] = value;
                               }
                               return dict;
                             })
      .def_property_readonly("scheme",
                             [](const ReadScene& s) { return step::name_of(s.scene.scheme); })
      .def_property_readonly("step", [](const ReadScene& s) { return s.scene.run.step; })
      .def_property_readonly("steps", [](const ReadScene& s) { return s.scene.run.steps; })
      .def_property_readonly("start_time",
                             [](const ReadScene& s) { return s.scene.run.start_time; })
      .def_property_readonly(
          "position",
          [](const ReadScene& s) { return by_name(s.scene.columns.coordinates, s.scene.start.q); })
      .def_property_readonly(
          "velocity",
          [](const ReadScene& s) { return by_name(s.scene.columns.coordinates, s.scene.start.u); })
      .def_property_readonly("warnings", [](const ReadScene& s) { return s.scene.warnings; })
      .def_property_readonly("calls_python", &ReadScene::calls_python)
      .def_property_readonly("has_friction",
                             [](const ReadScene& s) { return s.scene.columns.has_friction(); })
      .def("go_on_from", go_on_from)
      .def("derived", derived)
      .def("members", members);
  m.def("read", read, py::arg("file"), py::arg("text"), py::arg("changes"), py::arg("functions"),
        py::arg("backward"));
  m.def("plan", [](const ReadScene& read) {
    if (read.scene.family.empty()) return;
    (void)study::plan_family(read.scene, read.changes, study::run_in_order);
  });
  m.def("read_text", host::read_scene_text);
  m.def("scheme_names", step::scheme_names);
  m.def("schemes", schemes);
  m.def("builtin_text", [](const std::string& name) { return study::builtin_scene(name); });
  m.def("builtin_names", [] {
    std::vector<std::string> names;
    for (const study::BuiltinScene& one : study::builtin_scenes()) names.push_back(one.name);
    return names;
  });
}

}  // namespace ricochet::python
