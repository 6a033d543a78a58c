#include "ricochet/study/trace.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ricochet/certify/certificate.h"

namespace ricochet::study {

Trace::Trace(std::vector<double> marks, bool between)
    : marks_(std::move(marks)), between_(between) {
  if (marks_.empty()) return;
  sign_ = marks_.back() < marks_.front() ? -1.0 : 1.0;
  // An instant that two runs reach by different sums is one.
  constexpr double kInstant = 1e-9;
  const double largest = std::max(std::abs(marks_.front()), std::abs(marks_.back()));
  slack_ = kInstant * length() / static_cast<double>(std::max<std::size_t>(1, marks_.size() - 1)) +
           8.0 * std::numeric_limits<double>::epsilon() * largest;
  wake_ = -std::numeric_limits<double>::infinity();
}

void Trace::open(const step::Sample& sample) {
  is_open_ = true;
  positions_ = sample.q.size();
  width_ = sample.q.size() + sample.u.size();
  values_.assign(marks_.size() * width_, 0.0);
  has_.assign(marks_.size(), 0);
  before_.assign(width_, 0.0);
  last_t_ = before_t_ = sample.t;
}

/// Takes what is due, and keeps the sample where the next mark may come before the next sample.
void Trace::look(const step::Sample& sample) {
  if (!is_open_) open(sample);
  const double step = sign_ * (sample.t - last_t_);
  while (next_ < marks_.size() && sign_ * (marks_[next_] - sample.t) <= slack_) {
    store(next_, sample);
    ++next_;
  }
  const bool is_last = next_ + 1 >= marks_.size();
  if (is_last) keep_gaps(sample, step);
  if (next_ == marks_.size()) return;
  // Steps under control grow up to tenfold from one to the next.
  constexpr double kGrowth = 12.0;
  const double margin = step > 0.0 ? kGrowth * step : length();
  wake_ = sign_ * marks_[next_] - margin;
  if (!between_) return;
  before_t_ = sample.t;
  std::copy(sample.q.begin(), sample.q.end(), before_.begin());
  std::copy(sample.u.begin(), sample.u.end(), before_.begin() + static_cast<long>(positions_));
}

/// Velocities linear between two steps, positions their integral, and what is left of the
/// difference of positions in proportion.
void Trace::store(std::size_t mark, const step::Sample& sample) {
  double* const values = values_.data() + mark * width_;
  const bool ends_here = std::abs(sample.t - marks_[mark]) <= slack_;
  if (!ends_here && !between_) return;
  has_[mark] = 1;
  if (ends_here) {
    std::copy(sample.q.begin(), sample.q.end(), values);
    std::copy(sample.u.begin(), sample.u.end(), values + positions_);
    return;
  }
  const double h = sample.t - before_t_;
  const double s = (marks_[mark] - before_t_) / h;
  const bool rates = sample.q.size() == sample.u.size();
  for (std::size_t i = 0; i < positions_; ++i) {
    values[i] = before_[i] + s * (sample.q[i] - before_[i]);
    if (rates) values[i] -= 0.5 * h * s * (1.0 - s) * (sample.u[i] - before_[positions_ + i]);
  }
  for (std::size_t i = 0; i < sample.u.size(); ++i) {
    const double u0 = before_[positions_ + i];
    values[positions_ + i] = u0 + s * (sample.u[i] - u0);
  }
}

void Trace::keep_gaps(const step::Sample& sample, double step) {
  gaps_before_.swap(gaps_);
  gaps_.assign(sample.gaps.begin(), sample.gaps.end());
  gaps_step_ = step;
}

double Trace::time_to_contact() const {
  double soonest = std::numeric_limits<double>::infinity();
  if (gaps_before_.size() != gaps_.size() || !(gaps_step_ > 0.0)) return soonest;
  for (std::size_t a = 0; a < gaps_.size(); ++a) {
    const double rate = (gaps_[a] - gaps_before_[a]) / gaps_step_;
    if (gaps_[a] > 0.0 && rate < 0.0) soonest = std::min(soonest, gaps_[a] / -rate);
  }
  return soonest;
}

double Trace::time_in_contact() const {
  double longest = 0.0;
  if (gaps_before_.size() != gaps_.size() || !(gaps_step_ > 0.0)) return longest;
  for (std::size_t a = 0; a < gaps_.size(); ++a) {
    const double rate = (gaps_[a] - gaps_before_[a]) / gaps_step_;
    if (!(gaps_[a] < 0.0 && rate < 0.0)) continue;
    const double time = gaps_[a] / rate;
    if (time <= 2.0 * gaps_step_) longest = std::max(longest, time);
  }
  return longest;
}

void Pushes::enter(const step::Sample& sample) {
  if (sample.impulses.empty() || sample.impulses.size() > kMostContacts || marks_.size() < 2)
    return;
  contacts_ = sample.impulses.size();
  sums_.resize(marks_.size() * contacts_, 0.0);
  sign_ = marks_.back() < marks_.front() ? -1.0 : 1.0;
  const double slack = 1e-6 * std::abs(marks_[1] - marks_[0]);
  while (next_ + 2 < marks_.size() && sign_ * (sample.t - marks_[next_ + 1]) > slack) ++next_;
  until_ = sign_ * marks_[next_ + 1];
  for (std::size_t a = 0; a < contacts_; ++a) {
    sums_[next_ * contacts_ + a] += std::abs(sample.impulses[a]);
  }
}

double Pushes::force(std::size_t mark, int contact) const {
  const std::size_t at = mark * contacts_ + static_cast<std::size_t>(contact);
  if (at >= sums_.size() || mark + 1 >= marks_.size()) return 0.0;
  return sums_[at] / std::abs(marks_[mark + 1] - marks_[mark]);
}

NearMisses::NearMisses(bool is_rough, const model::FormulaModel* model)
    : is_rough_(is_rough), model_(model) {
  const auto is_flat = [&](formula::NodeId slope) {
    return model->system().graph[slope].op == formula::Op::Constant;
  };
  if (model != nullptr && model->outside() == nullptr &&
      std::all_of(model->slopes().begin(), model->slopes().end(), is_flat)) {
    model_ = nullptr;
  }
}

/// The lowest gap of a parabola through three samples; impacts of others bend the way at once.
bool NearMisses::turns_near(const Watched& w, double fell) const {
  constexpr double kKink = 4.0;     // times the bend before
  constexpr double kSmooth = 1e-6;  // of a step's way: less is rounding
  const double bend = w.fell - fell;
  if (!(w.fell > 0.0 && fell <= 0.0)) return false;
  if (bend > kKink * std::abs(w.bend) || bend < kSmooth * w.fastest) return false;
  const double lowest = w.gap - 0.125 * (w.fell + fell) * (w.fell + fell) / bend;
  return std::abs(lowest) < (is_rough_ ? std::max(bend, w.fastest) : bend);
}

/// Whether the normal of a wall turns by more than 25 degrees over the last two steps, in their
/// ways.
bool NearMisses::is_small(std::size_t contact, const step::Sample& sample) const {
  const std::vector<double>& q0 = places_[1];
  const auto a = static_cast<int>(contact);
  if (model_ == nullptr || q0.size() != sample.q.size() || model_->outside_gap(a) >= 0)
    return false;
  const formula::Tape& tape = model_->gap_tape();
  const model::Pattern& pattern = model_->pattern();
  std::array<std::vector<double>, 2> registers = {tape.registers(), tape.registers()};
  for (auto& r : registers) r[0] = sample.t;
  std::copy(q0.begin(), q0.end(), registers[0].begin() + 1);
  std::copy(sample.q.begin(), sample.q.end(), registers[1].begin() + 1);
  for (const int group : {0, 1}) {
    for (auto& r : registers) tape.run(group, r.data());
  }
  double dot = 0.0, one = 0.0, other = 0.0;
  for (std::size_t e = pattern.begin(a); e < pattern.end(a); ++e) {
    const auto i = static_cast<std::size_t>(pattern.coordinates[e]);
    const double way = sample.q[i] - q0[i];
    const std::size_t at = tape.outputs(1)[e + contact];
    dot += registers[0][at] * way * registers[1][at] * way;
    one += registers[0][at] * way * registers[0][at] * way;
    other += registers[1][at] * way * registers[1][at] * way;
  }
  return dot < 0.9 * std::sqrt(one * other);
}

void NearMisses::follow(const step::Sample& sample) {
  const bool opens = watched_.empty();
  if (opens) watched_.resize(sample.gaps.size());
  if (watched_.empty()) return;
  bool all_far = !opens;
  for (std::size_t a = 0; a < watched_.size(); ++a) {
    if (!opens && is_far(watched_[a], sample.gaps[a], sample.impulses[a])) continue;
    follow_closely(a, sample, opens);
    all_far = false;
  }
  last_t_ = sample.t;
  if (model_ == nullptr || all_far) return;
  places_[1].swap(places_[0]);
  places_[0].resize(sample.q.size());
  std::copy(sample.q.begin(), sample.q.end(), places_[0].begin());
}

void NearMisses::follow_closely(std::size_t a, const step::Sample& sample, bool opens) {
  constexpr int kLasts = 3;
  constexpr std::size_t kMostReleases = 64;
  Watched& w = watched_[a];
  const double gap = sample.gaps[a];
  const double fell = opens ? 0.0 : w.gap - gap;
  const auto has_twin = [&] {  // a wall that is written twice, of which the other one has pushed
    for (std::size_t b = 0; b < watched_.size(); ++b) {
      if (b != a && sample.gaps[b] == gap && watched_[b].quiet < kQuiet) return true;
    }
    return false;
  };
  if (++w.quiet == kLasts && w.pushes >= kLasts && releases_.size() < kMostReleases) {
    releases_.push_back(last_t_);
  }
  if (sample.impulses[a] != 0.0) {
    if (w.inside > 1 && !entered_) entered_ = {sample.t, static_cast<int>(a)};
    w.inside = kPushed;
    if (w.quiet > kLasts) w.struck = w.largest / std::abs(sample.t - last_t_);
    w.pushes = w.quiet == 1 ? w.pushes + 1 : 1;
    w.quiet = 0;
    w.largest = 0.0;
    w.missed.reset();
    is_rough_ = true;
  } else if (w.missed && w.quiet > 2 * kQuiet) {
    if (!first_ || *w.missed < first_->t) first_ = {*w.missed, static_cast<int>(a)};
    w.missed.reset();
  } else if (!first_ && w.quiet >= kQuiet && turns_near(w, fell) && !is_small(a, sample) &&
             !has_twin()) {
    w.missed = last_t_;
    w.quiet = kQuiet;
  }
  w.fastest = std::max(w.fastest, std::abs(fell));
  w.bend = w.fell - fell;
  if (w.quiet > 2) w.largest = std::max(w.largest, std::abs(w.bend));
  w.fell = fell;
  w.gap = gap;
  w.inside = gap < 0.0 ? w.inside + 1 : 0;
}

std::vector<double> NearMisses::bends() const {
  std::vector<double> bends;
  for (const Watched& w : watched_) bends.push_back(w.struck);
  return bends;
}

void Phases::follow(const step::Sample& sample) {
  if (state_.empty()) {
    state_.assign(sample.states.size(), 0);
    open_.assign(sample.states.size(), {});
    last_t_ = sample.t;
  }
  for (std::size_t a = 0; a < state_.size(); ++a) {
    const auto told = static_cast<certify::ContactState>(static_cast<char>(sample.states[a]));
    const bool sticks = told == certify::ContactState::Stick;
    const char now = sticks ? char{1} : told == certify::ContactState::Slip ? char{2} : char{0};
    if (now != state_[a]) {
      end(a);
      state_[a] = now;
      open_[a] = {last_t_, sample.t, static_cast<int>(a), sticks};
    }
    open_[a].to = sample.t;
  }
  last_t_ = sample.t;
  told_ = sample.states[0];
}

void Phases::end(std::size_t contact) {
  if (state_[contact] == 0) return;
  if (list_.size() < kMost) {
    list_.push_back(open_[contact]);
  } else {
    is_cut_ = true;
  }
  state_[contact] = 0;
}

void Phases::close() {
  for (std::size_t a = 0; a < state_.size(); ++a) end(a);
}

void Turns::add(const step::Sample& sample) {
  if (sample.slips.empty()) return;
  Instant& now = kept_[next_];
  now.t = sample.t;
  now.u.assign(sample.u.begin(), sample.u.end());
  now.slips.assign(sample.slips.begin(), sample.slips.end());
  next_ = (next_ + 1) % kKept;
  if (++seen_ >= kKept) look();
}

void Turns::look() {
  for (std::size_t k = 0; k + 1 < at(0).slips.size(); k += 2) {  // contact by contact
    const auto slip = [&](std::size_t i, std::size_t j) {
      return at(i).slips[k] * at(j).slips[k] + at(i).slips[k + 1] * at(j).slips[k + 1];
    };
    if (!(slip(2, 4) < 0.0 && slip(1, 2) > 0.0 && slip(4, 5) > 0.0)) continue;
    const auto change = [&](std::size_t i) {
      return std::hypot(at(i + 1).slips[k] - at(i).slips[k],
                        at(i + 1).slips[k + 1] - at(i).slips[k + 1]);
    };
    const double before = change(1), after = change(4);
    const double part = after < before ? after / before : 1.0;
    Turn turn{at(3).t, std::vector<double>(at(0).u.size())};
    for (std::size_t i = 0; i < turn.kicks.size(); ++i) {
      const double kink = at(2).u[i] - at(1).u[i] - (at(5).u[i] - at(4).u[i]);
      turn.kicks[i] = part * std::abs(kink);
    }
    last_ = std::move(turn);
  }
}

}  // namespace ricochet::study
