#include <algorithm>
#include <array>

#include "ricochet/base/index.h"
#include "ricochet/step/body_contacts.h"

/// The part of BodyContacts that sweeps islands of many discs or spheres, body by body.
namespace ricochet::step {

using base::index;
namespace {

constexpr int kLook = 40;  // sweeps from one measure to the next
constexpr int kPaces = 4;
constexpr int kLifted = 2;  // among them: of the associated law

}  // namespace

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
  const typename RoundSweeps<D>::Size size = sweep_until(island, problem, least, is_enough);
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
/// within those of their groups; what they are then. Where kLong sweeps do not end it Newton's
/// method helps, and then they go otherwise.
template <int D>
typename RoundSweeps<D>::Size BodyContacts<D>::sweep_until(
    int island, const typename RoundSweeps<D>::Problem& problem, int least, bool& is_enough) {
  constexpr int kPatience = 400;
  constexpr int kMost = 16000;
  constexpr int kLong = 2000;
  constexpr double kQuiet = 1.0;  // of the limit
  const double most = (is_again_ ? kMostAgain : kMostPart) * speed_;
  typename RoundSweeps<D>::Size size = round_.measure();
  for (int k = 0; k < kMost && (k < least || !(size.creep <= most)); k += kLook) {
    if (is_stopped()) break;
    if (size.distance <= kNoWork * tolerance_ * size.impulse) break;  // exact
    const int attempt = k / kLong;
    if (k > 0 && k % kLong == 0 && begin_attempt(attempt, problem)) size = round_.measure();
    sweep_some(attempt, kQuiet * std::min(most, size.creep));
    size = round_.measure();
    is_enough = k >= kPatience && part_ > 0.0 && is_within_groups(island);
    if (!is_enough && (k + kLook) % kLong == 0 && !(size.creep <= most)) {
      is_enough = break_circles(island, attempt % 2 == 0);
      size = round_.measure();
    }
    if (is_enough) return size;
  }
  is_enough = size.creep <= most;
  return size;
}

/// Where sweeps went astray those of the associated law begin anew, the first time from the
/// impulses of the step before; whether it is their turn.
template <int D>
bool BodyContacts<D>::begin_attempt(int attempt, const typename RoundSweeps<D>::Problem& problem) {
  if (attempt % kPaces != kLifted) return false;
  if (attempt < kPaces) round_.take(problem, impulses_);
  round_.lift();
  return true;
}

/// kLook sweeps of an attempt. Those that go far beyond leave every row a little off in the end,
/// which the last ones take away. Lifts follow the velocities after each few.
template <int D>
void BodyContacts<D>::sweep_some(int attempt, double quiet) {
  using Pace = typename RoundSweeps<D>::Pace;
  constexpr std::array<Pace, kPaces> kBeyond = {
      {{1.8, 1.1}, {1.6, 0.9}, {1.8, 1.8, true}, {1.8, 0.7}}};
  constexpr int kFar = 35;         // sweeps that go far beyond
  constexpr int kNoted = 4;        // sweeps over what was noted by one over all
  constexpr double kFollow = 0.3;  // of their way: whole ones go round in circles too
  const Pace& beyond = kBeyond[index(attempt % kPaces)];
  const Pace own = {1.0, std::min(1.0, beyond.slip), beyond.is_lifted};
  for (int j = 0; j < kLook; j += 1 + kNoted) {
    const Pace& pace = j < kFar ? beyond : own;
    round_.sweep(pace, quiet);
    for (int i = 0; i < kNoted; ++i) round_.sweep_noted(pace);
    if (pace.is_lifted) round_.lift_on(kFollow);
  }
}

/// Creep speeds of what sweeps found, and the limits of its groups.
template <int D>
void BodyContacts<D>::measure_round(int island) {
  normal_.resize(round_.count());
  creeps_.resize(round_.count());
  for (std::size_t k = 0; k < round_.count(); ++k) {
    const typename RoundSweeps<D>::Seen one = round_.seen(k);
    const auto at = index(local_[index(one.row)]);
    normal_[at] = one.normal;
    creeps_[at] = one.creep;
  }
  find_limits(island);
}

/// Whether what sweeps found creeps within the limits of its groups.
template <int D>
bool BodyContacts<D>::is_within_groups(int island) {
  measure_round(island);
  for (std::size_t k = 0; k < creeps_.size(); ++k) {
    if (!(creeps_[k] <= kMostPart * limit_[k])) return false;
  }
  return true;
}

/// The contact that creeps most beside the limit of its group, of those measured last; false where
/// there is none beyond it, or where so many are that the trouble is not that of a few.
template <int D>
bool BodyContacts<D>::worst_of_round(std::size_t& worst) const {
  constexpr std::size_t kBroken = 4;  // one in so many
  std::size_t beyond = 0;
  double most = kMostPart;
  for (std::size_t k = 0; k < round_.count(); ++k) {
    const auto at = index(local_[index(round_.row(k))]);
    const double part = creeps_[at] / limit_[at];
    beyond += part > kMostPart ? 1U : 0U;
    if (!(part > most)) continue;
    most = part;
    worst = k;
  }
  return beyond > 0 && kBroken * beyond <= round_.count();
}

/// Where sweeps go round in circles a few rows do, most of which slip: Coulomb's law is not
/// associated. Newton's method solves those around the worst one, and a few careful sweeps tell
/// their neighbours, time and again. Where it fails there is less to solve at once, if that
/// `shrinks`, where it ends more. Whether rows creep within the limits of their groups in the end.
template <int D>
bool BodyContacts<D>::break_circles(int island, bool shrinks) {
  constexpr int kRounds = 20;  // most that end need fewer, and cost as much as kLong sweeps
  constexpr int kSweeps = 4;   // over all rows, each followed by
  constexpr int kNoted = 4;    // over what it noted
  constexpr typename RoundSweeps<D>::Pace kCareful = {1.0, 0.9};
  constexpr std::size_t kFirst = 200;  // rows of a part: Newton's method takes some ms
  constexpr std::size_t kLeast = 40;
  constexpr std::size_t kMost = 400;
  std::size_t size = shrinks ? kFirst : kMost;
  measure_round(island);
  std::size_t worst = 0;
  for (int round = 0; round < kRounds && worst_of_round(worst) && !is_stopped(); ++round) {
    const bool is_solved = round_.solve_around(worst, size);
    if (shrinks) size = is_solved ? std::min(kMost, size + size / 4) : std::max(kLeast, size / 2);
    for (int k = 0; k < kSweeps; ++k) {
      round_.sweep(kCareful, kMostPart * speed_);
      for (int i = 0; i < kNoted; ++i) round_.sweep_noted(kCareful);
    }
    measure_round(island);
  }
  return is_within_groups(island);
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

#define RICOCHET_INSTANTIATE(D)                                                                   \
  template bool BodyContacts<D>::is_for_rounds(int) const;                                        \
  template bool BodyContacts<D>::sweep_round(int);                                                \
  template bool BodyContacts<D>::hold_round(int, const RoundSweeps<D>::Problem&);                 \
  template RoundSweeps<D>::Size BodyContacts<D>::sweep_until(int, const RoundSweeps<D>::Problem&, \
                                                             int, bool&);                         \
  template void BodyContacts<D>::sweep_some(int, double);                                         \
  template bool BodyContacts<D>::begin_attempt(int, const RoundSweeps<D>::Problem&);              \
  template void BodyContacts<D>::measure_round(int);                                              \
  template bool BodyContacts<D>::is_within_groups(int);                                           \
  template bool BodyContacts<D>::worst_of_round(std::size_t&) const;                              \
  template bool BodyContacts<D>::break_circles(int, bool);                                        \
  template void BodyContacts<D>::stop_creep(int);
RICOCHET_INSTANTIATE(2)
RICOCHET_INSTANTIATE(3)
#undef RICOCHET_INSTANTIATE

}  // namespace ricochet::step
