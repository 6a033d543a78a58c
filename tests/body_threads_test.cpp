// Worlds of many bodies on several threads: every number of a run is the same for any number of
// threads, and for any order in which pieces of its work are done.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "ricochet/base/executor.h"
#include "ricochet/host/thread_pool.h"
#include "ricochet/scene/scene.h"
#include "ricochet/step/run_bodies.h"

namespace ricochet::step::body_threads_test {
namespace {

/// Spheres in layers, each in the hollows of the one below, thrown about by velocities of their
/// own, and one that is driven through them.
const std::string kSpheres = R"toml(
[world]
dimension  = 3
gravity    = [0.5, 0, -9.81]
parameters = { r = 0.05, p = 0.105 }
[material.stone]
density = 1000
[pair]
default = { friction = 0.5 }
[body.ball]
for      = "i in 0..39, j in 0..14, k in 0..1"
with     = { off = "p/4*(1 - cos(pi*k))" }
sphere   = "r"
at       = ["p*i + off", "p*j + off", "r + k*sqrt(4*r^2 - p^2/2)"]
velocity = ["0.1*sin(7*i + j)", "0.1*cos(5*j + k)", "-0.1 + 0.1*sin(3*k + i)"]
material = "stone"
[body.pusher]
driven   = { position = ["-0.1 + 2*t", 0.4, 0.12] }
sphere   = 0.05
material = "stone"
[body.ground]
fixed      = true
half_space = { point = [0, 0, 0], normal = [0, 0, 1] }
material   = "stone"
[run]
scheme    = "moreau"
step      = 0.001
until     = 0.006
level     = "bounded"
)toml";

/// The same of discs, in the plane.
const std::string kDiscs = R"toml(
[world]
dimension  = 2
gravity    = [0, -9.81]
parameters = { r = 0.05, p = 0.105 }
[material.stone]
density = 1000
[pair]
default = { friction = 0.3 }
[body.disc]
for      = "i in 0..299, k in 0..3"
with     = { off = "p/4*(1 - cos(pi*k))" }
disc     = "r"
at       = ["p*i + off", "r + k*sqrt(4*r^2 - p^2/4)"]
velocity = ["0.1*sin(7*i + k)", "-0.1 + 0.1*sin(3*k + i)"]
material = "stone"
[body.ground]
fixed      = true
half_plane = { point = [0, 0], normal = [0, 1] }
material   = "stone"
[run]
scheme    = "moreau"
step      = 0.001
until     = 0.006
level     = "bounded"
)toml";

using Bits = std::vector<std::uint64_t>;

void add(double value, Bits& bits) {
  std::uint64_t one = 0;
  std::memcpy(&one, &value, sizeof one);
  bits.push_back(one);
}

void add(const certify::Certificate& c, const certify::BodyStatistics& told, Bits& bits) {
  const certify::Ledger& ledger = c.ledger;
  for (const double value : {c.residual_max,
                             c.residual_sum,
                             c.balance_max,
                             c.violation_max,
                             c.violation_sum,
                             c.creep_max,
                             ledger.kinetic_end,
                             ledger.potential_end,
                             ledger.kinetic_max,
                             ledger.contacts.value(),
                             ledger.friction.value(),
                             ledger.shocks.value(),
                             ledger.forces.value(),
                             ledger.defect.value(),
                             ledger.defect_max,
                             told.creep_mean,
                             told.way,
                             told.unresolved,
                             told.pushes_mean,
                             told.creep[0],
                             told.creep[1]}) {
    add(value, bits);
  }
  bits.push_back(static_cast<std::uint64_t>(told.pairs_checked));
}

/// All numbers of a run: places and velocities, impulses, certificate, statistics.
template <int D>
Bits run(const scene::Scene& scene, const base::Executor& executor) {
  const body::World<D>* world = nullptr;
  if constexpr (D == 2) world = &*scene.world()->plane;
  if constexpr (D == 3) world = &*scene.world()->space;
  body::WorldState<D> state = start_of(*world, 0.0);
  Monitor monitor;
  monitor.executor = executor;
  certify::BodyStatistics told;
  std::size_t most = 0;
  const Outcome outcome = run_bodies<D>(
      *world, scene.run, state,
      [&](const BodySample<D>& sample) {
        most = std::max(most, sample.rows.size());
        return true;
      },
      &monitor, told);
  EXPECT_TRUE(outcome.certificate.ok()) << told.where << told.broken;
  EXPECT_EQ(outcome.steps, 6);
  EXPECT_GT(most, 2048U) << "too few rows to be swept in groups";
  Bits bits;
  for (const body::Motion<D>& m : state.bodies) {
    for (const double value : body::places_of(m)) add(value, bits);
    for (const double value : body::rates_of(m)) add(value, bits);
  }
  for (const body::Push<D>& push : state.pushes) {
    for (const double value : push.impulse) add(value, bits);
  }
  add(outcome.certificate, told, bits);
  return bits;
}

/// The last piece first.
void run_backwards(std::size_t count, const std::function<void(std::size_t)>& work) {
  for (std::size_t k = count; k > 0; --k) work(k - 1);
}

template <int D>
void expect_same_bits(const std::string& text) {
  const scene::Scene scene = scene::read_scene("heap.toml", text);
  const Bits one = run<D>(scene, {});
  EXPECT_EQ(run<D>(scene, run_backwards), one);
  for (const int threads : {2, 3, 4}) {
    host::ThreadPool pool(threads);
    EXPECT_EQ(run<D>(scene, pool.executor()), one) << threads << " threads";
  }
}

TEST(BodyThreads, ChangeNoBitOfSpheres) { expect_same_bits<3>(kSpheres); }

TEST(BodyThreads, ChangeNoBitOfDiscs) { expect_same_bits<2>(kDiscs); }

/// Exact: each piece is done once, and all of them before the pool returns, however often it is
/// asked and however many threads share a core.
TEST(PoolThreads, DoEveryPieceOnce) {
  host::ThreadPool pool(6);
  const base::Executor executor = pool.executor();
  std::vector<int> done(37, 0);
  for (std::size_t round = 0; round < 3000; ++round) {
    const std::size_t count = 1 + round % done.size();
    executor(count, [&](std::size_t k) { ++done[k]; });
    const int sum = std::accumulate(done.begin(), done.end(), 0);
    ASSERT_EQ(sum, static_cast<int>(count)) << round;
    std::fill(done.begin(), done.end(), 0);
  }
}

TEST(PoolThreads, EndWithoutWork) {
  for (int k = 0; k < 20; ++k) host::ThreadPool pool(4);
  EXPECT_FALSE(host::ThreadPool(1).executor());
}

}  // namespace
}  // namespace ricochet::step::body_threads_test
