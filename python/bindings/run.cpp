#include "run.h"

#include <fmt/format.h>
#include <pybind11/stl.h>
#include <unistd.h>

#include <atomic>
#include <mutex>

#include "ricochet/base/error.h"
#include "ricochet/dynamics/defect.h"
#include "ricochet/dynamics/lock_watch.h"
#include "ricochet/host/member_monitors.h"
#include "ricochet/host/series_files.h"
#include "ricochet/host/thread_pool.h"
#include "ricochet/host/threads.h"
#include "ricochet/plot/run_plot.h"
#include "ricochet/record/summary.h"
#include "ricochet/study/family.h"
#include "ricochet/study/story.h"
#include "watch.h"
#include "world.h"

namespace ricochet::python {
namespace {

using Runs = std::vector<std::shared_ptr<KeptRun>>;

std::vector<std::string> overrides_of(const ReadScene& read) {
  std::vector<std::string> overrides;
  for (const scene::Override& change : read.changes) {
    overrides.push_back(fmt::format("{}={}", change.key, change.value));
  }
  return overrides;
}

/// Rows are kept in memory: too many of them are refused before the first step.
void check_room(const scene::Scene& scene) {
  host::check_series(scene);
  const record::Trajectory row(scene.columns, 0.0);
  const double bytes =
      record::expected_rows(scene.run) * static_cast<double>(row.width() * sizeof(double));
  const double room = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) *
                      static_cast<double>(::sysconf(_SC_PAGE_SIZE));
  if (bytes < 0.8 * room) return;
  throw base::InputError("run.record",
                         fmt::format("the rows of this run take about {:.0f} GB of memory, and "
                                     "the machine has {:.0f}",
                                     bytes / 1e9, room / 1e9),
                         "record=N keeps every N-th row only, record=0 the first and the last");
}

/// Functions of Python are called by one thread.
study::Executor executor_for(const ReadScene& read, int threads, const std::atomic<bool>& stop) {
  return read.calls_python() ? study::Executor(study::run_in_order)
                             : host::make_executor(threads, stop);
}

std::shared_ptr<KeptRun> run(const ReadScene& read, const std::string& no_facts,
                             py::object progress, const std::string& error_bar, int threads) {
  check_room(read.scene);
  const study::BarChoice choice =
      error_bar.empty() ? study::BarChoice::Auto : study::bar_choice(error_bar);
  Watch watch(std::move(progress), read.scene.run.steps);
  host::ThreadPool pool(read.calls_python() ? 1 : threads);
  watch.monitor().executor = pool.executor();
  auto kept = watched(watch, read.calls_python(), [&] {
    return keep_run(read.scene, no_facts, watch.monitor(), choice,
                    executor_for(read, 0, watch.monitor().stop));
  });
  kept->report.overrides = overrides_of(read);
  return kept;
}

/// The members that were run, in their order; the others are null.
Runs run_members(const ReadScene& read, const study::Executor& executor,
                 const std::string& no_facts, step::Monitor& whole) {
  Runs runs(read.scene.family.size());
  host::MemberMonitors monitors(whole, runs.size());
  std::mutex mutex;
  std::exception_ptr error;
  executor(runs.size(), [&](std::size_t k) {
    if (whole.stop.load()) return;
    try {
      const scene::Scene member = scene::read_member(read.scene, read.changes, k);
      runs[k] =
          keep_run(member, no_facts, monitors[k], study::BarChoice::None, study::run_in_order);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
      whole.stop.store(true);
    }
  });
  if (error) std::rethrow_exception(error);
  return runs;
}

Runs run_family(const ReadScene& read, int threads, const std::string& no_facts,
                py::object progress) {
  Watch watch(std::move(progress), 0);
  Runs runs = watched(watch, read.calls_python(), [&] {
    const study::Executor executor = executor_for(read, threads, watch.monitor().stop);
    const study::FamilyPlan plan = study::plan_family(read.scene, read.changes, executor);
    watch.expect(static_cast<long long>(std::min(plan.steps, 9e18)));
    return run_members(read, executor, no_facts, watch.monitor());
  });
  for (const std::shared_ptr<KeptRun>& kept : runs) {
    if (kept) kept->report.overrides = overrides_of(read);
  }
  return runs;
}

/// One member, on the thread that calls.
std::shared_ptr<KeptRun> run_member(const ReadScene& read, std::size_t member,
                                    const std::string& no_facts) {
  Watch watch(py::none(), 0);
  auto kept = watched(watch, read.calls_python(), [&] {
    return keep_run(scene::read_member(read.scene, read.changes, member), no_facts, watch.monitor(),
                    study::BarChoice::None, study::run_in_order);
  });
  kept->report.overrides = overrides_of(read);
  return kept;
}

std::string svg_of(const KeptRun& run) {
  const study::Motion& motion = run.report.motion;
  plot::RunPicture picture(motion.scene);
  const std::size_t width = run.rows->width();
  for (std::size_t row = 0; row < run.rows->rows(); ++row) {
    picture.add({run.rows->data() + row * width, width - 1});  // the plan does not know T + V
  }
  picture.close();
  return plot::draw_run(motion.scene, picture, motion.outcome.certificate, motion.structure,
                        study::describe_settings(motion), &run.report.error_bar)
      .svg;
}

std::string status_of_run(const KeptRun& run) {
  return record::status_of(study::summary_of(run.report, ""));
}

std::string failure_of(const KeptRun& run) {
  const certify::Certificate& c = run.report.motion.outcome.certificate;
  return c.ok() ? "" : "error: " + certify::describe_failure(c);
}

py::buffer_info buffer_of_rows(record::Trajectory& rows) {
  const auto count = static_cast<py::ssize_t>(rows.rows());
  const auto width = static_cast<py::ssize_t>(rows.width());
  constexpr py::ssize_t kSize = sizeof(double);
  return {rows.data(), kSize,          py::format_descriptor<double>::format(),
          2,           {count, width}, {width * kSize, kSize},
          true};
}

}  // namespace

std::shared_ptr<KeptRun> keep_run(const scene::Scene& scene, const std::string& no_facts,
                                  step::Monitor& monitor, study::BarChoice error_bar,
                                  const study::Executor& executor) {
  auto kept = std::make_shared<KeptRun>();
  kept->rows =
      std::make_shared<record::Trajectory>(scene.columns, record::expected_rows(scene.run));
  study::Extent extent;
  dynamics::LockWatch locks(scene);
  dynamics::DefectBar defect(scene, error_bar == study::BarChoice::Defect);
  const auto observe = [&](const step::Sample& sample) {
    locks.add(sample);
    defect.add(sample);
    kept->rows->add(sample);
    extent.add(sample.q);
  };
  study::Companions companions(scene, error_bar);
  study::Story story(scene.columns.contacts.size() -
                     static_cast<std::size_t>(scene.columns.joints));
  monitor.on_event = [&](const certify::Event& event) { story.add(event); };
  kept->report.motion = companions.run(false, observe, &monitor);
  monitor.on_event = nullptr;
  monitor.executor = nullptr;  // companions have threads of their own
  locks.warn(kept->report.motion.scene);
  kept->report.story = study::tell(story, kept->report.motion);
  kept->report.error_bar = defect.is_wanted()
                               ? defect.take(kept->report.motion.outcome)
                               : companions.compare(kept->report.motion, executor, &monitor);
  if (monitor.stop.load()) kept->report.motion.outcome.interrupted = true;
  study::conclude(kept->report, extent, no_facts.empty(), no_facts);
  return kept;
}

void bind_run(py::module_& m) {
  py::class_<record::Trajectory, std::shared_ptr<record::Trajectory>>(m, "Trajectory",
                                                                      py::buffer_protocol())
      .def_buffer(buffer_of_rows)
      .def_property_readonly("address",
                             [](const record::Trajectory& rows) {
                               return reinterpret_cast<std::uintptr_t>(rows.data());
                             })
      .def_property_readonly("names", &record::Trajectory::names)
      .def("__len__", &record::Trajectory::rows);
  py::class_<KeptRun, std::shared_ptr<KeptRun>>(m, "Run")
      .def_readonly("rows", &KeptRun::rows)
      .def_property_readonly("names", [](const KeptRun& run) { return run.rows->names(); })
      .def_property_readonly("text",
                             [](const KeptRun& run) {
                               return study::describe(run.report) +
                                      study::describe_speed(run.report.motion.outcome);
                             })
      .def_property_readonly(
          "summary",
          [](const KeptRun& run) { return record::to_json(study::summary_of(run.report, "")); })
      .def_property_readonly("status", status_of_run)
      .def_property_readonly("failure", failure_of)
      .def_property_readonly("svg", svg_of)
      .def_property_readonly("wall_seconds",
                             [](const KeptRun& r) { return r.report.motion.outcome.wall_seconds; })
      .def_property_readonly("steps",
                             [](const KeptRun& r) { return r.report.motion.outcome.steps; })
      .def_property_readonly("warnings", [](const KeptRun& r) { return r.report.warnings; })
      .def_property_readonly("title", [](const KeptRun& r) { return r.report.motion.scene.title; })
      .def_property_readonly("bodies",
                             [](const KeptRun& r) { return bodies_of(r.report.motion.scene); })
      .def_property_readonly("joints",
                             [](const KeptRun& r) { return joints_of(r.report.motion.scene); })
      .def("write_series",
           [](const KeptRun& r, const std::string& folder) {
             return write_series_into(folder, r.report.motion);
           })
      .def_property_readonly("coordinates",
                             [](const KeptRun& r) { return r.rows->columns().coordinates; })
      .def_property_readonly("contacts",
                             [](const KeptRun& r) { return r.rows->columns().contacts; });
  m.def("run", run, py::arg("scene"), py::arg("no_facts"), py::arg("progress"),
        py::arg("error_bar"), py::arg("threads") = 1);
  m.def("run_member", run_member, py::arg("scene"), py::arg("member"), py::arg("no_facts"));
  m.def("run_family", run_family, py::arg("scene"), py::arg("threads"), py::arg("no_facts"),
        py::arg("progress"));
}

}  // namespace ricochet::python
