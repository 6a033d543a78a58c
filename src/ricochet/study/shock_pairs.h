#pragma once

#include <optional>
#include <vector>

#include "ricochet/step/run_bodies.h"

namespace ricochet::study {

/// What strikes in a step of bodies, pairs and limits of joints, by what the step claims; `before`
/// is the state that it began with, and a kick the change of a velocity by which a shock is
/// measured, spin times reach included [m/s].
template <int D>
class ShockPairs {
 public:
  using Sample = step::BodySample<D>;
  using State = body::WorldState<D>;
  using Motions = std::vector<body::Motion<D>>;
  static constexpr long long kFiner = 16;  // steps in place of one where shocks are resolved
  static constexpr int kDeepest = 4;       // how often: to steps of h / 16^4
  ShockPairs(const body::World<D>& world, double h) : world_(world), h_(h) {}

  /// Whether a shock may be one that takes several, which follow each other, for one.
  bool are_merged(const Sample& s, const State& before, double kick) const {
    return meet_apart(s, before, kick) || closes_gaps(s);
  }
  /// Whether a body that is struck in a step pushes others too, or rested on them before it, as on
  /// a floor, which it may leave for less than a step by the blow.
  bool strikes_on(const Sample& s, const State& before, double kick) const;
  /// Whether anything pushes, contacts or limits.
  bool any(const Sample& s) const;
  /// By body: whether a pair throws it back in the step, however slowly.
  std::vector<char> thrown(const Sample& s) const;

  double change(int body, const body::Motion<D>& one, const body::Motion<D>& other) const;
  double largest_change(const Motions& one, const Motions& other) const;

 private:
  struct Strike {
    int a{0};  // bodies
    int b{0};
    std::optional<body::RowKey> key;  // of a contact
    std::size_t joint{0};
    bool is_low{false};
  };
  struct Meeting {
    int group{0};  // of bodies that have to do with each other
    double gap{0.0};
    double closes{0.0};
    double slack{0.0};
    double time() const;
  };
  std::vector<Strike> strikes(const Sample& s, double kick) const;
  std::vector<body::Row<D>> touching(const State& before) const;
  std::vector<int> groups(const Sample& s) const;
  Meeting meeting_of(const Strike& limit, const State& before) const;
  bool meet_apart(const Sample& s, const State& before, double kick) const;
  bool closes_gaps(const Sample& s) const;
  int body_of(int shape) const { return world_.solid(shape).body; }
  double least_mass(int a, int b) const;

  const body::World<D>& world_;
  double h_;
};

extern template class ShockPairs<2>;
extern template class ShockPairs<3>;

}  // namespace ricochet::study
