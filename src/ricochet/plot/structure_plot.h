#pragma once

#include <span>
#include <string>
#include <vector>

#include "ricochet/plot/series.h"
#include "ricochet/scene/structure_scene.h"
#include "ricochet/step/outcome.h"
#include "ricochet/structure/statistics.h"

namespace ricochet::plot {

/// What the picture of a structure's run is drawn from; sees every recorded row.
class StructurePicture {
 public:
  explicit StructurePicture(const scene::StructureScene& scene);

  void add(const step::Sample& sample);
  void add_shape(std::vector<double> values) { shapes_.push_back(std::move(values)); }

  /// Histories of points, reactions, shapes along the structure, spectra, energies.
  std::string draw(const std::string& subtitle,
                   const std::vector<structure::Spectrum>& spectra) const;

 private:
  const scene::StructureScene& scene_;
  std::vector<structure::ContactSide> sides_;
  std::vector<Series> points_;
  std::vector<Series> forces_;  // mean over a row, by guide
  Series kinetic_;
  Series total_;
  std::vector<std::vector<double>> shapes_;
  double last_t_{0.0};
  bool has_row_{false};
};

}  // namespace ricochet::plot
