// What happens to a motion and its variations in an instant.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ricochet/convex/pivoted.h"
#include "ricochet/flow/flow.h"

namespace ricochet::flow {
namespace {

constexpr double kTouching = 1e-11;  // of the way of a gap in the arc: struck at the same time
constexpr double kStill = 1e-12;     // of what a contact velocity is computed from
constexpr double kSlow = 1e-6;       // of the first speed of a series of impacts: they accumulate
constexpr double kOrthogonal =
    1e-9;  // of two gradients, in the metric of M^-1: none feels the other

void add_row(Rows& rows, int row) {
  const auto place = std::lower_bound(rows.begin(), rows.end(), row);
  if (place == rows.end() || *place != row) rows.insert(place, row);
}

}  // namespace

/// The registers of a tape, run at the place with the velocity u.
const double* Flow::load_tape(const formula::Tape& tape, const Eigen::VectorXd& u) {
  std::vector<double>& registers = registers_[&tape];
  if (registers.empty()) registers = tape.registers();
  registers[0] = t_;
  for (int i = 0; i < n_; ++i) {
    registers[static_cast<std::size_t>(1 + i)] = q_[i];
    registers[static_cast<std::size_t>(1 + n_ + i)] = u[i];
  }
  tape.run(0, registers.data());
  return registers.data();
}

/// Gaps, their velocities, gradients and responses at the state.
void Flow::look_at_contacts() {
  const formula::Tape& tape = equations_.contact_tape();
  const double* const registers = load_tape(tape, u_);
  std::size_t output = 0;
  const auto next = [&] { return registers[tape.outputs(0)[output++]]; };
  for (Contact& contact : contacts_) {
    contact.gap = next();
    contact.speed = next();
    contact.restitution = next();
    for (Eigen::VectorXd* part : {&contact.J, &contact.dU, &contact.response}) {
      for (int i = 0; i < n_; ++i) (*part)[i] = next();
    }
    contact.bend = next();
  }
}

void Flow::accelerate(const Eigen::VectorXd& u, Eigen::VectorXd& a) {
  const formula::Tape& tape = equations_.mode(grips_.empty() ? held_ : key()).acceleration;
  const double* const registers = load_tape(tape, u);
  a.resize(n_);
  for (int i = 0; i < n_; ++i) a[i] = registers[tape.outputs(0)[static_cast<std::size_t>(i)]];
}

/// The rows that push: p >= 0 perpendicular to W p + rest >= 0, joints without a sign.
std::optional<Rows> Flow::complementary(const Rows& rows, const Eigen::VectorXd& rest) const {
  const auto size = static_cast<Eigen::Index>(rows.size());
  const auto contact = [&](Eigen::Index k) -> const Contact& {
    return contacts_[static_cast<std::size_t>(rows[static_cast<std::size_t>(k)])];
  };
  Eigen::MatrixXd W(size, size);
  for (Eigen::Index a = 0; a < size; ++a) {
    for (Eigen::Index b = 0; b < size; ++b) W(a, b) = contact(a).J.dot(contact(b).response);
  }
  constexpr Eigen::Index kMost = 12;
  if (size > kMost) return std::nullopt;
  const double noise = kStill * rest.cwiseAbs().maxCoeff();
  for (unsigned set = 0; set < (1U << static_cast<unsigned>(size)); ++set) {
    std::vector<Eigen::Index> in;
    bool has_joints = true;
    for (Eigen::Index k = 0; k < size; ++k) {
      const bool is_in = ((set >> static_cast<unsigned>(k)) & 1U) != 0;
      if (is_in) in.push_back(k);
      has_joints = has_joints && (is_in || !is_joint(rows[static_cast<std::size_t>(k)]));
    }
    if (!has_joints) continue;
    const auto count = static_cast<Eigen::Index>(in.size());
    Eigen::MatrixXd part(count, count);
    Eigen::VectorXd right(count);
    for (Eigen::Index a = 0; a < count; ++a) {
      for (Eigen::Index b = 0; b < count; ++b) {
        part(a, b) = W(in[static_cast<std::size_t>(a)], in[static_cast<std::size_t>(b)]);
      }
      right[a] = -rest[in[static_cast<std::size_t>(a)]];
    }
    Eigen::VectorXd push = Eigen::VectorXd::Zero(size);
    if (count > 0) {
      convex::PivotedQr factor;
      factor.compute(part, 1e-12);
      if (factor.rank() < count) continue;
      Eigen::VectorXd found(count);
      factor.solve(right, found);
      for (Eigen::Index a = 0; a < count; ++a) push[in[static_cast<std::size_t>(a)]] = found[a];
    }
    const Eigen::VectorXd left = W * push + rest;
    bool holds = true;
    for (Eigen::Index k = 0; k < size && holds; ++k) {
      const bool joint = is_joint(rows[static_cast<std::size_t>(k)]);
      holds = joint || (push[k] >= 0.0 && left[k] >= -noise);
    }
    if (!holds) continue;
    Rows pushing;
    for (const Eigen::Index k : in) pushing.push_back(rows[static_cast<std::size_t>(k)]);
    return pushing;
  }
  return std::nullopt;
}

/// Of contacts that touch without velocity those last that push: Gauss' principle.
void Flow::choose_held(Rows candidates) {
  std::sort(candidates.begin(), candidates.end());
  Eigen::VectorXd rest(static_cast<Eigen::Index>(candidates.size()));
  for (std::size_t k = 0; k < candidates.size(); ++k) {
    rest[static_cast<Eigen::Index>(k)] = contacts_[static_cast<std::size_t>(candidates[k])].bend;
  }
  const std::optional<Rows> held = complementary(candidates, rest);
  if (!held) {
    failure_ = "contacts that last together depend on each other";
    return;
  }
  held_ = *held;
  for (const int a : candidates) {
    if (!is_held(a)) lift_[static_cast<std::size_t>(a)] = 2;
  }
}

/// u+ and the variations after it: S = R_y + (f+ - R_y f- - R_t) h_y / U, h the gap of `struck`.
/// `stopping`: rows that touch without velocity afterwards.
void Flow::apply_reset(const Rows& rows, int struck, bool is_plastic, const Rows& stopping) {
  const Contact& contact = contacts_[static_cast<std::size_t>(struck)];
  const bool varies = columns_.cols() > 0;
  if (varies) accelerate(u_, before_acceleration_);
  const formula::Tape& tape = equations_.reset(rows, is_plastic).tape;
  const double* const registers = load_tape(tape, u_);
  const std::vector<std::size_t>& at = tape.outputs(0);
  const auto n = static_cast<std::size_t>(n_);
  const Eigen::VectorXd before = u_;
  for (std::size_t i = 0; i < n; ++i) u_[static_cast<Eigen::Index>(i)] = registers[at[i]];
  Rq_.resize(n_, n_), Ru_.resize(n_, n_), Rt_.resize(n_);
  for (std::size_t i = 0; varies && i < n; ++i) {
    const auto slope = [&](std::size_t k) { return registers[at[n + i * (1 + 2 * n) + k]]; };
    const auto line = static_cast<Eigen::Index>(i);
    Rt_[line] = slope(0);
    for (std::size_t j = 0; j < n; ++j) {
      Rq_(line, static_cast<Eigen::Index>(j)) = slope(1 + j);
      Ru_(line, static_cast<Eigen::Index>(j)) = slope(1 + n + j);
    }
  }
  const Eigen::VectorXd J = contact.J;
  const double U = contact.speed;
  if (varies && rows.size() == 1) {
    const double W = J.dot(contact.response);
    log_determinants_ +=
        std::log(contact.restitution) + std::log(std::abs(J.dot(Ru_ * contact.response) / W));
  }
  look_at_contacts();
  held_.clear();
  std::fill(grips_.begin(), grips_.end(), kLoose);
  if (!stopping.empty()) choose_held(stopping);
  settle_grips(-1);
  if (!varies || !failure_.empty()) return;
  accelerate(u_, after_acceleration_);
  saltation_.setZero(2 * n_, 2 * n_);
  turn_ = (after_acceleration_ - Rq_ * before - Ru_ * before_acceleration_ - Rt_) / U;
  saltation_.topLeftCorner(n_, n_).setIdentity();
  saltation_.topLeftCorner(n_, n_) += (u_ - before) / U * J.transpose();
  saltation_.bottomLeftCorner(n_, n_) = Rq_ + turn_ * J.transpose();
  saltation_.bottomRightCorner(n_, n_) = Ru_;
  if (rows.size() > 1 && rows.back() >= equations_.rows()) {
    convex::PivotedQr factor;
    factor.compute(saltation_);
    const double determinant = factor.volume();
    lost_rank_ = lost_rank_ || !(determinant > 1e-12);
    log_determinants_ += std::log(determinant);
  }
  turned_columns_.noalias() = saltation_ * columns_;
  columns_.swap(turned_columns_);
  if (!held_.empty()) project_columns_on_held();
}

/// An impact on contact `struck`, and on others that are struck in the same instant.
Event Flow::strike(int struck) {
  u_before_ = u_;
  look_at_contacts();
  Rows& together = together_;
  together.clear();
  for (int a = 0; a < equations_.rows() - equations_.joints(); ++a) {
    const Contact& contact = contacts_[static_cast<std::size_t>(a)];
    const double* const gap = watched(static_cast<std::size_t>(a));
    const double way = std::max(std::abs(gap[0]), std::abs(gap[1]) * next_.time);
    const bool is_near = contact.gap <= kTouching * way && !is_held(a);
    if (a == struck || (is_near && contact.speed < 0.0)) together.push_back(a);
  }
  const double approach = -contacts_[static_cast<std::size_t>(struck)].speed;
  if (!(approach > 0.0)) {  // it grazes: the gap touched zero and turned back
    lift_[static_cast<std::size_t>(struck)] = 2;
    return {EventKind::End, -1, 0.0};
  }
  for (const int a : together) {
    const auto k = static_cast<std::size_t>(a);
    const double speed = -contacts_[k].speed;
    largest_factor_ = std::max(largest_factor_, 1.0 / speed);
    if (!(speed < last_[k])) peak_[k] = speed;
    last_[k] = speed;
  }
  if (feels_others(together)) {
    if (!grips_.empty()) return fail("an impact on several contacts, some with friction");
    if (!strike_many(together)) return fail("an impact on dependent contacts has no solution");
  } else {
    for (const int a : together) strike_one(a);
  }
  if (!failure_.empty()) return fail(failure_);
  return {EventKind::Impact, struck, approach};
}

/// Whether contacts that are struck are not orthogonal to each other, or to those that last.
bool Flow::feels_others(const Rows& together) const {
  if (together.size() + held_.size() < 2) return false;
  Rows all = held_;
  for (const int a : together) add_row(all, a);
  for (const int a : together) {
    const Contact& one = contacts_[static_cast<std::size_t>(a)];
    for (const int b : all) {
      if (b == a) continue;
      const Contact& other = contacts_[static_cast<std::size_t>(b)];
      const double size = std::sqrt(one.J.dot(one.response) * other.J.dot(other.response));
      if (std::abs(one.J.dot(other.response)) > kOrthogonal * size) return true;
    }
  }
  return false;
}

void Flow::strike_one(int a) {
  Rows stopping = held_;
  const auto k = static_cast<std::size_t>(a);
  const bool stops = contacts_[k].restitution == 0.0;
  if (stops) {
    add_row(stopping, a);
  } else {
    lift_[k] = 1;
  }
  apply_reset(regime_of(a), a, false, stopping);
}

/// The contact, and with friction what it does in an impact: of sticking and slipping either way
/// the one that holds.
Rows Flow::regime_of(int a) {
  for (std::size_t g = 0; g < grips_.size(); ++g) {
    const Grip& grip = equations_.grips()[g];
    if (grip.row != a || grip.load >= 0) continue;
    for (const int state : {0, 1, -1}) {
      const Rows rows = {a, equations_.code(static_cast<int>(g), state)};
      const formula::Tape& tape = equations_.reset(rows, false).tape;
      const double* const registers = load_tape(tape, u_);
      const std::vector<std::size_t>& at = tape.outputs(0);
      bool holds = registers[at.back()] >= 0.0;
      if (state == 0) holds = holds && registers[at[at.size() - 2]] >= 0.0;
      if (holds) return rows;
    }
    failure_ = "an impact with friction has no solution";
  }
  return {a};
}

void Flow::pass(int contact) {
  look_at_contacts();
  if (!(contacts_[static_cast<std::size_t>(contact)].speed < 0.0)) return;
  apply_reset(regime_of(contact), contact, false, {});
  orthonormalise();
}

/// Contacts that feel each other, or contacts that last: 0 <= p perpendicular to U+ + e U- >= 0.
bool Flow::strike_many(const Rows& struck) {
  Rows touching = held_;
  for (const int a : struck) add_row(touching, a);
  Eigen::VectorXd rest(static_cast<Eigen::Index>(touching.size()));
  for (std::size_t k = 0; k < touching.size(); ++k) {
    const Contact& contact = contacts_[static_cast<std::size_t>(touching[k])];
    const bool held = is_held(touching[k]);
    rest[static_cast<Eigen::Index>(k)] = held ? 0.0 : (1.0 + contact.restitution) * contact.speed;
  }
  const std::optional<Rows> pushing = complementary(touching, rest);
  if (!pushing) return false;
  if (struck.size() > 1 && broken_.empty()) {
    broken_ = fmt::format("'{}' and '{}' strike together", equations_.name(struck[0]),
                          equations_.name(struck[1]));
  }
  // Which contacts touch without velocity afterwards is known from u+ alone.
  const Eigen::VectorXd before = u_;
  const Rows old = held_;
  const Eigen::MatrixXd columns = columns_;
  const double determinants = log_determinants_;
  columns_.resize(2 * n_, 0);
  apply_reset(*pushing, struck[0], false, {});
  Rows stopping;
  for (const int a : touching) {
    const Contact& contact = contacts_[static_cast<std::size_t>(a)];
    const double size = contact.J.cwiseAbs().dot(u_.cwiseAbs() + before.cwiseAbs());
    if (is_joint(a) || std::abs(contact.speed) <= 10.0 * kStill * size) {
      stopping.push_back(a);
    } else {
      lift_[static_cast<std::size_t>(a)] = 1;
    }
  }
  u_ = before;
  held_ = old;
  columns_ = columns;
  log_determinants_ = determinants;
  look_at_contacts();
  apply_reset(*pushing, struck[0], false, stopping);
  return true;
}

/// Impacts that accumulate end in a contact that lasts; true where they do. Of a hop of speed U
/// under the closing acceleration b the rest of the series takes 2 U/(b (1-e)); over that time the
/// contact, held from here, pushes as much as they do.
bool Flow::end_chatter() {
  for (int a = 0; a < equations_.rows() - equations_.joints(); ++a) {
    const auto k = static_cast<std::size_t>(a);
    if (lift_[k] != 1 || !(last_[k] < kSlow * peak_[k])) continue;
    const double* const gap = watched(k);
    const double e = gap[1] / last_[k];
    const double rest = -gap[1] / (gap[2] * (1.0 - e));
    if (!(gap[2] < 0.0 && e < 1.0 && std::abs(gap[3]) * rest < 1e-3 * -gap[2])) continue;
    is_open_ = false;
    look_at_contacts();
    const Contact& contact = contacts_[k];
    u_ -= contact.response * (contact.speed / contact.J.dot(contact.response));
    look_at_contacts();
    Rows candidates = held_;
    add_row(candidates, a);
    choose_held(candidates);
    settle_grips(-1);
    lift_[k] = is_held(a) ? 0 : lift_[k];
    peak_[k] = last_[k] = 0.0;
    resting_ = a;
    rest_time_ = elapsed_ + rest;
    if (columns_.cols() > 0 && !held_.empty()) {
      project_columns_on_held();
      orthonormalise();
      lost_rank_ = true;
    }
    return true;
  }
  return false;
}

/// Takes off what integration lost: g = 0 and U = 0 of the rows that are held.
void Flow::project_on_held() {
  const auto correct = [&](Eigen::VectorXd& part, bool of_speed) {
    look_at_contacts();
    for (int round = 0; round < 2; ++round) {  // one row after the other
      for (const int a : held_) {
        const Contact& contact = contacts_[static_cast<std::size_t>(a)];
        const double W = contact.J.dot(contact.response);
        part -= contact.response * ((of_speed ? contact.speed : contact.gap) / W);
        look_at_contacts();
      }
    }
  };
  if (!held_.empty()) {
    correct(q_, false);
    correct(u_, true);
  }
  for (std::size_t g = 0; g < grips_.size(); ++g) {
    if (grips_[g] != 0) continue;
    look_at_contacts();
    const Contact& grip = contacts_[static_cast<std::size_t>(equations_.rows()) + g];
    u_ -= grip.response * (grip.speed / grip.J.dot(grip.response));
  }
  if (columns_.cols() > 0) project_columns_on_held();
}

/// Variations keep to the rows that are held:  J dq = 0,  J du + (dU/dq) dq = 0; those of grips
/// that stick to the second.
void Flow::project_columns_on_held() {
  constexpr int kRounds =
      40;  // of one row after the other; one is enough where they are orthogonal
  for (int round = 0; round < kRounds; ++round) {
    double most = 0.0;
    for (const int a : held_) {
      const Contact& contact = contacts_[static_cast<std::size_t>(a)];
      const double W = contact.J.dot(contact.response);
      for (int k = 0; k < columns_.cols(); ++k) {
        auto dq = columns_.col(k).head(n_);
        auto du = columns_.col(k).tail(n_);
        const double off = contact.J.dot(dq);
        dq -= contact.response * (off / W);
        const double slip = contact.J.dot(du) + contact.dU.dot(dq);
        du -= contact.response * (slip / W);
        most = std::max(most, (std::abs(off) + std::abs(slip)) / std::sqrt(W));
      }
    }
    std::size_t sticking = 0;
    for (std::size_t g = 0; g < grips_.size(); ++g) {
      if (grips_[g] != 0) continue;
      ++sticking;
      const Contact& grip = contacts_[static_cast<std::size_t>(equations_.rows()) + g];
      for (int k = 0; k < columns_.cols(); ++k) {
        auto du = columns_.col(k).tail(n_);
        const double slip = grip.J.dot(du) + grip.dU.dot(columns_.col(k).head(n_));
        du -= grip.response * (slip / grip.J.dot(grip.response));
        most = std::max(most, std::abs(slip));
      }
    }
    if (held_.size() + sticking < 2 || !(most > 1e-15 * columns_.cwiseAbs().maxCoeff())) return;
  }
}

/// S = I + (f+ - f-) h_y / (dh/dt)-,  h the function of the switch.
void Flow::change_side(int index) {
  signed char& side = work_->sides[static_cast<std::size_t>(index)];
  if (columns_.cols() > 0) {
    const formula::Tape& tape = mode_->switching;
    const auto slots = static_cast<std::size_t>(1 + 2 * n_);
    const double* const registers = load_tape(tape, u_);
    Eigen::VectorXd slope(2 * n_);
    const auto at = [&](std::size_t k) {
      return registers[tape.outputs(0)[static_cast<std::size_t>(index) * slots + k]];
    };
    for (int i = 0; i < 2 * n_; ++i) slope[i] = at(1 + static_cast<std::size_t>(i));
    const double by_time = at(0);
    // f on both sides, from the series: the formulas themselves may be undecided here.
    Eigen::VectorXd before(2 * n_), after(2 * n_);
    const auto take = [&](Eigen::VectorXd& f) {
      load();
      mode_->jet.expand(work_->series.data(), work_->sides.data());
      for (int i = 0; i < 2 * n_; ++i) f[i] = row(static_cast<std::size_t>(1 + i))[1];
    };
    take(before);
    side = static_cast<signed char>(-side);
    take(after);
    const double rate = by_time + slope.dot(before);
    const Eigen::VectorXd jump = (after - before) / rate;
    const double factor = 1.0 + slope.dot(jump);
    log_determinants_ += std::log(std::abs(factor));
    for (int k = 0; k < columns_.cols(); ++k) columns_.col(k) += jump * slope.dot(columns_.col(k));
  } else {
    side = static_cast<signed char>(-side);
  }
  turned_ = index;
}

/// Whether grips that are `open` do what they are said to do.
bool Flow::holds(const Rows& open) {
  const formula::Tape& tape = equations_.mode(key()).holding;
  const double* const registers = load_tape(tape, u_);
  std::size_t output = 0;
  for (std::size_t g = 0; g < grips_.size(); ++g) {
    if (grips_[g] == kLoose) continue;
    const bool is_open = std::find(open.begin(), open.end(), static_cast<int>(g)) != open.end();
    const double first = registers[tape.outputs(0)[output++]];
    double second = first;
    if (grips_[g] == 0) second = registers[tape.outputs(0)[output++]];
    const double noise = grips_[g] == 0 ? kStill * (std::abs(first) + std::abs(second)) : 0.0;
    if (is_open && (first < -noise || second < -noise)) return false;
  }
  return true;
}

/// Grips of contacts that have begun to last, and the one whose slip ended: with a velocity they
/// slip; without they stick where they can, or else begin to slip.
void Flow::settle_grips(int stopped) {
  Rows open;
  for (std::size_t g = 0; g < grips_.size(); ++g) {
    const Grip& grip = equations_.grips()[g];
    const auto index = static_cast<int>(g);
    if (grip.load < 0 && !is_held(grip.row)) grips_[g] = kLoose;
    if ((grip.load < 0 && !is_held(grip.row)) || (grips_[g] != kLoose && index != stopped))
      continue;
    const Contact& contact = contacts_[static_cast<std::size_t>(equations_.rows()) + g];
    const double size = contact.J.cwiseAbs().dot(u_.cwiseAbs());
    const bool slips = index != stopped && std::abs(contact.speed) > kStill * size;
    grips_[g] = slips ? (contact.speed > 0.0 ? 1 : -1) : 0;
    grip_lift_[g] = 0;
    if (!slips) open.push_back(index);
  }
  if (open.empty()) return;
  int choices = 1;
  for (std::size_t k = 0; k < open.size(); ++k) choices *= 3;
  for (int choice = 0; choice < choices; ++choice) {
    int rest = choice;
    for (const int g : open) {  // stick, then slip either way
      const auto k = static_cast<std::size_t>(g);
      grips_[k] = rest % 3 == 2 ? -1 : rest % 3;
      grip_lift_[k] = grips_[k] == 0 ? 0 : 1;
      rest /= 3;
    }
    if (holds(open)) return;
  }
  failure_ = "friction lets no motion go on from here";
}

/// The slip of a grip ends, or begins:  S = I + (f+ - f-) h_y / (dh/dt)-.
void Flow::change_grip(const Pending& pending) {
  const bool begins = pending.kind == EventKind::Slip;
  const int grip = begins ? pending.index / 2 : pending.index;
  const auto g = static_cast<std::size_t>(grip);
  look_at_contacts();
  const bool varies = columns_.cols() > 0;
  Eigen::VectorXd slope(2 * n_);
  double rate = 0.0;
  if (varies) {
    accelerate(u_, before_acceleration_);
    const formula::Tape& tape = mode_->letting_go;
    const auto slots = static_cast<std::size_t>(1 + 2 * n_);
    const std::size_t function = function_of(grip) - function_of(0) +
                                 (begins ? static_cast<std::size_t>(pending.index % 2) : 0);
    const double* const registers = load_tape(tape, u_);
    const auto at = [&](std::size_t k) { return registers[tape.outputs(0)[function * slots + k]]; };
    for (int i = 0; i < 2 * n_; ++i) slope[i] = at(1 + static_cast<std::size_t>(i));
    rate = at(0) + slope.head(n_).dot(u_) + slope.tail(n_).dot(before_acceleration_);
  }
  if (begins) {  // r_T = mu N: it slips backward
    const Contact& contact = contacts_[static_cast<std::size_t>(equations_.rows()) + g];
    grips_[g] = pending.index % 2 == 0 ? -1 : 1;
    grip_lift_[g] = contact.restitution > 0.0 ? 1 : 2;  // held by more at rest: it starts at once
  } else {
    settle_grips(grip);
  }
  if (!varies || !failure_.empty()) return;
  accelerate(u_, after_acceleration_);
  turn_.setZero(2 * n_);
  turn_.tail(n_) = (after_acceleration_ - before_acceleration_) / rate;
  if (grips_[g] == 0) {
    lost_rank_ = true;
  } else {
    log_determinants_ += std::log(std::abs(1.0 + slope.dot(turn_)));
  }
  for (int k = 0; k < columns_.cols(); ++k) columns_.col(k) += turn_ * slope.dot(columns_.col(k));
  if (grips_[g] == 0) project_columns_on_held();
}

}  // namespace ricochet::flow
