#pragma once

#include <string>
#include <vector>

#include "ricochet/model/state.h"
#include "ricochet/record/rows.h"
#include "ricochet/step/simulate.h"

namespace ricochet::record {

/// Version of trajectory.csv and summary.json; raised when their meaning changes.
inline constexpr int kFormatVersion = 1;

/// Something stated, an expectation of the scene for example, and what was found.
struct StatedFact {
  std::string statement;
  std::string found;
  bool holds{false};
};

/// Everything summary.json tells about a run.
struct Summary {
  std::string title;
  std::string source;
  std::string file;
  Columns columns;
  step::Scheme scheme;
  step::RunSettings run;
  model::State<model::kDynamic> final_state;
  step::Outcome outcome;
  std::vector<std::string> warnings;
  std::vector<StatedFact> facts;
};

/// "ok", "interrupted", or the name of the failure.
std::string status_of(const step::Outcome& outcome);

/// The JSON text, keys in a fixed order, numbers with all their digits.
std::string to_json(const Summary& summary);

}  // namespace ricochet::record
