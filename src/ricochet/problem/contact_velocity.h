#pragma once

#include <Eigen/Core>
#include <memory>

#include "ricochet/problem/contact.h"

namespace ricochet::problem {

/// u = W r + q from the problem as it is given, with M factored once where the form is global.
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

 private:
  struct MassFactor;

  const ContactProblem& problem_;
  std::unique_ptr<MassFactor> mass_;
  Eigen::VectorXd free_;
  Eigen::VectorXd mobility_;
};

}  // namespace ricochet::problem
