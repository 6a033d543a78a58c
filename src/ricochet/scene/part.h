#pragma once

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "ricochet/base/error.h"
#include "ricochet/body/figures.h"
#include "ricochet/formula/scope.h"
#include "ricochet/formula/tape.h"
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

/// A number of a body, of body::Figures, or of a watch, by its column.
struct Figure {
  int body{-1};  // -1: a watch
  int what{0};
};

/// A formula of t and figures, evaluated as the motion goes.
struct Probe {
  std::vector<Figure> inputs;  // after t
  formula::Tape tape;
  bool exists() const { return tape.groups() > 0; }
};

/// Bodies with one name: a body, or stone[1..N].
struct BodyFamily {
  std::string name;
  int begin{0};
  int count{0};
  double rate{0.0};  // of a fill that rains [1/s]
};

/// One [watch.NAME].
struct Watch {
  enum class Kind {
    ForceOn,
    Displacement,
    Height,
    Centre,
    Momentum,
    Slip,
    Touching,
    Joint,
    Formula
  };
  std::string name;
  Kind kind{Kind::Formula};
  std::vector<int> bodies;  // what it looks at
  std::vector<int> others;  // of a pair: the other side
  int joint{-1};
  Probe formula;
  int column{0};  // of its first number among the watches
  int numbers{1};
  int dimension{2};
};

/// One line of [write]: a series of files with what there is every so many steps.
struct SeriesPlan {
  long long stride{0};  // steps; 0: none is written
  bool hdf5{false};     // one file, else a .vtp for each instant and a .pvd
  bool exists() const { return stride > 0; }
};

/// [world] with its bodies: shapes that touch.
struct WorldPart {
  std::shared_ptr<const body::World<2>> plane;  // one of these two
  std::shared_ptr<const body::World<3>> space;
  std::vector<BodyFamily> families;
  std::vector<Watch> watches;
  std::vector<int> told;  // bodies whose places are in the rows
  Probe stop;             // ends the run where it holds
  base::Spot stop_spot;   // where it is written
  SeriesPlan write_bodies;
  SeriesPlan write_contacts;
  std::vector<std::pair<std::string, formula::Definition>> definitions;  // of t

  template <class Work>
  auto visit(Work&& work) const {
    return plane != nullptr ? work(*plane) : work(*space);
  }
};

using Part = std::variant<SystemPart, StructurePart, WorldPart>;

}  // namespace ricochet::scene
