#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ricochet::record {

/// How far the discretisation of a run may be off: what its files and pictures tell of it. How it
/// is found stands in study/error_bar.h.
struct ErrorBar {
  bool made{false};
  std::string not_made{"not asked for"};  // why there is none
  std::vector<double> position;           // [q], absolute, at the end
  std::vector<double> velocity;           // [u]
  /// Empty: the digits hold, within the bar. Else why they do not.
  std::string unresolved;
  /// The time after which a companion is farther from the run than the size of the motion.
  std::optional<double> horizon;     // [s]
  std::array<long long, 2> steps{};  // of the companions
  /// Positions over the run, and how far they may be off: all at an instant, then those of the
  /// next.
  std::vector<double> times;
  std::vector<double> middle;
  std::vector<double> band;

  /// Of bodies: the largest bar of a place, and whose it is; of watches each.
  double farthest{0.0};  // [m]
  std::string farthest_of;
  struct OfWatch {
    std::string name;
    double width{0.0};
    bool holds{true};      // small beside what the watch does
    bool is_count{false};  // a whole number
    /// A force that momentum does not determine: contacts may share their load otherwise.
    bool is_left_open{false};
  };
  std::vector<OfWatch> watches;
  std::optional<double> end_time;  // [s], of the instant at which run.stop held

  /// One that was not made, and why.
  static ErrorBar none(std::string why) {
    ErrorBar bar;
    bar.not_made = std::move(why);
    return bar;
  }
  bool is_resolved() const { return made && unresolved.empty(); }
};

/// "; of the watches 'load' holds", where places do not; empty where none does.
std::string watches_that_hold(const ErrorBar& bar);

}  // namespace ricochet::record
