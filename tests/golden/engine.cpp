#include "golden.h"
#include "ricochet/certify/certificate.h"
#include "ricochet/scene/scene.h"
#include "ricochet/study/builtin_scenes.h"
#include "ricochet/study/motion.h"

namespace ricochet::golden {
namespace {

std::string status_of(const certify::Certificate& certificate) {
  return certificate.ok() ? "ok" : certify::describe(certificate.failure).name;
}

}  // namespace

Ending make_run(const Run& run, const std::function<void(const Row&)>& observe) {
  const std::string file = run.scene + ".toml";
  const std::string& text = study::builtin_scene(run.scene);
  std::vector<scene::Override> overrides;
  for (const std::string& setting : run.settings) {
    overrides.push_back(scene::parse_override(setting));
  }
  const auto show = [&](const step::Sample& sample) {
    observe({sample.t, sample.q, sample.u, sample.gaps, sample.impulses, sample.tangential});
  };
  scene::Scene scene = scene::read_scene(file, text, overrides);
  scene.run.backward = run.backward;
  if (run.member > 0) scene = scene::read_member(scene, overrides, run.member - 1);
  const study::Motion made = study::run_scene(scene, false, show);
  return {step::name_of(scene.scheme), status_of(made.outcome.certificate)};
}

}  // namespace ricochet::golden
