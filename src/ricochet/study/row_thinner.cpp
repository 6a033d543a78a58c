#include "ricochet/study/row_thinner.h"

#include <algorithm>

#include "ricochet/certify/certificate.h"

namespace ricochet::study {

void RowThinner::take(const step::Sample& sample) {
  if (sample.step == 0) {
    impulses_.assign(sample.impulses.size(), 0.0);
    pushed_ = impulses_;
    tangential_.assign(sample.tangential.size(), 0.0);
    slips_.assign(sample.slips.size(), 0.0);
    states_.assign(sample.states.size(), 0.0);
    return observe_(sample);
  }
  sum(sample);
  if (--until_row_ == 0) {
    until_row_ = every_;
    show(sample);
  } else if (sample.step == last_) {
    show(sample);
  }
}

void RowThinner::sum(const step::Sample& sample) {
  ++steps_;
  for (std::size_t a = 0; a < impulses_.size(); ++a) {
    if (sample.impulses[a] == 0.0) continue;
    impulses_[a] += sample.impulses[a];
    pushed_[a] += sample.impulses[a] > 0.0 ? 1.0 : 0.0;
  }
  if (!states_.empty()) {
    constexpr auto kShock = static_cast<double>(certify::ContactState::Shock);
    for (std::size_t i = 0; i < tangential_.size(); ++i) tangential_[i] += sample.tangential[i];
    std::copy(sample.slips.begin(), sample.slips.end(), slips_.begin());
    for (std::size_t a = 0; a < states_.size(); ++a) {
      if (!pending_ || states_[a] != kShock) states_[a] = sample.states[a];
    }
  }
  pending_ = true;
}

void RowThinner::show(step::Sample sample) {
  sample.impulses = impulses_;
  sample.tangential = tangential_;
  sample.slips = slips_;
  sample.states = states_;
  for (double& part : pushed_) part /= static_cast<double>(steps_);
  if (steps_ > 1) sample.pushed = pushed_;
  observe_(sample);
  steps_ = 0;
  std::fill(pushed_.begin(), pushed_.end(), 0.0);
  std::fill(impulses_.begin(), impulses_.end(), 0.0);
  std::fill(tangential_.begin(), tangential_.end(), 0.0);
  pending_ = false;
}

void RowThinner::finish(const Motion& motion) {
  if (!pending_) return;
  const auto view = [](const auto& v) {
    return std::span<const double>(v.data(), static_cast<std::size_t>(v.size()));
  };
  const certify::Ledger& ledger = motion.outcome.certificate.ledger;
  step::Sample last;
  last.step = step_;
  last.t = motion.final_state.t;
  last.q = view(motion.final_state.q);
  last.u = view(motion.final_state.u);
  last.gaps = view(motion.outcome.gaps);
  last.kinetic = ledger.kinetic_end;
  last.potential = ledger.potential_end;
  show(last);
}

}  // namespace ricochet::study
