#include "ricochet/study/structure_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ricochet/base/error.h"
#include "ricochet/base/json.h"

namespace ricochet::study {
namespace {

/// The points of a run at every step.
struct History {
  double start{0.0};
  double step{0.0};
  std::size_t points{0};
  std::vector<double> values;  // row after row

  std::size_t rows() const { return points == 0 ? 0 : values.size() / points; }
  double at(double t, std::size_t point) const {  // linear between rows
    const double place = std::max(0.0, (t - start) / step);
    const std::size_t row = std::min(static_cast<std::size_t>(place), rows() - 2);
    const double part = std::min(1.0, place - static_cast<double>(row));
    return (1.0 - part) * values[row * points + point] + part * values[(row + 1) * points + point];
  }
};

struct Measured {
  StructureRow row;
  History history;
  bool interrupted{false};
};

Measured run_recorded(scene::StructureScene scene, step::Monitor* monitor) {
  scene.run.record_every = 1;
  scene.shapes = 0;
  scene.compare_full = false;
  Measured found;
  found.history.start = scene.run.start_time;
  found.history.step = scene.run.step;
  found.history.points = scene.model->points.size();
  const StructureRun run = run_structure(
      scene,
      [&](const step::Sample& sample) {
        found.history.values.insert(found.history.values.end(), sample.q.begin(), sample.q.end());
      },
      monitor);
  StructureRow& row = found.row;
  row.scheme = step::name_of(scene.settings.scheme);
  row.step = scene.run.step;
  row.steps = run.outcome.run.steps;
  row.certificate = run.outcome.run.certificate;
  row.guides = run.outcome.statistics.guides();
  row.points = run.outcome.statistics.points();
  row.closure = run.outcome.books.closure.value();
  row.violation = row.certificate.violation_max;
  row.seconds = run.outcome.run.wall_seconds;
  found.interrupted = run.outcome.run.interrupted;
  return found;
}

void measure(const History& reference, Measured& run) {
  const History& own = run.history;
  if (reference.rows() < 2 || own.rows() < 2) return;
  for (std::size_t k = 0; k < own.points; ++k) {
    double low = reference.values[k];
    double high = low;
    for (std::size_t r = 0; r < reference.rows(); ++r) {
      low = std::min(low, reference.values[r * own.points + k]);
      high = std::max(high, reference.values[r * own.points + k]);
    }
    const double range = high > low ? high - low : 1.0;
    double sum = 0.0;
    for (std::size_t r = 0; r < own.rows(); ++r) {
      const double t = own.start + static_cast<double>(r) * own.step;
      const double error = std::abs(own.values[r * own.points + k] - reference.at(t, k)) / range;
      run.row.largest = std::max(run.row.largest, error);
      sum += error;
    }
    run.row.mean = std::max(run.row.mean, sum / static_cast<double>(own.rows()));
  }
}

bool agree(const structure::Estimate& a, const structure::Estimate& b) {
  constexpr double kSigmas = 3.0;
  return std::abs(a.value - b.value) <= kSigmas * std::hypot(a.error, b.error);
}

/// What the statistics of the two finest runs say.
void compare_statistics(const StructureRow& a, const StructureRow& b, StructureStudy& study) {
  std::string words;
  bool all = true;
  const auto add = [&](const std::string& name, const structure::Estimate& x,
                       const structure::Estimate& y) {
    all = all && agree(x, y);
    words += fmt::format("{}{} {:.4g} ± {:.1g} and {:.4g} ± {:.1g}", words.empty() ? "" : "; ",
                         name, x.value, x.error, y.value, y.error);
  };
  for (std::size_t k = 0; k < std::min<std::size_t>(a.guides.size(), 4); ++k) {
    add("impact rate of " + a.guides[k].name, a.guides[k].rate, b.guides[k].rate);
    add("work rate", a.guides[k].work_normal, b.guides[k].work_normal);
  }
  for (std::size_t k = 0; k < std::min<std::size_t>(a.points.size(), 4); ++k) {
    add("rms of " + a.points[k].name, a.points[k].rms, b.points[k].rms);
  }
  study.remarks.push_back(
      fmt::format("statistics of the last two runs {} within three standard errors: {}",
                  all ? "agree" : "DO NOT AGREE", words));
}

void add_remarks(StructureStudy& study) {
  if (study.rows.size() < 2) return;
  const StructureRow& last = study.rows.back();
  constexpr double kFar = 0.05;  // of the range: the two motions have nothing to do with each other
  if (last.mean > kFar) {
    study.remarks.push_back(
        "the points do not converge: each impact multiplies the distance of two motions, so that "
        "after some of them rounding and step size decide which way it goes; what can be compared "
        "are the statistics");
  }
  compare_statistics(study.rows[study.rows.size() - 2], last, study);
}

}  // namespace

bool StructureStudy::ok() const {
  return std::all_of(rows.begin(), rows.end(), [](const StructureRow& row) {
    return !row.refusal.empty() || row.certificate.ok();
  });
}

StructureStudy converge_structure(const StructureReaderFor& read, std::vector<double> steps,
                                  double reference_step, step::Monitor* monitor) {
  if (steps.empty()) throw base::InputError("--steps", "is missing", "write --steps 1e-4,5e-5");
  std::sort(steps.rbegin(), steps.rend());
  constexpr double kFinest = 8.0;
  StructureStudy study;
  study.reference_step = reference_step > 0.0 ? reference_step : steps.back() / kFinest;
  if (study.reference_step >= steps.back()) {
    throw base::InputError("--reference", "is not smaller than the smallest step",
                           "leave it out, or take a smaller one");
  }
  const scene::StructureScene finest = read("", study.reference_step);
  study.title = finest.title;
  study.reference_scheme = step::name_of(finest.settings.scheme);
  if (finest.model->points.empty()) {
    throw base::InputError("structure.point", "no point is named, so nothing can be compared",
                           "write [structure.point.tip] with at = ...");
  }
  const Measured reference = run_recorded(finest, monitor);
  study.interrupted = reference.interrupted;
  for (const double step : steps) {
    if (study.interrupted) break;
    Measured run = run_recorded(read("", step), monitor);
    study.interrupted = run.interrupted;
    measure(reference.history, run);
    if (!study.rows.empty() && run.row.mean > 0.0) {
      const StructureRow& before = study.rows.back();
      run.row.order = std::log(before.mean / run.row.mean) / std::log(before.step / step);
    }
    study.rows.push_back(std::move(run.row));
  }
  add_remarks(study);
  return study;
}

StructureStudy compare_structure(const StructureReaderFor& read,
                                 const std::vector<std::string>& schemes, double reference_step,
                                 step::Monitor* monitor) {
  constexpr double kFinest = 16.0;
  StructureStudy study;
  const scene::StructureScene own = read("newmark", 0.0);
  study.title = own.title;
  study.reference_scheme = "newmark";
  study.reference_step = reference_step > 0.0 ? reference_step : own.run.step / kFinest;
  const Measured reference = run_recorded(read("newmark", study.reference_step), monitor);
  study.interrupted = reference.interrupted;
  for (const std::string& scheme : schemes) {
    if (study.interrupted) break;
    try {
      Measured run = run_recorded(read(scheme, 0.0), monitor);
      study.interrupted = run.interrupted;
      measure(reference.history, run);
      study.rows.push_back(std::move(run.row));
    } catch (const base::InputError& error) {
      StructureRow row;
      row.scheme = scheme;
      row.refusal = fmt::format("{}: {}", error.message(), error.remedy());
      study.rows.push_back(row);
    }
  }
  return study;
}

std::string to_json(const StructureStudy& study) {
  using base::Json;
  Json json;
  json["title"] = study.title;
  json["reference"] = {{"scheme", study.reference_scheme}, {"step", study.reference_step}};
  json["rows"] = Json::list();
  for (const StructureRow& row : study.rows) {
    Json one;
    one["scheme"] = row.scheme;
    if (!row.refusal.empty()) {
      one["refusal"] = row.refusal;
      json["rows"].push_back(one);
      continue;
    }
    one["step"] = row.step;
    one["steps"] = row.steps;
    one["status"] = certify::describe(row.certificate.failure).name;
    one["error_max"] = row.largest;
    one["error_mean"] = row.mean;
    if (row.order) one["order"] = *row.order;
    for (const structure::GuideStatistics& guide : row.guides) {
      one["guides"][guide.name] = {{"impacts", guide.impacts},
                                   {"rate", guide.rate.value},
                                   {"rate_error", guide.rate.error},
                                   {"work_rate", guide.work_normal.value},
                                   {"work_rate_error", guide.work_normal.error}};
    }
    for (const structure::PointStatistics& point : row.points) {
      one["points"][point.name] = {{"rms", point.rms.value}, {"rms_error", point.rms.error}};
    }
    one["closure"] = row.closure;
    one["violation"] = row.violation;
    one["seconds"] = row.seconds;
    json["rows"].push_back(one);
  }
  json["remarks"] = study.remarks;
  return json.pretty() + "\n";
}

}  // namespace ricochet::study
