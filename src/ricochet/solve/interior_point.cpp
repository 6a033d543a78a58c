#include "ricochet/solve/interior_point.h"

#include <algorithm>
#include <cmath>

#include "ricochet/solve/contact_task.h"

namespace ricochet::solve {
namespace {

std::size_t index(int i) { return static_cast<std::size_t>(i); }

/// Below this a coefficient of friction counts as none.
constexpr double kFrictionless = 1e-12;

template <int D>
using Vec = Eigen::Matrix<double, D, 1>;

/// x_N^2 - |x_T|^2, without cancellation.
template <int D>
double determinant(const Vec<D>& x) {
  const double t = x.template tail<D - 1>().norm();
  return (x[0] - t) * (x[0] + t);
}

/// x o y of the Jordan algebra of the Lorentz cone.
template <int D>
Vec<D> product(const Vec<D>& x, const Vec<D>& y) {
  Vec<D> z = x[0] * y + y[0] * x;
  z[0] = x.dot(y);
  return z;
}

/// The z with x o z = v.
template <int D>
Vec<D> quotient(const Vec<D>& x, const Vec<D>& v) {
  Vec<D> z;
  const double xt_vt = x.template tail<D - 1>().dot(v.template tail<D - 1>());
  z[0] = (x[0] * v[0] - xt_vt) / determinant<D>(x);
  z.template tail<D - 1>() = (v.template tail<D - 1>() - z[0] * x.template tail<D - 1>()) / x[0];
  return z;
}

/// The longest t <= 1 with x + t dx in the cone.
template <int D>
double step_to_boundary(const Vec<D>& x, const Vec<D>& dx) {
  const double a = determinant<D>(dx);
  const double b = x[0] * dx[0] - x.template tail<D - 1>().dot(dx.template tail<D - 1>());
  const double c = determinant<D>(x);
  double t = 1.0;
  if (dx[0] < 0.0) t = std::min(t, -x[0] / dx[0]);
  const double disc = b * b - a * c;  // of a t^2 + 2 b t + c
  if (a < 0.0 || (b < 0.0 && disc >= 0.0)) {
    const double root = std::sqrt(std::max(0.0, disc));
    const double first = b < 0.0 ? c / (-b + root) : (-b - root) / a;
    if (first > 0.0) t = std::min(t, first);
  }
  return t;
}

}  // namespace

template <int D>
InteriorPoint<D>::InteriorPoint(const problem::LocalProblem& problem)
    : problem_(problem), W_(problem.W), q_(problem.q), cones_(index(problem.contacts())) {
  const auto inverse = [&](int i) {
    const double mu = problem.mu[index(i)];
    return mu > kFrictionless ? 1.0 / mu : 1.0;
  };
  for (int i = 0; i < W_.rows; ++i) {
    q_[D * i] *= inverse(i);
    for (int k = W_.start[index(i)]; k < W_.start[index(i) + 1]; ++k) {
      const int j = W_.column[index(k)];
      Eigen::Map<Block> block(W_.block(index(k)));
      block.row(0) *= inverse(i);
      block.col(0) *= inverse(j);
      if (i == j) rho_.push_back(D / block.trace());
      // Without friction the tangential rows say x_T = 0 and no more.
      if (problem.mu[index(i)] <= kFrictionless) block.template bottomRows<D - 1>().setZero();
      if (problem.mu[index(j)] <= kFrictionless) block.template rightCols<D - 1>().setZero();
    }
    if (problem.mu[index(i)] <= kFrictionless) q_.segment<D - 1>(D * i + 1).setZero();
    all_.push_back(i);
  }
  lu_.choose_order(W_.rows, W_.start, W_.column);
  lu_.begin(all_);
}

template <int D>
void InteriorPoint<D>::set_impulses(const Eigen::VectorXd& r) {
  for (int i = 0; i < W_.rows; ++i) {
    Cone& cone = cones_[index(i)];
    const double mu = problem_.mu[index(i)];
    cone.x = r.segment<D>(D * i);
    if (mu > kFrictionless) {
      cone.x[0] *= mu;
    } else {
      cone.x.template tail<D - 1>().setZero();
    }
  }
}

template <int D>
void InteriorPoint<D>::start(const Eigen::VectorXd& r, double level, bool coupled) {
  coupled_ = coupled;
  double energy = 0.0;
  scale_ = 0.0;
  for (int i = 0; i < W_.rows; ++i) {
    energy = std::max(energy, rho_[index(i)] * q_.segment<D>(D * i).squaredNorm());
    scale_ = std::max(scale_, q_.segment<D>(D * i).norm());
  }
  if (!(energy > 0.0)) energy = 1.0;
  if (!(scale_ > 0.0)) scale_ = 1.0;
  const double m = level * level * energy;
  set_impulses(r);
  for (Cone& cone : cones_) cone.y.setZero();
  measure();
  for (int i = 0; i < W_.rows; ++i) {
    Cone& cone = cones_[index(i)];
    cone.slip = (Wx_.segment<D - 1>(D * i + 1) + q_.segment<D - 1>(D * i + 1)).norm();
    const double least = std::sqrt(m * rho_[index(i)]);
    cone.x[0] = std::max(cone.x[0], cone.x.template tail<D - 1>().norm()) + least;
  }
  measure();
  for (int i = 0; i < W_.rows; ++i) {
    Cone& cone = cones_[index(i)];
    cone.y = Wx_.segment<D>(D * i) + q_.segment<D>(D * i);
    const double t = cone.y.template tail<D - 1>().norm();
    cone.y[0] += coupled_ ? t : cone.slip;
    cone.y[0] = std::max(cone.y[0], t) + std::sqrt(m / rho_[index(i)]);
    if (problem_.mu[index(i)] <= kFrictionless) cone.y.template tail<D - 1>().setZero();
  }
  measure();
}

template <int D>
void InteriorPoint<D>::measure() {
  x_.resize(static_cast<Eigen::Index>(D) * W_.rows);
  for (int i = 0; i < W_.rows; ++i) x_.segment<D>(D * i) = cones_[index(i)].x;
  problem::multiply(W_, x_, Wx_);
  gap_ = 0.0;
  defect_ = 0.0;
  for (int i = 0; i < W_.rows; ++i) {
    Cone& cone = cones_[index(i)];
    cone.C.setIdentity();
    const double t = cone.y.template tail<D - 1>().norm();
    cone.defect = cone.y - Wx_.segment<D>(D * i) - q_.segment<D>(D * i);
    cone.defect[0] -= coupled_ ? t : cone.slip;
    if (coupled_ && t > 0.0) {
      cone.C.template block<1, D - 1>(0, 1) = -cone.y.template tail<D - 1>().transpose() / t;
    }
    gap_ += cone.x.dot(cone.y);
    defect_ = std::max(defect_, cone.defect.norm());
  }
  gap_ /= std::max(1, W_.rows);
  defect_ /= scale_;
}

/// The scaling point of x and y: W symmetric with W x = W^-1 y = lambda [Vandenberghe 2010].
template <int D>
void InteriorPoint<D>::scale(Cone& cone) const {
  const double dx = determinant<D>(cone.x);
  const double dy = determinant<D>(cone.y);
  const Vector xs = cone.x / std::sqrt(dx);
  const Vector ys = cone.y / std::sqrt(dy);
  const double gamma = std::sqrt(0.5 * (1.0 + xs.dot(ys)));
  Vector w = ys + xs;
  w.template tail<D - 1>() = ys.template tail<D - 1>() - xs.template tail<D - 1>();
  w /= 2.0 * gamma;
  w[0] = std::sqrt(1.0 + w.template tail<D - 1>().squaredNorm());
  const double eta = std::sqrt(std::sqrt(dy / dx));
  const auto wt = w.template tail<D - 1>();
  Block& root = cone.root;
  root(0, 0) = w[0];
  root.template block<1, D - 1>(0, 1) = wt.transpose();
  root.template block<D - 1, 1>(1, 0) = wt;
  root.template block<D - 1, D - 1>(1, 1) =
      Eigen::Matrix<double, D - 1, D - 1>::Identity() + wt * wt.transpose() / (1.0 + w[0]);
  cone.inverse_root = root / eta;
  cone.inverse_root.template block<1, D - 1>(0, 1) *= -1.0;
  cone.inverse_root.template block<D - 1, 1>(1, 0) *= -1.0;
  root *= eta;
  cone.H = 2.0 * eta * eta * w * w.transpose();
  cone.H(0, 0) -= eta * eta;
  for (int k = 1; k < D; ++k) cone.H(k, k) += eta * eta;
  cone.lambda = root * cone.x;
}

/// What dy + H dx is to be: -y + m x^-1, less the second-order term of the predictor.
template <int D>
void InteriorPoint<D>::set_centring(double target, bool corrected) {
  for (Cone& cone : cones_) {
    Vector inverse = cone.x / determinant<D>(cone.x);
    inverse.template tail<D - 1>() *= -1.0;
    cone.centring = -cone.y + target * inverse;
    if (!corrected) continue;
    const Vector second = product<D>(cone.inverse_root * cone.dy, cone.root * cone.dx);
    cone.centring -= cone.root * quotient<D>(cone.lambda, second);
  }
}

/// (W + C H) dx = defect + C centring,   dy = centring - H dx.
template <int D>
bool InteriorPoint<D>::solve_first() {
  const auto put_row = [&](int i, auto&& put) {
    for (int k = W_.start[index(i)]; k < W_.start[index(i) + 1]; ++k) {
      const int j = W_.column[index(k)];
      Block block = Eigen::Map<const Block>(W_.block(index(k)));
      if (i == j) block += cones_[index(i)].C * cones_[index(i)].H;
      put(j, block);
    }
  };
  const auto right = [&](int i) -> Vector {
    const Cone& cone = cones_[index(i)];
    return cone.defect + cone.C * cone.centring;
  };
  if (!lu_.solve(put_row, right)) return false;
  take_apart();
  return true;
}

template <int D>
void InteriorPoint<D>::solve_second() {
  lu_.solve_again([&](int i) -> Vector {
    const Cone& cone = cones_[index(i)];
    return cone.defect + cone.C * cone.centring;
  });
  take_apart();
}

template <int D>
void InteriorPoint<D>::take_apart() {
  for (int i = 0; i < W_.rows; ++i) {
    Cone& cone = cones_[index(i)];
    cone.dx = lu_.x(i);
    if (problem_.mu[index(i)] <= kFrictionless) cone.dx.template tail<D - 1>().setZero();
    cone.dy = cone.centring - cone.H * cone.dx;
    if (problem_.mu[index(i)] <= kFrictionless) cone.dy.template tail<D - 1>().setZero();
  }
}

template <int D>
double InteriorPoint<D>::longest_step() const {
  double t = 1.0;
  for (const Cone& cone : cones_) {
    t = std::min(t, step_to_boundary<D>(cone.x, cone.dx));
    t = std::min(t, step_to_boundary<D>(cone.y, cone.dy));
  }
  return t;
}

template <int D>
bool InteriorPoint<D>::step() {
  for (Cone& cone : cones_) scale(cone);
  set_centring(0.0, false);
  if (!solve_first()) return false;
  const double reach = longest_step();
  double after = 0.0;
  for (const Cone& cone : cones_) {
    after += (cone.x + reach * cone.dx).dot(cone.y + reach * cone.dy);
  }
  after /= std::max(1, W_.rows);
  const double ratio = std::clamp(after / gap_, 0.0, 1.0);
  const double sigma = std::clamp(ratio * ratio * ratio, 1e-4, 0.8);
  set_centring(sigma * gap_, true);
  solve_second();
  length_ = 0.995 * longest_step();
  for (Cone& cone : cones_) {
    if (!cone.dx.allFinite() || !cone.dy.allFinite()) return false;
    cone.x += length_ * cone.dx;
    cone.y += length_ * cone.dy;
  }
  measure();
  return std::isfinite(gap_) && gap_ > 0.0;
}

template <int D>
Eigen::VectorXd InteriorPoint<D>::impulses() const {
  Eigen::VectorXd r(static_cast<Eigen::Index>(D) * W_.rows);
  for (int i = 0; i < W_.rows; ++i) {
    r.segment<D>(D * i) = cones_[index(i)].x;
    const double mu = problem_.mu[index(i)];
    if (mu > kFrictionless) r[D * i] /= mu;
  }
  return r;
}

template class InteriorPoint<2>;
template class InteriorPoint<3>;

namespace {

/// Steps until the task is done or they no longer get anywhere.
template <int D>
void follow_path(ContactTask& task, InteriorPoint<D>& inside, int most) {
  for (int k = 0; k < most && !task.over(); ++k) {
    task.count(1);
    task.count_factorisation();
    if (!inside.step()) return;
    Eigen::VectorXd r = inside.impulses();
    task.measure(r);
    if (task.done() || inside.length() < 1e-8) return;
  }
}

}  // namespace

void run_interior_point(ContactTask& task) {
  constexpr int kMostSteps = 100;
  with_dimension(task.problem().dim, [&]<int D>() {
    InteriorPoint<D> inside(task.local());
    inside.start(task.r, 1.0, true);
    follow_path(task, inside, kMostSteps);
    // The fixed point on slip speeds, each time from further out again.
    for (int k = 0; k < kMostSteps && !task.done() && !task.over(); ++k) {
      inside.start(task.best_impulses(), k == 0 ? 1.0 : 1e-2, false);
      follow_path(task, inside, kMostSteps);
    }
  });
}

}  // namespace ricochet::solve
