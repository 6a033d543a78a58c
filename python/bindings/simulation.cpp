#include "ricochet/study/simulation.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "run.h"

namespace ricochet::python {
namespace {

/// Numbers that arrays look into: of the engine, or the force, which the user writes to.
struct Block {
  std::vector<double> values;
  std::shared_ptr<study::Steering> steering;  // whose force it is; null: the values
  std::span<double> all() { return steering ? steering->force() : std::span<double>(values); }
};

/// A simulation with its rows, and with the numbers of the last one where arrays can see them.
class Simulated {
 public:
  Simulated(const ReadScene& read, bool keeps_rows)
      : calls_python_(read.calls_python()),
        rows_(std::make_shared<record::Trajectory>(read.scene.columns, 0.0)),
        numbers_(std::make_shared<Block>()),
        force_(std::make_shared<Block>()),
        simulation_(std::in_place, read.scene, [this, keeps_rows](const step::Sample& sample) {
          take(sample);
          extent_.add(sample.q);
          if (keeps_rows) rows_->add(sample);
        }) {
    force_->steering = simulation_->steering();
  }

  /// Long calls let other threads run, and look for Ctrl-C.
  bool step(long long steps) {
    constexpr long long kLong = 10'000;
    if (steps < 0) throw py::value_error("step: the number of steps must not be negative");
    for (long long left = steps; left > kLong; left -= kLong) {
      if (!advance(kLong)) return false;
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    }
    const long long rest = steps == 0 ? 0 : (steps - 1) % kLong + 1;
    return steps < 1000 ? running().step(rest) : advance(rest);
  }

  double t() const { return t_; }
  double kinetic() const { return kinetic_; }
  double potential() const { return potential_; }
  long long steps() const { return steps_; }
  const std::shared_ptr<Block>& numbers() const { return numbers_; }
  const std::shared_ptr<Block>& force() const { return force_; }
  std::string failure() {
    const certify::Certificate& c = running().certificate();
    return c.ok() ? "" : "error: " + certify::describe_failure(c);
  }
  double residual() { return running().certificate().residual_max; }

  std::shared_ptr<KeptRun> finish() {
    auto kept = std::make_shared<KeptRun>();
    kept->report.motion = running().finish();
    kept->rows = rows_;
    simulation_.reset();
    study::conclude(kept->report, extent_, false, "the run was steered");
    return kept;
  }

 private:
  study::Simulation& running() {
    if (!simulation_) throw std::runtime_error("the simulation was finished");
    return *simulation_;
  }

  bool advance(long long steps) {
    if (calls_python_) return running().step(steps);
    study::Simulation& simulation = running();
    const py::gil_scoped_release release;
    return simulation.step(steps);
  }

  void take(const step::Sample& sample) {
    t_ = sample.t;
    steps_ = sample.step;
    kinetic_ = sample.kinetic;
    potential_ = sample.potential;
    std::vector<double>& values = numbers_->values;
    values.resize(sample.q.size() + sample.u.size() + 2 * sample.gaps.size() +
                  sample.tangential.size() + sample.slips.size() + sample.states.size());
    auto at = values.begin();
    for (const auto& part : {sample.q, sample.u, sample.gaps, sample.impulses, sample.tangential,
                             sample.slips, sample.states}) {
      at = std::copy(part.begin(), part.end(), at);
    }
  }

  bool calls_python_;
  double t_{0.0};
  double kinetic_{0.0};
  double potential_{0.0};
  long long steps_{0};
  std::shared_ptr<record::Trajectory> rows_;
  std::shared_ptr<Block> numbers_;
  std::shared_ptr<Block> force_;
  study::Extent extent_;
  std::optional<study::Simulation> simulation_;
};

}  // namespace

void bind_simulation(py::module_& m) {
  py::class_<Block, std::shared_ptr<Block>>(m, "Block", py::buffer_protocol())
      .def_buffer([](Block& block) {
        const std::span<double> all = block.all();
        return py::buffer_info(all.data(), sizeof(double), py::format_descriptor<double>::format(),
                               1, {static_cast<py::ssize_t>(all.size())}, {sizeof(double)},
                               block.steering == nullptr);
      });
  py::class_<Simulated, std::shared_ptr<Simulated>>(m, "Simulation")
      .def(py::init<const ReadScene&, bool>())
      .def("step", &Simulated::step)
      .def("finish", &Simulated::finish)
      .def_property_readonly("t", &Simulated::t)
      .def_property_readonly("steps", &Simulated::steps)
      .def_property_readonly("kinetic", &Simulated::kinetic)
      .def_property_readonly("potential", &Simulated::potential)
      .def_property_readonly("numbers", &Simulated::numbers)
      .def_property_readonly("force", &Simulated::force)
      .def_property_readonly("failure", &Simulated::failure)
      .def_property_readonly("residual", &Simulated::residual);
}

}  // namespace ricochet::python
