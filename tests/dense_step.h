#pragma once

#include <Eigen/Core>
#include <vector>

#include "ricochet/problem/step_problem.h"

namespace ricochet::testing {

/// A step's problem by its factor A with all zeros, which is G^T for M = 1: to be made up, and to
/// be multiplied out from the definition.
struct DenseStep {
  using Contact = problem::StepProblem::Contact;

  Eigen::Index dofs{0};
  Eigen::Index rows{0};
  Eigen::Index held{0};
  std::size_t count{0};
  std::vector<Contact> contacts;
  Eigen::MatrixXd factor;  // A, one column per row
  Eigen::VectorXd free;    // b

  void resize(Eigen::Index new_dofs, Eigen::Index new_rows, std::size_t new_count) {
    dofs = new_dofs;
    rows = new_rows;
    count = new_count;
    factor.resize(dofs, rows);
    free.resize(rows);
    contacts.resize(count);
  }

  operator problem::StepProblem() const {
    problem::StepProblem result;
    result.begin(static_cast<int>(dofs), {});
    result.held = static_cast<int>(held);
    for (std::size_t i = 0; i < count; ++i) {
      result.add_contact(contacts[i].slips, contacts[i].key).section = contacts[i].section;
      for (int j = 0; j <= contacts[i].slips; ++j) add_row(contacts[i].first + j, result);
    }
    for (Eigen::Index row = rows - held; row < rows; ++row) add_row(row, result);
    return result;
  }

 private:
  void add_row(Eigen::Index row, problem::StepProblem& result) const {
    for (Eigen::Index i = 0; i < dofs; ++i) result.add(static_cast<int>(i), factor(i, row));
    result.end_row(free[row], 0.0);
  }
};

}  // namespace ricochet::testing
