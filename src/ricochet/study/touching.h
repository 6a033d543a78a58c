#pragma once

#include <cstdint>
#include <vector>

#include "ricochet/body/world.h"
#include "ricochet/scene/part.h"
#include "ricochet/step/run_bodies.h"

/// What the contacts of an instant leave open: how deep what touches lies, and how it shares loads.
namespace ricochet::study {

/// The least shifts and turns after which all that touches at an instant has the gap 0, and joints
/// hold: a step takes for touching what is within the slack, and puts back to half of it. By body,
/// shifts as velocities and turns as spins.
template <int D>
std::vector<body::Motion<D>> shifts_to_touch(const body::World<D>& world,
                                             const body::WorldState<D>& s);

/// What is kept of a step to see whether its loads may be shared otherwise.
template <int D>
struct SharedStep {
  double t{0.0};
  std::uint64_t pattern{0};  // of who pushes, sticks and slips
  bool is_bounded{false};
  std::vector<body::Motion<D>> bodies;
  std::vector<char> gone;
  std::vector<body::Row<D>> rows;     // that push, or touch at least
  std::vector<body::Push<D>> pushes;  // of each
  std::vector<body::Reaction<D>> reactions;
};

/// Which numbers of watches are forces that momentum and the laws of contacts do not determine, or
/// formulas of such: rigid bodies leave open how contacts share a load, and the run has one of many
/// ways. Steps with another pattern of contacts are kept as the run goes, the last of each.
template <int D>
class SharedLoads {
 public:
  SharedLoads(const scene::WorldPart& part, const body::World<D>& world, double h);
  void add(const step::BodySample<D>& s);
  /// By number of the watches, whose `values` at the end are means since an instant.
  std::vector<char> left_open(double from, const body::WorldState<D>& end,
                              const std::vector<double>& values) const;

 private:
  static constexpr std::size_t kMostKept = 16;
  void read(const step::BodySample<D>& s);
  const scene::WorldPart& part_;
  const body::World<D>& world_;
  double h_;
  bool any_{false};
  std::vector<SharedStep<D>> kept_;
  SharedStep<D> next_;
};

}  // namespace ricochet::study
