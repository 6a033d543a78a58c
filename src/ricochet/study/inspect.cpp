#include "ricochet/study/inspect.h"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>

#include "ricochet/convex/dense.h"
#include "ricochet/solve/unilateral.h"
#include "ricochet/study/inspect_friction.h"

namespace ricochet::study {
namespace {

using Vec = model::Vector<model::kDynamic>;

/// p >= 0, U = A^T A p + b >= 0, p . U = 0, joints U = 0. What is rounding of b is no push.
problem::Report find_multipliers(const solve::DenseRows& rows, Vec& p) {
  solve::UnilateralSolver solver;
  problem::Report report = solver.solve(rows);
  if (report.status == problem::Status::Degenerate) report.status = problem::Status::Infeasible;
  p = Vec::Zero(rows.count);
  if (report.status != problem::Status::Solved) return report;
  for (Eigen::Index k = 0; k < rows.count; ++k) {
    const double push = std::abs(solver.impulse(k)) * rows.factor.col(k).squaredNorm();
    if (push > rows.noise[k]) p[k] = solver.impulse(k);
  }
  return report;
}

/// Whether the columns are linearly independent: else other multipliers do as well.
bool are_independent(Eigen::MatrixXd columns) {
  if (columns.cols() == 0) return true;
  if (columns.cols() > columns.rows()) return false;
  for (Eigen::Index j = 0; j < columns.cols(); ++j) {
    const double length = columns.col(j).norm();
    if (!(length > 0.0)) return false;
    columns.col(j) /= length;
  }
  return convex::rank_of(columns, kInspectRounding) == columns.cols();
}

/// One inspection under way.
class Inspecting {
 public:
  Inspecting(Instant& instant, const Vec& u, double step) : at_(instant), step_(step), u_(u) {
    found_.step = step;
    found_.right_velocity = u;
  }

  Inspection find() {
    if (!at_.is_regular()) {
      fail(problem::Status::SingularMass);
      return found_;
    }
    at_.set_velocity(u_);
    found_.free_acceleration = at_.free;
    find_active();  // A = { a : g_a <= 0 }
    if (!is_finite()) {
      fail(problem::Status::Degenerate);
      return found_;
    }
    meet_shock();  // u in V, else prox(V, u)
    if (!found_.ok()) return found_;
    look_at_corner();
    if (!found_.in_tangent_cone) {
      at_.set_velocity(found_.right_velocity);
      found_.free_acceleration = at_.free;
    }
    apply_gauss();  // q'' = nearest admissible to a
    judge_rows();
    return found_;
  }

 private:
  void fail(problem::Status status) {
    if (found_.ok()) found_.status = status;
  }
  void find_active();
  bool is_finite() const;
  /// U at the right velocity.
  double right_rate(const ActiveRow& row) const {
    return at_.dot(row.row, found_.right_velocity) + at_.rate[row.row];
  }
  bool has_friction() const {
    return std::any_of(found_.active.begin(), found_.active.end(),
                       [](const ActiveRow& row) { return row.slips > 0; });
  }
  void meet_shock();
  void meet_shock_with_friction();
  void look_at_corner();
  Vec reflect_from(std::size_t first, const std::vector<double>& e) const;
  void apply_gauss();
  void apply_friction(const std::vector<std::size_t>& closed);
  void judge_rows();

  Instant& at_;
  const double step_;
  const Vec& u_;
  Inspection found_;
  Eigen::MatrixXd factor_;  // A = L^-1 J^T, a column for each active row
};

/// Contacts that touch and all joints. At an exact state a gap counts as closed up to a tolerance
/// of the size of its terms; after steps of length h also up to what it may change in one, h |U| +
/// h^2/2 (|J| |a| + |gamma|), and its rate U counts as 0 up to h (|J| |a| + |gamma|).
void Inspecting::find_active() {
  const double reach = at_.q.size() > 0 ? at_.q.cwiseAbs().maxCoeff() : 0.0;
  const int contacts = at_.rows() - at_.joints();
  for (int a = 0; a < at_.rows(); ++a) {
    ActiveRow row;
    row.row = a;
    row.is_joint = a >= contacts;
    row.gap = at_.gap[a];
    row.velocity = at_.dot(a, u_) + at_.rate[a];
    const double change = at_.abs_dot(a, at_.free) + at_.gamma_size[a];
    row.gap_tolerance = std::max(at_.slack(a), kInspectTolerance * at_.abs_sum(a) * reach) +
                        step_ * std::abs(row.velocity) + 0.5 * step_ * step_ * change;
    row.velocity_tolerance =
        kInspectTolerance * (at_.abs_dot(a, u_) + std::abs(at_.rate[a])) + step_ * change;
    const bool touches = row.gap <= row.gap_tolerance && at_.exists(a);
    if (!row.is_joint && !touches) continue;
    row.generator = -at_.response(a);
    row.slips = at_.slips(a);
    for (int j = 0; j < row.slips; ++j) {
      const Vec S = at_.slip_row(a, j);
      row.slip_tolerance += kInspectTolerance * S.cwiseAbs().dot(u_.cwiseAbs()) +
                            step_ * S.cwiseAbs().dot(at_.free.cwiseAbs());
    }
    found_.active.push_back(std::move(row));
  }
  factor_.resize(at_.free.size(), static_cast<Eigen::Index>(found_.active.size()));
  for (std::size_t k = 0; k < found_.active.size(); ++k) {
    factor_.col(static_cast<Eigen::Index>(k)) = at_.half_response(found_.active[k].row);
  }
}

bool Inspecting::is_finite() const {
  bool finite = at_.free.allFinite();
  for (const ActiveRow& row : found_.active) {
    finite = finite && row.generator.allFinite() && std::isfinite(at_.gamma[row.row]) &&
             std::isfinite(row.velocity);
  }
  return finite;
}

/// Where u is not in V: prox(V, u) = u + M^-1 J^T p, p >= 0.          [Moreau 1986 (8.1)]
void Inspecting::meet_shock() {
  std::vector<ActiveRow>& active = found_.active;
  for (const ActiveRow& row : active) {
    const double into = row.is_joint ? -std::abs(row.velocity) : row.velocity;
    found_.in_tangent_cone = found_.in_tangent_cone && into >= -row.velocity_tolerance;
  }
  if (found_.in_tangent_cone) return;
  if (has_friction()) return meet_shock_with_friction();
  const auto count = static_cast<Eigen::Index>(active.size());
  solve::DenseRows rows{at_.free.size(), count, at_.joints(), factor_, Vec(count), Vec(count)};
  for (std::size_t k = 0; k < active.size(); ++k) {
    const auto at = static_cast<Eigen::Index>(k);
    rows.free[at] = active[k].velocity;
    rows.noise[at] =
        kInspectRounding * (at_.abs_dot(active[k].row, u_) + std::abs(at_.rate[active[k].row]));
  }
  Vec impulses;
  found_.shock = find_multipliers(rows, impulses);
  fail(found_.shock.status);
  for (std::size_t k = 0; k < active.size(); ++k) {
    active[k].impulse = impulses[static_cast<Eigen::Index>(k)];
    found_.right_velocity -= active[k].impulse * active[k].generator;
  }
  std::vector<Eigen::Index> closed;  // rows that may have an impulse
  for (std::size_t k = 0; k < active.size(); ++k) {
    const double U = right_rate(active[k]);
    if (U <= active[k].velocity_tolerance) closed.push_back(static_cast<Eigen::Index>(k));
  }
  found_.shock.unique = are_independent(factor_(Eigen::all, closed));
}

void Inspecting::meet_shock_with_friction() {
  std::vector<Rubbing> rows;
  for (const ActiveRow& row : found_.active) rows.push_back({row.row, row.is_joint});
  found_.shock = solve_rubbing(at_, u_, false, rows);
  fail(found_.shock.status);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    ActiveRow& row = found_.active[k];
    row.impulse = rows[k].normal;
    row.friction_impulse = rows[k].tangential;
    found_.right_velocity -= row.impulse * row.generator;
    for (int j = 0; j < row.slips; ++j) {
      found_.right_velocity += row.friction_impulse[j] * at_.slip_response(row.row, j);
    }
  }
}

/// The same with friction: the rows that are closed, by Coulomb's law in accelerations.
void Inspecting::apply_friction(const std::vector<std::size_t>& closed) {
  std::vector<Rubbing> rows;
  for (const std::size_t k : closed) {
    const ActiveRow& row = found_.active[k];
    rows.push_back({row.row, row.is_joint});
    const bool slips = row.slip.norm() > row.slip_tolerance;
    if (slips) rows.back().slip = row.slip;
  }
  found_.gauss = solve_rubbing(at_, at_.free, true, rows);
  fail(found_.gauss.status);
  found_.acceleration = at_.free;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ActiveRow& row = found_.active[closed[i]];
    row.reaction = rows[i].normal;
    row.friction = rows[i].tangential;
    found_.acceleration -= row.reaction * row.generator;
    for (int j = 0; j < row.slips; ++j) {
      found_.acceleration += row.friction[j] * at_.slip_response(row.row, j);
    }
  }
}

/// Reflections in turn, beginning with one contact, then in the order of the rows.
Vec Inspecting::reflect_from(std::size_t first, const std::vector<double>& e) const {
  constexpr int kMostReflections = 100000;
  Vec u = u_;
  std::size_t k = first;
  std::size_t quiet = 0;  // contacts in a row that did not approach
  for (int round = 0; round < kMostReflections && quiet < e.size(); ++round) {
    const ActiveRow& row = found_.active[k];
    const double U = at_.dot(row.row, u) + at_.rate[row.row];
    const double W = factor_.col(static_cast<Eigen::Index>(k)).squaredNorm();
    quiet = U < -row.velocity_tolerance ? 0 : quiet + 1;
    if (quiet == 0) u += (1.0 + e[k]) * U / W * row.generator;
    k = round == 0 && first != 0 ? 0 : (k + 1) % e.size();
  }
  return u;
}

/// Angles of the contacts that touch together, and what follows where one of them is met first.
void Inspecting::look_at_corner() {
  Corner& corner = found_.corner;
  std::vector<double> e;
  for (const ActiveRow& row : found_.active) {
    const std::optional<double> own = at_.restitution(row.row);
    if (row.is_joint || !own || at_.is_loaded(row.row)) return;  // joints change the metric
    e.push_back(*own);
  }
  for (std::size_t i = 0; i < e.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const auto a = factor_.col(static_cast<Eigen::Index>(j));
      const auto b = factor_.col(static_cast<Eigen::Index>(i));
      const double cosine = a.dot(b) / (a.norm() * b.norm());
      const bool bounces = e[i] > 0.0 || e[j] > 0.0;
      corner.is_continuous =
          corner.is_continuous && (bounces ? std::abs(cosine) : cosine) <= kInspectTolerance;
      corner.pairs.push_back({j, i, cosine});
    }
  }
  if (corner.pairs.empty() || found_.in_tangent_cone) return;
  for (std::size_t k = 0; k < e.size(); ++k) {
    const ActiveRow& row = found_.active[k];
    if (row.velocity >= -row.velocity_tolerance) continue;
    corner.limits.push_back({k, reflect_from(k, e)});
  }
}

/// Gauss' principle on the rows with U = 0, and all joints.            [Moreau 1986, par. 3-4]
void Inspecting::apply_gauss() {
  std::vector<ActiveRow>& active = found_.active;
  std::vector<std::size_t> closed;
  for (std::size_t k = 0; k < active.size(); ++k) {
    const ActiveRow& row = active[k];
    if (row.is_joint || right_rate(row) <= row.velocity_tolerance) closed.push_back(k);
  }
  for (ActiveRow& row : active) {
    for (int j = 0; j < row.slips; ++j) {
      row.slip[j] = at_.slip_row(row.row, j).dot(found_.right_velocity) + at_.slip_rate(row.row, j);
    }
  }
  if (has_friction()) return apply_friction(closed);
  const auto count = static_cast<Eigen::Index>(closed.size());
  solve::DenseRows rows{at_.free.size(), count,     at_.joints(), factor_(Eigen::all, closed),
                        Vec(count),      Vec(count)};
  for (Eigen::Index k = 0; k < count; ++k) {
    const int a = active[closed[static_cast<std::size_t>(k)]].row;
    rows.free[k] = at_.dot(a, at_.free) + at_.gamma[a];
    rows.noise[k] = kInspectRounding * (at_.abs_dot(a, at_.free) + at_.gamma_size[a]);
  }
  Vec reactions;
  found_.gauss = find_multipliers(rows, reactions);
  fail(found_.gauss.status);
  found_.acceleration = at_.free;
  for (Eigen::Index k = 0; k < count; ++k) {
    ActiveRow& row = active[closed[static_cast<std::size_t>(k)]];
    row.reaction = reactions[k];
    found_.acceleration -= row.reaction * row.generator;
  }
}

/// What each row does, by its velocity, and by its acceleration where that is 0.
void Inspecting::judge_rows() {
  std::vector<Eigen::Index> closed;  // rows that stay closed, whose reactions may share a load
  for (std::size_t k = 0; k < found_.active.size(); ++k) {
    ActiveRow& row = found_.active[k];
    const int a = row.row;
    row.acceleration = at_.dot(a, found_.acceleration) + at_.gamma[a];
    const double size =
        at_.abs_dot(a, found_.acceleration) + at_.abs_dot(a, at_.free) + at_.gamma_size[a];
    const double push = row.reaction * factor_.col(static_cast<Eigen::Index>(k)).squaredNorm();
    const bool left = right_rate(row) > row.velocity_tolerance;
    const bool pushes = push > kInspectRounding * size || (at_.is_loaded(a) && row.reaction > 0.0);
    for (int j = 0; j < row.slips; ++j) {
      row.slip_acceleration[j] = at_.slip_row(a, j).dot(found_.acceleration) + at_.slip_gamma(a, j);
    }
    const bool slips = row.slip.norm() > row.slip_tolerance ||
                       row.slip_acceleration.norm() >
                           kInspectTolerance * found_.acceleration.norm() + 1e-12 * size;
    row.opens = !row.is_joint && (left || (!pushes && row.acceleration > kInspectRounding * size));
    if (!row.opens) closed.push_back(static_cast<Eigen::Index>(k));
    const bool enters = row.velocity < -row.velocity_tolerance;
    row.standing = row.is_joint ? Standing::Held
                   : enters     ? Standing::Penetrating
                   : left       ? Standing::Leaving
                   : pushes     ? (row.slips == 0 ? Standing::Pushing
                                   : slips        ? Standing::Sliding
                                                  : Standing::Sticking)
                   : row.opens  ? Standing::Opening
                                : Standing::Touching;
  }
  if (!has_friction()) found_.gauss.unique = are_independent(factor_(Eigen::all, closed));
}

}  // namespace

std::string name_of(Standing standing) {
  switch (standing) {
    case Standing::Pushing: return "pushing";
    case Standing::Sticking: return "sticking";
    case Standing::Sliding: return "sliding";
    case Standing::Touching: return "touching";
    case Standing::Opening: return "opening";
    case Standing::Leaving: return "leaving";
    case Standing::Penetrating: return "penetrating";
    case Standing::Held: return "held";
  }
  return "";
}

Inspection inspect(Instant& instant, const Vec& u, double step) {
  return Inspecting(instant, u, step).find();
}

}  // namespace ricochet::study
