#pragma once

#include <vector>

#include "ricochet/problem/step_problem.h"

namespace ricochet::solve {

/// A step's problem in parts that do not feel each other: rows that share coordinates, M being
/// diagonal, belong together, and so do the rows of a contact. Each part is a problem of its own,
/// of only the coordinates it moves. Storage is kept between steps.
class Islands {
 public:
  /// Returns how many parts there are. Contacts keep their order within a part, and parts come in
  /// the order of their first contact, those of joints alone last.
  int split(const problem::StepProblem& problem);
  /// All rows as one part, without the coordinates that no row has.
  void keep_together(const problem::StepProblem& problem);

  int contacts(int part) const { return size(contact_start_, part); }
  int joints(int part) const { return size(joint_start_, part); }
  /// The k-th contact or joint of a part, as the problem counts them.
  int contact(int part, int k) const { return contact_[index(contact_start_[index(part)] + k)]; }
  int joint(int part, int k) const { return joint_[index(joint_start_[index(part)] + k)]; }

  /// One part; it lives until the next call.
  const problem::StepProblem& gather(const problem::StepProblem& problem, int part);

 private:
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }
  static int size(const std::vector<int>& start, int part) {
    return start[index(part) + 1] - start[index(part)];
  }
  int root(int coordinate);
  int join(const problem::StepProblem& problem, int row, int with);
  int part_of(int coordinate);
  void sort(const std::vector<int>& parts, std::vector<int>& start,
            std::vector<int>& members) const;
  void list_members(const problem::StepProblem& problem);
  void copy_row(const problem::StepProblem& problem, int row);

  int count_{0};
  std::vector<int> parent_;           // by coordinate, towards the root of its part
  std::vector<int> part_;             // by root
  std::vector<int> contact_part_;     // by contact
  std::vector<int> joint_part_;       // by joint
  std::vector<int> coordinate_part_;  // by coordinate; -1: no row has it
  std::vector<int> contact_start_;    // of each part in contact_
  std::vector<int> contact_;
  std::vector<int> joint_start_;
  std::vector<int> joint_;
  std::vector<int> coordinate_start_;
  std::vector<int> coordinate_;
  std::vector<int> local_;  // by coordinate: its place within its part
  problem::StepProblem gathered_;
  std::vector<double> inverse_;  // of the gathered part's M and L
  std::vector<double> half_inverse_;
};

}  // namespace ricochet::solve
