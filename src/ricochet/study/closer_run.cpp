#include "ricochet/study/closer_run.h"

#include <algorithm>
#include <utility>

#include "ricochet/base/index.h"

namespace ricochet::study {

using base::index;

template <int D>
CloserRun<D>::Kept::Kept(const Sample& s)
    : state(s.state),
      rows(s.rows),
      asleep(s.asleep),
      claim(s.claim),
      kinetic(s.kinetic),
      potential(s.potential) {}

template <int D>
CloserRun<D>::CloserRun(const body::World<D>& world, const step::RunSettings& run)
    : world_(world), run_(run) {
  constexpr long long kFew = 2000;
  more_ = run.steps + kFew;
}

template <int D>
step::Outcome CloserRun<D>::go(State& state, const step::BodyObserver<D>& look,
                               step::Monitor* monitor) {
  monitor_ = monitor;
  Level level{run_, ShockPairs<D>(world_, run_.step)};
  go_on(level, state, look);
  return outcome_;
}

/// Steps of one length, and between them shorter ones.
template <int D>
void CloserRun<D>::go_on(Level& level, State& state, const step::BodyObserver<D>& look) {
  constexpr double kHard = 0.1;  // of the kick: who is struck less is not looked at again
  const long long end = state.steps + level.run.steps;
  level.usual.assign(world_.bodies.size(), 0.0);
  while (goes_on_ && state.steps < end) {
    const std::optional<Shock> shock = stretch(level, state, end - state.steps, look);
    if (!shock) return;
    const long long steps = std::min(shock->steps, end - state.steps);
    const long long begin = state.steps;
    ++level.shocks;
    more_ -= kFiner * steps;
    step::RunSettings shorter = level.run;
    shorter.step /= static_cast<double>(kFiner);
    shorter.steps = kFiner * steps;
    Level inner{shorter, ShockPairs<D>(world_, shorter.step), kHard * shock->kick, level.depth + 1};
    go_on(inner, state, look);
    state.steps = begin + steps;
  }
}

/// Steps up to the one before a shock that is to be made shorter, if there is one. Each is shown
/// once the next one is known, since a shock may be a step late.
template <int D>
std::optional<typename CloserRun<D>::Shock> CloserRun<D>::stretch(
    Level& level, State& state, long long steps, const step::BodyObserver<D>& look) {
  State shown = state;
  std::optional<Kept> last;
  std::optional<Shock> found;
  bool begins = true;
  const auto show_last = [&] {
    goes_on_ = goes_on_ && look(last->sample());
    shown = last->state;
  };
  const auto see = [&](const Sample& s) {
    if (std::exchange(begins, false)) {
      if (std::exchange(shows_start_, false)) goes_on_ = look(s);
      return goes_on_;
    }
    found = shock_of(level, s, last ? last->state : shown);
    if (found) return false;
    if (last) show_last();
    last.emplace(s);
    return goes_on_;
  };
  step::RunSettings run = level.run;
  run.steps = steps;
  certify::BodyStatistics told;
  const step::Outcome made = step::run_bodies<D>(world_, run, state, see, monitor_, told);
  const long long before = outcome_.steps;
  outcome_ = made;
  outcome_.steps += before;
  if (!made.certificate.ok() || made.interrupted) goes_on_ = false;
  if (found) {
    state = shown;
  } else if (last && goes_on_) {
    show_last();
  }
  return found;
}

/// The largest change of a velocity by a shock in a step; 0: there was none.
template <int D>
double CloserRun<D>::kick_of(Level& level, const Sample& s, const State& before) const {
  constexpr double kShock = 4.0;  // times what is smooth
  constexpr double kRounding = 1e-9;
  const double gh = world_.gravity(s.state.t).norm() * level.run.step;
  const std::vector<char> thrown = level.pairs.thrown(s);
  double most = 0.0;
  for (int i = 0; i < world_.count(); ++i) {
    const body::Body<D>& body = world_.body(i);
    if (!body.is_free()) continue;
    const body::Motion<D>& from = before.bodies[index(i)];
    const body::Motion<D>& to = s.state.bodies[index(i)];
    const double kick = level.pairs.change(i, from, to);
    const double tiny =
        kRounding * std::max(body::speed_bound(body, from), body::speed_bound(body, to));
    double& usual = level.usual[index(i)];
    const bool is_shock = kick > kShock * std::max(gh, usual) + tiny || thrown[index(i)] != 0;
    usual = is_shock ? 0.0 : kick;
    if (is_shock) most = std::max(most, kick);
  }
  return most;
}

template <int D>
std::optional<typename CloserRun<D>::Shock> CloserRun<D>::shock_of(Level& level, const Sample& s,
                                                                   const State& before) const {
  const double kick = kick_of(level, s, before);
  const bool may = level.depth < ShockPairs<D>::kDeepest && more_ > kFiner * (kAfter + kGoesOn) &&
                   (level.depth == 0 || level.shocks < kPerPart);
  if (!may || !(kick > level.least) || !level.pairs.any(s)) return {};
  if (level.pairs.are_merged(s, before, kick)) return Shock{kick, kAfter + 1};
  // What rests on others pushes them in a step by g h: where the blow is no harder, it goes on.
  constexpr double kSlow = 16.0;
  const double gh = world_.gravity(s.state.t).norm() * level.run.step;
  const bool may_go_on =
      (level.depth == 0 || kick < kSlow * gh) && level.pairs.strikes_on(s, before, kick);
  return may_go_on ? std::optional<Shock>({kick, kAfter + kGoesOn - 1}) : std::nullopt;
}

template class CloserRun<2>;
template class CloserRun<3>;

}  // namespace ricochet::study
