#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ricochet/model/formula_model.h"

namespace ricochet::study {

/// One hypothesis of a theorem, and whether it can be read off a model.
struct Hypothesis {
  std::string what;
  std::optional<bool> holds;  // none: cannot tell
  std::string why;            // of what does not hold or cannot be told; may be empty
};

/// What Ballard's theorems suppose. Theorem 1: data that are analytic, perfect walls that stand
/// still and whose gradients are independent where they meet, an impact law that is a function of
/// the state and creates no energy: then there is exactly one maximal motion. Theorem 2: a complete
/// metric and forces that grow at most linearly: then it lasts for all time. [Ballard 2013]
struct Hypotheses {
  std::vector<Hypothesis> one_motion;  // of Theorem 1
  std::vector<Hypothesis> for_ever;    // of Theorem 2, beside those of Theorem 1
};
Hypotheses hypotheses_of(const model::FormulaModel& model);

/// Whether all of them hold; none where one cannot be told and none fails.
std::optional<bool> all_hold(const std::vector<Hypothesis>& list);

}  // namespace ricochet::study
