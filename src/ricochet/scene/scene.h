#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ricochet/base/error.h"
#include "ricochet/formula/syntax.h"
#include "ricochet/model/state.h"
#include "ricochet/scene/closed_form.h"
#include "ricochet/scene/dynamics_plan.h"
#include "ricochet/scene/family.h"
#include "ricochet/scene/part.h"
#include "ricochet/scene/plot_plan.h"
#include "ricochet/scene/record_plan.h"
#include "ricochet/scene/slots.h"
#include "ricochet/step/columns.h"
#include "ricochet/step/scheme.h"
#include "ricochet/step/settings.h"

namespace ricochet::scene {

/// A fact that must hold at the end of a run: a formula of the final state and of the certificate.
struct Expectation {
  std::string name;
  std::string text;
  std::string source;
  formula::Syntax syntax;
};

/// A scene, ready to run: a head, which is the same for all, and the part that moves.
struct Scene {
  Scene();
  Scene(const Scene& other);
  Scene(Scene&& other) noexcept;
  Scene& operator=(const Scene& other);
  Scene& operator=(Scene&& other) noexcept;
  ~Scene();

  std::string file;  // as the user named it
  std::string name;  // the file's name without folder and ending
  std::string text;
  std::string title;
  std::string source;
  std::string notes;
  std::vector<std::pair<std::string, double>> parameters;
  Part part;
  step::Columns columns;                // what rows tell of it
  model::State<model::kDynamic> start;  // of a structure, that of its points
  step::Scheme scheme;
  bool names_scheme{true};  // else it is the one that a scene has by default
  step::RunSettings run;
  std::vector<Expectation> expectations;
  std::shared_ptr<const ClosedForm> closed_form;  // expect.motion; null: the scene states none
  PlotPlan plot;
  RecordPlan record;
  std::vector<std::string> warnings;   // things that run but may not be meant
  DynamicsPlan dynamics;               // period, section, sweep
  Family family;                       // what varies; the scene itself is the first member
  std::shared_ptr<const Slots> slots;  // of systems

  const SystemPart& system() const { return std::get<SystemPart>(part); }
  const StructurePart* structure() const { return std::get_if<StructurePart>(&part); }
  const WorldPart* world() const { return std::get_if<WorldPart>(&part); }
  /// The formulas of a system; null: it is none.
  const model::FormulaModel* formulas() const {
    const SystemPart* system = std::get_if<SystemPart>(&part);
    return system == nullptr ? nullptr : system->model.get();
  }
};

/// "name=value"; throws base::InputError when there is no '='.
Override parse_override(const std::string& argument);

/// Reads a scene from text. Throws base::InputError, which names file, line, key and remedy.
///
/// A program may give parts of the system as functions: then `keep`, `force` or `mass` is the word
/// kOutside. Without functions the word means nothing.
///
/// Parameters named by `slots` may be set anew afterwards, by index: see `Members`.
Scene read_scene(const std::string& file, const std::string& text,
                 const std::vector<Override>& overrides = {},
                 std::shared_ptr<const model::Outside> outside = nullptr,
                 const std::vector<std::string>& slots = {});

/// A member, counted from 0, of the family of a scene that was read with these overrides. It has no
/// family itself, and runs forward or backward as the scene does.
Scene read_member(const Scene& scene, const std::vector<Override>& overrides, std::size_t member);

/// The names an expectation may use besides coordinates, velocities, parameters, definitions and t:
/// for each contact its gap and its number of shocks, the figures of the certificate, and of a
/// structure those of its points and guides.
std::vector<std::string> fact_names(const Scene& scene);

}  // namespace ricochet::scene
