#pragma once

#include <array>
#include <string>
#include <vector>

#include "ricochet/certify/body_trial.h"

namespace ricochet::certify {

/// Formulas of t, between the places where steps look at them: ways of driven bodies, and gravity.
/// Where nothing is driven and gravity is constant there is nothing to do.
///
/// A driven body must go from one end of the step to the other nearly as a parabola does; or, where
/// its motion changes within the step, as the steps before and after would go on, which must meet:
/// a kink is seen by the next step, a jump is no motion. Of gravity what steps take of it, h
/// g(t_M), is compared with its integral, summed over the run.
template <int D>
class BodyFormulas {
 public:
  explicit BodyFormulas(const BodyTrial<D>& trial);

  /// A step that holds.
  void watch();
  /// What steps do not see, and the remedy; empty where that does not matter.
  std::string unseen() const;

 private:
  using Spin = body::Spin<D>;
  struct Place {  // turned since the start of the step
    body::Vec<D> x = body::Vec<D>::Zero();
    Spin turn = body::Motion<D>{}.spin;
  };
  using Three = std::array<Place, 3>;
  enum class Way : char { Seen, Bent, Jumps };

  Place place_at(std::size_t body, double part) const;
  Way way_of(std::size_t body) const;
  template <class Number, class Get>
  Way compare(std::size_t body, const Three& looks, const Three& samples, double rounding,
              const Get& get) const;
  void watch_gravity();

  const BodyTrial<D>& trial_;
  bool gravity_varies_{false};
  Way found_{Way::Seen};  // the first that is not seen
  std::size_t who_{0};
  double time_{0.0};
  body::Vec<D> given_ = body::Vec<D>::Zero();   // integral of gravity
  body::Vec<D> missed_ = body::Vec<D>::Zero();  // less what steps took of it
  double given_max_{0.0};
  double missed_max_{0.0};
  double missed_time_{0.0};
};

extern template class BodyFormulas<2>;
extern template class BodyFormulas<3>;

}  // namespace ricochet::certify
