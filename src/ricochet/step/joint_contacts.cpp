#include <algorithm>

#include "ricochet/base/index.h"
#include "ricochet/step/body_contacts.h"

/// The part of BodyContacts that knows joints.
namespace ricochet::step {

using base::index;

/// Rows of rolling friction, then of joints that have a law, as rows between their two bodies.
template <int D>
void BodyContacts<D>::take_further(std::span<const body::Row<D>> rows) {
  all_.assign(rows.begin(), rows.end());
  for (const Turn& turn : turns_) all_.push_back(rows[index(turn.contact)]);
  for (const auto& lawful : joints_.lawful()) {
    body::Row<D>& row = all_.emplace_back();
    row.body_a = world_.joints[index(lawful.joint)].a;
    row.body_b = world_.joints[index(lawful.joint)].b;
  }
}

template <int D>
bool BodyContacts<D>::is_bounded(int row) const {
  return index(row) >= first_joint_ && joints_.lawful()[index(row) - first_joint_].is_box();
}

/// A limit is the normal part of a contact without friction. What has a bound is the tangential
/// part of one with friction 1 whose normal impulse is that bound, and which moves nobody.
template <int D>
typename BodyContacts<D>::Arm BodyContacts<D>::joint_arm(std::size_t i, bool of_a) const {
  Arm arm = Arm::Zero();
  const auto& lawful = joints_.lawful()[i - first_joint_];
  if (!world_.body(of_a ? rows_[i].body_a : rows_[i].body_b).is_free()) return arm;
  const int at = lawful.is_box() ? 1 : 0;
  const double sign = (of_a ? -1.0 : 1.0) * unit_of(world_.joints[index(lawful.joint)]);
  arm.row(at).template head<D>() = sign * lawful.row.along;
  const body::Spin<D> turning = sign * (of_a ? lawful.row.turn_a : lawful.row.turn_b);
  if constexpr (D == 2) {
    arm(at, D) = turning;
  } else {
    arm.row(at).template tail<D>() = turning;
  }
  return arm;
}

/// Bodies of a mechanism belong together.
template <int D>
void BodyContacts<D>::tie_joints() {
  for (const body::Joint<D>& joint : world_.joints) {
    if (!world_.body(joint.a).is_free() || !world_.body(joint.b).is_free()) continue;
    const int a = root(joint.a);
    const int b = root(joint.b);
    parent_[index(std::max(a, b))] = std::min(a, b);
  }
}

/// The same for the parts that a residual is measured by.
template <int D>
void BodyContacts<D>::join_parts(int island) {
  const int begin = start_[index(island)];
  std::vector<int>& first = seen_;  // by mechanism: one of its bodies
  first.assign(index(joints_.mechanisms()), -1);
  for (int k = 0; k < W_.rows; ++k) {
    const body::Row<D>& row = rows_[index(members_[index(begin + k)])];
    for (const int body : {row.body_a, row.body_b}) {
      if (joints_.mechanism(body) < 0) continue;
      int& other = first[index(joints_.mechanism(body))];
      if (other < 0) other = body;
      const int a = root(body);
      const int b = root(other);
      parent_[index(std::max(a, b))] = std::min(a, b);
    }
  }
}

template <int D>
void BodyContacts<D>::pose_joints(const std::vector<body::Motion<D>>& motions) {
  for (std::size_t i = first_joint_; i < rows_.size(); ++i) {
    const auto& lawful = joints_.lawful()[i - first_joint_];
    const auto at = static_cast<Eigen::Index>(D * i);
    const double rate =
        body::rate_of(lawful.row, motions[index(rows_[i].body_a)], motions[index(rows_[i].body_b)]);
    const int part = lawful.is_box() ? 1 : 0;
    const double unit = unit_of(world_.joints[index(lawful.joint)]);
    free_[at + part] = unit * (rate + lawful.shift + lawful.bend);
    impulses_[at + part] = lawful.impulse / unit;
    if (lawful.is_box()) impulses_[at] = lawful.most / unit;
    friction_[i] = lawful.is_box() ? 1.0 : 0.0;
  }
}

/// W := W - G M^-1 J^T K^-1 J M^-1 G^T of the rows of an island.
template <int D>
void BodyContacts<D>::condense(int island) {
  const int begin = start_[index(island)];
  near_.resize(index(joints_.mechanisms()));
  for (auto& those : near_) those.clear();
  for (int k = 0; k < W_.rows; ++k) {
    const body::Row<D>& row = rows_[index(members_[index(begin + k)])];
    for (const int body : {row.body_a, row.body_b}) {
      const int mechanism = joints_.mechanism(body);
      if (mechanism < 0 || joints_.begin_of(mechanism) == joints_.end_of(mechanism)) continue;
      std::vector<int>& those = near_[index(mechanism)];
      if (those.empty() || those.back() != k) those.push_back(k);
    }
  }
  widen(W_.rows);
  for (int m = 0; m < joints_.mechanisms(); ++m) {
    if (!near_[index(m)].empty()) take_out(m, island);
  }
  finish_lawful(island);
}

/// Makes room for the blocks between rows that act on one mechanism.
template <int D>
void BodyContacts<D>::widen(int count) {
  wide_ = W_;
  W_.column.clear();
  W_.values.clear();
  row_near_.resize(index(count));
  for (auto& those : row_near_) those.clear();
  for (int m = 0; m < joints_.mechanisms(); ++m) {
    for (const int k : near_[index(m)]) row_near_[index(k)].push_back(m);
  }
  for (int k = 0; k < count; ++k) {
    columns_.assign(wide_.column.begin() + wide_.start[index(k)],
                    wide_.column.begin() + wide_.start[index(k) + 1]);
    for (const int m : row_near_[index(k)]) {
      columns_.insert(columns_.end(), near_[index(m)].begin(), near_[index(m)].end());
    }
    std::sort(columns_.begin(), columns_.end());
    columns_.erase(std::unique(columns_.begin(), columns_.end()), columns_.end());
    std::size_t at = index(wide_.start[index(k)]);
    for (const int column : columns_) {
      W_.column.push_back(column);
      const bool was = at < index(wide_.start[index(k) + 1]) && wide_.column[at] == column;
      if (was) {
        W_.values.insert(W_.values.end(), wide_.block(at), wide_.block(at) + D * D);
        ++at;
      } else {
        W_.values.insert(W_.values.end(), D * D, 0.0);
      }
    }
    W_.start[index(k) + 1] = static_cast<int>(W_.column.size());
  }
}

/// The share of one mechanism.
template <int D>
void BodyContacts<D>::take_out(int m, int island) {
  const int first = joints_.begin_of(m);
  const int rows = joints_.end_of(m) - first;
  const std::vector<int>& near = near_[index(m)];
  const int count = static_cast<int>(near.size());
  constexpr int kSpins = body::kSpins<D>;
  through_.setZero(rows, D * count);  // J M^-1 G^T
  back_.setZero(D * count, rows);     // G M^-1 J^T
  for (int c = 0; c < count; ++c) {
    const int row = members_[index(start_[index(island)] + near[index(c)])];
    for (const bool of_a : {true, false}) {
      const int b = of_a ? rows_[index(row)].body_a : rows_[index(row)].body_b;
      if (joints_.mechanism(b) != m) continue;
      const Arm& arm = arms_[2 * index(row) + (of_a ? 0 : 1)];
      for (const int equation : joints_.equations_of(b)) {
        if (!joints_.matrix().has(equation)) continue;
        const auto along = joints_.direction(equation, b);
        const auto spin = along.template tail<kSpins>().transpose();
        const auto turn = arm.template rightCols<kSpins>();
        const Vector linear =
            arm.template leftCols<D>() * along.template head<D>() / world_.body(b).mass;
        back_.block(D * c, equation - first, D, 1) += linear + ease_[index(b)].between(turn, spin);
        through_.block(equation - first, D * c, 1, D) +=
            linear.transpose() + ease_[index(b)].between(spin, turn);
      }
    }
  }
  for (int c = 0; c < D * count; ++c) {
    joints_.matrix().solve(first, first + rows, through_.col(c).data());
  }
  for (int r = 0; r < count; ++r) {
    const int k = near[index(r)];
    std::size_t at = index(W_.start[index(k)]);
    for (int c = 0; c < count; ++c) {
      while (W_.column[at] != near[index(c)]) ++at;
      Eigen::Map<Block>(W_.block(at)) -= back_.middleRows(D * r, D) * through_.middleCols(D * c, D);
    }
  }
}

/// Parts of rows that move nobody get a diagonal of their own; nor may rounding leave one below 0.
/// Limit, friction and motor of a joint act along one coordinate: what is added to one of them
/// alone would let them disagree on its velocity.
template <int D>
void BodyContacts<D>::finish_lawful(int island) {
  constexpr double kRounding = 1e-13;
  lone_.resize(index(W_.rows));
  for (int k = 0; k < W_.rows; ++k) {
    const std::size_t row = index(members_[index(start_[index(island)] + k)]);
    Eigen::Map<Block> own(W_.block(W_.diagonal(k)));
    double scale = 0.0;  // of the row without joints
    lone_[index(k)] = 0.0;
    for (const bool of_a : {true, false}) {
      const Arm& arm = arms_[2 * row + (of_a ? 0 : 1)];
      const int b = of_a ? rows_[row].body_a : rows_[row].body_b;
      if (!world_.body(b).is_free()) continue;
      const double trace = block(arm, arm, b).trace();
      scale = std::max(scale, trace);
      lone_[index(k)] += row < first_joint_ ? trace / D : trace;
    }
    if (row < first_joint_) {
      joints_press_ = joints_press_ || may_be_pressed(k, row, scale);
      own.diagonal().array() += kRounding * scale;
      continue;
    }
    const auto& lawful = joints_.lawful()[row - first_joint_];
    const int part = lawful.is_box() ? 1 : 0;
    const double weight = std::max(own(part, part), kRounding * scale);
    own.diagonal().setConstant(weight);
    const double unit = unit_of(world_.joints[index(lawful.joint)]);
    if (lawful.is_box()) q_[D * k] = -weight * lawful.most / unit;
  }
}

/// Whether joints alone keep a contact shut that rubs: they may press it as hard as they like, and
/// its friction, and with it the motion, is open.
template <int D>
bool BodyContacts<D>::may_be_pressed(int local, std::size_t row, double scale) const {
  constexpr double kHeld = 1e-12;
  constexpr double kFree = 1e-6;
  const Eigen::Map<const Block> own(W_.block(W_.diagonal(local)));
  if (!(friction_[row] > 0.0) || own(0, 0) > kHeld * scale) return false;
  const double slip = q_.template segment<D - 1>(Eigen::Index{D} * local + 1).norm();
  const double ease = own.trace() - own(0, 0);
  return ease > kFree * scale && q_[Eigen::Index{D} * local] <= noise_[row] && slip > noise_[row];
}

/// How far an impulse of a joint is from its law, as the judge takes it: the velocity that is off,
/// beside those of its two bodies and what the impulse gives them. Where these are not known, as of
/// places that are put back, beside the impulses of its part.
template <int D>
double BodyContacts<D>::joint_residual(int local, int row, double off, double scale) const {
  const auto& lawful = joints_.lawful()[index(row) - first_joint_];
  const double rho = methods_.rho(index(local));
  const double defect = off / rho - lawful.noise;
  if (!(defect > 0.0)) return 0.0;
  if (!(lawful.speed > 0.0)) return rho * defect / scale;
  const double impulse = std::abs(r_[D * local + (lawful.is_box() ? 1 : 0)]);
  return defect / std::max(lawful.speed, impulse * lone_[index(local)]);
}

/// What rows of joints that have a law do.
template <int D>
void BodyContacts<D>::apply_joints(std::vector<body::Motion<D>>& motions) const {
  for (std::size_t i = first_joint_; i < rows_.size(); ++i) {
    auto& lawful = joints_.lawful()[i - first_joint_];
    lawful.impulse = unit_of(world_.joints[index(lawful.joint)]) *
                     impulses_[static_cast<Eigen::Index>(D * i) + (lawful.is_box() ? 1 : 0)];
    if (lawful.is_box()) lawful.impulse = std::clamp(lawful.impulse, -lawful.most, lawful.most);
    joints_.give(world_.joints[index(lawful.joint)], lawful.row, lawful.impulse, ease_, motions);
  }
}

#define RICOCHET_INSTANTIATE(D)                                                      \
  template bool BodyContacts<D>::is_bounded(int) const;                              \
  template void BodyContacts<D>::take_further(std::span<const body::Row<D>>);        \
  template BodyContacts<D>::Arm BodyContacts<D>::joint_arm(std::size_t, bool) const; \
  template void BodyContacts<D>::tie_joints();                                       \
  template void BodyContacts<D>::join_parts(int);                                    \
  template void BodyContacts<D>::pose_joints(const std::vector<body::Motion<D>>&);   \
  template void BodyContacts<D>::condense(int);                                      \
  template void BodyContacts<D>::widen(int);                                         \
  template void BodyContacts<D>::take_out(int, int);                                 \
  template void BodyContacts<D>::finish_lawful(int);                                 \
  template bool BodyContacts<D>::may_be_pressed(int, std::size_t, double) const;     \
  template double BodyContacts<D>::joint_residual(int, int, double, double) const;   \
  template void BodyContacts<D>::apply_joints(std::vector<body::Motion<D>>&) const;
RICOCHET_INSTANTIATE(2)
RICOCHET_INSTANTIATE(3)
#undef RICOCHET_INSTANTIATE

}  // namespace ricochet::step
