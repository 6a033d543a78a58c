#include "ricochet/study/strikes.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace ricochet::study {

Strikes::Strikes(const model::FormulaModel* model) : model_(model) {
  if (model == nullptr || !model->has_laws()) return;
  for (int a = 0; a < model->contacts(); ++a) {
    if (model->law(a).restitution >= 0) watched_.push_back({a});
  }
  ranges_ = model->law_tape().range_registers();
}

void Strikes::follow(const step::Sample& sample) {
  constexpr int kQuiet = 3;
  constexpr double kSlow = 0.02;  // of the fastest
  const double h = std::abs(sample.t - t_);
  const bool opens = q_.empty();
  for (Watched& w : watched_) {
    const auto a = static_cast<std::size_t>(w.contact);
    const bool pushes = sample.impulses[a] != 0.0;
    const bool struck = pushes && !opens && w.quiet >= kQuiet && w.fell > kSlow * w.most;
    if (struck && !first_ && is_uneven(w, h)) first_ = sample.t;
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

/// Of e between two instants, by the velocities of the last sample.
formula::Range Strikes::bound(const Watched& w, double from, double to, double h) {
  const auto between = [&](double value, double rate) {
    const double one = value + from * rate, other = value + to * rate;
    return formula::Range{std::min(one, other), std::max(one, other)};
  };
  ranges_[0] = between(t_, 1.0);
  const std::size_t n = q_.size();
  for (std::size_t i = 0; i < n; ++i) {
    ranges_[1 + i] = between(q_[i], u_[i]);
    ranges_[1 + n + i] = {u_[i], u_[i]};
  }
  const double approach = w.fell / h, off = std::abs(w.bend) / h;
  ranges_[1 + 2 * n] = {approach - off, approach + off};
  const formula::Tape& tape = model_->law_tape();
  tape.bound(0, ranges_.data());
  if (w.contact > 0) tape.bound(2 * w.contact, ranges_.data());
  return ranges_[tape.outputs(2 * w.contact)[0]];
}

/// Whether e differs by much over the way of two steps before and after, or that cannot be
/// excluded; bounds that are not narrow are cut.
bool Strikes::is_uneven(const Watched& w, double h) {
  constexpr double kMuch = 0.1;
  constexpr int kMost = 400;
  struct Part {
    double from, to;
    int depth;
  };
  std::vector<Part> parts = {{-2.0 * h, 2.0 * h, 0}};
  const formula::Range here = bound(w, 0.0, 0.0, h);
  double low = here.low, high = here.high;
  for (int left = kMost; !parts.empty(); --left) {
    if (left == 0) return true;
    const Part part = parts.back();
    parts.pop_back();
    const formula::Range all = bound(w, part.from, part.to, h);
    if (all.high - low <= kMuch && high - all.low <= kMuch) continue;
    const double middle = 0.5 * (part.from + part.to);
    const formula::Range one = bound(w, middle, middle, h);
    low = std::min(low, one.low);
    high = std::max(high, one.high);
    if (high - low > kMuch) return true;
    if (part.depth >= 24) continue;
    parts.push_back({part.from, middle, part.depth + 1});
    parts.push_back({middle, part.to, part.depth + 1});
  }
  return high - low > kMuch;
}

}  // namespace ricochet::study
