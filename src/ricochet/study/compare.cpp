#include "ricochet/study/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "ricochet/base/error.h"
#include "ricochet/study/motion.h"

namespace ricochet::study {
namespace {

constexpr int kMostRepeats = 5;
constexpr double kRepeatSeconds = 0.5;  // no more repeats after that

/// A scheme, and the scene as it was read for it.
struct Entrant {
  std::string scheme;
  std::optional<scene::Scene> scene;
  std::string refusal;
};

void check_name(const std::string& option, const std::string& scheme) {
  const std::vector<std::string> of_structures = step::scheme_names(true);
  if (std::count(of_structures.begin(), of_structures.end(), scheme) > 0) return;
  try {
    (void)step::make_scheme(scheme);
  } catch (const base::InputError& error) {
    throw base::InputError(option, error.message(), error.remedy());
  }
}

void check_names(const std::vector<std::string>& schemes) {
  if (schemes.empty()) {
    throw base::InputError("--schemes", "names no scheme", "write for example elast,inel");
  }
  for (const std::string& scheme : schemes) {
    check_name("--schemes", scheme);
    if (std::count(schemes.begin(), schemes.end(), scheme) > 1) {
      throw base::InputError("--schemes", fmt::format("names {} twice", scheme), "name each once");
    }
  }
}

std::vector<Entrant> read_all(const SceneReader& read, const std::vector<std::string>& schemes) {
  std::vector<Entrant> entrants;
  std::optional<base::InputError> first;
  bool any = false;
  for (const std::string& scheme : schemes) {
    Entrant entrant{scheme, std::nullopt, ""};
    try {
      entrant.scene = read(scheme);
      any = true;
    } catch (const base::InputError& error) {
      if (!first) first = error;
      entrant.refusal = error.key().empty() ? error.message()
                                            : fmt::format("{}: {}", error.key(), error.message());
    }
    entrants.push_back(std::move(entrant));
  }
  if (!any) throw *first;
  return entrants;
}

/// The reference, unless the run that was to be it failed.
std::optional<Reference> make_reference(const SceneReader& read, const scene::Scene& first,
                                        const CompareSettings& settings, step::Monitor* monitor,
                                        Comparison& found) {
  const bool is_asked = settings.reference_step > 0.0 || !settings.reference_scheme.empty();
  if (first.closed_form && !is_asked) {
    found.reference_is_stated = true;
    return Reference::stated(first, found.to, found.step);
  }
  const double h = settings.reference_step > 0.0 ? settings.reference_step
                                                 : found.step / CompareSettings::kFinest;
  check_step(first, h, found.to, settings.reference_step > 0.0 ? "--reference" : "--step");
  if (h > found.step) {
    throw base::InputError("--reference",
                           fmt::format("{:g} is longer than the step, {:g}", h, found.step),
                           "write a smaller one, or leave it out");
  }
  const scene::Scene scene =
      settings.reference_scheme.empty() ? first : read(settings.reference_scheme);
  found.reference_scheme = step::name_of(scene.scheme);
  found.reference_step = h;
  RecordedRun run = record_run(with_step(scene, h, found.to), monitor);
  found.interrupted = run.outcome.interrupted;
  if (!run.outcome.certificate.ok()) found.reference_failure = run.outcome.certificate;
  if (found.interrupted || found.reference_failure) return std::nullopt;
  return Reference::computed(std::move(run));
}

double least_seconds(scene::Scene scene, step::Monitor* monitor) {
  scene.run.record_every = 0;
  double least = std::numeric_limits<double>::infinity();
  double spent = 0.0;
  for (int k = 0; k < kMostRepeats && spent < kRepeatSeconds; ++k) {
    const double seconds = run_scene(scene, false, {}, monitor).outcome.wall_seconds;
    least = std::min(least, seconds);
    spent += seconds;
  }
  return least;
}

SchemeRow run_scheme(const Entrant& entrant, const std::optional<Reference>& reference,
                     const Windows& windows, step::Monitor* monitor, Comparison& found) {
  SchemeRow row;
  row.scheme = entrant.scheme;
  row.refusal = entrant.refusal;
  if (!entrant.scene) return row;
  const scene::Scene scene = with_step(*entrant.scene, found.step, found.to);
  const RecordedRun run = record_run(scene, monitor);
  row.certificate = run.outcome.certificate;
  row.steps = run.outcome.steps;
  row.shocks = run.shocks();
  row.points = run.points;
  row.guides = run.guides;
  row.seconds = least_seconds(scene, monitor);
  found.interrupted =
      found.interrupted || run.outcome.interrupted || (monitor != nullptr && monitor->stop.load());
  if (found.interrupted || !row.certificate.ok() || !reference) return row;
  const double end = std::min({found.to, run.t.back(), reference->end()});
  row.errors = measure_errors(run, *reference, end, windows);
  const std::string remark = remark_on_windows(run, windows, end, row.scheme);
  if (!remark.empty()) found.remarks.push_back(remark);
  return row;
}

void add_remarks(const std::optional<Reference>& reference, Comparison& found) {
  bool differ = false;
  for (const SchemeRow& row : found.rows) {
    if (!row.was_run() || !row.certificate.ok()) continue;
    differ = differ || (reference && row.shocks != reference->shocks());
  }
  if (differ) {
    found.remarks.push_back(fmt::format("the schemes do not all have the {} {} of the reference",
                                        reference->shocks(),
                                        reference->is_stated() ? "jumps" : "shocks"));
  }
  if (reference && reference->jumps_are_cut()) {
    found.remarks.push_back(
        "the reference has more shocks than are known by time: 'away' means "
        "little");
  }
  if (!found.reference_scheme.empty()) {
    found.remarks.push_back(
        fmt::format("errors are differences from {}: where schemes have different laws, they are "
                    "not errors of the scheme",
                    found.reference_scheme));
  }
}

}  // namespace

double SchemeRow::energy_change() const {
  const certify::Ledger& ledger = certificate.ledger;
  return ledger.kinetic_end + ledger.potential_end - ledger.kinetic_start - ledger.potential_start;
}

double SchemeRow::seconds_per_step() const {
  return steps > 0 ? seconds / static_cast<double>(steps) : 0.0;
}

bool Comparison::ok() const {
  return !reference_failure && std::all_of(rows.begin(), rows.end(), [](const SchemeRow& row) {
    return !row.was_run() || row.certificate.ok();
  });
}

Comparison compare(const SceneReader& read, const CompareSettings& settings,
                   step::Monitor* monitor) {
  check_names(settings.schemes);
  if (!settings.reference_scheme.empty()) {
    check_name("--reference-scheme", settings.reference_scheme);
  }
  const std::vector<Entrant> entrants = read_all(read, settings.schemes);
  const auto able = std::find_if(entrants.begin(), entrants.end(),
                                 [](const Entrant& one) { return one.scene.has_value(); });
  const scene::Scene& first = *able->scene;
  if (!first.family.empty()) {
    throw base::InputError("family", "schemes are compared on one run, not on a family",
                           "choose a member: give each of its keys one value with --set");
  }
  Comparison found;
  found.title = first.title;
  found.source = first.source;
  found.step = first.run.step;
  found.from = first.run.start_time;
  found.to = end_of(first);
  check_step(first, found.step, found.to, "--step");
  const std::optional<Reference> reference = make_reference(read, first, settings, monitor, found);
  found.window =
      settings.window > 0.0 ? settings.window : CompareSettings::kWindowSteps * found.step;
  if (reference) found.jumps = reference->jumps();
  for (const Entrant& entrant : entrants) {
    if (found.interrupted) break;
    found.rows.push_back(
        run_scheme(entrant, reference, {found.jumps, found.window}, monitor, found));
  }
  add_remarks(reference, found);
  return found;
}

}  // namespace ricochet::study
