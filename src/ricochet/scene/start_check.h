#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ricochet/model/formula_view.h"

namespace ricochet::scene {

/// What is wrong with a start, and what to do about it.
struct StartFault {
  std::string message;
  std::string remedy;
};

/// Looks at a start before it is run: gaps, joints, mass, forces. A position that violates a
/// constraint is a fault; a velocity that does is a warning, since the first step mends it.
class StartCheck {
 public:
  using State = model::State<model::kDynamic>;

  /// `tolerance` in units of the gap; < 0: 1e-9 of the scene's scale.
  StartCheck(const model::FormulaModel& model, const State& state, double step, double tolerance);

  std::optional<StartFault> first_fault();
  std::vector<std::string> warnings();

 private:
  std::optional<StartFault> fault_of_mass();
  std::optional<StartFault> fault_of_row(int a);
  std::optional<StartFault> fault_of_length(int a);
  std::optional<StartFault> fault_of_forces();
  StartFault joint_fault(int a, double tolerance);
  double tolerance_of(int a) const;
  bool is_joint(int a) const { return a >= model_.contacts() - model_.joints(); }
  const std::string& name_of(int a) const {
    return model_.contact_names()[static_cast<std::size_t>(a)];
  }

  const model::FormulaModel& model_;
  const State& state_;
  double given_tolerance_;
  double reach_;
  model::FormulaView<model::kDynamic, model::kDynamic> view_;
  model::FormulaView<model::kDynamic, model::kDynamic>::Place place_;
};

}  // namespace ricochet::scene
