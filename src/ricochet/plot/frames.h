#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace ricochet::plot {

/// Rows of a trajectory spread evenly over a run of any length, and always the last one: what an
/// animation shows. Impulses of rows left out are added to the next one kept.
class Frames {
 public:
  Frames() = default;
  Frames(const std::vector<std::string>& columns, std::size_t most);

  void add(std::span<const double> row);

  std::size_t size() const { return columns_ == 0 ? 0 : values_.size() / columns_; }
  std::span<const double> row(std::size_t k) const {
    return {values_.data() + k * columns_, columns_};
  }

 private:
  void thin();

  std::size_t columns_{0};
  std::vector<bool> is_summed_;  // impulses
  std::size_t most_{0};
  std::size_t every_{1};    // keep one row in this many
  std::size_t waiting_{0};  // rows until the next one to keep
  bool last_is_extra_{false};
  std::vector<double> values_;
};

}  // namespace ricochet::plot
