// Ricochet in the race: every step certified, the certificate's time included. Scenes whose prisms
// could as well be polygons are run in the plane, with the mass of the prisms.

#include "ricochet/body/rows.h"
#include "ricochet/certify/bodies.h"
#include "ricochet/shape/shape.h"
#include "ricochet/step/moreau_bodies.h"

#include "drive.h"

namespace {

using ricochet::body::Body;
using ricochet::body::Kind;
using ricochet::body::Motion;
using ricochet::body::Vec;
using ricochet::body::World;
using ricochet::body::WorldState;
namespace certify = ricochet::certify;
namespace shape = ricochet::shape;

template <int D>
Vec<D> vector(const race::Triple& v) {
  if constexpr (D == 2) return {v[0], v[2]};
  if constexpr (D == 3) return {v[0], v[1], v[2]};
}
race::Triple triple(const Vec<3>& v) { return {v[0], v[1], v[2]}; }
race::Triple triple(const Vec<2>& v) { return {v[0], 0.0, v[1]}; }
// About y from z to x, so against the plane's sense from x to z.
race::Triple spin_of(const Motion<2>& m) { return {0.0, -m.spin, 0.0}; }
race::Triple spin_of(const Motion<3>& m) { return triple(m.spin); }
std::array<double, 4> turn_of(const Motion<2>& m) { return race::turned(1, -m.angle); }
std::array<double, 4> turn_of(const Motion<3>& m) {
  return {m.turn.w(), m.turn.x(), m.turn.y(), m.turn.z()};
}

template <int D>
Body<D> body_of(const race::Body& from) {
  Body<D> body;
  body.name = "body";
  body.mass = from.mass;
  body.shapes = 1;
  body.start.x = vector<D>(from.at);
  const auto& q = from.turn;
  if constexpr (D == 2) {
    body.inertia = from.inertia[1];
    body.start.angle = -2.0 * std::atan2(q[2], q[0]);
  } else {
    body.inertia = vector<3>(from.inertia).asDiagonal();
    body.start.turn = Eigen::Quaterniond(q[0], q[1], q[2], q[3]);
  }
  settle_inertia(body);
  return body;
}

template <int D>
shape::Shape<D> shape_of(const race::Body& from) {
  if (from.is_sphere()) return shape::ball<D>(from.r);
  if (from.is_box()) return shape::box<D>(2.0 * vector<D>(from.half_sides()));
  std::vector<Vec<D>> corners;
  if constexpr (D == 2) {
    for (const auto& p : from.profile) corners.push_back({p[0], p[1]});
    return shape::polygon(corners);
  } else {
    for (const race::Triple& c : from.corners()) corners.push_back(vector<3>(c));
    return shape::polytope(corners);
  }
}

template <int D>
World<D> world_of(const race::Scene& scene) {
  World<D> world;
  world.materials = {"stone"};
  ricochet::body::PairLaw law;
  law.is_stated = true;
  law.friction = scene.friction;
  world.laws = {law};
  const Vec<D> gravity = vector<D>(scene.gravity);
  world.gravity = [gravity](double) { return gravity; };
  for (const race::Body& from : scene.bodies) {
    Body<D> body = body_of<D>(from);
    body.first_shape = world.count();
    shape::Shape<D> solid = shape_of<D>(from);
    body.size = solid.extent;
    body.reach = solid.centre.norm() + solid.extent;
    world.solids.push_back({world.count(), std::move(solid)});
    world.bodies.push_back(std::move(body));
  }
  Body<D> walls;
  walls.name = "walls";
  walls.kind = Kind::Fixed;
  walls.first_shape = static_cast<int>(world.solids.size());
  walls.shapes = static_cast<int>(scene.walls.size());
  walls.size = std::numeric_limits<double>::infinity();
  for (const race::Wall& wall : scene.walls) {
    const Vec<D> normal = vector<D>(wall.normal);
    world.solids.push_back({world.count(), shape::half_space<D>(wall.offset * normal, normal)});
  }
  world.bodies.push_back(std::move(walls));
  return world;
}

/// "default": what a scene has that states no level.
certify::Limits limits_of(const std::string& level) {
  certify::Limits limits;
  if (level == "exact") limits.aim = limits.least = certify::Level::Exact;
  if (level == "tight") limits.aim = limits.least = certify::Level::Tight;
  if (level == "bounded") limits.aim = limits.least = certify::Level::Bounded;
  return limits;
}

template <int D>
WorldState<D> start_of(const World<D>& world) {
  WorldState<D> state;
  state.gone.assign(world.bodies.size(), 0);
  for (const Body<D>& body : world.bodies) state.bodies.push_back(body.start);
  return state;
}

template <int D>
class Engine {
 public:
  Engine(const race::Scene& scene, const char* level)
      : scene_(scene),
        world_(world_of<D>(scene)),
        state_(start_of(world_)),
        next_(state_),
        stepper_(world_, limits_of(level)),
        judge_(world_, limits_of(level), state_) {}
  ~Engine() {
    if (steps_ == 0) return;
    const certify::BodyStatistics told = judge_.statistics();
    std::printf(
        "certificate %.0f %% of the time; steps exact %lld, tight %lld, bounded %lld; creep max "
        "%.3g m/s\n",
        100.0 * judging_ / (stepping_ + judging_), told.steps[0], told.steps[1], told.steps[2],
        judge_.certificate().creep_max);
    if (scene_.phases.size() == 1 && scene_.has_spheres()) {
      const double each = 1e6 / (steps_ * static_cast<double>(scene_.bodies.size()));
      std::printf("%.2f us a body for a step, %.2f for its certificate\n", each * stepping_,
                  each * judging_);
    }
  }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  void look(race::Frame&) {}

  bool step() {
    if (steps_ > 0) std::swap(state_, next_);
    const double start = race::cpu_seconds();
    next_.t = ++steps_ * scene_.step;
    const auto report = stepper_.advance(state_, scene_.step, next_, claim_);
    const double stepped = race::cpu_seconds();
    const bool holds = report.status == ricochet::problem::Status::Solved &&
                       judge_.accept(state_, next_, scene_.step, claim_);
    stepping_ += stepped - start;
    judging_ += race::cpu_seconds() - stepped;
    return holds;
  }

  /// Places at the middle, where contacts are looked for.
  void finish(race::Frame& frame) const {
    const int count = world_.count() - 1;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      const Motion<D>& after = next_.bodies[i];
      Motion<D> middle = after;
      middle.advance(-0.5 * scene_.step);
      frame.places.push_back(triple(middle.x));
      if (!scene_.has_spheres()) frame.turns.push_back(turn_of(middle));
      frame.before.push_back(triple(state_.bodies[i].v));
      frame.after.push_back(triple(after.v));
      frame.spins.push_back(spin_of(after));
    }
    auto row = stepper_.rows().begin();
    for (const auto& push : claim_.pushes) {
      while (row->key != push.key) ++row;
      const int wall = push.key.b - count;
      frame.contacts.push_back(
          {row->body_a, wall < 0 ? row->body_b : -1 - wall, triple(in_space(*row, push.impulse))});
    }
  }

 private:
  const race::Scene& scene_;
  World<D> world_;
  WorldState<D> state_;
  WorldState<D> next_;
  ricochet::step::MoreauBodies<D> stepper_;
  certify::BodyJudge<D> judge_;
  certify::BodyClaim<D> claim_;
  int steps_{0};
  double stepping_{0.0};  // [s]
  double judging_{0.0};
};

}  // namespace

int main(int count, char** words) {
  const bool is_plane = count > 1 && (std::strncmp(words[1], "pyramid", 7) == 0 ||
                                      std::strncmp(words[1], "arch", 4) == 0);
  return is_plane ? race::compete<Engine<2>>(count, words) : race::compete<Engine<3>>(count, words);
}
