#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "ricochet/formula/tape.h"
#include "ricochet/model/state.h"
#include "ricochet/structure/band.h"

namespace ricochet::structure {

/// A linear form of neighbouring coordinates of one plane: the displacement at an abscissa, a
/// curvature, a stretch.
struct Row {
  int first{0};
  std::vector<double> value{};

  int count() const { return static_cast<int>(value.size()); }
  double dot(const double* q) const {
    double sum = 0.0;
    for (std::size_t k = 0; k < value.size(); ++k) sum += value[k] * q[first + static_cast<int>(k)];
    return sum;
  }
  void add_to(double factor, double* q) const {
    for (std::size_t k = 0; k < value.size(); ++k)
      q[first + static_cast<int>(k)] += factor * value[k];
  }
};

/// Neighbouring rows of B that are alike: row k is `row` moved by k * stride. A uniform line has
/// few of them, and their sums run without looking anything up.
struct RowRun {
  Row row{};
  int stride{1};
  int rows{0};
  double stiffness{0.0};

  void dot(const double* q, double* strains) const;
  void add_to(double factor, const double* strains, double* q) const;
};

/// A place of the structure that has a name: where histories are taken.
struct Point {
  std::string name{};
  double at{0.0};  // x [m]
  int plane{0};
  Row row{};
};

/// A point force, a formula of time.
struct Load {
  std::string name{};
  double at{0.0};
  int plane{0};
  Row row{};
  std::size_t output{0};  // its register on the tape of loads
};

/// lower <= g q <= upper at one abscissa, with Newton's restitution; friction acts along the other
/// plane.
struct Guide {
  std::string name{};
  double at{0.0};
  int plane{0};
  Row row{};
  double lower{-std::numeric_limits<double>::infinity()};  // -clearance below [m]
  double upper{std::numeric_limits<double>::infinity()};   // clearance above [m]
  double restitution{0.0};
  double friction{0.0};

  bool has_lower() const { return lower > -std::numeric_limits<double>::infinity(); }
  bool has_upper() const { return upper < std::numeric_limits<double>::infinity(); }
};

/// A mode: (K - omega^2 M) shape = 0, shape^T M shape = 1.
struct Mode {
  double omega{0.0};  // [rad/s]
  Eigen::VectorXd shape;
};

/// C = alpha M + beta K + sum over modes of 2 zeta omega (M shape)(M shape)^T.
struct Damping {
  double mass{0.0};       // alpha [1/s]
  double stiffness{0.0};  // beta [s]
  Eigen::MatrixXd forms;  // M shape, one column a mode
  Eigen::VectorXd rates;  // 2 zeta omega [1/s]
  static constexpr int kMostModes = 64;

  bool is_none() const { return mass == 0.0 && stiffness == 0.0 && rates.size() == 0; }
};

/// M q'' + C q' + K q = f(t) + reactions of guides, in one plane or in two that are alike. K is
/// kept as B^T S B, S diagonal: so written, K q keeps its digits where the nodes are many and the
/// curvature is a small difference of large numbers.
///
/// A vector has the coordinates of the first plane, then those of the second.
struct LinearStructure {
  int dofs{0};  // of one plane
  int planes{1};
  BandMatrix mass;
  std::vector<Row> strains;       // B
  std::vector<double> stiffness;  // S
  std::vector<RowRun> runs;       // both again, gathered by `gather_strains`
  Damping damping;
  std::vector<Load> loads;
  formula::Tape load_tape;  // of time, slot 0
  std::vector<Guide> guides;
  std::vector<Point> points;
  double length{0.0};            // [m]
  double lowest_frequency{0.0};  // of the order of the first omega [rad/s], never 0

  double quiet_time{0.0};  // without a push, after which one is a new impact [s]

  int size() const { return planes * dofs; }
  bool is_driven() const { return !loads.empty(); }

  // Vectors of all planes.
  void multiply_mass(const double* x, double* y) const;
  /// y += factor K x; `strains` is room for one plane's.
  void add_stiffness(double factor, const double* x, double* strains, double* y) const;
  void add_damping(double factor, const double* x, double* scratch, double* y) const;
  /// To be called when all strains are there.
  void gather_strains();
  int scratch_size() const { return std::max(size(), static_cast<int>(strains.size())); }

  /// c_M M + c_K K of one plane.
  BandMatrix combined(double mass_factor, double stiffness_factor) const;

  /// Values of all loads at a time; registers are load_tape.registers().
  void load_values(double t, std::vector<double>& registers, Eigen::VectorXd& values) const;

  double value_at(const Row& row, int plane, const double* q) const {
    return row.dot(q + plane * dofs);
  }
  /// The values at all points of a vector of all coordinates.
  Eigen::VectorXd at_points(const Eigen::VectorXd& q) const;
};

/// One side of a guide: a contact of the run.
struct ContactSide {
  std::size_t guide{0};
  bool is_upper{false};

  double gap(const Guide& of, double value) const {
    return is_upper ? of.upper - value : value - of.lower;
  }
  /// The push of this side in a reaction, which counts positive upwards.
  double push(double reaction) const {
    const double along = is_upper ? -reaction : reaction;
    return along > 0.0 ? along : 0.0;
  }
};

/// The sides that have a clearance, guide by guide, upper ones last.
std::vector<ContactSide> sides_of(const LinearStructure& structure);

/// The guide's name where it has one side only, else with _below or _above.
std::string name_of(const ContactSide& side, const LinearStructure& structure);

/// Instant, positions and velocities of a structure.
using Motion = model::State<model::kDynamic>;

/// A = M + a h C + b h^2 K, factored once for all planes. The part of C that belongs to modes is of
/// low rank and enters by Woodbury's formula.
class EffectiveMatrix {
 public:
  /// False when A is not positive definite.
  [[nodiscard]] bool factor(const LinearStructure& structure, double damping_factor,
                            double stiffness_factor);
  /// x becomes A^-1 x.
  void solve(double* x) const;
  void solve_plane(double* x) const;
  /// Without damping by modes.
  void half_solve(double* x) const;

 private:
  BandFactor factor_;
  int planes_{1};
  int dofs_{0};
  Eigen::MatrixXd forms_;  // P = M shapes
  Eigen::MatrixXd back_;   // A0^-1 P (D^-1 + P^T A0^-1 P)^-1
};

}  // namespace ricochet::structure
