#include "ricochet/problem/contact_velocity.h"

#include <algorithm>

#include "ricochet/base/error.h"
#include "ricochet/problem/mass_inverse.h"

namespace ricochet::problem {

struct ContactVelocity::Global {
  const GlobalForm& form;
  MassInverse inverse;
  SparseMatrix X;  // M^-1 H

  explicit Global(const GlobalForm& given) : form(given), inverse(given.M), X(inverse(given.H)) {}
};

ContactVelocity::~ContactVelocity() = default;

ContactVelocity::ContactVelocity(const ContactProblem& problem)
    : problem_(problem), mobility_(Eigen::VectorXd::Zero(problem.contacts())) {
  const int d = problem.dim;
  if (const auto* form = std::get_if<GlobalForm>(&problem.matrix)) {
    global_ = std::make_unique<Global>(*form);
    for (int column = 0; column < global_->X.cols(); ++column) {
      mobility_[column / d] += form->H.col(column).dot(global_->X.col(column)) / d;
    }
    free_ = form->H.transpose() * global_->inverse(form->f) + form->w;
    if (mobility_.size() > 0 && !(mobility_.minCoeff() > 0.0)) {
      throw base::InputError("H", "a contact's impulse moves nothing",
                             "leave out contacts between bodies that cannot move");
    }
    return;
  }
  free_ = problem.q;
  if (const auto* dense = std::get_if<Eigen::MatrixXd>(&problem.matrix)) {
    for (Eigen::Index k = 0; k < dense->rows(); ++k) mobility_[k / d] += (*dense)(k, k) / d;
    return;
  }
  const auto& W = std::get<BlockRows>(problem.matrix);
  for (int i = 0; i < W.rows; ++i) {
    const double* const block = W.block(W.diagonal(i));
    for (int c = 0; c < d; ++c) mobility_[i] += block[c * d + c] / d;
  }
}

void ContactVelocity::operator()(const Eigen::VectorXd& r, Eigen::VectorXd& u) const {
  if (global_) {
    const GlobalForm& form = global_->form;
    const Eigen::VectorXd v = global_->inverse(form.H * r + form.f);  // M v = H r + f
    u = form.H.transpose() * v + form.w;                              // u = H^T v + w
    return;
  }
  if (const auto* dense = std::get_if<Eigen::MatrixXd>(&problem_.matrix)) {
    u.noalias() = *dense * r;
  } else {
    multiply(std::get<BlockRows>(problem_.matrix), r, u);
  }
  u += problem_.q;
}

LocalProblem ContactVelocity::local() {
  if (const auto* blocks = std::get_if<BlockRows>(&problem_.matrix)) {
    return {*blocks, free_, problem_.mu};
  }
  if (!blocks_) {
    blocks_ = std::make_unique<BlockRows>(
        global_ ? blocks_of(SparseMatrix(global_->form.H.transpose() * global_->X), problem_.dim)
                : blocks_of(std::get<Eigen::MatrixXd>(problem_.matrix), problem_.dim));
  }
  return {*blocks_, free_, problem_.mu};
}

}  // namespace ricochet::problem
