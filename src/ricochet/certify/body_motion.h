#pragma once

#include <utility>
#include <vector>

#include "ricochet/certify/body_trial.h"
#include "ricochet/certify/coverage.h"
#include "ricochet/certify/still_bodies.h"

namespace ricochet::certify {

/// The judge's own motion of bodies: their states, where they are at the middle of a step, how they
/// move before and after it there, and which of them may come near each other.
template <int D>
class BodyMotions {
 public:
  explicit BodyMotions(BodyTrial<D>& trial) : trial_(trial), coverage_(trial.world) {}
  void use(const base::Executor* executor) { coverage_.use(executor); }

  bool check_states();
  /// Bodies at the middle: all of them, or those that are not one centred shape and not still.
  void make_middles(const StillBodies<D>& still);
  /// A body at the middle with its velocities before and after, and its pose there.
  void make_ready(std::size_t body);
  void make_pairs_ready(const std::vector<std::pair<int, int>>& pairs);
  void make_all_ready();
  /// Poses of all bodies at the middle, which may have been put back.
  void place_all();
  /// Where bodies are at the next middle, with the velocities of the end.
  const std::vector<body::Motion<D>>& next_middles();
  /// Pairs of shapes that may be near each other in this step, and the same once more.
  const std::vector<std::pair<int, int>>& near() {
    return coverage_.meet(trial_.poses, trial_.exists, trial_.reach);
  }
  const std::vector<std::pair<int, int>>& near_before() const { return coverage_.last(); }
  /// How fast a turning half-space is where free bodies may be in this step.
  double endless_speed(std::size_t body, const body::Motion<D>& of) const;

 private:
  struct Piece {
    BodyFault fault;
    void clear() { fault = {}; }
  };
  BodyFault look_at_state(std::size_t body);
  void make_middle(std::size_t body);
  void set_reach(std::size_t body, const body::Vec<D>& x, double speed);
  void set_balls(std::size_t body);
  void fill_ready(std::size_t body);

  BodyTrial<D>& trial_;
  Coverage<D> coverage_;
  BodyPieces<Piece> pieces_;
  std::vector<body::Motion<D>> next_;
};

extern template class BodyMotions<2>;
extern template class BodyMotions<3>;

}  // namespace ricochet::certify
