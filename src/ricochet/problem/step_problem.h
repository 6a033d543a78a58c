#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <limits>
#include <vector>

#include "ricochet/convex/section.h"
#include "ricochet/problem/step_metric.h"
#include "ricochet/problem/warm_start.h"

namespace ricochet::problem {

/// One step's contacts and joints, from one to a million, as plain data:
///
///     find R_i in C_i with  U = W R + b,   U_N >= 0, U_N R_N = 0,  -U_T in the normal cone of
///     R_N D_i at R_T,        W = G M^-1 G^T = A^T A,  A = L^-1 G^T.     [Moreau 1986 (11.14)]
///
/// Rows of G come contact by contact, the normal one first, then one or two tangential ones, or
/// none where there is no friction: then R_N >= 0, U_N >= 0, R_N U_N = 0. The last `held` rows are
/// joints: U = 0 and R of any sign. Rows are kept by their entries that are not zero, coordinates
/// ascending. Friction without a contact, of a bound that is known beforehand, has a coordinate of
/// its own for a normal: what presses there is the bound, whatever the others do.
///
/// Filled by begin, and for each row add (entry by entry) and end_row; each contact is said before
/// its rows. Storage is kept from step to step.
struct StepProblem {
  static constexpr Key kNoKey = std::numeric_limits<Key>::max();

  struct Contact {
    int first{0};  // its normal row
    int slips{0};  // tangential rows after it
    convex::Section section{convex::Disc{}};
    Key key{kNoKey};  // the same from step to step
  };

  int dofs{0};
  int held{0};
  StepMetric metric;
  std::vector<Contact> contacts;
  std::vector<std::size_t> start{0};  // of each row's entries; one more than rows
  std::vector<int> coordinate;
  std::vector<double> value;
  std::vector<double> free;   // b: the velocity v = U + e U_ref without impulses
  std::vector<double> noise;  // bound for the rounding error of each b

  int rows() const { return static_cast<int>(free.size()); }
  int contact_rows() const { return rows() - held; }
  int count() const { return static_cast<int>(contacts.size()); }
  bool has_friction() const {
    return std::any_of(contacts.begin(), contacts.end(), [](auto& c) { return c.slips > 0; });
  }

  /// Room for so many rows of all coordinates, but not beyond what few rows need.
  void reserve(int coordinates, int count) {
    const auto room = static_cast<std::size_t>(count);
    const std::size_t entries = room * static_cast<std::size_t>(std::min(coordinates, 64));
    contacts.reserve(room);
    start.reserve(room + 1);
    coordinate.reserve(entries);
    value.reserve(entries);
    free.reserve(room);
    noise.reserve(room);
  }
  /// `bounds`: normals that have a coordinate of their own, after those of the metric.
  void begin(int new_dofs, StepMetric new_metric, int bounds = 0) {
    dofs = new_dofs + bounds;
    held = 0;
    metric = new_metric;
    if (bounds > 0) metric.end_at(new_dofs);
    contacts.clear();
    start.resize(1);
    coordinate.clear();
    value.clear();
    free.clear();
    noise.clear();
  }
  /// The rows that follow are of this contact.
  Contact& add_contact(int slips, Key key) {
    return contacts.emplace_back(Contact{rows(), slips, convex::Disc{}, key});
  }
  void add(int i, double entry) {
    if (entry == 0.0) return;
    coordinate.push_back(i);
    value.push_back(entry);
  }
  void end_row(double b = 0.0, double rounding = 0.0) {
    start.push_back(coordinate.size());
    free.push_back(b);
    noise.push_back(rounding);
  }

  /// Calls work(coordinate, entry) for the entries of a row of G.
  template <class Work>
  void each(int row, Work&& work) const {
    const std::size_t end = start[static_cast<std::size_t>(row) + 1];
    for (std::size_t e = start[static_cast<std::size_t>(row)]; e < end; ++e) {
      work(coordinate[e], value[e]);
    }
  }
  /// A column of A = L^-1 G^T with its zeros, `out` having `dofs` entries. `scratch` is for metrics
  /// that are not diagonal.
  template <class Out>
  void column(int row, Out&& out, Eigen::VectorXd& scratch) const {
    if (metric.is_diagonal()) {
      out.setZero();
      each(row, [&](int i, double entry) { out[i] = metric.half_inverse(i) * entry; });
      return;
    }
    const int own = std::min(dofs, metric.own());
    scratch.setZero(own);
    if (own < dofs) out.setZero();
    each(row, [&](int i, double entry) { (i < own ? scratch[i] : out[i]) = entry; });
    metric.half_solve(scratch);
    out.head(own) = scratch;
  }
  /// A_i . A_j, M diagonal.
  double product(int i, int j) const {
    double sum = 0.0;
    std::size_t e = start[static_cast<std::size_t>(j)];
    const std::size_t end = start[static_cast<std::size_t>(j) + 1];
    each(i, [&](int c, double entry) {
      while (e < end && coordinate[e] < c) ++e;
      if (e == end || coordinate[e] != c) return;
      sum += (metric.half_inverse(c) * entry) * (metric.half_inverse(c) * value[e]);
    });
    return sum;
  }
  /// out += G^T R.
  template <class Impulse>
  void add_momentum(Impulse&& impulse, Eigen::VectorXd& out) const {
    for (int row = 0; row < rows(); ++row) {
      const double R = impulse(row);
      each(row, [&](int i, double entry) { out[i] += R * entry; });
    }
  }
};

}  // namespace ricochet::problem
