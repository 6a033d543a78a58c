// Bullet in the race: its sequential impulses, in the precision that the package was built with.

#include <BulletCollision/CollisionShapes/btBoxShape.h>
#include <BulletCollision/CollisionShapes/btConvexHullShape.h>
#include <BulletCollision/CollisionShapes/btSphereShape.h>
#include <BulletCollision/CollisionShapes/btStaticPlaneShape.h>
#include <btBulletDynamicsCommon.h>

#include <memory>
#include <vector>

#include "drive.h"

namespace {

btScalar scalar(double x) { return static_cast<btScalar>(x); }
btVector3 vector(const race::Triple& v) { return {scalar(v[0]), scalar(v[1]), scalar(v[2])}; }
std::array<double, 3> copy(const btVector3& v) { return {v.x(), v.y(), v.z()}; }

std::unique_ptr<btCollisionShape> shape_of(const race::Body& body) {
  if (body.is_sphere()) return std::make_unique<btSphereShape>(scalar(body.r));
  if (body.is_box()) {
    return std::make_unique<btBoxShape>(vector(body.half_sides()));
  }
  auto hull = std::make_unique<btConvexHullShape>();
  for (const race::Triple& corner : body.corners()) hull->addPoint(vector(corner));
  hull->setMargin(0);  // it would be added outside
  return hull;
}

class Engine {
 public:
  Engine(const race::Scene& scene, const char* iterations)
      : count_(static_cast<int>(scene.bodies.size())), scene_(scene) {
    // Several points for a pair of hulls in one step, as Bullet's own examples have it.
    configuration_.setConvexConvexMultipointIterations();
    configuration_.setPlaneConvexMultipointIterations();
    world_.setGravity(vector(scene.gravity));
    world_.getSolverInfo().m_numIterations = std::atoi(iterations);
    // The tangents span the plane, and impulses of both stay within one cone.
    world_.getSolverInfo().m_solverMode |= SOLVER_USE_2_FRICTION_DIRECTIONS;
    for (const race::Body& body : scene.bodies) {
      const auto& q = body.turn;
      const btQuaternion turn(scalar(q[1]), scalar(q[2]), scalar(q[3]), scalar(q[0]));
      add(shape_of(body), body.mass, body.inertia, btTransform(turn, vector(body.at)));
    }
    for (const race::Wall& wall : scene.walls) {
      add(std::make_unique<btStaticPlaneShape>(vector(wall.normal), scalar(wall.offset)), 0.0, {},
          btTransform::getIdentity());
    }
  }
  ~Engine() {  // to take thousands of bodies out of the world one by one takes as long as the run
    std::fflush(nullptr);
    std::_Exit(0);
  }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  void look(race::Frame& frame) const {
    for (int i = 0; i < count_; ++i) {
      const btRigidBody& body = *bodies_[static_cast<std::size_t>(i)];
      frame.places.push_back(copy(body.getWorldTransform().getOrigin()));
      frame.before.push_back(copy(body.getLinearVelocity()));
      const btQuaternion q = body.getWorldTransform().getRotation();
      if (!scene_.has_spheres()) frame.turns.push_back({q.w(), q.x(), q.y(), q.z()});
    }
  }

  bool step() {
    world_.stepSimulation(scalar(scene_.step), 0);
    return true;
  }

  void finish(race::Frame& frame) {
    for (int i = 0; i < count_; ++i) {
      const btRigidBody& body = *bodies_[static_cast<std::size_t>(i)];
      frame.after.push_back(copy(body.getLinearVelocity()));
      frame.spins.push_back(copy(body.getAngularVelocity()));
    }
    for (int k = 0; k < dispatcher_.getNumManifolds(); ++k) {
      const btPersistentManifold& pair = *dispatcher_.getManifoldByIndexInternal(k);
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
      if (a >= count_) {
        std::swap(a, b);
        sum = -sum;
      }
      frame.contacts.push_back({a, b >= count_ ? -1 - (b - count_) : b, copy(sum)});
    }
  }

 private:
  void add(std::unique_ptr<btCollisionShape> shape, double mass, const race::Triple& inertia,
           const btTransform& start) {
    btRigidBody::btRigidBodyConstructionInfo info(scalar(mass), nullptr, shape.get(),
                                                  vector(inertia));
    info.m_startWorldTransform = start;
    info.m_friction = scalar(std::sqrt(scene_.friction));  // those of a pair are multiplied
    bodies_.push_back(std::make_unique<btRigidBody>(info));
    bodies_.back()->setUserIndex(static_cast<int>(bodies_.size()) - 1);
    bodies_.back()->setActivationState(DISABLE_DEACTIVATION);
    world_.addRigidBody(bodies_.back().get());
    shapes_.push_back(std::move(shape));
  }

  btDefaultCollisionConfiguration configuration_;
  btCollisionDispatcher dispatcher_{&configuration_};
  btDbvtBroadphase broadphase_;
  btSequentialImpulseConstraintSolver solver_;
  btDiscreteDynamicsWorld world_{&dispatcher_, &broadphase_, &solver_, &configuration_};
  std::vector<std::unique_ptr<btCollisionShape>> shapes_;
  std::vector<std::unique_ptr<btRigidBody>> bodies_;  // those of the scene, then walls
  int count_;
  const race::Scene& scene_;
};

}  // namespace

int main(int count, char** words) { return race::compete<Engine>(count, words); }
