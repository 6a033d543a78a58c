#pragma once

#include <optional>
#include <vector>

#include "ricochet/step/run_bodies.h"
#include "ricochet/study/shock_pairs.h"

namespace ricochet::study {

/// A run of bodies with the steps of another, but for shocks that follow each other within a step:
/// from the step before each of them some steps are made of a sixteenth, where these still take
/// several for one of a sixteenth of that, and so on. What it makes otherwise goes on to its end,
/// to those too who are struck later.
template <int D>
class CloserRun {
 public:
  using Sample = step::BodySample<D>;
  using State = body::WorldState<D>;
  CloserRun(const body::World<D>& world, const step::RunSettings& run);

  /// Shows the start and every step that it keeps, short ones too; `look` may end it.
  step::Outcome go(State& state, const step::BodyObserver<D>& look, step::Monitor* monitor);

 private:
  static constexpr long long kFiner = ShockPairs<D>::kFiner;
  static constexpr int kPerPart = 4;  // shocks of one stretch of short steps that are made shorter
  static constexpr long long kAfter = 2;   // steps from the one before a shock, and as many after
  static constexpr long long kGoesOn = 6;  // where it may go on for some steps
  /// A step that its claims outlive.
  struct Kept {
    State state;
    std::vector<body::Row<D>> rows;
    std::vector<body::Row<D>> asleep;
    certify::BodyClaim<D> claim;
    double kinetic{0.0};
    double potential{0.0};
    explicit Kept(const Sample& s);
    Sample sample() const { return {state, rows, asleep, claim, kinetic, potential}; }
  };
  struct Shock {
    double kick{0.0};
    long long steps{0};  // to be made shorter
  };
  struct Level {
    step::RunSettings run;
    ShockPairs<D> pairs;
    double least{0.0};  // kicks that are no harder stay as they are
    int depth{0};
    int shocks{0};                // so far
    std::vector<double> usual{};  // by body: what a step changes without shocks
  };
  void go_on(Level& level, State& state, const step::BodyObserver<D>& look);
  std::optional<Shock> stretch(Level& level, State& state, long long steps,
                               const step::BodyObserver<D>& look);
  double kick_of(Level& level, const Sample& s, const State& before) const;
  std::optional<Shock> shock_of(Level& level, const Sample& s, const State& before) const;

  const body::World<D>& world_;
  step::RunSettings run_;
  long long more_;  // short steps that may still be made
  bool shows_start_{true};
  bool goes_on_{true};
  step::Monitor* monitor_{nullptr};
  step::Outcome outcome_;
};

extern template class CloserRun<2>;
extern template class CloserRun<3>;

}  // namespace ricochet::study
