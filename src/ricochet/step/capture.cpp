#include "ricochet/step/capture.h"

#include "ricochet/model/formula_view.h"
#include "ricochet/problem/contact_form.h"
#include "ricochet/step/simulate.h"

namespace ricochet::step {
namespace {

using View = model::FormulaView<model::kDynamic, model::kDynamic>;
using State = model::State<model::kDynamic>;

/// The step's impulses as components of the problem's r; directions added to a contact have none.
std::vector<double> impulses_of(const View& view, const Workspace<View>& w,
                                const problem::ContactForm& form) {
  std::vector<double> result(static_cast<std::size_t>(form.rows()), 0.0);
  for (int k = 0; k < form.contacts(); ++k) {
    const int a = w.claim.active[k];
    const auto first = static_cast<std::size_t>(form.dim() * k);
    result[first] = w.claim.impulses[k] / w.place.stretch[a];
    for (int j = 0; j < view.slips(a); ++j) {
      result[first + 1 + static_cast<std::size_t>(j)] =
          w.claim.tangential[View::kSlips * k + j] / form.stretch(k, 1 + j);
    }
  }
  return result;
}

template <class S>
StepProblem capture(const View& view, const S& scheme, double h, const State& state) {
  StepProblem result;
  Workspace<View> w(view, state.q);
  State next = state;
  next.t = state.t + h;
  result.report = make_step(scheme, view, state, h, next, w);
  assemble_friction(view, state, w);
  problem::ContactForm form;
  result.has_form = form.take(w.friction);
  if (!result.has_form) return result;
  result.contacts = form.problem();
  result.impulses = impulses_of(view, w, form);
  return result;
}

}  // namespace

StepProblem capture_step(const model::FormulaModel& model, const Scheme& scheme,
                         const RunSettings& run, const model::State<model::kDynamic>& state) {
  const View view(model);
  return std::visit(
      [&](const auto& chosen) {
        if constexpr (chosen.kStaggered) return capture(view, chosen, run.step, state);
        return StepProblem{};
      },
      scheme);
}

}  // namespace ricochet::step
