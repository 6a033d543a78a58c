#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ricochet::testing {

/// How the error bars of one kind of scene compare with the true errors.
struct BarRow {
  std::string kind;
  int tried{0};
  int refused{0};  // no certificate, or no bar
  int unresolved{0};
  int within{0};               // every coordinate and velocity is off by no more than its bar
  std::vector<double> ratios;  // bar over true error, where that is more than rounding
  int given() const { return tried - refused - unresolved; }
  double median() const;
};

/// Those of the table: 306 scenes, none of which the rule was fitted to.
inline constexpr std::uint64_t kTableSeed = 20240611;
inline constexpr int kTableCount = 17;

/// Random scenes with known ends, `count` of each kind, and all together in the last row.
std::vector<BarRow> try_known_scenes(std::uint64_t seed, int count);

/// As docs/guide/error-bar.md has it.
std::string markdown_of(const std::vector<BarRow>& rows);

}  // namespace ricochet::testing
