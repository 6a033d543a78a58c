#include "ricochet/foreign/mechanism.h"

#include "ricochet/shape/shape.h"

namespace ricochet::foreign {
namespace {

/// Moments of a mass 1 at `way` from the point about which they are.
Mat3 moments_of(const Vec3& way) {
  return way.squaredNorm() * Mat3::Identity() - way * way.transpose();
}

shape::MassProperties<3> of_density_one(const Solid& solid) {
  const Vec3& size = solid.size;
  const Vec3 end(0.0, 0.0, 0.5 * size[1]);
  switch (solid.form) {
    case Form::Box: return shape::mass_of(shape::box<3>(size, 0.0), 1.0);
    case Form::Ball: return shape::mass_of(shape::ball<3>(size[0], Vec3::Zero()), 1.0);
    case Form::Capsule: return shape::mass_of(shape::capsule<3>(-end, end, size[0]), 1.0);
    case Form::Cylinder: return shape::mass_of(shape::cylinder(size[0], size[1]), 1.0);
    case Form::Ellipsoid: return shape::mass_of(shape::ellipsoid(size), 1.0);
    case Form::Plane: break;
  }
  shape::MassProperties<3> none;
  none.inertia.setZero();
  return none;
}

}  // namespace

Mass Mass::seen_from(const Pose& pose) const {
  const Mat3 turn = pose.turn.toRotationMatrix();
  return {mass, pose.point(centre), turn * inertia * turn.transpose()};
}

Mass Mass::with(const Mass& other) const {
  Mass made;
  if (!(mass > 0.0) || !(other.mass > 0.0)) {  // moments alone have no place
    made = mass > 0.0 ? *this : other;
    made.inertia = inertia + other.inertia;
    return made;
  }
  made.mass = mass + other.mass;
  made.centre = (mass * centre + other.mass * other.centre) / made.mass;
  made.inertia = inertia + mass * moments_of(centre - made.centre) + other.inertia +
                 other.mass * moments_of(other.centre - made.centre);
  return made;
}

double volume_of(const Solid& solid) { return of_density_one(solid).mass; }

Mass mass_of(const Solid& solid, double mass) {
  const shape::MassProperties<3> one = of_density_one(solid);
  if (!(one.mass > 0.0)) return {};
  return {mass, one.centre, one.inertia * (mass / one.mass)};
}

}  // namespace ricochet::foreign
