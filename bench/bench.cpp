// Speed, measured side by side in one run: a hand-written loop, the same system as a C++ model, and
// the same system from a scene file. Minimum over repeats, interleaved, recording off, one core.

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "hand_written.h"
#include "ricochet/base/clock.h"
#include "ricochet/dynamics/lyapunov.h"
#include "ricochet/scene/scene.h"
#include "ricochet/step/elast.h"
#include "ricochet/step/inel.h"
#include "ricochet/step/run_formula.h"
#include "ricochet/step/simulate.h"
#include "ricochet/study/builtin_scenes.h"
#include "ricochet/study/companions.h"
#include "ricochet/study/family.h"
#include "ricochet/study/sweep.h"

namespace ricochet::bench {
namespace {

/// Essai 4 as a C++ user writes it.
struct Pendulum {
  static constexpr int kDofs = 2;
  static constexpr int kContacts = 1;
  double R{40.0};
  double g{1000.0};

  double gap(int, double, const Eigen::Vector2d& q) const { return R * R - q.squaredNorm(); }
  Eigen::Vector2d gap_gradient(int, double, const Eigen::Vector2d& q) const { return -2.0 * q; }
  Eigen::Vector2d force(double, const Eigen::Vector2d&, const Eigen::Vector2d&) const {
    return {0.0, -g};
  }
  double potential(double, const Eigen::Vector2d& q) const { return g * q[1]; }
};

/// The rod of essai 8, with a diagonal mass; its ends share one sine and cosine.
struct Rod {
  static constexpr int kDofs = 3;
  static constexpr int kContacts = 2;
  convex::DiagonalMetric<3> metric{{1.0, 1.0, 21.65 * 21.65}};

  struct Geometry {
    double c{0.0};
    double s{0.0};
    double x{0.0};
    double y{0.0};
  };
  static Geometry at(double, const Eigen::Vector3d& q) {
    return {std::cos(q[2]), std::sin(q[2]), q[0], q[1]};
  }
  static double abscissa(int contact) { return contact == 0 ? -37.5 : 12.5; }
  static double gap(int contact, const Geometry& at) {
    const double x = at.x + abscissa(contact) * at.c;
    const double y = at.y + abscissa(contact) * at.s;
    return 45.0 * 45.0 - (x * x + y * y);
  }
  static Eigen::Vector3d gap_gradient(int contact, const Geometry& at) {
    const double l = abscissa(contact);
    const double x = at.x + l * at.c;
    const double y = at.y + l * at.s;
    return {-2.0 * x, -2.0 * y, -2.0 * l * (y * at.c - x * at.s)};
  }
  static Eigen::Vector3d force(double, const Eigen::Vector3d&, const Eigen::Vector3d&) {
    return {0.0, -981.0, 0.0};
  }
  static double potential(double, const Eigen::Vector3d& q) { return 981.0 * q[1]; }
  const convex::DiagonalMetric<3>& mass() const { return metric; }
};

struct Result {
  double x{0.0};
  double y{0.0};
  double residual{0.0};
};

/// One way to run a case.
struct Way {
  std::string name;
  double limit{0.0};  // times the hand-written loop; 0: none
  std::function<Result()> run;
  double most{std::numeric_limits<double>::infinity()};  // [ns] a step
  double best{std::numeric_limits<double>::infinity()};  // [ns] a step
  Result result{};
};

struct Case {
  std::string name;
  long long steps{0};
  std::vector<Way> ways;  // the first is what the others are measured by
  bool same_motion{true};
};

template <class System, class Scheme>
Result run_cpp(const System& system, const Scheme& scheme, const Eigen::VectorXd& q,
               const Eigen::VectorXd& u, const step::RunSettings& run) {
  const model::InlineModel<System> model(system);
  model::State<System::kDofs> state{0.0, q, u};
  const step::Outcome outcome = step::simulate(model, scheme, run, state, [](const auto&) {});
  return {state.q[0], state.q[1], outcome.certificate.residual_max};
}

Result run_scene(const scene::Scene& scene) {
  model::State<model::kDynamic> state = scene.start;
  const step::Outcome outcome = step::run_formula(*scene.system().model, scene.scheme, scene.run,
                                                  state, [](const step::Sample&) {});
  return {state.q[0], state.q[1], outcome.certificate.residual_max};
}

Case pendulum_case() {
  constexpr double h = 0.005;
  constexpr long long steps = 400'000;
  const Eigen::Vector2d q(0.0, -40.0);
  const Eigen::Vector2d u(std::sqrt(200.0) * 40.0, 0.0);
  const step::RunSettings bare{.step = h, .steps = steps, .record_every = 0, .certify = false};
  const step::RunSettings certified{.step = h, .steps = steps, .record_every = 0};
  scene::Scene scene = scene::read_scene("essai-04.toml", study::builtin_scene("essai-04"));
  scene.run.steps = steps;
  scene.run.record_every = 0;
  scene::Scene uncertified = scene;
  uncertified.run.certify = false;
  return {"essai 4, a dozen flops a step (elast)",
          steps,
          {{"hand-written loop", 0.0,
            [] {
              const HandResult r = hand_pendulum(h, steps);
              return Result{r.x, r.y};
            }},
           {"C++ model", 2.0, [=] { return run_cpp(Pendulum{}, step::Elast{}, q, u, bare); }},
           {"C++ model, certified", 3.5,
            [=] { return run_cpp(Pendulum{}, step::Elast{}, q, u, certified); }},
           {"scene", 0.0, [=] { return run_scene(uncertified); }},
           {"scene, certified", 8.0, [=] { return run_scene(scene); }}}};
}

std::string read_text(const std::string& file) {
  std::ifstream stream(file);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

Case rod_case() {
  constexpr double h = 1e-5;
  constexpr long long steps = 110'000;
  const Eigen::Vector3d q(35.72, -16.7431, 4.59648);
  const Eigen::Vector3d u(121.734, 260.301, 7.26448);
  const step::RunSettings bare{.step = h, .steps = steps, .record_every = 0, .certify = false};
  const step::RunSettings certified{.step = h, .steps = steps, .record_every = 0};
  scene::Scene scene =
      scene::read_scene("rod.toml", read_text(RICOCHET_SOURCE_DIR "/bench/rod.toml"));
  scene.run.step = h;
  scene.run.steps = steps;
  scene.run.record_every = 0;
  return {
      "rod in a circle, with trigonometry (inel)",
      steps,
      {{"hand-written loop", 0.0,
        [] {
          const HandResult r = hand_rod(h, steps);
          return Result{r.x, r.y};
        }},
       {"C++ model", 2.0, [=] { return run_cpp(Rod{}, step::Inel{}, q, u, bare); }},
       {"C++ model, certified", 3.5, [=] { return run_cpp(Rod{}, step::Inel{}, q, u, certified); }},
       {"scene, certified", 4.0, [=] { return run_scene(scene); }}}};
}

/// A step with a contact held all the time, without friction and with it.
Case friction_case(const std::string& name, const std::string& scene, bool certified) {
  constexpr long long steps = 100'000;
  const auto read = [&](bool rough) {
    std::vector<scene::Override> changes = {scene::parse_override("run.record=0"),
                                            scene::parse_override("run.step=1e-6")};
    std::string text = study::builtin_scene(scene);
    if (!rough) {
      for (const char* key : {"slip ", "friction "}) {
        const std::size_t line = text.find(std::string("\n") + key, text.find("[contact."));
        text.erase(line, text.find('\n', line + 1) - line);
      }
    }
    scene::Scene changed = scene::read_scene(scene + ".toml", text, changes);
    changed.run.steps = steps;
    changed.run.certify = certified;
    return changed;
  };
  const scene::Scene smooth = read(false);
  const scene::Scene rough = read(true);
  return {fmt::format("{} (moreau){}", name, certified ? ", certified" : ""),
          steps,
          {{"scene without friction", 0.0, [=] { return run_scene(smooth); }},
           {"scene with friction", 3.0, [=] { return run_scene(rough); }}},
          false};
}

/// A chaotic impact oscillator; a step is an impact.
Case impact_case() {
  constexpr long long periods = 2000;
  constexpr double rate = 1.0574;  // impacts a period
  constexpr auto impacts = static_cast<long long>(rate * periods);
  const auto read = [&](const std::string& step) {
    return scene::read_scene(
        "chaotic-oscillator.toml", study::builtin_scene("chaotic-oscillator"),
        {scene::parse_override("run.step=" + step), scene::parse_override("run.record=0"),
         scene::parse_override("run.zeno=contact")});
  };
  scene::Scene scene = read("2.2439947525641384");
  scene.run.steps = periods;
  const dynamics::LyapunovSettings settings{.until = 2.2439947525641384 * periods, .settle = 0.0};
  return {"impact oscillator, a step is an impact (event-driven)",
          impacts,
          {{"arcs in closed form", 0.0,
            [] {
              const HandResult r = hand_oscillator(impacts);
              return Result{r.x, r.y};
            }},
           {"scene, certified", 0.0,
            [=] {
              model::State<model::kDynamic> state = scene.start;
              const step::Outcome outcome =
                  step::run_formula(*scene.system().model, scene.scheme, scene.run, state,
                                    [](const step::Sample&) {});
              return Result{state.q[0], 0.0, outcome.certificate.residual_max};
            },
            20e3},
           {"scene, exponents", 0.0,
            [=] {
              const dynamics::Lyapunov found = dynamics::lyapunov(scene, settings);
              return Result{found.exponents[0], found.rate};
            },
            10e3}},
          false};
}

void one_by_one(std::size_t count, const std::function<void(std::size_t)>& work) {
  for (std::size_t k = 0; k < count; ++k) work(k);
}

/// A run, and the same with the two coarser ones that tell how far it may be off.
Case companions_case(const std::string& name, scene::Scene scene) {
  constexpr long long steps = 300'000;
  const double time = 3e5 * scene.run.step;
  scene.run.steps = steps + 8'000;
  scene.run.step = time / static_cast<double>(scene.run.steps);
  scene.run.record_every = 0;
  return {
      fmt::format("the error bar of {} (moreau), certified", name),
      scene.run.steps,
      {{"run", 0.0, [=] { return run_scene(scene); }},
       {"run and its companions", 2.6,
        [=] {
          study::Companions companions(scene, study::BarChoice::Pair);
          const study::Motion motion = companions.run(false, {}, nullptr);
          (void)companions.compare(motion, one_by_one, nullptr);
          const auto& q = motion.final_state.q;
          return Result{q[0], q.size() > 1 ? q[1] : 0.0, motion.outcome.certificate.residual_max};
        }}},
      false};
}

/// A ball under gravity.
scene::Scene ball(double restitution) {
  const std::string text = fmt::format(
      "[system]\ncoordinates = [\"x\"]\nmass = [1]\npotential = \"10*x\"\n"
      "[contact.floor]\nkeep = \"x >= 0\"\nrestitution = {}\n[start]\nposition = {{ x = 1 }}\n"
      "[run]\nscheme = \"moreau\"\nstep = 1e-4\nuntil = 30\n",
      restitution);
  return scene::read_scene("ball.toml", text);
}

scene::Scene body_on_a_wall() {
  return scene::read_scene("essai-10.toml", study::builtin_scene("essai-10"),
                           {scene::parse_override("run.step=1e-5")});
}

/// The same oscillator by steps, 64 members of a sweep: one after the other, and in lanes. A step
/// is that of one member; reading and beginning are counted.
Case lanes_case(const std::string& name, const std::string& over, double limit, double most) {
  constexpr long long steps = 20'000, members = 64;
  const std::vector<scene::Override> changes = {
      scene::parse_override("run.scheme=moreau"),
      scene::parse_override("run.step=0.01"),
      scene::parse_override(fmt::format("run.steps={}", steps)),
      scene::parse_override("run.record=0"),
      scene::parse_override("start.velocity.x=1"),
      scene::parse_override(fmt::format("sweep.over={{ {} }}", over))};
  const scene::Scene scene = scene::read_scene("chaotic-oscillator.toml",
                                               study::builtin_scene("chaotic-oscillator"), changes);
  const auto run = [=](std::size_t lanes) {
    Result sum;
    (void)study::sweep(scene, changes, scene.dynamics.sweep.over, study::run_in_order,
                       [&](std::size_t, const study::MemberEnd& end) {
                         sum.x += std::abs(end.q[0]);
                         sum.y += std::abs(end.u[0]);
                         sum.residual = std::max(sum.residual, end.residual);
                       },
                       {.lanes = lanes});
    return sum;
  };
  return {fmt::format("impact oscillator, 64 members over {} (moreau)", name),
          steps * members,
          {{"scene, certified", 0.0, [=] { return run(1); }},
           {"in 64 lanes, certified", limit, [=] { return run(64); }, most}}};
}

/// "0.3", "20 us", "0.3, 20 ns".
std::string limit_of(const Way& way) {
  const std::string ratio = way.limit > 0.0 ? fmt::format("{:.3g}", way.limit) : "";
  if (!std::isfinite(way.most)) return ratio;
  const bool is_long = way.most >= 1e3;
  return ratio + (ratio.empty() ? "" : ", ") +
         fmt::format("{:.3g} {}", is_long ? 1e-3 * way.most : way.most, is_long ? "us" : "ns");
}

bool is_within(const Way& way, const Way& hand) {
  return (way.limit == 0.0 || way.best <= way.limit * hand.best) && way.best <= way.most;
}

/// Others on the machine only add to a time, and loops that wait for results lose less by them than
/// loops that have much to do: so where a limit does not hold, it is tried for longer.
void repeat(Case& bench_case) {
  constexpr int kRepeats = 15;
  constexpr int kMost = 20 * kRepeats;
  std::vector<Way>& ways = bench_case.ways;
  const auto holds = [&] {
    return std::all_of(ways.begin(), ways.end(),
                       [&](const Way& way) { return is_within(way, ways.front()); });
  };
  for (int repeat = 0; repeat < kRepeats || (repeat < kMost && !holds()); ++repeat) {
    for (Way& way : ways) {
      const base::Stopwatch clock;
      way.result = way.run();
      const double nanoseconds = 1e9 * clock.seconds() / static_cast<double>(bench_case.steps);
      way.best = std::min(way.best, nanoseconds);
    }
  }
}

/// True when all limits hold and all ways agree on the motion.
bool measure(Case& bench_case) {
  repeat(bench_case);
  fmt::print("\n{}\n", bench_case.name);
  fmt::print("  {:<24}{:>10}{:>10}{:>13}   {}\n", "", "ns/step", "ratio", "limit", "residual");
  bool good = true;
  const Way& hand = bench_case.ways.front();
  for (const Way& way : bench_case.ways) {
    const double ratio = way.best / hand.best;
    const bool within = is_within(way, hand);
    const double size = std::hypot(hand.result.x, hand.result.y);
    const bool same =
        !bench_case.same_motion ||
        std::hypot(way.result.x - hand.result.x, way.result.y - hand.result.y) < 1e-6 * size;
    fmt::print("  {:<24}{:>10.1f}{:>10.2f}{:>13}   {:<10.1e}{}{}\n", way.name, way.best, ratio,
               limit_of(way), way.result.residual, within ? "" : "OVER THE LIMIT ",
               same ? "" : "DIFFERENT MOTION");
    good = good && within && same;
  }
  return good;
}

struct ProcessCost {
  double seconds{0.0};
  double megabytes{0.0};  // largest resident memory
  int status{0};
};

ProcessCost run_process(const std::vector<std::string>& arguments) {
  const base::Stopwatch clock;
  const pid_t child = ::fork();
  if (child == 0) {
    std::vector<char*> argv;
    for (const std::string& argument : arguments)
      argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  int status = 0;
  rusage usage{};
  ::wait4(child, &status, 0, &usage);
  return {clock.seconds(), static_cast<double>(usage.ru_maxrss) / 1024.0, status};
}

bool measure_start(const std::filesystem::path& folder) {
  double best = std::numeric_limits<double>::infinity();
  int status = 0;
  for (int repeat = 0; repeat < 20; ++repeat) {
    const ProcessCost cost =
        run_process({RICOCHET_PROGRAM, "run", RICOCHET_SOURCE_DIR "/scenes/essai-04.toml", "--set",
                     "run.steps=1", "--out", (folder / "one").string(), "--quiet"});
    best = std::min(best, 1e3 * cost.seconds);
    status |= cost.status;
  }
  fmt::print("\nprocess start, one step, files written, exit: {:.1f} ms (limit 20)\n", best);
  return best < 20.0 && status == 0;
}

bool measure_memory(const std::filesystem::path& folder) {
  const ProcessCost cost =
      run_process({RICOCHET_PROGRAM, "run", RICOCHET_SOURCE_DIR "/scenes/essai-04.toml", "--set",
                   "run.steps=10000000", "--out", (folder / "long").string(), "--quiet"});
  const auto bytes =
      static_cast<double>(std::filesystem::file_size(folder / "long/trajectory.csv"));
  fmt::print("1e7 steps, every one recorded: {:.1f} MB of memory (limit 60), {:.1f} s, {:.2f} GB\n",
             cost.megabytes, cost.seconds, bytes / 1e9);
  return cost.megabytes < 60.0 && cost.status == 0;
}

}  // namespace
}  // namespace ricochet::bench

/// Of the cases those whose names have the word that is given, if one is.
int main(int count, char** words) {
  using namespace ricochet::bench;
  const std::string chosen = count > 1 ? words[1] : "";
  fmt::print("Speed side by side: minimum of interleaved repeats, recording off, one core.\n");
  constexpr double kNoLimit = std::numeric_limits<double>::infinity();
  const bool is_wide = ricochet::base::widest() != ricochet::base::Width::Two;
  bool good = true;
  for (Case bench_case :
       {pendulum_case(), rod_case(), impact_case(),
        lanes_case("the speed at its start",
                   "start.velocity.x = { from = 0.9, to = 1.5, count = 64 }", is_wide ? 0.35 : 0.7,
                   is_wide ? 20.0 : kNoLimit),
        lanes_case("the frequency of the force", "w = { from = 2.41, to = 2.99, count = 64 }",
                   is_wide ? 0.7 : 0.9, kNoLimit),
        friction_case("body on a wall, in the plane", "essai-10", true),
        friction_case("body on a wall, in the plane", "essai-10", false),
        friction_case("object on a table, in space", "essai-09", true),
        friction_case("object on a table, in space", "essai-09", false),
        companions_case("a ball, mostly at rest", ball(0.8)),
        companions_case("a ball, in flight", ball(1.0)),
        companions_case("a body on a wall", body_on_a_wall())}) {
    if (bench_case.name.find(chosen) == std::string::npos) continue;
    good = measure(bench_case) && good;
  }
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "ricochet-bench";
  if (chosen.empty()) {
    good = measure_start(folder) && good;
    good = measure_memory(folder) && good;
  }
  std::filesystem::remove_all(folder);
  fmt::print("\n{}\n", good ? "All limits hold." : "A limit does not hold.");
  return good ? 0 : 1;
}
