#include "ricochet/model/outside.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ricochet::model {
namespace {

std::span<const double> view(const Vector<kDynamic>& v) {
  return {v.data(), static_cast<std::size_t>(v.size())};
}

/// (M(q + h e_i) - M(q - h e_i)) / 2h
void take_difference(const Outside& outside, int i, double h, OutsideScratch& s,
                     Matrix<kDynamic, kDynamic>& slope) {
  const double at = s.point[i];
  slope.setZero();
  for (const double side : {1.0, -1.0}) {
    s.point[i] = at + side * h;
    outside.mass(view(s.point), s.mass);
    slope += (0.5 * side / h) * s.mass;
  }
  s.point[i] = at;
}

/// dM/dq_i by two differences, extrapolated; returns by how much they are apart.
double extrapolate(const Outside& outside, int i, double h, OutsideScratch& s) {
  take_difference(outside, i, h, s, s.coarse);
  take_difference(outside, i, 0.5 * h, s, s.slope);
  const double apart = (s.slope - s.coarse).cwiseAbs().maxCoeff();
  s.slope += (s.slope - s.coarse) / 3.0;
  return apart;
}

/// Where the two differences do not agree, M changes within their step, and a shorter one is tried;
/// where none agrees, M is rough, and the one that comes nearest is taken.
void differ_one(const Outside& outside, int i, double size, OutsideScratch& s) {
  constexpr double kPart = 1e-3;   // eps^(1/5): where truncation and rounding are as small
  constexpr double kAgree = 1e-4;  // the extrapolated one is better by about as much again
  constexpr double kRough = 1e-6;  // of M: what may be rounding of a table, not a change
  double least = std::numeric_limits<double>::infinity();
  double best = kPart * size;
  double h = best;
  for (int attempt = 0; attempt < 4; ++attempt, h *= 0.1) {
    const double apart = extrapolate(outside, i, h, s);
    const double rough = kRough * s.mass.cwiseAbs().maxCoeff() / h;
    const double allowed = kAgree * s.slope.cwiseAbs().maxCoeff() + rough;
    if (!(apart > allowed)) return;
    if (apart < least) {
      least = apart;
      best = h;
    }
  }
  (void)extrapolate(outside, i, best, s);
}

}  // namespace

void differ_mass(const Outside& outside, const Vector<kDynamic>& q, const Vector<kDynamic>& u,
                 OutsideScratch& s, Vector<kDynamic>& slope, Vector<kDynamic>* turn) {
  s.point = q;
  if (turn != nullptr) turn->setZero();
  for (int i = 0; i < q.size(); ++i) {
    differ_one(outside, i, std::max(1.0, std::abs(q[i])), s);
    s.product.noalias() = s.slope * u;
    slope[i] = 0.5 * u.dot(s.product);
    if (turn != nullptr) *turn += u[i] * s.product;
  }
}

}  // namespace ricochet::model
