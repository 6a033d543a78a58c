#include "ricochet/study/two_motions.h"

#include <algorithm>
#include <cmath>

#include "ricochet/base/quadrature.h"

namespace ricochet::study {
namespace {

template <class Function>
double integrate(double a, double b, Function&& function) {
  constexpr int kPanels = 24;
  double sum = 0.0;
  base::for_gauss_points(a, b, kPanels,
                         [&](double s, double weight) { sum += weight * function(s); });
  return sum;
}

}  // namespace

double TwoMotions::speed(int n) { return 1.0 / std::tgamma(n + 1.0); }

double TwoMotions::Bump::shape(double s) const {
  if (!(std::abs(s) < 1.0)) return 0.0;
  return std::exp(-sharpness * s * s / (1.0 - s * s));
}

double TwoMotions::Bump::reach() const { return std::min(1.0, 6.5 / std::sqrt(sharpness)); }

TwoMotions::TwoMotions(int count) {
  for (int n = 0; n < count; ++n) {
    Bump bump{.end = time(n), .before = speed(n + 1), .after = speed(n)};
    const double length =
        2.0 * (time(n) - time(n + 1)) * bump.before / (bump.before + bump.after);  // d_n
    bump.begin = bump.end - length;
    bump.sharpness = 4.0 / (length * length);
    bump.integral = integrate(-bump.reach(), bump.reach(), [&](double s) { return bump.shape(s); });
    bumps_.push_back(bump);
  }
}

TwoMotions::Share TwoMotions::share(const Bump& bump, double s) {
  const double from = -bump.reach();
  if (s <= from) return {};
  Share share;
  share.once = integrate(from, s, [&](double r) { return bump.shape(r); }) / bump.integral;
  share.twice =
      integrate(from, s, [&](double r) { return (s - r) * bump.shape(r); }) / bump.integral;
  return share;
}

const TwoMotions::Bump& TwoMotions::bump_at(double t) const {
  for (std::size_t n = 0; n + 1 < bumps_.size(); ++n) {
    if (t >= time(static_cast<int>(n) + 1)) return bumps_[n];
  }
  return bumps_.back();
}

double TwoMotions::force(double t) const {
  const Bump& bump = bump_at(t);
  const double half = 0.5 * (bump.end - bump.begin);
  return (bump.before + bump.after) * bump.shape(bump.place(t)) / (bump.integral * half);
}

/// From the last impact on until the middle of the bump; from the next impact back after it, so
/// that x is as precise as it is small.
void TwoMotions::place(double t, double& x, double& u) const {
  const Bump& bump = bump_at(t);
  const double s = bump.place(t);
  const double half = 0.5 * (bump.end - bump.begin);
  const double momentum = bump.before + bump.after;
  if (s <= 0.0) {
    const Share gone = share(bump, s);
    const double last = time(static_cast<int>(&bump - bumps_.data()) + 1);
    x = bump.before * (t - last) - momentum * half * gone.twice;
    u = bump.before - momentum * gone.once;
  } else {
    const Share left = share(bump, -s);
    x = bump.after * (bump.end - t) - momentum * half * left.twice;
    u = -bump.after + momentum * left.once;
  }
}

namespace {

/// Whether a bump of length d_n between t_(n+1) and t_n, of momentum v_n + v_(n+1) and symmetric,
/// brings the particle from one impact to the next, for every n >= 0:
///
///     v_(n+1) (t_n - t_(n+1)) = (v_n + v_(n+1)) d_n / 2,   d_n <= t_n - t_(n+1),
///
/// with v_(n+1) = v_n/(n+1), t_n = 1/(n+1), d_n = 2/((n+1)(n+2)^2). Fractions multiplied out, both
/// are polynomials in n of degree at most 4, which are the same if they are at five numbers; so is
/// the difference of the second's two sides, whose factors are positive.
bool bumps_balance() {
  bool same = true;
  for (long long n = 0; n <= 4; ++n) {
    const long long flight = 1 * 1, flight_under = (n + 1) * (n + 1) * (n + 2);
    const long long turn = (n + 2) * 1, turn_under = (n + 1) * (n + 1) * (n + 2) * (n + 2);
    same = same && flight * turn_under == turn * flight_under;
    same = same && (n + 2) * (n + 2) * (n + 1) - 2 * (n + 2) * (n + 1) == n * (n + 1) * (n + 2);
  }
  return same;
}

}  // namespace

/// With kappa = (2/d_n)^2 = ((n+1)(n+2)^2)^2 the shape exp(-kappa s^2/(1-s^2)) has derivatives
/// P_k(s) (1-s^2)^(-2k) times itself, P_(k+1) = (1-s^2)^2 P_k' + 4 k s (1-s^2) P_k - 2 kappa s P_k,
/// so that sums of absolute coefficients obey |P_(k+1)| <= (20 k + 2 kappa)|P_k|, and for kappa >=
/// 2 k the rest is at most 1: no derivative is above (22 kappa)^k. Its integral is at least
/// sqrt(2/kappa)/e, the part |s| < 1/sqrt(2 kappa) alone. So
///
///     |f^(k)| <= (v_n + v_(n+1)) e/sqrt(2) 22^k kappa^((3k+2)/2) =: B_k(n),
///     B_k(n+1)/B_k(n) <= [(n+3)^2/((n+1)(n+2))]^(3k+2) / (n+1),
///
/// whose right side falls with n: below 1 at `first`, B_k falls for ever, and faster than any
/// geometric sequence.
TwoMotions::Tail TwoMotions::tail(int first, int derivatives) {
  Tail tail;
  tail.balances = bumps_balance();
  tail.decreases = first >= 1;
  const double n = first;
  const double root = (n + 1.0) * (n + 2.0) * (n + 2.0);  // sqrt(kappa)
  tail.speed = speed(first);
  tail.place = speed(first + 1) * (time(first) - time(first + 1));
  for (int k = 0; k <= derivatives; ++k) {
    const double power = 3.0 * k + 2.0;
    const double ratio = std::pow((n + 3.0) * (n + 3.0) / ((n + 1.0) * (n + 2.0)), power);
    tail.decreases = tail.decreases && ratio < n + 1.0 && root * root >= 2.0 * k;
    const double size = 1.0 + k * std::log(22.0) - 0.5 * std::log(2.0) + power * std::log(root) +
                        std::log((n + 2.0) / (n + 1.0)) - std::lgamma(n + 1.0);
    tail.force.push_back(std::exp(size));
  }
  return tail;
}

/// Begin, middle parts and end of every bump, impacts.
std::vector<double> TwoMotions::instants() const {
  std::vector<double> times;
  for (int n = static_cast<int>(bumps_.size()); n-- > 0;) {
    const Bump& bump = bumps_[static_cast<std::size_t>(n)];
    const double middle = 0.5 * (bump.begin + bump.end);
    const double width = 0.5 * (bump.end - bump.begin) * bump.reach();
    times.push_back(time(n + 1));
    if (bump.begin > times.back()) times.push_back(bump.begin);  // the first fills its interval
    if (bump.reach() < 1.0) times.insert(times.end(), {middle - width, middle + width});
  }
  times.push_back(1.0);
  return times;
}

FreeMotion TwoMotions::rest() const {
  FreeMotion motion{.instants = instants()};
  motion.at = [](double, Eigen::VectorXd& q, Eigen::VectorXd& u) {
    q.setZero(1);
    u.setZero(1);
  };
  motion.reaction = [*this](double t, Eigen::VectorXd& r) { r.setConstant(1, force(t)); };
  return motion;
}

FreeMotion TwoMotions::bounces() const {
  FreeMotion motion{.instants = instants()};
  motion.at = [*this](double t, Eigen::VectorXd& q, Eigen::VectorXd& u) {
    q.resize(1);
    u.resize(1);
    place(t, q[0], u[0]);
  };
  for (int n = static_cast<int>(bumps_.size()) - 1; n >= 0; --n) {
    const Eigen::VectorXd v = Eigen::VectorXd::Constant(1, speed(n));
    motion.atoms.push_back({.t = time(n), .before = -v, .after = v, .impulses = 2.0 * v});
  }
  return motion;
}

}  // namespace ricochet::study
