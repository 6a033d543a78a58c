#pragma once

#include <gtest/gtest.h>

#include <string>

#include "ricochet/certify/bodies.h"
#include "ricochet/scene/scene.h"
#include "ricochet/step/run_bodies.h"

namespace ricochet::testing {

/// A scene with one of its lines written otherwise.
inline std::string changed(std::string text, const std::string& what, const std::string& with) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), with);
}

/// One step of a world of bodies from its start, with what it claims, and the judge's verdict.
template <int D>
struct BodyStep {
  scene::Scene scene;
  const body::World<D>& world;
  body::WorldState<D> before;
  body::WorldState<D> after;
  certify::BodyClaim<D> claim;

  explicit BodyStep(const std::string& text)
      : scene(scene::read_scene("bodies.toml", text)),
        world(world_of(scene)),
        before(step::start_of(world, 0.0)),
        after(before) {
    step::MoreauBodies<D> stepper(world, scene.run.limits);
    after.t = scene.run.step;
    EXPECT_EQ(stepper.advance(before, scene.run.step, after, claim).status,
              problem::Status::Solved);
  }

  certify::Failure verdict() {
    certify::BodyJudge<D> judge(world, scene.run.limits, before);
    (void)judge.accept(before, after, scene.run.step, claim);
    return judge.certificate().failure;
  }

 private:
  static const body::World<D>& world_of(const scene::Scene& scene) {
    if constexpr (D == 2) return *scene.world()->plane;
    if constexpr (D == 3) return *scene.world()->space;
  }
};

}  // namespace ricochet::testing
