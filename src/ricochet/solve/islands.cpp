#include "ricochet/solve/islands.h"

#include <algorithm>
#include <numeric>

namespace ricochet::solve {

int Islands::root(int coordinate) {
  while (parent_[index(coordinate)] != coordinate) {
    int& parent = parent_[index(coordinate)];
    parent = parent_[index(parent)];
    coordinate = parent;
  }
  return coordinate;
}

/// Joins the coordinates of a row with each other and with another; returns one of them, or `with`
/// where the row is empty.
int Islands::join(const problem::StepProblem& problem, int row, int with) {
  problem.each(row, [&](int i, double) {
    if (with < 0) {
      with = i;
      return;
    }
    const int a = root(i);
    const int b = root(with);
    parent_[index(std::max(a, b))] = std::min(a, b);
  });
  return with;
}

/// The part of a coordinate; a contact that moves none is a part on its own.
int Islands::part_of(int coordinate) {
  if (coordinate < 0) return count_++;
  int& part = part_[index(root(coordinate))];
  if (part < 0) part = count_++;
  return part;
}

int Islands::split(const problem::StepProblem& problem) {
  parent_.resize(index(problem.dofs));
  std::iota(parent_.begin(), parent_.end(), 0);
  part_.assign(index(problem.dofs), -1);
  coordinate_part_.assign(index(problem.dofs), -1);
  contact_part_.resize(problem.contacts.size());
  joint_part_.resize(index(problem.held));
  for (std::size_t i = 0; i < problem.contacts.size(); ++i) {  // at first, a coordinate of each
    const problem::StepProblem::Contact& contact = problem.contacts[i];
    int with = -1;
    for (int j = 0; j <= contact.slips; ++j) with = join(problem, contact.first + j, with);
    contact_part_[i] = with;
  }
  for (int k = 0; k < problem.held; ++k) {
    joint_part_[index(k)] = join(problem, problem.contact_rows() + k, -1);
  }
  count_ = 0;
  for (int& part : contact_part_) part = part_of(part);
  for (int& part : joint_part_) part = part_of(part);
  for (const int i : problem.coordinate) coordinate_part_[index(i)] = part_[index(root(i))];
  list_members(problem);
  return count_;
}

void Islands::keep_together(const problem::StepProblem& problem) {
  count_ = 1;
  contact_part_.assign(problem.contacts.size(), 0);
  joint_part_.assign(index(problem.held), 0);
  coordinate_part_.assign(index(problem.dofs), -1);
  for (const int i : problem.coordinate) coordinate_part_[index(i)] = 0;
  list_members(problem);
}

/// Members by part, ascending; those of part -1 are left out.
void Islands::sort(const std::vector<int>& parts, std::vector<int>& start,
                   std::vector<int>& members) const {
  start.assign(index(count_) + 1, 0);
  for (const int part : parts) {
    if (part >= 0) ++start[index(part) + 1];
  }
  for (int part = 0; part < count_; ++part) start[index(part) + 1] += start[index(part)];
  members.resize(index(start.back()));
  for (std::size_t i = parts.size(); i-- > 0;) {  // from the back, so that ends become beginnings
    if (parts[i] >= 0) members[index(--start[index(parts[i]) + 1])] = static_cast<int>(i);
  }
  start.erase(start.begin());
  start.push_back(static_cast<int>(members.size()));
}

void Islands::list_members(const problem::StepProblem& problem) {
  sort(contact_part_, contact_start_, contact_);
  sort(joint_part_, joint_start_, joint_);
  sort(coordinate_part_, coordinate_start_, coordinate_);
  local_.resize(index(problem.dofs));
  for (int part = 0; part < count_; ++part) {
    const int begin = coordinate_start_[index(part)];
    for (int k = begin; k < coordinate_start_[index(part) + 1]; ++k) {
      local_[index(coordinate_[index(k)])] = k - begin;
    }
  }
}

void Islands::copy_row(const problem::StepProblem& problem, int row) {
  problem.each(row, [&](int i, double entry) { gathered_.add(local_[index(i)], entry); });
  gathered_.end_row(problem.free[index(row)], problem.noise[index(row)]);
}

const problem::StepProblem& Islands::gather(const problem::StepProblem& problem, int part) {
  const int begin = coordinate_start_[index(part)];
  const int dofs = size(coordinate_start_, part);
  problem::StepMetric metric;
  if (!problem.metric.is_unit()) {
    inverse_.resize(index(dofs));
    half_inverse_.resize(index(dofs));
    for (int k = 0; k < dofs; ++k) {
      const int i = coordinate_[index(begin + k)];
      inverse_[index(k)] = problem.metric.inverse(i);
      half_inverse_[index(k)] = problem.metric.half_inverse(i);
    }
    metric = problem::StepMetric(inverse_.data(), half_inverse_.data());
  }
  gathered_.begin(dofs, metric);
  for (int k = 0; k < contacts(part); ++k) {
    const problem::StepProblem::Contact& given = problem.contacts[index(contact(part, k))];
    gathered_.add_contact(given.slips, given.key).section = given.section;
    for (int j = 0; j <= given.slips; ++j) copy_row(problem, given.first + j);
  }
  gathered_.held = joints(part);
  for (int k = 0; k < gathered_.held; ++k)
    copy_row(problem, problem.contact_rows() + joint(part, k));
  return gathered_;
}

}  // namespace ricochet::solve
