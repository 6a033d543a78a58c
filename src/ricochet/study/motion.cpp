#include "ricochet/study/motion.h"

namespace ricochet::study {

Motion run_scene(const scene::Scene& scene, bool keep_rows, const step::Observer& observe,
                 step::Monitor* monitor) {
  Motion motion;
  motion.scene = scene;
  motion.final_state = scene.start;
  const auto watch = [&](const step::Sample& s) {
    if (observe) observe(s);
    if (!keep_rows) return;
    const auto copy = [](std::span<const double> v) {
      return std::vector<double>(v.begin(), v.end());
    };
    motion.rows.push_back(
        {s.t, copy(s.q), copy(s.u), copy(s.gaps), copy(s.impulses), s.kinetic, s.potential});
  };
  motion.outcome =
      step::run_formula(*scene.model, scene.scheme, scene.run, motion.final_state, watch, monitor);
  return motion;
}

Motion run_in_memory(const std::string&, const scene::Scene& scene,
                     const std::vector<std::string>&) {
  return run_scene(scene, true);
}

}  // namespace ricochet::study
