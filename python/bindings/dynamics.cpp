#include <fmt/format.h>
#include <pybind11/stl.h>

#include "bindings.h"
#include "ricochet/dynamics/invariants.h"
#include "ricochet/dynamics/picture.h"
#include "ricochet/host/threads.h"
#include "scene.h"
#include "watch.h"

namespace ricochet::python {
namespace {

/// Numbers row after row, handed over without a copy.
struct Numbers {
  std::vector<std::string> names{};
  std::size_t width{0};
  std::vector<double> values{};

  void add(const std::vector<double>& row) { values.insert(values.end(), row.begin(), row.end()); }
};
using Table = std::shared_ptr<Numbers>;

Table make_table(std::vector<std::string> names) {
  auto table = std::make_shared<Numbers>();
  table->width = names.size();
  table->names = std::move(names);
  return table;
}

py::buffer_info buffer_of(Numbers& numbers) {
  const auto width = static_cast<py::ssize_t>(numbers.width);
  const auto rows = static_cast<py::ssize_t>(numbers.values.size() / numbers.width);
  constexpr py::ssize_t kSize = sizeof(double);
  return {numbers.values.data(),  kSize, py::format_descriptor<double>::format(), 2, {rows, width},
          {width * kSize, kSize}, true};
}

py::tuple lyapunov(const ReadScene& read, double until, double settle, py::object progress) {
  dynamics::LyapunovSettings settings;
  settings.until = until;
  settings.settle = settle;
  Watch watch(std::move(progress), 0);
  const dynamics::Lyapunov found = watched(
      watch, false, [&] { return dynamics::lyapunov(read.scene, settings, &watch.monitor()); });
  const Table history = make_table({"time", "exponent"});
  for (const auto& [time, exponent] : found.history) history->add({time, exponent});
  return py::make_tuple(dynamics::to_json(found, read.scene), history,
                        dynamics::draw(found, read.scene));
}

py::tuple section(const ReadScene& read, int settle, int show, py::object progress) {
  dynamics::SectionSettings settings{.settle = read.scene.dynamics.sweep.settle};
  if (settle >= 0) settings.settle = settle;
  if (show >= 0) settings.show = show;
  Watch watch(std::move(progress), settings.settle + settings.show);
  const dynamics::SectionResult found = watched(
      watch, false, [&] { return dynamics::take_section(read.scene, settings, &watch.monitor()); });
  std::vector<std::string> names = {"t"};
  names.insert(names.end(), found.names.begin(), found.names.end());
  const Table table = make_table(names);
  for (std::size_t k = 0; k < found.rows.size(); ++k) {
    table->add({found.times[k]});
    table->add(found.rows[k]);
  }
  return py::make_tuple(table, found.period, found.rate, found.ended, found.interrupted,
                        dynamics::draw(found, read.scene));
}

py::tuple bifurcate(const ReadScene& read, bool with_exponents, int threads, py::object progress) {
  const scene::SweepPlan& plan = read.scene.dynamics.sweep;
  Watch watch(std::move(progress), static_cast<long long>(plan.over.size()) * plan.settle);
  const dynamics::Diagram found = watched(watch, false, [&] {
    return dynamics::bifurcate(read.scene, read.changes, with_exponents,
                               host::make_executor(threads, watch.monitor().stop),
                               &watch.monitor());
  });
  std::vector<std::string> names = {found.parameter, "direction", "seed", "attractor"};
  names.insert(names.end(), found.names.begin(), found.names.end());
  const Table table = make_table(names);
  const auto add = [&](const std::vector<dynamics::Branch>& branches, double direction) {
    for (const dynamics::Branch& branch : branches) {
      for (const std::vector<double>& row : branch.rows) {
        table->add({found.values[branch.value], direction, static_cast<double>(branch.seed),
                    static_cast<double>(branch.attractor)});
        table->add(row);
      }
    }
  };
  add(found.forward, 1.0);
  add(found.backward, -1.0);
  add(found.fresh, 0.0);
  return py::make_tuple(dynamics::to_json(found, read.scene), table,
                        dynamics::draw(found, read.scene));
}

py::tuple basin(const ReadScene& read, int threads, py::object progress) {
  Watch watch(std::move(progress), static_cast<long long>(read.scene.dynamics.sweep.over.size()));
  const dynamics::Basin found = watched(watch, false, [&] {
    return dynamics::find_basin(read.scene, read.changes,
                                host::make_executor(threads, watch.monitor().stop),
                                &watch.monitor());
  });
  auto labels = std::make_shared<Numbers>();
  labels->width = found.values[1].size();
  labels->values.assign(found.labels.begin(), found.labels.end());
  return py::make_tuple(dynamics::to_json(found, read.scene), labels,
                        dynamics::draw(found, read.scene));
}

py::tuple invariants(const ReadScene& read, const std::vector<std::string>& schemes,
                     const std::vector<double>& steps, const std::vector<double>& per_period,
                     double periods, py::object progress) {
  dynamics::InvariantSettings settings{schemes, steps};
  for (const double count : per_period) {
    settings.steps.push_back(read.scene.dynamics.period / count);
  }
  if (periods > 0.0) settings.periods = periods;
  const auto member = [&](const std::string& scheme, double step) {
    std::vector<scene::Override> all = read.changes;
    all.push_back({"run.scheme", scheme, "--scheme " + scheme});
    all.push_back({"run.step", fmt::format("{:.17g}", step), "--step"});
    return scene::read_scene(read.scene.file, read.scene.text, all);
  };
  Watch watch(std::move(progress), 0);
  const dynamics::InvariantTable found = watched(watch, false, [&] {
    return dynamics::compare_invariants(read.scene, member, settings, &watch.monitor());
  });
  return py::make_tuple(dynamics::to_json(found, read.scene), dynamics::draw(found, read.scene));
}

}  // namespace

void bind_dynamics(py::module_& m) {
  py::class_<Numbers, Table>(m, "StudyTable", py::buffer_protocol())
      .def_buffer(buffer_of)
      .def_readonly("names", &Numbers::names);
  m.def("exact_changes",
        [](const std::string& file, const std::string& text,
           const std::vector<std::tuple<std::string, std::string, std::string>>& changes) {
          std::vector<scene::Override> all;
          for (const auto& [key, value, argument] : changes) all.push_back({key, value, argument});
          std::vector<std::tuple<std::string, std::string, std::string>> filled;
          for (const scene::Override& one : dynamics::exact_changes(file, text, std::move(all))) {
            filled.emplace_back(one.key, one.value, one.argument);
          }
          return filled;
        });
  m.def("lyapunov", lyapunov, py::arg("scene"), py::arg("until"), py::arg("settle"),
        py::arg("progress"));
  m.def("section", section, py::arg("scene"), py::arg("settle"), py::arg("show"),
        py::arg("progress"));
  m.def("bifurcate", bifurcate, py::arg("scene"), py::arg("lyapunov"), py::arg("threads"),
        py::arg("progress"));
  m.def("basin", basin, py::arg("scene"), py::arg("threads"), py::arg("progress"));
  m.def("invariants", invariants, py::arg("scene"), py::arg("schemes"), py::arg("steps"),
        py::arg("per_period"), py::arg("periods"), py::arg("progress"));
}

}  // namespace ricochet::python
