#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ricochet/plot/point.h"
#include "ricochet/plot/ticks.h"

namespace ricochet::plot {

/// The way of a point in a plane, of any length in bounded memory. The plane is divided into cells
/// smaller than a pixel will be; a step from one cell to another that has been drawn before is not
/// drawn again. When too much is kept, points that a straight line does without are dropped; when
/// that is not enough the cells are doubled, so that what is dropped always has something drawn
/// within a cell of it. A way that fills an area is kept as that area in the end.
class Trail {
 public:
  /// `most` steps are kept, 1000 to 12 000.
  explicit Trail(std::size_t most = kMostSteps);

  void add(Point p);

  /// Nothing is added after this: gives back the memory of what has been seen.
  void close();

  const std::vector<std::vector<Point>>& pieces() const { return pieces_; }
  bool empty() const { return count_ == 0; }
  bool fills_an_area() const { return is_raster_; }
  const Range& x() const { return x_; }  // exact
  const Range& y() const { return y_; }
  Point first() const { return first_; }
  Point last() const { return last_; }
  long long count() const { return count_; }
  template <class Archive>
  void visit(Archive& archive) {
    archive(pieces_, is_raster_, count_, x_, y_, first_, last_);
  }

 private:
  struct Cell {
    std::int64_t column{0};
    std::int64_t row{0};
    bool operator==(const Cell&) const = default;
  };
  Cell cell_of(Point p) const;
  void follow(Point p);
  bool is_new(Cell from, Cell to);
  void grow_table();
  void make_room();
  void straighten();
  void thin();
  void begin_raster();
  void widen_raster();
  void fill(Point from, Point to);
  bool is_in_raster(Point p) const;
  std::vector<std::vector<Point>> raster_rows(std::int64_t close_gaps) const;
  void fit_cells();
  void rebuild();

  static constexpr double kCells = 2048.0;  // over the range, at most
  static constexpr std::size_t kLeastSteps = 1'000;
  static constexpr std::size_t kMostSteps = 12'000;
  static constexpr std::size_t kSlots = 1U << 12U;  // of the table of steps seen, at first
  static constexpr std::size_t kMostSeen = 16;      // steps seen for each that may be kept
  static constexpr std::uint64_t kNone = ~0ULL;
  static constexpr std::int64_t kSide = 1024;  // cells of a side of the raster

  std::size_t most_;
  std::vector<std::vector<Point>> pieces_;
  std::vector<std::uint64_t> seen_;  // open addressing
  std::size_t seen_count_{0};
  bool is_raster_{false};
  std::vector<bool> raster_;  // cells that were passed, row by row from origin_
  std::size_t kept_{0};       // steps
  double cell_x_{0.0};
  double cell_y_{0.0};
  Point origin_;
  Cell at_;              // of the last point followed
  Point from_;           // the last point followed, when it is in no piece
  bool is_down_{false};  // the last point followed is the end of a piece
  bool has_from_{false};
  long long count_{0};
  Range x_;
  Range y_;
  Point first_;
  Point last_;
};

}  // namespace ricochet::plot
