#pragma once

#include <string>

#include "ricochet/plot/axes.h"
#include "ricochet/plot/solids.h"

namespace ricochet::plot {

/// Bodies of space as they are seen from afar and above: faces that look here, the far ones first.
class SpacePicture {
 public:
  SpacePicture(const body::World<3>& world, const std::vector<record::BodyFrame>& frames);

  Range across() const { return {-around_.reach, around_.reach}; }
  void draw(Svg& svg, const Frame& frame, const record::BodyFrame& at, bool with_forces) const;
  /// What a page needs to draw them: "box", "bodies".
  std::string json() const;

 private:
  struct Item {
    double depth{0.0};
    bool moves{true};
    double radius{0.0};          // of a ball
    std::vector<Point> outline;  // of a ball its centre
  };
  std::vector<Item> items_of(const Frame& frame, const record::BodyFrame& at) const;

  const body::World<3>& world_;
  Surroundings around_;
  std::vector<Solid> solids_;
};

/// The ends of a line of force: mass centres of what moves, else where they touch.
std::array<body::Vec<3>, 2> ends_of(const body::World<3>& world, const record::BodyFrame& at,
                                    const record::ForceLine& force);

}  // namespace ricochet::plot
