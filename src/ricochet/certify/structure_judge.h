#pragma once

#include <vector>

#include "ricochet/certify/certificate.h"
#include "ricochet/certify/structure_claim.h"
#include "ricochet/structure/linear_structure.h"

namespace ricochet::certify {

/// Where the energy of a structure went, besides what every ledger has:
/// change of T + V = loads + damping + contacts + closure.
struct StructureBooks {
  base::Sum loads;
  base::Sum damping;  // <= 0
  base::Sum elastic;  // work of -K q: the change of -V, but for what the scheme loses
  base::Sum closure;  // rounding, where K is taken at the mean
  double closure_max{0.0};
  double balance_rounding{0.0};  // what rounding of K q may hide in the balance, at its largest
  double average_gap{0.0};       // least gap of the average position, law Average
  double average_allowed{0.0};   // rounding of that gap, at its largest
};

/// Recomputes each step of a structure from M, C, K, f and the laws of its guides: balance,
/// kinematics, complementarity, energy. Knows the claim, not how it was found.
class StructureJudge {
 public:
  /// Of the largest energy, that the books may miss in the end.
  static constexpr double kClosureLimit = 1e-6;
  /// Of the largest energy, that springs met within a step may give in all.
  static constexpr double kSpringGain = 0.25;

  StructureJudge(const structure::LinearStructure& structure, const Limits& limits, double h,
                 const structure::Motion& start);

  /// False: the certificate has failed, and the run must stop.
  bool check(const structure::Motion& now, const structure::Motion& next,
             const StructureClaim& claim);
  void fail(Failure failure, double time);

  const Certificate& certificate() const { return certificate_; }
  Certificate finish();
  const StructureBooks& books() const { return books_; }
  double kinetic() const { return kinetic_; }
  double potential() const { return potential_; }
  const std::vector<double>& gaps() const { return gaps_; }  // by side

 private:
  void fail(Failure failure, double time, double value, int contact = -1);
  void weigh_loads(const StructureClaim& claim);
  double advance_strains(const structure::Motion& next, bool at_end);
  bool check_balance(const structure::Motion& now, const structure::Motion& next,
                     const StructureClaim& claim);
  bool check_claim(const structure::Motion& now, const structure::Motion& next,
                   const StructureClaim& claim);
  bool check_kinematics(const structure::Motion& now, const structure::Motion& next,
                        const StructureClaim& claim);
  bool check_guides(const structure::Motion& now, const structure::Motion& next,
                    const StructureClaim& claim);
  bool check_springs(const structure::Motion& now, double t, const StructureClaim& claim);
  bool check_books(const StructureClaim& claim, double t);
  void measure_gaps(const structure::Motion& next);
  void count_shocks(const structure::Motion& now, const structure::Motion& next,
                    const StructureClaim& claim);
  double scale_of_guide(std::size_t guide) const { return 1.0 / weight_[guide]; }

  const structure::LinearStructure& structure_;
  Limits limits_;
  std::vector<structure::ContactSide> sides_;
  Certificate certificate_;
  StructureBooks books_;
  std::vector<double> weight_;  // g A^-1 g^T by guide, of an own factor
  double stiffness_size_{0.0};  // the largest row sum of |K|
  double mass_size_{0.0};

  std::vector<double> registers_;
  Eigen::VectorXd loads_;      // of this step
  Eigen::VectorXd load_part_;  // at one instant
  Eigen::VectorXd momentum_;   // M u
  Eigen::VectorXd momentum_next_;
  Eigen::VectorXd strain_;  // B q, plane after plane
  Eigen::VectorXd strain_next_;
  Eigen::VectorXd elastic_;  // K q where the step takes it
  Eigen::VectorXd damped_;   // C u where the step takes it
  Eigen::VectorXd mean_;     // (u + u+)/2
  Eigen::VectorXd rest_;
  Eigen::VectorXd scratch_;
  double kinetic_{0.0};
  double kinetic_next_{0.0};
  double potential_{0.0};
  double potential_next_{0.0};
  double fastest_{0.0};  // largest speed at a guide
  std::vector<double> gaps_;
  std::vector<long long> quiet_;  // steps without a push, by side
};

}  // namespace ricochet::certify
