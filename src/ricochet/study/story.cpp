#include "ricochet/study/story.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "ricochet/base/text.h"

namespace ricochet::study {

using certify::EventKind;

namespace {

/// "once", "twice", "6 times".
std::string times(long long count) {
  return count == 1 ? "once" : count == 2 ? "twice" : fmt::format("{} times", count);
}

}  // namespace

void Story::add(const certify::Event& event) {
  Contact& one = contacts_[static_cast<std::size_t>(event.at.contact)];
  const double t = event.at.t;
  if (!one.is_touched) {
    one.is_touched = true;
    one.first = t;
    one.begun = event.kind;
  }
  const bool was_held = one.now == EventKind::Stick || one.now == EventKind::Slip;
  switch (event.kind) {
    case EventKind::Shock:
    case EventKind::TangentialShock:
      ++one.shocks;
      one.last_shock = t;
      break;
    case EventKind::Open:
      one.left = one.now != EventKind::Shock && one.now != EventKind::TangentialShock;
      if (!one.left) ++one.bounces;
      break;
    case EventKind::Contact: break;
    case EventKind::Stick:
    case EventKind::Slip:
      if (was_held && one.now != event.kind) ++one.changes;
      break;
  }
  one.now = event.kind;
  one.since = t;
}

std::string Story::tell_end(const Contact& one, bool at_rest) {
  const std::string from = fmt::format("from t = {:.4g}", one.since);
  switch (one.now) {
    case EventKind::Contact: return (at_rest ? "rests " : "stays ") + from;
    case EventKind::Stick: return (at_rest ? "rests " : "sticks ") + from;
    case EventKind::Slip: return "slides " + from;
    case EventKind::Open: return one.left ? fmt::format("leaves at t = {:.4g}", one.since) : "";
    case EventKind::Shock:
    case EventKind::TangentialShock: break;
  }
  return "";
}

std::string Story::tell_friction(const Contact& one, const std::string& name, bool at_rest) {
  const std::string changes =
      one.changes > 1 ? fmt::format("changes {} between sticking and sliding, ", times(one.changes))
                      : "";
  return fmt::format("'{}' {}{}", name, changes, tell_end(one, at_rest));
}

std::string Story::tell_one(const Contact& one, const std::string& name, double start,
                            bool at_rest) {
  const bool begins = one.first == start && one.shocks == 0;
  std::vector<std::string> parts;
  if (begins) {
    parts.push_back(fmt::format("begins on '{}'", name));
  } else if (one.shocks == 1 && one.bounces == 1) {
    parts.push_back(fmt::format("hits '{}' at t = {:.4g}", name, one.last_shock));
  } else if (one.bounces == one.shocks && one.shocks > 1 && one.now == EventKind::Open) {
    parts.push_back(fmt::format("hits '{}' {}, t = {:.4g} to {:.4g}", name, times(one.shocks),
                                one.first, one.last_shock));
  } else {
    parts.push_back(fmt::format("lands on '{}' at t = {:.4g}", name, one.first));
    if (one.bounces > 0) parts.push_back("bounces " + times(one.bounces));
  }
  if (one.changes > 1) {
    parts.push_back(fmt::format("changes {} between sticking and sliding", times(one.changes)));
  }
  if (const std::string end = tell_end(one, at_rest); !end.empty()) parts.push_back(end);
  return fmt::format("{}", fmt::join(parts, ", "));
}

bool Story::has_touch() const {
  return std::any_of(contacts_.begin(), contacts_.end(),
                     [](const Contact& one) { return one.is_touched; });
}

std::string Story::tell(const std::vector<std::string>& names, const std::vector<bool>& is_friction,
                        double start, bool at_rest) const {
  constexpr std::size_t kMost = 3;  // contacts that are told one by one
  if (contacts_.empty()) return "Nothing is in the way.";
  std::vector<std::size_t> touched;
  for (std::size_t a = 0; a < contacts_.size(); ++a) {
    if (contacts_[a].is_touched) touched.push_back(a);
  }
  if (touched.empty()) return "No contact is touched.";
  std::string words;
  for (std::size_t k = 0; k < std::min(touched.size(), kMost); ++k) {
    const std::size_t a = touched[k];
    words += words.empty() ? "" : "; ";
    words += a < is_friction.size() && is_friction[a]
                 ? tell_friction(contacts_[a], names[a], at_rest)
                 : tell_one(contacts_[a], names[a], start, at_rest);
  }
  if (touched.size() > kMost) {
    words += fmt::format("; and {} more touched",
                         base::counted(static_cast<long long>(touched.size() - kMost), "contact"));
  }
  words[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(words[0])));
  return words + ".";
}

}  // namespace ricochet::study
