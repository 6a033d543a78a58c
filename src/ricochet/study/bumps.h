#pragma once

#include <optional>
#include <vector>

#include "ricochet/model/formula_model.h"
#include "ricochet/step/outcome.h"

namespace ricochet::study {

/// Looks for bumps of joints, and of walls that are pushed or entered, between the ends of steps,
/// where no scheme sees them: the gap must go from one end to the other nearly as a line, a
/// parabola or a kink does.
///
/// Of each row bounds of second derivatives are kept for a box of places around the motion. Where
/// they leave room for a bump that matters, the way of a step is cut until interval arithmetic
/// proves each piece.
class Bumps {
 public:
  /// Nothing is looked at without formulas. `are_springs`: walls are springs, whose gaps must grow
  /// nearly evenly with their depth.
  Bumps(const model::FormulaModel* model, bool are_springs);

  bool has_work() const { return !rows_.empty(); }
  /// Samples of every step.
  void add(const step::Sample& sample) {
    if (has_work()) follow(sample);
  }
  struct Bump {
    double t{0.0};  // [s]
    std::size_t contact{0};
  };
  const std::optional<Bump>& first() const { return first_; }
  /// A spring's gap whose slope changes twofold while it is pressed.
  const std::optional<Bump>& uneven() const { return uneven_; }

 private:
  struct Row {
    int contact{0};
    bool is_joint{false};
    bool moves{false};  // the gap depends on t
    std::vector<std::size_t> coordinates;
    formula::Tape tape;            // g; then its slopes; then second derivatives, upper triangle
    std::vector<double> curves;    // bounds of the last
    double size{0.0};              // |dg/dq| in the metric of the masses
    double reach{64.0};            // steps that the box is made for
    double least{0.0}, most{0.0};  // size, while a spring is pressed
    formula::Range times;          // of the box, where the gap depends on t
    std::vector<formula::Range> box;
  };

  void follow(const step::Sample& sample);
  double moved(std::size_t i) const { return std::abs(q1_[i] - q0_[i]); }
  bool is_inside(const Row& row) const;
  void take_box(Row& row);
  double curve(const Row& row) const;
  bool is_straight(const Row& row, double square) const;
  double gap_at(Row& row, double s);
  double size_at_end(Row& row);
  void follow_spring(Row& row, double gap);
  bool has_bump(Row& row, double limit, double at);
  bool goes_on() const;

  const model::FormulaModel* model_;
  bool are_springs_;
  std::vector<Row> rows_;
  std::vector<double> q_, q0_, q1_;  // before the step before, before the step, after it
  std::vector<double> registers_;
  std::vector<formula::Range> ranges_;
  double t0_{0.0}, t1_{0.0};
  int left_{20000};  // pieces
  std::optional<Bump> first_, uneven_;
};

}  // namespace ricochet::study
