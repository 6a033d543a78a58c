#include <algorithm>
#include <array>

#include "ricochet/base/index.h"
#include "ricochet/step/body_contacts.h"

/// The part of BodyContacts that sweeps islands of many discs or spheres, body by body.
namespace ricochet::step {

using base::index;

/// Whether an island is one for sweeps over bodies: many discs or spheres, at a stated
/// Level::Bounded.
template <int D>
bool BodyContacts<D>::is_for_rounds(int island) const {
  const int count = start_[index(island) + 1] - start_[index(island)];
  return hurries_ && level_ == certify::Level::Bounded && !joints_.any() && !has_turns() &&
         count > (D == 2 ? kMany : kPatient);
}

/// Level::Bounded of many discs or spheres, by sweeps over bodies, up to the strict limit of creep
/// speeds as the judge measures them. Where most rows rest some sweeps are made in any case: what
/// rests comes nearer to the exact law with every step, and so to rest.
template <int D>
bool BodyContacts<D>::sweep_round(int island) {
  if (!is_for_rounds(island)) return false;
  const auto begin = index(start_[index(island)]);
  const auto count = index(start_[index(island) + 1]) - begin;
  const std::span<const int> members(members_.data() + begin, count);
  const typename RoundSweeps<D>::Problem problem{world_, rows_,   members,   free_, friction_,
                                                 noise_, places_, executor_, load_};
  if (!round_.take(problem, impulses_)) return false;
  const bool is_held = hold_round(island, problem);
  std::size_t resting = 0;
  for (const int row : members) resting += is_slow(row) ? 1U : 0U;
  const int least = is_held || is_again_ || 2 * resting < count ? 0 : kRestSweeps;
  bool is_enough = false;
  const typename RoundSweeps<D>::Size size = sweep_until(island, least, is_enough);
  round_.give(problem, impulses_);
  const bool is_exact = size.distance <= kNoWork * tolerance_ * size.impulse;
  if (!is_enough) return false;
  if (!is_held && !is_exact && is_seldom_ && !is_again_ && 2 * resting >= count) stop_creep(island);
  return true;
}

/// Impulses that hold many discs or spheres which hardly move, where those of the step before do
/// not.
template <int D>
bool BodyContacts<D>::hold_round(int island, const typename RoundSweeps<D>::Problem& problem) {
  if (is_again_ || !may_rest(island)) return false;
  const auto is_exact = [&](double most) {
    const typename RoundSweeps<D>::Size size = round_.measure();
    return size.distance <= most * tolerance_ * size.impulse;
  };
  if (is_exact(kNoWork)) return false;
  list_arms(island);
  if (keeps_still(island)) return true;
  if (!hold(island)) return false;
  round_.take(problem, impulses_);
  return is_exact(kEnough);
}

/// Sweeps until rows creep within the strict limit, `least` at the least, and from kPatience on
/// within those of their groups; what they are then. Those that go far beyond leave every row a
/// little off in the end, which the last ones of each look take away.
template <int D>
typename RoundSweeps<D>::Size BodyContacts<D>::sweep_until(int island, int least, bool& is_enough) {
  constexpr int kPatience = 400;
  constexpr int kMost = 16000;
  constexpr int kLook = 40;       // sweeps from one measure to the next
  constexpr int kFar = 35;        // of them, that go far beyond
  constexpr int kNoted = 4;       // sweeps over what was noted by one over all
  constexpr int kLong = 2000;     // sweeps after which they go otherwise, those that slip less far
  constexpr double kQuiet = 1.0;  // of the limit
  using Pace = typename RoundSweeps<D>::Pace;
  constexpr std::array<Pace, 4> kBeyond = {{{1.8, 1.1}, {1.6, 0.9}, {1.8, 0.7}, {1.4, 0.5}}};
  const double most = (is_again_ ? kMostAgain : kMostPart) * speed_;
  typename RoundSweeps<D>::Size size = round_.measure();
  for (int k = 0; k < kMost && (k < least || !(size.creep <= most)); k += kLook) {
    if (is_stopped()) break;
    if (size.distance <= kNoWork * tolerance_ * size.impulse) break;  // exact
    const Pace& beyond = kBeyond[index(k / kLong) % kBeyond.size()];
    const Pace own = {1.0, std::min(1.0, beyond.slip)};
    const double quiet = kQuiet * std::min(most, size.creep);
    for (int j = 0; j < kLook; j += 1 + kNoted) {
      const Pace& pace = j < kFar ? beyond : own;
      round_.sweep(pace, quiet);
      for (int i = 0; i < kNoted; ++i) round_.sweep_noted(pace);
    }
    size = round_.measure();
    if (k >= kPatience && part_ > 0.0 && is_within_groups(island)) {
      is_enough = true;
      return size;
    }
  }
  is_enough = size.creep <= most;
  return size;
}

/// Whether what sweeps found creeps within the limits of its groups.
template <int D>
bool BodyContacts<D>::is_within_groups(int island) {
  normal_.resize(round_.count());
  creeps_.resize(round_.count());
  for (std::size_t k = 0; k < round_.count(); ++k) {
    const typename RoundSweeps<D>::Seen one = round_.seen(k);
    const auto at = index(local_[index(one.row)]);
    normal_[at] = one.normal;
    creeps_[at] = one.creep;
  }
  find_limits(island);
  for (std::size_t k = 0; k < creeps_.size(); ++k) {
    if (!(creeps_[k] <= kMostPart * limit_[k])) return false;
  }
  return true;
}

/// An island most of whose rows rest, and which creeps within its limit: now and then Newton's
/// method looks for the impulses that hold it exactly, which the next steps then begin with.
template <int D>
void BodyContacts<D>::stop_creep(int island) {
  constexpr int kSweeps = 5;
  gather(island);
  methods_.begin(r_);
  methods_.improve(r_, kSweeps, 0.1 * tolerance_);
  methods_.residual(r_);
  if (has(certify::Level::Tight, island)) keep_impulses(island);
}

#define RICOCHET_INSTANTIATE(D)                                                   \
  template bool BodyContacts<D>::is_for_rounds(int) const;                        \
  template bool BodyContacts<D>::sweep_round(int);                                \
  template bool BodyContacts<D>::hold_round(int, const RoundSweeps<D>::Problem&); \
  template RoundSweeps<D>::Size BodyContacts<D>::sweep_until(int, int, bool&);    \
  template bool BodyContacts<D>::is_within_groups(int);                           \
  template void BodyContacts<D>::stop_creep(int);
RICOCHET_INSTANTIATE(2)
RICOCHET_INSTANTIATE(3)
#undef RICOCHET_INSTANTIATE

}  // namespace ricochet::step
