#include "ricochet/study/touching.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "ricochet/base/index.h"
#include "ricochet/base/random.h"
#include "ricochet/body/finder.h"
#include "ricochet/body/joints.h"
#include "ricochet/body/rows.h"
#include "ricochet/convex/dense.h"
#include "ricochet/study/idle_shares.h"
#include "ricochet/study/watch_values.h"

namespace ricochet::study {
namespace {

using base::index;

/// Shifts and turns of free bodies as one vector, turns times a length of the body; what a unit
/// impulse or a gap does to it is a row.
template <int D>
class FreeBodies {
 public:
  static constexpr Eigen::Index kEach = D == 2 ? 3 : 6;
  explicit FreeBodies(const body::World<D>& world) : world_(world) {
    for (const body::Body<D>& body : world.bodies) {
      first_.push_back(body.is_free() ? size_ : -1);
      if (body.is_free()) size_ += kEach;
    }
  }
  Eigen::Index size() const { return size_; }

  void add(int body, const body::Vec<D>& along, const body::Spin<D>& turn, double sign,
           Eigen::Ref<Eigen::VectorXd> row) const {
    const Eigen::Index at = first_[index(body)];
    if (at < 0) return;
    for (Eigen::Index k = 0; k < D; ++k) row[at + k] += sign * along[k];
    const double length = length_of(body);
    if constexpr (D == 2) row[at + 2] += sign * turn / length;
    if constexpr (D == 3) {
      for (Eigen::Index k = 0; k < 3; ++k) row[at + 3 + k] += sign * turn[k] / length;
    }
  }
  /// A direction of space at a contact, on a, and the opposite on b.
  void add(const body::Row<D>& row, const body::Vec<D>& along,
           Eigen::Ref<Eigen::VectorXd> out) const {
    add(row.body_a, along, body::moment(row.arm_a, along), 1.0, out);
    add(row.body_b, along, body::moment(row.arm_b, along), -1.0, out);
  }
  void add(const body::Joint<D>& joint, const body::JointRow<D>& row,
           Eigen::Ref<Eigen::VectorXd> out) const {
    add(joint.b, row.along, row.turn_b, 1.0, out);
    add(joint.a, row.along, row.turn_a, -1.0, out);
  }

  body::Motion<D> motion(int body, const Eigen::VectorXd& x) const {
    body::Motion<D> found;
    const Eigen::Index at = first_[index(body)];
    if (at < 0) return found;
    const double length = length_of(body);
    for (Eigen::Index k = 0; k < D; ++k) found.v[k] = x[at + k];
    if constexpr (D == 2) found.spin = x[at + 2] / length;
    if constexpr (D == 3) found.spin = x.template segment<3>(at + 3) / length;
    return found;
  }

  double length_of(int body) const {
    const body::Body<D>& of = world_.body(body);
    return of.reach > 0.0 ? of.reach : std::max(of.size, 1e-300);
  }

 private:
  const body::World<D>& world_;
  std::vector<Eigen::Index> first_;
  Eigen::Index size_{0};
};

/// Equations or impulses, one after the other.
struct ImpulseColumns {
  explicit ImpulseColumns(Eigen::Index height) : zero(Eigen::VectorXd::Zero(height)) {}
  Eigen::Ref<Eigen::VectorXd> add() { return all.emplace_back(zero); }
  Eigen::Index count() const { return static_cast<Eigen::Index>(all.size()); }
  /// All as rows, and below them a small part of each unknown, asked to be 0: rows that differ by
  /// rounding alone, as those of flush faces, ask for nothing.
  Eigen::MatrixXd as_rows() const {
    constexpr double kSmall = 1e-6;
    Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(count() + zero.size(), zero.size());
    for (std::size_t k = 0; k < all.size(); ++k) {
      matrix.row(static_cast<Eigen::Index>(k)) = all[k].transpose();
    }
    matrix.bottomRows(zero.size()).diagonal().setConstant(kSmall);
    return matrix;
  }
  Eigen::VectorXd zero;
  std::vector<Eigen::VectorXd> all;
};

constexpr double kMostNumbers = 4e5;  // of a full matrix

template <int D>
bool is_there(const body::World<D>& world, const body::WorldState<D>& s, int body) {
  return world.body(body).born <= s.t && s.gone[index(body)] == 0;
}

/// work(joint, row) of all that joints hold, and of their limits that touch, with their gaps.
template <int D, class Work>
void each_joint_row(const body::World<D>& world, const body::WorldState<D>& s, const Work& work) {
  constexpr double kNear = 2.0;  // slacks
  for (const body::Joint<D>& joint : world.joints) {
    if (!is_there(world, s, joint.a) || !is_there(world, s, joint.b)) continue;
    const body::JointRows<D> rows =
        body::rows_of(joint, s.bodies[index(joint.a)], s.bodies[index(joint.b)]);
    for (int k = 0; k < joint.rows(); ++k) work(joint, rows.held[index(k)]);
    if (!joint.has_limits) continue;
    for (const bool is_low : {true, false}) {
      const body::JointRow<D> limit = body::limit_of(joint, rows.free, is_low);
      if (std::abs(limit.gap) <= kNear * body::limit_slack(limit)) work(joint, limit);
    }
  }
}

template <int D>
std::vector<body::Motion<D>> find_shifts(const body::World<D>& world,
                                         const body::WorldState<D>& s) {
  constexpr double kNear = 2.0;  // slacks
  const FreeBodies<D> bodies(world);
  ImpulseColumns equations(bodies.size());
  std::vector<double> gaps;
  double sum = 0.0;
  const auto ask = [&](double gap) {
    gaps.push_back(gap);
    sum += std::abs(gap);
  };
  for (const body::Row<D>& row : body::rows_within(world, s, 0.0)) {
    if (std::abs(row.gap) > kNear * row.slack) continue;
    bodies.add(row, row.normal, equations.add());
    ask(row.gap);
  }
  std::vector<body::Motion<D>> found(world.bodies.size());
  if (gaps.empty() && world.joints.empty()) return found;
  each_joint_row(world, s, [&](const body::Joint<D>& joint, const body::JointRow<D>& row) {
    bodies.add(joint, row, equations.add());
    ask(row.gap);
  });
  if (gaps.empty() || sum == 0.0) return found;
  if (static_cast<double>(gaps.size()) * static_cast<double>(bodies.size()) > kMostNumbers) {
    for (body::Motion<D>& one : found) one.v.setConstant(sum);  // no body is off by more
    return found;
  }
  Eigen::VectorXd wanted = Eigen::VectorXd::Zero(equations.count() + bodies.size());
  for (std::size_t k = 0; k < gaps.size(); ++k) wanted[static_cast<Eigen::Index>(k)] = -gaps[k];
  const Eigen::VectorXd x = convex::least_squares(equations.as_rows(), wanted);
  for (int i = 0; i < world.count(); ++i) found[index(i)] = bodies.motion(i, x);
  return found;
}

}  // namespace

template <int D>
std::vector<body::Motion<D>> shifts_to_touch(const body::World<D>& world,
                                             const body::WorldState<D>& s) {
  return find_shifts<D>(world, s);
}

namespace {

constexpr double kTiltOff = 1e-9;  // less of a direction, which slacks make of flush faces

/// How far a force within a bound may go: anywhere, from its bound inwards, from 0, or nowhere,
/// where its bodies slip.
enum class Hold { Inside, Edge, Zero, Slips };
constexpr double kInsideHold = 1.0 - 1e-6;  // of the bound

/// The impulses that a step may share out otherwise: ways in which they may change that leave all
/// momenta as they are, within the laws of contacts and joints, and what these ways give to
/// watches.
template <int D>
class Shares {
 public:
  Shares(const scene::WorldPart& part, const body::World<D>& world, const SharedStep<D>& step,
         double h)
      : part_(part), world_(world), step_(step), h_(h), bodies_(world), given_(bodies_.size()) {
    std::size_t numbers = 0;
    for (const scene::Watch& watch : part.watches) numbers += index(watch.numbers);
    to_watches_.resize(numbers);
    for (const body::Push<D>& push : step.pushes) most_ = std::max(most_, push.impulse.norm());
    for (std::size_t k = 0; k < step.rows.size(); ++k) add(step.rows[k], step.pushes[k]);
    if (step.reactions.size() != world.joints.size()) return;
    for (std::size_t j = 0; j < world.joints.size(); ++j) add(j);
  }

  /// Numbers of the largest matrix that `find` makes, and what it costs.
  double size() const { return rows() * (rows() + static_cast<double>(given_.count())); }
  double work() const { return rows() * rows() * rows(); }

  /// By number of the watches what a way that is open changes of it at most; 0: it is determined.
  /// `trials` are such ways, at random, by what they do to all of them.
  std::vector<char> find(std::vector<std::vector<double>>& trials) const {
    std::vector<char> open(to_watches_.size(), 0);
    if (given_.count() == 0 || size() > kMostNumbers) return open;
    const Eigen::MatrixXd all = equations();
    const std::vector<Eigen::Index> free = columns_that_may_go(all);
    const ReachOfColumns reach(columns_at(all, free));
    const auto count = static_cast<Eigen::Index>(free.size());
    for (std::vector<double>& trial : trials) trial.assign(open.size(), 0.0);
    for (std::size_t k = 0; k < open.size(); ++k) {
      if (to_watches_[k].empty()) continue;
      Eigen::VectorXd gives = Eigen::VectorXd::Zero(count);  // impulses come first in both
      for (std::size_t i = 0; i < to_watches_[k].size(); ++i) {
        gives[static_cast<Eigen::Index>(i)] = to_watches_[k][i];
      }
      const Eigen::VectorXd idle = reach.idle(gives);
      open[k] = idle.norm() > std::max(kTiltOff, kSharesOff * gives.norm()) ? 1 : 0;
      base::Random random(1);
      for (std::size_t i = 0; i < trials.size() && open[k] != 0; ++i) {
        for (const double one : idle) trials[i][k] += (2.0 * random.uniform() - 1.0) * one;
      }
    }
    return open;
  }

 private:
  using Local = Eigen::Matrix<double, D + body::kSpins<D>, 1>;  // impulse and moment at a contact
  /// Numbers of a Local that are bounded by `most` times the first.
  struct Part {
    Eigen::Index at;
    Eigen::Index size;
    double most;
  };
  /// A sum of shares that must not become less.
  using Floor = std::vector<std::pair<Eigen::Index, double>>;

  double rows() const {
    return static_cast<double>(bodies_.size()) + static_cast<double>(floors_.size());
  }
  bool is_in(const std::vector<int>& list, int body) const {
    return std::find(list.begin(), list.end(), body) != list.end();
  }
  const body::Motion<D>& motion(int body) const { return step_.bodies[index(body)]; }

  /// Momenta, and floors with what each is left by: columns of shares, then of these.
  Eigen::MatrixXd equations() const {
    const auto floors = static_cast<Eigen::Index>(floors_.size());
    const Eigen::Index high = bodies_.size();
    Eigen::MatrixXd all = Eigen::MatrixXd::Zero(high + floors, given_.count() + floors);
    for (Eigen::Index k = 0; k < given_.count(); ++k) {
      all.col(k).head(high) = given_.all[static_cast<std::size_t>(k)];
    }
    for (Eigen::Index k = 0; k < floors; ++k) {
      for (const auto& [share, times] : floors_[static_cast<std::size_t>(k)]) {
        all(high + k, share) = times;
      }
      all(high + k, given_.count() + k) = -1.0;
    }
    return all;
  }

  /// Columns whose share may be other than 0 where those of floors must not be negative. Where they
  /// may be positive together, any small change of the others is made up for by more of these.
  std::vector<Eigen::Index> columns_that_may_go(const Eigen::MatrixXd& all) const {
    std::vector<Eigen::Index> free(static_cast<std::size_t>(given_.count()));
    for (std::size_t k = 0; k < free.size(); ++k) free[k] = static_cast<Eigen::Index>(k);
    std::vector<Eigen::Index> left;
    for (Eigen::Index k = given_.count(); k < all.cols(); ++k) left.push_back(k);
    if (left.empty()) return free;
    const ReachOfColumns reach(columns_at(all, free));
    Eigen::MatrixXd beyond = all;
    for (const Eigen::Index k : left) beyond.col(k) = reach.outside(all.col(k));
    for (;;) {
      std::erase_if(left, [&](Eigen::Index k) {
        const bool goes = beyond.col(k).norm() <= kSharesOff;
        if (goes) free.push_back(k);
        return goes;
      });
      if (left.empty()) return free;
      const Eigen::MatrixXd some = columns_at(beyond, left).colwise().normalized();
      std::vector<Eigen::Index> go = IdleShares(some).find();
      if (go.empty()) return free;
      for (Eigen::Index& k : go) k = left[static_cast<std::size_t>(k)];
      const ReachOfColumns those(columns_at(beyond, go));
      for (const Eigen::Index k : left) beyond.col(k) = those.outside(beyond.col(k));
      for (const Eigen::Index k : go) beyond.col(k).setZero();
    }
  }

  /// The impulse that was added last, along a direction on b less that on a, to watches.
  void tell(int a, int b, int joint, const body::Vec<D>& on_b) {
    for (const scene::Watch& watch : part_.watches) {
      double times = 0.0;
      if (watch.kind == scene::Watch::Kind::ForceOn) {
        times = (is_in(watch.bodies, b) ? 1.0 : 0.0) - (is_in(watch.bodies, a) ? 1.0 : 0.0);
      }
      if (watch.kind == scene::Watch::Kind::Joint && watch.joint == joint) times = 1.0;
      for (int k = 0; k < D && times != 0.0; ++k) {
        std::vector<double>& to = to_watches_[index(watch.column + k)];
        to.resize(given_.all.size(), 0.0);
        to.back() += times * on_b[k];
      }
    }
  }

  /// Speeds that count as none: of what a step gains, of rounding, and of what bounded steps leave.
  double least_speed(int a, int b) const {
    constexpr double kOfStep = 1e-6;
    constexpr double kOfBounded = 0.02;
    constexpr double kOfSpeed = 1e-8;
    constexpr double kOfPlace = 64.0 * std::numeric_limits<double>::epsilon();
    const double gained = h_ * world_.gravity(step_.t).norm();
    double least = (step_.is_bounded ? kOfBounded : kOfStep) * gained;
    for (const int i : {a, b}) {
      const double speed = body::speed_bound(world_.body(i), motion(i));
      if (std::isfinite(speed)) least += kOfSpeed * speed;
      if (world_.body(i).is_free()) {
        least += kOfPlace * (motion(i).x.norm() + world_.body(i).reach) / h_;
      }
    }
    return least;
  }

  /// Impulse, moment as one of that arm, and the velocities that they resist.
  void read(const body::Row<D>& row, const body::Push<D>& push, double arm, Local& did,
            Local& rate) const {
    const body::Motion<D>& a = motion(row.body_a);
    const body::Motion<D>& b = motion(row.body_b);
    did.template head<D>() = push.impulse;
    rate.template head<D>() = body::relative(row, a, b);
    if constexpr (D == 2) {
      did[2] = push.moment / arm;
      rate[2] = arm * (a.spin - b.spin);
    } else {
      did.template tail<3>() = push.moment / arm;
      rate.template tail<3>() = arm * body::in_frame(row, body::Vec<3>(a.spin - b.spin));
    }
  }

  static std::vector<Part> parts_of(const body::PairLaw& law, double arm) {
    if (D == 2) return {{1, 1, law.friction}, {2, 1, law.rolling / arm}};
    return {{1, 2, law.friction}, {3, 1, law.spinning / arm}, {4, 2, law.rolling / arm}};
  }

  double arm_of(const body::Row<D>& row) const {
    double arm = std::numeric_limits<double>::infinity();
    for (const int i : {row.body_a, row.body_b}) {
      if (world_.body(i).is_free()) arm = std::min(arm, bodies_.length_of(i));
    }
    return std::isfinite(arm) ? arm : 1.0;
  }

  /// What slips goes with the normal impulse, what sticks as it likes within its bound; a contact
  /// that touches and does not push may begin to.
  void add(const body::Row<D>& row, const body::Push<D>& push) {
    constexpr double kNothing = 1e-9;
    const double arm = arm_of(row);
    const double least = least_speed(row.body_a, row.body_b);
    Local did;
    Local rate;
    read(row, push, arm, did, rate);
    const bool pushes = did[0] > kNothing * most_;
    if (!pushes && std::abs(rate[0]) > least) return;
    Local along = Local::Unit(0);
    std::vector<std::pair<Part, Hold>> held;
    for (const Part& one : parts_of(world_.law_between(row.body_a, row.body_b), arm)) {
      if (!(one.most > 0.0)) continue;
      const Eigen::VectorXd force = did.segment(one.at, one.size);
      const Eigen::VectorXd slip = rate.segment(one.at, one.size);
      const bool is_inside = pushes && force.norm() < kInsideHold * one.most * did[0];
      const bool slips = !is_inside && slip.norm() > least;
      if (slips) {
        along.segment(one.at, one.size) = pushes ? Eigen::VectorXd(force / did[0])
                                                 : Eigen::VectorXd(-one.most * slip.normalized());
      } else {
        held.emplace_back(one, is_inside ? Hold::Inside : pushes ? Hold::Edge : Hold::Zero);
      }
    }
    const Eigen::Index normal = give(row, along, arm);
    if (!pushes) floors_.push_back({{normal, 1.0}});
    for (const auto& [one, hold] : held) {
      bound(normal, give(row, one, arm), one, hold, did.segment(one.at, one.size));
    }
  }

  /// The number of the column.
  Eigen::Index give(const body::Row<D>& row, const Local& local, double arm) {
    const body::Vec<D> along = body::in_space(row, body::Vec<D>(local.template head<D>()));
    body::Spin<D> moment;
    if constexpr (D == 2) moment = arm * local[2];
    if constexpr (D == 3)
      moment = arm * body::in_space(row, body::Vec<3>(local.template tail<3>()));
    Eigen::Ref<Eigen::VectorXd> column = given_.add();
    bodies_.add(row, along, column);
    bodies_.add(row.body_a, body::Vec<D>::Zero(), moment, 1.0, column);
    bodies_.add(row.body_b, body::Vec<D>::Zero(), moment, -1.0, column);
    tell(row.body_a, row.body_b, -1, -along);
    return given_.count() - 1;
  }
  Eigen::Index give(const body::Row<D>& row, const Part& part, double arm) {
    const Eigen::Index first = given_.count();
    for (Eigen::Index k = 0; k < part.size; ++k) give(row, Local::Unit(part.at + k), arm);
    return first;
  }

  /// What sticks at its bound, or at 0 within a cone that has flat sides about it.
  void bound(Eigen::Index normal, Eigen::Index first, const Part& part, Hold hold,
             const Eigen::VectorXd& force) {
    const auto add_floor = [&](const Eigen::VectorXd& against) {
      Floor floor{{normal, part.most}};
      for (Eigen::Index k = 0; k < part.size; ++k) floor.emplace_back(first + k, -against[k]);
      floors_.push_back(floor);
    };
    if (hold == Hold::Edge) add_floor(force.normalized());
    if (hold != Hold::Zero) return;
    const int sides = part.size == 1 ? 2 : 16;
    for (int k = 0; k < sides; ++k) {
      const double angle = 2.0 * std::numbers::pi * k / sides;
      Eigen::VectorXd against(part.size);
      against[0] = std::cos(angle);
      if (part.size == 2) against[1] = std::sin(angle);
      add_floor(against);
    }
  }

  void add(std::size_t j) {
    const body::Joint<D>& joint = world_.joints[j];
    for (const int i : {joint.a, joint.b}) {
      if (world_.body(i).born > step_.t || step_.gone[index(i)] != 0) return;
    }
    const body::JointRows<D> rows = body::rows_of(joint, motion(joint.a), motion(joint.b));
    const auto take = [&](const body::JointRow<D>& row, double sign) {
      Eigen::Ref<Eigen::VectorXd> column = given_.add();
      bodies_.add(joint.b, row.along, row.turn_b, sign, column);
      bodies_.add(joint.a, row.along, row.turn_a, -sign, column);
      tell(joint.a, joint.b, static_cast<int>(j), sign * row.along);
    };
    for (int k = 0; k < joint.rows(); ++k) take(rows.held[index(k)], 1.0);
    const auto [up, down] = free_ways(joint, rows.free, step_.reactions[j]);
    if (!up && !down) return;
    take(rows.free, up ? 1.0 : -1.0);
    if (up != down) floors_.push_back({{given_.count() - 1, 1.0}});
  }

  /// Whether limits, friction and motor may give more along the coordinate, and less.
  std::pair<bool, bool> free_ways(const body::Joint<D>& joint, const body::JointRow<D>& free,
                                  const body::Reaction<D>& did) const {
    constexpr double kNear = 2.0;  // slacks
    const double unit = free.along.isZero() && joint.size > 0.0 ? joint.size : 1.0;
    const double least = least_speed(joint.a, joint.b) / unit;
    const double rate = body::rate_of(free, motion(joint.a), motion(joint.b));
    bool up = did.low > 0.0 || did.high > 0.0;
    bool down = up;
    for (const bool is_low : {true, false}) {
      if (!joint.has_limits || std::abs(rate) > least) continue;
      const body::JointRow<D> limit = body::limit_of(joint, free, is_low);
      if (std::abs(limit.gap) > kNear * body::limit_slack(limit)) continue;
      (is_low ? up : down) = true;
    }
    const auto look = [&](double force, double most, double aim) {
      if (!(most > 0.0)) return;
      const bool is_inside = std::abs(force) < kInsideHold * most;
      if (!is_inside && std::abs(rate - aim) > least) return;
      up = up || is_inside || force < 0.0;
      down = down || is_inside || force > 0.0;
    };
    look(did.friction, h_ * joint.friction, 0.0);
    look(did.motor, h_ * joint.motor_most, joint.motor_speed);
    return {up, down};
  }

  const scene::WorldPart& part_;
  const body::World<D>& world_;
  const SharedStep<D>& step_;
  double h_;
  FreeBodies<D> bodies_;
  double most_{0.0};                             // the largest impulse of a contact
  ImpulseColumns given_;                         // to the momentum of bodies, by impulse
  std::vector<std::vector<double>> to_watches_;  // by number of the watches, then by impulse
  std::vector<Floor> floors_;
};

/// All watches where those of forces are `values`: formulas may be of the ones before them.
template <int D>
std::vector<double> with_formulas(const scene::WorldPart& part, const body::WorldState<D>& state,
                                  std::vector<double> values) {
  for (const scene::Watch& watch : part.watches) {
    if (watch.kind != scene::Watch::Kind::Formula) continue;
    values[index(watch.column)] = ProbeReader(watch.formula)(state, values);
  }
  return values;
}

/// Formulas that a way which is open changes by more than rounding of what they are made of.
template <int D>
void add_formulas_left_open(const scene::WorldPart& part, const body::WorldState<D>& state,
                            const std::vector<double>& values, const std::vector<double>& way,
                            std::vector<char>& open) {
  double size = 0.0;
  double most = 0.0;
  for (std::size_t k = 0; k < way.size(); ++k) {
    size = std::max(size, std::abs(way[k]));
    if (way[k] != 0.0 && std::isfinite(values[k])) most = std::max(most, std::abs(values[k]));
  }
  if (size == 0.0) return;
  const double times = (most > 0.0 ? most : 1.0) / size;
  const std::vector<double> now = with_formulas(part, state, values);
  std::vector<double> all = values;
  std::vector<double> apart(values.size(), 0.0);  // sums over ones that change alone
  for (std::size_t k = 0; k < way.size(); ++k) {
    if (way[k] == 0.0) continue;
    all[k] += times * way[k];
    std::vector<double> alone = values;
    alone[k] = all[k];
    alone = with_formulas(part, state, alone);
    for (std::size_t i = 0; i < alone.size(); ++i) apart[i] += std::abs(alone[i] - now[i]);
  }
  all = with_formulas(part, state, all);
  for (const scene::Watch& watch : part.watches) {
    const std::size_t i = index(watch.column);
    if (watch.kind != scene::Watch::Kind::Formula) continue;
    if (std::abs(all[i] - now[i]) > kSharesOff * apart[i]) open[i] = 1;
  }
}

}  // namespace

template <int D>
SharedLoads<D>::SharedLoads(const scene::WorldPart& part, const body::World<D>& world, double h)
    : part_(part), world_(world), h_(h) {
  any_ = std::any_of(part.watches.begin(), part.watches.end(), [](const scene::Watch& watch) {
    return watch.kind == scene::Watch::Kind::ForceOn || watch.kind == scene::Watch::Kind::Joint;
  });
}

template <int D>
void SharedLoads<D>::add(const step::BodySample<D>& s) {
  if (!any_ || s.state.steps == 0) return;
  read(s);
  const auto same = std::find_if(kept_.begin(), kept_.end(), [&](const SharedStep<D>& one) {
    return one.pattern == next_.pattern;
  });
  if (same != kept_.end()) {
    std::swap(*same, next_);
  } else if (kept_.size() < kMostKept) {
    kept_.push_back(next_);
  } else {
    std::swap(next_, *std::min_element(kept_.begin(), kept_.end(),
                                       [](const auto& a, const auto& b) { return a.t < b.t; }));
  }
}

/// Rows that touch, with what they did; and who pushes, sticks and slips as a pattern.
template <int D>
void SharedLoads<D>::read(const step::BodySample<D>& s) {
  next_.t = s.state.t;
  next_.bodies = s.state.bodies;
  next_.gone = s.state.gone;
  next_.reactions = s.claim.reactions;
  next_.is_bounded = s.claim.level == certify::Level::Bounded;
  next_.rows.clear();
  next_.pushes.clear();
  next_.pattern = 0;
  constexpr double kNear = 2.0;  // slacks: what is pressed to the other side leaves as much
  const auto mix = [&](std::uint64_t what) {
    next_.pattern = base::Random(next_.pattern ^ what).bits();
  };
  const std::vector<body::Push<D>>& pushes = s.claim.pushes;
  for (const std::vector<body::Row<D>>* rows : {&s.rows, &s.asleep}) {
    for (const body::Row<D>& row : *rows) {
      const auto push =
          std::lower_bound(pushes.begin(), pushes.end(), row.key,
                           [](const auto& one, const auto& key) { return one.key < key; });
      const bool pushes_too = push != pushes.end() && push->key == row.key;
      if (!pushes_too && row.gap > kNear * row.slack) continue;
      next_.rows.push_back(row);
      next_.pushes.push_back(pushes_too ? *push : body::Push<D>{row.key});
      const body::Vec<D>& p = next_.pushes.back().impulse;
      const double most = kInsideHold * world_.law_between(row.body_a, row.body_b).friction * p[0];
      const bool is_inside = p.template tail<D - 1>().norm() < most;
      mix(static_cast<std::uint64_t>(row.key.a));
      mix(static_cast<std::uint64_t>(row.key.b));
      mix(row.key.feature);
      mix(is_inside ? 2 : pushes_too ? 1 : 0);
    }
  }
  for (const body::Reaction<D>& one : next_.reactions) {
    mix((one.low > 0.0 ? 1U : 0U) + (one.high > 0.0 ? 2U : 0U));
  }
}

template <int D>
std::vector<char> SharedLoads<D>::left_open(double from, const body::WorldState<D>& end,
                                            const std::vector<double>& values) const {
  constexpr double kMostWork = 1e8;  // rows cubed, or the last step alone
  std::vector<char> open(values.size(), 0);
  std::vector<const SharedStep<D>*> steps;
  for (const SharedStep<D>& one : kept_) {
    if (one.t > from) steps.push_back(&one);
  }
  std::sort(steps.begin(), steps.end(), [](const auto* a, const auto* b) { return a->t > b->t; });
  double work = 0.0;
  for (const SharedStep<D>* one : steps) {
    const Shares<D> shares(part_, world_, *one, h_);
    if (work > 0.0 && work + shares.work() > kMostWork) continue;
    work += shares.work();
    std::vector<std::vector<double>> trials(2);
    const std::vector<char> found = shares.find(trials);
    for (std::size_t k = 0; k < open.size(); ++k) open[k] |= found[k];
    for (const std::vector<double>& way : trials) {
      add_formulas_left_open(part_, end, values, way, open);
    }
  }
  return open;
}

template std::vector<body::Motion<2>> shifts_to_touch(const body::World<2>&,
                                                      const body::WorldState<2>&);
template std::vector<body::Motion<3>> shifts_to_touch(const body::World<3>&,
                                                      const body::WorldState<3>&);
template class SharedLoads<2>;
template class SharedLoads<3>;

}  // namespace ricochet::study
