#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "ricochet/step/event_search.h"
#include "ricochet/step/recorder.h"

namespace ricochet::step {

/// From impact to impact: arcs and impacts as they come up to the time of each step of the run.
/// Infinitely many impacts in a finite time end the run with Failure::Zeno and the time at which
/// they accumulate, or, as asked, in a contact that lasts.
/// [Paoli 2001, par. 2: the first of three approaches]
template <class M, class S>
class EventPace {
 public:
  using Arc = decltype(std::declval<const S&>().arc(std::declval<const M&>(),
                                                    std::declval<const model::StateOf<M>&>(),
                                                    std::declval<Workspace<M>&>()));
  using State = model::StateOf<M>;
  static constexpr bool kEvenly = true;

  EventPace(const M& model, const S& scheme, const RunSettings& run, State& state,
            Recorder<M>& recorder)
      : model_(model),
        scheme_(scheme),
        run_(run),
        state_(state),
        recorder_(recorder),
        judge_(recorder.judge()),
        last_(state.memory.steps + run.steps),
        w_(model, state.q),
        arc_(scheme.arc(model, state, w_)),
        after_(state),
        memory_(state.memory.events),
        search_(model, state, arc_, w_),
        pushed_(model.contacts()) {
    memory_.impacts.resize(static_cast<std::size_t>(model.contacts()));
    if (!(memory_.trial > 0.0)) memory_.trial = run.step;
    w_.warm = &state.memory.scheme.warm;
  }

  /// An impact at the start, if there is one.
  bool open() {
    if (is_over() || state_.memory.begun) return true;
    state_.memory.begun = true;
    return strike() && recorder_.ok();
  }

  bool is_over() const { return state_.memory.steps >= last_; }
  long long progress() const { return recorder_.steps(); }

  bool advance() {
    const auto number = static_cast<double>(state_.memory.steps + 1);
    if (!move_to(state_.memory.start + number * run_.step)) return false;
    ++state_.memory.steps;
    recorder_.finish_step(state_);
    return recorder_.ok();
  }

  void finish(Outcome&) { arc_.remember(memory_); }

 private:
  static constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
  static constexpr double kStill = 1e-13;  // of what a contact velocity is made of: none
  static constexpr double kSlow = 1e-6;    // of the first speed of a row: impacts accumulate
  static constexpr long long kMostPieces = 200000;  // arcs and impacts before the next row
  static constexpr long long kLook = 256;           // pieces between two looks at the monitor
  static constexpr double kBrief = 0.05;            // of a series: a hop for which it is shortened
  static constexpr int kMostAtOnce = 1000;          // pieces that take no time

  model::ImpactSeries& impacts(int a) { return memory_.impacts[static_cast<std::size_t>(a)]; }
  /// The state becomes `after_`.
  void move_on() {
    state_.t = after_.t;
    std::swap(state_.q, after_.q);
    std::swap(state_.u, after_.u);
  }

  /// Arcs and impacts up to the time of the next row. False when the run cannot go on.
  bool move_to(double end) {
    const double shortest =
        8.0 * kEpsilon * std::max({run_.step, std::abs(end), std::abs(state_.t)});
    hops_ = false;  // rows begin alike, whether or not the run was split there
    long long pieces = 0;
    int at_once = 0;
    while (state_.t < end - shortest) {
      const double before = state_.t;
      if (!may_go_on(++pieces, at_once) || !meet() || rubs()) return false;
      if (!solved(arc_.open(state_, memory_.trial))) return false;
      double h = end - state_.t;
      const double reach = arc_.reach();
      if (Arc::kAdapts) h = std::min(h, reach > 0.0 ? reach : memory_.trial);
      const double hop = hops_ ? search_.next_hop() : h;
      if (reach == 0.0 || hop < kBrief * h) h = std::min(h, hop);
      hops_ = false;
      int struck = -1;
      if (!make_arc(h, struck)) return false;
      if (h > 0.0 && !accept(h)) return false;
      if (struck >= 0 && !strike(struck)) return false;
      at_once = state_.t > before + 4.0 * kEpsilon * std::abs(before) ? 0 : at_once + 1;
    }
    state_.t = end;
    return meet();
  }

  /// Not when too much happens before the next row, or when the run is to stop.
  bool may_go_on(long long pieces, int at_once) {
    if (pieces % kLook == 0 && recorder_.is_stopped(progress())) return false;
    if (pieces <= kMostPieces && at_once <= kMostAtOnce) return true;
    judge_.fail(certify::Failure::TooManyEvents, state_.t);
    return false;
  }

  /// Whether a contact with friction lasts, which arcs have not.
  bool rubs() {
    if constexpr (M::kSlips > 0) {
      for (const int a : arc_.held()) {
        if (model_.slips(a) == 0) continue;
        judge_.fail(certify::Failure::LastingFriction, state_.t, a);
        return true;
      }
    }
    return false;
  }

  bool solved(const problem::Report& report) {
    if (report.shared) [[unlikely]]
      recorder_.count_solver(report, state_.t);
    return recorder_.is_solved(report, state_.t);
  }

  /// What the velocity of contact a is known to be rounded by.
  double noise(int a) const {
    const double now = w_.place.normals.abs_dot(a, state_.u) + std::abs(w_.place.rate[a]);
    return kStill * std::max(now, model::reach(w_.place.normals, a, arc_.sizes().u));
  }

  /// Contacts that touch here and now: an impact where one approaches; those without velocity last.
  bool meet() {
    search_.take_gaps();
    bool approaches = false;
    for (const int a : w_.claim.active) {
      const double U = contact_velocity(w_, a, state_.u);
      approaches = approaches || U < -noise(a);
      if (U >= -noise(a) && U <= noise(a)) arc_.held().push(a);
    }
    return !approaches || strike();
  }

  /// A step that holds the accuracy and ends at the first impact, if there is one in it; `struck`
  /// is its contact.
  bool make_arc(double& h, int& struck) {
    double error = 0.0, rest = 0.0;
    int stray = -1;
    if constexpr (!Arc::kAdapts) return solved(search_.make(h)) && solved(search_.find(h, struck));
    const bool is_cut = h < memory_.trial;  // by the end of the row
    const double first = h;
    for (;;) {
      rest = 0.0;
      stray = -1;
      if (!solved(arc_.advance_by(state_, h, error))) return false;
      if (error <= 1.0 && !solved(arc_.complete(state_, h, w_.reactions, rest, stray))) {
        return false;
      }
      error = std::max(error, 0.1 * rest);  // the judge grants a hundred
      if (error <= 1.0 && stray < 0) break;
      h *= stray >= 0 ? 0.5 : std::clamp(0.9 * std::pow(error, -0.2), 0.1, 0.9);
      if (h >= shortest_arc()) continue;
      if (stray < 0 || !let_go(stray)) {
        judge_.fail(certify::Failure::NoConvergence, state_.t);
        return false;
      }
      h = first;
    }
    if (arc_.reach() > 0.0) return solved(search_.find(h, struck));
    const double next = h * std::clamp(0.9 * std::pow(std::max(error, 1e-12), -0.2), 0.2, 5.0);
    memory_.trial = is_cut && h == first ? std::max(memory_.trial, next) : next;
    return solved(search_.find(h, struck));
  }
  double shortest_arc() const {
    return std::max(1e-22 * run_.step, 2.0 * kEpsilon * std::abs(state_.t));
  }

  /// A held contact that left its wall is held no more.
  bool let_go(int stray) {
    leaving_.assign(arc_.held().begin(), arc_.held().end());
    arc_.held().clear();
    for (const int a : leaving_) {
      if (a != stray) arc_.held().push(a);
    }
    return solved(arc_.open(state_, memory_.trial));
  }

  /// The arc, judged and entered.
  bool accept(double h) {
    const bool lasts = !arc_.held().empty() || model_.joints() > 0;
    after_.t = arc_.end().t;
    after_.q = arc_.end().q;
    after_.u = arc_.end().u;
    open_nodes(state_.t, w_, certify::Piece::Arc);
    arc_.claim(lasts);
    if (!judged(h)) return false;
    if (w_.claim.reactions != nullptr) recorder_.add_reactions(w_.reactions, h);
    arc_.keep();
    move_on();
    return true;
  }

  bool judged(double h) {
    return recorder_.template accept<S::kInfo.integrator>(state_, after_, h, w_.claim, w_.unique);
  }

  /// An impact here and now: u+ by the law of the contacts that touch. True when the run goes on.
  bool strike(int struck = -1) {
    open_nodes(state_.t, w_, certify::Piece::Impact);
    w_.cone_point = w_.test_point = &state_.q;
    after_.t = state_.t;
    after_.q = state_.q;
    after_.u = state_.u;
    if (!model_.load_mass(state_.q, w_.place)) {
      judge_.fail(certify::Failure::SingularMass, state_.t);
      return false;
    }
    find_struck(struck);
    if (w_.claim.active.size() == model_.joints() && are_joints_still()) return true;
    take_laws(model_, state_, w_);
    if (!solved(take_friction(model_, state_.u, w_))) return false;
    w_.are_joints_factored = false;
    const int ended = find_accumulation();
    if (!judge_.certificate().ok()) return false;
    w_.free = state_.u;
    if (ended >= 0) w_.claim.piece = certify::Piece::Rest;
    const bool rests = ended >= 0;
    if (!solved(rests ? push_many(model_, 0.0, state_.u, after_.u, w_)
                      : push(model_, state_, after_.u, w_)) ||
        !judged(0.0)) {
      return false;
    }
    hold_what_stays(rests);
    hops_ = true;
    move_on();
    return true;
  }

  /// Whether the velocity is one that the joints allow.
  bool are_joints_still() const {
    return std::all_of(w_.claim.active.begin(), w_.claim.active.end(), [&](int a) {
      return std::abs(contact_velocity(w_, a, state_.u)) <= noise(a);
    });
  }

  /// The contacts that touch, with their gradients: those near zero, those held, and the one that
  /// is known to be struck.
  void find_struck(int struck) {
    search_.take_gaps();
    w_.claim.active.clear();
    for (int a = 0; a < model_.contacts(); ++a) {
      const bool near = model_.touches(a, w_.place) || arc_.gap(a) <= 5.0 * search_.touching(a);
      if (!model_.exists(a, w_.place) || !(near || search_.is_held(a) || a == struck)) continue;
      w_.claim.active.push(a);
    }
    if (model_.joints() > 0) model_.gradients(w_.claim.active, w_.place);
  }

  /// A contact that is struck for the last of infinitely many times, when all are that approach; -1
  /// otherwise. It ends the run where that is asked for.
  int find_accumulation() {
    int ended = -1;
    bool all = true;
    for (const int a : w_.claim.active) {
      const double approach = -contact_velocity(w_, a, state_.u);
      if (approach <= noise(a) || arc_.is_joint(a)) continue;
      if (!Arc::kAdapts && !model::bounces(model_, a)) continue;
      model::ImpactSeries& series = impacts(a);
      series.add(state_.t, approach / std::sqrt(inverse_mass(a)));
      const bool ends = closes(a, approach) && (series.accumulates(kSlow) || is_brief(a, approach));
      if (ends) ended = a;
      all = all && ends;
    }
    if (!all || ended < 0) return -1;
    if (scheme_.stops_at_accumulations()) {
      const double limit = impacts(ended).limit();
      judge_.note_accumulation(limit);
      judge_.fail(certify::Failure::Zeno, limit, ended);
    }
    for (const int a : w_.claim.active) impacts(a) = {};
    return ended;
  }
  double inverse_mass(int a) {
    w_.place.normals.copy_to(a, w_.gathered);
    model_.mass(w_.place).solve(w_.gathered, w_.response);
    return w_.gathered.dot(w_.response);
  }
  bool closes(int a, double approach) {
    return model::loses_speed(model_, a, state_.t, state_.q, state_.u, approach, w_.place);
  }

  /// Whether all further impacts of contact a would fall within a step of fixed length.
  bool is_brief(int a, double approach) {
    if (Arc::kAdapts || model::has_other_laws(model_)) return false;  // by their series alone
    pushed_ = w_.claim.active;
    const bool opened = solved(arc_.open(state_, run_.step));
    const double closing = arc_.closing(state_, a);
    w_.claim.active = pushed_;
    model_.gaps(state_.t, state_.q, w_.place);
    model_.gradients(w_.claim.active, w_.place);
    return opened && model::ends_within(model_.restitution(a), approach, closing, run_.step);
  }

  /// Contacts that the impact left without velocity last; the claim is that of the impact.
  void hold_what_stays(bool rests) {
    arc_.held().clear();
    for (const int a : w_.claim.active) {
      if (arc_.is_joint(a)) continue;
      const double U = contact_velocity(w_, a, after_.u);
      const double small = noise(a) + kStill * w_.place.normals.abs_dot(a, after_.u);
      const bool stopped = rests && contact_velocity(w_, a, state_.u) < 0.0;
      if (std::abs(U) <= (stopped ? 1e3 : 1.0) * small) arc_.held().push(a);
    }
  }

  const M& model_;
  S scheme_;
  RunSettings run_;
  State& state_;
  Recorder<M>& recorder_;
  certify::Judge<M>& judge_;
  long long last_;  // step
  Workspace<M> w_;
  Arc arc_;
  State after_;
  model::EventMemory& memory_;
  EventSearch<M, Arc> search_;
  std::vector<int> leaving_;
  model::IndexList<M::kContacts> pushed_;  // scratch
  bool hops_{false};                       // the last piece was an impact
};

}  // namespace ricochet::step
