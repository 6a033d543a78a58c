#pragma once

#include <string>
#include <vector>

#include "ricochet/scene/formula_reader.h"
#include "ricochet/scene/scene.h"

namespace ricochet::scene {

constexpr const char* kMotion = "motion";  // the name in [expect] that is no fact

/// The file's name without folder and ending.
std::string stem_of(const std::string& file);

/// Puts `--set` into the document. A bare name is a parameter of the scene, and an error when the
/// scene has none of that name; all other keys are dotted.
void apply_overrides(Document& document, const std::vector<Override>& overrides);

/// The facts of [expect], checked against the names that will be known.
std::vector<Expectation> read_expectations(const Document& document, const Value* table,
                                           const FormulaReader& formulas,
                                           const std::vector<std::string>& names);

}  // namespace ricochet::scene
