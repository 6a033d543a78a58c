#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace ricochet::plot {

/// What a contact does over time: free, stick or contact, slip, shock, or touched in between, as
/// runs of equal states. Where there are more than a picture can show, short runs are joined, and
/// the joined run has the times of all their states.
class States {
 public:
  static constexpr std::size_t kFree = 0;
  static constexpr std::size_t kContact = 1;
  static constexpr std::size_t kShock = 3;
  static constexpr std::size_t kTouched = 4;  // for how long, or in which way, rows do not tell
  static constexpr std::size_t kCount = 5;

  struct Run {
    double begin{0.0};
    double end{0.0};
    std::array<double, kCount> time{};  // in each state
    bool is_pure() const;               // all of it in one state
    template <class Archive>
    void visit(Archive& archive) {
      archive(begin, end, time[0], time[1], time[2], time[3], time[4]);
    }
  };

  /// `of_sums`: rows are sums over several steps; `of_pushes`: they tell whether the contact pushed
  /// in them, not how it was in the last.
  explicit States(bool of_sums = false, bool of_pushes = true)
      : of_sums_(of_sums), of_pushes_(of_pushes) {}

  /// The state in the step, or at the end of the steps, that end at t.
  void add(double t, double state);
  /// Of several steps, in a part of which the contact pushed.
  void add(double t, double state, double pushed);

  const std::vector<Run>& runs() const { return runs_; }
  template <class Archive>
  void visit(Archive& archive) {
    archive(runs_);
  }

 private:
  void append(const Run& run);
  void join_short();

  static constexpr std::size_t kMostRuns = 4096;
  std::vector<Run> runs_;
  double last_{0.0};
  double shortest_{0.0};  // runs shorter than this are joined to the one before
  bool is_started_{false};
  bool of_sums_;
  bool of_pushes_;
};

}  // namespace ricochet::plot
