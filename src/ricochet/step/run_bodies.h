#pragma once

#include <functional>

#include "ricochet/certify/bodies.h"
#include "ricochet/step/moreau_bodies.h"
#include "ricochet/step/outcome.h"
#include "ricochet/step/settings.h"

namespace ricochet::step {

/// A world after a step, or at its start: views that are valid during the call only.
template <int D>
struct BodySample {
  const body::WorldState<D>& state;
  const std::vector<body::Row<D>>& rows;    // of the step, by key; empty at the start
  const std::vector<body::Row<D>>& asleep;  // those of bodies that sleep, by key
  const certify::BodyClaim<D>& claim;       // pushes by key, of both
  double kinetic{0.0};
  double potential{0.0};

  /// work(row, push) of all rows that push, by key.
  template <class Work>
  void each_push(const Work& work) const {
    auto row = rows.begin();
    auto other = asleep.begin();
    for (const body::Push<D>& push : claim.pushes) {
      while (row != rows.end() && row->key < push.key) ++row;
      while (other != asleep.end() && other->key < push.key) ++other;
      if (row != rows.end() && row->key == push.key) {
        work(*row, push);
      } else if (other != asleep.end() && other->key == push.key) {
        work(*other, push);
      }
    }
  }
};

/// Sees the start and every step; false ends the run, as a condition of the scene may.
template <int D>
using BodyObserver = std::function<bool(const BodySample<D>&)>;

/// Runs a world with Moreau's step, each step judged; `state` ends at the last one that holds.
template <int D>
Outcome run_bodies(const body::World<D>& world, const RunSettings& run, body::WorldState<D>& state,
                   const BodyObserver<D>& observe, Monitor* monitor, certify::BodyStatistics& told);

/// The start of a world: every body where it is placed.
template <int D>
body::WorldState<D> start_of(const body::World<D>& world, double t);

}  // namespace ricochet::step
