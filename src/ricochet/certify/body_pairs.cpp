#include "ricochet/certify/body_pairs.h"

#include <algorithm>
#include <cmath>

#include "ricochet/shape/gaps.h"

namespace ricochet::certify {

using base::index;
using body::Vec;

namespace {

double moment_on_a(const body::Row<2>&, double moment) { return moment; }
Vec<3> moment_on_a(const body::Row<3>& row, const Vec<3>& moment) {
  return moment == Vec<3>::Zero() ? moment : body::in_space(row, moment);
}

}  // namespace

template <int D>
bool BodyPairs<D>::find(const BodyClaim<D>& claim) {
  if (trial_.is_whole) motions_.make_all_ready();
  looked_ = &still_.fresh(motions_.near(), motions_);
  const auto& pairs = *looked_;
  motions_.make_pairs_ready(pairs);
  pieces_.look(trial_.executor, pairs.size(),
               [&](std::size_t k, Piece& piece) { look_at_pair(k, piece); });
  const BodyFault fault = pieces_.first_fault();
  if (fault.is_there()) {
    return trial_.fail_between(fault.failure, trial_.t_mid, fault.value,
                               trial_.world.solid(pairs[fault.at].first).body,
                               trial_.world.solid(pairs[fault.at].second).body);
  }
  const std::span<Piece> pieces = pieces_.used();
  std::size_t count = 0;
  for (Piece& piece : pieces) {
    piece.first = count;
    count += piece.rows.size();
  }
  trial_.rows.resize(count);
  base::each(trial_.executor, pieces.size(), [&](std::size_t k) { make_rows(pieces[k], claim); });
  std::size_t used = still_.pushes();
  for (const Piece& piece : pieces) used += piece.used;
  return used == claim.pushes.size() || add_far_pushes(claim);
}

template <int D>
void BodyPairs<D>::look_at_pair(std::size_t pair, Piece& piece) {
  if (piece.fault.is_there()) return;
  const auto& [a, b] = (*looked_)[pair];
  const double overlap = overlap_of(a, b);
  if (overlap != 0.0) {
    piece.fault = {pair, Failure::Overlap, overlap};
    return;
  }
  const auto& one = trial_.world.solid(a);
  const auto& other = trial_.world.solid(b);
  shape::gaps(one.shape, trial_.poses[index(one.body)], other.shape,
              trial_.poses[index(other.body)],
              trial_.reach[index(one.body)] + trial_.reach[index(other.body)], piece.rows);
  piece.pairs.resize(piece.rows.size(), pair);
}

/// How far two shapes overlap, by an independent measure, where that is more than the slack; else
/// 0.
template <int D>
double BodyPairs<D>::overlap_of(int a, int b) const {
  const auto& one = trial_.world.solid(a);
  const auto& other = trial_.world.solid(b);
  const shape::Pose<D>& at = trial_.poses[index(one.body)];
  const shape::Pose<D>& other_at = trial_.poses[index(other.body)];
  const bool are_balls = is_ball(one.shape) && is_ball(other.shape);
  const double apart =
      are_balls ? (at.place(one.shape.corners[0]) - other_at.place(other.shape.corners[0])).norm() -
                      one.shape.round - other.shape.round
                : shape::separation(one.shape, at, other.shape, other_at, 0.0);
  const Vec<D>& where = trial_.middle[index(trial_.is_free(one.body) ? one.body : other.body)].x;
  const double slack = body::slack_of<D>(trial_.facts[index(one.body)].size,
                                         trial_.facts[index(other.body)].size, where);
  return apart >= -2.0 * trial_.depth_of(slack) ? 0.0 : -apart;
}

/// Rows of a piece of all pairs, with what is claimed of them.
template <int D>
void BodyPairs<D>::make_rows(Piece& piece, const BodyClaim<D>& claim) {
  const auto is_before = [](const body::Push<D>& push, const body::RowKey& key) {
    return push.key < key;
  };
  auto push = claim.pushes.begin();
  for (std::size_t k = 0; k < piece.rows.size(); ++k) {
    const auto& [a, b] = (*looked_)[piece.pairs[k]];
    const shape::Row<D>& row = piece.rows[k];
    JudgedRow<D>& judged = trial_.rows[piece.first + k] = {};
    judged.row = trial_.make_row({a, b, row.feature}, row.gap, row.normal, row.on_a, row.on_b);
    judged.law = &trial_.law_of(judged.row);
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

/// Whether a row is among those of its pair as far as its bodies may have come before they were
/// stopped: the farther one looks, the more planes there are that corners may still come before.
template <int D>
bool BodyPairs<D>::is_met(const body::RowKey& key) {
  constexpr double kWidened = 1.5;  // reaches that turn out to be too short are made longer by that
  const auto& a = trial_.world.solid(key.a);
  const auto& b = trial_.world.solid(key.b);
  double reach = 0.0;
  for (const int body : {a.body, b.body}) {
    const std::size_t i = index(body);
    const double before = body::speed_bound(trial_.world.bodies[i], trial_.start_of(i));
    const double speed = std::max(before + trial_.gravity_step, trial_.paces[i].speeds);
    reach += trial_.reach[i] + kWidened * trial_.h * speed;
  }
  found_.clear();
  shape::gaps(a.shape, trial_.poses[index(a.body)], b.shape, trial_.poses[index(b.body)], reach,
              found_);
  return std::any_of(found_.begin(), found_.end(),
                     [&](const shape::Row<D>& row) { return row.feature == key.feature; });
}

/// Pushes of rows that the motion does not reach in the end are measured too: the law tells whether
/// they are right. Of Level::Exact the motion without them has to.
template <int D>
bool BodyPairs<D>::add_far_pushes(const BodyClaim<D>& claim) {
  const std::size_t near = trial_.rows.size();
  std::size_t k = 0;
  for (const body::Push<D>& push : claim.pushes) {
    while (k < near && trial_.rows[k].row.key < push.key) ++k;
    if ((k < near && trial_.rows[k].row.key == push.key) || still_.has(push.key)) continue;
    const auto& a = trial_.world.solid(push.key.a);
    const auto& b = trial_.world.solid(push.key.b);
    motions_.make_ready(index(a.body));
    motions_.make_ready(index(b.body));
    Vec<D> normal;
    Vec<D> on_a;
    Vec<D> on_b;
    const double gap =
        shape::gap_of(a.shape, trial_.poses[index(a.body)], b.shape, trial_.poses[index(b.body)],
                      push.key.feature, &normal, &on_a, &on_b);
    JudgedRow<D> judged;
    judged.row = trial_.make_row(push.key, gap, normal, on_a, on_b);
    judged.law = &trial_.law_of(judged.row);
    judged.impulse = push.impulse;
    judged.moment = moment_on_a(judged.row, push.moment);
    const bool exists = trial_.exists[index(a.body)] != 0 && trial_.exists[index(b.body)] != 0;
    const bool may_push = trial_.level != Level::Exact || is_met(push.key);
    if (!std::isfinite(gap) || !exists || !trial_.world.may_touch(a.body, b.body) || !may_push) {
      return trial_.fail_at(Failure::ActiveSet, trial_.t_mid, gap, judged.row);
    }
    trial_.rows.push_back(judged);
  }
  return true;
}

template class BodyPairs<2>;
template class BodyPairs<3>;

}  // namespace ricochet::certify
