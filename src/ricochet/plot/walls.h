#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ricochet/model/formula_model.h"
#include "ricochet/plot/point.h"
#include "ricochet/plot/ticks.h"
#include "ricochet/scene/plot_plan.h"

namespace ricochet::plot {

/// A piece of the boundary of what a contact permits, the forbidden side on its right.
struct WallCurve {
  int contact{0};
  std::vector<Point> points;
};

/// The rectangle of a plane in which walls are wanted, and how many pixels it takes.
struct Window {
  Range x;
  Range y;
  double width{0.0};   // [px]
  double height{0.0};  // [px]
};

/// The walls that a panel shows, from the inequalities themselves: those named in the plan, and
/// those that depend on nothing but the axes and the coordinates it cuts them at. `row` is where
/// everything else stands: the columns of a trajectory at the instant drawn.
std::vector<WallCurve> find_walls(const model::FormulaModel& model, const scene::PlotPlan& plan,
                                  const scene::PlotPanel& panel, const Window& window,
                                  std::span<const double> row);

/// Whether one of the walls of a panel moves, and time is no axis.
bool has_moving_walls(const model::FormulaModel& model, const scene::PlotPanel& panel,
                      const scene::PlotPlan& plan);

/// What a contact does to the particle that a panel shows: where, and the impulse in the plane.
struct Push {
  int contact{0};
  Point at;
  Point impulse;
};

/// Finds the pushes of contacts in a panel whose axes are alike: of particles that walls name, else
/// of the point whose coordinates the axes are.
class Pushes {
 public:
  Pushes(const model::FormulaModel& model, const scene::PlotPlan& plan,
         const scene::PlotPanel& panel);
  ~Pushes();
  Pushes(const Pushes&) = delete;
  Pushes& operator=(const Pushes&) = delete;

  /// Of a row of a trajectory, those that push.
  std::vector<Push> at(std::span<const double> row);

 private:
  struct Contact;
  std::vector<Contact> contacts_;
  std::vector<std::string> columns_;
};

/// The contacts whose walls a panel shows.
std::vector<scene::WallPlan> walls_of(const model::FormulaModel& model, const scene::PlotPlan& plan,
                                      const scene::PlotPanel& panel);

}  // namespace ricochet::plot
