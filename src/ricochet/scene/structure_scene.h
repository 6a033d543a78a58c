#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ricochet/scene/scene.h"
#include "ricochet/step/structure_scheme.h"
#include "ricochet/structure/beam.h"
#include "ricochet/structure/reduction.h"

namespace ricochet::scene {

/// A scene with a [structure] in place of a [system], ready to run.
struct StructureScene {
  std::string file;  // as the user named it
  std::string name;
  std::string title;
  std::string source;
  std::string notes;
  structure::Line line;
  std::shared_ptr<const structure::LinearStructure> model;
  std::vector<double> abscissae;           // where shapes are told
  std::vector<structure::Row> shape_rows;  // the displacement there
  structure::Motion start;
  step::StructureSettings settings;
  step::RunSettings run;
  int shapes{0};                    // told of a run
  int reduced_modes{0};             // 0: the whole model is run
  bool compare_full{true};          // a reduced run is held against the whole
  std::vector<double> frequencies;  // the first, without guides [Hz]
  std::vector<std::pair<std::string, double>> parameters;
  std::vector<Expectation> expectations;
  std::vector<std::string> warnings;
};

/// Whether a text is a scene with a [structure]. A text that cannot be read is none.
bool has_structure(const std::string& file, const std::string& text);

/// Reads one. Throws base::InputError, which names file, line, key and remedy.
StructureScene read_structure_scene(const std::string& file, const std::string& text,
                                    const std::vector<Override>& overrides = {});

/// The names an expectation may use besides parameters and t.
std::vector<std::string> fact_names(const structure::LinearStructure& model);

}  // namespace ricochet::scene
