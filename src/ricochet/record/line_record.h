#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ricochet/certify/certificate.h"
#include "ricochet/structure/beam.h"
#include "ricochet/structure/statistics.h"

namespace ricochet::record {

/// A deflected shape.
struct Shape {
  double t{0.0};
  std::vector<double> values;  // at the abscissae of the record, plane after plane
};

/// What a reduced run was off the whole model by, of one point.
struct ReducedPoint {
  std::string name;
  double rms{0.0};
  double largest{0.0};
  double whole{0.0};  // rms of the point's own motion
};

/// A reduced run held against the whole.
struct Reduced {
  int modes{0};
  int corrections{0};                                // static shapes beside the modes
  std::vector<ReducedPoint> points;                  // none: the whole was not run
  certify::Failure failure{certify::Failure::None};  // of the whole run
};

/// What the run of a structure tells besides what every run does: `structure` of summary.json.
struct LineRecord {
  structure::Line line;
  int coordinates{0};
  std::vector<double> frequencies;  // without guides [Hz]
  double quiet_time{0.0};           // [s]
  int solves{0};                    // with the effective matrix, a step
  double contact_stiffness{0.0};    // of penalty, at the first guide
  std::vector<structure::PointStatistics> points;
  std::vector<structure::GuideStatistics> guides;
  std::vector<structure::Spectrum> spectra;
  std::vector<double> abscissae;
  std::vector<Shape> shapes;
  std::size_t shape_stride{1};  // one in so many is told; the others are there to be played
  std::optional<Reduced> reduction;
};

/// "f,tip,guide.force" and a row a frequency; empty without spectra.
std::string spectra_csv(const std::vector<structure::Spectrum>& spectra);

/// "t,x=0,x=0.1" and a row a shape.
std::string shapes_csv(const LineRecord& line);

}  // namespace ricochet::record
