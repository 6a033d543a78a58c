#include "ricochet/step/lanes.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "ricochet/step/run_formula.h"

namespace ricochet::step {
namespace {

using certify::kLanes;
using certify::Lane;
using certify::LaneTape;

/// Free steps on Moreau's middles, all lanes: q_M, u + h M^-1 Q, q+; and their judge.
class LaneStepper {
 public:
  LaneStepper(const model::FormulaModel& model, double anticipation, base::Width width)
      : dofs_(static_cast<std::size_t>(model.dofs())),
        contacts_(static_cast<std::size_t>(model.contacts())),
        anticipation_(anticipation),
        width_(width),
        judge_(model, anticipation, width),
        gaps_(judge_.gaps()),
        forces_(judge_.forces()),
        q_(dofs_),
        u_(dofs_),
        q_end_(dofs_),
        u_end_(dofs_),
        inverse_(dofs_),
        slack_(contacts_) {}

  /// `is_fresh`: another model than the last one in this lane.
  void load(std::size_t lane, const model::FormulaModel& model, double h, const LaneLoan& loan,
            bool is_fresh) {
    if (is_fresh) take_model(lane, model, h);
    judge_.load(lane, loan.account);
    start_[lane] = loan.start;
    count_[lane] = static_cast<double>(loan.made);
    t_[lane] = loan.t;
    for (std::size_t i = 0; i < dofs_; ++i) {
      q_[i][lane] = loan.q[i];
      u_[i][lane] = loan.u[i];
    }
    live_[lane] = 1.0;
  }
  /// `fails`: its last step was not taken.
  void store(std::size_t lane, bool fails, LaneLoan& loan) {
    const auto made = static_cast<long long>(count_[lane]) - (fails ? 1 : 0);
    judge_.store(lane, made - loan.made, loan.account);
    loan.account.steps += made - loan.made;
    loan.made = made;
    for (std::size_t i = 0; i < dofs_; ++i) {
      loan.q[i] = q_[i][lane];
      loan.u[i] = u_[i][lane];
    }
    live_[lane] = 0.0;
  }

  /// Makes a step in all lanes, and takes it where it is free and holds; where not, `fails` is 1.
  bool step(Lane& fails) {
    base::work_in(width_, [&]() RICOCHET_ALWAYS { predict(); });
    gaps_.run(angles_, width_);
    forces_.run(angles_, width_);
    base::work_in(width_, [&]() RICOCHET_ALWAYS { correct(); });
    judge_.check({&t_, &t_end_, &h_, q_, u_, q_end_, u_end_}, free_, angles_, passes_);
    base::work_in(width_, [&]() RICOCHET_ALWAYS { take(fails); });
    return any_ != 0.0;
  }

 private:
  void take_model(std::size_t lane, const model::FormulaModel& model, double h) {
    judge_.take_model(lane, model);
    h_[lane] = h;
    for (std::size_t i = 0; i < dofs_; ++i) inverse_[i][lane] = model.mass().inverse_diagonal()[i];
    for (std::size_t a = 0; a < contacts_; ++a) slack_[a][lane] = model.slack()[a];
  }

  /// q_M, where contacts are looked for, and t+.
  RICOCHET_ALWAYS inline void predict() {
    double *const gap_t = gaps_.input(0), *const force_t = forces_.input(0);
    RICOCHET_APART
    for (std::size_t j = 0; j < kLanes; ++j) {
      gap_t[j] = force_t[j] = t_[j] + 0.5 * h_[j];
      t_end_[j] = start_[j] + (count_[j] + 1.0) * h_[j];
    }
    for (std::size_t i = 0; i < dofs_; ++i) {
      const int slot = 1 + static_cast<int>(i);
      double *const gap_q = gaps_.input(slot), *const force_q = forces_.input(slot);
      const Lane &q = q_[i], &u = u_[i];
      RICOCHET_APART
      for (std::size_t j = 0; j < kLanes; ++j) {
        const double q_mid = q[j] + (0.5 * h_[j]) * u[j];
        force_q[j] = q_mid;
        gap_q[j] = q_mid + (anticipation_ * h_[j]) * u[j];
      }
    }
  }

  /// u + h M^-1 Q and q+, and whether nothing touches.
  RICOCHET_ALWAYS inline void correct() {
    free_ = live_;
    for (std::size_t a = 0; a < contacts_; ++a) {
      const double* const gap = gaps_.output(a);
      const Lane& slack = slack_[a];
      RICOCHET_APART
      for (std::size_t j = 0; j < kLanes; ++j) free_[j] = gap[j] > slack[j] ? free_[j] : 0.0;
    }
    for (std::size_t i = 0; i < dofs_; ++i) {
      const double *const q_mid = forces_.input(1 + static_cast<int>(i)), *const force =
                                                                              forces_.output(i);
      const Lane &u = u_[i], &inverse = inverse_[i];
      Lane &u_end = u_end_[i], &q_end = q_end_[i];
      RICOCHET_APART
      for (std::size_t j = 0; j < kLanes; ++j) {
        const double after = u[j] + h_[j] * (inverse[j] * force[j]);
        u_end[j] = after;
        q_end[j] = q_mid[j] + (0.5 * h_[j]) * after;
      }
    }
  }

  /// Goes on where the step is free and holds; counts where it does not. Time goes on in all lanes,
  /// so that what depends on it alone is the same in those that wait.
  RICOCHET_ALWAYS inline void take(Lane& fails) {
    for (std::size_t i = 0; i < dofs_; ++i) {
      Lane &q = q_[i], &u = u_[i];
      const Lane &q_end = q_end_[i], &u_end = u_end_[i];
      RICOCHET_APART
      for (std::size_t j = 0; j < kLanes; ++j) {
        const bool holds = passes_[j] != 0.0;
        q[j] = holds ? q_end[j] : q[j];
        u[j] = holds ? u_end[j] : u[j];
      }
    }
    RICOCHET_APART
    for (std::size_t j = 0; j < kLanes; ++j) {
      fails[j] = passes_[j] != 0.0 ? 0.0 : live_[j];
      count_[j] += 1.0;
      t_[j] = t_end_[j];
    }
    std::array<double, 8> sums{};
    for (std::size_t j = 0; j < kLanes; j += sums.size()) {
      for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += fails[j + k];
    }
    any_ = 0.0;
    for (const double sum : sums) any_ += sum;
  }

  std::size_t dofs_, contacts_;
  double anticipation_;
  base::Width width_;
  formula::LaneAngles angles_;
  certify::LaneJudge judge_;
  LaneTape &gaps_, &forces_;  // of the judge
  std::vector<Lane> q_, u_, q_end_, u_end_, inverse_, slack_;
  Lane t_{}, t_end_{}, h_{}, start_{}, count_{}, live_{}, free_{}, passes_{};
  double any_{0.0};  // lanes whose step was not taken
};

/// All lanes make one step after the other at the same time, so that what depends on time alone is
/// the same in all of them.
class LaneRunner {
 public:
  LaneRunner(LaneTasks& tasks, const LaneSettings& settings, Monitor* monitor)
      : tasks_(tasks),
        width_(std::min(settings.width, base::widest())),
        monitor_(monitor),
        seats_(std::clamp<std::size_t>(settings.lanes, 1, kLanes)) {
    until_.fill(kNever);
  }

  void run() {
    for (std::size_t lane = 0; lane < seats_.size(); ++lane) begin(lane);
    while (open_ > 0) {
      if (monitor_ != nullptr && monitor_->stop) return stop();
      step_together(alone_ != 0 ? 1 : due_ - clock_);
      for (std::uint64_t rest = alone_; rest != 0; rest &= rest - 1) {
        step_alone(static_cast<std::size_t>(std::countr_zero(rest)));
      }
      if (clock_ >= due_) fetch_due();
    }
  }

 private:
  /// A run in its lane.
  struct Seat {
    LaneTask task;
    std::unique_ptr<LaneRun> run;
    LaneLoan loan;
    bool is_fresh{true};  // its constants are not in the lane yet
  };

  void begin(std::size_t lane) {
    Seat& seat = seats_[lane];
    while (tasks_.next(lane, seat.task)) {
      const LaneTask& task = seat.task;
      if (task.is_alike) {
        seat.run = start_lane(*task.model, *task.scheme, *task.run, *task.start);
        seat.loan = {};
        seat.is_fresh = true;
        ++open_;
        alone_ |= bit(lane);
        if (task.run->steps > 0) return;
        finish(lane);
        continue;
      }
      model::State<model::kDynamic> state = *task.start;
      Outcome outcome =
          run_formula(*task.model, *task.scheme, *task.run, state, [](const Sample&) {});
      tasks_.done(lane, std::move(outcome), std::move(state));
    }
  }

  /// Runs that have to come back now do, to make their next step alone.
  void fetch_due() {
    due_ = kNever;
    for (std::size_t lane = 0; lane < seats_.size(); ++lane) {
      if (until_[lane] > clock_) {
        due_ = std::min(due_, until_[lane]);
        continue;
      }
      fetch(lane);
      if (is_over(seats_[lane])) end(lane);
    }
  }

  /// So many steps, or up to one in which something happens to a run, which then makes it alone.
  void step_together(long long burst) {
    for (long long k = 0; k < burst; ++k) {
      ++clock_;
      if (lent_ == 0 || !stepper_->step(fails_)) continue;
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        if (fails_[lane] != 0.0) fetch(lane, true);
      }
      return;
    }
  }

  void fetch(std::size_t lane, bool fails = false) {
    Seat& seat = seats_[lane];
    stepper_->store(lane, fails, seat.loan);
    seat.run->take_back(seat.loan);
    until_[lane] = kNever;
    alone_ |= bit(lane);
    --lent_;
  }

  void step_alone(std::size_t lane) {
    Seat& seat = seats_[lane];
    const bool goes_on = seat.run->step();
    ++seat.loan.account.steps;
    if (!goes_on || is_over(seat)) return end(lane);
    const long long steps = seat.loan.account.steps;
    if (!seat.run->lend(seat.loan)) return;
    const long long last = std::min(seat.loan.account.until, seat.task.run->steps);
    if (last <= steps) return;
    if (stepper_ == nullptr) {
      stepper_ = std::make_unique<LaneStepper>(*seat.task.model,
                                               seat.task.scheme->value("anticipation"), width_);
    }
    stepper_->load(lane, *seat.task.model, seat.task.run->step, seat.loan, seat.is_fresh);
    seat.is_fresh = false;
    until_[lane] = clock_ + last - steps;
    due_ = std::min(due_, until_[lane]);
    alone_ &= ~bit(lane);
    ++lent_;
  }

  static std::uint64_t bit(std::size_t lane) { return std::uint64_t{1} << lane; }
  static bool is_over(const Seat& seat) { return seat.loan.account.steps >= seat.task.run->steps; }

  /// This run is done; the next one takes its lane.
  void end(std::size_t lane) {
    finish(lane);
    begin(lane);
  }

  void finish(std::size_t lane, bool interrupted = false) {
    Seat& seat = seats_[lane];
    model::State<model::kDynamic> end = *seat.task.start;
    Outcome outcome = seat.run->finish(end);
    outcome.interrupted = interrupted;
    if (monitor_ != nullptr) monitor_->steps += outcome.steps;
    seat.run.reset();
    alone_ &= ~bit(lane);
    --open_;
    tasks_.done(lane, std::move(outcome), std::move(end));
  }

  void stop() {
    for (std::size_t lane = 0; lane < seats_.size(); ++lane) {
      if (until_[lane] != kNever) fetch(lane);
      if (seats_[lane].run != nullptr) finish(lane, true);
    }
  }

  LaneTasks& tasks_;
  base::Width width_;
  Monitor* monitor_;
  std::vector<Seat> seats_;
  static constexpr long long kNever = 1LL << 62;
  std::unique_ptr<LaneStepper> stepper_;
  Lane fails_{};                           // 1 where a step was not taken
  std::uint64_t alone_{0};                 // bits of runs that make their next step alone
  std::array<long long, kLanes> until_{};  // by the clock: when a lent one has to come back
  long long due_{kNever};                  // the first of these
  long long clock_{0};                     // steps that all have made since the beginning
  std::size_t open_{0};                    // runs
  std::size_t lent_{0};                    // of them
};

}  // namespace

bool has_lanes(const model::FormulaModel& model, const Scheme& scheme, const RunSettings& run) {
  return scheme.info().has_lanes && run.certify && !run.backward && !run.control.is_on() &&
         certify::LaneJudge::suits(model) && model.dofs() <= static_cast<int>(LaneLoan::kMost);
}

void run_lanes(LaneTasks& tasks, const LaneSettings& settings, Monitor* monitor) {
  LaneRunner(tasks, settings, monitor).run();
}

}  // namespace ricochet::step
