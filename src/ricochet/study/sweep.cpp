#include "ricochet/study/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <memory>

#include "ricochet/base/clock.h"
#include "ricochet/base/error.h"
#include "ricochet/step/run_formula.h"

namespace ricochet::study {
namespace {

using State = model::State<model::kDynamic>;

MemberEnd end_of(const step::Outcome& outcome, const State& end) {
  const certify::Certificate& c = outcome.certificate;
  MemberEnd found;
  found.status = outcome.interrupted ? "interrupted"
                 : c.ok()            ? "ok"
                                     : certify::describe(c.failure).name;
  found.steps = outcome.steps;
  found.t = end.t;
  found.q.assign(end.q.begin(), end.q.end());
  found.u.assign(end.u.begin(), end.u.end());
  found.residual = c.residual_max;
  found.violation = c.violation_max;
  found.energy = c.ledger.kinetic_end + c.ledger.potential_end;
  found.shocks = c.shock_counts;
  return found;
}

/// Places for the members of one block, kept from block to block.
struct Desk {
  std::vector<scene::Members::Place> places;
  std::atomic<bool> is_taken{false};
};

/// Desks for as many threads as come; more than these wait for none, they make their own.
class Desks {
 public:
  Desks() {
    for (std::shared_ptr<Desk>& desk : desks_) desk = std::make_shared<Desk>();
  }
  std::shared_ptr<Desk> take() {
    for (std::shared_ptr<Desk>& desk : desks_) {
      if (!desk->is_taken.exchange(true)) return desk;
    }
    return std::make_shared<Desk>();
  }

 private:
  std::array<std::shared_ptr<Desk>, 64> desks_;
};

/// Members one after the other into lanes.
class Block : public step::LaneTasks {
 public:
  Block(const scene::Members& members, std::vector<scene::Members::Place>& places,
        const SweepSettings& settings, std::size_t begin, std::vector<MemberEnd>& ends)
      : members_(members),
        places_(places),
        settings_(settings),
        next_(begin),
        begin_(begin),
        ends_(ends),
        numbers_(places.size()) {}

  bool next(std::size_t lane, step::LaneTask& task) override {
    if (next_ - begin_ == ends_.size()) return false;
    numbers_[lane] = next_++;
    scene::Members::Place& place = places_[lane];
    members_.load(numbers_[lane], place);
    task = {&place.model(), &place.scheme(), &place.run(), &place.start(), place.is_alike()};
    return true;
  }
  void done(std::size_t lane, step::Outcome outcome, State end) override {
    const std::size_t member = numbers_[lane];
    if (settings_.look) settings_.look(member, outcome, end);
    ends_[member - begin_] = end_of(outcome, end);
  }

 private:
  const scene::Members& members_;
  std::vector<scene::Members::Place>& places_;
  const SweepSettings& settings_;
  std::size_t next_, begin_;
  std::vector<MemberEnd>& ends_;
  std::vector<std::size_t> numbers_;  // by lane
};

/// One block after the other, several at a time, told in order wave by wave.
class SweepRun {
 public:
  SweepRun(const scene::Members& members, const SweepSettings& settings, step::Monitor* monitor)
      : members_(members), settings_(settings), monitor_(monitor) {}

  void run_block(std::size_t begin, std::vector<MemberEnd>& ends) {
    const std::shared_ptr<Desk> desk = desks_.take();
    const std::size_t lanes = std::clamp<std::size_t>(settings_.lanes, 1, certify::kLanes);
    while (desk->places.size() < std::min(lanes, ends.size())) {
      desk->places.push_back(members_.make_place());
    }
    Block block(members_, desk->places, settings_, begin, ends);
    try {
      const scene::Scene* pattern = members_.pattern();
      if (lanes > 1 && pattern != nullptr &&
          step::has_lanes(*pattern->formulas(), pattern->scheme, pattern->run)) {
        step::run_lanes(block, {.lanes = lanes, .width = settings_.width}, monitor_);
      } else {
        run_alone(block);
      }
    } catch (...) {
      desk->is_taken = false;
      throw;
    }
    desk->is_taken = false;
  }

 private:
  void run_alone(Block& block) {
    step::LaneTask task;
    while (!is_stopped() && block.next(0, task)) {
      State state = *task.start;
      step::RunSettings run = *task.run;
      run.record_every = 0;
      step::Outcome outcome =
          step::run_formula(*task.model, *task.scheme, run, state, [](const step::Sample&) {});
      if (monitor_ != nullptr) monitor_->steps += outcome.steps;
      block.done(0, std::move(outcome), std::move(state));
    }
  }
  bool is_stopped() const { return monitor_ != nullptr && monitor_->stop; }

  const scene::Members& members_;
  const SweepSettings& settings_;
  step::Monitor* monitor_;
  Desks desks_;
};

}  // namespace

SweepOutcome sweep(const scene::Scene& scene, const std::vector<scene::Override>& overrides,
                   const scene::Family& over, const base::Executor& executor,
                   const std::function<void(std::size_t member, const MemberEnd&)>& tell,
                   const SweepSettings& settings, step::Monitor* monitor) {
  constexpr std::size_t kBlock = 256,
                        kWave = 64;  // members of a block; blocks that are told at once
  if (scene.formulas() == nullptr) {
    throw base::InputError("sweep", "is of systems of coordinates, not of structures or bodies",
                           "use [family]");
  }
  const base::Stopwatch clock;
  const scene::Members members(scene, overrides, over);
  SweepRun run(members, settings, monitor);
  SweepOutcome outcome;
  const auto is_stopped = [&] { return monitor != nullptr && monitor->stop; };
  for (std::size_t begin = 0; begin < members.size() && !is_stopped(); begin += kBlock * kWave) {
    const std::size_t count = std::min(kBlock * kWave, members.size() - begin);
    std::vector<std::vector<MemberEnd>> blocks((count + kBlock - 1) / kBlock);
    std::vector<std::exception_ptr> errors(blocks.size());
    executor(blocks.size(), [&](std::size_t b) {
      try {
        blocks[b].resize(std::min(kBlock, count - b * kBlock));
        run.run_block(begin + b * kBlock, blocks[b]);
      } catch (...) {
        errors[b] = std::current_exception();
      }
    });
    for (const std::exception_ptr& error : errors) {
      if (error) std::rethrow_exception(error);
    }
    std::size_t member = begin;
    for (const std::vector<MemberEnd>& block : blocks) {
      for (const MemberEnd& end : block) {
        if (!end.status.empty()) {  // else it was not run any more
          ++outcome.members;
          outcome.failed += end.status != "ok" && end.status != "interrupted" ? 1 : 0;
          outcome.steps += end.steps;
          tell(member, end);
        }
        ++member;
      }
    }
  }
  outcome.documents = members.documents();
  outcome.interrupted = is_stopped();
  outcome.seconds = clock.seconds();
  return outcome;
}

std::string sweep_header(const scene::Scene& scene, const scene::Family& over) {
  std::vector<std::string> names = {"member", "status",   "steps",    "t",
                                    "energy", "residual", "violation"};
  const auto add = [&](const std::string& name, const std::string& place) {
    if (std::find(names.begin(), names.end(), name) == names.end()) return names.push_back(name);
    throw base::InputError(place,
                           fmt::format("'{}' is the name of another column of the sweep", name),
                           "choose another name");
  };
  const auto& [coordinates, contacts] = std::tie(scene.columns.coordinates, scene.columns.contacts);
  std::string keys, places, velocities, shocks;
  for (const scene::FamilyKey& key : over.keys) {
    add(key.name, "sweep.over." + key.name);
    keys += "," + key.name;
  }
  for (const std::string& name : coordinates) {
    add(name, "system.coordinates");
    places += "," + name;
  }
  for (const std::string& name : coordinates) {
    add("d_" + name, "system.coordinates");
    velocities += ",d_" + name;
  }
  for (std::size_t a = 0; a + static_cast<std::size_t>(scene.columns.joints) < contacts.size();
       ++a) {
    shocks += fmt::format(",{}.shocks", contacts[a]);
  }
  return "member" + keys + ",status,steps,t" + places + velocities + ",energy,residual,violation" +
         shocks;
}

std::string sweep_row(const scene::Family& over, std::size_t member, const MemberEnd& end) {
  std::string line = std::to_string(member + 1);
  for (std::size_t k = 0; k < over.keys.size(); ++k) {
    const scene::Value& value = over.value(member, k);
    const bool is_text = value.kind == scene::Value::Kind::Text;
    line += is_text ? fmt::format(",\"{}\"", value.text) : fmt::format(",{}", value.number);
  }
  line += fmt::format(",{},{},{}", end.status, end.steps, end.t);
  for (const double q : end.q) line += fmt::format(",{}", q);
  for (const double u : end.u) line += fmt::format(",{}", u);
  line += fmt::format(",{},{},{}", end.energy, end.residual, end.violation);
  for (const long long shocks : end.shocks) line += fmt::format(",{}", shocks);
  return line;
}

}  // namespace ricochet::study
