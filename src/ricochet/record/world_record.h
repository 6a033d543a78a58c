#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "ricochet/base/json.h"
#include "ricochet/body/world.h"
#include "ricochet/certify/bodies.h"

namespace ricochet::record {

/// A push between two bodies, as a picture shows it.
struct ForceLine {
  int a{0};
  int b{0};
  std::array<double, 3> at{};       // [m]; in the plane two of them
  std::array<double, 3> impulse{};  // on a [N s]
};

/// All bodies at an instant, of each in turn its places: x, y, angle; in space x, y, z and the
/// quaternion of its rotation.
struct BodyFrame {
  double t{0.0};
  std::vector<double> places;
  std::vector<ForceLine> forces;
};

/// What a run of bodies tells besides its rows.
struct WorldRecord {
  certify::BodyStatistics told;
  body::WorldState<2> last;  // of a world of the plane
  body::WorldState<3> last_in_space;
  std::vector<BodyFrame> frames;  // spread over the run; the first and the last row
  std::vector<std::pair<std::string, double>> watches;  // at the end
  std::string stopped;  // "at t = 1.2, by run.stop"; empty: it ran to its end
  int bodies{0};
  int free_bodies{0};
  int shapes{0};
  int joints{0};

  template <int D>
  auto& state() {
    if constexpr (D == 2) return last;
    if constexpr (D == 3) return last_in_space;
  }
  template <int D>
  const auto& state() const {
    return const_cast<WorldRecord*>(this)->state<D>();
  }
};

base::Json json_of(const WorldRecord& record);

}  // namespace ricochet::record
