#pragma once

#include <memory>
#include <vector>

#include "ricochet/body/finder.h"
#include "ricochet/body/world.h"
#include "ricochet/certify/bodies.h"
#include "ricochet/problem/contact.h"
#include "ricochet/problem/report.h"
#include "ricochet/step/body_contacts.h"

namespace ricochet::step {

/// Moreau's midpoint step for rigid bodies that find their contacts.
///
/// In the plane it is `moreau` with the mass of bodies: a row with e = 0 is kept from being entered
/// at the next middle, one with e > 0 acts where it touches at this one, and those with e = 0 of a
/// body that meets such a one by the next middle do too. Deviation: where a middle
/// lies more than the slack inside, places are put back by impulses that only push, and the change
/// of potential energy is booked.
///
/// In space rotations are those of body/turning.h: R+ = R exp(h (Ω + Ω+)/2), R+ I Ω+ = R I Ω + T,
/// with rows at q_M = (x + h/2 v, R exp(h/2 Ω)) and spins of rows R̄Ω, R̄Ω+, R̄ = R exp(h/4 (Ω + Ω+)):
/// energy and momentum to rounding. Impulses are found with the slope of R̄Ω+ in T, in rounds. On a
/// fixed half-space a row with e = 0 keeps its own gap from being entered at the next middle, not
/// the linear one, and its slip is that of its particle at the end of the step: so that what rolls
/// does so to second order.
template <int D>
class MoreauBodies {
 public:
  using State = body::WorldState<D>;
  MoreauBodies(const body::World<D>& world, const certify::Limits& limits);

  /// One step of length h; `next` has room for all bodies.
  problem::Report advance(const State& s, double h, State& next, certify::BodyClaim<D>& claim);
  /// What a step from here poses to its solver in its first round, of a world without joints and
  /// rolling friction. The step need not succeed.
  problem::Report capture(const State& s, double h, problem::ContactProblem& contacts);
  /// The next lower level, where the run may have it: for the step that is tried again, and with
  /// what it finds for those after it.
  bool fall();
  /// A step that takes long ends unsolved once this is set.
  void listen(const std::atomic<bool>* stop) { contacts_.listen(stop); }
  /// Threads for steps of many bodies, which live as long as they are used; digits do not depend on
  /// their number.
  void use(const base::Executor& executor) {
    executor_ = executor;
    contacts_.sweep_in_groups(&middle_, &given_, executor_ ? &executor_ : nullptr);
    finder_.use(executor_ ? &executor_ : nullptr);
  }

  const std::vector<body::Row<D>>& rows() const { return rows_; }  // of the last step
  long long fallbacks() const { return contacts_.fallbacks(); }
  int islands() const { return contacts_.islands(); }

 private:
  struct Fact {  // of a body, together: worlds are large
    double born{0.0};
    double reach{0.0};
    bool is_free{false};
    bool may_fly{false};  // it is round, its moments of inertia are equal, and it has no joints
  };
  template <class Work>
  void in_pieces(std::size_t count, const Work& work) const;
  void half_step(std::size_t body, double h);
  void join(std::size_t body, double h);
  void look_around(const State& s, double h);
  void let_join(double h);
  void let_all_join(double h);
  void add_reach(std::size_t body, double h, const body::Motion<D>& of);
  void find_span(const State& s, double h);
  problem::Report put_back(double h, certify::BodyClaim<D>& claim);
  void hold_shift();
  void find_next(double h);
  bool hold_joints(double h);
  void set_ease();
  void turn_start(std::size_t body, const body::Spin<D>& by);
  bool linearise_turns(double h);
  void find_moments();
  bool settle_turns(double h);
  bool settle_bends(double h);
  body::Row<D> again(const body::Row<D>& row, std::size_t body, const body::Motion<D>& there) const;
  void free_velocity(std::size_t body, double h);
  bool touches(const body::Row<D>& row) const;
  bool find_meetings(double h, const std::vector<body::Row<D>>& rows);
  int group_of(int body);
  void drop_open(double h, std::vector<body::Row<D>>& rows);
  void note_put(certify::BodyClaim<D>& claim);
  void pose_problem(const State& s, double h, bool is_first);
  void pose_row(std::size_t row, const State& s, double h);
  problem::Report push(const State& s, double h);
  problem::Report find_contacts(const State& s, double h, certify::BodyClaim<D>& claim);
  problem::Report attempt(const State& s, double h, State& next, certify::BodyClaim<D>& claim);
  double depth_of(const body::Row<D>& row, double h) const {
    return certify::depth_of(row.slack, level_, h, creep_limit_);
  }
  /// Whether rounds of a step are few enough to go on until they change rounding alone: joints make
  /// more of it than contacts do.
  bool waits_for_joints() const { return rounds_ < 12; }
  bool is_slow(int body, const State& s) const;
  bool outruns(double h);
  bool widen(double h);
  void fly(const body::Motion<D>& from, double h, std::size_t body, body::Motion<D>& next) const;
  void finish_body(std::size_t body, double h, body::Motion<D>& m) const;
  bool lie_down_all(double h, State& next);
  bool lie_down(std::size_t body, double h, State& next);
  bool sleeps_on(const State& s, double h) const;
  void sleep(const State& s, State& next, certify::BodyClaim<D>& claim);
  void finish(double h, State& next, certify::BodyClaim<D>& claim);

  const body::World<D>& world_;
  certify::Limits limits_;
  certify::Level first_level_;  // of a run that has not fallen
  certify::Level level_;        // that the step is made for
  bool is_told_to_fall_{false};
  bool can_fall_;
  double creep_limit_{0.0};   // of Level::Bounded in this step [m/s]
  double enough_speed_{0.0};  // what rounds of turns may differ by [m/s]
  body::Finder<D> finder_;
  BodyJoints<D> joints_;
  BodyContacts<D> contacts_;
  std::vector<char> exists_;
  std::vector<Fact> facts_;
  std::vector<double> reach_;  // by body, in this step [m]
  bool has_endless_{false};    // a driven body without end
  double span_{0.0};           // then: no free body comes farther from the origin [m]
  std::vector<char> flies_;    // by body: it is near nobody, and its other numbers are not made
  std::vector<int> who_;       // bodies that do not fly
  const std::vector<body::Motion<D>>* start_{nullptr};  // of the step: the state's, or from_
  body::Vec<D> given_ = body::Vec<D>::Zero();           // h g(t_M)
  double gravity_step_{0.0};                            // h |g(t_M)| [m/s]
  std::vector<body::Motion<D>> middle_;                 // places at the middle, velocities before
  std::vector<body::Motion<D>> after_;                  // the same places, velocities after
  std::vector<body::Row<D>> rows_;
  std::vector<body::Row<D>> wider_;  // those of a larger reach
  std::vector<body::RowKey> put_;    // rows that were put back in this step, sorted
  std::vector<double> meets_;  // where some pairs have e = 0 and others not: see find_meetings
  std::vector<int> group_;     // by body
  std::vector<body::Motion<D>> shift_;       // by which places are put back, as velocities
  std::vector<body::Motion<D>> from_;        // the start of the step, put back
  std::vector<body::Vec<D>> moments_;        // in space: of the impulses found, by body
  std::vector<double> levers_;               // sums of |r| |p|
  std::vector<char> is_still_;               // no moments in the round before
  std::vector<body::Motion<D>> next_;        // with joints: the next middle
  Eigen::VectorXd kept_;                     // impulses of the round before
  std::vector<body::Spin<D>> kept_moments_;  // and moments of rolling friction
  bool is_wider_{false};                     // rows are others than in the round before
  std::vector<body::Vec<D>> bends_;   // in space: velocities of rows that roll, beyond the linear
  int rounds_{0};                     // of a step with joints
  double last_bend_{0.0};             // how much they changed last
  base::Looks looks_;                 // of the step
  std::vector<body::RestTry> tries_;  // groups that cannot rest
  double t_mid_{0.0};
  std::vector<char> stays_;  // bodies that sleep on
  bool has_driven_{false};
  long long slept_steps_{-1};  // of the state that this made last, with all free bodies asleep
  double slept_h_{0.0};        // the step that led to it
  base::Executor executor_;    // none: one thread
};

extern template class MoreauBodies<2>;
extern template class MoreauBodies<3>;

}  // namespace ricochet::step
