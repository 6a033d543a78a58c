#include "ricochet/record/value_table.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <iterator>

#include "ricochet/base/numpy_archive.h"

namespace ricochet::record {
namespace {

template <class Value>
void append_array(const std::string& name, const char* type, int parts, std::size_t count,
                  Value&& value, std::string& text) {
  text += fmt::format(
      "<DataArray type=\"{}\" Name=\"{}\" NumberOfComponents=\"{}\" format=\"ascii\">\n", type,
      name, parts);
  for (std::size_t k = 0; k < count; ++k) {
    fmt::format_to(std::back_inserter(text), FMT_COMPILE("{}\n"), value(k));
  }
  text += "</DataArray>\n";
}

}  // namespace

std::string npz_of(const ValueTable& table) {
  std::vector<std::pair<std::string, std::string>> files;
  for (std::size_t k = 0; k < table.names().size(); ++k) {
    files.emplace_back(
        table.names()[k] + ".npy",
        base::numpy_array(table.column(k), fmt::format("({},)", table.column(k).size())));
  }
  return base::stored_archive(files);
}

std::string vtp_of(const ValueTable& table, const ValueTable& places) {
  const std::size_t rows = table.rows();
  const std::size_t lines = places.names().size() / 3;
  std::string text = fmt::format(
      "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" "
      "byte_order=\"LittleEndian\">\n<PolyData>\n<Piece NumberOfPoints=\"{}\" NumberOfVerts=\"0\" "
      "NumberOfLines=\"{}\" NumberOfStrips=\"0\" NumberOfPolys=\"0\">\n<Points>\n",
      rows * lines, lines);
  append_array(
      "points", "Float64", 3, 3 * rows * lines,
      [&](std::size_t k) { return places.column(3 * (k / (3 * rows)) + k % 3)[k / 3 % rows]; },
      text);
  text += "</Points>\n<Lines>\n";
  const auto count = [](std::size_t k) { return static_cast<double>(k); };
  append_array("connectivity", "Int64", 1, rows * lines, count, text);
  append_array(
      "offsets", "Int64", 1, lines, [&](std::size_t k) { return count((k + 1) * rows); }, text);
  text += "</Lines>\n<PointData>\n";
  for (std::size_t c = 0; c < table.names().size(); ++c) {
    append_array(
        table.names()[c], "Float64", 1, rows * lines,
        [&](std::size_t k) { return table.column(c)[k % rows]; }, text);
  }
  return text + "</PointData>\n</Piece>\n</PolyData>\n</VTKFile>\n";
}

}  // namespace ricochet::record
