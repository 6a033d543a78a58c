#include "ricochet/solve/step_contacts.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ricochet/base/index.h"
#include "ricochet/solve/contact.h"
#include "ricochet/solve/contact_measure.h"
#include "ricochet/solve/sharing.h"

namespace ricochet::solve {
namespace {

using Index = Eigen::Index;
using base::index;
using problem::Grip;

constexpr double kDone = 1e-15;
constexpr double kGoal = 1e-12;    // asked of sweeps and Newton's method
constexpr double kGood = 1e-11;    // what makes a step solved: a tenth of what certificates allow
constexpr double kJudged = 1e-10;  // what certificates allow
constexpr double kFair = 1e-8;     // of iterative methods: the certificate's limit decides

}  // namespace

template <int D>
WarmContacts<D>::WarmContacts(const problem::LocalProblem& problem)
    : problem_(problem), sweeps_(problem, {}), newton_(problem) {}

template <int D>
void WarmContacts<D>::refresh() {
  sweeps_.refresh();
  newton_.refresh();
  refresh_scales();
  is_ready_ = true;
}

template <int D>
void WarmContacts<D>::make_ready() {
  if (is_ready_) return;
  sweeps_.refresh();
  newton_.refresh();
  is_ready_ = true;
}

template <int D>
void WarmContacts<D>::refresh_scales() {
  const problem::BlockRows& W = problem_.W;
  rho_.resize(index(W.rows));
  free_scale_ = 0.0;
  for (int i = 0; i < W.rows; ++i) {
    const Eigen::Map<const Eigen::Matrix<double, D, D>> block(W.block(W.diagonal(i)));
    rho_[index(i)] = D / block.trace();
    ContactVector<D> free = problem_.q.segment<D>(D * i);
    free[0] += problem_.mu[index(i)] * free.template tail<D - 1>().norm();
    free_scale_ = std::max(free_scale_, rho_[index(i)] * free.norm());
  }
}

template <int D>
typename WarmContacts<D>::Size WarmContacts<D>::measure(Eigen::VectorXd& r) {
  const Index used = Index{D} * problem_.W.rows;
  for (int i = 0; i < problem_.W.rows; ++i) {
    r.segment<D>(D * i) = projected<D>(problem_.mu[index(i)], r.segment<D>(D * i));
  }
  problem::multiply(problem_.W, r, u_);
  u_.head(used) += problem_.q.head(used);
  const double infinity = std::numeric_limits<double>::infinity();
  if (!u_.head(used).allFinite()) return {infinity, infinity};
  const ContactSums sums = measure_contacts<D>(problem_.mu, rho_, r, u_);
  const double distance = std::sqrt(sums.distance);
  const double scale = std::max(std::sqrt(sums.largest), free_scale_);
  return {distance > 0.0 ? distance / scale : 0.0, std::sqrt(sums.merit)};
}

template <int D>
void WarmContacts<D>::sweep(Eigen::VectorXd& r, int count) {
  sweeps_.wake();
  for (int k = 0; k < count; ++k) sweeps_.sweep(r);
  iterations_ += count;
}

/// Newton steps, each followed by a sweep, while they halve the merit.
template <int D>
typename WarmContacts<D>::Size WarmContacts<D>::polish(Eigen::VectorXd& r, Size now,
                                                       double tolerance) {
  constexpr int kMostSteps = 8;
  double alpha = std::clamp(1e-3 * now.residual, 1e-11, 1e-4);
  trial_ = r;
  for (int k = 0; k < kMostSteps && now.residual > tolerance; ++k) {
    if (!newton_.step(alpha, trial_, u_)) break;
    sweep(trial_, 1);
    const Size then = measure(trial_);
    if (!(then.merit < 0.5 * now.merit)) break;
    r = trial_;
    now = then;
    alpha = std::max(1e-12, 0.1 * alpha);
  }
  return now;
}

template <int D>
double WarmContacts<D>::solve(Eigen::VectorXd& r, double tolerance) {
  iterations_ = 0;
  refresh();
  Size now;
  for (const int sweeps : {5, 20, 50, 100, 200}) {
    sweep(r, sweeps);
    now = measure(r);
    if (now.residual > tolerance) now = polish(r, now, tolerance);
    if (now.residual <= tolerance) break;
  }
  return now.residual;
}

template <int D>
double WarmContacts<D>::begin(Eigen::VectorXd& r) {
  iterations_ = 0;
  is_ready_ = false;
  refresh_scales();
  return measure(r).residual;
}

template <int D>
double WarmContacts<D>::improve(Eigen::VectorXd& r, int sweeps, double tolerance) {
  make_ready();
  sweep(r, sweeps);
  const Size now = measure(r);
  return now.residual > tolerance ? polish(r, now, tolerance).residual : now.residual;
}

template <int D>
double WarmContacts<D>::finish(Eigen::VectorXd& r, int steps) {
  Size now = measure(r);
  if (now.residual > kDone) make_ready();
  // Where W is singular a small alpha costs digits, where it is nearly so a large one costs steps.
  for (const double alpha : {1e-8, 1e-8, 1e-6, 1e-10, 1e-7}) {
    if (now.residual <= kDone) break;
    trial_ = r;
    Size then;
    bool is_nearer = false;
    for (int k = 0; k < steps && !is_nearer; ++k) {
      if (!newton_.step(alpha, trial_, u_)) return measure(r).residual;
      then = measure(trial_);
      is_nearer = then.residual < now.residual;
    }
    if (is_nearer) {
      r = trial_;
      now = then;
    } else {
      measure(r);
    }
  }
  return measure(r).residual;
}

template class WarmContacts<2>;
template class WarmContacts<3>;

StepContacts::StepContacts() = default;
StepContacts::~StepContacts() = default;

/// The impulses of the step before, where the contact pushed.
template <int D>
void StepContacts::begin(const Step& step, const problem::WarmStart& warm) {
  if (r_.size() < form_.rows()) r_.resize(form_.rows());
  r_.setZero();
  for (int i = 0; i < form_.contacts(); ++i) {
    const problem::WarmStart::Entry* last = warm.find(step.contacts[index(i)].key);
    if (last == nullptr) continue;
    for (int j = 0; j < D; ++j) r_[D * i + j] = last->impulse[j] / form_.stretch(i, j);
  }
}

/// What each impulse does, read off where it lies in its cone and how the contact moves; and the
/// impulses themselves, for the next step. What is rounding beside the largest one is no impulse.
template <int D>
void StepContacts::remember(const Step& step, const WarmContacts<D>& methods,
                            problem::WarmStart& warm) {
  constexpr double kRounding = 1e-12;
  constexpr double kInside = 1e-9;
  constexpr double kWellInside = 1e-6;
  constexpr double kNothing = 1e-13;
  grips_.assign(step.contacts.size(), Grip::Free);
  warm.entries.clear();
  warm.entries.reserve(step.contacts.size());
  const double largest = r_.head(form_.rows()).cwiseAbs().maxCoeff();
  for (int i = 0; i < form_.contacts(); ++i) {
    if (r_[D * i] <= kNothing * largest) r_.segment<D>(D * i).setZero();
    const ContactVector<D> r = r_.segment<D>(D * i);
    if (r[0] > 0.0) {
      const double motion =
          methods.rho(index(i)) *
          methods.velocity().template segment<D>(D * i).template tail<D - 1>().norm();
      const double free = methods.rho(index(i)) * form_.local().q.template segment<D>(D * i).norm();
      const double most = form_.local().mu[index(i)] * r[0];
      const double tangential = r.template tail<D - 1>().norm();
      // A claim of stick is judged by this contact's own impulse, whatever rounding the others
      // bring: where it is too small for that, only one well inside its cone sticks for sure.
      const double sure = kGood * (r.norm() + free) - 1e-15 * largest;
      const bool is_inside = tangential < (1.0 - kInside) * most;
      // A small impulse may be off its cone's surface by the residual of others, and slip.
      const bool is_well_inside =
          tangential < (1.0 - kWellInside) * most && motion <= most - tangential;
      const bool sticks =
          is_well_inside || (motion <= sure && (is_inside || motion <= kRounding * r.norm()));
      grips_[index(i)] = sticks ? Grip::Stick : Grip::Slip;
    }
    const problem::Key key = step.contacts[index(i)].key;
    if (key == Step::kNoKey || (r.array() == 0.0).all()) continue;
    problem::WarmStart::Entry& last = warm.entries.emplace_back();
    last.key = key;
    for (int j = 0; j < D; ++j) last.impulse[j] = form_.stretch(i, j) * r[j];
  }
  warm.sort();
}

/// Improves r_ by one method of solve_contacts.
void StepContacts::ask(const problem::ContactProblem& problem, ContactMethod method) {
  ContactSettings settings;
  settings.method = method;
  settings.tolerance = std::numeric_limits<double>::max();
  settings.scale_free_tolerance = kGood;
  settings.judge_by_impulses = false;
  settings.max_iterations = 20'000;
  Eigen::VectorXd r = r_.head(form_.rows());
  (void)solve_contacts(problem, settings, r);  // what it has found is measured by the caller
  r_.head(form_.rows()) = r;
}

/// The last resort: `auto` from the impulses there are, then every method from zero until the judge
/// will be content. Leaves the best impulses, and the velocities at theirs.
template <int D>
double StepContacts::insist(WarmContacts<D>& methods) {
  constexpr int kMostPivots = 500;  // contacts of a dense tableau
  const problem::ContactProblem problem = form_.problem();
  double least = std::numeric_limits<double>::infinity();
  double last = least;
  bool is_first = true;
  for (const ContactMethod method :
       {ContactMethod::Auto, ContactMethod::Auto, ContactMethod::Pivoting,
        ContactMethod::InteriorPoint, ContactMethod::ProximalNewton, ContactMethod::Admm,
        ContactMethod::Enumeration, ContactMethod::GaussSeidel}) {
    const bool is_large = method == ContactMethod::Pivoting && problem.contacts() > kMostPivots;
    if (is_large || !suits(method, problem)) continue;
    if (!is_first) r_.setZero();
    is_first = false;
    ask(problem, method);
    last = methods.finish(r_);
    if (last < least) {
      least = last;
      kept_ = r_;
    }
    if (least <= kJudged) break;
  }
  if (last == least) return least;
  r_ = kept_;
  return methods.finish(r_);
}

/// Whether the columns of A that push are independent: the Gram-Schmidt rank, for up to kMost of
/// them and kRoom numbers in all; more than that are only counted.
bool StepContacts::is_unique(const Step& step) {
  constexpr Index kMost = 256;
  constexpr Index kRoom = 1 << 20;
  constexpr double kSingular = 1e-10;
  const Index dofs = step.dofs;
  Index count = step.held;
  for (std::size_t i = 0; i < step.contacts.size(); ++i) {
    const int slips = step.contacts[i].slips;
    if (grips_[i] != Grip::Free) count += grips_[i] == Grip::Stick ? 1 + slips : std::max(1, slips);
  }
  if (count > dofs) return false;
  const Index most = std::min({kMost, dofs, Index{step.rows()}, kRoom / std::max(Index{1}, dofs)});
  if (count > most) return true;
  if (columns_.rows() < dofs || columns_.cols() < count) {  // for any count, once
    columns_.resize(std::max(columns_.rows(), dofs), std::max(columns_.cols(), most));
  }
  Index rank = 0;
  const auto add = [&](Index row) {
    auto column = columns_.col(rank).head(dofs);
    step.column(static_cast<int>(row), column, scratch_);
    const double before = column.norm();
    for (int twice = 0; twice < 2; ++twice) {
      for (Index k = 0; k < rank; ++k) {
        const auto other = columns_.col(k).head(dofs);
        column -= other.dot(column) * other;
      }
    }
    const double after = column.norm();
    if (!(after > kSingular * before)) return false;
    column /= after;
    ++rank;
    return true;
  };
  for (Index k = 0; k < step.held; ++k) {
    if (!add(step.contact_rows() + k)) return false;
  }
  for (std::size_t i = 0; i < step.contacts.size(); ++i) {
    const Step::Contact& contact = step.contacts[i];
    if (grips_[i] == Grip::Free) continue;
    const int rows = grips_[i] == Grip::Stick ? 1 + contact.slips : 1;
    for (int j = 0; j < rows; ++j) {
      if (!add(contact.first + j)) return false;
    }
  }
  return true;
}

/// Impulses that hold each other stay from step to step unless the start is zero again: where they
/// are beyond all proportion, that is tried. Heavy bodies on light ones are so rightly, and then it
/// is not tried again until they are much heavier.
template <int D>
double StepContacts::warm_solve(WarmContacts<D>& methods, const Step& step,
                                problem::WarmStart& warm) {
  begin<D>(step, warm);
  const double residual = methods.solve(r_, kGoal);
  const auto largest = [&] { return r_.head(form_.rows()).cwiseAbs().maxCoeff(); };
  const double before = largest();
  if (!(before > warm.heaviest * methods.free_scale())) return residual;
  kept_ = r_;
  r_.setZero();
  const double again = methods.solve(r_, kGoal);
  if (again <= kGood && largest() < 0.5 * before) return again;
  r_ = kept_;
  warm.heaviest = 10.0 * before / methods.free_scale();
  return residual;
}

template <int D>
problem::Report StepContacts::solve_in(std::optional<WarmContacts<D>>& methods, const Step& step,
                                       problem::WarmStart& warm, bool insists) {
  if (!methods) methods.emplace(form_.local());
  methods->set_mean_change(warm.mean_change[D - 2]);
  residual_ = warm_solve(*methods, step, warm);
  const bool falls_back = insists && residual_ > kGood;
  residual_ = falls_back ? insist(*methods) : methods->finish(r_);
  warm.mean_change[D - 2] = methods->mean_change();
  const bool is_solved = residual_ <= (insists ? kFair : kGood);
  problem::Report report{
      .status = is_solved ? problem::Status::Solved : problem::Status::IterationLimit,
      .iterations = methods->iterations(),
      .general = true,
      .fell_back = falls_back};
  remember(step, *methods, warm);
  if (is_solved && look<D>(step, warm, report)) {
    residual_ = methods->finish(r_);
    remember(step, *methods, warm);
  }
  form_.give(r_, impulses_);
  report.unique = report.unique && is_unique(step);
  report.unlooked = !report.unique && form_.contacts() > Sharing<D>::kMost && rubs();
  return report;
}

/// Whether a contact that pushes has friction.
bool StepContacts::rubs() const {
  for (int i = 0; i < form_.contacts(); ++i) {
    if (form_.local().mu[index(i)] > 0.0 && grips_[index(i)] != Grip::Free) return true;
  }
  return false;
}

base::Looks::Part StepContacts::part_of(const Step& step) {
  base::Looks::Part least = step.contacts[0].key;
  for (const Step::Contact& contact : step.contacts) least = std::min(least, contact.key);
  return least;
}

/// A name for what contacts do.
std::uint64_t StepContacts::pattern_of(std::span<const Grip> grips) {
  std::uint64_t name = 1;
  for (const Grip grip : grips) name = 3 * name + static_cast<std::uint64_t>(grip);
  return name;
}

template <>
Sharing<2>& StepContacts::sharing<2>() {
  if (!plane_sharing_) plane_sharing_ = std::make_unique<Sharing<2>>(form_.local());
  return *plane_sharing_;
}

template <>
Sharing<3>& StepContacts::sharing<3>() {
  if (!space_sharing_) space_sharing_ = std::make_unique<Sharing<3>>(form_.local());
  return *space_sharing_;
}

/// Whether r_ was replaced by the impulses of equally stiff contacts, since others give another
/// motion. That is found out now and then, and remembered in between.
template <int D>
bool StepContacts::look(const Step& step, problem::WarmStart& warm, problem::Report& report) {
  if (form_.contacts() < 2 || form_.contacts() > Sharing<D>::kMost) return false;
  base::Looks& looks = warm.looks;
  const base::Looks::Part part = part_of(step);
  const bool asks = looks.asks(part, pattern_of(grips_));
  return (asks || looks.has_found(part)) && share<D>(part, asks, warm, report);
}

template <int D>
bool StepContacts::share(base::Looks::Part part, bool asks, problem::WarmStart& warm,
                         problem::Report& report) {
  return sharing<D>().settle(part, asks, warm.looks, r_, report);
}

template <int D>
bool StepContacts::reconsider_in(std::optional<WarmContacts<D>>& methods, const Step& step,
                                 const Eigen::VectorXd& impulses, bool asks,
                                 problem::WarmStart& warm, problem::Report& report) {
  if (!methods) methods.emplace(form_.local());
  if (r_.size() < form_.rows()) r_.resize(form_.rows());
  r_.setZero();
  for (int i = 0; i < form_.contacts(); ++i) {
    const Step::Contact& contact = step.contacts[index(i)];
    for (int j = 0; j <= contact.slips; ++j) {
      r_[D * i + j] = impulses[contact.first + j] / form_.stretch(i, j);
    }
  }
  methods->begin(r_);
  if (!share<D>(part_of(step), asks, warm, report)) return false;
  methods->begin(r_);
  residual_ = methods->finish(r_);
  remember(step, *methods, warm);
  form_.give(r_, impulses_);
  return true;
}

bool StepContacts::reconsider(const Step& step, const Eigen::VectorXd& impulses, bool asks,
                              problem::WarmStart& warm, problem::Report& report) {
  if (form_.is_degenerate() || form_.contacts() > Sharing<2>::kMost) return false;
  return form_.dim() == 3 ? reconsider_in<3>(space_, step, impulses, asks, warm, report)
                          : reconsider_in<2>(plane_, step, impulses, asks, warm, report);
}

problem::Report StepContacts::solve_form(const Step& step, problem::WarmStart& warm, bool insists) {
  if (form_.is_degenerate()) return {.status = problem::Status::Degenerate};
  return form_.dim() == 3 ? solve_in<3>(space_, step, warm, insists)
                          : solve_in<2>(plane_, step, warm, insists);
}

}  // namespace ricochet::solve
