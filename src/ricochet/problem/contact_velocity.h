#pragma once

#include <Eigen/Core>
#include <memory>

#include "ricochet/problem/contact.h"

namespace ricochet::problem {

/// u = W r + q from the problem as it is given, with M factored once where the form is global.
/// Keeps a reference to the problem.
class ContactVelocity {
 public:
  explicit ContactVelocity(const ContactProblem& problem);
  ~ContactVelocity();
  ContactVelocity(const ContactVelocity&) = delete;
  ContactVelocity& operator=(const ContactVelocity&) = delete;

  void operator()(const Eigen::VectorXd& r, Eigen::VectorXd& u) const;

  /// q = u(0).
  const Eigen::VectorXd& free() const { return free_; }

  /// tr W_ii / d of each contact: what one unit of impulse does to the contact itself.
  const Eigen::VectorXd& mobility() const { return mobility_; }

  /// The problem with W by its blocks, formed at the first call unless it is given so. It lives as
  /// long as this and the problem do.
  LocalProblem local();

 private:
  struct Global;

  const ContactProblem& problem_;
  std::unique_ptr<Global> global_;
  std::unique_ptr<BlockRows> blocks_;
  Eigen::VectorXd free_;
  Eigen::VectorXd mobility_;
};

}  // namespace ricochet::problem
