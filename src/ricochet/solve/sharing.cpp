#include "ricochet/solve/sharing.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "ricochet/base/index.h"

namespace ricochet::solve {
namespace {

using base::index;

struct Shares {  // names that no other source of the room has
  // epsilon, of the mean of W's diagonal, and what is as good as hard.
  static constexpr std::array kSoftness = {1.0, 0.1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6};
  static constexpr double kSmall = 1e-4;
  static constexpr double kTimes = 1e3;      // softer or stiffer than the others
  static constexpr double kPressed = 10.0;   // times the impulse that free velocities ask for
  static constexpr double kAsked = 1e-12;    // residuals, scale-free
  static constexpr double kSoftGood = 1e-9;  // of softened problems
  static constexpr double kInside = 1e-9;    // of a cone: less is its surface
  static constexpr double kExact = 1e-15;
  static constexpr double kGood = 1e-11;      // of the problem itself
  static constexpr double kDiffers = 1e-3;    // of the free velocities: less is the same motion
  static constexpr double kSingular = 1e-10;  // of the largest pivot
  static constexpr double kPart = 1e-6;       // of an impulse that others can replace
};

}  // namespace

template <int D>
Sharing<D>::Sharing(const problem::LocalProblem& problem)
    : problem_(problem), methods_(problem), soft_methods_({soft_, problem.q, problem.mu}) {
  soft_.dim = D;
}

/// Rows at which a contact that is shut may push: along its normal, and with friction beside it.
template <int D>
void Sharing<D>::list_closed(const Eigen::VectorXd& r) {
  r_ = r;
  methods_.begin(r_);
  velocities_ = methods_.velocity();
  rows_.clear();
  normals_.clear();
  const double small = 1e-9 * methods_.free_scale();
  for (int i = 0; i < problem_.contacts(); ++i) {
    const bool is_shut = r_[D * i] > 0.0 || methods_.rho(index(i)) * velocities_[D * i] <= small;
    if (!is_shut) continue;
    const bool has_friction = problem_.mu[index(i)] > 0.0;
    if (has_friction) normals_.push_back(static_cast<int>(rows_.size()));
    for (int j = 0; j < (has_friction ? D : 1); ++j) rows_.push_back(D * i + j);
  }
}

/// W^+ W e_k is e_k where no kernel of W has a part along e_k.
template <int D>
bool Sharing<D>::is_open(const Eigen::VectorXd& r) {
  list_closed(r);
  if (normals_.empty()) return false;
  const int count = static_cast<int>(rows_.size());
  matrix_.setZero(count, count);
  for (int a = 0; a < count; ++a) {
    const int row = rows_[index(a)];
    for (int b = 0; b < count; ++b) {
      const int other = rows_[index(b)];
      matrix_(a, b) = std::sqrt(methods_.rho(index(row / D)) * methods_.rho(index(other / D))) *
                      entry(row, other / D, Eigen::Matrix<double, D, 1>::Unit(other % D));
    }
  }
  share_.resize(count);
  factors_.compute(matrix_, Shares::kSingular);
  if (factors_.rank() == count) return false;
  for (const int normal : normals_) {
    factors_.solve_shortest(matrix_.col(normal), share_);
    if (1.0 - share_[normal] > Shares::kPart) return true;
  }
  return false;
}

/// W + D, D of that softness, one contact `times` as soft as the others; all equal where it is -1.
template <int D>
void Sharing<D>::soften(double softness, int contact, double times) {
  soft_ = problem_.W;
  double sum = 0.0;
  for (int i = 0; i < soft_.rows; ++i) sum += D / methods_.rho(index(i));
  const double unit = softness * sum / (D * soft_.rows);
  for (int i = 0; i < soft_.rows; ++i) {
    Eigen::Map<Eigen::Matrix<double, D, D>> block(soft_.block(soft_.diagonal(i)));
    block.diagonal().array() += i == contact ? times * unit : unit;
  }
}

/// From soft contacts to hard ones, each from the impulses of the last.
template <int D>
bool Sharing<D>::solve_soft(int contact, double times) {
  trial_.setZero(r_.size());
  bool is_solved = false;
  for (const double softness : Shares::kSoftness) {
    soften(softness, contact, times);
    kept_ = trial_;
    soft_methods_.set_mean_change(0.0);
    const double residual = soft_methods_.solve(trial_, Shares::kAsked);
    const bool is_good = residual <= Shares::kSoftGood;
    if (!is_good && is_solved) trial_ = kept_;  // the last that was solved
    if (!is_good) return is_solved;
    is_solved = softness <= Shares::kSmall;
  }
  return is_solved;
}

template <int D>
bool Sharing<D>::solve_truly() {
  methods_.set_mean_change(0.0);
  return methods_.solve(trial_, Shares::kAsked) <= Shares::kGood ||
         methods_.finish(trial_) <= Shares::kGood;
}

template <int D>
bool Sharing<D>::differs() {
  if (!solve_truly()) return false;
  methods_.residual(trial_);
  for (int i = 0; i < problem_.contacts(); ++i) {
    const auto apart =
        methods_.velocity().template segment<D>(D * i) - velocities_.template segment<D>(D * i);
    if (methods_.rho(index(i)) * apart.norm() > Shares::kDiffers * methods_.free_scale())
      return true;
  }
  return false;
}

template <int D>
bool Sharing<D>::has_others(const Eigen::VectorXd& r) {
  list_closed(r);
  for (const int row : rows_) {
    if (row % D != 0) continue;
    for (const double times : {Shares::kTimes, 1.0 / Shares::kTimes}) {
      if (solve_soft(row / D, times) && differs()) return true;
    }
  }
  trial_.setZero(r_.size());
  for (const int row : rows_) {
    if (row % D == 0) trial_[row] = Shares::kPressed * methods_.free_scale();
  }
  return differs();
}

/// What an impulse on a contact adds to the velocity of a row.
template <int D>
double Sharing<D>::entry(int row, int contact, const Eigen::Matrix<double, D, 1>& impulse) const {
  const problem::BlockRows& W = problem_.W;
  const std::size_t at = W.find(row / D, contact);
  if (at == index(W.start[index(row / D) + 1]) || W.column[at] != contact) return 0.0;
  const Eigen::Map<const Eigen::Matrix<double, D, D>> block(W.block(at));
  return block.row(row % D).dot(impulse);
}

/// What each contact does in the softened solution, as linear equations: u_N = 0, and u_T = 0 or
/// r_T = mu r_N s.
template <int D>
void Sharing<D>::list_modes() {
  modes_.clear();
  for (int i = 0; i < problem_.contacts(); ++i) {
    const Eigen::Matrix<double, D, 1> r = trial_.segment<D>(D * i);
    if (!(r[0] > 0.0)) continue;
    const double mu = problem_.mu[index(i)];
    const double tangential = r.template tail<D - 1>().norm();
    const bool slips = tangential >= (1.0 - Shares::kInside) * mu * r[0];
    Eigen::Matrix<double, D, 1> along = Eigen::Matrix<double, D, 1>::Unit(0);
    if (slips && tangential > 0.0) {
      along.template tail<D - 1>() = mu / tangential * r.template tail<D - 1>();
    }
    modes_.push_back({i, D * i, along, slips && mu > 0.0});
    for (int j = 1; j < D && !slips; ++j) {
      modes_.push_back({i, D * i + j, Eigen::Matrix<double, D, 1>::Unit(j), false});
    }
  }
}

/// A y = c in modes, and what epsilon multiplies, both in units of sqrt(rho).
template <int D>
void Sharing<D>::pose_modes() {
  const int count = static_cast<int>(modes_.size());
  matrix_.setZero(count, count);
  softness_.setZero(count, count);
  right_.setZero(2 * count);
  for (int a = 0; a < count; ++a) {
    const Mode& one = modes_[index(a)];
    const double scale = std::sqrt(methods_.rho(index(one.contact)));
    right_[a] = -scale * problem_.q[one.row];
    for (int b = 0; b < count; ++b) {
      const Mode& other = modes_[index(b)];
      const double both = scale * std::sqrt(methods_.rho(index(other.contact)));
      matrix_(a, b) = both * entry(one.row, other.contact, other.along);
      if (one.contact == other.contact) softness_(a, b) = both * other.along[one.row % D];
    }
  }
}

/// The limit of (A + epsilon B) y = c for epsilon -> 0: A y = c, and B y in the range of A.
template <int D>
void Sharing<D>::solve_modes() {
  const auto count = static_cast<Eigen::Index>(modes_.size());
  share_.setZero(count);
  factors_.compute(matrix_, Shares::kSingular);
  if (factors_.rank() == count) {
    factors_.solve(right_.head(count), share_);
  } else {
    stacked_.resize(2 * count, count);
    stacked_.topRows(count) = matrix_;
    for (Eigen::Index k = 0; k < count; ++k) {
      factors_.solve(softness_.col(k), share_);
      stacked_.col(k).tail(count) = softness_.col(k) - matrix_ * share_;
    }
    factors_.compute(stacked_, Shares::kSingular);
    factors_.solve(right_, share_);
  }
  trial_.setZero(r_.size());
  for (std::size_t k = 0; k < modes_.size(); ++k) {
    const Mode& mode = modes_[k];
    const double impulse =
        std::sqrt(methods_.rho(index(mode.contact))) * share_[static_cast<Eigen::Index>(k)];
    trial_.segment<D>(D * mode.contact) += impulse * mode.along;
  }
}

/// Friction against the slip that there is.
template <int D>
void Sharing<D>::turn_slips() {
  for (Mode& mode : modes_) {
    if (!mode.slips) continue;
    const auto slip =
        methods_.velocity().template segment<D>(D * mode.contact).template tail<D - 1>();
    const double speed = slip.norm();
    if (speed > 0.0) {
      mode.along.template tail<D - 1>() = -problem_.mu[index(mode.contact)] / speed * slip;
    }
  }
}

/// From the softened solution to the limit for epsilon -> 0, if contacts do the same there.
template <int D>
bool Sharing<D>::finish_equally() {
  constexpr int kMostRounds = 40;
  list_modes();
  if (modes_.empty()) return false;
  for (int round = 0; round < kMostRounds; ++round) {
    pose_modes();
    solve_modes();
    if (!trial_.allFinite()) return false;
    if (methods_.residual(trial_) <= Shares::kExact) return true;
    if (D == 2) break;
    turn_slips();
  }
  return methods_.residual(trial_) <= Shares::kGood;
}

template <int D>
bool Sharing<D>::share_equally(Eigen::VectorXd& r) {
  r_ = r;
  methods_.begin(r_);
  if (!solve_soft(-1, 1.0)) return false;
  kept_ = trial_;
  if (!finish_equally()) {
    trial_ = kept_;
    if (!solve_truly()) return false;
  }
  r.head(trial_.size()) = trial_;
  return true;
}

template class Sharing<2>;
template class Sharing<3>;

}  // namespace ricochet::solve
