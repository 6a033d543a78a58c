#include "ricochet/certify/body_meetings.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ricochet/body/strikes.h"
#include "ricochet/certify/body_width.h"
#include "ricochet/shape/gaps.h"

namespace ricochet::certify {

using base::index;
using body::Vec;

namespace {

constexpr double kSameTime = 2e-3;      // of a step: what counts as the same instant
constexpr double kDoubt = 1e-6;         // of a speed: rounding decides within
constexpr double kNearly = 1.0 + 1e-6;  // times the slack: rounding decides up to there

/// Corners without a radius have no rows where they are before no face: see shape.
template <int D>
bool is_sharp(const shape::Shape<D>& shape) {
  return shape.kind == shape::Kind::Core && !shape.faces.empty() && shape.round == 0.0;
}

/// What bounds how deep a shape may be entered before it is left at its other side; nothing does
/// for points and half-spaces, which have no sides.
template <int D>
double thickness(const body::Body<D>& body, const shape::Shape<D>& shape) {
  const bool has_sides = shape.extent > 0.0 && std::isfinite(shape.extent);
  if (!has_sides) return std::numeric_limits<double>::infinity();
  return std::min(body.size, 2.0 * shape.extent);
}

/// Half-spaces and fixed ground are left where they were entered, however deep that is.
template <int D>
bool has_two_sides(const shape::Shape<D>& shape) {
  return shape.kind != shape::Kind::HalfSpace && shape.kind != shape::Kind::Surface;
}

}  // namespace

template <int D>
BodyMeetings<D>::BodyMeetings(BodyTrial<D>& trial, const BodyMotions<D>& motions,
                              JointCourt<D>& joints)
    : trial_(trial), motions_(motions), joints_(joints), groups_(trial.facts.size()) {
  for (const body::PairLaw& law : trial.world.laws) {
    all_look_ahead_ = all_look_ahead_ && law.looks_ahead();
    may_strike_ = may_strike_ || (law.looks_ahead() && law.friction > 0.0);
  }
  is_touched_.resize(trial.facts.size());
  is_joined_.resize(trial.facts.size());
  for (const body::Joint<D>& joint : trial.world.joints) {
    is_joined_[index(joint.a)] = is_joined_[index(joint.b)] = 1;
  }
  int sharp = 0;
  for (const auto& solid : trial.world.solids) sharp += is_sharp(solid.shape) ? 1 : 0;
  for (const auto& solid : trial.world.solids) {
    widths_.push_back(may_strike_ ? width_of<D>(solid.shape) : 0.0);
  }
  none_can_pass_ = all_look_ahead_ && sharp < 2;
  if (trial.mixes_restitution) meets_.resize(trial.facts.size());
  may_land_ = body::may_land(trial.world);
  thrown_.resize(trial.facts.size());
}

template <int D>
bool BodyMeetings<D>::drop_idle() {
  if (all_look_ahead_ && meets_.empty() && !may_strike_) return true;
  waited_.clear();
  find_newcomers();
  if (may_land_) find_thrown();
  if (may_strike_) find_company();
  if (!meets_.empty()) find_meetings();
  for (std::size_t i = 0; i < trial_.rows.size();) {
    JudgedRow<D>& one = trial_.rows[i];
    const bool is_ahead = one.law->looks_ahead();
    Word word = looks_ahead(one);
    if (word != Word::Waits && !meets_.empty()) {
      const double time = body::time_to_touch(trial_.world, one.row,
                                              Vec<D>(trial_.h * trial_.gravity), trial_.middle);
      word = std::max(word, waits(one.row.body_a, one.row.body_b, time));
    }
    const bool is_idle = word == Word::Waits || (word == Word::May && !(one.impulse[0] > 0.0));
    if (is_idle && is_open(one.row)) {
      if (is_ahead) waited_.push_back({one.row.key.a, one.row.key.b});
      if (one.impulse[0] > 0.0) {
        return trial_.fail_at(Failure::ActiveSet, trial_.t_mid, one.row.gap, one.row);
      }
      trial_.rows[i] = trial_.rows.back();  // it does not act
      trial_.rows.pop_back();
      continue;
    }
    ++i;
  }
  std::sort(waited_.begin(), waited_.end());
  return true;
}

/// Whether a row with e > 0 would not act.
template <int D>
bool BodyMeetings<D>::is_open(const body::Row<D>& row) const {
  if (std::binary_search(newcomers_.begin(), newcomers_.end(), std::pair(row.key.a, row.key.b))) {
    return true;
  }
  return row.gap > row.slack * kNearly && !trial_.is_put(row.key);
}

/// Pairs with e > 0 that touch because places were put back do not act. Which rows sharp bodies
/// have depends on how far one looks: where that decides, a pair that pushes acts.
template <int D>
void BodyMeetings<D>::find_newcomers() {
  newcomers_.clear();
  if (trial_.unshifted.empty()) return;
  const auto is_same = [](const JudgedRow<D>& one, const JudgedRow<D>& other) {
    return one.row.key.a == other.row.key.a && one.row.key.b == other.row.key.b;
  };
  for (auto one = trial_.rows.begin(); one != trial_.rows.end();) {
    const auto end = std::find_if(one, trial_.rows.end(),
                                  [&](const JudgedRow<D>& other) { return !is_same(*one, other); });
    const body::Row<D>& row = one->row;
    const bool pushes =
        std::any_of(one, end, [](const JudgedRow<D>& each) { return each.impulse[0] > 0.0; });
    const double reach = trial_.reach[index(row.body_a)] + trial_.reach[index(row.body_b)];
    const auto touched = [&](double within) {
      return may_touch_before(row.key, row.slack * kNearly, within);
    };
    if (!one->law->looks_ahead() && !touched(row.slack * kNearly) && !(pushes && touched(reach))) {
      newcomers_.emplace_back(row.key.a, row.key.b);
    }
    one = end;
  }
  std::sort(newcomers_.begin(), newcomers_.end());
}

/// Whether two shapes touched before places were put back, by their rows within reach.
template <int D>
bool BodyMeetings<D>::may_touch_before(const body::RowKey& key, double slack, double reach) {
  const auto& one = trial_.world.solid(key.a);
  const auto& other = trial_.world.solid(key.b);
  found_.clear();
  shape::gaps(one.shape, trial_.unshifted[index(one.body)], other.shape,
              trial_.unshifted[index(other.body)], reach, found_);
  return std::any_of(found_.begin(), found_.end(),
                     [&](const shape::Row<D>& row) { return row.gap <= slack; });
}

/// Free bodies that touch or are joined to each other.
template <int D>
void BodyMeetings<D>::find_groups() {
  groups_.clear();
  const auto tie = [&](int a, int b) {
    if (trial_.is_free(a) && trial_.is_free(b)) groups_.unite(a, b);
  };
  for (const JudgedRow<D>& one : trial_.rows) {
    if (!is_open(one.row)) tie(one.row.body_a, one.row.body_b);
  }
  for (const body::Joint<D>& joint : trial_.world.joints) tie(joint.a, joint.b);
}

/// With the spin before the step, which in space is not that at its rows.
template <int D>
body::Motion<D> BodyMeetings<D>::before(int b) const {
  body::Motion<D> m = trial_.middle[index(b)];
  if (trial_.is_free(b)) m.spin = trial_.start_of(index(b)).spin;
  return m;
}

template <int D>
double BodyMeetings<D>::comes(const body::Row<D>& row) const {
  return -body::relative(row, before(row.body_a), before(row.body_b))[0];
}

/// Free bodies that are touched.
template <int D>
void BodyMeetings<D>::find_company() {
  std::fill(is_touched_.begin(), is_touched_.end(), 0);
  for (const JudgedRow<D>& one : trial_.rows) {
    if (is_open(one.row)) continue;
    is_touched_[index(one.row.body_a)] = is_touched_[index(one.row.body_b)] = 1;
  }
}

/// How fast any is thrown back in groups of bodies, at least and at most.
template <int D>
void BodyMeetings<D>::find_thrown() {
  find_groups();
  std::fill(thrown_.begin(), thrown_.end(), Thrown{});
  for (const JudgedRow<D>& one : trial_.rows) {
    if (is_open(one.row)) continue;
    const auto thrown = [&](double part) {
      return trial_.gains().thrown(*one.law, one.row, comes(one.row) * part);
    };
    const double most = thrown(1.0 + kDoubt);
    if (most == 0.0) continue;
    const double least = thrown(1.0 - kDoubt);
    for (const int b : {one.row.body_a, one.row.body_b}) {
      if (!trial_.is_free(b)) continue;
      Thrown& group = thrown_[groups_.at(b)];
      group = {std::max(group.least, least), std::max(group.most, most)};
    }
  }
}

/// Whether an open row acts: with e = 0, or where bodies come together too slowly to be thrown
/// back, by nobody who is thrown. Where rounding decides it may do either.
template <int D>
Word BodyMeetings<D>::looks_ahead(const JudgedRow<D>& one) {
  if (one.law->looks_ahead()) return may_strike_ ? strikes(one) : Word::Acts;
  if (!may_land_) return Word::Waits;
  const double speed = comes(one.row);
  const auto e_of = [&](double approach) {
    return trial_.gains().returned(*one.law, one.row, approach);
  };
  if (e_of(speed * (1.0 - kDoubt)) > 0.0) return Word::Waits;
  Word word = e_of(speed * (1.0 + kDoubt)) > 0.0 ? Word::May : Word::Acts;
  for (const int b : {one.row.body_a, one.row.body_b}) {
    if (!trial_.is_free(b)) continue;
    const Thrown& group = thrown_[groups_.at(b)];
    const bool may = trial_.gains().lands_beside(*one.law, one.row, group.least * (1.0 - kDoubt));
    const bool must = trial_.gains().lands_beside(*one.law, one.row, group.most * (1.0 + kDoubt));
    word = std::max(word, must ? Word::Acts : may ? Word::May : Word::Waits);
  }
  return word;
}

/// Whether an open row with e = 0 acts before it touches, waits until then, or where rounding
/// decides may do either.
template <int D>
Word BodyMeetings<D>::strikes(const JudgedRow<D>& one) const {
  const body::Row<D>& row = one.row;
  const auto any = [&](const std::vector<char>& of) {
    return (trial_.is_free(row.body_a) && of[index(row.body_a)] != 0) ||
           (trial_.is_free(row.body_b) && of[index(row.body_b)] != 0);
  };
  const bool is_joined = any(is_joined_);
  if (one.law->friction == 0.0 || !(is_joined || body::push_turns(trial_.world, row))) {
    return Word::Acts;
  }
  const body::Strike<D> strike{
      .world = trial_.world,
      .friction = one.law->friction,
      .row = row,
      .a = before(row.body_a),
      .b = before(row.body_b),
      .width = std::min(widths_[index(row.key.a)], widths_[index(row.key.b)]),
      .h = trial_.h,
      .gravity_step = trial_.gravity_step,
      .is_joined = is_joined,
      .is_alone = !any(is_touched_)};
  const bool waits = strike.waits(1.0 - kDoubt);
  if (waits != strike.waits(1.0 + kDoubt)) return Word::May;
  return waits ? Word::Waits : Word::Acts;
}

/// When free bodies first meet a row that does not land, or a limit, with e > 0: of their own, and
/// of the bodies that they touch or are joined to. Until then rows that would touch later do not
/// act ahead.
template <int D>
void BodyMeetings<D>::find_meetings() {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  std::fill(meets_.begin(), meets_.end(), Meeting{kNever, kNever});
  find_groups();
  const Vec<D> given = trial_.h * trial_.gravity;
  const auto meet = [&](int a, int b, double time, bool is_sure) {
    if (time > (1.0 + kSameTime) * trial_.h) return;
    for (const int i : {a, b}) {
      if (!trial_.is_free(i)) continue;
      if (is_sure) meets_[index(i)].own = std::min(meets_[index(i)].own, time);
      Meeting& group = meets_[groups_.at(i)];
      group.of_group = std::min(group.of_group, time);
    }
  };
  for (const JudgedRow<D>& one : trial_.rows) {
    if (one.law->looks_ahead()) continue;
    const Word word = looks_ahead(one);
    if (word == Word::Acts || !is_open(one.row)) continue;
    meet(one.row.body_a, one.row.body_b,
         body::time_to_touch(trial_.world, one.row, given, trial_.middle), word == Word::Waits);
  }
  joints_.look(trial_.middle, trial_.exists);
  joints_.each_open_limit(trial_.middle, given, [&](std::size_t j, bool, double time) {
    const body::Joint<D>& joint = trial_.world.joints[j];
    if (joint.restitution > 0.0) meet(joint.a, joint.b, time, true);
  });
  joints_.each_open_limit(trial_.middle, given, [&](std::size_t j, bool is_low, double time) {
    const body::Joint<D>& joint = trial_.world.joints[j];
    joints_.set_word(j, is_low, waits(joint.a, joint.b, time));
  });
}

/// Whether a row with e = 0 acts, waits until it touches, or where rounding decides may do either.
template <int D>
Word BodyMeetings<D>::waits(int a, int b, double time) {
  Word word = Word::Acts;
  for (const int i : {a, b}) {
    if (!trial_.is_free(i)) continue;
    const double own = meets_[index(i)].own;
    const double group = meets_[groups_.at(i)].of_group;
    const double first = std::min(own, group);
    if (!std::isfinite(first)) continue;
    if (first <= time + kSameTime * trial_.h) word = std::max(word, Word::May);
    if (own <= std::min(time, trial_.h) - kSameTime * trial_.h) word = Word::Waits;
  }
  return word;
}

/// Whether a pair has no rows ahead of its motion, in this step.
template <int D>
bool BodyMeetings<D>::may_pass(int a, int b) const {
  const auto& one = trial_.world.solid(a);
  const auto& other = trial_.world.solid(b);
  if (!trial_.world.law_between(one.body, other.body).looks_ahead()) return true;
  return (is_sharp(one.shape) && is_sharp(other.shape)) ||
         std::binary_search(waited_.begin(), waited_.end(), std::pair(a, b));
}

template <int D>
bool BodyMeetings<D>::check_passing() const {
  constexpr int kFewest = 16;
  constexpr int kMost = 4096;
  if (none_can_pass_ && waited_.empty()) return true;
  for (const auto& [a, b] : motions_.near_before()) {
    if (!may_pass(a, b)) continue;
    const auto& one = trial_.world.solid(a);
    const auto& other = trial_.world.solid(b);
    const body::Body<D>& body_a = trial_.world.body(one.body);
    const body::Body<D>& body_b = trial_.world.body(other.body);
    const double thin = std::min(thickness(body_a, one.shape), thickness(body_b, other.shape));
    const double width = std::min(width_of(one.shape), width_of(other.shape));
    const double way = trial_.reach[index(one.body)] + trial_.reach[index(other.body)];
    const double deep = std::min(0.5 * thin, kDeepPart * width);
    if (way < deep) continue;
    const int looks = static_cast<int>(std::clamp(4.0 * way / deep, 1.0 * kFewest, 1.0 * kMost));
    double apart = 0.0;
    double before = 0.0;
    double least = std::numeric_limits<double>::infinity();
    for (int k = 0; k <= looks; ++k) {
      body::Motion<D> at_a = trial_.middle_after[index(one.body)];
      body::Motion<D> at_b = trial_.middle_after[index(other.body)];
      at_a.advance(trial_.h * k / looks);
      at_b.advance(trial_.h * k / looks);
      before = apart;
      apart = shape::separation(one.shape, body::pose_of(body_a, at_a), other.shape,
                                body::pose_of(body_b, at_b));
      least = std::min(least, apart);
    }
    const bool is_through = has_two_sides(one.shape) && has_two_sides(other.shape) &&
                            least < -kDeepPart * width && !goes_deeper(before, apart, way / looks);
    if (!(least < -0.5 * thin) && !is_through) continue;
    return trial_.fail_between(Failure::PassedThrough, trial_.t_mid, -least, one.body, other.body);
  }
  return true;
}

template class BodyMeetings<2>;
template class BodyMeetings<3>;

}  // namespace ricochet::certify
