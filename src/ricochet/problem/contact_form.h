#pragma once

#include <Eigen/Core>
#include <array>
#include <vector>

#include "ricochet/problem/contact.h"
#include "ricochet/problem/step_problem.h"

namespace ricochet::problem {

/// A step's contacts (`StepProblem`) in the form of a `ContactProblem`: joints are eliminated,
/// ellipses made discs by stretching, and every contact is given d - 1 tangential directions. One
/// that a contact does not have moves by itself alone, as easily as its others do in the mean and
/// without a velocity of its own: its impulse is 0 in any solution, and rho is unchanged. So is a
/// contact that no impulse can move: all its impulses are 0.
///
/// Storage grows to the largest step so far and is kept.
class ContactForm {
 public:
  /// False when the step has no such form: a section that is a polygon, a flat ellipse or a segment
  /// with two different ends, or joints that depend on each other.
  bool take(const StepProblem& step);

  /// Whether a contact that no impulse can move would have to be pushed: no impulses help.
  bool is_degenerate() const { return is_degenerate_; }

  /// It lives as long as this; q may be longer than the problem has rows.
  LocalProblem local() const { return {W_, q_, mu_}; }
  int dim() const { return W_.dim; }
  int contacts() const { return W_.rows; }
  Eigen::Index rows() const { return static_cast<Eigen::Index>(W_.dim) * W_.rows; }

  /// The problem as plain data, on its own.
  ContactProblem problem() const;

  /// Impulses of the step's rows, joints included, from those of the problem.
  void give(const Eigen::VectorXd& r, Eigen::VectorXd& impulses) const;
  /// What one component of the problem's impulses is in the step's units.
  double stretch(int contact, int component) const {
    return contacts_[static_cast<std::size_t>(contact)]
        .stretch[static_cast<std::size_t>(component)];
  }

 private:
  struct Contact {
    Eigen::Index first{0};  // row of the step
    int rows{0};
    std::array<double, 3> stretch{1.0, 1.0, 1.0};
    double mu{0.0};
    bool is_flat{false};  // no impulse moves it along its normal
  };
  struct Entry {
    int coordinate{0};
    double value{0.0};
  };

  bool read_sections(const StepProblem& step);
  bool eliminate_joints(const StepProblem& step);
  void gather_columns(const StepProblem& step);
  void take_column(const StepProblem& step, Contact& contact, int j, double& free);
  void find_touching(std::size_t dofs);
  void fill_row(int i);
  void add_missing(int i);

  std::vector<Contact> contacts_;
  std::vector<double> mu_;
  BlockRows W_;
  Eigen::VectorXd q_;

  // Joints: A_j = Q T, Q^T Q = 1.
  Eigen::MatrixXd Q_;
  Eigen::MatrixXd T_;
  Eigen::VectorXd joint_free_;  // T^-T b_j
  Eigen::MatrixXd coupling_;    // Q^T A_c, by contact rows
  mutable Eigen::VectorXd joint_impulses_;
  bool is_degenerate_{false};
  Eigen::Index held_{0};
  Eigen::Index step_rows_{0};  // without joints

  // Columns of A without their zeros, joints eliminated.
  Eigen::VectorXd column_;  // one of them with its zeros
  Eigen::VectorXd scratch_;
  std::vector<int> entry_start_;
  std::vector<Entry> entries_;
  std::vector<int> touch_start_;  // by coordinate: contacts that move it
  std::vector<int> touch_;
  std::vector<int> next_;
  std::vector<int> mark_;
  std::vector<int> neighbours_;
  std::vector<double> spread_;  // three columns of one contact, with their zeros
};

}  // namespace ricochet::problem
