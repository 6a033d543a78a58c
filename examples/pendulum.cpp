// A model written in C++: Moreau's unilateral pendulum (1986, essai 4). The step is compiled with
// the model inlined, and runs near the speed of a loop written by hand.

#include <cmath>
#include <cstdio>

#include "ricochet/step/elast.h"
#include "ricochet/step/simulate.h"

using Eigen::Vector2d;
namespace step = ricochet::step;
namespace model = ricochet::model;

struct Pendulum {
  static constexpr int kDofs = 2;
  static constexpr int kContacts = 1;
  double R{40.0};    // [cm]
  double g{1000.0};  // [cm/s^2]

  double gap(int, double, const Vector2d& q) const { return R * R - q.squaredNorm(); }
  Vector2d gap_gradient(int, double, const Vector2d& q) const { return -2.0 * q; }
  Vector2d force(double, const Vector2d&, const Vector2d&) const { return {0.0, -g}; }
  double potential(double, const Vector2d& q) const { return g * q[1]; }
};

int main() {
  const Pendulum pendulum;
  model::State<2> state{0.0, {0.0, -pendulum.R}, {std::sqrt(200.0) * pendulum.R, 0.0}};
  const step::RunSettings run{.step = 0.005, .steps = 200};
  const step::Outcome outcome =
      step::simulate(model::InlineModel{pendulum}, step::Elast{}, run, state,
                     [](const step::Sample&) { /* one recorded instant */ });
  const auto& certificate = outcome.certificate;
  std::printf("x = %.6f, y = %.6f, %s, residual %.1e\n", state.q[0], state.q[1],
              ricochet::certify::describe(certificate.failure).name, certificate.residual_max);
  return certificate.ok() ? 0 : 1;
}
