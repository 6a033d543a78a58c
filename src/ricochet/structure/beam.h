#pragma once

#include "ricochet/structure/linear_structure.h"

namespace ricochet::structure {

enum class Kind {
  Beam,    // Euler-Bernoulli: bending, stiffness EI
  String,  // transverse, stiffness = tension
  Bar,     // along its axis, stiffness EA
};

enum class End { Clamped, Pinned, Free };

/// How the line is made into coordinates.
enum class Form {
  Printed,    // finite differences with the matrix of [Paoli 2001, par. 3c]: a beam longer by dx
  Corrected,  // the same with the rows of the ends put right: second order
  Elements,   // Hermite cubics (beam), linear elements (string, bar), consistent mass
};

/// A uniform line, as an engineer states it. Units are those of the scene.
struct Line {
  Kind kind{Kind::Beam};
  Form form{Form::Elements};
  double length{0.0};           // L
  double stiffness{0.0};        // EI, tension or EA
  double mass_per_length{0.0};  // rho S
  End left{End::Clamped};
  End right{End::Free};
  int cells{0};  // d, of length L / d
  int planes{1};
};

/// Where the coordinates of a line are, and how a place of it is told by them.
class Mesh {
 public:
  explicit Mesh(const Line& line);

  int dofs() const { return dofs_; }
  double cell() const { return cell_; }  // dx
  int nodes() const { return line_.cells + 1; }
  double abscissa(int node) const { return static_cast<double>(node) * cell_; }
  bool has_slopes() const { return line_.kind == Kind::Beam && line_.form == Form::Elements; }

  /// The coordinate of a node's displacement, of its slope times dx; -1: held at zero.
  int displacement(int node) const { return displacement_[static_cast<std::size_t>(node)]; }
  int slope(int node) const { return slope_[static_cast<std::size_t>(node)]; }

  /// The displacement at an abscissa, 0 <= x <= L; empty where it is held. The printed form takes
  /// the nearest node, as the paper does [Paoli 2001 (3.10)].
  Row row_at(double x) const;

  const Line& line() const { return line_; }

 private:
  void number();
  Row row_of(std::initializer_list<std::pair<int, double>> entries) const;
  friend LinearStructure build_line(const Mesh& mesh);

  Line line_;
  double cell_{0.0};
  int dofs_{0};
  std::vector<int> displacement_;
  std::vector<int> slope_;
};

/// M and K of the line; no loads, guides, points or damping yet.
LinearStructure build_line(const Mesh& mesh);

/// Adds m g g^T to M.
void add_point_mass(LinearStructure& structure, const Row& row, double mass);

/// The area and the second moment of area of a section, by its measures.
struct Section {
  double area{0.0};
  double inertia{0.0};
  static Section tube(double outer_diameter, double wall);
  static Section circle(double diameter);
  static Section rectangle(double width, double height);  // bends along its height
};

}  // namespace ricochet::structure
