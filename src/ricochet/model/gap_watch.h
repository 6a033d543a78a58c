#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "ricochet/model/formula_model.h"

namespace ricochet::model {

/// A step as a path: q0 to q1, by q0 + h/2 u0 where `bends`, straight otherwise. Gaps are those of
/// its ends, and of a place ahead on the way along u0.
struct StepPath {
  double t{0.0};
  double h{0.0};
  const double *q0, *u0, *q1, *u1;
  const double *g0, *g, *g1;
  bool bends{false};
  bool rough{false};  // places are known to first order in h, as they are after impacts
};

/// Whether walls are stepped over between the ends of a step. Affine walls without end cannot be.
/// Each of the others has a box of places around the motion. Where the gap is proved positive in
/// all of it, or the row exists nowhere in it, the row is quiet, and need not be looked at while
/// the motion is in its box; so far from a wall boxes hold thousands of steps. Else bounds of
/// slopes and curves are kept for the box: while gaps at the ends are larger than what a step can
/// change, there is no crossing. What is left is cut until interval arithmetic proves each piece.
/// Of walls that are smaller than the step, whose normal turns from one end to the other, all
/// places where the motion may be are proved.
class GapWatch {
 public:
  explicit GapWatch(const FormulaModel& model);

  /// That are not affine, or do not exist everywhere, joints left out.
  std::span<const int> rows() const { return rows_; }
  std::span<const int> loud() const { return loud_; }      // those that are not quiet
  std::span<const int> absent() const { return absent_; }  // quiet: they exist nowhere in their box

  /// Whether a step that ends at t1 stays in the boxes of all quiet rows.
  template <class Q, class U>
  [[gnu::always_inline]] bool is_quiet(double t1, double h, const Q& q0, const Q& q1, const U& u0,
                                       const U& u1) const {
    if (loud_.size() == rows_.size()) return true;
    bool inside = t1 <= common_until_;
    const Ball* ball = common_.data();
    for (Eigen::Index i = 0; i < q0.size(); ++i, ++ball) {
      const double off = std::max(std::abs(q0[i] - ball->center), std::abs(q1[i] - ball->center));
      const double way = h * std::max(std::abs(u0[i]), std::abs(u1[i]));
      inside = inside & (off + 0.5 * way <= ball->radius);
    }
    return inside;
  }

  /// Whether all contacts have boxes in which their gaps are positive beyond rounding, and a place
  /// is in all of them, as one of a step for which `is_quiet` holds.
  template <class Q>
  [[gnu::always_inline]] bool is_far(const Q& q) const {
    bool inside = all_far_;
    const Ball* ball = common_.data();
    for (Eigen::Index i = 0; inside && i < q.size(); ++i, ++ball) {
      inside = std::abs(q[i] - ball->center) <= ball->radius;
    }
    return inside;
  }

  /// Whether gap `row` stays above 0 in a step: in its box if it is quiet, else by bounds of its
  /// slopes or of its curve.
  bool is_clear(const StepPath& path, int row) const {
    const auto a = static_cast<std::size_t>(row);
    // It comes from beyond, and is not there since the last step only.
    if (affine_[a] != 0 && path.g0[row] <= 0.0 && 2.0 * path.g0[row] <= path.g1[row]) return true;
    double way = rates_[a] * path.h;
    bool inside = path.t + path.h <= until_[a];
    for (std::size_t e = pattern_.begin(row); e < pattern_.end(row); ++e) {
      const auto i = static_cast<std::size_t>(pattern_.coordinates[e]);
      inside = inside && is_within(path, i, boxes_[e]);
      way += slopes_[e] * moved(path, i);
    }
    if (!inside || quiet_[a] != 0) return inside;
    return path.g0[row] + path.g1[row] > way ||
           std::min({path.g0[row], path.g[row], path.g1[row]}) > 0.25 * curve(path, row);
  }
  bool is_quiet(int row) const { return quiet_[static_cast<std::size_t>(row)] != 0; }
  /// Whether it is quiet because its gap is positive.
  bool is_open(int row) const { return quiet_[static_cast<std::size_t>(row)] == kOpen; }
  /// Contacts that push are not looked at, wherever they are; then they need another box.
  void make_loud(int row) {
    if (!is_quiet(row)) return;
    quiet_[static_cast<std::size_t>(row)] = 0;
    until_[static_cast<std::size_t>(row)] = -std::numeric_limits<double>::infinity();
  }
  /// After boxes or what is quiet have changed.
  void gather();

  enum class Verdict { Clear, Crossed, Undecided };
  struct Finding {
    Verdict verdict{Verdict::Clear};
    int contact{-1};
    double gap{0.0};
  };
  /// A step's own error in a gap, by h^2 (|J| |a|/4 + |d2g/dt2|/6): the smaller one of its ends
  /// that are not beyond the wall.
  double tolerance(const StepPath& path, int row);
  bool exists_at(double t, const double* q, int row);
  /// Whether the wall is smaller than the step, or than `before` steps and this one: its normal, in
  /// ways of the step, turns by more than 25 degrees from one end to the other.
  bool turns(const StepPath& path, int row, double before = 0.0);
  /// Looks at the path for the rows given.
  Finding look(const StepPath& path, std::span<const int> suspects);

 private:
  using Nodes = std::vector<formula::NodeId>;
  /// What has to be computed for a row, in this order; made when it is first needed.
  struct Plan {
    Nodes gap;     // with its `where`
    Nodes slopes;  // the gap too
    Nodes curves;  // empty where it has kinks, which second derivatives do not know of
    bool is_made{false};
    bool moves{false};  // the gap depends on t
    bool has_kinks{false};
    bool ends_in_box{false};  // its `where` depends on nothing but the coordinates of its box
  };
  struct Ball {
    double center{0.0}, radius{0.0};
  };
  struct Leg {
    double t{0.0}, dt{0.0};
    std::vector<double> from, way;
  };
  struct Piece {
    const Leg* leg;
    double from, to;
  };

  /// How far a coordinate goes in a step, at most.
  static double moved(const StepPath& path, std::size_t i) {
    return path.h * std::max(std::abs(path.u0[i]), std::abs(path.u1[i]));
  }
  static bool is_within(const StepPath& path, std::size_t i, formula::Range box) {
    const double half = 0.5 * moved(path, i);
    return std::min(path.q0[i], path.q1[i]) - half >= box.low &&
           std::max(path.q0[i], path.q1[i]) + half <= box.high;
  }
  /// A bound of h^2 d2g/dt2 for velocities as large as these.
  double curve(const StepPath& path, int row) const {
    if (curves_.empty()) return std::numeric_limits<double>::infinity();
    const std::size_t begin = pattern_.begin(row), end = pattern_.end(row);
    const auto way = [&](std::size_t e) {
      return e == end ? path.h : moved(path, static_cast<std::size_t>(pattern_.coordinates[e]));
    };
    const double* bound = curves_.data() + first_[static_cast<std::size_t>(row)];
    double sum = 0.0;
    for (std::size_t i = begin; i <= end; ++i) {
      double part = 0.5 * *bound++ * way(i);
      for (std::size_t j = i + 1; j <= end; ++j) part += *bound++ * way(j);
      sum += 2.0 * part * way(i);
    }
    return sum;
  }

  const Plan& plan(int row);
  void evaluate(const Nodes& nodes);
  formula::Range gap(int row) const;
  formula::Range slope(int row, std::size_t e) const;  // e = end of the row: dg/dt
  bool may_exist(int row) const;
  bool is_outside(const StepPath& path, int row) const;
  double take_box(const StepPath& path, int row, double reach);
  void take_curves(int row);
  void renew_box(const StepPath& path, int row);
  void try_few(const StepPath& path, int row);
  void take_legs(const StepPath& path);
  double gap_at(int row, double t, const double* q, const double* u, double dt);
  void take_tube(const StepPath& path, bool is_rough);
  void place_at(const Piece& piece, int row, double from, double to);
  double value_at(const Piece& piece, int row);
  bool is_free(const Piece& piece, int row, double allowed);
  void open(const StepPath& path);
  Finding search(const StepPath& path, int row, double allowed);
  Finding follow(const StepPath& path, int row);

  const FormulaModel& model_;
  const Pattern& pattern_;
  std::vector<int> rows_;
  std::vector<formula::Range> boxes_;            // by entry of the pattern
  std::vector<double> slopes_;                   // the same
  std::vector<double> rates_, until_;            // by row
  std::vector<double> reach_;                    // steps that the box of a row is made for
  static constexpr char kOpen = 1, kAbsent = 2;  // why a row is quiet; 0: it is not
  std::vector<char> quiet_, affine_;             // by row
  std::vector<char> far_;                        // the same: quiet, and positive beyond rounding
  bool all_far_{false};                          // all contacts are
  std::vector<int> loud_, absent_;
  std::vector<Ball> common_;  // what the boxes of quiet rows have in common, by coordinate
  std::vector<formula::Range> shared_;  // the same as ranges
  double common_until_{0.0};
  std::vector<double> curves_;          // bounds of second derivatives, if they are there
  std::vector<std::size_t> first_;      // of them, by row
  std::vector<double> most_;            // the longest way of a coordinate in a step so far
  std::vector<Plan> plans_;             // by row
  std::vector<formula::Range> inputs_;  // t, q
  std::vector<formula::Range> values_;  // by node
  std::vector<Leg> legs_;
  std::vector<Piece> pieces_;
  std::vector<double> first_speeds_;  // of the first step that was looked at
  std::vector<double> tube_;          // by coordinate: how far the motion may be from the path
  std::vector<double> normal_;
  double middle_{0.0}, spread_{0.0};  // of the last piece: its gap, and what the tube adds
};

}  // namespace ricochet::model
