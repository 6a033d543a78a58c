#include "ricochet/study/closer_look.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ricochet/base/index.h"
#include "ricochet/body/finder.h"
#include "ricochet/body/rows.h"

namespace ricochet::study {

template <int D>
CloserLook<D>::CloserLook(const body::World<D>& world, const step::RunSettings& run)
    : world_(world),
      run_(run),
      most_(static_cast<std::size_t>(std::clamp(run.steps / 200, 4LL, 24LL))) {}

/// The pairs of a step whose pushes change the velocity of a body by no small part of the kick.
template <int D>
std::vector<body::RowKey> CloserLook<D>::striking(const Sample& s, double kick) const {
  constexpr double kSmall = 0.05;
  std::vector<body::RowKey> strike;
  const auto least_mass = [&](const body::RowKey& key) {
    double least = std::numeric_limits<double>::infinity();
    for (const int shape : {key.a, key.b}) {
      const body::Body<D>& body = world_.body(world_.solid(shape).body);
      if (body.is_free()) least = std::min(least, body.mass);
    }
    return least;
  };
  for (const body::Push<D>& push : s.claim.pushes) {
    if (push.impulse.norm() > kSmall * kick * least_mass(push.key)) strike.push_back(push.key);
  }
  return strike;
}

/// Whether places were put back at pairs that do not push, as of those that come to touch by it:
/// what strikes one of them next goes on through both.
template <int D>
bool CloserLook<D>::closes_gaps(const Sample& s) const {
  const auto pushes = [&](const body::RowKey& key) {
    return std::any_of(s.claim.pushes.begin(), s.claim.pushes.end(),
                       [&](const body::Push<D>& push) {
                         return push.key.a == key.a && push.key.b == key.b && push.impulse[0] > 0.0;
                       });
  };
  return std::any_of(s.claim.shifts.begin(), s.claim.shifts.end(), [&](const auto& round) {
    return std::any_of(round.begin(), round.end(),
                       [&](const body::Push<D>& put) { return !pushes(put.key); });
  });
}

/// Whether a body that is struck in a step pushes others too, as on a floor, which it may leave for
/// less than a step by the blow.
template <int D>
bool CloserLook<D>::strikes_on(const Sample& s, double kick) const {
  const auto body_of = [&](int shape) { return world_.solid(shape).body; };
  const auto meets = [&](const body::RowKey& key, int body) {
    return body_of(key.a) == body || body_of(key.b) == body;
  };
  for (const body::RowKey& key : striking(s, kick)) {
    for (const int body : {body_of(key.a), body_of(key.b)}) {
      if (!world_.body(body).is_free()) continue;
      const bool any =
          std::any_of(s.claim.pushes.begin(), s.claim.pushes.end(), [&](const body::Push<D>& push) {
            const bool is_same = meets(push.key, body_of(key.a)) && meets(push.key, body_of(key.b));
            return meets(push.key, body) && !is_same && push.impulse[0] > 0.0;
          });
      if (any) return true;
    }
  }
  return false;
}

/// Whether pairs that strike in a step meet at different times, by their gaps and speeds before it:
/// whether any is still apart when the first one meets. What rests strikes at any time.
template <int D>
bool CloserLook<D>::meet_apart(const Sample& s, double kick) const {
  const std::vector<body::RowKey> strike = striking(s, kick);
  if (strike.size() < 2) return false;
  // Where bodies were: in the step they may have been put back.
  const std::vector<body::Row<D>> rows = body::rows_within(world_, last_[1], 2.0 * run_.step);
  struct Meeting {
    double gap{0.0};
    double closes{0.0};
    double slack{0.0};
  };
  std::vector<Meeting> meetings;
  const Motions& before = last_[1].bodies;
  for (const body::RowKey& key : strike) {
    const auto row = std::find_if(rows.begin(), rows.end(),
                                  [&](const body::Row<D>& one) { return one.key == key; });
    if (row == rows.end()) return true;
    const double closes = -body::relative(*row, before[base::index(row->body_a)],
                                          before[base::index(row->body_b)])[0];
    const bool rests = std::abs(row->gap) <= row->slack && closes * run_.step <= row->slack;
    if (!rests) meetings.push_back({row->gap, closes, row->slack});
  }
  const auto time = [](const Meeting& one) {
    return one.closes > 0.0 ? one.gap / one.closes : std::numeric_limits<double>::infinity();
  };
  const auto first =
      std::min_element(meetings.begin(), meetings.end(),
                       [&](const Meeting& a, const Meeting& b) { return time(a) < time(b); });
  if (first == meetings.end() || !(first->closes > 0.0)) return false;
  return std::any_of(meetings.begin(), meetings.end(), [&](const Meeting& one) {
    const double left = one.gap - one.closes * time(*first);
    return left > 2.0 * one.slack + first->slack * std::abs(one.closes) / first->closes;
  });
}

template <int D>
void CloserLook<D>::add(const Sample& s, double kick, double usual) {
  for (Shock& shock : shocks_) {
    if (shock.after.size() < shock.kept()) shock.after.push_back(s.state.bodies);
  }
  const bool has_state = !last_[1].bodies.empty();
  const bool is_shock = kick > 0.0 && has_state;
  const bool is_merged = is_shock && (meet_apart(s, kick) || closes_gaps(s));
  // What goes on after a blow is looked at once.
  const bool goes_on = is_shock && !is_merged && depth_ == 0 && strikes_on(s, kick);
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

template <int D>
double CloserLook<D>::change(int body, const body::Motion<D>& one,
                             const body::Motion<D>& other) const {
  const double turn = body::size_of(body::Spin<D>(one.spin - other.spin));
  return (one.v - other.v).norm() + world_.body(body).reach * turn;
}

template <int D>
double CloserLook<D>::largest_change(const Motions& one, const Motions& other) const {
  double most = 0.0;
  for (int i = 0; i < world_.count(); ++i) {
    if (!world_.body(i).is_free()) continue;
    most = std::max(most, change(i, one[base::index(i)], other[base::index(i)]));
  }
  return most;
}

/// Where velocities after a shock are not those that shorter steps give, at any of the next steps:
/// a shock may be a step late, and what it is followed by too.
template <int D>
void CloserLook<D>::compare(const Shock& shock, const std::vector<Motions>& fine,
                            CloserFound& found) const {
  constexpr double kPart = 0.25;   // of the largest change
  constexpr double kSmooth = 6.0;  // times what a step changes without shocks
  const double allowed = std::max(kPart * shock.kick, kSmooth * shock.usual);
  for (int i = 0; i < world_.count(); ++i) {
    if (!world_.body(i).is_free()) continue;
    double least = std::numeric_limits<double>::infinity();
    for (const Motions& one : fine) {
      for (const Motions& other : shock.after) {
        least = std::min(least, change(i, one[base::index(i)], other[base::index(i)]));
      }
    }
    if (least > allowed && !found.merged) found.merged = {shock.t, i};
    note(i, shock, fine, found);
  }
}

/// The least differences of each number; of what goes on after a blow the largest of those at the
/// last steps, and as much again for what still shorter steps change.
template <int D>
void CloserLook<D>::note(int body, const Shock& shock, const std::vector<Motions>& fine,
                         CloserFound& found) const {
  constexpr std::size_t kRates = D == 2 ? 3 : 6;
  const auto rate = [](const body::Motion<D>& m, std::size_t k) {
    if (k < D) return m.v[static_cast<Eigen::Index>(k)];
    if constexpr (D == 2) return m.spin;
    if constexpr (D == 3) return m.spin[static_cast<Eigen::Index>(k - D)];
  };
  ShockError& error = found.errors[base::index(body)].emplace_back();
  error.t = shock.t;
  for (std::size_t k = 0; k < kRates; ++k) {
    const auto least = [&](const Motions& one) {
      double found_least = std::numeric_limits<double>::infinity();
      for (const Motions& other : shock.after) {
        const double off = rate(one[base::index(body)], k) - rate(other[base::index(body)], k);
        found_least = std::min(found_least, std::abs(off));
      }
      return found_least;
    };
    error.rate[k] = shock.goes_on ? 0.0 : std::numeric_limits<double>::infinity();
    for (std::size_t m = shock.goes_on ? fine.size() / 2 : 0; m < fine.size(); ++m) {
      error.rate[k] = shock.goes_on ? std::max(error.rate[k], 2.0 * least(fine[m]))
                                    : std::min(error.rate[k], least(fine[m]));
    }
  }
}

/// With shorter steps, until the end of the step after that of the shock, or of some more.
template <int D>
void CloserLook<D>::look_again(const Shock& shock, step::Monitor* monitor,
                               CloserFound& found) const {
  constexpr double kHard = 0.1;  // of the kick: steps that change less are not looked at again
  if (shock.after.size() < 2) return;
  CloserLook<D> finer(world_, run_);
  finer.depth_ = depth_ + 1;
  finer.most_ = 1;
  finer.run_.step = run_.step / static_cast<double>(kFiner);
  const long long until = kFiner * (shock.step - shock.before.steps);
  const auto more = static_cast<long long>(shock.goes_on ? kGoesOn - 1 : 1);
  finer.run_.steps = until + more * kFiner;
  body::WorldState<D> state = shock.before;
  Motions before = state.bodies;
  std::vector<Motions> fine;
  const auto look = [&](const Sample& s) {
    const double kick = largest_change(before, s.state.bodies);
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
  if (found.merged || finer.depth_ >= kDeepest) return;
  const CloserFound deeper = finer.find(monitor);
  if (deeper.merged && !found.merged) found.merged = {shock.t, deeper.merged->body};
  for (std::size_t i = 0; i < found.errors.size(); ++i) {
    found.errors[i].insert(found.errors[i].end(), deeper.errors[i].begin(), deeper.errors[i].end());
  }
}

template <int D>
CloserFound CloserLook<D>::find(step::Monitor* monitor) const {
  CloserFound found;
  found.errors.resize(world_.bodies.size());
  std::vector<const Shock*> in_order;
  for (const Shock& shock : shocks_) in_order.push_back(&shock);
  std::sort(in_order.begin(), in_order.end(),
            [](const Shock* a, const Shock* b) { return a->step < b->step; });
  for (const Shock* shock : in_order) {
    if (!found.merged) look_again(*shock, monitor, found);
  }
  return found;
}

template class CloserLook<2>;
template class CloserLook<3>;

}  // namespace ricochet::study
