#include "ricochet/dynamics/invariants.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>

#include "ricochet/base/error.h"
#include "ricochet/base/json.h"
#include "ricochet/base/text.h"
#include "ricochet/dynamics/lock_watch.h"
#include "ricochet/dynamics/lyapunov.h"
#include "ricochet/step/run_formula.h"

namespace ricochet::dynamics {
namespace {

/// Impacts of a run, with their times since its start.
struct Impacts {
  std::vector<double> times, speeds;

  void add(double time, double speed) {
    times.push_back(time);
    speeds.push_back(speed);
  }
  void conclude(double begin, double end, double period, Invariants& row) const {
    constexpr int kBlocks = 32;
    std::vector<double> counts(kBlocks, 0.0);
    double count = 0.0;
    for (std::size_t k = 0; k < times.size(); ++k) {
      if (times[k] < begin || times[k] >= end) continue;
      count += 1.0;
      row.speed += speeds[k];
      row.square += speeds[k] * speeds[k];
      const auto block = static_cast<std::size_t>((times[k] - begin) / (end - begin) * kBlocks);
      counts[std::min<std::size_t>(block, kBlocks - 1)] += 1.0;
    }
    const double periods = (end - begin) / period;
    row.rate = count / periods;
    if (count > 0.0) row.speed /= count, row.square /= count;
    double squares = 0.0;
    for (const double one : counts) {
      const double off = one * kBlocks / periods - row.rate;
      squares += off * off;
    }
    row.rate_error = std::sqrt(squares / (kBlocks - 1.0) / kBlocks);
  }
  std::vector<double> sorted(double begin) const {
    std::vector<double> list;
    for (std::size_t k = 0; k < times.size(); ++k) {
      if (times[k] >= begin) list.push_back(speeds[k]);
    }
    std::sort(list.begin(), list.end());
    return list;
  }
};

/// Mean difference of the quantiles of two sorted lists.
double wasserstein(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.empty() || b.empty()) return std::numeric_limits<double>::infinity();
  constexpr int kParts = 1000;
  double sum = 0.0;
  const auto at = [](const std::vector<double>& list, double part) {
    return list[static_cast<std::size_t>(part * static_cast<double>(list.size()))];
  };
  for (int k = 0; k < kParts; ++k) {
    const double part = (k + 0.5) / kParts;
    sum += std::abs(at(a, part) - at(b, part));
  }
  return sum / kParts;
}

/// The growth of variations along a run by steps: exact arcs from impact to impact, and the
/// saltation of every impact at the state that the run has before it. Neither the derivative of a
/// step nor two neighbouring runs tell the exponent.
class GrowthAlong {
 public:
  explicit GrowthAlong(const scene::Scene& scene)
      : equations_(*scene.formulas(), true, {}),
        flow_(equations_, {.is_free = true, .period = scene.dynamics.period}) {
    flow_.start(scene.start.t, scene.start.q, scene.start.u);
  }

  void add(const step::Sample& sample) {
    constexpr std::size_t kKept = 64;  // events are told some steps later
    if (samples_.size() == kKept) {
      samples_.push_back(std::move(samples_.front()));
      samples_.pop_front();
    } else {
      samples_.emplace_back();
    }
    Kept& kept = samples_.back();
    kept.step = sample.step;
    const auto n = static_cast<Eigen::Index>(sample.q.size());
    kept.at.t = sample.t;
    kept.at.q = Eigen::Map<const Eigen::VectorXd>(sample.q.data(), n);
    kept.at.u = Eigen::Map<const Eigen::VectorXd>(sample.u.data(), n);
  }

  void strike(const certify::Event& event) {
    const Kept* before = nullptr;
    const Kept* after = nullptr;
    for (const Kept& kept : samples_) {
      if (kept.step == event.step - 1) before = &kept;
      if (kept.step == event.step) after = &kept;
    }
    if (before == nullptr || after == nullptr || !flow_.failure().empty()) return;
    const double now = before->at.t;
    if (now > last_) (void)flow_.advance(now - last_);
    flow_.put(now, before->at.q, before->at.u);
    flow_.pass(event.at.contact);
    flow_.put(now, after->at.q, after->at.u);
    last_ = now;
  }

  double growth() const { return flow_.growth().empty() ? 0.0 : flow_.growth()[0]; }
  double time() const { return last_; }
  void begin(double t) { last_ = t; }

 private:
  struct Kept {
    long long step{0};
    Instant at;
  };
  flow::Equations equations_;
  flow::Flow flow_;
  double last_{0.0};  // [s]
  std::deque<Kept> samples_;
};

class Comparison {
 public:
  Comparison(const InvariantSettings& settings, double period, step::Monitor* monitor)
      : settings_(settings), period_(period), monitor_(monitor) {}

  double settle() const { return 0.1 * settings_.periods * period_; }
  double end() const { return 1.1 * settings_.periods * period_; }

  Invariants exact(const scene::Scene& scene) {
    Invariants row;
    flow::Equations equations(*scene.formulas(), true, {});
    flow::Flow motion(equations, {.period = period_});
    motion.start(scene.start.t, scene.start.q, scene.start.u);
    Impacts impacts;
    double grown = 0.0, begin = -1.0;
    while (motion.elapsed() < end() && !is_stopped()) {
      if (begin < 0.0 && motion.elapsed() >= settle()) {
        motion.orthonormalise();
        begin = motion.elapsed();
        grown = motion.growth().empty() ? 0.0 : motion.growth()[0];
      }
      const flow::Event event = motion.advance(end() - motion.elapsed());
      if (event.kind == flow::EventKind::Failure) {
        row.failure = motion.failure();
        break;
      }
      if (event.kind == flow::EventKind::Impact) impacts.add(motion.elapsed(), event.approach);
    }
    motion.orthonormalise();
    impacts.conclude(settle(), end(), period_, row);
    row.exponent = motion.growth().empty()
                       ? -std::numeric_limits<double>::infinity()
                       : (motion.growth()[0] - grown) / (motion.elapsed() - begin);
    speeds_ = impacts.sorted(settle());
    return row;
  }

  Invariants by_steps(scene::Scene scene) {
    Invariants row;
    row.scheme = step::name_of(scene.scheme);
    row.step = scene.run.step;
    scene.run.steps = static_cast<long long>(std::ceil(end() / scene.run.step));
    scene.run.record_every = 1;
    LockWatch locks(scene);
    GrowthAlong growth(scene);
    growth.begin(scene.start.t);
    Impacts impacts;
    double grown = 0.0, begin = scene.start.t;
    step::Monitor own;
    own.on_event = [&](const certify::Event& event) {
      if (event.kind != certify::EventKind::Shock) return;
      impacts.add(event.at.t - scene.start.t, event.at.approach);
      growth.strike(event);
      if (growth.time() - scene.start.t < settle()) {
        grown = growth.growth();
        begin = growth.time();
      }
    };
    model::State<model::kDynamic> state = scene.start;
    const step::Outcome outcome = step::run_formula(
        *scene.formulas(), scene.scheme, scene.run, state,
        [&](const step::Sample& sample) {
          growth.add(sample);
          locks.add(sample);
          if (is_stopped()) own.stop = true;
        },
        &own);
    if (!outcome.certificate.ok()) {
      row.failure = certify::describe_failure(outcome.certificate);
    }
    impacts.conclude(settle(), end(), period_, row);
    row.exponent = (growth.growth() - grown) / (growth.time() - begin);
    row.distance = wasserstein(impacts.sorted(settle()), speeds_);
    row.recurrence = locks.locked();
    row.is_locked = !locks.warning(scene).empty();
    return row;
  }

  bool is_stopped() const { return monitor_ != nullptr && monitor_->stop; }

 private:
  const InvariantSettings& settings_;
  double period_;
  step::Monitor* monitor_;
  std::vector<double> speeds_;  // of the exact motion, sorted
};

base::Json row_json(const Invariants& row) {
  base::Json json = {{"scheme", row.scheme.empty() ? base::Json("exact") : base::Json(row.scheme)},
                     {"step", row.step},
                     {"rate", row.rate},
                     {"rate_error", row.rate_error},
                     {"speed", row.speed},
                     {"speed_square", row.square},
                     {"exponent", row.exponent},
                     {"distance", row.distance},
                     {"recurrence", row.recurrence},
                     {"locked", row.is_locked}};
  json["failure"] = row.failure.empty() ? base::Json() : base::Json(row.failure);
  return json;
}

}  // namespace

InvariantTable compare_invariants(
    const scene::Scene& scene, const std::function<scene::Scene(const std::string&, double)>& read,
    const InvariantSettings& settings, step::Monitor* monitor) {
  if (scene.formulas() == nullptr || !(scene.dynamics.period > 0.0)) {
    throw base::InputError("system.period", "is missing: means are taken over periods",
                           "write period = \"2*pi/w\" in [system]");
  }
  Comparison comparison(settings, scene.dynamics.period, monitor);
  InvariantTable found;
  found.exact = comparison.exact(scene);
  for (const std::string& scheme : settings.schemes) {
    for (const double step : settings.steps) {
      if (comparison.is_stopped()) break;
      found.rows.push_back(comparison.by_steps(read(scheme, step)));
    }
  }
  found.interrupted = comparison.is_stopped();
  return found;
}

std::string to_json(const InvariantTable& found, const scene::Scene& scene) {
  base::Json json;
  json["format"] = 1;
  json["scene"] = scene.file;
  json["period"] = scene.dynamics.period;
  json["exact"] = row_json(found.exact);
  json["rows"] = base::Json::list();
  for (const Invariants& row : found.rows) json["rows"].push_back(row_json(row));
  json["interrupted"] = found.interrupted;
  return json.pretty() + "\n";
}

std::string describe(const InvariantTable& found, const scene::Scene& scene) {
  std::string text = scene.title + "\n\n";
  text += fmt::format("{:<16} {:>9} {:>9} {:>8} {:>8} {:>8} {:>8}  {}\n", "scheme", "T/h",
                      "impacts/T", "<v>", "<v^2>", "exponent", "distance", "repeats");
  const auto add = [&](const Invariants& row) {
    const bool exact = row.scheme.empty();
    text += fmt::format(
        "{:<16} {:>9} {:>9.4f} {:>8.4f} {:>8.4f} {:>8.4f} {:>8}  {}\n",
        exact ? "exact" : row.scheme,
        exact ? "" : fmt::format("{:.3f}", scene.dynamics.period / row.step), row.rate, row.speed,
        row.square, row.exponent, exact ? "" : fmt::format("{:.4f}", row.distance),
        row.recurrence == 0
            ? ""
            : fmt::format("{} T{}", row.recurrence, row.is_locked ? ", locked" : ""));
    if (!row.failure.empty()) text += base::entry("", row.failure);
  };
  add(found.exact);
  for (const Invariants& row : found.rows) add(row);
  text += fmt::format(
      "\n{}{}",
      base::entry("distance", "of the sorted approach speeds from the exact motion's, mean"),
      base::entry("locked", "the run repeats to the last digit, and the motion does not"));
  return text;
}

}  // namespace ricochet::dynamics
