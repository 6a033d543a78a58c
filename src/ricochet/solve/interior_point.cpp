#include "ricochet/solve/interior_point.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ricochet/base/index.h"
#include "ricochet/solve/contact_measure.h"
#include "ricochet/solve/contact_task.h"

namespace ricochet::solve {
namespace {

using base::index;

/// Below this a coefficient of friction counts as none.
constexpr double kFrictionless = 1e-12;

/// Part of the way to the boundary that a step may go.
constexpr double kToBoundary = 0.9;

/// How far a product may be from the mean, as a factor.
constexpr double kSpread = 1e3;

/// A step shorter than this is followed by one that mostly centres.
constexpr double kShort = 0.1;

/// The longest t <= 1 with |r_T + t dr_T| <= a + t da.
template <class Tangent>
double reach_of_cone(double a, double da, const Tangent& r, const Tangent& dr) {
  const double A = da * da - dr.squaredNorm();
  const double B = a * da - r.dot(dr);
  const double C = a * a - r.squaredNorm();
  const double discriminant = B * B - A * C;  // of A t^2 + 2 B t + C
  if (!(A < 0.0 || (B < 0.0 && discriminant >= 0.0))) return 1.0;
  const double root = std::sqrt(std::max(0.0, discriminant));
  const double t = B < 0.0 ? C / (-B + root) : (-B - root) / A;
  return t > 0.0 ? std::min(1.0, t) : 1.0;
}

double reach_of_positive(double x, double dx) { return dx < 0.0 ? std::min(1.0, -x / dx) : 1.0; }

}  // namespace

template <int D>
InteriorPoint<D>::InteriorPoint(const problem::LocalProblem& problem) : problem_(problem) {
  if (problem.contacts() > 0) refresh();
}

template <int D>
void InteriorPoint<D>::refresh() {
  const problem::BlockRows& W = problem_.W;
  contacts_.assign(index(W.rows), {});
  all_.clear();
  rho_.clear();
  alpha_ = 0.0;
  for (int i = 0; i < W.rows; ++i) {
    all_.push_back(i);
    rho_.push_back(D / Eigen::Map<const Block>(W.block(W.diagonal(i))).trace());
    const double mu = problem_.mu[index(i)];
    contacts_[index(i)].mu = mu > kFrictionless ? mu : 0.0;
  }
  lu_.choose_order(W.rows, W.start, W.column);
  work_ = lu_.begin(all_) ? lu_.work() : std::numeric_limits<double>::infinity();
}

template <int D>
double InteriorPoint<D>::energy() {
  double energy = 0.0;
  scale_ = 0.0;
  for (int i = 0; i < problem_.contacts(); ++i) {
    const double speed = problem_.q.segment<D>(D * i).norm();
    energy = std::max(energy, rho_[index(i)] * speed * speed);
    scale_ = std::max(scale_, speed);
  }
  if (!(scale_ > 0.0)) scale_ = 1.0;
  return energy > 0.0 ? energy : 1.0;
}

template <int D>
void InteriorPoint<D>::start(double level) {
  start_near(Eigen::VectorXd::Zero(static_cast<Eigen::Index>(D) * problem_.contacts()), level);
}

template <int D>
void InteriorPoint<D>::start_near(const Eigen::VectorXd& r, double level) {
  const double m = level * level * energy();
  for (int i = 0; i < problem_.contacts(); ++i) {
    Contact& contact = contacts_[index(i)];
    contact.r = r.segment<D>(D * i);
    contact.r[0] = std::max(0.0, contact.r[0]) + std::sqrt(m * rho_[index(i)]);
    if (!contact.slides()) contact.r.template tail<D - 1>().setZero();
    const double t = contact.r.template tail<D - 1>().norm();
    const double most = 0.9 * contact.mu * contact.r[0];
    if (t > most) contact.r.template tail<D - 1>() *= most / t;
  }
  length_ = 1.0;
  measure();
  for (Contact& contact : contacts_) {
    contact.y = m / contact.r[0];
    if (contact.slides()) contact.lambda = m / contact.xi;
  }
  measure();
}

template <int D>
void InteriorPoint<D>::set_proximal(double alpha, const Eigen::VectorXd& centre) {
  alpha_ = alpha;
  centre_ = centre;
  measure();
}

template <int D>
void InteriorPoint<D>::measure() {
  r_.resize(static_cast<Eigen::Index>(D) * problem_.contacts());
  for (int i = 0; i < problem_.contacts(); ++i) r_.segment<D>(D * i) = contacts_[index(i)].r;
  problem::multiply(problem_.W, r_, u_);
  u_.head(r_.size()) += problem_.q.head(r_.size());
  gap_ = 0.0;
  defect_ = 0.0;
  int products = 0;
  for (int i = 0; i < problem_.contacts(); ++i) {
    Contact& contact = contacts_[index(i)];
    if (alpha_ > 0.0) {
      u_.segment<D>(D * i) += (alpha_ / rho_[index(i)]) * (contact.r - centre_.segment<D>(D * i));
    }
    contact.u = u_.segment<D>(D * i);
    Vector defect = Vector::Zero();
    defect[0] = contact.u[0] - contact.y;
    gap_ += contact.y * contact.r[0];
    ++products;
    if (contact.slides()) {
      contact.a = contact.mu * contact.r[0];
      contact.b = contact.r.template tail<D - 1>() / contact.a;
      const double part = contact.b.norm();
      contact.xi = contact.a * (1.0 - part) * (1.0 + part);
      defect.template tail<D - 1>() = contact.u.template tail<D - 1>() + contact.lambda * contact.b;
      gap_ += contact.lambda * contact.xi;
      ++products;
    }
    defect_ = std::max(defect_, defect.norm());
  }
  gap_ /= std::max(1, products);
  defect_ /= scale_;
}

/// What joins W in the derivative of u_N - y and u_T + lambda b by r, with y and lambda taken from
/// the linearised products:
///
///     dy      = target_n / r_N - y - (y / r_N) dr_N,
///     dlambda = target_t / xi - lambda - (lambda / xi) dxi,
///     dxi     = (1 + |b|^2) mu dr_N - 2 b.dr_T,      db = (dr_T - b mu dr_N) / a.
template <int D>
typename InteriorPoint<D>::Block InteriorPoint<D>::diagonal_part(const Contact& contact) const {
  Block part = Block::Zero();
  part(0, 0) = contact.y / contact.r[0];
  if (!contact.slides()) {
    for (int k = 1; k < D; ++k) part(k, k) = 1.0;
    return part;
  }
  const auto& b = contact.b;
  const double by_a = contact.lambda / contact.a;
  const double by_xi = contact.lambda / contact.xi;
  part.template block<D - 1, D - 1>(1, 1) = 2.0 * by_xi * b * b.transpose();
  for (int k = 1; k < D; ++k) part(k, k) += by_a;
  part.template block<D - 1, 1>(1, 0) = -contact.mu * (by_a + by_xi * (1.0 + b.squaredNorm())) * b;
  return part;
}

template <int D>
typename InteriorPoint<D>::Vector InteriorPoint<D>::right_side(const Contact& contact) const {
  Vector right = Vector::Zero();
  right[0] = contact.target_n / contact.r[0] - contact.u[0];
  if (contact.slides()) {
    right.template tail<D - 1>() =
        -contact.u.template tail<D - 1>() - (contact.target_t / contact.xi) * contact.b;
  }
  return right;
}

template <int D>
bool InteriorPoint<D>::factor_and_solve() {
  const problem::BlockRows& W = problem_.W;
  const auto put_row = [&](int i, auto&& put) {
    const bool slides = contacts_[index(i)].slides();
    for (int k = W.start[index(i)]; k < W.start[index(i) + 1]; ++k) {
      const int j = W.column[index(k)];
      Block block = Eigen::Map<const Block>(W.block(index(k)));
      if (!slides) block.template bottomRows<D - 1>().setZero();
      if (!contacts_[index(j)].slides()) block.template rightCols<D - 1>().setZero();
      if (i == j) {
        block += diagonal_part(contacts_[index(i)]);
        block.diagonal().array() += alpha_ / rho_[index(i)];
      }
      put(j, block);
    }
  };
  if (!lu_.solve(put_row, [&](int i) { return right_side(contacts_[index(i)]); })) return false;
  recover();
  return true;
}

template <int D>
void InteriorPoint<D>::solve_again() {
  lu_.solve_again([&](int i) { return right_side(contacts_[index(i)]); });
  recover();
}

template <int D>
void InteriorPoint<D>::recover() {
  for (int i = 0; i < problem_.contacts(); ++i) {
    Contact& contact = contacts_[index(i)];
    contact.dr = lu_.x(i);
    contact.dy = (contact.target_n - contact.y * contact.dr[0]) / contact.r[0] - contact.y;
    if (!contact.slides()) {
      contact.dr.template tail<D - 1>().setZero();
      continue;
    }
    contact.dxi = contact.mu * contact.dr[0] * (1.0 + contact.b.squaredNorm()) -
                  2.0 * contact.b.dot(contact.dr.template tail<D - 1>());
    contact.dlambda =
        (contact.target_t - contact.lambda * contact.dxi) / contact.xi - contact.lambda;
  }
}

template <int D>
double InteriorPoint<D>::impulse_reach() const {
  double t = 1.0;
  for (const Contact& contact : contacts_) {
    t = std::min(t, reach_of_positive(contact.r[0], contact.dr[0]));
    if (!contact.slides()) continue;
    const Tangent r = contact.r.template tail<D - 1>();
    const Tangent dr = contact.dr.template tail<D - 1>();
    t = std::min(t, reach_of_cone(contact.a, contact.mu * contact.dr[0], r, dr));
  }
  return t;
}

template <int D>
double InteriorPoint<D>::speed_reach() const {
  double t = 1.0;
  for (const Contact& contact : contacts_) {
    t = std::min(t, reach_of_positive(contact.y, contact.dy));
    if (contact.slides()) t = std::min(t, reach_of_positive(contact.lambda, contact.dlambda));
  }
  return t;
}

template <int D>
double InteriorPoint<D>::predicted_gap() const {
  const double t = impulse_reach();
  const double s = speed_reach();
  double sum = 0.0;
  int products = 0;
  for (const Contact& contact : contacts_) {
    sum += (contact.r[0] + t * contact.dr[0]) * (contact.y + s * contact.dy);
    ++products;
    if (!contact.slides()) continue;
    sum += (contact.lambda + s * contact.dlambda) * std::max(0.0, contact.xi + t * contact.dxi);
    ++products;
  }
  return sum / std::max(1, products);
}

/// y and lambda are there to carry the products; one that has gone astray is put back.
template <int D>
void InteriorPoint<D>::keep_products_near() {
  for (Contact& contact : contacts_) {
    const auto near = [&](double value, double partner) {
      return std::clamp(value, gap_ / (kSpread * partner), gap_ * kSpread / partner);
    };
    contact.y = near(contact.y, contact.r[0]);
    if (contact.slides()) contact.lambda = near(contact.lambda, contact.xi);
  }
}

template <int D>
bool InteriorPoint<D>::step() {
  for (Contact& contact : contacts_) contact.target_n = contact.target_t = 0.0;
  if (!factor_and_solve()) return false;
  const bool is_stuck = length_ < kShort;
  const double ratio = std::clamp(predicted_gap() / gap_, 0.0, 1.0);
  const double sigma = is_stuck ? 0.9 : std::clamp(ratio * ratio * ratio, 1e-3, 0.9);
  const double second_order = !is_stuck && impulse_reach() > kShort ? 1.0 : 0.0;
  for (Contact& contact : contacts_) {
    contact.target_n = sigma * gap_ - second_order * contact.dr[0] * contact.dy;
    contact.target_t = sigma * gap_ - second_order * contact.dlambda * contact.dxi;
  }
  solve_again();
  length_ = std::min(1.0, kToBoundary * impulse_reach());
  const double speed_length = std::min(1.0, kToBoundary * speed_reach());
  for (Contact& contact : contacts_) {
    if (!contact.dr.allFinite()) return false;
    contact.r += length_ * contact.dr;
    contact.y += speed_length * contact.dy;
    contact.lambda += speed_length * contact.dlambda;
  }
  measure();
  if (!std::isfinite(gap_) || !(gap_ > 0.0)) return false;
  keep_products_near();
  measure();
  return true;
}

template <int D>
double InteriorPoint<D>::creep() const {
  double most = 0.0;
  for (std::size_t i = 0; i < contacts_.size(); ++i) {
    const Contact& contact = contacts_[i];
    Vector u = contact.u;
    u[0] += contact.mu * u.template tail<D - 1>().norm();
    const Vector ends = projected<D>(contact.mu, contact.r - rho_[i] * u);
    most = std::max(most, (contact.r - ends).norm() / rho_[i]);
  }
  return most;
}

template <int D>
bool InteriorPoint<D>::finish(double speed, int most) {
  for (int k = 0; k < most && creep() > speed; ++k) {
    if (!step()) return false;
  }
  return creep() <= speed;
}

template class InteriorPoint<2>;
template class InteriorPoint<3>;

void run_interior_point(ContactTask& task) {
  constexpr int kMostSteps = 200;
  with_dimension(task.problem().dim, [&]<int D>() {
    InteriorPoint<D> inside(task.local());
    if (!std::isfinite(inside.work())) return;
    for (const double level : {1.0, 30.0, 0.03}) {
      inside.start(level);
      for (int k = 0; k < kMostSteps && !task.done() && !task.over(); ++k) {
        task.count(1);
        task.count_factorisation();
        if (!inside.step()) break;
        task.r = inside.impulses();
        task.measure(task.r);
      }
    }
  });
}

}  // namespace ricochet::solve
