#include "ricochet/record/structure_summary.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "ricochet/certify/structure_judge.h"
#include "ricochet/record/summary_json.h"

namespace ricochet::record {
namespace {

using base::Json;

Json estimate_json(const structure::Estimate& estimate) {
  return {{"mean", estimate.value}, {"error", estimate.error}};
}

Json points_json(const StructureSummary& s) {
  Json json = Json::object();
  for (const structure::PointStatistics& point : s.outcome->statistics.points()) {
    json[point.name] = {{"rms", estimate_json(point.rms)},
                        {"mean", point.mean},
                        {"lowest", point.lowest},
                        {"highest", point.highest},
                        {"main_frequency", point.main_frequency},
                        {"resolution", point.resolution}};
  }
  return json;
}

Json guides_json(const StructureSummary& s) {
  Json json = Json::object();
  for (const structure::GuideStatistics& guide : s.outcome->statistics.guides()) {
    Json one;
    one["impacts"] = guide.impacts;
    one["impact_rate"] = estimate_json(guide.rate);
    one["contact_time_ratio"] = estimate_json(guide.contact_ratio);
    one["impulse"] = {{"total", guide.impulse},
                      {"mean", guide.impulse_mean},
                      {"rms", guide.impulse_rms},
                      {"max", guide.impulse_max}};
    one["force_max"] = guide.force_max;
    one["work_rate"] = {{"normal", estimate_json(guide.work_normal)},
                        {"sliding", estimate_json(guide.work_sliding)}};
    if (guide.impacts > 0)
      one["contact"] = {{"first", guide.first_push}, {"last", guide.last_push}};
    json[guide.name] = one;
  }
  return json;
}

Json spectra_json(const StructureSummary& s) {
  Json json = Json::object();
  for (const structure::Spectrum& spectrum : s.outcome->statistics.spectra()) {
    std::size_t top = 0;
    double power = 0.0;
    for (std::size_t k = 1; k < spectrum.density.size(); ++k) {
      if (spectrum.density[k] > spectrum.density[top] || top == 0) top = k;
      power += spectrum.density[k] * spectrum.resolution;
    }
    json[spectrum.name] = {{"resolution", spectrum.resolution},
                           {"segments", spectrum.segments},
                           {"main_frequency", static_cast<double>(top) * spectrum.resolution},
                           {"density_max", spectrum.density[top]},
                           {"rms", std::sqrt(power)}};
  }
  return json;
}

Json reduction_json(const StructureSummary& s) {
  Json json;
  json["modes"] = s.reduced_modes;
  json["static_corrections"] = s.corrections;
  for (const ReducedPoint& point : s.reduced) {
    json["difference"][point.name] = {
        {"rms", point.rms},
        {"max", point.largest},
        {"relative", point.whole > 0.0 ? point.rms / point.whole : 0.0}};
  }
  return json;
}

Json structure_json(const StructureSummary& s) {
  constexpr std::array kKinds = {"beam", "string", "bar"};
  constexpr std::array kBeamForms = {"printed", "corrected", "hermite"};
  constexpr std::array kLineForms = {"", "lumped", "consistent"};
  Json json;
  json["kind"] = kKinds[static_cast<std::size_t>(s.line.kind)];
  const bool is_beam = s.line.kind == structure::Kind::Beam;
  json["form"] = (is_beam ? kBeamForms : kLineForms)[static_cast<std::size_t>(s.line.form)];
  json["length"] = s.line.length;
  json["stiffness"] = s.line.stiffness;
  json["mass_per_length"] = s.line.mass_per_length;
  json["nodes"] = s.line.cells;
  json["planes"] = s.line.planes;
  json["coordinates"] = s.coordinates;
  json["frequencies"] = s.frequencies;
  json["quiet_time"] = s.quiet_time;
  json["solves_per_step"] = s.run.outcome.steps > 0 ? static_cast<double>(s.outcome->solves) /
                                                          static_cast<double>(s.run.outcome.steps)
                                                    : 0.0;
  if (std::isfinite(s.outcome->books.average_gap)) {
    json["average_position"] = {{"least_gap", s.outcome->books.average_gap},
                                {"rounding", s.outcome->books.average_allowed}};
  }
  json["balance_rounding"] = s.outcome->books.balance_rounding;
  json["points"] = points_json(s);
  json["guides"] = guides_json(s);
  json["spectra"] = spectra_json(s);
  if (s.reduced_modes > 0) json["reduction"] = reduction_json(s);
  return json;
}

Json settings_json(const StructureSummary& s) {
  const step::RunSettings& run = s.run.run;
  Json json;
  json["start_time"] = run.start_time;
  json["steps_asked"] = run.steps;
  json["record"] = run.record_every;
  if (s.settings.scheme == step::StructureScheme::Penalty) {
    json["stiffness"] = s.outcome->contact_stiffness;
  }
  json["residual_limit"] = run.limits.residual;
  json["balance_limit"] = run.limits.balance;
  json["closure_limit"] = certify::StructureJudge::kClosureLimit;
  if (std::isfinite(run.limits.violation)) json["violation_limit"] = run.limits.violation;
  json["growth_limit"] = run.limits.growth;
  json["shock_fraction"] = run.limits.shock_fraction;
  return json;
}

}  // namespace

Columns columns_of(const structure::LinearStructure& structure) {
  Columns columns;
  columns.has_potential = true;
  for (const structure::Point& point : structure.points) columns.coordinates.push_back(point.name);
  bool rubs = false;
  for (const structure::ContactSide& side : structure::sides_of(structure)) {
    columns.contacts.push_back(structure::name_of(side, structure));
    columns.slips.push_back(structure.guides[side.guide].friction > 0.0 ? 1 : 0);
    rubs = rubs || columns.slips.back() > 0;
  }
  if (!rubs) columns.slips.clear();
  return columns;
}

std::string to_json(const StructureSummary& s) {
  Json json = json_of(s.run);
  json["scheme"] = step::name_of(s.settings.scheme);
  json["settings"] = settings_json(s);
  if (s.run.run.limits.shock_speed < 0.0) {
    json["shocks"]["speed_unit"] = "part of the largest speed at a guide";
  }
  const certify::StructureBooks& books = s.outcome->books;
  Json& energy = json["energy"];
  energy["work_loads"] = books.loads.value();
  energy["work_damping"] = books.damping.value();
  energy["work_elastic"] = books.elastic.value();
  energy["closure"] = books.closure.value();
  energy["closure_max"] = books.closure_max;
  json["structure"] = structure_json(s);
  return json.pretty() + "\n";
}

std::string spectra_csv(const std::vector<structure::Spectrum>& spectra) {
  if (spectra.empty()) return "";
  std::string text = "f";
  for (const structure::Spectrum& spectrum : spectra) text += "," + spectrum.name;
  text += "\n";
  for (std::size_t k = 0; k < spectra[0].density.size(); ++k) {
    fmt::format_to(std::back_inserter(text), FMT_COMPILE("{:.9g}"),
                   static_cast<double>(k) * spectra[0].resolution);
    for (const structure::Spectrum& spectrum : spectra) {
      fmt::format_to(std::back_inserter(text), FMT_COMPILE(",{:.9g}"), spectrum.density[k]);
    }
    text += "\n";
  }
  return text;
}

}  // namespace ricochet::record
