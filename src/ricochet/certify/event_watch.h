#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "ricochet/certify/certificate.h"

namespace ricochet::certify {

/// What a contact begins to do.
enum class EventKind : char { Shock, TangentialShock, Contact, Stick, Slip, Open };

constexpr const char* name_of(EventKind kind) {
  switch (kind) {
    case EventKind::Shock: return "shock";
    case EventKind::TangentialShock: return "tangential_shock";
    case EventKind::Contact: return "contact";
    case EventKind::Stick: return "stick";
    case EventKind::Slip: return "slip";
    case EventKind::Open: return "open";
  }
  return "";
}

struct Event {
  EventKind kind{EventKind::Open};
  Shock at;  // when, and which contact; the other fields of shocks alone
  long long step{0};
};

using EventObserver = std::function<void(const Event&)>;

/// Tells all events of a run in the order of time, each once it is certain: a contact has opened
/// when it did not push for `quiet` steps, from the end of its last push; with none, as soon as it
/// does not push.
class EventWatch {
 public:
  void open(const EventObserver* observe, int contacts, long long quiet) {
    observe_ = observe;
    quiet_ = quiet;
    by_contact_.assign(static_cast<std::size_t>(contacts), {});
    closed_.reserve(by_contact_.size());
    pending_.reserve(64);
  }
  bool is_on() const { return observe_ != nullptr; }

  void strike(const Shock& shock, long long step) {
    Contact& one = by_contact_[static_cast<std::size_t>(shock.contact)];
    if (has_ended(one, step, shock.t)) end_contact(shock.contact);
    one.struck = step;
    add({shock.tangential ? EventKind::TangentialShock : EventKind::Shock, shock, step});
  }

  /// The contact pushes in a step from t to `end`. A step that is a shock begins nothing else.
  void push(int contact, EventKind how, double t, double end, long long step) {
    Contact& one = by_contact_[static_cast<std::size_t>(contact)];
    if (one.struck == step && (quiet_ > 0 || end == t)) how = EventKind::Shock;
    if (has_ended(one, step, t)) end_contact(contact);
    if (!one.is_closed) closed_.push_back(contact);
    const bool is_new = how != EventKind::Shock && (!one.is_closed || one.kind != how);
    one.is_closed = true;
    one.kind = how;
    one.last = step;
    one.end = end;
    Shock at;
    at.t = t;
    at.contact = contact;
    if (is_new) add({how, at, step});
  }

  /// After all pushes of a step that ends at t: openings, and what is certain by now.
  void pass(long long step, double t) {
    for (std::size_t i = closed_.size(); i-- > 0;) {
      const int contact = closed_[i];
      if (has_ended(by_contact_[static_cast<std::size_t>(contact)], step, t)) end_contact(contact);
    }
    tell(step - quiet_ - 1);
  }

  /// After the last step.
  void close() {
    if (!pending_.empty()) tell(pending_.back().step);
  }

 private:
  struct Contact {
    bool is_closed{false};
    EventKind kind{EventKind::Open};  // what it does while it is closed
    long long last{0};                // step of the last push
    long long struck{-1};             // step of the last shock
    double end{0.0};                  // [s], of the last push
  };

  bool has_ended(const Contact& one, long long step, double t) const {
    return one.is_closed && (quiet_ > 0 ? step - one.last > quiet_ : t > one.end);
  }

  void add(const Event& event) {
    const auto later = [](const Event& a, const Event& b) { return a.step < b.step; };
    pending_.insert(std::upper_bound(pending_.begin(), pending_.end(), event, later), event);
  }

  void end_contact(int contact) {
    Contact& one = by_contact_[static_cast<std::size_t>(contact)];
    one.is_closed = false;
    closed_.erase(std::find(closed_.begin(), closed_.end(), contact));
    Shock at;
    at.t = one.end;
    at.contact = contact;
    add({EventKind::Open, at, one.last});
  }

  void tell(long long until) {
    auto end = pending_.begin();
    while (end != pending_.end() && end->step <= until) (*observe_)(*end++);
    pending_.erase(pending_.begin(), end);
  }

  const EventObserver* observe_{nullptr};
  long long quiet_{0};
  std::vector<Contact> by_contact_;
  std::vector<int> closed_;
  std::vector<Event> pending_;  // by steps
};

}  // namespace ricochet::certify
