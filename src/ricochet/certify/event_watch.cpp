#include "ricochet/certify/event_watch.h"

#include <algorithm>

namespace ricochet::certify {

void EventWatch::open(const EventObserver* observe, int contacts, long long quiet) {
  observe_ = observe;
  quiet_ = quiet;
  by_contact_.assign(static_cast<std::size_t>(contacts), {});
  closed_.reserve(by_contact_.size());
  pending_.reserve(64);
}

void EventWatch::strike(const Shock& shock, long long step) {
  Contact& one = by_contact_[static_cast<std::size_t>(shock.contact)];
  if (has_ended(one, step, shock.t)) end_contact(shock.contact);
  one.struck = step;
  add({shock.tangential ? EventKind::TangentialShock : EventKind::Shock, shock, step});
}

void EventWatch::push(int contact, EventKind how, double t, double end, long long step) {
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

void EventWatch::pass(long long step, double t) {
  for (std::size_t i = closed_.size(); i-- > 0;) {
    const int contact = closed_[i];
    if (has_ended(by_contact_[static_cast<std::size_t>(contact)], step, t)) end_contact(contact);
  }
  tell(step - quiet_ - 1);
}

void EventWatch::close() {
  if (!pending_.empty()) tell(pending_.back().step);
}

void EventWatch::add(const Event& event) {
  const auto later = [](const Event& a, const Event& b) { return a.step < b.step; };
  pending_.insert(std::upper_bound(pending_.begin(), pending_.end(), event, later), event);
}

void EventWatch::end_contact(int contact) {
  Contact& one = by_contact_[static_cast<std::size_t>(contact)];
  one.is_closed = false;
  closed_.erase(std::find(closed_.begin(), closed_.end(), contact));
  Shock at;
  at.t = one.end;
  at.contact = contact;
  add({EventKind::Open, at, one.last});
}

void EventWatch::tell(long long until) {
  auto end = pending_.begin();
  while (end != pending_.end() && end->step <= until) (*observe_)(*end++);
  pending_.erase(pending_.begin(), end);
}

}  // namespace ricochet::certify
