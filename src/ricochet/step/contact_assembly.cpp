#include <algorithm>
#include <array>
#include <limits>

#include "ricochet/base/index.h"
#include "ricochet/step/body_contacts.h"

/// The part of BodyContacts that makes islands of rows, and their matrices.
namespace ricochet::step {

using base::index;

template <int D>
void BodyContacts<D>::take(std::span<const body::Row<D>> rows, bool resists) {
  taken_ = rows.size();
  turns_.clear();
  if (resists && may_resist_) list_turns(rows);
  first_joint_ = taken_ + turns_.size();
  if (joints_.any() || has_turns()) {
    take_further(rows);
    rows = all_;
  }
  rows_ = rows;
  const auto size = static_cast<Eigen::Index>(D * rows.size());
  free_.setZero(size);
  impulses_.setZero(size);
  friction_.assign(rows.size(), 0.0);
  noise_.assign(rows.size(), 0.0);
  rests_.assign(rows.size(), 0);
  approach_.assign(rows.size(), 0.0);
  closes_.assign(rows.size(), -std::numeric_limits<double>::infinity());
  arms_.resize(2 * rows.size());
  is_listed_ = false;
  split(rows);
}

/// Rows that share a free body belong together; islands in the order of their first row.
template <int D>
void BodyContacts<D>::split(std::span<const body::Row<D>> rows) {
  for (std::size_t i = 0; i < parent_.size(); ++i) parent_[i] = static_cast<int>(i);
  const auto hub = [&](const body::Row<D>& row) {
    return world_.body(row.body_a).is_free() ? row.body_a : row.body_b;
  };
  for (const body::Row<D>& row : rows) {
    if (!world_.body(row.body_a).is_free() || !world_.body(row.body_b).is_free()) continue;
    const int a = root(row.body_a);
    const int b = root(row.body_b);
    parent_[index(std::max(a, b))] = std::min(a, b);
  }
  tie_joints();
  island_.resize(rows.size());
  std::vector<int>& number = local_;  // by root, for a moment
  number.assign(parent_.size(), -1);
  int count = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    int& its = number[index(root(hub(rows[i])))];
    if (its < 0) its = count++;
    island_[i] = its;
  }
  start_.assign(index(count) + 1, 0);
  for (const int its : island_) ++start_[index(its) + 1];
  for (std::size_t k = 1; k < start_.size(); ++k) start_[k] += start_[k - 1];
  members_.resize(rows.size());
  local_.assign(rows.size(), 0);
  std::vector<int> next(start_.begin(), start_.end());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const int its = island_[i];
    local_[i] = next[index(its)] - start_[index(its)];
    members_[index(next[index(its)]++)] = static_cast<int>(i);
  }
}

template <int D>
int BodyContacts<D>::root(int b) {
  while (parent_[index(b)] != b) {
    parent_[index(b)] = parent_[index(parent_[index(b)])];
    b = parent_[index(b)];
  }
  return b;
}

template <int D>
void BodyContacts<D>::list_by_body(std::span<const body::Row<D>> rows) {
  by_body_start_.assign(world_.bodies.size() + 1, 0);
  const auto each = [&](auto&& work) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (const int b : {rows[i].body_a, rows[i].body_b}) {
        if (world_.body(b).is_free()) work(static_cast<int>(i), b);
      }
    }
  };
  each([&](int, int b) { ++by_body_start_[index(b) + 1]; });
  for (std::size_t k = 1; k < by_body_start_.size(); ++k)
    by_body_start_[k] += by_body_start_[k - 1];
  by_body_.resize(index(by_body_start_.back()));
  std::vector<int> next(by_body_start_.begin(), by_body_start_.end() - 1);
  each([&](int i, int b) { by_body_[index(next[index(b)]++)] = i; });
}

/// What the matrix of an island is made of: its rows beside each body, and how they act on it.
template <int D>
void BodyContacts<D>::list_arms(int island) {
  if (!is_listed_) list_by_body(rows_);
  is_listed_ = true;
  for (int k = start_[index(island)]; k < start_[index(island) + 1]; ++k) {
    const auto i = index(members_[index(k)]);
    for (const bool of_a : {true, false}) {
      arms_[2 * i + (of_a ? 0 : 1)] = i < taken_         ? arm_of(rows_[i], of_a)
                                      : i < first_joint_ ? turn_arm(i, of_a)
                                                         : joint_arm(i, of_a);
    }
  }
}

/// G of one body: rows (n, t), columns (v, spin); b moves against a.
template <int D>
typename BodyContacts<D>::Arm BodyContacts<D>::arm_of(const body::Row<D>& row, bool of_a) const {
  Arm arm = Arm::Zero();
  if (!world_.body(of_a ? row.body_a : row.body_b).is_free()) return arm;
  const double sign = of_a ? 1.0 : -1.0;
  for (int k = 0; k < D; ++k) {
    const body::Vec<D> along = sign * body::in_space(row, body::Vec<D>::Unit(k));
    arm.row(k).template head<D>() = along;
    const body::Spin<D> turning = body::moment(of_a ? row.arm_a : row.arm_b, along);
    if constexpr (D == 2) {
      arm(k, D) = turning;
    } else {
      arm.row(k).template tail<D>() = turning;
    }
  }
  return arm;
}

template <int D>
typename BodyContacts<D>::Block BodyContacts<D>::block(const Arm& one, const Arm& other,
                                                       int b) const {
  const body::Body<D>& body = world_.body(b);
  return one.template leftCols<D>() * other.template leftCols<D>().transpose() / body.mass +
         ease_[index(b)].between(one.template rightCols<body::kSpins<D>>(),
                                 other.template rightCols<body::kSpins<D>>());
}

template <int D>
void BodyContacts<D>::gather(int island) {
  const int begin = start_[index(island)];
  const int count = start_[index(island) + 1] - begin;
  list_arms(island);
  W_.rows = count;
  W_.start.assign(index(count) + 1, 0);
  W_.column.clear();
  W_.values.clear();
  mu_.resize(index(count));
  if (q_.size() < D * count) q_.resize(D * count);
  if (r_.size() < D * count) r_.resize(D * count);
  for (int k = 0; k < count; ++k) {
    const int row = members_[index(begin + k)];
    gather_row(row, k);
    mu_[index(k)] = friction_[index(row)];
    q_.template segment<D>(D * k) = free_.template segment<D>(D * row);
    r_.template segment<D>(D * k) = impulses_.template segment<D>(D * row);
  }
  if (has_turns()) tie_turns(island);
  if (joints_.any()) condense(island);
  methods_.set_mean_change(0.0);  // an island knows nothing of others, nor of earlier steps
}

/// One row of blocks: a block for every row that shares a free body, columns ascending.
template <int D>
void BodyContacts<D>::gather_row(int row, int local) {
  const body::Row<D>& mine = rows_[index(row)];
  std::array<const int*, 2> at{};
  std::array<const int*, 2> end{};
  const std::array<int, 2> bodies{mine.body_a, mine.body_b};
  for (std::size_t k = 0; k < 2; ++k) {
    at[k] = by_body_.data() + by_body_start_[index(bodies[k])];
    end[k] = by_body_.data() + by_body_start_[index(bodies[k]) + 1];
  }
  while (at[0] != end[0] || at[1] != end[1]) {
    const bool first = at[1] == end[1] || (at[0] != end[0] && *at[0] <= *at[1]);
    const int other = first ? *at[0] : *at[1];
    Block sum = Block::Zero();
    for (std::size_t k = 0; k < 2; ++k) {
      if (at[k] == end[k] || *at[k] != other) continue;
      const bool is_a = rows_[index(other)].body_a == bodies[k];
      sum += block(arms_[2 * index(row) + k], arms_[2 * index(other) + (is_a ? 0 : 1)], bodies[k]);
      ++at[k];
    }
    W_.column.push_back(local_[index(other)]);
    W_.values.insert(W_.values.end(), sum.data(), sum.data() + D * D);
  }
  W_.start[index(local) + 1] = static_cast<int>(W_.column.size());
}

#define RICOCHET_INSTANTIATE(D)                                                              \
  template void BodyContacts<D>::take(std::span<const body::Row<D>>, bool);                  \
  template void BodyContacts<D>::split(std::span<const body::Row<D>>);                       \
  template int BodyContacts<D>::root(int);                                                   \
  template void BodyContacts<D>::list_by_body(std::span<const body::Row<D>>);                \
  template void BodyContacts<D>::list_arms(int);                                             \
  template BodyContacts<D>::Arm BodyContacts<D>::arm_of(const body::Row<D>&, bool) const;    \
  template BodyContacts<D>::Block BodyContacts<D>::block(const Arm&, const Arm&, int) const; \
  template void BodyContacts<D>::gather(int);                                                \
  template void BodyContacts<D>::gather_row(int, int);
RICOCHET_INSTANTIATE(2)
RICOCHET_INSTANTIATE(3)
#undef RICOCHET_INSTANTIATE

}  // namespace ricochet::step
