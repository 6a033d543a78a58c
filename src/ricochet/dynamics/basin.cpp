#include "ricochet/dynamics/basin.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>

#include "ricochet/base/archive.h"
#include "ricochet/base/error.h"
#include "ricochet/base/json.h"
#include "ricochet/base/numpy_archive.h"
#include "ricochet/base/text.h"
#include "ricochet/scene/members.h"
#include "ricochet/scene/start_check.h"

namespace ricochet::dynamics {
namespace {

using State = model::State<model::kDynamic>;

/// A key of the sweep that is a coordinate, a velocity or the time of the start.
struct StartKey {
  enum class Of { Nothing, Time, Position, Velocity };
  Of of{Of::Nothing};
  Eigen::Index coordinate{0};

  StartKey(const std::string& name, const scene::Scene& scene) {
    if (name == "run.start_time") of = Of::Time;
    for (const char* head : {"start.position.", "start.velocity."}) {
      if (!name.starts_with(head)) continue;
      const std::vector<std::string>& names = scene.columns.coordinates;
      const auto found = std::find(names.begin(), names.end(), name.substr(15));
      if (found == names.end()) continue;
      of = head[6] == 'v' ? Of::Velocity : Of::Position;
      coordinate = found - names.begin();
    }
  }

  bool is_start() const { return of != Of::Nothing; }
  void put(double value, State& start) const {
    if (of == Of::Time) start.t = value;
    if (of == Of::Position) start.q[coordinate] = value;
    if (of == Of::Velocity) start.u[coordinate] = value;
  }
};

/// The motion of one cell after the other: cells that differ by their starts alone share its
/// equations.
struct Seat {
  std::unique_ptr<SectionFlow> shared;  // by all whose parameters say where they start, and no more
  scene::Members::Place place;          // of these
  std::vector<double> parameters;       // of the motion
  std::unique_ptr<scene::Scene> scene;
  std::unique_ptr<SectionFlow> motion;
};

/// Finds what motions settle on, by recurrence on the section.
class Basins {
 public:
  Basins(const scene::Scene& scene, const std::vector<scene::Override>& overrides,
         step::Monitor* monitor)
      : scene_(scene), overrides_(overrides), monitor_(monitor) {
    bool by_start = true;
    for (const scene::FamilyKey& key : plan().over.keys) {
      keys_.emplace_back(key.name, scene);
      by_start = by_start && keys_.back().is_start();
    }
    if (!by_start) members_ = std::make_unique<scene::Members>(scene, overrides, plan().over);
    if (members_ && !members_->differ_by_start()) members_.reset();
  }

  const scene::SweepPlan& plan() const { return scene_.dynamics.sweep; }
  bool is_stopped() const { return monitor_ != nullptr && monitor_->stop; }

  /// The cells in an order in which those of the same parameters follow each other.
  std::size_t cell(std::size_t place) const {
    const bool by_columns = keys_[0].is_start() && !keys_[1].is_start();
    if (!by_columns) return place;
    const std::size_t rows = plan().over.keys[0].values.size();
    const std::size_t columns = plan().over.keys[1].values.size();
    return place % rows * columns + place / rows;
  }

  /// The label of a cell among known attractors, or kUndecided; `found` gets what is new.
  int classify(std::size_t cell, const std::vector<Attractor>& known, Seat& seat,
               Attractor* found) const {
    if (members_ && take_start(cell, seat)) {
      const scene::Scene& pattern = *members_->pattern();
      const State& start = seat.place.start();
      if (is_beyond(pattern, start)) return Basin::kOutside;
      return follow({start.t, start.q, start.u}, known, *seat.shared, found);
    }
    if (!take_seat(cell, seat)) return Basin::kOutside;
    State state = seat.scene->start;
    for (std::size_t k = 0; k < keys_.size(); ++k) {
      keys_[k].put(plan().over.value(cell, k).number, state);
    }
    if (is_beyond(*seat.scene, state)) return Basin::kOutside;
    return follow({state.t, state.q, state.u}, known, *seat.motion, found);
  }

 private:
  static constexpr int kMost = 4000;       // sections of one motion
  static constexpr int kTransient = 1000;  // of them
  static constexpr int kLook = 64;         // sections between two looks for a recurrence

  /// The start of a cell, where all cells share their equations. False where it has to be read.
  bool take_start(std::size_t cell, Seat& seat) const {
    if (seat.shared == nullptr) {
      seat.shared = std::make_unique<SectionFlow>(*members_->pattern());
      seat.place = members_->make_place();
    }
    return members_->take_start(cell, seat.place);
  }

  /// The equations of a cell. False where its start lies beyond a wall, so that there are none.
  bool take_seat(std::size_t cell, Seat& seat) const {
    std::vector<double> parameters;
    for (std::size_t k = 0; k < keys_.size(); ++k) {
      if (!keys_[k].is_start()) parameters.push_back(plan().over.value(cell, k).number);
    }
    if (seat.motion != nullptr && seat.parameters == parameters) return true;
    seat.motion.reset();
    try {
      seat.scene = std::make_unique<scene::Scene>(parameters.empty() ? scene_ : member(cell));
    } catch (const base::InputError& error) {
      if (error.key() == "start.position") return false;
      throw;
    }
    seat.motion = std::make_unique<SectionFlow>(*seat.scene);
    seat.parameters = std::move(parameters);
    return true;
  }

  scene::Scene member(std::size_t cell) const {
    std::vector<scene::Override> all = overrides_;
    for (scene::Override& change : plan().over.member(cell)) all.push_back(std::move(change));
    return scene::read_scene(scene_.file, scene_.text, all);
  }

  /// Whether no motion can start there.
  static bool is_beyond(const scene::Scene& scene, const State& start) {
    const double tolerance = scene.slots ? scene.slots->start.tolerance : -1.0;
    scene::StartCheck check(*scene.formulas(), start, scene.run.step, tolerance);
    return check.first_fault().has_value();
  }

  /// Near an attractor, state after state: periodic ones are met to 1e-3 of their size for two
  /// periods, others by 64 states in a row.
  class Nearness {
   public:
    explicit Nearness(const std::vector<Attractor>& known) : known_(known), runs_(known.size(), 0) {
      for (const Attractor& attractor : known) {
        Eigen::VectorXd low = attractor.states[0], high = low;
        for (const Eigen::VectorXd& state : attractor.states) {
          low = low.cwiseMin(state);
          high = high.cwiseMax(state);
        }
        const double size = std::max((high - low).maxCoeff(), 0.1 * high.cwiseAbs().maxCoeff());
        near_.push_back(size * (attractor.period > 0 ? 1e-4 : 2e-2));
      }
    }
    int take(const Eigen::VectorXd& state) {
      constexpr double kSmall = 1e-6;  // of the motion: a rest at 0 has no size of its own
      ++seen_;
      largest_ = std::max(largest_, state.cwiseAbs().maxCoeff());
      for (std::size_t k = 0; k < known_.size(); ++k) {
        // What does not repeat has many points: it is looked at once transients are over.
        if (known_[k].period == 0 && seen_ < kTransient) continue;
        const double near = std::max(near_[k], kSmall * largest_);
        double least = std::numeric_limits<double>::infinity();
        for (const Eigen::VectorXd& point : known_[k].states) {
          least = std::min(least, (state - point).cwiseAbs().maxCoeff());
          if (least < near) break;
        }
        runs_[k] = least < near ? runs_[k] + 1 : 0;
        const int wanted = known_[k].period > 0 ? 2 * known_[k].period + 2 : kLook;
        if (runs_[k] >= wanted) return static_cast<int>(k);
      }
      return Basin::kUndecided;
    }

   private:
    const std::vector<Attractor>& known_;
    std::vector<double> near_;
    std::vector<int> runs_;  // of states nearby
    int seen_{0};
    double largest_{0.0};  // of the states so far
  };

  int follow(const Instant& start, const std::vector<Attractor>& known, SectionFlow& motion,
             Attractor* found) const {
    motion.start(start);
    Nearness nearness(known);
    Attractor last;
    std::vector<Eigen::VectorXd> returns;
    const int settle = plan().settle;
    for (int k = 0; k < kMost + settle; ++k) {
      if (!motion.next()) {
        return motion.ended() == "escapes" ? Basin::kEscapes : Basin::kUndecided;
      }
      if (const int label = nearness.take(motion.state()); label >= 0) return label;
      if (found == nullptr || k < settle) continue;
      if (static_cast<int>(last.states.size()) == kMost / 2) {  // the transient
        last = {};
        returns.clear();
      }
      last.states.push_back(motion.state());
      returns.push_back(motion.returning());
      last.rows.push_back(motion.kept());
      if (last.states.size() % kLook != 0) continue;
      last.period = period_of(returns, kLook / 4, 1e-7);
      // A shorter one that nearly holds: it has not settled.
      if (last.period == 0 || period_of(returns, last.period - 1, 1e-4) != 0) continue;
      const auto keep = static_cast<std::ptrdiff_t>(last.period);
      last.states.erase(last.states.begin(), last.states.end() - keep);
      last.rows.erase(last.rows.begin(), last.rows.end() - keep);
      *found = std::move(last);
      return static_cast<int>(known.size());
    }
    if (found == nullptr) return Basin::kUndecided;
    *found = std::move(last);  // bounded for so long, and it does not repeat
    return static_cast<int>(known.size());
  }

  const scene::Scene& scene_;
  const std::vector<scene::Override>& overrides_;
  step::Monitor* monitor_;
  std::vector<StartKey> keys_;
  std::unique_ptr<scene::Members> members_;  // null: they differ by more than their starts
};

void check_cells(const scene::Scene& scene) {
  const scene::Family& over = scene.dynamics.sweep.over;
  bool fits = over.keys.size() == 2;
  for (const scene::FamilyKey& key : over.keys) {
    fits = fits && key.values[0].kind == scene::Value::Kind::Number;
  }
  if (fits) return;
  throw base::InputError("sweep.over", "a basin is over two numbers, starts or parameters",
                         "write [sweep.over] with start.position.x = { from = -1, to = 1, count = "
                         "200 } and another one");
}

/// Some cells, one after the other: their attractors are known to all others.
void find_attractors(const Basins& basins, std::size_t cells, Seat& seat, Basin& found) {
  constexpr std::size_t kSample = 400;
  const std::size_t stride = std::max<std::size_t>(1, cells / kSample) | 1U;
  for (std::size_t cell = 0; cell < cells && !basins.is_stopped(); cell += stride) {
    Attractor fresh;
    const int label = basins.classify(cell, found.attractors, seat, &fresh);
    found.labels[cell] = label;
    if (label == static_cast<int>(found.attractors.size())) {
      found.attractors.push_back(std::move(fresh));
    }
  }
}

}  // namespace

double Basin::fraction(int label) const {
  double inside = 0.0, of_label = 0.0;
  for (const int one : labels) {
    inside += one != kOutside ? 1.0 : 0.0;
    of_label += one == label ? 1.0 : 0.0;
  }
  return inside > 0.0 ? of_label / inside : 0.0;
}

double Basin::entropy() const {
  constexpr std::size_t kBox = 5;
  const std::size_t rows = values[0].size(), columns = values[1].size();
  double sum = 0.0;
  std::size_t boxes = 0;
  for (std::size_t i = 0; i + kBox <= rows; i += kBox) {
    for (std::size_t j = 0; j + kBox <= columns; j += kBox) {
      std::map<int, double> counts;
      for (std::size_t k = 0; k < kBox * kBox; ++k) {
        counts[labels[(i + k / kBox) * columns + j + k % kBox]] += 1.0 / (kBox * kBox);
      }
      for (const auto& [label, part] : counts) sum -= part * std::log(part);
      ++boxes;
    }
  }
  return boxes > 0 ? std::max(0.0, sum / static_cast<double>(boxes)) : 0.0;
}

Basin find_basin(const scene::Scene& scene, const std::vector<scene::Override>& overrides,
                 const base::Executor& executor, step::Monitor* monitor, const base::Ranks& ranks) {
  check_cells(scene);
  const Basins basins(scene, overrides, monitor);
  Basin found;
  for (const scene::FamilyKey& key : basins.plan().over.keys) {
    found.keys.push_back(key.name);
    found.values.emplace_back();
    for (const scene::Value& value : key.values) found.values.back().push_back(value.number);
  }
  found.names = scene.dynamics.section.names;
  const std::size_t cells = basins.plan().over.size();
  constexpr int kOpen = -9;  // not looked at yet
  found.labels.assign(cells, kOpen);
  (void)SectionFlow(scene);  // what is wrong with all cells is said once
  Seat first;
  find_attractors(basins, cells, first, found);
  constexpr std::size_t kBlock = 64;
  const auto classify = [&](std::size_t block) {
    Seat seat;
    for (std::size_t k = block * kBlock; k < std::min(cells, (block + 1) * kBlock); ++k) {
      if (basins.is_stopped()) return;
      const std::size_t cell = basins.cell(k);
      if (monitor != nullptr) ++monitor->steps;
      if (found.labels[cell] != kOpen) continue;
      found.labels[cell] = basins.classify(cell, found.attractors, seat, nullptr);
    }
  };
  const auto pass = [&](base::Archive archive, std::size_t block) {
    for (std::size_t k = block * kBlock; k < std::min(cells, (block + 1) * kBlock); ++k) {
      archive(found.labels[basins.cell(k)]);
    }
    return archive.bytes();
  };
  const std::string error = base::run_all(
      ranks, executor, (cells + kBlock - 1) / kBlock, classify,
      [&](std::size_t block) { return pass({}, block); },
      [&](std::size_t block, const std::string& bytes) { pass(base::Archive(bytes), block); });
  if (!error.empty()) throw base::InputError("sweep.over", error, "let the numbers vary less");
  std::replace(found.labels.begin(), found.labels.end(), kOpen, Basin::kUndecided);
  found.interrupted = basins.is_stopped();
  return found;
}

std::string basin_npz(const Basin& found) {
  std::vector<double> labels(found.labels.begin(), found.labels.end());
  const auto rows = found.values[0].size(), columns = found.values[1].size();
  std::vector<std::pair<std::string, std::string>> files;
  files.emplace_back("labels.npy",  // the first index fastest: second key, first key
                     base::numpy_array(labels, fmt::format("({}, {})", columns, rows)));
  for (std::size_t k = 0; k < 2; ++k) {
    files.emplace_back(
        found.keys[k] + ".npy",
        base::numpy_array(found.values[k], fmt::format("({},)", found.values[k].size())));
  }
  return base::stored_archive(files);
}

std::string to_json(const Basin& found, const scene::Scene& scene) {
  base::Json json;
  json["format"] = 1;
  json["scene"] = scene.file;
  for (std::size_t k = 0; k < 2; ++k) {
    json["over"].push_back({{"key", found.keys[k]},
                            {"from", found.values[k].front()},
                            {"to", found.values[k].back()},
                            {"count", found.values[k].size()}});
  }
  json["fractions"] = base::Json::list();
  json["attractors"] = base::Json::list();
  for (std::size_t k = 0; k < found.attractors.size(); ++k) {
    const Attractor& attractor = found.attractors[k];
    json["fractions"].push_back(found.fraction(static_cast<int>(k)));
    base::Json points = base::Json::list();
    for (std::size_t p = 0; p < std::min<std::size_t>(attractor.rows.size(), 64); ++p) {
      points.push_back(attractor.rows[p]);
    }
    json["attractors"].push_back({{"period", attractor.period}, {"points", points}});
  }
  json["names"] = found.names;
  json["undecided"] = found.fraction(Basin::kUndecided);
  json["escapes"] = found.fraction(Basin::kEscapes);
  json["cells"] = found.labels.size();
  json["outside"] = std::count(found.labels.begin(), found.labels.end(), Basin::kOutside);
  json["entropy"] = found.entropy();
  json["interrupted"] = found.interrupted;
  return json.pretty() + "\n";
}

std::string describe(const Basin& found, const scene::Scene& scene) {
  using base::entry;
  std::string text = scene.title + "\n\n";
  text += entry("over", fmt::format("{}, {} values, and {}, {} values", found.keys[0],
                                    found.values[0].size(), found.keys[1], found.values[1].size()));
  for (std::size_t k = 0; k < found.attractors.size(); ++k) {
    const int period = found.attractors[k].period;
    text += entry(fmt::format("attractor {}", k) + (k > 9 ? " " : ""),
                  fmt::format("{:.4f} of the cells; {}", found.fraction(static_cast<int>(k)),
                              period > 0 ? "period " + base::counted(period, "section")
                                         : std::string("it does not repeat")));
  }
  if (const double part = found.fraction(Basin::kEscapes); part > 0.0) {
    text += entry("escapes", fmt::format("{:.4f} of the cells", part));
  }
  text += entry("undecided", fmt::format("{:.4f} of the cells", found.fraction(Basin::kUndecided)));
  text += entry("entropy", fmt::format("{:.4f} of boxes of 5 x 5 cells", found.entropy()));
  return text;
}

}  // namespace ricochet::dynamics
