#include "ricochet/study/row_thinner.h"

#include <algorithm>
#include <limits>

#include "ricochet/certify/certificate.h"

namespace ricochet::study {
namespace {

constexpr long long kNever = std::numeric_limits<long long>::max();

}  // namespace

void RowThinner::take(const step::Sample& sample) {
  if (every_ == 1) return observe_(sample);
  if (sample.step == 0) return open(sample);
  sum(sample);
  if (sample.step >= next_row_) show(sample);
}

void RowThinner::open(const step::Sample& sample) {
  impulses_.assign(sample.impulses.size(), 0.0);
  pushed_ = impulses_;
  tangential_.assign(sample.tangential.size(), 0.0);
  slips_.assign(sample.slips.size(), 0.0);
  states_.assign(sample.states.size(), 0.0);
  is_simple_ = impulses_.size() == 1 && states_.empty();
  next_row_ = row_after(0);
  observe_(sample);
}

/// The next step that has a row.
long long RowThinner::row_after(long long step) const {
  const long long next = every_ > 0 ? step - step % every_ + every_ : kNever;
  return last_ > step ? std::min(next, last_) : next;
}

void RowThinner::sum(const step::Sample& sample) {
  for (std::size_t a = 0; a < impulses_.size(); ++a) {
    if (sample.impulses[a] != 0.0) add_impulse(a, sample.impulses[a]);
  }
  if (states_.empty()) return;
  constexpr auto kShock = static_cast<double>(certify::ContactState::Shock);
  const bool is_first = sample.step == shown_ + 1;
  for (std::size_t i = 0; i < tangential_.size(); ++i) tangential_[i] += sample.tangential[i];
  std::copy(sample.slips.begin(), sample.slips.end(), slips_.begin());
  for (std::size_t a = 0; a < states_.size(); ++a) {
    if (is_first || states_[a] != kShock) states_[a] = sample.states[a];
  }
}

void RowThinner::show(step::Sample sample) {
  sample.impulses = impulses_;
  sample.tangential = tangential_;
  sample.slips = slips_;
  sample.states = states_;
  const long long steps = sample.step - shown_;
  for (double& part : pushed_) part /= static_cast<double>(steps);
  if (steps > 1) sample.pushed = pushed_;
  observe_(sample);
  shown_ = sample.step;
  next_row_ = row_after(shown_);
  std::fill(pushed_.begin(), pushed_.end(), 0.0);
  std::fill(impulses_.begin(), impulses_.end(), 0.0);
  std::fill(tangential_.begin(), tangential_.end(), 0.0);
}

void RowThinner::finish(const Motion& motion) {
  if (every_ == 1 || motion.outcome.steps == shown_) return;
  const auto view = [](const auto& v) {
    return std::span<const double>(v.data(), static_cast<std::size_t>(v.size()));
  };
  const certify::Ledger& ledger = motion.outcome.certificate.ledger;
  step::Sample last;
  last.step = motion.outcome.steps;
  last.t = motion.final_state.t;
  last.q = view(motion.final_state.q);
  last.u = view(motion.final_state.u);
  last.gaps = view(motion.outcome.gaps);
  last.kinetic = ledger.kinetic_end;
  last.potential = ledger.potential_end;
  show(last);
}

}  // namespace ricochet::study
