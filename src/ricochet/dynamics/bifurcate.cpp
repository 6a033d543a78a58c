#include "ricochet/dynamics/bifurcate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "ricochet/base/archive.h"
#include "ricochet/base/error.h"
#include "ricochet/base/json.h"
#include "ricochet/base/random.h"
#include "ricochet/base/text.h"

namespace ricochet::dynamics {
namespace {

using Follow = scene::SweepPlan::Follow;

/// Lowest, highest and mean of coordinates and velocities.
struct Extent {
  Eigen::ArrayXd low, high, mean;

  Extent(const std::vector<Eigen::VectorXd>& states, Eigen::Index size, std::size_t begin,
         std::size_t end) {
    if (begin >= end) return;
    low = high = states[begin].head(size);
    mean.setZero(size);
    for (std::size_t k = begin; k < end; ++k) {
      low = low.min(states[k].head(size).array());
      high = high.max(states[k].head(size).array());
      mean += states[k].head(size).array() / static_cast<double>(end - begin);
    }
  }
};

std::vector<double> list_of(const Eigen::ArrayXd& values) { return {values.begin(), values.end()}; }

/// The largest difference, in parts of `scale`.
double distance(const std::vector<double>& a, const std::vector<double>& b,
                const std::vector<double>& scale) {
  if (a.size() != b.size()) return 1.0;
  double most = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (scale[i] > 0.0) most = std::max(most, std::abs(a[i] - b[i]) / scale[i]);
  }
  return most;
}

class Sweep {
 public:
  Sweep(const scene::Scene& scene, const std::vector<scene::Override>& overrides,
        bool with_exponents, step::Monitor* monitor)
      : scene_(scene),
        plan_(scene.dynamics.sweep),
        overrides_(overrides),
        with_exponents_(with_exponents),
        monitor_(monitor) {}

  /// The values one after the other, each from where the last one ended.
  std::vector<Branch> follow(bool forward) const {
    std::vector<Branch> branches;
    std::optional<Instant> from;
    const std::size_t count = plan_.over.size();
    for (std::size_t k = 0; k < count && !is_stopped(); ++k) {
      const std::size_t value = forward ? k : count - 1 - k;
      Branch branch = settle(value, 0, from);
      if (is_stopped()) break;  // what was cut short shows nothing
      if (!branch.ended.empty()) from.reset();
      branches.push_back(std::move(branch));
    }
    if (!forward) std::reverse(branches.begin(), branches.end());
    return branches;
  }

  Branch settle_fresh(std::size_t value, int seed) const {
    std::optional<Instant> from;
    return settle(value, seed, from);
  }

  bool is_stopped() const { return monitor_ != nullptr && monitor_->stop; }

 private:
  scene::Scene member(std::size_t value) const {
    std::vector<scene::Override> all = overrides_;
    for (scene::Override& change : plan_.over.member(value)) all.push_back(std::move(change));
    return scene::read_scene(scene_.file, scene_.text, all);
  }

  /// Starts besides the scene's: random, the same every time, of the size of its own.
  static Instant seeded(const scene::Scene& member, int seed) {
    Instant point{member.start.t, member.start.q, member.start.u};
    if (seed == 0) return point;
    base::Random random(static_cast<std::uint64_t>(seed));
    const double size =
        std::max({1e-3, point.q.cwiseAbs().maxCoeff(), point.u.cwiseAbs().maxCoeff()});
    for (double& u : point.u) u += size * random.uniform(-2.0, 2.0);
    return point;
  }

  /// Whether a start lies where the walls of the member let it, or beyond them by what they have
  /// moved from one value to the next.
  static bool fits(const scene::Scene& member, const Instant& point) {
    constexpr double kBeyond = 0.02;  // of the state
    const double size = std::max(point.q.cwiseAbs().maxCoeff(), point.u.cwiseAbs().maxCoeff());
    const model::FormulaModel& model = *member.formulas();
    std::vector<double> registers = model.gap_tape().registers();
    registers[0] = point.t;
    for (Eigen::Index i = 0; i < point.q.size(); ++i) {
      registers[static_cast<std::size_t>(1 + i)] = point.q[i];
    }
    model.gap_tape().run(model::FormulaModel::kGaps, registers.data());
    const auto& at = model.gap_tape().outputs(model::FormulaModel::kGaps);
    for (int a = 0; a < model.contacts(); ++a) {
      if (registers[at[static_cast<std::size_t>(a)]] < -kBeyond * size) return false;
    }
    return true;
  }

  Branch settle(std::size_t value, int seed, std::optional<Instant>& from) const {
    Branch branch;
    branch.value = value;
    branch.seed = seed;
    const scene::Scene member = this->member(value);
    SectionFlow motion(member, with_exponents_);
    motion.start(from && fits(member, *from) ? *from : seeded(member, seed));
    std::vector<Eigen::VectorXd> states;
    int settle = plan_.settle;
    for (int k = 0; k < settle && !is_stopped() && motion.next(); ++k) {
      if (monitor_ != nullptr) ++monitor_->steps;
      states.push_back(motion.returning());
      // As long again where the motion neither repeats nor looks settled.
      if (k + 1 == settle && settle < 4 * plan_.settle && period_of(states, 64, 1e-4) == 0 &&
          period_of(states, 64, 1e-1) != 0) {
        settle *= 2;
      }
    }
    if (with_exponents_) motion.flow().orthonormalise();
    const double begin = motion.time();
    const double grown = motion.flow().growth().empty() ? 0.0 : motion.flow().growth()[0];
    states.clear();
    while (motion.ended().empty() && static_cast<int>(branch.rows.size()) < plan_.show &&
           !is_stopped() && motion.next()) {
      branch.rows.push_back(motion.kept());
      states.push_back(motion.returning());
    }
    branch.ended = motion.ended();
    branch.period = period_of(states, 64, 1e-5);
    take_extent(states, motion.flow().q().size(), branch);
    if (with_exponents_ && motion.time() > begin) {
      motion.flow().orthonormalise();
      const auto& growth = motion.flow().growth();
      branch.exponent = growth.empty() ? -std::numeric_limits<double>::infinity()
                                       : (growth[0] - grown) / (motion.time() - begin);
    }
    from = motion.point();
    return branch;
  }

  /// What the motion did, and whether both halves of it did the same.
  static void take_extent(const std::vector<Eigen::VectorXd>& states, Eigen::Index dofs,
                          Branch& branch) {
    if (states.empty()) return;
    const std::size_t count = states.size();
    const Extent all(states, 2 * dofs, 0, count);
    branch.low = list_of(all.low);
    branch.high = list_of(all.high);
    branch.mean = list_of(all.mean);
    bool same = branch.period > 0;
    if (!same && count > 1) {
      const Extent first(states, 2 * dofs, 0, count / 2),
          second(states, 2 * dofs, count / 2, count);
      same = ((first.mean - second.mean).abs() <= 0.25 * (all.high - all.low)).all();
    }
    branch.settled = branch.ended.empty() && same;
  }

  const scene::Scene& scene_;
  const scene::SweepPlan& plan_;
  const std::vector<scene::Override>& overrides_;
  bool with_exponents_;
  step::Monitor* monitor_;
};

/// Attractors are labelled along the parameter: one that changes little keeps its label, and what
/// is the same at the same value has the same label.
class Labels {
 public:
  explicit Labels(Diagram& diagram) : diagram_(diagram) {
    std::vector<double> low, high;
    for (const auto* part : {&diagram.forward, &diagram.backward, &diagram.fresh}) {
      for (const Branch& branch : *part) {
        if (branch.low.empty()) continue;
        if (low.empty()) low = branch.low, high = branch.high;
        for (std::size_t i = 0; i < low.size(); ++i) {
          low[i] = std::min(low[i], branch.low[i]);
          high[i] = std::max(high[i], branch.high[i]);
        }
      }
    }
    double most = 0.0;
    for (std::size_t i = 0; i < low.size(); ++i) most = std::max(most, high[i] - low[i]);
    for (std::size_t i = 0; i < low.size(); ++i) {  // what a section fixes is rounding
      scale_.push_back(high[i] - low[i] > 1e-9 * most ? high[i] - low[i] : 0.0);
    }
  }

  void give() {
    label_along(diagram_.forward, true);
    label_along(diagram_.backward, false);
    label_along(diagram_.fresh, true);
    diagram_.attractors = next_;
    compare_directions();
  }

 private:
  static constexpr double kSame = 0.02;  // of the diagram: one attractor
  static constexpr double kJump = 0.12;  // of the diagram, between neighbours: another attractor

  double between(const Branch& a, const Branch& b) const {
    return std::max({distance(a.low, b.low, scale_), distance(a.high, b.high, scale_),
                     distance(a.mean, b.mean, scale_)});
  }

  void label_along(std::vector<Branch>& branches, bool forward) {
    std::vector<Branch*> shown;
    for (Branch& branch : branches) {
      if (!branch.rows.empty() && branch.ended.empty()) shown.push_back(&branch);
    }
    if (!forward) std::reverse(shown.begin(), shown.end());
    for (std::size_t k = 0; k < shown.size(); ++k) {
      Branch& branch = *shown[k];
      branch.attractor = known(branch);
      const bool is_near = k > 0 && !leaps(shown, k);
      if (branch.attractor < 0 && is_near) branch.attractor = shown[k - 1]->attractor;
      if (branch.attractor < 0) branch.attractor = next_++;
      if (k > 0 && !is_near && branch.seed == 0 && &branches != &diagram_.fresh) {
        diagram_.jumps.push_back(
            {forward, diagram_.values[shown[k - 1]->value], diagram_.values[branch.value]});
      }
    }
  }

  /// Whether the motion changes much from place k - 1 to k, and much more than beside it: that is
  /// no steep curve with few values on it.
  bool leaps(const std::vector<Branch*>& shown, std::size_t k) const {
    constexpr double kMuch = 3.0;
    const double change = between(*shown[k - 1], *shown[k]);
    double beside = std::numeric_limits<double>::infinity();
    if (k > 1) beside = std::min(beside, between(*shown[k - 2], *shown[k - 1]));
    if (k + 1 < shown.size()) beside = std::min(beside, between(*shown[k], *shown[k + 1]));
    return change >= kJump && change > kMuch * beside;
  }

  /// Values at which both directions were run, and differ, in one piece where they are neighbours.
  void compare_directions() {
    std::optional<std::size_t> last;
    for (const Branch& there : diagram_.forward) {
      for (const Branch& back : diagram_.backward) {
        if (back.value != there.value || back.attractor == there.attractor) continue;
        const double value = diagram_.values[there.value];
        auto& parts = diagram_.hysteresis;
        if (last && *last + 1 == there.value) {
          parts.back().second = value;
        } else {
          parts.emplace_back(value, value);
        }
        last = there.value;
      }
    }
  }

  /// The label of what was found at the same value before.
  int known(const Branch& branch) const {
    for (const auto* part : {&diagram_.forward, &diagram_.backward, &diagram_.fresh}) {
      for (const Branch& other : *part) {
        if (&other == &branch || other.value != branch.value || other.attractor < 0) continue;
        if (between(other, branch) < (branch.period > 0 ? kSame : kJump)) return other.attractor;
      }
    }
    return -1;
  }

  Diagram& diagram_;
  std::vector<double> scale_;
  int next_{0};
};

void check_sweep(const scene::Scene& scene) {
  const scene::Family& over = scene.dynamics.sweep.over;
  if (over.keys.size() == 1 && over.keys[0].values[0].kind == scene::Value::Kind::Number) return;
  throw base::InputError("sweep.over",
                         over.empty() ? "is missing: nothing varies"
                                      : "a diagram is over the numbers of one parameter",
                         "write [sweep.over] with A = { from = 0.3, to = 1.2, count = 900 }, or "
                         "--over A=0.3..1.2:900");
}

}  // namespace

Diagram bifurcate(const scene::Scene& scene, const std::vector<scene::Override>& overrides,
                  bool with_exponents, const base::Executor& executor, step::Monitor* monitor,
                  const base::Ranks& ranks) {
  check_sweep(scene);
  const scene::SweepPlan& plan = scene.dynamics.sweep;
  (void)SectionFlow(scene);  // what is wrong with all members is said once
  Diagram found;
  found.parameter = plan.over.keys[0].name;
  for (const scene::Value& value : plan.over.keys[0].values) found.values.push_back(value.number);
  found.names = scene.dynamics.section.names;
  found.has_exponents = with_exponents;
  const Sweep sweep(scene, overrides, with_exponents, monitor);
  std::vector<std::function<void()>> tasks;
  std::vector<std::function<void(base::Archive&)>> results;  // what each found
  const bool both = plan.follow == Follow::Both;
  if (both || plan.follow == Follow::Forward) {
    tasks.emplace_back([&] { found.forward = sweep.follow(true); });
    results.emplace_back([&](base::Archive& archive) { archive(found.forward); });
  }
  if (both || plan.follow == Follow::Backward) {
    tasks.emplace_back([&] { found.backward = sweep.follow(false); });
    results.emplace_back([&](base::Archive& archive) { archive(found.backward); });
  }
  const bool fresh = plan.follow == Follow::Fresh;
  const int first_seed = fresh ? 0 : 1;
  for (std::size_t value = 0; value < found.values.size(); ++value) {
    for (int seed = first_seed; seed <= plan.seeds; ++seed) found.fresh.push_back({value, seed});
  }
  for (Branch& branch : found.fresh) {
    tasks.emplace_back([&sweep, &branch] {
      if (sweep.is_stopped()) return;
      Branch settled = sweep.settle_fresh(branch.value, branch.seed);
      if (!sweep.is_stopped()) branch = std::move(settled);
    });
    results.emplace_back([&branch](base::Archive& archive) { archive(branch); });
  }
  const std::string error = base::run_all(
      ranks, executor, tasks.size(), [&](std::size_t k) { tasks[k](); },
      [&](std::size_t k) {
        base::Archive archive;
        results[k](archive);
        return archive.bytes();
      },
      [&](std::size_t k, const std::string& bytes) {
        base::Archive archive(bytes);
        results[k](archive);
      });
  if (!error.empty()) throw base::InputError("sweep.over", error, "let the parameter vary less");
  found.interrupted = sweep.is_stopped();
  Labels(found).give();
  return found;
}

std::string diagram_csv(const Diagram& found) {
  std::string text = found.parameter + ",direction,seed,attractor";
  for (const std::string& name : found.names) text += "," + name;
  text += "\n";
  const auto add = [&](const std::vector<Branch>& branches, const char* direction) {
    for (const Branch& branch : branches) {
      const std::string head = fmt::format("{:.17g},{},{},{}", found.values[branch.value],
                                           direction, branch.seed, branch.attractor);
      for (const std::vector<double>& row : branch.rows) {
        text += head;
        for (const double value : row) text += fmt::format(",{:.17g}", value);
        text += "\n";
      }
    }
  };
  add(found.forward, "forward");
  add(found.backward, "backward");
  add(found.fresh, "fresh");
  return text;
}

std::string to_json(const Diagram& found, const scene::Scene& scene) {
  base::Json json;
  json["format"] = 1;
  json["scene"] = scene.file;
  json["parameter"] = found.parameter;
  json["values"] = found.values;
  json["attractors"] = found.attractors;
  json["interrupted"] = found.interrupted;
  json["jumps"] = base::Json::list();
  for (const Jump& jump : found.jumps) {
    json["jumps"].push_back({{"direction", jump.forward ? "forward" : "backward"},
                             {"from", jump.from},
                             {"to", jump.to}});
  }
  json["hysteresis"] = base::Json::list();
  for (const auto& [low, high] : found.hysteresis) {
    json["hysteresis"].push_back({{"from", low}, {"to", high}});
  }
  const auto add = [&](const std::vector<Branch>& branches, const char* direction) {
    for (const Branch& branch : branches) {
      base::Json one = {{"value", found.values[branch.value]},
                        {"direction", direction},
                        {"seed", branch.seed},
                        {"attractor", branch.attractor},
                        {"period", branch.period},
                        {"settled", branch.settled}};
      if (found.has_exponents) one["exponent"] = branch.exponent;
      if (!branch.ended.empty()) one["ended"] = branch.ended;
      json["branches"].push_back(std::move(one));
    }
  };
  add(found.forward, "forward");
  add(found.backward, "backward");
  add(found.fresh, "fresh");
  return json.pretty() + "\n";
}

std::string describe(const Diagram& found, const scene::Scene& scene) {
  using base::entry;
  std::string text = scene.title + "\n\n";
  text += entry("over",
                fmt::format("{} from {:g} to {:g}, {}", found.parameter, found.values.front(),
                            found.values.back(),
                            base::counted(static_cast<long long>(found.values.size()), "value")));
  long long all = 0, unsettled = 0, ended = 0;
  for (const auto* part : {&found.forward, &found.backward, &found.fresh}) {
    for (const Branch& branch : *part) {
      if (branch.rows.empty() && branch.ended.empty()) continue;  // it was not run
      ++all;
      unsettled += branch.ended.empty() && !branch.settled ? 1 : 0;
      ended += branch.ended.empty() ? 0 : 1;
    }
  }
  text += entry("motions", fmt::format("{}, {} not settled, {} that ended", all, unsettled, ended));
  text += entry("attractors", fmt::format("{}", found.attractors));
  for (const Jump& jump : found.jumps) {
    text += entry("jump", fmt::format("{}, between {:.6g} and {:.6g}",
                                      jump.forward ? "forward" : "backward", jump.from, jump.to));
  }
  for (const auto& [low, high] : found.hysteresis) {
    text +=
        entry("hysteresis", fmt::format("both directions differ from {:.6g} to {:.6g}", low, high));
  }
  return text;
}

}  // namespace ricochet::dynamics
