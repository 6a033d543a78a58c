#include "ricochet/model/outside.h"

#include <algorithm>
#include <cmath>

namespace ricochet::model {
namespace {

std::span<const double> view(const Vector<kDynamic>& v) {
  return {v.data(), static_cast<std::size_t>(v.size())};
}

/// (M(q + h e_i) - M(q - h e_i)) weight, added to the slope.
void add_difference(const Outside& outside, int i, double h, double weight, OutsideScratch& s) {
  const double at = s.point[i];
  for (const double side : {1.0, -1.0}) {
    s.point[i] = at + side * h;
    outside.mass(view(s.point), s.mass);
    s.slope += side * weight * s.mass;
  }
  s.point[i] = at;
}

}  // namespace

void differ_mass(const Outside& outside, const Vector<kDynamic>& q, const Vector<kDynamic>& u,
                 OutsideScratch& s, Vector<kDynamic>& slope, Vector<kDynamic>* turn) {
  constexpr double kPart = 1e-3;  // eps^(1/5): where truncation and rounding are as small
  s.point = q;
  if (turn != nullptr) turn->setZero();
  for (int i = 0; i < q.size(); ++i) {
    const double h = kPart * std::max(1.0, std::abs(q[i]));
    s.slope.setZero();
    add_difference(outside, i, h, -1.0 / (6.0 * h), s);
    add_difference(outside, i, 0.5 * h, 4.0 / (3.0 * h), s);
    s.product.noalias() = s.slope * u;
    slope[i] = 0.5 * u.dot(s.product);
    if (turn != nullptr) *turn += u[i] * s.product;
  }
}

}  // namespace ricochet::model
