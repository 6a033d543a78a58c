#pragma once

#include <optional>

#include "ricochet/model/formula_view.h"
#include "ricochet/step/correction.h"
#include "ricochet/step/guide_stages.h"
#include "ricochet/step/push_stages.h"
#include "ricochet/step/recorder.h"
#include "ricochet/structure/structure_model.h"

/// What depends on the model and not on the scheme, such as the judge, is compiled once for each
/// model that scenes are run as (shared_*.cpp), and not again with every scheme.
namespace ricochet::step {

#ifdef RICOCHET_ANY_SIZE
inline constexpr bool kKnowsSizes = false;  // compiles faster
#else
inline constexpr bool kKnowsSizes = true;
#endif

// Models that scenes are run as; numbers are those of coordinates, contacts, and tangential
// directions at each.
using AnyView = model::FormulaView<model::kDynamic, model::kDynamic>;
using StructureView = structure::StructureModel;
using View11 = model::FormulaView<1, 1>;
using View21 = model::FormulaView<2, 1>;
using View31 = model::FormulaView<3, 1>;
using View32 = model::FormulaView<3, 2>;
using View2Any = model::FormulaView<2, model::kDynamic>;
using View3Any = model::FormulaView<3, model::kDynamic>;
using View211 = model::FormulaView<2, 1, 1>;
using View311 = model::FormulaView<3, 1, 1>;
using View312 = model::FormulaView<3, 1, 2>;

template <model::Model M>
using ClaimOf = certify::Claim<M::kDofs, M::kContacts, M::kSlips>;
template <model::Model M>
using SpeedOf = model::Vector<M::kDofs>;

}  // namespace ricochet::step

// Of model M; KIND is `template`, which makes the code, or `extern template`.
#define RICOCHET_SHARE_CHECK(KIND, M, I)                                      \
  KIND bool certify::Judge<step::M>::check<certify::Integrator::I>(           \
      const model::StateOf<step::M>&, const model::StateOf<step::M>&, double, \
      const step::ClaimOf<step::M>&);
#define RICOCHET_SHARE_RUN(KIND, M)   \
  KIND class step::Recorder<step::M>; \
  KIND struct step::Workspace<step::M>;
#define RICOCHET_SHARE_STAGES(KIND, M)                                                           \
  RICOCHET_SHARE_RUN(KIND, M)                                                                    \
  KIND step::M::FormulaView(const model::FormulaModel&);                                         \
  KIND step::M::Place step::M::make_place() const;                                               \
  KIND problem::Report step::correct_violation(const step::M&, step::Workspace<step::M>&, bool); \
  KIND void step::add_lasting(const step::M&, const model::StateOf<step::M>&, double,            \
                              step::Workspace<step::M>&, bool);                                  \
  KIND problem::Report step::push_many(const step::M&, std::optional<double>,                    \
                                       const step::SpeedOf<step::M>&, step::SpeedOf<step::M>&,   \
                                       step::Workspace<step::M>&);                               \
  RICOCHET_SHARE_CHECK(KIND, M, MiddleAhead)
#define RICOCHET_SHARE_SMOOTH(KIND, M) \
  RICOCHET_SHARE_STAGES(KIND, M)       \
  RICOCHET_SHARE_CHECK(KIND, M, Middle)
#define RICOCHET_SHARE_VARYING(KIND, M)                                                            \
  RICOCHET_SHARE_SMOOTH(KIND, M)                                                                   \
  KIND problem::Report step::varying_free_velocity(const step::M&, const model::StateOf<step::M>&, \
                                                   double, step::Workspace<step::M>&);
#define RICOCHET_SHARE_ROUGH(KIND, M)                                          \
  RICOCHET_SHARE_STAGES(KIND, M)                                               \
  KIND problem::Report step::push_one_with_friction(                           \
      const step::M&, const model::StateOf<step::M>&, step::SpeedOf<step::M>&, \
      step::Workspace<step::M>&);                                              \
  KIND problem::Report step::push_many_with_friction(                          \
      const step::M&, const model::StateOf<step::M>&, step::SpeedOf<step::M>&, \
      step::Workspace<step::M>&);
#define RICOCHET_SHARE_ANY(KIND, M)                                                                \
  RICOCHET_SHARE_ROUGH(KIND, M)                                                                    \
  RICOCHET_SHARE_CHECK(KIND, M, Middle)                                                            \
  KIND void step::assemble_friction(const step::M&, const model::StateOf<step::M>&,                \
                                    step::Workspace<step::M>&);                                    \
  KIND problem::Report step::push_by_law(const step::M&, const model::StateOf<step::M>&,           \
                                         step::SpeedOf<step::M>&, step::Workspace<step::M>&);      \
  KIND problem::Report step::varying_free_velocity(const step::M&, const model::StateOf<step::M>&, \
                                                   double, step::Workspace<step::M>&);

#define RICOCHET_SHARE_NODES(KIND)                  \
  KIND class certify::Judge<step::AnyView>;         \
  RICOCHET_SHARE_CHECK(KIND, AnyView, End)          \
  RICOCHET_SHARE_CHECK(KIND, AnyView, Theta)        \
  RICOCHET_SHARE_CHECK(KIND, AnyView, MeanPosition) \
  RICOCHET_SHARE_CHECK(KIND, AnyView, Spring)       \
  RICOCHET_SHARE_CHECK(KIND, AnyView, Arcs)         \
  RICOCHET_SHARE_CHECK(KIND, AnyView, Affine)       \
  RICOCHET_SHARE_CHECK(KIND, AnyView, Conserving)
#define RICOCHET_SHARE_STRUCTURES(KIND)                      \
  RICOCHET_SHARE_RUN(KIND, StructureView)                    \
  RICOCHET_SHARE_CHECK(KIND, StructureView, MiddleAhead)     \
  RICOCHET_SHARE_CHECK(KIND, StructureView, AveragePosition) \
  RICOCHET_SHARE_CHECK(KIND, StructureView, End)             \
  RICOCHET_SHARE_CHECK(KIND, StructureView, Spring)
#define RICOCHET_SHARE_ONE_CONTACT(KIND) \
  RICOCHET_SHARE_SMOOTH(KIND, View11)    \
  RICOCHET_SHARE_SMOOTH(KIND, View21)    \
  RICOCHET_SHARE_SMOOTH(KIND, View31)
#define RICOCHET_SHARE_CONTACTS(KIND)    \
  RICOCHET_SHARE_SMOOTH(KIND, View32)    \
  RICOCHET_SHARE_VARYING(KIND, View2Any) \
  RICOCHET_SHARE_VARYING(KIND, View3Any)
#define RICOCHET_SHARE_FRICTION(KIND) \
  RICOCHET_SHARE_ROUGH(KIND, View211) \
  RICOCHET_SHARE_ROUGH(KIND, View311) \
  RICOCHET_SHARE_ROUGH(KIND, View312)

namespace ricochet {
RICOCHET_SHARE_ANY(extern template, AnyView)
RICOCHET_SHARE_NODES(extern template)
RICOCHET_SHARE_STRUCTURES(extern template)
#ifndef RICOCHET_ANY_SIZE
RICOCHET_SHARE_ONE_CONTACT(extern template)
RICOCHET_SHARE_CONTACTS(extern template)
RICOCHET_SHARE_FRICTION(extern template)
#endif
}  // namespace ricochet
