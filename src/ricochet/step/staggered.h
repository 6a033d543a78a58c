#pragma once

#include <array>

#include "ricochet/step/correction.h"
#include "ricochet/step/scheme.h"

namespace ricochet::step {

/// What to do with a position beyond a wall.               [Moreau 1986, par. 10 Rem. 2]
enum class Correction {
  None,
  Project,     // where one is violated, move q_M to the intersection of the active surfaces
  Unilateral,  // the same by pushes alone: to the nearest place that is beyond none of them
};

inline constexpr std::array<std::string_view, 3> kCorrections = {"none", "project", "unilateral"};

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

/// Where q_M is beyond a wall, it is put back, if the run asks for it.
template <class S, model::Model M>
[[gnu::always_inline]] inline problem::Report correct(const S& scheme, const M& model,
                                                      Workspace<M>& w) {
  if (scheme.correction == Correction::None) return {};
  return correct_violation(model, w, scheme.correction == Correction::Unilateral);
}

/// What its judge has to know.
template <class S>
certify::Method staggered_method(const S& scheme) {
  certify::Method method = method_of(S::kInfo);
  method.anticipation = scheme.anticipation;
  method.corrects = scheme.correction != Correction::None;
  method.corrects_by_pushes = scheme.correction == Correction::Unilateral;
  return method;
}

}  // namespace ricochet::step
