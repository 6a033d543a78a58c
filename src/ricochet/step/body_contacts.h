#pragma once

#include <Eigen/Core>
#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "ricochet/body/rows.h"
#include "ricochet/certify/limits.h"
#include "ricochet/problem/contact.h"
#include "ricochet/problem/report.h"
#include "ricochet/solve/contact_path.h"
#include "ricochet/solve/interior_point.h"
#include "ricochet/solve/step_contacts.h"
#include "ricochet/step/body_joints.h"
#include "ricochet/step/rest_search.h"
#include "ricochet/step/round_sweeps.h"

namespace ricochet::step {

/// The contact problem of bodies, u = W r + q with W = G M^-1 G^T by blocks, in parts that share no
/// free body, each solved from the impulses of the step before. Storage is kept between steps.
/// Joints are taken out of it, W := W - G M^-1 J^T K^-1 J M^-1 G^T.
///
/// Rows of contacts come first, then those of their rolling friction, then those of joints that
/// have a law. Rolling friction of a contact is the tangential part of a row of its own with
/// friction rolling/L, L a length of the bodies: velocity L times the relative spin, impulse
/// moment/L. Its normal part moves nobody and has u_N = w (r_N - p_N) with p_N of the contact, so
/// that r_N = p_N is part of the solution; that one entry of W has no mirror image.
template <int D>
class BodyContacts {
 public:
  BodyContacts(const body::World<D>& world, const certify::Limits& limits, BodyJoints<D>& joints);
  ~BodyContacts();

  /// Takes rows and what they act on; `free` and `friction` are filled by the caller before solve.
  /// `resists`: with their rolling friction.
  void take(std::span<const body::Row<D>> rows, bool resists = false);
  body::Ease<D>& ease(std::size_t body) { return ease_[body]; }  // in space, set by the caller
  const std::vector<body::Ease<D>>& eases() const { return ease_; }
  /// Free velocities of the joints' rows, of motions that hold joints.
  void pose_joints(const std::vector<body::Motion<D>>& motions);
  /// Rows of rolling friction, once those of contacts are filled, of the same motions.
  void pose_turns(const std::vector<body::Motion<D>>& motions);
  bool has_turns() const { return !turns_.empty(); }
  /// With rolling friction, by contact: moments on a along (n, t), where to begin, then found.
  std::vector<body::Spin<D>>& moments() { return moments_; }
  Eigen::VectorXd& free() { return free_; }  // q, D entries a row
  std::vector<double>& friction() { return friction_; }
  std::vector<double>& noise() { return noise_; }  // by row: what rounding makes of velocities
  /// By row, of body a, and twice as much of b: it moves no faster than gravity makes it in a step;
  /// it is at rest beside that.
  static constexpr int kSlow = 1;
  static constexpr int kRests = 4;
  std::vector<char>& rests() { return rests_; }
  std::vector<double>& approach() { return approach_; }  // by row: speed before the step [m/s]
  std::vector<double>& closes() { return closes_; }  // by row: u_N with which it ends shut [m/s]
  Eigen::VectorXd& impulses() { return impulses_; }  // where to begin, then the solution
  /// To a level of certify::Limits; Level::Bounded allows `speed`, or the `part` of the speed at
  /// which bodies of a group meet where that is more.
  problem::Report solve(certify::Level level, double speed, double part);
  /// Whether the next solves take their time before they give a level up.
  void be_patient(bool is_patient) { is_patient_ = is_patient; }
  /// When the next solves look for other shares of loads, and take those of equally stiff contacts
  /// (solve::Sharing): few contacts of a part, all of them solved exactly. Null: never.
  void look(base::Looks* looks) { looks_ = looks; }
  /// A solve that takes long ends unsolved once this is set.
  void listen(const std::atomic<bool>* stop) { stop_ = stop; }
  /// Where bodies are and along what they are pulled, by which large islands are swept in groups,
  /// and threads for these; null: one group, one thread.
  void sweep_in_groups(const std::vector<body::Motion<D>>* places, const body::Vec<D>* load,
                       const base::Executor* executor) {
    places_ = places;
    load_ = load;
    executor_ = executor;
  }
  bool is_stopped() const { return stop_ != nullptr && stop_->load(std::memory_order_relaxed); }
  /// Of the next solves: whether they go on from the impulses of another one of the same step, and
  /// whether the step is one of the few in which large islands at rest are solved exactly.
  void begin_round(bool is_again, bool is_seldom) {
    is_again_ = is_again;
    is_seldom_ = is_seldom;
  }

  /// Whether the next solves prefer rest, of bodies with these velocities without impulses: who
  /// cannot rest in this step is entered. Null: without.
  void seek_rest(const std::vector<body::Motion<D>>* motions, std::vector<body::RestTry>* tries,
                 long long step, double h) {
    motions_ = motions;
    tries_ = tries;
    step_ = step;
    h_ = h;
  }

  /// Adds what the impulses do to the velocities.
  void apply(std::span<const body::Row<D>> rows, std::vector<body::Motion<D>>& motions) const;

  long long fallbacks() const { return fallbacks_; }
  int islands() const { return static_cast<int>(start_.size()) - 1; }

 private:
  static constexpr double kNoWork = 1e-2;    // times the tolerance: impulses that need none at all
  static constexpr double kEnough = 2.0;     // the same: what more work would not be spent on
  static constexpr int kMany = 60;           // contacts for which slow methods are not worth it
  static constexpr int kPatient = 400;       // the same where a level would be given up
  static constexpr double kMostPart = 0.8;   // of the creep speed that the judge allows
  static constexpr double kMostAgain = 0.9;  // the same of a round that goes on
  static constexpr int kRestSweeps = 40;     // of spheres that rest, whatever their level

  using Vector = Eigen::Matrix<double, D, 1>;
  using Block = Eigen::Matrix<double, D, D>;
  using Arm = Eigen::Matrix<double, D, D + body::kSpins<D>>;
  Arm arm_of(const body::Row<D>& row, bool of_a) const;
  Block block(const Arm& one, const Arm& other, int body) const;
  int root(int body);
  void split(std::span<const body::Row<D>> rows);
  void list_by_body(std::span<const body::Row<D>> rows);
  void list_arms(int island);
  void gather(int island);
  void gather_row(int row, int local);
  struct Turn {  // a row of rolling friction
    int contact{0};
    bool is_about_normal{false};
    double length{0.0};    // L
    double friction{0.0};  // beside L
  };
  void list_turns(std::span<const body::Row<D>> rows);
  void take_further(std::span<const body::Row<D>> rows);
  Arm turn_arm(std::size_t row, bool of_a) const;
  void tie_turns(int island);
  void finish_turns();
  void apply_turns(std::vector<body::Motion<D>>& motions) const;
  void tie_joints();
  void join_parts(int island);
  Arm joint_arm(std::size_t row, bool of_a) const;
  void apply_joints(std::vector<body::Motion<D>>& motions) const;
  void condense(int island);
  void widen(int count);
  void take_out(int mechanism, int island);
  void finish_lawful(int island);
  bool may_be_pressed(int local, std::size_t row, double scale) const;
  problem::Report solve_island(int island);
  problem::Report solve_near(int island);
  bool is_for_rounds(int island) const;
  bool sweep_round(int island);
  typename RoundSweeps<D>::Size sweep_until(int island,
                                            const typename RoundSweeps<D>::Problem& problem,
                                            int least, bool& is_enough);
  void sweep_some(int attempt, double quiet);
  bool begin_attempt(int attempt, const typename RoundSweeps<D>::Problem& problem);
  void measure_round(int island);
  bool is_within_groups(int island);
  bool worst_of_round(std::size_t& worst) const;
  bool break_circles(int island, bool shrinks);
  void stop_creep(int island);
  bool is_still(int island) const;
  bool is_slow(int row) const { return (rests_[static_cast<std::size_t>(row)] & 3) == 3; }
  int count_moving(int island, int bits) const;
  bool most_are_still(int island) const;
  bool find_rest(int island);
  bool moves(int island) const;
  body::RestTry* last_try(int island);
  void note_try(int island);
  bool is_sought(int island) const;
  typename RestSearch<D>::Problem rest_of(int island) const;
  bool keeps_still(int island);
  bool may_rest(int island);
  bool hold(int island);
  bool hold_beside_moving(int island);
  void find_fast(int island, std::vector<int>& bodies) const;
  void add_movers(const std::vector<int>& bodies);
  void list_movers_rows(int island);
  bool solve_movers();
  void gather_movers();
  bool prefer_rest(int island);
  bool hold_round(int island, const typename RoundSweeps<D>::Problem& problem);
  void take_impulses(int island);
  bool holds_still(int island);
  bool has(certify::Level level, int island);
  double creep_of(int contact, int row) const;
  void find_limits(int island);
  void find_normals(int island);
  double creep(int island);
  bool keep_nearest(int island);
  double price_inside() const;
  bool sweep_on(int island, int sweeps, double worth);
  bool go_inside(int island, double level);
  bool alternate(int island);
  bool bound(int island);
  void drop_idle(int island);
  bool sweep_slowly(int island);
  void keep_impulses(int island);
  double solve_warm();
  bool improve_island(int island);
  bool follow_path(int island);
  bool approach(int island);
  base::Looks::Part name_of(int island) const;
  bool share(int island, problem::Report& report);
  bool is_unlooked(int island);
  bool is_enough(int island, double residual);
  void drop_rounding();
  bool is_bounded(int row) const;  // friction or a motor of a joint
  bool has_lawful() const { return first_joint_ < rows_.size(); }
  /// Of Newton's method, before it is asked whether they help: a limit, friction and a motor of one
  /// joint act along the same direction.
  int steps_at_once() const { return has_lawful() ? 4 : 1; }
  double worst_part(int island);
  void unite_parts(int island);
  void find_part_scales(int island);
  double joint_residual(int local, int row, double off, double scale) const;
  int hub(const body::Row<D>& row) const {
    return world_.body(row.body_a).is_free() ? row.body_a : row.body_b;
  }
  /// u with what Coulomb's law adds to its normal part.
  Vector lifted(int local, Vector u) const {
    u[0] += mu_[static_cast<std::size_t>(local)] * u.template tail<D - 1>().norm();
    return u;
  }
  double ask(solve::ContactMethod method, double tolerance);
  double insist();

  const body::World<D>& world_;
  BodyJoints<D>& joints_;
  double tolerance_;
  bool gives_up_;  // who cannot have the tolerance soon is content with a lower level
  bool hurries_;   // nothing better than Level::Bounded is asked for
  bool is_patient_{false};
  const std::atomic<bool>* stop_{nullptr};
  const std::vector<body::Motion<D>>* places_{nullptr};
  const body::Vec<D>* load_{nullptr};
  const base::Executor* executor_{nullptr};
  base::Looks* looks_{nullptr};
  const std::vector<body::Motion<D>>* motions_{nullptr};
  std::vector<body::RestTry>* tries_{nullptr};
  long long step_{0};
  double h_{0.0};
  bool is_again_{false};
  bool is_seldom_{false};
  certify::Level level_{certify::Level::Exact};
  double speed_{0.0};
  double part_{0.0};
  std::span<const body::Row<D>> rows_;
  Eigen::VectorXd free_;
  std::vector<double> friction_;
  std::vector<double> noise_;
  std::vector<char> rests_;
  std::vector<double> approach_;
  std::vector<double> closes_;
  std::vector<double> limit_;   // of creep, by contact of an island [m/s]
  std::vector<double> normal_;  // its normal velocity
  std::vector<double> creeps_;  // and its creep speed, by sweeps over bodies
  Eigen::VectorXd impulses_;
  std::vector<body::Ease<D>> ease_;  // by body
  std::vector<Arm> arms_;            // two a row; zero where the body is not free
  std::vector<int> parent_;          // by body
  std::vector<int> island_;          // by row
  std::vector<int> start_;           // of each island in members_
  std::vector<int> members_;         // rows
  std::vector<int> local_;           // by row: its number in its island
  std::vector<double> scale_;        // by body that stands for a part, for a moment
  bool is_listed_{false};            // by_body_ is that of the rows taken
  std::vector<int> by_body_start_;
  std::vector<int> by_body_;  // rows of a free body, ascending
  problem::BlockRows W_;
  Eigen::VectorXd q_;
  std::vector<double> mu_;
  Eigen::VectorXd r_;
  Eigen::VectorXd best_;
  Eigen::VectorXd nearest_;  // impulses of an island that crept least, beside their limits
  double least_{0.0};        // how much
  double creep_{0.0};        // of those measured last
  Eigen::VectorXd trial_;
  Eigen::VectorXd kept_;
  Eigen::VectorXd first_;          // impulses that an island began with
  std::vector<body::Row<D>> all_;  // contacts, rolling friction, joints
  std::size_t taken_{0};           // rows of contacts
  std::size_t first_joint_{0};     // the first row of a joint
  bool may_resist_{false};         // some pair has rolling friction
  std::vector<Turn> turns_;        // rows from taken_ on
  std::vector<body::Spin<D>> moments_;
  std::vector<std::vector<int>> near_;      // by mechanism: rows of an island that act on it
  std::vector<std::vector<int>> row_near_;  // and the other way round
  std::vector<int> columns_;
  std::vector<int> seen_;
  problem::BlockRows wide_;
  bool joints_press_{false};  // some contact of an island, as hard as they like
  std::vector<double> lone_;  // by row of an island: mobility of its bodies without joints
  Eigen::MatrixXd back_;      // G M^-1 J^T of one mechanism
  Eigen::MatrixXd through_;   // K^-1 J M^-1 G^T of one mechanism
  solve::WarmContacts<D> methods_;
  std::unique_ptr<solve::Sharing<D>> sharing_;  // made where it is needed
  solve::ContactPath path_;
  solve::InteriorPoint<D> inside_;
  RoundSweeps<D> round_;
  RestSearch<D> rest_;
  struct Movers {  // bodies that move beside others which rest, and their problem among fixed ones
    std::vector<int> bodies;
    std::vector<char> is_one;  // by body
    std::vector<int> rows;
    std::vector<int> found;
    problem::BlockRows W;
    Eigen::VectorXd q;
    std::vector<double> mu;
    Eigen::VectorXd r;
    Eigen::VectorXd kept;  // impulses of an island
    bool any{false};       // the island that was looked at last has some
  };
  Movers movers_;
  solve::WarmContacts<D> movers_methods_;
  long long fallbacks_{0};
};

extern template class BodyContacts<2>;
extern template class BodyContacts<3>;

}  // namespace ricochet::step
