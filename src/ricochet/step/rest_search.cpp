#include "ricochet/step/rest_search.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ricochet/base/index.h"
#include "ricochet/solve/contact_measure.h"

namespace ricochet::step {

using base::index;
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kDone = 1e-15;        // of |u'|: nothing is left but rounding
constexpr double kMostProducts = 1e8;  // of rows with Newton's matrix, where it is not factored
constexpr int kMostNewton = 200;

/// sum of |.|: whether a body that is not free stays where it is.
template <int D>
bool stays(const body::Body<D>& body, const body::Motion<D>& m) {
  return body.kind == body::Kind::Fixed || (m.v.norm() == 0.0 && body::size_of(m.spin) == 0.0);
}

Eigen::Matrix3d mass_of(const body::Body<2>& body, const body::Ease<2>& ease) {
  return Eigen::Vector3d(body.mass, body.mass, ease.inertia).asDiagonal();
}
Eigen::Matrix<double, 6, 6> mass_of(const body::Body<3>& body, const body::Ease<3>& ease) {
  Eigen::Matrix<double, 6, 6> mass = Eigen::Matrix<double, 6, 6>::Zero();
  mass.topLeftCorner<3, 3>() = body.mass * Eigen::Matrix3d::Identity();
  const Eigen::Matrix3d inertia = ease.inverse.inverse();
  mass.bottomRightCorner<3, 3>() = 0.5 * (inertia + inertia.transpose());
  return mass;
}

Eigen::Vector3d speed_of(const body::Motion<2>& m) { return {m.v[0], m.v[1], m.spin}; }
Eigen::Matrix<double, 6, 1> speed_of(const body::Motion<3>& m) {
  Eigen::Matrix<double, 6, 1> speed;
  speed << m.v, m.spin;
  return speed;
}

/// Derivative of the projection on K = { |r_T| <= mu r_N } at z.
template <int D>
Eigen::Matrix<double, D, D> slope_of(double mu, const Eigen::Matrix<double, D, 1>& z) {
  using Block = Eigen::Matrix<double, D, D>;
  const double t = z.template tail<D - 1>().norm();
  if (mu == 0.0 || t == 0.0) {
    Block slope = Block::Zero();
    if (z[0] > 0.0) slope(0, 0) = 1.0;
    if (z[0] > 0.0 && mu > 0.0) slope.setIdentity();
    return slope;
  }
  if (t <= mu * z[0]) return Block::Identity();
  if (mu * t <= -z[0]) return Block::Zero();
  Eigen::Matrix<double, D, 1> side = Eigen::Matrix<double, D, 1>::Zero();
  side.template tail<D - 1>() = z.template tail<D - 1>() / t;
  const double across = mu * (z[0] + mu * t) / ((1.0 + mu * mu) * t);
  Block slope = -across * side * side.transpose();
  slope.template bottomRightCorner<D - 1, D - 1>().diagonal().array() += across;
  side *= mu;
  side[0] = 1.0;
  return slope + side * side.transpose() / (1.0 + mu * mu);
}

}  // namespace

/// The number of a free body in bodies_; -1 of others.
template <int D>
int RestSearch<D>::number_of(const Problem& problem, int b) {
  const body::Body<D>& body = problem.world.body(b);
  if (!body.is_free()) return -1;
  int& number = number_[index(b)];
  if (number >= 0) return number;
  number = static_cast<int>(bodies_.size());
  Held& held = bodies_.emplace_back();
  held.mass = mass_of(body, problem.ease[index(b)]);
  held.inverse = held.mass.inverse();
  held.free = speed_of(problem.free[index(b)]);
  held.body = b;
  return number;
}

/// A row that may push: its gap is shut. False where no rest obeys its law.
template <int D>
bool RestSearch<D>::add(const Problem& problem, int k, const Eigen::VectorXd& impulses) {
  constexpr double kTimes = 4.0;
  const body::Row<D>& row = problem.rows[index(k)];
  for (const int b : {row.body_a, row.body_b}) {
    if (problem.world.body(b).is_free()) continue;
    if (!stays(problem.world.body(b), problem.free[index(b)])) return false;
  }
  Contact one;
  one.body_a = number_of(problem, row.body_a);
  one.body_b = number_of(problem, row.body_b);
  one.a = problem.arms[2 * index(k)];
  one.b = problem.arms[2 * index(k) + 1];
  Vector open = problem.q.template segment<D>(D * k);  // what the gap leaves
  Block own = Block::Zero();
  if (one.body_a >= 0) {
    open -= one.a * bodies_[index(one.body_a)].free;
    own += one.a * bodies_[index(one.body_a)].inverse * one.a.transpose();
  }
  if (one.body_b >= 0) {
    open -= one.b * bodies_[index(one.body_b)].free;
    own += one.b * bodies_[index(one.body_b)].inverse * one.b.transpose();
  }
  const double noise = kTimes * problem.noise[index(k)];
  const double place = problem.free[index(row.body_a)].x.norm() + row.arm_a.norm() +
                       problem.free[index(row.body_b)].x.norm() + row.arm_b.norm();
  const double rounding = noise + kTimes * kEpsilon * place / problem.h;  // of a gap that is shut
  if (open[0] < -noise || open.template tail<D - 1>().norm() > noise) return false;
  const Vector r = impulses.template segment<D>(D * k);
  one.mu = problem.friction[index(k)];
  one.start = solve::projected<D>(one.mu, r);
  const bool is_open = open[0] > rounding;
  is_off_ = is_off_ || (is_open ? r.norm() > 0.0 : (one.start - r).norm() > kEpsilon * r.norm());
  if (is_open) return true;  // it does not push
  one.rho = double(D) / own.trace();
  one.row = k;
  contacts_.push_back(one);
  return true;
}

/// What a body that is left out gives to one that is not.
template <int D>
void RestSearch<D>::add_load(const Problem& problem, int k, const Eigen::VectorXd& impulses) {
  const Vector r = impulses.template segment<D>(D * k);
  for (const bool of_a : {true, false}) {
    const int b = problem.rows_body(k, of_a);
    if ((*problem.moves)[index(b)] != 0) continue;
    const int number = number_of(problem, b);
    if (number < 0) continue;
    Held& held = bodies_[index(number)];
    held.free += held.inverse * (problem.arms[2 * index(k) + (of_a ? 0 : 1)].transpose() * r);
  }
}

template <int D>
bool RestSearch<D>::take(const Problem& problem, const Eigen::VectorXd& impulses) {
  number_.resize(problem.world.bodies.size(), -1);
  for (const Held& held : bodies_) number_[index(held.body)] = -1;
  contacts_.clear();
  bodies_.clear();
  is_off_ = false;
  for (const int k : problem.members) {
    if (!problem.is_left_out(k) && !add(problem, k, impulses)) return false;
  }
  for (const int k : problem.members) {
    if (problem.is_left_out(k)) add_load(problem, k, impulses);
  }
  free_size_ = 0.0;
  for (const Held& held : bodies_) free_size_ += held.free.dot(held.mass * held.free);
  free_size_ = std::sqrt(free_size_);
  for (std::vector<Speed>* each :
       {&v_, &trial_, &gradient_, &way_, &rest_, &step_, &conjugate_, &image_, &left_}) {
    each->assign(bodies_.size(), Speed::Zero());
  }
  newton_steps_ = 0;
  products_ = 0;
  return free_size_ > 0.0 && std::isfinite(free_size_);
}

template <int D>
void RestSearch<D>::set_steps(double eps) {
  for (Contact& one : contacts_) one.sigma = one.rho / eps;
}

/// phi(v); leaves its gradient M (v - u') - G^T r, and r = P_K(start - sigma G v).
template <int D>
double RestSearch<D>::evaluate(const std::vector<Speed>& v) {
  double phi = 0.0;
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    const Speed off = v[i] - bodies_[i].free;
    gradient_[i] = bodies_[i].mass * off;
    phi += 0.5 * off.dot(gradient_[i]);
  }
  for (Contact& one : contacts_) {
    Vector u = Vector::Zero();
    if (one.body_a >= 0) u += one.a * v[index(one.body_a)];
    if (one.body_b >= 0) u += one.b * v[index(one.body_b)];
    one.r = solve::projected<D>(one.mu, Vector(one.start - one.sigma * u));
    phi += 0.5 * one.r.squaredNorm() / one.sigma;
    if (one.body_a >= 0) gradient_[index(one.body_a)] -= one.a.transpose() * one.r;
    if (one.body_b >= 0) gradient_[index(one.body_b)] -= one.b.transpose() * one.r;
  }
  return phi;
}

/// |f| in the metric of 1/M.
template <int D>
double RestSearch<D>::size_of(const std::vector<Speed>& f) const {
  double sum = 0.0;
  for (std::size_t i = 0; i < f.size(); ++i) sum += f[i].dot(bodies_[i].inverse * f[i]);
  return std::sqrt(sum);
}

/// |u' + M^-1 G^T r|_M with the impulses of v: what they leave of the motion.
template <int D>
double RestSearch<D>::remains() const {
  double sum = 0.0;
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    const Speed left = v_[i] - bodies_[i].inverse * gradient_[i];
    sum += left.dot(bodies_[i].mass * left);
  }
  return std::sqrt(sum);
}

/// Whether each body alone is at rest, but for rounding.
template <int D>
bool RestSearch<D>::all_rest() const {
  constexpr double kPart = 1e-12;
  double fastest = 0.0;
  double most = 0.0;
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    const Held& held = bodies_[i];
    const Speed left = v_[i] - held.inverse * gradient_[i];
    const double mass = held.mass(0, 0);
    fastest = std::max(fastest, left.dot(held.mass * left) / mass);
    most = std::max(most, held.free.dot(held.mass * held.free) / mass);
  }
  return fastest <= kPart * kPart * most;
}

template <int D>
void RestSearch<D>::find_slopes() {
  for (Contact& one : contacts_) {
    Vector u = Vector::Zero();
    if (one.body_a >= 0) u += one.a * v_[index(one.body_a)];
    if (one.body_b >= 0) u += one.b * v_[index(one.body_b)];
    one.slope = one.sigma * slope_of<D>(one.mu, Vector(one.start - one.sigma * u));
  }
}

/// Who touches whom, and whether Newton's matrix is worth its factors.
template <int D>
void RestSearch<D>::list_neighbours() {
  constexpr double kMostWork = N == 3 ? 2e7 : 4e6;  // products of blocks
  const auto each = [&](auto&& tell) {
    for (std::size_t k = 0; k < contacts_.size(); ++k) {
      for (const int i : {contacts_[k].body_a, contacts_[k].body_b}) {
        if (i >= 0) tell(index(i), static_cast<int>(k));
      }
    }
  };
  beside_start_.assign(bodies_.size() + 1, 0);
  each([&](std::size_t i, int) { ++beside_start_[i + 1]; });
  for (std::size_t i = 1; i < beside_start_.size(); ++i) beside_start_[i] += beside_start_[i - 1];
  beside_.resize(index(beside_start_.back()));
  all_.assign(beside_start_.begin(), beside_start_.end() - 1);
  each([&](std::size_t i, int k) { beside_[index(all_[i]++)] = k; });
  start_.assign(1, 0);
  column_.clear();
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    const int mine = static_cast<int>(i);
    for (int l = beside_start_[i]; l < beside_start_[i + 1]; ++l) {
      const Contact& one = contacts_[index(beside_[index(l)])];
      const int other = one.body_a == mine ? one.body_b : one.body_a;
      if (other >= 0) column_.push_back(other);
    }
    start_.push_back(static_cast<int>(column_.size()));
    all_[i] = mine;
  }
  all_.resize(bodies_.size());
  lu_.choose_order(static_cast<int>(bodies_.size()), start_, column_);
  is_factored_ = lu_.begin(all_) && lu_.work() <= kMostWork;
}

/// way_ = -H^-1 gradient_.
template <int D>
bool RestSearch<D>::solve_by_factors() {
  const auto row = [&](int i, auto&& put) {
    Mass own = bodies_[index(i)].mass;
    for (int l = beside_start_[index(i)]; l < beside_start_[index(i) + 1]; ++l) {
      const Contact& one = contacts_[index(beside_[index(l)])];
      const bool is_a = one.body_a == i;
      const Arm& mine = is_a ? one.a : one.b;
      const int other = is_a ? one.body_b : one.body_a;
      const Eigen::Matrix<double, N, D> through = mine.transpose() * one.slope;
      own += through * mine;
      if (other >= 0) put(other, Mass(through * (is_a ? one.b : one.a)));
    }
    put(i, own);
  };
  const auto right = [&](int i) { return Speed(-gradient_[index(i)]); };
  if (!lu_.solve(row, right)) return false;
  for (std::size_t i = 0; i < bodies_.size(); ++i) way_[i] = lu_.x(static_cast<int>(i));
  return true;
}

template <int D>
void RestSearch<D>::multiply(const std::vector<Speed>& x, std::vector<Speed>& out) const {
  for (std::size_t i = 0; i < bodies_.size(); ++i) out[i] = bodies_[i].mass * x[i];
  for (const Contact& one : contacts_) {
    Vector u = Vector::Zero();
    if (one.body_a >= 0) u += one.a * x[index(one.body_a)];
    if (one.body_b >= 0) u += one.b * x[index(one.body_b)];
    const Vector p = one.slope * u;
    if (one.body_a >= 0) out[index(one.body_a)] += one.a.transpose() * p;
    if (one.body_b >= 0) out[index(one.body_b)] += one.b.transpose() * p;
  }
}

template <int D>
void RestSearch<D>::precondition(const std::vector<Speed>& f, std::vector<Speed>& out) const {
  for (std::size_t i = 0; i < bodies_.size(); ++i) out[i] = bodies_[i].near * f[i];
}

/// The same by conjugate gradients, with the blocks of bodies as the metric.
template <int D>
void RestSearch<D>::solve_by_gradients() {
  constexpr int kMost = 500;
  constexpr double kPart = 1e-2;  // of the gradient that may be left
  for (Held& held : bodies_) held.near = held.mass;
  for (const Contact& one : contacts_) {
    if (one.body_a >= 0) bodies_[index(one.body_a)].near += one.a.transpose() * one.slope * one.a;
    if (one.body_b >= 0) bodies_[index(one.body_b)].near += one.b.transpose() * one.slope * one.b;
  }
  for (Held& held : bodies_) held.near = held.near.llt().solve(Mass::Identity()).eval();
  const auto dot = [](const std::vector<Speed>& x, const std::vector<Speed>& y) {
    double sum = 0.0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += x[i].dot(y[i]);
    return sum;
  };
  for (std::size_t i = 0; i < way_.size(); ++i) {
    way_[i].setZero();
    left_[i] = -gradient_[i];
  }
  precondition(left_, step_);
  conjugate_ = step_;
  double before = dot(left_, step_);
  const double enough = kPart * kPart * before;
  for (int k = 0; k < kMost && before > enough; ++k) {
    multiply(conjugate_, image_);
    ++products_;
    const double part = before / dot(conjugate_, image_);
    if (!std::isfinite(part)) break;
    for (std::size_t i = 0; i < way_.size(); ++i) {
      way_[i] += part * conjugate_[i];
      left_[i] -= part * image_[i];
    }
    precondition(left_, step_);
    const double now = dot(left_, step_);
    for (std::size_t i = 0; i < way_.size(); ++i) {
      conjugate_[i] = step_[i] + now / before * conjugate_[i];
    }
    before = now;
  }
}

/// To where phi along way_ is about least, found by its slope, which has digits left where phi has
/// none: phi is convex.
template <int D>
bool RestSearch<D>::search_line() {
  constexpr double kPart = 0.3;  // of the slope at the start
  constexpr int kMost = 24;
  const auto slope_at = [&](double part) {
    for (std::size_t i = 0; i < way_.size(); ++i) trial_[i] = v_[i] + part * way_[i];
    evaluate(trial_);
    double slope = 0.0;
    for (std::size_t i = 0; i < way_.size(); ++i) slope += gradient_[i].dot(way_[i]);
    return slope;
  };
  double low = 0.0;
  double falls = 0.0;  // the slope there, < 0
  for (std::size_t i = 0; i < way_.size(); ++i) falls += gradient_[i].dot(way_[i]);
  if (!(falls < 0.0)) return false;
  const double enough = -kPart * falls;
  double high = 1.0;
  double slope = slope_at(high);
  double rises = slope;
  for (int k = 0; k < kMost && std::abs(slope) > enough; ++k) {
    if (slope < 0.0 && high == 1.0 && low == 0.0) break;  // Newton's step is short of it
    const double middle =
        k % 3 == 2 ? 0.5 * (low + high) : low + (high - low) * falls / (falls - rises);
    slope = slope_at(middle);
    (slope < 0.0 ? low : high) = middle;
    (slope < 0.0 ? falls : rises) = slope;
  }
  std::swap(v_, trial_);
  return true;
}

template <int D>
bool RestSearch<D>::is_in_time() const {
  return static_cast<double>(products_) * static_cast<double>(contacts_.size()) < kMostProducts;
}

/// Newton's method on phi until the gradient is a part of what moves, or `enough`.
template <int D>
bool RestSearch<D>::minimise(double enough, const std::atomic<bool>* stop) {
  constexpr double kPart = 0.1;
  constexpr double kRounding = 1e-12;
  constexpr int kMost = 60;
  std::fill(trial_.begin(), trial_.end(), Speed::Zero());
  const double at_rest = evaluate(trial_);
  if (!(evaluate(v_) < at_rest)) {  // the impulses of the round before, as they are
    std::swap(v_, trial_);
    evaluate(v_);
  }
  for (int k = 0; k < kMost && newton_steps_ < kMostNewton && is_in_time(); ++k) {
    const double off = size_of(gradient_);
    if (off <= std::max(enough, kPart * remains())) return true;
    if (stop != nullptr && stop->load(std::memory_order_relaxed)) return false;
    find_slopes();
    if (!is_factored_ || !solve_by_factors()) solve_by_gradients();
    ++newton_steps_;
    const bool goes_on = search_line() && size_of(gradient_) < 0.9 * off;
    if (!goes_on && off <= kRounding * free_size_) return true;
  }
  return false;
}

/// Whether v proves that there is no rest: G v in K*, so that no impulse of K takes work from it,
/// and M u' . v > 0. What G v lies outside K* must be small even with impulses a hundred times as
/// large as those found.
template <int D>
bool RestSearch<D>::is_impossible() const {
  constexpr double kLarger = 100.0;
  double given = 0.0;
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    given += v_[i].dot(bodies_[i].mass * bodies_[i].free);
  }
  double mean = 0.0;
  for (const Contact& one : contacts_) mean += one.r.norm();
  mean /= static_cast<double>(std::max<std::size_t>(1, contacts_.size()));
  double taken = 0.0;
  for (const Contact& one : contacts_) {
    Vector u = Vector::Zero();
    if (one.body_a >= 0) u += one.a * v_[index(one.body_a)];
    if (one.body_b >= 0) u += one.b * v_[index(one.body_b)];
    const double outside = solve::projected<D>(one.mu, Vector(-u)).norm();  // distance to K*
    taken += outside * (one.r.norm() + mean);
  }
  return given > kLarger * taken;
}

template <int D>
void RestSearch<D>::list_moving(double part, std::vector<int>& bodies) const {
  const auto energy = [&](std::size_t i) {
    return v_[i].dot(bodies_[i].mass * v_[i]) / bodies_[i].mass(0, 0);
  };
  double most = 0.0;
  for (std::size_t i = 0; i < bodies_.size(); ++i) most = std::max(most, energy(i));
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    if (energy(i) > part * part * most) bodies.push_back(bodies_[i].body);
  }
}

template <int D>
bool RestSearch<D>::holds(const Problem& problem, const Eigen::VectorXd& impulses) {
  if (!take(problem, impulses) || is_off_) return false;
  set_steps(1.0);
  evaluate(v_);
  return all_rest();
}

template <int D>
typename RestSearch<D>::Answer RestSearch<D>::look(const Problem& problem,
                                                   Eigen::VectorXd& impulses,
                                                   const std::atomic<bool>* stop) {
  constexpr int kRounds = 40;
  constexpr int kDear = 20;  // Newton steps of a round
  if (!take(problem, impulses)) return Answer::Open;
  list_neighbours();
  constexpr double kLeast = 1e-8;
  constexpr double kFirst = 1e-2;
  constexpr double kNear = 10.0;  // times what is left of the motion
  set_steps(1.0);
  evaluate(v_);
  double eps = problem.moves == nullptr
                   ? kFirst
                   : std::clamp(kNear * remains() / free_size_, kLeast, kFirst);
  double before = std::numeric_limits<double>::infinity();
  double left = before;
  for (int round = 0; round < kRounds; ++round) {
    set_steps(eps);
    const long long steps = newton_steps_;
    const bool is_made = minimise(kDone * free_size_, stop);
    left = remains();
    if (!is_made) return Answer::Open;
    if (left <= kDone * free_size_) break;
    if (left > 1e-9 * free_size_ && is_impossible()) return Answer::Impossible;
    if (eps <= kLeast && !(left < 0.9 * before)) break;
    for (Contact& one : contacts_) one.start = one.r;
    before = left;
    eps = std::max(kLeast, (newton_steps_ - steps > kDear ? 0.3 : 0.1) * eps);
  }
  if (!all_rest()) return Answer::Open;
  for (const int k : problem.members) {
    if (!problem.is_left_out(k)) impulses.template segment<D>(D * k).setZero();
  }
  for (const Contact& one : contacts_) impulses.template segment<D>(D * one.row) = one.r;
  return Answer::Found;
}

template class RestSearch<2>;
template class RestSearch<3>;

}  // namespace ricochet::step
