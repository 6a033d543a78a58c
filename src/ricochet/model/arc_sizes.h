#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ricochet/model/model.h"

namespace ricochet::model {

/// Whether contact a takes speed away at this approach and at all slower ones, so that impacts can
/// end in rest.
template <Model M>
bool loses_speed(const M& model, int a, double t, const Vector<M::kPlaces>& q,
                 const Vector<M::kDofs>& u, double approach, typename M::Place& place) {
  constexpr double kElastic = 1.0 - 1e-9;
  if constexpr (ImpactModel<M>) {
    if (model.has_laws() && model.restitution_varies(a)) {
      for (int halvings = 0; halvings < 60; ++halvings, approach *= 0.5) {
        if (!(model.restitution_at(a, t, q, u, approach, place) < kElastic)) return false;
      }
      return true;
    }
    if (model.has_laws() && model.impact_kind(a) == ImpactKind::Own) return true;
  }
  return model.restitution(a) < kElastic;
}

/// Whether impacts obey more than a constant e.
template <Model M>
bool has_other_laws(const M& model) {
  if constexpr (ImpactModel<M>) return model.has_laws();
  return false;
}

/// Whether contact a may be struck more than once at rest.
template <Model M>
bool bounces(const M& model, int a) {
  return has_other_laws(model) || model.restitution(a) > 0.0;
}

/// Whether all further impacts of a contact that is struck at speed `approach` fall within a time:
/// hops under its closing acceleration d2g/dt2, each e times as long as the one before.
inline bool ends_within(double e, double approach, double closing, double time) {
  return closing < 0.0 && 2.0 * e * approach <= -closing * (1.0 - e) * time;
}

/// Walls beyond which a motion starts are where it starts, until their gaps open.
template <Model M>
void open_gaps(ArcSizes& sizes, const M& model, double t, const Vector<M::kPlaces>& q) {
  if (!sizes.beyond.empty()) return;
  typename M::Place place = model.make_place();
  model.gaps(t, q, place);
  for (int a = 0; a < model.contacts(); ++a) {
    const bool crossed = place.gap[a] < 0.0 && model.exists(a, place);
    sizes.beyond.push_back(crossed ? place.gap[a] : 0.0);
  }
}
template <class Gaps>
void follow_gaps(ArcSizes& sizes, const Gaps& gaps) {
  for (std::size_t a = 0; a < sizes.beyond.size(); ++a) {
    if (gaps[static_cast<Eigen::Index>(a)] > 0.0) sizes.beyond[a] = 0.0;
  }
}

/// Takes the size of a place.
template <Model M>
void grow(ArcSizes& sizes, const M& model, const Vector<M::kPlaces>& q, Vector<M::kDofs>& size) {
  difference_size(model, q, size);
  const auto n = static_cast<std::size_t>(size.size());
  for (std::vector<double>* list : {&sizes.places, &sizes.q, &sizes.u}) list->resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    sizes.places[i] = std::max(sizes.places[i], size[static_cast<Eigen::Index>(i)]);
  }
}

/// Takes those of an arc of length h that ends at q, from u0 to u1, `force` being M du/dt without
/// contacts, at a place whose mass is loaded.
template <Model M>
void grow(ArcSizes& sizes, const M& model, const typename M::Place& place, double h,
          const Vector<M::kPlaces>& q, const Vector<M::kDofs>& u0, const Vector<M::kDofs>& u1,
          const Vector<M::kDofs>& force, Vector<M::kDofs>& one, Vector<M::kDofs>& out) {
  grow(sizes, model, q, out);
  const auto& mass = model.mass(place);
  mass.solve(force, out);
  sizes.energy = std::max(
      {sizes.energy, mass.half_square(u0), mass.half_square(u1), 0.5 * h * h * force.dot(out)});
  one.setZero();
  for (std::size_t k = 0; k < sizes.u.size(); ++k) {
    const auto i = static_cast<Eigen::Index>(k);
    one[i] = 1.0;
    mass.apply(one, out);
    const double floor = ArcSizes::kPart * std::sqrt(2.0 * sizes.energy / out[i]);
    one[i] = 0.0;
    sizes.u[k] = std::max({sizes.u[k], std::abs(u0[i]), std::abs(u1[i]), floor});
    sizes.q[k] = std::max(sizes.q[k], h * sizes.u[k]);
  }
}

/// What a change of all places by `sizes` makes of gap a.
template <class TheNormals>
double reach(const TheNormals& normals, int a, const std::vector<double>& sizes) {
  double sum = 0.0;
  normals.each(
      a, [&](int i, double value) { sum += std::abs(value) * sizes[static_cast<std::size_t>(i)]; });
  return sum;
}

/// What gap a is computed from, for its rounding.
template <class TheNormals>
double gap_size(const TheNormals& normals, int a, const ArcSizes& sizes) {
  return reach(normals, a, sizes.places) + reach(normals, a, sizes.q);
}

/// The largest of `errors` over `sizes`, less what rounding explains.
template <class V>
double relative(const V& errors, const std::vector<double>& sizes, const V& rounding) {
  double worst = 0.0;
  for (Eigen::Index i = 0; i < errors.size(); ++i) {
    const double error = std::abs(errors[i]) - rounding[i];
    if (std::isnan(error)) return std::numeric_limits<double>::infinity();
    if (error > 0.0) worst = std::max(worst, error / sizes[static_cast<std::size_t>(i)]);
  }
  return worst;
}

}  // namespace ricochet::model
