#pragma once

#include <vector>

#include "ricochet/model/model.h"
#include "ricochet/structure/linear_structure.h"

namespace ricochet::structure {

class StructureModel;

/// A = M + a C + b K of a step, as a metric: applied from strains, solved by its factor, refined
/// where that loses digits that count.
class StepMatrix {
 public:
  static constexpr int kSize = model::kDynamic;
  explicit StepMatrix(const StructureModel& model);

  void apply(const Eigen::VectorXd& v, Eigen::VectorXd& out) const;
  void solve(const Eigen::VectorXd& v, Eigen::VectorXd& out) const;
  /// Of M, the matrix of a step of no length: L^-1 v, M = L L^T.
  void half_solve(const Eigen::VectorXd& v, Eigen::VectorXd& out) const;
  /// g A^-1 g^T of one side of a guide, in either plane.
  double row_weight(int side) const;

 private:
  const StructureModel* model_;
  mutable Eigen::VectorXd rest_;     // what a solution leaves of its right side
  mutable Eigen::VectorXd strains_;  // room for K v and C v
};

/// A linear structure as the model of steps of one length h. Forces are f(t) - C u - K q, contacts
/// the sides of guides, with friction along the other plane, and `mass` is the matrix of a step,
///
///     A = M + h C/2 + h^2 K/4,    u' = u + h A^-1 (f - C u - K (q + h u/2)),
///
/// so that K acts on (q + q+)/2 and C on (u + u+)/2; or A = M + h C for schemes with C u+ and
/// q+ = q + h u. `momentum` is M u. The columns A^-1 g^T of the guides are made once: a step costs
/// one solve with A whatever the guides do.
class StructureModel {
 public:
  static constexpr int kPlaces = model::kDynamic;
  static constexpr int kDofs = model::kDynamic;
  static constexpr int kContacts = model::kDynamic;
  static constexpr int kSlips = 1;
  static constexpr bool kPlain = true;
  static constexpr bool kImplicit = true;
  using Vec = Eigen::VectorXd;

  /// Of penalty, at one guide.
  struct Spring {
    double stiffness{0.0};
    double dashpot{0.0};
  };
  struct Place : model::ContactPlace<kDofs, kContacts, kSlips> {
    explicit Place(const StructureModel& model);
    StepMatrix matrix;
    std::vector<double> registers;  // of the loads
    Vec loads;
    Vec scratch;
    std::vector<Spring> springs;  // by guide, of those who ask for them
  };

  /// `at_end`: damping is taken at the end of the step and stiffness at q+, which is known.
  StructureModel(const LinearStructure& structure, double h, bool at_end);
  StructureModel(const StructureModel&) = delete;
  StructureModel& operator=(const StructureModel&) = delete;

  bool is_ready() const { return ready_; }  // false: A is not positive definite
  const LinearStructure& structure() const { return s_; }

  int dofs() const { return s_.size(); }
  int contacts() const { return static_cast<int>(sides_.size()); }
  static constexpr int joints() { return 0; }
  Place make_place() const { return Place(*this); }
  void gaps(double, const Vec& q, Place& place) const;
  static bool touches(int a, const Place& place) { return place.gap[a] <= 0.0; }
  static constexpr bool exists(int, const Place&) { return true; }
  static void gradients(const model::IndexList<kContacts>&, Place&) {}  // constant
  double gaps_and_potential(double t, const Vec& q, Place& place) const;
  void force(double t, const Vec& q, const Vec& u, Place& place, Vec& out) const;
  const StepMatrix& mass(const Place& place) const { return place.matrix; }
  static void advance(const Vec& q, const Vec& u, double h, Vec& out) { out = q + h * u; }
  static void difference(const Vec& q1, const Vec& q0, Vec& out) { out = q1 - q0; }
  static constexpr bool has_potential() { return true; }
  bool is_autonomous() const { return !s_.is_driven(); }
  static constexpr bool force_uses_velocity() { return false; }  // C is in A
  static constexpr bool has_constant_mass() { return true; }
  static constexpr bool load_mass(const Vec&, Place&) { return true; }
  void momentum(const Vec& q, const Vec& u, Place& place, Vec& momentum, Vec& slope) const;
  double restitution(int a) const { return guide_of(a).restitution; }
  int slips(int a) const { return guide_of(a).friction > 0.0 ? 1 : 0; }
  static void friction(double, const Vec&, const Vec&, const model::IndexList<kContacts>&, Place&) {
  }
  static constexpr bool is_lawful(int, const Place&) { return true; }
  convex::Section section(int a, bool, const Place&) const {
    return convex::Segment{-guide_of(a).friction, guide_of(a).friction};
  }

  // Forces by their kinds.
  void multiply_mass(const Vec& v, Vec& out) const { s_.multiply_mass(v.data(), out.data()); }
  void add_stiffness(double factor, const Vec& q, Place& place, Vec& out) const {
    s_.add_stiffness(factor, q.data(), place.scratch.data(), out.data());
  }
  void add_damping(double factor, const Vec& u, Place& place, Vec& out) const {
    if (!s_.damping.is_none()) {
      s_.add_damping(factor, u.data(), place.scratch.data(), out.data());
    }
  }
  /// place.loads = values at t.
  void take_loads(double t, Place& place) const { s_.load_values(t, place.registers, place.loads); }
  void add_loads(double factor, const Vec& loads, Vec& out) const;
  double load_power(const Vec& loads, const Vec& u) const;
  double stiffness_size() const { return stiffness_size_; }  // the largest row sum of |K|
  double mass_size() const { return mass_size_; }

  // Guides, whose reactions count positive upwards.
  int guides() const { return static_cast<int>(s_.guides.size()); }
  const Guide& guide(int k) const { return s_.guides[static_cast<std::size_t>(k)]; }
  const ContactSide& side(int a) const { return sides_[static_cast<std::size_t>(a)]; }
  int guide_at(int a) const { return static_cast<int>(side(a).guide); }
  double across(int k, const Vec& v) const {
    return s_.value_at(guide(k).row, guide(k).plane, v.data());
  }
  double along(int k, const Vec& v) const {
    return s_.value_at(guide(k).row, 1 - guide(k).plane, v.data());
  }
  const Eigen::MatrixXd& weights() const { return weights_; }              // in one plane
  const Eigen::MatrixXd& cross_weights() const { return cross_weights_; }  // normals by frictions
  bool planes_meet() const { return planes_meet_; }  // a normal and a friction act in one plane
  /// v += A^-1 G^T of impulses at one side.
  void add_response(int a, double normal, double along, Vec& v) const;

  /// A contact with the mass 1/W that the guide feels lasts kSpringSteps steps, and longer where so
  /// many guides may be met at once that they would give back more than they take; or the stiffness
  /// is stated, > 0. The dashpot is that of a spring that only pushes and leaves with e times the
  /// speed.
  std::vector<Spring> springs(double stated) const;
  /// The largest eigenvalue of W, what all guides together give way to a unit of impulse. A spring
  /// of stiffness k that is met within a step may give h^2 k / 4 times it of the energy too much.
  double largest_compliance() const;
  /// About how many times the spacing of numbers a solve with A may be off by.
  static double condition(const LinearStructure& structure, double h);
  static constexpr double kMostCondition = 7e14;   // beyond it, refinement does not help
  int solves() const { return 1 + refinements_; }  // with the factor of A, a step

 private:
  friend class StepMatrix;
  const Guide& guide_of(int a) const { return s_.guides[side(a).guide]; }
  void make_rows();

  const LinearStructure& s_;
  double h_;
  double damping_factor_;  // of A
  double stiffness_factor_;
  EffectiveMatrix effective_;
  bool ready_{false};
  int refinements_{0};  // of a solve with A, where it loses digits that count
  bool planes_meet_{false};
  double stiffness_size_{0.0};
  double mass_size_{0.0};
  std::vector<ContactSide> sides_;
  model::Pattern normals_;
  model::Pattern tangents_;
  Eigen::MatrixXd columns_;  // A^-1 g^T, one of each guide, in its plane
  Eigen::MatrixXd weights_;
  Eigen::MatrixXd cross_weights_;
};

}  // namespace ricochet::structure
