#include "ricochet/step/body_contacts.h"

#include <algorithm>
#include <limits>

#include "ricochet/base/index.h"
#include "ricochet/body/shares.h"
#include "ricochet/solve/sharing.h"

/// Islands one by one, each by the method of its level. The other parts of BodyContacts are
/// contact_assembly.cpp, exact_contacts.cpp, near_contacts.cpp, round_contacts.cpp,
/// rest_contacts.cpp, rolling_contacts.cpp and joint_contacts.cpp.
namespace ricochet::step {

using base::index;

template <int D>
BodyContacts<D>::~BodyContacts() = default;

template <int D>
BodyContacts<D>::BodyContacts(const body::World<D>& world, const certify::Limits& limits,
                              BodyJoints<D>& joints)
    : world_(world),
      joints_(joints),
      tolerance_(0.1 * limits.residual),
      gives_up_(limits.aim != limits.least && limits.may_fall(limits.least, world.free_bodies())),
      hurries_(limits.aim == certify::Level::Bounded),
      parent_(world.bodies.size()),
      scale_(world.bodies.size(), 0.0),
      methods_(problem::LocalProblem{W_, q_, mu_}),
      path_(problem::LocalProblem{W_, q_, mu_}),
      inside_(problem::LocalProblem{W_, q_, mu_}),
      movers_methods_(problem::LocalProblem{movers_.W, movers_.q, movers_.mu}) {
  W_.dim = movers_.W.dim = D;
  movers_.is_one.assign(world.bodies.size(), 0);
  for (const body::PairLaw& law : world.laws) may_resist_ = may_resist_ || law.resists_turning();
  for (const body::Body<D>& body : world.bodies) {
    ease_.push_back(body.is_free() ? body::ease_of(body, body.start) : body::Ease<D>{});
  }
}

template <int D>
problem::Report BodyContacts<D>::solve(certify::Level level, double speed, double part) {
  level_ = level;
  speed_ = speed;
  part_ = part;
  problem::Report all;
  all.general = true;
  for (int k = 0; k < islands(); ++k) {
    if (sweep_round(k)) {
      all.unlooked = all.unlooked || is_unlooked(k);
      continue;
    }
    joints_press_ = false;
    gather(k);
    const problem::Report one = level == certify::Level::Exact ? solve_island(k) : solve_near(k);
    all.iterations += one.iterations;
    all.fell_back = all.fell_back || one.fell_back;
    all.unique = all.unique && one.unique;
    all.shared = all.shared || one.shared || joints_press_;
    all.unlooked = all.unlooked || is_unlooked(k);
    if (all.status == problem::Status::Solved) all.status = one.status;
    if ((gives_up_ || is_stopped()) && all.status != problem::Status::Solved) break;
  }
  if (has_turns()) finish_turns();
  return all;
}

template <int D>
void BodyContacts<D>::apply(std::span<const body::Row<D>> rows,
                            std::vector<body::Motion<D>>& motions) const {
  if (joints_.any()) apply_joints(motions);
  if (has_turns()) apply_turns(motions);
  const auto give = [&](int b, const body::Vec<D>& arm, const body::Vec<D>& p, double sign) {
    const body::Body<D>& body = world_.body(b);
    if (!body.is_free()) return;
    motions[index(b)].v += sign * p / body.mass;
    motions[index(b)].spin += ease_[index(b)](sign * body::moment(arm, p));
  };
  body::in_shares(executor_, rows.size(), motions.size(), [&](const body::Share& share) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const body::Row<D>& row = rows[i];
      if (!share.has(row.body_a) && !share.has(row.body_b)) continue;
      const body::Vec<D> r = impulses_.template segment<D>(D * static_cast<Eigen::Index>(i));
      if ((r.array() == 0.0).all()) continue;
      const body::Vec<D> p = body::in_space(row, r);
      if (share.has(row.body_a)) give(row.body_a, row.arm_a, p, 1.0);
      if (share.has(row.body_b)) give(row.body_b, row.arm_b, p, -1.0);
    }
  });
}

template <int D>
void BodyContacts<D>::keep_impulses(int island) {
  const int begin = start_[index(island)];
  for (int k = 0; k < W_.rows; ++k) {
    impulses_.template segment<D>(D * members_[index(begin + k)]) = r_.template segment<D>(D * k);
  }
}

/// Whether the impulses were replaced by those of equally stiff contacts.
template <int D>
bool BodyContacts<D>::share(int island, problem::Report& report) {
  if (looks_ == nullptr || has_turns()) return false;
  if (W_.rows < 2 || W_.rows > solve::Sharing<D>::kMost) return false;
  if (!sharing_) {
    sharing_ = std::make_unique<solve::Sharing<D>>(problem::LocalProblem{W_, q_, mu_});
  }
  const base::Looks::Part part = name_of(island);
  const bool asks = looks_->asks(part, sharing_->pattern(r_));
  if (!asks && !looks_->has_found(part)) return false;
  if (!sharing_->settle(part, asks, *looks_, r_, report)) return false;
  methods_.begin(r_);
  return true;
}

/// Of its free body with the lowest number: an island has no other's.
template <int D>
base::Looks::Part BodyContacts<D>::name_of(int island) const {
  int least = std::numeric_limits<int>::max();
  for (int k = start_[index(island)]; k < start_[index(island) + 1]; ++k) {
    const body::Row<D>& row = rows_[index(members_[index(k)])];
    for (const int body : {row.body_a, row.body_b}) {
      if (world_.body(body).is_free()) least = std::min(least, body);
    }
  }
  return static_cast<base::Looks::Part>(least);
}

/// Whether loads of an island may be shared in more than one way, so that friction is bound
/// otherwise, and nobody looks for that: its bodies are held by more impulses than they have ways
/// to move, and it has too many contacts, or rolling friction, or is not solved exactly.
template <int D>
bool BodyContacts<D>::is_unlooked(int island) {
  if (looks_ == nullptr) return false;
  int pushes = 0;
  int impulses = 0;  // components that push, and that rub
  int ways = 0;
  bool rubs = false;
  for (int k = start_[index(island)]; k < start_[index(island) + 1]; ++k) {
    const auto i = index(members_[index(k)]);
    if (i >= taken_ || !(impulses_[D * static_cast<Eigen::Index>(i)] > 0.0)) continue;
    ++pushes;
    impulses += friction_[i] > 0.0 ? D : 1;
    rubs = rubs || friction_[i] > 0.0;
    for (const int b : {rows_[i].body_a, rows_[i].body_b}) {
      if (!world_.body(b).is_free() || !(scale_[index(b)] >= 0.0)) continue;
      scale_[index(b)] = -1.0;  // counted
      ways += D + body::kSpins<D>;
    }
  }
  for (int k = start_[index(island)]; k < start_[index(island) + 1]; ++k) {
    const body::Row<D>& row = rows_[index(members_[index(k)])];
    for (const int b : {row.body_a, row.body_b}) scale_[index(b)] = 0.0;
  }
  const bool is_looked_at =
      level_ == certify::Level::Exact && !has_turns() &&
      start_[index(island) + 1] - start_[index(island)] <= solve::Sharing<D>::kMost;
  return rubs && pushes > 1 && impulses > ways && !is_looked_at;
}

template class BodyContacts<2>;
template class BodyContacts<3>;

}  // namespace ricochet::step
