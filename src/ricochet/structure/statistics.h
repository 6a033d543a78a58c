#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "ricochet/base/sum.h"
#include "ricochet/structure/linear_structure.h"
#include "ricochet/structure/welch.h"

namespace ricochet::structure {

/// A mean over the run and its standard error, from the scatter of the means of kBlocks equal
/// parts of it: honest when a part is long against the memory of the motion.
struct Estimate {
  double value{0.0};
  double error{0.0};
};

/// What is summed over the steps of a run, part by part.
class BlockSum {
 public:
  static constexpr std::size_t kBlocks = 20;
  void add(std::size_t block, double value) { sums_[block].add(value); }
  double total() const;
  /// Of the sum over a part divided by `unit`: a rate, where unit is the time of a part.
  Estimate mean(double unit) const;

 private:
  std::array<base::Sum, kBlocks> sums_;
};

struct PointStatistics {
  std::string name;
  Estimate rms;  // of the displacement [m]
  double mean{0.0};
  double lowest{0.0};
  double highest{0.0};
  double main_frequency{0.0};  // where the spectrum has its highest value [Hz]
  double resolution{0.0};      // of that spectrum: the width of its lines [Hz]
};

/// A guide over the run, both sides together. An impact is a push after the quiet time of the
/// structure, or after 3 steps, whichever is longer: counted in steps alone, its rate would grow as
/// they become smaller.
struct GuideStatistics {
  std::string name;
  long long impacts{0};
  double first_push{0.0};    // instant of the end of the first step with a push [s]
  double last_push{0.0};     // and of the last
  Estimate rate;             // of impacts [1/s]
  Estimate contact_ratio;    // part of the time with a push
  double impulse{0.0};       // of all pushes [N s]
  double impulse_mean{0.0};  // of an impact
  double impulse_rms{0.0};
  double impulse_max{0.0};
  double force_max{0.0};  // of a step [N]
  Estimate work_normal;   // energy lost in the normal direction per time [W]
  Estimate work_sliding;  // integral of normal force times sliding speed, per time [W]: wear
};

struct Spectrum {
  std::string name;
  double resolution{0.0};  // [Hz]
  int segments{0};
  std::vector<double> density;  // [unit^2/Hz]
};

/// Sees every step of a run; does not allocate while it does.
class Statistics {
 public:
  Statistics() = default;
  Statistics(const LinearStructure& structure, double h, long long steps);

  /// Where the run starts.
  void begin(const double* u);
  /// The end of a step, and the impulses of it by side.
  void add(double t, const double* q, const double* u, std::span<const double> impulses);

  std::vector<PointStatistics> points() const;
  std::vector<GuideStatistics> guides() const;
  /// Of the displacement of points, then of the reaction of guides.
  std::vector<Spectrum> spectra() const;

 private:
  struct OfPoint {
    BlockSum squares;
    base::Sum values;
    double lowest{0.0};
    double highest{0.0};
    Welch welch;
  };
  struct OfGuide {
    long long impacts{0};
    double first_push{0.0};
    double last_push{0.0};
    long long quiet{1LL << 60};  // steps since the last push
    double running{0.0};         // impulse of the impact that goes on
    double reaction{0.0};        // of the step, positive upwards
    double across{0.0};          // speeds at the end of the step
    double along{0.0};
    double last_across{0.0};  // and at its start
    double last_along{0.0};
    base::Sum impulse;
    base::Sum squares;  // of the impulses of impacts
    double impulse_max{0.0};
    double force_max{0.0};
    BlockSum starts;
    BlockSum pushing;
    BlockSum work_normal;
    BlockSum work_sliding;
    Welch welch;
  };
  static constexpr double kQuietSteps = 3.0;
  static constexpr std::size_t kMostSpectra = 24;
  void add_push(double t, std::size_t block, OfGuide& of);
  double part_time() const;

  const LinearStructure* structure_{nullptr};
  double h_{0.0};
  long long steps_{0};
  long long done_{0};
  long long quiet_steps_{0};
  std::vector<OfPoint> points_;
  std::vector<OfGuide> guides_;
  std::vector<ContactSide> sides_;
};

}  // namespace ricochet::structure
