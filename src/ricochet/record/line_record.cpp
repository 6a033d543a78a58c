#include "ricochet/record/line_record.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "ricochet/record/summary_json.h"

namespace ricochet::record {
namespace {

using base::Json;

Json estimate_json(const structure::Estimate& estimate) {
  return {{"mean", estimate.value}, {"error", estimate.error}};
}

Json points_json(const LineRecord& s) {
  Json json = Json::object();
  for (const structure::PointStatistics& point : s.points) {
    json[point.name] = {{"rms", estimate_json(point.rms)},
                        {"mean", point.mean},
                        {"lowest", point.lowest},
                        {"highest", point.highest},
                        {"main_frequency", point.main_frequency},
                        {"resolution", point.resolution}};
  }
  return json;
}

Json guides_json(const LineRecord& s) {
  Json json = Json::object();
  for (const structure::GuideStatistics& guide : s.guides) {
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

Json spectra_json(const LineRecord& s) {
  Json json = Json::object();
  for (const structure::Spectrum& spectrum : s.spectra) {
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

Json reduction_json(const Reduced& reduced) {
  Json json;
  json["modes"] = reduced.modes;
  json["static_corrections"] = reduced.corrections;
  for (const ReducedPoint& point : reduced.points) {
    json["difference"][point.name] = {
        {"rms", point.rms},
        {"max", point.largest},
        {"relative", point.whole > 0.0 ? point.rms / point.whole : 0.0}};
  }
  return json;
}

}  // namespace

Json json_of(const LineRecord& s, const certify::Certificate& c) {
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
  json["solves_per_step"] = static_cast<double>(s.solves);
  if (std::isfinite(c.average_gap)) {
    json["average_position"] = {{"least_gap", c.average_gap}, {"rounding", c.average_allowed}};
  }
  json["balance_rounding"] = c.balance_rounding;
  json["points"] = points_json(s);
  json["guides"] = guides_json(s);
  json["spectra"] = spectra_json(s);
  if (s.reduction) json["reduction"] = reduction_json(*s.reduction);
  return json;
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

std::string shapes_csv(const LineRecord& line) {
  std::string text = "t";
  for (int p = 0; p < line.line.planes; ++p) {
    for (const double x : line.abscissae) {
      text += line.line.planes == 1 ? fmt::format(",x={:.9g}", x)
                                    : fmt::format(",{}(x={:.9g})", p == 0 ? "y" : "z", x);
    }
  }
  text += "\n";
  for (std::size_t k = 0; k < line.shapes.size(); k += line.shape_stride) {
    const Shape& shape = line.shapes[k];
    text += fmt::format("{:.9g}", shape.t);
    for (const double value : shape.values) text += fmt::format(",{:.9g}", value);
    text += "\n";
  }
  return text;
}

}  // namespace ricochet::record
