#include <algorithm>
#include <limits>

#include "ricochet/base/index.h"
#include "ricochet/step/body_contacts.h"

/// The part of BodyContacts that knows rolling friction.
namespace ricochet::step {

using base::index;

namespace {

/// Spins count as velocities of particles of the smaller free body.
template <int D>
double length_of(const body::World<D>& world, const body::Row<D>& row) {
  double length = std::numeric_limits<double>::infinity();
  for (const int b : {row.body_a, row.body_b}) {
    if (world.body(b).is_free()) length = std::min(length, world.body(b).reach);
  }
  return length;
}

/// Directions of the relative spin that a row resists: two along the tangents, or the normal.
template <int D>
Eigen::Matrix<double, D - 1, body::kSpins<D>> axes_of(const body::Row<D>& row,
                                                      bool is_about_normal) {
  Eigen::Matrix<double, D - 1, body::kSpins<D>> axes;
  if constexpr (D == 2) {
    axes.setOnes();
  } else {
    const shape::Mat<3> frame = body::frame_of(row);
    axes.setZero();
    if (is_about_normal) axes.row(0) = frame.col(0).transpose();
    if (!is_about_normal) axes = frame.template rightCols<2>().transpose();
  }
  return axes;
}

body::Vec<1> as_vector(double spin) { return body::Vec<1>(spin); }
const body::Vec<3>& as_vector(const body::Vec<3>& spin) { return spin; }

/// The parts of a moment along (n, t) that a row of rolling friction has.
Eigen::Matrix<double, 1, 1> part_of(double moment, bool) {
  return Eigen::Matrix<double, 1, 1>(moment);
}
Eigen::Vector2d part_of(const body::Vec<3>& moment, bool is_about_normal) {
  return is_about_normal ? Eigen::Vector2d(moment[0], 0.0) : Eigen::Vector2d(moment.tail<2>());
}
void add_part(double& moment, const Eigen::Matrix<double, 1, 1>& part, bool) { moment += part[0]; }
void add_part(body::Vec<3>& moment, const Eigen::Vector2d& part, bool is_about_normal) {
  if (is_about_normal) moment[0] += part[0];
  if (!is_about_normal) moment.tail<2>() += part;
}

double moment_in_space(const body::Row<2>&, double moment) { return moment; }
body::Vec<3> moment_in_space(const body::Row<3>& row, const body::Vec<3>& moment) {
  return body::in_space(row, moment);
}

}  // namespace

template <int D>
void BodyContacts<D>::list_turns(std::span<const body::Row<D>> rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const body::PairLaw& law = world_.law_between(rows[i].body_a, rows[i].body_b);
    if (!law.resists_turning()) continue;
    const double length = length_of(world_, rows[i]);
    const int contact = static_cast<int>(i);
    if (law.rolling > 0.0) turns_.push_back({contact, false, length, law.rolling / length});
    if (law.spinning > 0.0) turns_.push_back({contact, true, length, law.spinning / length});
  }
  moments_.assign(rows.size(), body::Motion<D>{}.spin);
}

template <int D>
typename BodyContacts<D>::Arm BodyContacts<D>::turn_arm(std::size_t i, bool of_a) const {
  Arm arm = Arm::Zero();
  if (!world_.body(of_a ? rows_[i].body_a : rows_[i].body_b).is_free()) return arm;
  const Turn& turn = turns_[i - taken_];
  arm.template bottomRightCorner<D - 1, body::kSpins<D>>() =
      (of_a ? turn.length : -turn.length) * axes_of<D>(rows_[i], turn.is_about_normal);
  return arm;
}

template <int D>
void BodyContacts<D>::pose_turns(const std::vector<body::Motion<D>>& motions) {
  for (std::size_t k = 0; k < turns_.size(); ++k) {
    const Turn& turn = turns_[k];
    const std::size_t i = taken_ + k;
    const auto contact = index(turn.contact);
    const auto at = static_cast<Eigen::Index>(D * i);
    const body::Row<D>& row = rows_[i];
    const body::Spin<D> spin = motions[index(row.body_a)].spin - motions[index(row.body_b)].spin;
    free_[at] = 0.0;
    free_.template segment<D - 1>(at + 1) =
        turn.length * (axes_of<D>(row, turn.is_about_normal) * as_vector(spin));
    impulses_[at] = impulses_[static_cast<Eigen::Index>(D * contact)];
    impulses_.template segment<D - 1>(at + 1) =
        part_of(moments_[contact], turn.is_about_normal) / turn.length;
    friction_[i] = turn.friction;
    noise_[i] = noise_[contact];
    rests_[i] = rests_[contact];
  }
}

/// Normal parts: u_N = w (r_N - p_N), and what else moves nobody gets the same diagonal.
template <int D>
void BodyContacts<D>::tie_turns(int island) {
  const int begin = start_[index(island)];
  for (int k = 0; k < W_.rows; ++k) {
    const std::size_t row = index(members_[index(begin + k)]);
    if (row < taken_ || row >= first_joint_) continue;
    const Turn& turn = turns_[row - taken_];
    Eigen::Map<Block> own(W_.block(W_.diagonal(k)));
    const double weight = own.diagonal().maxCoeff();
    own(0, 0) = weight;
    if (D == 3 && turn.is_about_normal) own(D - 1, D - 1) = weight;
    const auto first = W_.column.begin() + W_.start[index(k)];
    const auto last = W_.column.begin() + W_.start[index(k) + 1];
    const auto found = std::lower_bound(first, last, local_[index(turn.contact)]);
    *W_.block(static_cast<std::size_t>(found - W_.column.begin())) = -weight;
  }
}

/// Moments of the impulses found, not beyond what the contact's own allows.
template <int D>
void BodyContacts<D>::finish_turns() {
  moments_.assign(taken_, body::Motion<D>{}.spin);
  for (std::size_t k = 0; k < turns_.size(); ++k) {
    const Turn& turn = turns_[k];
    const auto at = static_cast<Eigen::Index>(D * (taken_ + k));
    const double normal = impulses_[Eigen::Index{D} * turn.contact];
    const double most = turn.friction * std::max(0.0, normal);
    Eigen::Matrix<double, D - 1, 1> part = impulses_.template segment<D - 1>(at + 1);
    const double size = part.norm();
    if (size > most) part *= most / size;
    add_part(moments_[index(turn.contact)], turn.length * part, turn.is_about_normal);
  }
}

template <int D>
void BodyContacts<D>::apply_turns(std::vector<body::Motion<D>>& motions) const {
  for (std::size_t i = 0; i < taken_; ++i) {
    if (body::size_of(moments_[i]) == 0.0) continue;
    const body::Row<D>& row = rows_[i];
    const body::Spin<D> moment = moment_in_space(row, moments_[i]);
    const auto give = [&](int b, double sign) {
      if (!world_.body(b).is_free()) return;
      motions[index(b)].spin += ease_[index(b)](sign * moment);
    };
    give(row.body_a, 1.0);
    give(row.body_b, -1.0);
  }
}

#define RICOCHET_INSTANTIATE(D)                                                     \
  template void BodyContacts<D>::list_turns(std::span<const body::Row<D>>);         \
  template BodyContacts<D>::Arm BodyContacts<D>::turn_arm(std::size_t, bool) const; \
  template void BodyContacts<D>::pose_turns(const std::vector<body::Motion<D>>&);   \
  template void BodyContacts<D>::tie_turns(int);                                    \
  template void BodyContacts<D>::finish_turns();                                    \
  template void BodyContacts<D>::apply_turns(std::vector<body::Motion<D>>&) const;
RICOCHET_INSTANTIATE(2)
RICOCHET_INSTANTIATE(3)
#undef RICOCHET_INSTANTIATE

}  // namespace ricochet::step
