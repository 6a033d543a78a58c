#include "ricochet/problem/contact_velocity.h"

#include "ricochet/problem/mass_inverse.h"

namespace ricochet::problem {

struct ContactVelocity::MassFactor {
  MassInverse inverse;
};

ContactVelocity::~ContactVelocity() = default;

ContactVelocity::ContactVelocity(const ContactProblem& problem)
    : problem_(problem), mobility_(Eigen::VectorXd::Zero(problem.contacts())) {
  const int d = problem.dim;
  if (const auto* global = std::get_if<GlobalForm>(&problem.matrix)) {
    mass_ = std::make_unique<MassFactor>(MassFactor{MassInverse(global->M)});
    const SparseMatrix X = mass_->inverse(global->H);
    for (int column = 0; column < X.cols(); ++column) {
      mobility_[column / d] += global->H.col(column).dot(X.col(column)) / d;
    }
    free_ = global->H.transpose() * mass_->inverse(global->f) + global->w;
    return;
  }
  free_ = problem.q;
  if (const auto* dense = std::get_if<Eigen::MatrixXd>(&problem.matrix)) {
    for (Eigen::Index k = 0; k < dense->rows(); ++k) mobility_[k / d] += (*dense)(k, k) / d;
    return;
  }
  const auto& W = std::get<BlockRows>(problem.matrix);
  for (int i = 0; i < W.rows; ++i) {
    for (int k = W.start[static_cast<std::size_t>(i)]; k < W.start[static_cast<std::size_t>(i) + 1];
         ++k) {
      if (W.column[static_cast<std::size_t>(k)] != i) continue;
      for (int c = 0; c < d; ++c) {
        mobility_[i] += W.block(static_cast<std::size_t>(k))[c * d + c] / d;
      }
    }
  }
}

void ContactVelocity::operator()(const Eigen::VectorXd& r, Eigen::VectorXd& u) const {
  if (const auto* global = std::get_if<GlobalForm>(&problem_.matrix)) {
    const Eigen::VectorXd v = mass_->inverse(global->H * r + global->f);  // M v = H r + f
    u = global->H.transpose() * v + global->w;                            // u = H^T v + w
    return;
  }
  if (const auto* dense = std::get_if<Eigen::MatrixXd>(&problem_.matrix)) {
    u.noalias() = *dense * r;
  } else {
    multiply(std::get<BlockRows>(problem_.matrix), r, u);
  }
  u += problem_.q;
}

}  // namespace ricochet::problem
