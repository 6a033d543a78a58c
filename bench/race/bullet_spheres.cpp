// Bullet in the race: its sequential impulses, in the precision that the package was built with.

#include <BulletCollision/CollisionShapes/btSphereShape.h>
#include <BulletCollision/CollisionShapes/btStaticPlaneShape.h>
#include <btBulletDynamicsCommon.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "frames.h"
#include "scene.h"

namespace {

btScalar scalar(double x) { return static_cast<btScalar>(x); }
btVector3 vector(double x, double y, double z) { return {scalar(x), scalar(y), scalar(z)}; }
std::array<double, 3> copy(const btVector3& v) { return {v.x(), v.y(), v.z()}; }

struct Engine {
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher{&configuration};
  btDbvtBroadphase broadphase;
  btSequentialImpulseConstraintSolver solver;
  btDiscreteDynamicsWorld world{&dispatcher, &broadphase, &solver, &configuration};
  std::vector<std::unique_ptr<btCollisionShape>> shapes;
  std::vector<std::unique_ptr<btRigidBody>> bodies;  // spheres, then walls
  std::size_t spheres{0};

  void add(std::unique_ptr<btCollisionShape> shape, double mass, double inertia, double friction,
           const btVector3& at) {
    btRigidBody::btRigidBodyConstructionInfo info(scalar(mass), nullptr, shape.get(),
                                                  vector(inertia, inertia, inertia));
    info.m_startWorldTransform.setOrigin(at);
    info.m_friction = scalar(friction);
    bodies.push_back(std::make_unique<btRigidBody>(info));
    bodies.back()->setUserIndex(static_cast<int>(bodies.size()) - 1);
    bodies.back()->setActivationState(DISABLE_DEACTIVATION);
    world.addRigidBody(bodies.back().get());
    shapes.push_back(std::move(shape));
  }
};

void make(const race::Scene& scene, int iterations, Engine& engine) {
  engine.world.setGravity(vector(0, 0, -scene.gravity));
  engine.world.getSolverInfo().m_numIterations = iterations;
  // The tangents span the plane, and impulses of both stay within one cone.
  engine.world.getSolverInfo().m_solverMode |= SOLVER_USE_2_FRICTION_DIRECTIONS;
  const double root = std::sqrt(scene.friction);  // coefficients are multiplied
  for (const race::Sphere& s : scene.spheres) {
    engine.add(std::make_unique<btSphereShape>(scalar(s.r)), scene.mass(s), scene.inertia(s), root,
               vector(s.x, s.y, s.z));
  }
  engine.spheres = engine.bodies.size();
  const double w = scene.width;
  const auto wall = [&](double x, double y, double z, double at) {
    engine.add(std::make_unique<btStaticPlaneShape>(vector(x, y, z), scalar(at)), 0.0, 0.0, root,
               vector(0, 0, 0));
  };
  wall(0, 0, 1, 0);
  wall(1, 0, 0, 0);
  wall(-1, 0, 0, -w);
  wall(0, 1, 0, 0);
  wall(0, -1, 0, -w);
}

void look(const Engine& engine, race::Frame& frame) {
  for (std::size_t i = 0; i < engine.spheres; ++i) {
    frame.places.push_back(copy(engine.bodies[i]->getWorldTransform().getOrigin()));
    frame.before.push_back(copy(engine.bodies[i]->getLinearVelocity()));
  }
}

void finish(Engine& engine, race::Frame& frame) {
  for (std::size_t i = 0; i < engine.spheres; ++i) {
    frame.after.push_back(copy(engine.bodies[i]->getLinearVelocity()));
    frame.spins.push_back(copy(engine.bodies[i]->getAngularVelocity()));
  }
  const int count = static_cast<int>(engine.spheres);
  for (int k = 0; k < engine.dispatcher.getNumManifolds(); ++k) {
    const btPersistentManifold& pair = *engine.dispatcher.getManifoldByIndexInternal(k);
    btVector3 sum(0, 0, 0);
    for (int j = 0; j < pair.getNumContacts(); ++j) {
      const btManifoldPoint& point = pair.getContactPoint(j);
      sum += point.m_appliedImpulse * point.m_normalWorldOnB +
             point.m_appliedImpulseLateral1 * point.m_lateralFrictionDir1 +
             point.m_appliedImpulseLateral2 * point.m_lateralFrictionDir2;
    }
    if (sum.length2() == 0) continue;
    int a = pair.getBody0()->getUserIndex();
    int b = pair.getBody1()->getUserIndex();
    if (a >= count) {
      std::swap(a, b);
      sum = -sum;
    }
    frame.contacts.push_back({a, b >= count ? -1 - (b - count) : b, copy(sum)});
  }
}

void run(const race::Scene& scene, int iterations, const char* path) {
  Engine engine;
  make(scene, iterations, engine);
  race::Writer writer(path);
  for (int k = 1; k <= scene.steps; ++k) {
    race::Frame frame;
    frame.step = k;
    if (scene.is_judged(k)) look(engine, frame);
    const double start = race::cpu_seconds();
    engine.world.stepSimulation(scalar(scene.step), 0);
    writer.time(race::cpu_seconds() - start);
    if (!scene.is_judged(k)) continue;
    finish(engine, frame);
    writer.frame(frame);
  }
  std::printf("numbers of %zu bytes\n", sizeof(btScalar));
  for (auto& body : engine.bodies) engine.world.removeRigidBody(body.get());
}

}  // namespace

int main(int count, char** words) {
  if (count != 4) {
    std::fprintf(stderr, "usage: race-bullet SPHERES ITERATIONS FILE\n");
    return 2;
  }
  run(race::spheres(std::atoi(words[1])), std::atoi(words[2]), words[3]);
  return 0;
}
