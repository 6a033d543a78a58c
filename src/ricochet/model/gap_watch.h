#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "ricochet/model/formula_model.h"

namespace ricochet::model {

/// A step as a path: q0 to q1, by q0 + h/2 u0 where `bends`, straight otherwise.
struct StepPath {
  double t{0.0};
  double h{0.0};
  std::span<const double> q0, u0, q1, u1;
  bool bends{false};
};

/// Whether walls are stepped over between the ends of a step. Gaps that are affine cannot be. Of
/// the others bounds of slopes and curves are kept for a box of places: while the motion is in it
/// and gaps at the ends are larger than what a step can change, nothing has to be looked at. Else
/// the path is cut until interval arithmetic proves each piece.
class GapWatch {
 public:
  explicit GapWatch(const FormulaModel& model);

  std::span<const int> rows() const { return rows_; }  // that are not affine, joints left out

  /// Whether gap `row` stays above 0 in a step, by bounds of its slopes, or else of its curve. g0
  /// and g1 are at the ends, g at a place ahead on the way along u0.
  bool is_clear(int row, double g0, double g, double g1, double t, double h, const double* q1,
                const double* u0, const double* u1) const {
    const auto a = static_cast<std::size_t>(row);
    double way = rates_[a] * h;
    bool inside = t + h <= until_[a];
    for (std::size_t e = pattern_.begin(row); e < pattern_.end(row); ++e) {
      const int i = pattern_.coordinates[e];
      const double moved = h * std::max(std::abs(u0[i]), std::abs(u1[i]));
      inside = inside && q1[i] - moved >= low_[e] && q1[i] + moved <= high_[e];
      way += slopes_[e] * moved;
    }
    if (!inside) return false;
    return g0 + g1 > way || std::min({g0, g, g1}) > 0.25 * curve(row, h, u0, u1);
  }

  enum class Verdict { Clear, Crossed, Undecided };
  struct Finding {
    Verdict verdict{Verdict::Clear};
    int contact{-1};
    double gap{0.0};
  };
  /// A step's own error in a gap, by h^2 (|J| |a|/4 + |d2g/dt2|/6): the smaller one of its ends
  /// that are not beyond the wall.
  double tolerance(const StepPath& path, int row);
  bool exists_at_start(const StepPath& path, int row);
  /// Looks at the path for the rows given. Gaps that fall below 0 by no more than the step's own
  /// error are no crossing.
  Finding look(const StepPath& path, std::span<const int> suspects);

 private:
  using Nodes = std::vector<formula::NodeId>;
  /// What has to be computed for a row, in this order; made when it is first needed.
  struct Plan {
    Nodes gap;     // with its `where`
    Nodes slopes;  // the gap too
    Nodes curves;  // empty where it has kinks, which second derivatives do not know of
    bool is_made{false};
  };
  struct Leg {
    double t{0.0}, dt{0.0};
    std::vector<double> from, way;
  };
  struct Piece {
    const Leg* leg;
    double from, to;
  };

  /// A bound of h^2 d2g/dt2 for velocities as large as these.
  double curve(int row, double h, const double* u0, const double* u1) const {
    if (curves_.empty()) return std::numeric_limits<double>::infinity();
    const std::size_t begin = pattern_.begin(row), end = pattern_.end(row);
    const auto moved = [&](std::size_t e) {
      if (e == end) return h;
      const int i = pattern_.coordinates[e];
      return h * std::max(std::abs(u0[i]), std::abs(u1[i]));
    };
    const double* bound = curves_.data() + first_[static_cast<std::size_t>(row)];
    double sum = 0.0;
    for (std::size_t i = begin; i <= end; ++i) {
      double part = 0.5 * *bound++ * moved(i);
      for (std::size_t j = i + 1; j <= end; ++j) part += *bound++ * moved(j);
      sum += 2.0 * part * moved(i);
    }
    return sum;
  }

  const Plan& plan(int row);
  void evaluate(const Nodes& nodes);
  formula::Range gap(int row) const;
  formula::Range slope(int row, std::size_t e) const;  // e = end of the row: dg/dt
  bool may_exist(int row) const;
  bool is_outside(const StepPath& path, int row) const;
  void take_box(const StepPath& path, int row, double reach);
  void take_legs(const StepPath& path);
  double gap_at(int row, double t, std::span<const double> q, std::span<const double> u, double dt);
  void place_at(const Piece& piece, int row, double from, double to);
  double value_at(const Piece& piece, int row);
  bool is_free(const Piece& piece, int row, double allowed);
  Finding search(int row, double allowed);

  const FormulaModel& model_;
  const Pattern& pattern_;
  std::vector<int> rows_;
  std::vector<double> low_, high_, slopes_;  // by entry of the pattern
  std::vector<double> rates_, until_;        // by row
  std::vector<double> curves_;               // bounds of second derivatives, if they are there
  std::vector<std::size_t> first_;           // of them, by row
  std::vector<double> most_;                 // the longest way of a coordinate in a step so far
  std::vector<Plan> plans_;                  // by row
  std::vector<formula::Range> inputs_;       // t, q
  std::vector<formula::Range> values_;       // by node
  std::vector<Leg> legs_;
  std::vector<Piece> pieces_;
};

}  // namespace ricochet::model
