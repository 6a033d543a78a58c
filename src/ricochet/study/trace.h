#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ricochet/model/formula_model.h"
#include "ricochet/step/outcome.h"

namespace ricochet::study {

/// Where a run was at given instants, the marks, kept so that another run of the same scene can be
/// held against it. Samples far from a mark cost a comparison.
class Trace {
 public:
  Trace() = default;
  /// Marks in the order of the run. `between`: the run is interpolated where no sample falls on a
  /// mark; then samples of every step are expected. Else it has no value there.
  Trace(std::vector<double> marks, bool between);

  void add(const step::Sample& sample) {
    if (sign_ * sample.t >= wake_) look(sample);
    last_t_ = sample.t;
  }
  /// The same, for who knows when the sample before was, and leaves out those that are not looked
  /// at: before `wake()`, times sign().
  void add(const step::Sample& sample, double last_t) {
    last_t_ = last_t;
    add(sample);
  }
  double wake() const { return wake_; }

  std::size_t marks() const { return marks_.size(); }
  double time(std::size_t mark) const { return marks_[mark]; }
  /// [s] since the first mark.
  double since_start(std::size_t mark) const { return sign_ * (marks_[mark] - marks_[0]); }
  double length() const { return since_start(marks_.size() - 1); }
  double sign() const { return sign_; }  // -1 of a run into the past
  bool has(std::size_t mark) const { return mark < has_.size() && has_[mark] != 0; }
  /// Positions, then velocities, at a mark.
  std::span<const double> values(std::size_t mark) const {
    return {values_.data() + mark * width_, width_};
  }
  std::size_t positions() const { return positions_; }
  std::size_t width() const { return width_; }
  /// Of the contacts that close at the end, the least time until one is closed, [s]; infinity where
  /// none closes.
  double time_to_contact() const;
  /// How long ago, at most two steps, a contact that still closes at the end was met, [s]; 0 where
  /// none was.
  double time_in_contact() const;

 private:
  void open(const step::Sample& sample);
  void look(const step::Sample& sample);
  void store(std::size_t mark, const step::Sample& sample);
  void keep_gaps(const step::Sample& sample, double step);

  std::vector<double> marks_;
  bool between_{true};
  double sign_{1.0};
  double slack_{0.0};
  double wake_{std::numeric_limits<double>::infinity()};  // samples before it need no look
  std::size_t next_{0};
  bool is_open_{false};
  std::size_t positions_{0};
  std::size_t width_{0};
  std::vector<double> values_;
  std::vector<char> has_;
  double last_t_{0.0};
  double before_t_{0.0};
  std::vector<double> before_;  // values of the last sample that was looked at
  std::vector<double> gaps_;    // near the end: of the last sample, and of the one before
  std::vector<double> gaps_before_;
  double gaps_step_{0.0};
};

/// How much contacts push between the marks of a trace.
class Pushes {
 public:
  Pushes() = default;
  /// Nothing is kept of more than so many contacts.
  explicit Pushes(std::vector<double> marks) : marks_(std::move(marks)) {}
  static constexpr std::size_t kMostContacts = 64;

  void add(const step::Sample& sample) {
    if (contacts_ == 1 && sign_ * sample.t <= until_) {
      sums_[next_] += std::abs(sample.impulses[0]);
    } else {
      enter(sample);
    }
  }
  /// The mean normal force of a contact between a mark and the next.
  double force(std::size_t mark, int contact) const;

 private:
  void enter(const step::Sample& sample);

  std::vector<double> marks_;
  std::vector<double> sums_;  // of impulses, by mark and contact
  std::size_t contacts_{0};
  std::size_t next_{0};
  double sign_{1.0};
  double until_{-std::numeric_limits<double>::infinity()};  // the same mark, times the sign
};

/// Whether contacts turn round before their walls, without a push, so near to them that the error
/// of a step decides whether they are struck.
class NearMisses {
 public:
  /// `is_rough`: positions are known to first order in the step, as they are after events.
  /// Of walls smaller than a step, where the model tells, the judge has looked already.
  NearMisses(bool is_rough, const model::FormulaModel* model);

  void add(const step::Sample& sample) {
    if (watched_.size() != 1 || !(is_far(watched_[0], sample.gaps[0], sample.impulses[0]) ||
                                  rests(watched_[0], sample.gaps[0], sample.impulses[0]))) {
      return follow(sample);
    }
    last_t_ = sample.t;
  }
  struct Miss {
    double t{0.0};  // [s]
    int contact{0};
  };
  const std::optional<Miss>& first() const { return first_; }
  /// [s], when contacts that had pushed for some steps let go: the last ones.
  const std::vector<double>& releases() const { return releases_; }
  /// Where the model has conditions: the first contact that begins to exist beyond its wall, and
  /// pushes there.
  const std::optional<Miss>& entered() const { return entered_; }
  /// By contact: how much the rate of its gap changed in a step, at most, before it was last
  /// struck.
  std::vector<double> bends() const;

 private:
  struct Watched {
    double gap{0.0};               // at the last sample
    double fell{0.0};              // since the one before
    double bend{0.0};              // by how much more than in the step before that
    double fastest{0.0};           // the largest change in a step
    double largest{0.0};           // bend since it was struck
    double struck{0.0};            // the same when it last was, [gap/s]
    int quiet{0};                  // steps since a push
    int pushes{0};                 // steps in a row with one
    int inside{0};                 // samples in a row beyond the wall without a push
    std::optional<double> missed;  // [s]
  };
  static constexpr int kQuiet = 12;  // steps before and after without a push: else in contact
  static constexpr int kPushed = -(1 << 30);  // inside: it has pushed since it was outside
  void follow(const step::Sample& sample);
  void follow_closely(std::size_t contact, const step::Sample& sample, bool opens);
  /// Far from its wall, long after a push, a contact is followed by its gap alone.
  [[gnu::always_inline]] static bool is_far(Watched& w, double gap, double impulse) {
    constexpr double kFar = 8.0;  // of the largest change in a step
    const double fell = w.gap - gap;
    const double fast = std::max(w.fastest, std::abs(fell));
    if (impulse != 0.0 || w.quiet <= kQuiet || w.missed || !(gap > kFar * fast)) return false;
    ++w.quiet;
    w.fastest = fast;
    w.bend = w.fell - fell;
    w.largest = std::max(w.largest, std::abs(w.bend));
    w.fell = fell;
    w.gap = gap;
    w.inside = 0;
    return true;
  }
  /// One that pushed in the step before, and pushes still. (Places are asked for long after.)
  [[gnu::always_inline]] static bool rests(Watched& w, double gap, double impulse) {
    if (impulse == 0.0 || w.quiet != 0 || w.missed) return false;
    const double fell = w.gap - gap;
    ++w.pushes;
    w.fastest = std::max(w.fastest, std::abs(fell));
    w.bend = w.fell - fell;
    w.fell = fell;
    w.gap = gap;
    w.inside = gap < 0.0 ? kPushed : 0;
    return true;
  }
  bool turns_near(const Watched& w, double fell) const;
  bool is_small(std::size_t contact, const step::Sample& sample) const;

  bool is_rough_;
  const model::FormulaModel* model_;           // null: not known, or all walls are flat
  std::array<std::vector<double>, 2> places_;  // the last, and the one before
  double last_t_{0.0};
  std::vector<Watched> watched_;  // by contact
  std::optional<Miss> first_, entered_;
  std::vector<double> releases_;
};

/// A time during which a contact sticks, or slides, without a break.
struct Phase {
  double from{0.0};  // [s]
  double to{0.0};
  int contact{0};
  bool sticks{false};
};

/// When the contacts of a run stuck and slid.
class Phases {
 public:
  void add(const step::Sample& sample) {
    if (!sample.states.empty() && !goes_on(sample)) follow(sample);
  }
  /// After the last sample.
  void close();

  const std::vector<Phase>& list() const { return list_; }
  bool is_cut() const { return is_cut_; }  // there were too many
  static constexpr std::size_t kMost = 100'000;

 private:
  /// One contact that does what it did.
  bool goes_on(const step::Sample& sample) {
    if (state_.size() != 1 || sample.states[0] != told_) return false;
    last_t_ = open_[0].to = sample.t;
    return true;
  }
  void follow(const step::Sample& sample);
  void end(std::size_t contact);

  double last_t_{0.0};
  double told_{-1.0};        // the last state of the first contact
  std::vector<Phase> open_;  // by contact, of the state it is in
  std::vector<char> state_;  // by contact: 0 free or struck, 1 sticks, 2 slides
  std::vector<Phase> list_;
  bool is_cut_{false};
};

/// Where slides turn round without a stop. The turn is met within a step, which takes the friction
/// of one direction for the whole of it: with accelerations a before and b after, |a - b| b/a h of
/// the velocity are left to chance, and companions may agree by chance.
class Turns {
 public:
  /// Samples of every step, with friction.
  void add(const step::Sample& sample);
  struct Turn {
    double t{0.0};              // [s]
    std::vector<double> kicks;  // of velocities
  };
  const std::optional<Turn>& last() const { return last_; }

 private:
  static constexpr std::size_t kKept = 6;  // the slip turns between the third and the fifth
  struct Instant {
    double t{0.0};
    std::vector<double> u, slips;
  };
  const Instant& at(std::size_t k) const { return kept_[(next_ + k) % kKept]; }
  void look();

  std::array<Instant, kKept> kept_;
  std::size_t next_{0};  // where the oldest is
  std::size_t seen_{0};
  std::optional<Turn> last_;
};

}  // namespace ricochet::study
