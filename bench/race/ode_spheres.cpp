// ODE in the race: quickstep, with hard contacts and with the softness its demonstrations have.

#include <ode/ode.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "frames.h"
#include "scene.h"

namespace {

struct Engine {
  dWorldID world;
  dSpaceID space;
  dJointGroupID group;
  std::vector<dBodyID> bodies;
  std::vector<dGeomID> walls;
  std::vector<dJointFeedback> feedback;
  std::vector<race::Contact> pairs;
  double friction;
  bool is_soft;
};

int number_of(const Engine& engine, dGeomID geom) {
  const dBodyID body = dGeomGetBody(geom);
  if (body != nullptr) return static_cast<int>(reinterpret_cast<std::intptr_t>(dBodyGetData(body)));
  for (std::size_t k = 0; k < engine.walls.size(); ++k) {
    if (engine.walls[k] == geom) return -1 - static_cast<int>(k);
  }
  return -1;
}

void touch(void* data, dGeomID a, dGeomID b) {
  Engine& engine = *static_cast<Engine*>(data);
  if (dGeomGetBody(a) == nullptr && dGeomGetBody(b) == nullptr) return;
  dContact contact{};
  if (dCollide(a, b, 1, &contact.geom, sizeof(dContact)) == 0) return;
  contact.surface.mode = engine.is_soft ? dContactApprox1 | dContactSoftERP | dContactSoftCFM
                                        : static_cast<int>(dContactApprox1);
  contact.surface.mu = engine.friction;
  contact.surface.soft_erp = 0.5;
  contact.surface.soft_cfm = 1e-5;
  const dJointID joint = dJointCreateContact(engine.world, engine.group, &contact);
  dJointAttach(joint, dGeomGetBody(a), dGeomGetBody(b));
  if (engine.feedback.size() < engine.feedback.capacity()) {
    engine.pairs.push_back({number_of(engine, a), number_of(engine, b), {}});
    dJointSetFeedback(joint, &engine.feedback.emplace_back());
  }
}

void make(const race::Scene& scene, int iterations, Engine& engine) {
  engine.world = dWorldCreate();
  engine.space = dHashSpaceCreate(nullptr);
  dHashSpaceSetLevels(engine.space, -4, -2);
  engine.group = dJointGroupCreate(0);
  engine.friction = scene.friction;
  dWorldSetGravity(engine.world, 0, 0, -scene.gravity);
  dWorldSetQuickStepNumIterations(engine.world, iterations);
  const double w = scene.width;
  engine.walls = {dCreatePlane(engine.space, 0, 0, 1, 0), dCreatePlane(engine.space, 1, 0, 0, 0),
                  dCreatePlane(engine.space, -1, 0, 0, -w), dCreatePlane(engine.space, 0, 1, 0, 0),
                  dCreatePlane(engine.space, 0, -1, 0, -w)};
  for (const race::Sphere& sphere : scene.spheres) {
    const dBodyID body = dBodyCreate(engine.world);
    dMass mass;
    dMassSetSphere(&mass, scene.density, sphere.r);
    dBodySetMass(body, &mass);
    dBodySetPosition(body, sphere.x, sphere.y, sphere.z);
    dBodySetData(body, reinterpret_cast<void*>(static_cast<std::intptr_t>(engine.bodies.size())));
    dGeomSetBody(dCreateSphere(engine.space, sphere.r), body);
    engine.bodies.push_back(body);
  }
  engine.feedback.reserve(20 * scene.spheres.size());
}

std::array<double, 3> copy(const dReal* v) { return {v[0], v[1], v[2]}; }

void look(const Engine& engine, race::Frame& frame) {
  for (const dBodyID body : engine.bodies) {
    frame.places.push_back(copy(dBodyGetPosition(body)));
    frame.before.push_back(copy(dBodyGetLinearVel(body)));
  }
}

void finish(const Engine& engine, double h, race::Frame& frame) {
  for (const dBodyID body : engine.bodies) {
    frame.after.push_back(copy(dBodyGetLinearVel(body)));
    frame.spins.push_back(copy(dBodyGetAngularVel(body)));
  }
  frame.contacts = engine.pairs;
  for (std::size_t k = 0; k < frame.contacts.size(); ++k) {
    race::Contact& contact = frame.contacts[k];
    for (std::size_t i = 0; i < 3; ++i) contact.impulse[i] = h * engine.feedback[k].f1[i];
    if (contact.a >= 0) continue;  // a wall: the joint then has its only body first
    std::swap(contact.a, contact.b);
  }
}

void run(const race::Scene& scene, int iterations, bool is_soft, const char* path) {
  dInitODE();
  Engine engine{};
  engine.is_soft = is_soft;
  make(scene, iterations, engine);
  race::Writer writer(path);
  for (int k = 1; k <= scene.steps; ++k) {
    race::Frame frame;
    frame.step = k;
    if (scene.is_judged(k)) look(engine, frame);
    const double start = race::cpu_seconds();
    engine.feedback.clear();
    engine.pairs.clear();
    dSpaceCollide(engine.space, &engine, touch);
    dWorldQuickStep(engine.world, scene.step);
    writer.time(race::cpu_seconds() - start);
    if (scene.is_judged(k)) {
      finish(engine, scene.step, frame);
      writer.frame(frame);
    }
    dJointGroupEmpty(engine.group);
  }
}

}  // namespace

int main(int count, char** words) {
  if (count != 5) {
    std::fprintf(stderr, "usage: race-ode SPHERES ITERATIONS hard|soft FILE\n");
    return 2;
  }
  run(race::spheres(std::atoi(words[1])), std::atoi(words[2]), std::strcmp(words[3], "soft") == 0,
      words[4]);
  return 0;
}
