#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ricochet/model/state.h"
#include "ricochet/record/error_bar.h"
#include "ricochet/record/line_record.h"
#include "ricochet/record/rows.h"
#include "ricochet/record/world_record.h"
#include "ricochet/step/outcome.h"
#include "ricochet/step/scheme.h"
#include "ricochet/step/settings.h"

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
  std::string story;  // what happened, in a sentence; empty: nobody followed the events
  Columns columns;
  step::Scheme scheme;
  step::RunSettings run;
  std::vector<std::pair<std::string, double>> parameters;
  std::vector<std::string> overrides;  // what changed the scene, as of --set
  model::State<model::kDynamic> start;
  model::State<model::kDynamic> final_state;
  step::Outcome outcome;
  ErrorBar error_bar{};
  std::vector<std::string> warnings;
  std::vector<StatedFact> facts;
  std::string facts_not_checked;  // why; empty when they were, or when there are none
  std::string output_error;       // why files of the run could not be written; empty when they were
  std::optional<LineRecord> structure;  // of a run of one
  std::optional<WorldRecord> world;     // of a run of bodies
};

/// How a run ended, in a word: the name of its failure, "uncertified", "interrupted", "unresolved"
/// (the law holds, the digits do not) or "ok".
std::string status_word(const step::Outcome& outcome, const certify::Limits& limits,
                        const ErrorBar& bar);

/// The same, or "output_error".
std::string status_of(const Summary& summary);

/// The JSON text, keys in a fixed order, numbers with all their digits.
std::string to_json(const Summary& summary);

}  // namespace ricochet::record
