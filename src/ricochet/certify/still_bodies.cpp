#include "ricochet/certify/still_bodies.h"

#include <algorithm>

#include "ricochet/certify/body_motion.h"
#include "ricochet/shape/gaps.h"

namespace ricochet::certify {

using base::index;
using body::Kind;
namespace {

bool has_same_bits(const body::Motion<2>& a, const body::Motion<2>& b) {
  return a.x == b.x && a.angle == b.angle && a.v == b.v && a.spin == b.spin;
}
bool has_same_bits(const body::Motion<3>& a, const body::Motion<3>& b) {
  return a.x == b.x && a.turn.coeffs() == b.turn.coeffs() && a.v == b.v && a.spin == b.spin &&
         a.rates == b.rates;
}

template <int D>
bool has_same_bits(const body::Push<D>& a, const body::Push<D>& b) {
  return a.key == b.key && a.impulse == b.impulse && a.moment == b.moment;
}

}  // namespace

void Quiet::add(const Quiet& more) {
  worst = std::max(worst, more.worst);
  creep = std::max(creep, more.creep);
  squares += more.squares;
  free += more.free;
  unresolved += more.unresolved;
  deepest = std::max(deepest, more.deepest);
  pushes += more.pushes;
}

template <int D>
StillBodies<D>::StillBodies(const BodyTrial<D>& trial)
    : trial_(trial), groups_(trial.world.sleeps ? trial.facts.size() : 0) {
  if (!trial.world.sleeps) return;
  group_.assign(trial_.facts.size(), -1);
  quiet_.resize(trial_.facts.size());
  at_.resize(trial_.facts.size());
  is_still_.assign(trial_.facts.size(), 0);
  disturbed_.assign(trial_.facts.size(), 0);
}

template <int D>
Quiet StillBodies<D>::all() const {
  Quiet all;
  for (std::size_t i = 0; any_ && i < group_.size(); ++i) {
    if (group_[i] == static_cast<int>(i)) all.add(quiet_[i]);
  }
  return all;
}

template <int D>
void StillBodies<D>::look(const BodyClaim<D>& claim) {
  if (!any_) return;
  const bool is_alike =
      trial_.h == h_ && trial_.gravity == gravity_ && trial_.level == level_ && !trial_.is_whole;
  bool walls_stay = true;
  for (std::size_t i = 0; is_alike && i < trial_.facts.size(); ++i) {
    if (trial_.facts[i].kind == Kind::Fixed) {
      is_still_[i] = has_same_bits(trial_.before->bodies[i], at_[i]) ? 1 : 0;
      walls_stay = walls_stay && is_still_[i] != 0;
    } else if (group_[i] >= 0) {
      is_still_[i] = 1;
      if (!is_as_before(i)) disturb(static_cast<int>(i));
    }
  }
  if (!is_alike || !walls_stay) {
    forget_all();
    return;
  }
  compare_pushes(claim);
  forget_disturbed();
}

/// Whether a body is where it was in the step that was kept, before this one and after it.
template <int D>
bool StillBodies<D>::is_as_before(std::size_t i) const {
  return trial_.exists[i] != 0 && trial_.before->gone[i] == 0 && trial_.after->gone[i] == 0 &&
         has_same_bits(trial_.before->bodies[i], at_[i]) &&
         has_same_bits(trial_.after->bodies[i], at_[i]);
}

/// Pushes that are claimed of a group must be those of before: no other, none missing.
template <int D>
void StillBodies<D>::compare_pushes(const BodyClaim<D>& claim) {
  const auto both = [&](const body::RowKey& key) {
    disturb(trial_.world.solid(key.a).body);
    disturb(trial_.world.solid(key.b).body);
  };
  auto known = pushes_.begin();
  for (const body::Push<D>& push : claim.pushes) {
    for (; known != pushes_.end() && known->key < push.key; ++known) both(known->key);
    if (known != pushes_.end() && known->key == push.key) {
      if (!has_same_bits(push, *known)) both(push.key);
      ++known;
    } else {
      both(push.key);
    }
  }
  for (; known != pushes_.end(); ++known) both(known->key);
}

/// The group of a body is to be looked at anew.
template <int D>
void StillBodies<D>::disturb(int b) {
  const int group = group_[index(b)];
  if (group >= 0) disturbed_[index(group)] = 1;
}

template <int D>
void StillBodies<D>::forget_all() {
  if (any_) std::fill(group_.begin(), group_.end(), -1);
  std::fill(is_still_.begin(), is_still_.end(), 0);
  pushes_.clear();
  powers_.clear();
  any_ = false;
}

template <int D>
void StillBodies<D>::forget_disturbed() {
  const auto is_one = [&](int b) {
    const int group = group_[index(b)];
    return group >= 0 && disturbed_[index(group)] != 0;
  };
  if (std::all_of(disturbed_.begin(), disturbed_.end(), [](char is) { return is == 0; })) return;
  std::erase_if(pushes_, [&](const body::Push<D>& push) {
    return is_one(trial_.world.solid(push.key.a).body) ||
           is_one(trial_.world.solid(push.key.b).body);
  });
  std::erase_if(powers_, [&](const std::array<int, 2>& row) { return is_one(row[0]); });
  any_ = false;
  for (std::size_t i = 0; i < group_.size(); ++i) {
    int& group = group_[i];
    if (group < 0) continue;
    any_ = any_ || disturbed_[index(group)] == 0;
    if (disturbed_[index(group)] == 0) continue;
    group = -1 - group;  // for as long as others of its group are looked for
    is_still_[i] = 0;
  }
  for (int& group : group_) group = std::max(group, -1);
  std::fill(disturbed_.begin(), disturbed_.end(), 0);
}

/// Groups at one of whose bodies a row with somebody else is found.
template <int D>
void StillBodies<D>::look_who_comes(const Pairs& pairs, BodyMotions<D>& motions) {
  fresh_.clear();
  for (const auto& [a, b] : pairs) {
    const int one = trial_.world.solid(a).body;
    const int other = trial_.world.solid(b).body;
    if (has(one) == has(other)) continue;
    const int quiet = has(one) ? one : other;
    if (group_[index(quiet)] >= 0) fresh_.emplace_back(a, b);
  }
  motions.make_pairs_ready(fresh_);
  for (const auto& [a, b] : fresh_) {
    const auto& one = trial_.world.solid(a);
    const auto& other = trial_.world.solid(b);
    near_.clear();
    shape::gaps(one.shape, trial_.poses[index(one.body)], other.shape,
                trial_.poses[index(other.body)],
                trial_.reach[index(one.body)] + trial_.reach[index(other.body)], near_);
    if (near_.empty()) continue;
    disturb(one.body);
    disturb(other.body);
  }
}

template <int D>
const typename StillBodies<D>::Pairs& StillBodies<D>::fresh(const Pairs& pairs,
                                                            BodyMotions<D>& motions) {
  if (!any_) return pairs;
  look_who_comes(pairs, motions);
  forget_disturbed();
  fresh_.clear();
  for (const auto& [a, b] : pairs) {
    const bool is_known = has(trial_.world.solid(a).body) && has(trial_.world.solid(b).body);
    if (!is_known) fresh_.emplace_back(a, b);
  }
  return fresh_;
}

template <int D>
void StillBodies<D>::remember(const BodyClaim<D>& claim) {
  if (!find_calm()) return;
  find_groups();
  if (!any_) return;
  for (std::size_t i = 0; i < trial_.facts.size(); ++i) {
    if (trial_.facts[i].kind == Kind::Fixed) at_[i] = trial_.after->bodies[i];
  }
  gravity_ = trial_.gravity;
  h_ = trial_.h;
  level_ = trial_.level;
  pushes_.clear();
  for (const body::Push<D>& push : claim.pushes) {
    const int a = trial_.world.solid(push.key.a).body;
    const int b = trial_.world.solid(push.key.b).body;
    if (group_[index(a)] >= 0 || group_[index(b)] >= 0) pushes_.push_back(push);
  }
}

/// Groups that did not move and all of whose rows obey the exact law: a group has all bodies that
/// rows connect.
template <int D>
void StillBodies<D>::find_groups() {
  groups_.clear();
  for (const JudgedRow<D>& one : trial_.rows) groups_.unite(one.row.body_a, one.row.body_b);
  for (std::size_t k = 0; k < trial_.rows.size(); ++k) {
    const JudgedRow<D>& one = trial_.rows[k];
    char& is_off = disturbed_[groups_.at(trial_.measures[k].hub())];
    for (const int b : {one.row.body_a, one.row.body_b}) {
      const bool rests = trial_.facts[index(b)].kind == Kind::Fixed || calm_[index(b)] != 0;
      if (!rests) is_off = 1;
    }
    if (!(trial_.measures[k].residual <= trial_.limits.residual)) is_off = 1;
  }
  for (std::size_t k = 0; k < trial_.rows.size(); ++k) {
    const int group = groups_.root(trial_.measures[k].hub());
    if (disturbed_[index(group)] == 0) enter_row(k, group);
  }
  std::fill(disturbed_.begin(), disturbed_.end(), 0);
}

/// Who did not move in this step, of those who are not known to be still; false where nobody is.
template <int D>
bool StillBodies<D>::find_calm() {
  calm_.assign(trial_.facts.size(), 0);
  bool any = false;
  for (std::size_t i = 0; i < trial_.facts.size(); ++i) {
    const body::Motion<D>& to = trial_.after->bodies[i];
    if (trial_.facts[i].kind != Kind::Free || group_[i] >= 0 || trial_.exists[i] == 0) continue;
    if (trial_.speed[i] != 0.0 || trial_.after->gone[i] != 0) continue;
    calm_[i] = has_same_bits(trial_.before->bodies[i], to) ? 1 : 0;
    any = any || calm_[i] != 0;
  }
  return any;
}

/// A row of a group that is kept, and its bodies.
template <int D>
void StillBodies<D>::enter_row(std::size_t row, int group) {
  const JudgedRow<D>& one = trial_.rows[row];
  const RowMeasure& found = trial_.measures[row];
  Quiet& quiet = quiet_[index(group)];
  if (group_[index(group)] < 0) quiet = {};
  for (const int b : {group, one.row.body_a, one.row.body_b}) {
    if (trial_.facts[index(b)].kind != Kind::Free) continue;
    group_[index(b)] = group;
    at_[index(b)] = trial_.after->bodies[index(b)];
  }
  quiet.add({.worst = found.residual,
             .creep = found.creep,
             .squares = found.creep * found.creep,
             .free = found.free * found.free,
             .unresolved = found.unresolved,
             .deepest = -one.row.gap,
             .pushes = one.impulse[0] > 0.0 ? 1 : 0});
  if (found.power >= 0) powers_.push_back({group, found.power});
  any_ = true;
}

template class StillBodies<2>;
template class StillBodies<3>;

}  // namespace ricochet::certify
