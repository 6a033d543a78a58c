#include "ricochet/solve/sharing.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "ricochet/base/index.h"

namespace ricochet::solve {
namespace {

using base::index;

/// What is small, and what is not.
struct Shares {
  // epsilon, of the mean of W's diagonal, where it ends and what is as good as hard.
  static constexpr double kHardest = 2e-6;
  static constexpr double kHard = 1e-4;
  static constexpr double kTimes = 1e3;       // a contact is softer or stiffer than the others
  static constexpr double kPressed = 10.0;    // times the impulse that free velocities ask for
  static constexpr double kAsked = 1e-12;     // residuals, scale-free
  static constexpr double kSoftGood = 1e-9;   // of softened problems
  static constexpr double kExact = 1e-15;     // of the problem itself
  static constexpr double kGood = 1e-11;      // of the problem itself
  static constexpr double kRest = 1e-9;       // of free velocities: what stays shut, or sticks
  static constexpr double kInside = 1e-9;     // of a cone: nearer to its surface is on it
  static constexpr double kDiffers = 1e-3;    // of the change of velocities: less is one motion
  static constexpr double kSingular = 1e-10;  // of the largest pivot
  static constexpr double kReplaced = 1e-6;   // part of an impulse that others can replace
};

}  // namespace

template <int D>
Sharing<D>::Sharing(const problem::LocalProblem& problem)
    : problem_(problem), methods_(problem), soft_methods_({soft_, problem.q, problem.mu}) {
  soft_.dim = D;
}

/// What the impulses measured last change in velocities.
template <int D>
double Sharing<D>::change() const {
  double most = 0.0;
  for (int i = 0; i < problem_.contacts(); ++i) {
    const auto moved =
        methods_.velocity().template segment<D>(D * i) - problem_.q.template segment<D>(D * i);
    most = std::max(most, methods_.rho(index(i)) * moved.norm());
  }
  return most;
}

/// Rows at which a contact that is shut may push: along its normal, and with friction beside it.
template <int D>
void Sharing<D>::list_closed(const Eigen::VectorXd& r) {
  r_ = r;
  methods_.begin(r_);
  velocities_ = methods_.velocity();
  change_ = change();
  rows_.clear();
  normals_.clear();
  const double small = Shares::kRest * methods_.free_scale();
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
    if (1.0 - share_[normal] > Shares::kReplaced) return true;
  }
  return false;
}

template <int D>
std::uint64_t Sharing<D>::pattern(const Eigen::VectorXd& r) const {
  std::uint64_t name = 1;
  for (int i = 0; i < problem_.contacts(); ++i) {
    const double most = problem_.mu[index(i)] * r[D * i];
    const bool slips =
        r.segment<D>(D * i).template tail<D - 1>().norm() >= (1.0 - Shares::kInside) * most;
    name = 3 * name + (!(r[D * i] > 0.0) ? 0U : slips ? 1U : 2U);
  }
  return name;
}

template <int D>
bool Sharing<D>::is_unique() {
  modes_.clear();
  for (const int row : rows_) {
    if (row % D != 0) continue;
    add_modes(row / D, r_.segment<D>(row), !(r_[row] > 0.0));
  }
  pose_modes();
  factors_.compute(matrix_, Shares::kSingular);
  return factors_.rank() == static_cast<Eigen::Index>(modes_.size());
}

/// W + D, D of that softness, times_ as much at each contact.
template <int D>
void Sharing<D>::soften(double softness) {
  soft_ = problem_.W;
  double sum = 0.0;
  for (int i = 0; i < soft_.rows; ++i) sum += D / methods_.rho(index(i));
  const double unit = softness * sum / (D * soft_.rows);
  for (int i = 0; i < soft_.rows; ++i) {
    Eigen::Map<Eigen::Matrix<double, D, D>> block(soft_.block(soft_.diagonal(i)));
    block.diagonal().array() += times_[index(i)] * unit;
  }
}

/// From soft contacts to hard ones, each from the impulses of the last.
template <int D>
bool Sharing<D>::solve_soft() {
  constexpr int kMostTries = 30;
  trial_.setZero(r_.size());
  double solved = 10.0;  // the last softness
  double part = 0.1;     // of it, the next
  for (int k = 0; k < kMostTries && solved > Shares::kHardest; ++k) {
    soften(part * solved);
    kept_ = trial_;
    soft_methods_.set_mean_change(0.0);
    const bool is_good = soft_methods_.solve(trial_, Shares::kAsked) <= Shares::kSoftGood ||
                         soft_methods_.finish(trial_) <= Shares::kSoftGood;
    if (is_good) {
      solved *= part;
      part = 0.1;
    } else {
      trial_ = kept_;
      part = std::sqrt(part);
      if (part > 0.9) break;
    }
  }
  return solved <= Shares::kHard;
}

template <int D>
bool Sharing<D>::solve_truly() {
  methods_.set_mean_change(0.0);
  return methods_.solve(trial_, Shares::kAsked) <= Shares::kGood ||
         methods_.finish(trial_) <= Shares::kGood;
}

/// Whether the impulses tried lead to other velocities. What impulses change is the measure, not
/// the velocities themselves: fast bodies change slowly.
template <int D>
bool Sharing<D>::differs() {
  if (!solve_truly()) return false;
  methods_.residual(trial_);
  const double least = std::max(Shares::kDiffers * std::max(change_, change()),
                                Shares::kRest * methods_.free_scale());
  for (int i = 0; i < problem_.contacts(); ++i) {
    const auto apart =
        methods_.velocity().template segment<D>(D * i) - velocities_.template segment<D>(D * i);
    if (methods_.rho(index(i)) * apart.norm() > least) return true;
  }
  return false;
}

/// One contact softer or stiffer than the others.
template <int D>
bool Sharing<D>::finds_by_one() {
  for (const int row : rows_) {
    if (row % D != 0) continue;
    for (const double times : {Shares::kTimes, 1.0 / Shares::kTimes}) {
      times_.fill(1.0);
      times_[index(row / D)] = times;
      if (solve_soft() && differs()) return true;
    }
  }
  return false;
}

/// Contacts with much friction softer or stiffer than those with less.
template <int D>
bool Sharing<D>::finds_by_roughness() {
  const auto [least, most] = std::minmax_element(problem_.mu.begin(), problem_.mu.end());
  if (*least == *most) return false;
  for (const double times : {Shares::kTimes, 1.0 / Shares::kTimes}) {
    for (int i = 0; i < problem_.contacts(); ++i) {
      const bool is_rough = 2.0 * problem_.mu[index(i)] > *least + *most;
      times_[index(i)] = is_rough ? times : 1.0;
    }
    if (solve_soft() && differs()) return true;
  }
  return false;
}

/// All contacts pressed together beyond what the motion asks for: they may hold each other.
template <int D>
bool Sharing<D>::finds_by_pressing() {
  trial_.setZero(r_.size());
  for (const int row : rows_) {
    if (row % D == 0) trial_[row] = Shares::kPressed * methods_.free_scale();
  }
  return differs();
}

template <int D>
bool Sharing<D>::has_others(const Eigen::VectorXd& r) {
  list_closed(r);
  return finds_by_roughness() || finds_by_one() || finds_by_pressing();
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

/// What a contact does, as linear equations: u_N = 0, and u_T = 0 or r_T = mu r_N s. One that is
/// shut and idle slips as it does, or may stick.
template <int D>
void Sharing<D>::add_modes(int contact, const Eigen::Matrix<double, D, 1>& r, bool is_idle) {
  using Vector = Eigen::Matrix<double, D, 1>;
  const double mu = problem_.mu[index(contact)];
  const double tangential = r.template tail<D - 1>().norm();
  const auto slip = velocities_.template segment<D>(D * contact).template tail<D - 1>();
  const bool moves =
      methods_.rho(index(contact)) * slip.norm() > Shares::kRest * methods_.free_scale();
  const bool slips =
      mu == 0.0 || (is_idle ? moves : tangential >= (1.0 - Shares::kInside) * mu * r[0]);
  Vector along = Vector::Unit(0);
  if (slips && !is_idle && tangential > 0.0) {
    along.template tail<D - 1>() = mu / tangential * r.template tail<D - 1>();
  } else if (slips && mu > 0.0) {
    along.template tail<D - 1>() = -mu / slip.norm() * slip;
  }
  modes_.push_back({contact, D * contact, along, slips && mu > 0.0});
  for (int j = 1; j < D && !slips; ++j) {
    modes_.push_back({contact, D * contact + j, Vector::Unit(j), false});
  }
}

/// Of contacts that push.
template <int D>
void Sharing<D>::list_modes(const Eigen::VectorXd& r) {
  modes_.clear();
  for (int i = 0; i < problem_.contacts(); ++i) {
    if (r[D * i] > 0.0) add_modes(i, r.segment<D>(D * i), false);
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
      stacked_.col(k).tail(count) = softness_.col(k);
      stacked_.col(k).tail(count) -= matrix_.lazyProduct(share_);
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

/// Friction against the slip that there is; false where all of it is so. What does not move keeps
/// its friction, at the surface of its cone or not.
template <int D>
bool Sharing<D>::turn_slips() {
  bool turned = false;
  const double least = Shares::kRest * methods_.free_scale();
  for (Mode& mode : modes_) {
    if (!mode.slips) continue;
    const auto slip =
        methods_.velocity().template segment<D>(D * mode.contact).template tail<D - 1>();
    const double speed = slip.norm();
    if (!(methods_.rho(index(mode.contact)) * speed > least)) continue;
    mode.along.template tail<D - 1>() = -problem_.mu[index(mode.contact)] / speed * slip;
    turned = true;
  }
  return turned;
}

/// From the softened solution to the limit for epsilon -> 0, if contacts do the same there.
template <int D>
bool Sharing<D>::finish_equally() {
  constexpr int kMostRounds = 40;
  list_modes(trial_);
  if (modes_.empty()) return false;
  for (int round = 0; round < kMostRounds; ++round) {
    pose_modes();
    solve_modes();
    if (!trial_.allFinite()) return false;
    if (methods_.residual(trial_) <= Shares::kExact) return true;
    if (D == 2 || !turn_slips()) break;
  }
  return methods_.residual(trial_) <= Shares::kGood;
}

template <int D>
bool Sharing<D>::share_equally(Eigen::VectorXd& r) {
  list_closed(r);
  times_.fill(1.0);
  if (!solve_soft()) return false;
  kept_ = trial_;
  if (!finish_equally()) {
    trial_ = kept_;
    if (!solve_truly()) return false;
  }
  r.head(trial_.size()) = trial_;
  return true;
}

template <int D>
bool Sharing<D>::settle(base::Looks::Part part, bool asks, base::Looks& looks, Eigen::VectorXd& r,
                        problem::Report& report) {
  const bool has_shares = is_open(r);
  report.unique = report.unique && (!has_shares || is_unique());
  if (asks) looks.note(part, has_shares && has_others(r));
  report.shared = has_shares && looks.has_found(part);
  return report.shared && share_equally(r);
}

template class Sharing<2>;
template class Sharing<3>;

}  // namespace ricochet::solve
