#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "ricochet/flow/flow.h"
#include "ricochet/record/error_bar.h"
#include "ricochet/scene/scene.h"
#include "ricochet/step/outcome.h"

namespace ricochet::dynamics {

/// The error of a run from its defect in the evolution problem. From row to row of what was
/// recorded the exact motion starts where the run was, and what the run is off by at the next row
/// is its defect there; defects go on with the variations of the motion, through events with their
/// saltation:
///
///   E_{k+1} = D phi(y_k) E_k + y_{k+1} - phi(y_k)
///
/// Rows between which only one of both met a wall are passed by. The bar is 5/2 |E|, and 2 times
/// the square of its part of the motion, in the size of the motion; of a velocity its jump where a
/// shock is so near to the end that it may be missing. Unresolved is a run whose bar is more than
/// half as large as the motion, or that parts with the exact one.
class DefectBar {
 public:
  static constexpr int kMostDofs = 6;

  /// The scene must outlive it.
  DefectBar(const scene::Scene& scene, bool is_wanted);
  bool is_wanted() const { return is_wanted_; }
  /// A row of the run.
  void add(const step::Sample& sample);
  /// After the run.
  record::ErrorBar take(const step::Outcome& outcome);

 private:
  struct Row {
    double t;
    Eigen::VectorXd y;  // q, u
  };
  struct Window {
    std::size_t end{0};
    int impacts{0};
    Eigen::VectorXd defect;
    Eigen::MatrixXd columns;
    double off{0.0};  // the defect in the sizes of the motion
  };
  void take_sizes();
  bool follow(flow::Flow& flow, std::size_t from, Window& best);
  bool advance(flow::Flow& flow, double time, int& impacts);
  int shocks_between(double from, double to) const;
  void note(const Row& row, record::ErrorBar& bar) const;
  double rounding(Eigen::Index i) const;
  double part() const;
  double width(Eigen::Index i) const;
  void finish(flow::Flow& flow, record::ErrorBar& bar);

  const scene::Scene& scene_;
  bool is_wanted_;
  Eigen::Index n_{0};
  std::string not_made_;
  std::vector<Row> rows_;
  std::size_t every_{1};
  std::size_t seen_{0};
  Row last_{};
  std::vector<double> shocks_;  // times of the run's
  double slow_{0.0};            // approach below which impacts do not count
  Eigen::VectorXd sizes_, error_, jump_;
  Eigen::MatrixXd spread_;  // mean squares of what rounding makes of the exact motion
  double struck_{0.0};      // when the exact motion last met a wall
  double approach_{0.0};    // and how fast
  std::string why_;
};

}  // namespace ricochet::dynamics
