#include "ricochet/certify/body_told.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ricochet/shape/gaps.h"

namespace ricochet::certify {

using base::index;

namespace {

// What a body does: it moves; rests by steps that are tight; rests, or has begun to move, by one
// that is bounded.
constexpr char kMoves = 0;
constexpr char kRests = 1;
constexpr char kDoubtful = 2;

// What is true of an island.
constexpr char kBounded = 1;
constexpr char kAwake = 2;
constexpr char kStruck = 4;

}  // namespace

template <int D>
BodyTold<D>::BodyTold(const BodyTrial<D>& trial, BodyIslands<D>& islands)
    : trial_(trial), islands_(islands), rest_(trial.facts.size(), kMoves) {
  for (std::size_t i = 0; i < rest_.size(); ++i) {
    if (trial.top_speed[i] == 0.0) rest_[i] = kRests;
  }
}

template <int D>
void BodyTold<D>::enter(const IslandsFound& found) {
  if (found.level == Level::Bounded) {
    statistics.creep_limit = std::max(statistics.creep_limit, found.widest);
  }
  statistics.unresolved += found.unresolved;
  ++statistics.steps[static_cast<std::size_t>(found.level)];
  statistics.creep_mean += found.creep;
  statistics.way += trial_.h * found.creep;
}

template <int D>
BodyStatistics BodyTold<D>::of(long long steps) const {
  BodyStatistics told = statistics;
  told.creep_limit = std::max(told.creep_limit, trial_.creep_limit);
  told.creep_mean /= static_cast<double>(std::max(1LL, steps));
  told.pushes_mean = steps > 0 ? static_cast<double>(pushes_) / static_cast<double>(steps) : 0.0;
  told.creep = creeps.shares();
  return told;
}

template <int D>
void BodyTold<D>::note_sunk(const SunkPair& found) {
  if (found.a < 0) return;
  if (statistics.sunk == 0.0) {
    statistics.sunk_time = trial_.t_mid;
    statistics.sunk_pair = fmt::format("'{}' and '{}'", trial_.world.body(found.a).name,
                                       trial_.world.body(found.b).name);
  }
  statistics.sunk = std::max(statistics.sunk, found.depth);
}

/// The least distance of the two shapes of a row on the way to the next middle, looked at in
/// places; no more than `enough` is asked for.
template <int D>
double BodyTold<D>::least_gap(const JudgedRow<D>& one, double enough) const {
  constexpr int kLooks = 16;
  const auto& a = trial_.world.solid(one.row.key.a);
  const auto& b = trial_.world.solid(one.row.key.b);
  double least = std::numeric_limits<double>::infinity();
  for (int k = 1; k <= kLooks && least > enough; ++k) {
    body::Motion<D> at_a = trial_.middle_after[index(a.body)];
    body::Motion<D> at_b = trial_.middle_after[index(b.body)];
    at_a.advance(trial_.h * k / kLooks);
    at_b.advance(trial_.h * k / kLooks);
    least =
        std::min(least, shape::separation(a.shape, body::pose_of(trial_.world.body(a.body), at_a),
                                          b.shape, body::pose_of(trial_.world.body(b.body), at_b)));
  }
  return least;
}

/// The law looks ahead along the normal of the middle; who passes far from there, more than a part
/// of its size in one step, meets a plane that is no part of the other body.
template <int D>
void BodyTold<D>::note_ghosts() {
  bool any = false;
  for (const JudgedRow<D>& one : trial_.rows) {
    if (!pushes_early(trial_, one)) continue;
    const double size =
        smaller_extent(trial_.extent[index(one.row.key.a)], trial_.extent[index(one.row.key.b)]);
    const double gap = least_gap(one, kClear * size);
    if (!(gap > kClear * size)) continue;
    any = true;
    note_ghost(one, size, gap);
  }
  statistics.ghosts += any ? 1 : 0;
}

template <int D>
void BodyTold<D>::note_ghost(const JudgedRow<D>& one, double size, double gap) {
  constexpr double kShort = 0.1;  // of the smaller shape: a way in which a normal turns little
  const int a = one.row.body_a;
  const int b = one.row.body_b;
  const double speed = std::max(one.before.norm(), one.after.norm());
  const double step = std::min(0.5 * trial_.h, kShort * size / speed);
  statistics.ghost_step = statistics.ghosts == 0 ? step : std::min(statistics.ghost_step, step);
  const double fastest = std::max(trial_.top_speed[index(a)], trial_.top_speed[index(b)]);
  for (const int i : {a, b}) {
    if (!trial_.is_free(i)) continue;
    const double given = one.impulse.norm() / trial_.facts[index(i)].mass;
    statistics.ghost_share = std::max(statistics.ghost_share, given / fastest);
  }
  if (gap <= statistics.ghost_gap * size) return;
  statistics.ghost_gap = gap / size;
  statistics.ghost_time = trial_.t_mid;
  statistics.ghost_pair =
      fmt::format("'{}' and '{}'", trial_.world.body(a).name, trial_.world.body(b).name);
}

/// Which islands are bounded, have a body that moves now, or one that moved already.
template <int D>
void BodyTold<D>::mark_islands(double rest) {
  island_.assign(rest_.size(), 0);
  const auto mark = [&](int body, char what) {
    char& marks = island_[islands_.at(body)];
    marks = static_cast<char>(marks | what);
  };
  for (const RowMeasure& one : trial_.measures) {
    const int hub = one.hub();
    if (one.off > BodyIslands<D>::kTight * islands_.scale_at(islands_.at(hub))) mark(hub, kBounded);
  }
  for (std::size_t i = 0; i < rest_.size(); ++i) {
    if (!trial_.facts[i].is_free() || trial_.exists[i] == 0) continue;
    if (rest_[i] == kMoves) mark(static_cast<int>(i), kStruck);
    if (trial_.speed[i] > rest) mark(static_cast<int>(i), kAwake);
  }
}

/// Islands all of whose bodies rest, with no one from outside that strikes them.
template <int D>
void BodyTold<D>::watch_rest() {
  const double rest = 10.0 * trial_.creep_limit;
  const double moves = std::max(trial_.gravity_step, 10.0 * rest);
  mark_islands(rest);
  for (std::size_t i = 0; i < rest_.size(); ++i) {
    if (!trial_.facts[i].is_free() || trial_.exists[i] == 0) continue;
    const char marks = island_[islands_.at(static_cast<int>(i))];
    const bool is_bounded = (marks & kBounded) != 0;
    if ((marks & kAwake) == 0) {
      rest_[i] = is_bounded ? kDoubtful : kRests;
    } else if ((marks & kStruck) != 0) {
      rest_[i] = kMoves;
    } else if (rest_[i] == kRests) {
      rest_[i] = is_bounded ? kDoubtful : kMoves;
    }
    if (rest_[i] != kDoubtful) continue;
    if (trial_.speed[i] <= moves) continue;
    rest_[i] = kMoves;
    if (statistics.left_rest++ > 0) continue;
    statistics.left_time = trial_.after->t;
    statistics.left_first = trial_.world.bodies[i].name;
  }
}

template class BodyTold<2>;
template class BodyTold<3>;

}  // namespace ricochet::certify
