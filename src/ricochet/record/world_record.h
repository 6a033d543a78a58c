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

/// All bodies at an instant of a series of files.
struct BodySnapshot {
  double t{0.0};
  std::vector<double> places;  // as of BodyFrame
  std::vector<double> rates;   // of each in turn: velocity, spin about z; in space spins
  std::vector<char> is_there;  // born, and not taken out
};

/// What pushes at an instant of a series of files.
struct ContactSnapshot {
  struct Contact {
    int a{0};  // bodies
    int b{0};
    std::array<double, 3> at{};       // [m]
    std::array<double, 3> normal{};   // from b towards a
    std::array<double, 3> impulse{};  // on a, of one step [N s]
    std::array<double, 3> moment{};   // on a, of rolling friction [N m s]
    std::array<double, 3> from{};     // mass centre of a, or the contact where a is not free
    std::array<double, 3> to{};       // the same of b
    double impulse_n{0.0};
    double gap{0.0};  // at the middle of the step [m]
    int state{1};     // 1 stick, 2 slip
  };
  double t{0.0};
  std::vector<Contact> contacts;
};

/// What a run of bodies tells besides its rows.
struct WorldRecord {
  certify::BodyStatistics told;
  body::WorldState<2> last;  // of a world of the plane
  body::WorldState<3> last_in_space;
  std::vector<BodyFrame> frames;                // spread over the run; the first and the last row
  std::vector<BodySnapshot> body_series;        // of [write]
  std::vector<ContactSnapshot> contact_series;  // of [write]
  std::vector<std::pair<std::string, double>> watches;  // at the end
  std::string stopped;          // "at t = 1.2, by run.stop"; empty: it ran to its end
  bool stopped_between{false};  // the condition held within the last step, and not at its end
  std::string stop_fault;       // why run.stop could not be decided, and the run ended; else empty
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
