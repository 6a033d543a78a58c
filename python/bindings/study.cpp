#include <pybind11/stl.h>

#include "bindings.h"
#include "ricochet/study/compare.h"
#include "ricochet/study/converge.h"
#include "ricochet/study/convergence_json.h"
#include "ricochet/study/inspect_json.h"
#include "ricochet/study/inspect_scene.h"
#include "scene.h"
#include "watch.h"

namespace ricochet::python {
namespace {

/// JSON of the inspection, or empty where the run to it failed or was stopped: then how.
py::tuple inspect(const ReadScene& read, std::optional<double> at, const std::string& option,
                  py::object progress) {
  scene::Scene scene = read.scene;
  scene.run = study::run_to(at, scene.run, option);
  Watch watch(std::move(progress), scene.run.steps);
  const study::SceneInspection inspection = watched(
      watch, read.calls_python(), [&] { return study::inspect_end(scene, &watch.monitor()); });
  const certify::Certificate& c = inspection.reached.certificate;
  return py::make_tuple(inspection.found ? study::to_json(*inspection.found, scene.columns) : "",
                        c.ok() ? "" : "error: " + certify::describe_failure(c));
}

py::tuple converge(const ReadScene& read, const study::ConvergeSettings& settings,
                   py::object progress) {
  Watch watch(std::move(progress), 0);
  const study::Convergence found = watched(watch, read.calls_python(), [&] {
    return study::converge(read.scene, settings, &watch.monitor());
  });
  std::string failure;
  if (found.failed) failure = certify::describe_failure(found.failed->certificate);
  return py::make_tuple(study::to_json(found, read.scene), failure,
                        found.failed ? found.failed->step : 0.0, found.interrupted);
}

/// `scenes` are what was read for each scheme, or the text of why it could not be.
py::tuple compare(const ReadScene& any, const study::CompareSettings& settings,
                  const std::shared_ptr<Functions>& functions, py::object progress) {
  const auto read = [&](const std::string& scheme) {
    std::vector<scene::Override> changes = any.changes;
    changes.push_back({"run.scheme", scheme, "--scheme " + scheme});
    return scene::read_scene(any.scene.file, any.scene.text, changes, functions);
  };
  Watch watch(std::move(progress), 0);
  const study::Comparison found = watched(
      watch, any.calls_python(), [&] { return study::compare(read, settings, &watch.monitor()); });
  return py::make_tuple(study::to_json(found, any.scene.file), found.ok(), found.interrupted);
}

}  // namespace

void bind_study(py::module_& m) {
  m.def("inspect", inspect, py::arg("scene"), py::arg("at"), py::arg("option"),
        py::arg("progress"));
  m.def(
      "converge",
      [](const ReadScene& scene, std::vector<double> steps, double reference, double window,
         py::object progress) {
        return converge(scene, {std::move(steps), reference, window}, std::move(progress));
      },
      py::arg("scene"), py::arg("steps"), py::arg("reference"), py::arg("window"),
      py::arg("progress"));
  m.def(
      "compare",
      [](const ReadScene& scene, std::vector<std::string> schemes, double reference,
         std::string reference_scheme, double window, const std::shared_ptr<Functions>& functions,
         py::object progress) {
        return compare(scene, {std::move(schemes), reference, std::move(reference_scheme), window},
                       functions, std::move(progress));
      },
      py::arg("scene"), py::arg("schemes"), py::arg("reference"), py::arg("reference_scheme"),
      py::arg("window"), py::arg("functions"), py::arg("progress"));
}

}  // namespace ricochet::python
