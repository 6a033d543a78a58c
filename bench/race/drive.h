#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "frames.h"
#include "scene.h"

namespace race {

/// Puts bodies where the last frame of another run has them.
inline void start_from(const char* path, Scene& scene) {
  Reader reader(path);
  Frame frame;
  double seconds = 0.0;
  bool is_frame = false;
  while (reader.next(seconds, frame, is_frame)) {
  }
  if (frame.places.size() != scene.bodies.size()) {
    throw std::runtime_error(std::string("no places for this scene in ") + path);
  }
  for (std::size_t i = 0; i < frame.places.size(); ++i) {
    scene.bodies[i].at = frame.places[i];
    if (!frame.turns.empty()) scene.bodies[i].turn = frame.turns[i];
  }
}

/// Makes the steps of a scene from `first` on and writes them. An engine has look(frame), which
/// fills in places, turns and velocities before a step; step(), which is timed, false where it
/// fails; and finish(frame), for velocities and impulses after it. Runs end early after RACE_LIMIT
/// seconds of CPU time.
template <class Engine>
int drive(const Scene& scene, int first, Engine& engine, const char* path) {
  const char* told = std::getenv("RACE_LIMIT");
  const double limit = told != nullptr ? std::atof(told) : 1e9;
  Writer writer(path);
  for (int k = first; k <= scene.steps; ++k) {
    Frame frame;
    frame.step = k;
    if (scene.is_judged(k)) engine.look(frame);
    const double start = cpu_seconds();
    if (!engine.step()) {
      std::printf("ends at step %d of %d, which it did not solve\n", k, scene.steps);
      return 0;
    }
    const double end = cpu_seconds();
    writer.time(k, end - start);
    if (scene.is_judged(k)) {
      engine.finish(frame);
      writer.frame(frame);
    }
    if (end > limit && k < scene.steps) {
      std::printf("ends after %d of %d steps, and %.0f s\n", k - first + 1, scene.steps - first + 1,
                  end);
      return 0;
    }
  }
  return 0;
}

/// "PROGRAM SCENE SETTING FILE [START]": with START, the last frame of another run, bodies are at
/// rest where it has them, and steps begin 50 before the last phase.
template <class Engine>
int compete(int count, char** words) {
  if (count != 4 && count != 5) {
    std::fprintf(stderr, "usage: %s SCENE SETTING FILE [START]\n", words[0]);
    return 2;
  }
  try {
    Scene scene = scene_of(words[1]);
    if (count == 5) start_from(words[4], scene);
    const int first = count == 5 ? std::max(1, scene.phases.back().first - 50) : 1;
    Engine engine(scene, words[2]);
    return drive(scene, first, engine, words[3]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

}  // namespace race
