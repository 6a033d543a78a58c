#pragma once

#include <algorithm>
#include <cmath>

#include "ricochet/certify/trial.h"

/// Contacts that are coupled through W: a residual is small beside the impulses of its own island,
/// not beside those of a heavy body elsewhere.
namespace ricochet::certify {

/// Where the residual of place k is kept; nowhere where it is alone.
template <model::Model M>
[[gnu::always_inline]] inline problem::ResidualPart* part_of(Context<M>& c, const Trial<M>& s,
                                                             int k) {
  if constexpr (M::kContacts == 1) return nullptr;
  return s.claim.active.size() > 1 ? &c.islands.parts[static_cast<std::size_t>(k)] : nullptr;
}

template <model::Model M>
[[gnu::always_inline]] inline void clear_parts(Context<M>& c, const Trial<M>& s) {
  for (int k = 0; part_of(c, s, 0) != nullptr && k < s.claim.active.size(); ++k) {
    *part_of(c, s, k) = {};
  }
}

/// Joins all coordinates that an impulse along row `row` moves; one of them, or -1.
template <model::Model M, class Rows>
int join_row(Context<M>& c, Trial<M>& s, const Rows& rows, int row, int first) {
  Islands& islands = c.islands;
  const auto join = [&](int i, double entry) {
    if (entry == 0.0) return;
    if (first < 0) first = i;
    islands.join(first, i);
  };
  rows.each(row, join);
  const auto& mass = c.model.mass(c.place);
  if constexpr (requires { mass.inverse_diagonal(); }) {
    if (mass.inverse_diagonal() != nullptr) return first;
  }
  rows.copy_to(row, s.start_momentum);
  mass.solve(s.start_momentum, s.work);
  for (int i = 0; i < c.model.dofs(); ++i) join(i, s.work[i]);
  return first;
}

/// The islands of the active rows, whose gradients are in c.place.
template <model::Model M>
void find_islands(Context<M>& c, Trial<M>& s) {
  Islands& islands = c.islands;
  islands.open(c.model.dofs());
  for (int k = 0; k < s.claim.active.size(); ++k) {
    const int a = s.claim.active[k];
    int first = join_row(c, s, c.place.normals, a, -1);
    if constexpr (M::kSlips > 0) {
      const int slips = a < c.contacts() ? c.model.slips(a) : 0;
      for (int j = 0; j < slips; ++j) {
        first = join_row(c, s, c.place.tangents, M::kSlips * a + j, first);
      }
    }
    islands.member[static_cast<std::size_t>(k)] = std::max(first, 0);
  }
}

/// The islands, and the largest scale of each.
template <model::Model M>
void take_scales(Context<M>& c, Trial<M>& s) {
  find_islands(c, s);
  Islands& islands = c.islands;
  std::fill(islands.scale.begin(), islands.scale.end(), 0.0);
  for (std::size_t k = 0; k < static_cast<std::size_t>(s.claim.active.size()); ++k) {
    double& scale = islands.scale_of(k);
    scale = std::max(scale, islands.parts[k].scale);
  }
}

/// Whether the active rows, few of them, all depend on one coordinate: then they are one island,
/// which need not be searched for.
template <model::Model M>
[[gnu::noinline]] bool share_coordinate(const Context<M>& c, const Trial<M>& s) {
  constexpr int kFew = 4;
  const auto& active = s.claim.active;
  if (active.size() > kFew) return false;
  bool shared = false;
  c.place.normals.each(active[0], [&](int i, double entry) {
    bool all = entry != 0.0;
    for (int k = 1; all && k < active.size(); ++k) {
      all = false;
      c.place.normals.each(active[k],
                           [&](int j, double other) { all = all || (j == i && other != 0.0); });
    }
    shared = shared || all;
  });
  return shared;
}

/// max_k of the distance over the largest scale of its island.
template <model::Model M>
[[gnu::cold, gnu::noinline]] double island_residual(Context<M>& c, Trial<M>& s) {
  take_scales(c, s);
  Islands& islands = c.islands;
  const auto count = static_cast<std::size_t>(s.claim.active.size());
  double worst = 0.0;
  for (std::size_t k = 0; k < count; ++k) {
    const double distance = islands.parts[k].distance;
    if (distance > problem::Residual::kSmallest) {
      worst = std::max(worst, distance / islands.scale_of(k));
    }
  }
  return worst;
}

/// The largest impulse in the island of place k.
template <model::Model M>
[[gnu::cold, gnu::noinline]] double largest_impulse(Context<M>& c, Trial<M>& s, int k) {
  const auto at = static_cast<std::size_t>(k);
  if (part_of(c, s, k) == nullptr) return std::abs(s.claim.impulses[k]);
  find_islands(c, s);
  double most = 0.0;
  for (int other = 0; other < s.claim.active.size(); ++other) {
    if (&c.islands.scale_of(static_cast<std::size_t>(other)) != &c.islands.scale_of(at)) continue;
    most = std::max(most, std::abs(s.claim.impulses[other]));
  }
  return most;
}

}  // namespace ricochet::certify
