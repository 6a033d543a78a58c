#include "ricochet/problem/contact_form.h"

#include <algorithm>
#include <cmath>

namespace ricochet::problem {
namespace {

using Index = Eigen::Index;

std::size_t at(int i) { return static_cast<std::size_t>(i); }
std::size_t at(Index i) { return static_cast<std::size_t>(i); }

}  // namespace

/// mu and the stretch of each contact. A disc has one mu; an ellipse is a disc of radius 1 where
/// impulses are measured by its axes.
bool ContactForm::read_sections(const StepProblem& step) {
  contacts_.resize(step.contacts.size());
  mu_.resize(step.contacts.size());
  W_.dim = 2;
  for (std::size_t i = 0; i < step.contacts.size(); ++i) {
    const StepProblem::Contact& given = step.contacts[i];
    Contact& contact = contacts_[i];
    contact = {given.first, 1 + given.slips, {1.0, 1.0, 1.0}, 0.0, false};
    if (given.slips == 2) W_.dim = 3;
    if (given.slips > 0) {
      if (const auto* disc = std::get_if<convex::Disc>(&given.section)) {
        contact.mu = disc->radius;
      } else if (const auto* segment = std::get_if<convex::Segment>(&given.section)) {
        if (segment->low != -segment->high) return false;
        contact.mu = segment->high;
      } else if (const auto* ellipse = std::get_if<convex::Ellipse>(&given.section)) {
        if (!(ellipse->a > 0.0 && ellipse->b > 0.0)) return false;
        contact.mu = 1.0;
        contact.stretch = {1.0, ellipse->a, ellipse->b};
      } else {
        return false;
      }
    }
    mu_[i] = contact.mu;
  }
  return true;
}

/// A_j = Q T by the method of Gram and Schmidt, twice, so that Q is orthogonal to rounding.
bool ContactForm::eliminate_joints(const StepProblem& step) {
  constexpr double kSingular = 1e-13;
  held_ = step.held;
  step_rows_ = step.contact_rows();
  if (held_ == 0) return true;
  if (Q_.rows() != step.dofs || Q_.cols() != held_) {
    Q_.resize(step.dofs, held_);
    T_.resize(held_, held_);
    joint_free_.resize(held_);
    joint_impulses_.resize(held_);
  }
  if (coupling_.rows() != held_ || coupling_.cols() < step_rows_) {
    coupling_.resize(held_, step_rows_);
  }
  T_.setZero();
  for (Index k = 0; k < held_; ++k) {
    auto q = Q_.col(k);
    step.column(static_cast<int>(step_rows_ + k), q, scratch_);
    const double before = q.norm();
    for (int twice = 0; twice < 2; ++twice) {
      for (Index l = 0; l < k; ++l) {
        const double part = Q_.col(l).dot(q);
        T_(l, k) += part;
        q -= part * Q_.col(l);
      }
    }
    T_(k, k) = q.norm();
    if (!(T_(k, k) > kSingular * before)) return false;
    q /= T_(k, k);
  }
  joint_free_ = Eigen::Map<const Eigen::VectorXd>(step.free.data() + step_rows_, held_);
  T_.transpose().triangularView<Eigen::Lower>().solveInPlace(joint_free_);
  return true;
}

/// Entries of a contact's j-th column of A, stretched, less what the joints take: (1 - Q Q^T) A; of
/// one that nothing moves, none. `free` loses what the joints take.
void ContactForm::take_column(const StepProblem& step, Contact& contact, int j, double& free) {
  constexpr double kRounding = 1e-13;  // of what the joints leave
  const Index row = contact.first + j;
  const double stretch = contact.stretch[at(j)];
  const auto begin = static_cast<std::ptrdiff_t>(entries_.size());
  double before = 0.0;
  double after = 0.0;
  if (held_ == 0 && step.metric.is_diagonal()) {
    step.each(static_cast<int>(row), [&](int c, double value) {
      const double entry = step.metric.half_inverse(c) * value;
      after += entry * entry;
      entries_.push_back({c, stretch * entry});
    });
    before = after;
  } else {
    if (column_.size() != step.dofs) column_.resize(step.dofs);
    step.column(static_cast<int>(row), column_, scratch_);
    before = column_.squaredNorm();
    for (Index k = 0; k < held_; ++k) {
      const double part = Q_.col(k).dot(column_);
      coupling_(k, row) = part;
      column_ -= part * Q_.col(k);
      free -= part * joint_free_[k];
    }
    after = column_.squaredNorm();
    for (Index c = 0; c < step.dofs; ++c) {
      if (column_[c] != 0.0) entries_.push_back({static_cast<int>(c), stretch * column_[c]});
    }
  }
  if (j == 0) contact.is_flat = !(after > kRounding * before);
  if (contact.is_flat) entries_.erase(entries_.begin() + begin, entries_.end());
}

/// All columns, and q = b_c - W_cj W_jj^-1 b_j = b_c - A_c^T Q T^-T b_j.
void ContactForm::gather_columns(const StepProblem& step) {
  constexpr double kMust = 1e-10;
  double largest = 0.0;
  for (const double b : step.free) largest = std::max(largest, std::abs(b));
  is_degenerate_ = false;
  if (q_.size() < rows()) q_.resize(rows());
  q_.setZero();
  entry_start_.assign(1, 0);
  entries_.clear();
  for (int i = 0; i < W_.rows; ++i) {
    Contact& contact = contacts_[at(i)];
    for (int j = 0; j < W_.dim; ++j) {
      if (j < contact.rows) {
        double free = step.free[at(contact.first + j)];
        take_column(step, contact, j, free);
        if (j == 0 && contact.is_flat && !(free >= -kMust * largest)) is_degenerate_ = true;
        if (!contact.is_flat) q_[Index{W_.dim} * i + j] = contact.stretch[at(j)] * free;
      }
      entry_start_.push_back(static_cast<int>(entries_.size()));
    }
  }
}

/// By coordinate, the contacts that move it; one may come more than once.
void ContactForm::find_touching(std::size_t dofs) {
  touch_start_.assign(dofs + 1, 0);
  for (const Entry& entry : entries_) ++touch_start_[at(entry.coordinate) + 1];
  for (std::size_t c = 0; c < dofs; ++c) touch_start_[c + 1] += touch_start_[c];
  touch_.resize(entries_.size());
  next_.assign(touch_start_.begin(), touch_start_.end() - 1);
  for (int i = 0; i < W_.rows; ++i) {
    for (int e = entry_start_[at(W_.dim * i)]; e < entry_start_[at(W_.dim * (i + 1))]; ++e) {
      touch_[at(next_[at(entries_[at(e)].coordinate)]++)] = i;
    }
  }
}

/// Row i of W = A^T A: A_i spread over the coordinates meets the columns of its neighbours.
void ContactForm::fill_row(int i) {
  const int d = W_.dim;
  neighbours_.assign(1, i);
  mark_[at(i)] = i;
  for (int j = 0; j < d; ++j) {
    for (int e = entry_start_[at(d * i + j)]; e < entry_start_[at(d * i + j + 1)]; ++e) {
      const int c = entries_[at(e)].coordinate;
      spread_[at(3 * c + j)] = entries_[at(e)].value;
      for (int k = touch_start_[at(c)]; k < touch_start_[at(c) + 1]; ++k) {
        const int other = touch_[at(k)];
        if (mark_[at(other)] == i) continue;
        mark_[at(other)] = i;
        neighbours_.push_back(other);
      }
    }
  }
  std::sort(neighbours_.begin(), neighbours_.end());
  for (const int other : neighbours_) {
    W_.column.push_back(other);
    W_.values.resize(W_.values.size() + W_.size(), 0.0);
    double* const block = W_.values.data() + W_.values.size() - W_.size();
    for (int j = 0; j < d; ++j) {
      for (int e = entry_start_[at(d * other + j)]; e < entry_start_[at(d * other + j + 1)]; ++e) {
        const double* const mine = spread_.data() + 3 * at(entries_[at(e)].coordinate);
        for (int k = 0; k < d; ++k) block[d * j + k] += mine[k] * entries_[at(e)].value;
      }
    }
  }
  for (int e = entry_start_[at(d * i)]; e < entry_start_[at(d * (i + 1))]; ++e) {
    double* const mine = spread_.data() + 3 * at(entries_[at(e)].coordinate);
    std::fill(mine, mine + 3, 0.0);
  }
  W_.start.push_back(static_cast<int>(W_.column.size()));
}

/// Directions that the contact does not have.
void ContactForm::add_missing(int i) {
  const Contact& contact = contacts_[at(i)];
  const int d = W_.dim;
  const int there = contact.is_flat ? 0 : contact.rows;
  double* const block = W_.block(W_.diagonal(i));
  double mean = 0.0;
  for (int j = 0; j < there; ++j) mean += block[d * j + j] / there;
  for (int j = there; j < d; ++j) block[d * j + j] = there > 0 ? mean : 1.0;
}

bool ContactForm::take(const StepProblem& step) {
  if (!read_sections(step) || !eliminate_joints(step)) return false;
  W_.rows = step.count();
  gather_columns(step);
  find_touching(at(step.dofs));
  mark_.assign(step.contacts.size(), -1);
  spread_.assign(3 * at(step.dofs), 0.0);
  W_.start.assign(1, 0);
  W_.column.clear();
  W_.values.clear();
  for (int i = 0; i < W_.rows; ++i) fill_row(i);
  for (int i = 0; i < W_.rows; ++i) add_missing(i);
  return true;
}

ContactProblem ContactForm::problem() const {
  ContactProblem result;
  result.dim = W_.dim;
  result.mu = mu_;
  result.q = q_.head(rows());
  result.matrix = W_;
  return result;
}

void ContactForm::give(const Eigen::VectorXd& r, Eigen::VectorXd& impulses) const {
  if (impulses.size() < step_rows_ + held_) impulses.resize(step_rows_ + held_);
  for (int i = 0; i < W_.rows; ++i) {
    const Contact& contact = contacts_[at(i)];
    for (int j = 0; j < contact.rows; ++j) {
      impulses[contact.first + j] =
          contact.is_flat ? 0.0 : contact.stretch[at(j)] * r[Index{W_.dim} * i + j];
    }
  }
  if (held_ == 0) return;
  // R_j = -W_jj^-1 (b_j + W_jc R_c) = -T^-1 (T^-T b_j + Q^T A_c R_c)
  joint_impulses_ = -joint_free_;
  joint_impulses_.noalias() -= coupling_.leftCols(step_rows_) * impulses.head(step_rows_);
  T_.triangularView<Eigen::Upper>().solveInPlace(joint_impulses_);
  impulses.segment(step_rows_, held_) = joint_impulses_;
}

}  // namespace ricochet::problem
