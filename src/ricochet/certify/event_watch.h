#pragma once

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
  void open(const EventObserver* observe, int contacts, long long quiet);
  bool is_on() const { return observe_ != nullptr; }

  void strike(const Shock& shock, long long step);

  /// The contact pushes in a step from t to `end`. A step that is a shock begins nothing else.
  void push(int contact, EventKind how, double t, double end, long long step);

  /// After all pushes of a step that ends at t: openings, and what is certain by now.
  void pass(long long step, double t);

  /// After the last step.
  void close();

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

  void add(const Event& event);
  void end_contact(int contact);
  void tell(long long until);

  const EventObserver* observe_{nullptr};
  long long quiet_{0};
  std::vector<Contact> by_contact_;
  std::vector<int> closed_;
  std::vector<Event> pending_;  // by steps
};

}  // namespace ricochet::certify
