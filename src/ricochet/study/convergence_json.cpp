#include "ricochet/study/convergence_json.h"

#include <cmath>

#include "ricochet/base/json.h"
#include "ricochet/base/version.h"

namespace ricochet::study {
namespace {

using base::Json;

/// JSON has no word for what is no number.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }
Json number(const std::optional<double>& value) { return value ? number(*value) : Json(nullptr); }

std::string key(std::size_t measure) { return key_of(static_cast<Measure>(measure)); }

Json errors_json(const MotionErrors& errors) {
  Json json;
  for (std::size_t m = 0; m < kMeasures; ++m) json[key(m)] = number(errors.value[m]);
  return json;
}

Json rounding_json(const MotionErrors& errors) {
  Json json = Json::list();
  for (std::size_t m = 0; m < kMeasures; ++m) {
    if (errors.is_rounding(m)) json.push_back(key(m));
  }
  return json;
}

Json status_json(const certify::Certificate& certificate) {
  Json json;
  json["name"] = certify::describe(certificate.failure).name;
  if (!certificate.ok()) json["time"] = certificate.failure_time;
  return json;
}

/// The statistics of a structure, by which runs can be compared that part after impacts.
template <class Row>
void add_statistics(const Row& row, Json& json) {
  for (const structure::GuideStatistics& guide : row.guides) {
    json["guides"][guide.name] = {{"impacts", guide.impacts},
                                  {"rate", guide.rate.value},
                                  {"rate_error", guide.rate.error},
                                  {"work_rate", guide.work_normal.value},
                                  {"work_rate_error", guide.work_normal.error}};
  }
  for (const structure::PointStatistics& point : row.points) {
    json["points"][point.name] = {{"rms", point.rms.value}, {"rms_error", point.rms.error}};
  }
}

Json row_json(const Convergence& found, std::size_t k) {
  const ConvergeRow& row = found.rows[k];
  Json json;
  json["step"] = row.step;
  json["steps"] = row.steps;
  json["shocks"] = row.shocks;
  json["variation"] = row.variation;
  json["errors"] = errors_json(row.errors);
  for (std::size_t m = 0; m < kMeasures; ++m) json["orders"][key(m)] = number(found.order(k, m));
  json["at_rounding"] = rounding_json(row.errors);
  add_statistics(row, json);
  return json;
}

Json row_json(const SchemeRow& row) {
  Json json;
  json["scheme"] = row.scheme;
  if (!row.was_run()) {
    json["refused"] = row.refusal;
    return json;
  }
  json["status"] = status_json(row.certificate);
  json["errors"] = row.errors ? errors_json(*row.errors) : Json(nullptr);
  json["violation_max"] = row.certificate.violation_max;
  json["energy_change"] = number(row.energy_change());
  json["energy_defect"] = number(row.certificate.ledger.defect.value());
  json["shocks"] = row.shocks;
  json["steps"] = row.steps;
  json["seconds"] = number(row.seconds);
  json["seconds_per_step"] = number(row.seconds_per_step());
  add_statistics(row, json);
  return json;
}

template <class Study>
void add_head(const Study& found, Json& json) {
  json["from"] = found.from;
  json["to"] = found.to;
  json["window"] = found.window;
  json["reference"]["kind"] = found.reference_is_stated ? "stated motion" : "run";
  if (!found.reference_is_stated) json["reference"]["step"] = found.reference_step;
  json["reference"]["jumps"] = found.jumps;
}

std::string text_of(const Json& json) { return json.pretty() + "\n"; }

}  // namespace

std::string to_json(const Convergence& found, const scene::Scene& scene) {
  Json json;
  json["format"] = kConvergenceFormat;
  json["version"] = base::kVersion;
  json["scene"] = scene.file;
  json["scheme"] = step::name_of(scene.scheme);
  add_head(found, json);
  json["rows"] = Json::list();
  for (std::size_t k = 0; k < found.rows.size(); ++k) json["rows"].push_back(row_json(found, k));
  for (std::size_t m = 0; m < kMeasures; ++m) json["fit"][key(m)] = number(found.fit[m]);
  json["remarks"] = found.remarks;
  json["status"] = found.failed        ? status_json(found.failed->certificate)
                   : found.interrupted ? Json{{"name", "interrupted"}}
                                       : Json{{"name", "ok"}};
  if (found.failed) json["status"]["step"] = found.failed->step;
  return text_of(json);
}

std::string to_json(const Comparison& found, const std::string& scene_file) {
  Json json;
  json["format"] = kConvergenceFormat;
  json["version"] = base::kVersion;
  json["scene"] = scene_file;
  json["step"] = found.step;
  add_head(found, json);
  if (!found.reference_is_stated) json["reference"]["scheme"] = found.reference_scheme;
  if (found.reference_failure) json["reference"]["status"] = status_json(*found.reference_failure);
  json["schemes"] = Json::list();
  for (const SchemeRow& row : found.rows) json["schemes"].push_back(row_json(row));
  json["remarks"] = found.remarks;
  json["status"] = found.interrupted ? "interrupted" : found.ok() ? "ok" : "failed";
  return text_of(json);
}

}  // namespace ricochet::study
