#include "ricochet/certify/body_formulas.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ricochet/certify/body_turning.h"

namespace ricochet::certify {

using base::index;
using body::Vec;

namespace {

constexpr double kMatters = 0.01;  // of the way of a half step
constexpr double kWayRounding = 256.0 * kRoundoff;
constexpr double kMissed = 0.03;  // of the largest speed: ten steps in a period miss less

/// Parts of a step, others in every second one, so that nothing is in time with all of them.
constexpr std::array<std::array<double, 3>, 2> kParts = {
    {{0.1180, 0.3090, 0.7639}, {0.1716, 0.4268, 0.8913}}};

/// Points and weights of Gauss and Legendre on (0, 1).
struct Quadrature {
  std::array<double, 4> at;
  std::array<double, 4> weight;
};
constexpr std::array<Quadrature, 2> kQuadratures = {
    {{{0.1127016653792583, 0.5, 0.8872983346207417, 0.5},
      {5.0 / 18.0, 8.0 / 18.0, 5.0 / 18.0, 0.0}},
     {{0.06943184420297371, 0.33000947820757187, 0.66999052179242813, 0.93056815579702629},
      {0.17392742256872693, 0.32607257743127307, 0.32607257743127307, 0.17392742256872693}}}};

}  // namespace

/// What lambdas of this file hold, which unnamed types must not.
namespace ways {

inline double length(double number) { return std::abs(number); }
template <class Vector>
double length(const Vector& v) {
  return v.norm();
}

/// A parabola through its values at `from`, `from` + 1/2, `from` + 1.
template <class Number>
struct Parabola {
  double from;
  Number first, second, third;
  Number operator()(double s) const {
    const double x = 2.0 * (s - from);
    return 0.5 * (x - 1.0) * (x - 2.0) * first + x * (2.0 - x) * second +
           0.5 * x * (x - 1.0) * third;
  }
  /// The way of half of it, the longer one.
  double way() const {
    return std::max(length(Number(second - first)), length(Number(third - second)));
  }
};

/// Whether two ways meet within a step, to `room`.
template <class Number>
bool meet(const Parabola<Number>& a, const Parabola<Number>& b, double room) {
  constexpr int kLooks = 64;
  for (int k = 0; k <= kLooks; ++k) {
    const double s = static_cast<double>(k) / kLooks;
    if (length(Number(a(s) - b(s))) <= room) return true;
  }
  return false;
}

}  // namespace ways

using ways::length;
using ways::meet;
using ways::Parabola;

template <int D>
BodyFormulas<D>::BodyFormulas(const BodyTrial<D>& trial)
    : trial_(trial), gravity_varies_(!trial.world.gravity_is_constant) {}

template <int D>
void BodyFormulas<D>::watch() {
  if (gravity_varies_) watch_gravity();
  if (found_ != Way::Seen) return;
  for (const std::size_t i : trial_.driven) {
    if (trial_.exists[i] == 0) continue;
    const Way way = way_of(i);
    if (way == Way::Seen) continue;
    found_ = way;
    who_ = i;
    time_ = trial_.t_mid;
    return;
  }
}

/// A driven body at a part of the step, which may be outside it.
template <int D>
typename BodyFormulas<D>::Place BodyFormulas<D>::place_at(std::size_t i, double part) const {
  const body::Motion<D>& start = trial_.before->bodies[i];
  body::Motion<D> at = start;
  trial_.world.bodies[i].drive(trial_.before->t + part * trial_.h, at);
  return {at.x, body::spin_between(start, at, 1.0)};
}

template <int D>
typename BodyFormulas<D>::Way BodyFormulas<D>::way_of(std::size_t i) const {
  const body::Motion<D>& start = trial_.before->bodies[i];
  const body::Motion<D>& end = trial_.after->bodies[i];
  const Three looks = {Place{start.x}, place_at(i, 0.5),
                       Place{end.x, body::spin_between(start, end, 1.0)}};
  const std::array<double, 3>& parts = kParts[static_cast<std::size_t>(trial_.before->steps % 2)];
  Three samples;
  for (std::size_t k = 0; k < samples.size(); ++k) samples[k] = place_at(i, parts[k]);
  const Way place =
      compare<Vec<D>>(i, looks, samples, kWayRounding * (start.x.norm() + end.x.norm()),
                      [](const Place& p) -> Vec<D> { return p.x; });
  const Way turn = compare<Spin>(i, looks, samples, kWayRounding * angle_size(start),
                                 [](const Place& p) -> Spin { return p.turn; });
  return std::max(place, turn);
}

/// Place or turn of a body, as `get` tells, at the ends and the middle of the step and at samples.
template <int D>
template <class Number, class Get>
typename BodyFormulas<D>::Way BodyFormulas<D>::compare(std::size_t i, const Three& looks,
                                                       const Three& samples, double rounding,
                                                       const Get& get) const {
  const std::array<double, 3>& parts = kParts[static_cast<std::size_t>(trial_.before->steps % 2)];
  const auto all_near = [&](double room, const auto& distance) {
    for (std::size_t k = 0; k < samples.size(); ++k) {
      if (!(distance(get(samples[k]), parts[k]) <= room + rounding)) return false;
    }
    return true;
  };
  const Parabola<Number> within{0.0, get(looks[0]), get(looks[1]), get(looks[2])};
  if (all_near(kMatters * within.way(),
               [&](const Number& p, double s) { return length(Number(p - within(s))); })) {
    return Way::Seen;
  }
  constexpr double kGoesOn = 0.1;  // of the way of half steps beside it
  const auto of = [&](double from) {
    return Parabola<Number>{from, get(place_at(i, from)), get(place_at(i, from + 0.5)),
                            get(place_at(i, from + 1.0))};
  };
  const Parabola<Number> before = of(-1.0);
  const Parabola<Number> after = of(1.0);
  rounding += kWayRounding * (length(before.first) + length(within.third) + length(after.third));
  const double room = kGoesOn * (before.way() + after.way());
  const bool is_one = all_near(room, [&](const Number& p, double s) {
    return std::min(length(Number(p - before(s))), length(Number(p - after(s))));
  });
  if (!is_one) return Way::Bent;
  return meet(before, after, room + rounding) ? Way::Seen : Way::Jumps;
}

template <int D>
void BodyFormulas<D>::watch_gravity() {
  const Quadrature& rule = kQuadratures[static_cast<std::size_t>(trial_.before->steps % 2)];
  Vec<D> mean = Vec<D>::Zero();
  for (std::size_t k = 0; k < rule.at.size(); ++k) {
    if (rule.weight[k] == 0.0) continue;
    mean += rule.weight[k] * trial_.world.gravity(trial_.before->t + rule.at[k] * trial_.h);
  }
  if (!mean.allFinite()) return;
  given_ += trial_.h * mean;
  missed_ += trial_.h * (mean - trial_.gravity);
  given_max_ = std::max(given_max_, given_.norm());
  if (missed_.norm() <= missed_max_) return;
  missed_max_ = missed_.norm();
  missed_time_ = trial_.after->t;
}

template <int D>
std::string BodyFormulas<D>::unseen() const {
  if (found_ == Way::Jumps) {
    return fmt::format(
        "the formula of '{}' jumps near t = {:.6g}: a jump is no motion, and the speed at which a "
        "step crosses it grows without limit as steps get shorter; write a motion that takes some "
        "steps",
        trial_.world.bodies[who_].name, time_);
  }
  if (found_ == Way::Bent) {
    return fmt::format(
        "the formula of '{}' goes another way within a step near t = {:.6g} than its ends and its "
        "middle tell, and steps do not see it; try shorter steps",
        trial_.world.bodies[who_].name, time_);
  }
  double fastest = given_max_;
  for (std::size_t i = 0; i < trial_.facts.size(); ++i) {
    if (trial_.facts[i].is_free()) fastest = std::max(fastest, trial_.top_speed[i]);
  }
  if (!(missed_max_ > kMissed * fastest)) return {};
  return fmt::format(
      "the formula of gravity changes within steps, which take its value in their middles and miss "
      "a velocity of {:.2g} by t = {:.6g}; try shorter steps",
      missed_max_, missed_time_);
}

template class BodyFormulas<2>;
template class BodyFormulas<3>;

}  // namespace ricochet::certify
