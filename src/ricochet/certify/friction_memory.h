#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "ricochet/certify/certificate.h"
#include "ricochet/model/model.h"

namespace ricochet::certify {

/// What a judge remembers of contacts with friction. Entries by contact hold from one step to the
/// next; entries by place k in the list of active contacts belong to the step that was just judged.
template <model::Model M, int T = M::kSlips>
class FrictionMemory {
 public:
  void open(const M& model, int contacts) {
    for (int a = 0; a < contacts; ++a) exists_ = exists_ || model.slips(a) > 0;
    if (!exists_) return;
    const auto count = static_cast<std::size_t>(contacts);
    by_contact_.resize(count);
    by_place_.resize(count);
    all_ = model::IndexList<M::kContacts>(model.contacts());
    for (int a = 0; a < contacts; ++a) all_.push(a);
  }
  bool exists() const { return exists_; }

  void recall(int a, bool stuck, bool lapsed, double jump) {
    if (!exists_) return;
    Contact& one = by_contact_[static_cast<std::size_t>(a)];
    one.stuck = stuck;
    one.lapsed = lapsed;
    one.jump = jump;
  }
  bool is_stuck(int a) const { return contact(a).stuck; }
  bool is_lapsed(int a) const { return contact(a).lapsed; }
  /// In the last step, or in the one before if the last one did not push.
  bool was_stuck(int a) const { return is_stuck(a) || is_lapsed(a); }
  double last_jump(int a) const { return contact(a).jump; }

  void set_step(int k, const Shock& shock, double jump, bool may_be_shock) {
    place(k).shock = shock;
    place(k).jump = jump;
    place(k).may_be_shock = may_be_shock;
  }
  const Shock& shock(int k) const { return place(k).shock; }
  bool may_be_shock(int k) const { return place(k).may_be_shock; }

  /// After a step that holds: all contacts are free but those that are then held.
  void release_all() {
    for (Contact& one : by_contact_) {
      one.lapsed = one.stuck;
      one.stuck = false;
      one.jump *= kFading;
      one.state = ContactState::Free;
    }
  }
  void hold(int a, int k, bool sticks) {
    Contact& one = by_contact_[static_cast<std::size_t>(a)];
    one.stuck = sticks;
    one.lapsed = false;
    one.jump = std::max(one.jump, place(k).jump);
    one.state = sticks ? ContactState::Stick : ContactState::Slip;
  }
  /// Whether what may be a shock is one.
  void mark(int a, int k, bool is_shock) {
    Contact& one = by_contact_[static_cast<std::size_t>(a)];
    one.had_shock = one.had_shock || is_shock;
    place(k).may_be_shock = is_shock;
  }

  /// Slip velocities at `now`, two places a contact, and states: a shock since the last time this
  /// was asked counts before what the contact does now.
  void tell(const M& model, const model::StateOf<M>& now, typename M::Place& scratch,
            std::span<double> slips, std::span<double> states) {
    if (!exists_) return;
    model.friction(now.t, now.q, now.u, all_, scratch);
    for (const int a : all_) {
      const auto at = static_cast<std::size_t>(a);
      for (int j = 0; j < model.slips(a); ++j) {
        const int row = T * a + j;
        slips[2 * at + static_cast<std::size_t>(j)] =
            scratch.tangents.dot(row, now.u) + scratch.slip_rate[row];
      }
      Contact& one = by_contact_[at];
      states[at] = static_cast<double>(one.had_shock ? ContactState::Shock : one.state);
      one.had_shock = false;
    }
  }

 private:
  static constexpr double kFading = 0.9;  // of a step on the next

  struct Contact {
    bool stuck{false};
    bool lapsed{false};
    bool had_shock{false};
    ContactState state{ContactState::Free};
    double jump{0.0};  // of the slip in the steps before, fading
  };
  struct Place {
    double jump{0.0};
    bool may_be_shock{false};
    Shock shock;
  };
  const Contact& contact(int a) const { return by_contact_[static_cast<std::size_t>(a)]; }
  const Place& place(int k) const { return by_place_[static_cast<std::size_t>(k)]; }
  Place& place(int k) { return by_place_[static_cast<std::size_t>(k)]; }

  bool exists_{false};
  std::vector<Contact> by_contact_;
  std::vector<Place> by_place_;
  model::IndexList<M::kContacts> all_;
};

template <model::Model M>
class FrictionMemory<M, 0> {};

}  // namespace ricochet::certify
