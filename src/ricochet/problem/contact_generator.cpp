#include "ricochet/problem/contact_generator.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

#include "ricochet/base/random.h"
#include "ricochet/problem/contact_velocity.h"

namespace ricochet::problem {
namespace {

using Vector = Eigen::Vector3d;

struct Body {
  Vector position{Vector::Zero()};
  double mass{1.0};
  Vector inertia{Vector::Ones()};  // principal moments, axes as those of space
};

struct Touch {
  int body{0};
  int other{-1};  // -1: what does not move
  Vector point{Vector::Zero()};
  Vector normal{Vector::UnitZ()};  // towards `body`
  double approach{0.0};            // speed at which a wall comes closer
};

/// Bodies and contacts, to be turned into M, H, f, w. In the plane z is left out: gravity is along
/// -y there.
class World {
 public:
  World(const ContactSample& sample) : sample_(sample), random_(sample.seed) {}

  std::vector<Body> bodies;
  std::vector<Touch> touches;

  base::Random& random() { return random_; }

  void add_body(const Vector& position, const Vector& unit_inertia) {
    const double mass = std::pow(sample_.mass_ratio, random_.uniform());
    bodies.push_back({position, mass, mass * unit_inertia});
  }

  ContactProblem problem() {
    ContactProblem result;
    result.dim = sample_.dim;
    GlobalForm form;
    const int dofs = dofs_per_body() * static_cast<int>(bodies.size());
    const int d = sample_.dim;
    std::vector<Eigen::Triplet<double>> mass;
    std::vector<Eigen::Triplet<double>> H;
    form.f.resize(dofs);
    for (std::size_t b = 0; b < bodies.size(); ++b) put_body(static_cast<int>(b), mass, form.f);
    form.w = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(touches.size()) * d);
    for (std::size_t k = 0; k < touches.size(); ++k) {
      put_touch(static_cast<int>(k), H);
      form.w[static_cast<Eigen::Index>(k) * d] = -touches[k].approach;
      result.mu.push_back(random_.uniform(sample_.mu_low, sample_.mu_high));
    }
    form.M.resize(dofs, dofs);
    form.M.setFromTriplets(mass.begin(), mass.end());
    form.H.resize(dofs, static_cast<Eigen::Index>(touches.size()) * d);
    form.H.setFromTriplets(H.begin(), H.end());
    result.matrix = std::move(form);
    return result;
  }

 private:
  int dofs_per_body() const { return sample_.dim == 3 ? 6 : 3; }

  void put_body(int b, std::vector<Eigen::Triplet<double>>& mass, Eigen::VectorXd& f) {
    const Body& body = bodies[static_cast<std::size_t>(b)];
    const int first = b * dofs_per_body();
    const int d = sample_.dim;
    for (int k = 0; k < dofs_per_body(); ++k) {
      const double m = k < d ? body.mass : (d == 3 ? body.inertia[k - 3] : body.inertia[2]);
      const double gravity = k == d - 1 ? -1.0 : 0.0;  // speed gained in the step
      mass.emplace_back(first + k, first + k, m);
      f[first + k] = m * (gravity + sample_.agitation * random_.normal());
    }
  }

  /// Columns of H: the velocity of `body` at the point, less that of `other`, along each axis.
  void put_touch(int k, std::vector<Eigen::Triplet<double>>& H) const {
    const Touch& touch = touches[static_cast<std::size_t>(k)];
    const Vector& n = touch.normal;
    Vector axes[3] = {n, Vector(-n.y(), n.x(), 0.0), Vector::Zero()};
    if (sample_.dim == 3) {
      axes[1] = n.unitOrthogonal();
      axes[2] = n.cross(axes[1]);
    }
    for (int side = 0; side < 2; ++side) {
      const int b = side == 0 ? touch.body : touch.other;
      if (b < 0) continue;
      const Vector arm = touch.point - bodies[static_cast<std::size_t>(b)].position;
      const double sign = side == 0 ? 1.0 : -1.0;
      for (int a = 0; a < sample_.dim; ++a) {
        const int column = k * sample_.dim + a;
        const int first = b * dofs_per_body();
        const Vector turn = arm.cross(axes[a]);
        for (int c = 0; c < sample_.dim; ++c) H.emplace_back(first + c, column, sign * axes[a][c]);
        if (sample_.dim == 2) {
          H.emplace_back(first + 2, column, sign * turn.z());
        } else {
          for (int c = 0; c < 3; ++c) H.emplace_back(first + 3 + c, column, sign * turn[c]);
        }
      }
    }
  }

  ContactSample sample_;
  base::Random random_;
};

/// Bodies per side of a lattice that holds them all.
int side_of(const ContactSample& sample) {
  return std::max(1, static_cast<int>(std::ceil(std::pow(sample.bodies, 1.0 / sample.dim) - 1e-9)));
}

/// Balls of radius 1 on a lattice of spacing 2, each moved a little.
void fill_with_balls(World& world, const ContactSample& sample) {
  constexpr double kShake = 0.08;
  const double close = sample.kind == SampleKind::Crowded ? 2.06 : 2.0;
  const int side = side_of(sample);
  const int depth = sample.dim == 3 ? side : 1;
  const auto count = [&] { return static_cast<int>(world.bodies.size()); };
  const Vector inertia = sample.dim == 3 ? Vector::Constant(0.4) : Vector::Constant(0.5);
  const auto at = [&](int x, int y, int z) { return (z * side + y) * side + x; };
  for (int k = 0; k < sample.bodies; ++k) {
    Vector position(2.0 * (k % side), 2.0 * (k / side % side), 2.0 * (k / side / side));
    for (int c = 0; c < sample.dim; ++c) position[c] += kShake * world.random().uniform(-1.0, 1.0);
    world.add_body(position, inertia);
  }
  const auto touch = [&](int a, int b) {
    if (a >= count() || b >= count()) return;
    const Vector& p = world.bodies[static_cast<std::size_t>(a)].position;
    const Vector apart = world.bodies[static_cast<std::size_t>(b)].position - p;
    if (apart.norm() > close) return;
    world.touches.push_back({b, a, p + 0.5 * apart, apart.normalized()});
  };
  const auto wall = [&](int a, const Vector& normal) {
    if (a < count()) {
      const Vector& p = world.bodies[static_cast<std::size_t>(a)].position;
      world.touches.push_back({a, -1, p - normal, normal});
    }
  };
  for (int z = 0; z < depth; ++z) {
    for (int y = 0; y < side; ++y) {
      for (int x = 0; x < side; ++x) {
        const int here = at(x, y, z);
        if (x + 1 < side) touch(here, at(x + 1, y, z));
        if (y + 1 < side) touch(here, at(x, y + 1, z));
        if (z + 1 < depth) touch(here, at(x, y, z + 1));
        if (x == 0) wall(here, Vector::UnitX());
        if (x == side - 1) wall(here, -Vector::UnitX());
        if (y == 0) wall(here, Vector::UnitY());
        if (sample.dim == 3 && y == side - 1) wall(here, -Vector::UnitY());
        if (sample.dim == 3 && z == 0) wall(here, Vector::UnitZ());
      }
    }
  }
}

/// Boxes of half sides 1 (half height 0.5), each turned a little about the vertical.
void stack_boxes(World& world, const ContactSample& sample) {
  const int up = sample.dim - 1;
  for (int k = 0; k < sample.bodies; ++k) {
    Vector position = Vector::Zero();
    for (int c = 0; c < up; ++c) position[c] = 0.1 * world.random().uniform(-1.0, 1.0);
    position[up] = 0.5 + k;
    world.add_body(position, Vector::Constant(0.5));
    Vector normal = Vector::Zero();
    normal[up] = 1.0;
    for (int corner = 0; corner < (sample.dim == 3 ? 4 : 2); ++corner) {
      Vector point = Vector::Zero();
      point[up] = k;
      if (sample.dim == 3) {
        const double angle = 0.25 * 3.14159265358979 * (2 * corner + 1) + 0.05 * k;
        point[0] = 1.3 * std::cos(angle);
        point[1] = 1.3 * std::sin(angle);
      } else {
        point[0] = corner == 0 ? -0.9 : 0.9;
      }
      world.touches.push_back({k, k - 1, point, normal});
    }
  }
}

void squeeze_balls(World& world, const ContactSample& sample) {
  for (int k = 0; k < sample.bodies; ++k) {
    const Vector position(3.0 * k, 0.0, 0.0);
    world.add_body(position, Vector::Constant(0.4));
    const double slope = std::pow(10.0, world.random().uniform(-3.0, -1.0));
    const int up = sample.dim - 1;
    for (const double side : {1.0, -1.0}) {  // opens upwards: the ball can leave, barely
      Vector normal = Vector::Zero();
      normal[0] = side;
      normal[up] = slope;
      normal.normalize();
      const double approach = sample.kind == SampleKind::Jammed ? 0.1 : 0.0;
      world.touches.push_back({k, -1, position - normal, normal, approach});
    }
  }
}

}  // namespace

ContactProblem generate_contacts(const ContactSample& sample) {
  World world(sample);
  switch (sample.kind) {
    case SampleKind::Packing:
    case SampleKind::Crowded: fill_with_balls(world, sample); break;
    case SampleKind::Tower: stack_boxes(world, sample); break;
    case SampleKind::Wedge:
    case SampleKind::Jammed: squeeze_balls(world, sample); break;
    case SampleKind::Repeated: {
      fill_with_balls(world, sample);
      const std::vector<Touch> once = world.touches;
      world.touches.insert(world.touches.end(), once.begin(), once.end());
      break;
    }
  }
  return world.problem();
}

ContactProblem in_blocks(const ContactProblem& problem) {
  ContactVelocity velocity(problem);
  const LocalProblem local = velocity.local();
  ContactProblem result;
  result.dim = problem.dim;
  result.mu = problem.mu;
  result.q = local.q;
  result.matrix = local.W;
  result.title = problem.title;
  return result;
}

}  // namespace ricochet::problem
