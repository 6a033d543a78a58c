#pragma once

#include <array>

#include "ricochet/step/scheme.h"
#include "ricochet/step/stages.h"

namespace ricochet::step {

/// What to do with a position beyond a wall.               [Moreau 1986, par. 10 Rem. 2]
enum class Correction {
  None,
  Project,  // where one is violated, move q_M to the intersection of the active surfaces
};

inline constexpr std::array<std::string_view, 2> kCorrections = {"none", "project"};

/// The settings of Moreau's schemes.
constexpr std::array<Setting, 2> staggered_settings(double anticipation) {
  return {Setting{.name = "anticipation",
                  .meaning = "A_V of q' = q_M + A_V h u, where contacts are looked at",
                  .standard = anticipation},
          Setting{.name = "correction",
                  .meaning = "whether a violated q_M is put back on its walls",
                  .words = kCorrections}};
}

/// Such a scheme with the settings of a run.
template <class S>
S staggered_from(const Scheme& scheme) {
  return {.anticipation = scheme.value("anticipation"),
          .correction = scheme.choice<Correction>("correction")};
}

/// What its judge has to know.
template <class S>
certify::Method staggered_method(const S& scheme) {
  certify::Method method = method_of(S::kInfo);
  method.anticipation = scheme.anticipation;
  method.corrects = scheme.correction == Correction::Project;
  return method;
}

}  // namespace ricochet::step
