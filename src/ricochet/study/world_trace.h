#pragma once

#include <array>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ricochet/certify/bodies.h"
#include "ricochet/scene/scene.h"
#include "ricochet/step/run_bodies.h"
#include "ricochet/study/closer_look.h"
#include "ricochet/study/late_contacts.h"

namespace ricochet::study {

/// A body whose motion is compared from run to run.
struct TracedBody {
  int body{0};
  bool is_free{false};
  bool turn_matters{false};                  // not of discs and spheres
  body::Vec<3> axis = body::Vec<3>::Zero();  // about which it is symmetric, in its frame; or none
  double size{0.0};                          // [m]
  double reach{0.0};                         // [m]
};

/// A column of a watch.
struct TracedWatch {
  std::string name;
  bool is_mean{false};   // a force: a mean since the row before
  bool is_count{false};  // a whole number
  std::size_t first{0};  // column of the watch it belongs to
  std::size_t count{1};  // its columns
  double floor{0.0};     // less of it is nothing
};

/// The columns of a WorldPath: of each body in turn its places, then of each the rates of these,
/// then the watches.
struct WorldLayout {
  int dimension{2};
  std::vector<TracedBody> bodies;
  std::vector<std::string> names;  // of all bodies of the world
  std::vector<TracedWatch> watches;
  std::size_t places{3};  // of a body
  std::size_t positions() const { return places * bodies.size(); }
  std::size_t width() const { return 2 * positions() + watches.size(); }
  const std::string& name(std::size_t traced) const {
    return names[static_cast<std::size_t>(bodies[traced].body)];
  }
};
WorldLayout layout_of(const scene::WorldPart& part);

/// The last instants at which the acceleration of a body was not what it had been: shocks, and
/// changes between sticking, sliding and rolling.
struct BodyEvents {
  static constexpr std::size_t kKept = 3;
  struct Event {
    double t{-std::numeric_limits<double>::infinity()};
    bool is_shock{false};
    std::array<double, 6> jump{};  // of velocity and spin, by which it left what went before
    double bend{0.0};  // by which the direction of a shock of round bodies turns in a step [rad]
  };
  std::array<Event, kKept> last;  // the latest first
  long long count{0};
};

/// By how much a body is off where what touches has the gap 0, at most.
struct TouchOff {
  std::array<double, 3> way{};  // [m]
  double turn{0.0};             // [rad]
};

/// Where a run of a world was at marks, which are spread evenly over its time, and at its end.
struct WorldPath {
  double start{0.0};
  double length{0.0};  // [s], of the scene; it may have stopped before
  double step{0.0};
  std::size_t marks{0};        // after the start
  std::size_t reached{0};      // values are there of so many
  std::vector<double> values;  // by mark; of means what they are made of, from the start on
  std::vector<double> end;     // at the end
  double end_time{0.0};
  bool stopped{false};   // by its condition
  bool touched{false};   // some contact pushed
  bool collided{false};  // some contact of two free bodies did
  std::vector<BodyEvents> events;
  std::vector<LateContact> late;  // by traced body
  std::vector<TouchOff> off;      // the same
  std::vector<double> watch_off;  // the same of watches, by column
  std::vector<char> left_open;    // watches of forces that are one of many, by column
  /// Of a run that has ended, not of companions: whether shocks may follow each other within a
  /// step, and what of them is otherwise with shorter ones.
  std::function<bool()> merges;
  std::function<std::optional<MergedShocks>(step::Monitor*)> look_closer;
  step::Outcome outcome;
  double time(std::size_t mark) const {
    return start + length * static_cast<double>(mark) / static_cast<double>(marks);
  }
  std::span<const double> at(std::size_t mark, std::size_t width) const {
    return {values.data() + mark * width, width};
  }
};

/// A run beside another one that makes shorter steps where shocks follow each other, if there are
/// such, and the first of them that is otherwise so.
struct CloserCompanion {
  std::optional<WorldPath> path;
  std::optional<MergedShocks> merged;
};

/// How far apart marks are, and over which time forces are means at the end.
struct WorldMarks {
  std::size_t count{0};
  double window{0.0};  // [s]; 0: the whole run
};
WorldMarks marks_of(const scene::Scene& scene, const WorldLayout& layout);

/// Sees every step of a run of bodies; `is_last` and `stops` say whether it ends here, and whether
/// by its condition.
struct WorldLook {
  std::function<void(const step::BodySample<2>&, bool is_last, bool stops)> plane;
  std::function<void(const step::BodySample<3>&, bool is_last, bool stops)> space;
  template <int D>
  const auto& of() const {
    if constexpr (D == 2) return plane;
    if constexpr (D == 3) return space;
  }
};

/// A look that fills in a path, as the run goes; both and the scene live longer than the run.
WorldLook trace_world(const scene::Scene& scene, const WorldLayout& layout, const WorldMarks& marks,
                      WorldPath& path);

/// Runs a scene's world without rows and pictures, from a start that is off by rounding, so that
/// what stands by symmetry alone falls. A run that is not over after `most_steps` ends there.
WorldPath run_beside(const scene::Scene& scene, const WorldLayout& layout, const WorldMarks& marks,
                     long long most_steps, int which, step::Monitor* monitor);

/// The same from the very start, with shorter steps where shocks follow each other: CloserRun.
WorldPath run_closer(const scene::Scene& scene, const WorldLayout& layout, const WorldMarks& marks,
                     long long most_steps, step::Monitor* monitor);

}  // namespace ricochet::study
