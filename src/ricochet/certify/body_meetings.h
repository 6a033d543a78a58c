#pragma once

#include <utility>
#include <vector>

#include "ricochet/certify/body_joints.h"
#include "ricochet/certify/body_motion.h"
#include "ricochet/certify/body_trial.h"

namespace ricochet::certify {

/// Which rows act at all. Those with e > 0 do that touch. Rows with e = 0 act before they touch,
/// but not for a body that meets one with e > 0 first, nor where they strike: see body::Strike. Who
/// comes to a row with e > 0 so slowly that nothing throws it back lands, as with e = 0: see
/// body::may_land. What does not act might be passed through.
template <int D>
class BodyMeetings {
 public:
  BodyMeetings(BodyTrial<D>& trial, const BodyMotions<D>& motions, JointCourt<D>& joints);

  /// Takes rows that do not act out of the trial; false where one pushes.
  bool drop_idle();
  /// That no pair with e > 0, or which waited for such, is apart here and would be through at the
  /// next middle.
  bool check_passing() const;

 private:
  struct Meeting {  // when a body first meets a row with e > 0, by itself and with those it touches
    double own;
    double of_group;
  };
  struct Thrown {  // how fast [m/s]
    double least{0.0};
    double most{0.0};
  };
  bool is_open(const body::Row<D>& row) const;
  void find_newcomers();
  bool may_touch_before(const body::RowKey& key, double slack, double reach);
  void find_meetings();
  void find_groups();
  body::Motion<D> before(int body) const;
  void find_company();
  double comes(const body::Row<D>& row) const;
  void find_thrown();
  Word looks_ahead(const JudgedRow<D>& one);
  Word strikes(const JudgedRow<D>& one) const;
  Word waits(int a, int b, double time);
  bool may_pass(int a, int b) const;

  BodyTrial<D>& trial_;
  const BodyMotions<D>& motions_;
  JointCourt<D>& joints_;
  bool all_look_ahead_{true};                // e = 0
  bool none_can_pass_{true};                 // every pair has rows ahead of its motion
  std::vector<Meeting> meets_;               // where some rows have e = 0 and others not
  std::vector<std::pair<int, int>> waited_;  // shapes whose rows with e = 0 did not act
  bool may_strike_{false};
  std::vector<double> widths_;    // by shape
  std::vector<char> is_joined_;   // by body
  std::vector<char> is_touched_;  // the same, where bodies may strike
  bool may_land_{false};
  std::vector<Thrown> thrown_;  // by group, where bodies may land
  BodyGroups groups_;           // that touch or are joined
  // Shapes with e > 0 that touch, sorted, but did not do so before places were put back.
  std::vector<std::pair<int, int>> newcomers_;
  std::vector<shape::Row<D>> found_;
};

extern template class BodyMeetings<2>;
extern template class BodyMeetings<3>;

}  // namespace ricochet::certify
