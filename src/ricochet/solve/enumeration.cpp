// All modes of a few contacts. A contact is open (no impulse), sticks (u = 0) or slips in a
// direction d (u_N = 0, r_T = -mu r_N d). With modes and directions given the impulses are the
// solution of a small linear system; what is left is that slip goes along d: nothing in the plane,
// one equation on a circle for one slipping contact, two for two.

#include <array>
#include <cmath>
#include <functional>
#include <numbers>

#include "ricochet/base/error.h"
#include "ricochet/convex/dense.h"
#include "ricochet/convex/pivoted.h"
#include "ricochet/solve/contact_task.h"
#include "ricochet/solve/solutions.h"

namespace ricochet::solve {
namespace {

using problem::Grip;
constexpr std::array kGrips = {Grip::Free, Grip::Stick, Grip::Slip};

template <int D>
class Enumeration {
 public:
  using Modes = std::array<Grip, kMostListed>;
  using Angles = std::array<double, kMostListed>;
  /// Impulses of some modes, and by how many directions others solve the same equations; returns
  /// whether to go on.
  using Offer = std::function<bool(Eigen::VectorXd&, const Modes&, int)>;

  Enumeration(const problem::LocalProblem& problem, Offer offer)
      : n_(problem.contacts()),
        W_(problem::scalars_of(problem.W)),
        q_(problem.q),
        mu_(problem.mu),
        offer_(std::move(offer)) {}

  /// With so many directions of slip to begin with.
  void run(int directions) {
    directions_ = D == 2 ? 2 : directions;
    goes_on_ = true;
    modes_.fill(Grip::Free);
    choose(0);
  }

 private:
  /// Goes through the modes of contacts from `i` on, the last the fastest.
  void choose(int i) {
    if (i == n_) return turn(0);
    for (const Grip grip : kGrips) {
      modes_[static_cast<std::size_t>(i)] = grip;
      if (goes_on_) choose(i + 1);
    }
  }

  /// Goes through the directions of those that slip.
  void turn(int i) {
    if (i == n_) return solve();
    const auto at = static_cast<std::size_t>(i);
    const int count = modes_[at] == Grip::Slip ? directions_ : 1;
    for (int a = 0; a < count && goes_on_; ++a) {
      begin_[at] = 2.0 * std::numbers::pi * a / directions_;
      turn(i + 1);
    }
  }

  void solve() {
    Angles angles = begin_;
    bool slips = false;
    for (int i = 0; i < n_; ++i) {
      slips = slips || modes_[static_cast<std::size_t>(i)] == Grip::Slip;
    }
    if (D == 3 && slips && !refine(angles)) return;
    int free = 0;
    Eigen::VectorXd r = impulses(angles, &free);
    if (r.allFinite()) goes_on_ = offer_(r, modes_, free);
  }

  Eigen::Matrix<double, D, 1> direction(int contact, const Angles& angles) const {
    const double angle = angles[static_cast<std::size_t>(contact)];
    Eigen::Matrix<double, D, 1> d = Eigen::Matrix<double, D, 1>::Zero();
    d[1] = D == 2 ? (angle > 1.0 ? -1.0 : 1.0) : std::cos(angle);
    if constexpr (D == 3) d[2] = std::sin(angle);
    return d;
  }

  Eigen::VectorXd impulses(const Angles& angles, int* free = nullptr) const {
    Eigen::MatrixXd basis(n_ * D, n_ * D);  // what r is made of
    Eigen::MatrixXd rows(n_ * D, n_ * D);   // components of u that vanish
    basis.setZero();
    rows.setZero();
    Eigen::Index k = 0;
    for (int i = 0; i < n_; ++i) {
      const Grip mode = modes_[static_cast<std::size_t>(i)];
      if (mode == Grip::Stick) {
        for (int c = 0; c < D; ++c, ++k) basis(D * i + c, k) = rows(k, D * i + c) = 1.0;
      } else if (mode == Grip::Slip) {
        const double mu = mu_[static_cast<std::size_t>(i)];
        basis.block<D, 1>(D * i, k) = -mu * direction(i, angles);
        basis(D * i, k) = 1.0;
        rows(k, D * i) = 1.0;
        ++k;
      }
    }
    if (k == 0) return Eigen::VectorXd::Zero(n_ * D);
    const Eigen::MatrixXd B = basis.leftCols(k);
    const Eigen::MatrixXd R = rows.topRows(k);
    const Eigen::MatrixXd system = R * W_ * B;
    if (free != nullptr) *free = static_cast<int>(k - convex::rank_of(system, kSingular));
    return B * convex::least_squares(system, -R * q_);
  }

  /// By how much slip is off its direction, as the sine of the angle between them.
  Eigen::Vector2d off(const Angles& angles) const {
    const Eigen::VectorXd u = W_ * impulses(angles) + q_;
    Eigen::Vector2d result = Eigen::Vector2d::Zero();
    if constexpr (D == 3) {
      for (int i = 0; i < n_; ++i) {
        if (modes_[static_cast<std::size_t>(i)] != Grip::Slip) continue;
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
        if (modes_[static_cast<std::size_t>(c)] != Grip::Slip) continue;
        Angles moved = angles;
        moved[static_cast<std::size_t>(c)] += kStep;
        J.col(c) = (off(moved) - here) / kStep;
      }
      const Eigen::Vector2d change = convex::FullyPivoted<2>(J).solve(here);
      if (!change.allFinite()) return false;
      const double scale = std::min(1.0, 0.3 / std::max(change.norm(), 1e-300));
      for (std::size_t c = 0; c < 2; ++c) {
        angles[c] -= scale * change[static_cast<Eigen::Index>(c)];
      }
    }
    return true;
  }

  static constexpr double kSingular = 1e-11;
  int n_;
  Eigen::MatrixXd W_;
  Eigen::VectorXd q_;
  const std::vector<double>& mu_;
  Offer offer_;
  Modes modes_{};
  Angles begin_{};
  int directions_{2};  // of slip that are begun with
  bool goes_on_{true};
};

/// By how much impulses of these modes break the law, relative to impulses and velocities.
template <int D>
double error_of(const problem::LocalProblem& problem, const ContactSolution& s, double scale) {
  double worst = 0.0;
  for (int i = 0; i < problem.contacts(); ++i) {
    const auto r = s.impulses.segment<D>(D * i);
    const auto u = s.velocities.segment<D>(D * i);
    const double mobility = problem.W.block(problem.W.diagonal(i))[0];
    const double room = problem.mu[static_cast<std::size_t>(i)] * r[0] - r.tail(D - 1).norm();
    double error = 0.0;
    switch (s.grips[static_cast<std::size_t>(i)]) {
      case Grip::Free: error = -u[0]; break;
      case Grip::Stick: error = std::max({u.norm(), -mobility * room, -mobility * r[0]}); break;
      case Grip::Slip: {
        const double against = -u.tail(D - 1).dot(r.tail(D - 1));
        const double off = u.tail(D - 1).norm() - against / std::max(r.tail(D - 1).norm(), 1e-300);
        error = std::max({std::abs(u[0]), -mobility * r[0], off});
        break;
      }
    }
    worst = std::max(worst, error / scale);
  }
  return worst;
}

template <int D>
std::vector<ContactSolution> list_solutions(const problem::LocalProblem& problem) {
  constexpr double kGood = 1e-9;
  constexpr double kSame = 1e-6;
  std::vector<ContactSolution> found;
  const auto offer = [&](Eigen::VectorXd& r, const auto& modes, int free) {
    ContactSolution next{r, {}, {modes.begin(), modes.begin() + problem.contacts()}, free};
    problem::multiply(problem.W, r, next.velocities);
    const double scale = next.velocities.norm() + problem.q.norm();
    next.velocities += problem.q;
    if (!(error_of<D>(problem, next, scale) <= kGood)) return true;
    for (const ContactSolution& old : found) {
      const double size = old.impulses.norm() + r.norm();
      if ((old.impulses - r).norm() <= kSame * size && old.free >= free) return true;
    }
    found.push_back(std::move(next));
    return true;
  };
  Enumeration<D>(problem, offer).run(24);
  return found;
}

}  // namespace

bool may_be_listed(const problem::ContactProblem& problem) {
  return problem.contacts() <= (problem.dim == 2 ? kMostListed : kMostEnumerated);
}

std::vector<ContactSolution> all_solutions(const problem::ContactProblem& problem) {
  problem::ContactVelocity velocity(problem);
  const problem::LocalProblem local = velocity.local();
  if (!may_be_listed(problem) || problem.contacts() == 0) return {};
  return with_dimension(problem.dim, [&]<int D>() { return list_solutions<D>(local); });
}

void run_enumeration(ContactTask& task) {
  if (task.problem().contacts() > kMostEnumerated) {
    throw base::InputError("enumeration", "is for at most two contacts", "use auto");
  }
  if (task.problem().contacts() == 0) return;
  with_dimension(task.problem().dim, [&]<int D>() {
    Enumeration<D> all(task.local(), [&](Eigen::VectorXd& r, const auto&, int) {
      task.measure(r);
      task.count(1);
      return !task.done();
    });
    for (const int directions : {36, 180}) {
      if (!task.done()) all.run(directions);
    }
  });
}

}  // namespace ricochet::solve
