#pragma once

#include <Eigen/Core>

#include "ricochet/convex/section.h"
#include "ricochet/problem/restitution.h"

/// A shock with friction in impulse time, the judge's own: in the plane by the closed form of its
/// two pieces, in space by Runge's and Kutta's method on the velocity itself.
namespace ricochet::certify {

struct ShockPath {
  Eigen::Vector3d impulse{Eigen::Vector3d::Zero()};  // (N, T, T)
  bool ended{true};
};

/// The impulses of a shock from the relative velocity `before`, where W = G M^-1 G^T.
ShockPath follow(const Eigen::Matrix3d& W, const Eigen::Vector3d& before,
                 const convex::Section& section, double e, problem::Restitution kind);

}  // namespace ricochet::certify
