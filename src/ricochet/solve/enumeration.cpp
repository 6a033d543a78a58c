// All modes of one or two contacts. A contact is open (no impulse), sticks (u = 0) or slips in a
// direction d (u_N = 0, r_T = -mu r_N d). With modes and directions given the impulses are the
// solution of a small linear system; what is left is that slip goes along d: nothing in the plane,
// one equation on a circle for one slipping contact, two for two.

#include <Eigen/LU>
#include <array>
#include <cmath>
#include <numbers>

#include "ricochet/base/error.h"
#include "ricochet/convex/dense.h"
#include "ricochet/solve/contact_task.h"

namespace ricochet::solve {
namespace {

enum class Mode { Open, Stick, Slip };

template <int D>
class Enumeration {
 public:
  explicit Enumeration(ContactTask& task)
      : task_(task),
        n_(task.problem().contacts()),
        W_(problem::scalars_of(task.local().W)),
        q_(task.local().q) {}

  void run() {
    for (const int directions : {D == 2 ? 2 : 36, D == 2 ? 2 : 180}) {
      directions_ = directions;
      if (!task_.done()) try_all();
    }
  }

 private:
  void try_all() {
    std::array<Mode, 2> modes{};
    for (const Mode first : {Mode::Open, Mode::Stick, Mode::Slip}) {
      for (const Mode second : {Mode::Open, Mode::Stick, Mode::Slip}) {
        if (n_ == 1 && second != Mode::Open) continue;
        modes = {first, second};
        try_modes(modes);
        task_.count(1);
        if (task_.done()) return;
      }
    }
  }

  using Angles = std::array<double, 2>;

  void try_modes(const std::array<Mode, 2>& modes) {
    modes_ = modes;
    const bool slips[2] = {modes[0] == Mode::Slip, modes[1] == Mode::Slip};
    const int first = slips[0] ? directions_ : 1;
    const int second = slips[1] ? directions_ : 1;
    for (int a = 0; a < first && !task_.done(); ++a) {
      for (int b = 0; b < second && !task_.done(); ++b) {
        const double turn = 2.0 * std::numbers::pi / directions_;
        Angles angles{a * turn, b * turn};
        if (D == 3 && (slips[0] || slips[1]) && !refine(angles)) continue;
        Eigen::VectorXd r = impulses(angles);
        if (r.allFinite()) task_.measure(r);
      }
    }
  }

  Eigen::Matrix<double, D, 1> direction(int contact, const Angles& angles) const {
    const double angle = angles[static_cast<std::size_t>(contact)];
    Eigen::Matrix<double, D, 1> d = Eigen::Matrix<double, D, 1>::Zero();
    d[1] = D == 2 ? (angle > 1.0 ? -1.0 : 1.0) : std::cos(angle);
    if constexpr (D == 3) d[2] = std::sin(angle);
    return d;
  }

  Eigen::VectorXd impulses(const Angles& angles) const {
    Eigen::MatrixXd basis(n_ * D, n_ * D);  // what r is made of
    Eigen::MatrixXd rows(n_ * D, n_ * D);   // components of u that vanish
    basis.setZero();
    rows.setZero();
    Eigen::Index k = 0;
    for (int i = 0; i < n_; ++i) {
      const Mode mode = modes_[static_cast<std::size_t>(i)];
      if (mode == Mode::Stick) {
        for (int c = 0; c < D; ++c, ++k) basis(D * i + c, k) = rows(k, D * i + c) = 1.0;
      } else if (mode == Mode::Slip) {
        const double mu = task_.problem().mu[static_cast<std::size_t>(i)];
        basis.block<D, 1>(D * i, k) = -mu * direction(i, angles);
        basis(D * i, k) = 1.0;
        rows(k, D * i) = 1.0;
        ++k;
      }
    }
    if (k == 0) return Eigen::VectorXd::Zero(n_ * D);
    const Eigen::MatrixXd B = basis.leftCols(k);
    const Eigen::MatrixXd R = rows.topRows(k);
    return B * convex::least_squares(R * W_ * B, -R * q_);
  }

  /// By how much slip is off its direction, as the sine of the angle between them.
  Eigen::Vector2d off(const Angles& angles) const {
    const Eigen::VectorXd u = W_ * impulses(angles) + q_;
    Eigen::Vector2d result = Eigen::Vector2d::Zero();
    if constexpr (D == 3) {
      for (int i = 0; i < n_; ++i) {
        if (modes_[static_cast<std::size_t>(i)] != Mode::Slip) continue;
        const Eigen::Vector3d d = direction(i, angles);
        const Eigen::Vector2d t = u.template segment<2>(D * i + 1);
        result[i] = (t[0] * d[2] - t[1] * d[1]) / std::max(t.norm(), 1e-300);
      }
    }
    return result;
  }

  /// Newton's method on the angles, derivatives by differences.
  bool refine(Angles& angles) const {
    constexpr double kStep = 1e-7;
    for (int k = 0; k < 20; ++k) {
      const Eigen::Vector2d here = off(angles);
      if (!here.allFinite() || (k == 0 && here.norm() > 0.95)) return false;
      if (here.norm() < 1e-15) return true;
      Eigen::Matrix2d J = Eigen::Matrix2d::Identity();
      for (int c = 0; c < n_; ++c) {
        if (modes_[static_cast<std::size_t>(c)] != Mode::Slip) continue;
        Angles moved = angles;
        moved[static_cast<std::size_t>(c)] += kStep;
        J.col(c) = (off(moved) - here) / kStep;
      }
      const Eigen::Vector2d change = J.fullPivLu().solve(here);
      if (!change.allFinite()) return false;
      const double scale = std::min(1.0, 0.3 / std::max(change.norm(), 1e-300));
      for (std::size_t c = 0; c < 2; ++c) {
        angles[c] -= scale * change[static_cast<Eigen::Index>(c)];
      }
    }
    return true;
  }

  ContactTask& task_;
  int n_;
  Eigen::MatrixXd W_;
  Eigen::VectorXd q_;
  std::array<Mode, 2> modes_{};
  int directions_{2};  // of slip that are begun with
};

}  // namespace

void run_enumeration(ContactTask& task) {
  if (task.problem().contacts() > kMostEnumerated) {
    throw base::InputError("enumeration", "is for at most two contacts", "use auto");
  }
  if (task.problem().contacts() == 0) return;
  with_dimension(task.problem().dim, [&]<int D>() { Enumeration<D>(task).run(); });
}

}  // namespace ricochet::solve
