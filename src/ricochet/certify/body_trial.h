#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "ricochet/base/executor.h"
#include "ricochet/base/index.h"
#include "ricochet/body/gains.h"
#include "ricochet/body/rows.h"
#include "ricochet/body/world.h"
#include "ricochet/certify/body_claim.h"
#include "ricochet/certify/failure.h"
#include "ricochet/certify/limits.h"

/// One step of bodies under judgement: what the parts of the judge hand to each other.
namespace ricochet::certify {

template <int D>
bool is_ball(const shape::Shape<D>& shape) {
  return shape.kind == shape::Kind::Core && shape.corners.size() == 1;
}

/// Whether a body is driven and has no end, as a half-space: where it turns, its particles are the
/// faster the farther away.
template <int D>
bool has_no_end(const body::Body<D>& body) {
  return body.kind == body::Kind::Driven && !std::isfinite(body.size);
}

/// A row of a step, with what is claimed of it.
template <int D>
struct JudgedRow {
  body::Row<D> row;
  body::Vec<D> impulse = body::Vec<D>::Zero();
  body::Vec<D> before = body::Vec<D>::Zero();  // relative velocities
  body::Vec<D> after = body::Vec<D>::Zero();
  body::Spin<D> moment = body::Motion<D>{}.spin;  // of rolling friction, on a, in space
  const body::PairLaw* law{nullptr};
};

/// What is measured of a row, together: steps have many.
struct RowMeasure {
  int a{-1};  // its bodies where they are free, else -1
  int b{-1};
  double scale{0.0};       // of impulses [N s]
  double off{0.0};         // how far the impulse is from its law, rolling friction too [N s]
  double creep{0.0};       // delta, of both [m/s]
  double limit{0.0};       // of creep [m/s]
  double free{0.0};        // |û| without impulses
  double unresolved{0.0};  // work
  double comes{0.0};       // -U_N before
  double normal{0.0};      // work of the impulse
  double tangential{0.0};  // with that of rolling friction
  double size{0.0};        // of the impulse
  double residual{0.0};    // off, beside the largest impulse of its island
  int power{-1};           // of ten, of creep: its place in CreepCounts, where it is told
  bool closes{false};      // it touches at the middle or at the end of the step
  bool pushes{false};
  bool bounces{false};  // its law throws back
  int hub() const { return a >= 0 ? a : b; }
};

/// What never changes of a body, together: worlds are large.
struct BodyFact {
  double born{0.0};
  double mass{0.0};
  double moment{0.0};  // of inertia, where all are equal
  double reach{0.0};
  double size{0.0};
  std::size_t first{0};  // solid
  std::size_t end{0};    // one after its last solid
  int material{0};
  body::Kind kind{};
  bool is_even{false};     // all its moments of inertia are equal
  bool is_centred{false};  // free, the middle of its one shape's ball is its mass centre
  bool turns{true};        // it matters how it is turned
  bool is_free() const { return kind == body::Kind::Free; }
};

/// Impulses and moments on a body.
template <int D>
struct BodyGiven {
  body::Vec<D> p = body::Vec<D>::Zero();
  body::Spin<D> moment = body::Motion<D>{}.spin;
  double size{0.0};
  double lever{0.0};
};

/// How far rounding may reach at a body that is near others.
struct BodyPace {
  double speeds{0.0};  // no particle is faster: before and after together [m/s]
  double place{0.0};   // |x_M| [m]
};

/// What is wrong with a body, a pair or a row, by its number.
struct BodyFault {
  std::size_t at{std::numeric_limits<std::size_t>::max()};
  Failure failure{Failure::None};
  double value{0.0};
  bool is_there() const { return failure != Failure::None; }
};

/// Two bodies that lie deeper in each other than they may have come by one step.
struct SunkPair {
  double depth{0.0};  // [m]; 0: none do
  int a{-1};
  int b{-1};
  void merge(const SunkPair& other) {
    if (other.depth > depth) *this = other;
  }
};

/// Why a step is refused.
struct BodyRefusal {
  Failure failure{Failure::None};
  double t{0.0};
  double value{0.0};
  std::string where;   // the pair, body or joint
  std::string broken;  // which limit, where the failure does not say it
};

/// All bodies, pairs or rows in pieces of one length, whose `Piece` has a `fault` and `clear`. Each
/// is looked at by one thread, so that what they find does not depend on threads.
template <class Piece>
class BodyPieces {
 public:
  /// work(k, piece) for all k, piece by piece.
  template <class Work>
  void look(const base::Executor& executor, std::size_t count, const Work& work) {
    constexpr std::size_t kInPiece = 1024;
    const base::Pieces range{count, kInPiece};
    const std::size_t needed = std::max<std::size_t>(1, range.count());
    if (room_.size() < needed) room_.resize(needed);
    used_ = std::span(room_).first(needed);
    base::each(executor, used_.size(), [&](std::size_t p) {
      Piece& piece = used_[p];
      piece.clear();
      for (std::size_t k = range.begin(p); k < range.end(p); ++k) work(k, piece);
    });
  }
  BodyFault first_fault() const {
    for (const Piece& piece : used_) {
      if (piece.fault.is_there()) return piece.fault;
    }
    return {};
  }
  std::span<Piece> used() const { return used_; }

 private:
  std::vector<Piece> room_;  // for the most that were needed
  std::span<Piece> used_;
};

/// Bodies in groups: those that were united, of which one stands for all.
class BodyGroups {
 public:
  explicit BodyGroups(std::size_t bodies) : parent_(bodies) {}
  void clear() {
    for (std::size_t i = 0; i < parent_.size(); ++i) parent_[i] = static_cast<int>(i);
  }
  int root(int b) {
    using base::index;
    while (parent_[index(b)] != b) b = parent_[index(b)] = parent_[index(parent_[index(b)])];
    return b;
  }
  std::size_t at(int b) { return base::index(root(b)); }
  void unite(int a, int b) {
    if (a < 0 || b < 0) return;
    const int one = root(a);
    const int other = root(b);
    parent_[base::index(std::max(one, other))] = std::min(one, other);
  }

 private:
  std::vector<int> parent_;
};

/// A step under judgement. All parts of the judge read it; who writes what is said here.
template <int D>
struct BodyTrial {
  using State = body::WorldState<D>;
  BodyTrial(const body::World<D>& of, const Limits& allowed, const State& start);

  const body::World<D>& world;
  const Limits limits;
  base::Executor executor;  // none: one thread
  std::vector<BodyFact> facts;
  std::vector<int> body_of;         // by solid
  std::vector<double> extent;       // by solid
  bool mixes_restitution{false};    // some rows have e = 0, others e > 0
  bool needs_gains{false};          // see body::needs_gains
  std::vector<std::size_t> driven;  // bodies: one after the other, as formulas are asked

  // By `begin`, of each step:
  const State* before{nullptr};
  const State* after{nullptr};
  double h{0.0};
  double t_mid{0.0};
  body::Vec<D> gravity = body::Vec<D>::Zero();
  double gravity_step{0.0};  // h |g| [m/s]
  Level level{Level::Exact};
  double creep_limit{0.0};
  bool is_whole{false};  // with joints, and where places were put back: all bodies are made ready

  // By BodyMotions. What follows `ready` is made of bodies that are near others.
  std::vector<char> exists;
  std::vector<double> speed;      // at the end
  std::vector<double> top_speed;  // so far
  std::vector<double> reach;
  std::vector<char> is_ready;
  std::vector<int> ready;                     // those bodies
  std::vector<body::Motion<D>> middle;        // at the middle, velocities before
  std::vector<body::Motion<D>> middle_after;  // there, velocities after
  std::vector<shape::Pose<D>> poses;          // at the middle
  std::vector<BodyPace> paces;

  // By BodyCorrections, where is_whole:
  std::vector<body::Motion<D>> from;  // where the step begins; in space turned as put back
  std::vector<body::Vec<D>> shift;    // how mass centres were put back
  std::vector<std::array<double, 2>> shift_rounding;  // by joints: of places, of angles
  std::vector<body::RowKey> put;                      // rows by which they were, sorted
  std::vector<shape::Pose<D>> unshifted;              // poses before that; empty: none was
  std::vector<body::Motion<D>> middle_unshifted;      // the same

  std::vector<JudgedRow<D>> rows;    // by BodyPairs; their velocities by BodyLaw
  std::vector<RowMeasure> measures;  // of them, by BodyLaw; limits and residuals by BodyIslands
  std::vector<BodyGiven<D>> given;   // by BodyBalance, to bodies that are ready

  BodyRefusal refusal;  // by whoever finds something wrong

  /// The next step; false where t+ is not t + h.
  bool begin(const State& from_here, const State& to, double step, Level law, bool whole);
  bool is_free(int body) const { return facts[base::index(body)].is_free(); }
  bool is_put(const body::RowKey& key) const {
    return std::binary_search(put.begin(), put.end(), key);
  }
  /// The start of the step, as it was put back.
  const body::Motion<D>& start_of(std::size_t body) const {
    return is_whole ? from[body] : before->bodies[body];
  }
  const body::PairLaw& law_of(const body::Row<D>& row) const {
    return world.law(facts[base::index(row.body_a)].material,
                     facts[base::index(row.body_b)].material);
  }
  body::Gains<D> gains() const { return {world, *before, h, gravity}; }
  double depth_of(double slack) const { return certify::depth_of(slack, level, h, creep_limit); }
  /// Whether the bodies of a row were in each other before this step already: where those that
  /// touch are put back, who comes in is seen no later than one step after. Runs begin as they do.
  SunkPair sunk_of(const body::Row<D>& row) const;

  /// The row of a key at the middle, by the judge: the impulse acts in the middle of the gap, or at
  /// the particle of the only body that is free.
  body::Row<D> make_row(const body::RowKey& key, double gap, const body::Vec<D>& normal,
                        const body::Vec<D>& on_a, const body::Vec<D>& on_b) const {
    using base::index;
    body::Row<D> row;
    row.key = key;
    row.body_a = body_of[index(key.a)];
    row.body_b = body_of[index(key.b)];
    row.gap = gap;
    row.normal = normal;
    body::Vec<D> point = 0.5 * (on_a + on_b);
    if (!is_free(row.body_b)) point = on_a;
    if (!is_free(row.body_a)) point = on_b;
    row.arm_a = point - middle[index(row.body_a)].x;
    row.arm_b = point - middle[index(row.body_b)].x;
    row.slack =
        body::slack_of<D>(facts[index(row.body_a)].size, facts[index(row.body_b)].size, point);
    return row;
  }

  /// False, for who returns it: the step is refused.
  bool fail(Failure failure, double t, double value = 0.0);
  bool fail_at(Failure failure, double t, double value, const body::Row<D>& row);
  bool fail_between(Failure failure, double t, double value, int body_a, int body_b);
  bool fail_body(Failure failure, double t, double value, std::size_t body);
};

extern template struct BodyTrial<2>;
extern template struct BodyTrial<3>;

}  // namespace ricochet::certify
