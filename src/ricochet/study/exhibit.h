#pragma once

#include <string>
#include <vector>

#include "ricochet/study/facts.h"

namespace ricochet::study {

/// A run that a plate draws, by its label, and what is written above it; or all runs whose labels
/// begin so, together.
struct PlateRun {
  std::string label{};
  std::string heading{};
  bool all{false};
};

/// A plate of the source, to be drawn from our runs in its layout: pictures below each other, or a
/// table whose cells have lines.
struct Plate {
  std::string name{};  // "plate-03"
  std::string title{};
  std::string caption{};  // the data, and what to see
  std::vector<PlateRun> runs{};
  std::vector<std::string> header{};  // of a table
  std::vector<std::vector<std::vector<std::string>>> rows{};
  std::vector<std::string> about{};  // its facts begin with one of these; none: all of the exhibit
  std::string svg{};                 // drawn already
};

/// An experiment of the literature, recomputed and held against what its author states.
struct Exhibit {
  std::vector<std::string> table;  // lines to print, at most 80 columns; may be empty
  std::vector<Fact> facts;
  std::vector<Plate> plates;

  /// The facts that a plate has beside it.
  std::vector<Fact> facts_of(const Plate& plate) const;
};

/// Runs a scene of the program, with settings as of `--set`, under the label "name/label".
Motion run_builtin(const Runner& runner, const std::string& name, const std::string& label,
                   const std::vector<std::string>& settings = {});

/// How many members the family of a scene of the program has, and one of them, counted from 0.
std::size_t family_of(const std::string& name, const std::vector<std::string>& settings = {});
Motion run_member(const Runner& runner, const std::string& name, const std::string& label,
                  const std::vector<std::string>& settings, std::size_t member);

/// A run that failed or was interrupted is a fact that does not hold; a good one adds nothing.
void add_run_facts(const Motion& motion, std::vector<Fact>& facts);

/// Angle of a planar motion from the lowest point, by row, counted on over whole turns.
std::vector<double> unwrapped_angles(const Motion& motion);

}  // namespace ricochet::study
