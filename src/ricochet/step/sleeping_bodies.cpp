#include "ricochet/step/sleeping_bodies.h"

#include <algorithm>

#include "ricochet/base/index.h"

namespace ricochet::step {

using base::index;
namespace {

bool is_there_still(const body::Motion<2>& a, const body::Motion<2>& b) {
  return a.x == b.x && a.angle == b.angle && a.v == b.v && a.spin == b.spin;
}
bool is_there_still(const body::Motion<3>& a, const body::Motion<3>& b) {
  return a.x == b.x && a.turn.coeffs() == b.turn.coeffs() && a.v == b.v && a.spin == b.spin;
}

/// Puts those of a list by key that are asked for into another one.
template <class T, class Asked>
void merge_into(std::vector<T>& into, const std::vector<T>& from, const Asked& is_asked) {
  const auto more = std::count_if(from.begin(), from.end(), is_asked);
  std::size_t old = into.size();
  into.resize(old + static_cast<std::size_t>(more));
  std::size_t at = into.size();
  for (std::size_t k = from.size(); k-- > 0;) {
    if (!is_asked(from[k])) continue;
    while (old > 0 && from[k].key < into[old - 1].key) into[--at] = into[--old];
    into[--at] = from[k];
  }
}

}  // namespace

template <int D>
SleepingBodies<D>::SleepingBodies(const body::World<D>& world) : world_(world) {
  const std::size_t count = world.bodies.size();
  bed_.assign(count, -1);
  if (!world.sleeps) return;
  tired_.assign(count, -1);
  still_.assign(count, 0);
  marks_.assign(count, 0);
  parent_.assign(count, 0);
  places_.resize(count);
  for (const body::Solid<D>& solid : world.solids) {
    hub_.push_back(world.body(solid.body).is_free() ? solid.body : -1);
  }
  for (std::size_t i = 0; i < count; ++i) {
    still_[i] = world.bodies[i].kind == body::Kind::Fixed ? 1 : 0;
  }
}

template <int D>
int SleepingBodies<D>::root(int b) {
  while (parent_[index(b)] != b) b = parent_[index(b)] = parent_[index(parent_[index(b)])];
  return b;
}

/// A free body of a row.
template <int D>
int SleepingBodies<D>::hub_of(const body::RowKey& key) const {
  return hub_[index(key.a)] >= 0 ? hub_[index(key.a)] : hub_[index(key.b)];
}

template <int D>
void SleepingBodies<D>::begin(const State& s, const Terms& terms,
                              const std::vector<body::Row<D>>& last) {
  if (!any_ && !any_tired_) return;
  if (s.steps != steps_ || !(terms == terms_)) {
    wake_all();
    return;
  }
  if (any_tired_) {
    merge_into(rows_, last,
               [&](const body::Row<D>& row) { return tired_[index(hub_of(row.key))] >= 0; });
    for (std::size_t i = 0; i < bed_.size(); ++i) {
      if (tired_[i] < 0) continue;
      bed_[i] = tired_[i];
      tired_[i] = -1;
      still_[i] = 1;
    }
    any_ = true;
    any_tired_ = false;
  }
  bool changes = false;
  for (std::size_t i = 0; i < bed_.size(); ++i) {
    if (bed_[i] < 0) continue;
    const bool is_there = s.gone[i] == 0 && is_there_still(s.bodies[i], places_[i]);
    if (is_there) continue;
    marks_[index(bed_[i])] = 1;
    changes = true;
  }
  if (changes) wake_marked();
}

/// Wakes the islands whose body that stands for them is marked.
template <int D>
void SleepingBodies<D>::wake_marked() {
  woken_.clear();
  std::erase_if(rows_, [&](const body::Row<D>& row) {
    return marks_[index(bed_[index(hub_of(row.key))])] != 0;
  });
  any_ = false;
  for (std::size_t i = 0; i < bed_.size(); ++i) {
    if (bed_[i] < 0) continue;
    if (marks_[index(bed_[i])] == 0) {
      any_ = true;
      continue;
    }
    woken_.push_back(static_cast<int>(i));
  }
  for (const int i : woken_) {
    still_[index(i)] = 0;
    bed_[index(i)] = -1;
  }
  std::fill(marks_.begin(), marks_.end(), 0);
}

template <int D>
void SleepingBodies<D>::wake_all() {
  std::fill(tired_.begin(), tired_.end(), -1);
  any_tired_ = false;
  if (!any_) return;
  std::fill(marks_.begin(), marks_.end(), 1);
  wake_marked();
}

template <int D>
const std::vector<int>& SleepingBodies<D>::wake(const std::vector<body::Row<D>>& rows) {
  woken_.clear();
  if (!any_) return woken_;
  bool changes = false;
  for (const body::Row<D>& row : rows) {
    for (const int b : {row.body_a, row.body_b}) {
      if (bed_[index(b)] < 0) continue;
      marks_[index(bed_[index(b)])] = 1;
      changes = true;
    }
  }
  if (changes) wake_marked();
  return woken_;
}

template <int D>
void SleepingBodies<D>::end(const std::vector<body::Row<D>>& rows, const std::vector<char>& stays,
                            const State& next, const Terms& terms) {
  steps_ = next.steps;
  terms_ = terms;
  any_tired_ = false;
  const auto rests = [&](int b) { return stays[index(b)] != 0; };
  const bool may = std::any_of(rows.begin(), rows.end(), [&](const body::Row<D>& row) {
    return rests(row.body_a) || rests(row.body_b);
  });
  if (!may) return;
  const auto is_free = [&](int b) { return world_.body(b).is_free(); };
  for (std::size_t i = 0; i < parent_.size(); ++i) parent_[i] = static_cast<int>(i);
  for (const body::Row<D>& row : rows) {
    if (!is_free(row.body_a) || !is_free(row.body_b)) continue;
    const int a = root(row.body_a);
    const int b = root(row.body_b);
    parent_[index(std::max(a, b))] = std::min(a, b);
  }
  for (const body::Row<D>& row : rows) {
    char& moves = marks_[index(root(hub_of(row.key)))];
    for (const int b : {row.body_a, row.body_b}) {
      const bool is_quiet = is_free(b) ? rests(b) : world_.body(b).kind == body::Kind::Fixed;
      if (!is_quiet) moves = 1;
    }
  }
  for (const body::Row<D>& row : rows) {
    for (const int b : {row.body_a, row.body_b}) {
      if (!is_free(b) || tired_[index(b)] >= 0 || marks_[index(root(b))] != 0) continue;
      tired_[index(b)] = root(b);
      places_[index(b)] = next.bodies[index(b)];
      any_tired_ = true;
    }
  }
  std::fill(marks_.begin(), marks_.end(), 0);
}

template <int D>
void SleepingBodies<D>::add_pushes(const std::vector<body::Push<D>>& before,
                                   std::vector<body::Push<D>>& pushes) const {
  if (!any_) return;
  merge_into(pushes, before,
             [&](const body::Push<D>& push) { return bed_[index(hub_of(push.key))] >= 0; });
}

template class SleepingBodies<2>;
template class SleepingBodies<3>;

}  // namespace ricochet::step
