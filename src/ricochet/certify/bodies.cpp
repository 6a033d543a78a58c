#include "ricochet/certify/bodies.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ricochet/base/index.h"
#include "ricochet/body/rows.h"
#include "ricochet/convex/dense.h"
#include "ricochet/shape/gaps.h"

namespace ricochet::certify {
namespace {

using base::index;
using body::Kind;
using body::Vec;

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr std::size_t kInPiece = 1024;  // bodies, pairs or rows that one thread looks at
constexpr double kClear = 0.01;       // of the smaller shape: farther apart than curvature explains
constexpr double kTight = 1e-6;       // residual of Level::Tight
constexpr double kTightSpeed = 1e-8;  // and its speeds, of free velocities

// What a body does: it moves; rests by steps that are tight; rests, or has begun to move, by one
// that is bounded.
constexpr char kMoves = 0;
constexpr char kRests = 1;
constexpr char kDoubtful = 2;

// A row that looks ahead: it acts, may wait until it touches, or waits.
constexpr char kActs = 0;
constexpr char kMay = 1;
constexpr char kWaits = 2;
constexpr double kSameTime = 2e-3;  // of a step: what counts as the same instant

/// The judge's own projection on { |r_T| <= mu r_N }.
template <int D>
Vec<D> nearest_in_cone(double mu, const Vec<D>& z) {
  const double slip = z.template tail<D - 1>().norm();
  if (z[0] >= 0.0 && slip <= mu * z[0]) return z;
  if (mu * slip <= -z[0]) return Vec<D>::Zero();
  const double n = (z[0] + mu * slip) / (1.0 + mu * mu);
  Vec<D> p;
  p[0] = n;
  if (slip > 0.0) {
    p.template tail<D - 1>() = (mu * n / slip) * z.template tail<D - 1>();
  } else {
    p.template tail<D - 1>().setZero();
  }
  return p;
}

bool finite(const body::Motion<2>& m) {
  return m.x.allFinite() && std::isfinite(m.angle) && m.v.allFinite() && std::isfinite(m.spin);
}
bool finite(const body::Motion<3>& m) {
  const double sum = m.x.sum() + m.turn.coeffs().sum() + m.v.sum() + m.spin.sum();
  if (std::isfinite(sum)) return true;
  return m.x.allFinite() && m.turn.coeffs().allFinite() && m.v.allFinite() && m.spin.allFinite();
}

using Mat3 = shape::Mat<3>;

/// The judge's own rotations are matrices: by |a| about a, as Rodrigues wrote it,
/// 1 + sin|a|/|a| [a] + (1 - cos|a|)/|a|^2 [a]^2; where |a| is small by series, to rounding.
Mat3 rotation_by(const Vec<3>& a) {
  constexpr double kSmall = 1e-2;  // |a|^2; the next terms are below 3e-18
  const double s = a.squaredNorm();
  double one = 1.0 - s / 6.0 * (1.0 - s / 20.0 * (1.0 - s / 42.0 * (1.0 - s / 72.0)));
  double two = 0.5 - s / 24.0 * (1.0 - s / 30.0 * (1.0 - s / 56.0 * (1.0 - s / 90.0)));
  if (s > kSmall) {
    const double angle = std::sqrt(s);
    const double half = std::sin(0.5 * angle);
    one = std::sin(angle) / angle;
    two = 2.0 * half * half / s;
  }
  Mat3 cross;
  cross << 0.0, -a[2], a[1], a[2], 0.0, -a[0], -a[1], a[0], 0.0;
  Mat3 made = one * cross + two * a * a.transpose();
  made.diagonal().array() += 1.0 - two * s;
  return made;
}
Mat3 matrix_of(const body::Motion<3>& m) { return m.turn.toRotationMatrix(); }

void turn(body::Motion<2>& m, double by) { m.angle += by; }
void turn(body::Motion<3>& m, const Vec<3>& by) {
  if (by != Vec<3>::Zero()) {
    m.turn = Eigen::Quaterniond(rotation_by(by) * matrix_of(m)).normalized();
  }
}

/// Rates in the frame of the body: of the state where it keeps them.
Vec<3> rates_of(const body::Body<3>& body, const body::Motion<3>& m) {
  return body.is_even ? Vec<3>(matrix_of(m).transpose() * m.spin) : m.rates;
}

/// Moment of momentum about the mass centre, in space.
double turning_momentum(const body::Body<2>& body, const body::Motion<2>& m) {
  return body.inertia * m.spin;
}
Vec<3> turning_momentum(const body::Body<3>& body, const body::Motion<3>& m) {
  if (body.is_even) return body.inertia(0, 0) * m.spin;
  return matrix_of(m) * (body.inertia * rates_of(body, m));
}
double energy_of(const body::Body<2>& body, const body::Motion<2>& m) {
  return 0.5 * body.inertia * m.spin * m.spin;
}
double energy_of(const body::Body<3>& body, const body::Motion<3>& m) {
  if (body.is_even) return 0.5 * body.inertia(0, 0) * m.spin.squaredNorm();
  const Vec<3> rates = rates_of(body, m);
  return 0.5 * rates.dot(body.inertia * rates);
}

/// The spin that a moment gives to a body at rest.
double spin_by(const body::Body<2>& body, const body::Motion<2>&, double moment) {
  return moment / body.inertia;
}
Vec<3> spin_by(const body::Body<3>& body, const body::Motion<3>& m, const Vec<3>& moment) {
  const Mat3 R = matrix_of(m);
  return R * convex::SmallCholesky<3>(body.inertia).solve(R.transpose() * moment);
}

/// Trace of what impulses at an arm do to its own velocity, without the part of the mass.
double turning_trace(const body::Body<2>& body, const body::Motion<2>&, const Vec<2>& arm) {
  return arm.squaredNorm() / body.inertia;
}
double turning_trace(const body::Body<3>& body, const body::Motion<3>& m, const Vec<3>& arm) {
  double trace = 0.0;
  for (int k = 0; k < 3; ++k) {
    const Vec<3> moment = arm.cross(Vec<3>::Unit(k));
    trace += moment.dot(spin_by(body, m, moment));
  }
  return trace;
}

/// Trace of what moments do to the spin.
double spin_trace(const body::Body<2>& body, const body::Motion<2>&) { return 1.0 / body.inertia; }
double spin_trace(const body::Body<3>& body, const body::Motion<3>& m) {
  double trace = 0.0;
  for (int k = 0; k < 3; ++k) trace += spin_by(body, m, Vec<3>::Unit(k))[k];
  return trace;
}

/// A spin or moment: its part along the tangents and its part about the normal; in the plane all
/// of it is along the tangents, as that of what rolls in space.
struct Parted {
  Vec<3> rolls = Vec<3>::Zero();
  double about{0.0};
};
Parted parted(const Vec<2>&, double spin) { return {Vec<3>(spin, 0.0, 0.0), 0.0}; }
Parted parted(const Vec<3>& normal, const Vec<3>& spin) {
  const double about = normal.dot(spin);
  return {spin - about * normal, about};
}

/// How far a moment is from the law of maximal dissipation, m = P(m - rho w), P on |m| <= most.
double distance_from_law(const Vec<3>& m, const Vec<3>& w, double rho, double most) {
  const Vec<3> z = m - rho * w;
  const double size = z.norm();
  return (m - (size > most ? Vec<3>(most / size * z) : z)).norm();
}

double moment_on_a(const body::Row<2>&, double moment) { return moment; }
Vec<3> moment_on_a(const body::Row<3>& row, const Vec<3>& moment) {
  return body::in_space(row, moment);
}
double square_of(double spin) { return spin * spin; }
double square_of(const Vec<3>& spin) { return spin.squaredNorm(); }
double power_of(double moment, double spin) { return moment * spin; }
double power_of(const Vec<3>& moment, const Vec<3>& spin) { return moment.dot(spin); }

/// Rates of a body in its own frame, and their mean.
struct Turn {
  Mat3 from;
  Vec<3> before;
  Vec<3> after;
  Vec<3> mean;
};
Turn turn_of(const body::Body<3>& body, const body::Motion<3>& from, const body::Motion<3>& to) {
  Turn turn{matrix_of(from), rates_of(body, from), rates_of(body, to), {}};
  turn.mean = 0.5 * (turn.before + turn.after);
  return turn;
}

/// Spins of rows before and after: in the plane those of the states, in space R̄Ω and R̄Ω⁺,
/// R̄ = R exp(½hΩ̄); where all moments of inertia are equal those of the states.
template <int D>
void set_spins(const body::Body<D>& body, const body::Motion<D>& from, const body::Motion<D>& to,
               [[maybe_unused]] double h, body::Motion<D>& before, body::Motion<D>& after) {
  before.spin = from.spin;
  after.spin = to.spin;
  if constexpr (D == 3) {
    if (body.is_even) return;
    const Turn turn = turn_of(body, from, to);
    const Mat3 middle = turn.from * rotation_by(0.5 * h * turn.mean);
    before.spin = middle * turn.before;
    after.spin = middle * turn.after;
  }
}

/// That a state says of its spin the same in both frames.
bool spins_agree(const body::Body<2>&, const body::Motion<2>&) { return true; }
bool spins_agree(const body::Body<3>& body, const body::Motion<3>& m) {
  if (body.is_even) return true;  // it has one spin only
  return (matrix_of(m) * rates_of(body, m) - m.spin).norm() <= 32.0 * kEpsilon * m.spin.norm();
}
double angle_size(const body::Motion<2>& m) { return std::abs(m.angle); }
double angle_size(const body::Motion<3>&) { return 8.0; }  // of matrices made in two ways

/// How far a rotation is from where it should be: where it began, for a body that is not free.
double angle_off(const body::Motion<2>& is, double wanted) { return std::abs(is.angle - wanted); }
double angle_off(const body::Motion<3>& is, const Mat3& wanted) {
  return std::max(std::abs(is.turn.norm() - 1.0), (matrix_of(is) - wanted).norm());
}
double angle_of(const body::Motion<2>& m) { return m.angle; }
Mat3 angle_of(const body::Motion<3>& m) { return matrix_of(m); }

/// How far a free body's rotation in space ends from R⁺ = R exp(½h(Ω + Ω⁺)).
double turn_off(const body::Body<3>& body, const body::Motion<3>& from, const body::Motion<3>& to,
                double h) {
  if (body.is_even) {
    const Vec<3> by = 0.5 * h * (from.spin + to.spin);
    return angle_off(to, rotation_by(by) * matrix_of(from));
  }
  const Turn turn = turn_of(body, from, to);
  return angle_off(to, turn.from * rotation_by(h * turn.mean));
}

/// Whether a body that does not spin ends as it was turned, a unit quaternion to rounding.
bool is_turned_alike(const body::Motion<3>& from, const body::Motion<3>& to) {
  return to.turn.coeffs() == from.turn.coeffs() &&
         std::abs(to.turn.squaredNorm() - 1.0) <= 8.0 * kEpsilon;
}

template <int D>
bool is_ball(const shape::Shape<D>& shape) {
  return shape.kind == shape::Kind::Core && shape.corners.size() == 1;
}

/// Corners without a radius have no rows where they are before no face: see shape.
template <int D>
bool is_sharp(const shape::Shape<D>& shape) {
  return shape.kind == shape::Kind::Core && !shape.faces.empty() && shape.round == 0.0;
}

/// The row of a key at these places, by the judge: the impulse acts in the middle of the gap, or at
/// the particle of the only body that is free.
template <int D>
body::Row<D> make_row(const body::World<D>& world, const body::RowKey& key, double gap,
                      const Vec<D>& normal, const Vec<D>& on_a, const Vec<D>& on_b,
                      const std::vector<body::Motion<D>>& at) {
  body::Row<D> row;
  row.key = key;
  row.body_a = world.solid(key.a).body;
  row.body_b = world.solid(key.b).body;
  row.gap = gap;
  row.normal = normal;
  Vec<D> point = 0.5 * (on_a + on_b);
  if (!world.body(row.body_b).is_free()) point = on_a;
  if (!world.body(row.body_a).is_free()) point = on_b;
  row.arm_a = point - at[index(row.body_a)].x;
  row.arm_b = point - at[index(row.body_b)].x;
  row.slack = body::slack_of(world.body(row.body_a), world.body(row.body_b), point);
  return row;
}

/// The parts (n, t) of vectors of space at a row, its frame made once.
struct Parts2 {
  const body::Row<2>& row;
  explicit Parts2(const body::Row<2>& of) : row(of) {}
  Vec<2> operator()(const Vec<2>& u) const { return body::in_frame(row, u); }
};
struct Parts3 {
  Mat3 back;
  explicit Parts3(const body::Row<3>& of) : back(body::frame_of(of).transpose()) {}
  Vec<3> operator()(const Vec<3>& u) const { return back * u; }
};
template <int D>
using Parts = std::conditional_t<D == 2, Parts2, Parts3>;

/// Whether a body is driven and has no end, as a half-space: where it turns, its particles are the
/// faster the farther away.
template <int D>
bool has_no_end(const body::Body<D>& body) {
  return body.kind == Kind::Driven && !std::isfinite(body.size);
}

/// The free body by which a row belongs to an island.
template <int D>
int hub_of(const body::World<D>& world, const body::Row<D>& row) {
  return world.body(row.body_a).is_free() ? row.body_a : row.body_b;
}

}  // namespace

std::string name_of(Level level) {
  constexpr std::array<const char*, 3> kNames = {"exact", "tight", "bounded"};
  return kNames[static_cast<std::size_t>(level)];
}

template <int D>
BodyJudge<D>::BodyJudge(const body::World<D>& world, const Limits& limits, const State& start)
    : world_(world),
      limits_(limits),
      coverage_(world),
      joints_(world),
      exists_(world.bodies.size(), 1),
      is_ready_(world.bodies.size(), 0),
      middle_(world.bodies.size()),
      after_(world.bodies.size()),
      from_(world.bodies.size()),
      shift_(world.bodies.size()),
      shift_rounding_(world.bodies.size()),
      poses_(world.bodies.size()),
      reach_(world.bodies.size(), 0.0),
      speed_(world.bodies.size(), 0.0),
      given_(world.bodies.size()),
      paces_(world.bodies.size()),
      parent_(world.bodies.size()),
      scale_(world.bodies.size()),
      rest_(world.bodies.size(), kMoves),
      creeps_(400, 0) {
  list_facts();
  for (std::size_t i = 0; i < rest_.size(); ++i) {
    if (body::speed_bound(world.bodies[i], start.bodies[i]) == 0.0) rest_[i] = kRests;
  }
  Ledger& ledger = c_.ledger;
  ledger.kinetic_start = ledger.kinetic_end = ledger.kinetic_max = kinetic(start);
  ledger.potential_start = ledger.potential_end = potential(start);
  ledger.lowest = ledger.highest = ledger.kinetic_start + ledger.potential_start;
}

template <int D>
void BodyJudge<D>::list_facts() {
  std::size_t end = 0;
  for (std::size_t i = 0; i < world_.bodies.size(); ++i) {
    const body::Body<D>& body = world_.bodies[i];
    Fact& fact = facts_.emplace_back();
    fact.born = body.born;
    fact.mass = body.mass;
    fact.reach = body.reach;
    fact.room = 1e-6 * (std::isfinite(body.size) ? body.size : 0.0);
    fact.kind = body.kind;
    fact.is_even = body.is_even;
    if constexpr (D == 2) fact.moment = body.inertia;
    if constexpr (D == 3) fact.moment = body.inertia(0, 0);
    fact.first = end;
    while (end < world_.solids.size() && index(world_.solids[end].body) == i) ++end;
    fact.end = end;
    if (!body.is_free() || fact.end - fact.first != 1) continue;
    const shape::Shape<D>& shape = world_.solids[fact.first].shape;
    fact.is_centred = shape.centre == body.centre && std::isfinite(shape.extent);
    const bool is_round =
        is_ball(shape) && shape.corners[0] == Vec<D>::Zero() && body.centre == Vec<D>::Zero();
    fact.turns = D == 2 || !is_round || !world_.joints.empty();
  }
  for (std::size_t i = 0; i < facts_.size(); ++i) {
    if (facts_[i].kind == Kind::Driven) alone_.push_back(i);
  }
  for (const body::PairLaw& law : world_.laws) {
    looks_ahead_ = looks_ahead_ && law.looks_ahead();
  }
  none_can_pass_ = looks_ahead_;
  int sharp = 0;
  for (const auto& solid : world_.solids) sharp += is_sharp(solid.shape) ? 1 : 0;
  none_can_pass_ = none_can_pass_ && sharp < 2;
  if (world_.mixes_restitution()) meets_.resize(world_.bodies.size());
}

/// work(k, piece) for all k, piece by piece; what pieces find does not depend on threads.
template <int D>
template <class Work>
void BodyJudge<D>::in_pieces(std::size_t count, const Work& work) {
  const base::Pieces range{count, kInPiece};
  const std::size_t needed = std::max<std::size_t>(1, range.count());
  if (all_pieces_.size() < needed) all_pieces_.resize(needed);
  pieces_ = std::span(all_pieces_).first(needed);
  base::each(executor_, pieces_.size(), [&](std::size_t p) {
    Piece& piece = pieces_[p];
    piece.fault = {};
    piece.sums = {};
    piece.balance = piece.deepest = 0.0;
    piece.pushes = 0;
    piece.has_ghosts = false;
    piece.rows.clear();
    piece.pairs.clear();
    piece.used = 0;
    for (std::size_t k = range.begin(p); k < range.end(p); ++k) work(k, piece);
  });
}

template <int D>
typename BodyJudge<D>::Fault BodyJudge<D>::first_fault() const {
  for (const Piece& piece : pieces_) {
    if (piece.fault.is_there()) return piece.fault;
  }
  return {};
}

template <int D>
double BodyJudge<D>::kinetic(const State& s) const {
  base::Sum sum;
  for (std::size_t i = 0; i < s.bodies.size(); ++i) {
    const body::Body<D>& body = world_.bodies[i];
    if (!body.is_free()) continue;
    sum.add(0.5 * body.mass * s.bodies[i].v.squaredNorm() + energy_of(body, s.bodies[i]));
  }
  return sum.value();
}

template <int D>
double BodyJudge<D>::potential(const State& s) const {
  if (!world_.gravity_is_constant) return 0.0;
  const Vec<D> g = world_.gravity(s.t);
  base::Sum sum;
  for (std::size_t i = 0; i < s.bodies.size(); ++i) {
    if (world_.bodies[i].is_free()) sum.add(-world_.bodies[i].mass * g.dot(s.bodies[i].x));
  }
  sum.add(joints_.springs(s.bodies, s.gone));
  return sum.value();
}

template <int D>
void BodyJudge<D>::fail(Failure failure, double t, double value) {
  if (c_.failure != Failure::None) return;
  c_.failure = failure;
  c_.failure_time = t;
  c_.failure_value = value;
}

template <int D>
void BodyJudge<D>::reconsider() {
  c_.failure = Failure::None;
  c_.failure_time = c_.failure_value = 0.0;
  told_.where.clear();
  told_.broken.clear();
}

template <int D>
bool BodyJudge<D>::fail_at(Failure failure, double t, double value, const body::Row<D>& row) {
  fail(failure, t, value);
  told_.where = fmt::format("between '{}' and '{}'", world_.body(row.body_a).name,
                            world_.body(row.body_b).name);
  return false;
}

template <int D>
bool BodyJudge<D>::fail_body(Failure failure, double t, double value, std::size_t body) {
  fail(failure, t, value);
  told_.where = fmt::format("of '{}'", world_.bodies[body].name);
  return false;
}

template <int D>
bool BodyJudge<D>::check_time(const State& before, const State& after, double h) {
  t_mid_ = before.t + 0.5 * h;
  gravity_ = world_.gravity(t_mid_);
  h_ = h;
  begin_ = &before;
  end_ = &after;
  if (std::abs(after.t - before.t - h) > 8.0 * kEpsilon * (std::abs(after.t) + h) + 1e-12 * h) {
    fail(Failure::Kinematics, t_mid_);
    return false;
  }
  return true;
}

/// That states are numbers; who is there, and how fast at the end. The balls of bodies, and all
/// else of those that are not one centred shape; where places were put back that comes after it.
template <int D>
bool BodyJudge<D>::look_at_states() {
  for (const int i : ready_) is_ready_[index(i)] = 0;
  ready_.clear();
  in_pieces(facts_.size(), [&](std::size_t i, Piece& piece) {
    if (!piece.fault.is_there()) piece.fault = look_at_state(i);
  });
  const Fault fault = first_fault();
  if (fault.is_there()) return fail_body(fault.failure, t_mid_, fault.value, fault.at);
  for (std::size_t i = 0; i < facts_.size(); ++i) {
    if (is_whole_) {
      make_middle(i);
    } else if (!facts_[i].is_centred) {
      make_ready(i);
      set_balls(i);
    }
  }
  return true;
}

template <int D>
typename BodyJudge<D>::Fault BodyJudge<D>::look_at_state(std::size_t i) {
  const Fact& fact = facts_[i];
  const body::Motion<D>& to = end_->bodies[i];
  const bool is_free = fact.kind == Kind::Free;
  if (!finite(to)) return {i, Failure::NotFinite};
  if (is_free && !fact.is_even && !spins_agree(world_.bodies[i], to)) {
    return {i, Failure::Kinematics};
  }
  exists_[i] = fact.born <= begin_->t + 1e-9 * h_ && begin_->gone[i] == 0 ? 1 : 0;
  speed_[i] = fact.kind == Kind::Fixed ? 0.0 : to.v.norm() + body::size_of(to.spin) * fact.reach;
  if (is_whole_) {
    shift_[i].setZero();
    shift_rounding_[i] = {};
  } else if (fact.is_centred) {
    const body::Motion<D>& from = begin_->bodies[i];
    const Vec<D> x = exists_[i] != 0 ? Vec<D>(from.x + 0.5 * h_ * from.v) : from.x;
    set_reach(i, x, speed_[i]);
    coverage_.set_ball(fact.first, x, reach_[i]);
  }
  return {};
}

/// x_M = x + h/2 v and its rotation; driven bodies where their formulas say.
template <int D>
void BodyJudge<D>::make_middle(std::size_t i) {
  const Fact& fact = facts_[i];
  const body::Motion<D>& start = begin_->bodies[i];
  middle_[i] = start;
  if (is_whole_) from_[i] = start;
  if (exists_[i] == 0 || fact.kind == Kind::Fixed) return;
  if (fact.kind == Kind::Driven) {
    body::drive(world_.bodies[i], t_mid_, -h_, middle_[i]);
  } else {
    middle_[i].x += 0.5 * h_ * start.v;
    if (fact.turns) turn(middle_[i], 0.5 * h_ * start.spin);
  }
}

/// How far rows of a body are looked for: farther than the law needs, as rows that push may miss it
/// by the residual.
template <int D>
void BodyJudge<D>::set_reach(std::size_t i, const Vec<D>& x, double speed) {
  if (!meets_.empty()) {  // those that it would meet are looked for too
    const double before = body::speed_bound(world_.bodies[i], begin_->bodies[i]);
    speed = std::max(speed, before + h_ * gravity_.norm());
  }
  reach_[i] = 1.001 * h_ * speed + 16.0 * kEpsilon * x.template lpNorm<1>() + facts_[i].room +
              depth_of(0.0, law_, h_, creep_limit_);
}

/// How fast a turning half-space is where free bodies may be in this step.
template <int D>
double BodyJudge<D>::endless_speed(std::size_t i, const body::Motion<D>& of) const {
  double away = 0.0;
  for (std::size_t j = 0; j < facts_.size(); ++j) {
    if (facts_[j].kind != Kind::Free || begin_->gone[j] != 0) continue;
    const body::Motion<D>& m = begin_->bodies[j];
    const double way = h_ * (m.v.norm() + end_->bodies[j].v.norm());
    away = std::max(away, (m.x - middle_[i].x).norm() + facts_[j].reach + way);
  }
  return body::size_of(of.spin) * away;
}

template <int D>
void BodyJudge<D>::set_balls(std::size_t i) {
  double speed = body::speed_bound(world_.bodies[i], after_[i]);
  if (has_no_end(world_.bodies[i])) speed += endless_speed(i, after_[i]);
  set_reach(i, middle_[i].x, speed);
  for (std::size_t k = facts_[i].first; k < facts_[i].end; ++k) {
    coverage_.set_ball(k, poses_[i].place(world_.solids[k].shape.centre), reach_[i]);
  }
}

/// A body at the middle with its velocities before and after, and its pose there.
template <int D>
void BodyJudge<D>::make_ready(std::size_t i) {
  if (is_ready_[i] != 0) return;
  is_ready_[i] = 1;
  ready_.push_back(static_cast<int>(i));
  fill_ready(i);
}

/// Bodies of all pairs. Driven ones are ready before: formulas are asked by one thread.
template <int D>
void BodyJudge<D>::make_pairs_ready(const std::vector<std::pair<int, int>>& pairs) {
  const std::size_t before = ready_.size();
  for (const auto& [a, b] : pairs) {
    for (const int i : {world_.solid(a).body, world_.solid(b).body}) {
      if (is_ready_[index(i)] != 0) continue;
      is_ready_[index(i)] = 1;
      ready_.push_back(i);
    }
  }
  in_pieces(ready_.size() - before,
            [&](std::size_t k, Piece&) { fill_ready(index(ready_[before + k])); });
}

template <int D>
void BodyJudge<D>::fill_ready(std::size_t i) {
  given_[i] = {};
  if (!is_whole_) make_middle(i);
  const body::Body<D>& body = world_.bodies[i];
  after_[i] = middle_[i];
  if (exists_[i] != 0 && body.kind == Kind::Driven) {
    body::drive(body, t_mid_, h_, after_[i]);
  } else {
    after_[i].v = end_->bodies[i].v;
    set_spins(body, from(i), end_->bodies[i], h_, middle_[i], after_[i]);
  }
  poses_[i] = body::pose_of(body, middle_[i]);
  paces_[i] = {body::speed_bound(body, middle_[i]) + body::speed_bound(body, after_[i]),
               middle_[i].x.norm()};
}

template <int D>
void BodyJudge<D>::make_all_ready() {
  for (std::size_t i = 0; i < facts_.size(); ++i) {
    make_ready(i);
    set_balls(i);
  }
}

template <int D>
void BodyJudge<D>::place(const std::vector<body::Motion<D>>& at) {
  for (std::size_t i = 0; i < at.size(); ++i) poses_[i] = body::pose_of(world_.bodies[i], at[i]);
}

/// The part of joints in a round, which they may need by themselves.
template <int D>
bool BodyJudge<D>::replay_joints(const std::vector<body::Reaction<D>>& weights, double t,
                                 bool& is_needed, std::vector<body::Motion<D>>& moved) {
  joints_.look(middle_, exists_);
  is_needed = is_needed || joints_.is_off(0.5);
  if (!is_needed || !joints_.add_shifts(weights, middle_, moved)) {
    fail(Failure::Correction, t, 0.0);
    return false;
  }
  joints_.each_impulse(weights, [&](int i, const Vec<D>&, const body::Spin<D>&, double size,
                                    double lever) {
    if (!world_.body(i).is_free()) return;
    shift_rounding_[index(i)][0] += 32.0 * kEpsilon * size / world_.body(i).mass;
    shift_rounding_[index(i)][1] += 32.0 * kEpsilon * lever / body::size_of_inertia(world_.body(i));
  });
  return true;
}

/// One round: places move by M^-1 J^T w, w >= 0, and no pair is pushed farther than it must be.
template <int D>
bool BodyJudge<D>::replay_round(const std::vector<body::Push<D>>& round,
                                const std::vector<body::Reaction<D>>* joints, double t) {
  place(middle_);
  std::vector<body::Row<D>>& rows = put_rows_;
  std::vector<body::Motion<D>>& moved = moved_;
  rows.clear();
  moved.assign(middle_.size(), {});
  double deepest = 0.0;
  for (const body::Push<D>& push : round) {
    Vec<D> normal;
    Vec<D> on_a;
    Vec<D> on_b;
    const auto& a = world_.solid(push.key.a);
    const auto& b = world_.solid(push.key.b);
    const double gap = shape::gap_of(a.shape, poses_[index(a.body)], b.shape, poses_[index(b.body)],
                                     push.key.feature, &normal, &on_a, &on_b);
    rows.push_back(make_row(world_, push.key, gap, normal, on_a, on_b, middle_));
    const body::Row<D>& row = rows.back();
    if (!(push.impulse[0] >= 0.0) || !std::isfinite(gap)) {
      return fail_at(Failure::Correction, t, push.impulse[0], row);
    }
    deepest = std::max(deepest, -gap - depth_of(row.slack, law_, h_, creep_limit_));
    const Vec<D> p = row.normal * push.impulse[0];
    for (const bool of_a : {true, false}) {
      const int i = of_a ? row.body_a : row.body_b;
      const body::Body<D>& body = world_.body(i);
      if (!body.is_free()) continue;
      const double sign = of_a ? 1.0 : -1.0;
      const body::Spin<D> moment = sign * body::moment(of_a ? row.arm_a : row.arm_b, p);
      moved[index(i)].v += sign * p / body.mass;
      moved[index(i)].spin += spin_by(body, middle_[index(i)], moment);
    }
  }
  bool is_needed = deepest > -1e-15 && !rows.empty();
  if (joints != nullptr && !replay_joints(*joints, t, is_needed, moved)) return false;
  if (joints != nullptr && !joints_.ends_at_limits(*joints, moved)) {
    fail(Failure::Correction, t, 0.0);
    return false;
  }
  if (!is_needed && !rows.empty()) {
    return fail_at(Failure::Correction, t, deepest, rows[0]);
  }
  for (std::size_t k = 0; k < rows.size(); ++k) {  // who pushes ends at -slack/2, not beyond
    const body::Row<D>& row = rows[k];
    const double end =
        row.gap + body::relative(row, moved[index(row.body_a)], moved[index(row.body_b)])[0];
    const double way = std::max(std::abs(row.gap), deepest);
    const double room = 0.5 * depth_of(row.slack, law_, h_, creep_limit_);
    if (end > room + 1e-6 * way) return fail_at(Failure::Correction, t, end, row);
  }
  shift_bodies();
  return true;
}

/// Bodies go where a round of the projection puts them; their rates in their own frames stay.
template <int D>
void BodyJudge<D>::shift_bodies() {
  for (std::size_t i = 0; i < moved_.size(); ++i) {
    shift_[i] += moved_[i].v;
    middle_[i].x += moved_[i].v;
    turn(middle_[i], moved_[i].spin);
    if constexpr (D == 3) {
      turn(from_[i], moved_[i].spin);
      from_[i].spin = rotation_by(moved_[i].spin) * from_[i].spin;
    }
  }
}

template <int D>
bool BodyJudge<D>::replay_shifts(const BodyClaim<D>& claim, double t) {
  put_.clear();
  joints_.forget_put();
  if (joints_.any() && claim.joint_shifts.size() != claim.shifts.size()) {
    fail(Failure::Correction, t, 0.0);
    return false;
  }
  for (std::size_t k = 0; k < claim.shifts.size(); ++k) {
    if (!replay_round(claim.shifts[k], joints_.any() ? &claim.joint_shifts[k] : nullptr, t)) {
      return false;
    }
    for (const body::Push<D>& push : claim.shifts[k]) {
      if (push.impulse[0] > 0.0) put_.push_back(push.key);
    }
  }
  std::sort(put_.begin(), put_.end());
  return claim.shifts.empty() || check_shifts(t);
}

/// That nobody who is put back has been born inside another.
template <int D>
bool BodyJudge<D>::check_births(const BodyClaim<D>& claim) {
  if (begin_->steps == 0 || claim.shifts.empty()) return true;  // scenes say what may overlap first
  const auto is_new = [&](int i) { return facts_[index(i)].born > begin_->t - (1.0 - 1e-9) * h_; };
  for (const body::Push<D>& push : claim.shifts[0]) {
    const auto& a = world_.solid(push.key.a);
    const auto& b = world_.solid(push.key.b);
    if (!is_new(a.body) && !is_new(b.body)) continue;
    const auto pose = [&](int i) {
      return body::pose_of(world_.body(i), begin_->bodies[index(i)]);
    };
    const double apart = shape::separation(a.shape, pose(a.body), b.shape, pose(b.body));
    const Vec<D>& where = begin_->bodies[index(a.body)].x;
    const double slack = body::slack_of(world_.body(a.body), world_.body(b.body), where);
    if (apart >= -2.0 * depth_of(slack, law_, h_, creep_limit_)) continue;
    body::Row<D> row;
    row.body_a = a.body;
    row.body_b = b.body;
    const bool of_a = is_new(a.body);
    fail_at(Failure::Overlap, begin_->t, -apart, row);
    told_.broken =
        fmt::format("'{}' is born {:.3g} inside '{}'", world_.body(of_a ? a.body : b.body).name,
                    -apart, world_.body(of_a ? b.body : a.body).name);
    return false;
  }
  return true;
}

/// Places are put back by what bodies may have moved beyond each other in a step, not by more: a
/// body between two that close has no place to go.
template <int D>
bool BodyJudge<D>::check_shifts(double t) {
  constexpr double kMost = 100.0;
  double fastest = h_ * gravity_.norm();
  for (std::size_t i = 0; i < middle_.size(); ++i) {
    if (exists_[i] == 0) continue;
    double speed = body::speed_bound(world_.bodies[i], middle_[i]);
    if (has_no_end(world_.bodies[i])) speed += endless_speed(i, middle_[i]);
    fastest = std::max(fastest, speed);
  }
  for (std::size_t i = 0; i < middle_.size(); ++i) {
    if (exists_[i] == 0 || !world_.bodies[i].is_free()) continue;
    const double room = kMost * h_ * (fastest + creep_limit_) +
                        1e-6 * (world_.bodies[i].reach + middle_[i].x.norm());
    const double way = shift_[i].norm();
    if (!(way <= room)) return fail_body(Failure::Correction, t, way, i);
  }
  return true;
}

/// How far two shapes overlap, by an independent measure, where that is more than the slack; else
/// 0.
template <int D>
double BodyJudge<D>::overlap_of(int a, int b) const {
  const auto& one = world_.solid(a);
  const auto& other = world_.solid(b);
  const shape::Pose<D>& at = poses_[index(one.body)];
  const shape::Pose<D>& other_at = poses_[index(other.body)];
  const bool are_balls = is_ball(one.shape) && is_ball(other.shape);
  const double apart =
      are_balls ? (at.place(one.shape.corners[0]) - other_at.place(other.shape.corners[0])).norm() -
                      one.shape.round - other.shape.round
                : shape::separation(one.shape, at, other.shape, other_at, 0.0);
  const Vec<D>& where =
      world_.body(one.body).is_free() ? middle_[index(one.body)].x : middle_[index(other.body)].x;
  const double slack = body::slack_of(world_.body(one.body), world_.body(other.body), where);
  return apart >= -2.0 * depth_of(slack, law_, h_, creep_limit_) ? 0.0 : -apart;
}

template <int D>
void BodyJudge<D>::look_at_pair(std::size_t pair, Piece& piece) {
  if (piece.fault.is_there()) return;
  const auto& [a, b] = coverage_.last()[pair];
  const double overlap = overlap_of(a, b);
  if (overlap != 0.0) {
    piece.fault = {pair, Failure::Overlap, overlap};
    return;
  }
  const auto& one = world_.solid(a);
  const auto& other = world_.solid(b);
  shape::gaps(one.shape, poses_[index(one.body)], other.shape, poses_[index(other.body)],
              reach_[index(one.body)] + reach_[index(other.body)], piece.rows);
  piece.pairs.resize(piece.rows.size(), pair);
}

/// Rows of a piece of all pairs, with what is claimed of them.
template <int D>
void BodyJudge<D>::make_rows(Piece& piece, const BodyClaim<D>& claim) {
  const auto is_before = [](const body::Push<D>& push, const body::RowKey& key) {
    return push.key < key;
  };
  auto push = claim.pushes.begin();
  for (std::size_t k = 0; k < piece.rows.size(); ++k) {
    const auto& [a, b] = coverage_.last()[piece.pairs[k]];
    const shape::Row<D>& row = piece.rows[k];
    Judged& judged = rows_[piece.first + k] = {};
    judged.row =
        make_row(world_, {a, b, row.feature}, row.gap, row.normal, row.on_a, row.on_b, middle_);
    judged.law = &world_.law_between(judged.row.body_a, judged.row.body_b);
    const body::RowKey& key = judged.row.key;
    if (k == 0) push = std::lower_bound(push, claim.pushes.end(), body::RowKey{a, b, 0}, is_before);
    while (push != claim.pushes.end() &&
           (push->key.a < a || (push->key.a == a && push->key.b < b))) {
      ++push;
    }
    auto found = push;  // features of a pair come in any order
    while (found != claim.pushes.end() && found->key < key) ++found;
    if (found == claim.pushes.end() || !(found->key == key)) continue;
    judged.impulse = found->impulse;
    judged.moment = moment_on_a(judged.row, found->moment);
    ++piece.used;
  }
}

/// All rows that could matter in this step, from the judge's own pairs, with what is claimed of
/// them. What nobody claims has no impulse, and its law is checked all the same.
template <int D>
bool BodyJudge<D>::find_rows(const BodyClaim<D>& claim) {
  if (is_whole_) make_all_ready();
  const auto& pairs = coverage_.meet(poses_, exists_, reach_);
  told_.pairs_checked = static_cast<long long>(pairs.size());
  make_pairs_ready(pairs);
  in_pieces(pairs.size(), [&](std::size_t k, Piece& piece) { look_at_pair(k, piece); });
  const Fault fault = first_fault();
  if (fault.is_there()) {
    body::Row<D> row;
    row.body_a = world_.solid(pairs[fault.at].first).body;
    row.body_b = world_.solid(pairs[fault.at].second).body;
    return fail_at(fault.failure, t_mid_, fault.value, row);
  }
  std::size_t count = 0;
  for (Piece& piece : pieces_) {
    piece.first = count;
    count += piece.rows.size();
  }
  rows_.resize(count);
  base::each(executor_, pieces_.size(), [&](std::size_t k) { make_rows(pieces_[k], claim); });
  std::size_t used = 0;
  for (const Piece& piece : pieces_) used += piece.used;
  if (used == claim.pushes.size()) return true;
  if (law_ != Level::Exact) return add_far_pushes(claim);
  fail(Failure::ActiveSet, t_mid_, static_cast<double>(claim.pushes.size() - used));
  return false;
}

/// Pushes of rows that the motion does not reach: below Level::Exact they are measured too.
template <int D>
bool BodyJudge<D>::add_far_pushes(const BodyClaim<D>& claim) {
  const std::size_t near = rows_.size();
  std::size_t k = 0;
  for (const body::Push<D>& push : claim.pushes) {
    while (k < near && rows_[k].row.key < push.key) ++k;
    if (k < near && rows_[k].row.key == push.key) continue;
    const auto& a = world_.solid(push.key.a);
    const auto& b = world_.solid(push.key.b);
    make_ready(index(a.body));
    make_ready(index(b.body));
    Vec<D> normal;
    Vec<D> on_a;
    Vec<D> on_b;
    const double gap = shape::gap_of(a.shape, poses_[index(a.body)], b.shape, poses_[index(b.body)],
                                     push.key.feature, &normal, &on_a, &on_b);
    Judged judged;
    judged.row = make_row(world_, push.key, gap, normal, on_a, on_b, middle_);
    judged.law = &world_.law_between(a.body, b.body);
    judged.impulse = push.impulse;
    judged.moment = moment_on_a(judged.row, push.moment);
    const bool exists = exists_[index(a.body)] != 0 && exists_[index(b.body)] != 0;
    if (!std::isfinite(gap) || !exists || !world_.may_touch(a.body, b.body)) {
      return fail_at(Failure::ActiveSet, t_mid_, gap, judged.row);
    }
    rows_.push_back(judged);
  }
  return true;
}

/// What a row that rolls on a half-space has at the end of the step, its gap at the next middle and
/// the velocity of its particle, less what is linear at this middle.
template <int D>
Vec<D> BodyJudge<D>::bend_of(const body::Row<D>& row, double h) const {
  Vec<D> bend = Vec<D>::Zero();
  if constexpr (D == 3) {
    const bool of_a = world_.body(row.body_a).is_free();
    const std::size_t i = index(of_a ? row.body_a : row.body_b);
    const body::Motion<D>& end = end_->bodies[i];
    const auto look = [&](const body::Motion<D>& there, Vec<D>& on) {
      Vec<D> normal;
      Vec<D> other;
      const shape::Pose<D> pose = body::pose_of(world_.bodies[i], there);
      return shape::gap_of(world_.solid(row.key.a).shape, of_a ? pose : poses_[index(row.body_a)],
                           world_.solid(row.key.b).shape, of_a ? poses_[index(row.body_b)] : pose,
                           row.key.feature, &normal, of_a ? &on : &other, of_a ? &other : &on);
    };
    Vec<D> particle;
    body::Motion<D> next = end;
    next.x += 0.5 * h * end.v;
    turn(next, 0.5 * h * end.spin);
    const double gap = look(next, particle);
    look(end, particle);
    const Vec<D> then = end.v + end.spin.cross(particle - end.x);
    const Vec<D> now = after_[i].v + after_[i].spin.cross(of_a ? row.arm_a : row.arm_b);
    const double sign = of_a ? 1.0 : -1.0;
    bend = sign * body::in_frame(row, Vec<D>(then - now));
    bend[0] = (gap - row.gap) / h - sign * row.normal.dot(now);
  }
  return bend;
}

/// û, rho and the distance from the law; |F| less what rounding of velocities and gaps makes of it.
template <int D>
void BodyJudge<D>::measure(Judged& one, double h) const {
  const body::Row<D>& row = one.row;
  const std::size_t a = index(row.body_a);
  const std::size_t b = index(row.body_b);
  const Parts<D> parts(row);
  one.before = parts(
      Vec<D>(body::velocity_at(middle_[a], row.arm_a) - body::velocity_at(middle_[b], row.arm_b)));
  one.after = parts(
      Vec<D>(body::velocity_at(after_[a], row.arm_a) - body::velocity_at(after_[b], row.arm_b)));
  Vec<D> forced = one.before;
  double trace = 0.0;
  const Vec<D> g = parts(Vec<D>(gravity_ * h));
  for (const bool of_a : {true, false}) {
    const std::size_t i = of_a ? a : b;
    const Fact& fact = facts_[i];
    if (fact.kind != Kind::Free) continue;
    const Vec<D>& arm = of_a ? row.arm_a : row.arm_b;
    trace +=
        D / fact.mass + (D == 3 && fact.is_even ? 2.0 * arm.squaredNorm() / fact.moment
                                                : turning_trace(world_.bodies[i], middle_[i], arm));
    forced += (of_a ? 1.0 : -1.0) * g;
  }
  one.rho = D / trace;
  const double mu = one.law->friction;
  const double shifted = one.law->looks_ahead()
                             ? way_of(row.gap, row.slack, law_, h, creep_limit_) / h
                             : one.law->returned(-one.before[0], g.norm()) * one.before[0];
  const auto lifted = [&](Vec<D> u) {
    u[0] += shifted + mu * u.template tail<D - 1>().norm();
    return u;
  };
  const bool rolls = one.law->looks_ahead() && world_.rolls(row.key);
  const Vec<D> ends = lifted(rolls ? Vec<D>(one.after + bend_of(row, h)) : one.after);
  const Vec<D> z = one.impulse - one.rho * ends;
  const double distance = (one.impulse - nearest_in_cone<D>(mu, z)).norm();
  const double place =
      8.0 * kEpsilon * (paces_[a].place + paces_[b].place + row.arm_a.norm() + row.arm_b.norm());
  double rounding = 32.0 * kEpsilon * (paces_[a].speeds + paces_[b].speeds);
  if (one.law->looks_ahead() && row.gap > -place) rounding += place / h;
  if (rolls) rounding += 4.0 * place / h;  // gaps of two places, turned
  one.defect = std::max(0.0, distance - one.rho * rounding);
  one.free = lifted(forced).norm();
  one.scale = std::max(one.impulse.norm(), one.rho * one.free);
  one.unresolved = one.defect * ends.norm() + one.impulse.norm() * one.defect / one.rho;
  one.off = one.defect;
  one.creep = one.defect / one.rho;
  if (one.law->resists_turning()) measure_turning(one);
}

/// The law of rolling friction: spins count as velocities L w of particles of the smaller free
/// body, L its reach, and moments as impulses m/L.
template <int D>
void BodyJudge<D>::measure_turning(Judged& one) const {
  const std::size_t a = index(one.row.body_a);
  const std::size_t b = index(one.row.body_b);
  double length = std::numeric_limits<double>::infinity();
  double trace = 0.0;
  for (const std::size_t i : {a, b}) {
    if (!world_.bodies[i].is_free()) continue;
    length = std::min(length, world_.bodies[i].reach);
    trace += spin_trace(world_.bodies[i], middle_[i]);
  }
  const double rho = body::kSpins<D> / (length * length * trace);
  const auto speed_of = [&](const std::vector<body::Motion<D>>& motions) {
    return length * (body::size_of(motions[a].spin) + body::size_of(motions[b].spin));
  };
  const Parted m = parted(one.row.normal, one.moment);
  const Parted w =
      parted(one.row.normal, body::Spin<D>(length * (after_[a].spin - after_[b].spin)));
  const Parted w_free =
      parted(one.row.normal, body::Spin<D>(length * (middle_[a].spin - middle_[b].spin)));
  const double rounding = 32.0 * kEpsilon * (speed_of(middle_) + speed_of(after_));
  const auto enter = [&](const Vec<3>& moment, const Vec<3>& speed, const Vec<3>& free,
                         double friction) {
    const double most = friction * one.impulse[0] / length;
    const double distance = distance_from_law(moment / length, speed, rho, most);
    const double defect = std::max(0.0, distance - rho * rounding);
    one.off = std::max(one.off, defect);
    one.creep = std::max(one.creep, defect / rho);
    one.scale = std::max({one.scale, moment.norm() / length, rho * free.norm()});
    one.free = std::hypot(one.free, free.norm());
    one.unresolved += defect * speed.norm() + moment.norm() / length * defect / rho;
  };
  const auto along = [](double about) { return Vec<3>(about, 0.0, 0.0); };
  const body::PairLaw& law = *one.law;
  if (law.rolling > 0.0) enter(m.rolls, w.rolls, w_free.rolls, law.rolling);
  if (law.spinning > 0.0) enter(along(m.about), along(w.about), along(w_free.about), law.spinning);
}

/// |p_T| <= mu p_N, 0 <= p_N.
template <int D>
typename BodyJudge<D>::Fault BodyJudge<D>::check_cone(const Judged& one) const {
  const double most = one.law->friction * one.impulse[0];
  const double slip = one.impulse.template tail<D - 1>().norm();
  const bool holds = !(one.impulse[0] < 0.0 || slip > most * (1.0 + 1e-12));
  return holds ? Fault{} : Fault{0, Failure::Residual, slip - most};
}

/// |m| <= rolling p_N along the tangents, spinning p_N about the normal: 0 where nothing is stated,
/// but for what rounding makes of a direction in space.
template <int D>
typename BodyJudge<D>::Fault BodyJudge<D>::check_turning(const Judged& one) const {
  const double size = body::size_of(one.moment);
  if (size == 0.0) return {};
  const Parted m = parted(one.row.normal, one.moment);
  const double rounding = D == 2 || !one.law->resists_turning() ? 0.0 : 16.0 * kEpsilon * size;
  const double most = one.law->rolling * one.impulse[0] * (1.0 + 1e-12);
  const double most_about = one.law->spinning * one.impulse[0] * (1.0 + 1e-12);
  const double beyond = std::max(m.rolls.norm() - most, std::abs(m.about) - most_about);
  return beyond <= rounding ? Fault{} : Fault{0, Failure::Residual, beyond};
}

/// Whether a row with e > 0 would not act.
template <int D>
bool BodyJudge<D>::is_open(const body::Row<D>& row) const {
  return row.gap > row.slack * (1.0 + 1e-6) &&
         !std::binary_search(put_.begin(), put_.end(), row.key);
}

/// When free bodies first meet a row with e > 0: of their own, and of the bodies that they touch or
/// are joined to, by root. Until then rows with e = 0 that would touch later do not act.
template <int D>
void BodyJudge<D>::find_meetings(double h) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  std::fill(meets_.begin(), meets_.end(), Meeting{kNever, kNever});
  for (std::size_t i = 0; i < parent_.size(); ++i) parent_[i] = static_cast<int>(i);
  const auto is_free = [&](int i) { return facts_[index(i)].kind == Kind::Free; };
  const auto tie = [&](int a, int b) {
    if (is_free(a) && is_free(b)) parent_[index(root(a))] = root(b);
  };
  for (const Judged& one : rows_) {
    if (!is_open(one.row)) tie(one.row.body_a, one.row.body_b);
  }
  for (const body::Joint<D>& joint : world_.joints) tie(joint.a, joint.b);
  const Vec<D> given = h * gravity_;
  for (const Judged& one : rows_) {
    if (one.law->looks_ahead() || !is_open(one.row)) continue;
    const double time = body::time_to_touch(world_, one.row, given, middle_);
    if (time > (1.0 + kSameTime) * h) continue;
    for (const int i : {one.row.body_a, one.row.body_b}) {
      if (!is_free(i)) continue;
      meets_[index(i)].own = std::min(meets_[index(i)].own, time);
      Meeting& group = meets_[index(root(i))];
      group.of_group = std::min(group.of_group, time);
    }
  }
}

/// Whether a row with e = 0 acts, waits until it touches, or where rounding decides may do either.
template <int D>
char BodyJudge<D>::waits(const body::Row<D>& row, double h) {
  const double time = body::time_to_touch(world_, row, Vec<D>(h * gravity_), middle_);
  char waits = kActs;
  for (const int i : {row.body_a, row.body_b}) {
    if (facts_[index(i)].kind != Kind::Free) continue;
    const double own = meets_[index(i)].own;
    const double group = meets_[index(root(i))].of_group;
    if (std::min(own, group) <= time + kSameTime * h) waits = std::max(waits, kMay);
    if (own <= std::min(time, h) - kSameTime * h) waits = kWaits;
  }
  return waits;
}

/// Rows that do not act are left out; false where one pushes.
template <int D>
bool BodyJudge<D>::drop_idle(double h) {
  waited_.clear();
  if (!meets_.empty()) find_meetings(h);
  for (std::size_t i = 0; i < rows_.size();) {
    Judged& one = rows_[i];
    const bool is_ahead = one.law->looks_ahead();
    const char word = !is_ahead ? kWaits : meets_.empty() ? kActs : waits(one.row, h);
    const bool is_idle = word == kWaits || (word == kMay && !(one.impulse[0] > 0.0));
    if (is_idle && is_open(one.row)) {
      if (is_ahead) waited_.push_back({one.row.key.a, one.row.key.b});
      if (one.impulse[0] > 0.0) return fail_at(Failure::ActiveSet, t_mid_, one.row.gap, one.row);
      rows_[i] = rows_.back();  // it does not act
      rows_.pop_back();
      continue;
    }
    ++i;
  }
  return true;
}

template <int D>
bool BodyJudge<D>::check_law(double h) {
  if (!looks_ahead_ && !drop_idle(h)) return false;
  in_pieces(rows_.size(), [&](std::size_t k, Piece& piece) { look_at_row(k, h, piece); });
  const Fault fault = first_fault();
  if (fault.is_there()) {
    return fail_at(fault.failure, t_mid_, fault.value, rows_[fault.at].row);
  }
  sum_up_rows();
  return true;
}

template <int D>
void BodyJudge<D>::look_at_row(std::size_t k, double h, Piece& piece) {
  Judged& one = rows_[k];
  measure(one, h);
  if (law_ == Level::Bounded) one.closes = closes(one);
  if (one.off > 0.0 || one.impulse[0] > 0.0) {
    const double power = one.creep > 0.0 ? 10.0 * (std::log10(one.creep) + 30.0) : 0.0;
    one.power = static_cast<int>(std::clamp(power, 0.0, 399.0));
  }
  piece.deepest = std::max(piece.deepest, -one.row.gap);
  piece.pushes += one.impulse[0] > 0.0 ? 1 : 0;
  piece.has_ghosts = piece.has_ghosts || pushes_early(one);
  if (piece.fault.is_there()) return;
  piece.fault = check_cone(one);
  if (!piece.fault.is_there()) piece.fault = check_turning(one);
  piece.fault.at = k;
}

template <int D>
void BodyJudge<D>::sum_up_rows() {
  deepest_ = 0.0;
  step_pushes_ = 0;
  may_have_ghosts_ = false;
  for (const Piece& piece : pieces_) {
    deepest_ = std::max(deepest_, piece.deepest);
    step_pushes_ += piece.pushes;
    may_have_ghosts_ = may_have_ghosts_ || piece.has_ghosts;
  }
}

/// Whether a row touches at the middle or at the end of the step, as its bodies move.
template <int D>
bool BodyJudge<D>::closes(const Judged& one) const {
  const double open = h_ * std::max(creep_limit_, limits_.creep_part() * -one.before[0]);
  return one.row.gap <= depth_of(one.row.slack, law_, h_, creep_limit_) ||
         one.row.gap + h_ * one.after[0] <= one.row.slack + open;
}

/// That joints hold at this middle and at the next, and that their impulses obey their laws.
template <int D>
bool BodyJudge<D>::check_joints(const State& after, double h, const BodyClaim<D>& claim) {
  if (!joints_.any() && claim.reactions.empty()) return true;
  next_ = after_;
  for (std::size_t i = 0; i < next_.size(); ++i) {
    const body::Body<D>& body = world_.bodies[i];
    if (exists_[i] == 0 || body.kind == Kind::Fixed) continue;
    if (body.kind == Kind::Driven) {
      body.drive(t_mid_ + h, next_[i]);
      continue;
    }
    next_[i] = after.bodies[i];
    next_[i].x += 0.5 * h * after.bodies[i].v;
    turn(next_[i], 0.5 * h * after.bodies[i].spin);
  }
  joints_.look(middle_, exists_);
  const auto found = joints_.judge(
      claim.reactions, {middle_, after_, next_, h, gravity_.norm(), limits_, law_, creep_limit_});
  const bool is_off = joints_.is_off(4.0);
  if (!is_off && found.joint < 0 && claim.reactions.size() == world_.joints.size()) {
    c_.joint_max = std::max(c_.joint_max, found.gap_max);
    c_.residual_max = std::max(c_.residual_max, found.residual);
    return true;
  }
  fail(is_off ? Failure::Violation : Failure::Residual, t_mid_,
       is_off ? found.gap_max : found.value);
  if (is_off) {
    told_.broken = fmt::format("a joint is off by {:.2g}, more than places of its bodies round to",
                               found.gap_max);
  }
  if (found.joint >= 0) {
    told_.where = fmt::format("of joint '{}'", world_.joints[index(found.joint)].name);
  }
  return false;
}

template <int D>
int BodyJudge<D>::root(int b) {
  while (parent_[index(b)] != b) b = parent_[index(b)] = parent_[index(parent_[index(b)])];
  return b;
}

template <int D>
void BodyJudge<D>::unite(int a, int b) {
  if (!world_.body(a).is_free() || !world_.body(b).is_free()) return;
  const int one = root(a);
  const int other = root(b);
  parent_[index(std::max(one, other))] = std::min(one, other);
}

/// How fast contacts may creep, by group: free bodies that touch at the middle or at the end of the
/// step, as they move, whatever is claimed to push. A group whose bodies meet, at rows that so
/// touch, may have a part of the largest speed -U_N with which they come; a row that should be shut
/// at the end may be open by what that part of its own speed makes of it.
template <int D>
void BodyJudge<D>::find_limits() {
  for (std::size_t i = 0; i < parent_.size(); ++i) parent_[i] = static_cast<int>(i);
  std::fill(scale_.begin(), scale_.end(), 0.0);
  for (const Judged& one : rows_) {
    if (one.closes) unite(one.row.body_a, one.row.body_b);
  }
  for (const Judged& one : rows_) {
    double& fastest = scale_[index(root(hub_of(world_, one.row)))];
    if (one.closes) fastest = std::max(fastest, -one.before[0]);
  }
  for (Judged& one : rows_) {
    const double fastest = scale_[index(root(hub_of(world_, one.row)))];
    one.limit = std::max(creep_limit_, limits_.creep_part() * fastest);
  }
}

/// Of each island, bodies that push each other or are joined, its largest impulse.
template <int D>
void BodyJudge<D>::find_scales(const BodyClaim<D>& claim) {
  for (std::size_t i = 0; i < parent_.size(); ++i) parent_[i] = static_cast<int>(i);
  std::fill(scale_.begin(), scale_.end(), 0.0);
  for (const Judged& one : rows_) {
    if (one.impulse[0] > 0.0) unite(one.row.body_a, one.row.body_b);
  }
  for (const body::Joint<D>& joint : world_.joints) {
    unite(joint.a, joint.b);
  }
  for (const Judged& one : rows_) {
    const std::size_t at = index(root(hub_of(world_, one.row)));
    scale_[at] = std::max(scale_[at], one.scale);
  }
  for (std::size_t j = 0; j < claim.reactions.size() && j < world_.joints.size(); ++j) {
    const body::Joint<D>& joint = world_.joints[j];
    double& scale = scale_[index(root(world_.body(joint.a).is_free() ? joint.a : joint.b))];
    scale = std::max(scale, joints_.size_of(claim.reactions[j], j));
  }
}

/// Residuals of islands, and the level that they reach.
template <int D>
bool BodyJudge<D>::check_islands(double h, const BodyClaim<D>& claim) {
  if (law_ == Level::Bounded) find_limits();
  find_scales(claim);
  double worst = 0.0;
  double creep = 0.0;
  double unresolved = 0.0;
  double squares = 0.0;
  double free_squares = 0.0;
  double part = 0.0;  // of its limit, that a contact creeps at
  double widest = 0.0;
  const Judged* where = nullptr;
  for (const Judged& one : rows_) {
    const double speed = one.creep;
    widest = std::max(widest, one.limit);
    const double residual =
        one.off > 0.0 ? one.off / scale_[index(root(hub_of(world_, one.row)))] : 0.0;
    const bool leads = law_ == Level::Bounded ? speed > part * one.limit : residual > worst;
    if (leads || !std::isfinite(residual)) where = &one;
    worst = std::isfinite(residual) ? std::max(worst, residual) : residual;
    creep = std::max(creep, speed);
    if (law_ == Level::Bounded) part = std::max(part, speed / one.limit);
    squares += speed * speed;
    free_squares += one.free * one.free;
    unresolved += one.unresolved;
  }
  const bool is_tight = worst <= kTight && squares <= kTightSpeed * kTightSpeed * free_squares;
  const Level level = worst <= limits_.residual ? Level::Exact
                      : is_tight                ? Level::Tight
                                                : Level::Bounded;
  const bool holds = level <= law_ && (level != Level::Bounded || part <= 1.0);
  if (!holds) {
    fail_at(Failure::Residual, t_mid_, worst, where->row);
    const double speeds = std::sqrt(squares);
    const double allowed = kTightSpeed * std::sqrt(free_squares);
    if (law_ == Level::Bounded) {
      told_.broken = fmt::format("a contact creeps at {:.3g}, bounded allows {:.3g}", where->creep,
                                 where->limit);
    } else if (law_ == Level::Tight) {
      told_.broken = worst > kTight
                         ? fmt::format("{:.3g}, tight allows {:.3g}", worst, kTight)
                         : fmt::format(
                               "contacts creep at {:.3g}, the root of the sum of squares; "
                               "tight allows {:.3g}",
                               speeds, allowed);
    }
    return false;
  }
  if (level == Level::Bounded) told_.creep_limit = std::max(told_.creep_limit, widest);
  told_.unresolved += unresolved;
  ++told_.steps[static_cast<std::size_t>(level)];
  told_.creep_mean += creep;
  told_.way += h * creep;
  c_.residual_sum += worst;
  if (worst > c_.residual_max) {
    c_.residual_max = worst;
    c_.residual_time = t_mid_;
  }
  return true;
}

/// Whether bodies that rested began to move in a step that leaves open whether they would: islands
/// all of whose bodies rest, with no one from outside that strikes them.
template <int D>
void BodyJudge<D>::watch_rest(const State& after, double h) {
  const double rest = 10.0 * creep_limit_;
  const double moves = std::max(h * gravity_.norm(), 10.0 * rest);
  constexpr char kBounded = 1;
  constexpr char kAwake = 2;
  constexpr char kStruck = 4;
  island_.assign(rest_.size(), 0);
  const auto mark = [&](std::size_t i, char what) {
    char& marks = island_[index(root(static_cast<int>(i)))];
    marks = static_cast<char>(marks | what);
  };
  for (const Judged& one : rows_) {
    const std::size_t hub = index(hub_of(world_, one.row));
    if (one.off > kTight * scale_[index(root(static_cast<int>(hub)))]) mark(hub, kBounded);
  }
  for (std::size_t i = 0; i < rest_.size(); ++i) {
    if (facts_[i].kind != Kind::Free || exists_[i] == 0) continue;
    if (rest_[i] == kMoves) mark(i, kStruck);
    if (speed_[i] > rest) mark(i, kAwake);
  }
  for (std::size_t i = 0; i < rest_.size(); ++i) {
    if (facts_[i].kind != Kind::Free || exists_[i] == 0) continue;
    const char marks = island_[index(root(static_cast<int>(i)))];
    const bool is_bounded = (marks & kBounded) != 0;
    if ((marks & kAwake) == 0) {
      rest_[i] = is_bounded ? kDoubtful : kRests;
    } else if ((marks & kStruck) != 0) {
      rest_[i] = kMoves;
    } else if (rest_[i] == kRests) {
      rest_[i] = is_bounded ? kDoubtful : kMoves;
    }
    if (rest_[i] != kDoubtful) continue;
    if (speed_[i] <= moves) continue;
    rest_[i] = kMoves;
    if (told_.left_rest++ > 0) continue;
    told_.left_time = after.t;
    told_.left_first = world_.bodies[i].name;
  }
}

/// Whether the step may be made for the level that it names.
template <int D>
bool BodyJudge<D>::check_level(const BodyClaim<D>& claim, double h) {
  law_ = claim.level;
  creep_limit_ = limits_.creep_limit(h * gravity_.norm());
  if (law_ <= told_.law) return true;
  if (!limits_.may_fall(law_, world_.free_bodies())) {
    fail(Failure::Residual, t_mid_, 0.0);
    return false;
  }
  told_.law_since[static_cast<std::size_t>(law_)] = t_mid_ - 0.5 * h;
  told_.law = law_;
  return true;
}

/// A pair with e > 0 that is apart here and would be through at the next middle.
/// Whether a row with e = 0 between two shapes did not act before they touch.
template <int D>
bool BodyJudge<D>::has_waited(int a, int b) const {
  return std::find(waited_.begin(), waited_.end(), std::pair(a, b)) != waited_.end();
}

template <int D>
bool BodyJudge<D>::check_passing(double h) {
  constexpr int kFewest = 16;
  constexpr int kMost = 4096;
  if (none_can_pass_) return true;
  for (const auto& [a, b] : coverage_.last()) {
    const auto& one = world_.solid(a);
    const auto& other = world_.solid(b);
    const body::Body<D>& body_a = world_.body(one.body);
    const body::Body<D>& body_b = world_.body(other.body);
    const bool looks_ahead = world_.law_between(one.body, other.body).looks_ahead();
    const bool are_sharp = is_sharp(one.shape) && is_sharp(other.shape);
    if (looks_ahead && !are_sharp && !has_waited(a, b)) continue;
    const double thin =
        std::min({body_a.size, body_b.size, 2.0 * one.shape.extent, 2.0 * other.shape.extent});
    const double way = reach_[index(one.body)] + reach_[index(other.body)];
    if (way < 0.5 * thin) continue;
    const int looks = static_cast<int>(std::clamp(8.0 * way / thin, 1.0 * kFewest, 1.0 * kMost));
    double apart = 0.0;
    double least = std::numeric_limits<double>::infinity();
    for (int k = 0; k <= looks; ++k) {
      body::Motion<D> at_a = after_[index(one.body)];
      body::Motion<D> at_b = after_[index(other.body)];
      at_a.advance(h * k / looks);
      at_b.advance(h * k / looks);
      apart = shape::separation(one.shape, body::pose_of(body_a, at_a), other.shape,
                                body::pose_of(body_b, at_b));
      least = std::min(least, apart);
    }
    if (!(least < -0.5 * thin) || apart < least) continue;
    body::Row<D> row;
    row.body_a = one.body;
    row.body_b = other.body;
    return fail_at(Failure::PassedThrough, t_mid_, -least, row);
  }
  return true;
}

/// The least distance of the two shapes of a row on the way to the next middle, looked at in
/// places; no more than `enough` is asked for.
template <int D>
double BodyJudge<D>::least_gap(const Judged& one, double enough) const {
  constexpr int kLooks = 16;
  const auto& a = world_.solid(one.row.key.a);
  const auto& b = world_.solid(one.row.key.b);
  double least = std::numeric_limits<double>::infinity();
  for (int k = 1; k <= kLooks && least > enough; ++k) {
    body::Motion<D> at_a = after_[index(a.body)];
    body::Motion<D> at_b = after_[index(b.body)];
    at_a.advance(h_ * k / kLooks);
    at_b.advance(h_ * k / kLooks);
    least = std::min(least, shape::separation(a.shape, body::pose_of(world_.body(a.body), at_a),
                                              b.shape, body::pose_of(world_.body(b.body), at_b)));
  }
  return least;
}

/// Whether a pair that is clearly apart pushes.
template <int D>
bool BodyJudge<D>::pushes_early(const Judged& one) const {
  if (!(one.impulse[0] > 0.0) || !one.law->looks_ahead()) return false;
  const double size =
      std::min(world_.solid(one.row.key.a).shape.extent, world_.solid(one.row.key.b).shape.extent);
  return one.row.gap > kClear * size;
}

/// Pushes of pairs that never come to touch. The law looks ahead along the normal of the middle;
/// who passes far from there, more than a part of its size in one step, meets a plane that is no
/// part of the other body.
template <int D>
void BodyJudge<D>::note_ghosts() {
  constexpr double kShort = 0.1;  // of the smaller shape: a way in which a normal turns little
  bool any = false;
  if (!may_have_ghosts_) return;
  for (const Judged& one : rows_) {
    if (!pushes_early(one)) continue;
    const double size = std::min(world_.solid(one.row.key.a).shape.extent,
                                 world_.solid(one.row.key.b).shape.extent);
    const double gap = least_gap(one, kClear * size);
    if (!(gap > kClear * size)) continue;
    any = true;
    const double speed = std::max(one.before.norm(), one.after.norm());
    const double step = std::min(0.5 * h_, kShort * size / speed);
    told_.ghost_step = told_.ghosts == 0 ? step : std::min(told_.ghost_step, step);
    for (const int i : {one.row.body_a, one.row.body_b}) {
      if (facts_[index(i)].kind != Kind::Free) continue;
      const double given = one.impulse.norm() / facts_[index(i)].mass;
      told_.ghost_share = std::max(told_.ghost_share, given / speed_max_);
    }
    if (gap <= told_.ghost_gap * size) continue;
    told_.ghost_gap = gap / size;
    told_.ghost_time = t_mid_;
    told_.ghost_pair = fmt::format("'{}' and '{}'", world_.body(one.row.body_a).name,
                                   world_.body(one.row.body_b).name);
  }
  told_.ghosts += any ? 1 : 0;
}

/// Impulses and moments on bodies, with the sums of their sizes.
template <int D>
void BodyJudge<D>::find_given(const BodyClaim<D>& claim) {
  for (const Judged& one : rows_) {
    if (one.impulse == Vec<D>::Zero() && body::size_of(one.moment) == 0.0) continue;
    const Vec<D> p = body::in_space(one.row, one.impulse);
    for (const bool of_a : {true, false}) {
      Given& to = given_[index(of_a ? one.row.body_a : one.row.body_b)];
      const Vec<D>& arm = of_a ? one.row.arm_a : one.row.arm_b;
      const double sign = of_a ? 1.0 : -1.0;
      to.p += sign * p;
      to.moment += sign * body::moment(arm, p);
      to.size += p.norm();
      to.lever += arm.norm() * p.norm();
      to.moment += sign * one.moment;
      to.lever += body::size_of(one.moment);
    }
  }
  joints_.each_impulse(claim.reactions, [&](int i, const Vec<D>& p, const body::Spin<D>& moment,
                                            double size, double lever) {
    Given& to = given_[index(i)];
    to.p += p;
    to.moment += moment;
    to.size += size;
    to.lever += lever;
  });
}

/// Bodies that impulses do not move: fixed and unborn ones are where they were, driven ones where
/// their formulas say.
template <int D>
typename BodyJudge<D>::Fault BodyJudge<D>::check_unmoved(std::size_t i) const {
  const body::Motion<D>& start = begin_->bodies[i];
  const body::Motion<D>& to = end_->bodies[i];
  body::Motion<D> wanted = start;
  if (exists_[i] != 0 && facts_[i].kind == Kind::Driven) {
    world_.bodies[i].drive(t_mid_ + 0.5 * h_, wanted);
  } else {
    const double kept = (to.v - start.v).norm() + body::size_of(to.spin - start.spin);
    if (kept > 0.0) return {i, Failure::Balance, kept};
  }
  if ((end_->gone[i] != 0) != (begin_->gone[i] != 0)) return {i, Failure::ActiveSet};
  const double off = (to.x - wanted.x).norm();
  const double turned = angle_off(to, angle_of(wanted));
  const double way = h_ * (wanted.v.norm() + start.v.norm());
  const double turn = h_ * (body::size_of(wanted.spin) + body::size_of(start.spin));
  const bool holds = off <= limits_.balance * way + 8.0 * kEpsilon * wanted.x.norm() &&
                     turned <= limits_.balance * turn + 8.0 * kEpsilon * angle_size(wanted);
  return holds ? Fault{} : Fault{i, Failure::Kinematics, std::max(off, turned)};
}

/// m (v+ - v) = h m g + sum p, and the same of moments.
template <int D>
typename BodyJudge<D>::Fault BodyJudge<D>::check_balance(std::size_t i, const Speeds& speeds,
                                                         double& found) const {
  const Fact& fact = facts_[i];
  const body::Motion<D>& to = end_->bodies[i];
  Vec<D> miss = fact.mass * (to.v - begin_->bodies[i].v - h_ * gravity_);
  double scale = fact.mass * (speeds.v + gravity_step_);
  body::Spin<D> turning;
  double turn_scale = 0.0;
  if (D == 2 || fact.is_even) {
    turning = fact.moment * (to.spin - from(i).spin);
    turn_scale = fact.moment * speeds.spin;
  } else {
    const body::Spin<D> begin = turning_momentum(world_.bodies[i], from(i));
    const body::Spin<D> end = turning_momentum(world_.bodies[i], to);
    turning = end - begin;
    turn_scale = body::size_of(begin) + body::size_of(end);
  }
  if (is_ready_[i] != 0) {
    miss -= given_[i].p;
    scale += given_[i].size;
    turning -= given_[i].moment;
    turn_scale += given_[i].lever;
  }
  const double off = miss.norm();
  const double turned = body::size_of(turning);
  found = std::max(off > 0.0 ? off / scale : 0.0, turned != 0.0 ? turned / turn_scale : 0.0);
  const bool are_numbers = std::isfinite(off) && std::isfinite(turned);
  const bool holds = are_numbers && found <= limits_.balance;
  return holds ? Fault{} : Fault{i, Failure::Balance, found};
}

/// x+ = x_M + h/2 v+, and how a free body ends turned.
template <int D>
typename BodyJudge<D>::Fault BodyJudge<D>::check_position(std::size_t i,
                                                          const Speeds& speeds) const {
  const body::Motion<D>& start = begin_->bodies[i];
  const body::Motion<D>& to = end_->bodies[i];
  const bool leaves = !world_.keeps(to.x);
  if ((end_->gone[i] != 0) != (leaves || begin_->gone[i] != 0)) return {i, Failure::ActiveSet};
  const Vec<D> middle = is_whole_ ? middle_[i].x : Vec<D>(start.x + 0.5 * h_ * start.v);
  const Vec<D> x = middle + 0.5 * h_ * to.v;
  double room = limits_.balance * h_ * speeds.v;
  const double off = (to.x - x).squaredNorm();
  bool holds = off <= room * room;
  if (!holds) {
    room += 8.0 * kEpsilon * x.norm() + (is_whole_ ? shift_rounding_[i][0] : 0.0);
    holds = std::sqrt(off) <= room;
  }
  double turned = 0.0;
  double size = 0.0;
  if constexpr (D == 2) {
    const double halfway = is_whole_ ? middle_[i].angle : start.angle + 0.5 * h_ * start.spin;
    const double wanted = halfway + 0.5 * h_ * to.spin;
    turned = angle_off(to, wanted);
    size = std::abs(wanted);
  } else {
    size = angle_size(to);
    if (speeds.spin > 0.0 || is_whole_ || !is_turned_alike(start, to)) {
      turned = turn_off(world_.bodies[i], from(i), to, h_);
    }
  }
  holds = holds && turned <= limits_.balance * h_ * speeds.spin + 8.0 * kEpsilon * size +
                                 (is_whole_ ? shift_rounding_[i][1] : 0.0);
  return holds ? Fault{} : Fault{i, Failure::Kinematics, std::max(std::sqrt(off), turned)};
}

/// Energies at the end, and works of gravity.
template <int D>
void BodyJudge<D>::add_up(std::size_t i, Sums& sums) const {
  const Fact& fact = facts_[i];
  sums.removed += end_->gone[i] - begin_->gone[i];
  if (fact.kind != Kind::Free) return;
  const body::Motion<D>& to = end_->bodies[i];
  const double turning = D == 2 || fact.is_even ? 0.5 * fact.moment * square_of(to.spin)
                                                : energy_of(world_.bodies[i], to);
  sums.kinetic.add(0.5 * fact.mass * to.v.squaredNorm() + turning);
  sums.potential.add(-fact.mass * gravity_.dot(to.x));
  if (exists_[i] == 0) return;
  sums.forces.add(0.5 * h_ * fact.mass * gravity_.dot(begin_->bodies[i].v + to.v));
  sums.fastest = std::max(sums.fastest, speed_[i]);
}

template <int D>
typename BodyJudge<D>::Fault BodyJudge<D>::check_body(std::size_t i, Piece& piece) const {
  if (exists_[i] == 0 || facts_[i].kind != Kind::Free) return check_unmoved(i);
  const body::Motion<D>& start = begin_->bodies[i];
  const body::Motion<D>& to = end_->bodies[i];
  const Speeds speeds = {start.v.norm() + to.v.norm(),
                         body::size_of(start.spin) + body::size_of(to.spin)};
  double found = 0.0;
  const Fault fault = check_balance(i, speeds, found);
  if (fault.is_there()) return fault;
  piece.balance = std::max(piece.balance, found);
  return check_position(i, speeds);
}

/// All bodies, driven ones after the others: formulas are asked by one thread.
template <int D>
bool BodyJudge<D>::check_bodies() {
  gravity_step_ = h_ * gravity_.norm();
  in_pieces(facts_.size(), [&](std::size_t i, Piece& piece) {
    if (piece.fault.is_there()) return;
    if (facts_[i].kind != Kind::Driven) piece.fault = check_body(i, piece);
    add_up(i, piece.sums);
  });
  Fault fault = first_fault();
  for (const std::size_t i : alone_) {
    if (i > fault.at) break;
    const Fault own = check_unmoved(i);
    if (own.is_there()) fault = own;
  }
  if (fault.is_there()) return fail_body(fault.failure, t_mid_, fault.value, fault.at);
  sums_ = pieces_[0].sums;
  c_.balance_max = std::max(c_.balance_max, pieces_[0].balance);
  for (std::size_t k = 1; k < pieces_.size(); ++k) {
    const Sums& more = pieces_[k].sums;
    sums_.kinetic.add(more.kinetic.value());
    sums_.potential.add(more.potential.value());
    sums_.forces.add(more.forces.value());
    sums_.fastest = std::max(sums_.fastest, more.fastest);
    sums_.removed += more.removed;
    c_.balance_max = std::max(c_.balance_max, pieces_[k].balance);
  }
  return true;
}

/// m . (w + w+)/2 of rolling friction.
template <int D>
double BodyJudge<D>::work_of_turning(const Judged& one) const {
  const std::size_t a = index(one.row.body_a);
  const std::size_t b = index(one.row.body_b);
  const body::Spin<D> mean =
      0.5 * (middle_[a].spin - middle_[b].spin + after_[a].spin - after_[b].spin);
  return power_of(one.moment, mean);
}

/// Works of rows: dT = h m g . (v + v+)/2 + sum p . (U + U+)/2 + what driven bodies give.
template <int D>
void BodyJudge<D>::enter_works(const State& before, const typename JointCourt<D>::Works& joints) {
  Ledger& ledger = c_.ledger;
  const double threshold =
      limits_.shock_speed >= 0.0 ? limits_.shock_speed : limits_.shock_fraction * speed_max_;
  double lent = joints.lent;
  double all = joints.relative;
  bool bounces = joints.has_power;
  for (const Judged& one : rows_) {
    if (one.power >= 0) {
      c_.creep_max = std::max(c_.creep_max, one.creep);
      ++creeps_[index(one.power)];
    }
    if (!(one.impulse[0] > 0.0)) continue;
    const Vec<D> mean = 0.5 * (one.before + one.after);
    const double normal = one.impulse[0] * mean[0];
    const double tangential =
        one.impulse.template tail<D - 1>().dot(mean.template tail<D - 1>()) + work_of_turning(one);
    ledger.contacts.add(normal + tangential);
    ledger.tangential.add(tangential);
    all += normal + tangential;
    lent += 0.5 * one.impulse.norm() * gravity_step_;
    bounces = bounces || !one.law->looks_ahead();
    const auto has_pushed = [&] {
      return std::binary_search(
          before.pushes.begin(), before.pushes.end(), body::Push<D>{one.row.key, {}},
          [](const body::Push<D>& p, const body::Push<D>& q) { return p.key < q.key; });
    };
    if (-one.before[0] > threshold && !has_pushed()) {
      ++told_.shocks;
      c_.shocks_cut = true;  // pairs have no names to list them by
      ledger.shocks.add(normal + tangential);
    } else {
      ledger.friction.add(tangential);
    }
    for (const bool of_a : {true, false}) {  // what moving walls give
      const int i = of_a ? one.row.body_a : one.row.body_b;
      if (facts_[index(i)].kind != Kind::Driven) continue;
      const Vec<D>& arm = of_a ? one.row.arm_a : one.row.arm_b;
      const Vec<D> wall = 0.5 * (body::velocity_at(middle_[index(i)], arm) +
                                 body::velocity_at(after_[index(i)], arm));
      const body::Spin<D> spin = 0.5 * (middle_[index(i)].spin + after_[index(i)].spin);
      ledger.joints.add((of_a ? -1.0 : 1.0) * (body::in_space(one.row, one.impulse).dot(wall) +
                                               power_of(one.moment, spin)));
    }
  }
  if (!joints.has_power && all > lent + 1e-12 * ledger.kinetic_max) {
    ledger.gain.add(all - lent);
    if (!bounces && ledger.gain.value() > limits_.created * std::max(ledger.kinetic_max, 1e-300)) {
      fail(Failure::EnergyGain, t_mid_, all);
    }
  }
}

/// Works of joints.
template <int D>
typename JointCourt<D>::Works BodyJudge<D>::enter_joints(const State& before, double h,
                                                         const BodyClaim<D>& claim) {
  if (!joints_.any()) return {};
  const double threshold =
      limits_.shock_speed >= 0.0 ? limits_.shock_speed : limits_.shock_fraction * speed_max_;
  const auto works = joints_.works(claim.reactions, middle_, after_, before.reactions, threshold,
                                   h * gravity_.norm());
  Ledger& ledger = c_.ledger;
  ledger.joints.add(works.joints);
  ledger.contacts.add(works.contacts);
  ledger.friction.add(works.friction);
  ledger.tangential.add(works.friction);
  ledger.shocks.add(works.shocks);
  told_.shocks += works.struck;
  if (works.struck > 0) c_.shocks_cut = true;
  return works;
}

template <int D>
void BodyJudge<D>::enter(const State& before, double h, const BodyClaim<D>& claim) {
  Ledger& ledger = c_.ledger;
  const double contacts = ledger.contacts.value();
  const double walls = ledger.joints.value();
  const auto joints = enter_joints(before, h, claim);
  enter_works(before, joints);
  base::Sum forces = sums_.forces;
  forces.add(joints.forces);
  speed_max_ = std::max(speed_max_, sums_.fastest);
  const double deepest = deepest_;
  for (std::size_t i = 0; is_whole_ && i < facts_.size(); ++i) {
    if (exists_[i] == 0 || facts_[i].kind != Kind::Free) continue;
    if (shift_[i].squaredNorm() == 0.0) continue;
    ledger.correction.add(-facts_[i].mass * gravity_.dot(shift_[i]));
    told_.shift_max = std::max(told_.shift_max, shift_[i].norm());
  }
  note_ghosts();
  told_.removed += sums_.removed;
  ledger.forces.add(forces.value());
  const double kinetic_before = ledger.kinetic_end;
  ledger.kinetic_end = sums_.kinetic.value();
  ledger.potential_end = 0.0;
  if (world_.gravity_is_constant) {
    sums_.potential.add(joints_.springs(end_->bodies, end_->gone));
    ledger.potential_end = sums_.potential.value();
  }
  const double defect = ledger.kinetic_end - kinetic_before - forces.value() -
                        (ledger.contacts.value() - contacts) - (ledger.joints.value() - walls);
  ledger.defect.add(defect);
  ledger.defect_max = std::max(ledger.defect_max, std::abs(defect));
  ledger.kinetic_max = std::max(ledger.kinetic_max, ledger.kinetic_end);
  const double energy = ledger.kinetic_end + ledger.potential_end;
  ledger.lowest = std::min(ledger.lowest, energy);
  ledger.highest = std::max(ledger.highest, energy);
  pushes_ += step_pushes_;
  told_.pushes_max = std::max(told_.pushes_max, step_pushes_);
  c_.violation_sum += deepest;
  c_.violation_squares += deepest * deepest;
  ++c_.steps;
}

namespace {
bool is_same(const body::Motion<2>& a, const body::Motion<2>& b) {
  return a.x == b.x && a.angle == b.angle && a.v == b.v && a.spin == b.spin;
}
bool is_same(const body::Motion<3>& a, const body::Motion<3>& b) {
  return a.x == b.x && a.turn.coeffs() == b.turn.coeffs() && a.v == b.v && a.spin == b.spin &&
         a.rates == b.rates;
}
}  // namespace

/// Whether all that rows are made of and measured by is that of the step before: places and
/// velocities before and after, who exists, weight, and what is claimed.
template <int D>
bool BodyJudge<D>::is_as_before(const BodyClaim<D>& claim) const {
  if (!still_.is_known || h_ != still_.h || gravity_ != still_.gravity || law_ != still_.law ||
      !claim.shifts.empty() || exists_ != still_.exists ||
      claim.pushes.size() != still_.pushes.size()) {
    return false;
  }
  for (std::size_t k = 0; k < claim.pushes.size(); ++k) {
    const body::Push<D>& a = claim.pushes[k];
    const body::Push<D>& b = still_.pushes[k];
    if (!(a.key == b.key) || a.impulse != b.impulse || a.moment != b.moment) return false;
  }
  for (std::size_t i = 0; i < facts_.size(); ++i) {
    if (!is_same(begin_->bodies[i], still_.bodies[i])) return false;
    if (!is_same(end_->bodies[i], still_.bodies[i])) return false;
  }
  return true;
}

/// Rows as they were found and measured in the step before, which was the same.
template <int D>
void BodyJudge<D>::take_rows_again() {
  for (const int i : still_.ready) make_ready(index(i));
}

/// Keeps a step in which nobody moved.
template <int D>
void BodyJudge<D>::remember(const BodyClaim<D>& claim) {
  still_.is_known = false;
  if (!world_.sleeps || joints_.any() || !claim.shifts.empty()) return;
  for (std::size_t i = 0; i < facts_.size(); ++i) {
    if (facts_[i].kind == Kind::Driven) return;
    if (!is_same(begin_->bodies[i], end_->bodies[i])) return;
  }
  still_ = {true, end_->bodies, exists_, claim.pushes, ready_, gravity_, h_, law_};
}

template <int D>
bool BodyJudge<D>::accept(const State& before, const State& after, double h,
                          const BodyClaim<D>& claim) {
  is_whole_ = joints_.any() || !claim.shifts.empty();
  if (!check_time(before, after, h) || !check_level(claim, h) || !look_at_states()) return false;
  double deepest = 0.0;
  if (!claim.shifts.empty()) {
    place(middle_);
    for (const body::Push<D>& push : claim.shifts[0]) {
      Vec<D> unused;
      const auto& a = world_.solid(push.key.a);
      const auto& b = world_.solid(push.key.b);
      deepest = std::max(
          deepest, -shape::gap_of(a.shape, poses_[index(a.body)], b.shape, poses_[index(b.body)],
                                  push.key.feature, &unused, &unused, &unused));
    }
  }
  const bool is_still = is_as_before(claim);
  if (is_still) take_rows_again();
  if (!check_births(claim) || !replay_shifts(claim, t_mid_) ||
      (!is_still && (!find_rows(claim) || !check_law(h))) || !check_joints(after, h, claim) ||
      !check_islands(h, claim) || !check_passing(h)) {
    return false;
  }
  find_given(claim);
  if (!check_bodies()) return false;
  deepest = std::max(deepest, deepest_);
  if (deepest > c_.violation_max) {
    c_.violation_max = c_.violation_depth = deepest;
    c_.violation_time = t_mid_;
  }
  if (deepest > limits_.violation) {
    fail(Failure::Violation, t_mid_, deepest);
    return false;
  }
  if (!claim.shifts.empty()) {
    ++told_.projected;
    told_.deepest = std::max(told_.deepest, deepest);
  }
  enter(before, h, claim);
  if (c_.ok()) watch_rest(after, h);
  if (!is_still) remember(claim);
  return c_.ok();
}

template <int D>
BodyStatistics BodyJudge<D>::statistics() const {
  BodyStatistics told = told_;
  told.creep_limit = std::max(told.creep_limit, creep_limit_);
  told.creep_mean /= static_cast<double>(std::max(1LL, c_.steps));
  told.pushes_mean =
      c_.steps > 0 ? static_cast<double>(pushes_) / static_cast<double>(c_.steps) : 0.0;
  long long all = 0;
  for (const long long count : creeps_) all += count;
  constexpr std::array<double, 3> kParts = {0.5, 0.99, 0.999};
  for (std::size_t k = 0; k < kParts.size(); ++k) {
    long long sum = 0;
    for (std::size_t power = 0; power < creeps_.size() && all > 0; ++power) {
      sum += creeps_[power];
      if (static_cast<double>(sum) < kParts[k] * static_cast<double>(all)) continue;
      told.creep[k] =
          power == 0 ? 0.0 : std::pow(10.0, 0.1 * (static_cast<double>(power) + 1.0) - 30.0);
      break;
    }
  }
  return told;
}

template class BodyJudge<2>;
template class BodyJudge<3>;

}  // namespace ricochet::certify
