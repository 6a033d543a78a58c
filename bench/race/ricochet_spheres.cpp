// Ricochet in the race: every step certified, the certificate's time included.

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "frames.h"
#include "ricochet/body/rows.h"
#include "ricochet/certify/bodies.h"
#include "ricochet/shape/shape.h"
#include "ricochet/step/moreau_bodies.h"
#include "scene.h"

namespace {

using ricochet::body::Body;
using ricochet::body::Kind;
using ricochet::body::Vec;
using ricochet::body::World;
using ricochet::body::WorldState;
namespace certify = ricochet::certify;
namespace shape = ricochet::shape;

World<3> world_of(const race::Scene& scene) {
  World<3> world;
  world.materials = {"glass"};
  ricochet::body::PairLaw law;
  law.is_stated = true;
  law.friction = scene.friction;
  world.laws = {law};
  const Vec<3> gravity(0.0, 0.0, -scene.gravity);
  world.gravity = [gravity](double) { return gravity; };
  for (const race::Sphere& sphere : scene.spheres) {
    Body<3> body;
    body.name = "sphere";
    shape::Shape<3> ball = shape::ball<3>(sphere.r);
    body.mass = scene.mass(sphere);
    body.inertia = scene.inertia(sphere) * shape::Mat<3>::Identity();
    settle_inertia(body);
    body.reach = body.size = sphere.r;
    body.first_shape = world.count();
    body.shapes = 1;
    body.start.x = {sphere.x, sphere.y, sphere.z};
    world.solids.push_back({world.count(), std::move(ball)});
    world.bodies.push_back(std::move(body));
  }
  const double w = scene.width;
  const std::array<std::pair<Vec<3>, Vec<3>>, 5> sides = {{{{0, 0, 0}, {0, 0, 1}},
                                                           {{0, 0, 0}, {1, 0, 0}},
                                                           {{w, 0, 0}, {-1, 0, 0}},
                                                           {{0, 0, 0}, {0, 1, 0}},
                                                           {{0, w, 0}, {0, -1, 0}}}};
  Body<3> box;
  box.name = "box";
  box.kind = Kind::Fixed;
  box.first_shape = static_cast<int>(world.solids.size());
  box.shapes = static_cast<int>(sides.size());
  box.size = std::numeric_limits<double>::infinity();
  for (const auto& [point, normal] : sides) {
    world.solids.push_back({world.count(), shape::half_space<3>(point, normal)});
  }
  world.bodies.push_back(std::move(box));
  return world;
}

/// The step as the judge of the race sees it: places at the middle, where contacts are looked for.
race::Frame frame_of(int step, const WorldState<3>& before, const WorldState<3>& after, double h,
                     const World<3>& world, const std::vector<ricochet::body::Row<3>>& rows,
                     const certify::BodyClaim<3>& claim) {
  race::Frame frame;
  frame.step = step;
  const int count = world.count() - 1;
  const auto as_array = [](const Vec<3>& v) { return std::array<double, 3>{v[0], v[1], v[2]}; };
  for (int i = 0; i < count; ++i) {
    const auto& from = before.bodies[static_cast<std::size_t>(i)];
    const auto& to = after.bodies[static_cast<std::size_t>(i)];
    frame.places.push_back(as_array(to.x - 0.5 * h * to.v));
    frame.before.push_back(as_array(from.v));
    frame.after.push_back(as_array(to.v));
    frame.spins.push_back(as_array(to.spin));
  }
  auto row = rows.begin();
  for (const auto& push : claim.pushes) {
    while (row->key != push.key) ++row;
    const int wall = push.key.b - count;
    frame.contacts.push_back(
        {row->body_a, wall < 0 ? row->body_b : -1 - wall, as_array(in_space(*row, push.impulse))});
  }
  return frame;
}

struct Times {
  double step{0.0};
  double judge{0.0};
  long long rows{0};
  int steps{0};
  void tell(const char* name, std::size_t bodies) const {
    const double n = steps;
    const double each = 1e6 / (n * static_cast<double>(bodies));
    std::printf(
        "%s: %.3f ms a step, its certificate %.3f of them (%.0f %%), %.0f rows; %.2f and %.2f us "
        "a body\n",
        name, 1e3 * (step + judge) / n, 1e3 * judge / n, 100.0 * judge / (step + judge),
        static_cast<double>(rows) / n, each * step, each * judge);
  }
};

certify::Limits limits_of(const char* level) {
  certify::Limits limits;
  limits.aim = limits.least = std::strcmp(level, "exact") == 0   ? certify::Level::Exact
                              : std::strcmp(level, "tight") == 0 ? certify::Level::Tight
                                                                 : certify::Level::Bounded;
  return limits;
}

int run(const race::Scene& scene, const char* level, const char* path) {
  const World<3> world = world_of(scene);
  const certify::Limits limits = limits_of(level);
  WorldState<3> state;
  state.gone.assign(world.bodies.size(), 0);
  for (const Body<3>& body : world.bodies) state.bodies.push_back(body.start);
  WorldState<3> next = state;
  ricochet::step::MoreauBodies<3> stepper(world, limits);
  certify::BodyJudge<3> judge(world, limits, state);
  certify::BodyClaim<3> claim;
  race::Writer writer(path);
  Times settling;
  Times resting;
  for (int k = 1; k <= scene.steps; ++k) {
    const double start = race::cpu_seconds();
    next.t = k * scene.step;
    const auto report = stepper.advance(state, scene.step, next, claim);
    const double stepped = race::cpu_seconds();
    const bool holds = report.status == ricochet::problem::Status::Solved &&
                       judge.accept(state, next, scene.step, claim);
    const double judged = race::cpu_seconds();
    if (!holds) {
      std::fprintf(stderr, "step %d: not solved, or not certified\n", k);
      return 1;
    }
    for (Times* times : {&settling, &resting}) {
      if (times == &settling ? !scene.settles(k) : !scene.rests(k)) continue;
      times->step += stepped - start;
      times->judge += judged - stepped;
      times->rows += static_cast<long long>(stepper.rows().size());
      ++times->steps;
    }
    writer.time(judged - start);
    if (scene.is_judged(k)) {
      writer.frame(frame_of(k, state, next, scene.step, world, stepper.rows(), claim));
    }
    std::swap(state, next);
  }
  settling.tell("settling", scene.spheres.size());
  resting.tell("at rest", scene.spheres.size());
  const certify::BodyStatistics told = judge.statistics();
  std::printf("steps exact %lld, tight %lld, bounded %lld; creep max %.3g m/s\n", told.steps[0],
              told.steps[1], told.steps[2], judge.certificate().creep_max);
  return 0;
}

}  // namespace

int main(int count, char** words) {
  if (count != 4) {
    std::fprintf(stderr, "usage: race-ricochet SPHERES LEVEL|free FILE\n");
    return 2;
  }
  if (std::strcmp(words[2], "free") == 0) {
    return run(race::free_spheres(std::atoi(words[1])), "bounded", words[3]);
  }
  return run(race::spheres(std::atoi(words[1])), words[2], words[3]);
}
