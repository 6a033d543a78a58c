#pragma once

#include <utility>

#include "ricochet/step/recorder.h"
#include "ricochet/step/stages.h"

namespace ricochet::step {

/// Steps of one length, as many as the run asks for.
template <model::Model M, class S>
class FixedPace {
 public:
  using State = model::StateOf<M>;
  static constexpr bool kEvenly = true;

  FixedPace(const M& model, const S& scheme, const RunSettings& run, State& state,
            Recorder<M>& recorder)
      : model_(model),
        scheme_(scheme),
        recorder_(recorder),
        h_(run.step),
        start_(state.memory.start),
        made_(state.memory.steps),
        last_(state.memory.steps + run.steps),
        workspace_(model, state.q),
        state_(state),
        other_(state),
        now_(&state),
        next_(&other_) {
    for (State* one : {&state_, &other_}) {
      model::SchemeMemory& memory = one->memory.scheme;
      memory.reserve(static_cast<std::size_t>(model.contacts()), M::kSlips > 0);
      if (!model.has_constant_mass()) {
        memory.past.reserve(2 * static_cast<std::size_t>(model.dofs()));
      }
    }
  }

  /// A scheme's own start value, where it has one: judged as a step, but time stands still.
  bool open() {
    if constexpr (requires { begin(scheme_, model_, *now_, h_, *next_, workspace_); }) {
      if (is_over() || now_->memory.begun) return true;
      carry_memory(*now_, *next_, workspace_);
      next_->memory.steps = now_->memory.steps;
      next_->memory.begun = true;
      const problem::Report report = begin(scheme_, model_, *now_, h_, *next_, workspace_);
      if (!recorder_.is_solved(report, workspace_.t_mid) || !accept()) return false;
      std::swap(now_, next_);
      next_->memory.begun = true;
    }
    return true;
  }

  bool is_over() const { return made_ >= last_; }
  const State& now() const { return *now_; }
  long long progress() const { return recorder_.steps(); }

  /// One step. False when the run cannot go on.
  [[gnu::always_inline]] bool advance() {
    next_->t = start_ + static_cast<double>(made_ + 1) * h_;
    const problem::Report report = make_step(scheme_, model_, *now_, h_, *next_, workspace_);
    if (!recorder_.is_solved(report, workspace_.t_mid) || !accept()) return false;
    std::swap(now_, next_);
    ++made_;
    recorder_.count_solver(report, now_->t);
    recorder_.finish_step(*now_);
    return true;
  }

  /// Whether the next step touches nothing that the last one did.
  bool is_free() const {
    return now_->memory.steps > 0 && now_->memory.scheme.touched.empty() && recorder_.ok();
  }
  /// Free steps were made elsewhere, so many since the run began: it stands there now.
  template <class Numbers>
  void skip_to(const Numbers& q, const Numbers& u, long long steps) {
    for (Eigen::Index i = 0; i < now_->q.size(); ++i) {
      now_->q[i] = q[static_cast<std::size_t>(i)];
      now_->u[i] = u[static_cast<std::size_t>(i)];
    }
    made_ += steps - recorder_.steps();
    now_->t = start_ + static_cast<double>(made_) * h_;
    now_->memory.steps = made_;
    recorder_.skip_to(steps);
  }
  long long made() const { return made_; }
  double start() const { return start_; }

  /// Leaves the state at the last step that holds.
  void finish(Outcome& outcome) {
    if (now_ != &state_) state_ = std::move(*now_);
    outcome.wanted_step = workspace_.wanted_step;
  }

 private:
  [[gnu::always_inline]] bool accept() {
    return recorder_.template accept<S::kInfo.integrator>(*now_, *next_, h_, workspace_.claim,
                                                          workspace_.unique);
  }

  const M& model_;
  const S& scheme_;
  Recorder<M>& recorder_;
  double h_;
  double start_;    // [s], from where steps are counted
  long long made_;  // steps since then
  long long last_;  // where the run ends
  Workspace<M> workspace_;
  State& state_;
  State other_;
  State* now_;
  State* next_;
};

}  // namespace ricochet::step
