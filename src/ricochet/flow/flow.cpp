#include "ricochet/flow/flow.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ricochet/formula/roots.h"

namespace ricochet::flow {
namespace {

constexpr double kClosed = 1e-12;     // of what a gap is computed from
constexpr double kAtRest = 1e-12;     // of what a contact velocity is computed from
constexpr double kDependent = 1e-11;  // what is left of a column: it depends on those before it
constexpr int kOrder = formula::Jet::kOrder;

}  // namespace

Flow::Flow(Equations& equations, FlowSettings settings)
    : equations_(equations), settings_(std::move(settings)), n_(equations.dofs()) {
  settings_.watched.resize(equations.watched(), Direction::Both);
  const auto rows = static_cast<std::size_t>(equations.rows());
  lift_.assign(rows, 0);
  peak_.assign(rows, 0.0);
  last_.assign(rows, 0.0);
  grips_.assign(equations.grips().size(), kLoose);
  grip_lift_.assign(grips_.size(), 0);
  contacts_.resize(rows + grips_.size());
  for (Contact& contact : contacts_) contact.J = contact.dU = contact.response = q_.setZero(n_);
}

bool Flow::is_held(int row) const { return std::binary_search(held_.begin(), held_.end(), row); }

const Rows& Flow::key() {
  key_ = held_;
  for (std::size_t g = 0; g < grips_.size(); ++g) {
    if (grips_[g] != kLoose) key_.push_back(equations_.code(static_cast<int>(g), grips_[g]));
  }
  return key_;
}

void Flow::start(double t, const Eigen::VectorXd& q, const Eigen::VectorXd& u) {
  t_ = t;
  elapsed_ = trace_ = log_determinants_ = largest_factor_ = 0.0;
  q_ = q;
  u_ = u_before_ = u;
  failure_.clear();
  broken_.clear();
  lost_rank_ = is_open_ = false;
  turned_ = watch_met_ = resting_ = -1;
  held_.clear();
  for (std::size_t a = 0; a < lift_.size(); ++a) lift_[a] = 0, peak_[a] = last_[a] = 0.0;
  look_at_contacts();
  Rows still;
  for (int a = 0; a < equations_.rows(); ++a) {
    const Contact& contact = contacts_[static_cast<std::size_t>(a)];
    const double size = contact.J.cwiseAbs().dot(q_.cwiseAbs()) + std::abs(contact.speed);
    const double speed = contact.J.cwiseAbs().dot(u_.cwiseAbs());
    if (equations_.is_load(a)) continue;
    if (is_joint(a)) {
      still.push_back(a);
    } else if (contact.gap <= kClosed * size) {
      if (contact.speed > kAtRest * speed) lift_[static_cast<std::size_t>(a)] = 1;
      if (std::abs(contact.speed) <= kAtRest * speed) still.push_back(a);
    }
  }
  if (!still.empty()) choose_held(still);
  std::fill(grips_.begin(), grips_.end(), kLoose);
  settle_grips(-1);
  const int columns = equations_.has_variations() ? 2 * n_ : 0;
  columns_ = Eigen::MatrixXd::Identity(2 * n_, columns);
  growth_.assign(static_cast<std::size_t>(columns), 0.0);
  if (columns > 0 && !held_.empty()) {
    project_columns_on_held();
    orthonormalise();
    lost_rank_ = static_cast<int>(held_.size()) > equations_.joints();
  }
  growth_.assign(static_cast<std::size_t>(columns_.cols()), 0.0);
}

void Flow::set_columns(const Eigen::MatrixXd& columns) {
  if (is_open_) (void)finish({offset_, EventKind::End, -1});
  columns_ = columns;
  growth_.assign(static_cast<std::size_t>(columns.cols()), 0.0);
}

void Flow::put(double t, const Eigen::VectorXd& q, const Eigen::VectorXd& u) {
  orthonormalise();
  resting_ = -1;
  t_ = t;
  q_ = q;
  u_ = u;
}

/// The series of the arc that begins here, how far it holds, and what happens first in it.
bool Flow::open() {
  if (settings_.period > 0.0) t_ -= settings_.period * std::floor(t_ / settings_.period);
  mode_ = &equations_.mode(grips_.empty() ? held_ : key());
  const auto [found, is_new] = works_.try_emplace(mode_);
  work_ = &found->second;
  if (is_new) {
    work_->series = mode_->jet.coefficients();
    work_->sides.assign(mode_->jet.switches().size(), 1);
  }
  load();
  const int rounds = static_cast<int>(work_->sides.size()) + 2;
  for (int round = 0;; ++round) {
    mode_->jet.expand(work_->series.data(), work_->sides.data());
    if (take_sides()) break;
    if (round == rounds || !failure_.empty()) {
      if (failure_.empty()) failure_ = "the motion stays on a surface where its formulas change";
      return false;
    }
  }
  length_ = arc_length();
  offset_ = 0.0;
  is_open_ = true;
  if (!(length_ > 1e-14 * std::abs(t_)) || !(length_ > 0.0)) {
    failure_ = q_.allFinite() && u_.allFinite() ? "the motion is not smooth here" : "escapes";
    return false;
  }
  find_next();
  return true;
}

void Flow::load() {
  *row(0) = t_;
  for (int i = 0; i < n_; ++i) {
    *row(static_cast<std::size_t>(1 + i)) = q_[i];
    *row(static_cast<std::size_t>(1 + n_ + i)) = u_[i];
  }
  if (!equations_.has_variations()) return;
  for (int column = 0; column < 2 * n_; ++column) {
    for (int i = 0; i < 2 * n_; ++i) {
      const bool is_there = column < columns_.cols();
      *row(static_cast<std::size_t>(equations_.variation_slot(column) + i)) =
          is_there ? columns_(i, column) : 0.0;
    }
  }
  *row(static_cast<std::size_t>(equations_.trace_slot())) = 0.0;
}

/// Whether the sides on which the series was taken are those of its switches.
bool Flow::take_sides() {
  bool fits = true;
  for (std::size_t s = 0; s < work_->sides.size(); ++s) {
    double* const values = row(mode_->jet.switches()[s]);
    if (static_cast<int>(s) == turned_) {
      values[0] = 0.0;
      if (values[1] * work_->sides[s] < 0.0) failure_ = "the motion slides where formulas change";
    }
    const double way = values[0] != 0.0 ? values[0] : values[1];
    if (way * work_->sides[s] >= 0.0) continue;
    work_->sides[s] = static_cast<signed char>(-work_->sides[s]);
    fits = false;
  }
  return fits;
}

double Flow::group_length(std::size_t first, int count) const {
  return formula::Jet::reach(work_->series.data() + first * formula::Jet::kStride, count,
                             settings_.accuracy);
}

double Flow::arc_length() {
  double length = std::min(group_length(1, n_), group_length(static_cast<std::size_t>(1 + n_), n_));
  const auto take = [&](std::size_t first, int count) {
    length = std::min(length, group_length(first, count));
  };
  if (equations_.has_variations()) {
    take(static_cast<std::size_t>(equations_.variation_slot(0)), 4 * n_ * n_);
  }
  const std::size_t seen =
      static_cast<std::size_t>(equations_.rows()) + held_.size() + equations_.watched();
  for (std::size_t k = 0; k < seen; ++k) {
    if (!is_held(static_cast<int>(k))) take(mode_->jet.row(k), 1);  // else it is 0 to rounding
  }
  for (std::size_t g = 0; g < grips_.size(); ++g) {
    const auto functions = static_cast<std::size_t>(grips_[g] == kLoose ? 0
                                                    : grips_[g] == 0    ? 2
                                                                        : 1);
    for (std::size_t k = 0; k < functions; ++k) {
      take(mode_->jet.row(function_of(static_cast<int>(g)) + k), 1);
    }
  }
  for (const std::size_t index : mode_->jet.switches()) take(index, 1);
  return std::exp2(length);
}

void Flow::look_for(const double* polynomial, int lift, EventKind kind, int index) {
  if (const auto time = formula::first_fall(polynomial, kOrder, lift, next_.time)) {
    next_ = {*time, kind, index};
  }
}

void Flow::find_next() {
  constexpr double kLongest = 1e6;  // a free flight has no end of its own
  next_ = {std::min(length_, kLongest), EventKind::End, -1};
  watch_beside_ = -1;
  if (!settings_.is_free) find_impacts();
  find_releases();
  find_grips();
  find_switches();
  find_watched();
  const double left = std::max(0.0, rest_time_ - elapsed_);
  if (resting_ >= 0 && left < next_.time) next_ = {left, EventKind::Rest, resting_};
}

void Flow::find_impacts() {
  for (int a = 0; a < equations_.rows() - equations_.joints(); ++a) {
    if (is_held(a)) continue;
    const double* const gap = watched(static_cast<std::size_t>(a));
    const int lift = lift_[static_cast<std::size_t>(a)];
    if (lift == 0 && gap[0] <= 0.0 && gap[1] < 0.0) {
      next_ = {0.0, EventKind::Impact, a};
    } else {
      look_for(gap, lift, EventKind::Impact, a);
    }
  }
}

void Flow::find_releases() {
  for (std::size_t k = 0; k < held_.size(); ++k) {
    if (is_joint(held_[k])) continue;
    const double* const reaction = watched(static_cast<std::size_t>(equations_.rows()) + k);
    if (reaction[0] <= 0.0 && reaction[1] <= 0.0) {
      next_ = {0.0, EventKind::Release, held_[k]};
    } else {
      look_for(reaction, reaction[0] <= 0.0 ? 1 : 0, EventKind::Release, held_[k]);
    }
  }
}

/// The place among what is watched of the functions of a grip.
std::size_t Flow::function_of(int grip) const {
  std::size_t place =
      static_cast<std::size_t>(equations_.rows()) + held_.size() + equations_.watched();
  for (int g = 0; g < grip; ++g) {
    const int state = grips_[static_cast<std::size_t>(g)];
    place += state == kLoose ? 0 : state == 0 ? 2 : 1;
  }
  return place;
}

void Flow::find_grips() {
  for (std::size_t g = 0; g < grips_.size(); ++g) {
    if (grips_[g] == kLoose) continue;
    const std::size_t place = function_of(static_cast<int>(g));
    if (grips_[g] != 0) {
      look_for(watched(place), grip_lift_[g], EventKind::Stick, static_cast<int>(g));
      continue;
    }
    for (std::size_t k = 0; k < 2; ++k) {
      const double* const margin = watched(place + k);
      const auto index = static_cast<int>(2 * g + k);
      if (margin[0] <= 0.0 && margin[1] <= 0.0) {
        next_ = {0.0, EventKind::Slip, index};
      } else {
        look_for(margin, margin[0] <= 0.0 ? 1 : 0, EventKind::Slip, index);
      }
    }
  }
}

void Flow::find_switches() {
  double turned[formula::Jet::kStride];
  for (std::size_t s = 0; s < work_->sides.size(); ++s) {
    const double* const values = row(mode_->jet.switches()[s]);
    for (int k = 0; k <= kOrder; ++k) turned[k] = values[k] * work_->sides[s];
    look_for(turned, turned[0] == 0.0 ? 1 : 0, EventKind::Switch, static_cast<int>(s));
  }
  for (const std::size_t index : mode_->jet.kinks()) look_for(row(index), 0, EventKind::End, -1);
}

void Flow::find_watched() {
  double turned[formula::Jet::kStride];
  for (std::size_t w = 0; w < equations_.watched(); ++w) {
    const double* const values =
        watched(static_cast<std::size_t>(equations_.rows()) + held_.size() + w);
    const int index = static_cast<int>(w);
    const Direction direction = settings_.watched[w];
    for (int k = 0; k <= kOrder; ++k) turned[k] = -values[k];
    if (direction != Direction::Up) watch_for(values, index);
    if (direction != Direction::Down) watch_for(turned, index);
  }
}

/// A formula that vanishes where a side changes, as x' does with sign(x'), is met with the switch.
void Flow::watch_for(const double* polynomial, int index) {
  const Pending before = next_;
  look_for(polynomial, index == watch_met_ ? 1 : 0, EventKind::Watch, index);
  if (before.kind != EventKind::Switch) return;
  const double time = before.time;
  const bool is_found = next_.time < time || next_.kind == EventKind::Watch;
  if (is_found && next_.time < time * (1.0 - 1e-12)) {
    watch_beside_ = -1;
    return;
  }
  const double value = formula::Jet::value(polynomial, time);
  const double way = std::max(std::abs(polynomial[0]), std::abs(polynomial[1]) * time);
  const double ahead = formula::Jet::value(polynomial, 0.999 * time);
  if (!is_found && !(std::abs(value) <= 1e-13 * way && ahead > 0.0)) return;
  next_ = before;
  watch_beside_ = index;
}

/// The state at a time of the arc.
void Flow::move(double time) {
  using formula::Jet;
  for (int i = 0; i < n_; ++i) {
    q_[i] = Jet::value(row(static_cast<std::size_t>(1 + i)), time);
    u_[i] = Jet::value(row(static_cast<std::size_t>(1 + n_ + i)), time);
  }
  t_ += time - offset_;
  elapsed_ += time - offset_;
  offset_ = time;
}

Event Flow::fail(const std::string& why) {
  failure_ = why;
  is_open_ = false;
  return {EventKind::Failure, -1, 0.0};
}

Event Flow::advance(double longest) {
  const double target = elapsed_ + longest;
  constexpr int kMostArcs = 1000000;
  for (int arc = 0; arc < kMostArcs; ++arc) {
    if (!failure_.empty()) return fail(failure_);
    if (!is_open_) {
      if (!open()) return fail(failure_);
      if (end_chatter()) continue;
    }
    const double rest = target - elapsed_;
    if (rest < next_.time - offset_) {
      move(offset_ + rest);
      elapsed_ = target;
      return {};
    }
    const Event event = finish(next_);
    if (event.kind != EventKind::End) return event;
    if (elapsed_ >= target) return {};
  }
  return fail("too many arcs");
}

/// Goes to the end of the arc, and does what happens there.
Event Flow::finish(const Pending& pending) {
  move(pending.time);
  is_open_ = false;
  if (equations_.has_variations()) {
    for (int column = 0; column < columns_.cols(); ++column) {
      for (int i = 0; i < 2 * n_; ++i) {
        const auto slot = static_cast<std::size_t>(equations_.variation_slot(column) + i);
        columns_(i, column) = formula::Jet::value(row(slot), pending.time);
      }
    }
    trace_ +=
        formula::Jet::value(row(static_cast<std::size_t>(equations_.trace_slot())), pending.time);
  }
  if (pending.time > 0.0) {
    turned_ = watch_met_ = -1;
    std::fill(lift_.begin(), lift_.end(), 0);
    std::fill(grip_lift_.begin(), grip_lift_.end(), 0);
  }
  if (!held_.empty() || !grips_.empty()) project_on_held();
  Event event{pending.kind, pending.index, 0.0};
  if (pending.kind == EventKind::Impact) event = strike(pending.index);
  if (pending.kind == EventKind::Rest) resting_ = -1;
  if (pending.kind == EventKind::Release) {
    held_.erase(std::find(held_.begin(), held_.end(), pending.index));
    lift_[static_cast<std::size_t>(pending.index)] = 3;
    if (resting_ == pending.index) resting_ = -1;
    settle_grips(-1);
  }
  if (pending.kind == EventKind::Stick || pending.kind == EventKind::Slip) {
    change_grip(pending);
    const int grip = pending.kind == EventKind::Slip ? pending.index / 2 : pending.index;
    event.row = equations_.grips()[static_cast<std::size_t>(grip)].row;
  }
  if (pending.kind == EventKind::Switch) {
    change_side(pending.index);
    if (watch_beside_ >= 0) event = {EventKind::Watch, watch_met_ = watch_beside_, 0.0};
  }
  if (pending.kind == EventKind::Watch) watch_met_ = pending.index;
  if (equations_.has_variations()) orthonormalise();
  return event;
}

void Flow::orthonormalise() {
  if (is_open_) (void)finish({offset_, EventKind::End, -1});
  if (columns_.cols() == 0 || keeps_columns_) return;
  int kept = 0;
  for (int k = 0; k < columns_.cols(); ++k) {
    column_ = columns_.col(k);
    const double whole = column_.norm();
    for (int round = 0; round < 2; ++round) {
      for (int j = 0; j < kept; ++j) column_ -= columns_.col(j).dot(column_) * columns_.col(j);
    }
    const double left = column_.norm();
    if (!(left > kDependent * whole)) {
      lost_rank_ = true;
      continue;
    }
    growth_[static_cast<std::size_t>(kept)] = growth_[static_cast<std::size_t>(k)] + std::log(left);
    columns_.col(kept++) = column_ / left;
  }
  if (kept < columns_.cols()) columns_.conservativeResize(Eigen::NoChange, kept);
  growth_.resize(static_cast<std::size_t>(kept));
}

}  // namespace ricochet::flow
