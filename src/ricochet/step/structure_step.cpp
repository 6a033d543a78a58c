#include "ricochet/step/structure_step.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "ricochet/base/random.h"
#include "ricochet/problem/spring.h"
#include "ricochet/step/newmark.h"

namespace ricochet::step {
namespace {

certify::GuideLaw law_of(StructureScheme scheme) {
  switch (scheme) {
    case StructureScheme::Newmark: return certify::GuideLaw::Average;
    case StructureScheme::Moreau: return certify::GuideLaw::Midpoint;
    case StructureScheme::Mabrouk: return certify::GuideLaw::EndPoint;
    case StructureScheme::Penalty: break;
  }
  return certify::GuideLaw::Spring;
}

certify::ForceRule rule_of(StructureScheme scheme) {
  if (scheme == StructureScheme::Newmark) return certify::ForceRule::Smoothed;
  return scheme == StructureScheme::Mabrouk ? certify::ForceRule::End : certify::ForceRule::Middle;
}

}  // namespace

StructureStep::StructureStep(const structure::LinearStructure& s, const StructureSettings& settings,
                             double h)
    : structure_(s), settings_(settings), h_(h) {
  const bool is_explicit = settings.scheme == StructureScheme::Mabrouk;
  damping_factor_ = is_explicit ? h : 0.5 * h;
  stiffness_factor_ = is_explicit ? 0.0 : 0.25 * h * h;
  ready_ = effective_.factor(s, damping_factor_, stiffness_factor_);
  const double lost = is_explicit ? 0.0 : 1e-16 * condition(s, h);
  if (lost > 1e-7) refinements_ = lost > 1e-5 ? 3 : 1;
  for (Eigen::VectorXd* v : {&middle_, &change_, &right_side_, &rest_}) v->setZero(s.size());
  scratch_.setZero(s.scratch_size());
  const auto guides = static_cast<Eigen::Index>(s.guides.size());
  columns_.setZero(s.dofs, guides);
  normal_W_.setZero(guides, guides);
  cross_W_.setZero(guides, guides);
  for (Eigen::Index k = 0; k < guides && ready_; ++k) {
    right_side_.setZero();
    s.guides[static_cast<std::size_t>(k)].row.add_to(1.0, right_side_.data());
    change_ = right_side_;
    effective_.solve(change_.data());
    for (int round = 0; round < refinements_; ++round) refine(right_side_, change_);
    columns_.col(k) = change_.head(s.dofs);
  }
  for (Eigen::Index k = 0; k < guides; ++k) {
    const structure::Guide& guide = s.guides[static_cast<std::size_t>(k)];
    for (Eigen::Index l = 0; l < guides; ++l) {
      const bool one_plane = guide.plane == s.guides[static_cast<std::size_t>(l)].plane;
      (one_plane ? normal_W_ : cross_W_)(k, l) = guide.row.dot(columns_.col(l).data());
      planes_meet_ = planes_meet_ || !one_plane;
    }
  }
  box_.reserve(guides);
  claim_.law = law_of(settings.scheme);
  claim_.rule = rule_of(settings.scheme);
  claim_.h = h;
  for (Eigen::VectorXd* v : {&claim_.normal, &claim_.tangential, &place_, &before_, &free_,
                             &free_along_, &right_, &low_, &high_, &bound_, &last_}) {
    v->setZero(guides);
  }
  registers_ = s.load_tape.registers();
  for (Eigen::VectorXd* v : {&loads_, &load_now_, &load_before_, &load_after_}) {
    v->setZero(static_cast<Eigen::Index>(s.loads.size()));
  }
  set_springs();
}

problem::Report StructureStep::advance(const structure::Motion& now, double t_mid,
                                       structure::Motion& next) {
  claim_.t_mid = t_mid;
  switch (settings_.scheme) {
    case StructureScheme::Newmark: return NewmarkStages::advance(*this, now, t_mid, next);
    case StructureScheme::Moreau: return StructureStages::advance_moreau(*this, now, t_mid, next);
    case StructureScheme::Mabrouk: return StructureStages::advance_mabrouk(*this, now, t_mid, next);
    case StructureScheme::Penalty: break;
  }
  return StructureStages::advance_penalty(*this, now, t_mid, next);
}

/// Two of the three instants were those of the step before.
void StructureStep::smooth_loads(double t_mid) {
  if (structure_.loads.empty()) return;
  const bool goes_on = has_loads_at_ && std::abs(t_mid - h_ - loads_at_) <= 1e-6 * h_;
  if (goes_on) {
    load_before_.swap(load_now_);
    load_now_.swap(load_after_);
  } else {
    structure_.load_values(t_mid - h_, registers_, load_before_);
    structure_.load_values(t_mid, registers_, load_now_);
  }
  structure_.load_values(t_mid + h_, registers_, load_after_);
  loads_ = 0.25 * (load_before_ + 2.0 * load_now_ + load_after_);
  loads_at_ = t_mid;
  has_loads_at_ = true;
}

void StructureStep::take_loads(double t) { structure_.load_values(t, registers_, loads_); }

void StructureStep::find_free(const structure::Motion& now, const Eigen::VectorXd& q) {
  change_.setZero();
  for (std::size_t k = 0; k < structure_.loads.size(); ++k) {
    const structure::Load& load = structure_.loads[k];
    load.row.add_to(h_ * loads_[static_cast<Eigen::Index>(k)],
                    change_.data() + load.plane * structure_.dofs);
  }
  structure_.add_damping(-h_, now.u.data(), scratch_.data(), change_.data());
  structure_.add_stiffness(-h_, q.data(), scratch_.data(), change_.data());
  if (refinements_ > 0) right_side_ = change_;
  effective_.solve(change_.data());
  ++solves_;
  for (int round = 0; round < refinements_; ++round, ++solves_) refine(right_side_, change_);
}

/// x += A^-1 (b - A x), with A x from strains: what rounding in the band of A has spoilt is a net
/// force, which they do not have.
void StructureStep::refine(const Eigen::VectorXd& right, Eigen::VectorXd& solution) {
  structure_.multiply_mass(solution.data(), rest_.data());
  rest_ = right - rest_;
  structure_.add_damping(-damping_factor_, solution.data(), scratch_.data(), rest_.data());
  structure_.add_stiffness(-stiffness_factor_, solution.data(), scratch_.data(), rest_.data());
  effective_.solve(rest_.data());
  solution += rest_;
}

double StructureStep::condition(const structure::LinearStructure& s, double h) {
  const structure::BandMatrix k = s.combined(0.0, 1.0);
  double largest = 0.0;
  for (int i = 0; i < s.dofs; ++i) largest = std::max(largest, k.at(i, i) / s.mass.at(i, i));
  return 1.0 + 0.25 * h * h * 2.7 * largest;  // 16/6 of the diagonal, for differences of a beam
}

/// Where each guide's point is, after a part of the step at its old speed, and its speeds.
void StructureStep::read_guides(const structure::Motion& now, double part_of_step) {
  for (std::size_t k = 0; k < structure_.guides.size(); ++k) {
    const structure::Guide& guide = structure_.guides[k];
    const auto at = static_cast<Eigen::Index>(k);
    before_[at] = structure_.value_at(guide.row, guide.plane, now.u.data());
    place_[at] =
        structure_.value_at(guide.row, guide.plane, now.q.data()) + part_of_step * h_ * before_[at];
    free_[at] = before_[at] + structure_.value_at(guide.row, guide.plane, change_.data());
    if (guide.friction == 0.0) continue;
    free_along_[at] = structure_.value_at(guide.row, 1 - guide.plane, now.u.data()) +
                      structure_.value_at(guide.row, 1 - guide.plane, change_.data());
  }
}

/// Normals between their bounds, then frictions within theirs; again where they share a plane.
problem::Report StructureStep::solve_guides() {
  if (structure_.guides.empty()) return {};
  bool rubs = false;
  for (const structure::Guide& guide : structure_.guides) rubs = rubs || guide.friction > 0.0;
  Eigen::VectorXd& normal = claim_.normal;
  Eigen::VectorXd& along = claim_.tangential;
  if (!rubs) return box_.solve_velocities(normal_W_, free_, low_, high_, normal);
  constexpr int kMostRounds = 500;
  constexpr double kSettled = 1e-14;
  for (int round = 0; round < kMostRounds; ++round) {
    last_ = normal;
    right_ = free_;
    if (planes_meet_) right_.noalias() += cross_W_ * along;
    const problem::Report one = box_.solve_velocities(normal_W_, right_, low_, high_, normal);
    if (one.status != problem::Status::Solved) return one;
    for (std::size_t k = 0; k < structure_.guides.size(); ++k) {
      const auto at = static_cast<Eigen::Index>(k);
      bound_[at] = structure_.guides[k].friction * std::abs(normal[at]);
    }
    right_ = free_along_;
    if (planes_meet_) right_.noalias() += cross_W_ * normal;
    const problem::Report two = box_.solve_impulses(normal_W_, right_, bound_, along);
    if (two.status != problem::Status::Solved || !planes_meet_) return two;
    const double size = normal.cwiseAbs().maxCoeff();
    if (round > 0 && (normal - last_).cwiseAbs().maxCoeff() <= kSettled * size) return two;
  }
  return {problem::Status::NoConvergence, kMostRounds};
}

void StructureStep::push(const structure::Motion& now, structure::Motion& next) const {
  next.u = now.u + change_;
  const int dofs = structure_.dofs;
  for (std::size_t k = 0; k < structure_.guides.size(); ++k) {
    const auto at = static_cast<Eigen::Index>(k);
    const int plane = structure_.guides[k].plane;
    const double normal = claim_.normal[at];
    const double along = claim_.tangential[at];
    if (normal != 0.0) next.u.segment(plane * dofs, dofs) += normal * columns_.col(at);
    if (along != 0.0) next.u.segment((1 - plane) * dofs, dofs) += along * columns_.col(at);
  }
}

/// By the power method, from a start that no symmetry makes blind.
double StructureStep::largest_compliance() const {
  if (normal_W_.rows() == 0) return 0.0;
  constexpr int kRounds = 60;
  constexpr double kSafety = 1.02;  // it comes from below
  base::Random random(1);
  Eigen::VectorXd x(normal_W_.rows());
  for (double& entry : x) entry = random.normal();
  double value = 0.0;
  for (int round = 0; round < kRounds; ++round) {
    x = (normal_W_ * x).eval();
    value = x.norm();
    if (!(value > 0.0)) break;
    x /= value;
  }
  return std::max(kSafety * value, normal_W_.diagonal().maxCoeff());
}

/// A contact with the mass 1/W that the guide feels lasts pi sqrt(m/k), and longer where so many
/// guides may be met at once that they would give back more than they take; its dashpot is that of
/// a spring that only pushes and leaves with e times the speed.
void StructureStep::set_springs() {
  if (settings_.scheme != StructureScheme::Penalty || structure_.guides.empty()) return;
  constexpr double kMost = 0.25;  // of h^2 k W
  const double together = kMost / (h_ * h_ * largest_compliance());
  spring_W_ = normal_W_;
  for (std::size_t k = 0; k < structure_.guides.size(); ++k) {
    const auto at = static_cast<Eigen::Index>(k);
    const double mass = 1.0 / normal_W_(at, at);
    const double rate = std::numbers::pi / (StructureSettings::kContactSteps * h_);
    const double stiffness =
        settings_.stiffness > 0.0 ? settings_.stiffness : std::min(mass * rate * rate, together);
    // At most critical, e = exp(-2): more damping lets go of a structure that springs back late.
    const double ratio =
        problem::damping_ratio(std::max(structure_.guides[k].restitution, std::exp(-2.0)));
    springs_.push_back(stiffness);
    dashpots_.push_back(2.0 * ratio * std::sqrt(stiffness * mass));
    spring_W_(at, at) += 1.0 / (h_ * spring_share(k));
  }
}

/// Of the force, by u+: a = h k/4 + c/2.
double StructureStep::spring_share(std::size_t guide) const {
  return 0.25 * h_ * springs_[guide] + 0.5 * dashpots_[guide];
}

/// Where the middle is beyond a clearance, p = h (k d + c d'), d the mean depth of the step, as
/// long as it pushes. With u+ = free + W p:  p >= 0, (W + 1/(h a)) p + free >= k (g - q)/a - u,
/// one of them an equality: all springs together, so that no step is too large for them.
problem::Report StructureStep::solve_springs() {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < structure_.guides.size(); ++k) {
    const structure::Guide& guide = structure_.guides[k];
    const auto at = static_cast<Eigen::Index>(k);
    const double start = place_[at] - 0.5 * h_ * before_[at];
    const double pull = springs_[k] / spring_share(k);
    const bool is_below = place_[at] < guide.lower;
    const bool is_above = place_[at] > guide.upper;
    low_[at] = is_below ? pull * (guide.lower - start) - before_[at] : -kInfinity;
    high_[at] = is_above ? pull * (guide.upper - start) - before_[at] : kInfinity;
  }
  return box_.solve_velocities(spring_W_, free_, low_, high_, claim_.normal);
}

}  // namespace ricochet::step
