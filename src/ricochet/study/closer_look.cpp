#include "ricochet/study/closer_look.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ricochet/base/index.h"

namespace ricochet::study {

template <int D>
CloserLook<D>::CloserLook(const body::World<D>& world, const step::RunSettings& run)
    : world_(world),
      run_(run),
      pairs_(world, run.step),
      most_(static_cast<std::size_t>(std::clamp(run.steps / 200, 4LL, 24LL))) {}

template <int D>
void CloserLook<D>::add(const Sample& s, double kick, double usual) {
  for (Shock& shock : shocks_) {
    if (shock.after.size() < shock.kept()) shock.after.push_back(s.state.bodies);
  }
  const bool has_state = !last_[1].bodies.empty();
  const bool is_shock = kick > 0.0 && has_state;
  const bool is_merged = is_shock && pairs_.are_merged(s, last_[1], kick);
  // What goes on after a blow is looked at once.
  const bool goes_on =
      is_shock && !is_merged && depth_ == 0 && pairs_.strikes_on(s, last_[1], kick);
  if (is_merged || goes_on) {
    const auto least =
        std::min_element(shocks_.begin(), shocks_.end(),
                         [](const Shock& a, const Shock& b) { return a.kick < b.kick; });
    const bool has_room = shocks_.size() < most_;
    if (has_room || kick > least->kick) {
      if (!has_room) shocks_.erase(least);
      const body::WorldState<D>& before = last_[0].bodies.empty() ? last_[1] : last_[0];
      shocks_.push_back(
          {before, s.state.steps, last_[1].t, kick, usual, goes_on, {s.state.bodies}});
    }
  }
  std::swap(last_[0], last_[1]);
  last_[1] = s.state;
}

/// Where velocities after a shock are not those that shorter steps give, at any of the next steps:
/// a shock may be a step late, and what it is followed by too.
template <int D>
void CloserLook<D>::compare(const Shock& shock, const std::vector<Motions>& fine,
                            std::optional<MergedShocks>& found) const {
  constexpr double kPart = 0.25;   // of the largest change
  constexpr double kSmooth = 6.0;  // times what a step changes without shocks
  const double allowed = std::max(kPart * shock.kick, kSmooth * shock.usual);
  for (int i = 0; i < world_.count(); ++i) {
    if (!world_.body(i).is_free()) continue;
    double least = std::numeric_limits<double>::infinity();
    for (const Motions& one : fine) {
      for (const Motions& other : shock.after) {
        least = std::min(least, pairs_.change(i, one[base::index(i)], other[base::index(i)]));
      }
    }
    if (least > allowed && !found) found = MergedShocks{shock.t, i};
  }
}

/// With shorter steps, until the end of the step after that of the shock, or of some more.
template <int D>
void CloserLook<D>::look_again(const Shock& shock, step::Monitor* monitor,
                               std::optional<MergedShocks>& found) const {
  constexpr double kHard = 0.1;  // of the kick: steps that change less are not looked at again
  if (shock.after.size() < 2) return;
  step::RunSettings shorter = run_;
  shorter.step /= static_cast<double>(kFiner);
  CloserLook<D> finer(world_, shorter);
  finer.depth_ = depth_ + 1;
  finer.most_ = 1;
  const long long until = kFiner * (shock.step - shock.before.steps);
  const auto more = static_cast<long long>(shock.goes_on ? kGoesOn - 1 : 1);
  finer.run_.steps = until + more * kFiner;
  body::WorldState<D> state = shock.before;
  Motions before = state.bodies;
  std::vector<Motions> fine;
  const auto look = [&](const Sample& s) {
    const double kick = pairs_.largest_change(before, s.state.bodies);
    finer.add(s, kick > kHard * shock.kick ? kick : 0.0, shock.usual / static_cast<double>(kFiner));
    before = s.state.bodies;
    const long long made = s.state.steps - shock.before.steps;
    if (made >= until && (made - until) % kFiner == 0) fine.push_back(before);
    return monitor == nullptr || !monitor->stop.load(std::memory_order_relaxed);
  };
  certify::BodyStatistics told;
  step::run_bodies<D>(world_, finer.run_, state, look, nullptr, told);
  if (fine.size() < 2) return;
  compare(shock, fine, found);
  if (found || finer.depth_ >= ShockPairs<D>::kDeepest) return;
  if (const auto deeper = finer.find(monitor)) found = MergedShocks{shock.t, deeper->body};
}

template <int D>
std::optional<MergedShocks> CloserLook<D>::find(step::Monitor* monitor) const {
  std::optional<MergedShocks> found;
  std::vector<const Shock*> in_order;
  for (const Shock& shock : shocks_) in_order.push_back(&shock);
  std::sort(in_order.begin(), in_order.end(),
            [](const Shock* a, const Shock* b) { return a->step < b->step; });
  for (const Shock* shock : in_order) {
    if (!found) look_again(*shock, monitor, found);
  }
  return found;
}

template class CloserLook<2>;
template class CloserLook<3>;

}  // namespace ricochet::study
