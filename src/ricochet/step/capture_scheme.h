#pragma once

#include <vector>

#include "ricochet/problem/contact_form.h"
#include "ricochet/step/capture.h"
#include "ricochet/step/shared.h"

namespace ricochet::step {
namespace detail {

/// The step's impulses as components of the problem's r; directions added to a contact have none.
template <class View>
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

}  // namespace detail

/// `capture_step` of a scheme; of one that is not staggered nothing.
template <class S>
CapturedStep capture_scheme(const model::FormulaModel& model, const Scheme& scheme,
                            const RunSettings& run, const model::State<model::kDynamic>& state) {
  CapturedStep result;
  if constexpr (S::kInfo.is_staggered) {
    const AnyView view(model);
    Workspace<AnyView> w(view, state.q);
    model::State<model::kDynamic> next = state;
    next.t = state.t + run.step;
    result.report = make_step(S::from(scheme), view, state, run.step, next, w);
    w.turned.assign(static_cast<std::size_t>(w.claim.active.size()), 0);
    assemble_friction(view, state, w);
    problem::ContactForm form;
    result.has_form = form.take(w.problem);
    if (!result.has_form) return result;
    result.contacts = form.problem();
    for (int k = 0; k < form.contacts(); ++k) result.rows.push_back(w.claim.active[k]);
    result.impulses = detail::impulses_of(view, w, form);
  }
  return result;
}

}  // namespace ricochet::step
