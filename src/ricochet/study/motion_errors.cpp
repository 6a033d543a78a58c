#include "ricochet/study/motion_errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace ricochet::study {
namespace {

constexpr double kPiecesPerStep = 8.0;  // of a stated velocity, whose chords are then exact enough

std::size_t at(Measure measure) { return static_cast<std::size_t>(measure); }

double larger(double a, double b) { return std::isnan(a) || b > a ? b : a; }

/// Largest sizes met, to which rounding is relative.
struct Scales {
  double position{0.0};
  double velocity{0.0};
};

Scales measure_at_output_times(const RecordedRun& run, const Reference& reference, double end,
                               const Windows& windows, MotionErrors& errors) {
  Scales scales;
  std::vector<double> q;
  std::vector<double> u;
  for (std::size_t row = 0; row < run.rows() && run.t[row] <= end; ++row) {
    reference.at(run.t[row], q, u);
    const bool is_away = !windows.holds(run.t[row]);
    for (std::size_t i = 0; i < run.coordinates; ++i) {
      const double dq = std::abs(run.position(row, i) - q[i]);
      const double du = std::abs(run.velocity(row, i) - u[i]);
      scales.position = std::max(scales.position, std::abs(q[i]));
      scales.velocity = std::max(scales.velocity, std::abs(u[i]));
      double& across = errors.value[at(Measure::PositionAcross)];
      across = std::max(across, dq);
      if (!is_away) continue;
      double& position = errors.value[at(Measure::PositionAway)];
      double& velocity = errors.value[at(Measure::VelocityAway)];
      position = larger(position, dq);
      velocity = larger(velocity, du);
    }
  }
  return scales;
}

void measure_curves(const RecordedRun& run, const Reference& reference, double end,
                    MotionErrors& errors) {
  const std::vector<Curve> stated = reference.velocities(end, run.step / kPiecesPerStep);
  for (std::size_t i = 0; i < run.coordinates; ++i) {
    const Curve own = clipped(run.velocity_curve(i), run.t.front(), end);
    errors.value[at(Measure::VelocityL1)] += l1_distance(own, stated[i]);
    const double range = stated[i].range() > 0.0 ? stated[i].range() : own.range();
    const double rate = (range > 0.0 ? range : 1.0) / (end - run.t.front());
    double& graph = errors.value[at(Measure::VelocityGraph)];
    graph = std::max(graph, graph_distance(own, stated[i], rate));
  }
}

}  // namespace

std::string key_of(Measure measure) {
  switch (measure) {
    case Measure::PositionAcross: return "position_across";
    case Measure::PositionAway: return "position_away";
    case Measure::VelocityL1: return "velocity_l1";
    case Measure::VelocityGraph: return "velocity_graph";
    case Measure::VelocityAway: return "velocity_away";
  }
  return "";
}

std::string heading_of(Measure measure) {
  switch (measure) {
    case Measure::PositionAcross: return "q across";
    case Measure::PositionAway: return "q away";
    case Measure::VelocityL1: return "u L1";
    case Measure::VelocityGraph: return "u graph";
    case Measure::VelocityAway: return "u away";
  }
  return "";
}

bool Windows::holds(double t) const {
  const auto next = std::lower_bound(jumps.begin(), jumps.end(), t - width);
  return next != jumps.end() && *next <= t + width;
}

MotionErrors measure_errors(const RecordedRun& run, const Reference& reference, double end,
                            const Windows& windows) {
  MotionErrors errors;
  errors.value[at(Measure::PositionAway)] = std::numeric_limits<double>::quiet_NaN();
  errors.value[at(Measure::VelocityAway)] = std::numeric_limits<double>::quiet_NaN();
  const double time = end - run.t.front();
  const Scales scales = measure_at_output_times(run, reference, end, windows, errors);
  measure_curves(run, reference, end, errors);
  // Each step may add a rounding; a position also takes on those of its velocities.
  const double rounding =
      std::numeric_limits<double>::epsilon() * (16.0 + static_cast<double>(run.rows()));
  const double of_q = rounding * (scales.position + time * scales.velocity);
  const double of_u = rounding * scales.velocity;
  errors.rounding = {of_q, of_q, time * static_cast<double>(run.coordinates) * of_u, of_u, of_u};
  return errors;
}

std::string remark_on_windows(const RecordedRun& run, const Windows& windows, double end,
                              const std::string& name) {
  const auto& shocks = run.outcome.certificate.shocks;
  const auto outside = std::count_if(shocks.begin(), shocks.end(), [&](const certify::Shock& s) {
    return s.t <= end && !windows.holds(s.t);
  });
  if (outside == 0) return "";
  return fmt::format(
      "{}: {} of {} shocks lie farther than {:g} from any jump of the reference; "
      "try a wider --window",
      name, outside, shocks.size(), windows.width);
}

}  // namespace ricochet::study
