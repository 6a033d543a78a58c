// What a certified step of many spheres costs: "ricochet-scaling SCENE COUNT STEPS THREADS [SKIP]"
// runs a world at level `bounded`, leaves its first SKIP steps out and prints one line: scene,
// spheres, threads, steps, rows, ms a step, ms of the fastest step, ms of CPU time a step, judge in
// % of the steps and of the fastest one, MB of memory at most, all bits of the end in one number.
// SCENE is "rest", a lattice of spheres that lies in a box, or "settle", the race's spheres that
// fall into one.

#include <sys/resource.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "../race/scene.h"
#include "ricochet/body/world.h"
#include "ricochet/certify/bodies.h"
#include "ricochet/host/thread_pool.h"
#include "ricochet/shape/shape.h"
#include "ricochet/step/moreau_bodies.h"

namespace {

namespace body = ricochet::body;
namespace certify = ricochet::certify;
namespace shape = ricochet::shape;
using Vec = body::Vec<3>;

/// Equal spheres in layers, n x n and (n-1) x (n-1) in turn, each in the hollows of the one below;
/// those of a layer do not touch each other, the outer ones of large layers touch the walls. It
/// rests: every sphere lies on four, or on the floor.
race::Scene lattice(int count) {
  constexpr double kRadius = 0.05;
  constexpr double kPitch = 2.1 * kRadius;
  const double rise = std::sqrt(4.0 * kRadius * kRadius - 0.5 * kPitch * kPitch);
  const int across = std::max(2, static_cast<int>(std::lround(std::cbrt(0.7 * count))));
  const double width = kPitch * (across - 1) + 2.0 * kRadius;
  race::Scene scene;
  scene.walls = {
      {{0, 0, 1}, 0}, {{1, 0, 0}, 0}, {{-1, 0, 0}, -width}, {{0, 1, 0}, 0}, {{0, -1, 0}, -width}};
  for (int layer = 0; static_cast<int>(scene.bodies.size()) < count; ++layer) {
    const int side = across - layer % 2;
    const double first = kRadius + 0.5 * kPitch * (layer % 2);
    for (int k = 0; k < side * side; ++k) {
      const race::Triple at{first + kPitch * (k % side), first + kPitch * (k / side),
                            kRadius + rise * layer};
      scene.bodies.push_back(race::sphere(kRadius, 1000.0, at));
    }
  }
  return scene;
}

Vec vector(const race::Triple& v) { return {v[0], v[1], v[2]}; }

void add_ball(const race::Body& from, body::World<3>& world) {
  body::Body<3> ball;
  ball.name = "sphere";
  ball.mass = from.mass;
  ball.shapes = 1;
  ball.first_shape = world.count();
  ball.start.x = vector(from.at);
  ball.inertia = vector(from.inertia).asDiagonal();
  ball.size = ball.reach = from.r;
  settle_inertia(ball);
  world.solids.push_back({world.count(), shape::ball<3>(from.r)});
  world.bodies.push_back(std::move(ball));
}

body::World<3> world_of(const race::Scene& scene) {
  body::World<3> world;
  world.materials = {"stone"};
  body::PairLaw law;
  law.is_stated = true;
  law.friction = scene.friction;
  world.laws = {law};
  const Vec gravity = vector(scene.gravity);
  world.gravity = [gravity](double) { return gravity; };
  for (const race::Body& from : scene.bodies) add_ball(from, world);
  body::Body<3> walls;
  walls.name = "walls";
  walls.kind = body::Kind::Fixed;
  walls.first_shape = static_cast<int>(world.solids.size());
  walls.shapes = static_cast<int>(scene.walls.size());
  walls.size = std::numeric_limits<double>::infinity();
  for (const race::Wall& wall : scene.walls) {
    const Vec normal = vector(wall.normal);
    world.solids.push_back({world.count(), shape::half_space<3>(wall.offset * normal, normal)});
  }
  world.bodies.push_back(std::move(walls));
  return world;
}

/// All bits of places and velocities in one number (FNV-1a).
std::uint64_t digest_of(const body::WorldState<3>& state) {
  std::uint64_t sum = 1469598103934665603ULL;
  for (const body::Motion<3>& m : state.bodies) {
    for (const Vec& part : {m.x, m.v, m.spin}) {
      for (const double value : part) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, &value, sizeof bits);
        sum = (sum ^ bits) * 1099511628211ULL;
      }
    }
  }
  return sum;
}

double now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since).count();
}
double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

struct Times {
  double step{0.0};   // [s] of all steps
  double judge{0.0};  // of which the judge
  double least{std::numeric_limits<double>::infinity()};
  double least_judge{0.0};
  double cpu{0.0};
  double rows{0.0};
  int count{0};
};

int run(const race::Scene& scene, int steps, int threads, int skip, Times& times,
        std::uint64_t& digest) {
  const body::World<3> world = world_of(scene);
  certify::Limits limits;
  limits.aim = limits.least = certify::Level::Bounded;
  body::WorldState<3> state;
  state.gone.assign(world.bodies.size(), 0);
  for (const body::Body<3>& one : world.bodies) state.bodies.push_back(one.start);
  body::WorldState<3> next = state;
  ricochet::host::ThreadPool pool(threads);
  ricochet::step::MoreauBodies<3> stepper(world, limits);
  certify::BodyJudge<3> judge(world, limits, state);
  stepper.use(pool.executor());
  judge.use(pool.executor());
  certify::BodyClaim<3> claim;
  for (int k = 0; k < skip + steps; ++k) {
    next.t = (k + 1) * scene.step;
    const double cpu = cpu_seconds();
    const double begin = now();
    const auto report = stepper.advance(state, scene.step, next, claim);
    const double made = now();
    if (report.status != ricochet::problem::Status::Solved ||
        !judge.accept(state, next, scene.step, claim)) {
      std::fprintf(stderr, "step %d does not hold\n", k + 1);
      return 1;
    }
    const double end = now();
    std::swap(state, next);
    if (k < skip) continue;
    if (end - begin < times.least) {
      times.least = end - begin;
      times.least_judge = end - made;
    }
    times.step += end - begin;
    times.judge += end - made;
    times.cpu += cpu_seconds() - cpu;
    times.rows += static_cast<double>(stepper.rows().size());
    ++times.count;
  }
  digest = digest_of(state);
  return 0;
}

}  // namespace

int main(int count, char** words) {
  if (count < 5) {
    std::fprintf(stderr, "usage: %s rest|settle COUNT STEPS THREADS [SKIP]\n", words[0]);
    return 2;
  }
  const bool rests = std::strcmp(words[1], "rest") == 0;
  const int bodies = std::atoi(words[2]);
  const race::Scene scene = rests ? lattice(bodies) : race::spheres(bodies);
  Times times;
  std::uint64_t digest = 0;
  const int threads = std::atoi(words[4]);
  const int failed =
      run(scene, std::atoi(words[3]), threads, count > 5 ? std::atoi(words[5]) : 1, times, digest);
  if (failed != 0) return failed;
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  std::printf("%s,%zu,%d,%d,%.0f,%.4f,%.4f,%.4f,%.1f,%.1f,%.0f,%016llx\n", words[1],
              scene.bodies.size(), threads, times.count, times.rows / times.count,
              1e3 * times.step / times.count, 1e3 * times.least, 1e3 * times.cpu / times.count,
              100.0 * times.judge / times.step, 100.0 * times.least_judge / times.least,
              static_cast<double>(use.ru_maxrss) / 1024.0, static_cast<unsigned long long>(digest));
  return 0;
}
