#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "ricochet/step/recorder.h"
#include "ricochet/step/stages.h"

namespace ricochet::step {

/// Chooses the lengths of steps. No source controls the step; Moreau 1986, par. 6, sketches how the
/// instant of a shock is estimated from affine gaps.
///
/// A pair of half steps is compared with one whole step. In smooth motion their difference is the
/// error; across a shock it is the jump of velocity times what the instant is off by. So both are
/// one test: the difference must not exceed the tolerance. A pair that meets a contact it did not
/// touch before and fails is retried up to nine tenths of the time after which the affine gap
/// vanishes, so that free flight is crossed in few long steps and the shock in one short pair.
/// What rounding makes of positions is no error, and no pair is so short that t would not move.
template <model::Model M, class S>
class ControlledPace {
 public:
  using State = model::StateOf<M>;
  static constexpr bool kEvenly = false;

  ControlledPace(const M& model, const S& scheme, const RunSettings& run, State& state,
                 Recorder<M>& recorder)
      : model_(model),
        scheme_(scheme),
        recorder_(recorder),
        control_(run.control),
        largest_(run.step),
        start_time_(state.memory.start),
        end_time_(end_of(run, state)),
        memory_(state.memory.control),
        state_(state),
        whole_(state),
        middle_(state),
        end_(state),
        off_(state.u),
        size_(state.u),
        first_(model, state.q),
        second_(model, state.q),
        looked_at_(model.contacts()) {
    if (!(memory_.proposed > 0.0)) memory_.proposed = largest_;
  }

  static constexpr bool open() { return true; }
  bool is_over() const { return !(state_.t < end_time_ - 1e-6 * control_.smallest); }
  long long progress() const { return static_cast<long long>((state_.t - start_time_) / largest_); }

  /// A pair of steps. False when the run cannot go on.
  bool advance() {
    const problem::Report report = find_pair(state_);
    if (!recorder_.is_solved(report, state_.t)) return false;
    if (!take(middle_, first_)) return false;
    recorder_.count_solver(first_report_, state_.t);
    if (!take(end_, second_)) return false;
    recorder_.count_solver(report, state_.t);
    return true;
  }

  void finish(Outcome& outcome) {
    outcome.forced = forced_;
    state_.memory.control = memory_;
  }

 private:
  static constexpr double kInstant = 1e-12;  // of |t|: nearer instants are one
  static constexpr double kRounding = 64.0 * std::numeric_limits<double>::epsilon();  // of |q_i|

  /// From state.t for the time from run.start_time to run.end_time; where the run goes on with one
  /// that began at run.start_time, to the end of that time.
  static double end_of(const RunSettings& run, const State& state) {
    const double start = state.memory.start;
    const bool goes_on = start == (run.backward ? -run.start_time : run.start_time);
    return (goes_on ? start : state.t) + std::abs(run.end_time - run.start_time);
  }

  bool take(const State& after, const Workspace<M>& made) {
    if (!recorder_.template accept<S::kInfo.integrator>(state_, after, half_, made.claim,
                                                        made.unique)) {
      return false;
    }
    state_.t = after.t;
    state_.q = after.q;
    state_.u = after.u;
    state_.memory.steps = after.memory.steps;
    state_.memory.scheme = after.memory.scheme;
    recorder_.finish_step(state_);
    return true;
  }

  /// A pair from `now` that does not pass the end and holds the tolerance, or is of the smallest
  /// length.
  problem::Report find_pair(const State& now) {
    const double left = end_time_ - now.t;
    const double smallest = std::max(2.0 * control_.smallest, kInstant * std::abs(now.t));
    double h = std::min({memory_.proposed, largest_, left});
    for (;;) {
      h = std::max(h, std::min(smallest, left));
      const problem::Report report = try_pair(now, h);
      const bool is_smallest = h <= smallest;
      if (report.status == problem::Status::Solved) {
        const double error = difference();
        const bool crossed = crosses(middle_) || crosses(end_) || steps_over(now);
        if ((error <= control_.tolerance && !crossed) || is_smallest) {
          if (error > control_.tolerance || crossed) ++forced_;
          propose(h, error);
          remember_touching();
          return report;
        }
        h = retry_length(now, h, error);
      } else {
        if (is_smallest) return report;
        h *= 0.25;
      }
    }
  }

  problem::Report try_pair(const State& now, double h) {
    half_ = 0.5 * h;
    whole_.t = end_.t = now.t + h;
    middle_.t = now.t + half_;
    problem::Report report = make(now, h, whole_, second_);
    if (report.status != problem::Status::Solved) return report;
    report = first_report_ = make(now, half_, middle_, first_);
    if (report.status != problem::Status::Solved) return report;
    return make(middle_, half_, end_, second_);
  }

  /// One place where the scheme is inlined.
  [[gnu::noinline]] problem::Report make(const State& from, double h, State& to,
                                         Workspace<M>& workspace) {
    return make_step(scheme_, model_, from, h, to, workspace);
  }

  double difference() {
    if (!whole_.q.allFinite() || !end_.q.allFinite()) {
      return std::numeric_limits<double>::infinity();
    }
    model_.difference(whole_.q, end_.q, off_);
    model::difference_size(model_, end_.q, size_);
    return std::max(0.0, (off_.cwiseAbs() - kRounding * size_).maxCoeff());
  }

  /// Whether a wall that was not touched at the start is crossed at that state, and deeply.
  bool crosses(const State& at) {
    model_.gaps(at.t, at.q, second_.place);
    looked_at_.clear();
    const int contacts = model_.contacts() - model_.joints();
    for (int a = 0; a < contacts; ++a) {
      if (!was_touching(a) && model_.touches(a, second_.place)) {
        looked_at_.push(a);
      }
    }
    if (looked_at_.empty()) return false;
    model_.gradients(looked_at_, second_.place);
    for (const int a : looked_at_) {
      const auto& normals = second_.place.normals;
      const double rounding = kRounding * normals.abs_dot(a, at.q);
      if (-second_.place.gap[a] > control_.tolerance * normals.norm(a) + rounding) return true;
    }
    return false;
  }

  /// Whether one of the two halves may pass over a wall.
  bool steps_over(const State& now) {
    auto& judge = recorder_.judge();
    model_.gaps(middle_.t, middle_.q, first_.joint_place);
    model_.gaps(second_.t_mid, *second_.test_point, second_.joint_place);
    if (judge.steps_over(middle_, end_, half_, second_.claim, first_.joint_place.gap,
                         second_.joint_place.gap, second_.place.gap)) {
      return true;
    }
    model_.gaps(now.t, now.q, second_.joint_place);
    return judge.steps_over(now, middle_, half_, first_.claim, second_.joint_place.gap,
                            first_.place.gap, first_.joint_place.gap);
  }

  /// Nine tenths of the time to the first affine gap that vanishes, if a new contact was met.
  double retry_length(const State& now, double h, double error) {
    const double smaller = h * std::clamp(0.9 * std::sqrt(control_.tolerance / error), 0.1, 0.5);
    model_.gaps(now.t, now.q, first_.place);
    looked_at_.clear();
    const int contacts = model_.contacts() - model_.joints();
    for (int a = 0; a < contacts; ++a) {
      if (first_.place.gap[a] > 0.0 && model_.exists(a, first_.place)) looked_at_.push(a);
    }
    if (looked_at_.empty()) return smaller;
    model_.gradients(looked_at_, first_.place);
    double soonest = std::numeric_limits<double>::infinity();
    for (const int a : looked_at_) {
      const double rate = first_.place.normals.dot(a, now.u) + first_.place.rate[a];
      if (rate < 0.0) soonest = std::min(soonest, -first_.place.gap[a] / rate);
    }
    if (soonest >= h) return smaller;
    return std::max(0.9 * soonest, std::min(smaller, 0.1 * h));
  }

  void propose(double h, double error) {
    const double growth = error > 0.0 ? 0.9 * std::sqrt(control_.tolerance / error) : 5.0;
    memory_.proposed = h * std::clamp(growth, 0.2, 5.0);
  }

  void remember_touching() {
    memory_.touching.clear();
    for (const int a : second_.claim.active) {
      memory_.touching.push_back(static_cast<model::Key>(a));
    }
  }
  bool was_touching(int a) const {
    const auto& keys = memory_.touching;
    return std::binary_search(keys.begin(), keys.end(), static_cast<model::Key>(a));
  }

  const M& model_;
  const S& scheme_;
  Recorder<M>& recorder_;
  StepControl control_;
  double largest_;
  double start_time_;
  double end_time_;
  model::ControlMemory memory_;
  double half_{0.0};
  long long forced_{0};  // pairs of the smallest length that did not hold the tolerance
  State& state_;
  State whole_;
  State middle_;
  State end_;
  model::Vector<M::kDofs> off_;   // of the whole step from the two halves
  model::Vector<M::kDofs> size_;  // of what that is computed from
  problem::Report first_report_;  // of the first half
  Workspace<M> first_;
  Workspace<M> second_;  // of the whole step, then of the second half
  model::IndexList<M::kContacts> looked_at_;
};

/// The staggered scheme S with steps that `run.control` chooses.
template <class S>
struct Controlled : S {
  template <model::Model M>
  using Pace = ControlledPace<M, S>;
};

}  // namespace ricochet::step
