// ODE in the race: quickstep with a number of iterations.

#include <ode/ode.h>

#include <array>
#include <deque>
#include <vector>

#include "drive.h"

namespace {

std::array<double, 3> copy(const dReal* v) { return {v[0], v[1], v[2]}; }

/// A convex solid as ODE wants it: it keeps pointers to these.
struct Hull {
  std::vector<dReal> planes;
  std::vector<dReal> points;
  std::vector<unsigned int> faces;
};

Hull hull_of(const race::Body& body) {
  Hull made;
  for (const auto& c : body.corners()) made.points.insert(made.points.end(), {c[0], c[1], c[2]});
  const auto n = static_cast<unsigned int>(body.profile.size());
  for (unsigned int k = 0; k < n; ++k) {  // the sides, counterclockwise as seen from outside
    const unsigned int next = (k + 1) % n;
    const auto& p = body.profile[k];
    const auto& q = body.profile[next];
    const double length = std::hypot(q[0] - p[0], q[1] - p[1]);
    const double x = (q[1] - p[1]) / length;
    const double z = (p[0] - q[0]) / length;
    made.planes.insert(made.planes.end(), {x, 0.0, z, x * p[0] + z * p[1]});
    made.faces.insert(made.faces.end(), {4, k, k + n, next + n, next});
  }
  made.planes.insert(made.planes.end(), {0.0, -1.0, 0.0, body.depth});
  made.faces.push_back(n);
  for (unsigned int k = 0; k < n; ++k) made.faces.push_back(k);
  made.planes.insert(made.planes.end(), {0.0, 1.0, 0.0, body.depth});
  made.faces.push_back(n);
  for (unsigned int k = 0; k < n; ++k) made.faces.push_back(2 * n - 1 - k);
  return made;
}

class Engine {
 public:
  Engine(const race::Scene& scene, const char* iterations) : scene_(scene) {
    dInitODE();
    world_ = dWorldCreate();
    space_ = dHashSpaceCreate(nullptr);
    if (scene.has_spheres()) dHashSpaceSetLevels(space_, -4, -2);
    group_ = dJointGroupCreate(0);
    const auto& g = scene.gravity;
    dWorldSetGravity(world_, g[0], g[1], g[2]);
    dWorldSetQuickStepNumIterations(world_, std::atoi(iterations));
    for (const race::Wall& wall : scene.walls) {
      const auto& n = wall.normal;
      walls_.push_back(dCreatePlane(space_, n[0], n[1], n[2], wall.offset));
    }
    for (const race::Body& body : scene.bodies) add(body);
    feedback_.reserve(60 * scene.bodies.size());
  }

  void look(race::Frame& frame) const {
    for (const dBodyID body : bodies_) {
      frame.places.push_back(copy(dBodyGetPosition(body)));
      frame.before.push_back(copy(dBodyGetLinearVel(body)));
      const dReal* q = dBodyGetQuaternion(body);
      if (!scene_.has_spheres()) frame.turns.push_back({q[0], q[1], q[2], q[3]});
    }
  }

  bool step() {
    dJointGroupEmpty(group_);
    feedback_.clear();
    pairs_.clear();
    dSpaceCollide(space_, this, touch);
    return dWorldQuickStep(world_, scene_.step) != 0;
  }

  void finish(race::Frame& frame) const {
    for (const dBodyID body : bodies_) {
      frame.after.push_back(copy(dBodyGetLinearVel(body)));
      frame.spins.push_back(copy(dBodyGetAngularVel(body)));
    }
    frame.contacts = pairs_;
    for (std::size_t k = 0; k < frame.contacts.size(); ++k) {
      race::Contact& contact = frame.contacts[k];
      for (std::size_t i = 0; i < 3; ++i) contact.impulse[i] = scene_.step * feedback_[k].f1[i];
      if (contact.a < 0) std::swap(contact.a, contact.b);  // a joint has its only body first
    }
  }

 private:
  void add(const race::Body& from) {
    const dBodyID body = dBodyCreate(world_);
    dMass mass;
    dMassSetParameters(&mass, from.mass, 0, 0, 0, from.inertia[0], from.inertia[1], from.inertia[2],
                       0, 0, 0);
    dBodySetMass(body, &mass);
    dBodySetPosition(body, from.at[0], from.at[1], from.at[2]);
    const dQuaternion turn = {from.turn[0], from.turn[1], from.turn[2], from.turn[3]};
    dBodySetQuaternion(body, turn);
    dBodySetData(body, reinterpret_cast<void*>(static_cast<std::intptr_t>(bodies_.size())));
    dGeomSetBody(geom_of(from), body);
    bodies_.push_back(body);
  }

  dGeomID geom_of(const race::Body& body) {
    if (body.is_sphere()) return dCreateSphere(space_, body.r);
    if (body.is_box()) {
      const race::Triple half = body.half_sides();
      return dCreateBox(space_, 2.0 * half[0], 2.0 * half[1], 2.0 * half[2]);
    }
    const Hull& hull = hulls_.emplace_back(hull_of(body));
    return dCreateConvex(space_, hull.planes.data(),
                         static_cast<unsigned int>(hull.planes.size() / 4), hull.points.data(),
                         static_cast<unsigned int>(hull.points.size() / 3), hull.faces.data());
  }

  int number_of(dGeomID geom) const {
    const dBodyID body = dGeomGetBody(geom);
    if (body != nullptr) {
      return static_cast<int>(reinterpret_cast<std::intptr_t>(dBodyGetData(body)));
    }
    for (std::size_t k = 0; k < walls_.size(); ++k) {
      if (walls_[k] == geom) return -1 - static_cast<int>(k);
    }
    return -1;
  }

  static void touch(void* data, dGeomID a, dGeomID b) {
    Engine& engine = *static_cast<Engine*>(data);
    if (dGeomGetBody(a) == nullptr && dGeomGetBody(b) == nullptr) return;
    constexpr int kMost = 8;
    std::array<dContact, kMost> points{};
    const int most = engine.scene_.has_spheres() ? 1 : kMost;
    const int found = dCollide(a, b, most, &points[0].geom, sizeof(dContact));
    for (int k = 0; k < found; ++k) {
      dContact& contact = points[static_cast<std::size_t>(k)];
      contact.surface.mode = dContactApprox1;
      contact.surface.mu = engine.scene_.friction;
      const dJointID joint = dJointCreateContact(engine.world_, engine.group_, &contact);
      dJointAttach(joint, dGeomGetBody(a), dGeomGetBody(b));
      if (engine.feedback_.size() == engine.feedback_.capacity()) continue;
      engine.pairs_.push_back({engine.number_of(a), engine.number_of(b), {}});
      dJointSetFeedback(joint, &engine.feedback_.emplace_back());
    }
  }

  const race::Scene& scene_;
  dWorldID world_{};
  dSpaceID space_{};
  dJointGroupID group_{};
  std::vector<dBodyID> bodies_;
  std::vector<dGeomID> walls_;
  std::deque<Hull> hulls_;
  std::vector<dJointFeedback> feedback_;
  std::vector<race::Contact> pairs_;
};

}  // namespace

int main(int count, char** words) { return race::compete<Engine>(count, words); }
