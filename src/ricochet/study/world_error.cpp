#include "ricochet/study/world_error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "ricochet/base/index.h"

namespace ricochet::study {
namespace {

constexpr double kBodySafety = 2.5;
constexpr double kShockSafety = 4.0;   // where a shock makes the next one earlier, or another one
constexpr double kCloserSafety = 1.5;  // of what shorter steps make of shocks
constexpr double kTouchSafety = 2.0;   // where what touches is off by a part of the slack
constexpr double kBodyCaution = 0.5;   // less order than differences show
constexpr double kBodyRecent = 0.6;    // of what the recent past would give
constexpr double kBodyWindow = 0.05;   // of the run, before its end
constexpr double kBodyRate = 2.0;      // of A h
constexpr double kPinned = 1e-3;       // of what chance might make: what differs by less is held
constexpr double kAside = 6.0;         // steps beside an event that do not count
constexpr double kSlow = 1e-2;         // of the largest motion: less has no size of its own
constexpr double kStill = 1e-3;        // of its size: a body that moves less is at rest
constexpr double kHalf = 0.5;          // of the size of the motion: a bar that tells nothing
constexpr double kTenth = 0.1;         // of the same: differences that must fall
constexpr double kGrow = 1.2;          // how much longer steps must raise them at least
constexpr double kNoiseOfAStep = 16.0 * std::numeric_limits<double>::epsilon();

using Columns = std::span<const double>;

/// Three runs of bodies, and what is asked of them.
class ThreeWorlds {
 public:
  ThreeWorlds(const WorldLayout& layout, const WorldPath& run,
              const std::array<WorldPath, 2>& companions, const CloserCompanion& closer)
      : layout_(layout),
        run_(run),
        companions_(companions),
        closer_(closer),
        ends_(run.end_time - run.start) {
    marks_ = std::min({run.reached, companions[0].reached, companions[1].reached});
    all_ = {&companions[0], &companions[1]};
    if (closer.path) all_.push_back(&*closer.path);
    if (closer.path) marks_ = std::min(marks_, closer.path->reached);
    find_extents();
    find_sizes();
    find_last_events();
    weigh();
    find_widths();
  }

  void fill(record::ErrorBar& bar, const std::vector<int>& told) const;
  void judge(record::ErrorBar& bar) const;

 private:
  Columns own(std::size_t mark) const { return run_.at(mark, layout_.width()); }
  Columns other(std::size_t c, std::size_t mark) const { return at(companions_[c], mark); }
  Columns at(const WorldPath& path, std::size_t mark) const {
    return path.at(mark, layout_.width());
  }
  std::size_t place(std::size_t b) const { return b * layout_.places; }
  std::size_t dimension() const { return base::index(layout_.dimension); }
  double since_start(std::size_t mark) const { return run_.time(mark) - run_.start; }

  /// How far a companion is from the run in one respect, at a mark or at the end.
  double column(Columns a, Columns b, std::size_t i) const { return std::abs(a[i] - b[i]); }
  double far(Columns a, Columns b, std::size_t body) const;
  double turned(Columns a, Columns b, std::size_t body) const;

  /// The largest difference(a, b) since an instant, weighed by companion.
  template <class Difference>
  double weighed(double from, std::size_t body, double aside, const Difference& difference) const;
  template <class Difference>
  double largest(std::size_t c, double from, std::size_t body, double aside,
                 const Difference& difference) const {
    return largest_of(companions_[c], from, body, aside, difference);
  }
  template <class Difference>
  double largest_of(const WorldPath& path, double from, std::size_t body, double aside,
                    const Difference& difference) const;
  template <class Difference>
  double closely(double from, std::size_t body, const Difference& difference) const;
  template <class Difference>
  double bar_of(std::size_t body, const Difference& difference) const;
  bool is_near_event(std::size_t body, double t, double aside) const;

  void find_extents();
  void find_sizes();
  void find_last_events();
  void weigh();
  void find_widths();
  double rounding(std::size_t i) const { return i < layout_.positions() ? noise_[0] : noise_[1]; }
  double chance_of_place(std::size_t body, std::size_t k) const;
  double chance_of_rate(std::size_t body, std::size_t k) const;
  double jump_of_rate(std::size_t body, std::size_t k, const BodyEvents::Event& event) const;
  double bend_of_rate(std::size_t k, const BodyEvents::Event& event) const;
  double touch_off(std::size_t body, std::size_t k) const;
  double rate_bar(std::size_t body, std::size_t k) const;
  double place_alone(std::size_t body, std::size_t k) const;
  double reached(std::size_t body, const NearContact& near) const;
  double place_bar(std::size_t body, std::size_t k) const;
  double turn_bar(std::size_t body) const;
  double watch_bar(std::size_t w) const;
  double difference_of_watch(const WorldPath& path, double from, std::size_t w) const;
  double watch_at(const WorldPath& path, std::size_t mark, std::size_t w) const;
  double size_of_watch(std::size_t w) const;
  void fill_band(record::ErrorBar& bar, const std::vector<std::size_t>& columns) const;
  void find_horizon(record::ErrorBar& bar, std::string& who) const;
  std::string reason(const record::ErrorBar& bar, const std::string& who) const;
  std::array<double, 2> largest_parts() const;

  static constexpr std::size_t kWorld = static_cast<std::size_t>(-1);  // in place of a body
  const WorldLayout& layout_;
  const WorldPath& run_;
  const std::array<WorldPath, 2>& companions_;
  const CloserCompanion& closer_;
  std::vector<const WorldPath*> all_;
  double ends_;           // [s] from the start
  std::size_t marks_{0};  // that all three reached
  std::vector<double> low_, high_;
  std::vector<double> sizes_;  // of the ways of bodies [m]
  std::vector<double> turns_;  // of their rotations [rad]
  std::array<double, 2> noise_{};
  std::array<double, 2> weights_{};
  std::vector<double> widths_;  // by body of the world: how far its particles may be off [m]
  double last_event_{-1.0};     // of the world [s] from the start
  bool any_event_{false};
  double safety_{kBodySafety};
};

double ThreeWorlds::far(Columns a, Columns b, std::size_t body) const {
  double sum = 0.0;
  for (std::size_t k = 0; k < dimension(); ++k) {
    const double one = a[place(body) + k] - b[place(body) + k];
    sum += one * one;
  }
  return std::sqrt(sum);
}

Eigen::Quaterniond attitude(Columns values, std::size_t at) {
  return Eigen::Quaterniond(values[at], values[at + 1], values[at + 2], values[at + 3])
      .normalized();
}

/// The angle between two attitudes, or of the axes of bodies that are symmetric about one.
double ThreeWorlds::turned(Columns a, Columns b, std::size_t body) const {
  const std::size_t at = place(body) + dimension();
  if (layout_.dimension == 2) return std::abs(a[at] - b[at]);
  if (const TracedBody& traced = layout_.bodies[body]; traced.axis != body::Vec<3>::Zero()) {
    const body::Vec<3> on_a = attitude(a, at) * traced.axis;
    const body::Vec<3> on_b = attitude(b, at) * traced.axis;
    return std::atan2(on_a.cross(on_b).norm(), on_a.dot(on_b));
  }
  double minus = 0.0;
  double plus = 0.0;
  for (std::size_t k = 0; k < 4; ++k) {
    minus += (a[at + k] - b[at + k]) * (a[at + k] - b[at + k]);
    plus += (a[at + k] + b[at + k]) * (a[at + k] + b[at + k]);
  }
  // Between marks quaternions are not quite of length 1.
  return 4.0 *
         std::asin(std::min(std::numbers::sqrt2 / 2.0, 0.5 * std::sqrt(std::min(minus, plus))));
}

void ThreeWorlds::find_extents() {
  low_.assign(run_.end.begin(), run_.end.end());
  high_ = low_;
  for (std::size_t k = 0; k < run_.reached; ++k) {
    for (std::size_t i = 0; i < low_.size(); ++i) {
      const std::size_t first = 2 * layout_.positions();
      const double value = i < first ? own(k)[i] : watch_at(run_, k, i - first);
      if (!std::isfinite(value)) continue;
      low_[i] = std::min(low_[i], value);
      high_[i] = std::max(high_[i], value);
    }
  }
}

void ThreeWorlds::find_sizes() {
  const std::size_t count = layout_.bodies.size();
  sizes_.assign(count, 0.0);
  turns_.assign(count, 0.0);
  double largest = 0.0;
  for (std::size_t b = 0; b < count; ++b) {
    double sum = 0.0;
    for (std::size_t k = place(b); k < place(b) + dimension(); ++k) {
      sum += 0.25 * (high_[k] - low_[k]) * (high_[k] - low_[k]);
    }
    sizes_[b] = std::sqrt(sum);
    if (layout_.bodies[b].is_free) largest = std::max(largest, sizes_[b]);
    const std::size_t at = place(b) + dimension();
    turns_[b] = 0.5 * (high_[at] - low_[at]);
    if (layout_.dimension == 2) continue;
    turns_[b] = 0.0;
    for (std::size_t k = 0; k < run_.reached; ++k) {
      turns_[b] = std::max(turns_[b], 0.5 * turned(own(k), own(0), b));
    }
  }
  for (std::size_t b = 0; b < count; ++b) {
    const TracedBody& body = layout_.bodies[b];
    const double least = std::max(kSlow * largest, kStill * body.size);
    sizes_[b] = std::max(sizes_[b], least);
    turns_[b] = std::max(turns_[b], body.reach > 0.0 ? least / body.reach : 0.0);
    turns_[b] = std::min(turns_[b], std::numbers::pi / 2.0);
  }
  std::array<double, 2> most{};
  for (std::size_t i = 0; i < 2 * layout_.positions(); ++i) {
    double& of = most[i < layout_.positions() ? 0 : 1];
    of = std::max({of, std::abs(low_[i]), std::abs(high_[i])});
  }
  const double part = kNoiseOfAStep * std::sqrt(static_cast<double>(run_.outcome.steps));
  long long events = 1;
  for (const BodyEvents& one : run_.events) events = std::max(events, one.count);
  const double times = 0.25 * kNoiseOfAStep * std::sqrt(static_cast<double>(events)) *
                       (std::abs(run_.start) + ends_);
  noise_ = {part * most[0] + times * most[1], part * most[1]};
}

void ThreeWorlds::find_last_events() {
  bool turns_on = false;  // a body that is not round was struck
  for (std::size_t b = 0; b < run_.events.size(); ++b) {
    const BodyEvents& events = run_.events[b];
    any_event_ = any_event_ || events.count > 0;
    for (const BodyEvents::Event& event : events.last) {
      if (!event.is_shock) continue;
      last_event_ = std::max(last_event_, event.t - run_.start);
      turns_on = turns_on || (layout_.bodies[b].is_free && layout_.bodies[b].turn_matters);
    }
  }
  if (turns_on || (run_.collided && last_event_ >= 0.0)) safety_ = kShockSafety;
}

/// Of the order that differences of places show where nothing touches, else of the first.
void ThreeWorlds::weigh() {
  double order = 1.0;
  if (!any_event_ && !run_.touched) {
    const double from = (1.0 - kBodyWindow) * ends_;
    std::array<double, 2> most{};
    for (std::size_t c = 0; c < 2; ++c) {
      for (std::size_t b = 0; b < layout_.bodies.size(); ++b) {
        const double place = largest(c, from, b, 0.0, [&](Columns a, Columns o) {
          return far(a, o, b) + layout_.bodies[b].reach * turned(a, o, b);
        });
        most[c] = std::max(most[c], place);
      }
    }
    const double ratio = most[0] > 0.0 ? most[1] / most[0] : 0.0;
    const double shown = ratio > 1.0 ? 2.0 * std::log2(ratio - 1.0) : 0.0;
    order = std::clamp(shown - kBodyCaution, 1.0, 2.0 - kBodyCaution);
  }
  weights_ = {1.0 / (std::exp2(0.5 * order) - 1.0), 1.0 / (std::exp2(order) - 1.0)};
}

void ThreeWorlds::find_widths() {
  widths_.assign(layout_.names.size(), 0.0);
  for (std::size_t b = 0; b < layout_.bodies.size(); ++b) {
    double square = 0.0;
    for (std::size_t k = 0; k < dimension(); ++k) square += std::pow(place_alone(b, k), 2);
    const TracedBody& body = layout_.bodies[b];
    const double turns = body.turn_matters ? body.reach * turn_bar(b) : 0.0;
    widths_[base::index(body.body)] = std::sqrt(square) + turns;
  }
}

bool ThreeWorlds::is_near_event(std::size_t body, double t, double aside) const {
  if (body == kWorld || aside <= 0.0) return false;
  for (const BodyEvents::Event& event : run_.events[body].last) {
    if (std::abs(event.t - run_.start - t) < aside) return true;
  }
  return false;
}

template <class Difference>
double ThreeWorlds::largest_of(const WorldPath& path, double from, std::size_t body, double aside,
                               const Difference& difference) const {
  double most = difference(run_.end, path.end);
  for (std::size_t k = marks_; k-- > 0 && since_start(k) >= from;) {
    if (is_near_event(body, since_start(k), aside)) continue;
    most = std::max(most, difference(own(k), at(path, k)));
  }
  return most;
}

/// What shorter steps at shocks that follow each other make of it.
template <class Difference>
double ThreeWorlds::closely(double from, std::size_t body, const Difference& difference) const {
  if (!closer_.path) return 0.0;
  return kCloserSafety * largest_of(*closer_.path, from, body, 0.0, difference);
}

template <class Difference>
double ThreeWorlds::weighed(double from, std::size_t body, double aside,
                            const Difference& difference) const {
  return std::max(weights_[0] * largest(0, from, body, aside, difference),
                  weights_[1] * largest(1, from, body, aside, difference));
}

/// Of the last window, and a part of what the recent past would give.
template <class Difference>
double ThreeWorlds::bar_of(std::size_t body, const Difference& difference) const {
  const BodyEvents& events = run_.events[body];
  const double h = run_.step;
  const double last = events.count > 0 ? events.last[0].t - run_.start + 4.0 * h : -1.0;
  const double window = std::max((1.0 - kBodyWindow) * ends_, last);
  double recent = 0.0;
  if (events.count >= static_cast<long long>(BodyEvents::kKept)) {
    recent = std::max(0.5 * ends_, events.last.back().t - run_.start);
  } else if (events.count > 0) {
    recent = events.last[base::index(static_cast<int>(events.count - 1))].t - run_.start;
  }
  return closely(window, body, difference) +
         safety_ * std::max(weighed(window, body, 0.0, difference),
                            kBodyRecent * weighed(recent, body, kAside * h, difference));
}

/// By how much an event changed the rate of one of the places of a body, at most.
double ThreeWorlds::jump_of_rate(std::size_t body, std::size_t k,
                                 const BodyEvents::Event& event) const {
  (void)body;
  if (k < dimension()) return std::abs(event.jump[k]);
  if (layout_.dimension == 2) return std::abs(event.jump[2]);
  return 0.5 * std::hypot(event.jump[3], event.jump[4], event.jump[5]);  // of a quaternion
}

/// What a shock of round bodies may give otherwise, where it comes at another time of its step.
double ThreeWorlds::bend_of_rate(std::size_t k, const BodyEvents::Event& event) const {
  if (k >= dimension()) return 0.0;
  double square = 0.0;
  for (std::size_t i = 0; i < dimension(); ++i) square += event.jump[i] * event.jump[i];
  return event.bend * std::sqrt(square);
}

/// What the time of an event within its step may make of a place.
double ThreeWorlds::chance_of_place(std::size_t body, std::size_t k) const {
  const BodyEvents& events = run_.events[body];
  if (events.count == 0) return 0.0;
  const std::size_t i = place(body) + k;
  const std::size_t v = layout_.positions() + i;
  double jump = 0.0;
  bool any_shock = false;
  for (const BodyEvents::Event& event : events.last) {
    jump = std::max(jump, jump_of_rate(body, k, event));
    any_shock = any_shock || event.is_shock;
  }
  if (any_shock) jump = std::max(jump, 0.5 * std::abs(run_.end[v]));
  double chance = run_.step * jump;
  // A rate that is off since a slide turned round, or a shock, takes the place along.
  const auto difference = [&](Columns a, Columns b) { return column(a, b, v); };
  for (const BodyEvents::Event& event : events.last) {
    const double off = event.is_shock ? bend_of_rate(k, event) : jump_of_rate(body, k, event);
    if (!(off > 0.0)) continue;
    const double t = event.t - run_.start;
    const double from = t + kAside * run_.step;
    const double seen =
        std::max(largest(0, from, body, 0.0, difference), largest(1, from, body, 0.0, difference));
    if (seen > kPinned * off) chance = std::max(chance, off * (ends_ - t));
  }
  return chance;
}

/// The same of its rate: what forces change it by in the time by which an event may be late, or an
/// event of the last steps.
double ThreeWorlds::chance_of_rate(std::size_t body, std::size_t k) const {
  const BodyEvents& events = run_.events[body];
  if (events.count == 0) return 0.0;
  const double h = run_.step;
  const std::size_t v = layout_.positions() + place(body) + k;
  double chance = 0.0;
  for (const BodyEvents::Event& event : events.last) {
    chance =
        std::max(chance, event.is_shock ? bend_of_rate(k, event) : jump_of_rate(body, k, event));
  }
  const double last = events.last[0].t - run_.start;
  const double from = std::max(last + 2.0 * h, 0.7 * ends_);
  const double dt = since_start(1);
  double rate = 0.0;
  for (std::size_t m = run_.reached; m-- > 1 && since_start(m - 1) >= from;) {
    rate = std::max(rate, std::abs(own(m)[v] - own(m - 1)[v]) / dt);
  }
  return std::max(chance, kBodyRate * h * rate);
}

/// Without contacts that may close before the end because places are off.
double ThreeWorlds::place_alone(std::size_t body, std::size_t k) const {
  const std::size_t i = place(body) + k;
  const auto difference = [&](Columns a, Columns b) { return column(a, b, i); };
  double found = bar_of(body, difference);
  const double chance = chance_of_place(body, k);
  const double most = std::max(largest(0, 0.0, body, kAside * run_.step, difference),
                               largest(1, 0.0, body, kAside * run_.step, difference));
  if (most > kPinned * chance) found = std::max(found, chance);
  const LateContact& late = run_.late[body];
  return std::max(found, k < dimension() ? late.way : late.turn) +
         kTouchSafety * touch_off(body, k) + rounding(i);
}

/// By how much bodies may be off beyond the gap of a contact that is near; 0: it stays open.
double ThreeWorlds::reached(std::size_t body, const NearContact& near) const {
  const double width = widths_[base::index(layout_.bodies[body].body)];
  return std::max(0.0, width + widths_[base::index(near.other)] - near.gap);
}

double ThreeWorlds::place_bar(std::size_t body, std::size_t k) const {
  double more = 0.0;
  for (const NearContact& near : run_.late[body].near) {
    const double since = reached(body, near) / near.closes;
    more = std::max(more, since * (k < dimension() ? near.speed : near.spin));
  }
  return place_alone(body, k) + more;
}

/// By how much a place is off where what touches has the gap 0.
double ThreeWorlds::touch_off(std::size_t body, std::size_t k) const {
  if (body >= run_.off.size()) return 0.0;
  const TouchOff& off = run_.off[body];
  if (k < dimension()) return off.way[k];
  return layout_.dimension == 2 ? off.turn : 0.5 * off.turn;  // of a quaternion
}

double ThreeWorlds::rate_bar(std::size_t body, std::size_t k) const {
  const std::size_t i = layout_.positions() + place(body) + k;
  const auto difference = [&](Columns a, Columns b) { return column(a, b, i); };
  double found = bar_of(body, difference);
  const double chance = chance_of_rate(body, k);
  const double most = std::max(largest(0, 0.0, body, kAside * run_.step, difference),
                               largest(1, 0.0, body, kAside * run_.step, difference));
  if (most > kPinned * chance) found = std::max(found, chance);
  // A shock at the end may have happened or not.
  const double near = ends_ - 2.0 * run_.step;
  for (const WorldPath* path : {&run_, &companions_[0], &companions_[1]}) {
    for (const BodyEvents::Event& event : path->events[body].last) {
      if (event.is_shock && event.t - run_.start > near) {
        found = std::max(found, jump_of_rate(body, k, event));
      }
    }
  }
  const LateContact& late = run_.late[body];
  found = std::max(found, k < dimension() ? late.speed : late.spin);
  for (const NearContact& one : late.near) {
    const bool may = reached(body, one) > 0.0;
    if (may) found = std::max(found, k < dimension() ? one.speed : one.spin);
  }
  return found + rounding(i);
}

double ThreeWorlds::turn_bar(std::size_t body) const {
  const double chance = chance_of_place(body, dimension());
  const double found = bar_of(body, [&](Columns a, Columns b) { return turned(a, b, body); });
  return std::max({found, chance, run_.late[body].turn});
}

/// Of a force the mean since the mark before, or over as many as its rows are apart.
double ThreeWorlds::watch_at(const WorldPath& path, std::size_t mark, std::size_t w) const {
  const std::size_t i = 2 * layout_.positions() + w;
  const double value = path.at(mark, layout_.width())[i];
  if (!layout_.watches[w].is_mean) return value;
  if (mark == 0) return std::numeric_limits<double>::quiet_NaN();
  const double before = path.at(mark - 1, layout_.width())[i];
  return (value - before) / since_start(1);
}

double ThreeWorlds::difference_of_watch(const WorldPath& path, double from, std::size_t w) const {
  const std::size_t i = 2 * layout_.positions() + w;
  double most = std::abs(run_.end[i] - path.end[i]);
  if (std::isnan(most)) most = 0.0;  // none of them has a number
  for (std::size_t k = marks_; k-- > 0 && since_start(k) >= from;) {
    const double off = std::abs(watch_at(run_, k, w) - watch_at(path, k, w));
    if (std::isfinite(off)) most = std::max(most, off);
  }
  return most;
}

double ThreeWorlds::watch_bar(std::size_t w) const {
  const double from = std::max((1.0 - kBodyWindow) * ends_, last_event_ + 4.0 * run_.step);
  double found = 0.0;
  for (std::size_t c = 0; c < 2; ++c) {
    found = std::max(found, weights_[c] * difference_of_watch(companions_[c], from, w));
  }
  const double closer =
      closer_.path ? kCloserSafety * difference_of_watch(*closer_.path, from, w) : 0.0;
  const std::size_t i = 2 * layout_.positions() + w;
  const double largest = std::max(std::abs(low_[i]), std::abs(high_[i]));
  const double touch = w < run_.watch_off.size() ? kTouchSafety * run_.watch_off[w] : 0.0;
  return safety_ * found + closer + touch +
         kNoiseOfAStep * std::sqrt(static_cast<double>(run_.outcome.steps)) * largest;
}

double ThreeWorlds::size_of_watch(std::size_t w) const {
  const TracedWatch& watch = layout_.watches[w];
  const std::size_t first = 2 * layout_.positions();
  double largest = 0.0;
  for (std::size_t k = watch.first; k < watch.first + watch.count; ++k) {
    largest = std::max({largest, std::abs(low_[first + k]), std::abs(high_[first + k])});
  }
  const double own = 0.5 * (high_[first + w] - low_[first + w]);
  const double least = watch.is_count ? 2.0 : watch.floor;
  return std::max({own, kStill * largest, least});
}

void ThreeWorlds::fill(record::ErrorBar& bar, const std::vector<int>& told) const {
  std::vector<std::size_t> columns;
  for (std::size_t b = 0; b < layout_.bodies.size(); ++b) {
    const TracedBody& body = layout_.bodies[b];
    const bool is_told = std::find(told.begin(), told.end(), body.body) != told.end();
    if (!is_told && !body.is_free) continue;
    double sum = 0.0;
    for (std::size_t k = 0; k < layout_.places; ++k) {
      if (!is_told && k >= dimension()) break;
      const double width = place_bar(b, k);
      if (k < dimension()) sum += width * width;
      if (!is_told) continue;
      columns.push_back(place(b) + k);
      bar.position.push_back(width);
      bar.velocity.push_back(rate_bar(b, k));
    }
    if (body.is_free && std::sqrt(sum) > bar.farthest) {
      bar.farthest = std::sqrt(sum);
      bar.farthest_of = layout_.name(b);
    }
  }
  for (std::size_t w = 0; w < layout_.watches.size(); ++w) {
    const double width = watch_bar(w);
    const TracedWatch& watch = layout_.watches[w];
    const bool left_open = w < run_.left_open.size() && run_.left_open[w] != 0;
    bar.watches.push_back(
        {watch.name, width, !(width > kHalf * size_of_watch(w)), watch.is_count, left_open});
  }
  if (run_.stopped) {
    double late = run_.step;
    for (std::size_t c = 0; c < 2; ++c) {
      late =
          std::max(late, safety_ * weights_[c] * std::abs(run_.end_time - companions_[c].end_time));
    }
    if (closer_.path) {
      late = std::max(late, kCloserSafety * std::abs(run_.end_time - closer_.path->end_time));
    }
    bar.end_time = late;
  }
  fill_band(bar, columns);
}

/// By the differences alone.
void ThreeWorlds::fill_band(record::ErrorBar& bar, const std::vector<std::size_t>& columns) const {
  for (std::size_t k = 0; k < marks_; ++k) {
    bar.times.push_back(run_.time(k));
    for (const std::size_t i : columns) {
      bar.middle.push_back(own(k)[i]);
      bar.band.push_back(safety_ * std::max(weights_[0] * column(own(k), other(0, k), i),
                                            weights_[1] * column(own(k), other(1, k), i)) +
                         rounding(i));
    }
  }
}

/// The first mark at which a companion is farther from the run than half of what the run covers.
void ThreeWorlds::find_horizon(record::ErrorBar& bar, std::string& who) const {
  for (std::size_t k = 0; k < marks_; ++k) {
    for (std::size_t b = 0; b < layout_.bodies.size(); ++b) {
      if (!layout_.bodies[b].is_free) continue;
      for (const WorldPath* path : all_) {
        const bool leaves = far(own(k), at(*path, k), b) > sizes_[b];
        const bool turns =
            layout_.bodies[b].turn_matters && turned(own(k), at(*path, k), b) > turns_[b];
        if (!leaves && !turns) continue;
        bar.horizon = run_.time(k);
        who = layout_.name(b);
        return;
      }
    }
  }
}

/// The largest difference of each companion, in sizes of motions.
std::array<double, 2> ThreeWorlds::largest_parts() const {
  std::array<double, 2> parts{};
  for (std::size_t c = 0; c < 2; ++c) {
    for (std::size_t b = 0; b < layout_.bodies.size(); ++b) {
      if (!layout_.bodies[b].is_free) continue;
      const double moved =
          largest(c, 0.0, b, 0.0, [&](Columns a, Columns o) { return far(a, o, b) / sizes_[b]; });
      parts[c] = std::max(parts[c], moved);
      if (!layout_.bodies[b].turn_matters) continue;
      const double turn = largest(
          c, 0.0, b, 0.0, [&](Columns a, Columns o) { return turned(a, o, b) / turns_[b]; });
      parts[c] = std::max(parts[c], turn);
    }
  }
  return parts;
}

std::string ThreeWorlds::reason(const record::ErrorBar& bar, const std::string& who) const {
  if (bar.horizon) {
    return fmt::format("its companions are farther from it than half of what '{}' covers", who);
  }
  for (std::size_t b = 0; b < layout_.bodies.size(); ++b) {
    const TracedBody& body = layout_.bodies[b];
    if (!body.is_free) continue;
    double sum = 0.0;
    for (std::size_t k = 0; k < dimension(); ++k) sum += std::pow(place_bar(b, k), 2);
    if (std::sqrt(sum) > kHalf * sizes_[b]) {
      return fmt::format("the bar of '{}' is more than half as large as its motion",
                         layout_.name(b));
    }
    if (body.turn_matters && turn_bar(b) > kHalf * turns_[b]) {
      return fmt::format("the bar of the turn of '{}' is more than half as large as its turn",
                         layout_.name(b));
    }
  }
  const auto [first, second] = largest_parts();
  if (std::max(first, second) > kTenth && second < kGrow * first) {
    return "the differences do not fall with the step";
  }
  for (const record::ErrorBar::OfWatch& watch : bar.watches) {
    if (!watch.holds && !watch.is_left_open) {
      return fmt::format("the bar of the watch '{}' is more than half as large as what it does",
                         watch.name);
    }
  }
  return "";
}

void ThreeWorlds::judge(record::ErrorBar& bar) const {
  std::string who;
  find_horizon(bar, who);
  bar.unresolved = reason(bar, who);
}

}  // namespace

record::ErrorBar estimate_world_error(const WorldLayout& layout, const WorldPath& run,
                                      const std::array<WorldPath, 2>& companions,
                                      const CloserCompanion& closer, const std::vector<int>& told) {
  record::ErrorBar bar;
  bar.made = true;
  bar.not_made.clear();
  for (std::size_t c = 0; c < 2; ++c) bar.steps[c] = companions[c].outcome.steps;
  std::vector<const WorldPath*> all = {&companions[0], &companions[1]};
  if (closer.path) all.push_back(&*closer.path);
  for (const WorldPath* one : all) {
    const WorldPath& path = *one;
    if (!path.outcome.certificate.ok()) {
      bar.unresolved = fmt::format("its companion fails after {} steps: {}", path.outcome.steps,
                                   certify::describe_failure(path.outcome.certificate));
      return bar;
    }
    if (path.stopped == run.stopped) continue;
    bar.unresolved = fmt::format(
        "its companion of {} steps {}", path.outcome.steps,
        run.stopped ? "is not stopped by run.stop near that time" : "is stopped by run.stop");
    return bar;
  }
  const ThreeWorlds three(layout, run, companions, closer);
  three.fill(bar, told);
  three.judge(bar);
  if (closer.merged && (!bar.horizon || *bar.horizon >= closer.merged->t)) {
    bar.unresolved = fmt::format(
        "the shocks at t = {:.6g} follow each other within a step, and with shorter ones '{}' "
        "leaves them otherwise",
        closer.merged->t, layout.names[base::index(closer.merged->body)]);
    bar.horizon = closer.merged->t;
  }
  return bar;
}

}  // namespace ricochet::study
