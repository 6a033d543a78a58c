#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "ricochet/record/summary.h"
#include "ricochet/study/facts.h"
#include "ricochet/study/motion.h"
#include "ricochet/study/story.h"

namespace ricochet::study {

/// Where each coordinate has been.
class Extent {
 public:
  void add(std::span<const double> q) {
    if (low_.empty()) {
      low_.assign(q.begin(), q.end());
      high_ = low_;
    }
    for (std::size_t i = 0; i < q.size(); ++i) {
      low_[i] = std::min(low_[i], q[i]);
      high_[i] = std::max(high_[i], q[i]);
    }
  }
  double size() const {
    double size = 0.0;
    for (std::size_t i = 0; i < low_.size(); ++i) size = std::max(size, high_[i] - low_[i]);
    return size;
  }
  double largest() const {
    double largest = 0.0;
    for (std::size_t i = 0; i < low_.size(); ++i) {
      largest = std::max({largest, std::abs(high_[i]), std::abs(low_[i])});
    }
    return largest;
  }

 private:
  std::vector<double> low_;
  std::vector<double> high_;
};

/// A run and what is to be said of it.
struct RunReport {
  Motion motion;
  std::string story;              // what happened, in a sentence
  record::ErrorBar error_bar;     // of the final state
  std::vector<Fact> facts;        // of [expect], when asked for
  std::string facts_not_checked;  // why; empty when they were, or when the scene has none
  std::vector<std::string> warnings;
  std::vector<std::string> overrides;  // what changed the scene, as of --set
};

/// Fills in facts and warnings of a run that is over. `no_facts`: why they are not to be checked.
void conclude(RunReport& report, const Extent& extent, bool check_facts,
              const std::string& no_facts);

/// The sentence of a run that is over.
std::string tell(const Story& story, const Motion& motion);

/// In words, at most 80 columns: what was run, what is certified, where the energy went.
std::string describe(const RunReport& report);

/// "0.2 s, 1.3 million steps a second", behind its label.
std::string describe_speed(const step::Outcome& outcome);

/// "step 0.01", or under step control "steps of 1e-6 to 0.01".
std::string describe_step(const step::RunSettings& run);

/// "Moreau 1986; elast, step 0.01, t = 0 to 1": what was run, below a title.
std::string describe_settings(const Motion& motion);

/// What a summary says of a scene before it is run.
record::Summary settings_of(const scene::Scene& scene);

record::Summary summary_of(const RunReport& report, const std::string& output_error);

}  // namespace ricochet::study
