#pragma once

#include <array>

#include "ricochet/step/event_pace.h"
#include "ricochet/step/scheme.h"

namespace ricochet::step {
/// What becomes of impacts that accumulate.
enum class Zeno {
  Stop,     // the run ends there, and says so
  Contact,  // the contact lasts from then on
};

/// A comparator: smooth motion up to each impact, whose time is found.
struct EventDriven {
  static constexpr std::array<std::string_view, 2> kZeno = {"stop", "contact"};
  static constexpr std::array kSettings = {
      Setting{.name = "zeno", .meaning = "what becomes of impacts that accumulate", .words = kZeno},
      Setting{.name = "accuracy",
              .meaning = "the relative error of its arcs",
              .standard = 1e-10,
              .is_positive = true}};
  static constexpr SchemeInfo kInfo{.name = "event-driven",
                                    .meaning = "smooth arcs up to each impact",
                                    .use = "few impacts, exact times",
                                    .integrator = certify::Integrator::Arcs,
                                    .has_joints = true,
                                    .has_rolls = true,
                                    .follows_shocks = true,
                                    .settings = kSettings};
  template <class M>
  using Pace = EventPace<M, EventDriven>;
  Zeno zeno{Zeno::Stop};
  double accuracy{1e-10};  // of the integration, relative
  static EventDriven from(const Scheme& scheme) {
    return {.zeno = scheme.choice<Zeno>("zeno"), .accuracy = scheme.value("accuracy")};
  }
  bool stops_at_accumulations() const { return zeno == Zeno::Stop; }
  template <class M>
  EventArc<M> arc(const M& model, const model::StateOf<M>& start, Workspace<M>& w) const {
    return {model, start, accuracy, w};
  }
  certify::Method method() const {
    certify::Method method = method_of(kInfo);
    method.accuracy = accuracy;
    return method;
  }
};

}  // namespace ricochet::step
