#pragma once

#include <span>
#include <string>
#include <vector>

#include "ricochet/plot/series.h"
#include "ricochet/plot/sheet.h"
#include "ricochet/record/line_record.h"
#include "ricochet/scene/scene.h"

namespace ricochet::plot {

/// What the picture of a structure's run is drawn from; sees every recorded row.
class StructurePicture {
 public:
  explicit StructurePicture(const scene::Scene& scene);

  /// A row has the columns of the scene.
  void add(std::span<const double> row);

  /// Histories of points, reactions, shapes along the structure, spectra, energies.
  Sheet draw(const scene::Scene& scene, const record::LineRecord& record,
             const std::string& subtitle) const;

 private:
  /// A side of a guide: where its impulses are in a row.
  struct Side {
    std::size_t guide{0};
    std::size_t column{0};
    double sign{1.0};  // of its push, upwards
  };
  std::vector<Side> sides_;
  std::vector<Series> points_;
  std::vector<Series> forces_;  // mean over a row, by guide
  std::size_t energy_{0};       // column of T; V follows
  Series kinetic_;
  Series total_;
  double last_t_{0.0};
  bool has_row_{false};
};

/// A part of a page: the structure as it bends, to be played; its points are dots. Empty where
/// fewer than two shapes were kept.
std::string play_shapes(const scene::Scene& scene, const record::LineRecord& record,
                        const certify::Certificate& certificate);

}  // namespace ricochet::plot
