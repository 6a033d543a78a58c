// Impulses that hold an island at rest.

#include <algorithm>
#include <cmath>

#include "ricochet/base/index.h"
#include "ricochet/solve/contact_measure.h"
#include "ricochet/step/body_contacts.h"

namespace ricochet::step {

using base::index;
namespace {

constexpr int kFew = 12;  // rows whose loads are shared by a rule of its own: solve::Sharing

constexpr int kLarge = 400;   // rows for which the search costs as much as many steps
constexpr int kLongest = 64;  // steps until a question is asked again whose answer was no

}  // namespace

/// Whether the bodies of an island hardly move.
template <int D>
bool BodyContacts<D>::is_still(int island) const {
  for (int k = start_[index(island)]; k < start_[index(island) + 1]; ++k) {
    if (rests_[index(members_[index(k)])] == 0) return false;
  }
  return true;
}

/// Whether velocities, measured last, are those of a motion that is not the only one: a row that
/// pushes slides or parts, or one slides faster than it parts. Where none does u obeys the
/// associated law too, whose motion is unique: there is no rest beside it.
template <int D>
bool BodyContacts<D>::moves(int island) const {
  constexpr double kPart = 1e-9;  // of the largest free velocity
  const int begin = start_[index(island)];
  const double least = kPart * q_.head(D * W_.rows).cwiseAbs().maxCoeff();
  for (int k = 0; k < W_.rows; ++k) {
    const Vector u = methods_.velocity().template segment<D>(D * k);
    const double noise = std::max(least, noise_[index(members_[index(begin + k)])]);
    const double slip = u.template tail<D - 1>().norm();
    if (r_[D * k] > 0.0 ? u.norm() > noise : mu_[index(k)] * slip > u[0] + noise) return true;
  }
  return false;
}

/// When the island, which cannot rest, is asked again; null where it was never asked.
template <int D>
body::RestTry* BodyContacts<D>::last_try(int island) {
  const auto body = static_cast<int>(name_of(island));
  const auto at = std::lower_bound(tries_->begin(), tries_->end(), body,
                                   [](const body::RestTry& one, int b) { return one.body < b; });
  return at != tries_->end() && at->body == body ? &*at : nullptr;
}

/// Enters that the island cannot rest.
template <int D>
void BodyContacts<D>::note_try(int island) {
  if (body::RestTry* last = last_try(island)) {
    last->wait = std::min(kLongest, last->wait + (last->wait + 1) / 2);  // 1, 2, 3, 5, 8, 12, ...
    last->next = step_ + last->wait;
    return;
  }
  const bool is_large = start_[index(island) + 1] - start_[index(island)] > kLarge;
  const int wait = is_large ? 16 : 1;
  const body::RestTry one{static_cast<int>(name_of(island)), wait, step_ + wait};
  const auto at =
      std::lower_bound(tries_->begin(), tries_->end(), one.body,
                       [](const body::RestTry& other, int b) { return other.body < b; });
  tries_->insert(at, one);
}

/// Whether rest of an island is looked for: joints and rolling friction are not known to the
/// search, and the loads of few contacts are shared by a rule that may not hold them.
template <int D>
bool BodyContacts<D>::is_sought(int island) const {
  if (tries_ == nullptr || has_turns() || joints_.any()) return false;
  return start_[index(island) + 1] - start_[index(island)] > kFew && is_still(island);
}

template <int D>
typename RestSearch<D>::Problem BodyContacts<D>::rest_of(int island) const {
  const auto begin = index(start_[index(island)]);
  const auto count = index(start_[index(island) + 1]) - begin;
  return {
      world_, rows_, {members_.data() + begin, count}, arms_, ease_, *motions_, free_, friction_,
      noise_, h_};
}

/// Whether the impulses of the step before hold an island that they held then.
template <int D>
bool BodyContacts<D>::keeps_still(int island) {
  return is_sought(island) && rest_.holds(rest_of(island), impulses_);
}

/// Whether it is time to ask an island for rest: its bodies hardly move, and the last answer is not
/// too new.
template <int D>
bool BodyContacts<D>::may_rest(int island) {
  if (!is_sought(island)) return false;
  const body::RestTry* last = last_try(island);
  return last == nullptr || step_ >= last->next;
}

/// Impulses that hold an island whose bodies hardly move, if there are any: all that are admissible
/// obey the law, u = 0 being its motion, and those near the impulses that there are will do. Leaves
/// impulses as they were where there are none.
template <int D>
bool BodyContacts<D>::hold(int island) {
  const auto answer = rest_.look(rest_of(island), impulses_, stop_);
  if (answer == RestSearch<D>::Answer::Found) return true;
  note_try(island);
  return false;
}

/// The same of an island whose matrix is there: r.
template <int D>
bool BodyContacts<D>::find_rest(int island) {
  if (!may_rest(island) || !hold(island)) return false;
  take_impulses(island);
  methods_.residual(r_);
  return true;
}

/// Puts rest in the place of a motion that was found, where both obey the law.
template <int D>
bool BodyContacts<D>::prefer_rest(int island) {
  return may_rest(island) && moves(island) && find_rest(island);
}

template <int D>
void BodyContacts<D>::take_impulses(int island) {
  const int begin = start_[index(island)];
  for (int k = 0; k < W_.rows; ++k) {
    r_.template segment<D>(D * k) = impulses_.template segment<D>(D * members_[index(begin + k)]);
  }
}

template bool BodyContacts<2>::is_still(int) const;
template bool BodyContacts<3>::is_still(int) const;
template bool BodyContacts<2>::moves(int) const;
template bool BodyContacts<3>::moves(int) const;
template body::RestTry* BodyContacts<2>::last_try(int);
template body::RestTry* BodyContacts<3>::last_try(int);
template void BodyContacts<2>::take_impulses(int);
template void BodyContacts<3>::take_impulses(int);
template bool BodyContacts<2>::is_sought(int) const;
template bool BodyContacts<3>::is_sought(int) const;
template RestSearch<2>::Problem BodyContacts<2>::rest_of(int) const;
template RestSearch<3>::Problem BodyContacts<3>::rest_of(int) const;
template bool BodyContacts<2>::keeps_still(int);
template bool BodyContacts<3>::keeps_still(int);
template bool BodyContacts<2>::may_rest(int);
template bool BodyContacts<3>::may_rest(int);
template bool BodyContacts<2>::hold(int);
template bool BodyContacts<3>::hold(int);
template void BodyContacts<2>::note_try(int);
template void BodyContacts<3>::note_try(int);
template bool BodyContacts<2>::find_rest(int);
template bool BodyContacts<3>::find_rest(int);
template bool BodyContacts<2>::prefer_rest(int);
template bool BodyContacts<3>::prefer_rest(int);

}  // namespace ricochet::step
