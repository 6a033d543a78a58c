#include "ricochet/study/inspect_friction.h"

#include <algorithm>
#include <cmath>

#include "ricochet/solve/step_solver.h"

namespace ricochet::study {
namespace {

using Vec = Eigen::VectorXd;

/// The point of a section that does the most against a slip.
struct Opposing {
  const Eigen::Vector2d& slip;

  Eigen::Vector2d operator()(const convex::Segment& s) const {
    return {slip[0] > 0.0 ? s.low : s.high, 0.0};
  }
  Eigen::Vector2d operator()(const convex::Disc& s) const { return -s.radius * slip.normalized(); }
  Eigen::Vector2d operator()(const convex::Ellipse& s) const {
    const Eigen::Vector2d scaled(s.a * slip[0], s.b * slip[1]);
    if (scaled.norm() == 0.0) return {0.0, 0.0};
    return -Eigen::Vector2d(s.a * scaled[0], s.b * scaled[1]) / scaled.norm();
  }
  Eigen::Vector2d operator()(const convex::Polygon& s) const {
    return *std::max_element(
        s.corners.begin(), s.corners.end(),
        [&](const auto& one, const auto& other) { return -one.dot(slip) < -other.dot(slip); });
  }
};

/// One problem of rows on v.
class RubbingRows {
 public:
  RubbingRows(const Instant& at, bool of_forces, std::vector<Rubbing>& rows)
      : at_(at), of_forces_(of_forces), rows_(rows) {}

  problem::Report solve(const Vec& v) {
    constexpr int kMostRounds = 500;
    problem::Report report;
    for (int round = 0; round < kMostRounds; ++round) {
      Vec moved = v;
      for (const Rubbing& one : rows_) {
        for (int j = 0; slides(one) && j < at_.slips(one.row); ++j) {
          moved += one.tangential[j] * at_.slip_response(one.row, j);
        }
      }
      report = solve_once(moved);
      if (report.status != problem::Status::Solved || update() || !has_rounds()) return report;
    }
    report.status = problem::Status::NoConvergence;
    return report;
  }

 private:
  bool slides(const Rubbing& one) const { return one.slip.squaredNorm() > 0.0; }
  bool has_rounds() const {
    return std::any_of(rows_.begin(), rows_.end(), [&](const Rubbing& one) {
      return slides(one) || !at_.holds(one.row).empty();
    });
  }
  double load_of(const Rubbing& one) const {
    if (at_.holds(one.row).empty()) return of_forces_ ? at_.load(one.row) : 0.0;
    double square = 0.0;
    for (const int row : at_.holds(one.row)) {
      for (const Rubbing& other : rows_)
        square += other.row == row ? std::pow(other.normal, 2) : 0.0;
    }
    return std::sqrt(square);
  }

  void add(const Vec& column, double scale, double free) {
    for (Eigen::Index i = 0; i < column.size(); ++i) {
      problem_.add(static_cast<int>(i), scale * column[i]);
    }
    problem_.end_row(free);
  }
  double normal_free(int row, const Vec& v) const {
    return at_.dot(row, v) + (of_forces_ ? at_.gamma[row] : at_.rate[row]);
  }
  double slip_free(int row, int j, const Vec& v) const {
    return at_.slip_row(row, j).dot(v) +
           (of_forces_ ? at_.slip_gamma(row, j) : at_.slip_rate(row, j));
  }

  problem::Report solve_once(const Vec& v) {
    const auto is_loaded = [&](const Rubbing& one) { return at_.is_loaded(one.row); };
    const auto loads = std::count_if(rows_.begin(), rows_.end(), is_loaded);
    const auto dofs = static_cast<int>(v.size());
    problem_.begin(dofs, {}, static_cast<int>(loads));
    int load = dofs;
    for (const Rubbing& one : rows_) {
      const double stretch = at_.stretch(one.row);
      const int slips = one.is_joint || slides(one) ? 0 : at_.slips(one.row);
      if (!one.is_joint) {
        auto& contact = problem_.add_contact(slips, static_cast<problem::Key>(one.row));
        if (slips > 0) contact.section = at_.section(one.row, true);
        if (slips == 1) contact.section = as_segment(contact.section);
      }
      if (is_loaded(one)) {
        problem_.add(load++, 1.0);
        problem_.end_row(-load_of(one));
      } else {
        add(at_.half_response(one.row), stretch, stretch * normal_free(one.row, v));
      }
      for (int j = 0; j < slips; ++j) {
        add(at_.slip_half_response(one.row, j), 1.0, slip_free(one.row, j, v));
      }
      problem_.held += one.is_joint ? 1 : 0;
    }
    problem::WarmStart none;
    problem::Report report = solver_.solve(problem_, none);
    if (report.status == problem::Status::Degenerate) report.status = problem::Status::Infeasible;
    return report;
  }
  static convex::Section as_segment(const convex::Section& section) {
    const auto* disc = std::get_if<convex::Disc>(&section);
    return disc == nullptr ? section : convex::Segment{-disc->radius, disc->radius};
  }

  /// Takes what was found; true where it is what was begun with.
  bool update() {
    int row = 0;
    double change = 0.0;
    double size = 0.0;
    for (Rubbing& one : rows_) {
      const double stretch = at_.stretch(one.row);
      const double R = solver_.impulse(row++);
      const double normal = stretch * R;
      Eigen::Vector2d tangential = Eigen::Vector2d::Zero();
      if (slides(one)) {
        tangential = R * std::visit(Opposing{one.slip}, at_.section(one.row, false));
      } else if (!one.is_joint) {
        for (int j = 0; j < at_.slips(one.row); ++j) tangential[j] = solver_.impulse(row++);
      }
      change += std::abs(normal - one.normal) + (tangential - one.tangential).norm();
      size += std::abs(normal) + tangential.norm();
      one.normal = normal;
      one.tangential = tangential;
    }
    constexpr double kSettled = 1e-14;
    return change <= kSettled * size;
  }

  const Instant& at_;
  const bool of_forces_;
  std::vector<Rubbing>& rows_;
  problem::StepProblem problem_;
  solve::StepSolver solver_;
};

}  // namespace

problem::Report solve_rubbing(const Instant& at, const Eigen::VectorXd& v, bool of_forces,
                              std::vector<Rubbing>& rows) {
  return RubbingRows(at, of_forces, rows).solve(v);
}

}  // namespace ricochet::study
