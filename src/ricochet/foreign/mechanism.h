#pragma once

#include <Eigen/Geometry>
#include <cmath>
#include <compare>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ricochet/foreign/xml.h"

namespace ricochet::foreign {

using Vec3 = Eigen::Vector3d;
using Mat3 = Eigen::Matrix3d;
using Turn = Eigen::Quaterniond;

/// A frame in another one.
struct Pose {
  Vec3 x = Vec3::Zero();  // [m]
  Turn turn = Turn::Identity();

  Vec3 point(const Vec3& p) const { return x + turn * p; }
  Pose after(const Pose& inner) const { return {point(inner.x), (turn * inner.turn).normalized()}; }
  Pose back() const { return {turn.conjugate() * (-x), turn.conjugate()}; }
};

/// A turn by `angle` about an axis that need not have length 1.
inline Turn turn_about(const Vec3& axis, double angle) {
  return Turn(Eigen::AngleAxisd(angle, axis.normalized()));
}

/// The turn about a horizontal axis that takes the third axis to `z`; about x where z is opposite.
inline Turn turn_of_z(const Vec3& z) {
  const Vec3 axis = Vec3::UnitZ().cross(z.normalized());
  const double angle = std::atan2(axis.norm(), z.normalized()[2]);
  return axis.norm() > 0.0 ? turn_about(axis, angle) : turn_about(Vec3::UnitX(), angle);
}

/// Mass properties. Those of a link are in space at the start, as its solids are.
struct Mass {
  double mass{0.0};             // [kg]
  Vec3 centre = Vec3::Zero();   // [m]
  Mat3 inertia = Mat3::Zero();  // about the centre, [kg m^2]

  /// The same body seen from the frame in which `pose` is given.
  Mass seen_from(const Pose& pose) const;
  /// Together with another one.
  Mass with(const Mass& other) const;
};

enum class Form { Box, Ball, Capsule, Cylinder, Ellipsoid, Plane };

/// How a solid touches others.
struct Surface {
  double friction{0.0};  // [-]
  double spinning{0.0};  // [m]
  double rolling{0.0};   // [m]
  int numbers{3};        // of an impulse: 1 has no friction, from 4 on spinning, 6 rolling too
  int priority{0};       // the law of a pair is that of the higher one; of both where it is equal
  int kinds{1};          // bits: what it is
  int touches{1};        // bits: what it touches

  auto operator<=>(const Surface&) const = default;
};

struct Solid {
  std::string name;
  Form form{Form::Ball};
  /// Sides of a box, radius of a ball, radius and height of a capsule (between the centres of its
  /// caps) and of a cylinder, semi-axes of an ellipsoid; [m].
  Vec3 size = Vec3::Zero();
  Pose pose;  // in space; axes of capsules and cylinders, and normals of planes, along the third
  bool is_shown_only{false};  // touches nothing
  Surface surface;
  Place place;
};

/// Of a solid of that mass, uniform, in its own frame. A plane has none.
double volume_of(const Solid& solid);
Mass mass_of(const Solid& solid, double mass);

/// What moves as one.
struct Link {
  std::string name;
  Pose pose;  // in space at the start
  bool is_fixed{false};
  Mass mass;
  std::vector<Solid> solids;
  Place place;
};

enum class JointKind { Hinge, Slider, Ball, Weld };

struct Joint {
  std::string name;
  JointKind kind{JointKind::Hinge};
  int a{-1};  // links; -1 is the ground
  int b{-1};
  Vec3 at = Vec3::Zero();     // in space at the start
  Vec3 axis = Vec3::UnitZ();  // in space at the start
  double start{0.0};          // coordinate at the start, [rad] or [m]
  double low{-std::numeric_limits<double>::infinity()};
  double high{std::numeric_limits<double>::infinity()};
  double friction{0.0};    // [N m] or [N]
  double stiffness{0.0};   // [N m] or [N/m]
  double damping{0.0};     // [N m s] or [N s/m]
  double rest{0.0};        // of the spring, [rad] or [m]
  bool lets_touch{false};  // the two links may touch each other
  Place place;
};

/// What both formats are read into.
struct Mechanism {
  std::string format;  // "URDF", "MJCF"
  std::string title;
  std::vector<std::string> rules;  // sentences: how what the format leaves open was read
  Vec3 gravity{0.0, 0.0, -9.81};   // [m/s^2]
  double step{0.001};              // [s]
  std::vector<Link> links;
  std::vector<Joint> joints;
  std::vector<std::pair<int, int>> apart;  // links that do not touch each other
  bool has_contacts{true};                 // else no pair of bodies touches
};

}  // namespace ricochet::foreign
