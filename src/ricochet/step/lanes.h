#pragma once

#include <array>
#include <functional>
#include <memory>

#include "ricochet/certify/lane_judge.h"
#include "ricochet/model/state.h"
#include "ricochet/step/outcome.h"
#include "ricochet/step/scheme.h"
#include "ricochet/step/settings.h"

namespace ricochet::step {

/// Where a run stands whose free steps are made in lanes, together with those of others.
struct LaneLoan {
  static constexpr std::size_t kMost = 2;  // coordinates
  certify::Account account;
  double t{0.0};
  double start{0.0};  // [s], from where steps are counted
  long long made{0};  // steps since then
  std::array<double, kMost> q{}, u{};
};

/// A run that can be lent to lanes between two of its own steps.
class LaneRun {
 public:
  LaneRun() = default;
  virtual ~LaneRun() = default;
  LaneRun(const LaneRun&) = delete;
  LaneRun& operator=(const LaneRun&) = delete;
  virtual bool step() = 0;  // one of its own; false when the run cannot go on
  virtual bool lend(LaneLoan& loan) = 0;
  virtual void take_back(const LaneLoan& loan) = 0;
  virtual Outcome finish(model::State<model::kDynamic>& end) = 0;
};

/// One of many runs: what it is made of must stay until it is done.
struct LaneTask {
  const model::FormulaModel* model{nullptr};
  const Scheme* scheme{nullptr};
  const RunSettings* run{nullptr};
  const model::State<model::kDynamic>* start{nullptr};
  bool is_alike{true};  // its model differs from those of others in constants alone
};

/// Whose runs go in lanes.
class LaneTasks {
 public:
  LaneTasks() = default;
  virtual ~LaneTasks() = default;
  LaneTasks(const LaneTasks&) = delete;
  LaneTasks& operator=(const LaneTasks&) = delete;
  /// The next run, for this lane; false: there are no more.
  virtual bool next(std::size_t lane, LaneTask& task) = 0;
  virtual void done(std::size_t lane, Outcome outcome, model::State<model::kDynamic> end) = 0;
};

/// Whether runs of such a model can go in lanes: see `LaneJudge::suits`.
bool has_lanes(const model::FormulaModel& model, const Scheme& scheme, const RunSettings& run);

struct LaneSettings {
  std::size_t lanes{certify::kLanes};  // runs at a time
  base::Width width{base::widest()};   // that the processor takes at once, if it can
};

/// Runs whose models differ in constants alone, `lanes` of them at a time, up to 64. Free steps,
/// far from contacts, are made and checked for all lanes together; a run in which something happens
/// makes that step by itself. Each has the same bits as alone, and the same certificate. Rows are
/// not told.
void run_lanes(LaneTasks& tasks, const LaneSettings& settings = {}, Monitor* monitor = nullptr);

}  // namespace ricochet::step
