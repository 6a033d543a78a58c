#pragma once

#include <span>
#include <vector>

#include "ricochet/formula/tape.h"
#include "ricochet/plot/frames.h"
#include "ricochet/plot/series.h"
#include "ricochet/plot/states.h"
#include "ricochet/plot/trail.h"
#include "ricochet/scene/plot_plan.h"

namespace ricochet::plot {

/// A mark on a curve: where, and its number.
struct Mark {
  Point at;
  long long number{0};
  template <class Archive>
  void visit(Archive& archive) {
    archive(at, number);
  }
};

/// The body at an instant: the values of all formulas of its parts, in their order.
struct Snapshot {
  std::vector<double> values;
  long long number{0};
  template <class Archive>
  void visit(Archive& archive) {
    archive(values, number);
  }
};

/// Points in no order, of any number in bounded memory: where they are too many, one for each cell
/// that is smaller than a pixel will be.
class Dots {
 public:
  void add(Point p);
  const std::vector<Point>& points() const { return points_; }
  const Range& x() const { return x_; }  // exact
  const Range& y() const { return y_; }
  template <class Archive>
  void visit(Archive& archive) {
    archive(points_, x_, y_);
  }

 private:
  void thin();
  std::size_t most_{40'000};
  std::vector<Point> points_;
  Range x_;
  Range y_;
};

/// What is kept of a run for one panel. Of a history the curves are series, else trails.
struct PanelData {
  std::vector<Series> series;
  std::vector<Trail> trails;
  std::vector<Dots> dots;
  std::vector<States> states;
  std::vector<Mark> marks;
  std::vector<Snapshot> snapshots;
  template <class Archive>
  void visit(Archive& archive) {
    archive(series, trails, dots, states, marks, snapshots);
  }
};

/// What a body takes of its plane, over all rows.
struct BodyExtent {
  Range x;
  Range y;
  bool is_known{false};
  void add(Point p, double radius);
  template <class Archive>
  void visit(Archive& archive) {
    archive(x, y, is_known);
  }
};

/// Sees the rows of a run one by one and keeps what the pictures of a plan need: a bounded amount.
class Collector {
 public:
  Collector() = default;
  /// `runs` is how many runs the picture will show: they share what it can hold.
  explicit Collector(const scene::PlotPlan& plan, std::size_t runs = 1);

  /// A row has the columns of the plan. `pushed` is that of its step::Sample.
  void add(std::span<const double> row, std::span<const double> pushed = {});

  /// To be called after the last row.
  void close();

  /// What is kept for one panel, to be drawn by a plan that has it alone.
  Collector only(std::size_t panel) const;

  const std::vector<PanelData>& panels() const { return panels_; }
  const BodyExtent& body() const { return body_; }
  long long rows() const { return rows_; }
  const std::vector<double>& last_row() const { return last_row_; }
  const std::vector<double>& first_row() const { return first_row_; }
  /// What a picture needs of it, after the last row.
  template <class Archive>
  void visit(Archive& archive) {
    archive(panels_, body_, first_row_, last_row_, rows_);
  }
  /// Which columns the formulas of the plan use: others may be left as they are.
  const std::vector<int>& columns_used() const { return columns_used_; }

 private:
  /// What the tape computes for a panel, as registers.
  struct Outputs {
    std::size_t x{0};
    std::vector<std::size_t> y;
  };
  void make_panels(std::size_t runs);
  void find_columns(const formula::Graph& graph, const std::vector<formula::NodeId>& nodes);
  void add_to(std::size_t panel, std::span<const double> pushed);
  void add_snapshot(std::size_t panel);
  void add_body();

  std::vector<scene::PlotPanel> plans_;
  std::vector<scene::BodyPart> parts_;
  std::vector<double> body_values_;  // of the last row
  BodyExtent body_;
  formula::Tape tape_;
  std::vector<double> registers_;
  std::vector<Outputs> outputs_;
  std::size_t inputs_{0};
  std::vector<int> columns_used_;
  std::vector<PanelData> panels_;
  std::vector<double> first_row_;
  std::vector<double> last_row_;
  long long rows_{0};

  static constexpr std::size_t kMostMarks = 2000;
  static constexpr std::size_t kMostSnapshots = 400;
};

/// A part of a body with the values that its formulas have, in the order of `body_nodes`; `next`
/// is moved on.
struct DrawnPart {
  std::vector<Point> points;
  double radius{0.0};
};
DrawnPart part_at(const scene::BodyPart& part, const std::vector<double>& values,
                  std::size_t& next);

/// All formulas of the parts of a body, in a fixed order.
std::vector<formula::NodeId> body_nodes(const std::vector<scene::BodyPart>& body);

}  // namespace ricochet::plot
