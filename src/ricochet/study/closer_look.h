#pragma once

#include <array>
#include <optional>
#include <vector>

#include "ricochet/step/run_bodies.h"
#include "ricochet/study/shock_pairs.h"

namespace ricochet::study {

/// Shocks that a step takes for one, and shorter steps do not.
struct MergedShocks {
  double t{0.0};  // [s]
  int body{0};    // that leaves them otherwise
};

/// Does the hardest shocks of a run of bodies again, from the step before each, with steps of a
/// sixteenth, and those that these still make at once again. Bodies that meet one after the other
/// within a step are thrown otherwise than those that meet at once, and longer steps, as those of
/// companions, agree with the run about that; and a body that is struck while it lies on another
/// may leave that one for less than a step.
template <int D>
class CloserLook {
 public:
  using Sample = step::BodySample<D>;
  CloserLook(const body::World<D>& world, const step::RunSettings& run);

  /// Every step; `kick` is the largest change of velocity by a shock, spin times reach included, or
  /// 0; `usual` what a step changes otherwise [m/s].
  void add(const Sample& s, double kick, double usual);

  /// Whether any step is to be looked at.
  bool any() const { return !shocks_.empty(); }
  /// After the last step, the first shock that is otherwise with shorter steps; what a monitor that
  /// stops leaves out is missing.
  std::optional<MergedShocks> find(step::Monitor* monitor) const;

 private:
  static constexpr std::size_t kAfter = 3;   // states of the run after a shock
  static constexpr std::size_t kGoesOn = 6;  // where it may go on for some steps
  static constexpr long long kFiner = ShockPairs<D>::kFiner;
  using Motions = std::vector<body::Motion<D>>;
  struct Shock {
    body::WorldState<D> before;
    long long step{0};  // after which it has happened
    double t{0.0};
    double kick{0.0};
    double usual{0.0};
    bool goes_on{false};  // see strikes_on
    std::vector<Motions> after;
    std::size_t kept() const { return goes_on ? kGoesOn : kAfter; }
  };
  void compare(const Shock& shock, const std::vector<Motions>& fine,
               std::optional<MergedShocks>& found) const;
  void look_again(const Shock& shock, step::Monitor* monitor,
                  std::optional<MergedShocks>& found) const;

  const body::World<D>& world_;
  step::RunSettings run_;
  ShockPairs<D> pairs_;
  int depth_{0};
  std::size_t most_;                         // shocks that are kept
  std::array<body::WorldState<D>, 2> last_;  // the state before the last, the last
  std::vector<Shock> shocks_;
};

extern template class CloserLook<2>;
extern template class CloserLook<3>;

}  // namespace ricochet::study
