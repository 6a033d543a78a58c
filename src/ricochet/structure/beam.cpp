#include "ricochet/structure/beam.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <numbers>

namespace ricochet::structure {
namespace {

/// Whether the displacement of an end is held. A string or bar knows held and free only.
bool is_held(End end) { return end != End::Free; }

void add_strain(LinearStructure& s, const Row& row, double stiffness) {
  if (row.count() == 0) return;
  s.strains.push_back(row);
  s.stiffness.push_back(stiffness);
}

void add_mass(LinearStructure& s, int i, int j, double value) {
  if (i < 0 || j < 0) return;
  s.mass.at(std::max(i, j), std::min(i, j)) += value;
}

}  // namespace

Mesh::Mesh(const Line& line) : line_(line), cell_(line.length / static_cast<double>(line.cells)) {
  assert(line.cells >= 2 && line.length > 0.0);
  number();
}

void Mesh::number() {
  const auto count = static_cast<std::size_t>(nodes());
  displacement_.assign(count, -1);
  slope_.assign(count, -1);
  for (int j = 0; j < nodes(); ++j) {
    const bool at_end = j == 0 || j == line_.cells;
    const End end = j == 0 ? line_.left : line_.right;
    if (!at_end || !is_held(end)) displacement_[static_cast<std::size_t>(j)] = dofs_++;
    if (has_slopes() && (!at_end || end != End::Clamped)) {
      slope_[static_cast<std::size_t>(j)] = dofs_++;
    }
  }
}

/// The entries whose coordinates are not held; they are neighbours, in order.
Row Mesh::row_of(std::initializer_list<std::pair<int, double>> entries) const {
  Row row;
  for (const auto& [dof, value] : entries) {
    if (dof < 0) continue;
    if (row.count() == 0) row.first = dof;
    assert(dof == row.first + row.count());
    row.value.push_back(value);
  }
  return row;
}

Row Mesh::row_at(double x) const {
  const int left = std::clamp(static_cast<int>(std::floor(x / cell_)), 0, line_.cells - 1);
  double s = std::clamp(x / cell_ - static_cast<double>(left), 0.0, 1.0);
  constexpr double kRounding = 1e-9;  // of a cell: a place meant to be a node is one
  if (s < kRounding) s = 0.0;
  if (s > 1.0 - kRounding) s = 1.0;
  if (s == 0.0) return row_of({{displacement(left), 1.0}});
  if (s == 1.0) return row_of({{displacement(left + 1), 1.0}});
  if (!has_slopes()) return row_of({{displacement(left), 1.0 - s}, {displacement(left + 1), s}});
  return row_of({{displacement(left), 1.0 - 3.0 * s * s + 2.0 * s * s * s},
                 {slope(left), s * (1.0 - s) * (1.0 - s)},
                 {displacement(left + 1), 3.0 * s * s - 2.0 * s * s * s},
                 {slope(left + 1), s * s * (s - 1.0)}});
}

/// Differences of a beam. V = 1/2 EI sum (D u / dx^2)^2 dx with D u the second difference at a
/// node. The printed matrix is D^T D with u = 0 at the clamp and one node beyond it, and whole
/// masses at free ends; corrected, the clamp has a mirror image and half a cell, a free end half a
/// mass.
static void build_differences(const Mesh& mesh, LinearStructure& s,
                              const std::vector<Row>& curvatures) {
  const Line& line = mesh.line();
  const bool printed = line.form == Form::Printed;
  const double unit = line.stiffness / std::pow(mesh.cell(), 3);
  for (int j = 0; j <= line.cells; ++j) {
    const bool at_end = j == 0 || j == line.cells;
    const bool clamped = at_end && (j == 0 ? line.left : line.right) == End::Clamped;
    if (clamped) {
      Row row = curvatures[static_cast<std::size_t>(j)];
      if (row.count() > 0 && !printed) row.value[0] = 2.0;
      add_strain(s, row, printed ? unit : 0.5 * unit);
    } else if (!at_end) {
      add_strain(s, curvatures[static_cast<std::size_t>(j)], unit);
    }
    const double share = at_end && !printed ? 0.5 : 1.0;
    const int dof = mesh.displacement(j);
    add_mass(s, dof, dof, share * line.mass_per_length * mesh.cell());
  }
}

/// One Hermite element, slopes times dx. Its strains are the mean curvature and the antisymmetric
/// part of it: EI/l^3 (r2 - r1)^2 + 12 EI/l^3 (u1 - u2 + (r1 + r2)/2)^2.
static void add_hermite_mass(const Mesh& mesh, LinearStructure& s, int left) {
  const Line& line = mesh.line();
  const double m = line.mass_per_length * mesh.cell() / 420.0;
  const std::array<int, 4> dof = {mesh.displacement(left), mesh.slope(left),
                                  mesh.displacement(left + 1), mesh.slope(left + 1)};
  constexpr std::array<std::array<double, 4>, 4> kMass = {{{156.0, 22.0, 54.0, -13.0},
                                                           {22.0, 4.0, 13.0, -3.0},
                                                           {54.0, 13.0, 156.0, -22.0},
                                                           {-13.0, -3.0, -22.0, 4.0}}};
  for (std::size_t a = 0; a < 4; ++a) {
    for (std::size_t b = 0; b <= a; ++b) add_mass(s, dof[a], dof[b], m * kMass[a][b]);
  }
}

/// Stretches of a string or bar; masses lumped, or consistent: m/6 (2 1; 1 2).
static void add_stretch(const Mesh& mesh, LinearStructure& s, int left, const Row& stretch) {
  const Line& line = mesh.line();
  add_strain(s, stretch, line.stiffness / mesh.cell());
  const double m = line.mass_per_length * mesh.cell();
  const int a = mesh.displacement(left);
  const int b = mesh.displacement(left + 1);
  const bool lumped = line.form != Form::Elements;
  add_mass(s, a, a, lumped ? m / 2.0 : m / 3.0);
  add_mass(s, b, b, lumped ? m / 2.0 : m / 3.0);
  if (!lumped) add_mass(s, a, b, m / 6.0);
}

LinearStructure build_line(const Mesh& mesh) {
  const Line& line = mesh.line();
  const bool is_beam = line.kind == Kind::Beam;
  LinearStructure s;
  s.dofs = mesh.dofs();
  s.planes = line.planes;
  s.length = line.length;
  const double wave = std::numbers::pi / (2.0 * line.length);
  s.lowest_frequency =
      std::pow(wave, is_beam ? 2 : 1) * std::sqrt(line.stiffness / line.mass_per_length);
  const int band = line.form != Form::Elements ? 0 : is_beam ? 3 : 1;
  s.mass = BandMatrix(mesh.dofs(), band);
  if (is_beam && line.form != Form::Elements) {
    std::vector<Row> curvatures;
    for (int j = 0; j <= line.cells; ++j) {
      const int before = j > 0 ? mesh.displacement(j - 1) : -1;
      const int after = j < line.cells ? mesh.displacement(j + 1) : -1;
      curvatures.push_back(
          mesh.row_of({{before, 1.0}, {mesh.displacement(j), -2.0}, {after, 1.0}}));
    }
    build_differences(mesh, s, curvatures);
    s.gather_strains();
    return s;
  }
  const double unit = line.stiffness / std::pow(mesh.cell(), 3);
  for (int e = 0; e < line.cells; ++e) {
    const int u1 = mesh.displacement(e);
    const int u2 = mesh.displacement(e + 1);
    if (!is_beam) add_stretch(mesh, s, e, mesh.row_of({{u1, -1.0}, {u2, 1.0}}));
    if (!is_beam) continue;
    add_strain(s,
               mesh.row_of({{u1, 0.0}, {mesh.slope(e), -1.0}, {u2, 0.0}, {mesh.slope(e + 1), 1.0}}),
               unit);
    add_hermite_mass(mesh, s, e);
  }
  for (int e = 0; e < line.cells && is_beam; ++e) {  // one kind after the other: long runs
    add_strain(s,
               mesh.row_of({{mesh.displacement(e), 1.0},
                            {mesh.slope(e), 0.5},
                            {mesh.displacement(e + 1), -1.0},
                            {mesh.slope(e + 1), 0.5}}),
               12.0 * unit);
  }
  s.gather_strains();
  return s;
}

void add_point_mass(LinearStructure& s, const Row& row, double mass) {
  const int needed = row.count() - 1;
  if (needed > s.mass.band()) {
    BandMatrix wider(s.dofs, needed);
    for (int i = 0; i < s.dofs; ++i) {
      for (int j = std::max(0, i - s.mass.band()); j <= i; ++j) wider.at(i, j) = s.mass.at(i, j);
    }
    s.mass = wider;
  }
  for (int a = 0; a < row.count(); ++a) {
    for (int b = 0; b <= a; ++b) {
      s.mass.at(row.first + a, row.first + b) +=
          mass * row.value[static_cast<std::size_t>(a)] * row.value[static_cast<std::size_t>(b)];
    }
  }
}

Section Section::tube(double outer_diameter, double wall) {
  const double inner = outer_diameter - 2.0 * wall;
  const Section outside = circle(outer_diameter);
  const Section hole = circle(inner);
  return {outside.area - hole.area, outside.inertia - hole.inertia};
}

Section Section::circle(double diameter) {
  constexpr double kPi = std::numbers::pi;
  return {kPi * diameter * diameter / 4.0, kPi * std::pow(diameter, 4) / 64.0};
}

Section Section::rectangle(double width, double height) {
  return {width * height, width * std::pow(height, 3) / 12.0};
}

}  // namespace ricochet::structure
