#pragma once

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <vector>

#include "ricochet/base/looks.h"
#include "ricochet/convex/pivoted.h"
#include "ricochet/problem/contact.h"
#include "ricochet/problem/report.h"
#include "ricochet/solve/step_contacts.h"

namespace ricochet::solve {

/// Contacts that are more than the motion needs may share a load in many ways: W z = 0 for some z.
/// Without friction all of them give one motion. With friction the shares are what bounds it, and
/// the law may have several motions: a table with one icy leg slides or stands.
///
/// Here others are looked for, by making one contact at a time softer or stiffer than the rest
/// (W + D, D small and diagonal) and by pressing all contacts together, each time followed by a
/// solve of the problem itself: what is found obeys the law. And the shares of equally stiff
/// contacts, D = epsilon 1, are found, which depend neither on the order of contacts nor on the
/// impulses of the step before.
///
/// For few contacts. Storage grows to the largest problem so far and is kept.
template <int D>
class Sharing {
 public:
  static constexpr int kMost = 12;  // contacts

  /// The problem must outlive this; its numbers and size may change between calls.
  explicit Sharing(const problem::LocalProblem& problem);
  Sharing(const Sharing&) = delete;  // its methods refer to its matrix
  Sharing& operator=(const Sharing&) = delete;

  /// Whether W alone, friction free to be any, has other impulses beside the solution r for its
  /// velocities that differ in a normal impulse which bounds friction.
  bool is_open(const Eigen::VectorXd& r);
  /// Whether contacts that do what they do in the r of the last `is_open` have no other impulses.
  bool is_unique();
  /// A name for what contacts do in r: part, stick or slip.
  std::uint64_t pattern(const Eigen::VectorXd& r) const;
  /// Whether another solution with other velocities than those of r is found.
  bool has_others(const Eigen::VectorXd& r);
  /// r becomes the solution of equally stiff contacts. False, and r as it was, where none is found.
  bool share_equally(Eigen::VectorXd& r);

  /// All of it for a part that is looked at now (`asks`), or where others were found before: true
  /// where r became the solution of equally stiff contacts. What was found goes into `looks` and
  /// `report`.
  bool settle(base::Looks::Part part, bool asks, base::Looks& looks, Eigen::VectorXd& r,
              problem::Report& report);

 private:
  void soften(double softness);
  bool solve_soft();
  bool finds_by_one();
  bool finds_by_roughness();
  bool finds_by_pressing();
  double change() const;
  bool solve_truly();
  bool differs();
  double entry(int row, int contact, const Eigen::Matrix<double, D, 1>& impulse) const;
  void add_modes(int contact, const Eigen::Matrix<double, D, 1>& r, bool is_idle);
  void list_modes(const Eigen::VectorXd& r);
  void pose_modes();
  void solve_modes();
  bool turn_slips();
  bool finish_equally();
  void list_closed(const Eigen::VectorXd& r);

  problem::LocalProblem problem_;
  problem::BlockRows soft_;
  WarmContacts<D> methods_;
  WarmContacts<D> soft_methods_;
  Eigen::VectorXd r_;
  Eigen::VectorXd trial_;
  Eigen::VectorXd kept_;
  Eigen::VectorXd velocities_;
  static constexpr int kRows = kMost * D;
  using Square =
      Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, kRows, kRows>;
  Eigen::Matrix<double, Eigen::Dynamic, 1, Eigen::ColMajor, kRows, 1> share_;
  Square matrix_;
  convex::PivotedQr factors_;
  struct Mode {  // an unknown: an impulse along `along`, and the row whose velocity is 0
    int contact{0};
    int row{0};
    Eigen::Matrix<double, D, 1> along;
    bool slips{false};
  };
  std::vector<Mode> modes_;
  Square softness_;
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, 2 * kRows, kRows> stacked_;
  Eigen::Matrix<double, Eigen::Dynamic, 1, Eigen::ColMajor, 2 * kRows, 1> right_;
  std::array<double, kMost> times_{};  // as soft as others, by contact
  double change_{0.0};                 // that impulses make in velocities, as an impulse
  std::vector<int> rows_;              // of contacts that are shut: what may push there
  std::vector<int> normals_;           // of these the normals whose impulses bound friction
};

extern template class Sharing<2>;
extern template class Sharing<3>;

}  // namespace ricochet::solve
