#pragma once

#include <cassert>
#include <cstddef>
#include <string>
#include <vector>

#include "ricochet/certify/certificate.h"
#include "ricochet/model/formula_model.h"
#include "ricochet/step/simulate.h"

namespace ricochet::plot {

/// The motion as a picture needs it: at most a few thousand instants, spread evenly over the run,
/// however long it is, and always the last one.
class Path {
 public:
  void add(const step::Sample& sample);
  /// Takes another motion of the same coordinates into the picture, at most so many instants of it.
  /// Nothing can be added to this one after that.
  void add_motion(const Path& other, std::size_t most);
  const std::vector<double>& times() const { return times_; }
  double position(std::size_t instant, int coordinate) const {
    assert(instant < times_.size() && static_cast<std::size_t>(coordinate) < dofs_);
    return positions_[instant * dofs_ + static_cast<std::size_t>(coordinate)];
  }
  std::size_t size() const { return times_.size(); }
  long long rows() const { return rows_; }  // recorded, kept or not
  /// Where the motions after the first one begin.
  const std::vector<std::size_t>& later_starts() const { return later_starts_; }

 private:
  void thin();

  static constexpr std::size_t kMost = 4096;
  std::size_t dofs_{0};
  long long rows_{0};
  std::size_t every_{1};       // keep one sample in this many
  std::size_t waiting_{0};     // samples until the next one to keep
  bool last_is_extra_{false};  // the last instant is not one of the even ones
  std::vector<double> times_;
  std::vector<double> positions_;
  std::vector<std::size_t> later_starts_;
};

/// What suits the scene: one coordinate against time, two as a path, three as two projections, more
/// as time histories. Walls are drawn from the inequalities themselves, where they depend on
/// nothing but what the axes show; those that move, in a plane without time, as they are at the
/// end, which the caption says.
std::string draw_run(const Path& path, const model::FormulaModel& model,
                     const certify::Certificate& certificate, const std::string& title,
                     const std::string& subtitle);

}  // namespace ricochet::plot
