#pragma once

#include <algorithm>
#include <array>

#include "ricochet/step/impact_stages.h"
#include "ricochet/step/scheme.h"

namespace ricochet::step {

/// Which contacts act in a step: those that touch at its middle, or with e = 0 all that would be
/// closed by the next.
enum class Acting { Touching, Ahead };
inline constexpr std::array<std::string_view, 2> kActing = {"touching", "ahead"};
inline constexpr Setting kActingSetting{
    .name = "contact",
    .meaning =
        "which contacts act: those that touch at the middle of a step, or with "
        "e = 0 all that the next would find closed, so that none is entered",
    .unnamed = static_cast<double>(Acting::Ahead),
    .words = kActing};

/// The length of the step, by which forces are impulses.
template <model::Model M>
[[gnu::always_inline]] inline void open_friction(double h, Workspace<M>& w) {
  if constexpr (M::kSlips > 0) {
    w.h = h;
    w.knows_reactions = false;
  }
}

/// The normal impulse of friction without a contact; of joints that of the round before.
template <model::Model M>
double load_impulse(const M& model, int a, const Workspace<M>& w) {
  if constexpr (requires { model.holds(a); }) {
    if (!model.holds(a).empty() && !w.knows_reactions) return 0.0;
  }
  return model::load_of(model, a, w.h, w.claim, w.place);
}

/// e of U_T, where contact a begins in this step.
template <model::Model M>
double slip_restitution_of(const M& model, int a, const model::StateOf<M>& s,
                           const Workspace<M>& w) {
  const double e = model::slip_restitution(model, a);
  if (e == 0.0) return 0.0;
  const auto& touched = s.memory.steps == 0 ? w.touched : s.memory.scheme.touched;
  return std::binary_search(touched.begin(), touched.end(), static_cast<model::Key>(a)) ? 0.0 : e;
}

}  // namespace ricochet::step
