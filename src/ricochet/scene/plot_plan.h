#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ricochet/formula/graph.h"
#include "ricochet/model/formula_model.h"
#include "ricochet/step/columns.h"

namespace ricochet::scene {

/// Something a picture shows: a formula as written, and its node in the graph of the plan, whose
/// input slots are the columns of a trajectory in their order.
struct PlotFormula {
  std::string text;
  formula::NodeId node{-1};
  std::string unit;  // "" when unknown
};

/// A point of a body, or where a contact keeps its particle: two formulas.
using PlotPoint = std::array<formula::NodeId, 2>;

/// A part of a body, drawn as it stands at an instant.
struct BodyPart {
  enum class Kind { Line, Outline, Circle, Point };
  Kind kind{Kind::Line};
  std::vector<PlotPoint> points;
  formula::NodeId radius{-1};      // of a Circle
  std::vector<std::string> marks;  // "+", "x", "o" or "" at each point
};

/// The wall of one contact in the plane of a panel: the particle that the contact keeps, by two
/// formulas of the coordinates. Without them the axes themselves are that particle.
struct WallPlan {
  int contact{0};
  std::optional<PlotPoint> particle;
};

/// Marks, or drawings of the body, at every so many recorded rows.
struct Every {
  long long rows{0};     // 0: none
  long long numbers{0};  // a number at every so many of them; 0: none
  bool is_on() const { return rows > 0; }
};

/// One rectangle of a sheet.
struct PlotPanel {
  enum class Kind { Curves, Events, Energy };
  enum class Scale { Linear, LogX, LogY, LogLog };
  Kind kind{Kind::Curves};
  Scale scale{Scale::Linear};
  std::string title;
  PlotFormula x;
  std::vector<PlotFormula> y;
  std::vector<std::string> labels;  // of the curves, for the legend; as many as y
  std::string x_label;
  std::string y_label;
  bool equal{false};  // a unit is as long in both directions
  std::optional<std::pair<double, double>> x_range;
  std::optional<std::pair<double, double>> y_range;
  bool all_walls{true};                    // of contacts that depend on nothing but the axes
  std::vector<WallPlan> walls;             // those named, besides
  std::vector<std::pair<int, double>> at;  // slots of t and coordinates that walls are cut at
  Every marks;
  Every snapshots;
  bool dots{false};         // rows are dots, in no order
  bool only_played{false};  // in animations, not in pictures
  bool plays_body{false};   // the body moves in it
  // A plane in which the motion is a line along an axis, or rests, shows nothing: what moves is
  // shown over time instead.
  bool gives_way{false};
  int instead_of{-1};       // the number of such a plane: shown where that gives way
  bool is_of_y{false};      // of its second coordinate
  bool is_history() const;  // x is t
  bool shows_body() const { return snapshots.is_on() || plays_body; }
  /// One coordinate as a place on a line: the other axis is idle.
  bool is_line() const { return x.text.empty() || (!y.empty() && y[0].text.empty()); }
};

/// What to draw of a run.
struct PlotPlan {
  formula::Graph graph;
  std::vector<std::string> columns;  // of a row, as in trajectory.csv; the inputs of the graph
  std::vector<bool> angles;          // by coordinate; what is missing is none
  std::vector<std::string> units;    // by coordinate, and after them that of t; may be empty
  int joints{0};                     // among the contacts, the last
  bool has_walls{true};              // contacts are formulas, so that walls can be drawn
  std::vector<PlotPanel> panels;
  std::vector<BodyPart> body;  // for snapshots, and for what moves
  std::string caption;
  int side_by_side{1};        // panels in a row of the sheet
  bool rows_are_sums{false};  // of several steps each
  bool is_written{false};     // in a [plot] of the scene; else chosen by the program
};

/// A plan without panels, for rows of these columns.
PlotPlan bare_plan(const step::Columns& columns, std::vector<bool> angles = {},
                   std::vector<std::string> units = {});

/// What is shown without a [plot], by the number and the kinds of the coordinates: one against time
/// and as a phase portrait, two as a path, three as projections, more against time; then contacts.
/// `rows` is any plan of the same rows.
PlotPlan default_plan(const PlotPlan& rows);

/// The same where only the columns of a trajectory are known.
PlotPlan default_plan(const std::vector<std::string>& columns);

/// Each coordinate against time, whatever their number, then contacts: of points of a structure.
PlotPlan history_plan(const PlotPlan& rows);

/// Coordinates and velocities against time, and phase portraits: the further pictures of a report.
PlotPlan report_plan(const PlotPlan& rows);

/// Energies as stacked areas, gaps and impulses.
PlotPlan energy_plan(const PlotPlan& rows);

/// Add such a panel to a plan: energies; contacts without joints.
void add_energy_panel(PlotPlan& plan);
void add_events_panel(PlotPlan& plan);

/// Which coordinates are angles: a sine or cosine is taken of one, or of a sum with it, without a
/// factor. sin(2*pi*x/L) makes no angle of x.
std::vector<bool> angles_of(const model::FormulaModel& model);

/// Whether a name is one that angles have: it is then not drawn on one scale with a length.
bool is_angle_name(const std::string& name);

/// A formula of the columns of a trajectory, x' standing for d_x. Throws formula::FormulaError.
PlotFormula plot_formula(const std::string& text, PlotPlan& plan);

}  // namespace ricochet::scene
