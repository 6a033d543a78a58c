// Which runs are golden. Motions that part exponentially are ended while nine digits are still
// common to all machines; long ones are cut so that all together take seconds.

#include <map>

#include "golden.h"
#include "ricochet/study/builtin_scenes.h"

namespace ricochet::golden {
namespace {

using Settings = std::vector<std::string>;

/// What is shortened in a scene.
const std::map<std::string, Settings>& shortened() {
  static const std::map<std::string, Settings> settings = {
      {"column", {"N=100", "run.steps=50"}}, {"elliptical-billiard", {"run.until=20"}},
      {"essai-01", {"run.until=1.5"}},       {"essai-10-100", {"run.until=1"}},
      {"essai-10-200", {"run.until=1"}},     {"impact-oscillator", {"run.until=40"}},
      {"tight-joint", {"run.until=30"}},     {"tube-10", {"run.until=0.1"}},
      {"tube-20", {"run.until=0.05"}},       {"tube-three-supports", {"run.until=0.03"}},
      {"vibrating-table", {"run.until=1"}},
  };
  return settings;
}

class List {
 public:
  /// A run of a scene, with what is shortened in it; settings that come later win.
  void add(const std::string& scene, const Settings& settings = {}, std::size_t member = 0,
           bool backward = false) {
    Run run{scene, {}, member, backward};
    const auto found = shortened().find(scene);
    if (found != shortened().end()) run.settings = found->second;
    for (const std::string& setting : settings) set(setting, run.settings);
    runs_.push_back(run);
  }
  void add_backward(const std::string& scene, const Settings& settings = {}) {
    add(scene, settings, 0, true);
  }
  /// The same run for each value of a key.
  void vary(const std::string& scene, const std::string& key, const Settings& values,
            const Settings& settings = {}) {
    for (const std::string& value : values) {
      Settings all = settings;
      all.push_back(key + "=" + value);
      add(scene, all);
    }
  }
  void with_schemes(const std::string& scene, const Settings& schemes,
                    const Settings& settings = {}) {
    vary(scene, "run.scheme", schemes, settings);
  }
  void members(const std::string& scene, std::size_t count, const Settings& settings = {}) {
    for (std::size_t member = 1; member <= count; ++member) add(scene, settings, member);
  }
  std::vector<Run> runs() const { return runs_; }

 private:
  static void set(const std::string& setting, Settings& settings) {
    const std::string key = setting.substr(0, setting.find('=') + 1);
    for (std::string& one : settings) {
      if (one.rfind(key, 0) != 0) continue;
      one = setting;
      return;
    }
    settings.push_back(setting);
  }
  std::vector<Run> runs_;
};

/// What the gallery shows of Moreau's essais besides their scenes as they stand.
void add_essais(List& list) {
  list.with_schemes("essai-01", {"billiard", "inel"});
  list.with_schemes("essai-02", {"billiard"});
  list.vary("essai-03", "run.anticipation", {"0.5"});
  list.vary("essai-04", "run.anticipation", {"-0.02", "-0.01", "0.01", "0.02"});
  list.vary("essai-05", "run.anticipation", {"0.3", "0.4", "0.5", "0.6", "0.7"}, {"run.until=1"});
  list.add("essai-07", {"run.step=0.002", "run.steps=1250", "mark=50"});
  list.vary("wedge", "theta", {"-1.4", "-0.1", "0", "0.1", "0.7"});
  list.with_schemes("corner", {"inel"});
  list.vary("essai-09", "run.step", {"0.002", "0.001", "0.0005"}, {"run.until=4"});
  list.members("essai-09-plate-12", 12);
  list.members("essai-09-plate-13", 10, {"A=-0.5", "run.steps=1000"});
  list.members("essai-09-plate-13", 10, {"A=0.5", "run.steps=1000"});
  list.add("essai-10", {"run.until=8"});
  list.add("essai-10", {"CR=-800", "run.until=1"});
  list.add("essai-10-200", {"run.step=0.0005"});
  list.add("essai-10-100", {"CR=-50"});
}

/// The same of impacts, friction and structures.
void add_gallery(List& list) {
  for (const char* e : {"e=0.5", "e=0.8", "e=0.9"}) {
    list.add("zeno", {e, "run.until=9"});
    list.add("zeno",
             {e, "run.scheme=event-driven", "run.zeno=contact", "run.step=0.05", "run.until=9"});
  }
  list.with_schemes("ball-on-a-line", {"event-driven", "mabrouk"});
  list.members("corner-sensitive", 3);
  list.vary("impact-oscillator", "factor", {"0.999", "1.001", "1.05", "1.2", "1.5", "2"},
            {"run.scheme=event-driven", "run.step=0.1", "run.record=1", "run.until=80"});
  list.add("incline", {"slope=0.45", "run.steps=20000", "run.record=0"});
  list.add("incline", {"slope=0.6"});
  for (const char* mu : {"mu=1.30", "mu=1.37"}) {
    list.vary("painleve", "run.step", {"1e-4", "1e-5"}, {mu, "run.until=0.01"});
  }
  for (const char* angle : {"phi0=0.6", "phi0=1", "phi0=1.4"}) {
    list.vary("painleve", "v", {"-1.5", "-0.2", "0.2", "1.5"},
              {angle, "mu=0.3", "g=0", "start.velocity.y=-1", "run.steps=100", "run.step=1e-12"});
  }
  list.add("tube-20", {"run.record=0", "run.step=5e-6"});
}

/// Every scheme on scenes of every size the engine has a loop for.
void add_schemes(List& list) {
  const Settings all = {"billiard",        "elast",       "inel",    "moreau",      "mabrouk",
                        "paoli-schatzman", "moreau-jean", "penalty", "event-driven"};
  const Settings timed(all.begin(), all.end() - 1);  // steps that do not end at impacts
  const Settings nodes = {"mabrouk", "paoli-schatzman", "moreau-jean", "penalty", "event-driven"};
  list.with_schemes("template", all, {"run.until=1"});
  list.with_schemes("moving-box", all, {"run.until=1"});
  list.with_schemes("essai-07", all, {"run.steps=100"});
  list.with_schemes("essai-08", timed, {"run.until=0.5", "run.step=0.001"});
  list.with_schemes("dropped-ball", nodes);
  list.with_schemes("zeno", nodes, {"run.until=2"});
  list.with_schemes("damped-oscillator", all);
  list.with_schemes("double-pendulum", timed, {"run.until=1"});
  list.with_schemes("double-pendulum", {"event-driven"}, {"run.until=0.7"});
  list.with_schemes("arm", all, {"run.until=0.5"});
  list.with_schemes("rocking-block", timed, {"run.until=0.5"});
  list.with_schemes("slender-bar", {"mabrouk", "moreau-jean", "penalty", "event-driven"},
                    {"run.until=1"});
  list.with_schemes("essai-06", all, {"run.steps=200"});
  list.with_schemes("slider-crank", {"billiard", "elast", "inel", "moreau"}, {"run.until=0.5"});
  list.with_schemes("column", timed, {"N=12"});
  const Settings located = {"affine", "conserving"};
  for (const char* scene : {"template", "moving-box", "dropped-ball", "damped-oscillator"}) {
    list.with_schemes(scene, located, {"run.step=0.01", "run.until=1"});
  }
  list.with_schemes("double-pendulum", located, {"run.step=0.005", "run.until=0.5"});
  list.with_schemes("slider-crank", located, {"run.step=0.005", "run.until=0.3"});
  list.with_schemes("essai-07", {"billiard", "elast", "inel", "moreau"},
                    {"run.steps=200", "contact.floor.keep=z >= -44", "contact.side.keep=x >= -30"});
}

/// Settings of schemes.
void add_settings(List& list) {
  list.vary("slender-bar", "run.theta", {"0.75", "1"}, {"run.scheme=moreau-jean", "run.until=1"});
  list.vary("damped-oscillator", "run.average", {"backward", "forward"},
            {"run.scheme=paoli-schatzman"});
  list.vary("dropped-ball", "run.stiffness", {"1e4", "1e5"}, {"run.scheme=penalty"});
  list.vary("zeno", "run.accuracy", {"1e-6"}, {"run.scheme=event-driven", "run.until=2"});
  list.add("zeno", {"run.scheme=event-driven"});  // ends where impacts accumulate
  list.vary("essai-04", "run.correction", {"project"});
  list.vary("slider-crank", "run.correction", {"project"}, {"run.until=0.5"});
  list.vary("disc", "run.anticipation", {"0.5"}, {"run.correction=project"});
}

/// Steps that are chosen as the motion goes, and motions into the past.
void add_ways(List& list) {
  const std::string control = "run.step={max=0.02,min=1e-6,tolerance=1e-5}";
  const Settings staggered = {"billiard", "elast", "inel", "moreau"};
  list.with_schemes("template", staggered, {control, "run.until=1"});
  list.add("zeno", {control, "run.until=2"});
  list.add("double-pendulum", {control, "run.until=1"});
  list.add("slider-crank", {control, "run.until=0.1"});
  list.add("rolling-disc", {control});
  list.add("belt", {control, "run.until=1"});
  list.add("crate", {control, "run.until=0.2"});
  list.add("essai-09", {control, "run.until=0.5"});
  list.add("moving-box", {control, "run.until=1", "run.record=7"});
  for (const std::string& scheme : staggered) {
    list.add_backward("template", {"run.scheme=" + scheme, "run.until=1"});
  }
  list.add_backward("template", {control, "run.until=1"});
  list.add_backward("zeno", {"run.until=0.3"});
  list.add_backward("essai-05");
  list.add_backward("double-pendulum", {"run.until=0.5"});
  list.add_backward("slider-crank", {"run.until=0.3"});
  list.add_backward("moving-box", {"run.until=1"});
}

void add_friction(List& list) {
  const Settings jean = {"moreau-jean"};
  list.with_schemes("incline", jean, {"slope=0.6"});
  for (const char* scene : {"belt", "rolling-disc", "crate", "painleve", "brick"}) {
    list.with_schemes(scene, jean);
  }
  list.with_schemes("sdnd100", jean, {"run.until=0.05"});
  list.with_schemes("essai-09", jean, {"run.until=0.5"});
  list.with_schemes("essai-10", jean, {"run.until=0.5"});
  list.with_schemes("logs", jean, {"run.until=0.2"});
  list.vary("logs", "mu", {"0.1", "0.2"}, {"run.until=0.4"});
  list.with_schemes("pile", jean, {"run.steps=20", "mu=0.1"});
  list.vary("pile", "mu", {"0.1"}, {"run.steps=50"});
  const Settings both = {"moreau", "moreau-jean"};
  list.with_schemes("incline", both,
                    {"slope=0.6", "contact.slope.friction={forward=0.2,backward=0.5}"});
  list.with_schemes("sdnd100", both,
                    {"contact.floor.friction=0.05 + 0.1*exp(-slip/0.1)", "run.until=0.05"});
  list.with_schemes("brick", both,
                    {"contact.floor.friction={polygon=[[0.4,0],[0,0.2],[-0.4,0],[0,-0.2]]}"});
  list.with_schemes("rolling-disc", both,
                    {"contact.floor.restitution=0.6", "start.position.y=0.5"});
  list.with_schemes("essai-09", both,
                    {"contact.table.restitution=0.5", "start.position.z=1", "run.until=0.5"});
  list.with_schemes("crate", both, {"contact.left.restitution=0.3", "start.position.y=1.1"});
}

void add_impact_laws(List& list) {
  const Settings able = {"moreau", "mabrouk", "moreau-jean", "event-driven"};
  list.with_schemes("cradle", {"mabrouk", "paoli-schatzman", "moreau-jean", "penalty"});
  list.with_schemes("cradle", able,
                    {"contact.left.law=\"poisson\"", "contact.right.law=\"poisson\"",
                     "contact.left.restitution=0.8", "contact.right.restitution=0.5"});
  list.with_schemes("cradle", able,
                    {"contact.left.law=\"sequential\"", "contact.right.law=\"sequential\""});
  list.with_schemes("cradle", able,
                    {"contact.left.restitution=0.8", "contact.right.restitution=0.5"});
  list.with_schemes("zeno", able, {"contact.floor.restitution=0.9 - 0.05*approach", "run.until=2"});
  list.with_schemes("corner", able,
                    {"contact.wall.dissipation_index=0.1", "contact.floor.dissipation_index=0.1"});
  const std::string reflected = "1.5*(x*x' + y*y')/(x^2 + y^2)";  // e = 0.5, as a law of one's own
  list.with_schemes("template", able,
                    {"contact.bowl.law=[\"x' - x*" + reflected + "\",\"y' - y*" + reflected + "\"]",
                     "run.until=1"});
}

void add_structures(List& list) {
  const Settings others = {"moreau", "mabrouk", "penalty", "passive"};
  list.with_schemes("tube-10", others);
  list.with_schemes("string-obstacle", others);
  list.with_schemes("bar-wall", others);
  list.with_schemes("tube-three-supports", {"moreau"});
  list.vary("tube-10", "structure.reduction", {"{modes=8}"}, {"run.until=0.05"});
  list.vary("tube-10", "structure.nodes", {"200"}, {"run.until=0.03"});
  list.vary("string-obstacle", "structure.form", {"\"consistent\""});
}

}  // namespace

std::vector<Run> golden_runs() {
  List list;
  for (const study::BuiltinScene& scene : study::builtin_scenes()) list.add(scene.name);
  add_essais(list);
  add_gallery(list);
  add_schemes(list);
  add_settings(list);
  add_ways(list);
  add_friction(list);
  add_impact_laws(list);
  add_structures(list);
  return list.runs();
}

}  // namespace ricochet::golden
