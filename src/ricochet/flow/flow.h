#pragma once

#include <Eigen/Core>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ricochet/flow/equations.h"

namespace ricochet::flow {

/// What ended a piece of motion.
enum class EventKind {
  End,      // the time that was asked for
  Impact,   // of `row`, at the approach speed
  Rest,     // impacts of `row` accumulated: the contact lasts from here on
  Release,  // of `row`
  Stick,    // the slip of `row` ended; it sticks, or slips the other way
  Slip,     // `row` began to slip
  Switch,   // a side of if, sign, abs, min or max changed
  Watch,    // the watched formula number `row` vanished
  Failure,  // the motion cannot be continued: see `failure`
};

struct Event {
  EventKind kind{EventKind::End};
  int row{-1};
  double approach{0.0};
};

enum class Direction { Up, Down, Both };

struct FlowSettings {
  double accuracy{1e-15};            // of an arc, relative
  bool is_free{false};               // contacts are passed by; see Flow::pass
  double period{0.0};                // of the forces and walls in t; 0: none
  std::vector<Direction> watched{};  // of the watched formulas; Both where there is none
};

/// The motion of a system, with friction in the plane, from event to event, with its first
/// variations.
///
///   arcs       dy/dt = f(t, y), y = (q, u), Taylor series of order 28 in t
///   events     y+ = R(t, y-) where h(t, y) = 0:  S = R_y + (f+ - R_y f- - R_t) h_y / (dh/dt)-
///   contacts   that last: the constrained motion, until its reaction vanishes
///   grips      stick until |r_T| = mu N, slip until V = 0
///
/// The columns of variations are kept orthonormal; ln of their growth is summed. Columns that a
/// lasting contact makes dependent are dropped: their exponents are -infinity.
class Flow {
 public:
  Flow(Equations& equations, FlowSettings settings);

  void start(double t, const Eigen::VectorXd& q, const Eigen::VectorXd& u);
  /// To the next event, `longest` from now at most.
  Event advance(double longest);

  /// Goes on from another place, with the variations of this one.
  void put(double t, const Eigen::VectorXd& q, const Eigen::VectorXd& u);
  /// The variations through an impact on a contact here, whatever its gap; the velocity after it is
  /// that of the law. Nothing where it does not approach.
  void pass(int contact);

  double t() const { return t_; }              // with a period: in [0, period)
  double elapsed() const { return elapsed_; }  // since the start
  const Eigen::VectorXd& q() const { return q_; }
  const Eigen::VectorXd& u() const { return u_; }
  const Eigen::VectorXd& u_before() const { return u_before_; }  // the last impact
  const Rows& held() const { return held_; }                     // joints too
  /// Of the grips of `Equations`: -1, 1 slips, 0 sticks; kLoose: not pressed.
  const std::vector<int>& grips() const { return grips_; }
  static constexpr int kLoose = 2;
  const std::string& failure() const { return failure_; }

  // Variations. `orthonormalise` ends the arc here, and is called after each event.
  void orthonormalise();
  const Eigen::MatrixXd& columns() const { return columns_; }
  void set_columns(const Eigen::MatrixXd& columns);  // taken as they are until the next event
  void keep_columns(bool as_they_are) { keeps_columns_ = as_they_are; }
  const std::vector<double>& growth() const { return growth_; }  // sums of ln R_ii
  double trace() const { return trace_; }                        // integral of tr f_y
  double log_determinants() const { return log_determinants_; }  // sum of ln |det S|
  bool has_lost_rank() const { return lost_rank_; }
  double largest_factor() const { return largest_factor_; }  // 1/|U| of impacts
  /// Why there is no derivative; empty: there is one.
  const std::string& broken() const { return broken_; }
  /// The last impact's S, for tests.
  const Eigen::MatrixXd& saltation() const { return saltation_; }

 private:
  struct Work {
    std::vector<double> series;
    std::vector<signed char> sides;
  };
  struct Pending {
    double time{0.0};
    EventKind kind{EventKind::End};
    int index{-1};
  };
  /// One row of the contact tape.
  struct Contact {
    double gap, speed, restitution, bend;
    Eigen::VectorXd J, dU, response;
  };

  bool is_joint(int row) const { return row >= equations_.rows() - equations_.joints(); }
  bool is_held(int row) const;
  const Rows& key();  // what is held, and what grips do
  double* row(std::size_t index) { return work_->series.data() + index * formula::Jet::kStride; }
  double* watched(std::size_t index) { return row(mode_->jet.row(index)); }
  bool open();
  void load();
  bool take_sides();
  double arc_length();
  double group_length(std::size_t first, int count) const;
  void find_next();
  void find_impacts();
  void find_releases();
  void find_grips();
  void find_switches();
  void find_watched();
  void watch_for(const double* polynomial, int index);
  void look_for(const double* polynomial, int lift, EventKind kind, int index);
  void move(double time);
  bool end_chatter();
  Event finish(const Pending& pending);
  Event fail(const std::string& why);
  Event strike(int struck);
  void strike_one(int a);
  bool strike_many(const Rows& struck);
  void change_side(int index);
  std::size_t function_of(int grip) const;
  void change_grip(const Pending& pending);
  void settle_grips(int stopped);
  bool holds(const Rows& open);
  Rows regime_of(int a);
  void look_at_contacts();
  void choose_held(Rows candidates);
  std::optional<Rows> complementary(const Rows& rows, const Eigen::VectorXd& rest) const;
  void project_on_held();
  void project_columns_on_held();
  void apply_reset(const Rows& rows, int struck, bool is_plastic, const Rows& stopping);
  void accelerate(const Eigen::VectorXd& u, Eigen::VectorXd& a);
  const double* load_tape(const formula::Tape& tape, const Eigen::VectorXd& u);
  bool feels_others(const Rows& together) const;

  Equations& equations_;
  FlowSettings settings_;
  int n_;
  double t_{0.0};
  double elapsed_{0.0};
  Eigen::VectorXd q_, u_, u_before_;
  Eigen::MatrixXd columns_;
  std::vector<double> growth_;
  double trace_{0.0};
  double log_determinants_{0.0};
  double largest_factor_{0.0};
  bool lost_rank_{false};
  bool keeps_columns_{false};
  std::string failure_, broken_;
  Eigen::MatrixXd saltation_;

  Rows held_;
  Rows key_;
  std::vector<int> grips_;
  std::vector<int> grip_lift_;  // zeros of s V where the arc begins
  std::vector<int> lift_;       // by contact: zeros of its gap where the arc begins
  std::vector<double> peak_;    // by contact: speed of the first impact of a falling series
  std::vector<double> last_;    // by contact: speed of the last impact
  std::vector<Contact> contacts_;
  const Mode* mode_{nullptr};
  std::map<const Mode*, Work> works_;
  Work* work_{nullptr};
  bool is_open_{false};
  int resting_{-1};  // contact whose impacts accumulate, and are over at
  double rest_time_{0.0};
  int turned_{-1};        // switch whose function is 0 where the arc begins
  int watch_met_{-1};     // watched formula that is 0 where the arc begins
  int watch_beside_{-1};  // watched formula that vanishes with the next switch
  double length_{0.0};    // of the arc
  double offset_{0.0};    // where the state stands in it
  Pending next_;
  std::unordered_map<const formula::Tape*, std::vector<double>> registers_;
  Eigen::VectorXd before_acceleration_, after_acceleration_, turn_, column_, Rt_;
  Eigen::MatrixXd Rq_, Ru_, turned_columns_;
  Rows together_;
};

}  // namespace ricochet::flow
