#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "ricochet/model/formula_model.h"
#include "ricochet/model/model.h"

namespace ricochet::model {

/// Where a formula model is looked at: registers of its tapes, one file for each use.
template <int N, int K, int T>
struct FormulaPlace : ContactPlace<N, K, T> {
  using ContactPlace<N, K, T>::ContactPlace;
  std::vector<double> friction_registers;
  std::vector<double> gap_registers;
  std::vector<double> cone_registers;
  std::vector<double> end_registers;
  std::vector<double> slack_registers;
  std::vector<double> force_registers;
  std::vector<double> mass_registers;  // these three only where the mass varies
  std::vector<double> momentum_registers;
  std::vector<double> applied_registers;
  std::vector<double> law_registers;  // where some contact has a law of its own
  Matrix<kDynamic, kDynamic> mass_matrix;
  std::vector<convex::Metric<N>> varying_mass;  // one, or none
  Vector<N> mass_q;                             // where it was made by formulas
  bool has_mass{false};                         // it was
  bool has_momentum{false};                     // the momentum registers hold results
  std::vector<char> exists;                     // by row, where some row has a `where`
  double outside_t{0.0};  // where functions of a program were asked for gaps, if there are any
  Vector<N> outside_q;
  std::vector<double> outside_slope;
  OutsideScratch outside_mass;
  bool expects_contact{false};  // gradients were wanted last time, so they are computed at once
  bool has_gradients{false};    // they were, and lie in the cone registers
  bool is_end{false};           // gaps were taken with the potential

  /// The registers with the t and q of the gaps.
  const std::vector<double>& seen() const {
    if (is_end) return end_registers;
    return has_gradients ? cone_registers : gap_registers;
  }
  bool has_slack{false};  // the slack registers hold the slopes of these gaps
};

template <class Vec>
auto view_of(const Vec& v) {
  return std::span(v.data(), static_cast<std::size_t>(v.size()));
}

/// Whether two lists of numbers are the same, bit by bit: 0 and -0 are two numbers.
[[gnu::always_inline]] inline bool has_same_bits(const double* a, const double* b, Eigen::Index n) {
  std::uint64_t off = 0;
  for (Eigen::Index i = 0; i < n; ++i) {
    std::uint64_t one = 0, other = 0;
    std::memcpy(&one, a + i, sizeof one);
    std::memcpy(&other, b + i, sizeof other);
    off |= one ^ other;
  }
  return off == 0;
}

/// Whether rows exist, from the registers of a tape with the gaps; one whose `where` is no number
/// has no gap either.
template <int N, int K, int T>
[[gnu::noinline]] void read_where(const double* r, const std::size_t* at,
                                  FormulaPlace<N, K, T>& place) {
  const int rows = K == kDynamic ? static_cast<int>(place.exists.size()) : K;
  for (int a = 0; a < rows; ++a) {
    const double where = r[at[a]];
    place.exists[static_cast<std::size_t>(a)] = where != 0.0 ? 1 : 0;
    if (where != where) place.gap[a] = where;
  }
}

/// Gaps that functions of a program give.
template <int N, int K, int T>
[[gnu::noinline]] void take_outside_gaps(const FormulaModel& model, double t, const Vector<N>& q,
                                         FormulaPlace<N, K, T>& place) {
  place.outside_t = t;
  place.outside_q = q;
  for (int a = 0; a < model.contacts(); ++a) {
    const int number = model.outside_gap(a);
    if (number >= 0) place.gap[a] = model.outside()->gap(number, t, view_of(q));
  }
}

/// And their slopes.
template <int N, int K, int T>
[[gnu::noinline]] void take_outside_slopes(const FormulaModel& model, const IndexList<K>& active,
                                           FormulaPlace<N, K, T>& place) {
  const Pattern& pattern = model.pattern();
  for (const int a : active) {
    const int number = model.outside_gap(a);
    if (number < 0) continue;
    place.outside_slope.resize(static_cast<std::size_t>(model.dofs()));
    place.rate[a] = model.outside()->slope(number, place.outside_t, view_of(place.outside_q),
                                           place.outside_slope);
    for (std::size_t e = pattern.begin(a); e < pattern.end(a); ++e) {
      const int i = pattern.coordinates[e];
      place.normals.set(a, e, i, place.outside_slope[static_cast<std::size_t>(i)]);
    }
  }
}

/// M(q) by formulas, factored; what is there already where q has the bits it was made for. False
/// when it is not positive definite.
template <int N, int K, int T>
bool load_formula_mass(const FormulaModel& model, const Vector<N>& q,
                       FormulaPlace<N, K, T>& place) {
  if (place.has_mass && has_same_bits(q.data(), place.mass_q.data(), q.size())) return true;
  double* const r = place.mass_registers.data();
  for (Eigen::Index i = 0; i < q.size(); ++i) r[1 + i] = q[i];
  model.mass_tape().run(0, r);
  convex::FullMetric<N>& mass = place.varying_mass[0].as_full();
  double* const entries = mass.entries();
  const std::size_t* at = model.mass_tape().outputs(0).data();
  for (const auto& [row, column] : model.mass_places()) {
    const double entry = r[*at++];
    entries[row * q.size() + column] = entries[column * q.size() + row] = entry;
  }
  place.has_mass = mass.refactor();
  place.mass_q = q;
  return place.has_mass;
}

/// dT/du and dT/dq in the momentum registers of the place, which depend on q and u alone; what is
/// there already where both have the bits it was made for, as where a step begins at the place and
/// velocity of the last round of the step before.
template <int N, int K, int T>
const double* load_momentum(const FormulaModel& model, const Vector<N>& q, const Vector<N>& u,
                            FormulaPlace<N, K, T>& place) {
  double* const r = place.momentum_registers.data();
  double* const at_q = r + 1;
  double* const at_u = at_q + q.size();
  if (place.has_momentum && has_same_bits(q.data(), at_q, q.size()) &&
      has_same_bits(u.data(), at_u, u.size())) {
    return r;
  }
  r[0] = 0.0;
  for (Eigen::Index i = 0; i < q.size(); ++i) at_q[i] = q[i];
  for (Eigen::Index i = 0; i < u.size(); ++i) at_u[i] = u[i];
  model.momentum_tape().run(0, r);
  place.has_momentum = true;
  return r;
}

/// The tangential side of contact a from the registers of the friction tape.
template <int N, int K, int T>
void read_slips(const FormulaModel& model, const double* r, int a, int directions,
                FormulaPlace<N, K, T>& place) {
  const std::vector<std::size_t>& at = model.friction_tape().outputs(0);
  const Pattern& pattern = model.slip_pattern();
  std::size_t output = model.friction_output(a);
  if (directions == 0) return;
  for (int j = 0; j < directions; ++j) {
    const std::size_t end = pattern.end(2 * a + j);
    for (std::size_t e = pattern.begin(2 * a + j); e < end; ++e) {
      place.tangents.set(T * a + j, e, pattern.coordinates[e], r[at[output++]]);
    }
    place.slip_rate[T * a + j] = r[at[output++]];
  }
  place.stretch[a] = r[at[output++]];
  place.coefficients[2 * a] = r[at[output++]];
  place.coefficients[2 * a + 1] = r[at[output]];
}

}  // namespace ricochet::model
