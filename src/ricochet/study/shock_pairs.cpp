#include "ricochet/study/shock_pairs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "ricochet/base/index.h"
#include "ricochet/body/finder.h"
#include "ricochet/body/joints.h"
#include "ricochet/body/rows.h"

namespace ricochet::study {

using base::index;

template <int D>
double ShockPairs<D>::least_mass(int a, int b) const {
  double least = std::numeric_limits<double>::infinity();
  for (const int i : {a, b}) {
    if (world_.body(i).is_free()) least = std::min(least, world_.body(i).mass);
  }
  return least;
}

/// What changes the velocity of a body by no small part of the kick.
template <int D>
std::vector<typename ShockPairs<D>::Strike> ShockPairs<D>::strikes(const Sample& s,
                                                                   double kick) const {
  constexpr double kSmall = 0.05;
  std::vector<Strike> found;
  for (const body::Push<D>& push : s.claim.pushes) {
    const int a = body_of(push.key.a);
    const int b = body_of(push.key.b);
    if (push.impulse.norm() > kSmall * kick * least_mass(a, b)) found.push_back({a, b, push.key});
  }
  if (s.claim.reactions.size() != world_.joints.size()) return found;
  for (std::size_t j = 0; j < world_.joints.size(); ++j) {
    const body::Joint<D>& joint = world_.joints[j];
    const bool is_angle = joint.kind == body::JointKind::Hinge && joint.size > 0.0;
    const double least = kSmall * kick * least_mass(joint.a, joint.b) * (is_angle ? joint.size : 1);
    for (const bool is_low : {true, false}) {
      const double impulse = is_low ? s.claim.reactions[j].low : s.claim.reactions[j].high;
      if (impulse > least) found.push_back({joint.a, joint.b, std::nullopt, j, is_low});
    }
  }
  return found;
}

template <int D>
bool ShockPairs<D>::any(const Sample& s) const {
  const auto limits = [](const body::Reaction<D>& r) { return r.low > 0.0 || r.high > 0.0; };
  return !s.claim.pushes.empty() ||
         std::any_of(s.claim.reactions.begin(), s.claim.reactions.end(), limits);
}

/// By the speeds at which pairs that push, and have a restitution, come apart after it.
template <int D>
std::vector<char> ShockPairs<D>::thrown(const Sample& s) const {
  constexpr double kLeast = 1e-3;  // of g h
  constexpr double kRounding = 1e-9;
  std::vector<char> found(world_.bodies.size(), 0);
  const double least = kLeast * world_.gravity(s.state.t).norm() * h_;
  s.each_push([&](const body::Row<D>& row, const body::Push<D>& push) {
    const int a = body_of(push.key.a);
    const int b = body_of(push.key.b);
    if (!(push.impulse[0] > 0.0) || world_.law_between(a, b).looks_ahead()) return;
    const body::Motion<D>& of_a = s.state.bodies[index(a)];
    const body::Motion<D>& of_b = s.state.bodies[index(b)];
    const double tiny = kRounding * (body::speed_bound(world_.body(a), of_a) +
                                     body::speed_bound(world_.body(b), of_b));
    if (!(body::relative(row, of_a, of_b)[0] > least + tiny)) return;
    for (const int i : {a, b}) found[index(i)] = world_.body(i).is_free() ? 1 : 0;
  });
  return found;
}

/// Whether places were put back at pairs that do not push, as of those that come to touch by it:
/// what strikes one of them next goes on through both.
template <int D>
bool ShockPairs<D>::closes_gaps(const Sample& s) const {
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

/// Pairs that touch and do not come apart.
template <int D>
std::vector<body::Row<D>> ShockPairs<D>::touching(const State& before) const {
  std::vector<body::Row<D>> rows = body::rows_within(world_, before, 0.0);
  std::erase_if(rows, [&](const body::Row<D>& row) {
    const double opens =
        body::relative(row, before.bodies[index(row.body_a)], before.bodies[index(row.body_b)])[0];
    return row.gap > row.slack || opens * h_ > row.slack;
  });
  return rows;
}

template <int D>
bool ShockPairs<D>::strikes_on(const Sample& s, const State& before, double kick) const {
  const std::vector<Strike> strike = strikes(s, kick);
  if (strike.empty()) return false;
  std::vector<std::pair<int, int>> pushing;  // bodies
  for (const body::Push<D>& push : s.claim.pushes) {
    if (push.impulse[0] > 0.0) pushing.emplace_back(body_of(push.key.a), body_of(push.key.b));
  }
  for (const body::Row<D>& row : touching(before)) pushing.emplace_back(row.body_a, row.body_b);
  return std::any_of(strike.begin(), strike.end(), [&](const Strike& one) {
    return std::any_of(pushing.begin(), pushing.end(), [&](const std::pair<int, int>& other) {
      const auto has = [&](int body) {
        return world_.body(body).is_free() && (other.first == body || other.second == body);
      };
      const bool is_same = std::minmax(other.first, other.second) == std::minmax(one.a, one.b);
      return !is_same && (has(one.a) || has(one.b));
    });
  });
}

/// Of each body a number that is one for all that push each other in the step, or hang together.
template <int D>
std::vector<int> ShockPairs<D>::groups(const Sample& s) const {
  std::vector<int> group(world_.bodies.size());
  std::iota(group.begin(), group.end(), 0);
  const auto root = [&](int i) {
    while (group[index(i)] != i) i = group[index(i)] = group[index(group[index(i)])];
    return i;
  };
  const auto unite = [&](int a, int b) {
    if (world_.body(a).is_free() && world_.body(b).is_free()) group[index(root(a))] = root(b);
  };
  for (const body::Push<D>& push : s.claim.pushes) {
    if (push.impulse[0] > 0.0) unite(body_of(push.key.a), body_of(push.key.b));
  }
  for (const body::Joint<D>& joint : world_.joints) unite(joint.a, joint.b);
  for (int i = 0; i < world_.count(); ++i) group[index(i)] = root(i);
  return group;
}

template <int D>
double ShockPairs<D>::Meeting::time() const {
  return closes > 0.0 ? gap / closes : std::numeric_limits<double>::infinity();
}

/// Of a limit of a joint.
template <int D>
typename ShockPairs<D>::Meeting ShockPairs<D>::meeting_of(const Strike& limit,
                                                          const State& before) const {
  const body::Joint<D>& joint = world_.joints[limit.joint];
  const body::Motion<D>& a = before.bodies[index(joint.a)];
  const body::Motion<D>& b = before.bodies[index(joint.b)];
  const body::JointRow<D> row =
      body::limit_of(joint, body::rows_of(joint, a, b).free, limit.is_low);
  return {0, row.gap, -body::rate_of(row, a, b), body::limit_slack(row)};
}

/// Whether pairs that strike in a step, and have to do with each other, meet at different times, by
/// their gaps and speeds before it: whether any is still apart when the first one meets. What rests
/// strikes at any time.
template <int D>
bool ShockPairs<D>::meet_apart(const Sample& s, const State& before, double kick) const {
  const std::vector<Strike> strike = strikes(s, kick);
  if (strike.size() < 2) return false;
  // Where bodies were: in the step they may have been put back.
  const std::vector<body::Row<D>> rows = body::rows_within(world_, before, 2.0 * h_);
  const std::vector<int> group = groups(s);
  std::vector<Meeting> meetings;
  for (const Strike& one : strike) {
    Meeting meeting;
    if (one.key) {
      const auto row = std::find_if(rows.begin(), rows.end(), [&](const body::Row<D>& other) {
        return other.key == *one.key;
      });
      if (row == rows.end()) return true;
      const double closes =
          -body::relative(*row, before.bodies[index(one.a)], before.bodies[index(one.b)])[0];
      meeting = {0, row->gap, closes, row->slack};
    } else {
      meeting = meeting_of(one, before);
    }
    meeting.group = group[index(world_.body(one.a).is_free() ? one.a : one.b)];
    const bool rests =
        std::abs(meeting.gap) <= meeting.slack && meeting.closes * h_ <= meeting.slack;
    if (!rests) meetings.push_back(meeting);
  }
  return std::any_of(meetings.begin(), meetings.end(), [&](const Meeting& first) {
    if (!(first.closes > 0.0)) return false;
    return std::any_of(meetings.begin(), meetings.end(), [&](const Meeting& one) {
      if (one.group != first.group || one.time() < first.time()) return false;
      const double left = one.gap - one.closes * first.time();
      return left > 2.0 * one.slack + first.slack * std::abs(one.closes) / first.closes;
    });
  });
}

template <int D>
double ShockPairs<D>::change(int body, const body::Motion<D>& one,
                             const body::Motion<D>& other) const {
  const double turn = body::size_of(body::Spin<D>(one.spin - other.spin));
  return (one.v - other.v).norm() + world_.body(body).reach * turn;
}

template <int D>
double ShockPairs<D>::largest_change(const Motions& one, const Motions& other) const {
  double most = 0.0;
  for (int i = 0; i < world_.count(); ++i) {
    if (!world_.body(i).is_free()) continue;
    most = std::max(most, change(i, one[index(i)], other[index(i)]));
  }
  return most;
}

template class ShockPairs<2>;
template class ShockPairs<3>;

}  // namespace ricochet::study
