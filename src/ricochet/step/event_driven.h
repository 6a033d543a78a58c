#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "ricochet/step/event_arc.h"
#include "ricochet/step/recorder.h"
#include "ricochet/step/scheme.h"

namespace ricochet::step {
namespace detail {

/// Impacts of one contact that come ever faster: their last intervals and the ratio of these.
class Accumulation {
 public:
  explicit Accumulation(model::ImpactSeries& series) : s_(series) {}

  /// Whether the impact at t makes it plain that infinitely many follow before `limit()`. `nothing`
  /// is an interval so short that it does not matter.
  bool add(double t, double nothing, bool is_slow) {
    const double interval = t - s_.last;
    const double ratio = interval / s_.interval;
    const bool shrinks = s_.count > 1 && ratio < 1.0;
    s_.shrinking = shrinks ? s_.shrinking + 1 : 0;
    s_.ratio = ratio;
    s_.interval = interval;
    s_.last = t;
    ++s_.count;
    return s_.shrinking >= kEnough && (interval <= nothing || is_slow);
  }
  /// The sum of the geometric series of intervals to come.
  double limit() const { return s_.last + s_.interval * s_.ratio / (1.0 - s_.ratio); }

 private:
  static constexpr int kEnough = 4;  // intervals in a row, each shorter than the one before
  model::ImpactSeries& s_;
};

}  // namespace detail

template <class M>
class EventPace;

/// What becomes of impacts that accumulate.
enum class Zeno {
  Stop,     // the run ends there, and says so
  Contact,  // the contact lasts from then on
};

/// A comparator: smooth motion up to each impact, whose time is found.
struct EventDriven {
  static constexpr std::array<std::string_view, 2> kZeno = {"stop", "contact"};
  static constexpr std::array kSettings = {
      Setting{.name = "zeno", .meaning = "what becomes of impacts that accumulate", .words = kZeno},
      Setting{.name = "accuracy",
              .meaning = "the relative error of its arcs",
              .standard = 1e-10,
              .is_positive = true}};
  static constexpr SchemeInfo kInfo{.name = "event-driven",
                                    .meaning = "smooth arcs up to each impact",
                                    .use = "few impacts, exact times",
                                    .integrator = certify::Integrator::Arcs,
                                    .settings = kSettings};
  template <class M>
  using Pace = EventPace<M>;
  Zeno zeno{Zeno::Stop};
  double accuracy{1e-10};  // of the integration, relative
  static EventDriven from(const Scheme& scheme) {
    return {.zeno = scheme.choice<Zeno>("zeno"), .accuracy = scheme.value("accuracy")};
  }
  certify::Method method() const {
    certify::Method method = method_of(kInfo);
    method.accuracy = accuracy;
    return method;
  }
};

/// From impact to impact: arcs and impacts as they come up to the time of each step of the run.
/// Infinitely many impacts in a finite time end the run with Failure::Zeno and the time at which
/// they accumulate, or, as asked, in a contact that lasts.
/// [Paoli 2001, par. 2: the first of three approaches]
template <class M>
class EventPace {
 public:
  using State = model::StateOf<M>;
  static constexpr bool kEvenly = true;

  EventPace(const M& model, const EventDriven& scheme, const RunSettings& run, State& state,
            Recorder<M>& recorder)
      : model_(model),
        scheme_(scheme),
        run_(run),
        state_(state),
        recorder_(recorder),
        judge_(recorder.judge()),
        last_(state.memory.steps + run.steps),
        w_(model, state.q),
        arc_(model, state, scheme.accuracy, w_),
        after_(state),
        memory_(state.memory.events) {
    memory_.contacts.resize(static_cast<std::size_t>(model.contacts()));
    if (!(memory_.trial > 0.0)) memory_.trial = run.step;
    w_.warm = &state.memory.scheme.warm;
  }

  /// An impact at the start, if there is one.
  bool open() {
    if (is_over() || state_.memory.begun) return true;
    state_.memory.begun = true;
    strike();
    return recorder_.ok();
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
  static constexpr double kClose = 1e-13;  // of a gap's size in this run: contact
  static constexpr double kShort = 1e-3;   // of a step: an interval that counts as nothing
  static constexpr double kSlow = 1e-6;    // of the largest speed
  static constexpr int kLooks = 8;         // at each gap along an arc

  double& gap_size(int a) { return memory_.contacts[static_cast<std::size_t>(a)].gap_size; }
  double touching(int a) { return kClose * gap_size(a); }
  double touching() {  // of any contact
    double largest = 0.0;
    for (const auto& contact : memory_.contacts) largest = std::max(largest, contact.gap_size);
    return kClose * largest;
  }
  /// The state becomes `after_`.
  void move_on() {
    state_.t = after_.t;
    std::swap(state_.q, after_.q);
    std::swap(state_.u, after_.u);
  }
  bool is_held(int a) {
    return std::find(arc_.held().begin(), arc_.held().end(), a) != arc_.held().end();
  }

  /// Arcs and impacts up to the time of the next row. False when the run cannot go on.
  bool move_to(double end) {
    const double shortest = 1e-14 * std::max({run_.step, std::abs(end), std::abs(state_.t)});
    while (state_.t < end - shortest) {
      if (!solved(arc_.open(state_))) return false;
      double h = std::min(end - state_.t, memory_.trial);
      h = std::min(h, longest_hop());
      int struck = -1;
      if (!make_arc(h, struck)) return false;
      if (!accept(h)) return false;
      if (struck >= 0 && !strike(struck)) return false;
      release();
    }
    state_.t = end;
    return true;
  }

  bool solved(const problem::Report& report) { return recorder_.is_solved(report, state_.t); }

  /// A step that holds the accuracy and ends at the first impact, if there is one in it; `struck`
  /// is its contact.
  bool make_arc(double& h, int& struck) {
    double error = 0.0;
    for (;;) {
      if (!solved(arc_.advance_by(state_, h, error))) return false;
      if (error <= 1.0) break;
      h *= std::clamp(0.9 * std::pow(error, -0.2), 0.1, 0.9);
      if (h < 1e-13 * run_.step) {
        judge_.fail(certify::Failure::NoConvergence, state_.t);
        return false;
      }
    }
    memory_.trial = std::max(memory_.trial, h) < 1e300
                        ? h * std::clamp(0.9 * std::pow(std::max(error, 1e-12), -0.2), 0.2, 5.0)
                        : h;
    for (int a = 0; a < model_.contacts(); ++a) {
      if (is_held(a)) continue;
      const double at = first_crossing(a, h);
      if (at >= h) continue;
      h = at;
      struck = a;
      if (!solved(arc_.advance_by(state_, h, error))) return false;
    }
    return true;
  }

  double gap_at(int a, double t, const model::Vector<M::kDofs>& q) {
    model_.gaps(t, q, w_.place);
    return model_.exists(a, w_.place) ? w_.place.gap[a] : std::numeric_limits<double>::infinity();
  }

  /// When the gap of contact a, positive first, vanishes within the arc; h where it does not.
  /// Looked for on the dense output, then found on arcs of that length.
  double first_crossing(int a, double h) {
    double before = 0.0;
    bool was_open = gap_at(a, state_.t, state_.q) > touching(a);
    for (int i = 1; i <= kLooks; ++i) {
      const double part = static_cast<double>(i) / kLooks;
      arc_.look(state_, h, part, after_.q, after_.u);
      const double gap = gap_at(a, state_.t + part * h, after_.q);
      if (gap < 0.0 && (was_open || gap < -touching(a))) return find_zero(a, before, part * h, h);
      was_open = was_open || gap > touching(a);
      before = part * h;
    }
    return h;
  }

  /// Regula falsi with the weights of the Illinois rule; the gap is not negative at the result.
  double find_zero(int a, double low, double high, double h) {
    double error = 0.0;
    const auto gap_after = [&](double length) {
      if (length <= 0.0) return gap_at(a, state_.t, state_.q);
      (void)arc_.advance_by(state_, length, error);
      return gap_at(a, arc_.end().t, arc_.end().q);
    };
    double f_low = gap_after(low);
    double f_high = gap_after(high);
    if (!(f_high < 0.0)) return h;
    if (!(f_low > 0.0)) return low > 0.0 ? low : high * 1e-3;
    for (int i = 0; i < 100 && high - low > 1e-15 * high; ++i) {
      const double middle = low + (high - low) * f_low / (f_low - f_high);
      const double f = gap_after(middle);
      if (std::abs(f) <= 1e-3 * touching(a)) return middle;
      if (f > 0.0) {
        low = middle;
        f_low = f;
        f_high *= 0.5;
      } else {
        high = middle;
        f_high = f;
        f_low *= 0.5;
      }
    }
    return low;
  }

  /// Three quarters of the shortest hop that a contact has begun, so that no hop is stepped over.
  double longest_hop() {
    double longest = std::numeric_limits<double>::infinity();
    model_.gaps(state_.t, state_.q, w_.place);
    w_.claim.active.clear();
    for (int a = 0; a < model_.contacts(); ++a) {
      gap_size(a) = std::max(gap_size(a), std::abs(w_.place.gap[a]));
      const bool near = w_.place.gap[a] <= touching(a) && model_.exists(a, w_.place);
      if (near && !is_held(a)) w_.claim.active.push(a);
    }
    leaving_.assign(w_.claim.active.begin(), w_.claim.active.end());
    for (const int a : leaving_) {
      const double bend = arc_.closing(state_, a);
      const double rate = contact_velocity(w_, a, state_.u);
      if (bend < 0.0 && rate > 0.0) longest = std::min(longest, -1.5 * rate / bend);
    }
    return longest;
  }

  /// The arc, judged and entered.
  bool accept(double h) {
    const bool lasts = !arc_.held().empty();
    if (lasts && !solved(arc_.take_reactions(state_, h, w_.reactions))) return false;
    arc_.put_right();
    after_.t = arc_.end().t;
    after_.q = arc_.end().q;
    after_.u = arc_.end().u;
    open_nodes(state_.t, w_, certify::Piece::Arc);
    if (lasts) w_.claim.reactions = &w_.reactions;
    if (!judged(h)) return false;
    if (lasts) recorder_.add_reactions(w_.reactions, h);
    move_on();
    return true;
  }

  bool judged(double h) {
    constexpr certify::Integrator kArcs = EventDriven::kInfo.integrator;
    return recorder_.template accept<kArcs>(state_, after_, h, w_.claim, w_.unique);
  }

  /// An impact here and now: u+ by the law of the contacts that touch. True when the run goes on.
  bool strike(int struck = -1) {
    open_nodes(state_.t, w_, certify::Piece::Impact);
    w_.cone_point = w_.test_point = &state_.q;
    const double close = std::max(10.0 * touching(), std::numeric_limits<double>::min());
    after_.t = state_.t;
    after_.q = state_.q;
    after_.u = state_.u;
    if (!model_.load_mass(state_.q, w_.place)) {
      judge_.fail(certify::Failure::SingularMass, state_.t);
      return false;
    }
    model_.gaps(state_.t, state_.q, w_.place);
    for (int a = 0; a < model_.contacts(); ++a) {
      const bool near =
          model_.touches(a, w_.place) || (model_.exists(a, w_.place) && w_.place.gap[a] <= close);
      if (near || is_held(a) || a == struck) w_.claim.active.push(a);
    }
    if (w_.claim.active.empty()) return true;
    model_.gradients(w_.claim.active, w_.place);
    for (const int a : w_.claim.active) take_size(a);
    take_laws(model_, state_, w_);
    const bool accumulates = struck >= 0 && note_impact(struck);
    if (!judge_.certificate().ok()) return false;
    w_.free = state_.u;
    if (!solved(push_impact(accumulates))) return false;
    if (!judged(0.0)) return false;
    move_on();
    hold_what_stays(accumulates ? struck : -1);
    return true;
  }

  /// What a gap is made of, for its rounding.
  void take_size(int a) {
    gap_size(a) = std::max(gap_size(a), w_.place.normals.abs_dot(a, state_.q));
  }

  /// The law; at the end of an accumulation the contact stays, as if e were 0.
  problem::Report push_impact(bool accumulates) {
    if (!accumulates) return push(model_, state_, after_.u, w_);
    w_.claim.piece = certify::Piece::Rest;
    return push_many(model_, 0.0, state_.u, after_.u, w_);
  }

  /// True at the end of an accumulation. It ends the run where that is asked for.
  bool note_impact(int a) {
    model::ImpactSeries& series = memory_.contacts[static_cast<std::size_t>(a)].impacts;
    detail::Accumulation impacts(series);
    w_.place.normals.copy_to(a, w_.gathered);
    model_.mass(w_.place).solve(w_.gathered, w_.response);
    const double speed =
        std::abs(contact_velocity(w_, a, state_.u)) / std::sqrt(w_.gathered.dot(w_.response));
    memory_.fastest = std::max(memory_.fastest, speed);
    if (!impacts.add(state_.t, kShort * run_.step, speed <= kSlow * memory_.fastest)) return false;
    const double limit = impacts.limit();
    series = {};
    if (scheme_.zeno == Zeno::Stop) {
      judge_.note_accumulation(limit);
      judge_.fail(certify::Failure::Zeno, limit, a);
    }
    return true;
  }

  /// Contacts that the impact left without velocity last.
  void hold_what_stays(int always) {
    model_.gaps(state_.t, state_.q, w_.place);
    model_.gradients(w_.claim.active, w_.place);
    arc_.held().clear();
    for (const int a : w_.claim.active) {
      const double U = contact_velocity(w_, a, state_.u);
      const double size = w_.place.normals.norm(a) * fastest();
      if (a == always || U <= 1e-13 * size) arc_.held().push(a);
    }
  }

  double fastest() const { return std::max(state_.u.norm(), std::sqrt(judge_.kinetic())); }

  /// Contacts that no longer push and whose gap opens do not last.
  void release() {
    if (arc_.held().empty()) return;
    model_.gaps(state_.t, state_.q, w_.place);
    model_.gradients(arc_.held(), w_.place);
    leaving_.assign(arc_.held().begin(), arc_.held().end());
    arc_.held().clear();
    for (const int a : leaving_) {
      take_size(a);
      const bool opens = arc_.push_end()[a] == 0.0 &&
                         (contact_velocity(w_, a, state_.u) > 0.0 || w_.place.gap[a] > touching(a));
      if (!opens && model_.exists(a, w_.place)) arc_.held().push(a);
    }
  }

  const M& model_;
  EventDriven scheme_;
  RunSettings run_;
  State& state_;
  Recorder<M>& recorder_;
  certify::Judge<M>& judge_;
  long long last_;  // step
  Workspace<M> w_;
  EventArc<M> arc_;
  State after_;
  model::EventMemory& memory_;
  std::vector<int> leaving_;
};

}  // namespace ricochet::step
