#pragma once

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "ricochet/formula/scope.h"
#include "ricochet/model/formula_model.h"
#include "ricochet/scene/names.h"
#include "ricochet/structure/beam.h"

namespace ricochet::scene {

/// [system] with its contacts and joints: formulas of coordinates.
struct SystemPart {
  std::shared_ptr<const model::FormulaModel> model;
  std::vector<CoordinateGroup> groups;  // system.coordinates as written
  std::vector<std::pair<std::string, formula::Definition>> definitions;  // each after what it uses
  std::shared_ptr<const model::Outside> outside;  // functions of a program; null: none
};

/// [structure]: a line with loads, guides and points.
struct StructurePart {
  structure::Line line;
  std::shared_ptr<const structure::LinearStructure> model;
  std::vector<double> abscissae;           // where shapes are told
  std::vector<structure::Row> shape_rows;  // the displacement there
  structure::Motion start;                 // of all coordinates
  int shapes{24};                          // told of a run
  int shape_stride{1};                     // as many are kept between two of them, to be played
  int reduced_modes{0};                    // 0: the whole model is run
  bool compare_full{true};                 // a reduced run is held against the whole
  std::vector<double> frequencies;         // the first, without guides [Hz]
};

using Part = std::variant<SystemPart, StructurePart>;

}  // namespace ricochet::scene
