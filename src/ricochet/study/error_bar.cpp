#include "ricochet/study/error_bar.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace ricochet::study {
namespace {

constexpr double kSafety = 2.5;
constexpr double kTurn = 1.1;       // of what a slide that turns leaves to chance
constexpr double kCaution = 0.5;    // less order than differences show
constexpr double kRecent = 0.6;     // of what the recent past would give
constexpr double kWindow = 0.05;    // of the run, before its end
constexpr std::size_t kEvents = 3;  // the last ones are the recent past
constexpr double kRate = 2.0;       // of A h
constexpr double kNear = 2.0;       // tau: an event nearer to the end may have happened or not
constexpr double kSmall = 1e-2;  // of the largest extent: motions below have no size of their own
constexpr double kRest = 1e-6;   // of the largest position: what moves less is at rest
constexpr double kNothing = 1e-14;   // the same, at the origin
constexpr double kLarge = 0.5;       // of the size of the motion: a bar that tells nothing
constexpr double kRounded = 8.0;     // times rounding: a bar that is one of rounding alone
constexpr double kNotSmall = 0.1;    // of the size of the motion: differences that must fall
constexpr double kFalls = 1.2;       // how much longer steps must raise them at least
constexpr double kOwn = 0.05;        // of an energy: what a scheme took or gave, in spite of events
constexpr double kOwnSmooth = 1e-6;  // the same where there are none
constexpr double kRoundingOfAStep =
    16.0 * std::numeric_limits<double>::epsilon();  // a step, by chance

std::string name_of(int contact, const std::vector<std::string>& names) {
  const auto a = static_cast<std::size_t>(contact);
  return a < names.size() ? names[a] : std::to_string(contact);
}

/// The largest and the smallest value of each column over the marks of a run.
struct Extents {
  std::vector<double> low;
  std::vector<double> high;
  double size(std::size_t i) const { return 0.5 * (high[i] - low[i]); }
  double largest(std::size_t i) const { return std::max(std::abs(low[i]), std::abs(high[i])); }
};

Extents extents_of(const Trace& trace) {
  Extents extents{std::vector<double>(trace.width(), std::numeric_limits<double>::infinity()),
                  std::vector<double>(trace.width(), -std::numeric_limits<double>::infinity())};
  for (std::size_t k = 0; k < trace.marks(); ++k) {
    if (!trace.has(k)) continue;
    const std::span<const double> values = trace.values(k);
    for (std::size_t i = 0; i < values.size(); ++i) {
      extents.low[i] = std::min(extents.low[i], values[i]);
      extents.high[i] = std::max(extents.high[i], values[i]);
    }
  }
  return extents;
}

/// Half the extent of each position; one that hardly moves beside the others takes a part of
/// theirs, and what rests is measured by its place.
std::vector<double> sizes_of(const Trace& trace, const Extents& extents) {
  std::vector<double> sizes(trace.positions());
  double largest = 0.0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    sizes[i] = extents.size(i);
    largest = std::max(largest, sizes[i]);
  }
  double place = 0.0;
  for (std::size_t i = 0; i < sizes.size(); ++i) place = std::max(place, extents.largest(i));
  const double rest = std::max(kRest * place, kNothing);
  for (double& size : sizes) size = std::max({size, kSmall * largest, rest});
  return sizes;
}

/// What rounding may make of positions and of velocities, beside the largest of each.
std::array<double, 2> rounding_of(const Trace& trace, const Extents& extents,
                                  const step::Outcome& outcome) {
  std::array<double, 2> largest{};
  for (std::size_t i = 0; i < trace.width(); ++i) {
    double& of = largest[i < trace.positions() ? 0 : 1];
    of = std::max(of, extents.largest(i));
  }
  const double part = kRoundingOfAStep * std::sqrt(static_cast<double>(outcome.steps));
  long long shocks = 1;
  for (const long long count : outcome.certificate.shock_counts) shocks += count;
  // Times are rounded too, at every shock.
  const double times = 0.25 * kRoundingOfAStep * std::sqrt(static_cast<double>(shocks)) *
                       std::abs(trace.time(trace.marks() - 1));
  return {part * largest[0] + times * largest[1], part * largest[1]};
}

/// The three runs, and what is asked of them.
class ThreeRuns {
 public:
  ThreeRuns(const TracedRun& run, const std::array<Companion, 2>& companions)
      : run_(run),
        companions_(companions),
        own_(*companions[0].beside),
        extents_(extents_of(own_)) {
    sizes_ = sizes_of(own_, extents_);
    rounding_ = rounding_of(own_, extents_, run.outcome);
    for (std::size_t c = 0; c < 2; ++c) matches_[c] = match_events(run, companions[c].run);
    find_events();
    weigh();
  }

  void fill(ErrorBar& bar) const {
    fill_band(bar);
    fill_end(bar);
    find_horizon(bar);
  }
  std::string reason(const ErrorBar& bar, const std::vector<std::string>& names) const;

 private:
  /// |run - companion| of a column at a mark; 0 where one of them has no value there.
  double difference(std::size_t c, std::size_t mark, std::size_t i) const {
    const Companion& companion = companions_[c];
    if (!companion.trace.has(mark) || !companion.beside->has(mark)) return 0.0;
    return std::abs(companion.beside->values(mark)[i] - companion.trace.values(mark)[i]);
  }
  bool is_near_event(double t, double margin) const;
  double largest_since(std::size_t c, double from, std::size_t i, double margin = 0.0) const;
  double weighed(double from, std::size_t i, double margin = 0.0) const {
    return std::max(weights_[0] * largest_since(0, from, i, margin),
                    weights_[1] * largest_since(1, from, i, margin));
  }
  double largest_difference(std::size_t c, double from) const;
  double rounding(std::size_t i) const { return i < sizes_.size() ? rounding_[0] : rounding_[1]; }

  void find_events();
  void weigh();
  double last_window() const;
  double recent_past() const;
  double jump_of(std::size_t i) const;
  double part_of_jump() const;
  bool is_graze() const;
  double lateness(const std::vector<double>& found) const;
  double rate_of(std::size_t i) const;
  void fill_band(ErrorBar& bar) const;
  void fill_end(ErrorBar& bar) const;
  void find_horizon(ErrorBar& bar) const;
  bool accumulates() const;
  std::string describe_own_work(const ErrorBar& bar) const;
  std::string describe_difference(const EventDifference& difference,
                                  const std::vector<std::string>& names) const;

  const TracedRun& run_;
  const std::array<Companion, 2>& companions_;
  const Trace& own_;  // the run, at marks of the first companion
  Extents extents_;
  std::vector<double> sizes_;
  std::array<double, 2> rounding_{};  // of positions, of velocities
  std::array<EventMatch, 2> matches_;
  std::vector<double> shocks_;      // [s] from the start, in order
  std::vector<double> events_;      // the same with changes between sticking and sliding
  std::array<double, 2> shifts_{};  // [s], the largest of the last events to those of a companion
  double shift_{0.0};               // the larger of them
  std::array<double, 2> weights_{};
};

void ThreeRuns::find_events() {
  for (const certify::Shock& shock : run_.outcome.certificate.shocks) {
    if (!shock.tangential) shocks_.push_back(std::abs(shock.t - run_.start));
  }
  events_ = shocks_;
  const double margin = 2.0 * run_.step;
  const auto add = [&](double t) {
    if (t > margin && t < run_.length - margin) events_.push_back(t);
  };
  for (const Phase& phase : run_.phases.list()) {
    add(phase.from - run_.start);
    add(phase.to - run_.start);
  }
  for (const double t : run_.releases) add(std::abs(t - run_.start));
  std::sort(events_.begin(), events_.end());
  for (std::size_t c = 0; c < 2; ++c) {
    const auto& pairs = matches_[c].pairs;
    for (std::size_t k = pairs.size() > kEvents ? pairs.size() - kEvents : 0; k < pairs.size();
         ++k) {
      shifts_[c] = std::max(shifts_[c], std::abs(pairs[k].later));
    }
  }
  shift_ = std::max(shifts_[0], shifts_[1]);
}

/// 1/(2^(p/2) - 1) and 1/(2^p - 1), where the order p is what the differences show, less kCaution:
/// y_h = y + C h^p gives d2/d1 = 2^(p/2) + 1.
void ThreeRuns::weigh() {
  double order = run_.least_order;
  if (run_.finds_times || events_.empty()) {
    const double first = largest_difference(0, last_window());
    const double ratio = first > 0.0 ? largest_difference(1, last_window()) / first : 0.0;
    const double shown = ratio > 1.0 ? 2.0 * std::log2(ratio - 1.0) : 0.0;
    order = std::clamp(shown - kCaution, order, std::max(order, run_.order - kCaution));
  }
  weights_ = {1.0 / (std::exp2(0.5 * order) - 1.0), 1.0 / (std::exp2(order) - 1.0)};
}

double ThreeRuns::last_window() const {
  const double last = events_.empty() ? -1.0 : events_.back() + 4.0 * run_.step;
  return std::max((1.0 - kWindow) * run_.length, last);
}

double ThreeRuns::recent_past() const {
  if (events_.empty()) return 0.0;
  if (events_.size() < kEvents) return events_.front();
  return std::max(0.5 * run_.length, events_[events_.size() - kEvents]);
}

bool ThreeRuns::is_near_event(double t, double margin) const {
  const auto next = std::lower_bound(events_.begin(), events_.end(), t - margin);
  return next != events_.end() && *next < t + margin;
}

/// The change of a column across the last shock.
double ThreeRuns::jump_of(std::size_t i) const {
  if (shocks_.empty()) return 0.0;
  const double margin = 2.0 * run_.step;
  std::size_t after = own_.marks() - 1;
  while (after > 0 && own_.since_start(after - 1) >= shocks_.back() + margin) --after;
  std::size_t before = after;
  while (before > 0 && own_.since_start(before) > shocks_.back() - margin) --before;
  if (!own_.has(after) || !own_.has(before)) return 0.0;
  return std::abs(own_.values(after)[i] - own_.values(before)[i]);
}

/// How much of the last jump may be off since the shock is met within a step: its approach changes
/// from step to step, also where walls move.
double ThreeRuns::part_of_jump() const {
  const auto& shocks = run_.outcome.certificate.shocks;
  const auto last = std::find_if(shocks.rbegin(), shocks.rend(),
                                 [](const certify::Shock& shock) { return !shock.tangential; });
  if (last == shocks.rend() || !(last->approach > 0.0)) return 0.0;
  const auto a = static_cast<std::size_t>(last->contact);
  return a < run_.bends.size() ? std::min(1.0, run_.bends[a] / last->approach) : 0.0;
}

/// Whether the last shock was so slow that its speed is not known well.
bool ThreeRuns::is_graze() const {
  constexpr double kSlow = 0.2;  // of the fastest
  const auto& shocks = run_.outcome.certificate.shocks;
  return !shocks.empty() && shocks.back().speed < kSlow * run_.speed;
}

/// How late the last events may be, by their shifts from run to run, weighed as differences are; 0
/// where it would make more of positions than any of them shows: of a chatter no two are alike.
double ThreeRuns::lateness(const std::vector<double>& found) const {
  const double late = std::max(weights_[0] * shifts_[0], weights_[1] * shifts_[1]);
  double shown = 0.0;
  double jump = 0.0;
  for (std::size_t i = 0; i < sizes_.size(); ++i) {
    shown = std::max(shown, found[i]);
    if (sizes_.size() + i < found.size()) jump = std::max(jump, jump_of(sizes_.size() + i));
  }
  return late * jump <= shown ? late : 0.0;
}

/// The largest rate of a column since the last event, in the last third of the run.
double ThreeRuns::rate_of(std::size_t i) const {
  const double last = events_.empty() ? 0.0 : events_.back() + 2.0 * run_.step;
  const double from = std::max(last, 0.7 * run_.length);
  double rate = 0.0;
  for (std::size_t k = own_.marks() - 1; k > 0 && own_.since_start(k - 1) >= from; --k) {
    if (!own_.has(k) || !own_.has(k - 1)) continue;
    const double time = own_.since_start(k) - own_.since_start(k - 1);
    rate = std::max(rate, std::abs(own_.values(k)[i] - own_.values(k - 1)[i]) / time);
  }
  return rate;
}

/// The largest difference of a column at the end and at the marks from an instant on that are not
/// within `margin` of an event.
double ThreeRuns::largest_since(std::size_t c, double from, std::size_t i, double margin) const {
  const Trace& trace = companions_[c].trace;
  double largest = 0.0;
  for (std::size_t k = trace.marks(); k-- > 0;) {
    const bool is_end = k + 1 == trace.marks();
    if (!is_end && trace.since_start(k) < from) break;
    if (margin > 0.0 && is_near_event(trace.since_start(k), margin)) continue;
    largest = std::max(largest, difference(c, k, i));
  }
  return largest;
}

/// The bar of positions at each mark, by the differences alone.
void ThreeRuns::fill_band(ErrorBar& bar) const {
  const std::size_t count = own_.positions();
  const double share = static_cast<double>(companions_[1].trace.marks() - 1) /
                       static_cast<double>(std::max<std::size_t>(1, own_.marks() - 1));
  for (std::size_t k = 0; k < own_.marks(); ++k) {
    if (!own_.has(k)) continue;
    bar.times.push_back(own_.time(k));
    const auto other = static_cast<std::size_t>(std::lround(share * static_cast<double>(k)));
    for (std::size_t i = 0; i < count; ++i) {
      bar.middle.push_back(own_.values(k)[i]);
      bar.band.push_back(kSafety * std::max(weights_[0] * difference(0, k, i),
                                            weights_[1] * difference(1, other, i)) +
                         rounding(i));
    }
  }
}

void ThreeRuns::fill_end(ErrorBar& bar) const {
  const double margin = std::max(4.0 * run_.step, 1.5 * shift_);
  std::vector<double> found(own_.width());
  for (std::size_t i = 0; i < found.size(); ++i) {
    found[i] = weighed(last_window(), i);
    if (!run_.finds_times) {
      found[i] = std::max(found[i], kRecent * weighed(recent_past(), i, margin));
    }
    found[i] = kSafety * found[i] + rounding(i);
  }
  const std::size_t count = own_.positions();
  const std::span<const double> end = own_.values(own_.marks() - 1);
  const double tau = std::max(run_.quantum, shift_);
  const double last = shocks_.empty() ? -std::numeric_limits<double>::infinity() : shocks_.back();
  const double inside = run_.finds_times ? 0.0 : own_.time_in_contact();
  const bool strikes = std::min(run_.length - last, own_.time_to_contact()) < kNear * tau;
  const double h = events_.empty() ? 0.0 : run_.quantum;
  const double unsure = part_of_jump();
  const double since = shocks_.empty() ? 0.0 : run_.length - last;
  const double late = std::max(h, lateness(found));
  for (std::size_t i = 0; i < count && count + i < found.size(); ++i) {
    const std::size_t v = count + i;
    const double speed = std::abs(end[v]);
    const double jump = jump_of(v);
    found[i] = std::max({found[i], late * std::max(jump, 0.5 * speed), 2.0 * inside * speed,
                         is_graze() ? unsure * jump * since : 0.0});
    if (speed > 0.0) found[v] = std::max(found[v], kRate * h * rate_of(v));
    found[v] = std::max(found[v], unsure * jump);
    if (strikes || inside > 0.0) found[v] = std::max({found[v], jump, 2.0 * speed});
    if (!run_.turn) continue;
    const double kick = kTurn * run_.turn->kicks[i];
    found[v] = std::max(found[v], kick);
    found[i] = std::max(found[i], kick * (run_.length - std::abs(run_.turn->t - run_.start)));
  }
  bar.position.assign(found.begin(), found.begin() + static_cast<long>(count));
  bar.velocity.assign(found.begin() + static_cast<long>(count), found.end());
}

void ThreeRuns::find_horizon(ErrorBar& bar) const {
  double soonest = std::numeric_limits<double>::infinity();
  for (std::size_t c = 0; c < 2; ++c) {
    const Trace& trace = companions_[c].trace;
    for (std::size_t k = 0; k < trace.marks() && trace.since_start(k) < soonest; ++k) {
      for (std::size_t i = 0; i < sizes_.size(); ++i) {
        if (difference(c, k, i) <= std::max(sizes_[i], rounding(i))) continue;
        soonest = trace.since_start(k);
        break;
      }
    }
  }
  // Where the runs have come together again for good, none of them is lost.
  const double now = std::max(largest_difference(0, (1.0 - kWindow) * run_.length),
                              largest_difference(1, (1.0 - kWindow) * run_.length));
  if (std::isfinite(soonest) && now > kNotSmall) bar.horizon = run_.start + own_.sign() * soonest;
}

/// Of positions, in sizes of the motion.
double ThreeRuns::largest_difference(std::size_t c, double from) const {
  double largest = 0.0;
  for (std::size_t i = 0; i < sizes_.size(); ++i) {
    if (sizes_[i] > rounding(i)) largest = std::max(largest, largest_since(c, from, i) / sizes_[i]);
  }
  return largest;
}

std::string ThreeRuns::reason(const ErrorBar& bar, const std::vector<std::string>& names) const {
  for (const EventMatch& match : matches_) {
    if (match.difference) return describe_difference(*match.difference, names);
  }
  if (bar.horizon) return "its companions go other ways";
  if (accumulates()) {
    return fmt::format(
        "impacts of several contacts come ever closer near t = {:.6g}, and the law of "
        "several at once is not what they tend to",
        run_.outcome.certificate.coupled_time);
  }
  if (run_.miss) {
    return fmt::format("'{}' turns round so near to its wall, at t = {:.6g}, that it may be struck",
                       name_of(run_.miss->contact, names), run_.miss->t);
  }
  if (!run_.doubt.empty()) return run_.doubt;
  for (std::size_t i = 0; i < sizes_.size(); ++i) {
    if (bar.position[i] > std::max(kLarge * sizes_[i], kRounded * rounding(i))) {
      return "the bar is more than half as large as the motion";
    }
  }
  const double first = largest_difference(0, 0.0);
  const double second = largest_difference(1, 0.0);
  if (std::max(first, second) > kNotSmall && second < kFalls * first) {
    return "the differences do not fall with the step";
  }
  return describe_own_work(bar);
}

/// Whether an impact of several contacts at once follows many of each in next to no time.
bool ThreeRuns::accumulates() const {
  constexpr long long kMany = 8;
  constexpr double kNoTime = 1e-4;  // of the run
  const certify::Certificate& c = run_.outcome.certificate;
  if (!run_.finds_times || c.coupled_impacts == 0) return false;
  const double t = std::abs(c.coupled_time - run_.start);
  return std::count_if(shocks_.begin(), shocks_.end(), [&](double shock) {
           return shock < t && t - shock < kNoTime * run_.length;
         }) >= kMany;
}

/// What a scheme itself takes from a motion, or feeds it, falls with the step. Where it does not it
/// has taken all there was, at every step length, and runs may agree on what is left. It does no
/// harm where a velocity of as much energy is within the bar.
std::string ThreeRuns::describe_own_work(const ErrorBar& bar) const {
  const auto& first = companions_[0].run.outcome.certificate;
  const auto& second = companions_[1].run.outcome.certificate;
  const std::size_t count = std::min(first.own.size(), second.own.size());
  const auto known = [&](std::size_t v) {  // the part of a velocity that the bar tells
    const double largest = extents_.largest(sizes_.size() + v);
    return largest > 0.0 ? bar.velocity[v] / largest : std::numeric_limits<double>::infinity();
  };
  double own = 0.0;  // the largest part of an energy
  const auto weigh = [&](double given, double other, double energy, double seen, double smallest) {
    const double share = given / energy;
    const double ratio = other / given;  // below: of either sign, as the phase falls
    if (!(std::abs(share) > smallest && ratio > 1.0 / kFalls / kFalls && ratio < kFalls)) return;
    if (std::sqrt(std::abs(share)) > seen && std::abs(share) > std::abs(own)) own = share;
  };
  constexpr std::size_t kFew = 64;
  const double least = events_.empty() ? kOwnSmooth : kOwn;
  for (std::size_t i = 0; i < count; ++i) {
    double seen = known(i);
    for (std::size_t v = 0; count == 1 && v < bar.velocity.size(); ++v) {
      seen = std::max(seen, known(v));
    }
    weigh(first.own[i].given, second.own[i].given, first.own[i].kinetic, seen, least);
    // Two that turn into each other share what was taken as it happens.
    for (std::size_t j = 0; j < i && count <= kFew; ++j) {
      weigh(first.own[i].given + first.own[j].given, second.own[i].given + second.own[j].given,
            first.own[i].kinetic + first.own[j].kinetic, std::max(seen, known(j)), least);
    }
  }
  weigh(first.ledger.closure.value(), second.ledger.closure.value(), first.ledger.highest, 0.0,
        kOwn);  // of a structure
  if (own == 0.0) return "";
  return fmt::format(
      "the scheme itself {} the motion {:.2g} of its kinetic energy in a coordinate, and not less "
      "in shorter steps; a scheme of second order does not",
      own < 0.0 ? "took from" : "gave", std::abs(own));
}

std::string ThreeRuns::describe_difference(const EventDifference& difference,
                                           const std::vector<std::string>& names) const {
  const double t = run_.start + own_.sign() * difference.t;
  return fmt::format("its companions do not agree that '{}' {} near t = {:.6g}",
                     name_of(difference.contact, names), difference.what, t);
}

}  // namespace

ErrorBar estimate_error(const TracedRun& run, const std::array<Companion, 2>& companions,
                        const std::vector<std::string>& names) {
  ErrorBar bar;
  bar.made = true;
  bar.not_made.clear();
  for (std::size_t c = 0; c < 2; ++c) bar.steps[c] = companions[c].run.outcome.steps;
  for (const Companion& companion : companions) {
    const step::Outcome& outcome = companion.run.outcome;
    if (outcome.certificate.ok()) continue;
    bar.unresolved = fmt::format("its companion fails after {} steps: {}", outcome.steps,
                                 certify::describe_failure(outcome.certificate));
    return bar;
  }
  const ThreeRuns three(run, companions);
  three.fill(bar);
  bar.unresolved = three.reason(bar, names);
  return bar;
}

}  // namespace ricochet::study
