#include "ricochet/study/run_structure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ricochet/base/error.h"
#include "ricochet/step/run_formula.h"
#include "ricochet/structure/reduction.h"
#include "ricochet/structure/structure_model.h"

namespace ricochet::study {
namespace {

using Model = structure::LinearStructure;
using Rows = std::vector<std::vector<double>>;
using Expand = std::function<Eigen::VectorXd(const Eigen::VectorXd&)>;

/// How far two runs are apart at their common rows, point by point.
std::vector<record::ReducedPoint> measure_difference(const Rows& reduced, const Rows& whole,
                                                     const std::vector<std::string>& names) {
  std::vector<record::ReducedPoint> points;
  const std::size_t rows = std::min(reduced.size(), whole.size());
  for (std::size_t k = 0; k < names.size(); ++k) {
    record::ReducedPoint& point = points.emplace_back();
    point.name = names[k];
    for (std::size_t r = 0; r < rows; ++r) {
      const double difference = std::abs(reduced[r][k] - whole[r][k]);
      point.rms += difference * difference;
      point.whole += whole[r][k] * whole[r][k];
      point.largest = std::max(point.largest, difference);
    }
    if (rows == 0) continue;
    point.rms = std::sqrt(point.rms / static_cast<double>(rows));
    point.whole = std::sqrt(point.whole / static_cast<double>(rows));
  }
  return points;
}

record::Shape shape_of(const scene::StructurePart& part, double t, const Eigen::VectorXd& q) {
  record::Shape shape{t, {}};
  for (int p = 0; p < part.model->planes; ++p) {
    for (const structure::Row& row : part.shape_rows) {
      shape.values.push_back(part.model->value_at(row, p, q.data()));
    }
  }
  return shape;
}

/// Sees every step of a structure, and makes of them rows, which tell points, and statistics.
class LineWatch {
 public:
  using ShapeObserver = std::function<void(double t, const Eigen::VectorXd& q)>;

  LineWatch(const Model& model, const step::RunSettings& run, const step::Observer& observe,
            int shapes = 0, ShapeObserver show_shape = {})
      : statistics(model, run.step, run.steps),
        model_(model),
        every_(run.record_every),
        steps_(std::max(1LL, run.steps)),
        shapes_(shapes),
        show_shape_(std::move(show_shape)),
        observe_(observe) {}

  void operator()(const step::Sample& s) {
    if (s.step == 0) {
      statistics.begin(s.u.data());
    } else {
      statistics.add(s.t, s.q.data(), s.u.data(), s.impulses);
    }
    keep(s);
    if (shown_ < shapes_ && s.step * (shapes_ - 1) >= shown_ * steps_) {
      show_shape_(s.t, Eigen::Map<const Eigen::VectorXd>(s.q.data(), model_.size()));
      ++shown_;
    }
    is_told_ = false;
    if (s.step == 0 || (every_ > 0 && s.step % every_ == 0)) tell();
  }

  /// The last row.
  void finish() {
    if (!is_told_ && row_.step > 0) tell();
  }

  structure::Statistics statistics;

 private:
  /// What the next row tells: sums since the last one, all else of this instant.
  void keep(const step::Sample& s) {
    const auto copy = [](std::span<const double> from, std::vector<double>& to) {
      to.assign(from.begin(), from.end());
    };
    const auto add = [](std::span<const double> from, std::vector<double>& to) {
      to.resize(from.size(), 0.0);
      for (std::size_t i = 0; i < from.size(); ++i) to[i] += from[i];
    };
    constexpr double kShock = static_cast<double>(certify::ContactState::Shock);
    row_ = s;
    q_.resize(model_.points.size());
    u_.resize(model_.points.size());
    for (std::size_t k = 0; k < q_.size(); ++k) {
      const structure::Point& point = model_.points[k];
      q_[k] = model_.value_at(point.row, point.plane, s.q.data());
      u_[k] = model_.value_at(point.row, point.plane, s.u.data());
    }
    copy(s.gaps, gaps_);
    add(s.impulses, impulses_);
    pushed_.resize(s.impulses.size(), 0.0);
    for (std::size_t a = 0; a < pushed_.size(); ++a) pushed_[a] += s.impulses[a] > 0.0 ? 1.0 : 0.0;
    ++summed_;
    add(s.tangential, tangential_);
    copy(s.slips, slips_);
    states_.resize(s.states.size(), 0.0);
    for (std::size_t a = 0; a < states_.size(); ++a) {
      if (states_[a] != kShock) states_[a] = s.states[a];
    }
  }

  void tell() {
    row_.q = q_;
    row_.u = u_;
    row_.gaps = gaps_;
    row_.impulses = impulses_;
    row_.tangential = tangential_;
    row_.slips = slips_;
    row_.states = states_;
    for (double& part : pushed_) part /= static_cast<double>(summed_);
    row_.pushed = summed_ > 1 ? std::span<const double>(pushed_) : std::span<const double>();
    if (observe_) observe_(row_);
    summed_ = 0;
    for (std::vector<double>* sum : {&impulses_, &tangential_, &states_, &pushed_}) {
      std::fill(sum->begin(), sum->end(), 0.0);
    }
    is_told_ = true;
  }

  const Model& model_;
  long long every_;
  long long steps_;
  long long shapes_;
  long long shown_{0};
  ShapeObserver show_shape_;
  const step::Observer& observe_;
  step::Sample row_;
  long long summed_{0};  // steps since the last row
  std::vector<double> pushed_;
  bool is_told_{false};
  std::vector<double> q_;
  std::vector<double> u_;
  std::vector<double> gaps_;
  std::vector<double> impulses_;
  std::vector<double> tangential_;
  std::vector<double> slips_;
  std::vector<double> states_;
};

step::Outcome simulate(const scene::Scene& scene, const Model& model, structure::Motion& state,
                       LineWatch& watch, step::Monitor* monitor) {
  step::RunSettings run = scene.run;
  run.record_every = 1;
  step::Outcome outcome =
      step::run_structure(model, scene.scheme, run, state, std::ref(watch), monitor);
  watch.finish();
  return outcome;
}

/// Runs motion.whole; `expand` makes coordinates of the scene's model of those of this one.
void simulate_whole(Motion& motion, const step::Observer& observe, step::Monitor* monitor,
                    const Expand& expand) {
  const scene::StructurePart& part = *motion.scene.structure();
  record::LineRecord& record = *motion.structure;
  WholeState& whole = *motion.whole;
  const int shapes = std::max(0, part.shapes - 1) * part.shape_stride + std::min(part.shapes, 1);
  LineWatch watch(*whole.model, motion.scene.run, observe, shapes,
                  [&](double t, const Eigen::VectorXd& q) {
                    record.shapes.push_back(shape_of(part, t, expand(q)));
                  });
  motion.outcome = simulate(motion.scene, *whole.model, whole.state, watch, monitor);
  motion.final_state.t = whole.state.t;
  motion.final_state.q = whole.model->at_points(whole.state.q);
  motion.final_state.u = whole.model->at_points(whole.state.u);
  const step::Scheme& scheme = motion.scene.scheme;
  const structure::StructureModel model(*whole.model, motion.scene.run.step,
                                        scheme.info().integrator == certify::Integrator::End);
  record.coordinates = whole.model->size();
  record.solves = model.solves();
  if (scheme.info().integrator == certify::Integrator::Spring && model.guides() > 0) {
    record.contact_stiffness = model.springs(scheme.value("stiffness"))[0].stiffness;
  }
  record.points = watch.statistics.points();
  record.guides = watch.statistics.guides();
  record.spectra = watch.statistics.spectra();
}

/// The first modes with their static corrections, then the whole model beside them.
void simulate_reduced(Motion& motion, const step::Observer& observe, step::Monitor* monitor) {
  const scene::StructurePart& part = *motion.scene.structure();
  const auto reduction = std::make_shared<const structure::Reduction>(
      structure::reduce(*part.model, part.reduced_modes));
  if (reduction->modes == 0) {
    throw base::InputError("structure.reduction", "the modes could not be found",
                           "take fewer nodes, or leave reduction out");
  }
  motion.whole = {std::shared_ptr<const Model>(reduction, &reduction->structure),
                  {part.start.t, structure::project(*reduction, *part.model, part.start.q),
                   structure::project(*reduction, *part.model, part.start.u)}};
  const auto keep = [](Rows& into, const step::Sample& sample) {
    into.emplace_back(sample.q.begin(), sample.q.end());
  };
  Rows rows;
  const auto watch = [&](const step::Sample& sample) {
    if (part.compare_full) keep(rows, sample);
    observe(sample);
  };
  simulate_whole(motion, watch, monitor,
                 [&](const Eigen::VectorXd& y) { return structure::expand(*reduction, y); });
  record::Reduced& error = motion.structure->reduction.emplace();
  error.modes = reduction->modes;
  error.corrections = reduction->corrections;
  if (!part.compare_full || motion.outcome.interrupted) return;
  Rows whole;
  structure::Motion state = part.start;
  const step::Observer keep_row = [&](const step::Sample& sample) { keep(whole, sample); };
  LineWatch beside(*part.model, motion.scene.run, keep_row);
  if (monitor != nullptr) monitor->on_event = nullptr;  // its events are not those of the run
  const step::Outcome outcome = simulate(motion.scene, *part.model, state, beside, monitor);
  error.failure = outcome.certificate.failure;
  motion.outcome.interrupted = outcome.interrupted;
  error.points = measure_difference(rows, whole, motion.scene.columns.coordinates);
}

/// A step that is stable may still be too long to see the structure move.
void warn_of_step(const scene::Scene& scene, std::vector<std::string>& warnings) {
  constexpr double kFewest = 20.0;  // steps of a period
  const std::vector<double>& all = scene.structure()->frequencies;
  // Not those of motions as a whole, which are rounding.
  const auto first =
      std::find_if(all.begin(), all.end(), [&](double f) { return f > 1e-4 * all.back(); });
  if (first == all.end() || !(kFewest * scene.run.step * *first > 1.0)) return;
  warnings.push_back(fmt::format(
      "the first mode, of {:.3g} Hz, has only {:.2g} steps in a period: take a step below {:.2g}",
      *first, 1.0 / (scene.run.step * *first), 1.0 / (kFewest * *first)));
}

}  // namespace

void run_structure(Motion& motion, const step::Observer& observe, step::Monitor* monitor) {
  const scene::StructurePart& part = *motion.scene.structure();
  record::LineRecord& record = motion.structure.emplace();
  record.line = part.line;
  record.frequencies = part.frequencies;
  record.quiet_time = part.model->quiet_time;
  record.abscissae = part.abscissae;
  record.shape_stride = static_cast<std::size_t>(part.shape_stride);
  if (part.reduced_modes > 0) return simulate_reduced(motion, observe, monitor);
  motion.whole = {part.model, part.start};
  simulate_whole(motion, observe, monitor, [](const Eigen::VectorXd& q) { return q; });
}

void warn_of_structure(const Motion& motion, std::vector<std::string>& warnings) {
  for (const structure::GuideStatistics& guide : motion.structure->guides) {
    if (guide.impacts == 0 || !(guide.rate.error > 0.25 * guide.rate.value)) continue;
    warnings.push_back(
        fmt::format("the impact rate of '{}' is known to {:.0f} % only: run longer for statistics",
                    guide.name, 100.0 * guide.rate.error / guide.rate.value));
  }
  warn_of_step(motion.scene, warnings);
  if (!motion.scene.columns.coordinates.empty()) return;
  warnings.emplace_back(
      "no point is named, so the trajectory tells guides and energies only: "
      "write [structure.point.tip] with at = ...");
}

}  // namespace ricochet::study
