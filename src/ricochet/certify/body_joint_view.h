#pragma once

#include <vector>

#include "ricochet/body/rows.h"
#include "ricochet/body/world.h"

/// Gaps of joints and their directions, by the judge: by matrices and arms. Nothing here knows how
/// the step keeps them.
namespace ricochet::certify {

/// A number of a joint and what its impulse does: `along` at a point of space on b, the opposite at
/// one on a, and a couple.
template <int D>
struct SeenRow {
  double value{0.0};
  double size{0.0};  // of what it is made of
  body::Vec<D> along = body::Vec<D>::Zero();
  body::Vec<D> arm_a = body::Vec<D>::Zero();
  body::Vec<D> arm_b = body::Vec<D>::Zero();
  body::Spin<D> couple = body::Motion<D>{}.spin;
};

template <int D>
struct SeenJoint {
  std::vector<SeenRow<D>> held;
  SeenRow<D> free;
  bool there{false};
};

/// A joint between bodies that are there.
template <int D>
SeenJoint<D> see_joint(const body::Joint<D>& joint, const body::Motion<D>& a,
                       const body::Motion<D>& b);

inline double product(double one, double other) { return one * other; }
inline double product(const body::Vec<3>& one, const body::Vec<3>& other) { return one.dot(other); }

/// How fast the number changes.
template <int D>
double rate(const SeenRow<D>& row, const body::Motion<D>& a, const body::Motion<D>& b) {
  return row.along.dot(body::velocity_at(b, row.arm_b) - body::velocity_at(a, row.arm_a)) +
         product(row.couple, body::Spin<D>(b.spin - a.spin));
}

}  // namespace ricochet::certify
