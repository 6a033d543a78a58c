#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ricochet::plot {

/// What a contact does over time: whole numbers 0 to 7 (0 free, 1 stick or contact, 2 slip, 3
/// shock), as runs of equal ones. Where there are more than a picture can show, short runs are
/// joined, and the joined run has all their states.
class States {
 public:
  struct Run {
    double begin{0.0};
    double end{0.0};
    std::uint8_t mask{0};  // bit s: state s occurs
  };

  /// The state in the step that ends at t.
  void add(double t, double state);

  const std::vector<Run>& runs() const { return runs_; }

 private:
  void join_short();

  static constexpr std::size_t kMostRuns = 4096;
  std::vector<Run> runs_;
  double last_{0.0};
  double shortest_{0.0};  // runs shorter than this are joined to the one before
  bool is_started_{false};
};

}  // namespace ricochet::plot
