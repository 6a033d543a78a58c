#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ricochet/study/structure_run.h"

namespace ricochet::study {

/// One run of a study: its distance from the reference at the points, and its statistics.
struct StructureRow {
  std::string scheme;
  double step{0.0};
  long long steps{0};
  certify::Certificate certificate;
  double largest{0.0};          // largest distance over points and instants, of the range
  double mean{0.0};             // its mean over the time
  std::optional<double> order;  // of the mean, from the row before
  std::vector<structure::GuideStatistics> guides;
  std::vector<structure::PointStatistics> points;
  double closure{0.0};
  double violation{0.0};
  double seconds{0.0};
  std::string refusal;  // why it was not run; empty: it was
};

struct StructureStudy {
  std::string title;
  std::string reference_scheme;
  double reference_step{0.0};
  std::vector<StructureRow> rows;
  std::vector<std::string> remarks;
  bool interrupted{false};
  bool ok() const;
};

using StructureReaderFor =
    std::function<scene::StructureScene(const std::string& scheme, double step)>;

/// Runs the scene with each step, from the largest; the reference is run with `reference_step`, 0:
/// an eighth of the smallest.
StructureStudy converge_structure(const StructureReaderFor& read, std::vector<double> steps,
                                  double reference_step, step::Monitor* monitor);

/// Runs the scene with each scheme at its own step; the reference is newmark at a sixteenth of it,
/// or at `reference_step`.
StructureStudy compare_structure(const StructureReaderFor& read,
                                 const std::vector<std::string>& schemes, double reference_step,
                                 step::Monitor* monitor);

std::string to_json(const StructureStudy& study);

}  // namespace ricochet::study
