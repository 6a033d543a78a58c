#pragma once

#include <string>
#include <vector>

#include "ricochet/certify/event_watch.h"

namespace ricochet::study {

/// What happened in a run, in a plain sentence, from its events.
class Story {
 public:
  explicit Story(std::size_t contacts = 0) : contacts_(contacts) {}

  void add(const certify::Event& event);
  /// Whether any contact is touched.
  bool has_touch() const;

  /// "Lands on 'floor' at t = 0.4515, bounces 6 times, rests from t = 2.31." `start`: of the run;
  /// `at_rest`: nothing moves at its end. `is_friction`: which are no contacts but friction alone.
  std::string tell(const std::vector<std::string>& names, const std::vector<bool>& is_friction,
                   double start, bool at_rest) const;

 private:
  struct Contact {
    long long shocks{0};
    long long bounces{0};  // shocks that were followed by an opening
    long long changes{0};  // between stick and slip
    double first{0.0};     // [s], when it was first touched
    double since{0.0};     // [s], when the last phase began, or it opened
    double last_shock{0.0};
    certify::EventKind now{certify::EventKind::Open};
    certify::EventKind begun{certify::EventKind::Open};  // what it was first seen to do
    bool is_touched{false};
    bool left{false};  // the last opening ended a phase, not a shock
  };

  static std::string tell_end(const Contact& one, bool at_rest);
  static std::string tell_friction(const Contact& one, const std::string& name, bool at_rest);
  static std::string tell_one(const Contact& one, const std::string& name, double start,
                              bool at_rest);

  std::vector<Contact> contacts_;
};

}  // namespace ricochet::study
