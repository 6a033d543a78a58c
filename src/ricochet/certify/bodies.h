#pragma once

#include <array>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ricochet/base/executor.h"
#include "ricochet/body/world.h"
#include "ricochet/certify/body_joints.h"
#include "ricochet/certify/certificate.h"
#include "ricochet/certify/coverage.h"

namespace ricochet::certify {

/// What a step of bodies claims besides its states: who pushed whom, and how places were put back.
template <int D>
struct BodyClaim {
  std::vector<body::Push<D>> pushes;               // by key, those with p_N > 0
  std::vector<std::vector<body::Push<D>>> shifts;  // weights of each round of the projection
  std::vector<body::Reaction<D>> reactions;        // by joint
  std::vector<std::vector<body::Reaction<D>>> joint_shifts;  // weights of each round
  Level level{Level::Exact};  // of the law that the step was made with
};

std::string name_of(Level level);  // "exact", "tight", "bounded"
inline constexpr std::array<Level, 3> kLevels = {Level::Exact, Level::Tight, Level::Bounded};

/// How deep a row may lie, and below Level::Exact how near touches: the slack, and what contacts
/// may creep in a step.
inline double depth_of(double slack, Level level, double h, double creep_limit) {
  return level == Level::Bounded ? slack + h * creep_limit : slack;
}
/// What is left of a gap for the law: 0 where it touches.
inline double way_of(double gap, double slack, Level level, double h, double creep_limit) {
  const bool touches = level != Level::Exact && gap <= depth_of(slack, level, h, creep_limit);
  return touches ? 0.0 : (gap > 0.0 ? gap : 0.0);
}

/// What is told of the contacts of bodies, which have no names.
struct BodyStatistics {
  long long shocks{0};
  long long removed{0};     // bodies that left
  double pushes_mean{0.0};  // rows that push in a step
  long long pushes_max{0};
  long long pairs_checked{0};         // by the judge's own finder, at the last step
  long long projected{0};             // steps whose places were put back
  double deepest{0.0};                // middle, before that [m]
  double shift_max{0.0};              // [m]
  long long ghosts{0};                // steps with pushes of a pair that does not come to touch
  double ghost_gap{0.0};              // by which it stayed apart at most, in sizes of the smaller
  double ghost_time{0.0};             // when that was [s]
  double ghost_share{0.0};            // velocity that one gave, in largest speeds of the run
  double ghost_step{0.0};             // with steps as short there would be none [s]
  std::string ghost_pair;             // who, at ghost_time
  double momentum_defect{0.0};        // of all bodies together, beside what walls and forces gave
  std::array<double, 3> creep{};      // [m/s], not exceeded in 50, 99, 99.9 % of pushes
  Level law{Level::Exact};            // the lowest level that steps were made for
  std::array<double, 3> law_since{};  // [s], by level; that of a lower one
  std::array<long long, 3> steps{};   // by the level they reached
  double creep_limit{0.0};            // [m/s], the largest that a group had in a bounded step
  double creep_mean{0.0};             // [m/s], of the largest of each step
  double way{0.0};                    // [m]: no contact crept farther in all
  double unresolved{0.0};             // work that the law leaves open, sum |F||û| + |r| delta
  std::string where;                  // the pair at which a check failed
  std::string broken;                 // which limit, where it is that of a level
  long long left_rest{0};             // bodies that began to move in steps that are bounded
  double left_time{0.0};              // when the first of them did
  std::string left_first;             // which one
};

/// Checks steps of bodies from their definition: own middles, own pairs, own rows.
template <int D>
class BodyJudge {
 public:
  using State = body::WorldState<D>;
  BodyJudge(const body::World<D>& world, const Limits& limits, const State& start);

  /// False when the step does not hold what it claims; then nothing is entered but the failure.
  bool accept(const State& before, const State& after, double h, const BodyClaim<D>& claim);
  void fail(Failure failure, double t, double value = 0.0);
  /// Threads for worlds of many bodies, which live as long as they are used; what is found does not
  /// depend on their number.
  void use(const base::Executor& executor) {
    executor_ = executor;
    coverage_.use(executor_ ? &executor_ : nullptr);
  }
  /// Forgets a failure: the step is made anew at a lower level.
  void reconsider();

  const Certificate& certificate() const { return c_; }
  BodyStatistics statistics() const;
  double kinetic(const State& s) const;
  double potential(const State& s) const;

 private:
  struct Judged {  // a row of this step
    body::Row<D> row;
    body::Vec<D> impulse = body::Vec<D>::Zero();
    body::Vec<D> before = body::Vec<D>::Zero();  // relative velocities
    body::Vec<D> after = body::Vec<D>::Zero();
    body::Spin<D> moment = body::Motion<D>{}.spin;  // of rolling friction, on a, in space
    const body::PairLaw* law{nullptr};
    double rho{0.0};
    double defect{0.0};  // |r - P_K(r - rho û)|
    double scale{0.0};
    double free{0.0};        // |û| without impulses
    double unresolved{0.0};  // work
    double limit{0.0};       // of creep [m/s]
    double off{0.0};         // the larger of the defect and that of rolling friction [N s]
    double creep{0.0};       // delta, of both [m/s]
    int power{-1};           // of ten, of creep: its place in creeps_, where it is told
    bool closes{false};      // it touches at the middle or at the end of the step
  };
  struct Fact {  // of a body, together: worlds are large
    double born{0.0};
    double mass{0.0};
    double moment{0.0};  // of inertia, where all are equal
    double reach{0.0};
    double room{0.0};      // what is looked for beyond its way [m]
    std::size_t first{0};  // solid
    std::size_t end{0};    // one after its last solid
    body::Kind kind{};
    bool is_even{false};     // all its moments of inertia are equal
    bool is_centred{false};  // free, the middle of its one shape's ball is its mass centre
    bool turns{true};        // it matters how it is turned
  };
  struct Given {  // impulses and moments on a body
    body::Vec<D> p = body::Vec<D>::Zero();
    body::Spin<D> moment = body::Motion<D>{}.spin;
    double size{0.0};
    double lever{0.0};
  };
  struct Pace {          // of a body that is near others
    double speeds{0.0};  // no particle is faster: before and after together [m/s]
    double place{0.0};   // |x_M| [m]
  };
  struct Speeds {  // of a free body, before and after together
    double v{0.0};
    double spin{0.0};
  };
  struct Sums {  // of a step, by free bodies
    base::Sum kinetic;
    base::Sum potential;
    base::Sum forces;
    double fastest{0.0};
    long long removed{0};
  };
  struct Fault {  // of a body or of a row, by its number
    std::size_t at{std::numeric_limits<std::size_t>::max()};
    Failure failure{Failure::None};
    double value{0.0};
    bool is_there() const { return failure != Failure::None; }
  };
  struct Piece {  // what is found in a piece of all bodies, pairs or rows
    Fault fault;
    Sums sums;
    double balance{0.0};              // the largest
    double deepest{0.0};              // overlap of rows [m]
    long long pushes{0};              // rows that do
    bool has_ghosts{false};           // maybe
    std::vector<shape::Row<D>> rows;  // of pairs
    std::vector<std::size_t> pairs;   // theirs
    std::size_t first{0};             // number of the first of them among all rows
    std::size_t used{0};              // pushes that belong to them
  };
  void list_facts();
  template <class Work>
  void in_pieces(std::size_t count, const Work& work);
  Fault first_fault() const;
  bool check_time(const State& before, const State& after, double h);
  bool look_at_states();
  Fault look_at_state(std::size_t body);
  void make_middle(std::size_t body);
  void set_reach(std::size_t body, const body::Vec<D>& x, double speed);
  void set_balls(std::size_t body);
  void make_ready(std::size_t body);
  void fill_ready(std::size_t body);
  void make_pairs_ready(const std::vector<std::pair<int, int>>& pairs);
  void make_all_ready();
  bool replay_shifts(const BodyClaim<D>& claim, double t);
  bool replay_round(const std::vector<body::Push<D>>& round,
                    const std::vector<body::Reaction<D>>* joints, double t);
  void shift_bodies();
  bool replay_joints(const std::vector<body::Reaction<D>>& weights, double t, bool& is_needed,
                     std::vector<body::Motion<D>>& moved);
  bool check_joints(const State& after, double h, const BodyClaim<D>& claim);
  typename JointCourt<D>::Works enter_joints(const State& before, double h,
                                             const BodyClaim<D>& claim);
  bool find_rows(const BodyClaim<D>& claim);
  bool add_far_pushes(const BodyClaim<D>& claim);
  double overlap_of(int a, int b) const;
  void look_at_pair(std::size_t pair, Piece& piece);
  void make_rows(Piece& piece, const BodyClaim<D>& claim);
  bool check_level(const BodyClaim<D>& claim, double h);
  bool check_shifts(double t);
  bool check_births(const BodyClaim<D>& claim);
  bool is_open(const body::Row<D>& row) const;
  void find_meetings(double h);
  char waits(const body::Row<D>& row, double h);
  bool has_waited(int a, int b) const;
  bool check_law(double h);
  bool is_as_before(const BodyClaim<D>& claim) const;
  void take_rows_again();
  void remember(const BodyClaim<D>& claim);
  void measure(Judged& one, double h) const;
  void measure_turning(Judged& one) const;
  Fault check_cone(const Judged& one) const;
  Fault check_turning(const Judged& one) const;
  bool drop_idle(double h);
  double work_of_turning(const Judged& one) const;
  body::Vec<D> bend_of(const body::Row<D>& row, double h) const;
  bool check_islands(double h, const BodyClaim<D>& claim);
  void find_limits();
  void unite(int a, int b);
  void find_scales(const BodyClaim<D>& claim);
  void watch_rest(const State& after, double h);
  bool check_passing(double h);
  double endless_speed(std::size_t body, const body::Motion<D>& of) const;
  void note_ghosts();
  double least_gap(const Judged& one, double enough) const;
  bool pushes_early(const Judged& one) const;
  void look_at_row(std::size_t row, double h, Piece& piece);
  bool closes(const Judged& one) const;
  void sum_up_rows();
  void find_given(const BodyClaim<D>& claim);
  bool check_bodies();
  Fault check_body(std::size_t body, Piece& piece) const;
  Fault check_unmoved(std::size_t body) const;
  Fault check_balance(std::size_t body, const Speeds& speeds, double& found) const;
  Fault check_position(std::size_t body, const Speeds& speeds) const;
  void add_up(std::size_t body, Sums& sums) const;
  void enter(const State& before, double h, const BodyClaim<D>& claim);
  void enter_works(const State& before, const typename JointCourt<D>::Works& joints);
  void place(const std::vector<body::Motion<D>>& at);
  /// The start of the step, as it was put back.
  const body::Motion<D>& from(std::size_t body) const {
    return is_whole_ ? from_[body] : begin_->bodies[body];
  }
  int root(int body);
  bool fail_at(Failure failure, double t, double value, const body::Row<D>& row);
  bool fail_body(Failure failure, double t, double value, std::size_t body);

  const body::World<D>& world_;
  Limits limits_;
  Certificate c_;
  BodyStatistics told_;
  Coverage<D> coverage_;
  JointCourt<D> joints_;
  std::vector<Fact> facts_;
  std::vector<char> exists_;
  // Of bodies that are near others the numbers below are made; of all where is_whole_: with joints,
  // and where places were put back.
  bool is_whole_{false};
  std::vector<char> is_ready_;           // by body
  std::vector<int> ready_;               // those bodies
  std::vector<body::Motion<D>> middle_;  // velocities before
  std::vector<body::Motion<D>> after_;   // at the middle, velocities after
  std::vector<body::Motion<D>> from_;    // where the step begins; in space turned as put back
  std::vector<body::Vec<D>> shift_;      // how mass centres were put back
  std::vector<body::RowKey> put_;        // rows by which they were, sorted
  std::vector<std::array<double, 2>> shift_rounding_;  // by joints: of places, of angles
  const State* begin_{nullptr};                        // of the step that is looked at
  const State* end_{nullptr};
  std::vector<body::Motion<D>> next_;  // with joints: the next middle
  std::vector<shape::Pose<D>> poses_;
  std::vector<double> reach_;
  std::vector<double> speed_;  // by body, at the end
  std::vector<Given> given_;
  std::vector<Pace> paces_;
  Sums sums_;
  double deepest_{0.0};  // of all rows of the step
  long long step_pushes_{0};
  bool may_have_ghosts_{false};
  std::vector<body::Row<D>> put_rows_;  // of a round of the projection
  std::vector<body::Motion<D>> moved_;
  bool looks_ahead_{true};    // every pair does: e = 0
  bool none_can_pass_{true};  // every pair has rows ahead of its motion
  struct Meeting {  // when a body first meets a row with e > 0, by itself and with those it touches
    double own;
    double of_group;
  };
  std::vector<Meeting> meets_;               // where some pairs have e = 0 and others not
  std::vector<std::pair<int, int>> waited_;  // shapes whose rows with e = 0 did not act
  std::vector<Piece> all_pieces_;            // room for the most that were needed
  std::span<Piece> pieces_;                  // in use
  std::vector<std::size_t> alone_;  // bodies that are looked at one after the other: driven ones
  std::vector<Judged> rows_;
  std::vector<int> parent_;
  std::vector<double> scale_;      // by root
  std::vector<char> island_;       // by root, for a moment
  std::vector<char> rest_;         // by body: see watch_rest
  std::vector<long long> creeps_;  // how many pushes by the power of ten of their creep speed
  body::Vec<D> gravity_ = body::Vec<D>::Zero();
  double gravity_step_{0.0};  // h |g| [m/s]
  double t_mid_{0.0};
  double h_{0.0};
  Level law_{Level::Exact};  // of the step that is looked at
  double creep_limit_{0.0};
  double speed_max_{0.0};
  double lost_{0.0};
  long long pushes_{0};
  struct Still {  // a step in which nobody moved, that was accepted: where the world sleeps
    bool is_known{false};
    std::vector<body::Motion<D>> bodies;
    std::vector<char> exists;
    std::vector<body::Push<D>> pushes;
    std::vector<int> ready;
    body::Vec<D> gravity = body::Vec<D>::Zero();
    double h{0.0};
    Level law{Level::Exact};
  };
  Still still_;
  base::Executor executor_;  // none: one thread
};

extern template class BodyJudge<2>;
extern template class BodyJudge<3>;

}  // namespace ricochet::certify
