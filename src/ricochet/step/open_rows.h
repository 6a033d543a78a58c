#pragma once

#include <vector>

#include "ricochet/step/body_joints.h"
#include "ricochet/step/body_step.h"

namespace ricochet::step {

/// Rows that do not act in a step: those with e > 0 that are apart, and what strikes.
template <int D>
class OpenRows {
 public:
  OpenRows(const BodyStep<D>& step, BodyJoints<D>& joints);

  /// Takes them out. Rows with e > 0 act where they touch or were put back, and nowhere else; where
  /// places are put back, if they touched before that. But who comes so slowly that nothing throws
  /// it back lands, as with e = 0, unless who touches one of them is thrown back: see
  /// body::may_land. Nor do those with e = 0, and those that land, whose bodies, with what touches
  /// them, meet one with e > 0 before or at the same time: looking ahead they would brake what is
  /// thrown back. Limits of joints are such rows. Rows with e = 0 wait until they touch where their
  /// blow would be another in two steps: see body::Strike.
  void drop(std::vector<body::Row<D>>& rows);

 private:
  bool touches(const body::Row<D>& row) const;
  body::Motion<D> before(int body) const;
  double comes(const body::Row<D>& row) const;
  void find_company(const std::vector<body::Row<D>>& rows);
  void group_touching(const std::vector<body::Row<D>>& rows);
  void find_thrown(const std::vector<body::Row<D>>& rows);
  bool looks_ahead(const body::Row<D>& row);
  bool strikes(const body::PairLaw& law, const body::Row<D>& row) const;
  bool find_meetings(const std::vector<body::Row<D>>& rows);
  int group_of(int body);
  bool is_held_by_lowest(const body::Row<D>& row) const;

  const BodyStep<D>& step_;
  BodyJoints<D>& joints_;
  std::vector<double> meets_;  // by root, where some pairs have e = 0 and others not
  std::vector<int> group_;     // by body
  bool may_land_{false};
  bool may_strike_{false};
  std::vector<double> widths_;   // by shape
  std::vector<char> is_joined_;  // by body
  std::vector<char> touches_;    // by body: whether it is touched, where bodies may strike
  std::vector<double> thrown_;   // by root, where bodies may land: how fast [m/s]
};

extern template class OpenRows<2>;
extern template class OpenRows<3>;

}  // namespace ricochet::step
