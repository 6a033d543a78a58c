#include "ricochet/solve/natural_newton.h"

#include <algorithm>
#include <cmath>

#include "ricochet/base/index.h"
#include "ricochet/convex/dense.h"
#include "ricochet/solve/contact_measure.h"

namespace ricochet::solve {

using base::index;

template <int D>
NaturalNewton<D>::NaturalNewton(ContactTask& task)
    : task_(task),
      contacts_(task.local().contacts()),
      W_(Eigen::MatrixXd::Zero(D * contacts_, D * contacts_)),
      r_(D * contacts_),
      value_(D * contacts_),
      slopes_(D * contacts_, D * contacts_) {
  const problem::BlockRows& W = task.local().W;
  for (int i = 0; i < contacts_; ++i) {
    for (int k = W.start[index(i)]; k < W.start[index(i) + 1]; ++k) {
      W_.template block<D, D>(D * i, D * W.column[index(k)]) =
          Eigen::Map<const Block>(W.block(index(k)));
    }
  }
}

template <int D>
bool NaturalNewton<D>::run() {
  const int starts = contacts_ <= 8 ? 24 : 6;
  for (int k = 0; k < starts && !task_.over(); ++k) {
    set_start(k);
    if (descend()) return true;
  }
  return false;
}

/// The best impulses so far; none; what free velocities ask for; then any.
template <int D>
void NaturalNewton<D>::set_start(int which) {
  if (which == 0) {
    r_ = task_.best_impulses();
    return;
  }
  r_.setZero();
  if (which == 1) return;
  const problem::LocalProblem& local = task_.local();
  double largest = 0.0;
  for (int i = 0; i < contacts_; ++i) {
    largest = std::max(largest, task_.rho(i) * local.q.template segment<D>(D * i).norm());
  }
  for (int i = 0; i < contacts_; ++i) {
    auto own = r_.template segment<D>(D * i);
    if (which == 2) {
      own = projected<D>(local.mu[index(i)],
                         Vector(-task_.rho(i) * local.q.template segment<D>(D * i)));
      continue;
    }
    if (random() < 0.4) continue;
    own[0] = -largest * std::log(1.0 - random());
    for (int j = 1; j < D; ++j) own[j] = local.mu[index(i)] * own[0] * (2.0 * random() - 1.0);
  }
}

/// Numbers of a linear congruence modulo 2^32.
template <int D>
double NaturalNewton<D>::random() {
  state_ = 1664525U * state_ + 1013904223U;
  return static_cast<double>(state_ >> 8U) / 16777216.0;
}

template <int D>
bool NaturalNewton<D>::descend() {
  constexpr int kMostSteps = 60;
  constexpr int kMostHalvings = 12;
  double now = map(r_, true);
  for (int k = 0; k < kMostSteps && now > 0.0 && !task_.over(); ++k) {
    const Eigen::VectorXd way = convex::least_squares(slopes_, Eigen::VectorXd(-value_));
    if (!way.allFinite()) return false;
    task_.count(1);
    task_.count_factorisation();
    double length = 1.0;
    double then = now;
    for (int half = 0; half < kMostHalvings; ++half, length *= 0.5) {
      trial_ = r_ + length * way;
      then = map(trial_, false);
      if (then < (1.0 - 1e-4 * length) * now) break;
    }
    const bool is_stuck = !(then < now);
    r_ = trial_;
    now = map(r_, true);
    Eigen::VectorXd found = r_;
    if (task_.is_solution(task_.measure(found))) return true;
    if (is_stuck && k > 20) return false;
  }
  Eigen::VectorXd found = r_;
  return task_.is_solution(task_.measure(found));
}

/// P_K(z) and its derivative.
template <int D>
typename NaturalNewton<D>::Vector NaturalNewton<D>::project(double mu, const Vector& z,
                                                            Block* slope) const {
  const Vector point = projected<D>(mu, z);
  if (slope == nullptr) return point;
  const double t = z.template tail<D - 1>().norm();
  if (z[0] >= 0.0 && t <= mu * z[0]) {
    slope->setIdentity();
  } else if (point[0] == 0.0) {
    slope->setZero();
  } else {  // along the ray (1, mu d) of the cone's surface, and round the cone
    const Eigen::Matrix<double, D - 1, 1> d = z.template tail<D - 1>() / t;
    Vector ray;
    ray << 1.0, mu * d;
    *slope = ray * ray.transpose() / (1.0 + mu * mu);
    slope->template bottomRightCorner<D - 1, D - 1>() +=
        mu * point[0] / t * (Eigen::Matrix<double, D - 1, D - 1>::Identity() - d * d.transpose());
  }
  return point;
}

template <int D>
double NaturalNewton<D>::map(const Eigen::VectorXd& r, bool has_slopes) {
  const problem::LocalProblem& local = task_.local();
  for (int i = 0; i < contacts_; ++i) {
    const double mu = local.mu[index(i)];
    const double rho = task_.rho(i);
    Vector u = W_.template middleRows<D>(D * i) * r + local.q.template segment<D>(D * i);
    const double slip = u.template tail<D - 1>().norm();
    Block lift = Block::Identity();
    if (slip > 0.0) {
      lift.template block<1, D - 1>(0, 1) = mu / slip * u.template tail<D - 1>().transpose();
    }
    u[0] += mu * slip;
    const Vector own = r.template segment<D>(D * i);
    Block slope;
    value_.template segment<D>(D * i) =
        own - project(mu, own - rho * u, has_slopes ? &slope : nullptr);
    if (!has_slopes) continue;
    auto rows = slopes_.template middleRows<D>(D * i);
    rows = rho * (slope * lift) * W_.template middleRows<D>(D * i);
    rows.template middleCols<D>(D * i) += Block::Identity() - slope;
  }
  return value_.norm();
}

template class NaturalNewton<2>;
template class NaturalNewton<3>;

}  // namespace ricochet::solve
