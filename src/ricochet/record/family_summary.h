#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "ricochet/record/summary.h"

namespace ricochet::record {

/// What all members of a family have in common: they are said once, and the others by each member.
struct FamilyCommon {
  bool scheme{true};
  bool step{true};
  bool settings{true};
};

/// One member of a family that has been run.
struct FamilyMember {
  std::size_t number{1};                                                          // from 1
  std::vector<std::pair<std::string, std::variant<double, std::string>>> values;  // by key
  std::string file;  // of its trajectory, in the folder of the summary
};

/// The member's row of summary.json, as JSON in one line, and its status.
struct MemberRow {
  std::string status;
  std::string json;
};

/// Everything summary.json tells about a family. What depends on the clock or the machine is in
/// `wall_seconds` alone.
struct FamilySummary {
  Summary first;  // of the first member that was run: the source of what is common
  FamilyCommon common;
  std::vector<std::string> keys;
  std::size_t members{0};       // asked for
  std::vector<MemberRow> rows;  // of those that were run, in their order
  long long steps{0};           // of all
  std::string output_error;     // why files could not be written; empty when they were
  double wall_seconds{0.0};
};

/// What the settings of `other` have in common with those of `first`.
FamilyCommon compare_settings(const Summary& first, const Summary& other);

MemberRow row_of(const FamilyMember& member, const Summary& summary, const FamilyCommon& common);

/// The first failure of a certificate, else "output_error", "interrupted", "unresolved" or "ok".
std::string status_of(const FamilySummary& family);

/// The JSON text: a row of the members is a line.
std::string to_json(const FamilySummary& family);

}  // namespace ricochet::record
