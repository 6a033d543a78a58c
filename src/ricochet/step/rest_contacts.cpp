// Impulses that hold an island at rest.

#include <algorithm>
#include <cmath>
#include <limits>

#include "ricochet/base/index.h"
#include "ricochet/solve/contact_measure.h"
#include "ricochet/step/body_contacts.h"

namespace ricochet::step {

using base::index;
namespace {
constexpr int kFew = 12;  // rows that the usual methods solve at once
}  // namespace

/// Whether the bodies of an island hardly move.
template <int D>
bool BodyContacts<D>::is_still(int island) const {
  for (int k = start_[index(island)]; k < start_[index(island) + 1]; ++k) {
    if (rests_[index(members_[index(k)])] == 0) return false;
  }
  return true;
}

/// Impulses that hold an island whose bodies hardly move. Where there are any there are often many,
/// and whichever is admissible obeys the law, u = 0 being its motion: so it is not searched for
/// contact by contact. Interior points lead to the middle of them, away from the sides of the
/// cones; conjugate gradients then take away what is left of u, by the smallest impulses that do.
/// Leaves r as it was where that is not enough.
template <int D>
bool BodyContacts<D>::find_rest(int island) {
  constexpr int kMostSteps = 40;
  constexpr double kNear = 1e-6;  // of the largest free velocity
  if (W_.rows <= kFew || has_turns() || joints_.any() || !is_still(island)) return false;
  const Eigen::Index size = Eigen::Index{D} * W_.rows;
  first_ = r_.head(size);
  const double free = q_.head(size).cwiseAbs().maxCoeff();
  inside_.refresh();
  bool is_found = false;
  if (std::isfinite(inside_.work())) {
    inside_.start(1.0);
    (void)inside_.finish(kNear * free, kMostSteps);
    if (inside_.impulses().allFinite()) {
      r_.head(size) = inside_.impulses();
      methods_.residual(r_);
      stop_what_moves();
      is_found = is_enough(island, methods_.residual(r_));
    }
  }
  if (is_found) return true;
  r_.head(size) = first_;
  methods_.residual(r_);
  return false;
}

/// r + dr with u = 0 at all rows that push, W dr = -u by conjugate gradients with rho as the
/// metric, from dr = 0: the smallest one, also where W is singular. Rows that part have no impulse.
/// Where W is singular rounding grows in the end, so they begin again from the best.
template <int D>
void BodyContacts<D>::stop_what_moves() {
  constexpr int kRounds = 8;
  constexpr double kDone = 1e-15;  // of the free velocities, in the norm of rho
  const Eigen::Index size = Eigen::Index{D} * W_.rows;
  weight_.setZero(size);
  for (int k = 0; k < W_.rows; ++k) {
    const double parts = methods_.rho(index(k)) * methods_.velocity()[D * k];
    if (r_[D * k] > parts) {
      const Eigen::Index held = mu_[index(k)] > 0.0 ? D : 1;
      weight_.segment(D * k, held).setConstant(methods_.rho(index(k)));
    } else {
      r_.template segment<D>(D * k).setZero();
    }
  }
  const double enough = kDone * kDone * q_.head(size).cwiseProduct(weight_).dot(q_.head(size));
  for (int round = 0; round < kRounds; ++round) {
    problem::multiply(W_, r_, turned_);
    gone_ = (weight_.array() > 0.0).select(-turned_.head(size) - q_.head(size), 0.0);
    const double before = gone_.cwiseProduct(weight_).dot(gone_);
    if (before <= enough || !(take_away(enough) < 0.25 * before)) break;
  }
}

/// One round of it, with velocities `gone_` to be taken away; what is left of them, squared.
template <int D>
double BodyContacts<D>::take_away(double enough) {
  constexpr double kGrows = 1e4;
  const Eigen::Index size = gone_.size();
  const int most = 10 * W_.rows;
  way_ = gone_.cwiseProduct(weight_);
  double before = gone_.dot(way_);
  double least = before;
  best_ = r_;
  for (int k = 0; k < most && before > enough && before < kGrows * least; ++k) {
    problem::multiply(W_, way_, turned_);
    turned_.head(size) = (weight_.array() > 0.0).select(turned_.head(size), 0.0);
    const double part = before / way_.dot(turned_.head(size));
    if (!std::isfinite(part)) break;
    r_.head(size) += part * way_;
    gone_ -= part * turned_.head(size);
    const double now = gone_.cwiseProduct(weight_).dot(gone_);
    way_ = gone_.cwiseProduct(weight_) + now / before * way_;
    before = now;
    if (now < 0.1 * least || now <= enough) {
      least = now;
      best_ = r_;
    }
  }
  r_ = best_;
  return least;
}

template bool BodyContacts<2>::is_still(int) const;
template bool BodyContacts<3>::is_still(int) const;
template void BodyContacts<2>::stop_what_moves();
template void BodyContacts<3>::stop_what_moves();
template double BodyContacts<2>::take_away(double);
template double BodyContacts<3>::take_away(double);
template bool BodyContacts<2>::find_rest(int);
template bool BodyContacts<3>::find_rest(int);

}  // namespace ricochet::step
