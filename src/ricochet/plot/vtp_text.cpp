#include "ricochet/plot/vtp_text.h"

#include <fmt/format.h>

#include <cstring>
#include <string_view>
#include <type_traits>

namespace ricochet::plot {
namespace {

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto byte = [&](std::size_t k) {
    return k < bytes.size() ? static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[k])) : 0U;
  };
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t k = 0; k < bytes.size(); k += 3) {
    const std::uint32_t three = byte(k) << 16U | byte(k + 1) << 8U | byte(k + 2);
    text += kDigits[three >> 18U];
    text += kDigits[three >> 12U & 63U];
    text += k + 1 < bytes.size() ? kDigits[three >> 6U & 63U] : '=';
    text += k + 2 < bytes.size() ? kDigits[three & 63U] : '=';
  }
  return text;
}

template <class Number>
void append_bytes(Number number, std::string& bytes) {
  using Bits = std::conditional_t<sizeof(Number) == 8, std::uint64_t, std::uint32_t>;
  Bits bits = 0;
  std::memcpy(&bits, &number, sizeof(Number));
  for (unsigned k = 0; k < sizeof(Number); ++k) {
    bytes += static_cast<char>(static_cast<unsigned char>(bits >> (8U * k) & 255U));
  }
}

template <class Number>
std::string array_of(const std::string& name, const char* type, int parts,
                     std::span<const Number> values) {
  std::string bytes;
  bytes.reserve(sizeof(Number) * values.size() + 8);
  append_bytes(static_cast<std::uint64_t>(sizeof(Number) * values.size()), bytes);
  for (const Number value : values) append_bytes(value, bytes);
  return fmt::format(
      "<DataArray type=\"{}\" Name=\"{}\" NumberOfComponents=\"{}\" format=\"binary\">{}"
      "</DataArray>\n",
      type, name, parts, base64(bytes));
}

std::string cells_of(const char* kind, const VtpText::Cells& cells) {
  std::vector<std::int64_t> corners;
  std::vector<std::int64_t> ends;
  for (const auto& cell : cells) {
    corners.insert(corners.end(), cell.begin(), cell.end());
    ends.push_back(static_cast<std::int64_t>(corners.size()));
  }
  return fmt::format("<{0}>\n{1}{2}</{0}>\n", kind,
                     array_of<std::int64_t>("connectivity", "Int64", 1, corners),
                     array_of<std::int64_t>("offsets", "Int64", 1, ends));
}

}  // namespace

void VtpText::set_cells(Cells vertices, Cells lines, Cells polygons) {
  vertices_ = std::move(vertices);
  lines_ = std::move(lines);
  polygons_ = std::move(polygons);
}

void VtpText::add_at_points(const std::string& name, int parts, std::span<const double> values) {
  at_points_ += array_of(name, "Float64", parts, values);
}
void VtpText::add_at_points(const std::string& name, std::span<const std::int32_t> values) {
  at_points_ += array_of(name, "Int32", 1, values);
}
void VtpText::add_at_cells(const std::string& name, int parts, std::span<const double> values) {
  at_cells_ += array_of(name, "Float64", parts, values);
}
void VtpText::add_at_cells(const std::string& name, std::span<const std::int32_t> values) {
  at_cells_ += array_of(name, "Int32", 1, values);
}

/// Strings are their letters, each with a 0 at its end.
void VtpText::add_words(const std::string& name, const std::vector<std::string>& words) {
  std::string letters;
  for (const std::string& word : words) {
    for (const char letter : word) {
      letters += fmt::format("{} ", static_cast<unsigned>(static_cast<unsigned char>(letter)));
    }
    letters += "0 ";
  }
  whole_ += fmt::format(
      "<DataArray type=\"String\" Name=\"{}\" NumberOfTuples=\"{}\" format=\"ascii\">{}"
      "</DataArray>\n",
      name, words.size(), letters);
}

void VtpText::set_time(double t) {
  whole_ += fmt::format(
      "<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">{:.17g}"
      "</DataArray>\n",
      t);
}

std::string VtpText::text() const {
  return fmt::format(
      "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" "
      "byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<PolyData>\n<FieldData>\n{}"
      "</FieldData>\n<Piece NumberOfPoints=\"{}\" NumberOfVerts=\"{}\" NumberOfLines=\"{}\" "
      "NumberOfStrips=\"0\" NumberOfPolys=\"{}\">\n<PointData>\n{}</PointData>\n<CellData>\n{}"
      "</CellData>\n<Points>\n{}</Points>\n{}{}{}</Piece>\n</PolyData>\n</VTKFile>\n",
      whole_, points_.size() / 3, vertices_.size(), lines_.size(), polygons_.size(), at_points_,
      at_cells_, array_of<double>("points", "Float64", 3, points_), cells_of("Verts", vertices_),
      cells_of("Lines", lines_), cells_of("Polys", polygons_));
}

std::string pvd_of(std::span<const double> times, std::span<const std::string> files) {
  std::string text =
      "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" "
      "byte_order=\"LittleEndian\">\n<Collection>\n";
  for (std::size_t k = 0; k < times.size(); ++k) {
    text +=
        fmt::format("<DataSet timestep=\"{:.17g}\" part=\"0\" file=\"{}\"/>\n", times[k], files[k]);
  }
  return text + "</Collection>\n</VTKFile>\n";
}

}  // namespace ricochet::plot
