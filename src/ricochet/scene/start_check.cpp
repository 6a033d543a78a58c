#include "ricochet/scene/start_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ricochet/convex/dense.h"

namespace ricochet::scene {
namespace {

using Vec = model::Vector<model::kDynamic>;

/// "x = 1, y = 2", of the first few coordinates.
std::string describe(const model::FormulaModel& model, const Vec& q) {
  constexpr int kMost = 6;
  std::string text;
  for (int i = 0; i < std::min(model.dofs(), kMost); ++i) {
    text += fmt::format("{}{} = {:.9g}", i > 0 ? ", " : "",
                        model.coordinates()[static_cast<std::size_t>(i)], q[i]);
  }
  return model.dofs() > kMost ? text + ", ..." : text;
}

model::IndexList<model::kDynamic> rows(int first, int last) {
  model::IndexList<model::kDynamic> list(last);
  for (int a = first; a < last; ++a) list.push(a);
  return list;
}

}  // namespace

StartCheck::StartCheck(const model::FormulaModel& model, const State& state, double step,
                       double tolerance)
    : model_(model),
      state_(state),
      given_tolerance_(tolerance),
      reach_(std::max(state.q.cwiseAbs().maxCoeff(), step * state.u.cwiseAbs().maxCoeff())),
      view_(model),
      place_(view_.make_place()) {
  view_.gaps(state.t, state.q, place_);
  view_.gradients(rows(0, model.contacts()), place_);
}

/// 1e-9 of the scene's scale: what the gap changes over the largest coordinate.
double StartCheck::tolerance_of(int a) const {
  return given_tolerance_ >= 0.0 ? given_tolerance_ : 1e-9 * place_.normals.abs_sum(a) * reach_;
}

std::optional<StartFault> StartCheck::first_fault() {
  if (auto fault = fault_of_mass()) return fault;
  for (int a = 0; a < model_.contacts(); ++a) {
    if (auto fault = fault_of_row(a)) return fault;
  }
  return fault_of_forces();
}

std::optional<StartFault> StartCheck::fault_of_mass() {
  if (view_.load_mass(state_.q, place_)) return std::nullopt;
  return StartFault{
      fmt::format("the mass matrix is not positive definite at {}", describe(model_, state_.q)),
      "start elsewhere, or choose coordinates in which every velocity has kinetic energy"};
}

std::optional<StartFault> StartCheck::fault_of_row(int a) {
  const double gap = place_.gap[a];
  if (!std::isfinite(gap) || !std::isfinite(place_.normals.abs_sum(a))) {
    return StartFault{
        fmt::format("the {} of '{}' is {} at the start", std::isfinite(gap) ? "gradient" : "gap",
                    name_of(a), std::isfinite(gap) ? place_.normals.abs_sum(a) : gap),
        "check the formula at this position"};
  }
  if (auto fault = fault_of_length(a)) return fault;
  const double tolerance = tolerance_of(a);
  if (is_joint(a)) {
    if (std::abs(gap) <= tolerance) return std::nullopt;
    return joint_fault(a, tolerance);
  }
  if (gap >= -tolerance || !view_.exists(a, place_)) return std::nullopt;
  return StartFault{
      fmt::format("violates '{}': its gap is {:.6g}, below -{:.3g}", name_of(a), gap, tolerance),
      fmt::format("move the start, or allow it with start.tolerance = {:.1g}", -2.0 * gap)};
}

/// Of a particle whose gap is a function, friction asks what of formulas is checked when they are
/// read: that the gap is a length.
std::optional<StartFault> StartCheck::fault_of_length(int a) {
  if (model_.outside_gap(a) < 0 || model_.slips(a) + 1 != model_.dofs()) return std::nullopt;
  if (!model_.has_constant_mass() || !model_.mass().is_scalar()) return std::nullopt;
  Vec row(model_.dofs());
  place_.normals.copy_to(a, row);
  if (std::abs(row.norm() - 1.0) <= 1e-4) return std::nullopt;  // it may come from differences
  return StartFault{fmt::format("the gap of '{}' is no length, which friction needs: it changes by "
                                "{:.6g} per unit of distance",
                                name_of(a), row.norm()),
                    "return a distance: divide the gap by the length of its gradient"};
}

/// Where all joints hold nearby is found by Newton's method; where they hold nowhere, they
/// contradict each other.
StartFault StartCheck::joint_fault(int a, double tolerance) {
  const int first = model_.contacts() - model_.joints();
  const int holds = model_.joints() - model_.rolls();
  Vec q = state_.q;
  auto place = view_.make_place();
  Eigen::MatrixXd J(holds, model_.dofs());
  Vec row(model_.dofs());
  Eigen::VectorXd g(holds);
  const auto list = rows(first, first + holds);
  for (int round = 0; round < 50; ++round) {
    view_.gaps(state_.t, q, place);
    view_.gradients(list, place);
    for (int k = 0; k < holds; ++k) {
      place.normals.copy_to(first + k, row);
      J.row(k) = row.transpose();
      g[k] = place.gap[first + k];
    }
    if (!(g.cwiseAbs().maxCoeff() > 1e-12 * reach_ * (1.0 + J.cwiseAbs().maxCoeff()))) break;
    q -= convex::least_squares(J, g);
  }
  const std::string message =
      fmt::format("'{}' is {:.6g} there, not 0 (to {:.3g})", name_of(a), place_.gap[a], tolerance);
  if (g.allFinite() && g.cwiseAbs().maxCoeff() <= tolerance) {
    return {message, fmt::format("the nearest position that holds is {}", describe(model_, q))};
  }
  if (holds == 1) return {message, "no position nearby holds; check the equation"};
  return {message + ", and no position nearby satisfies all of [hold]: they contradict each other",
          "remove or mend one of them"};
}

std::optional<StartFault> StartCheck::fault_of_forces() {
  Vec force(model_.dofs());
  view_.force(state_.t, state_.q, state_.u, place_, force);
  auto place = view_.make_place();
  const double potential = view_.gaps_and_potential(state_.t, state_.q, place);
  if (force.allFinite() && std::isfinite(potential)) return std::nullopt;
  return StartFault{"a force or the potential is not finite at the start",
                    "check system.force and system.potential at this position"};
}

std::vector<std::string> StartCheck::warnings() {
  std::vector<std::string> found;
  for (int a = 0; a < model_.contacts(); ++a) {
    const double velocity = place_.normals.dot(a, state_.u) + place_.rate[a];
    const double slack = 1e-12 * place_.normals.abs_dot(a, state_.u);
    if (is_joint(a)) {
      if (std::abs(velocity) <= 1e3 * slack) continue;
      if (a >= model_.contacts() - model_.rolls()) {
        found.push_back(fmt::format(
            "the velocity '{}' is {:.4g} at the start, not 0: the first step stops it with an "
            "impulse",
            name_of(a), velocity));
        continue;
      }
      found.push_back(fmt::format(
          "the start does not keep '{}' at 0: it changes at {:.4g} per time; the first step "
          "mends that with an impulse",
          name_of(a), velocity));
    } else if (place_.gap[a] <= tolerance_of(a) && velocity < -slack && view_.exists(a, place_)) {
      found.push_back(
          fmt::format("the start touches '{}' and moves into it at {:.4g} (gap units per time): "
                      "the first step will be a shock",
                      name_of(a), -velocity));
    }
  }
  return found;
}

}  // namespace ricochet::scene
