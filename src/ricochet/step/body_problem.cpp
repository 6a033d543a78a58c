#include "ricochet/step/body_problem.h"

#include <algorithm>
#include <limits>

namespace ricochet::step {

using base::index;
using body::Kind;
using body::Vec;

namespace {

constexpr double kNoise = 16.0 * std::numeric_limits<double>::epsilon();
constexpr double kSure = 0.9;  // of what counts as touching: the judge's groups are no smaller

/// Where the impulse of a row is in those of the step before, or would be.
template <class Pushes>
auto push_of(const Pushes& pushes, const body::RowKey& key) {
  return std::lower_bound(
      pushes.begin(), pushes.end(), key,
      [](const auto& push, const body::RowKey& wanted) { return push.key < wanted; });
}

}  // namespace

template <int D>
BodyProblem<D>::BodyProblem(BodyStep<D>& step, BodyNeighbours<D>& neighbours,
                            BodyContacts<D>& contacts, BodyJoints<D>& joints, BodyTurns<D>& turns,
                            const SleepingBodies<D>& sleeping)
    : step_(step),
      neighbours_(neighbours),
      contacts_(contacts),
      joints_(joints),
      turns_(turns),
      sleeping_(sleeping),
      open_(step, joints),
      bounds_(step.world.bodies.size(), 0.0),
      pace_(step.world.bodies.size(), 0) {}

template <int D>
void BodyProblem<D>::pose(const State& s, bool is_first) {
  open_.drop(step_.rows);
  const bool goes_on = !is_first && (step_.level != certify::Level::Exact || turns_.is_stubborn());
  kept_moments_.clear();
  if (goes_on && !is_wider_) kept_ = contacts_.impulses();
  if (goes_on && !is_wider_ && contacts_.has_turns()) kept_moments_ = contacts_.moments();
  is_wider_ = false;
  contacts_.take(step_.rows, true);
  joints_.set_before(step_.h, step_.middle, step_.unshifted, step_.gains());
  joints_.factor(contacts_.eases());
  joints_.hold(contacts_.eases(), step_.after);
  contacts_.pose_joints(step_.after);
  const auto size = static_cast<Eigen::Index>(D * step_.rows.size());
  if (goes_on) contacts_.impulses().head(size) = kept_.head(size);
  if (!kept_moments_.empty()) contacts_.moments() = kept_moments_;
  find_bounds(s);
  step_.in_pieces(step_.rows.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) pose_row(i);
    if (goes_on || begin == end) return;
    auto last = push_of(s.pushes, step_.rows[begin].key);
    for (std::size_t i = begin; i < end; ++i) {
      const body::RowKey& key = step_.rows[i].key;
      while (last != s.pushes.end() && last->key < key) ++last;
      if (last == s.pushes.end() || !(last->key == key)) continue;
      contacts_.impulses().template segment<D>(static_cast<Eigen::Index>(D * i)) = last->impulse;
      if (contacts_.has_turns()) contacts_.moments()[i] = last->moment;
    }
  });
  if (contacts_.has_turns()) contacts_.pose_turns(step_.after);
}

/// How fast bodies that take part are, without impulses, and which of them hardly move.
template <int D>
void BodyProblem<D>::find_bounds(const State& s) {
  step_.in_pieces(step_.who.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      const std::size_t i = index(step_.who[k]);
      bounds_[i] = body::speed_bound(step_.world.bodies[i], step_.after[i]);
      pace_[i] = static_cast<char>(pace_of(step_.who[k], s));
    }
  });
}

/// What the law of a row has beside U+: max(0, g)/h where it looks ahead or lands, else e times the
/// speed at which it met, which is towards each other.
template <int D>
double BodyProblem<D>::shift_of(const body::Row<D>& row, const body::PairLaw& law,
                                double comes) const {
  const double e = law.looks_ahead() ? 0.0 : step_.gains().returned(law, row, comes);
  const bool is_apart = row.gap > row.slack;
  if (law.looks_ahead() || (is_apart && (body::Gains<D>::lands(e) || !step_.is_put(row.key)))) {
    return certify::way_of(row.gap, row.slack, step_.level, step_.h, step_.creep_limit) / step_.h;
  }
  return e > 0.0 ? -e * step_.gains().met(row, comes, step_.lift_of(row)) : 0.0;
}

/// What is asked of a row, but for the impulse that it begins with.
template <int D>
void BodyProblem<D>::pose_row(std::size_t i) {
  const body::Row<D>& row = step_.rows[i];
  const body::PairLaw& law = step_.world.law_between(row.body_a, row.body_b);
  const std::size_t a = index(row.body_a);
  const std::size_t b = index(row.body_b);
  const body::Frame<D> frame(row);
  const auto relative = [&](const std::vector<body::Motion<D>>& at) {
    return frame.in_frame(body::velocity_at(at[a], row.arm_a) -
                          body::velocity_at(at[b], row.arm_b));
  };
  const double comes = -relative(step_.middle)[0];
  Vec<D> q = relative(step_.after);
  q[0] += shift_of(row, law, comes);
  if (i < turns_.bends().size()) q += turns_.bends()[i];
  const auto at = static_cast<Eigen::Index>(D * i);
  contacts_.free().template segment<D>(at) = q;
  contacts_.friction()[i] = law.friction;
  contacts_.noise()[i] = kNoise * (bounds_[a] + bounds_[b]);
  const double open = std::max(step_.creep_limit, step_.limits.creep_part() * comes);
  contacts_.approach()[i] = comes;
  contacts_.closes()[i] = row.gap <= kSure * step_.depth_of(row.slack)
                              ? std::numeric_limits<double>::infinity()
                              : kSure * (row.slack / step_.h + open);
  contacts_.rests()[i] = static_cast<char>(pace_[a] | (pace_[b] << 1));
}

/// 1: a body moves no faster than gravity makes it in one step; 4: it is at rest beside that.
template <int D>
int BodyProblem<D>::pace_of(int b, const State& s) const {
  constexpr int kSlow = BodyContacts<D>::kSlow;
  constexpr int kRests = BodyContacts<D>::kRests;
  constexpr double kRest = 1e-9;
  const body::Body<D>& body = step_.world.body(b);
  if (body.kind == Kind::Fixed) return kSlow | kRests;
  const double speed =
      body::speed_bound(body, body.is_free() ? s.bodies[index(b)] : step_.after[index(b)]);
  return (speed <= step_.gravity_step ? kSlow : 0) |
         (speed <= kRest * step_.gravity_step ? kRests : 0);
}

/// Whether a body goes farther than was looked for it.
template <int D>
bool BodyProblem<D>::outruns() {
  return !step_.all_pieces(step_.who.size(), [&](std::size_t begin, std::size_t end) {
    bool any = false;
    for (std::size_t k = begin; k < end; ++k) {
      const std::size_t i = index(step_.who[k]);
      const double way = step_.h * body::speed_bound(step_.world.bodies[i], step_.after[i]);
      if (!(way > step_.reach[i] * (1.0 + 1e-9))) continue;
      step_.reach[i] = 1.5 * way;
      any = true;
    }
    return !any;
  });
}

/// The rows of a larger reach, if there are others, with the impulses found so far.
template <int D>
bool BodyProblem<D>::widen(const State& s) {
  const bool wakes = neighbours_.find_farther(wider_) && sleeping_.may();
  open_.drop(wider_);
  if (wider_.size() == step_.rows.size()) return false;
  kept_.setZero(static_cast<Eigen::Index>(D * wider_.size()));
  std::size_t k = 0;
  for (std::size_t i = 0; i < wider_.size(); ++i) {
    while (k < step_.rows.size() && step_.rows[k].key < wider_[i].key) ++k;
    auto kept = kept_.template segment<D>(static_cast<Eigen::Index>(D * i));
    if (k < step_.rows.size() && step_.rows[k].key == wider_[i].key) {
      kept = contacts_.impulses().template segment<D>(static_cast<Eigen::Index>(D * k));
    } else if (wakes) {  // the impulses that it slept with
      const auto last = push_of(s.pushes, wider_[i].key);
      if (last != s.pushes.end() && last->key == wider_[i].key) kept = last->impulse;
    }
  }
  std::swap(step_.rows, wider_);
  turns_.forget_bends();
  is_wider_ = true;
  return true;
}

template class BodyProblem<2>;
template class BodyProblem<3>;

}  // namespace ricochet::step
