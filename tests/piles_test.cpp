// Piles in the plane: contacts solved along the pieces of their law.

#include <gtest/gtest.h>

#include <variant>

#include "ricochet/problem/contact_generator.h"
#include "ricochet/problem/contact_residual.h"
#include "ricochet/solve/contact_path.h"

namespace ricochet::solve::piles_test {
namespace {

problem::ContactProblem sample(problem::SampleKind kind, double mu, double ratio, int seed) {
  problem::ContactSample what;
  what.kind = kind;
  what.dim = 2;
  what.bodies = 40;
  what.mu_low = what.mu_high = mu;
  what.mass_ratio = ratio;
  what.seed = static_cast<std::uint64_t>(seed);
  return problem::in_blocks(problem::generate_contacts(what));
}

}  // namespace

TEST(ContactPath, EndsAtASolutionWhereItEnds) {
  int ends = 0;
  int tried = 0;
  for (const auto kind : {problem::SampleKind::Packing, problem::SampleKind::Repeated}) {
    for (const double mu : {0.1, 0.3, 0.6}) {
      for (int seed = 1; seed <= 4; ++seed) {
        const problem::ContactProblem problem = sample(kind, mu, seed % 2 == 0 ? 100.0 : 1.0, seed);
        const auto& W = std::get<problem::BlockRows>(problem.matrix);
        ContactPath path({W, problem.q, problem.mu});
        Eigen::VectorXd r = Eigen::VectorXd::Zero(problem.rows());
        ++tried;
        if (!path.follow(r, 500)) continue;
        ++ends;
        EXPECT_LT(problem::residual_of(problem, r).scale_free, 1e-10) << mu << " " << seed;
      }
    }
  }
  EXPECT_GT(2 * ends, tried) << "of " << tried;
}

TEST(ContactPath, NeverTurnsWithoutFriction) {
  for (int seed = 1; seed <= 8; ++seed) {
    const problem::ContactProblem problem = sample(problem::SampleKind::Packing, 0.0, 1000.0, seed);
    const auto& W = std::get<problem::BlockRows>(problem.matrix);
    ContactPath path({W, problem.q, problem.mu});
    Eigen::VectorXd r = Eigen::VectorXd::Zero(problem.rows());
    ASSERT_TRUE(path.follow(r, 2000)) << seed;
    EXPECT_LT(problem::residual_of(problem, r).scale_free, 1e-10) << seed;
  }
}

}  // namespace ricochet::solve::piles_test
