#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "commands.h"
#include "convergence_text.h"
#include "number_option.h"
#include "report_text.h"
#include "ricochet/base/error.h"
#include "ricochet/host/output_file.h"
#include "ricochet/host/stop_signals.h"
#include "ricochet/study/structure_study.h"
#include "scene_file.h"
#include "structure_command.h"

namespace ricochet::app {
namespace {

/// The scene for a scheme and a step; empty and 0: its own.
study::StructureReaderFor reader_of(const SceneArguments& arguments) {
  return [arguments](const std::string& scheme, double step) {
    SceneArguments changed = arguments;
    if (!scheme.empty()) changed.scheme = scheme;
    if (step > 0.0) changed.step = fmt::format("{:.17g}", step);
    return read_structure(changed);
  };
}

std::string describe(const study::StructureStudy& study) {
  std::string text = wrapped(study.title + "\n");
  text += wrapped(fmt::format("distance of the points from {} with step {:g}, of their range\n\n",
                              study.reference_scheme, study.reference_step));
  text += fmt::format("  {:<9}{:>10}{:>11}{:>11}{:>7}{:>9}{:>11}{:>10}\n", "scheme", "step",
                      "largest", "mean", "order", "impacts", "violation", "us/step");
  for (const study::StructureRow& row : study.rows) {
    if (!row.refusal.empty()) {
      text += wrapped(fmt::format("  {:<9} {}\n", row.scheme, row.refusal));
      continue;
    }
    long long impacts = 0;
    for (const structure::GuideStatistics& guide : row.guides) impacts += guide.impacts;
    text += fmt::format("  {:<9}{:>10.4g}{:>11.2e}{:>11.2e}{:>7}{:>9}{:>11.1e}{:>10.2f}{}\n",
                        row.scheme, row.step, row.largest, row.mean,
                        row.order ? fmt::format("{:.2f}", *row.order) : "-", impacts, row.violation,
                        row.steps > 0 ? 1e6 * row.seconds / static_cast<double>(row.steps) : 0.0,
                        row.certificate.ok() ? "" : "  FAILED");
  }
  text += "\n";
  for (const std::string& remark : study.remarks) text += entry("remark", remark);
  return text;
}

int finish(const study::StructureStudy& study, const std::string& out, bool json,
           const char* name) {
  const std::string data = study::to_json(study);
  std::string text = json ? data : describe(study);
  if (!out.empty()) {
    host::write_file(std::filesystem::path(out) / name, data);
    if (!json) text += entry("written", fmt::format("{}: {}", out, name));
  }
  fmt::print("{}", text);
  if (study.interrupted) return kInterrupted;
  if (study.ok()) return kFine;
  std::fflush(stdout);
  fmt::print(stderr, "error: a certificate failed\n");
  return kFailed;
}

void refuse_window(const std::string& window) {
  if (window.empty()) return;
  throw base::InputError("--window", "is for scenes with shocks of their own, not for structures",
                         "leave it out");
}

}  // namespace

int converge_structure_command(const ConvergeArguments& arguments) {
  refuse_window(arguments.window);
  std::vector<double> steps;
  for (const std::string& word : words_of(arguments.steps)) {
    if (word.empty()) throw base::InputError("--steps", "has an empty place", "write 1e-4,5e-5");
    steps.push_back(positive_option("--steps", word));
  }
  host::StopSignals signals;
  const study::StructureStudy study = study::converge_structure(
      reader_of(arguments.scene), steps, positive_option("--reference", arguments.reference),
      &signals.monitor());
  return finish(study, arguments.out, arguments.json, "converge.json");
}

int compare_structure_command(const CompareArguments& arguments) {
  refuse_window(arguments.window);
  if (!arguments.reference_scheme.empty() && arguments.reference_scheme != step::kNewmark.name) {
    throw base::InputError("--reference-scheme", "of a structure is newmark", "leave it out");
  }
  host::StopSignals signals;
  const study::StructureStudy study = study::compare_structure(
      reader_of(arguments.scene), words_of(arguments.schemes),
      positive_option("--reference", arguments.reference), &signals.monitor());
  return finish(study, arguments.out, arguments.json, "compare.json");
}

}  // namespace ricochet::app
