#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "ricochet/base/sum.h"
#include "ricochet/base/wide.h"
#include "ricochet/model/formula_model.h"

/// The brief check of steps on Moreau's middles that touch nothing, of many runs at once.
namespace ricochet::certify {

inline constexpr std::size_t kLanes = formula::Tape::kLanes;
/// A number of each run, in whole lines of the cache.
struct alignas(64) Lane : std::array<double, kLanes> {};

/// What a judge counts in steps that are plainly right and touch nothing, and what it needs for it.
struct Account {
  double kinetic{0.0}, potential{0.0};
  base::Sum forces, contacts, defect;
  double defect_max{0.0}, kinetic_max{0.0}, lowest{0.0}, highest{0.0};
  long long steps{0};
  // What such steps do not change.
  double kinetic_start{0.0}, potential_start{0.0};
  double look{0.0};       // at steps with more T than this
  double most_gain{0.0};  // of T + V
  double time_size{0.0};
  long long until{0};  // steps from there on are checked in full
};

/// A formula model with other constants in each lane: one tape on registers of all lanes.
class LaneTape {
 public:
  LaneTape(const formula::Tape& tape, int group)
      : tape_(tape), group_(group), registers_(tape.initial().size()) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) load(lane, tape);
    for (const std::size_t at : tape_.outputs(group)) outputs_.push_back(registers_[at].data());
  }
  LaneTape(const LaneTape&) = delete;
  LaneTape& operator=(const LaneTape&) = delete;
  void load(std::size_t lane, const formula::Tape& tape) {
    const std::vector<double>& fresh = tape.initial();
    for (std::size_t r = 0; r < fresh.size(); ++r) registers_[r][lane] = fresh[r];
  }
  double* input(int slot) { return registers_[static_cast<std::size_t>(slot)].data(); }
  const double* output(std::size_t k) const { return outputs_[k]; }
  void run(formula::LaneAngles& angles, base::Width width) {
    tape_.run_batch(group_, registers_[0].data(), &angles, width);
  }

 private:
  formula::Tape tape_;
  int group_{0};
  std::vector<Lane> registers_;
  std::vector<const double*> outputs_;
};

/// One step in all lanes, each number by coordinate and lane.
struct LaneStep {
  const Lane *t, *t_end, *h;
  const std::vector<Lane>&q, &u, &q_end, &u_end;
};

/// Recomputes steps without contacts from the models and the definitions alone, as `Brief` does for
/// one. A step that does not pass is left to the judge of its run.
class LaneJudge {
 public:
  /// Models in lanes differ from this one in constants alone.
  LaneJudge(const model::FormulaModel& model, double anticipation, base::Width width);

  /// Whether the numbers of a model are in the order in which these lanes add them.
  static bool suits(const model::FormulaModel& model);

  void take_model(std::size_t lane, const model::FormulaModel& model);
  /// Tapes that a scheme may use for itself between two checks: a check begins with inputs of its
  /// own. Two sets of registers would not fit into the nearest memory.
  LaneTape& gaps() { return gaps_; }
  LaneTape& forces() { return forces_; }
  void load(std::size_t lane, const Account& account);
  /// After so many steps. Contacts did no work, and to add 0 more than twice changes no bit.
  void store(std::size_t lane, long long steps, Account& account) const;

  /// Sets `passes` to 1 where `live` is 1 and the step is plainly right, and enters it there.
  void check(const LaneStep& step, const Lane& live, formula::LaneAngles& angles, Lane& passes);

 private:
  /// Sums that are compensated.
  struct Sums {
    Lane total{}, lost{};
  };
  template <std::size_t kDofs>
  void check_sized(const LaneStep& step, const Lane& live, formula::LaneAngles& angles,
                   Lane& passes);
  template <std::size_t kDofs>
  void take_places(const LaneStep& step, const Lane& live, Lane& passes);
  template <std::size_t kDofs>
  void look_at_works(const LaneStep& step, Lane& passes);
  void look_at_gaps(Lane& passes) const;

  std::size_t dofs_, contacts_;
  double anticipation_;
  base::Width width_;
  LaneTape gaps_, forces_, ends_;
  std::vector<Lane> mass_, slack_;
  // The account.
  Lane kinetic_{}, potential_{}, defect_max_{}, kinetic_max_{}, lowest_{}, highest_{};
  Lane kinetic_start_{}, potential_start_{}, look_{}, most_gain_{}, time_size_{};
  Sums forces_sum_, defect_sum_;
};

}  // namespace ricochet::certify
