#include "ricochet/study/strikes.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "ricochet/study/force_probe.h"

namespace ricochet::study {
namespace {

/// Whether a coefficient differs between two instants by more than `much`, or by so much of its
/// largest value, or that cannot be excluded; bounds that are not narrow are cut.
template <class Bound>
bool differs(double from, double to, double here, double much, bool of_largest, Bound bound) {
  constexpr int kMost = 400;
  constexpr int kMostHalves = 24;
  struct Part {
    double from, to;
    int depth;
  };
  std::vector<Part> parts = {{from, to, 0}};
  const auto first = bound(here, here);
  double low = first.low, high = first.high;
  const auto limit = [&](double largest) { return of_largest ? much * largest : much; };
  for (int left = kMost; !parts.empty(); --left) {
    if (left == 0) return true;
    const Part part = parts.back();
    parts.pop_back();
    const formula::Range all = bound(part.from, part.to);
    const double most = std::max(high, all.high);
    if (most - std::min(low, all.low) <= limit(most)) continue;
    const double middle = 0.5 * (part.from + part.to);
    const formula::Range one = bound(middle, middle);
    low = std::min(low, one.low);
    high = std::max(high, one.high);
    if (high - low > limit(high)) return true;
    if (part.depth >= kMostHalves) continue;
    parts.push_back({part.from, middle, part.depth + 1});
    parts.push_back({middle, part.to, part.depth + 1});
  }
  return false;
}

}  // namespace

Strikes::Strikes(const model::FormulaModel* model) : model_(model) {
  if (model == nullptr) return;
  if (model->has_friction() && model->outside() == nullptr) watch_friction();
  if (!model->has_laws()) return;
  for (int a = 0; a < model->contacts(); ++a) {
    if (model->law(a).restitution >= 0) watched_.push_back({a});
  }
  ranges_ = model->law_tape().range_registers();
}

void Strikes::watch_friction() {
  const formula::Tape& tape = model_->friction_tape();
  for (int a = 0; a < model_->contacts(); ++a) {
    if (model_->slips(a) == 0) continue;
    const auto registers = friction_registers(*model_, a);
    Slide slide{a, {}};
    for (std::size_t k = model_->slip(a).load >= 0 ? 0 : 1; k < registers.size(); ++k) {
      if (!tape.is_constant(registers[k])) slide.outputs.push_back(registers[k]);
    }
    if (!slide.outputs.empty()) slides_.push_back(std::move(slide));
  }
  slide_ranges_ = tape.range_registers();
}

/// A contact that a step slows by much was slowed by the friction of one instant.
void Strikes::follow_slides(const step::Sample& sample, double h) {
  constexpr double kMuch = 0.1;
  const formula::Tape& tape = model_->friction_tape();
  for (Slide& slide : slides_) {
    const auto a = static_cast<std::size_t>(slide.contact);
    const double slip = std::hypot(sample.slips[2 * a], sample.slips[2 * a + 1]);
    if (slide.slip - slip > kMuch * slide.most && !first_) {
      for (const std::size_t at : slide.outputs) {
        const auto bound = [&](double from, double to) {
          place(slide_ranges_, from, to);
          tape.bound(0, slide_ranges_.data());
          return slide_ranges_[at];
        };
        if (differs(0.0, h, 0.0, kMuch, true, bound)) first_ = {sample.t, true};
      }
    }
    slide.slip = slip;
    slide.most = std::max(slide.most, slip);
  }
}

void Strikes::follow(const step::Sample& sample) {
  constexpr int kQuiet = 3;
  constexpr double kSlow = 0.02;  // of the fastest
  const double h = std::abs(sample.t - t_);
  const bool opens = q_.empty();
  if (!slides_.empty() && !sample.slips.empty()) follow_slides(sample, h);
  for (Watched& w : watched_) {
    const auto a = static_cast<std::size_t>(w.contact);
    const bool pushes = sample.impulses[a] != 0.0;
    const bool struck = pushes && !opens && w.quiet >= kQuiet && w.fell > kSlow * w.most;
    if (struck && !first_ && is_uneven(w, h)) first_ = {sample.t, false};
    w.quiet = pushes ? 0 : w.quiet + 1;
    const double fell = opens ? 0.0 : w.gap - sample.gaps[a];
    w.bend = fell - w.fell;
    w.fell = fell;
    w.most = std::max(w.most, fell);
    w.gap = sample.gaps[a];
  }
  t_ = sample.t;
  q_.assign(sample.q.begin(), sample.q.end());
  u_.assign(sample.u.begin(), sample.u.end());
}

/// Between two instants, by the velocities of the last sample.
void Strikes::place(std::vector<formula::Range>& ranges, double from, double to) const {
  const auto between = [&](double value, double rate) {
    const double one = value + from * rate, other = value + to * rate;
    return formula::Range{std::min(one, other), std::max(one, other)};
  };
  ranges[0] = between(t_, 1.0);
  const std::size_t n = q_.size();
  for (std::size_t i = 0; i < n; ++i) {
    ranges[1 + i] = between(q_[i], u_[i]);
    ranges[1 + n + i] = {u_[i], u_[i]};
  }
}

/// Of e between two instants.
formula::Range Strikes::bound(const Watched& w, double from, double to, double h) {
  place(ranges_, from, to);
  const double approach = w.fell / h, off = std::abs(w.bend) / h;
  ranges_[1 + 2 * q_.size()] = {approach - off, approach + off};
  const formula::Tape& tape = model_->law_tape();
  tape.bound(0, ranges_.data());
  if (w.contact > 0) tape.bound(2 * w.contact, ranges_.data());
  return ranges_[tape.outputs(2 * w.contact)[0]];
}

/// Whether e differs by much over the way of two steps before and after.
bool Strikes::is_uneven(const Watched& w, double h) {
  constexpr double kMuch = 0.1;
  return differs(-2.0 * h, 2.0 * h, 0.0, kMuch, false,
                 [&](double from, double to) { return bound(w, from, to, h); });
}

}  // namespace ricochet::study
