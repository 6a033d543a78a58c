#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ricochet::plot {

/// The text of a .vtp file, VTK's XML of points, lines and polygons: arrays are bytes in base 64
/// behind their number, little-endian, as VTK reads them.
class VtpText {
 public:
  using Cells = std::vector<std::vector<std::int64_t>>;

  /// Three coordinates a point.
  explicit VtpText(std::vector<double> points) : points_(std::move(points)) {}
  /// Cells by the numbers of their points; data of cells follow this order: vertices, lines,
  /// polygons.
  void set_cells(Cells vertices, Cells lines, Cells polygons);
  /// `parts`: 3 of vectors. As many values as there are points, or cells, times the parts.
  void add_at_points(const std::string& name, int parts, std::span<const double> values);
  void add_at_points(const std::string& name, std::span<const std::int32_t> values);
  void add_at_cells(const std::string& name, int parts, std::span<const double> values);
  void add_at_cells(const std::string& name, std::span<const std::int32_t> values);
  /// Words that belong to the file as a whole.
  void add_words(const std::string& name, const std::vector<std::string>& words);
  void set_time(double t);

  std::string text() const;

 private:
  std::vector<double> points_;
  Cells vertices_;
  Cells lines_;
  Cells polygons_;
  std::string at_points_;
  std::string at_cells_;
  std::string whole_;
};

/// The text of a .pvd file: which file shows which time.
std::string pvd_of(std::span<const double> times, std::span<const std::string> files);

}  // namespace ricochet::plot
