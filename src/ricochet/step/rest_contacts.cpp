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

constexpr int kLarge = 400;  // rows for which the search costs as much as many steps
/// The most rows of an island that is held beside bodies that move, in every step anew: in space
/// that is dear, and made of more where the world is to come to rest.
template <int D>
int most_beside(const body::World<D>& world) {
  return D == 2 ? 4000 : world.sleeps ? 1000 : kLarge;
}
constexpr int kStillPart = 8;  // one row of so many may be one of a body that moves
constexpr int kLongest = 64;   // steps until a question is asked again whose answer was no

}  // namespace

/// Whether the bodies of an island hardly move.
template <int D>
bool BodyContacts<D>::is_still(int island) const {
  for (int k = start_[index(island)]; k < start_[index(island) + 1]; ++k) {
    if (!is_slow(members_[index(k)])) return false;
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
  const int wait = is_large || movers_.any ? 16 : 1;
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
  return start_[index(island) + 1] - start_[index(island)] > kFew && most_are_still(island);
}

template <int D>
typename RestSearch<D>::Problem BodyContacts<D>::rest_of(int island) const {
  const auto begin = index(start_[index(island)]);
  const auto count = index(start_[index(island) + 1]) - begin;
  return {world_,
          rows_,
          {members_.data() + begin, count},
          arms_,
          ease_,
          *motions_,
          free_,
          friction_,
          noise_,
          h_,
          movers_.bodies.empty() ? nullptr : &movers_.is_one};
}

/// Whether the impulses of the step before hold an island that they held then.
template <int D>
bool BodyContacts<D>::keeps_still(int island) {
  return is_sought(island) && is_still(island) && rest_.holds(rest_of(island), impulses_);
}

/// Whether it is time to ask an island for rest: its bodies hardly move, and the last answer is not
/// too new.
template <int D>
bool BodyContacts<D>::may_rest(int island) {
  if (!is_sought(island)) return false;
  const body::RestTry* last = last_try(island);
  return last == nullptr || step_ >= last->next;
}

/// Rows of an island one of whose bodies is not slow, or not at rest.
template <int D>
int BodyContacts<D>::count_moving(int island, int bit) const {
  const int both = 3 * bit;
  int moving = 0;
  for (int k = start_[index(island)]; k < start_[index(island) + 1]; ++k) {
    moving += (rests_[index(members_[index(k)])] & both) != both ? 1 : 0;
  }
  return moving;
}

/// Whether few rows of an island are those of bodies that move: the others may rest.
template <int D>
bool BodyContacts<D>::most_are_still(int island) const {
  const int count = start_[index(island) + 1] - start_[index(island)];
  const int moving = count_moving(island, kSlow);
  return moving == 0 || (count <= most_beside(world_) && kStillPart * moving <= count);
}

/// Who moves: where most bodies are at rest all others; else those that are faster than gravity
/// makes them in one step.
template <int D>
void BodyContacts<D>::find_fast(int island, std::vector<int>& bodies) const {
  const int count = start_[index(island) + 1] - start_[index(island)];
  const int bit = kStillPart * count_moving(island, kRests) <= count ? kRests : kSlow;
  bodies.clear();
  for (int k = start_[index(island)]; k < start_[index(island) + 1]; ++k) {
    const auto row = index(members_[index(k)]);
    if ((rests_[row] & bit) == 0) bodies.push_back(rows_[row].body_a);
    if ((rests_[row] & (2 * bit)) == 0) bodies.push_back(rows_[row].body_b);
  }
  std::sort(bodies.begin(), bodies.end());
  bodies.erase(std::unique(bodies.begin(), bodies.end()), bodies.end());
}

/// Impulses that hold an island whose bodies hardly move, if there are any: all that are admissible
/// obey the law, u = 0 being its motion, and those near the impulses that there are will do. Where
/// few bodies move whatever the others do, those others. Leaves impulses as they were where there
/// are none.
template <int D>
bool BodyContacts<D>::hold(int island) {
  const int begin = start_[index(island)];
  const int count = start_[index(island) + 1] - begin;
  movers_.kept.resize(D * count);
  for (int k = 0; k < count; ++k) {
    movers_.kept.template segment<D>(D * k) =
        impulses_.template segment<D>(D * members_[index(begin + k)]);
  }
  const bool is_held = hold_beside_moving(island);
  movers_.any = !movers_.bodies.empty();
  for (const int b : movers_.bodies) movers_.is_one[index(b)] = 0;
  movers_.bodies.clear();
  if (is_held) return true;
  for (int k = 0; k < count; ++k) {
    impulses_.template segment<D>(D * members_[index(begin + k)]) =
        movers_.kept.template segment<D>(D * k);
  }
  note_try(island);
  return false;
}

/// Who moves is found in rounds: first those that are fast, then those that no impulses can hold.
template <int D>
bool BodyContacts<D>::hold_beside_moving(int island) {
  constexpr int kRounds = 4;
  constexpr double kPart = 1e-3;  // of the largest speed of a proof
  const int count = start_[index(island) + 1] - start_[index(island)];
  movers_.found.clear();
  if (count <= most_beside(world_)) find_fast(island, movers_.found);
  for (int round = 0; round < kRounds; ++round) {
    add_movers(movers_.found);
    if (!movers_.bodies.empty()) {
      list_movers_rows(island);
      if (4 * static_cast<int>(movers_.rows.size()) > count || !solve_movers()) return false;
    }
    const auto answer = rest_.look(rest_of(island), impulses_, stop_);
    if (answer != RestSearch<D>::Answer::Impossible) return answer == RestSearch<D>::Answer::Found;
    if (count > most_beside(world_)) return false;
    movers_.found.clear();
    rest_.list_moving(kPart, movers_.found);
    if (8 * static_cast<int>(movers_.found.size()) > count) return false;
  }
  return false;
}

template <int D>
void BodyContacts<D>::add_movers(const std::vector<int>& bodies) {
  for (const int b : bodies) {
    if (!world_.body(b).is_free() || movers_.is_one[index(b)] != 0) continue;
    movers_.is_one[index(b)] = 1;
    movers_.bodies.push_back(b);
  }
}

/// Rows of bodies that move.
template <int D>
void BodyContacts<D>::list_movers_rows(int island) {
  movers_.rows.clear();
  for (int k = start_[index(island)]; k < start_[index(island) + 1]; ++k) {
    const int row = members_[index(k)];
    const body::Row<D>& its = rows_[index(row)];
    if (movers_.is_one[index(its.body_a)] != 0 || movers_.is_one[index(its.body_b)] != 0) {
      movers_.rows.push_back(row);
    }
  }
}

/// The contact problem of bodies that move, all others being held.
template <int D>
void BodyContacts<D>::gather_movers() {
  const int count = static_cast<int>(movers_.rows.size());
  const auto moves = [&](int b) { return movers_.is_one[index(b)] != 0; };
  problem::BlockRows& W = movers_.W;
  W.rows = count;
  W.start.assign(index(count) + 1, 0);
  W.column.clear();
  W.values.clear();
  movers_.mu.resize(index(count));
  movers_.q.resize(D * count);
  movers_.r.resize(D * count);
  for (int k = 0; k < count; ++k) {
    const int row = movers_.rows[index(k)];
    const body::Row<D>& mine = rows_[index(row)];
    Vector q = free_.template segment<D>(D * row);
    for (const bool of_a : {true, false}) {
      const int b = of_a ? mine.body_a : mine.body_b;
      if (moves(b) || !world_.body(b).is_free()) continue;
      const body::Motion<D>& m = (*motions_)[index(b)];
      q -= (of_a ? 1.0 : -1.0) *
           body::in_frame(mine, body::velocity_at(m, of_a ? mine.arm_a : mine.arm_b));
    }
    movers_.q.template segment<D>(D * k) = q;
    movers_.r.template segment<D>(D * k) = impulses_.template segment<D>(D * row);
    movers_.mu[index(k)] = friction_[index(row)];
    for (int l = 0; l < count; ++l) {
      const body::Row<D>& other = rows_[index(movers_.rows[index(l)])];
      Block sum = Block::Zero();
      bool any = false;
      for (const bool of_a : {true, false}) {
        const int b = of_a ? mine.body_a : mine.body_b;
        if (!moves(b) || (other.body_a != b && other.body_b != b)) continue;
        const auto at = 2 * index(movers_.rows[index(l)]) + (other.body_a == b ? 0U : 1U);
        sum += block(arms_[2 * index(row) + (of_a ? 0U : 1U)], arms_[at], b);
        any = true;
      }
      if (!any) continue;
      W.column.push_back(l);
      W.values.insert(W.values.end(), sum.data(), sum.data() + D * D);
    }
    W.start[index(k) + 1] = static_cast<int>(W.column.size());
  }
}

/// Their motion by the exact law, and its impulses.
template <int D>
bool BodyContacts<D>::solve_movers() {
  constexpr double kFinest = 0.1;  // of the tolerance, that is aimed at
  constexpr double kCoarsest = 2.0;
  gather_movers();
  movers_methods_.set_mean_change(0.0);
  movers_methods_.begin(movers_.r);
  double residual = movers_methods_.solve(movers_.r, kFinest * tolerance_);
  if (residual > kFinest * tolerance_) residual = movers_methods_.finish(movers_.r);
  if (!(residual <= kCoarsest * tolerance_)) return false;
  for (std::size_t k = 0; k < movers_.rows.size(); ++k) {
    impulses_.template segment<D>(D * movers_.rows[k]) =
        movers_.r.template segment<D>(D * static_cast<Eigen::Index>(k));
  }
  return true;
}

/// The same of an island whose matrix is there: r.
template <int D>
bool BodyContacts<D>::find_rest(int island) {
  if (!may_rest(island) || !hold(island)) return false;
  const Eigen::VectorXd before = r_.head(D * W_.rows);
  take_impulses(island);
  const double residual = methods_.residual(r_);
  if (!movers_.any || residual <= 2.0 * tolerance_) return true;
  r_.head(D * W_.rows) = before;  // what moves is not solved well enough beside the whole
  methods_.residual(r_);
  note_try(island);
  return false;
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
template void BodyContacts<2>::find_fast(int, std::vector<int>&) const;
template void BodyContacts<3>::find_fast(int, std::vector<int>&) const;
template int BodyContacts<2>::count_moving(int, int) const;
template int BodyContacts<3>::count_moving(int, int) const;
template bool BodyContacts<2>::most_are_still(int) const;
template bool BodyContacts<3>::most_are_still(int) const;
template bool BodyContacts<2>::hold_beside_moving(int);
template bool BodyContacts<3>::hold_beside_moving(int);
template void BodyContacts<2>::add_movers(const std::vector<int>&);
template void BodyContacts<3>::add_movers(const std::vector<int>&);
template void BodyContacts<2>::list_movers_rows(int);
template void BodyContacts<3>::list_movers_rows(int);
template void BodyContacts<2>::gather_movers();
template void BodyContacts<3>::gather_movers();
template bool BodyContacts<2>::solve_movers();
template bool BodyContacts<3>::solve_movers();
template bool BodyContacts<2>::find_rest(int);
template bool BodyContacts<3>::find_rest(int);
template bool BodyContacts<2>::prefer_rest(int);
template bool BodyContacts<3>::prefer_rest(int);

}  // namespace ricochet::step
