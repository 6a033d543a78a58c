#include "ricochet/step/lanes.h"

#include <algorithm>
#include <vector>

#include "ricochet/step/run_formula.h"

namespace ricochet::step {
namespace {

using certify::either;
using certify::kLanes;
using certify::kPack;
using certify::Lane;
using certify::LaneTape;
using certify::Pack;
using certify::pack_at;
using certify::PackMask;
using certify::write;

/// Free steps on Moreau's middles, all lanes: q_M, u + h M^-1 Q, q+; and their judge.
class LaneStepper {
 public:
  LaneStepper(const model::FormulaModel& model, double anticipation)
      : dofs_(static_cast<std::size_t>(model.dofs())),
        contacts_(static_cast<std::size_t>(model.contacts())),
        anticipation_(anticipation),
        gaps_(model.gap_tape(), model::FormulaModel::kGaps),
        forces_(model.force_tape(), 0),
        judge_(model, anticipation),
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
    made_[lane] = static_cast<double>(loan.made);
    t_[lane] = loan.t;
    for (std::size_t i = 0; i < dofs_; ++i) {
      q_[i][lane] = loan.q[i];
      u_[i][lane] = loan.u[i];
    }
    live_[lane] = 1.0;
  }
  void store(std::size_t lane, LaneLoan& loan) {
    judge_.store(lane, loan.account);
    const auto made = static_cast<long long>(made_[lane]);
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
    make();
    judge_.check({&t_, &t_end_, &h_, q_, u_, q_end_, u_end_}, free_, angles_, passes_);
    PackMask failed = {0, 0};
    for (std::size_t j = 0; j < kLanes; j += kPack) {
      const PackMask holds = pack_at(&passes_[j]) * pack_at(&free_[j]) != 0.0;
      const Pack made = pack_at(&made_[j]), live = pack_at(&live_[j]);
      const Pack fail = either(holds, live - live, live);
      failed |= fail != 0.0;
      write(fail, &fails[j]);
      write(either(holds, made + 1.0, made), &made_[j]);
      write(either(holds, pack_at(&t_end_[j]), pack_at(&t_[j])), &t_[j]);
      for (std::size_t i = 0; i < dofs_; ++i) {
        write(either(holds, pack_at(&q_end_[i][j]), pack_at(&q_[i][j])), &q_[i][j]);
        write(either(holds, pack_at(&u_end_[i][j]), pack_at(&u_[i][j])), &u_[i][j]);
      }
    }
    return (failed[0] | failed[1]) != 0;
  }

 private:
  void take_model(std::size_t lane, const model::FormulaModel& model, double h) {
    judge_.take_model(lane, model);
    gaps_.load(lane, model.gap_tape());
    forces_.load(lane, model.force_tape());
    h_[lane] = h;
    for (std::size_t i = 0; i < dofs_; ++i) inverse_[i][lane] = model.mass().inverse_diagonal()[i];
    for (std::size_t a = 0; a < contacts_; ++a) slack_[a][lane] = model.slack()[a];
  }

  void make() {
    for (std::size_t j = 0; j < kLanes; j += kPack) {
      const Pack h = pack_at(&h_[j]), t_mid = pack_at(&t_[j]) + 0.5 * h;
      write(t_mid, gaps_.input(0) + j);
      write(t_mid, forces_.input(0) + j);
      write(pack_at(&start_[j]) + (pack_at(&made_[j]) + 1.0) * h, &t_end_[j]);
      for (std::size_t i = 0; i < dofs_; ++i) {
        const int slot = 1 + static_cast<int>(i);
        const Pack u = pack_at(&u_[i][j]), q_mid = pack_at(&q_[i][j]) + (0.5 * h) * u;
        write(q_mid, forces_.input(slot) + j);
        write(q_mid + (anticipation_ * h) * u, gaps_.input(slot) + j);
      }
    }
    gaps_.run(angles_);
    forces_.run(angles_);
    for (std::size_t j = 0; j < kLanes; j += kPack) {
      const Pack h = pack_at(&h_[j]), live = pack_at(&live_[j]);
      PackMask is_free = live != 0.0;
      for (std::size_t a = 0; a < contacts_; ++a) {
        is_free &= pack_at(gaps_.output(a) + j) > pack_at(&slack_[a][j]);
      }
      write(either(is_free, live, live - live), &free_[j]);
      for (std::size_t i = 0; i < dofs_; ++i) {
        const Pack rate = pack_at(&inverse_[i][j]) * pack_at(forces_.output(i) + j);
        const Pack u_end = pack_at(&u_[i][j]) + h * rate;
        const Pack q_mid = pack_at(forces_.input(1 + static_cast<int>(i)) + j);
        write(u_end, &u_end_[i][j]);
        write(q_mid + (0.5 * h) * u_end, &q_end_[i][j]);
      }
    }
  }

  std::size_t dofs_, contacts_;
  double anticipation_;
  LaneTape gaps_, forces_;
  formula::LaneAngles angles_;
  certify::LaneJudge judge_;
  std::vector<Lane> q_, u_, q_end_, u_end_, inverse_, slack_;
  Lane t_{}, t_end_{}, h_{}, start_{}, made_{}, live_{}, free_{}, passes_{};
};

/// All lanes make one step after the other at the same time, so that what depends on time alone is
/// the same in all of them.
class LaneRunner {
 public:
  LaneRunner(LaneTasks& tasks, std::size_t lanes, Monitor* monitor)
      : tasks_(tasks), monitor_(monitor), seats_(std::min(lanes, kLanes)) {}

  void run() {
    for (std::size_t lane = 0; lane < seats_.size(); ++lane) begin(lane);
    while (open_ > 0) {
      if (monitor_ != nullptr && monitor_->stop) return stop();
      const long long burst = open_ > lent_ ? 1 : steps_to_due();
      step_together(burst);
      for (std::size_t lane = 0; lane < seats_.size(); ++lane) {
        Seat& seat = seats_[lane];
        if (seat.is_lent && clock_ >= seat.until) {
          fetch(lane);
          if (is_over(seat)) end(lane);
        } else if (seat.run != nullptr && !seat.is_lent) {
          step_alone(lane);
        }
      }
    }
  }

 private:
  /// A run in its lane.
  struct Seat {
    LaneTask task;
    std::unique_ptr<LaneRun> run;
    LaneLoan loan;
    long long until{0};  // by the clock: when it has to come back
    bool is_lent{false};
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

  /// Until a run has to come back, as far as is known.
  long long steps_to_due() const {
    long long least = 1LL << 40;
    for (const Seat& seat : seats_) {
      if (seat.is_lent) least = std::min(least, seat.until - clock_);
    }
    return least;
  }

  /// So many steps, or up to one in which something happens to a run, which then makes it alone.
  void step_together(long long burst) {
    Lane fails{};
    for (long long k = 0; k < burst; ++k) {
      ++clock_;
      if (lent_ == 0 || !stepper_->step(fails)) continue;
      for (std::size_t lane = 0; lane < seats_.size(); ++lane) {
        if (fails[lane] != 0.0) fetch(lane);
      }
      return;
    }
  }

  void fetch(std::size_t lane) {
    Seat& seat = seats_[lane];
    stepper_->store(lane, seat.loan);
    seat.run->take_back(seat.loan);
    seat.is_lent = false;
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
      stepper_ =
          std::make_unique<LaneStepper>(*seat.task.model, seat.task.scheme->value("anticipation"));
    }
    stepper_->load(lane, *seat.task.model, seat.task.run->step, seat.loan, seat.is_fresh);
    seat.is_fresh = false;
    seat.is_lent = true;
    seat.until = clock_ + last - steps;
    ++lent_;
  }

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
    --open_;
    tasks_.done(lane, std::move(outcome), std::move(end));
  }

  void stop() {
    for (std::size_t lane = 0; lane < seats_.size(); ++lane) {
      if (seats_[lane].is_lent) fetch(lane);
      if (seats_[lane].run != nullptr) finish(lane, true);
    }
  }

  LaneTasks& tasks_;
  Monitor* monitor_;
  std::vector<Seat> seats_;
  std::unique_ptr<LaneStepper> stepper_;
  long long clock_{0};   // steps that all have made since the beginning
  std::size_t open_{0};  // runs
  std::size_t lent_{0};  // of them
};

}  // namespace

bool has_lanes(const model::FormulaModel& model, const Scheme& scheme, const RunSettings& run) {
  return scheme.info().has_lanes && run.certify && !run.backward && !run.control.is_on() &&
         certify::LaneJudge::suits(model) && model.dofs() <= static_cast<int>(LaneLoan::kMost);
}

void run_lanes(LaneTasks& tasks, std::size_t lanes, Monitor* monitor) {
  LaneRunner(tasks, std::max<std::size_t>(lanes, 1), monitor).run();
}

}  // namespace ricochet::step
